"""``bytepair gage``: files and pipes, the trace, JSON lines, exit codes and their one clear line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bytepair import gage
from bytepair.cli import main

TEXT = b"the cat sat on the mat, the rat sat on the cat; " * 20


def run(*arguments: str | Path, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(main, ["gage", *map(str, arguments)], input=stdin)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "notes.txt"
    path.write_bytes(TEXT)
    return path


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the command take the runner's streams for terminals."""
    monkeypatch.setattr("bytepair.cli._io.is_terminal", lambda stream: True)


def test_file_to_file_and_back(file: Path, tmp_path: Path) -> None:
    packed, back = tmp_path / "notes.gage", tmp_path / "back.txt"
    result = run(file, "-o", packed)
    assert (result.exit_code, result.stdout) == (0, "")
    assert packed.read_bytes() == gage.compress(TEXT)
    told = gage.summary(packed.read_bytes())
    assert result.stderr == (
        f"960 -> {told.compressed_size} bytes, ratio {told.ratio:.3f}, {told.replacements} replacements in 1 block\n"
    )
    result = run("--decompress", packed, "-o", back)
    assert result.exit_code == 0
    assert back.read_bytes() == TEXT
    assert result.stderr.startswith(f"{told.compressed_size} -> 960 bytes")


def test_pipes(file: Path) -> None:
    packed = run(stdin=TEXT)
    assert packed.exit_code == 0
    assert packed.stdout_bytes == gage.compress(TEXT)
    assert run(file, "-o", "-").stdout_bytes == packed.stdout_bytes
    back = run("-d", "-", stdin=packed.stdout_bytes)
    assert (back.exit_code, back.stdout_bytes) == (0, TEXT)


def test_empty_input() -> None:
    packed = run(stdin=b"")
    assert packed.stdout_bytes == gage.compress(b"")
    assert packed.stderr == "0 -> 21 bytes, ratio 1.000, 0 replacements in 0 blocks\n"
    assert run("-d", stdin=packed.stdout_bytes).stdout_bytes == b""


def test_options_reach_the_algorithm() -> None:
    result = run("--block-size", "100", "--min-count", "3", "--max-replacements", "5", stdin=TEXT)
    assert result.stdout_bytes == gage.compress(TEXT, block_size=100, min_count=3, max_replacements=5)


def test_trace_shows_each_replacement_and_its_reversal() -> None:
    result = run("--trace", stdin=b"ababcabcd")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "block 1: 9 bytes at offset 0: 'ababcabcd'",
        r"  step 1: 'ab' -> ff, 3 times, 9 to 6 bytes: '\xff\xffc\xffcd'",
        r"  step 2: '\xffc' -> fe, 2 times, 6 to 4 bytes: '\xff\xfe\xfed'",
        "  stop: no pair repeats",
        r"  back 2: fe -> '\xffc', 2 times, 4 to 6 bytes: '\xff\xffc\xffcd'",
        "  back 1: ff -> 'ab', 3 times, 6 to 9 bytes: 'ababcabcd'",
    ]
    assert result.stderr == "9 -> 31 bytes, ratio 3.444, 0 replacements in 1 block, 1 stored as it is\n"


@pytest.mark.parametrize(
    ("data", "options", "reason"),
    [
        (b"abc", [], "no pair repeats"),
        (b"abab", ["--min-count", "3"], "no pair counts 3 or more"),
        (b"ababcabcd", ["--max-replacements", "1"], "--max-replacements is 1"),
        (bytes(range(256)), [], "no byte value is free"),
        (bytes(range(255)) + b"abab", [], "no byte value is free"),
    ],
)
def test_trace_says_why_it_stops(data: bytes, options: list[str], reason: str) -> None:
    assert f"  stop: {reason}\n" in run("--trace", *options, stdin=data).stdout


def test_trace_of_blocks(file: Path, tmp_path: Path) -> None:
    result = run(file, "--trace", "--block-size", "500", "-o", tmp_path / "out")
    lines = result.stdout.splitlines()
    assert [line for line in lines if line.startswith("block")] == [
        "block 1: 500 bytes at offset 0",
        "block 2: 460 bytes at offset 500",
    ]
    steps = sum(1 for _ in gage.trace(TEXT, block_size=500))
    assert sum(line.startswith("  step") for line in lines) == steps
    assert sum(line.startswith("  back") for line in lines) == steps
    assert (tmp_path / "out").read_bytes() == gage.compress(TEXT, block_size=500)


def test_json_is_the_summary(file: Path, tmp_path: Path) -> None:
    result = run(file, "--json", "-o", tmp_path / "out")
    told = json.loads(result.stdout)
    assert told["event"] == "summary"
    assert told["size"] == len(TEXT)
    assert told["compressed_size"] == (tmp_path / "out").stat().st_size
    assert told["ratio"] == told["compressed_size"] / told["size"]
    again = run("-d", tmp_path / "out", "--json")
    assert json.loads(again.stdout) == told


