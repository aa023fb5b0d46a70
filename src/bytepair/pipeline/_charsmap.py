"""A precompiled charsmap: the rules that a SentencePiece model normalises by, as its file holds them.

The bytes are the size of a trie in 4 bytes, little-endian; the trie, a double array of 4-byte units as darts-clone
has it; and texts that end with NUL. A unit says the label that leads to it, how far its children's block is, and
whether a rule ends here: then the block's first unit holds where the rule's text begins.

The bytes are not trusted: :func:`charsmap` checks every unit that a text can reach, each once. Who calls it is
``normalise`` for Hugging Face's ``Precompiled`` and ``_sentencepiece``; they differ in how they look rules up.
"""

from __future__ import annotations

import struct
import sys
from array import array
from functools import lru_cache

from ..errors import FormatError

__all__ = ["Charsmap", "charsmap"]

MAX_KEY = 1000
"""Bytes that the longest rule may look at; the longest of SentencePiece's own has 12."""

_MAX_CHARACTERS = 1 << 21
_RULE, _VALUE = 1 << 8, (1 << 31) - 1
_CURE = "take precompiled_charsmap from the model again"


class Charsmap:
    """The rules. Made by :func:`charsmap`."""

    def __init__(self, units: array[int], texts: dict[int, str], singles: set[int], seconds: set[int]):
        self._units = units
        self._texts = texts
        self.texts = frozenset(texts.values())
        self.singles = frozenset(map(chr, singles))
        self.seconds = frozenset(map(chr, seconds))
        #: Without one of these nothing happens: a rule is one character, or its second one is here.
        self.active = self.singles | self.seconds
        self._found: dict[str, str | None] = {}

    def longest(self, text: str, start: int) -> tuple[int, str] | None:
        """The longest rule that a text has at a place: where it ends there, and what it gives."""
        units, result = self._units, None
        node = _children(0, units[0])
        for place in range(start, len(text)):
            for byte in text[place].encode("utf-8", "surrogateescape"):
                at = node ^ byte
                if not byte or at >= len(units) or units[at] & 0x800000FF != byte:
                    return result
                node = _children(at, units[at])
            if units[at] & _RULE:
                result = place + 1, self._texts[units[node] & _VALUE]
        return result

    def shortest(self, text: str) -> str | None:
        """What the shortest rule gives that a text begins with, or None."""
        if text not in self._found:
            if len(self._found) >= 1 << 16:
                self._found.clear()
            self._found[text] = self._shortest(text)
        return self._found[text]

    def _shortest(self, text: str) -> str | None:
        units = self._units
        node = _children(0, units[0])
        for byte in text.encode("utf-8", "surrogateescape"):
            at = node ^ byte
            if not byte or at >= len(units) or units[at] & 0x800000FF != byte:
                return None
            node = _children(at, units[at])
            if units[at] & _RULE:
                return self._texts[units[node] & _VALUE]
        return None


def _children(place: int, unit: int) -> int:
    """The first unit of the block that a unit's children are in."""
    return place ^ (unit >> 10) << (unit >> 6 & 8)


def _bad(what: str) -> FormatError:
    return FormatError(f"precompiled_charsmap is damaged: {what}; {_CURE}")


@lru_cache(maxsize=16)
def charsmap(data: bytes) -> Charsmap:
    """Read a charsmap and check it.

    Raises
    ------
    FormatError
        If the bytes are no charsmap, or its trie leads out of itself, round in a circle or to no text.
    """
    if len(data) < 4:
        raise _bad(f"it has {len(data)} bytes, and the size of its trie alone takes 4")
    (size,) = struct.unpack_from("<I", data)
    if not 0 < size < len(data) - 4:
        raise _bad(f"offset 0 says that the trie has {size} bytes, and behind it are {len(data) - 4}, texts included")
    if size % 4:
        raise _bad(f"offset 0 says that the trie has {size} bytes, which is no multiple of 4")
    units = array("I" if array("I").itemsize == 4 else "L", data[4 : 4 + size])
    if sys.byteorder == "big":
        units.byteswap()
    if data[-1]:
        raise _bad("its last text does not end with a NUL")
    try:
        data[4 + size :].decode("utf-8")
    except UnicodeDecodeError as error:
        raise _bad(f"the texts are no UTF-8 at offset {4 + size + error.start}") from None
    return _Reader(units, data, 4 + size).read()


