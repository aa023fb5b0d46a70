"""One run over a corpus that counts its pretokens, on one thread or several, in memory or through runs on disk.

``words.WordCounts.from_corpus`` is the caller. Threads share the documents, and the parts of large ones; each has a
counter of its own, and what they count is summed at the end. A counter that reaches its share of the memory budget is
written to disk as a sorted run (``runs``) and begins anew.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from .. import _engine
from .._codec import cut, segments
from ..progress import EVERY, Report, Reporter
from .document import Document
from .readers import Reading
from .runs import Runs

if TYPE_CHECKING:
    from ..pattern import Pattern
    from .runs import Table

PART = 4 << 20
"""Bytes of a large document that one thread counts at a time."""

LEAST_MEMORY = 1 << 16
"""The smallest budget: an empty counter's tables and a few thousand words."""


class Counting:
    """Counts a corpus once.

    Parameters
    ----------
    pattern, specials
        What cuts the text.
    corpus
        As for ``bytepair.train``.
    first_document
        The number of the first document.
    max_memory
        Bytes that the counted words may take in all threads, or None. The texts in hand come on top: a part of 4 MiB
        for each thread, or a document where it cannot be cut.
    min_count
        Words that come fewer times in the whole corpus are left out at the end.
    """

    def __init__(
        self,
        pattern: Pattern,
        specials: list[str],
        corpus: Any,
        progress: Reporter | bool | None,
        first_document: int = 0,
        max_memory: int | None = None,
        min_count: int = 1,
    ) -> None:
        self.pattern = pattern
        self.splitter = pattern.splitter
        self.names = [name.encode() for name in specials]
        self.specials = _engine.Specials(self.names, list(range(len(specials)))) if specials else None
        self.reading = Reading(corpus, cut_lines=False)
        self.documents = enumerate(self.reading, first_document)
        self.tasks = self._tasks()
        self.lock = threading.Lock()
        self.stop = False
        self.report = Report.reporter("count", "bytes", self.reading.total if progress else None, progress)
        self.max_memory, self.min_count = max_memory, min_count
        self.runs: Runs | None = None
        self.share = max_memory or 0
        self.step = PART
        self.left_out = (0, 0)
        """Words, and pretokens, that ``min_count`` left out."""

    def run(self, threads: int) -> Table:
        """The words in order of their first places: text, offsets, counts, documents, places."""
        with ExitStack() as stack:
            stack.enter_context(self.report)
            if self.max_memory is not None:
                self.runs = stack.enter_context(Runs(self.max_memory))
                self.share = self.max_memory // threads
                # A counter is looked at after each step: what one step can add must be little of its share.
                self.step = min(PART, max(self.share // 32, 4096))
            counters = [self._counter() for _ in range(threads)]
            if threads == 1:
                for number, document in self.documents:
                    self._count(counters[0], number, document)
            else:
                self._run_threads(counters)
            return self._sum(counters)

    def _run_threads(self, counters: list[Any]) -> None:
        # Leaving the pool waits for its threads, after Ctrl-C too: none may be in the core when Python ends.
        with ThreadPoolExecutor(len(counters)) as pool:
            try:
                running = {pool.submit(self._work, counter) for counter in counters}
                while running:
                    done, running = wait(running, EVERY, FIRST_EXCEPTION)
                    self.report.update(self.reading.done)
                    for future in done:
                        future.result()
            finally:
                self.stop = True

    def _sum(self, counters: list[Any]) -> Table:
        runs, budget = self.runs, self.max_memory
        if runs is not None and budget is not None:
            # One counter for all may take as much as they do now, while they are still there.
            too_much = len(counters) > 1 and 2 * sum(counter.bytes for counter in counters) > budget
            if runs.written or too_much:
                for counter in counters:
                    runs.add(counter)
                collected, self.left_out = runs.collect(self.min_count, budget)
                return collected
        whole = max(counters, key=lambda counter: counter.n_words)
        for other in counters:
            if other is not whole:
                whole.merge(other)
                other.clear()
        table: Table = whole.table(min_count=self.min_count)
        if self.min_count > 1:
            words = whole.n_words - len(table[2])
            self.left_out = (words, whole.n_pretokens - int(table[2].sum()))
        return table

    def _counter(self) -> Any:
        return _engine.Counter(self.splitter, self.specials)

    def _work(self, counter: Any) -> None:
        while not self.stop:
            with self.lock:
                number, offset, task, by_line = next(self.tasks, (0, 0, None, False))
            if task is None:
                return
            if isinstance(task, Document):
                self._count(counter, number, task)
            else:
                self._feed(counter, task, number, True, offset, by_line)
                self._tell()

    def _tasks(self) -> Iterator[tuple[int, int, Document | bytes, bool]]:
        """What threads take one after the other: documents, and parts of large ones with their offsets."""
        for number, document in self.documents:
            if self.splitter is None or (document.size is not None and document.size < 2 * PART):
                yield number, 0, document, False
            else:
                parts = self._lines(document) if document.by_line else self._parts(document)
                for offset, part in parts:
                    yield number, offset, part, document.by_line

    def _lines(self, document: Document) -> Iterator[tuple[int, bytes]]:
        """A document of lines, cut behind ends of lines; a line longer than a part stays whole."""
        offset, held = 0, b""
        waiting: list[bytes] = []  # of a line whose end is still to come
        for piece in _pieces(document):
            end = piece.rfind(b"\n") + 1
            if not end:
                waiting.append(piece)
                continue
            part = b"".join([*waiting, piece[:end]])
            waiting = [piece[end:]]
            held = held + part if held else part
            if len(held) >= PART // 2:
                yield offset, held
                offset, held = offset + len(held), b""
        yield offset, b"".join([held, *waiting])

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
            for offset, text in _own_lines(whole) if document.by_line else [(0, whole)]:
                self._count_whole(counter, number, offset, text)
            self._spill(counter)
            self._tell()
            return
        held: list[bytes] = []
        for piece in document.open():
            held.append(piece)
            # A long pretoken waits in the counter and is looked at again with every piece: pieces grow with it.
            if sum(map(len, held)) >= counter.pending:
                self._feed(counter, b"".join(held), number, False, 0, document.by_line)
                held.clear()
            self._tell()
            if self.stop:
                return
        self._feed(counter, b"".join(held), number, True, 0, document.by_line)

    def _count_whole(self, counter: Any, number: int, offset: int, text: bytes) -> None:
        for run, special in segments(text, self.specials):
            if special is None:
                pretokens, ends = cut(self.pattern, run)
                counter.feed_ends(pretokens, ends, number, offset)
            offset += len(run)

    def _feed(self, counter: Any, piece: bytes, number: int, last: bool, offset: int, by_line: bool) -> None:
        at = 0
        while len(piece) - at > self.step:
            counter.feed(piece[at : at + self.step], number, False, offset, by_line)
            at += self.step
            self._spill(counter)
        counter.feed(piece[at:] if at else piece, number, last, offset, by_line)
        self._spill(counter)

    def _spill(self, counter: Any) -> None:
        if self.runs is not None and counter.n_words and counter.bytes > self.share:
            self.runs.add(counter)

    def _tell(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self.report.update(self.reading.done)


def _pieces(document: Document) -> Iterator[bytes]:
    """A document's pieces, large ones cut so that several threads have some."""
    for piece in document.open():
        if len(piece) < 2 * PART:
            yield piece
        else:
            yield from (piece[at : at + PART] for at in range(0, len(piece), PART))


def _own_lines(text: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines of a text, each with its newline, and where they begin."""
    at = 0
    while at < len(text):
        end = text.find(b"\n", at) + 1 or len(text)
        yield at, text[at:end]
        at = end
