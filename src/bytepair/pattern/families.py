"""The pattern families that the core cuts 64 bytes at a time, and how a pattern is known to be of one.

Not by its spelling: two patterns are of a family if their minimal automata are the same and the characters that the
automaton treats by name (the apostrophe, the letters of contractions, line ends ...) are the same. The classes of
letters, numbers, white space and the rest may differ: ``al1`` is of the family of ``gpt2``.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .automaton import Tables

__all__ = ["FAMILY_PRESETS", "family_of", "family_of_automaton"]

#: What a class of characters is for the core: its flags, as in core/blocks.hpp.
UPPER, LOWER, NUMBER, BLANK, NEWLINE, WHITE, MARK = 1, 2, 4, 8, 16, 32, 128

#: Family -> presets whose automata are of it.
FAMILY_PRESETS = {
    "gpt2": ("gpt2", "al1"),
    "cl100k": ("cl100k", "llama3"),
    "qwen2": ("qwen2",),
    "o200k": ("o200k",),
    "tekken": ("tekken",),
}

_Roles = tuple[tuple[int, "str | None"], ...]

_WHITE_SPACE: _Roles = ((0, None), (WHITE, None), (NEWLINE, "\n\r"), (BLANK, " "))
_FOLDED: _Roles = (
    *_WHITE_SPACE,
    (0, "'"),
    (NUMBER, None),
    (LOWER, None),
    (LOWER, "DMSTdmst\u017f"),
    (LOWER, "Ee"),
    (LOWER, "Ll"),
    (LOWER, "RVrv"),
)

#: For each class of a family's automaton, in its order: the flags, and its characters where they are named.
_ROLES: dict[str, _Roles] = {
    "gpt2": (
        (0, None),
        (WHITE, None),
        (BLANK, " "),
        (0, "'"),
        (NUMBER, None),
        (LOWER, None),
        (LOWER, "dmst"),
        (LOWER, "e"),
        (LOWER, "l"),
        (LOWER, "rv"),
    ),
    "cl100k": _FOLDED,
    "qwen2": _FOLDED,
    "o200k": (
        *_WHITE_SPACE,
        (0, "'"),
        (0, "/"),
        (NUMBER, None),
        (UPPER, None),
        (UPPER, "DMST"),
        (UPPER, "E"),
        (UPPER, "L"),
        (UPPER, "RV"),
        (LOWER, None),
        (LOWER, "dmst\u017f"),
        (LOWER, "e"),
        (LOWER, "l"),
        (LOWER, "rv"),
        (UPPER | LOWER, None),
        (UPPER | LOWER | MARK, None),
    ),
    "tekken": (
        *_WHITE_SPACE,
        (0, "/"),
        (NUMBER, None),
        (UPPER, None),
        (LOWER, None),
        (UPPER | LOWER, None),
        (UPPER | LOWER | MARK, None),
    ),
}

#: The canonical forms of the families' automata; a test makes them anew from the presets.
_CANONICAL = {
    "27898d8534cc8acdb47a819ef72498371c5f4f683842b26c72b2d8d2f0ff6b29": "gpt2",
    "8fd336bc8ffba07a829c4f21cc6fbcd203a52d077bd3211982402ce3ca12de0a": "cl100k",
    "955738f7d23ded7063f9ba602064e2e4ad006928d2ed073c3bb5d32841d63bac": "cl100k",
    "27f4fce9be1651349a17359cde054cc1d9108b2a29d1d04eaa06bef09ea6ea23": "qwen2",
    "6d1b6785e8b7a92805e589cc83b105678a27f840dbeb543aa350d9ffde3c4258": "o200k",
    "90a549d07d1277a50499201bd715bf60ed16f250c2e9eabfed6a51b98d56bee0": "tekken",
}


def family_of_automaton(tables: Tables) -> str | None:
    """The family whose automaton a pattern has, whichever characters it names."""
    return _CANONICAL.get(tables.canonical)


def family_of(tables: Tables) -> tuple[str, list[int]] | None:
    """The family of a compiled pattern and the flags of its classes, or None.

    Examples
    --------
    >>> from bytepair.pattern import Pattern
    >>> spelled = Pattern(r"'(?:[dmst]|ll|re|ve)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s")
    >>> family_of(spelled.compiled.tables)[0]
    'gpt2'
    """
    family = family_of_automaton(tables)
    if family is None:
        return None
    roles = _ROLES[family]
    sizes = _class_sizes(tables)
    for number, (_, named) in enumerate(roles):
        if named is None:
            continue
        if sizes[number] != len(named) or any(tables.classes.of(ord(c)) != number for c in named):
            return None
    return family, [flags for flags, _ in roles]


def _class_sizes(tables: Tables) -> Counter[int]:
    """How many characters each class has."""
    stage1, stage2 = tables.classes.stage1, tables.classes.stage2
    pages = Counter(zip(stage1[::2], stage1[1::2], strict=True))
    sizes: Counter[int] = Counter()
    for (low, high), times in pages.items():
        page = (low | high << 8) * 256
        for number, count in Counter(stage2[page : page + 256]).items():
            sizes[number] += count * times
    return sizes
