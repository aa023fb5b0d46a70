"""Cutting text: class tables, the pattern's automaton, special tokens, and text that comes in pieces.

The automaton is told in ``pattern/automaton.py``; here it runs on lists. Blocks of 64 bytes are the core's alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any

from ..errors import BytepairError
from ._common import as_bytes, characters, int64

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WINDOW = 1 << 20
"""Bytes that are cut at a time, since cutting keeps lists many times its text."""
_SMALL = 1024
"""Up to so many bytes that wait are looked at again with every piece."""
_HERE = 0xFFFF
"""Where a mark comes from: the number of borders now."""


class ClassTable:
    def __init__(self, stage1: bytes, stage2: bytes, n_classes: int) -> None:
        if len(stage1) // 2 != 0x1100:
            raise BytepairError("class table: stage 1 needs 4352 pages")
        if not stage2 or len(stage2) % 256:
            raise BytepairError("class table: stage 2 is no whole page")
        if max(low | high << 8 for low, high in zip(stage1[::2], stage1[1::2])) >= len(stage2) // 256:
            raise BytepairError("class table: a page lies outside stage 2")
        if max(stage2) >= n_classes:
            raise BytepairError("class table: a class is out of range")
        self._stage1, self._stage2 = stage1, stage2
        self.n_classes = n_classes

    def of(self, code_point: int) -> int:
        place = code_point >> 8 << 1
        page = self._stage1[place] | self._stage1[place + 1] << 8
        return self._stage2[page << 8 | code_point & 0xFF]

    def covers(self, data: bytes, wanted: int) -> bool:
        """Whether all characters are of one class."""
        return all(self.of(ord(character)) == wanted for character in characters(data))


def _uint16(packed: bytes) -> list[int]:
    """Little-endian numbers, two bytes each."""
    return [low | high << 8 for low, high in zip(packed[::2], packed[1::2])]


def _check(
    columns: int,
    width: int,
    begin: list[int],
    levels: list[int],
    following: list[int],
    numbers: list[int],
    actions: Sequence[Sequence[int]],
    strong: bytes,
) -> None:
    """Refuse tables that cannot be run, as the core does."""

    def sound(holds: bool, what: str) -> None:
        if not holds:
            raise BytepairError(f"automaton: {what}")

    size, n_states = len(following), len(levels)
    sound(n_states > 0 and size == n_states * columns, "next has a wrong size")
    sound(len(numbers) == size, "action has a wrong size")
    sound(size < 1 << 18, "it is too large")
    sound(len(begin) == columns, "begin has a wrong size")
    sound(len(strong) == (columns - 1) ** 2, "strong has a wrong size")
    sound(0 < width < 1024, "it has no level, or too many")
    sound(2 <= len(actions) < 1 << 10, "it has too few or many actions")
    common = [0, 0, 0], [1, 0, 1, 0, _HERE]
    sound((list(actions[0]), list(actions[1])) == common, "actions 0 and 1 are not the common ones")
    for code in actions:
        whole = len(code) >= 3 and len(code) == 3 + 2 * code[2] and code[0] <= width and code[1] <= 2
        sound(whole, "an action is malformed")
        moves = all(to < width and (source < width or source == _HERE) for to, source in zip(code[3::2], code[4::2]))
        sound(moves, "an action moves a mark that is not there")
    inside = max(following) < n_states and max(numbers) < len(actions)
    sound(inside, "a state or action is out of range")
    one_level = all(state < n_states and levels[state] == 1 for state in begin)
    sound(one_level, "it begins in no state, or in one of more levels")
    accepts = [actions[number][0] > 0 for number in numbers]
    late = not any(any(accepts[state * columns : (state + 1) * columns]) for state in begin)
    sound(late, "it ends a pretoken before its first character")
    sound(all(1 <= count <= width for count in levels), "a state has no level, or too many")


class Splitter:
    def __init__(
        self,
        classes: ClassTable,
        width: int,
        begin: bytes,
        levels: bytes,
        next: bytes,
        action: bytes,
        actions: Sequence[Sequence[int]],
        strong: bytes,
        family: str | None,
        flags: Sequence[int],
        level: str | None,
    ) -> None:
        """``family``, ``flags`` and ``level`` are for the core's blocks."""
        del family, flags, level
        columns = classes.n_classes + 1
        following, numbers = _uint16(next), _uint16(action)
        _check(columns, width, _uint16(begin), _uint16(levels), following, numbers, actions, strong)
        self._classes, self._width, self._strong = classes, width, strong
        self._actions = [tuple(code) for code in actions]
        self._has_gaps = any(code[1] for code in self._actions)
        rows: list[list[tuple[Any, int]]] = [[] for _ in range(len(following) // columns)]
        for place, (to, number) in enumerate(zip(following, numbers)):
            rows[place // columns].append((rows[to], number))
        self._begin = [rows[state] for state in _uint16(begin)]

    def ends(self, data: object) -> NDArray[np.int64]:
        return int64(list(chain.from_iterable(self.certain_ends(as_bytes(data), b"", True))))

    def safe_cut(self, data: bytes, start: int, specials: Specials | None) -> int:
        """The first place after ``start`` where the text can be cut in two, each cut on its own, or its end.

        No name of a special token stands across it.
        """
        for at in range(start + 1, len(data)):
            if data[at] & 0xC0 != 0x80:
                # Four bytes before and behind hold the two characters, whole or in parts as the whole text does.
                behind = characters(data[at : at + 4])[0]
                before = characters(data[max(at - 4, 0) : at])[-1]
                pair = self._classes.of(ord(before)) * self._classes.n_classes + self._classes.of(ord(behind))
                if self._strong[pair] and not (specials and specials.across(data, at)):
                    return at
        return len(data)

    def certain_ends(self, text: bytes, before: bytes, last: bool) -> Iterator[list[int]]:
        """The ends of pretokens of a run behind ``before``, one window's after the other.

        Without ``last`` more text may follow, and only the ends that it cannot change are given.
        """
        at, size = 0, _WINDOW
        while at < len(text):
            window = text[at : at + size]
            whole = at + len(window) == len(text)
            context = text[max(at - 4, 0) : at] if at else before[-4:]
            if ends := self._scan(window, context, last and whole):
                yield [at + end for end in ends]
                at, size = at + ends[-1], _WINDOW
            elif not whole:
                size *= 2
            if whole:
                return

    def _scan(self, data: bytes, before: bytes, last: bool) -> list[int]:
        if not last:
            data = data[: _whole_characters(data)]
        text = characters(data)
        of = {character: self._classes.of(ord(character)) for character in set(text)}
        classes = [of[character] for character in text]
        if last:
            classes.append(self._classes.n_classes)
        row = self._begin[self._classes.of(ord(characters(before)[-1])) if before else -1]
        codes, marks = self._actions, [0] * self._width
        borders: list[int] = []  # the place, and the kind in the lowest two bits
        for position, c in enumerate(classes):
            row, number = row[c]
            if not number:
                continue
            code = codes[number]
            if code[0]:
                del borders[marks[code[0] - 1] :]
                borders.append(position << 2 | code[1])
            for place in range(3, len(code), 2):
                source = code[place + 1]
                marks[code[place]] = len(borders) if source == _HERE else marks[source]
        if not last:
            del borders[marks[0] :]
        if self._has_gaps:
            following = [*borders[1:], 0 if last else 1]  # where more may follow, the last gap may go on
            borders = [one for one, other in zip(borders, following) if not (one & 3 == 1 and other & 3)]
        ends = [border >> 2 for border in borders]
        if len(text) == len(data):
            return ends
        pieces = zip([0, *ends], ends)
        return list(accumulate(len(text[start:end].encode("utf-8", "surrogateescape")) for start, end in pieces))


def _whole_characters(data: bytes) -> int:
    """The most bytes that do not end within a character."""
    for k in range(1, min(len(data), 3) + 1):
        byte = data[-k]
        if byte & 0xC0 != 0x80:
            needs = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
            return len(data) - k if needs > k else len(data)
    return len(data)


class Specials:
    def __init__(self, names: Sequence[bytes], ids: Sequence[int]) -> None:
        if len(names) != len(ids):
            raise BytepairError("specials: names and ids differ in number")
        if b"" in names:
            raise BytepairError("specials: a name is empty")
        self._ids = dict(zip(reversed(names), reversed(ids)))  # of two equal names the first counts
        self.longest = max(map(len, names), default=0)
        # The earliest place wins, and there the alternative that stands first: the longest.
        longest_first = sorted(names, key=len, reverse=True)
        self._search = re.compile(b"|".join(map(re.escape, longest_first))).search if names else None

    def within_lines(self) -> Specials:
        """Those names that may stand within a line, which ends with its newline."""
        names = [name for name in self._ids if b"\n" not in name[:-1]]
        return Specials(names, [self._ids[name] for name in names])

    def across(self, data: bytes, at: int) -> bool:
        """Whether a name may stand across a place."""
        starts = range(max(at - self.longest, 0), at)
        return any(data.startswith(name, i) and i + len(name) > at for i in starts for name in self._ids)

    def find(self, data: object, start: int) -> tuple[int, int, int]:
        text = as_bytes(data)
        found = self._search(text, start) if self._search else None
        if found is None:
            return len(text), 0, -1
        return found.start(), len(found[0]), self._ids[found[0]]


class Stream:
    """A text that comes in pieces, cut anywhere. What is not certain yet waits for the next piece."""

    def __init__(self) -> None:
        self._waiting = b""
        self._before = b""  # what stands before it in its run
        self._offset = 0  # where it begins in the text
        self._unscanned = 0

    @property
    def pending(self) -> int:
        return len(self._waiting)

    def feed(
        self, splitter: Splitter, specials: Specials | None, piece: bytes, last: bool
    ) -> Iterator[tuple[int, bytes, list[int] | int]]:
        """(offset, run, ends of its pretokens), and (offset, name, id) for special tokens; what is certain of both."""
        self._unscanned += len(piece)
        if not last and len(self._waiting) > _SMALL and self._unscanned < len(self._waiting) // 8:
            # Many small pieces of a long pretoken must not cost its length squared.
            self._waiting += piece
            return
        self._unscanned = 0
        text, offset = self._waiting + piece, self._offset
        hold = 0 if last or specials is None else max(specials.longest - 1, 0)
        at = 0
        while specials:
            found, length, special = specials.find(text, at)
            if special < 0 or found + hold >= len(text):
                break
            # Whatever comes, no longer name begins here: the run before it is complete.
            run, before, self._before = text[at:found], self._before, b""
            for ends in splitter.certain_ends(run, before, True):
                yield offset + at, run, ends
            yield offset + found, text[found : found + length], special
            at = found + length
        run = text[at : max(len(text) - hold, at)]
        done = 0
        for ends in splitter.certain_ends(run, self._before, last):
            yield offset + at, run, ends
            done = ends[-1]
        self._before = (self._before + run[:done])[-4:]
        self._waiting, self._offset = text[at + done :], offset + at + done
        if last:
            self._waiting = self._before = b""
            self._offset = 0
