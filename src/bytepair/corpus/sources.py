"""Which files a corpus is made of: paths, folders, globs and addresses, in an order that is the same everywhere."""

from __future__ import annotations

import dataclasses
import glob
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .._check import brief
from ..errors import TrainingError
from .objects import is_object, why_not
from .options import How
from .streams import Source, file_source, reading

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(?:::.*)?://")


@dataclasses.dataclass(frozen=True, repr=False)
class Files:
    """Files, and how they are read; made by :func:`files`."""

    patterns: tuple[Any, ...]
    how: How = dataclasses.field(default_factory=How)

    def paths(self) -> list[Path]:
        """The files on this machine, in the order in which they are read."""
        return [Path(part.name) for part in self.parts() if isinstance(part, Source) and os.path.exists(part.name)]

    def parts(self) -> Iterator[Any]:
        """What is read, in order: a :class:`~bytepair.corpus.streams.Source`, or a table in memory.

        Raises
        ------
        TrainingError
            A pattern matches no file, or a file or folder cannot be read.
        """
        seen: set[str] = set()
        empty: list[str] = []
        matched = False
        for pattern in self.patterns:
            found: Iterator[Any]
            if isinstance(pattern, os.PathLike):
                found = path_sources(Path(pattern))
            elif is_object(pattern):
                self.how.check_used("parquet", "the table")
                found = iter((pattern,))
            elif not isinstance(pattern, str):
                found = iter((file_source(pattern),))
            elif is_address(pattern):
                from .remote import address_sources

                found = address_sources(pattern)
            else:
                # Patterns overlap, and a file that two of them match is one file.
                names = [name for name in _matches(pattern) if name not in seen]
                matched = matched or bool(names)
                if not names:
                    empty.append(pattern)
                seen.update(names)
                found = map(_source, map(Path, names))
            yield from found
        if empty and not matched:
            raise TrainingError(f"no file matches {' or '.join(map(repr, empty))}; check the pattern")

    def __repr__(self) -> str:
        given = [brief(pattern) for pattern in self.patterns]
        given += [
            f"{option.name}={getattr(self.how, option.name)!r}"
            for option in dataclasses.fields(How)
            if getattr(self.how, option.name) != option.default
        ]
        return f"files({', '.join(given)})"


