"""``bytepair train --plan``: what training would take, as a table or JSON."""

from __future__ import annotations

import json
from typing import Any

import click

from ..errors import TrainingError
from . import _io


def show(corpus: Any, as_json: bool, **options: Any) -> None:
    """Print the estimate for training with the verb's options."""
    from ..corpus.plan import plan
    from ..pattern import resolve
    from ..vocabulary import AL1_SPECIALS

    by_bytes = options["alphabet"] == "bytes"
    names = options.get("specials", AL1_SPECIALS)
    merges = options["num_merges"]
    if merges is None:
        merges = max(options["vocab_size"] - len(names) - 256, 0)
    try:
        made = plan(
            corpus,
            pattern=options["pattern"] or resolve("gpt2" if by_bytes else "whitespace"),
            specials=names,
            merges=merges,
            min_freq=options["min_freq"],
            threads=options["threads"],
            max_memory=options["max_memory"],
        )
    except TrainingError as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps(made.to_json(), indent=1))
        return
    rows = [
        ("corpus", _io.size(made.corpus)),
        ("sample", _io.size(made.sample)),
        ("distinct pretokens", f"{made.distinct:,}, {_io.size(made.distinct_bytes)} of text"),
        ("growth", f"n^{made.growth:.2f}"),
        ("memory for counting", _io.size(made.count_memory)),
        ("memory for merging", _io.size(made.merge_memory)),
        ("disk", _io.size(made.disk) if made.disk else "none"),
        ("time for counting", _seconds(made.count_seconds)),
        ("time for merging", _seconds(made.merge_seconds)),
    ]
    width = max(len(name) for name, _ in rows)
    click.echo("\n".join(f"{name:<{width}}  {value}" for name, value in rows))
    click.echo("estimated from the sample; memory and time may differ by half or twice", err=True)


def _seconds(number: float) -> str:
    if number < 100:
        return f"{number:.1f} s"
    return f"{number / 60:.0f} min" if number < 6000 else f"{number / 3600:.1f} h"
