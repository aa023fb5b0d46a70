"""``bytepair compare``: several tokenizers side by side on one text."""

from __future__ import annotations

import json
import os
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from ..errors import FormatError
from . import _io

_LARGEST = 16 << 20  # bytes of a text that is compared

LIBRARIES = ("tiktoken", "tokenizers", "transformers", "sentencepiece")


@click.command("compare")
@click.argument("tokenizers", metavar="TOKENIZER...", nargs=-1, required=True)
@click.option("-t", "--text", metavar="TEXT", help="The text; without it the last argument is the text.")
@click.option("-f", "--file", metavar="FILE", help="A file with the text, or - for stdin.")
@click.option("--all", "everything", is_flag=True, help="Show the stretches that all cut alike as well.")
@click.option("-o", "--output", metavar="OUT", help="Write here; OUT.html is a page in one file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    tokenizers: tuple[str, ...],
    text: str | None,
    file: str | None,
    everything: bool,
    output: str | None,
    as_json: bool,
) -> None:
    """Show where each TOKENIZER cuts a text, with totals, and the stretches that they cut in different places.

    A TOKENIZER is a file or a known name; a file whose model is no BPE (WordPiece, Unigram) is run by the library that
    owns it. A library's own tokenizer is asked for as tiktoken:NAME, tokenizers:FILE, transformers:FOLDER or
    sentencepiece:FILE.

    \b
    Examples:
      bytepair compare gpt2 cl100k_base "it's 1234567"
      bytepair compare my.json bert/tokenizer.json spiece.model --file notes.txt -o notes.html
    """
    from ..explain import compare

    if text is not None and file is not None:
        raise click.UsageError("give --text or --file, not both")
    if text is None and file is None:
        if len(tokenizers) < 2:
            raise click.UsageError("give the text behind the tokenizers, or with --text or --file")
        *named, text = tokenizers
        tokenizers = tuple(named)
    _io.check_output(output, file, *tokenizers)
    data = os.fsencode(text) if text is not None else _io.read(file or "-")
    if len(data) > _LARGEST:
        raise click.ClickException(f"{len(data):,} bytes are too many to compare; give up to {_LARGEST:,}")
    sides: dict[str, Any] = {}
    for name in tokenizers:
        sides[name if name not in sides else f"{name} again"] = opened(name)
    found = compare(sides, data)
    if as_json:
        shown = json.dumps(found.to_json())
    elif output is not None and output.endswith(".html"):
        from ..showing import html

        shown = html.page("bytepair compare", found._repr_html_())
    else:
        shown = "\n".join(found.lines(everything=everything, limit=None))
    with _io.writing(output) as out:
        out.write(shown.encode("utf-8") + b"\n")


def opened(name: str) -> Any:
    """A tokenizer of ours, or one that its library runs."""
    library, colon, rest = name.partition(":")
    if colon and library in LIBRARIES:
        return _of_library(library, rest)
    try:
        return _io.load(name)
    except FormatError as error:
        other = _other_model(name)
        if other is None:
            raise
        try:
            return _of_library(other, name)
        except click.ClickException as missing:
            raise click.ClickException(f"{error}; {missing.format_message()}") from error


def _other_model(name: str) -> str | None:
    """The library that owns a file of another model than BPE, or None."""
    path = Path(name)
    path = path / "tokenizer.json" if path.is_dir() else path
    if not path.is_file():
        return None
    with path.open("rb") as file:
        head = file.read(64)
    if head.lstrip()[:1] == b"{":
        return "tokenizers"
    return "sentencepiece" if head[:1] == b"\n" else None


def _of_library(library: str, name: str) -> Any:
    try:
        module = import_module(library)
    except ImportError:
        raise click.ClickException(f"{library} runs this one and is not installed: pip install {library}") from None
    try:
        if library == "tiktoken":
            return module.get_encoding(name)
        if library == "tokenizers":
            path = Path(name)
            return module.Tokenizer.from_file(str(path / "tokenizer.json" if path.is_dir() else path))
        if library == "transformers":
            return module.AutoTokenizer.from_pretrained(name)
        processor = module.SentencePieceProcessor()
        processor.LoadFromFile(name)
        return processor
    except Exception as error:  # a library of others raises what it likes
        raise click.ClickException(f"{library} cannot read {name}: {error}") from error
