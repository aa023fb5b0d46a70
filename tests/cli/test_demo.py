"""``bytepair demo``: what it finds out, shows and saves, on a small folder."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

import bytepair
from bytepair.cli import demo

CODE = '''"""A module."""


def greet(name):
    """Say hello to somebody."""
    if not name:
        return "hello"
    return f"hello, {name}"
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    (folder / "package").mkdir(parents=True)
    (folder / "site-packages").mkdir()
    (folder / "greeting.py").write_text(CODE, encoding="utf-8", newline="\n")
    (folder / "package" / "odd.py").write_bytes(b"\xef\xbb\xbfx = '\xff\0'\r\n" * 50)
    (folder / "package" / "empty.py").write_bytes(b"")
    (folder / "package" / "notes.txt").write_text("not code")
    (folder / "site-packages" / "other.py").write_text("not ours")
    return folder


def test_what_it_shows(run, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "demo.json"
    result = run("demo", "--corpus", folder, "-o", out)
    assert result.exit_code == 0, result.stderr
    size = sum(path.stat().st_size for path in folder.rglob("*.py")) - len("not ours")
    shown = result.stdout
    assert f"3 files, {size} bytes" in shown
    assert f"all 3 files, {size:,} bytes, came back byte for byte" in shown
    assert "greeting.greet" in shown
    assert "The first merges" in shown
    assert "The last merges" in shown
    assert "before" in shown
    assert " 1.00\n" in shown
    assert str(out) in shown
    assert "\x1b" not in shown
    assert "│" in shown
    assert bytepair.load(out).pattern.name == "gpt2"
    assert result.stderr.startswith("note: training stopped after ")


def test_json(run, folder: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("demo", "--corpus", folder, "--json")
    told = json.loads(result.stdout)
    tok = bytepair.load("bytepair-demo.json")
    assert told["saved"]["file"] == "bytepair-demo.json"
    assert told["read"]["files"] == 3
    assert told["round_trip"]["exact"] is True
    assert told["round_trip"]["bytes"] == told["read"]["bytes"]
    assert told["bytes_per_token"]["after"] == told["read"]["bytes"] / told["tokens"] > 1
    assert told["vocab_size"] == tok.vocab_size
    assert told["first"][0] == tok.record[0].to_json()
    assert told["last"][-1] == tok.record[-1].to_json()
    function = told["function"]
    assert function["source"] == CODE[CODE.index("def") :].rstrip("\n")
    assert tok.decode(function["ids"]) == function["source"]


def test_a_file_that_does_not_come_back_is_a_failure(run, folder: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(bytepair.Tokenizer, "decode_bytes", lambda self, ids: b"x")
    result = run("demo", "--corpus", folder, "-o", tmp_path / "out.json")
    assert result.exit_code == 1
    assert "did not come back from its ids byte for byte" in result.stderr
    assert not (tmp_path / "out.json").exists()


def test_a_python_without_sources(run, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path / "python.zip"))
    result = run("demo", "-o", tmp_path / "out.json")
    assert result.exit_code == 1
    assert "standard library has no .py files below" in result.stderr
    assert "--corpus" in result.stderr
    result = run("demo", "--corpus", tmp_path, "-o", tmp_path / "out.json")
    assert (result.exit_code, "there is no .py file below" in result.stderr) == (1, True)
    assert run("demo", "-o", "-").exit_code == 2


def test_without_a_core_a_share_is_read_and_said(run, folder: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("bytepair._engine.NAME", "pure")
    monkeypatch.setattr(demo, "PURE_SHARE", 400)
    result = run("demo", "--corpus", folder, "-o", tmp_path / "out.json")
    assert result.exit_code == 0
    assert "of 3 files" in result.stdout
    assert "without the compiled core all is slower" in result.stdout


def test_the_share_is_spread_and_bounded() -> None:
    found = [(Path(f"{i}.py"), 100) for i in range(1000)]
    share = demo._share(found, 10_000)
    assert sum(size for _, size in share) == 10_000
    assert share[-1][0] == Path("990.py")
    assert demo._share([(Path("big.py"), 10**9)], 10) == [(Path("big.py"), 10**9)]
    assert demo._share([(Path("empty.py"), 0)], 10) == [(Path("empty.py"), 0)]


def test_nothing_to_merge(run, tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_bytes(b"")
    result = run("demo", "--corpus", tmp_path, "-o", tmp_path / "out.json")
    assert result.exit_code == 0, result.stderr
    assert "1 file, 0 bytes" in result.stdout


@pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals there")
@pytest.mark.parametrize("no_colour", [False, True])
def test_on_a_terminal(folder: Path, tmp_path: Path, no_colour: bool) -> None:
    import pty

    output = bytearray()

    def read(fd: int) -> bytes:
        data = os.read(fd, 1 << 16)
        output.extend(data)
        return data

    keep = dict(os.environ)
    os.environ.update(PYTHONPATH=str(Path(bytepair.__file__).parents[1]), TERM="xterm-256color", COLUMNS="80")
    os.environ.pop("NO_COLOR", None)
    if no_colour:
        os.environ["NO_COLOR"] = "1"
    try:
        arguments = ["demo", "--corpus", str(folder), "-o", str(tmp_path / "out.json")]
        status = pty.spawn([sys.executable, "-m", "bytepair", *arguments], read, lambda fd: b"")
    finally:
        os.environ.clear()
        os.environ.update(keep)
    assert os.waitstatus_to_exitcode(status) == 0
    shown = output.decode()
    assert "came back byte for byte" in shown
    assert ("\x1b[38;5;234;48;5;153m" in shown) is not no_colour  # the first background
    assert ("│" in shown) is no_colour
