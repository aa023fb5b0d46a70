"""Tokenizers side by side on one text: ours, tiktoken's, Hugging Face's of any model, SentencePiece's.

Those of other libraries are run by their libraries, WordPiece and Unigram too. What is compared is where each cuts the
text; ids of different vocabularies have nothing to do with each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Any

from .. import showing
from .._text import byte_offsets, starts_of
from ..errors import BytepairError
from ..showing import html
from ..tokenizer import Tokenizer

Span = tuple[int, int]


@dataclass(frozen=True)
class Split:
    """What one tokenizer makes of the text.

    Attributes
    ----------
    name : str
    ids : tuple of int
    spans : tuple of (start, end)
        Where each token stands, in characters. Tokens within one character all have its place; one that stands for
        nothing in the text is empty.
    """

    name: str
    ids: tuple[int, ...]
    spans: tuple[Span, ...]

    @property
    def borders(self) -> frozenset[int]:
        """Where no token reaches from one side to the other."""
        found, reached = set(), 0
        for start, end in self.spans:
            if start >= reached:
                found |= {reached, start}
            reached = max(reached, end)
        return frozenset({*found, reached})


@dataclass(frozen=True)
class Stretch:
    """A part of the text that begins and ends where all tokenizers have a border, and ids of each for it."""

    start: int
    end: int
    same: bool
    parts: tuple[tuple[Span, ...], ...]
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Comparison:
    """What :func:`compare` gives."""

    text: str
    splits: tuple[Split, ...]
    stretches: tuple[Stretch, ...]

    @property
    def same(self) -> bool:
        """Whether all cut the text in the same places."""
        return all(stretch.same for stretch in self.stretches)

    def to_json(self) -> dict[str, Any]:
        size = len(self.text.encode("utf-8", "surrogateescape"))
        return {
            "text": self.text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"),
            "tokenizers": [
                {"name": s.name, "tokens": len(s.ids), "bytes_per_token": size / len(s.ids) if s.ids else None,
                 "ids": list(s.ids), "spans": [list(span) for span in s.spans]}
                for s in self.splits
            ],
            "differing": [
                {"start": t.start, "end": t.end, "parts": [[list(span) for span in part] for part in t.parts]}
                for t in self.stretches
                if not t.same
            ],
        }  # fmt: skip

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, *, everything: bool = False) -> Iterator[str]:
        """Totals, then a table of the stretches that differ, or of all of them; differing ones have a ``*``."""
        yield from self._totals()
        chosen = [t for t in self.stretches if everything or not t.same]
        if not chosen:
            yield "all cut the text in the same places"
            return
        rows = [
            ["*" if not t.same else "", str(t.start), *(self._shown(part, n) for part, n in zip(t.parts, t.counts))]
            for t in chosen
        ]
        yield ""
        header = ["", "at", *(s.name for s in self.splits)]
        yield from showing.table(header, rows, left={0, *range(2, len(header))})

    def _totals(self) -> Iterator[str]:
        size = len(self.text.encode("utf-8", "surrogateescape"))
        rows = [
            [s.name, f"{len(s.ids):,}", f"{size / len(s.ids):.3f}" if s.ids else "-",
             f"{len(self.text) / len(s.ids):.3f}" if s.ids else "-"]
            for s in self.splits
        ]  # fmt: skip
        yield from showing.table(["tokenizer", "tokens", "bytes/token", "characters/token"], rows, left={0})

    def _shown(self, part: Sequence[Span], count: int) -> str:
        pieces = [self._piece(span) for span in part]
        inside = f" ({count} tokens)" if count != len(part) else ""
        return showing.clipped(showing.bordered(pieces, inline=True), 60) + inside

    def _piece(self, span: Span) -> showing.Piece:
        data = self.text[span[0] : span[1]].encode("utf-8", "surrogateescape")
        return showing.Piece(data, is_special=False, is_marked=False)

    def _repr_html_(self) -> str:
        differs = {place for t in self.stretches if not t.same for place in range(t.start, max(t.end, t.start + 1))}
        rows = []
        for s in self.splits:
            stretches = (
                html.stretch(self._piece(span), f"id {i}", "differs" * (span[0] in differs))
                for i, span in zip(s.ids, _once(s.spans))
                if span[0] < span[1]
            )
            rows.append([html.escaped(s.name), f"{len(s.ids):,}", html.text(stretches)])
        return html.fragment(html.table(["tokenizer", "tokens", "text"], rows, left={0, 2}))


def compare(tokenizers: Mapping[str, Any] | Sequence[Any], text: str | bytes) -> Comparison:
    """Cuts one text with several tokenizers.

    Parameters
    ----------
    tokenizers : sequence, or mapping of names
        Any of: :class:`bytepair.Tokenizer`; ``tiktoken.Encoding``; ``tokenizers.Tokenizer``; a fast tokenizer of
        ``transformers``; ``sentencepiece.SentencePieceProcessor``.
    text : str or bytes
        Names of special tokens in it are text.

    Raises
    ------
    BytepairError
        There is no tokenizer, or one is nothing of these.

    Examples
    --------
    >>> import bytepair
    >>> both = {name: bytepair.load(name) for name in ("gpt2", "cl100k_base")}
    >>> print(*list(compare(both, "it's 1234567").lines())[-3:], sep="\\n")
       at  gpt2   cl100k_base
    *   4  ␣123   ␣│123
    *   8  45│67  456│7
    """
    named = tokenizers.items() if isinstance(tokenizers, Mapping) else [(None, one) for one in tokenizers]
    shown = text if isinstance(text, str) else text.decode("utf-8", "surrogateescape")
    splits = tuple(_split(name, tokenizer, shown, place) for place, (name, tokenizer) in enumerate(named))
    if not splits:
        raise BytepairError("give at least one tokenizer to compare")
    return Comparison(shown, splits, tuple(_stretches(splits, len(shown))))


def _stretches(splits: Sequence[Split], length: int) -> Iterator[Stretch]:
    common = sorted(reduce(frozenset.intersection, (s.borders for s in splits)) | {0, length})
    ats = [0] * len(splits)
    for start, end in pairwise(common):
        parts, counts = [], []
        for k, split in enumerate(splits):
            spans: list[Span] = []
            count = 0
            while ats[k] < len(split.spans) and split.spans[ats[k]][1] <= end:
                span = split.spans[ats[k]]
                if span[0] < span[1] and (not spans or spans[-1] != span):
                    spans.append(span)
                count += 1
                ats[k] += 1
            parts.append(tuple(spans))
            counts.append(count)
        yield Stretch(start, end, len({*zip(parts, counts)}) == 1, tuple(parts), tuple(counts))


def _once(spans: Sequence[Span]) -> Iterator[Span]:
    """The places without what an earlier token has: several tokens may lie within one character."""
    reached = 0
    for start, end in spans:
        yield max(start, reached), max(end, reached)
        reached = max(reached, end)


# ---- what each library gives ----


def _split(name: str | None, tokenizer: Any, text: str, place: int) -> Split:
    if isinstance(tokenizer, Tokenizer):
        ids, found = tokenizer.encode_with_offsets(text, errors="surrogateescape")
        return Split(name or f"bytepair {place + 1}", tuple(ids), tuple(found))
    kind = f"{type(tokenizer).__module__}.{type(tokenizer).__qualname__}"
    if any("\udc80" <= c <= "\udcff" for c in text):
        raise BytepairError("the text holds bytes that are no UTF-8, which other libraries do not take; leave them out")
    if kind.startswith("tiktoken.") and hasattr(tokenizer, "encode_ordinary"):
        ids = tokenizer.encode_ordinary(text)
        parts = [tokenizer.decode_single_token_bytes(i) for i in ids]
        return Split(name or f"tiktoken {tokenizer.name}", tuple(ids), tuple(_spans_of(parts, text)))
    if hasattr(tokenizer, "backend_tokenizer"):  # transformers
        return _split(name or getattr(tokenizer, "name_or_path", "") or kind, tokenizer.backend_tokenizer, text, place)
    if kind.startswith("tokenizers.") and hasattr(tokenizer, "get_vocab_size"):
        before = tokenizer.encode_special_tokens
        try:
            tokenizer.encode_special_tokens = True
            encoded = tokenizer.encode(text, add_special_tokens=False)
        finally:
            tokenizer.encode_special_tokens = before
        model = type(tokenizer.model).__name__
        return Split(name or f"tokenizers {model} {place + 1}", tuple(encoded.ids), tuple(encoded.offsets))
    if hasattr(tokenizer, "IdToPiece"):
        pieces = tokenizer.Encode(text, return_type="proto").pieces
        at = {byte: place for place, byte in enumerate(byte_offsets(text.encode()))}
        # A piece that is one byte of a character begins and ends within it.
        spans = tuple((_before(at, piece.begin), _before(at, piece.end)) for piece in pieces)
        return Split(name or f"sentencepiece {place + 1}", tuple(piece.id for piece in pieces), spans)
    raise BytepairError(
        f"a {kind} cannot be compared; give a bytepair.Tokenizer, or one of tiktoken, tokenizers, transformers or "
        "sentencepiece"
    )


def _spans_of(pieces: list[bytes], text: str) -> list[Span]:
    starts = starts_of(pieces, text)
    ends = [*starts[1:], len(text)]
    # A token that ends within a character reaches to its end, as all that are within it do.
    return [(start, max(end, start + bool(piece))) for start, end, piece in zip(starts, ends, pieces)]


def _before(at: dict[int, int], byte: int) -> int:
    """The character that a place in bytes lies in or before."""
    while byte not in at:
        byte -= 1
    return at[byte]
