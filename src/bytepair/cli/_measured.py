"""What ``evaluate`` and ``sweep`` share: groups of files, and tables, CSV, JSON, pages and pictures of a result."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from . import _io


def outputs(verb: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say what is written, and where."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print JSON."),
        click.option("--csv", is_flag=True, help="Print comma-separated values."),
        click.option("--plot", metavar="PICTURE", help="Draw a picture as well: a PNG, SVG or PDF, by its name."),
        click.option("-o", "--output", metavar="OUT", help="Write the table here; OUT.html is a page in one file."),
    ):
        verb = option(verb)
    return verb


def check(output: dict[str, Any]) -> None:
    """Refuse what cannot be written before the work begins."""
    if output["as_json"] and output["csv"]:
        raise click.UsageError("give --json or --csv, not both")
    _io.check_output(output["output"])
    _io.check_output(output["plot"])


def write(found: Any, title: str, output: dict[str, Any]) -> None:
    """The result in the form that was asked for."""
    target = output["output"]
    if output["as_json"]:
        text = json.dumps(found.to_json()) + "\n"
    elif output["csv"]:
        text = found.to_csv()
    elif target is not None and target.endswith(".html"):
        from ..showing import html

        text = html.page(title, found._repr_html_())
    else:
        text = f"{found}\n"
    if output["plot"] is not None:
        found.plot(output["plot"])
    with _io.writing(target) as out:
        out.write(text.encode("utf-8"))


def short(name: str) -> str:
    """What a table calls a tokenizer: a known name, or a file's without folder and ending."""
    path = Path(name)
    return path.stem if path.exists() else name


def existing(paths: tuple[str, ...]) -> tuple[str, ...]:
    for path in paths:
        if not Path(path).exists():
            raise click.ClickException(f"cannot read {path}: there is no such file or folder")
    return paths


def groups(corpora: tuple[str, ...], by: str) -> dict[str, list[Path]]:
    """Name -> files of each group."""
    from ..corpus.readers import folder_files

    found: dict[str, list[Path]] = {}
    for given in corpora:
        name, equals, path = given.partition("=")
        if not equals or Path(given).exists():
            name, path = given, given
        existing((path,))
        here = Path(path)
        files = folder_files(here) if here.is_dir() else [here]
        for file in files:
            group = {"group": name, "file": str(file), "suffix": file.suffix or "no suffix"}[by]
            found.setdefault(group, []).append(file)
    if not found:
        raise click.ClickException("there are no files to measure on")
    return found
