"""SentencePiece's own normalizer as a step: its rules, and what it does with spaces.

It differs from Hugging Face's ``Precompiled`` in all but the rules' bytes: the longest rule counts, symbols that the
user defined pass, and a byte that is no UTF-8 becomes U+FFFD.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from .._check import brief
from ..errors import FormatError
from ._charsmap import Charsmap, charsmap
from ._steps import Sources, Step, from_base64, to_base64, valid_text
from .fields import Fields, a_list

__all__ = ["SentencePiece"]

_NO_UTF8 = frozenset(map(chr, range(0xDC80, 0xDD00)))
_BLANKS = re.compile("  +")


@dataclass(frozen=True)
class SentencePiece(Step):
    """What SentencePiece does to a text before its model sees it.

    Parameters
    ----------
    charsmap
        ``precompiled_charsmap`` of the model's normalizer; empty where it has no rules.
    add_dummy_prefix
        Whether a space is put before the text.
    remove_extra_whitespaces
        Whether spaces at the ends, and all but one of several, are removed.
    escape_whitespaces
        Whether a space becomes U+2581.
    treat_whitespace_as_suffix
        Whether the space is put behind the text instead.
    user_defined
        Symbols that no rule changes; of several, the longest counts.

    Raises
    ------
    FormatError
        If the bytes are no charsmap, or a symbol is empty.

    Examples
    --------
    >>> SentencePiece().apply("  low  lower ")
    '\u2581low\u2581lower'
    """

    charsmap: bytes = field(default=b"", repr=False)
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True
    treat_whitespace_as_suffix: bool = False
    user_defined: tuple[str, ...] = ()

    kind = "SentencePiece"

    def __post_init__(self) -> None:
        if "" in self.user_defined:
            raise FormatError(f"user_defined[{self.user_defined.index('')}] is empty; leave it out")
        self._rules()

    def _rules(self) -> _Rules:
        return _rules(self.charsmap, self.user_defined)

    @property
    def _space(self) -> str:
        return "\u2581" if self.escape_whitespaces else " "

    def apply(self, text: str) -> str:
        rules = self._rules()
        result = rules.apply(text)
        if self.remove_extra_whitespaces:
            # Where a rule gives several spaces, those within count, and only pieces tell.
            if rules.gives_blanks or not result.strip(" "):
                return self._pieces(text)[0]
            result = _BLANKS.sub(" ", result.lstrip(" "))
        elif not text:
            return ""
        if self.add_dummy_prefix and not self.treat_whitespace_as_suffix:
            result = " " + result
        if self.escape_whitespaces:
            result = result.replace(" ", "\u2581")
        if self.remove_extra_whitespaces:
            result = result.rstrip(self._space)
        return result + self._space if self.add_dummy_prefix and self.treat_whitespace_as_suffix else result

    def sources(self, text: str) -> Sources:
        result, starts, _ = self._pieces(text)
        return result, starts

    def align(self, text: str, starts: list[int], ends: list[int]) -> tuple[str, list[int], list[int]]:
        result, places, end = self._pieces(text)
        # A character ends where the next one starts.
        borders = [*starts, ends[-1]] if text else [0]
        return result, [borders[place] for place in places], [borders[place] for place in [*places, end][1:]]

    def _pieces(self, text: str) -> tuple[str, list[int], int]:
        """The result, the place in the text where each of its characters starts, and where the last one ends."""
        pieces = list(self._rules().pieces(text))
        pieces.reverse()
        place = 0
        if self.remove_extra_whitespaces:
            while pieces and pieces[-1][1] == " ":
                place = pieces.pop()[0]
        if not pieces:
            return "", [], place
        out: list[str] = []
        places: list[int] = []
        blank = self.remove_extra_whitespaces
        if self.add_dummy_prefix and not self.treat_whitespace_as_suffix:
            out.append(self._space)
            places.append(place)
        while pieces:
            end, piece = pieces.pop()
            if blank:
                piece = piece.lstrip(" ")
            if piece:
                out += piece.replace(" ", self._space)
                places += [place] * len(piece)
                blank = self.remove_extra_whitespaces and piece.endswith(" ")
            place = end
        if self.remove_extra_whitespaces:
            while out and out[-1] == self._space:
                out.pop()
                place = places.pop()
        if self.add_dummy_prefix and self.treat_whitespace_as_suffix:
            out.append(self._space)
            places.append(place)
        return "".join(out), places, place

    @classmethod
    def read(cls, fields: Fields) -> SentencePiece:
        symbols = fields.get("user_defined", "give a list of strings")
        if not a_list(symbols):
            raise fields.refuse(f"has user_defined={brief(symbols)}; give a list of strings")
        named = {f"user_defined[{number}]": symbol for number, symbol in enumerate(symbols)}
        inner = Fields(named, fields.place, fields.kind)
        return cls(
            charsmap=from_base64(fields, "charsmap"),
            add_dummy_prefix=fields.boolean("add_dummy_prefix"),
            remove_extra_whitespaces=fields.boolean("remove_extra_whitespaces"),
            escape_whitespaces=fields.boolean("escape_whitespaces"),
            treat_whitespace_as_suffix=fields.boolean("treat_whitespace_as_suffix"),
            user_defined=tuple([valid_text(inner, name) for name in named]),
        )

    def to_json(self) -> dict[str, Any]:
        values = {**vars(self), "charsmap": to_base64(self.charsmap), "user_defined": list(self.user_defined)}
        return {"type": self.kind, **values}


class _Rules:
    """What a text is cut into, and what becomes of each piece."""

    def __init__(self, rules: Charsmap | None, user_defined: tuple[str, ...]) -> None:
        self.rules = rules
        symbols = "|".join(map(re.escape, sorted(user_defined, key=len, reverse=True)))
        self.symbols = re.compile(symbols) if symbols else None
        self.gives_blanks = any("  " in given for given in (*(rules.texts if rules else ()), *user_defined))
        self.active = (rules.active if rules else frozenset()) | _NO_UTF8

    def piece(self, text: str, place: int) -> tuple[int, str]:
        """Where the piece that begins at a place ends, and what becomes of it."""
        symbol = self.symbols.match(text, place) if self.symbols else None
        if symbol is not None:
            return symbol.end(), symbol[0]
        found = self.rules.longest(text, place) if self.rules else None
        if found is not None:
            return found
        return place + 1, "\ufffd" if "\udc80" <= text[place] <= "\udcff" else text[place]

    def pieces(self, text: str) -> Iterator[tuple[int, str]]:
        """The ends of all pieces, and what becomes of them."""
        active = self.active.intersection(text)
        place = 0
        for at, character in enumerate(text):
            if at < place:
                continue
            if self.symbols or character in active or text[at + 1 : at + 2] in active:
                place, piece = self.piece(text, at)
                yield place, piece
            else:
                yield at + 1, character

    def apply(self, text: str) -> str:
        """The text after the rules, its spaces as they are."""
        active = self.active.intersection(text)
        if not active:
            return text
        if self.symbols:
            return "".join([piece for _, piece in self.pieces(text)])
        if self.rules is None or self.rules.seconds.isdisjoint(active):
            # Every rule that fits is one character.
            return text.translate({ord(character): self.piece(character, 0)[1] for character in active})
        out: list[str] = []
        done = 0
        for place in [place for place, character in enumerate(text) if character in active]:
            # The character before may have a rule that goes on here.
            for start in (place - 1, place):
                if start >= done:
                    end, piece = self.piece(text, start)
                    out += (text[done:start], piece)
                    done = end
        return "".join([*out, text[done:]])


@lru_cache(maxsize=16)
def _rules(data: bytes, user_defined: tuple[str, ...]) -> _Rules:
    return _Rules(charsmap(data) if data else None, user_defined)
