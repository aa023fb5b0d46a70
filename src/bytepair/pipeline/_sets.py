"""The sets of ``_normalise_tables.py``, decoded when first used, and as classes for Python's ``re``.

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

__all__ = ["decoded", "matcher", "newer", "one_of"]


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


@cache
def matcher(text: str) -> re.Pattern[str]:
    """What finds a run of characters of a set of the tables."""
    return re.compile(one_of(decoded(text)) + "+")


def newer(differs: Callable[[str], object], pinned: str = tables.UNICODE_VERSION) -> CharSet:
    """The characters that this Python has, a version of Unicode has not, and for which something differs."""
    if _number(unicodedata.unidata_version) <= _number(pinned):
        return CharSet()
    return CharSet.of([chr(point) for point in ~age(pinned.removesuffix(".0")) if differs(chr(point))])


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
