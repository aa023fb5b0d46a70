"""Documents of a corpus, one after the other, in pieces: no text is held whole that need not be.

Reads texts, files, folders, globs and iterators of them. ``words`` counts what comes out of here.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._text import to_bytes
from ..errors import TextError, TrainingError

PIECE = 4 << 20
"""Bytes read from a file at a time."""


@dataclass(frozen=True)
class Files:
    """The files that match some glob patterns; made by :func:`files`."""

    patterns: tuple[str, ...]

    def paths(self) -> list[Path]:
        """The files, each once, ordered by their paths; links and hidden names are skipped."""
        found = {
            os.path.normpath(name)
            for pattern in self.patterns
            for name in glob.glob(pattern, recursive=True)
            if os.path.isfile(name) and not _through_link(name, pattern)
        }
        return sorted(map(Path, found), key=lambda path: _sort_key(path.as_posix()))


def _through_link(name: str, pattern: str) -> bool:
    """Whether a match, or a folder on the way to it that the pattern does not spell out, is a link."""
    parts, spelled = Path(name).parts, 0
    for given, part in zip(Path(pattern).parts, parts):
        if given != part:
            break
        spelled += 1
    return any(os.path.islink(Path(*parts[:k])) for k in range(spelled + 1, len(parts) + 1))


def files(*patterns: str) -> Files:
    """A corpus of all files that match glob patterns; ``**`` goes through folders.

    Examples
    --------
    >>> files("src/**/*.py")
    Files(patterns=('src/**/*.py',))
    """
    if not patterns or not all(isinstance(p, str) for p in patterns):
        raise TrainingError("files() takes one or more glob patterns, such as 'src/**/*.py'")
    return Files(patterns)


@dataclass(frozen=True)
class Document:
    """One text of a corpus. No pretoken crosses its borders."""

    name: str
    size: int | None
    open: Callable[[], Iterator[bytes]]
    """Gives the text in pieces of bytes."""
    by_line: bool = False
    """Each line, with its newline, is a text of its own."""


Corpus = str | bytes | Path | Files | Iterable[Any]


def documents(corpus: Any) -> Iterator[Document]:
    """The documents of a corpus in their order.

    Raises
    ------
    TrainingError
        A path does not exist, or something in the corpus is no text and no path.
    """
    if isinstance(corpus, (str, bytes, bytearray, memoryview)):
        yield _text(corpus, "the text")
    elif isinstance(corpus, os.PathLike):
        yield from _path(Path(corpus))
    elif hasattr(corpus, "read"):
        yield _stream(corpus)
    elif isinstance(corpus, Files):
        paths = corpus.paths()
        if not paths:
            raise TrainingError(f"no file matches {' or '.join(map(repr, corpus.patterns))}; check the pattern")
        yield from map(_file, paths)
    elif isinstance(corpus, (Mapping, Set)):
        raise TrainingError(
            f"a {type(corpus).__name__} is no corpus: give counted words as WordCounts(...), documents as a list, "
            "which has an order"
        )
    elif isinstance(corpus, Iterable):
        for i, item in enumerate(corpus):
            if isinstance(item, os.PathLike):
                yield from _path(Path(item))
            elif hasattr(item, "read"):
                yield _stream(item)
            elif isinstance(item, (str, bytes, bytearray, memoryview)):
                yield _text(item, f"document {i}")
            else:
                raise TrainingError(f"document {i} is a {type(item).__name__}; documents are str, bytes or Path")
    else:
        raise TrainingError(
            f"a {type(corpus).__name__} is no corpus; give a text, a Path, files('*.txt'), WordCounts, "
            "an open binary file, or a list or iterator of texts or Paths"
        )


def total_size(corpus: Any) -> int | None:
    """Bytes in the corpus where that is known without reading it, else None."""
    if isinstance(corpus, (str, bytes)):
        return len(corpus)
    if isinstance(corpus, (os.PathLike, Files)) or (
        isinstance(corpus, (list, tuple)) and all(isinstance(item, os.PathLike) for item in corpus)
    ):
        return sum(document.size or 0 for document in documents(corpus))
    if isinstance(corpus, (list, tuple)) and all(isinstance(item, (str, bytes)) for item in corpus):
        return sum(map(len, corpus))
    return None


def _text(text: str | bytes | bytearray | memoryview, name: str) -> Document:
    try:
        data = to_bytes(text, "strict")
    except TextError as error:
        raise TextError(f"{name}: {error.what}", "encode it yourself, with the error handler you want") from None
    return Document(name, len(data), lambda: iter((data,)))


def _stream(file: Any) -> Document:
    """An open file, such as ``sys.stdin.buffer``: one document."""

    def pieces() -> Iterator[bytes]:
        while piece := file.read(PIECE):
            if not isinstance(piece, bytes):
                raise TrainingError("the open file gives str; open it in binary mode, or use sys.stdin.buffer")
            yield piece

    return Document(getattr(file, "name", "a stream"), None, pieces)


def _path(path: Path) -> Iterator[Document]:
    if path.is_dir():
        yield from map(_file, folder_files(path))
    elif path.exists():
        yield _file(path)
    else:
        raise TrainingError(f"{path} does not exist; give the path of a file or of a folder")


def folder_files(folder: Path, suffix: str = "") -> list[Path]:
    """The files below a folder, by relative path as UTF-8 bytes with "/" between; links and hidden names skipped."""
    found: list[tuple[bytes, Path]] = []
    for where, folders, names in os.walk(folder, onerror=_raise):
        folders[:] = [n for n in folders if not n.startswith(".") and not os.path.islink(os.path.join(where, n))]
        for name in names:
            path = Path(where, name)
            if name.startswith(".") or not name.endswith(suffix) or path.is_symlink() or not path.is_file():
                continue
            found.append((_sort_key(path.relative_to(folder).as_posix()), path))
    return [path for _, path in sorted(found)]


def _sort_key(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _raise(error: OSError) -> None:
    raise TrainingError(f"cannot read the folder {error.filename}: {error.strerror}") from error


def _file(path: Path) -> Document:
    def pieces() -> Iterator[bytes]:
        try:
            with open(path, "rb") as file:
                while piece := file.read(PIECE):
                    yield piece
        except OSError as error:
            raise TrainingError(f"cannot read {path}: {error.strerror or error}") from error

    try:
        size = path.stat().st_size
    except OSError as error:
        raise TrainingError(f"cannot read {path}: {error.strerror or error}") from error
    return Document(str(path), size, pieces)