def test_json_trace_is_one_object_a_line() -> None:
    result = run("--trace", "--json", stdin=b"ababcabcd")
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert [event["event"] for event in events] == [
        "block", "replace", "replace", "stop", "reverse", "reverse", "summary"
    ]  # fmt: skip
    assert events[1] == {
        "event": "replace", "block": 1, "step": 1, "pair": [97, 98], "value": 255, "count": 3, "length": 6
    }  # fmt: skip
    assert events[4]["step"] == 2
    assert events[5]["length"] == 9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--block-size", "0"], "--block-size"),
        (["--min-count", "1"], "--min-count"),
        (["--max-replacements", "-1"], "--max-replacements"),
        (["--unknown"], "--unknown"),
        (["a", "b"], "unexpected extra argument"),
        (["-d", "--trace"], "--trace is for compressing; leave it out, or leave --decompress out"),
        (["-d", "--block-size", "10"], "--block-size is for compressing"),
        (["--max-size", "10"], "--max-size is for decompressing; add --decompress"),
        (["--json", "-o", "-"], "stdout cannot hold both the report and the data; name a file with -o"),
        (["--trace", "-o", "-"], "stdout cannot hold both"),
    ],
)
def test_wrong_use_is_2(arguments: list[str], message: str) -> None:
    result = run(*arguments, stdin=b"abab")
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""


def test_the_file_that_is_read_is_not_overwritten(file: Path) -> None:
    result = run(file, "-o", file)
    assert result.exit_code == 2
    assert "would overwrite the file that is read" in result.stderr
    assert file.read_bytes() == TEXT


@pytest.mark.parametrize(
    ("stdin", "message"),
    [
        (b"", "stdin: offset 0: the file ends inside its header"),
        (b"plain text", "stdin: offset 0: a file made by bytepair gage begins with"),
        (gage.compress(TEXT)[:-1], "bytes expected for a packed block"),
        (gage.compress(TEXT) + b"x", "1 more bytes follow"),
    ],
)
def test_a_bad_file_is_1_with_one_line(stdin: bytes, message: str) -> None:
    result = run("-d", stdin=stdin)
    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_max_size(tmp_path: Path) -> None:
    packed = gage.compress(TEXT)
    result = run("-d", "--max-size", "959", stdin=packed)
    assert result.exit_code == 1
    assert "the file declares 960 bytes and the limit is 959" in result.stderr
    assert run("-d", "--max-size", "960", stdin=packed).stdout_bytes == TEXT


def test_a_file_that_is_missing_or_cannot_be_written_is_1(file: Path, tmp_path: Path) -> None:
    result = run(tmp_path / "missing")
    assert result.exit_code == 1
    assert result.stderr.startswith("bytepair: cannot read ")
    assert result.stderr.count("\n") == 1
    result = run(file, "-o", tmp_path / "no" / "such")
    assert result.exit_code == 1
    assert result.stderr.startswith("bytepair: cannot write ")


def test_compressed_data_is_not_written_to_a_terminal(file: Path, tmp_path: Path, terminal: None) -> None:
    result = run(file)
    assert result.exit_code == 2
    assert "compressed data is not written to a terminal; give a file with -o" in result.stderr
    assert result.stdout == ""
    assert run(file, "-o", tmp_path / "out").exit_code == 0
    assert run(file, "--trace").exit_code == 0


def test_only_text_is_decompressed_to_a_terminal(terminal: None) -> None:
    assert run("-d", stdin=gage.compress(TEXT)).stdout_bytes == TEXT
    for hostile in (b"\x1b[2J", "\u009b2J".encode(), b"a\0b"):
        result = run("-d", stdin=gage.compress(hostile))
        assert (result.exit_code, result.stdout) == (2, "")
        assert "no plain text" in result.stderr


def test_a_bar_is_shown_on_a_terminal(tmp_path: Path, terminal: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # makes rich, too, take the stream for a terminal
    big = tmp_path / "big"
    big.write_bytes(bytes(200_000))
    result = run(big, "-o", tmp_path / "out")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "compressing" in result.stderr


def test_no_bar_is_shown_elsewhere(tmp_path: Path) -> None:
    result = run("-o", tmp_path / "out", stdin=bytes(200_000))
    assert result.exit_code == 0
    assert result.stderr.startswith("200,000 -> ")
    assert result.stderr.count("\n") == 1


def test_help_reads_like_prose() -> None:
    result = run("--help")
    assert result.exit_code == 0
    assert "until no pair repeats or no value is free" in " ".join(result.stdout.split())
