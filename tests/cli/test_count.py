"""``bytepair count``: files, folders and stdin, the table and the JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bytepair


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a").write_bytes(b"low lowest<eos>")
    (folder / "b").write_bytes(bytes(range(256)))
    (folder / "empty").write_bytes(b"")
    return folder


def test_the_table(run, low: Path, folder: Path) -> None:
    result = run("count", low, folder)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "tokens  bytes  bytes/token  file",
        f"     9     15        1.667  {folder / 'a'}",
        f"   256    256        1.000  {folder / 'b'}",
        f"     0      0            -  {folder / 'empty'}",
        "   265    271        1.023  total",
    ]


def test_stdin_is_what_is_counted_unless_told_otherwise(run, low: Path) -> None:
    expected = "tokens  bytes  bytes/token  file\n     1      4        4.000  stdin\n"
    assert run("count", low, stdin=b" low").stdout == expected
    assert run("count", low, "-", stdin=b" low").stdout == expected


def test_json(run, low: Path, folder: Path) -> None:
    told = json.loads(run("count", low, folder / "a", "-", "--json", stdin=b"").stdout)
    assert told == {
        "files": [
            {"file": str(folder / "a"), "tokens": 9, "bytes": 15, "bytes_per_token": 15 / 9},
            {"file": "stdin", "tokens": 0, "bytes": 0, "bytes_per_token": None},
        ],
        "total": {"tokens": 9, "bytes": 15, "bytes_per_token": 15 / 9},
    }


def test_a_bad_file_is_1_and_named(run, low: Path, folder: Path, tmp_path: Path) -> None:
    result = run("count", low, folder, tmp_path / "none")
    assert result.exit_code == 1
    assert "none: there is no such file" in result.stderr
    assert result.stdout == ""
    words = tmp_path / "words.json"
    bytepair.train("low lowest", alphabet="characters", num_merges=1).save(words)
    (folder / "b").write_bytes(b"xyz")
    result = run("count", words, folder)
    assert result.exit_code == 1
    assert f"{folder / 'a'}: character '<'" in result.stderr
