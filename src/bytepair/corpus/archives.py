"""Files in archives, tar and zip: read where they lie, in their order; nothing is ever written to disk."""

from __future__ import annotations

import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, cast

from .._notices import notice
from ..errors import FormatError, TrainingError
from .document import Document, Tally
from .streams import ByteStream, Counted, Source

Member = Callable[[ByteStream, "int | None"], Iterator[Document]]
"""What makes documents of a member and its size."""

_HEADER = 1 << 20
"""Bytes of the longest header that is read: long names and the like."""


def tar_documents(stream: ByteStream, member_documents: Member) -> Iterator[Document]:
    """The documents of an unpacked tar archive's files, one after the other.

    Raises
    ------
    FormatError
        The archive is cut off or damaged.
    """
    name, reader = stream.name, cast("Any", _Reader(stream))
    damage = partial(_Damage, f"{name}: the tar archive is cut off or damaged", (tarfile.TarError, EOFError))
    with (
        damage(),
        tarfile.open(fileobj=reader, mode="r|", tarinfo=_Header, encoding="utf-8", errors="surrogateescape") as archive,
    ):
        for member in archive:
            archive.members = []  # type: ignore[attr-defined]  # else it keeps them all
            if not member.isreg() or _is_hidden(member.name):
                continue
            if member.issparse():
                raise FormatError(f"{name}!{member.name}: a file with holes; unpack the archive and give the files")
            file: Any = archive.extractfile(member)
            yield from member_documents(_member(f"{name}!{member.name}", file, damage), member.size)
    rest = any(any(piece) for piece in stream.pieces())
    if rest:
        notice(f"{name}: what follows the end of the archive is not read; put archives that were joined apart", 2)


class _Header(tarfile.TarInfo):
    """A header that is no error which tarfile passes by, and asks for no more memory than a header may."""

    @classmethod
    def frombuf(cls, buf: Any, encoding: str, errors: str) -> _Header:
        try:
            header = super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            # An empty rest, or a block of zeros, is the end. tarfile takes anything else for it too, but for the first.
            if len(buf) == 0 or (len(buf) == tarfile.BLOCKSIZE and not any(buf)):
                raise
            raise tarfile.ReadError(f"no header where one should be: {error}") from None
        if header.type in _LONG and header.size > _HEADER:
            raise tarfile.ReadError(f"a header of {header.size} bytes")
        return header


_LONG = (
    tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE,
)  # fmt: skip


class _Reader:
    """A stream as tarfile reads it: all of what it asks for, but at the end."""

    def __init__(self, stream: ByteStream) -> None:
        self.stream = stream

    def read(self, size: int) -> bytes:
        pieces: list[bytes] = []
        while size > 0 and (piece := self.stream.read(size)):
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)


def zip_documents(source: Source, tally: Tally, member_documents: Member) -> Iterator[Document]:
    """The documents of a zip archive's files, one after the other.

    Raises
    ------
    FormatError
        The archive is cut off or damaged, or a file in it is encrypted.
    """
    with Counted(source, tally) as file:
        if not file.seekable():
            raise TrainingError(f"{source.name}: a zip archive cannot be read from a pipe; give its path")
        what = f"{source.name}: the zip archive is cut off or damaged, or packed in an unknown way"
        damage = partial(_Damage, what, (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError))
        with damage(), zipfile.ZipFile(file) as archive:
            for member in archive.infolist():
                name = f"{source.name}!{member.filename}"
                if member.is_dir() or stat.S_ISLNK(member.external_attr >> 16) or _is_hidden(member.filename):
                    continue
                if member.flag_bits & 1:
                    raise FormatError(f"{name} is encrypted; unpack the archive and give the files")
                with archive.open(member) as inside:
                    yield from member_documents(_member(name, inside, damage), member.file_size)


class _Damage:
    """What a library finds wrong with an archive, as an error that names it."""

    def __init__(self, what: str, errors: tuple[type[Exception], ...]) -> None:
        self.what, self.errors = what, errors

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, self.errors):
            raise FormatError(f"{self.what} ({error}); make or fetch it again") from None


def _member(name: str, file: Any, damage: Callable[[], _Damage]) -> ByteStream:
    def read(size: int) -> bytes:
        with damage():
            return file.read(size)  # type: ignore[no-any-return]

    return ByteStream(name, read)


def is_tar(head: bytes) -> bool:
    """Whether these first bytes, 512 of them, are those of a tar archive."""
    return head[257:263] in (b"ustar\0", b"ustar ") and len(head) == tarfile.BLOCKSIZE


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") and part not in (".", "..") for part in name.split("/"))
