"""BPE-dropout: from pretokens to ids where each place to merge may be left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any

from ..errors import BytepairError
from ._common import as_bytes, int64, integers, uint32
from .cut import ClassTable, Specials, Splitter, Stream

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .encode import Alphabet, PairTable

_STEP = 0x9E3779B97F4A7C15
_64 = (1 << 64) - 1
_LOW = 0xFFFFFFFF
_NO_CODE = 1 << 64


def _mix(x: int) -> int:
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & _64
    x = (x ^ x >> 27) * 0x94D049BB133111EB & _64
    return x ^ x >> 31


def draws(seed: int, offset: int) -> Iterator[int]:
    """The numbers of a pretoken, each under 2^53: splitmix64 from a state that its seed and offset give."""
    state = _mix(_mix(seed + _STEP & _64) ^ offset)
    while True:
        state = state + _STEP & _64
        yield _mix(state) >> 11


def merge(symbols: list[int], pairs: PairTable, whole_rank: bool, left_out: Callable[[], bool]) -> list[int]:
    """Merges a pretoken, step by step, where ``left_out`` says of each place in turn whether it is left out."""
    n = len(symbols)
    code_of = pairs.codes.get
    here = [code_of(pair, _NO_CODE) for pair in zip(symbols, symbols[1:])]
    here.append(_NO_CODE)
    following, previous = list(range(1, n + 1)), list(range(-1, n - 1))
    heap = [(code >> 32) << 32 | i for i, code in enumerate(here) if code != _NO_CODE]
    heapify(heap)

    def stands(entry: int) -> bool:
        return here[entry & _LOW] >> 32 == entry >> 32

    def renew(i: int) -> None:
        after = following[i]
        code = here[i] = code_of((symbols[i], symbols[after]), _NO_CODE) if after < n else _NO_CODE
        if code != _NO_CODE:
            heappush(heap, (code >> 32) << 32 | i)

    while True:
        out: list[int] = []
        batch: list[int] = []
        entry = -1  # a place that had its rank before, and has it again, has two entries: one draw
        while heap and not batch:
            found = heappop(heap)
            if found != entry and stands(found):
                entry = found
                (out if left_out() else batch).append(found)
        if not batch:
            break
        rank = entry >> 32
        while whole_rank and heap and heap[0] >> 32 == rank:
            found = heappop(heap)
            if found != entry and stands(found):
                entry = found
                if following[batch[-1] & _LOW] != found & _LOW:
                    (out if left_out() else batch).append(found)
        for one in batch:
            i = one & _LOW
            gone = following[i]
            symbols[i] = here[i] & _LOW
            here[gone] = _NO_CODE
            after = following[i] = following[gone]
            if after < n:
                previous[after] = i
            renew(i)
            if previous[i] >= 0:
                renew(previous[i])
        for one in out:
            if stands(one):
                heappush(heap, one)
    merged = []
    i = 0
    while i < n:
        merged.append(symbols[i])
        i = following[i]
    return merged


class DropoutEncoder:
    def __init__(
        self,
        alphabet: Alphabet,
        pairs: PairTable,
        whole_rank: bool,
        splitter: Splitter | None,
        dropped: ClassTable | None,
    ) -> None:
        self._alphabet = alphabet
        self._pairs = pairs
        self._whole_rank = whole_rank
        self._splitter = splitter
        self._dropped = dropped

    def encode(
        self, data: object, specials: Specials | None, seed: int, threshold: int, offset: int
    ) -> NDArray[np.uint32]:
        return uint32(self._pieces(Stream(), as_bytes(data), True, specials, (seed, threshold), offset, None))

    def encode_ends(self, data: object, ends: Any, seed: int, threshold: int, offset: int) -> NDArray[np.uint32]:
        text = as_bytes(data)
        ids: list[int] = []
        at = 0
        for end in integers(ends):
            if not at < end <= len(text):
                raise BytepairError("encoder: the ends of pretokens must ascend and lie in the text")
            ids += self._ids(text[at:end], offset + at, seed, threshold, None)
            at = end
        if at != len(text):
            raise BytepairError("encoder: the last pretoken must end where the text ends")
        return uint32(ids)

    def encode_batch(
        self,
        texts: list[str | bytes],
        specials: Specials | None,
        threads: int,  # noqa: ARG002
        seed: int,
        threshold: int,
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """``threads`` is there for the core: Python has one lock for all of them."""
        ids: list[int] = []
        counts = []
        for document, text in enumerate([as_bytes(text) for text in texts]):
            dropout = seed + document & _64, threshold
            found = self._pieces(Stream(), text, True, specials, dropout, 0, document)
            ids += found
            counts.append(len(found))
        return uint32(ids), int64(counts)

    def feed(
        self, stream: Stream, piece: object, last: bool, specials: Specials | None, seed: int, threshold: int
    ) -> list[int]:
        return self._pieces(stream, as_bytes(piece), last, specials, (seed, threshold), 0, None)

    def _pieces(
        self,
        stream: Stream,
        text: bytes,
        last: bool,
        specials: Specials | None,
        dropout: tuple[int, int],
        before: int,
        document: int | None,
    ) -> list[int]:
        if self._splitter is None:
            raise BytepairError("encoder: this pattern's pretokens are cut outside of the core")
        ids: list[int] = []
        start_of = -1  # where the run begins that `start` is in
        start = 0
        for offset, run, found in stream.feed(self._splitter, specials, text, last):
            if isinstance(found, int):
                ids.append(found)
                start_of = -1
                continue
            if offset != start_of:
                start_of, start = offset, 0
            for end in found:
                ids += self._ids(run[start:end], before + offset + start, *dropout, document)
                start = end
        return ids

    def _ids(self, pretoken: bytes, offset: int, seed: int, threshold: int, document: int | None) -> list[int]:
        if self._dropped and self._dropped.covers(pretoken, 1):
            return []
        numbers = draws(seed, offset)
        symbols = self._alphabet.first_symbols(pretoken, offset, document)
        return merge(symbols, self._pairs, self._whole_rank, lambda: next(numbers) < threshold)
