"""What ``bytepair demo`` shows: tables, bars and coloured tokens. ``demo`` finds it all out."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

from .. import showing
from . import _io

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from ..record import MergeStep
    from .demo import Demo

ACCENT = "#0087d7"  # reads on light and on dark
_ROWS = 10  # merges in either table
_PAIR = 17  # columns of a pair
_BAR = 12  # columns of a bar for each byte, where there is room


def show(demo: Demo) -> None:
    """Print all that a run found out."""
    console = showing.console()
    console.print()
    _line(console, "", ("bytepair demo", f"bold {ACCENT}"), ("  a tokenizer for Python code", ""))
    console.print()
    _read(console, demo)
    _line(
        console,
        "learned",
        (f"{_io.plural(demo.tokenizer.vocab_size, 'token')}", "bold"),
        (f", {_io.plural(len(demo.record), 'merge')} among them, in ", ""),
        (f"{demo.train_seconds:.1f} s", "bold"),
    )
    console.print()
    _merges(console, demo)
    console.print()
    _compression(console, demo)
    console.print()
    _function(console, demo)
    _line(
        console,
        "proved",
        (f"all {_io.plural(demo.files, 'file')}, {demo.bytes:,} bytes", "bold"),
        (f", came back byte for byte ({demo.check_seconds:.1f} s)", ""),
    )
    _line(console, "saved", (showing.one_line(demo.output), "bold"), (f", {_io.size(demo.output_bytes)}", ""))
    console.print()
    _next(console, demo)


def _line(console: Console, label: str, *parts: tuple[str, str]) -> None:
    from rich.text import Text

    console.print(Text.assemble("  ", (f"{label:<9}" if label else "", "dim"), *parts), soft_wrap=True)


def _read(console: Console, demo: Demo) -> None:
    _line(
        console,
        "read",
        (f"{_io.plural(demo.files, 'file')}, {_io.size(demo.bytes)}", "bold"),
        (f", the library of Python {platform.python_version()}" if demo.is_library else "", ""),
    )
    if demo.files < demo.found_files:
        _line(
            console,
            " ",
            (f"of {_io.plural(demo.found_files, 'file')}, {_io.size(demo.found_bytes)}: ", ""),
            ("without the compiled core all is slower", ""),
        )
    _line(console, "from", (showing.one_line(demo.folder), ""))


def _merges(console: Console, demo: Demo) -> None:
    from rich.padding import Padding
    from rich.table import Table

    steps = list(demo.record)
    first = _table(console, demo, "The first merges", steps[:_ROWS])
    last = _table(console, demo, "The last merges", steps[max(len(steps) - _ROWS, _ROWS) :])
    both = Table.grid(padding=(0, 4, 0, 0))
    if console.width >= 78:
        both.add_row(first, last)
    else:
        both.add_row(first)
        both.add_row("")
        both.add_row(last)
    console.print(Padding(both, (0, 0, 0, 2)))


def _table(console: Console, demo: Demo, title: str, steps: list[MergeStep]) -> Table:
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("rank", justify="right", header_style="dim", style="dim", min_width=5)
    table.add_column("pair", header_style="dim", min_width=_PAIR, no_wrap=True)
    table.add_column("count", justify="right", header_style="dim", min_width=9)
    for step in steps:
        pair = showing.tokens(showing.pieces(demo.tokenizer, (step.left, step.right)), console, inline=True)
        pair.truncate(_PAIR, overflow="ellipsis")
        table.add_row(f"{step.step:,}", pair, f"{step.count:,}")
    return table


def _compression(console: Console, demo: Demo) -> None:
    _line(console, "", ("Bytes per token", "bold"))
    unit = min(_BAR, (console.width - 20) / demo.bytes_per_token)
    for label, value in (("before", 1.0), ("after", demo.bytes_per_token)):
        _line(console, label, ("█" * round(value * unit), ACCENT), (f" {value:.2f}", "bold"))


def _function(console: Console, demo: Demo) -> None:
    if demo.function is None:
        return
    from rich.text import Text

    function = demo.function
    _line(
        console,
        "",
        (function.name, "bold"),
        (f"  {len(function.source):,} bytes, {_io.plural(len(function.ids), 'token')}", "dim"),
    )
    shown = showing.tokens(showing.pieces(demo.tokenizer, function.ids), console)
    for line in shown.split("\n"):
        console.print(Text("    ").append_text(line), soft_wrap=True)
    console.print()


def _next(console: Console, demo: Demo) -> None:
    import shlex

    name = shlex.quote(showing.one_line(demo.output))
    _line(console, "", ("Go on with", "bold"))
    for command in (
        f'bytepair encode {name} --text "def main(): pass" --pieces',
        f"bytepair merges {name} --first 20",
        "bytepair train YOUR-FOLDER -o my.json",
    ):
        _line(console, "", (f"  {command}", ACCENT))
