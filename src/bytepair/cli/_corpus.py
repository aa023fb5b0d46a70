"""The corpus of a verb: files, folders, addresses and stdin, and the options that say how they are read."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import TrainingError
from . import _io

if TYPE_CHECKING:
    from ..corpus import Files

OPTIONS = ("by", "field", "column", "encoding", "errors", "format", "bad_rows")


def reading_options(verb: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every verb that reads a corpus; they are the keywords of :func:`bytepair.files`."""
    by = click.option(
        "--by",
        type=click.Choice(["document", "line"]),
        default="document",
        show_default=True,
        help="Whether a text is one document, or each of its lines is.",
    )
    return by(content_options(verb))


def content_options(verb: Callable[..., Any]) -> Callable[..., Any]:
    """The same without ``--by``, for verbs to which borders of documents are nothing."""
    for option in reversed((
        click.option("--field", metavar="NAME", help="The field of JSON lines that holds the text; text unless given."),
        click.option("--column", metavar="NAME", help="The column of tables that holds the text; text unless given."),
        click.option("--encoding", metavar="NAME", help="The encoding of the texts, such as latin-1, if not UTF-8."),
        click.option(
            "--errors",
            type=click.Choice(["surrogateescape", "strict", "replace"]),
            help="What a byte is that the encoding does not have: kept exactly (the default for UTF-8); strict: a "
            "failure (the default for others); replace: U+FFFD.",
        ),
        click.option(
            "--format",
            type=click.Choice(["raw", "text", "jsonl", "csv", "tsv", "parquet", "arrow"]),
            help="What the files hold, whatever their names say; raw does not even unpack them.",
        ),
        click.option(
            "--bad-rows",
            type=click.Choice(["error", "skip"]),
            default="error",
            show_default=True,
            help="What to do about lines and rows that have no text.",
        ),
    )):  # fmt: skip
        verb = option(verb)
    return verb


def corpus(sources: Iterable[str], options: dict[str, Any]) -> Files:
    """The corpus that a verb's arguments name; takes its own options out of ``options``."""
    from ..corpus import files

    how = {name: options.pop(name) for name in OPTIONS if name in options}
    try:
        return files(*map(_source, sources), **how)
    except TrainingError as error:
        raise click.UsageError(str(error)) from error


def _source(name: str) -> Any:
    from ..corpus.sources import is_address

    if name == "-":
        return _io.stdin()
    # What the shell has made of a pattern is a name, and whatever it left is a pattern still.
    return name if is_address(name) or (glob.has_magic(name) and not os.path.exists(name)) else Path(name)
