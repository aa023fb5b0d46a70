"""Documents of a corpus, one after the other, in pieces: no text is held whole that need not be.

What a corpus can be, and which reader takes it: this is where all of them meet. ``words`` counts what comes out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import partial
from pathlib import Path
from typing import Any

from .._notices import notice
from .._text import to_bytes
from ..errors import FormatError, TextError, TrainingError
from . import jsonl, tables
from .archives import is_tar, tar_documents, zip_documents
from .document import PIECE, Document, Tally, by_lines
from .encodings import to_utf8
from .objects import is_object, object_documents, why_not
from .options import How, Kind
from .sources import Files, folder_files, path_sources
from .streams import ByteStream, Source, file_source, opened, unpacked

__all__ = ["Document", "Reading", "documents", "folder_files", "total_size"]

_AS_THEY_ARE = How()


class Reading:
    """One pass over a corpus, and how far it has come.

    Parameters
    ----------
    corpus : as for :func:`bytepair.train`
    cut_lines : bool
        Whether texts whose lines are documents come line by line; else such a document is ``by_line``, for a counter
        that cuts by itself.

    Examples
    --------
    >>> reading = Reading(["low", b"lower"])
    >>> [(document.name, document.size) for document in reading]
    [('document 0', 3), ('document 1', 5)]
    >>> reading.done, reading.total
    (8, 8)
    """

    def __init__(self, corpus: Any, *, cut_lines: bool = True) -> None:
        self._corpus, self._cut_lines = corpus, cut_lines
        self._tally = Tally()

    @property
    def done(self) -> int:
        """Bytes that have been read; those of files as they lie on disk, packed or not."""
        return self._tally.done

    @property
    def total(self) -> int | None:
        """Bytes in all where that is known without reading, else None."""
        return total_size(self._corpus)

    def __iter__(self) -> Iterator[Document]:
        """The documents, in their order.

        Raises
        ------
        TrainingError
            A path does not exist, or something in the corpus is no text and no path.
        FormatError
            A file is damaged, or not what its name says.
        """
        found = _documents(self._corpus, self._tally)
        return by_lines(found) if self._cut_lines else found


def documents(corpus: Any) -> Iterator[Document]:
    """The documents of a corpus in their order; see :class:`Reading`."""
    return iter(Reading(corpus))


def total_size(corpus: Any) -> int | None:
    """Bytes in the corpus where that is known without reading it, else None."""
    if isinstance(corpus, bytes):
        return len(corpus)
    if isinstance(corpus, str):
        return len(corpus) if corpus.isascii() else len(corpus.encode("utf-8", "surrogatepass"))
    if isinstance(corpus, os.PathLike):
        return _sum(path_sources(Path(corpus)))
    if isinstance(corpus, Files):
        return _sum(corpus.parts())
    if isinstance(corpus, (list, tuple)):
        sizes = [total_size(item) if isinstance(item, (str, bytes, os.PathLike, Files)) else None for item in corpus]
        return None if None in sizes else sum(size for size in sizes if size is not None)
    return None


def _sum(parts: Iterable[Any]) -> int | None:
    total = 0
    for part in parts:
        if not isinstance(part, Source) or part.size is None:
            return None
        total += part.size
    return total


def _documents(corpus: Any, tally: Tally) -> Iterator[Document]:
    if isinstance(corpus, (str, bytes, bytearray, memoryview)):
        yield _text(corpus, "the text", tally)
    elif isinstance(corpus, Files):
        for part in corpus.parts():
            if isinstance(part, Source):
                yield from _of_source(part, corpus.how, tally)
            else:
                yield from _told(object_documents(part, corpus.how), tally)
    elif (reason := why_not(corpus)) is not None:
        raise TrainingError(reason)
    elif isinstance(corpus, os.PathLike):
        for source in path_sources(Path(corpus)):
            yield from _of_source(source, _AS_THEY_ARE, tally)
    elif hasattr(corpus, "read"):
        yield from _of_source(file_source(corpus), _AS_THEY_ARE, tally)
    elif is_object(corpus):
        yield from _told(object_documents(corpus, _AS_THEY_ARE), tally)
    elif isinstance(corpus, (Mapping, Set)):
        raise TrainingError(
            f"a {type(corpus).__name__} is no corpus: give counted words as WordCounts(...), documents as a list, "
            "which has an order"
        )
    elif isinstance(corpus, Iterable):
        for i, item in enumerate(corpus):
            if isinstance(item, (str, bytes, bytearray, memoryview)):
                yield _text(item, f"document {i}", tally)
            elif isinstance(item, Document):
                yield Document(item.name, item.size, partial(_tallied, item, tally), item.by_line)
            elif isinstance(item, (os.PathLike, Files)) or hasattr(item, "read"):
                yield from _documents(item, tally)
            else:
                reason = why_not(item) or f"a {type(item).__name__} is no text; documents are str, bytes or Path"
                raise TrainingError(f"document {i}: {reason}")
    else:
        raise TrainingError(
            f"a {type(corpus).__name__} is no corpus; give a text, a Path, files('*.txt'), WordCounts, "
            "an open binary file, or a list or iterator of texts or Paths"
        )


def _text(text: str | bytes | bytearray | memoryview, name: str, tally: Tally) -> Document:
    try:
        data = to_bytes(text, "strict")
    except TextError as error:
        raise TextError(f"{name}: {error.what}", "encode it yourself, with the error handler you want") from None
    if len(data) <= PIECE:
        tally.add(len(data))
        return Document(name, len(data), data)
    return Document(name, len(data), partial(_cut, data, tally))


def _cut(data: bytes, tally: Tally) -> Iterator[bytes]:
    for start in range(0, len(data), PIECE):
        piece = data[start : start + PIECE]
        tally.add(len(piece))
        yield piece


def _tallied(document: Document, tally: Tally) -> Iterator[bytes]:
    for piece in document.open():
        tally.add(len(piece))
        yield piece


def _told(found: Iterable[Document], tally: Tally) -> Iterator[Document]:
    for document in found:
        tally.add(document.size or 0)
        yield document


def _of_source(source: Source, how: How, tally: Tally) -> Iterator[Document]:
    """The documents of a file, by what its name and ``how`` say that it is."""
    kind = how.kind(source.name)
    if kind.archive == "zip":
        yield from zip_documents(source, tally, partial(_of_member, how=how))
    elif kind.content == "parquet":
        yield from tables.parquet_documents(source, how, tally)
    elif kind.content == "arrow":
        yield from tables.arrow_documents(source, how, tally)
    elif kind.archive is None and kind.content in ("text", "raw") and not source.given and source.size is not None:
        # A file that can be opened whenever somebody has time for it, on any thread.
        pieces = partial(_pieces, source, kind, how, tally)
        yield Document(source.name, source.size, pieces, how.by == "line")
    else:
        with opened(source, kind, tally) as stream:
            # A stream has no name to tell that it is an archive.
            if source.given and kind.content == "text" and how.format is None and is_tar(stream.peek(512)):
                kind = Kind(kind.packing, "tar", "text")
            yield from _of_stream(stream, None, kind, how)


def _pieces(source: Source, kind: Kind, how: How, tally: Tally) -> Iterator[bytes]:
    with opened(source, kind, tally) as stream:
        if kind.content == "text" and how.format is None and is_tar(stream.peek(512)):
            raise FormatError(
                f'{source.name} is a tar archive; name it .tar, or say format="text" (--format text) for its bytes'
            )
        yield from to_utf8(stream.pieces(), how, source.name)


def _of_stream(stream: ByteStream, size: int | None, kind: Kind, how: How) -> Iterator[Document]:
    """The documents of a stream from its next byte on; all of them are read before the stream goes on."""
    if kind.archive == "tar":
        yield from tar_documents(stream, partial(_of_member, how=how))
    elif kind.content == "jsonl":
        yield from jsonl.documents(stream, how)
    elif kind.content in ("csv", "tsv"):
        yield from tables.csv_documents(stream, how, "," if kind.content == "csv" else "\t")
    else:
        by_line = how.by == "line"
        first = stream.peek(min(PIECE, PIECE if size is None else size) + 1)
        if len(first) <= PIECE:
            # Short enough to be held: a thread may take its time over it while the stream goes on.
            data = b"".join(to_utf8([stream.read(len(first))] if first else [], how, stream.name))
            yield Document(stream.name, len(data), data, by_line)
        else:
            yield Document(stream.name, None, lambda: to_utf8(stream.pieces(), how, stream.name), by_line)


def _of_member(stream: ByteStream, size: int | None, *, how: How) -> Iterator[Document]:
    """The documents of a file in an archive, by its own name."""
    kind = how.kind(stream.name)
    if kind.content in ("parquet", "arrow"):
        raise FormatError(
            f"{stream.name}: such a file cannot be read in an archive; unpack the archive and give the files"
        )
    if kind.archive is not None:
        # Sources of programs have some for their tests: no reason to refuse the whole.
        notice(
            f"{stream.name} is an archive in an archive, and read as it is; unpack the outer one to have what is in it",
            2,
        )
        kind = Kind(None, None, "raw")
    with unpacked(stream, kind, strict=True) as inner:
        yield from _of_stream(inner, None if inner is not stream else size, kind, how)
