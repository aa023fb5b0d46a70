"""What a reader of a format gets: a file's bytes, what to call it in errors, and what the caller adds to it."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any

from ..errors import BytepairError, FormatError

if TYPE_CHECKING:
    from pathlib import Path

    from ..pattern import Pattern

__all__ = ["Options", "Source", "Written", "parse_json"]

MAX_BYTES = 1 << 28
"""How many bytes a tokenizer's file may have, unpacked; those of a quarter of a million tokens have some 40 million."""

MAX_VALUES = 1 << 24
"""How many values JSON may hold: Python takes some 60 bytes for each, and the file of the most tokens has fewer."""

MAX_XZ_MEMORY = 1 << 28
"""How much memory an xz file may ask for to be unpacked; the highest level that there is asks for 65 MB."""

HEAD = 1 << 16

_PACKED = {b"\x1f\x8b": ("gzip", "gzip"), b"\xfd7zXZ\x00": ("xz", "lzma"), b"BZh": ("bzip2", "bz2")}
"""How a packed file begins -> what it is called, and the module that unpacks it."""


@dataclass(frozen=True)
class Options:
    """What the caller of ``load`` adds to a file that does not say it itself."""

    pattern: str | Pattern | None = None
    specials: Iterable[str] | Mapping[str, int] | None = None
    roles: Mapping[str, str] | None = None

    def refuse(self, source: Source, names: Iterable[str] = ("pattern", "specials")) -> None:
        """For a format whose files say these things themselves."""
        for name in names:
            if getattr(self, name) is not None:
                raise FormatError(
                    f"{source.name} says its own {name}, so {name}= cannot be given with it; leave it out"
                )


