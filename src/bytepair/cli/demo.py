"""``bytepair demo``: the whole path on real input that every machine has, the sources of Python's standard library.

Trains, proves that every file comes back from its ids, saves the tokenizer, and shows what it learned. What the screen
shows is drawn in ``_demo_screen``.
"""

from __future__ import annotations

import ast
import json
import os
import platform
import sysconfig
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from ..progress import Report
from . import _io

if TYPE_CHECKING:
    from ..record import TrainingRecord
    from ..tokenizer import Tokenizer

VOCAB_SIZE = 8192
PATTERN = "gpt2"
PURE_SHARE = 8_000_000
"""Bytes that are read where there is no compiled core: ten seconds' work, or a minute's on a slow machine."""

_NOT_THE_LIBRARY = {"site-packages", "dist-packages", "__pycache__"}
_BATCH = 8 << 20  # bytes that are encoded at a time
_FUNCTIONS = (("shlex.py", "quote"), ("heapq.py", "heappush"))
_LONGEST, _WIDEST = 16, 72  # lines and columns of a function that still fits a small screen


@dataclass(frozen=True)
class Function:
    """A function of the corpus, to look at."""

    name: str
    source: bytes
    ids: list[int]


@dataclass(frozen=True)
class Demo:
    """What a run found out."""

    tokenizer: Tokenizer
    record: TrainingRecord
    engine: str
    folder: str
    is_library: bool
    found_files: int
    found_bytes: int
    files: int
    bytes: int
    tokens: int
    train_seconds: float
    check_seconds: float
    function: Function | None
    output: str
    output_bytes: int

    @property
    def bytes_per_token(self) -> float:
        return self.bytes / self.tokens if self.tokens else 1.0

    def to_json(self) -> dict[str, Any]:
        """Plain values; bytes are text with one character for each byte (Latin-1)."""
        function = self.function and {
            "name": self.function.name,
            "source": self.function.source.decode("latin-1"),
            "ids": self.function.ids,
        }
        return {
            "python": platform.python_version(),
            "engine": self.engine,
            "folder": self.folder,
            "found": {"files": self.found_files, "bytes": self.found_bytes},
            "read": {"files": self.files, "bytes": self.bytes},
            "vocab_size": self.tokenizer.vocab_size,
            "merges": len(self.record),
            "train_seconds": self.train_seconds,
            "first": [step.to_json() for step in self.record[:10]],
            "last": [step.to_json() for step in self.record[-10:]],
            "bytes_per_token": {"before": 1.0, "after": self.bytes_per_token},
            "tokens": self.tokens,
            "function": function,
            "round_trip": {"files": self.files, "bytes": self.bytes, "exact": True, "seconds": self.check_seconds},
            "saved": {"file": self.output, "bytes": self.output_bytes},
        }


@click.command("demo")
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    default="bytepair-demo.json",
    show_default=True,
    help="Save the tokenizer to this file.",
)
@click.option("--corpus", metavar="FOLDER", help="Learn from the .py files below this folder instead.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found out as one JSON object.")
def command(output: str, corpus: str | None, as_json: bool) -> None:
    """Train a tokenizer on the sources of Python's own standard library, and show what it learned.

    Needs nothing but this machine and takes some seconds. It learns 8,192 tokens from all .py files of the library,
    encodes every one of them and decodes it again to prove that each comes back byte for byte, and saves the tokenizer
    in the current folder, for you to go on with.
    """
    if output == "-":
        raise click.UsageError("the demo prints what it found on stdout; give the name of a file to -o")
    _io.check_output(output)
    demo = run(Path(corpus or sysconfig.get_path("stdlib")), output, is_library=corpus is None)
    if as_json:
        click.echo(json.dumps(demo.to_json(), indent=1))
        return
    from ._demo_screen import show

    show(demo)