def files(
    *patterns: Any,
    by: str = "document",
    field: str | None = None,
    column: str | None = None,
    encoding: str | None = None,
    errors: str | None = None,
    format: str | None = None,
    bad_rows: str = "error",
) -> Files:
    """A corpus of files, and how they are read.

    What a file holds is told by its name, and that it is packed (gzip, bzip2, xz, zstd) by its first bytes:

    ========================== ===========================================================================
    ``.jsonl .ndjson``         the text in ``field`` of the JSON object on each line
    ``.parquet``               the text in ``column`` of each row; also ``.arrow .feather`` (Arrow IPC)
    ``.csv .tsv``              the same where ``column`` is given, else text like any other file
    ``.tar .zip .tar.gz`` ...  the files in it, in its order, each by its own name; none is written to disk
    any other                  text: one document a file, byte for byte (NUL, BOM and CRLF too)
    ========================== ===========================================================================

    Hidden names and links are passed by in folders and archives, as they are where a plain Path is given, which is read
    by the same rules.

    Parameters
    ----------
    patterns : str, Path, open binary file, dataset or pyarrow table
        A str is a glob, in which ``**`` goes through folders, or an address such as ``"s3://bucket/*.jsonl.zst"``,
        ``"https://..."`` or ``"memory://..."``, which fsspec opens. A Path is that file or folder and no pattern; a
        folder is read with all below it. They are read in the order given, the files that one of them stands for in
        the order of their paths; what two patterns match is read once. Tables in memory, pyarrow's and the datasets of
        Hugging Face, may stand among them, to be read by ``column``.
    by : "document" or "line"
        Whether a text is one document, or each of its lines is, with its ``\\n``.
    field : str, optional
        The field of JSON lines, ``"text"`` unless given.
    column : str, optional
        The column of tables, ``"text"`` unless given.
    encoding : str, optional
        The encoding of the texts, such as ``"latin-1"`` or ``"utf-16"``, where it is not UTF-8.
    errors : "surrogateescape", "strict" or "replace", optional
        What becomes of bytes that the encoding does not have: kept as they are (the default for UTF-8), an error with
        file and byte offset (the default for any other encoding), or U+FFFD.
    format : "raw", "text", "jsonl", "csv", "tsv", "parquet" or "arrow", optional
        What the files hold, whatever their names say. ``"text"`` still unpacks; ``"raw"`` takes every file as it lies
        there, packed or not.
    bad_rows : "error" or "skip"
        What to do about a line that is no JSON object, or a row without a text: an error with file and line, or leave
        it out and tell how many there were.

    Returns
    -------
    Files
        To be given to :func:`bytepair.train` and wherever else a corpus is read. Nothing is opened before.

    Raises
    ------
    TrainingError
        An option cannot be used.

    Examples
    --------
    >>> files("src/**/*.py")
    files('src/**/*.py')
    >>> from pathlib import Path
    >>> _ = Path("a.jsonl").write_text('{"content": "low low"}\\n{"content": "lower"}\\n')
    >>> from bytepair.corpus import WordCounts
    >>> list(WordCounts.from_corpus(files("*.jsonl", field="content")).items())
    [(b'low', 1), (b' low', 1), (b'lower', 1)]
    """
    if not patterns:
        raise TrainingError("files() takes one or more glob patterns, such as 'src/**/*.py'")
    for pattern in patterns:
        if not isinstance(pattern, (str, os.PathLike)) and not hasattr(pattern, "read") and not is_object(pattern):
            raise TrainingError(
                why_not(pattern)
                or f"files() takes glob patterns, addresses, Paths, open binary files and tables, "
                f"not a {type(pattern).__name__}; other corpora in memory go to train() itself"
            )
    return Files(patterns, How(by, field, column, encoding, errors, format, bad_rows))


def is_address(name: str) -> bool:
    """Whether a name is an address, such as ``s3://bucket/file``, and no path."""
    return _ADDRESS.match(name) is not None


def path_sources(path: Path) -> Iterator[Source]:
    """A file, or all files below a folder.

    Raises
    ------
    TrainingError
        There is no such file, or it cannot be read.
    """
    if path.is_dir():
        yield from map(_source, folder_files(path))
    elif path.exists():
        yield _source(path)
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


def _matches(pattern: str) -> list[str]:
    """The files that a glob matches, each once; a folder named without wildcards stands for all below it."""
    if not glob.has_magic(pattern) and os.path.isdir(pattern):
        return [str(path) for path in folder_files(Path(pattern))]
    found = {
        os.path.normpath(name)
        for name in glob.glob(pattern, recursive=True)
        if os.path.isfile(name) and not _through_link(name, pattern)
    }
    return sorted(found, key=lambda name: _sort_key(Path(name).as_posix()))


def _through_link(name: str, pattern: str) -> bool:
    """Whether a match, or a folder on the way to it that the pattern does not spell out, is a link."""
    parts, spelled = Path(name).parts, 0
    for given, part in zip(Path(pattern).parts, parts):
        if given != part:
            break
        spelled += 1
    return any(os.path.islink(Path(*parts[:k])) for k in range(spelled + 1, len(parts) + 1))


def _sort_key(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _raise(error: OSError) -> None:
    raise TrainingError(f"cannot read the folder {error.filename}: {error.strerror}") from error


def _source(path: Path) -> Source:
    with reading(str(path)):
        status = path.stat()
    # A pipe says that it has 0 bytes: it is a stream, of which nothing is known beforehand.
    size = status.st_size if path.is_file() else None
    return Source(str(path), size, lambda: open(path, "rb"))
