"""A tokenizer on a card: what a notebook shows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import showing
from ..errors import UnknownTokenError
from ..showing import html

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer

SAMPLE = "The lowest price is $12,345.67: don't wait!\n\tnaïve, 你好 👍"
_TOKENS, _SPECIALS, _REGEX = 12, 12, 200


def card(tok: Tokenizer) -> str:
    """Vocabulary, rule, pattern and specials, the tokens learned first and last, and a text as it splits."""
    n = len(tok.specials)
    rule = "pairs that were learned" if tok.rule == "merges" else "neighbours whose joined bytes are a token"
    rows = [
        ["vocabulary", f"{tok.vocab_size:,} ids, {n:,} of them special; {tok.n_rows:,} rows"],
        ["alphabet", f"{tok.alphabet}{'' if tok.lossless else '; decoding does not give every text back exactly'}"],
        ["merges", f"{rule}, in the order of their ranks"],
        ["pattern", html.escaped(_pattern(tok))],
    ]
    if n:
        names = [f"{name} {i}" for name, i in list(tok.specials.items())[:_SPECIALS]]
        rows.append(["special", html.escaped("  ".join(names) + f"  ... {n - _SPECIALS} more" * (n > _SPECIALS))])
    made = _made(tok)
    if made:
        rows.append(["first tokens", _tokens(tok, made[:_TOKENS])])
        rows.append(["last tokens", _tokens(tok, made[-_TOKENS:])])
    if tok.record is not None:
        rows.append(["trained", html.escaped(f"{len(tok.record):,} merges; {tok.record.stopped}")])
    try:
        ids = tok.encode(SAMPLE)
    except UnknownTokenError:  # an alphabet of characters that lacks some of these
        ids = []
    if ids:
        stretches = (html.stretch(piece, f"id {i}") for piece, i in zip(showing.pieces(tok, ids), ids))
        rows.append([f"{len(ids)} tokens", html.text(stretches)])
    return html.fragment(html.table(["Tokenizer", ""], rows, left={0, 1}))


def _pattern(tok: Tokenizer) -> str:
    regex = tok.pattern.regex
    regex = regex if len(regex) <= _REGEX else regex[:_REGEX] + " ..."
    return f"{tok.pattern.name}: {regex}" if tok.pattern.name else regex


def _made(tok: Tokenizer) -> list[int]:
    """The tokens beyond the alphabet, in the order in which they merge."""
    v = tok._vocabulary
    if v.rule == "merges":
        return list(dict.fromkeys(new for _, _, new in v.merges))
    first = {*v.base}
    return [i for i in v.tokens if i not in first]


def _tokens(tok: Tokenizer, ids: list[int]) -> str:
    return " ".join(html.stretch(piece, f"id {i}", inline=True) for piece, i in zip(showing.pieces(tok, ids), ids))
