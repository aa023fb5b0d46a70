"""Tokens on a screen: whatever bytes a token has, it is shown plainly and does nothing to the screen.

A token is first cut into :class:`Part` s, text that can be shown as it is and signs for what cannot: a line break is
``↵``, a tab ``⇥``, other control characters their Unicode pictures, invisible and direction-changing characters
``⟨U+202E⟩``, a byte that is no UTF-8 ``⟨9F⟩``. On a terminal with colours tokens are told apart by their background;
elsewhere, and where NO_COLOR is set, by a thin line.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ..vocabulary import MARK

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from ..tokenizer import Tokenizer

BORDER = "│"
SPACE = "␣"
LINE_BREAK = "↵"

# Blue and yellow differ for every kind of colour blindness; dark ink on them reads on light and dark screens alike.
INK = "#1c1c1c"
FAINT_INK = "#767676"
GROUNDS = ("#afd7ff", "#ffd787")
SPECIAL = "bold #ffffff on #87005f"

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


def pieces(tokenizer: Tokenizer, ids: Iterable[int]) -> Iterator[Piece]:
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
    return "".join(part.text for part in _signed(piece, True))


def one_line(text: str) -> str:
    """A message in one line that a terminal shows and does not obey."""
    return "".join(
        c if c.isprintable() else " " if c.isspace() else c.encode("unicode_escape").decode("ascii") for c in text
    )


def clipped(text: str, width: int) -> str:
    """The text, or its beginning and ``…`` where it is wider than ``width`` columns."""
    from rich.cells import cell_len, set_cell_size

    return text if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"


def console(*, stderr: bool = False) -> Console:
    """A rich console that changes nothing in what it is given to print."""
    from rich.console import Console

    class PlainConsole(Console):
        def on_broken_pipe(self) -> None:
            raise  # noqa: PLE0704  # rich calls this where it caught the error; the group knows how to end

    return PlainConsole(file=sys.stderr if stderr else sys.stdout, highlight=False, markup=False, emoji=False)


def has_colours(console: Console) -> bool:
    """Whether backgrounds can tell tokens apart there."""
    return console.is_terminal and console.color_system is not None and not console.no_color


def coloured(shown: Iterable[Piece], *, inline: bool = False, start: int = 0) -> Text:
    """A text with its tokens told apart by their backgrounds.

    A line break breaks the line, unless the text is ``inline``: then it does not, and spaces have a sign too.
    ``start`` is the first token's number where the text goes on from another one.
    """
    from rich.text import Text

    out = Text()
    for number, piece in enumerate(shown, start):
        for text, is_sign in _signed(piece, inline):
            ink = FAINT_INK if is_sign else INK
            out.append(text, SPECIAL if piece.is_special else f"{ink} on {GROUNDS[number % 2]}")
            if is_sign and text == LINE_BREAK and not inline:
                out.append("\n")
    return out


def bordered(shown: Iterable[Piece], *, inline: bool = False) -> str:
    """The same without colours: a thin line between the tokens."""
    return BORDER.join(visible(piece) if inline else _broken(piece) for piece in shown)


def tokens(shown: Iterable[Piece], console: Console, *, inline: bool = False) -> Text:
    """Tokens as the console can tell them apart."""
    from rich.text import Text

    return coloured(shown, inline=inline) if has_colours(console) else Text(bordered(shown, inline=inline))


@lru_cache(1 << 14)
def _broken(piece: Piece) -> str:
    parts = _signed(piece, False)
    return "".join(text + "\n" if is_sign and text == LINE_BREAK else text for text, is_sign in parts)


def _signed(piece: Piece, spaces: bool) -> Iterator[Part]:
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


def table(header: list[str], rows: list[list[str]], *, left: set[int], width: int | None = None) -> Iterator[str]:
    """Lines of a table: columns as wide as what they hold, numbers to the right.

    Parameters
    ----------
    header, rows : str for each column
    left : set of int
        The columns that are text.
    width : int, optional
        Columns of the screen; lines are cut there.
    """
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(header, *rows)]
    end: Callable[[str], str] = str.rstrip if width is None else lambda line: clipped(line.rstrip(), width)
    for row in (header, *rows):
        cells = []
        for at, cell in enumerate(row):
            blank = " " * (widths[at] - cell_len(cell))
            cells.append(cell + blank if at in left else blank + cell)
        yield end("  ".join(cells))
