"""``bytepair decode``: ids in, exact bytes out."""

from __future__ import annotations

import re

import click

from ..progress import Report
from . import _io


@click.command("decode")
@click.argument("tokenizer")
@click.argument("file", default="-")
@click.option("-o", "--output", metavar="OUT", help="Write to this file, and not to stdout.")
@click.option("--skip-specials", is_flag=True, help="Leave special tokens out.")
def command(tokenizer: str, file: str, output: str | None, skip_specials: bool) -> None:
    """Turn the ids in FILE, or stdin, back into text with TOKENIZER, the file of a tokenizer.

    The ids are decimal numbers with white space between them, or a JSON list. What comes out is the exact bytes, with
    nothing added.

    \b
    Examples:
      bytepair decode my.json notes.ids -o notes.txt
      echo 263 107 121 122 | bytepair decode my.json
      bytepair encode my.json notes.txt | bytepair decode my.json | cmp - notes.txt
    """
    _io.check_stdin(tokenizer, file)
    _io.check_output(output, tokenizer, file)
    tok = _io.load(tokenizer)
    data = _io.read(file)
    with Report.reporter("decode", "bytes", len(data), len(data) >= _io.SLOW) as report:
        text = tok.decode_bytes(_ids(data, _io.name_of(file)), skip_specials=skip_specials)
        report.update(len(data))
    _io.write_bytes(output, text)


def _ids(data: bytes, name: str) -> list[int]:
    if data.lstrip().startswith(b"["):
        from ..formats.source import parse_json

        items = parse_json(data, name)
        for at, item in enumerate(items):
            if type(item) is not int:
                raise click.ClickException(f"{name}: item {at} of the list is {item!r:.40}; ids are whole numbers")
        return items  # type: ignore[no-any-return]
    words = data.split()
    for at, word in enumerate(words):
        if re.fullmatch(rb"[0-9]{1,10}", word) is None:
            shown = word[:40].decode("utf-8", "backslashreplace")
            raise click.ClickException(
                f"{name}: number {at} is {shown!r}; ids are whole numbers with white space between them, or a JSON list"
            )
    return list(map(int, words))
