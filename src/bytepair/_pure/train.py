"""Learning merges: the most frequent pair, again and again. Why its lazy heap is exact is told in core/train.hpp."""

from __future__ import annotations

import collections
import time
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..errors import BytepairError, TrainingError
from ._common import NONE, int64, integers, only_bytes, rows, uint32
from .encode import merge_symbols

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .cut import ClassTable
    from .encode import Alphabet, PairTable


class _Pair:
    __slots__ = ("count", "first", "left", "places", "right")

    def __init__(self, left: int, right: int, count: int, places: list[int]) -> None:
        self.left = left
        self.right = right
        self.count = count
        self.places = places  # ascending; those before `first` are gone
        self.first = 0


class _Touched:
    """What one merge does to the pairs of one neighbouring symbol."""

    __slots__ = ("gained_left", "gained_right", "lost_left", "lost_right", "places_left", "places_right")

    def __init__(self) -> None:
        self.lost_left = self.lost_right = 0  # (symbol, left part), (right part, symbol)
        self.gained_left = self.gained_right = 0  # (symbol, new), (new, symbol)
        self.places_left: list[int] = []
        self.places_right: list[int] = []


_GAP = -1
"""The cell between words."""
_INSIDE = -2
"""A cell within a token, neither its first nor its last."""


class Trainer:
    def __init__(
        self,
        text: bytes,
        offsets: Any,
        counts: Any,
        dropped: ClassTable | None,
        alphabet: Alphabet,
        n_symbols: int,
        min_count: int,
        ties: str = "first",
        numbers: Sequence[int] = (),
        texts: Sequence[bytes] = (),
        max_length: int | None = None,
        given: PairTable | None = None,
        whole_rank: bool = False,
        lengths: Sequence[int] = (),
    ) -> None:
        if ties not in ("first", "smallest", "greatest"):
            raise BytepairError(f"no way to break ties is named {ties}")
        if (
            (ties != "first" and len(numbers) != n_symbols)
            or (ties == "greatest" and len(texts) != n_symbols)
            or (given is not None and len(lengths) != n_symbols)
        ):
            raise TrainingError("what is said of the symbols is not said of each one")
        self._ties = ties
        self._numbers = [*numbers] if ties != "first" else []
        self._texts = [*texts] if ties == "greatest" else []
        self._max_length = max_length
        self._lengths = [*lengths] if given is not None else [1] * n_symbols  # of each symbol, in cells
        starts = integers(offsets)
        words = rows(only_bytes(text), starts)
        self._counts = integers(counts)
        if len(words) != len(self._counts):
            raise TrainingError("words and counts differ in number")
        self._min_count = max(min_count, 1)
        # A token fills as many cells as it has first symbols; its first and its last cell hold it.
        self._cells = [_GAP]
        self._word_of = [NONE]
        length = 0
        for w, (word, count) in enumerate(zip(words, self._counts)):
            if not word or count <= 0:
                raise TrainingError("a word is empty, or its count is not positive")
            if dropped and dropped.covers(word, 1):
                continue
            symbols = alphabet.first_symbols(word, starts[w], None)
            n_cells = len(symbols)
            if given is not None:
                symbols = merge_symbols(symbols, given, whole_rank)
            length += count * len(symbols)
            if length >= 1 << 63:
                raise TrainingError("the corpus has more than 2^63 - 1 symbols: its counts are too high")
            if max(symbols) > n_symbols:
                raise TrainingError("a word has a symbol that the alphabet does not have")
            # The symbol n_symbols is none: what the alphabet does not have, which no merge crosses.
            sizes = [1 if s == n_symbols else self._lengths[s] for s in symbols]
            if 0 in sizes or sum(sizes) != n_cells:
                raise TrainingError("the lengths of the given tokens do not add up to those of the words")
            for symbol, size in zip(symbols, sizes):
                if symbol == n_symbols:
                    symbol = _GAP
                self._cells += [symbol] if size == 1 else [symbol, *[_INSIDE] * (size - 2), symbol]
            self._cells.append(_GAP)
            self._word_of += [w] * n_cells
            self._word_of.append(NONE)
        self._length_before = self._length_now = length
        self._exhausted = False
        self._pairs: list[_Pair] = []
        self._index: dict[tuple[int, int], _Pair] = {}
        self._heap: list[tuple[int, Any, int]] = []  # (-count, key among equals, place in _pairs)
        self._with_count: dict[int, int] = {}  # count -> how many pairs have it
        self._merges: list[tuple[int, int, int, int, int]] = []
        self._examples: list[int] = []
        self._build_pairs()

    def _build_pairs(self) -> None:
        places: dict[tuple[int, int], list[int]] = {}
        for (left, place), (right, _) in pairwise(self._tokens()):
            if left != _GAP and right != _GAP:
                places.setdefault((left, right), []).append(place)
        for (left, right), where in places.items():
            if not self._fits(left, right):
                continue
            self._add_pair(left, right, sum(self._counts[self._word_of[place]] for place in where), where)

    def _add_pair(self, left: int, right: int, count: int, places: list[int]) -> None:
        # A pair under min_count can never win, since counts only fall: it is not kept at all.
        if count < self._min_count:
            return
        pair = self._index[left, right] = _Pair(left, right, count, places)
        heappush(self._heap, (-count, self._key(left, right, places[0]), len(self._pairs)))
        self._pairs.append(pair)
        self._count_change(0, count)

    def _key(self, left: int, right: int, place: int) -> Any:
        """Among pairs of equal count the one with the lowest key wins."""
        if self._ties == "first":
            return place
        numbers = self._numbers
        numbered = tuple(numbers[s] if s < len(numbers) else s for s in (left, right))
        if self._ties == "smallest":
            return numbered
        # The greatest text first: bytes turned over, and behind the last one what is above all bytes.
        return *((*(255 - b for b in self._texts[s]), 256) for s in (left, right)), *numbered

    def _count_change(self, before: int, after: int) -> None:
        with_count = self._with_count
        if before > 0:
            if with_count[before] == 1:
                del with_count[before]
            else:
                with_count[before] -= 1
        if after > 0:
            with_count[after] = with_count.get(after, 0) + 1

    def run(self, wanted: int, seconds: float) -> int:
        until = time.monotonic() + seconds
        while not self._exhausted and len(self._merges) < wanted:
            pair = self._next_pair()
            if pair is None:
                self._exhausted = True
            else:
                self._apply(pair)
            if time.monotonic() >= until:
                break
        return len(self._merges)

    def _next_pair(self) -> _Pair | None:
        cells, heap = self._cells, self._heap
        while heap:
            count, key, number = heappop(heap)
            pair = self._pairs[number]
            if pair.count < self._min_count:
                continue
            now = key
            if self._ties == "first":
                left, right, places, first = pair.left, pair.right, pair.places, pair.first
                length = self._lengths[left]
                while cells[places[first]] != left or cells[places[first] + length] != right:
                    first += 1
                pair.first = first
                now = places[first]
            if -count == pair.count and key == now:
                return pair
            # Out of date: it stood too early, never too late.
            heappush(heap, (-pair.count, now, number))
        return None

    def _apply(self, pair: _Pair) -> None:
        a, b, made = pair.left, pair.right, len(self._lengths)
        cells, word_of, counts, lengths = self._cells, self._word_of, self._counts, self._lengths
        tied = self._with_count[pair.count]
        la, lb = lengths[a], lengths[b]
        lengths.append(la + lb)
        if self._ties == "greatest":
            self._texts.append(self._texts[a] + self._texts[b])
        touched: dict[int, _Touched] = collections.defaultdict(_Touched)
        examples: list[int] = []
        gone = 0
        for k in range(pair.first, len(pair.places)):
            p = pair.places[k]
            q = p + la
            if cells[p] != a or cells[q] != b:
                continue
            after = q + lb
            word = word_of[p]
            count = counts[word]
            before, following = cells[p - 1], cells[after]
            if before != _GAP:
                t = touched[before]
                if before == made:
                    touched[a].gained_right -= count  # (made, a), born a moment ago, is (made, made) now
                else:
                    t.lost_left += count
                t.gained_left += count
                t.places_left.append(p - lengths[before])
            if following != _GAP:
                t = touched[following]
                if a != b or following != b:
                    t.lost_right += count
                t.gained_right += count
                t.places_right.append(p)
            cells[q - 1] = cells[q] = _INSIDE
            cells[p] = cells[after - 1] = made
            gone += count
            if len(examples) < 3 and word not in examples:
                examples.append(word)
        self._length_now -= gone
        self._merges.append((a, b, pair.count, tied, self._length_now))
        self._examples += (*examples, *[NONE] * (3 - len(examples)))
        # The pair itself has no place left; what its overlapping places (aaa) lost is part of that.
        self._count_change(pair.count, 0)
        pair.count = 0
        pair.places = []
        for symbol, t in touched.items():
            self._settle(symbol, a, t.lost_left)
            self._settle(b, symbol, t.lost_right)
            if self._fits(symbol, made):
                self._add_pair(symbol, made, t.gained_left, t.places_left)
                self._add_pair(made, symbol, t.gained_right, t.places_right)

    def _fits(self, left: int, right: int) -> bool:
        return self._max_length is None or self._lengths[left] + self._lengths[right] <= self._max_length

    def _settle(self, left: int, right: int, lost: int) -> None:
        pair = self._index.get((left, right)) if lost else None
        if pair is not None:
            self._count_change(pair.count, pair.count - lost)
            pair.count -= lost

    @property
    def exhausted(self) -> bool:
        return self._exhausted

    @property
    def length_before(self) -> int:
        return self._length_before

    def merges(self) -> tuple[Any, ...]:
        left, right, counts, tied, lengths = zip(*self._merges) if self._merges else ((),) * 5
        return (
            *(uint32(left), uint32(right)),
            *(int64(counts), int64(tied), int64(lengths)),
            uint32(self._examples),
        )

    def _tokens(self) -> Iterator[tuple[int, int]]:
        """Each token of the corpus, and where it stands; gaps too."""
        place = 0
        while place < len(self._cells):
            symbol = self._cells[place]
            yield symbol, place
            place += 1 if symbol == _GAP else self._lengths[symbol]

    def frequencies(self) -> NDArray[np.int64]:
        out = [0] * len(self._lengths)
        for symbol, place in self._tokens():
            if symbol != _GAP:
                out[symbol] += self._counts[self._word_of[place]]
        return int64(out)

    def best_left(self) -> tuple[int, int, int] | None:
        seen: dict[tuple[int, int], int] = {}
        first: dict[tuple[int, int], int] = {}
        for (left, place), (right, _) in pairwise(self._tokens()):
            if left != _GAP and right != _GAP and self._fits(left, right):
                first.setdefault((left, right), place)
                seen[left, right] = seen.get((left, right), 0) + self._counts[self._word_of[place]]
        if not seen:
            return None
        best = min(seen, key=lambda pair: (-seen[pair], self._key(pair[0], pair[1], first[pair])))
        return (*best, seen[best])
