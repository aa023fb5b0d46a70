"""Training, watched: before each merge every pair's count, the ties, the winner, and the corpus before and after.

Read from the record of a training on a small corpus; nothing is trained again. The two articles' corpora are here as
examples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from .. import showing
from ..errors import TrainingError
from ..record import counted
from ..showing import html
from .trees import label

if TYPE_CHECKING:
    from ..record import MergeStep, TrainingRecord
    from ..tokenizer import Tokenizer

Pair = tuple[int, int]
Word = tuple[tuple[int, ...], int]

EXAMPLES: dict[str, tuple[str, dict[str, Any]]] = {
    "bytes": ("low low lower lowest", {"vocab_size": 280, "pattern": "al1"}),
    "classic": (
        " ".join(["low"] * 5 + ["lowest"] * 2 + ["newer"] * 6 + ["wider"] * 3 + ["new"] * 2),
        {"num_merges": 10, "alphabet": "characters", "end_of_word": "separate", "specials": ()},
    ),
}
"""Corpus and options of the two examples: bytes with six specials, and characters with an end-of-word mark."""

_PAIRS, _WORDS, _FRAMES = 8, 12, 200
"""Pairs and words of a frame that are printed, and frames that ``str`` and a notebook show."""


@dataclass(frozen=True)
class Frame:
    """The moment before one merge, or (``winner`` None) the end.

    Attributes
    ----------
    step : int
    pairs : tuple of ((left, right), count)
        Every pair of the corpus: highest count first, among equals the one that stands first.
    tied : tuple of (left, right)
        The pairs that share the highest count, where there are several.
    winner : MergeStep or None
    before, after : tuple of (ids, count)
        The distinct pretokens; at the end both are the same.
    length : int
        Tokens in the corpus before the merge.
    """

    step: int
    pairs: tuple[tuple[Pair, int], ...]
    tied: tuple[Pair, ...]
    winner: MergeStep | None
    before: tuple[Word, ...]
    after: tuple[Word, ...]
    length: int

    def __repr__(self) -> str:
        return f"<Frame {self.step}: {len(self.pairs):,} pairs, {self.length:,} tokens>"

    def changed(self) -> list[int]:
        """The numbers of the pretokens that the merge changes."""
        return [k for k, (a, b) in enumerate(zip(self.before, self.after)) if a != b]


@dataclass(frozen=True)
class Replay(Sequence[Frame]):
    """What :func:`replay` gives: a frame for each merge, and one for the end.

    Each frame is made when it is asked for, so that thousands of merges fit in memory: going through them in order
    takes one pass over the merges, and so does each single frame.
    """

    record: TrainingRecord
    tokenizer: Tokenizer

    def __repr__(self) -> str:
        return f"<Replay of {len(self.record):,} merges>"

    @property
    def stopped(self) -> str:
        """Why training ended."""
        return self.record.stopped

    def __len__(self) -> int:
        return len(self.record) + 1

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            wanted = range(len(self))[i]
            found = {f.step: f for f in islice(self, max(wanted, default=-1) + 1) if f.step in wanted}
            return [found[step] for step in wanted]
        step = range(len(self))[i]
        return next(islice(self, step, None))

    def __iter__(self) -> Iterator[Frame]:
        states = (tuple(words) for words in self.record.replay())
        before = next(states)
        for step in range(len(self)):
            after = next(states, before)
            yield self._frame(step, before, after)
            before = after

    def _frame(self, step: int, before: tuple[Word, ...], after: tuple[Word, ...]) -> Frame:
        counts = tuple(counted(before))
        winner = self.record[step] if step < len(self.record) else None
        tied = tuple(pair for pair, n in counts if n == counts[0][1])
        length = sum(len(ids) * n for ids, n in before)
        return Frame(step, counts, tied if len(tied) > 1 else (), winner, before, after, length)

    def to_json(self) -> dict[str, Any]:
        """Plain values; words are [ids, count], pairs [left, right, count]."""
        return {
            "stopped": self.stopped,
            "tokens": {str(i): self.tokenizer.token_str(i) for i in self._ids()},
            "frames": [
                {
                    "step": f.step,
                    "pairs": [[a, b, n] for (a, b), n in f.pairs],
                    "tied": [list(pair) for pair in f.tied],
                    "winner": None if f.winner is None else f.winner.to_json(),
                    "before": [[list(ids), n] for ids, n in f.before],
                    "after": [[list(ids), n] for ids, n in f.after],
                    "length": f.length,
                }
                for f in self
            ],
        }

    def _ids(self) -> list[int]:
        first = {i for ids, _ in self.record.corpus or () for i in ids}
        return sorted(first | {step.new_id for step in self.record})

    def __str__(self) -> str:
        shown = ["\n".join(self.lines(f)) for f in islice(self, _FRAMES)]
        rest = len(self) - len(shown)
        return "\n\n".join(shown + [f"... and {rest} more merges"] * (rest > 0))

    def lines(self, frame: Frame) -> Iterator[str]:
        """One frame, as lines of text."""
        tok = self.tokenizer
        if frame.winner is None:
            yield f"the end, after {frame.step} merges: {frame.length} tokens. Stopped: {self.stopped}"
        else:
            w = frame.winner
            pair = f"{label(tok, w.left)} + {label(tok, w.right)} = {label(tok, w.new_id)}"
            tied = f", tied with {len(frame.tied) - 1}" if frame.tied else ""
            yield f"merge {frame.step}: {pair} (id {w.new_id}), {w.count} times{tied}; {frame.length} tokens before"
        more = f"  ... {len(frame.pairs) - _PAIRS} more" if len(frame.pairs) > _PAIRS else ""
        counts = (f"{label(tok, a)}+{label(tok, b)} {n}" for (a, b), n in frame.pairs[:_PAIRS])
        yield "  pairs: " + "  ".join(counts) + more
        chosen = frame.changed() if frame.winner is not None else list(range(len(frame.before)))
        for k in chosen[:_WORDS]:
            (before, n), (after, _) = frame.before[k], frame.after[k]
            arrow = f"  ->  {self._word(after)}" if before != after else ""
            yield f"  {n} x  {self._word(before)}{arrow}"
        if len(chosen) > _WORDS:
            yield f"  ... and {len(chosen) - _WORDS} more words"

    def _word(self, ids: tuple[int, ...]) -> str:
        return showing.bordered(showing.pieces(self.tokenizer, ids), inline=True)

    def _repr_html_(self) -> str:
        rows = []
        tok = self.tokenizer
        for f in islice(self, _FRAMES):
            words = "<br>".join(
                f'<span class="word">{n} × '
                + "".join(html.stretch(piece, inline=True) for piece in showing.pieces(tok, ids))
                + "</span>"
                for ids, n in f.before[:_WORDS]
            )
            counts = html.escaped("  ".join(f"{label(tok, a)}+{label(tok, b)} {n}" for (a, b), n in f.pairs[:_PAIRS]))
            won = "the end"
            if f.winner is not None:
                pair = f"{label(tok, f.winner.left)} + {label(tok, f.winner.right)}"
                won = html.escaped(f"{pair} = {label(tok, f.winner.new_id)}")
            rows.append([str(f.step), won, str(f.winner.count) if f.winner else "", str(f.length), counts, words])
        header = ["merge", "winner", "count", "tokens before", "pairs", "words before"]
        table = html.table(header, rows, left={1, 4, 5})
        rest = f"... and {len(self) - _FRAMES} more merges; " if len(self) > _FRAMES else ""
        return html.fragment(f"{table}<p>{html.escaped(rest + self.stopped)}</p>")


def replay(tok: Tokenizer) -> Replay:
    """Every merge of a training with what stood around it.

    Raises
    ------
    TrainingError
        The tokenizer has no training record, or its corpus was too large to be kept with it.

    Examples
    --------
    >>> import bytepair
    >>> seen = replay(bytepair.train("low low lower lowest", num_merges=4))
    >>> print(*seen.lines(seen[2]), sep="\\n")
    merge 2: ␣ + low = ␣low (id 264), 3 times; 12 tokens before
      pairs: ␣+low 3  low+e 2  e+r 1  e+s 1  s+t 1
      1 x  ␣│low  ->  ␣low
      1 x  ␣│low│e│r  ->  ␣low│e│r
      1 x  ␣│low│e│s│t  ->  ␣low│e│s│t
    """
    record = tok.record
    if record is None:
        raise TrainingError("this tokenizer has no training record to replay; train one on a small corpus")
    next(record.replay())  # refuses now, and not when a frame is asked for
    return Replay(record, tok)


def example_corpus(name: str) -> tuple[str, dict[str, Any]]:
    """Corpus and training options of an example, ``"bytes"`` or ``"classic"``."""
    if name not in EXAMPLES:
        raise TrainingError(f"there is no example {name!r}; there are {' and '.join(map(repr, EXAMPLES))}")
    return EXAMPLES[name]
