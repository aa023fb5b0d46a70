"""``bytepair bench``: how fast a tokenizer is on this machine, after its results were checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import BytepairError
from . import _io

if TYPE_CHECKING:
    from ..benching import Result

CORE_SHARE, PURE_SHARE = 16.0, 0.25
"""Megabytes of text by default, with the compiled core and without: some seconds' work."""


@click.command("bench")
@click.argument("tokenizer", default="cl100k_base")
@click.option("--text", "files", metavar="FILE", multiple=True, help="Time on this text, a file; repeat.")
@click.option(
    "--size",
    type=click.FloatRange(0.001, 1000),
    metavar="MB",
    help="Megabytes of each text to use; worst cases have a sixteenth of it.  [default: 16]",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0, 3600),
    default=1.0,
    show_default=True,
    metavar="S",
    help="How long to repeat each figure's work.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: machine, rows and what was left out.")
def command(tokenizer: str, files: tuple[str, ...], size: float | None, seconds: float, as_json: bool) -> None:
    """Time TOKENIZER, a file or a name (cl100k_base by default), on real text and on the worst there is.

    The text is Python's standard library unless --text names others. It is encoded in 1 MB calls: first by a tokenizer
    that has seen nothing ("unseen"), then with its lines in another order ("seen"). Before the clock runs, lists,
    arrays and batches are compared, and the text must come back from its ids.

    A worst case is one long word, random letters or bytes, or the like. Its last column says how much longer a text
    of twice the length takes: 2 is linear.

    One thread's time is that of its processor, so that other programs count little; figures for all cores are by the
    clock on the wall.

    \b
    Examples:
      bytepair bench
      bytepair bench my.json --text notes.txt --seconds 0.2
    """
    from ..benching import measure
    from ..benching.texts import MB, library, pieces

    _io.check_stdin(tokenizer, *files)
    tok = _io.load(tokenizer)
    if size is None:
        size = CORE_SHARE if _has_core() else PURE_SHARE
    limit = int(size * MB)
    corpora: dict[str, bytes] = {}
    for file in files:
        data = _io.read(file)
        if not data:
            raise click.ClickException(f"{_io.name_of(file)} is empty; give a text")
        name = Path(file).name if file != "-" else "stdin"
        corpora[name if name not in corpora else file] = pieces(data, limit)[0]
    if not files:
        corpora["standard library"] = library(limit)
    try:
        result = measure(tok, corpora, seconds=seconds, worst=max(1, limit // 16), progress=True)
    except BytepairError as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps({"tokenizer": tokenizer, **result.to_json()}, indent=1))
        return
    _screen(tokenizer, repr(tok), result)


def _has_core() -> bool:
    from .. import _engine

    return _engine.NAME == "core"


def _screen(name: str, told: str, result: Result) -> None:
    from .. import showing

    machine = result.machine
    cores = _io.plural(machine["cores"] or 1, "core")
    click.echo(showing.one_line(f"{name}: {told}"))
    click.echo(showing.one_line(f"{machine['processor']}, {cores}, Python {machine['python']}; {result.engine}"))
    real = [row for row in result.rows if row.doubling is None]
    for text in dict.fromkeys(row.text for row in real):
        cells = [
            [
                row.what,
                f"{row.speed:,.1f}",
                f"{row.tokens / max(row.seconds, 1e-9) / 1e6:,.2f}",
                _each(row.seconds / row.calls),
                str(row.rounds),
            ]
            for row in real
            if row.text == text
        ]
        size = next(row.size for row in real if row.text == text)
        click.echo()
        header = [showing.one_line(f"{text}, {_io.size(size)}"), "MB/s", "M tokens/s", "a call", "rounds"]
        click.echo("\n".join(showing.table(header, cells, left={0})))
    worst = [row for row in result.rows if row.doubling is not None]
    if worst:
        cells = [
            [
                row.text,
                f"{row.speed:,.1f}",
                f"{row.size / max(1, row.tokens):.2f}",
                _each(row.seconds),
                f"{row.doubling:.2f}",
            ]
            for row in worst
        ]
        click.echo()
        header = [
            f"worst cases, {_io.size(max(row.size for row in worst))}",
            "MB/s",
            "bytes/token",
            "a call",
            "twice as long",
        ]
        click.echo("\n".join(showing.table(header, cells, left={0})))
    for text, why in result.left_out.items():
        click.echo(showing.one_line(f"left out: {text}: {why}"))


def _each(seconds: float) -> str:
    """A time as a person reads it."""
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= factor:
            return f"{seconds / factor:.2f} {unit}"
    return f"{seconds * 1e9:.0f} ns"
