"""The option ``--normalizer`` of the verbs that change a text before it is cut."""

from __future__ import annotations

from typing import Any

import click

option = click.option(
    "--normalizer",
    metavar="NAMES",
    multiple=True,
    help="Change each text before it is cut, in training and in encoding: nfc, nfd, nfkc, nfkd, lower, strip_accents, "
    "several with commas between, or replace:OLD:NEW; repeat.",
)


def of(values: tuple[str, ...]) -> Any:
    """What all --normalizer say, in their order."""
    from ..errors import TrainingError
    from ..pipeline.normalise import normaliser_of

    steps: list[Any] = []
    for value in values:
        parts = value.split(":")
        if parts[0] != "replace":
            steps += value.split(",")
        elif len(parts) == 3:
            steps.append(tuple(parts))
        else:
            raise click.UsageError(
                f"--normalizer {value}: write replace:OLD:NEW, neither of them with a colon; in Python "
                'train(normalizer=("replace", old, new)) takes any text'
            )
    try:
        return normaliser_of(steps)
    except TrainingError as error:
        raise click.UsageError(str(error)) from error
