"""How tokens are shown, on a terminal, in a page and in a notebook.

``signs`` says what stands for what cannot be shown; ``terminal`` and ``html`` print it.
"""

from .signs import BORDER, LINE_BREAK, SPACE, Part, Piece, clipped, one_line, parts, pieces, signed, visible
from .terminal import bordered, coloured, console, has_colours, marked_for, table, tokens

__all__ = [
    "BORDER",
    "LINE_BREAK",
    "SPACE",
    "Part",
    "Piece",
    "bordered",
    "clipped",
    "coloured",
    "console",
    "has_colours",
    "marked_for",
    "one_line",
    "parts",
    "pieces",
    "signed",
    "table",
    "tokens",
    "visible",
]
