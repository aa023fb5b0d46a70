"""Counting the pretokens of a corpus: each distinct one, how often, and where it stood first."""

from __future__ import annotations

import collections
import operator
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from ..errors import BytepairError
from ._common import as_bytes, int64, integers
from .cut import Specials, Splitter, Stream

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Counter:
    def __init__(self, splitter: Splitter | None, specials: Specials | None) -> None:
        self._splitter = splitter
        self._specials = specials
        self._counts: collections.Counter[bytes] = collections.Counter()
        self._first: dict[bytes, tuple[int, int]] = {}  # (document, offset)
        self._stream = Stream()
        self._document = 0

    def feed(self, data: object, document: int, last: bool, offset: int = 0) -> None:
        piece = as_bytes(data)
        if self._splitter is None:
            raise BytepairError("counter: this pattern's pretokens are cut outside of the core")
        if self._stream.pending and document != self._document:
            raise BytepairError("counter: the document before this one was not ended")
        self._document = document
        start_of, start = -1, 0
        for place, run, found in self._stream.feed(self._splitter, self._specials, piece, last):
            if isinstance(found, int):
                start_of = -1
                continue
            if place != start_of:
                start_of, start = place, 0
            self._add(run, [start, *found], document, offset + place)
            start = found[-1]

    def feed_ends(self, data: object, ends: Any, document: int, offset: int) -> None:
        text = as_bytes(data)
        borders = [0, *integers(ends)]
        if borders[-1] > len(text) or not all(map(operator.lt, borders, borders[1:])):
            raise BytepairError("counter: the ends of pretokens must ascend and lie in the text")
        self._add(text, borders, document, offset)

    def _add(self, text: bytes, borders: list[int], document: int, offset: int) -> None:
        words = [text[start:end] for start, end in zip(borders, borders[1:])]
        self._counts.update(words)
        for word, start in dict(zip(reversed(words), reversed(borders[:-1]))).items():
            self._first_at(word, (document, offset + start))

    def _first_at(self, word: bytes, place: tuple[int, int]) -> None:
        known = self._first.get(word)
        if known is None or place < known:
            self._first[word] = place

    def merge(self, other: Counter) -> None:
        self._counts.update(other._counts)
        for word, place in other._first.items():
            self._first_at(word, place)

    def words(self) -> tuple[bytes, NDArray[np.int64], NDArray[np.int64]]:
        order = sorted(self._first, key=self._first.__getitem__)
        offsets = list(accumulate(map(len, order), initial=0))
        return b"".join(order), int64(offsets), int64([self._counts[word] for word in order])

    @property
    def pending(self) -> int:
        return self._stream.pending

    @property
    def n_words(self) -> int:
        return len(self._first)
