"""Sources of bytes, opened: bytes are counted, errors name the file, and what is packed is unpacked as it is read."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import FormatError, TrainingError
from .compression import HEAD, Unpacked, packing_of
from .document import PIECE, Tally

if TYPE_CHECKING:
    from .options import Kind


@dataclass(frozen=True, slots=True)
class Source:
    """Something that can be opened for its bytes: a file, or what lies behind an address.

    Attributes
    ----------
    name : str
        What messages call it.
    size : int or None
        Its bytes as they lie there.
    opener : callable
        Gives an open binary file.
    given : bool
        It was open when it came: it can be read once, from where it stands, and is not ours to close.
    """

    name: str
    size: int | None
    opener: Callable[[], Any]
    given: bool = False


class Counted(io.RawIOBase):
    """An open file whose bytes are counted as they are read, also by those who read here and there."""

    def __init__(self, source: Source, tally: Tally) -> None:
        super().__init__()
        self.source, self._tally = source, tally
        self._counted = 0
        with reading(source.name):
            self._file = source.opener()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        seekable = getattr(self._file, "seekable", None)
        return seekable is not None and seekable()

    def read(self, size: int | None = -1) -> bytes:
        with reading(self.source.name):
            data = self._file.read(size)
        if not isinstance(data, bytes):
            raise TrainingError(
                f"{self.source.name} gives {type(data).__name__}, not bytes; open it in binary mode, "
                "or use sys.stdin.buffer"
            )
        self._count(len(data))
        return data

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def readall(self) -> bytes:
        return self.read(-1)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)  # type: ignore[no-any-return]

    def tell(self) -> int:
        return self._file.tell()  # type: ignore[no-any-return]

    def close(self) -> None:
        if not self.closed:
            # What nobody needed to look at, such as other columns, is done with too.
            if self.source.size is not None:
                self._count(self.source.size - self._counted)
            if not self.source.given:
                self._file.close()
        super().close()

    def _count(self, size: int) -> None:
        if self.source.size is not None:
            size = min(size, self.source.size - self._counted)
        self._counted += size
        self._tally.add(size)


class ByteStream:
    """Bytes from front to back, the next of which can be looked at before they are read."""

    def __init__(self, name: str, read: Callable[[int], bytes], close: Callable[[], None] = lambda: None) -> None:
        self.name = name
        self._read, self.close = read, close
        self._held = b""

    def peek(self, size: int) -> bytes:
        """The next ``size`` bytes, or fewer at the end; they stay."""
        while len(self._held) < size and (more := self._read(max(size, 1 << 16))):
            self._held += more
        return self._held[:size]

    def read(self, size: int) -> bytes:
        """At least one byte and at most ``size``, or none at the end."""
        if self._held:
            piece, self._held = self._held[:size], self._held[size:]
            return piece
        return self._read(size)

    def pieces(self) -> Iterator[bytes]:
        """All that follows, piece by piece."""
        while piece := self.read(PIECE):
            yield piece

    def __enter__(self) -> ByteStream:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def opened(source: Source, kind: Kind, tally: Tally) -> ByteStream:
    """A source from its first byte on, unpacked where its first bytes say that it is packed."""
    file = Counted(source, tally)
    try:
        return unpacked(ByteStream(source.name, file.read, file.close), kind, strict=not source.given)
    except BaseException:
        file.close()
        raise


def unpacked(stream: ByteStream, kind: Kind, strict: bool) -> ByteStream:
    """What a stream holds, where it is packed.

    Raises
    ------
    FormatError
        ``strict``, and the name says that it is packed, while the bytes say that it is not.
    """
    if kind.content == "raw":
        return stream
    packing = packing_of(stream.peek(HEAD))
    if packing is None and kind.packing == "lzma":
        packing = "lzma"  # has no mark of its own
    if packing is None:
        if kind.packing is not None and strict:
            what = "is empty" if not stream.peek(1) else f"holds no {kind.packing} data"
            raise FormatError(
                f"{stream.name} {what}, as its name says; make or fetch it again, or read it as it is with "
                'files(..., format="raw") (--format raw)'
            )
        return stream
    inner = Unpacked(packing, stream.name, stream.read)
    return ByteStream(stream.name, inner.read, stream.close)


class reading:  # noqa: N801
    """Turns what goes wrong with a file into an error that names it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            raise TrainingError(f"cannot read {self.name}: {error.strerror or error}") from error


def file_source(file: Any) -> Source:
    """An open file as a source."""
    name = getattr(file, "name", None)
    size = None
    if hasattr(file, "seekable") and hasattr(file, "tell"):
        with suppress(OSError, ValueError):
            if file.seekable():
                here = file.tell()
                size = file.seek(0, 2) - here
                file.seek(here)
    return Source(name if isinstance(name, str) else "the open file", size, lambda: file, given=True)
