"""The hand-written scanners: which presets they cut, the class tables they want, and their plain twins.

A scanner is chosen by the pattern's text and dialect. The native core has the fast ones; the functions here do the same
in plain Python, for installs without a core and as the core's twin in tests.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate, groupby

from .charsets import CODE_POINTS, CharSet
from .dialects import DIALECTS
from .presets import PRESETS, Preset
from .unicode import category, white_space

__all__ = ["ClassTable", "byte_offsets", "scan", "scanner_name", "scanner_table"]

_OTHER, _LETTER, _SPACE = 0, 1, 3
_CONTRACTIONS = ("s", "t", "re", "ve", "m", "ll", "d")


@dataclass(frozen=True)
class ClassTable:
    """The class of every code point, in two stages.

    Attributes
    ----------
    n_classes
        Number of classes; a class is an int below it.
    stage1
        4,352 little-endian uint16: code point >> 8 -> page.
    stage2
        Pages of 256 classes, one byte each.
    """

    n_classes: int
    stage1: bytes
    stage2: bytes

    def of(self, code_point: int) -> int:
        """The class of a code point; a byte b that is no UTF-8 counts as 0xDC00 | b."""
        place = code_point >> 8 << 1
        page = self.stage1[place] | self.stage1[place + 1] << 8
        return self.stage2[page << 8 | code_point & 0xFF]

    @classmethod
    def of_segments(cls, n_classes: int, segments: Iterable[tuple[int, int, int]]) -> ClassTable:
        """Make a table of runs (first, end, class) of code points; what no run covers is class 0."""
        flat = bytearray(CODE_POINTS)
        for first, end, number in segments:
            if number:
                flat[first:end] = bytes((number,)) * (end - first)
        pages: dict[bytes, int] = {}
        stage1 = bytearray()
        for first in range(0, CODE_POINTS, 256):
            page = pages.setdefault(bytes(flat[first : first + 256]), len(pages))
            stage1 += page.to_bytes(2, "little")
        return cls(n_classes, bytes(stage1), b"".join(pages))

    @classmethod
    def of_sets(cls, *sets: CharSet) -> ClassTable:
        """Make the table in which class i + 1 is the i-th of some disjoint sets, and class 0 the rest."""
        return cls.of_segments(
            len(sets) + 1,
            ((first, last + 1, number) for number, one in enumerate(sets, 1) for first, last in one.ranges),
        )


_SCANNERS = {
    "gpt2": "gpt2", "r50k": "gpt2", "p50k": "gpt2", "al1": "gpt2",
    "whitespace": "runs", "spaces": "runs", "none": "none",
}  # fmt: skip


def scanner_name(regex: str, dialect: str) -> str | None:
    """The scanner that cuts a pattern: ``"gpt2"``, ``"runs"``, ``"none"``, or None."""
    return next((scanner for name, scanner in _SCANNERS.items() if PRESETS[name] == Preset(regex, dialect)), None)


def scanner_table(regex: str, dialect: str) -> ClassTable | None:
    """The classes that the pattern's scanner wants; None where it has no scanner or wants no classes."""
    scanner = scanner_name(regex, dialect)
    if scanner == "gpt2":
        return _al1_table() if dialect == "python" else _gpt2_table()
    if scanner == "runs":
        return _runs_table(
            CharSet.of(" \n") if PRESETS["spaces"] == Preset(regex, dialect) else DIALECTS[dialect].space()
        )
    return None


@cache
def _gpt2_table() -> ClassTable:
    return ClassTable.of_sets(category("L"), category("N"), white_space())


@cache
def _al1_table() -> ClassTable:
    word, digit = DIALECTS["python"].word(), category("Nd")
    return ClassTable.of_sets(word - digit, digit, DIALECTS["python"].space())


@lru_cache(maxsize=8)
def _runs_table(blanks: CharSet) -> ClassTable:
    return ClassTable.of_sets(blanks)


def scan(scanner: str, table: ClassTable | None, data: bytes) -> list[int]:
    """Cut a text with a scanner, in plain Python; gives the end of every pretoken in bytes."""
    if not data:
        return []
    if table is None:
        return [len(data)]
    text = data.decode("utf-8", "surrogateescape")
    of = {character: table.of(ord(character)) for character in set(text)}
    runs = [(kind, len(list(run))) for kind, run in groupby(map(of.__getitem__, text))]
    ends = list(accumulate(length for _, length in runs))
    if scanner == "gpt2":
        ends = _gpt2_ends(text, [kind for kind, _ in runs], ends)
    return ends if len(text) == len(data) else byte_offsets(text, ends)


def _gpt2_ends(text: str, kinds: list[int], run_ends: list[int]) -> list[int]:
    """Turn maximal runs of one class into the pretokens of gpt2 and its kin.

    Only two things move a border away from the end of a run: the last blank before more text goes to the next pretoken
    (or is one of its own when it is not U+0020), and ``'`` with its letters is cut off where it begins a pretoken.
    """
    ends: list[int] = []
    cut = 0  # where the pretoken being read begins
    last = len(kinds) - 1
    for number, (kind, end) in enumerate(zip(kinds, run_ends, strict=True)):
        if kind == _SPACE:
            if number < last:
                if end - 1 > cut:
                    ends.append(end - 1)
                cut = end - 1
                if text[cut] == " ":
                    continue
            ends.append(end)
            cut = end
            continue
        if kind == _OTHER and end == cut + 1 and text[cut] == "'" and number < last and kinds[number + 1] == _LETTER:
            # The letters of a contraction come from the next run.
            letters = next((known for known in _CONTRACTIONS if text.startswith(known, end)), None)
            if letters is not None:
                cut = end + len(letters)
                ends.append(cut)
                continue
        if end > cut:
            ends.append(end)
            cut = end
    return ends


def byte_offsets(text: str, ends: list[int]) -> list[int]:
    """Turn rising character offsets into byte offsets."""
    result: list[int] = []
    start = total = 0
    for end in ends:
        total += len(text[start:end].encode("utf-8", "surrogateescape"))
        result.append(total)
        start = end
    return result
