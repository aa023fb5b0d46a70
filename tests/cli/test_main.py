"""The group: help, version, the one line that a failure is, pipes that close, odd locales and streams."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import bytepair
from bytepair import cli
from bytepair.errors import BytepairError


def test_help_lists_every_verb_without_importing_one(program) -> None:
    result = program("--help")
    assert result.returncode == 0
    for verb, line in cli.VERBS.items():
        assert f"  {verb}" in result.stdout.decode()
        assert line in result.stdout.decode()
    assert program().stdout == result.stdout
    code = "import sys, bytepair.cli; print([m for m in ('numpy', 'regex', 'rich') if m in sys.modules])"
    source = str(Path(bytepair.__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": source}
    assert subprocess.check_output([sys.executable, "-c", code], env=env).strip() == b"[]"


def test_every_verb_has_a_module_and_help(run) -> None:
    modules = {path.stem.replace("_", "-") for path in Path(cli.__file__).parent.glob("[a-z]*.py")}
    assert modules == set(cli.VERBS)
    for verb in cli.VERBS:
        result = run(verb, "--help")
        assert result.exit_code == 0
        assert result.stdout.startswith(f"Usage: bytepair {verb} ")


def test_version(run) -> None:
    assert run("--version").stdout == f"bytepair {bytepair.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["encod"], "bytepair: there is no verb 'encod'; did you mean 'encode'? (see bytepair --help)\n"),
        (["xyz"], "there is no verb 'xyz'; there are demo, train, "),
        (["--nope"], "--nope"),
        (["encode"], "bytepair: Missing argument 'TOKENIZER' (see bytepair encode --help)\n"),
        (["encode", "a", "b", "c"], "unexpected extra argument"),
        (["encode", "-", "-"], "stdin (-) can be read only once"),
        (["encode", "-"], "stdin (-) can be read only once"),
        (["decode", "-", "-"], "stdin (-) can be read only once"),
        (["count", "t", "-", "-"], "stdin (-) can be read only once"),
    ],
)
def test_wrong_use_is_2_with_one_line(run, arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.startswith("bytepair: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_a_failure_is_1_with_one_line_that_does_nothing_to_the_screen(run, tmp_path: Path) -> None:
    for verb in ("encode", "decode", "count", "merges"):
        result = run(verb, tmp_path / "a\x1b[2J\nb", stdin=b"x")
        assert result.exit_code == 1
        assert result.stderr.count("\n") == 1
        assert r"a\x1b[2J b" in result.stderr
        assert "\x1b" not in result.stderr


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (BytepairError("it is so"), 1, "bytepair: it is so\n"),
        (PermissionError(13, "Permission denied", "some/file"), 1, "bytepair: some/file: Permission denied\n"),
        (OSError(28, "No space left on device"), 1, "bytepair: cannot write to stdout: No space left on device\n"),
        (MemoryError(), 1, "bytepair: there is not enough memory for this; give smaller files\n"),
        (KeyboardInterrupt(), 130, "bytepair: interrupted\n"),
        (BrokenPipeError(32, "Broken pipe"), 141, ""),
    ],
)
def test_no_failure_is_a_traceback(run, monkeypatch, error: BaseException, code: int, message: str) -> None:
    def fail(source: str) -> None:
        raise error

    monkeypatch.setattr("bytepair.cli._io.load", fail)
    result = run("merges", "x")
    assert result.exit_code == code
    assert result.stderr.lstrip("\n") == message


def test_the_log_becomes_a_note(run, monkeypatch) -> None:
    import logging

    monkeypatch.setattr("bytepair.cli._io.load", lambda source: logging.getLogger("bytepair").warning("slow %d", 1))
    assert run("merges", "x").stderr.startswith("note: slow 1\n")


@pytest.mark.skipif(os.name == "nt", reason="pipes end otherwise there")
@pytest.mark.parametrize("verb", ["encode", "encode --pieces", "merges", "demo"])
def test_a_closed_pipe_ends_silently(tmp_path: Path, low: Path, verb: str) -> None:
    text = tmp_path / "text.py"
    text.write_bytes(b"def low(lowest):\n    return lower\n" * 20_000)
    name, *options = verb.split()
    arguments = {
        "encode": [low, text],
        "merges": [low],
        "demo": ["--corpus", tmp_path, "-o", tmp_path / "demo.json"],
    }[name]
    with subprocess.Popen(
        [sys.executable, "-m", "bytepair", name, *map(str, arguments), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(bytepair.__file__).parents[1])},
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        stderr = process.stderr.read().decode()
        code = process.wait(60)
    assert [line for line in stderr.splitlines() if not line.startswith("note: ")] == []
    assert code == cli.BROKEN_PIPE


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["encode", "--text", "low"], ["encode", "--text", "x", "--pieces"], ["merges"]])
def test_a_full_disk_is_one_line(low: Path, arguments: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        result = subprocess.run(
            [sys.executable, "-m", "bytepair", arguments[0], str(low), *arguments[1:]],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            env={**os.environ, "PYTHONPATH": str(Path(bytepair.__file__).parents[1])},
        )
    assert result.returncode == 1
    assert result.stderr == b"bytepair: cannot write to stdout: No space left on device\n"


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
def test_ctrl_c_is_130_with_one_line(low: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "bytepair", "encode", str(low)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(bytepair.__file__).parents[1])},
        # A shell that started us in the background has it ignored, and so would the command.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    ) as process:
        time.sleep(3)  # it waits for stdin by then
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == cli.INTERRUPTED
        assert process.stderr is not None
        assert process.stderr.read().strip() == b"bytepair: interrupted"


@pytest.mark.skipif(os.name == "nt", reason="locales are otherwise there")
@pytest.mark.parametrize("env", [{}, {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}], ids=["C", "ascii"])
def test_a_c_locale_changes_nothing(program, low: Path, env: dict[str, str]) -> None:
    env = {"LC_ALL": "C", **env}
    text = "é 🧠 low\r\n".encode()
    ids = program("encode", low, stdin=text, env=env)
    assert program("decode", low, stdin=ids.stdout, env=env).stdout == text
    source = [sys.executable, "-m", "bytepair", "encode", str(low), "--text", b"\xc3\xa9\xff"]
    paths = {"PYTHONPATH": str(Path(bytepair.__file__).parents[1])}
    shown = subprocess.run([*source, "--pieces"], capture_output=True, check=True, env={**os.environ, **paths, **env})
    assert shown.stdout.decode() == "⟨C3⟩│⟨A9⟩│⟨FF⟩\n"


def test_stdin_that_is_closed(monkeypatch, run, low: Path) -> None:
    from bytepair.cli import _io

    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(_io.click.ClickException, match="stdin: it is closed"):
        _io.read("-")


def test_an_output_that_cannot_be_is_refused_before_the_work(run, low: Path, tmp_path: Path) -> None:
    for verb in (["encode", low], ["decode", low], ["train", low], ["demo"]):
        result = run(*verb, "-o", tmp_path / "no" / "such", stdin=b"1")
        assert result.exit_code == 1
        assert result.stderr.startswith("bytepair: cannot write ")
        assert "there is no folder" in result.stderr
        assert run(*verb, "-o", tmp_path, stdin=b"1").exit_code == 2
    for verb in (["encode", low], ["decode", low], ["train", low]):
        result = run(*verb, "-o", low, stdin=b"1")
        assert result.exit_code == 2
        assert "would overwrite the file that is read" in result.stderr
