"""Files, pipes and checks that all verbs share: everything is bytes, and every failure names its file."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from ..errors import FormatError

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer

SLOW = 1 << 20
"""Bytes from which on a bar is worth showing."""


def is_terminal(stream: Any) -> bool:
    """Whether somebody is watching; a stream that was closed is None."""
    return stream is not None and stream.isatty()


def name_of(file: str | Path) -> str:
    """What messages call a file."""
    return "stdin" if file == "-" else str(file)


def stdin() -> BinaryIO:
    """Standard input, to read bytes from."""
    if sys.stdin is None:
        raise click.ClickException("cannot read stdin: it is closed; give a file")
    if is_terminal(sys.stdin):
        end = "Ctrl-Z and Enter" if os.name == "nt" else "Ctrl-D"
        click.echo(f"reading what you type; end with {end}", err=True)
    return sys.stdin.buffer


def read(file: str | Path) -> bytes:
    """All bytes of a file, or of stdin for ``-``."""
    try:
        return stdin().read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise click.ClickException(f"cannot read {name_of(file)}: {error.strerror or error}") from error


@contextmanager
def writing(output: str | None) -> Iterator[BinaryIO]:
    """The file to write bytes to; None and ``-`` are stdout."""
    if output is None or output == "-":
        if sys.stdout is None:
            raise click.ClickException("cannot write to stdout: it is closed; name a file with -o")
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        with open(output, "wb") as file:
            yield file
    except OSError as error:
        raise click.ClickException(f"cannot write {output}: {error.strerror or error}") from error


def write_bytes(output: str | None, data: bytes) -> None:
    """Write exact bytes, but nothing that a terminal would obey."""
    if output in (None, "-") and is_terminal(sys.stdout) and not harmless(data):
        raise click.UsageError("this is no plain text and is not written to a terminal; give a file with -o")
    with writing(output) as file:
        file.write(data)


def harmless(data: bytes) -> bool:
    """Whether a terminal shows the bytes without obeying any of them."""
    text = data.decode("utf-8", "replace")
    return all(character in "\t\n\r" or unicodedata.category(character) != "Cc" for character in text)


def check_output(output: str | None, *inputs: str | None) -> None:
    """Refuse an output that would overwrite an input or cannot be written, before the work begins."""
    if output is None or output == "-":
        return
    path = Path(output)
    for file in inputs:
        if file not in (None, "-") and path.resolve() == Path(file).resolve():
            raise click.UsageError(f"-o {output} would overwrite the file that is read; give another name")
    if path.is_dir():
        raise click.UsageError(f"-o {output} is a folder; give the name of a file")
    folder = path.parent
    if not folder.is_dir():
        raise click.ClickException(f"cannot write {output}: there is no folder {folder}")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise click.ClickException(f"cannot write {output}: Permission denied")


def check_stdin(*files: str) -> None:
    """Refuse to read stdin twice."""
    if files.count("-") > 1:
        raise click.UsageError("stdin (-) can be read only once; give a file for the others")


def load(source: str) -> Tokenizer:
    """The tokenizer that a verb's first argument names."""
    from .. import load as load_tokenizer

    if source != "-":
        return load_tokenizer(source)  # type: ignore[no-any-return]
    try:
        return load_tokenizer(read(source))  # type: ignore[no-any-return]
    except FormatError as error:
        raise FormatError(f"stdin: {error}") from error


def save(tokenizer: Tokenizer, output: str) -> None:
    """Save a tokenizer to a file, or write it to stdout or to what is no ordinary file, such as a pipe."""
    path = Path(output)
    if output != "-" and (path.is_file() or not path.exists()):
        tokenizer.save(path)
        return
    from ..formats import FORMATS

    with writing(output) as file:
        file.write(FORMATS["bytepair"].write(tokenizer).files[""])


def plural(number: int, noun: str) -> str:
    """``1 file``, ``2,000 files``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def size(number: int) -> str:
    """A number of bytes as a person reads it: ``31.5 MB``."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= factor:
            return f"{number / factor:.1f} {unit}"
    return plural(number, "byte")


def what_files_lack(verb: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a verb that reads tokenizers whose files do not say everything."""
    for option in (
        click.option("--vocab", metavar="FILE", help="The second of A's two files, with the ids of its tokens."),
        click.option(
            "--special",
            "specials",
            metavar="NAME=ID",
            multiple=True,
            help="A special token, for a file that names none, such as a rank file; repeat.",
        ),
        click.option(
            "--pattern",
            metavar="NAME",
            help="What cuts the text, for a file that does not say it: a preset such as cl100k, or a regex.",
        ),
    ):
        verb = option(verb)
    return verb


def named_ids(specials: tuple[str, ...]) -> dict[str, int] | None:
    """``NAME=ID`` options as a mapping; None where there are none."""
    found: dict[str, int] = {}
    for special in specials:
        name, equals, number = special.rpartition("=")
        if not equals or not name or not (number.isascii() and number.isdigit()):
            raise click.UsageError(f"--special {special!r} should be NAME=ID, such as '<|endoftext|>=50256'")
        if name in found:
            raise click.UsageError(f"--special names {name!r} twice; leave one out")
        found[name] = int(number)
    return found or None
