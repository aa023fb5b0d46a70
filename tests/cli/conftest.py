"""What the command's tests share: the command inside this process, the command as a program, and a small tokenizer."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import bytepair
from bytepair.cli import main

Run = Callable[..., Result]
Program = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def run() -> Run:
    """The command inside this process."""

    def call(*arguments: object, stdin: bytes = b"") -> Result:
        return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)

    return call


@pytest.fixture
def program() -> Program:
    """The command as a program of its own; ``env`` is added to the environment."""

    def call(*arguments: object, stdin: bytes = b"", env: dict[str, str] | None = None) -> object:
        source = str(Path(bytepair.__file__).parents[1])
        paths = os.pathsep.join([source, *filter(None, [os.environ.get("PYTHONPATH")])])
        return subprocess.run(
            [sys.executable, "-m", "bytepair", *map(str, arguments)],
            input=stdin,
            capture_output=True,
            timeout=60,
            check=False,
            env={**os.environ, "PYTHONPATH": paths, **(env or {})},
        )

    return call


@pytest.fixture
def low(tmp_path: Path) -> Path:
    """The tokenizer of article 1, in a file."""
    path = tmp_path / "low.json"
    bytepair.train("low low lower lowest", num_merges=4, pattern="al1").save(path)
    return path
