"""``bytepair merges``: with a record and without, parts of it, JSON lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bytepair


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    path = tmp_path / "bare.json"
    bytepair.Tokenizer.from_merges([(b"a", b"b"), (b"\n", b" "), (b"ab", b"\xff")]).save(path)
    return path


def ranks(output: str) -> list[str]:
    table = output.partition("\n\n")[0].splitlines()
    return [line.split()[0] for line in table[1:]]


def test_a_record(run, low: Path) -> None:
    result = run("merges", low)
    assert result.exit_code == 0
    assert "   2  264  ␣ + low   ␣low       3     1             9      1  ␣low  ␣lower  ␣lowest\n" in result.stdout
    assert "\nstopped: " in result.stdout
    assert "\nbest pair left: ␣lowe + r, 1 time\n" in result.stdout
    assert run("merges", stdin=low.read_bytes()).stdout == result.stdout


def test_parts(run, low: Path) -> None:
    assert ranks(run("merges", low, "--first", 2).stdout) == ["0", "1"]
    assert ranks(run("merges", low, "--last", 1).stdout) == ["3"]
    assert ranks(run("merges", low, "--first", 1, "--last", 1).stdout) == ["0", "3"]
    assert ranks(run("merges", low, "--first", 3, "--last", 3).stdout) == ["0", "1", "2", "3"]
    assert ranks(run("merges", low, "--last", 99).stdout) == ["0", "1", "2", "3"]
    assert ranks(run("merges", low, "--first", 0).stdout) == []
    assert ranks(run("merges", low, "--find", " low").stdout) == ["2", "3"]
    assert ranks(run("merges", low, "--find", "e").stdout) == ["3"]


def test_find_what_is_not_there(run, low: Path) -> None:
    result = run("merges", low, "--find", "lowest")
    assert result.exit_code == 1
    assert "'lowest' is no token of this vocabulary; it encodes as low | e | s | t" in result.stderr
    result = run("merges", low, "--find", "z")
    assert result.exit_code == 1
    assert "'z' is a token that no merge made, and none uses it" in result.stderr
    assert run("merges", low, "--find", "z", "--first", 1).exit_code == 2


def test_json_lines(run, low: Path) -> None:
    lines = [json.loads(line) for line in run("merges", low, "--json").stdout.splitlines()]
    assert lines == list(bytepair.load(low).record.lines())
    assert run("merges", low, "--json", "--first", 0).stdout == ""


def test_without_a_record(run, bare: Path) -> None:
    assert run("merges", bare).stdout.splitlines() == [
        "rank   id  pair       token",
        "   0  256  a + b      ab",
        "   1  257  ↵ + ␣      ↵␣",
        "   2  258  ab + ⟨FF⟩  ab⟨FF⟩",
        "",
        "3 merges, without a training record: counts are not known",
    ]
    lines = [json.loads(line) for line in run("merges", bare, "--json").stdout.splitlines()]
    assert lines[2] == {"step": 2, "left": 256, "right": 255, "new_id": 258, "bytes": "ab\xff"}


def test_the_rank_rule(run, tmp_path: Path) -> None:
    path = tmp_path / "ranks.json"
    table = {bytes([b]): b for b in range(256)} | {b"bc": 256, b"ab": 257, b"abc": 258}
    bytepair.Tokenizer.from_ranks(table, pattern="gpt2").save(path)
    shown = run("merges", path, "--last", 2).stdout.splitlines()
    assert shown[:3] == ["rank  token", " 257  ab", " 258  abc"]
    assert json.loads(run("merges", path, "--find", "bc", "--json").stdout) == {"rank": 256, "bytes": "bc"}


def test_a_terminal_is_not_overrun(run, low: Path, monkeypatch) -> None:
    monkeypatch.setattr("bytepair.cli._io.is_terminal", lambda stream: True)
    monkeypatch.setenv("COLUMNS", "60")
    table = run("merges", low).stdout.partition("\n\n")[0].splitlines()
    assert max(map(len, table)) == 60
    assert table[1].endswith("…")


def test_pair_counts_of_every_step(run, low: Path) -> None:
    out = run("merges", low, "--pair-counts").stdout
    assert "before merge 0: l + o 4, o + w 4, ␣ + l 3, w + e 2" in out
    assert "before merge 3: ␣low + e 2, e + r 1" in out
