"""``bytepair count``: how many tokens files have, and how many bytes a token stands for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import BytepairError
from ..progress import Report
from . import _io

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer

_BATCH = 16 << 20  # bytes held at a time, and counted on all cores


@click.command("count")
@click.argument("tokenizer")
@click.argument("files", metavar="[FILE]...", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: files and total.")
def command(tokenizer: str, files: tuple[str, ...], as_json: bool) -> None:
    """Count the tokens of each FILE, or of stdin, with TOKENIZER, the file of a tokenizer.

    A folder stands for all files below it. Names of special tokens in the text count as text.

    \b
    Examples:
      bytepair count my.json notes.txt src
      cat notes.txt | bytepair count my.json
    """
    sources = files or ("-",)
    _io.check_stdin(tokenizer, *sources)
    tok = _io.load(tokenizer)
    named = list(_named(sources))
    total = sum(path.stat().st_size for _, path in named if path is not None)
    rows = []
    with Report.reporter("count", "bytes", total, total >= _io.SLOW) as report:
        done = 0
        for batch in _batches(named):
            for (name, data), tokens in zip(batch, _counts(tok, batch)):
                rows.append((name, tokens, len(data)))
                done += len(data)
            report.update(done)
    everything = ("total", sum(row[1] for row in rows), sum(row[2] for row in rows))
    if as_json:
        told = {"files": [_facts("file", *row) for row in rows], "total": _facts("", *everything)}
        click.echo(json.dumps(told, indent=1))
        return
    from .. import showing

    if len(rows) != 1:
        rows.append(everything)
    cells = [
        [f"{tokens:,}", f"{size:,}", f"{size / tokens:.3f}" if tokens else "-", showing.one_line(name)]
        for name, tokens, size in rows
    ]
    click.echo("\n".join(showing.table(["tokens", "bytes", "bytes/token", "file"], cells, left={3})))


def _named(sources: Iterable[str]) -> Iterator[tuple[str, Path | None]]:
    """Each file's name and path; stdin has no path."""
    from ..corpus.readers import folder_files

    for source in sources:
        path = Path(source)
        if source == "-":
            yield "stdin", None
        elif path.is_dir():
            yield from ((str(file), file) for file in folder_files(path))
        elif not path.exists():
            raise click.ClickException(f"cannot read {source}: there is no such file")
        else:
            yield source, path


def _batches(named: Iterable[tuple[str, Path | None]]) -> Iterator[list[tuple[str, bytes]]]:
    batch: list[tuple[str, bytes]] = []
    held = 0
    for name, path in named:
        batch.append((name, _io.read("-" if path is None else path)))
        held += len(batch[-1][1])
        if held >= _BATCH:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


def _counts(tok: Tokenizer, batch: list[tuple[str, bytes]]) -> list[int]:
    try:
        return tok.count_batch([data for _, data in batch])
    except BytepairError:
        for name, data in batch:  # find the file that it was
            _count(tok, name, data)
        raise


def _count(tok: Tokenizer, name: str, data: bytes) -> int:
    try:
        return tok.count(data)
    except BytepairError as error:
        raise click.ClickException(f"{name}: {error}") from error


def _facts(key: str, name: str, tokens: int, size: int) -> dict[str, Any]:
    facts = {"tokens": tokens, "bytes": size, "bytes_per_token": size / tokens if tokens else None}
    return {key: name, **facts} if key else facts
