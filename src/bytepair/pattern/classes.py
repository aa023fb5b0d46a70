"""Reducing Unicode to a pattern's own classes: characters that no set of the pattern tells apart are one class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .charsets import CODE_POINTS, CharSet
from .class_table import ClassTable

__all__ = ["Partition", "partition"]


@dataclass(frozen=True)
class Partition:
    """All code points cut into classes, numbered by their smallest code point.

    Attributes
    ----------
    n_classes
        Number of classes.
    segments
        (first, end, class) of runs of code points, rising, without gaps.
    members
        For each of the sets, the classes that it consists of, as bits.
    """

    n_classes: int
    segments: tuple[tuple[int, int, int], ...]
    members: dict[CharSet, int]

    def merged(self, new_class: Sequence[int]) -> Partition:
        """The partition in which class c has become class ``new_class[c]``."""
        members = {
            characters: sum({1 << new_class[old] for old in range(self.n_classes) if bits >> old & 1})
            for characters, bits in self.members.items()
        }
        segments: list[tuple[int, int, int]] = []
        for first, end, old in self.segments:
            if segments and segments[-1][2] == new_class[old]:
                segments[-1] = (segments[-1][0], end, new_class[old])
            else:
                segments.append((first, end, new_class[old]))
        return Partition(max(new_class) + 1, tuple(segments), members)

    def refined(self, others: Sequence[Partition]) -> tuple[Partition, list[list[int]]]:
        """The coarsest partition finer than this one and the others, without members; and for this one and each of
        the others, which of its classes each new class lies in."""
        every = [self, *others]
        starts: dict[int, dict[int, int]] = {}
        for place, one in enumerate(every):
            for first, _, number in one.segments:
                starts.setdefault(first, {})[place] = number
        numbers: dict[tuple[int, ...], int] = {}
        inside = [0] * len(every)
        firsts, classes = sorted(starts), []
        for first in firsts:
            for place, number in starts[first].items():
                inside[place] = number
            classes.append(numbers.setdefault(tuple(inside), len(numbers)))
        segments = tuple(zip(firsts, [*firsts[1:], CODE_POINTS], classes, strict=True))
        return Partition(len(numbers), segments, {}), [list(view) for view in zip(*numbers, strict=True)]

    def table(self) -> ClassTable:
        """The two-stage table from code point to class."""
        return ClassTable.of_segments(self.n_classes, self.segments)


def partition(sets: Iterable[CharSet]) -> Partition:
    """Cut all code points into the coarsest classes that every set is a union of.

    The cost is the number of borders of the sets, not of code points.
    """
    distinct = list(dict.fromkeys(sets))
    toggles: dict[int, int] = {0: 0}
    for number, characters in enumerate(distinct):
        bit = 1 << number
        for border in characters.borders:
            toggles[border] = toggles.get(border, 0) ^ bit
    toggles.pop(CODE_POINTS, None)
    numbers: dict[int, int] = {}
    starts, classes, inside = [], [], 0
    for border in sorted(toggles):
        inside ^= toggles[border]
        starts.append(border)
        classes.append(numbers.setdefault(inside, len(numbers)))
    segments = tuple(zip(starts, [*starts[1:], CODE_POINTS], classes, strict=True))
    members = {
        characters: sum(1 << number for signature, number in numbers.items() if signature >> place & 1)
        for place, characters in enumerate(distinct)
    }
    return Partition(len(numbers), segments, members)
