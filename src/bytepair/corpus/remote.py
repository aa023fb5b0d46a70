"""Files behind addresses, such as ``s3://bucket/folder``: fsspec finds and opens them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from urllib.request import url2pathname

from ..errors import TrainingError
from .streams import Source

INSTALL = "pip install 'bytepair[data]'"


def address_sources(address: str) -> Iterator[Source]:
    """The file, the files below the folder, or the files that match the glob, at an address.

    Raises
    ------
    TrainingError
        fsspec or the library behind the address is missing, or nothing is found there.
    """
    if address.startswith("file://"):
        from .sources import path_sources

        yield from path_sources(_local(address))
        return
    try:
        import fsspec
    except ImportError:
        raise TrainingError(f"{address} needs the fsspec library: {INSTALL}") from None
    with _reaching(address):
        system, path = fsspec.core.url_to_fs(address)
    for name, size in _found(system, path, address):
        yield Source(system.unstrip_protocol(name), size, _Opener(system, name))


def _local(address: str) -> Path:
    rest = address.removeprefix("file://")
    return Path(url2pathname(rest) if rest.startswith("/") else unquote(rest))


class _Opener:
    def __init__(self, system: Any, name: str) -> None:
        self.system, self.name = system, name

    def __call__(self) -> Any:
        with _reaching(self.system.unstrip_protocol(self.name)):
            return _Guarded(self.system.open(self.name, "rb"), self.name)


class _Guarded:
    """An open file of fsspec: what a backend raises becomes an OSError, as it is for files on disk."""

    def __init__(self, file: Any, name: str) -> None:
        self.file, self.name = file, name

    def read(self, size: int = -1) -> bytes:
        try:
            return self.file.read(size)  # type: ignore[no-any-return]
        except OSError:
            raise
        except Exception as error:
            raise OSError(f"{type(error).__name__}: {error}") from error

    def seekable(self) -> bool:
        return self.file.seekable()  # type: ignore[no-any-return]

    def seek(self, offset: int, whence: int = 0) -> int:
        return self.file.seek(offset, whence)  # type: ignore[no-any-return]

    def tell(self) -> int:
        return self.file.tell()  # type: ignore[no-any-return]

    def close(self) -> None:
        self.file.close()


def _found(system: Any, path: str, address: str) -> list[tuple[str, int | None]]:
    """Names and sizes, in the order of the names; links and hidden names skipped."""
    with _reaching(address):
        # A question mark in a web address begins its query and is no wildcard.
        is_web = address.startswith(("http://", "https://"))
        has_magic = "*" in path if is_web else any(sign in path for sign in "*?[")
        if has_magic:
            root = path[: min(at for at in map(path.find, "*?[") if at >= 0)].rpartition("/")[0]
            found = system.glob(path, detail=True)
        elif not is_web and system.isdir(path):
            root = path.rstrip("/")
            found = system.find(path, detail=True)
        else:
            info = system.info(path)
            return [(path, info.get("size"))]
    names = [
        (name, info.get("size"))
        for name, info in found.items()
        if info.get("type") == "file" and not info.get("islink") and not _is_hidden(name, root)
    ]
    if not names:
        raise TrainingError(f"there is no file at {address}; check the address")
    return sorted(names, key=lambda found: found[0].encode("utf-8", "surrogateescape"))


def _is_hidden(name: str, root: str) -> bool:
    return any(part.startswith(".") for part in name[len(root) :].split("/"))


@contextmanager
def _reaching(address: str) -> Iterator[None]:
    try:
        yield
    except TrainingError:
        raise
    except ImportError as error:
        raise TrainingError(f"{address} needs another library: {error}") from error
    except FileNotFoundError as error:
        raise TrainingError(f"{address} does not exist; check the address") from error
    except Exception as error:  # every backend has errors of its own
        raise TrainingError(f"cannot read {address}: {type(error).__name__}: {error}") from error