class _Reader:
    """The walk over the units that a text can reach. Blocks may be shared, so a unit may have several ways to it."""

    def __init__(self, units: array[int], data: bytes, texts_at: int) -> None:
        self.units, self.data, self.texts_at = units, data, texts_at
        self.texts: dict[int, str] = {}
        blocks: dict[int, list[int]] = {}
        for place, unit in enumerate(units):
            # A label above 0xFF, or of NUL, is none that a byte can match.
            if 0 < unit & 0x800000FF < 0x100:
                blocks.setdefault(place ^ unit & 0xFF, []).append(place)
        self.blocks = blocks

    def read(self) -> Charsmap:
        order = self._order()
        self._check_characters(order)
        singles: set[int] = set()
        inner: set[int] = set()
        for point, place in self._characters([0]):
            if self.units[place] & _RULE:
                singles.add(point)
            if self.blocks.get(self._block(place)):
                inner.add(place)
        seconds = {point for point, _ in self._characters(sorted(inner))}
        return Charsmap(self.units, self.texts, singles, seconds)

    def _block(self, place: int) -> int:
        return _children(place, self.units[place])

    def _order(self) -> list[int]:
        """The reachable units, each before all that lead to it."""
        order: list[int] = []
        done: set[int] = set()
        path: set[int] = {0}
        stack = [(0, iter(self._below(0)))]
        while stack:
            place, below = stack[-1]
            for child in below:
                if child in path:
                    raise _bad(f"unit {child} of its trie leads back to itself")
                if child not in done:
                    if len(stack) > MAX_KEY:
                        raise _bad(f"a rule at unit {child} of its trie looks at more than {MAX_KEY} bytes")
                    path.add(child)
                    stack.append((child, iter(self._below(child))))
                    break
            else:
                stack.pop()
                path.discard(place)
                done.add(place)
                order.append(place)
        return order

    def _below(self, place: int) -> list[int]:
        """The children of a unit, once what it says is checked."""
        block = self._block(place)
        if block >= len(self.units):
            raise _bad(f"unit {place} of its trie leads to unit {block}, and there are {len(self.units)}")
        if self.units[place] & _RULE:
            if not place:
                raise _bad("a rule of its trie is for the empty text")
            value = self.units[block] & _VALUE
            if value not in self.texts:
                self.texts[value] = self._text(place, value)
        return self.blocks.get(block, [])

    def _text(self, place: int, value: int) -> str:
        start = self.texts_at + value
        if start >= len(self.data):
            raise _bad(
                f"the rule at unit {place} of its trie has its text at byte {value}, and the texts have "
                f"{len(self.data) - self.texts_at}"
            )
        try:
            return self.data[start : self.data.index(0, start)].decode("utf-8")
        except UnicodeDecodeError:
            raise _bad(f"the rule at unit {place} of its trie has its text at byte {value}, amid a character") from None

    def _check_characters(self, order: list[int]) -> None:
        """Every way is UTF-8, and a rule ends with a character. Longest ways are counted too: blocks are shared."""
        missing = {0: 0}  # bytes that the character lacks behind a unit
        length = {0: 0}
        for place in reversed(order):
            lacks = missing[place]
            if self.units[place] & _RULE and lacks:
                raise _bad(f"the rule at unit {place} of its trie ends amid a character")
            for child in self.blocks.get(self._block(place), ()):
                label = self.units[child] & 0xFF
                behind = lacks - 1 if 0x80 <= label < 0xC0 else -1 if lacks or label > 0xF4 else _after(label)
                if behind < 0 or missing.setdefault(child, behind) != behind:
                    raise _bad(f"unit {child} of its trie has the label {label:#x}, which is no UTF-8 there")
                length[child] = max(length.get(child, 0), length[place] + 1)
                if length[child] > MAX_KEY:
                    raise _bad(f"a rule at unit {child} of its trie looks at more than {MAX_KEY} bytes")

    def _characters(self, places: list[int]) -> list[tuple[int, int]]:
        """What characters lead on from units, and where to; each pair once."""
        found: list[tuple[int, int]] = []
        seen = {(place, 0, 0) for place in places}
        stack = list(seen)
        while stack:
            place, point, lacks = stack.pop()
            for child in self.blocks.get(self._block(place), ()):
                label = self.units[child] & 0xFF
                behind = lacks - 1 if lacks else _after(label)
                begun = point << 6 | label & 0x3F if lacks else label & (0x7F, 0x1F, 0xF, 7)[behind]
                one = (child, begun, behind)
                if one not in seen:
                    seen.add(one)
                    if len(seen) > _MAX_CHARACTERS:
                        raise _bad(f"its rules begin with more than {_MAX_CHARACTERS} characters")
                    if behind:
                        stack.append(one)
                    elif begun < 0x110000:
                        found.append((begun, child))
        return found


def _after(lead: int) -> int:
    """How many bytes of a character come behind its first one."""
    return (lead >= 0xC0) + (lead >= 0xE0) + (lead >= 0xF0)
