"""``bytepair verify``: certificates, differences, and the exit codes that tell them apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bytepair


@pytest.fixture
def folder(low: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    bytepair.load(low).save(folder, format="huggingface")
    return folder


def test_with_the_owners_library_it_is_0(run, low: Path, folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    text = tmp_path / "notes.txt"
    text.write_bytes(b"low lower <eos>\n")
    result = run("verify", low, folder, "--corpus", text, "--random", 50)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "equal: all 3 sides gave the same in every text"
    assert any(line.startswith("corpus    sha256 ") and line.endswith("notes.txt, 16 bytes") for line in lines)
    assert result.stderr == ""
    assert run("verify", folder, "--random", 0).exit_code == 0


def test_without_it_the_first_line_says_so_and_it_is_1_unless_told(run, low: Path) -> None:
    result = run("verify", low, "--random", 10)
    assert result.exit_code == 1
    assert result.stdout.splitlines()[0].startswith("made without the owner's library: ")
    again = run("verify", low, "--random", 10, "--self")
    assert again.exit_code == 0
    assert again.stdout.splitlines()[:2] == result.stdout.splitlines()[:2]


def test_a_difference_is_1_with_its_place(run, tmp_path: Path) -> None:
    paths = [tmp_path / "merges.json", tmp_path / "ranks.json"]
    pairs = [(b"b", b"c"), (b"a", b"b"), (b"ab", b"c")]
    bytepair.Tokenizer.from_merges(pairs, layout="bytes-first").save(paths[0])
    ranks = {**{bytes([b]): b for b in range(256)}, b"bc": 256, b"ab": 257, b"abc": 258}
    bytepair.Tokenizer.from_ranks(ranks, pattern="gpt2").save(paths[1])
    result = run("verify", *paths, "--self", "--random", 10)
    assert result.exit_code == 1
    assert "first difference in ids: torture text, merging 1, character 0 (token 0)" in result.stdout
    assert "ids 97 256; 'a' | 'bc'" in result.stdout
    assert "ids 258; 'abc'" in result.stdout
    told = json.loads(run("verify", *paths, "--self", "--random", 10, "--json").stdout)
    assert told["equal"] is False
    assert told["differences"][0]["right"]["ids"] == [258]


def test_the_seed_makes_other_texts(run, low: Path) -> None:
    def tokens(seed: int) -> int:
        told = json.loads(run("verify", low, "--self", "--seed", seed, "--random", 50, "--json").stdout)
        assert told["seed"] == seed
        return next(row["tokens"] for row in told["compared"] if row["source"] == "random")

    assert tokens(1) == tokens(1)
    assert tokens(1) != tokens(2)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "Missing argument 'A'"),
        (["-"], 2, "stdin (-) cannot be"),
        (["LOW", "--corpus", "-"], 2, "stdin (-) cannot be"),
        (["LOW", "--special", "<eos>"], 2, "should be NAME=ID"),
        (["LOW", "--random", "-1"], 2, "--random"),
        (["LOW", "--pattern", "gpt2"], 1, "says its own pattern"),
        (["none.json"], 1, "none.json"),
        (["LOW", "none.json"], 1, "none.json"),
        (["LOW", "--corpus", "none.txt"], 1, "none.txt: there is no such file"),
    ],
)
def test_wrong_use(run, low: Path, arguments: list[str], code: int, message: str) -> None:
    result = run("verify", *(str(low) if word == "LOW" else word for word in arguments))
    assert result.exit_code == code
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
