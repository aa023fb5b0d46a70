"""``bytepair evaluate``: tokenizers and baselines measured on text."""

from __future__ import annotations

from typing import Any

import click

from . import _corpus, _io, _measured

BASELINES = ("bytes", "characters", "words")


@click.command("evaluate")
@click.argument("tokenizers", metavar="TOKENIZER...", nargs=-1)
@click.option("--corpus", "corpora", multiple=True, required=True, metavar="[NAME=]PATH",
              help="A file or folder; several, or named ones, are groups, such as languages.")  # fmt: skip
@click.option("--by", type=click.Choice(["group", "file", "suffix"]), default="group", show_default=True,
              help="What has a row of its own: each --corpus, each file, or each kind of file.")  # fmt: skip
@click.option("--baseline", "baselines", multiple=True, type=click.Choice(BASELINES),
              help="Measure this as well; repeat.")  # fmt: skip
@click.option("--training", multiple=True, metavar="PATH", help="Where the baselines know their words from.")
@click.option("--vocab-size", type=click.IntRange(2), help="Ids of the baseline words.")
@click.option("--rare", type=click.IntRange(1), default=10, show_default=True, help="Fewer occurrences are rare.")
@click.option("--parallel", is_flag=True, help="The groups are translations: show their parity with the first.")
@click.option("--loss", "losses", type=float, multiple=True, metavar="NATS",
              help="Also show this loss per token, of a model, as bits per byte.")  # fmt: skip
@_corpus.content_options
@_measured.outputs
def command(
    tokenizers: tuple[str, ...],
    corpora: tuple[str, ...],
    by: str,
    baselines: tuple[str, ...],
    training: tuple[str, ...],
    vocab_size: int | None,
    rare: int,
    parallel: bool,
    losses: tuple[float, ...],
    **output: Any,
) -> None:
    """Measure each TOKENIZER: compression, tokens per word, words kept whole, vocabulary used, Rényi efficiency.

    \b
    Examples:
      bytepair evaluate my.json gpt2 cl100k_base --corpus notes.txt --baseline bytes
      bytepair evaluate my.json --corpus de=german.txt --corpus hi=hindi.txt --plot sizes.png
    """
    from ..evaluate import evaluate

    _measured.check(output)
    how = {name: output.pop(name) for name in _corpus.OPTIONS if name in output}
    groups = {name: _corpus.corpus(map(str, paths), dict(how)) for name, paths in _measured.groups(corpora, by).items()}
    named: dict[str, Any] = {}
    for name in tokenizers:
        short = _measured.short(name)
        named[short if short not in named else name] = _io.load(name)
    report = evaluate(
        named,
        groups,
        baselines=baselines,
        training=_corpus.corpus(_measured.existing(training), dict(how)) if training else None,
        vocab_size=vocab_size,
        rare_under=rare,
        parallel=parallel,
    )
    _measured.write(report, "bytepair evaluate", output)
    if losses and not output["as_json"] and not output["csv"]:
        from .. import showing

        rows = report.bits_per_byte(losses)
        header = ["tokenizer", "group", *(f"{loss:g} nats" for loss in losses)]
        cells = [[r["tokenizer"], r["group"], *(f"{r[str(loss)]:.4f}" for loss in losses)] for r in rows]
        click.echo("\nbits per byte\n" + "\n".join(showing.table(header, cells, left={0, 1})))
