"""``bytepair check``: the health of a vocabulary, with an exit code for continuous integration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from . import _corpus, _io

_ORDER = ("note", "warning", "error")


@click.command("check")
@click.argument("tokenizer")
@click.option("--corpus", "corpora", multiple=True, metavar="PATH", help="A file or folder to encode, and to get back.")
@click.option("--against", multiple=True, metavar="PATH", help="Another corpus, to compare leading spaces with.")
@_corpus.reading_options
@click.option(
    "--fail-on",
    type=click.Choice(_ORDER),
    default="error",
    show_default=True,
    help="End with exit code 1 where anything is found at this level or above.",
)
@click.option("-o", "--output", metavar="OUT", help="Write here; OUT.html is a page in one file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every id.")
def command(
    tokenizer: str,
    corpora: tuple[str, ...],
    against: tuple[str, ...],
    fail_on: str,
    output: str | None,
    as_json: bool,
    **reading: Any,
) -> None:
    """Look for what may bite later in TOKENIZER: tokens that no text can have, duplicates, names that users may type.

    With --corpus also: tokens that never come in it, and whether every file comes back from its ids.

    \b
    Examples:
      bytepair check my.json
      bytepair check my.json --corpus src --fail-on warning
    """
    if against and not corpora:
        raise click.UsageError("--against compares with --corpus; give both")
    tok = _io.load(tokenizer)
    found = tok.health(_read(corpora, reading), against=_read(against, reading))
    if as_json:
        text = json.dumps(found.to_json())
    elif output is not None and output.endswith(".html"):
        from ..showing import html

        text = html.page(f"bytepair check {tokenizer}", found._repr_html_())
    else:
        text = str(found)
    with _io.writing(output) as out:
        out.write(text.encode() + b"\n")
    if found.level in _ORDER and _ORDER.index(found.level) >= _ORDER.index(fail_on):
        raise click.exceptions.Exit(1)


def _read(names: tuple[str, ...], reading: dict[str, Any]) -> Any:
    for name in names:
        if not Path(name).exists():
            raise click.ClickException(f"cannot read {name}: there is no such file or folder")
    return _corpus.corpus(names, dict(reading)) if names else None
