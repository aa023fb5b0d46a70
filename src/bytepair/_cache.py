"""What is costly to make, kept between processes in the user's cache folder.

A file there is named by its key, the sha256 of all that its content follows from, and believed only where the checksum
that it holds is that of its bytes. Whoever reads one checks what it says again: a checksum tells of damage, not of
malice. All of it may be deleted at any time. ``BYTEPAIR_CACHE`` names another folder; empty or ``0``, it is a wish for
none.

A file: 16 bytes that say what it is, 32 of checksum of the rest, the layout's version and the length of the head (8
bytes each, little-endian), the head as JSON, and the sections that the head names, each from a place divisible by 8.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, Literal

__all__ = ["Checksum", "Kept", "folder", "key_of", "opened", "packed", "read", "sha256", "write"]

MAGIC = b"bytepair cache\r\n"
LAYOUT = 2
"""Changes whenever what the files hold is made or read differently."""

LIMIT = 1 << 30
"""How many bytes all files together may have; above, the oldest go."""

Checksum = Callable[[Any], bytes]
"""From bytes or a view of them to 32 bytes."""

_SUM = len(MAGIC)
_BODY = _SUM + 32
_HEAD = _BODY + 16
_DAY = 86400.0
_LITTLE = 1 << 20


class Kept:
    """A file that was found sound: its head, and its sections by name."""

    def __init__(self, head: dict[str, Any], sections: dict[str, memoryview]) -> None:
        self.head = head
        self.sections = sections

    def numbers(self, name: str, code: Literal["I", "q", "Q"]) -> memoryview:
        """A section as numbers of a type of the ``array`` module."""
        return self.sections[name].cast(code)


def folder() -> str | None:
    """Where the files are, or None where there shall be or can be none."""
    named = os.environ.get("BYTEPAIR_CACHE")
    if named is not None:
        return None if named in ("", "0") else named
    if sys.platform == "win32":
        parent = os.environ.get("LOCALAPPDATA", "")
    elif sys.platform == "darwin":
        parent = os.path.join(os.path.expanduser("~"), "Library", "Caches")
    else:
        parent = os.environ.get("XDG_CACHE_HOME", "")
        if not os.path.isabs(parent):
            parent = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(parent, "bytepair") if os.path.isabs(parent) else None


def sha256(data: Any) -> bytes:
    """The sha256 of little, without OpenSSL, which takes longer to load than all else that a start does."""
    digest: bytes = _lean()(data).digest()
    return digest


def _lean() -> Any:
    # As the standard library's `random` does.
    try:
        from _sha2 import sha256 as lean  # type: ignore[import-not-found]
    except ImportError:
        try:
            from _sha256 import sha256 as lean  # type: ignore[import-not-found]
        except ImportError:
            from hashlib import sha256 as lean
    return lean


def key_of(*parts: str | bytes) -> str:
    """The key of what follows from some parts, this version of bytepair and the machine's order of bytes."""
    version: str = sys.modules[__package__].__version__
    listed = [
        part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        for part in (version, str(LAYOUT), sys.byteorder, *parts)
    ]
    if sum(map(len, listed)) > _LITTLE:
        from hashlib import sha256 as hasher
    else:
        hasher = _lean()
    digest = hasher()
    for data in listed:
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    found: str = digest.hexdigest()
    return found


def read(key: str, checksum: Checksum = sha256) -> Kept | None:
    """What is kept under a key, if anything is and it is sound."""
    where = folder()
    if where is None:
        return None
    path = os.path.join(where, key + ".bin")
    try:
        with open(path, "rb", buffering=0) as file:
            about = os.fstat(file.fileno())
            data = file.read() if about.st_size <= LIMIT else b""
    except (OSError, ValueError) as error:
        if not isinstance(error, FileNotFoundError):
            _say("cannot read %s: %s", path, error)
        return None
    try:
        kept = opened(key, data, checksum)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        _say("%s is damaged, or of another version, and is made anew: %s", path, error)
        return None
    _touch(path, about.st_mtime)
    return kept


