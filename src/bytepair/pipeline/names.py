"""Finding the names of special and added tokens in a text, with the white space and the word borders they ask for.

A name without flags is found where it stands, the earliest first and there the longest. ``single_word`` wants no
letter, digit or underscore beside it, ``lstrip`` and ``rstrip`` take the white space on that side with them. The flags'
meaning is that of Hugging Face's added tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from .. import _engine
from ..pattern.dialects import DIALECTS

if TYPE_CHECKING:
    from ..pattern.charsets import CharSet

__all__ = ["Found", "Names"]


class Found(NamedTuple):
    """A stretch of a text, in bytes: a token that was named there, or (``id`` None) text."""

    start: int
    stop: int
    id: int | None


class Names:
    """What is looked for: name -> id, and the flags that some names have."""

    def __init__(self, ids: Mapping[str, int], flags: Mapping[str, frozenset[str]]) -> None:
        self._flags = {ids[name]: flags[name] - {"normalized"} for name in ids if name in flags}
        self._specials = _engine.Specials([name.encode() for name in ids], list(ids.values())) if ids else None
        self.longest = max((len(name.encode()) for name in ids), default=0)
        """Bytes of the longest name."""

    def __bool__(self) -> bool:
        return self._specials is not None

    @property
    def has_flags(self) -> bool:
        """Whether a name asks for more than to be found."""
        return any(self._flags.values())

    def find(self, data: bytes, at: int) -> tuple[int, int]:
        """Where the next name begins, and its length, whatever it asks for; (the end, 0) where there is none."""
        if self._specials is None:
            return len(data), 0
        start, length, _ = self._specials.find(data, at)
        return start, length

    def split(self, data: bytes) -> Iterator[Found]:
        """The text in order, cut at the names; stretches of text are not empty."""
        at = done = 0  # where to look next, up to where everything is given out
        while self._specials is not None and at < len(data):
            start, length, found = self._specials.find(data, at)
            if found < 0:
                break
            stop = at = start + length
            flags = self._flags.get(found, frozenset())
            if "single_word" in flags and (_is_word(data, start - 4, start, -1) or _is_word(data, stop, stop + 4, 0)):
                continue
            if "lstrip" in flags:
                start = max(_blank_start(data, start), done)
            if "rstrip" in flags:
                stop = _blank_stop(data, stop)
            if done < start:
                yield Found(done, start, None)
            yield Found(start, stop, found)
            done = stop
        if done < len(data):
            yield Found(done, len(data), None)


@lru_cache(maxsize=1)
def _word() -> CharSet:
    return DIALECTS["tiktoken"].word()


@lru_cache(maxsize=1)
def _space() -> CharSet:
    return DIALECTS["tiktoken"].space()


def _character(data: bytes, start: int, stop: int, place: int) -> str:
    """The first (``place`` 0) or last (-1) character of a window; the other end may cut one in two."""
    return data[max(start, 0) : stop].decode("utf-8", "surrogateescape")[place : place + 1 or None]


def _is_word(data: bytes, start: int, stop: int, place: int) -> bool:
    character = _character(data, start, stop, place)
    return bool(character) and ord(character) in _word()


def _blank_start(data: bytes, stop: int) -> int:
    """Where the white space begins that ends at ``stop``."""
    while stop:
        last = _character(data, stop - 4, stop, -1)
        if ord(last) not in _space():
            break
        stop -= len(last.encode())
    return stop


def _blank_stop(data: bytes, start: int) -> int:
    """Where the white space ends that begins at ``start``."""
    while start < len(data):
        first = _character(data, start, start + 4, 0)
        if ord(first) not in _space():
            break
        start += len(first.encode())
    return start
