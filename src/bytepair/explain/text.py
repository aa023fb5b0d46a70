"""A text, explained: its pretokens, every merge in each of them, and the tokens that came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import showing
from .._codec import Codec, segments
from .._text import to_bytes
from ..showing import html
from .merging import Merging, Step, Tree, merges_of
from .trees import LARGEST_PICTURE, label, lines, svg

if TYPE_CHECKING:
    from .._text import Errors, Special, Text
    from ..tokenizer import Tokenizer

SHOWN = 2_000
"""Steps and tokens that ``str`` and a notebook show; all are in :attr:`Explanation.pretokens`."""

Mark = Callable[[Iterable[showing.Piece]], str]


@dataclass(frozen=True)
class Pretoken:
    """One pretoken, or a token that the text named.

    Attributes
    ----------
    data : bytes
        The text that was merged: for tokenizers that rewrite text, as it was rewritten.
    start, end : int
        Where it stands in the text as it was given, in characters (a byte that is no UTF-8 is one).
    how : str
        ``"merged"``; ``"whole"``, where it is a token as it is, and was taken before any merge; ``"special"`` or
        ``"added"``, where the text named a token.
    symbols : tuple of int
        The ids of its first symbols.
    steps : tuple of Step
        Every merge, in order: rank, left and right id, the new id, and where (``start`` and ``end`` in bytes of
        ``data``).
    ids : tuple of int
        The tokens that came of it.
    split : tuple of int
        The tokens before those were split again that take part in merging only (some foreign files have them); else
        the same as ``ids``.
    """

    data: bytes
    start: int
    end: int
    how: str
    symbols: tuple[int, ...]
    steps: tuple[Step, ...]
    ids: tuple[int, ...]
    split: tuple[int, ...]
    merging: Merging | None = None

    def __repr__(self) -> str:
        return f"<Pretoken {self.data[:40]!r}: {len(self.steps):,} merges, {len(self.ids):,} ids>"

    def states(self) -> list[tuple[int, ...]]:
        """The tokens before the first merge, and after each merge."""
        return [self.ids] if self.merging is None else list(self.merging.states())

    @property
    def trees(self) -> tuple[Tree, ...]:
        """The merge tree of each token of ``split``."""
        return (Tree(self.ids[0], 0, len(self.data)),) if self.merging is None else self.merging.trees


@dataclass(frozen=True)
class Explanation:
    """What :meth:`~bytepair.tokenizer.Tokenizer.explain` gives; printed it is a table, in a notebook a picture."""

    text: bytes
    pretokens: tuple[Pretoken, ...]
    tokenizer: Tokenizer

    def __repr__(self) -> str:
        return f"<Explanation of {len(self.text):,} bytes in {len(self.pretokens):,} pretokens>"

    @property
    def ids(self) -> list[int]:
        """The ids, as :meth:`~bytepair.tokenizer.Tokenizer.encode` gives them."""
        return [i for pretoken in self.pretokens for i in pretoken.ids]

    def steps(self) -> Iterator[tuple[Pretoken, Step]]:
        """Every merge with its pretoken, in order."""
        return ((pretoken, step) for pretoken in self.pretokens for step in pretoken.steps)

    def to_json(self) -> dict[str, Any]:
        """Plain values; bytes are text with one character for each byte (Latin-1)."""
        shown = cache(self.tokenizer.token_str)
        return {
            "text": self.text.decode("latin-1"),
            "ids": self.ids,
            "pretokens": [self._pretoken_json(p, shown) for p in self.pretokens],
        }

    def _pretoken_json(self, p: Pretoken, shown: Callable[[int], str]) -> dict[str, Any]:
        return {
            "bytes": p.data.decode("latin-1"),
            "start": p.start,
            "end": p.end,
            "how": p.how,
            "symbols": list(p.symbols),
            "steps": [
                {
                    "rank": s.rank,
                    "left": s.left,
                    "right": s.right,
                    "new": s.new,
                    "start": s.start,
                    "end": s.end,
                    "left_token": shown(s.left),
                    "right_token": shown(s.right),
                    "new_token": shown(s.new),
                }
                for s in p.steps
            ],
            "ids": list(p.ids),
            "tokens": [shown(i) for i in p.ids],
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, *, trees: bool = False, limit: int | None = SHOWN, mark: Mark | None = None) -> Iterator[str]:
        """The table, line by line: a head for each pretoken, then its merges, or with ``trees`` its merge trees.

        ``limit`` is how many merges and tokens are shown, None for all; ``mark`` makes a string of the tokens of a
        head, with lines between them unless given.
        """
        left = limit
        mark = mark or _bordered
        for number, p in enumerate(self.pretokens):
            if left is not None and left <= 0:
                yield f"... and {len(self.pretokens) - number} more pretokens"
                return
            yield self._head(p, limit, mark)
            if trees:
                yield from ("  " + line for tree in p.trees for line in lines(self.tokenizer, tree))
            elif p.steps:
                shown = p.steps if left is None else p.steps[: max(left, 0)]
                rows = [self._row(k, s) for k, s in enumerate(shown, 1)]
                header = ["step", "rank", "pair", "token", "id", "bytes"]
                yield from ("  " + line for line in showing.table(header, rows, left={2, 3}))
                if len(shown) < len(p.steps):
                    yield f"  ... and {len(p.steps) - len(shown)} more merges"
            if left is not None:
                left -= len(p.steps) + 1

    def _row(self, number: int, s: Step) -> list[str]:
        tok = self.tokenizer
        pair = f"{label(tok, s.left)} + {label(tok, s.right)}"
        return [str(number), str(s.rank), pair, label(tok, s.new), str(s.new), f"{s.start}-{s.end}"]

    def _head(self, p: Pretoken, limit: int | None, mark: Mark) -> str:
        split = p.split if p.merging else p.ids
        seen = mark(showing.pieces(self.tokenizer, split[:limit]))
        rest = f" ... {len(p.ids) - limit} more" if limit is not None and len(p.ids) > limit else ""
        return f"{seen}  = {' '.join(map(str, p.ids[:limit]))}{rest}{_NOTES[p.how]}"

    def _repr_html_(self) -> str:
        tok = self.tokenizer
        ids = self.ids
        pieces = showing.pieces(tok, ids[:SHOWN])
        hints = (f"id {i}" for i in ids)
        parts = [html.text(html.stretch(piece, hint) for piece, hint in zip(pieces, hints))]
        if len(ids) > SHOWN:
            parts.append(f"<p>... and {len(ids) - SHOWN} more tokens</p>")
        left = SHOWN // 10
        for number, p in enumerate(self.pretokens):
            if left <= 0:
                parts.append(f"<p>... and {len(self.pretokens) - number} more pretokens</p>")
                break
            if p.merging is not None and p.steps:
                left -= len(p.steps) + 1
                small = len(p.symbols) <= LARGEST_PICTURE
                parts.append(svg(tok, p.trees) if small else f"<p>{len(p.steps)} merges are too many to be drawn.</p>")
        return html.fragment("".join(parts))


def _bordered(pieces: Iterable[showing.Piece]) -> str:
    return showing.bordered(pieces, inline=True)


_NOTES = {
    "merged": "",
    "whole": "  (a token as it is, taken before any merge)",
    "special": "  (a special token, named in the text)",
    "added": "  (an added token, named in the text)",
}


def explain(tok: Tokenizer, text: Text, *, special: Special = "text", errors: Errors = "strict") -> Explanation:
    """Every merge of a text; see :meth:`Tokenizer.explain`."""
    data = to_bytes(text, errors)
    matcher = tok._matcher(special, data, errors)
    merges = merges_of(tok)
    known: dict[bytes, Merging | None] = {}
    out: list[Pretoken] = []
    for run in _runs(tok, data, matcher):
        if run.id is not None:
            how = "special" if run.id in tok._special_ids else "added"
            out.append(Pretoken(run.data, *run.places[0], how, (run.id,), (), (run.id,), (run.id,)))
            continue
        for (begin, stop), place in zip(run.spans, run.places, strict=True):
            word = run.data[begin:stop]
            if word not in known:
                known[word] = merges.of(word)
            if (merging := known[word]) is not None:
                out.append(_pretoken(tok, merging, *place))
    return Explanation(data, tuple(out), tok)


def _pretoken(tok: Tokenizer, m: Merging, start: int, end: int) -> Pretoken:
    ids = tuple(tok._around.after(list(m.ids)))
    return Pretoken(m.data, start, end, "whole" if m.whole else "merged", m.symbols, m.steps, ids, m.ids, m)


class _Run(NamedTuple):
    """A stretch of text for the model with its pretokens, or a token that the text named."""

    data: bytes
    id: int | None
    spans: list[tuple[int, int]]
    places: list[tuple[int, int]]  # of the spans, or of the named token, in characters of the text


def _runs(tok: Tokenizer, data: bytes, matcher: Any) -> Iterator[_Run]:
    if not isinstance(tok._front, Codec):
        for found in tok._around.aligned_runs(data, *matcher):
            if found.id is not None:
                yield _Run(found.data, found.id, [], [(found.start, found.stop)])
            else:
                spans = tok._codec.spans(found.data)
                yield _Run(found.data, None, spans, found.places(spans))
        return
    at = _Characters(data)
    start = 0
    for run, named in segments(data, matcher):
        spans = [(0, len(run))] if named is not None else tok._codec.spans(run)
        yield _Run(run, named, spans, [(at(start + begin), at(start + stop)) for begin, stop in spans])
        start += len(run)


class _Characters:
    """How many characters stand before a place in bytes; the places that are asked for ascend."""

    def __init__(self, data: bytes) -> None:
        self.data, self.plain = data, data.isascii()
        self.bytes = self.characters = 0

    def __call__(self, place: int) -> int:
        if self.plain:
            return place
        self.characters += len(self.data[self.bytes : place].decode("utf-8", "surrogateescape"))
        self.bytes = place
        return self.characters
