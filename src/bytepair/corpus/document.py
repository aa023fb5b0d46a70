"""What readers make of a corpus: documents, one after the other, and how much of it has been read."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

PIECE = 4 << 20
"""Bytes that are read at a time; a document of no more is held in memory where its source cannot be read again."""


@dataclass(slots=True)
class Document:
    """One text of a corpus. No pretoken crosses its borders.

    Attributes
    ----------
    name : str
        What messages call it: a file, ``file:line``, ``file#row`` (from 0) or ``archive!member``.
    size : int or None
        Its bytes, as far as can be told beforehand: a compressed file counts as it lies on disk. None says that it is
        part of a stream, which must be read before the next document is asked for.
    source : bytes or callable
        The text, or what gives it in pieces.
    by_line : bool
        Each line of it, with its ``\\n``, is a document of its own. :func:`by_lines` cuts them; a counter that cuts by
        itself saves that work.
    """

    name: str
    size: int | None
    source: bytes | Callable[[], Iterator[bytes]]
    by_line: bool = False

    def open(self) -> Iterator[bytes]:
        """The text in pieces of bytes, which may be cut anywhere; none at all where it is empty."""
        if isinstance(self.source, bytes):
            return iter((self.source,) if self.source else ())
        return self.source()


def by_lines(documents: Iterable[Document]) -> Iterator[Document]:
    """The same texts with every document that is ``by_line`` cut into its lines.

    A line ends after ``\\n`` and keeps it, and so its ``\\r``; no line is left out, however short or long. A line is
    held whole.

    Examples
    --------
    >>> [line.source for line in by_lines([Document("x", 6, b"a\\r\\n\\n\\nb", by_line=True)])]
    [b'a\\r\\n', b'\\n', b'\\n', b'b']
    """
    for document in documents:
        if not document.by_line:
            yield document
            continue
        for number, line in enumerate(lines(document.open()), 1):
            yield Document(f"{document.name}:{number}", len(line), line)


def lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a text in pieces, each with its ``\\n``."""
    unfinished: list[bytes] = []
    for piece in pieces:
        for line in io.BytesIO(piece):
            if line.endswith(b"\n"):
                if unfinished:
                    line = b"".join([*unfinished, line])
                    unfinished.clear()
                yield line
            else:
                unfinished.append(line)
    if unfinished:
        yield b"".join(unfinished)


class Tally:
    """Bytes that have been read of a corpus's sources, by any number of threads.

    Compressed files count as they lie on disk, so that the sum of sizes is what the tally comes to.
    """

    def __init__(self) -> None:
        self.done = 0
        self._lock = threading.Lock()

    def add(self, size: int) -> None:
        """So many bytes more."""
        with self._lock:
            self.done += size
