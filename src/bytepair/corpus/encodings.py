"""Texts in other encodings, and bytes that are no UTF-8: what :func:`bytepair.files` was told to do with them."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..errors import FormatError

if TYPE_CHECKING:
    from .options import How


def to_utf8(pieces: Iterable[bytes], how: How, name: str) -> Iterator[bytes]:
    """A text in pieces as UTF-8; where ``how`` asks for nothing, the very same bytes.

    Raises
    ------
    FormatError
        The text is not in the encoding; the message has the file and the offset of the byte.
    """
    return iter(pieces) if how.is_plain else _converted(pieces, how, name)


def row_to_utf8(data: bytes, how: How, name: str) -> bytes:
    """As :func:`to_utf8`, for a text that is held whole."""
    return data if how.is_plain else b"".join(_converted((data,), how, name))


def _converted(pieces: Iterable[bytes], how: How, name: str) -> Iterator[bytes]:
    encoding = how.encoding or "utf-8"
    decoder = codecs.getincrementaldecoder(encoding)(how.policy)
    only_checked = how.is_utf8 and how.policy == "strict"
    read = 0
    try:
        for piece in pieces:
            read += len(piece)
            text = decoder.decode(piece)
            yield piece if only_checked else text.encode("utf-8", "surrogateescape")
        rest = decoder.decode(b"", True)
        if rest and not only_checked:
            yield rest.encode("utf-8", "surrogateescape")
    except UnicodeDecodeError as error:
        # What a decoder complains about ends where it has read to, whatever it held back before.
        offset = read - len(error.object) + error.start
        byte = error.object[error.start]
        raise FormatError(
            f"{name}: byte 0x{byte:02X} at byte offset {offset} is no {encoding} ({error.reason}); {_cure(how)}"
        ) from None
    except UnicodeError as error:
        raise FormatError(f"{name}: the text is no {encoding} ({error}); {_cure(how)}") from None


def _cure(how: How) -> str:
    keep = ' leave errors= out for bytes as they are, or say errors="replace" for U+FFFD in their place'
    other = ' say errors="replace" for U+FFFD in their place'
    return f"give its encoding= if it has another, or{keep if how.is_utf8 else other}"
