"""Tokens and tables on a terminal.

Where it has colours tokens are told apart by their background; elsewhere, and where NO_COLOR is set, by a thin line.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from .signs import BORDER, LINE_BREAK, Piece, clipped, signed, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# Blue and yellow differ for every kind of colour blindness; dark ink on them reads on light and dark screens alike.
INK = "#1c1c1c"
FAINT_INK = "#767676"
GROUNDS = ("#afd7ff", "#ffd787")
SPECIAL = "bold #ffffff on #87005f"


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
        for text, is_sign in signed(piece, inline):
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


def marked_for(console: Console) -> Callable[[Iterable[Piece]], str]:
    """What tells tokens in one line apart on that console, as a string with its colours."""
    if not has_colours(console):
        return lambda shown: bordered(shown, inline=True)

    def mark(shown: Iterable[Piece]) -> str:
        with console.capture() as taken:
            console.print(coloured(shown, inline=True), end="", soft_wrap=True)
        return taken.get()

    return mark


@lru_cache(1 << 14)
def _broken(piece: Piece) -> str:
    parts = signed(piece, False)
    return "".join(text + "\n" if is_sign and text == LINE_BREAK else text for text, is_sign in parts)


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
