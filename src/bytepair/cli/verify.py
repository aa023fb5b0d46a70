"""``bytepair verify``: two tokenizers on the same texts, and a certificate or the first difference."""

from __future__ import annotations

import json
from pathlib import Path

import click

from ..errors import FormatError, PatternError
from . import _io


@click.command("verify")
@click.argument("a")
@click.argument("b", required=False)
@click.option("--corpus", metavar="FILE", multiple=True, help="Compare on this text too, a file or a folder; repeat.")
@click.option(
    "--self",
    "alone",
    is_flag=True,
    help="Be content with bytepair alone: exit 0 although the owner's library could not be asked.",
)
@click.option(
    "--seed", type=int, default=0, show_default=True, metavar="N", help="Another number makes other random strings."
)
@click.option(
    "--random",
    "number",
    type=click.IntRange(0),
    default=2000,
    show_default=True,
    metavar="N",
    help="Compare on so many random strings.",
)
@_io.what_files_lack
@click.option("--json", "as_json", is_flag=True, help="Print the certificate as one JSON object.")
def command(
    a: str,
    b: str | None,
    corpus: tuple[str, ...],
    alone: bool,
    seed: int,
    number: int,
    pattern: str | None,
    specials: tuple[str, ...],
    vocab: str | None,
    as_json: bool,
) -> None:
    """Compare the tokenizers A and B, and the libraries that own their formats, text by text.

    Each is a tokenizer's file, a folder, or a name. All of them encode and decode the same texts: a built-in one on
    which tokenizers were seen to fail, each token of the vocabulary, random strings, and the corpus. Ids, decoded text
    and offsets have to be the same, with the names of special tokens taken as text and as tokens.

    The library that owns a format (tiktoken, tokenizers, sentencepiece, subword-nmt, mistral-common) takes part where
    it is installed. Without B, A is held against its owner's library.

    What is printed is a certificate, which says what was compared and has the hashes of all files, or the first
    difference of each kind with its place. The exit code is 0 for a certificate and 1 for a difference. It is 1 too
    where the owner's library is missing, which the first line says, unless --self is given.

    \b
    Examples:
      bytepair verify tokenizer.json
      bytepair verify tokenizer.json my.json --corpus notes.txt
      bytepair verify my.json --self
    """
    from ..verifying import verify

    if "-" in (a, b, *corpus):
        raise click.UsageError("everything is read more than once here, so that stdin (-) cannot be; give files")
    files = _files(corpus)
    try:
        found = verify(
            a,
            b,
            corpus=files,
            seed=seed,
            random=number,
            progress=True,
            pattern=pattern,
            specials=_io.named_ids(specials),
            vocab=vocab,
        )
    except PatternError as error:
        raise click.UsageError(str(error)) from error
    click.echo(json.dumps(found.to_json(), indent=1) if as_json else _plain(str(found)))
    if not found.equal or not (found.with_owner or alone):
        click.get_current_context().exit(1)


def _files(corpus: tuple[str, ...]) -> list[Path]:
    """The corpus, folders opened."""
    from ..corpus.readers import folder_files

    files: list[Path] = []
    for name in corpus:
        path = Path(name)
        if path.is_dir():
            files += folder_files(path)
        elif path.exists():
            files.append(path)
        else:
            raise FormatError(f"cannot read {name}: there is no such file")
    return files


def _plain(text: str) -> str:
    """The report with nothing in it that a terminal obeys."""
    from ..showing import one_line

    return "\n".join(one_line(line) for line in text.split("\n"))
