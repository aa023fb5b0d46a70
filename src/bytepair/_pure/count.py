"""Counting the pretokens of a corpus: each distinct one, how often, and where it stood first."""

from __future__ import annotations

import collections
import io
import operator
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from ..errors import BytepairError, TrainingError
from ._common import as_bytes, int64, integers, only_bytes, rows
from .cut import Specials, Splitter, Stream

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MOST = (1 << 63) - 1
_WORD_BYTES = 400
"""Memory that a word takes in the two mappings, about, besides its text."""


class Counter:
    def __init__(self, splitter: Splitter | None, specials: Specials | None) -> None:
        self._splitter = splitter
        self._specials = specials
        self._line_specials = specials.within_lines() if specials else None
        self._stream = Stream()
        self._document = 0
        self._by_line = self._line_open = False  # a line has begun and waits in the stream
        self._fed = self._line_start = 0  # bytes of the document, and where that line began
        self.clear()

    def clear(self) -> None:
        self._counts: collections.Counter[bytes] = collections.Counter()
        self._first: dict[bytes, tuple[int, int]] = {}  # (document, offset)
        self._text_bytes = 0

    def feed(self, data: object, document: int, last: bool, offset: int = 0, by_line: bool = False) -> None:
        piece = as_bytes(data)
        if self._splitter is None:
            raise BytepairError("counter: this pattern's pretokens are cut outside of the core")
        if (self._stream.pending or self._line_open) and (document, by_line) != (self._document, self._by_line):
            raise BytepairError("counter: the document before this one was not ended")
        if document != self._document:
            self._fed = 0
        self._document, self._by_line = document, by_line
        if by_line:
            self._feed_lines(self._splitter, piece, last, offset)
        else:
            self._feed_stream(self._splitter, self._stream, piece, last, offset)

    def _feed_stream(self, splitter: Splitter, stream: Stream, piece: bytes, last: bool, offset: int) -> None:
        specials = self._line_specials if self._by_line else self._specials
        start_of, start = -1, 0
        for place, run, found in stream.feed(splitter, specials, piece, last):
            if isinstance(found, int):
                start_of = -1
                continue
            if place != start_of:
                start_of, start = place, 0
            self._add(run, [start, *found], self._document, offset + place)
            start = found[-1]

    def _feed_lines(self, splitter: Splitter, piece: bytes, last: bool, offset: int) -> None:
        """Whole lines at once; a line that begins in one piece and ends in another is streamed as any text."""
        at = 0
        if self._line_open:
            at = piece.find(b"\n") + 1
            self._line_open = not at and not last
            at = at or len(piece)
            self._feed_stream(splitter, self._stream, piece[:at], not self._line_open, offset + self._line_start)
        end = len(piece) if last else max(piece.rfind(b"\n") + 1, at)
        for line in io.BytesIO(piece[at:end]):
            self._feed_stream(splitter, Stream(), line, True, offset + self._fed + at)
            at += len(line)
        if end < len(piece):
            self._line_open, self._line_start = True, self._fed + end
            self._feed_stream(splitter, self._stream, piece[end:], False, offset + self._line_start)
        self._fed = 0 if last else self._fed + len(piece)

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
        if known is None:
            self._text_bytes += len(word)
        if known is None or place < known:
            self._first[word] = place

    def _more(self, word: bytes, count: int, place: tuple[int, int]) -> None:
        if count > _MOST - self._counts[word]:
            raise TrainingError("a pretoken comes more than 2^63 - 1 times; the counts are too high to be added")
        self._counts[word] += count
        self._first_at(word, place)

    def add_words(self, text: bytes, offsets: Any, counts: Any, documents: Any, places: Any) -> None:
        words = rows(only_bytes(text), integers(offsets))
        columns = [integers(column) for column in (counts, documents, places)]
        if any(len(column) != len(words) for column in columns):
            raise BytepairError("counter: the columns differ in length")
        for word, count, document, place in zip(words, *columns):
            if not word or count <= 0 or document < 0 or place < 0:
                raise BytepairError("counter: a word is empty, its count not positive, or its place negative")
            self._more(word, count, (document, place))

    def merge(self, other: Counter) -> None:
        for word, place in other._first.items():
            self._more(word, other._counts[word], place)

    def words(self) -> tuple[bytes, NDArray[np.int64], NDArray[np.int64]]:
        return self.table()[:3]

    def table(
        self, by_text: bool = False, min_count: int = 1
    ) -> tuple[bytes, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        kept = [(place, word) for word, place in self._first.items() if self._counts[word] >= min_count]
        kept.sort(key=operator.itemgetter(1) if by_text else None)
        order = [word for _, word in kept]
        return (
            b"".join(order),
            int64(list(accumulate(map(len, order), initial=0))),
            int64([self._counts[word] for word in order]),
            int64([document for (document, _), _ in kept]),
            int64([offset for (_, offset), _ in kept]),
        )

    @property
    def pending(self) -> int:
        return self._stream.pending

    @property
    def n_words(self) -> int:
        return len(self._first)

    @property
    def n_pretokens(self) -> int:
        return sum(self._counts.values())

    @property
    def bytes(self) -> int:
        return len(self._first) * _WORD_BYTES + 2 * self._text_bytes


def gather_words(text: bytes, offsets: Any, order: Any) -> tuple[bytes, NDArray[np.int64]]:
    """The words at the places in ``order``, one behind the other, and where they end."""
    words = rows(only_bytes(text), integers(offsets))
    places = integers(order)
    if any(not 0 <= place < len(words) for place in places):
        raise BytepairError("words: a place is out of range")
    taken = [words[place] for place in places]
    return b"".join(taken), int64(list(accumulate(map(len, taken), initial=0)))
