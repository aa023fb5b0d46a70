"""Writes the compiled tables of every preset and of many other patterns to one file, for the core's own tests.

    python tools/write_core_tables.py OUT

The core has no compiler of patterns, so its tests read this file (tests/core/tables.hpp says how). For each pattern it
has the tables that the core runs and, as the input of their plain twin, the lexer of each stage: the automaton that
cuts one pretoken off. Needs no more than this package's sources: PYTHONPATH=src.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterable
from pathlib import Path

from bytepair.pattern.automaton import compile_stages
from bytepair.pattern.determinise import DEAD, Automaton, determinise
from bytepair.pattern.families import family_of
from bytepair.pattern.presets import PRESETS
from bytepair.pattern.program import build
from bytepair.pattern.syntax import parse

Stages = tuple[tuple[str, str], ...]

MAGIC = b"bytepair tables 1\n"

#: Patterns of one stage, in the tiktoken dialect: each has something that the presets do not have.
PATTERNS = (
    # gaps
    "[a-z]+",
    r"\p{N}",
    "a|bc",
    "[a-c]x",
    # what may be taken back: levels
    "a*b|a",
    "(?:ab)+c|[abc]",
    "a{2,}b|a",
    "[ab]*c[ab]{0,2}d|a|b",
    "[ab]*1|[bc]*2|[abc]",
    r"(?:a\s*)+b|a\s|\s",
    "ab{2,4}c|[a-d]",
    "(?:aa)+|(?:aaa)+b|b",
    r"\w+|\d",
    r"\p{Lu}?\p{Ll}+|\p{N}{1,4}|[^\p{L}\p{N}\s]+|\s+",
    # look-ahead and look-behind
    r"\s+(?!\S)|\S+",
    "a+(?=b)|b+(?!a)|[^ab]",
    "ab(?= )|a",
    "(?<=a)b+|[ab]",
    r"(?<!\p{N})[a-z]+|\p{N}+",
    r"(?<=\s)\S+|\s(?=a)",
    r"(?<![a-z])'\p{L}|\p{L}+|[^\p{L}]",
    # lazy, possessive
    "a+?b|a",
    '"[^"]*?"|[^"]+',
    r"\s+?\S+",
    r"\p{L}++|\s++",
    "[a-z]?+[A-Z]*+x|[A-Za-z]",
    r"\p{N}{1,3}+|[^\p{N}]++",
    # where a text ends
    r"\s+$|\s|\S+",
    r"a+\z|a|[^a]+",
    # classes, case, scripts
    "(?i:the|and|'s)|[a-z]+",
    r"[\p{L}--[aeiou]]+|[aeiou]",
    r"\p{Han}+|\p{Hiragana}+|\p{Katakana}+",
    "(?s:.{1,4})",
    r".+|\n",
)

_O200K = (PRESETS["o200k"].regex, "tiktoken")

CHAINS: tuple[Stages, ...] = (
    ((r"\p{N}", "oniguruma"), *PRESETS["gpt2"].stages),
    ((r"\p{P}+|\s", "oniguruma"), ("[a-z]+|[^a-z]", "tiktoken")),
    ((r"\s+", "tiktoken"), ("a*b|a", "tiktoken")),
    (("[\r\n]", "tiktoken"), (r"\p{N}{1,3}", "oniguruma"), _O200K),
)


def main() -> None:
    named: dict[str, Stages] = {name: preset.stages for name, preset in PRESETS.items()}
    for pattern in PATTERNS:
        named[pattern] = ((pattern, "tiktoken"),)
    for stages in CHAINS:
        named[" then ".join(regex for regex, _ in stages)] = stages
    out = bytearray(MAGIC)
    out += struct.pack("<I", len(named))
    for name, stages in named.items():
        out += _written(name, stages)
    Path(sys.argv[1]).write_bytes(out)


def _written(name: str, stages: Stages) -> bytes:
    compiled = compile_stages(*stages)
    tables = compiled.tables
    if tables is None:
        sys.exit(f"{name!r} is no automaton: {compiled.reason}")
    family, flags = family_of(tables) or ("", [])
    out = b"".join(
        (
            _bytes(name.encode()),
            _bytes(family.encode()),
            _bytes(bytes(flags)),
            struct.pack("<II", tables.n_classes, tables.width),
            *map(_bytes, (tables.classes.stage1, tables.classes.stage2)),
            *map(_bytes, (tables.begin, tables.levels, tables.next, tables.action)),
            struct.pack("<I", len(tables.actions)),
            *map(_numbers, tables.actions),
            *map(_bytes, (tables.weak, tables.strong)),
            struct.pack("<I", len(stages)),
        )
    )
    return out + b"".join(_lexer(determinise(build(parse(regex, dialect)))) for regex, dialect in stages)


def _lexer(automaton: Automaton) -> bytes:
    """A stage's classes, what each state accepts before each class, the next states (65535: none), where it begins."""
    table = automaton.classes.table()
    cells = [cell for row in automaton.delta for cell in row]
    return b"".join(
        (
            struct.pack("<I", automaton.n_classes),
            *map(_bytes, (table.stage1, table.stage2, bytes(kind for kind, _ in cells))),
            _numbers(0xFFFF if to == DEAD else to for _, to in cells),
            _numbers(automaton.restart),
        )
    )


def _bytes(data: bytes) -> bytes:
    return struct.pack("<I", len(data)) + data


def _numbers(numbers: Iterable[int]) -> bytes:
    """As little-endian uint16."""
    packed = array("H", numbers)
    if sys.byteorder == "big":
        packed.byteswap()
    return _bytes(packed.tobytes())


if __name__ == "__main__":
    main()
