"""Sets of code points as sorted ranges.

:class:`CharSet` is immutable and knows nothing of Unicode properties (``unicode.py``) or of regex text (``syntax.py``).
Every operation works on range borders, so its cost is the number of ranges, never the 0x110000 code points.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

__all__ = ["ALL", "CODE_POINTS", "EMPTY", "CharSet"]

CODE_POINTS = 0x110000


class CharSet:
    """A set of code points between 0 and 0x10FFFF, surrogates included.

    Parameters
    ----------
    ranges
        Pairs (first, last), both inside the set, in any order and overlapping as they like.

    Examples
    --------
    >>> digits = CharSet([(0x30, 0x39)])
    >>> 0x35 in digits, 0x41 in digits, len(digits)
    (True, False, 10)
    >>> (digits | CharSet.of("abc")).ranges
    ((48, 57), (97, 99))
    >>> len(~digits)
    1114102
    """

    __slots__ = ("_hash", "borders")

    #: First code point of a range, first one after it, first of the next range ...: always strictly rising.
    borders: tuple[int, ...]
    _hash: int

    def __init__(self, ranges: Iterable[tuple[int, int]] = ()) -> None:
        self._set(_join(sorted((first, last + 1) for first, last in ranges)))

    def _set(self, borders: tuple[int, ...]) -> None:
        object.__setattr__(self, "borders", borders)
        object.__setattr__(self, "_hash", hash(borders))

    @classmethod
    def from_borders(cls, borders: Iterable[int]) -> CharSet:
        """Make a set of strictly rising borders (see :attr:`borders`), which are not checked."""
        made = cls.__new__(cls)
        made._set(tuple(borders))
        return made

    @classmethod
    def of(cls, characters: Iterable[str]) -> CharSet:
        """Make the set of some characters."""
        return cls((ord(character), ord(character)) for character in characters)

    @classmethod
    def union(cls, sets: Iterable[CharSet]) -> CharSet:
        """Make the union of any number of sets at once."""
        pairs: list[tuple[int, int]] = []
        for one in sets:
            pairs += one._pairs()
        pairs.sort()
        return cls.from_borders(_join(pairs))

    def _pairs(self) -> list[tuple[int, int]]:
        return list(zip(self.borders[::2], self.borders[1::2], strict=True))

    @property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """Pairs (first, last), sorted, with gaps between them."""
        return tuple((first, end - 1) for first, end in self._pairs())

    def __contains__(self, code_point: int) -> bool:
        return bool(bisect_right(self.borders, code_point) & 1)

    def __iter__(self) -> Iterator[int]:
        for first, end in self._pairs():
            yield from range(first, end)

    def __len__(self) -> int:
        return sum(self.borders[1::2]) - sum(self.borders[::2])

    def __bool__(self) -> bool:
        return bool(self.borders)

    def __or__(self, other: CharSet) -> CharSet:
        return CharSet.union((self, other))

    def __and__(self, other: CharSet) -> CharSet:
        return ~(~self | ~other)

    def __sub__(self, other: CharSet) -> CharSet:
        return ~(~self | other)

    def __xor__(self, other: CharSet) -> CharSet:
        return (self - other) | (other - self)

    def __invert__(self) -> CharSet:
        borders = self.borders
        inner = borders[1:] if borders[:1] == (0,) else (0, *borders)
        inner = inner[:-1] if inner[-1:] == (CODE_POINTS,) else (*inner, CODE_POINTS)
        return CharSet.from_borders(inner)

    def __eq__(self, other: object) -> bool:
        return self.borders == other.borders if isinstance(other, CharSet) else NotImplemented

    def __hash__(self) -> int:
        return self._hash

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a CharSet cannot change; use | & - ~ to make another one")

    def __reduce__(self) -> tuple[object, ...]:
        return CharSet, (self.ranges,)

    def __repr__(self) -> str:
        shown = ", ".join(f"(0x{first:X}, 0x{last:X})" for first, last in self.ranges[:4])
        return f"CharSet([{shown}{', ...' if len(self.borders) > 8 else ''}])"


def _join(pairs: list[tuple[int, int]]) -> tuple[int, ...]:
    """Borders of sorted (first, end) pairs that may touch or overlap."""
    borders: list[int] = []
    last = -1
    for first, end in pairs:
        if first > last:
            borders += (first, end)
            last = end
        elif end > last:
            borders[-1] = last = end
    return tuple(borders)


EMPTY = CharSet()
ALL = CharSet([(0, CODE_POINTS - 1)])
