"""Compressed streams, told by their first bytes and unpacked as they are read, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import FormatError

INSTALL = "pip install 'bytepair[data]', or zstandard alone"

HEAD = 10
"""Bytes that tell how a stream is packed."""

_BLOCK = 1 << 16
# A byte of zstd can stand for 32 KB, and its library cannot stop half-way. So little goes in at a time, as much as gave
# a megabyte the last time; what comes out is never more than 128 MB.
_ZSTD_LEAST, _ZSTD_MOST, _ZSTD_WANTED = 1 << 6, 1 << 12, 1 << 20
_XZ_MEMORY = 1 << 30

Read = Callable[[int], bytes]


def packing_of(head: bytes) -> str | None:
    """How a stream with these first bytes is packed: ``"gzip"``, ``"bzip2"``, ``"xz"``, ``"zstd"`` or None."""
    if head.startswith(b"\x1f\x8b\x08"):
        return "gzip"
    # The block's own mark, or that of the end where the stream is empty: "BZh9" alone may begin a text.
    if head[:3] == b"BZh" and head[3:4].isdigit() and head[4:10] in (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90"):
        return "bzip2"
    if head.startswith(b"\xfd7zXZ\0"):
        return "xz"
    if head.startswith(b"\x28\xb5\x2f\xfd") or (head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F):
        return "zstd"
    return None


class Unpacked:
    """What a packed stream holds, from ``read`` on; several streams one after the other are one text.

    Raises
    ------
    FormatError
        While reading: the stream is cut off, damaged, or something else follows it.
    """

    def __init__(self, packing: str, name: str, read: Read) -> None:
        self.packing, self.name, self._read_packed = packing, name, read
        self._make = _maker(packing, name)
        self._unpacker: Any = self._make()
        self._errors = _errors(packing)
        self._packed = b""
        self._block = _ZSTD_LEAST if packing == "zstd" else _BLOCK
        self._begun = True  # a stream has begun and not ended

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes, or none at the end."""
        while True:
            if self._unpacker.needs_input and not self._packed:
                self._packed = self._read_packed(self._block)
                if not self._packed:
                    if self._begun:
                        raise FormatError(
                            f"{self.name}: the {self.packing} data is cut off; make or fetch the file again"
                        )
                    return b""
            if not self._begun:
                self._next()
                continue
            data, self._packed = self._packed[: self._block], self._packed[self._block :]
            try:
                out = self._unpacker.decompress(data, size)
            except self._errors as error:
                raise FormatError(
                    f"{self.name}: the {self.packing} data is damaged ({error}); make or fetch the file again"
                ) from None
            if self._unpacker.eof:
                self._packed = self._unpacker.unused_data + self._packed
                self._begun = False
                self._unpacker = self._make()
            if self.packing == "zstd":
                self._block = min(max(_ZSTD_WANTED * len(data) // (len(out) + 1), _ZSTD_LEAST), _ZSTD_MOST)
            if out:
                return out  # type: ignore[no-any-return]

    def _next(self) -> None:
        """Behind the end of a stream: zeros fill up, another one goes on, all else is an error."""
        self._packed = self._packed.lstrip(b"\0")
        while self._packed and len(self._packed) < HEAD and (more := self._read_packed(_BLOCK)):
            self._packed += more
        if not self._packed:
            return
        if packing_of(self._packed[:HEAD]) != self.packing:
            raise FormatError(
                f"{self.name}: something that is no {self.packing} data follows the {self.packing} data; "
                "unpack the file yourself if what it holds is right"
            )
        self._begun = True


class _Gzip:
    """zlib's decompressor with the names that those of bz2 and lzma have."""

    def __init__(self) -> None:
        import zlib

        self._inner = zlib.decompressobj(31)

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, size: int) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, size)


class _Zstd:
    """zstandard's decompressor of one frame; it keeps nothing back, so its input is to be short."""

    needs_input = True

    def __init__(self, zstandard: Any) -> None:
        # Some well-known dumps were made with --long=31; the window is only touched as far as text fills it.
        self._inner = zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj()

    @property
    def eof(self) -> bool:
        return self._inner.eof  # type: ignore[no-any-return]

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data  # type: ignore[no-any-return]

    def decompress(self, data: bytes, size: int) -> bytes:  # noqa: ARG002
        return self._inner.decompress(data)  # type: ignore[no-any-return]


def _maker(packing: str, name: str) -> Callable[[], Any]:
    import bz2
    import lzma

    if packing == "gzip":
        return _Gzip
    if packing == "bzip2":
        return bz2.BZ2Decompressor
    if packing in ("xz", "lzma"):
        return lambda: lzma.LZMADecompressor(
            lzma.FORMAT_XZ if packing == "xz" else lzma.FORMAT_ALONE, memlimit=_XZ_MEMORY
        )
    try:
        import zstandard
    except ImportError:
        raise FormatError(f"{name} is packed with zstd, which needs the zstandard library: {INSTALL}") from None
    return lambda: _Zstd(zstandard)


def _errors(packing: str) -> tuple[type[Exception], ...]:
    if packing == "gzip":
        import zlib

        return (zlib.error,)
    if packing in ("xz", "lzma"):
        import lzma

        return (lzma.LZMAError,)
    if packing == "bzip2":
        return (OSError, ValueError)
    import zstandard

    return (zstandard.ZstdError,)
