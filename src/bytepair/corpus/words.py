"""A corpus, counted: each distinct pretoken, how often it comes, in the order in which they come first.

:class:`WordCounts` is what ``training`` learns from. Counting streams: what is held is the distinct pretokens and the
unfinished end of one document for each thread.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .. import _engine
from .._check import threads as check_threads
from .._codec import cut, segments
from .._text import to_bytes
from ..errors import TextError, TrainingError
from ..pattern import Pattern, resolve
from ..progress import EVERY, Report, Reporter
from ..vocabulary import check_specials
from .readers import Document, documents, total_size

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


PART = 4 << 20
"""Bytes of a large document that one thread counts at a time."""


class WordCounts:
    """Distinct pretokens and their counts, in order of first places.

    Parameters
    ----------
    words : mapping of str or bytes to int
        Pretokens that are counted already; the mapping's order is the order of their first places.
        :meth:`from_corpus` counts a text.

    Raises
    ------
    TrainingError
        A pretoken is empty or comes twice (as str and as bytes), or a count is no whole number above 0.

    Attributes
    ----------
    text : bytes
        The pretokens, one after the other.
    offsets : int64 array, shape (n + 1,)
        Pretoken ``i`` is ``text[offsets[i]:offsets[i + 1]]``.
    counts : int64 array, shape (n,)

    Examples
    --------
    >>> words = WordCounts.from_corpus("low low lower")
    >>> list(words.items())
    [(b'low', 1), (b' low', 1), (b' lower', 1)]
    >>> WordCounts({"low": 5, "lower": 2}).total
    7
    """

    def __init__(self, words: Mapping[str, int] | Mapping[bytes, int]) -> None:
        import numpy as np

        if not isinstance(words, Mapping):
            raise TrainingError(
                f"a {type(words).__name__} maps no pretokens to counts; to count a text use WordCounts.from_corpus(...)"
            )
        texts: dict[bytes, int] = {}
        for word, count in words.items():
            try:
                text = to_bytes(word, "strict")
            except TextError as error:
                raise TextError(f"word {len(texts)}: {error.what}", "give it as bytes") from None
            if not text:
                raise TrainingError(f"word {len(texts)} is empty; leave it out")
            if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or not 0 < count < 1 << 63:
                raise TrainingError(f"the count of {word!r} is {count!r}; counts are whole numbers from 1 to 2^63 - 1")
            if text in texts:
                raise TrainingError(f"{word!r} comes twice, as str and as bytes; add its counts up")
            texts[text] = int(count)
        self.text = b"".join(texts)
        self.offsets: NDArray[np.int64] = np.zeros(len(texts) + 1, dtype=np.int64)
        np.cumsum([len(text) for text in texts], out=self.offsets[1:])
        self.counts: NDArray[np.int64] = np.array(list(texts.values()), dtype=np.int64)

    @classmethod
    def _of_arrays(cls, text: bytes, offsets: NDArray[np.int64], counts: NDArray[np.int64]) -> WordCounts:
        made = cls.__new__(cls)
        made.text, made.offsets, made.counts = text, offsets, counts
        return made

    @classmethod
    def from_corpus(
        cls,
        corpus: Any,
        *,
        pattern: str | Pattern = "gpt2",
        specials: Iterable[str] = (),
        threads: int | None = None,
        progress: Reporter | bool | None = None,
        normalizer: Any = None,
    ) -> WordCounts:
        """Counts the pretokens of a corpus.

        Parameters
        ----------
        corpus : as for :func:`bytepair.train`
        pattern : str or Pattern
        specials : names
            Special tokens found in the text cut it and are not counted.
        threads : int, optional
            All cores unless given. The result is the same for any number.
        progress : callable or True, optional
            Called now and then with a :class:`bytepair.progress.Report`; True shows a bar on a terminal.
        normalizer : as for :func:`bytepair.train`
            What changes the text between special tokens before it is cut.

        Raises
        ------
        TrainingError
            A file or folder cannot be read, or a document is no text.
        """
        import numpy  # noqa: F401  (now, not within the engine: Ctrl-C in its first import would be lost there)

        number = check_threads(threads, TrainingError) or os.cpu_count() or 1
        cutter = resolve(pattern)
        if normalizer is not None:
            from ..pipeline.normalise import normaliser_of
            from .rewritten import normalised

            corpus, specials = normalised(corpus, normaliser_of(normalizer), check_specials(specials)), ()
        counting = _Counting(cutter, check_specials(specials), corpus, progress)
        # Pure Python has one lock for all threads, and so have patterns without a splitter, whose threads Ctrl-C could
        # not stop; a small text is counted before they have started.
        several = (
            _engine.NAME == "core"
            and cutter.splitter is not None
            and not (isinstance(corpus, (str, bytes)) and len(corpus) < 2 * PART)
        )
        return cls._of_arrays(*counting.run(number if several else 1))

    def __len__(self) -> int:
        return len(self.counts)

    def __iter__(self) -> Iterator[bytes]:
        offsets = self.offsets.tolist()
        return (self.text[start:end] for start, end in zip(offsets, offsets[1:]))

    def items(self) -> Iterator[tuple[bytes, int]]:
        """(pretoken, count) in order of first places."""
        return zip(self, self.counts.tolist())

    def word(self, i: int) -> bytes:
        """The pretoken at place ``i`` in the order."""
        return self.text[int(self.offsets[i]) : int(self.offsets[i + 1])]

    @cached_property
    def total(self) -> int:
        """How many pretokens were counted."""
        return sum(self.counts.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WordCounts) and list(self.items()) == list(other.items())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<WordCounts {self.total} pretokens, {len(self)} distinct>"


class _Counting:
    """One run over a corpus, on one thread or several that share the documents, and the parts of large ones."""

    def __init__(self, pattern: Pattern, specials: list[str], corpus: Any, progress: Reporter | bool | None) -> None:
        self.pattern = pattern
        self.splitter = pattern.splitter
        self.names = [name.encode() for name in specials]
        self.specials = _engine.Specials(self.names, list(range(len(specials)))) if specials else None
        self.documents = enumerate(documents(corpus))
        self.tasks = self._tasks()
        self.lock = threading.Lock()
        self.bytes_read = 0
        self.stop = False
        self.report = Report.reporter("count", "bytes", total_size(corpus) if progress else None, progress)

    def run(self, threads: int) -> Any:
        with self.report:
            if threads == 1:
                counter = self._counter()
                for number, document in self.documents:
                    self._count(counter, number, document)
                return counter.words()
            counters = [self._counter() for _ in range(threads)]
            # Leaving the pool waits for its threads, after Ctrl-C too: none may be in the core when Python ends.
            with ThreadPoolExecutor(threads) as pool:
                try:
                    running = {pool.submit(self._work, counter) for counter in counters}
                    while running:
                        done, running = wait(running, EVERY, FIRST_EXCEPTION)
                        self.report.update(self.bytes_read)
                        for future in done:
                            future.result()
                finally:
                    self.stop = True
            for other in counters[1:]:
                counters[0].merge(other)
            return counters[0].words()

    def _counter(self) -> Any:
        return _engine.Counter(self.splitter, self.specials)

    def _work(self, counter: Any) -> None:
        while not self.stop:
            with self.lock:
                number, offset, task = next(self.tasks, (0, 0, None))
            if task is None:
                return
            if isinstance(task, Document):
                self._count(counter, number, task)
            else:
                counter.feed(task, number, True, offset)
                self._read(len(task))

    def _tasks(self) -> Iterator[tuple[int, int, Document | bytes]]:
        """What threads take one after the other: documents, and parts of large ones with their offsets."""
        for number, document in self.documents:
            if self.splitter is None or (document.size is not None and document.size < 2 * PART):
                yield number, 0, document
            else:
                for offset, part in self._parts(document):
                    yield number, offset, part

    def _parts(self, document: Document) -> Iterator[tuple[int, bytes]]:
        """A document, cut where each part can be counted on its own; a stretch without such a place stays whole."""
        margin = 4 + max(map(len, self.names), default=0)  # what is looked at behind a cut
        offset, size, wanted = 0, 0, 2 * PART
        pieces: list[bytes] = []
        for piece in document.open():
            pieces.append(piece)
            size += len(piece)
            if size < wanted:
                continue
            held, at = b"".join(pieces), 0
            while len(held) - at >= 2 * PART:
                cut = self.splitter.safe_cut(held, at + PART, self.specials)
                if cut > len(held) - margin:
                    break
                yield offset + at, held[at:cut]
                at = cut
            offset, pieces = offset + at, [held[at:]]
            size = len(pieces[0])
            wanted = 2 * max(PART, size)  # looked through in vain: not again before it is twice as long
        yield offset, b"".join(pieces)

    def _count(self, counter: Any, number: int, document: Document) -> None:
        if self.splitter is None:
            # Where a pretoken ends may depend on all that follows: the document is needed whole.
            whole = b"".join(document.open())
            offset = 0
            for run, special in segments(whole, self.specials):
                if special is None:
                    text, ends = cut(self.pattern, run)
                    counter.feed_ends(text, ends, number, offset)
                offset += len(run)
            self._read(len(whole))
            return
        held: list[bytes] = []
        for piece in document.open():
            held.append(piece)
            # A long pretoken waits in the counter and is looked at again with every piece: pieces grow with it.
            if sum(map(len, held)) >= counter.pending:
                counter.feed(b"".join(held), number, False)
                held.clear()
            self._read(len(piece))
            if self.stop:
                return
        counter.feed(b"".join(held), number, True)

    def _read(self, size: int) -> None:
        with self.lock:
            self.bytes_read += size
        if threading.current_thread() is threading.main_thread():
            self.report.update(self.bytes_read)
