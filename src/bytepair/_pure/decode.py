"""From ids to bytes."""

from __future__ import annotations

import operator
from itertools import accumulate, pairwise
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

    def decode(self, ids: list[int], skip_specials: bool, errors: str | None = None) -> bytes | str:
        return _text(self._decode(self._whole(ids), skip_specials, 0), errors)

    def decode_array(self, ids: Any, skip_specials: bool, errors: str | None = None) -> bytes | str:
        return _text(self._decode(integers(ids), skip_specials, 0), errors)

    def decode_rows(self, ids: Any, offsets: Any, skip_specials: bool, errors: str | None, threads: int) -> list[Any]:
        numbers, ends = integers(ids), integers(offsets)
        if not ends or ends[0] < 0 or ends[-1] > len(numbers) or any(a > b for a, b in pairwise(ends)):
            raise BytepairError("the offsets do not describe the rows")
        return self.decode_lists([numbers[a:b] for a, b in pairwise(ends)], skip_specials, errors, threads)

    def decode_lists(
        self,
        rows: list[list[int]],
        skip_specials: bool,
        errors: str | None,
        threads: int,  # noqa: ARG002
    ) -> list[Any]:
        """``threads`` is there for the core: Python has one lock for all of them."""
        listed = [self._whole(row) for row in rows]
        return [_text(self._decode(row, skip_specials, k), errors) for k, row in enumerate(listed)]

    def starts(self, ids: list[int]) -> tuple[str, list[int]] | None:
        listed = self._whole(ids)
        try:
            text = self._decode(listed, False, 0).decode()
        except UnicodeDecodeError:
            return None
        if self._any_marked:
            return None
        of: list[int] = []  # for each byte, the character that it belongs to
        for k, character in enumerate(text):
            of += [k] * len(character.encode())
        of.append(len(text))
        return text, [of[at] for at in accumulate((len(self._tokens[i]) for i in listed[:-1]), initial=0)][
            : len(listed)
        ]

    @staticmethod
    def _whole(ids: list[int]) -> list[int]:
        if not isinstance(ids, list):
            raise TypeError(f"expected a list of int, got {type(ids).__name__}")
        try:
            if not any(isinstance(i, bool) for i in ids):
                return list(map(operator.index, ids))
        except TypeError:
            pass
        at = next(k for k, i in enumerate(ids) if isinstance(i, bool) or not _is_whole(i))
        raise TypeError(f"ids[{at}] is a {type(ids[at]).__name__}; an id is a whole number")

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

    def _decode(self, ids: list[int], skip_specials: bool, row: int) -> bytes:
        tokens = self._ordinary if skip_specials else self._tokens
        try:
            if self._any_marked:
                return b"".join(self._marked_pieces(ids, skip_specials))
            return b"".join(map(tokens.__getitem__, ids))
        except KeyError:
            raise IndexError(row, next(i for i, token in enumerate(ids) if token not in self._tokens)) from None

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


def _text(data: bytes, errors: str | None) -> bytes | str:
    return data if errors is None else data.decode("utf-8", errors)


def _is_whole(number: object) -> bool:
    try:
        operator.index(number)  # type: ignore[arg-type]
    except TypeError:
        return False
    return True
