"""The merges of a tokenizer as a table for people or JSON lines for machines: ``merges`` and ``train --trace``."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from .. import showing
from . import _io

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer

_WIDEST = 32  # columns of a token; longer ones would push the numbers off the screen
_RECORDED = ["rank", "id", "pair", "token", "count", "tied", "length after", "final", "examples"]


def numbers(tok: Tokenizer) -> range:
    """The ranks of everything that :func:`print_table` and :func:`print_lines` can print."""
    return range(len(tok.ranks))


def print_table(tok: Tokenizer, ranks: Iterable[int]) -> None:
    """A table of some merges; with a record, all that training noted of them."""
    rows: list[list[str]] = []
    if tok.record is not None:
        header, left = _RECORDED, {2, 3, 8}
        for rank in ranks:
            step = tok.record[rank]
            examples = "  ".join(_clipped(showing.visible(showing.Piece(e, False, False))) for e in step.examples)
            counts = [f"{n:,}" for n in (step.count, step.tied, step.length_after, step.frequency)]
            rows.append([*_merge(tok, rank, step.left, step.right, step.new_id), *counts, examples])
    elif tok.merges is not None:
        header, left = _RECORDED[:4], {2, 3}
        merges = list(tok.merges.items())
        for rank in ranks:
            (a, b), new = merges[rank]
            rows.append(_merge(tok, rank, a, b, new))
    else:
        header, left = ["rank", "token"], {1}
        ids = list(tok.ranks.values())
        rows = [[str(ids[rank]), _token(tok, ids[rank])] for rank in ranks]
    width = shutil.get_terminal_size().columns if _io.is_terminal(sys.stdout) else None
    click.echo("\n".join(showing.table(header, rows, left=left, width=width)))


def print_lines(tok: Tokenizer, ranks: Iterable[int]) -> None:
    """One JSON object for each merge; bytes are text with one character for each byte (Latin-1)."""
    lines = [json.dumps(facts) for facts in _facts(tok, ranks)]
    if lines:
        click.echo("\n".join(lines))


def print_pair_counts(tok: Tokenizer, ranks: Iterable[int]) -> None:
    """For each merge the count of every pair before it, highest first."""
    if tok.record is None:
        raise click.ClickException("this tokenizer has no training record, so its pair counts are not known")
    wanted = set(ranks)
    for line in tok.record.lines():
        if line["step"] in wanted:
            pairs = (f"{_token(tok, a)} + {_token(tok, b)} {n:,}" for a, b, n in _counts_of(line))
            click.echo(f"\nbefore merge {line['step']}: " + ", ".join(pairs))


def _counts_of(line: dict[str, Any]) -> list[list[int]]:
    if "pair_counts" not in line:
        raise click.ClickException("the corpus was too large for its pair counts to be kept; train on a smaller one")
    counts: list[list[int]] = line["pair_counts"]
    return counts


def summary(tok: Tokenizer) -> str:
    """Why training stopped, and what would have come next."""
    if tok.record is None:
        kind = "ranks" if tok.merges is None else "merges"
        return f"{len(tok.ranks):,} {kind}, without a training record: counts are not known"
    record = tok.record
    corpus = f"{_io.plural(record.pretokens, 'pretoken')}, {record.distinct:,} distinct"
    lines = [
        f"{_io.plural(len(record), 'merge')}: {corpus}; {record.length_before:,} symbols became "
        + _io.plural(record.length_after, "token"),
        f"stopped: {showing.one_line(record.stopped)}",
    ]
    if record.best_left is not None:
        (a, b), count = record.best_left
        lines.append(f"best pair left: {_token(tok, a)} + {_token(tok, b)}, {_io.plural(count, 'time')}")
    return "\n".join(lines)


def _facts(tok: Tokenizer, ranks: Iterable[int]) -> Iterable[dict[str, Any]]:
    if tok.record is not None:
        wanted = set(ranks)
        return (line for rank, line in enumerate(tok.record.lines()) if rank in wanted)
    if tok.merges is not None:
        merges = list(tok.merges.items())
        return (
            {"step": rank, "left": a, "right": b, "new_id": new, "bytes": tok.vocab[new].decode("latin-1")}
            for rank in ranks
            for (a, b), new in [merges[rank]]
        )
    ids = list(tok.ranks.values())
    return ({"rank": ids[rank], "bytes": tok.vocab[ids[rank]].decode("latin-1")} for rank in ranks)


def _merge(tok: Tokenizer, rank: int, left: int, right: int, new: int) -> list[str]:
    return [str(rank), str(new), f"{_token(tok, left)} + {_token(tok, right)}", _token(tok, new)]


def _token(tok: Tokenizer, id: int) -> str:
    return _clipped(showing.visible(next(showing.pieces(tok, [id]))))


def _clipped(text: str) -> str:
    return showing.clipped(text, _WIDEST)
