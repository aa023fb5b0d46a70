"""Tokens shown plainly: whatever bytes a token has, what is shown does nothing to the screen or the page.

A token is cut into :class:`Part` s, text that can be shown as it is and signs for what cannot: a line break is ``↵``, a
tab ``⇥``, other control characters their Unicode pictures, invisible and direction-changing characters ``⟨U+202E⟩``, a
byte that is no UTF-8 ``⟨9F⟩``.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ..vocabulary import MARK

if TYPE_CHECKING:
    from .._facts import Facts

BORDER = "│"
SPACE = "␣"
LINE_BREAK = "↵"

# Letters and marks that show as nothing, beside the invisible ones that their category tells.
_INVISIBLE = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}
_SHOWN_AS_SIGN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"}


class Part(NamedTuple):
    """A part of a token: what to show, and whether that is a sign for something that cannot be shown."""

    text: str
    is_sign: bool


class Piece(NamedTuple):
    """A token in a text: its bytes, whether it is special, and whether it ends with the end-of-word mark."""

    data: bytes
    is_special: bool
    is_marked: bool


def pieces(tokenizer: Facts, ids: Iterable[int]) -> Iterator[Piece]:
    """The tokens of some ids."""
    vocab, marked = tokenizer.vocab, tokenizer._vocabulary.marked
    specials = frozenset(tokenizer.specials.values())
    return (Piece(vocab[i], i in specials, i in marked) for i in ids)


def parts(data: bytes) -> Iterator[Part]:
    """Cut a token's bytes into what can be shown and signs for the rest. Line breaks are shown by their sign only."""
    if data.isascii() and (text := data.decode("ascii")).isprintable():
        yield Part(text, False)
        return
    plain = ""
    for at, character in enumerate(data.decode("utf-8", "surrogateescape")):
        sign = _sign(character)
        if not sign and at == 0 and unicodedata.category(character).startswith("M"):
            sign = "\u25cc" + character  # a mark needs something to stand on, and not the token before
        if not sign:
            plain += character
            continue
        if plain:
            yield Part(plain, False)
            plain = ""
        yield Part(sign, True)
    if plain:
        yield Part(plain, False)


def _sign(character: str) -> str:
    point = ord(character)
    if character == " " or (0x20 < point < 0x7F):
        return ""
    if character == "\n":
        return LINE_BREAK
    if character == "\t":
        return "⇥"
    if point < 0x20:
        return chr(0x2400 + point)
    if point == 0x7F:
        return "␡"
    if 0xDC80 <= point <= 0xDCFF:
        return f"⟨{point & 0xFF:02X}⟩"
    if point in _INVISIBLE or unicodedata.category(character) in _SHOWN_AS_SIGN:
        return f"⟨U+{point:04X}⟩"
    return ""


@lru_cache(1 << 14)
def visible(piece: Piece) -> str:
    """A token in one line of plain text, spaces shown too: for tables and lists."""
    return "".join(part.text for part in signed(piece, True))


def one_line(text: str) -> str:
    """A message in one line that a terminal shows and does not obey."""
    return "".join(
        c if c.isprintable() else " " if c.isspace() else c.encode("unicode_escape").decode("ascii") for c in text
    )


def clipped(text: str, width: int) -> str:
    """The text, or its beginning and ``…`` where it is wider than ``width`` columns."""
    from rich.cells import cell_len, set_cell_size

    return text if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"


def signed(piece: Piece, spaces: bool) -> Iterator[Part]:
    """The parts of a token, with its end-of-word mark and, where wanted, a sign for each space."""
    for part in parts(piece.data):
        if part.is_sign or not spaces:
            yield part
            continue
        for number, text in enumerate(part.text.split(" ")):
            if number:
                yield Part(SPACE, True)
            if text:
                yield Part(text, False)
    if piece.is_marked:
        yield Part(MARK, True)