def opened(key: str, data: bytes, checksum: Checksum = sha256) -> Kept:
    """A file's head and sections.

    Raises
    ------
    ValueError, KeyError, TypeError, RecursionError
        The bytes are damaged, or those of another key.
    """
    import json

    if len(data) < _HEAD or data[:_SUM] != MAGIC:
        raise ValueError("it does not begin as such a file does")
    view = memoryview(data)
    if checksum(view[_BODY:]) != data[_SUM:_BODY]:
        raise ValueError("its checksum is wrong")
    layout, length = (int.from_bytes(data[at : at + 8], "little") for at in (_BODY, _BODY + 8))
    if layout != LAYOUT or length > len(data) - _HEAD:
        raise ValueError("it has another layout")
    head = json.loads(data[_HEAD : _HEAD + length])
    if not isinstance(head, dict) or head["key"] != key:
        raise ValueError("it belongs to another key")
    sections = {}
    for name, (at, size) in head["sections"].items():
        if type(at) is not int or type(size) is not int or at % 8 or not (0 <= at <= at + size <= len(data)):
            raise ValueError(f"its section {name!r} lies outside of it")
        sections[name] = view[at : at + size]
    return Kept(head, sections)


def write(key: str, head: Mapping[str, Any], sections: Mapping[str, bytes], checksum: Checksum = sha256) -> None:
    """Keeps a head and sections under a key. Where that fails, the reason is logged, and nothing else happens."""
    where = folder()
    if where is None:
        return
    path = os.path.join(where, key + ".bin")
    beside = os.path.join(where, f"{key}.{os.getpid()}-{os.urandom(4).hex()}.part")
    try:
        os.makedirs(where, mode=0o700, exist_ok=True)
        try:
            with open(beside, "xb") as file:
                file.write(packed(key, head, sections, checksum))
            os.replace(beside, path)
        finally:
            if os.path.lexists(beside):
                os.unlink(beside)
        _prune(where)
    except (OSError, ValueError) as error:
        _say("cannot keep %s: %s", path, error)


def packed(key: str, head: Mapping[str, Any], sections: Mapping[str, bytes], checksum: Checksum = sha256) -> bytes:
    """A file's bytes."""
    import json

    def written(start: int) -> bytes:
        places = {}
        for name, section in sections.items():
            places[name] = (start, len(section))
            start += len(section) + -len(section) % 8
        return json.dumps({**head, "key": key, "sections": places}).encode("ascii")

    # The places make the head longer, and its length moves the places: so it is filled up with blanks.
    length = len(written(0)) + 24 * len(sections)
    length += -(_HEAD + length) % 8
    body = [LAYOUT.to_bytes(8, "little"), length.to_bytes(8, "little"), written(_HEAD + length).ljust(length)]
    for section in sections.values():
        body += [section, bytes(-len(section) % 8)]
    rest = b"".join(body)
    return MAGIC + checksum(rest) + rest


def _touch(path: str, changed: float) -> None:
    """Says that a file is in use, once a day, so that it is not among the oldest."""
    import time

    if time.time() - changed > _DAY:
        try:
            os.utime(path)
        except OSError as error:
            _say("cannot mark %s as used: %s", path, error)


def _prune(where: str) -> None:
    """Deletes the oldest files above the limit, and what writers left that were killed."""
    import time
    from contextlib import suppress

    found = []
    with os.scandir(where) as entries:
        for entry in entries:
            if entry.name.endswith((".bin", ".part")) and len(entry.name) > 64 and entry.is_file(follow_symlinks=False):
                about = entry.stat(follow_symlinks=False)
                found.append((about.st_mtime, about.st_size, entry.path))
    total = sum(size for _, size, _ in found)
    for changed, size, path in sorted(found):
        left_over = path.endswith(".part") and time.time() - changed > _DAY
        if left_over or total > LIMIT:
            with suppress(FileNotFoundError):  # another process may be faster
                os.unlink(path)
            total -= size


def _say(message: str, *values: object) -> None:
    import logging

    logging.getLogger("bytepair").debug(message, *values)
