"""The installed package: its metadata, its command, its typing, and which engine it runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import bytepair

ROOT = Path(__file__).parents[2]
PACKAGE = Path(bytepair.__file__).parent


@pytest.fixture(scope="module")
def distribution() -> metadata.Distribution:
    try:
        return metadata.distribution("bytepair")
    except metadata.PackageNotFoundError:
        pytest.skip("bytepair is not installed here: it runs from the source tree")


def names_of(requirements: list[str], extra: str | None) -> set[str]:
    mark = f'extra == "{extra}"'
    wanted = [line for line in requirements if (mark in line if extra else "extra ==" not in line)]
    return {re.split(r"[^\w.-]", line)[0].lower() for line in wanted}


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, timeout=60, check=False, env={**os.environ, **environment},
    )  # fmt: skip


def test_four_dependencies_and_no_more(distribution: metadata.Distribution) -> None:
    assert names_of(distribution.requires or [], None) == {"click", "numpy", "regex", "rich"}


def test_versions_agree(distribution: metadata.Distribution) -> None:
    assert distribution.version == bytepair.__version__
    assert f"\n## {bytepair.__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_command_is_installed(distribution: metadata.Distribution) -> None:
    scripts = {entry.name: entry.value for entry in distribution.entry_points if entry.group == "console_scripts"}
    assert scripts == {"bytepair": "bytepair.cli:main"}


def test_the_package_is_typed_and_the_core_has_a_stub() -> None:
    assert (PACKAGE / "py.typed").is_file()
    compiled = list(PACKAGE.glob("_core.*.so")) + list(PACKAGE.glob("_core.*.pyd"))
    assert (PACKAGE / "_core.pyi").is_file() == bool(compiled)
    if compiled:
        assert "class Trainer" in (PACKAGE / "_core.pyi").read_text("utf-8")


def test_pure_python_can_be_chosen() -> None:
    code = "from bytepair import _engine; print(_engine.NAME, _engine.Trainer.__module__)"
    assert run(code, BYTEPAIR_PURE="1").stdout.split() == ["pure", "bytepair._pure.train"]


def test_a_missing_core_gives_one_notice_and_the_same_ids() -> None:
    code = (
        "import sys; sys.modules['bytepair._core'] = None\n"
        "import bytepair\n"
        "tok = bytepair.train('low low lower lowest', num_merges=4, pattern='al1')\n"
        "print(tok.encode('lowest'), bytepair.train('low low', num_merges=1).encode('lo'))\n"
    )
    done = run(code, BYTEPAIR_PURE="")
    assert done.stdout.split("\n")[0] == "[263, 107, 121, 122] [262]", done.stderr
    assert done.stderr.count("pure Python") == 1
