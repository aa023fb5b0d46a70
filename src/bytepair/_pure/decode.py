"""From ids to bytes."""

from __future__ import annotations

import operator
from itertools import accumulate
from typing import Any

from ..errors import BytepairError
from ._common import as_bytes, describe, integers, only_bytes, rows


class Decoder:
    _PRESENT, _SPECIAL, _MARKED = 1, 2, 4

    def __init__(self, text: bytes, offsets: Any, flags: bytes) -> None:
        numbers = integers(offsets)
        if len(numbers) != len(flags) + 1 or not describe(numbers, only_bytes(text)):
            raise BytepairError("decoder: the offsets do not describe the text")
        if any(flag & self._SPECIAL and flag & self._MARKED for flag in flags):
            raise BytepairError("decoder: a special token has no end-of-word mark")
        tokens = zip(flags, rows(text, numbers))
        self._tokens = {i: token for i, (flag, token) in enumerate(tokens) if flag & self._PRESENT}
        self._flags = flags
        self._ordinary = {i: b"" if flags[i] & self._SPECIAL else token for i, token in self._tokens.items()}
        self._any_marked = any(flags[i] & self._MARKED for i in self._tokens)

    def decode(self, ids: list[int], skip_specials: bool) -> bytes:
        if not isinstance(ids, list):
            raise TypeError(f"expected a list of int, got {type(ids).__name__}")
        if any(isinstance(i, bool) for i in ids):
            raise TypeError("an id is a whole number, not a bool")
        return self._decode(list(map(operator.index, ids)), skip_specials)

    def decode_array(self, ids: Any, skip_specials: bool) -> bytes:
        return self._decode(integers(ids), skip_specials)

    def places(self, ids: Any, data: object, characters: bool) -> list[tuple[int, int]]:
        text, numbers = as_bytes(data), integers(ids)
        ends = list(accumulate(len(self._tokens[i]) if i in self._tokens else -1 for i in numbers))
        broken = any(i not in self._tokens for i in numbers)
        if broken or self._any_marked or (ends[-1] if ends else 0) != len(text):
            raise BytepairError("decoder: the ids are not those of the text")
        of: list[tuple[int, int]] = []  # for each byte, where its character begins and ends
        for k, character in enumerate(text.decode("utf-8", "surrogateescape")):
            n = len(character.encode("utf-8", "surrogateescape"))
            of += [(k, k + 1) if characters else (len(of), len(of) + n)] * n
        out: list[tuple[int, int]] = []
        start = 0
        for end in ends:
            if start < end:
                out.append((of[start][0], of[end - 1][1]))
            else:  # the end of what came before
                out.append((of[start - 1][1],) * 2 if start else (0, 0))
            start = end
        return out

    def _decode(self, ids: list[int], skip_specials: bool) -> bytes:
        tokens = self._ordinary if skip_specials else self._tokens
        try:
            if self._any_marked:
                return b"".join(self._marked_pieces(ids, skip_specials))
            return b"".join(map(tokens.__getitem__, ids))
        except KeyError:
            raise IndexError(str(next(i for i, token in enumerate(ids) if token not in self._tokens))) from None

    def _marked_pieces(self, ids: list[int], skip_specials: bool) -> list[bytes]:
        """A marked token is followed by a space, unless no ordinary token comes after it."""
        pieces = []
        pending = -1  # where the space stands that the last mark asked for
        for number in ids:
            token, flag = self._tokens[number], self._flags[number]
            if flag & self._SPECIAL:
                if skip_specials:
                    continue
            else:
                pending = -1
            pieces.append(token)
            if flag & self._MARKED:
                pending = len(pieces)
                pieces.append(b" ")
        if pending >= 0:
            pieces[pending] = b""
        return pieces
