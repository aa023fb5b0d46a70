"""``bytepair gage``: compress, decompress and trace files with Gage's 1994 algorithm.

Reads a file or stdin, writes a file or stdout, and says in one line on stderr what it did. The algorithm and the file
format are in ``bytepair.gage``; here is only the command. The command group takes ``command`` from here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict

import click

from .. import gage
from ..errors import BytepairError
from . import _io

_SHOWN = 64  # longer blocks would drown the steps
_ONLY_COMPRESSING = ("block_size", "min_count", "max_replacements", "trace")
_ONLY_DECOMPRESSING = ("max_size",)


@click.command("gage")
@click.argument("file", default="-", type=click.Path(dir_okay=False, allow_dash=True))
@click.option("-o", "--output", metavar="OUT", help="Write the data to this file; - is stdout.")
@click.option("-d", "--decompress", is_flag=True, help="Give back the original of a compressed FILE.")
@click.option(
    "--block-size",
    type=click.IntRange(1, gage.MAX_BLOCK_SIZE),
    default=gage.DEFAULT_BLOCK_SIZE,
    show_default=True,
    help="Bytes in a block; each block has its own table of pairs.",
)
@click.option(
    "--min-count", type=click.IntRange(2), default=2, show_default=True, help="Stop when no pair counts so often."
)
@click.option("--max-replacements", type=click.IntRange(0), help="Stop after so many replacements in a block.")
@click.option(
    "--max-size",
    type=click.IntRange(0),
    default=gage.DEFAULT_MAX_SIZE,
    show_default=True,
    help="Refuse to decompress a file that declares more bytes.",
)
@click.option("--trace", is_flag=True, help="Print each replacement and then its reversal on stdout.")
@click.option("--json", "as_json", is_flag=True, help="Print the sizes, and the trace, on stdout as JSON lines.")
@click.pass_context
def command(
    context: click.Context,
    file: str,
    output: str | None,
    decompress: bool,
    block_size: int,
    min_count: int,
    max_replacements: int | None,
    max_size: int,
    trace: bool,
    as_json: bool,
) -> None:
    """Compress FILE, or stdin, with the algorithm that byte-pair encoding comes from (Philip Gage, 1994).

    In each block of the data the most frequent pair of bytes is replaced by a byte value that the block does not use,
    again and again, until no pair repeats or no value is free.

    The data goes to stdout, or to OUT. With --trace or --json the report goes to stdout, and the data is only written
    where -o names a file. A summary goes to stderr.

    \b
    Examples:
      bytepair gage notes.txt -o notes.gage
      bytepair gage -d notes.gage -o notes.txt
      printf ababcabcd | bytepair gage --trace
    """
    report = trace or as_json
    _check_use(context, decompress, file, output, report)
    data = _io.read(file)
    try:
        if decompress:
            with _progress("decompressing", len(data)) as progress:
                result = gage.decompress(data, max_size=max_size, progress=progress)
        else:
            with _progress("compressing", len(data)) as progress:
                result = gage.compress(
                    data,
                    block_size=block_size,
                    min_count=min_count,
                    max_replacements=max_replacements,
                    progress=progress,
                )
        told = gage.summary(data if decompress else result)
    except BytepairError as error:
        raise click.ClickException(f"{_io.name_of(file)}: {error}") from error
    if output is not None or not report:
        _io.write_bytes(output, result)
    if trace:
        _trace(data, block_size, min_count, max_replacements, as_json)
    if as_json:
        click.echo(json.dumps({"event": "summary", **asdict(told), "ratio": told.ratio}))
    click.echo(_sentence(told, decompress), err=True)


def _check_use(context: click.Context, decompress: bool, file: str, output: str | None, report: bool) -> None:
    """Refuse options that would have no effect, and places where the data must not go."""
    for name in _ONLY_COMPRESSING if decompress else _ONLY_DECOMPRESSING:
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            option = "--" + name.replace("_", "-")
            if decompress:
                raise click.UsageError(f"{option} is for compressing; leave it out, or leave --decompress out")
            raise click.UsageError(f"{option} is for decompressing; add --decompress, or leave {option} out")
    if report and output == "-":
        raise click.UsageError("stdout cannot hold both the report and the data; name a file with -o")
    _io.check_output(output, file)
    if not report and not decompress and output in (None, "-") and _io.is_terminal(sys.stdout):
        raise click.UsageError("compressed data is not written to a terminal; give a file with -o, or use --trace")


def _sentence(told: gage.Summary, decompressed: bool) -> str:
    sizes = (told.compressed_size, told.size) if decompressed else (told.size, told.compressed_size)
    blocks = f"{told.blocks:,} block{'' if told.blocks == 1 else 's'}"
    raw = (
        f", {told.raw_blocks:,} stored as {'it is' if told.raw_blocks == 1 else 'they are'}" if told.raw_blocks else ""
    )
    steps = f"{told.replacements:,} replacement{'' if told.replacements == 1 else 's'}"
    return f"{sizes[0]:,} -> {sizes[1]:,} bytes, ratio {told.ratio:.3f}, {steps} in {blocks}{raw}"


@contextmanager
def _progress(verb: str, size: int) -> Iterator[Callable[[int, int], None] | None]:
    """Show a bar on stderr for data that takes a while, if somebody is watching."""
    if size < 100_000 or not _io.is_terminal(sys.stderr):
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(verb, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _trace(data: bytes, block_size: int, min_count: int, max_replacements: int | None, as_json: bool) -> None:
    """Print the steps of each block, then take them back from the last to the first and print that too."""
    for number, start in enumerate(range(0, len(data), block_size), 1):
        original = block = data[start : start + block_size]

        def say(text: str, event: str, number: int = number, **facts: object) -> None:
            click.echo(json.dumps({"event": event, "block": number, **facts}) if as_json else text)

        say(
            f"block {number}: {len(block)} bytes at offset {start}{_content(block)}",
            "block",
            offset=start,
            length=len(block),
        )
        steps: list[tuple[int, bytes, int]] = []
        for step in gage.trace(block, block_size=block_size, min_count=min_count, max_replacements=max_replacements):
            say(
                f"  step {step.step}: {_quoted(step.pair)} -> {step.value:02x}, {_times(step.count)}, "
                f"{len(block)} to {step.length} bytes{_content(step.after)}",
                "replace",
                step=step.step,
                pair=list(step.pair),
                value=step.value,
                count=step.count,
                length=step.length,
            )
            block = step.after
            steps.append((step.step, step.pair, step.value))
        reason = _reason(original, len(steps), min_count, max_replacements)
        say(f"  stop: {reason}", "stop", reason=reason, length=len(block))
        for index, pair, value in reversed(steps):
            count, before = block.count(value), len(block)
            block = block.replace(bytes((value,)), pair)
            say(
                f"  back {index}: {value:02x} -> {_quoted(pair)}, {_times(count)}, "
                f"{before} to {len(block)} bytes{_content(block)}",
                "reverse",
                step=index,
                pair=list(pair),
                value=value,
                count=count,
                length=len(block),
            )


def _reason(block: bytes, steps: int, min_count: int, max_replacements: int | None) -> str:
    if len(set(block)) + steps == 256:
        return "no byte value is free"
    if steps == max_replacements:
        return f"--max-replacements is {steps}"
    return "no pair repeats" if min_count == 2 else f"no pair counts {min_count} or more"


def _times(count: int) -> str:
    return f"{count} time{'' if count == 1 else 's'}"


def _content(block: bytes) -> str:
    return f": {_quoted(block)}" if len(block) <= _SHOWN else ""


def _quoted(data: bytes) -> str:
    return repr(data)[1:]
