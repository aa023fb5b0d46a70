"""Tokenizers measured on groups of documents, and the table that comes of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import showing
from .._check import whole
from ..errors import BytepairError
from ..showing import html
from ..tokenizer import Tokenizer
from .measures import Measures, renyi_efficiency
from .subjects import BASELINES, Ours, Subject, baseline, characters_in, held, words_of

if TYPE_CHECKING:
    from os import PathLike

ALL = "all"
"""The name of the group of all documents."""

COLUMNS: dict[str, str] = {
    "bytes_per_token": "bytes/token",
    "characters_per_token": "characters/token",
    "fertility": "tokens/word",
    "whole_share": "whole words",
    "single_byte_share": "single bytes",
    "used_share": "vocabulary used",
    "rare": "rare",
    "renyi": "Rényi",
    "bits_factor": "bits/byte per nat",
    "unknown_rate": "unknown words",
    "parity": "parity",
}
_SHARES = {"whole_share", "single_byte_share", "used_share", "unknown_rate"}


@dataclass(frozen=True)
class Report(Sequence[Measures]):
    """What :func:`evaluate` gives: a row for each tokenizer and group."""

    rows: tuple[Measures, ...]

    def __repr__(self) -> str:
        return f"<Report of {len(self.rows)} rows>"

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, i: Any) -> Any:
        return self.rows[i]

    def __iter__(self) -> Iterator[Measures]:
        return iter(self.rows)

    def row(self, tokenizer: str, group: str = ALL) -> Measures:
        """The row of a tokenizer and a group."""
        for row in self.rows:
            if (row.tokenizer, row.group) == (tokenizer, group):
                return row
        raise KeyError(f"there is no row for {tokenizer!r} and {group!r}")

    def to_json(self) -> dict[str, Any]:
        return {"rows": [row.to_json() for row in self.rows]}

    def to_csv(self) -> str:
        """All that was measured, a line for each row, with a line of names before them."""
        import csv
        import io

        out = io.StringIO()
        facts = [row.to_json() for row in self.rows]
        writer = csv.DictWriter(out, list(facts[0]) if facts else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows(facts)
        return out.getvalue()

    def bits_per_byte(self, losses: Iterable[float]) -> list[dict[str, Any]]:
        """For each row what losses in nats per token are in bits per byte."""
        given = list(losses)
        return [
            {"tokenizer": row.tokenizer, "group": row.group, **{str(n): n * row.bits_factor for n in given}}
            for row in self.rows
        ]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        shown = [name for name in COLUMNS if any(getattr(row, name) is not None for row in self.rows)]
        under = self.rows[0].rare_under if self.rows else 0
        names = [f"under {under} times" if name == "rare" else COLUMNS[name] for name in shown]
        header = ["tokenizer", "group", "ids", "tokens", *names]
        rows = [
            [showing.one_line(row.tokenizer), showing.one_line(row.group), f"{row.vocab_size:,}", f"{row.tokens:,}",
             *(_cell(name, getattr(row, name)) for name in shown)]
            for row in self.rows
        ]  # fmt: skip
        return header, rows

    def __str__(self) -> str:
        header, rows = self._table()
        return "\n".join(showing.table(header, rows, left={0, 1}))

    def _repr_html_(self) -> str:
        header, rows = self._table()
        cells = ([html.escaped(cell) for cell in row] for row in rows)
        return html.fragment(html.table(header, cells, left={0, 1}))

    def plot(self, path: str | PathLike[str]) -> None:
        """Writes a picture (PNG, SVG or PDF, by the name) of compression and evenness, by tokenizer and group."""
        from .plots import bars

        bars(self.rows, Path(path))


def _cell(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if name in _SHARES:
        return f"{value:.1%}"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


def evaluate(
    tokenizers: Mapping[str, Tokenizer] | Sequence[Tokenizer],
    corpus: Any,
    *,
    baselines: Iterable[str] = (),
    training: Any = None,
    vocab_size: int | None = None,
    rare_under: int = 10,
    parallel: bool = False,
) -> Report:
    """Measures tokenizers on text.

    Parameters
    ----------
    tokenizers : mapping of name to Tokenizer, or sequence
    corpus : mapping of group to corpus, or a corpus as for :func:`bytepair.train`
        Of several groups, languages for instance, each has its row, and all together one more, called ``all``.
    baselines : names
        ``"bytes"``, ``"characters"`` and ``"words"`` are measured as well.
    training : corpus, optional
        What the baselines know their characters and words from; the measured text itself where it is left out, so that
        nothing is unknown.
    vocab_size : int, optional
        Ids of the baseline ``words``, its most frequent ones; all words unless given.
    rare_under : int
        Tokens that come fewer times are rare.
    parallel : bool
        The groups are translations of each other: each has a parity, its tokens over those of the first group (Petrov
        et al. 2023).

    Returns
    -------
    Report

    Raises
    ------
    BytepairError
        There is nothing to measure, or an unknown baseline.

    Examples
    --------
    >>> import bytepair
    >>> tok = bytepair.train("low low lower lowest", num_merges=4)
    >>> row = evaluate({"ours": tok}, "low lower lowest").row("ours")
    >>> row.tokens, row.words, row.bytes_per_token, row.whole_share == 1 / 3
    (6, 3, 2.6666666666666665, True)
    """
    named = dict(tokenizers) if isinstance(tokenizers, Mapping) else _numbered(tokenizers)
    rare_under = whole("rare_under", rare_under, 1, BytepairError)
    for name, tokenizer in named.items():
        if not isinstance(tokenizer, Tokenizer):
            raise BytepairError(f"{name!r} is a {type(tokenizer).__name__}; give a bytepair.Tokenizer")
    groups = {str(name): held(one) for name, one in corpus.items()} if isinstance(corpus, Mapping) else {}
    if ALL in groups:
        raise BytepairError(f"a group cannot be called {ALL!r}, which is all of them together; give it another name")
    everything = [document for group in groups.values() for document in group] if groups else held(corpus)
    if not any(everything):
        raise BytepairError("the corpus holds no text to measure on")
    asked = list(baselines)
    for name in asked:
        if name not in BASELINES:
            raise BytepairError(f"there is no baseline {name!r}; there are {', '.join(BASELINES)}")
    if not named and not asked:
        raise BytepairError("there is nothing to measure; give tokenizers or baselines")
    known = everything if training is None else held(training)
    subjects: list[Subject] = [Ours(tokenizer, name) for name, tokenizer in named.items()]
    subjects += [baseline(name, known, vocab_size) for name in asked]
    several = {**groups, ALL: everything} if len(groups) > 1 else groups or {ALL: everything}
    rows: list[Measures] = []
    for subject in subjects:
        mine = [_measured(subject, name, documents, rare_under) for name, documents in several.items()]
        if parallel:
            mine = [replace(row, parity=_parity(row, mine[0])) for row in mine]
        rows += mine
    return Report(tuple(rows))


def _numbered(tokenizers: Sequence[Tokenizer]) -> dict[str, Tokenizer]:
    if isinstance(tokenizers, Tokenizer):
        return {"tokenizer": tokenizers}
    return {f"tokenizer {k}": tokenizer for k, tokenizer in enumerate(tokenizers, 1)}


def _parity(row: Measures, first: Measures) -> float | None:
    return None if row.group == ALL or not first.tokens else row.tokens / first.tokens


def _measured(subject: Subject, group: str, documents: Sequence[bytes], rare_under: int) -> Measures:
    counts = subject.counts(documents)
    words = words_of(documents)
    listed = list(words)
    whole_ones = subject.whole(listed)
    unknown = subject.unknown(listed)
    return Measures(
        tokenizer=subject.name,
        group=group,
        vocab_size=subject.vocab_size,
        documents=len(documents),
        bytes=sum(map(len, documents)),
        characters=characters_in(documents),
        words=words.total(),
        tokens=int(counts.sum()),
        single_bytes=subject.single_bytes(counts),
        used=int((counts > 0).sum()),
        rare=int((counts[subject.ordinary()] < rare_under).sum()),
        rare_under=rare_under,
        whole_words=sum(words[word] for word, one in zip(listed, whole_ones) if one),
        renyi=renyi_efficiency(counts, subject.vocab_size),
        unknown_words=None if unknown is None else sum(words[word] for word, is_so in zip(listed, unknown) if is_so),
    )
