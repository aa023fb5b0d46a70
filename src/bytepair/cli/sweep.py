"""``bytepair sweep``: how large a vocabulary, measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from . import _measured


@click.command("sweep")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--held-out", multiple=True, metavar="PATH", help="Measure on this; else on every tenth document.")
@click.option("--sizes", default="512,1024,2048,4096,8192,16384,32768", show_default=True, metavar="N,N,...",
              help="Sizes of vocabulary to show; the picture has all of them.")  # fmt: skip
@click.option("--pattern", "patterns", multiple=True, metavar="NAME", help="Try this pattern; repeat. [default: gpt2]")
@click.option("--share", "shares", multiple=True, type=float, metavar="X",
              help="Use this share of the training text, above 0 and up to 1; repeat. [default: 1]")  # fmt: skip
@click.option("--width", type=click.IntRange(1), default=768, show_default=True, help="Of the model.")
@click.option("--context", type=click.IntRange(1), default=1024, show_default=True, help="Of the model, in tokens.")
@_measured.outputs
def command(
    files: tuple[str, ...],
    held_out: tuple[str, ...],
    sizes: str,
    patterns: tuple[str, ...],
    shares: tuple[float, ...],
    width: int,
    context: int,
    **output: Any,
) -> None:
    """Train once on FILE..., and measure every size of vocabulary on held-out text.

    The table has compression, the share of the vocabulary that is used, and what a size costs a model: parameters of
    the embedding, text in a context, and attention.

    \b
    Examples:
      bytepair sweep src --plot sizes.png
      bytepair sweep train.txt --held-out test.txt --pattern gpt2 --pattern o200k --share 0.1 --share 1
    """
    from ..evaluate import sweep

    _measured.check(output)
    found = sweep(
        [Path(path) for path in _measured.existing(files)],
        held_out=[Path(path) for path in _measured.existing(held_out)] or None,
        vocab_sizes=_sizes(sizes),
        patterns=patterns or ("gpt2",),
        shares=shares or (1.0,),
        width=width,
        context=context,
        specials=(),
    )
    _measured.write(found, "bytepair sweep", output)


def _sizes(text: str) -> list[int]:
    words = text.replace(",", " ").split()
    for word in words:
        if not (word.isascii() and word.isdigit()):
            raise click.UsageError(f"--sizes: {word!r} is no size; give whole numbers, such as 1024,8192")
    return [int(word) for word in words]
