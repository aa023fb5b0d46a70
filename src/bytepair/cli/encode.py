"""``bytepair encode``: text in; ids, pieces or JSON out."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from ..errors import SpecialTokenError
from ..progress import Report
from . import _io

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .._text import Special
    from ..tokenizer import Tokenizer

_POLICIES = ("text", "all", "error")
_SLICE = 1 << 16  # ids that are written at a time
_SHOWN = 1 << 12  # tokens that are shown at a time


@click.command("encode")
@click.argument("tokenizer")
@click.argument("file", required=False)
@click.option("-t", "--text", metavar="TEXT", help="Encode this text, and no file.")
@click.option("-o", "--output", metavar="OUT", help="Write to this file, and not to stdout.")
@click.option("--pieces", is_flag=True, help="Show the text with its tokens told apart, and no ids.")
@click.option("--add-bos", is_flag=True, help="Put the begin-of-sequence token before the text.")
@click.option("--add-eos", is_flag=True, help="Put the end-of-sequence token after the text.")
@click.option(
    "--special",
    "specials",
    metavar="WHICH",
    multiple=True,
    default=("text",),
    show_default="text",
    help="What the name of a special token in the text is: text like any other; all: that token; error: a failure; "
    "or give the names, one by one, that are tokens.",
)
@click.option(
    "--errors",
    type=click.Choice(["surrogateescape", "strict", "replace"]),
    default="surrogateescape",
    show_default=True,
    help="What a byte is that is no UTF-8: kept exactly; strict: a failure; replace: U+FFFD.",
)
@click.option(
    "--dropout",
    type=click.FloatRange(0, 1),
    metavar="P",
    default=0.0,
    help="Leave places to merge out with this probability: BPE-dropout.",
)
@click.option(
    "--seed", type=click.IntRange(0, (1 << 64) - 1), metavar="N", help="What decides it; a new one unless given."
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list of ids; with --pieces, of objects.")
def command(
    tokenizer: str,
    file: str | None,
    text: str | None,
    output: str | None,
    pieces: bool,
    add_bos: bool,
    add_eos: bool,
    specials: tuple[str, ...],
    errors: str,
    dropout: float,
    seed: int | None,
    as_json: bool,
) -> None:
    """Turn FILE, or stdin, into ids with TOKENIZER, the file of a tokenizer.

    The ids come on one line with spaces between them. The bytes of the text are encoded as they are: no line break is
    added, changed or taken away.

    \b
    Examples:
      bytepair encode my.json notes.txt > notes.ids
      bytepair encode my.json --text "hello world" --pieces
      echo hello | bytepair encode my.json --json
    """
    if text is not None and file is not None:
        raise click.UsageError("give a FILE or --text, not both")
    _io.check_stdin(tokenizer, file or ("-" if text is None else ""))
    _io.check_output(output, tokenizer, file)
    tok = _io.load(tokenizer)
    options: dict[str, Any] = {"add_bos": add_bos, "add_eos": add_eos, "special": _special(specials)}
    try:
        tok.encode(b"", **options)
    except SpecialTokenError as error:  # an option that does not fit the tokenizer; nothing was read yet
        raise click.UsageError(str(error)) from error
    source = "the text" if text is not None else _io.name_of(file or "-")
    data = os.fsencode(text) if text is not None else _io.read(file or "-")
    with Report.reporter("encode", "bytes", len(data), len(data) >= _io.SLOW) as report:
        given = _checked(data, errors, source)
        ids = tok.encode_array(given, errors="replace", dropout=dropout, seed=seed, **options)
        report.update(len(data))
    if pieces:
        _write_pieces(tok, ids.tolist(), output, as_json)
        return
    with (
        _io.writing(output) as out,
        Report.reporter("write", "ids", len(ids), output is not None and len(ids) >= _io.SLOW) as report,
    ):
        for done, line in _lines(ids, as_json):
            out.write(line)
            report.update(done)


def _special(specials: tuple[str, ...]) -> Special:
    return specials[0] if len(specials) == 1 and specials[0] in _POLICIES else set(specials)


def _checked(data: bytes, errors: str, source: str) -> str | bytes:
    """The text under the policy for bytes that are no UTF-8."""
    if errors == "surrogateescape":
        return data
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if errors == "replace":
            return data.decode("utf-8", "surrogateescape")
        raise click.ClickException(
            f"{source}: byte 0x{data[error.start]:02X} at offset {error.start} is no UTF-8; "
            "--errors replace encodes U+FFFD in its place, and without --errors the byte is kept"
        ) from error


def _lines(ids: NDArray[np.uint32], as_json: bool) -> Iterator[tuple[int, bytes]]:
    between = ", " if as_json else " "
    if as_json:
        yield 0, b"["
    for start in range(0, len(ids), _SLICE):
        text = between.join(map(str, ids[start : start + _SLICE].tolist()))
        yield start, ((between if start else "") + text).encode("ascii")
    yield len(ids), b"]\n" if as_json else b"\n"


def _write_pieces(tok: Tokenizer, ids: list[int], output: str | None, as_json: bool) -> None:
    from .. import showing

    if as_json:
        lines = (json.dumps({"id": i, "bytes": tok.vocab[i].decode("latin-1"), "text": tok.token_str(i)}) for i in ids)
        with _io.writing(output) as out:
            out.write(("[" + ",\n ".join(lines) + "]\n").encode("ascii"))
        return
    console = showing.console()
    on_screen = output in (None, "-") and showing.has_colours(console)
    with _io.writing(output) as out:
        for start in range(0, len(ids), _SHOWN):
            some = showing.pieces(tok, ids[start : start + _SHOWN])
            if on_screen:
                console.print(showing.coloured(some, start=start), soft_wrap=True, end="")
            else:
                border = showing.BORDER if start else ""
                out.write((border + showing.bordered(some)).encode("utf-8"))
        if on_screen:
            console.print()
        else:
            out.write(b"\n")
