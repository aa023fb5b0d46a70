"""Byte level: every byte written as a letter, as GPT-2's files and Hugging Face do it.

Printable bytes are themselves, the other 68 are the letters from U+0100 on.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import accumulate, pairwise

__all__ = ["all_from_letters", "from_letters", "to_letters"]

_PLAIN = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_OTHERS = [byte for byte in range(256) if byte not in set(_PLAIN)]
_LETTERS = {**{byte: chr(byte) for byte in _PLAIN}, **{byte: chr(256 + k) for k, byte in enumerate(_OTHERS)}}
_BYTES = {ord(letter): byte for byte, letter in _LETTERS.items()}
# Latin-1 characters that are no letters go where Latin-1 ends, so that encoding refuses them.
_TO_LATIN = {**dict.fromkeys(_OTHERS, 65535), **_BYTES}
_FROM_LATIN = {byte: ord(letter) for byte, letter in _LETTERS.items()}


def to_letters(data: bytes) -> str:
    """The letters of bytes.

    Examples
    --------
    >>> to_letters(b" the")
    '\u0120the'
    """
    return data.decode("latin-1").translate(_FROM_LATIN)


def all_from_letters(texts: Collection[str]) -> list[bytes] | None:
    """As :func:`from_letters` of each; None where one of them has a character that is none."""
    data = from_letters("".join(texts))
    if data is None:
        return None
    ends = list(accumulate(map(len, texts), initial=0))
    return [data[a:b] for a, b in pairwise(ends)]


def from_letters(text: str) -> bytes | None:
    """The bytes of letters; None where a character is none of them.

    Examples
    --------
    >>> from_letters("\u0120the")
    b' the'
    """
    try:
        return text.translate(_TO_LATIN).encode("latin-1")
    except UnicodeEncodeError:
        return None
