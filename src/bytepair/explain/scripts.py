"""Which scripts the letters of a text belong to, after the pinned Unicode version."""

from __future__ import annotations

from bisect import bisect_right
from functools import cache

from ..pattern.unicode import category, script, scripts

__all__ = ["scripts_of"]

_NO_SCRIPT = {"Common", "Inherited"}
_WRITTEN_TOGETHER = {"Hiragana": "Japanese or Chinese", "Katakana": "Japanese or Chinese", "Han": "Japanese or Chinese",
                     "Bopomofo": "Japanese or Chinese"}  # fmt: skip


def scripts_of(text: str) -> set[str]:
    """The scripts of a text's letters; what a language writes together, as Han and Hiragana, is one.

    Examples
    --------
    >>> sorted(scripts_of("naïve мир 1"))
    ['Cyrillic', 'Latin']
    """
    if text.isascii():
        return {"Latin"} if any(c.isalpha() for c in text) else set()
    starts, names = _table()
    found = {names[bisect_right(starts, ord(c)) - 1] for c in text if _is_letter(c)}
    return {name for name in found if name}


def _is_letter(character: str) -> bool:
    return ord(character) in _letters()


@cache
def _letters() -> frozenset[int]:
    borders = category("L").borders
    return frozenset(p for first, end in zip(borders[::2], borders[1::2]) for p in range(first, end))


@cache
def _table() -> tuple[list[int], list[str]]:
    """Where each stretch of one script begins, and its name; no name between them."""
    ranges = sorted(
        (first, end, _WRITTEN_TOGETHER.get(name, name))
        for name in scripts()
        if name not in _NO_SCRIPT
        for borders in [script(name).borders]
        for first, end in zip(borders[::2], borders[1::2])
    )
    starts, names = [0], [""]
    for first, end, name in ranges:
        starts += [first, end]
        names += [name, ""]
    return starts, names
