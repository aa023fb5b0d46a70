"""Every example runs: those in the docstrings of all modules, and those in README.md and docs/."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

import bytepair
from bytepair.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def module_names() -> list[str]:
    below = [module.name for module in pkgutil.walk_packages(bytepair.__path__, "bytepair.")]
    return ["bytepair", *(name for name in below if not name.endswith(("._core", ".__main__")))]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Examples write files; they do it in a folder of their own."""
    monkeypatch.chdir(tmp_path)


def run(test: doctest.DocTest) -> None:
    report: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert not report, "".join(report)


@pytest.mark.parametrize("name", module_names())
def test_docstrings(name: str) -> None:
    for test in doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(name), name):
        run(test)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages(page: Path) -> None:
    """Blocks with ``>>>`` run, one after the other in one session; the others must at least be Python."""
    blocks = BLOCK.findall(page.read_text("utf-8"))
    session = "\n".join(block for block in blocks if ">>>" in block)
    run(doctest.DocTestParser().get_doctest(session, {}, page.name, str(page), 0))
    for block in blocks:
        if ">>>" not in block:
            compile(block, str(page), "exec")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands(page: Path) -> None:
    """Lines after ``$ `` run, in a folder with the file that the README speaks of, and print what follows them."""
    Path("low.txt").write_bytes(b"low low lower lowest\n" * 20)
    bytepair.train("low low lower lowest", num_merges=4).save("low.json")
    for block in CONSOLE.findall(page.read_text("utf-8")):
        for command, shown in re.findall(r"^\$ bytepair (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            done = CliRunner().invoke(main, shlex.split(command))
            assert done.exit_code == 0, (command, done.output)
            assert done.stdout.split() == shown.split(), command