@dataclass(frozen=True)
class Source:
    """One file: ``name`` is what errors call it, ``at`` its path or None for bytes that were given."""

    name: str
    at: str | None = None
    given: bytes | None = field(default=None, repr=False)
    asked: dict[str, None] = field(default_factory=dict, compare=False, repr=False)
    """The files beside it that were asked for."""
    vocab: Source | None = None
    """The second of two files that belong together."""

    @classmethod
    def of(cls, what: Any, vocab: Source | None = None) -> Source:
        """Bytes, or the path of a file."""
        if isinstance(what, (bytes, bytearray, memoryview)):
            return cls("the given bytes", given=bytes(what), vocab=vocab)
        if not isinstance(what, (str, os.PathLike)) or not isinstance(path := os.fspath(what), str):
            raise FormatError(f"load takes a path or a file's bytes, not a {type(what).__name__}")
        return cls(path, path, vocab=vocab)

    @property
    def path(self) -> Path | None:
        from pathlib import Path

        return None if self.at is None else Path(self.at)

    def beside(self, name: str) -> Source | None:
        """Another file of the same folder, where there is one."""
        self.asked[name] = None
        path = None if self.at is None else os.path.join(os.path.dirname(self.at), name)
        return Source(path, path) if path is not None and os.path.isfile(path) else None

    @property
    def exists(self) -> bool:
        found: bool = self._ask(_exists)
        return found

    @property
    def is_folder(self) -> bool:
        found: bool = self._ask(_is_folder)
        return found

    @cached_property
    def size(self) -> int:
        return len(self.given or b"") if self.at is None else self._ask(os.path.getsize)

    def open(self) -> IO[bytes]:
        """The file as it lies there, for a reader that needs its beginning only."""
        if self.at is None:
            return io.BytesIO(self.given or b"")
        opened: IO[bytes] = self._ask(lambda path: open(path, "rb"))  # noqa: SIM115
        return opened

    @cached_property
    def head(self) -> bytes:
        """The first 64 KiB, unpacked."""
        if "raw" in self.__dict__ or self.given is not None:
            return self.data[:HEAD]
        with self.open() as file:
            start = self._ask(lambda _: file.read(HEAD))
        return self.data[:HEAD] if _packing(start) else bytes(start)

    @cached_property
    def raw(self) -> bytes:
        """All of it, as it lies there."""
        if self.at is None:
            return self.given or b""
        if self.size > MAX_BYTES:
            raise FormatError(f"{self.name} has {self.size} bytes; a tokenizer's file has {MAX_BYTES} at most")
        data: bytes = self._ask(_read)
        return data

    @cached_property
    def data(self) -> bytes:
        """All of it, unpacked where it is a gzip, xz or bzip2 file."""
        packed = self.raw
        kind = _packing(packed)
        if kind is None:
            return packed
        import lzma
        import zlib
        from importlib import import_module

        name, module = _PACKED[kind]
        try:
            if module == "lzma":
                data = _unpack_xz(packed, MAX_BYTES + 1)
            else:
                with import_module(module).open(io.BytesIO(packed)) as file:
                    data = file.read(MAX_BYTES + 1)
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            raise FormatError(f"{self.name} is a damaged {name} file: {error}; fetch it again") from None
        if len(data) > MAX_BYTES:
            raise FormatError(f"{self.name} unpacks to over {MAX_BYTES} bytes, which no tokenizer's file has")
        return data

    @cached_property
    def sha256(self) -> str:
        """Of the unpacked file, in hex."""
        import hashlib

        return hashlib.sha256(self.data).hexdigest()

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """The lines with their numbers from 1; they end at LF or CR LF, and nowhere else."""
        for number, line in enumerate(io.BytesIO(self.data), 1):
            yield number, line.removesuffix(b"\n").removesuffix(b"\r")

    def text_lines(self) -> Iterator[tuple[int, str]]:
        """The lines as UTF-8."""
        for number, line in self.lines():
            try:
                yield number, line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise self.fail(
                    f", line {number}: byte {error.start} of it is no UTF-8; the file may be damaged"
                ) from None

    @cached_property
    def json(self) -> Any:
        """The file as JSON; what is wrong with it is a FormatError that names the place."""
        return parse_json(self.data, self.name)

    @cached_property
    def is_json(self) -> bool:
        return self.head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{"

    @cached_property
    def text(self) -> str:
        """The file as UTF-8."""
        try:
            return self.data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = self.data.count(b"\n", 0, error.start) + 1
            raise FormatError(
                f"{self.name}, line {line}: byte {error.start} is no UTF-8; the file may be damaged"
            ) from None

    def fail(self, message: str) -> FormatError:
        return FormatError(f"{self.name}{message if message.startswith(',') else ': ' + message}")

    def _ask(self, work: Any) -> Any:
        try:
            return work(self.at)
        except ValueError as error:  # a NUL or a lone surrogate
            if isinstance(error, BytepairError):
                raise
            raise FormatError(f"{self.name!r} cannot be a path: {error}") from None
        except OSError as error:
            raise FormatError(f"cannot read {self.name}: {error.strerror or error}; check the path") from error


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _exists(path: str) -> bool:
    """As ``os.path.exists``, which says False of what cannot be a path; here that is an error."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _is_folder(path: str) -> bool:
    return stat.S_ISDIR(os.stat(path).st_mode) if _exists(path) else False


def _packing(data: bytes) -> bytes | None:
    return next((start for start in _PACKED if data.startswith(start)), None)


def _unpack_xz(packed: bytes, most: int) -> bytes:
    """The beginning of what is in an xz file; its module's own class of files knows no bound of memory."""
    import lzma

    out: list[bytes] = []
    size = 0
    while packed and size < most:
        stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MAX_XZ_MEMORY)
        out.append(stream.decompress(packed, most - size))
        size += len(out[-1])
        if not stream.eof and size < most:
            raise EOFError("it ends before its end-of-stream marker was reached")
        packed = stream.unused_data.lstrip(b"\0")  # padding between streams
    return b"".join(out)


@dataclass(frozen=True)
class Written:
    """What a format makes of a tokenizer.

    ``files``: the name of each file in a folder -> its bytes; the name "" stands for the path that was given.
    ``losses``: what the format cannot hold, a sentence each.
    """

    files: Mapping[str, bytes]
    losses: tuple[str, ...] = ()
    main: str = ""
    """The one file that holds the tokenizer: it alone is written where the path is that of a file."""


def parse_json(data: bytes, name: str) -> Any:
    """JSON of an untrusted file; whatever is wrong with it is a FormatError that names the place."""
    import json

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        out = dict(pairs)
        if len(out) != len(pairs):
            seen: set[str] = set()
            twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            raise FormatError(f"{name} has the key {twice!r} twice in one object; take one out")
        return out

    if sum(map(data.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise FormatError(f"{name} holds over {MAX_VALUES} values, which no tokenizer's file has; check what it is")
    try:
        return json.loads(data.decode("utf-8-sig"), object_pairs_hook=unique)
    except UnicodeDecodeError as error:
        raise FormatError(f"{name} is no UTF-8 at byte {error.start}; it may be damaged") from None
    except json.JSONDecodeError as error:
        raise FormatError(
            f"{name}, line {error.lineno}, column {error.colno}: {error.msg}; the file may be cut off"
        ) from None
    except RecursionError:
        raise FormatError(f"{name} is nested too deeply to be a tokenizer") from None
    except FormatError:
        raise
    except ValueError:  # Python reads no numbers of over 4,300 digits
        raise FormatError(f"{name} holds a number of thousands of digits, which none of a tokenizer's has") from None
