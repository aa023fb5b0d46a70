"""A user's text as the engine takes it: str or bytes, with lone surrogates dealt with. All entry points share it."""

from __future__ import annotations

import codecs
from collections.abc import Collection
from typing import Any, Literal

from .errors import TextError

Text = str | bytes
Special = Literal["text", "all", "error"] | Collection[str]
Errors = Literal["strict", "surrogateescape", "replace"]

POLICIES = ("strict", "surrogateescape", "replace")


def as_data(text: Any, errors: str, where: str = "") -> str | bytes:
    """The text as str without lone surrogates, or as bytes. ``where`` goes before an error's message."""
    if isinstance(text, str) and errors == "strict" and text.isascii():
        return text
    return to_bytes(text, errors, where)


def to_bytes(text: Any, errors: str, where: str = "") -> bytes:
    """The text as bytes: UTF-8 of a str, the same bytes of anything that holds bytes."""
    if errors not in POLICIES:
        raise TextError(f'errors is {errors!r}; it can be "strict", "surrogateescape" or "replace"')
    if isinstance(text, bytes):
        return text
    if isinstance(text, str):
        try:
            return text.encode("utf-8")
        except UnicodeEncodeError as error:
            return _surrogates(text, errors, error, where)
    if isinstance(text, (bytearray, memoryview)):
        return bytes(text)
    raise TypeError(f"{where}expected str or bytes, got {type(text).__name__}")


def _surrogates(text: str, errors: str, error: UnicodeEncodeError, where: str) -> bytes:
    if errors == "replace":
        return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text).encode("utf-8")
    if errors == "surrogateescape":
        try:
            return text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError as other:
            error = other
    raise TextError(
        f"{where}the text has the lone surrogate U+{ord(text[error.start]):04X} at character {error.start}",
        'pass errors="replace" for U+FFFD in its place, or errors="surrogateescape" where it stands for a raw byte',
    ) from None


def character_offset(data: bytes, byte_offset: int) -> int:
    """How many characters stand before a byte offset; a byte that is no UTF-8 counts as one."""
    return len(data[:byte_offset].decode("utf-8", "surrogateescape"))


def byte_offsets(data: bytes) -> list[int]:
    """For every character of a text, and for its end, how many bytes stand before it."""
    out = [0]
    for character in data.decode("utf-8", "surrogateescape"):
        out.append(out[-1] + len(character.encode("utf-8", "surrogateescape")))
    return out


def starts_of(pieces: list[bytes], text: str) -> list[int]:
    """In which character of a text each of the pieces begins whose bytes, joined and decoded, are the text."""
    data = b"".join(pieces)
    begins: list[int] = []
    if data.isascii():
        at = 0
        for piece in pieces:
            begins.append(at)
            at += len(piece)
        return begins
    character_of = _character_of_byte(data)
    last, at = max(len(text) - 1, 0), 0
    for piece in pieces:
        begins.append(character_of[at] if at < len(data) else last + bool(text))
        at += len(piece)
    return begins


def _character_of_byte(data: bytes) -> list[int]:
    """For every byte, the character it belongs to once what is no UTF-8 became U+FFFD, one for each broken sequence."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    out: list[int] = []
    done = 0  # characters that are complete
    for byte in data:
        done += len(decoder.decode(bytes([byte])))
        out.append(done if decoder.getstate()[0] else done - 1)
    return out
