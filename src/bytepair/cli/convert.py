"""``bytepair convert``: a tokenizer from one format into another, and a look at whether it stayed the same."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import BytepairNotice, PatternError, SpecialTokenError
from . import _io

if TYPE_CHECKING:
    from ..formats.source import Written
    from ..tokenizer import Tokenizer
    from ..verifying import Certificate


@click.command("convert")
@click.argument("a")
@click.argument("b")
@click.option(
    "--to",
    "format",
    metavar="FORMAT",
    help="Write this format, such as bytepair, huggingface or tiktoken. Unless given, B's name must tell: "
    "tokenizer.json or a folder is huggingface, any other .json is bytepair, .tiktoken is tiktoken.",
)
@_io.what_files_lack
@click.option("--force", is_flag=True, help="Overwrite B where it is there already.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: what was written, lost and compared.")
def command(
    a: str,
    b: str,
    format: str | None,
    pattern: str | None,
    specials: tuple[str, ...],
    vocab: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write the tokenizer A, a file, a folder or a name, as B in another format.

    What the format cannot hold is an error, or is told as a loss: nothing is left out silently. Then B is read again
    and compared with A on the texts that `bytepair verify` has built in; the exit code is 1 if they differ. What such a
    file never says, as a rank file its pattern and special tokens, the comparison takes from A.

    \b
    Examples:
      bytepair convert my.json tokenizer.json
      bytepair convert tokenizer.json ranks.tiktoken
      bytepair convert ranks.tiktoken my.json --pattern cl100k --special "<|endoftext|>=100257"
    """
    from ..formats import FORMATS, load

    if a == "-" or b == "-":
        raise click.UsageError("B is read again, and a tokenizer may be several files, so that - cannot be; give paths")
    path = Path(b)
    wanted = format if format is not None else _guess(b)
    _check_format(wanted)
    named = _io.named_ids(specials)
    options: dict[str, Any] = {"pattern": pattern, "specials": named, "vocab": vocab}
    try:
        tok = load(a, **{key: value for key, value in options.items() if value is not None})
    except (PatternError, SpecialTokenError) as error:
        raise click.UsageError(str(error)) from error
    written: Written = FORMATS[wanted].write(tok)
    files = _files(written, path)
    _check_files(files, path, force, a, vocab)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BytepairNotice)  # the losses, which are printed below
        tok.save(path, format=wanted)
    found = _compared(tok, path, files, wanted)
    if as_json:
        told = {
            "from": {"file": a, "fingerprint": tok.fingerprint, "vocab_size": tok.vocab_size},
            "to": {"format": wanted, "files": [_facts(file) for file in files]},
            "losses": list(written.losses),
            "check": found.to_json(),
        }
        click.echo(json.dumps(told, indent=1))
    else:
        _tell(tok, files, wanted, written, found, a, b)
    if not found.equal:
        click.get_current_context().exit(1)


# ---- what to write, and where ----


def _guess(name: str) -> str:
    """The format that the name of a file says, if no other has such names."""
    from ..formats import FORMATS, WRITERS

    path = Path(name)
    if path.is_dir() or name.endswith(("/", os.sep)):
        return "huggingface"
    if path.name in ("tokenizer.json", "tekken.json"):
        return next(kind for kind, module in FORMATS.items() if path.name in module.FILES)
    if path.suffix == ".json":
        return "bytepair"
    if path.suffix == ".tiktoken":
        return "tiktoken"
    why = "several formats have such names" if path.suffix == ".model" else "its name does not say it"
    raise click.UsageError(f"which format {name} should have is not clear, as {why}; say --to {' | '.join(WRITERS)}")


def _check_format(format: str) -> None:
    from ..formats import FORMATS, WRITERS

    if format in WRITERS:
        return
    what = "can be read and not written" if format in FORMATS else "is no format that this version knows"
    raise click.UsageError(f"{format!r} {what}; --to takes {', '.join(WRITERS)}")


def _files(written: Written, path: Path) -> list[Path]:
    """The files that saving writes."""
    alone = "" in written.files or (bool(written.main) and bool(path.suffix) and not path.is_dir())
    return [path] if alone else [path / name for name in written.files]


def _check_files(files: list[Path], path: Path, force: bool, *read: str | None) -> None:
    for file in files:
        if any(name is not None and file.resolve() == Path(name).resolve() for name in read):
            raise click.UsageError(f"{file} would overwrite the file that is read; give another name")
        if file.exists() and not force:
            raise click.ClickException(f"{file} is there already; --force overwrites it")
    if files != [path] and path.exists() and not path.is_dir():
        raise click.ClickException(f"{path} is a file, and the format is a folder of {len(files)} files; name a folder")
    folder = path.parent
    if not folder.is_dir():
        raise click.ClickException(f"cannot write {path}: there is no folder {folder}")


# ---- whether it stayed the same ----


def _compared(tok: Tokenizer, path: Path, files: list[Path], format: str) -> Certificate:
    """A and what was written, on the torture text; with what the file cannot say given to it."""
    from ..verifying import read_again, verify

    return verify(
        tok,
        read_again(path if len(files) > 1 else files[0], tok, format),
        random=200,
        tokens=True,
        owners=False,
        policies=("text", "all"),
        progress=True,
    )


def _facts(file: Path) -> dict[str, Any]:
    data = file.read_bytes()
    return {"file": str(file), "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def _tell(tok: Tokenizer, files: list[Path], format: str, written: Written, found: Certificate, a: str, b: str) -> None:
    from ..showing import one_line

    for file in files:
        click.echo(f"wrote    {one_line(str(file))}, {_io.size(file.stat().st_size)}")
    click.echo(f"format   {format}, {_io.plural(tok.vocab_size, 'token')}")
    for loss in written.losses:
        click.echo(f"lost     {one_line(loss)}")
    texts = sum(row.texts for row in found.compared)
    if found.equal:
        click.echo(f"checked  read again, it gives the same in {_io.plural(texts, 'text')}")
        click.echo(f"         bytepair verify {one_line(a)} {one_line(b)} asks the owner's library too")
        return
    click.echo("differs  read again, it does not give the same:")
    for difference in found.differences:
        for line in str(difference).split("\n"):
            click.echo(f"         {one_line(line)}")
