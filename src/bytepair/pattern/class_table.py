"""The class of every code point, in a form that the engines look up fast."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .charsets import CODE_POINTS, CharSet

__all__ = ["ClassTable", "byte_offsets"]


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

    def segments(self) -> Iterator[tuple[int, int, int]]:
        """Runs (first, end, class) of all code points, rising, without gaps."""
        places = [low | high << 8 for low, high in zip(self.stage1[::2], self.stage1[1::2], strict=True)]
        flat = b"".join([self.stage2[page << 8 : (page + 1) << 8] for page in places])
        for run in re.finditer(rb"(.)\1*", flat, re.DOTALL):
            yield run.start(), run.end(), flat[run.start()]

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


def byte_offsets(text: str, ends: list[int]) -> list[int]:
    """Turn rising character offsets into byte offsets."""
    result: list[int] = []
    start = total = 0
    for end in ends:
        total += len(text[start:end].encode("utf-8", "surrogateescape"))
        result.append(total)
        start = end
    return result
