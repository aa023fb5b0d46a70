"""Tokens in a page: coloured stretches of text, safe whatever the text holds.

Nothing of a text reaches a page but through :func:`escaped`. What is made here needs no script, no network and no other
file, so that a report is one file that can be sent around, and a notebook shows it wherever it is opened.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from .signs import LINE_BREAK, Piece, parts, signed

__all__ = ["STYLE", "cells", "escaped", "fragment", "page", "stretch", "table", "text"]

STYLE = """
.bytepair { font: 14px/1.7 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; color-scheme: light dark; }
.bytepair .token { white-space: pre-wrap; unicode-bidi: isolate; border-radius: 3px; padding: 1px 0; color: #1c1c1c; }
.bytepair .token:nth-of-type(odd) { background: #afd7ff; }
.bytepair .token:nth-of-type(even) { background: #ffd787; }
.bytepair .token.special { background: #87005f; color: #ffffff; font-weight: bold; }
.bytepair .token.differs { outline: 2px solid #c00000; }
.bytepair .sign { color: #6c6c6c; }
.bytepair table { border-collapse: collapse; margin: 0.5em 0; }
.bytepair th, .bytepair td { border: 1px solid #8888; padding: 2px 8px; text-align: right; vertical-align: top; }
.bytepair .left { text-align: left; }
.bytepair p { margin: 2px 0; }
.bytepair p, .bytepair td { white-space: pre-wrap; }
.bytepair .word { white-space: nowrap; }
.bytepair svg { max-width: 100%; height: auto; vertical-align: top; }
""".strip()
"""Blue and yellow differ for every kind of colour blindness; dark ink on them reads in light and dark pages alike."""


def escaped(text: str) -> str:
    """Any text as text of a page: what is no visible character is replaced by its sign, and markup is inert."""
    return escape("".join(part.text for part in parts(text.encode("utf-8", "surrogatepass"))))


def stretch(piece: Piece, title: str = "", kind: str = "", *, inline: bool = False) -> str:
    """A token as a coloured stretch; ``title`` shows when one points at it."""
    inner = []
    for shown, is_sign in signed(piece, inline):
        text = escape(shown)
        inner.append(f'<span class="sign">{text}</span>' if is_sign else text)
        if is_sign and shown == LINE_BREAK and not inline:
            inner.append("\n")
    names = " ".join(filter(None, ("token", "special" if piece.is_special else "", kind)))
    hint = f' title="{escape(title)}"' if title else ""
    return f'<span class="{names}"{hint}>{"".join(inner)}</span>'


def text(stretches: Iterable[str]) -> str:
    """Stretches one after another: a text with its tokens told apart."""
    return f'<div class="text">{"".join(stretches)}</div>'


def cells(row: Iterable[str], left: set[int], tag: str = "td") -> str:
    marks = (' class="left"' if at in left else "" for at in range(1 << 16))
    return "<tr>" + "".join(f"<{tag}{mark}>{cell}</{tag}>" for cell, mark in zip(row, marks)) + "</tr>"


def table(header: list[str], rows: Iterable[list[str]], *, left: set[int]) -> str:
    """A table; the cells are HTML already."""
    body = "".join(cells(row, left) for row in rows)
    return f"<table><thead>{cells(header, left, 'th')}</thead><tbody>{body}</tbody></table>"


def fragment(inner: str) -> str:
    """What a notebook shows: the style comes along."""
    return f'<div class="bytepair"><style>{STYLE}</style>{inner}</div>'


def page(title: str, inner: str) -> str:
    """A whole page in one file. Its content policy lets it load nothing and run nothing."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>body {{ margin: 1em auto; max-width: 70em; padding: 0 1em; "
        "color-scheme: light dark; font-family: system-ui, sans-serif; }</style></head>"
        f"<body>{fragment(inner)}</body></html>\n"
    )
