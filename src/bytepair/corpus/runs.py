"""Counted words on disk: sorted runs, and their exact merge.

When a counter has used up its memory, its words go to a run: a file of blocks, sorted by the words' bytes. The runs
come back together, a range of words at a time: the same word of all runs is in hand at once, its counts are summed and
the earliest of its first places stays, so that the result is that of one counter which never was full. The files belong
to one process and live in a temporary folder, which goes when the counting ends, however it ends.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from .. import _engine
from ..errors import TrainingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Table: TypeAlias = tuple[bytes, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
    """Words as text and offsets, their counts, and the documents and places where they stand first."""

BLOCK = 1 << 20
"""Bytes of a run that are read at a time, about."""

FAN_IN = 32
"""Runs that are merged at once; more are merged into fewer first."""

WORD_BYTES = 96
"""Memory that one counted word takes while the result is put together, besides twice its text."""


class Runs:
    """The runs of one counting; a context manager that removes their folder."""

    def __init__(self, budget: int = FAN_IN * 4 * BLOCK) -> None:
        self.written = 0
        """Bytes written so far."""
        self.paths: list[Path] = []
        self.folder: tempfile.TemporaryDirectory[str] | None = None
        # A block of each run is in hand when they are merged.
        self.block = min(BLOCK, max(budget // (4 * FAN_IN), 4096))
        self.number = 0
        self.lock = threading.Lock()

    def __enter__(self) -> Runs:
        return self

    def __exit__(self, *error: object) -> None:
        if self.folder is not None:
            self.folder.cleanup()

    def add(self, counter: Any) -> None:
        """Write a counter's words as a run, and clear it."""
        if not counter.n_words:
            return
        table = counter.table(by_text=True)
        counter.clear()
        with self.lock:
            self._write(iter([table]))
            if len(self.paths) >= FAN_IN:
                merged, self.paths = self.paths, []
                self._write(_merge(merged))
                for path in merged:
                    path.unlink()

    def _write(self, tables: Iterator[Table]) -> None:
        try:
            if self.folder is None:
                self.folder = tempfile.TemporaryDirectory(prefix="bytepair-count-")
            path = Path(self.folder.name, f"{self.number}.run")
            self.number += 1
            with open(path, "xb") as file:
                for table in tables:
                    for block in _blocks(table, self.block):
                        file.write(_packed(block))
                self.written += file.tell()
            self.paths.append(path)
        except OSError as error:
            raise TrainingError(
                f"cannot write counted words to {tempfile.gettempdir()}: {error.strerror or error}; make room there, "
                "name another folder in the environment's TMPDIR, or allow more memory (max_memory=)"
            ) from error

    def collect(self, min_count: int, budget: int) -> tuple[Table, tuple[int, int]]:
        """All words in order of their first places, and how many words and pretokens ``min_count`` left out.

        Raises
        ------
        TrainingError
            The words themselves take more than the budget; the message says how much, and what would be left.
        """
        import numpy as np

        kept: list[Table] = []
        size, n_words, words_out, pretokens_out = 0, 0, 0, 0
        too_many: dict[int, list[int]] = {}  # by least count: words that have it, and the memory they take
        for table in _merge(self.paths):
            if min_count > 1:
                rare = table[2] < min_count
                words_out += int(rare.sum())
                pretokens_out += int(table[2][rare].sum())
                table = select(table, np.flatnonzero(~rare))
            counts, lengths = table[2], np.diff(table[1])
            size += 2 * len(table[0]) + WORD_BYTES * len(counts)
            n_words += len(counts)
            for least in (min_count * factor for factor in (2, 3, 5, 10, 20, 50, 100)):
                enough = counts >= least
                tally = too_many.setdefault(least, [0, 0])
                tally[0] += int(enough.sum())
                tally[1] += int(2 * lengths[enough].sum()) + WORD_BYTES * int(enough.sum())
            if size <= budget:
                kept.append(table)
            else:
                kept.clear()
        if size > budget:
            raise TrainingError(_too_large(n_words, size, budget, too_many))
        return _by_place(kept), (words_out, pretokens_out)


def _too_large(n_words: int, size: int, budget: int, by_least: dict[int, list[int]]) -> str:
    message = f"the {n_words} distinct pretokens take {_mebibytes(size)}, and max_memory allows {_mebibytes(budget)}; "
    fitting = next(((least, n) for least, (n, needed) in by_least.items() if needed <= budget), None)
    if fitting is None:
        return message + f"give max_memory={size} or more"
    least, left = fitting
    return message + (
        f"give max_memory={size} or more, or leave out rare ones: min_word_count={least} keeps {left} of them"
    )