def run(folder: Path, output: str, *, is_library: bool) -> Demo:
    """Train on the sources below a folder, check every file, and save the tokenizer."""
    from .. import _engine, train

    found = list(_sources(folder))
    if not found:
        raise click.ClickException(_nothing_found(folder, is_library))
    found_bytes = sum(size for _, size in found)
    chosen = found if _engine.NAME == "core" else _share(found, PURE_SHARE)
    paths = [path for path, _ in chosen]

    start = time.perf_counter()
    tok = train(paths, vocab_size=VOCAB_SIZE, pattern=PATTERN, progress=True)
    trained = time.perf_counter()
    read, tokens = _check(tok, paths, sum(size for _, size in chosen))
    checked = time.perf_counter()
    _io.save(tok, output)
    return Demo(
        tokenizer=tok,
        record=cast("TrainingRecord", tok.record),
        engine=_engine.NAME,
        folder=str(folder),
        is_library=is_library,
        found_files=len(found),
        found_bytes=found_bytes,
        files=len(paths),
        bytes=read,
        tokens=tokens,
        train_seconds=trained - start,
        check_seconds=checked - trained,
        function=_function(tok, folder, [path for path, _ in found]),
        output=output,
        output_bytes=Path(output).stat().st_size,
    )


def _sources(folder: Path) -> Iterator[tuple[Path, int]]:
    """The .py files below a folder and their sizes, in the order of their names, without what was installed later."""
    # Unlike corpus.readers this never walks through site-packages, which may hold a hundred times as many files.
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(n for n in folders if n not in _NOT_THE_LIBRARY and not n.startswith("."))
        for name in sorted(names):
            path = Path(where, name)
            if name.endswith(".py") and path.is_file() and not path.is_symlink():
                yield path, path.stat().st_size


def _nothing_found(folder: Path, is_library: bool) -> str:
    if not is_library:
        return f"there is no .py file below {folder}; give another folder with --corpus"
    return (
        f"this Python's standard library has no .py files below {folder}, it may be zipped; "
        "give a folder with Python code with --corpus"
    )


def _share(found: list[tuple[Path, int]], limit: int) -> list[tuple[Path, int]]:
    """Files from all over the list, with at most ``limit`` bytes together, but one at least."""
    step = -(-sum(size for _, size in found) // limit) or 1
    chosen: list[tuple[Path, int]] = []
    held = 0
    for path, size in found[::step]:
        if not chosen or held + size <= limit:
            chosen.append((path, size))
            held += size
    return chosen


def _check(tok: Tokenizer, paths: list[Path], total: int) -> tuple[int, int]:
    """Encode and decode every file; gives the bytes and the tokens. A file that does not come back is an error."""
    read = tokens = 0
    with Report.reporter("check", "bytes", total, True) as report:
        for batch in _batches(paths):
            rows = tok.encode_batch_array(data for _, data in batch)
            for (path, data), ids in zip(batch, rows):
                if tok.decode_bytes(ids) != data:
                    raise click.ClickException(
                        f"{path} did not come back from its ids byte for byte, which is a fault of bytepair; report it"
                    )
                read += len(data)
                tokens += len(ids)
            report.update(read)
    return read, tokens


def _batches(paths: list[Path]) -> Iterator[list[tuple[Path, bytes]]]:
    batch: list[tuple[Path, bytes]] = []
    held = 0
    for path in paths:
        batch.append((path, _io.read(path)))
        held += len(batch[-1][1])
        if held >= _BATCH:
            yield batch
            batch, held = [], 0
    yield batch


def _function(tok: Tokenizer, folder: Path, paths: list[Path]) -> Function | None:
    """A short function that people know; where it is missing, the first short one there is."""
    for file, wanted in _FUNCTIONS:
        if folder / file in paths:
            for name, source in _short_functions(folder / file):
                if name == wanted:
                    return Function(f"{Path(file).stem}.{name}", source, tok.encode(source))
    for path in paths:
        for name, source in _short_functions(path):
            return Function(f"{path.stem}.{name}", source, tok.encode(source))
    return None


def _short_functions(path: Path) -> Iterator[tuple[str, bytes]]:
    """The names and sources of a file's functions that fit a screen."""
    data = _io.read(path)
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):  # the library's tests have files that are meant to be wrong
        return
    lines = data.splitlines()
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef):
            continue
        body = lines[node.lineno - 1 : node.end_lineno]
        if 4 <= len(body) <= _LONGEST and max(map(len, body)) <= _WIDEST:
            yield node.name, b"\n".join(body)
