"""A user's text as the engine takes it: str or bytes, with lone surrogates dealt with. All entry points share it."""

from __future__ import annotations

from typing import Any

from .errors import TextError

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