def _mebibytes(size: int) -> str:
    return f"{size / (1 << 20):.1f} MiB"


def select(table: Table, order: NDArray[np.int64]) -> Table:
    """Some of the words, in the order given."""
    text, offsets, *columns = table
    text, offsets = _engine.gather_words(text, offsets, order)
    counts, documents, places = (column[order] for column in columns)
    return text, offsets, counts, documents, places


def _by_place(tables: list[Table]) -> Table:
    """Tables that ascend by words, as one that ascends by first places; equal places by words."""
    import numpy as np

    whole = _joined(tables)
    tables.clear()
    return select(whole, np.lexsort((whole[4], whole[3])))


def _joined(tables: list[Table]) -> Table:
    import numpy as np

    text = b"".join(table[0] for table in tables)
    offsets = np.zeros(sum(len(table[2]) for table in tables) + 1, dtype=np.int64)
    at = 0
    for table in tables:
        offsets[at + 1 : at + len(table[1])] = offsets[at] + table[1][1:]
        at += len(table[2])
    if not tables:
        return text, offsets, *(np.empty(0, dtype=np.int64) for _ in range(3))  # type: ignore[return-value]
    counts, documents, places = (np.concatenate([table[k] for table in tables]) for k in (2, 3, 4))
    return text, offsets, counts, documents, places


def _part(table: Table, first: int, end: int) -> Table:
    text, offsets, counts, documents, places = table
    start = int(offsets[first])
    return (
        text[start : int(offsets[end])],
        offsets[first : end + 1] - start,
        counts[first:end],
        documents[first:end],
        places[first:end],
    )


def _blocks(table: Table, size: int) -> Iterator[Table]:
    """A table in blocks of about ``size`` bytes; a word is never cut."""
    import numpy as np

    taken = table[1] + 32 * np.arange(len(table[1]))
    first, n = 0, len(table[2])
    while first < n:
        end = int(np.searchsorted(taken, taken[first] + size, "right")) - 1
        end = min(max(end, first + 1), n)
        yield _part(table, first, end)
        first = end


def _packed(block: Table) -> bytes:
    text, offsets, *columns = block
    head = len(text).to_bytes(8, "little") + len(columns[0]).to_bytes(8, "little")
    return b"".join([head, *(column.astype("<i8").tobytes() for column in (offsets, *columns)), text])


class _Reader:
    """One run, a block at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.at = 0  # of the next block in the file
        self.block: Table
        self.first = 0  # of the words of the block in hand that were not taken yet
        self.more = self._next()

    def _next(self) -> bool:
        import numpy as np

        # Opened anew each time: there may be more runs than a process may have open files.
        with open(self.path, "rb") as file:
            file.seek(self.at)
            head = file.read(16)
            if not head:
                return False
            size, n = int.from_bytes(head[:8], "little"), int.from_bytes(head[8:], "little")
            numbers = np.frombuffer(file.read(8 * (4 * n + 1)), dtype="<i8").astype(np.int64, copy=False)
            text = file.read(size)
            self.at = file.tell()
        if len(numbers) != 4 * n + 1 or len(text) != size:
            raise TrainingError(f"the temporary file {self.path} was cut short by something else; count again")
        bounds = (0, n + 1, 2 * n + 1, 3 * n + 1, 4 * n + 1)
        offsets, counts, documents, places = (numbers[a:b] for a, b in zip(bounds, bounds[1:]))
        self.block, self.first = (text, offsets, counts, documents, places), 0
        return True

    def word(self, i: int) -> bytes:
        return self.block[0][int(self.block[1][i]) : int(self.block[1][i + 1])]

    @property
    def last(self) -> bytes:
        return self.word(len(self.block[2]) - 1)

    def take(self, bound: bytes) -> Table:
        """The words up to ``bound``, which is a word."""
        low, high = self.first, len(self.block[2])
        while low < high:
            middle = (low + high) // 2
            if self.word(middle) <= bound:
                low = middle + 1
            else:
                high = middle
        taken = _part(self.block, self.first, low)
        self.first = low
        if low == len(self.block[2]):
            self.more = self._next()
        return taken


def _merge(paths: list[Path]) -> Iterator[Table]:
    """The words of all runs, each once, in tables that follow one another in the order of the words' bytes."""
    readers = [reader for reader in map(_Reader, paths) if reader.more]
    while readers:
        # Up to the smallest of the last words in hand no run holds anything back.
        bound = min(reader.last for reader in readers)
        counter = _engine.Counter(None, None)
        for reader in readers:
            taken = reader.take(bound)
            if len(taken[2]):
                counter.add_words(*taken)
        yield counter.table(by_text=True)
        readers = [reader for reader in readers if reader.more]
