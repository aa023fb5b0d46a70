"""Merge trees, in lines of text and as a picture (SVG)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from .. import showing
from ..errors import BytepairError

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer
    from .merging import Tree

_DEEPEST = 400
"""Levels of a tree that are shown; below them stands how many more there are."""

LARGEST_PICTURE = 2_000
"""Tokens in one picture: a browser still draws so many, and nobody looks at more."""

_COLUMN, _ROW, _HALF = 9, 52, 11
_STYLE = (
    "text{font:13px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;text-anchor:middle;fill:#1c1c1c}"
    "rect{fill:#afd7ff;stroke:#3a6ea5}.leaf{fill:#ffd787;stroke:#8a6d1d}"
    "path{fill:none;stroke:#808080}.rank{font-size:10px;fill:#767676}"
)


def label(tok: Tokenizer, id: int, width: int = 40) -> str:
    """A token as a person reads it, in at most ``width`` columns."""
    return showing.clipped(showing.visible(next(showing.pieces(tok, [id]))), width)


def lines(tok: Tokenizer, tree: Tree) -> Iterator[str]:
    """A tree in lines, each token above the two that it was merged from."""
    stack: list[tuple[Tree, str, str, int]] = [(tree, "", "", 0)]
    while stack:
        now, head, rest, depth = stack.pop()
        rank = "" if now.rank is None else f"  rank {now.rank}"
        yield f"{head}{label(tok, now.id)}  {now.id}{rank}"
        if now.parts is None:
            continue
        if depth == _DEEPEST:
            yield f"{rest}└ ... {now.depth} more levels"
            continue
        left, right = now.parts
        stack.append((right, rest + "└ ", rest + "  ", depth + 1))
        stack.append((left, rest + "├ ", rest + "│ ", depth + 1))


def svg(tok: Tokenizer, trees: Sequence[Tree]) -> str:
    """Trees side by side as a picture: tokens on top, the first symbols at the foot, the rank between."""
    from rich.cells import cell_len

    boxes: list[str] = []
    lines_between: list[str] = []
    at = 4.0
    height = 0
    for tree in trees:
        width = _widths(tok, tree)
        stack = [(tree, at, 0)]
        while stack:
            now, left, level = stack.pop()
            wide, text = width[id(now)], label(tok, now.id)
            middle, top = left + wide / 2, 4 + level * _ROW
            box = cell_len(text) * _COLUMN + 10
            kind = ' class="leaf"' if now.parts is None else ""
            title = f"<title>id {now.id}{'' if now.rank is None else f', rank {now.rank}'}</title>"
            boxes.append(
                f'<g>{title}<rect{kind} x="{middle - box / 2:.1f}" y="{top}" width="{box}" height="{2 * _HALF}"/>'
                f'<text x="{middle:.1f}" y="{top + 15}">{escape(text)}</text></g>'
            )
            height = max(height, top + 2 * _HALF + 4)
            if now.parts is None:
                continue
            boxes.append(f'<text class="rank" x="{middle:.1f}" y="{top + 2 * _HALF + 11}">{now.rank}</text>')
            inner = sum(width[id(part)] for part in now.parts)
            begin = left + (wide - inner) / 2
            for part in now.parts:
                child, foot = begin + width[id(part)] / 2, top + 2 * _HALF + 14  # below the rank
                bend = f"{middle:.1f} {foot + 10} {child:.1f} {foot + 6}"
                lines_between.append(f'<path d="M{middle:.1f} {foot} C{bend} {child:.1f} {top + _ROW}"/>')
                stack.append((part, begin, level + 1))
                begin += width[id(part)]
        at += width[id(tree)] + 8
    described = escape(" ".join(label(tok, tree.id) for tree in trees))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="merge tree of {described}" '
        f'viewBox="0 0 {at:.0f} {height}" width="{at:.0f}" height="{height}"><style>{_STYLE}</style>'
        f"{''.join(lines_between)}{''.join(boxes)}</svg>"
    )


def _widths(tok: Tokenizer, tree: Tree) -> dict[int, float]:
    """How wide each tree within a tree is: its own box, or all that stands below it."""
    from rich.cells import cell_len

    order, stack = [], [tree]
    while stack:
        now = stack.pop()
        order.append(now)
        stack += now.parts or ()
    width: dict[int, float] = {}
    for now in reversed(order):
        below = sum(width[id(part)] for part in now.parts or ())
        width[id(now)] = max(cell_len(label(tok, now.id)) * _COLUMN + 18, below)
    return width


def picture(found: object) -> str | None:
    """The merge trees of an explanation or of a token's origin as SVG; None where it has none.

    Raises
    ------
    BytepairError
        There is too much to draw.
    """
    tok: Tokenizer = found.tokenizer  # type: ignore[attr-defined]
    if (tree := getattr(found, "tree", None)) is not None:
        trees = [tree]
    else:
        trees = [tree for pretoken in getattr(found, "pretokens", ()) for tree in getattr(pretoken, "trees", ())]
    n = sum(2 * tree.symbols - 1 for tree in trees)
    if n > LARGEST_PICTURE:
        raise BytepairError(f"{n:,} tokens are too many for one picture; take a text of up to {LARGEST_PICTURE:,}")
    return svg(tok, trees) if trees else None
