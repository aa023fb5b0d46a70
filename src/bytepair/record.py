"""What training did, merge by merge: the table that one looks at when something seems wrong.

``training`` fills a :class:`TrainingRecord`, a tokenizer keeps it, ``formats`` saves it, ``bytepair merges`` prints it.
"""

from __future__ import annotations

import builtins
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from ._check import whole
from .errors import TrainingError

EXCERPT = 80
"""Bytes of an example that are kept."""

SMALL_CORPUS = 20_000
"""A corpus of at most this many first symbols, in distinct pretokens, is kept whole, so that it can be replayed."""


_SHOWN = 20
"""Merges that a notebook shows."""


@dataclass(frozen=True)
class MergeStep:
    """One merge.

    Attributes
    ----------
    step : int
        Its place in the order of learning, from 0: its rank.
    left, right, new_id : int
        The two ids, and the id that they became.
    bytes : bytes
        What the new token stands for.
    count : int
        How often the pair stood in the corpus when it won.
    tied : int
        How many pairs had that count, the winner included: 1 is no tie.
    length_after : int
        Tokens in the corpus after the merge.
    frequency : int
        How often the token stands in the corpus when training ends; later merges may have taken it up.
    examples : tuple of bytes
        Up to three pretokens that it was merged in, the first ones of the corpus; of a long one what stands around
        the token.
    """

    step: int
    left: int
    right: int
    new_id: int
    bytes: builtins.bytes
    count: int
    tied: int
    length_after: int
    frequency: int
    examples: tuple[builtins.bytes, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain values for a JSON line; bytes are text with one character for each byte (Latin-1)."""
        return {
            "step": self.step,
            "left": self.left,
            "right": self.right,
            "new_id": self.new_id,
            "bytes": self.bytes.decode("latin-1"),
            "count": self.count,
            "tied": self.tied,
            "length_after": self.length_after,
            "frequency": self.frequency,
            "examples": [e.decode("latin-1") for e in self.examples],
        }


Pair = tuple[int, int]


@dataclass(frozen=True)
class TrainingRecord(Sequence[MergeStep]):
    """All merges of one training, and the corpus they came from in numbers.

    ``record[i]`` is merge ``i``; ``len(record)`` is their number.

    Attributes
    ----------
    steps : tuple of MergeStep
    length_before : int
        First symbols in the corpus: its length in tokens before the first merge.
    pretokens, distinct : int
        How many pretokens were counted, and how many different ones.
    convention : str
        How ties were broken.
    min_freq : int
        The lowest count that was merged.
    stopped : str
        Why training ended.
    best_left : ((left, right), count) or None
        The pair that would have come next.
    corpus : tuple of (ids, count), or None
        The distinct pretokens as first symbols, for a small corpus only.
    """

    steps: tuple[MergeStep, ...]
    length_before: int
    pretokens: int
    distinct: int
    convention: str
    min_freq: int
    stopped: str
    best_left: tuple[Pair, int] | None
    corpus: tuple[tuple[tuple[int, ...], int], ...] | None

    def __repr__(self) -> str:
        return f"<TrainingRecord of {len(self):,} merges: {self.length_before:,} tokens became {self.length_after:,}>"

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, i: Any) -> Any:
        return self.steps[i]

    def __iter__(self) -> Iterator[MergeStep]:
        return iter(self.steps)

    def _repr_html_(self) -> str:
        from .showing import Piece, html

        rows = [
            [f"{s.step:,}", f"{s.left} + {s.right}", html.stretch(Piece(s.bytes, False, False), inline=True),
             str(s.new_id), f"{s.count:,}", str(s.tied) if s.tied > 1 else "", f"{s.frequency:,}",
             "  ".join(html.stretch(Piece(word, False, False), inline=True) for word in s.examples)]
            for s in self.steps[:_SHOWN]
        ]  # fmt: skip
        header = ["merge", "ids", "token", "id", "count", "tied", "at the end", "first words"]
        more = f"... and {len(self) - _SHOWN:,} more merges. " if len(self) > _SHOWN else ""
        told = f"{more}{self.length_before:,} tokens became {self.length_after:,}. Stopped: {self.stopped}"
        return html.fragment(html.table(header, rows, left={1, 2, 7}) + f"<p>{html.escaped(told)}</p>")

    @property
    def length_after(self) -> int:
        """Tokens in the corpus when training ended."""
        return self.steps[-1].length_after if self.steps else self.length_before

    def replay(self) -> Iterator[list[tuple[tuple[int, ...], int]]]:
        """The corpus before each merge and, last, at the end, as :meth:`words` gives it for one step.

        Raises
        ------
        TrainingError
            The corpus was too large to be kept.
        """
        if self.corpus is None:
            raise TrainingError(
                f"the corpus had {self.distinct} distinct pretokens, too many to be kept with the record; "
                "train on a smaller corpus to replay it"
            )
        words = list(self.corpus)
        yield list(words)
        for merge in self.steps:
            words = [(_merged(ids, merge), count) for ids, count in words]
            yield list(words)

    def words(self, step: int) -> list[tuple[tuple[int, ...], int]]:
        """The corpus before merge ``step``, as (ids, count) of each distinct pretoken; ``len(record)`` is its end.

        Raises
        ------
        TrainingError
            The corpus was too large to be kept, or there is no such step.
        """
        step = whole("step", step, 0, TrainingError, len(self))
        return next(islice(self.replay(), step, None))

    def pair_counts(self, step: int) -> list[tuple[Pair, int]]:
        """Every pair's count before merge ``step``: highest first, among equals the one that stands first.

        Raises
        ------
        TrainingError
            As :meth:`words`.
        """
        return counted(self.words(step))

    def lines(self) -> Iterator[dict[str, Any]]:
        """The merges as plain values for JSON; for a small corpus with every pair's count before the merge."""
        if self.corpus is None:
            yield from (step.to_json() for step in self.steps)
            return
        for step, words in zip(self.steps, self.replay()):
            counts = [[left, right, count] for (left, right), count in counted(words)]
            yield {**step.to_json(), "pair_counts": counts}

    def to_jsonl(self, target: str | Path | TextIO) -> None:
        """Writes one JSON line for each merge, to a path or to an open text file: what :meth:`lines` gives."""
        if not hasattr(target, "write"):
            with open(target, "w", encoding="utf-8", newline="\n") as file:
                self.to_jsonl(file)
            return
        for line in self.lines():
            target.write(json.dumps(line) + "\n")

    def cut(self, merges: int) -> TrainingRecord:
        """The record that training would have left, had it stopped after ``merges`` merges.

        Final frequencies are exact without the corpus: each later merge shortened the corpus once for every place,
        and there it used up one token of either part.
        """
        merges = whole("merges", merges, 0, TrainingError, len(self))
        if merges == len(self):
            return self
        used: dict[int, int] = {}
        for before, later in zip(self.steps[merges - 1 :] if merges else (None, *self.steps), self.steps[merges:]):
            places = (before.length_after if before else self.length_before) - later.length_after
            for part in (later.left, later.right):
                used[part] = used.get(part, 0) + places
        following = self.steps[merges]
        return replace(
            self,
            steps=tuple(replace(s, frequency=s.frequency + used.get(s.new_id, 0)) for s in self.steps[:merges]),
            stopped=f"cut to the first {merges} of {len(self)} merges",
            best_left=((following.left, following.right), following.count),
        )


@dataclass(frozen=True)
class PendingRecord:
    """A record that is made when it is asked for: most trainings are never looked into, and their steps cost more time
    than merging did.

    ``columns`` are the engine's, as numbers of symbols; ``ids`` are the symbols' ids, ``texts`` the ids' bytes, and
    ``words`` the pretokens that examples are taken from. Calling it gives the record.
    """

    columns: list[Any]
    frequencies: Any
    length_before: int
    ids: list[int]
    texts: Mapping[int, bytes]
    words: tuple[dict[int, int], bytes, list[int]]
    totals: tuple[int, int]
    convention: str
    min_freq: int
    stopped: str
    best_left: tuple[int, int, int] | None
    corpus: tuple[tuple[tuple[int, ...], int], ...] | None

    def __call__(self) -> TrainingRecord:
        left, right, counts, tied, lengths, examples = (column.tolist() for column in self.columns)
        ids, n_base = self.ids, len(self.ids) - len(left)
        frequencies = self.frequencies.tolist()
        at, text, offsets = self.words
        steps = []
        for k, (a, b) in enumerate(zip(left, right)):
            new = ids[n_base + k]
            token = self.texts[new]
            rows = (at[w] for w in examples[3 * k : 3 * k + 3] if w in at)
            shown = tuple(excerpt(text[offsets[row] : offsets[row + 1]], token) for row in rows)
            steps.append(
                MergeStep(k, ids[a], ids[b], new, token, counts[k], tied[k], lengths[k], frequencies[n_base + k], shown)
            )
        best = self.best_left
        return TrainingRecord(
            steps=tuple(steps),
            length_before=self.length_before,
            pretokens=self.totals[0],
            distinct=self.totals[1],
            convention=self.convention,
            min_freq=self.min_freq,
            stopped=self.stopped,
            best_left=None if best is None else ((ids[best[0]], ids[best[1]]), best[2]),
            corpus=self.corpus,
        )


def examples_of(numbers: Any, text: builtins.bytes, offsets: Any) -> tuple[dict[int, int], builtins.bytes, list[int]]:
    """The words that examples name, without the rest of the corpus: their numbers -> rows, text, offsets."""
    import numpy as np

    used = np.unique(numbers)
    used = used[used < len(offsets) - 1].astype(np.int64)
    starts = offsets[used]
    sizes = offsets[used + 1] - starts
    ends = np.cumsum(sizes)
    places = np.repeat(starts - (ends - sizes), sizes) + np.arange(int(sizes.sum()))
    kept = np.frombuffer(text, np.uint8)[places].tobytes()
    return {number: row for row, number in enumerate(used.tolist())}, kept, [0, *ends.tolist()]


def excerpt(word: bytes, token: bytes) -> bytes:
    """The pretoken, or what stands around the token's bytes in it."""
    if len(word) <= EXCERPT:
        return word
    start = max(0, min(word.find(token) - EXCERPT // 4, len(word) - EXCERPT))
    return word[start : start + EXCERPT]


def _merged(ids: tuple[int, ...], merge: MergeStep) -> tuple[int, ...]:
    out: list[int] = []
    i = 0
    while i < len(ids):
        if i + 1 < len(ids) and ids[i] == merge.left and ids[i + 1] == merge.right:
            out.append(merge.new_id)
            i += 2
        else:
            out.append(ids[i])
            i += 1
    return tuple(out)


def counted(words: Iterable[tuple[tuple[int, ...], int]]) -> list[tuple[Pair, int]]:
    """Every pair of a corpus with its count: highest first, among equals the one that stands first."""
    counts: dict[Pair, int] = {}
    for ids, count in words:
        for pair in zip(ids, ids[1:]):
            counts[pair] = counts.get(pair, 0) + count
    return sorted(counts.items(), key=lambda item: -item[1])
