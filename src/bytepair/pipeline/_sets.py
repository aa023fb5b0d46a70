"""The sets of ``_normalise_tables.py``, decoded when first used, and what a text has of them.

``re`` tries the ranges of a class one by one, which for these sets takes 0.2 microseconds a character; the set of a
text's characters takes a tenth of that, and mostly has none of them.

Where the running Python's Unicode is newer than the tables', what it has more is found by asking it, once.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache

from ..pattern.charsets import CharSet
from ..pattern.unicode import age
from . import _normalise_tables as tables

__all__ = ["Members", "decoded", "members", "newer", "one_of"]


@cache
def decoded(text: str) -> CharSet:
    """A set of the tables."""
    borders: list[int] = []
    position = 0
    for number in text.split():
        position += int(number, 36)
        borders.append(position)
    return CharSet.from_borders(borders)


def one_of(characters: CharSet) -> str:
    """A class for ``re``; of no characters, what never matches."""
    if not characters:
        return "(?!)"
    return f"[{''.join([f'{re.escape(chr(first))}-{re.escape(chr(last))}' for first, last in characters.ranges])}]"


class Members:
    """A set of characters, asked for those of a text."""

    def __init__(self, characters: CharSet) -> None:
        self._characters = characters
        self._known: dict[str, bool] = {}

    def of(self, text: str) -> set[str]:
        """The characters of a text that are in the set."""
        known = self._known
        found = set()
        for character in set(text):
            if character not in known:
                known[character] = ord(character) in self._characters
            if known[character]:
                found.add(character)
        return found

    def removed(self, text: str) -> str:
        """The text without them."""
        found = self.of(text)
        if len(found) > 4:
            return "".join([character for character in text if character not in found])
        for character in found:
            text = text.replace(character, "")
        return text


@cache
def members(text: str) -> Members:
    """A set of the tables, to be asked."""
    return Members(decoded(text))


def newer(differs: Callable[[str], object], pinned: str = tables.UNICODE_VERSION) -> CharSet:
    """The characters that this Python has, a version of Unicode has not, and for which something differs."""
    if _number(unicodedata.unidata_version) <= _number(pinned):
        return CharSet()
    return CharSet.of([chr(point) for point in ~age(pinned.removesuffix(".0")) if differs(chr(point))])


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
