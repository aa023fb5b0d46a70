"""``bytepair convert``: what is written, what is lost, and the check of both."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

import bytepair
from bytepair import formats
from bytepair.formats import bytepair_json
from bytepair.formats.source import Written


def test_there_and_back(run, low: Path, tmp_path: Path) -> None:
    there, back = tmp_path / "tokenizer.json", tmp_path / "back.json"
    result = run("convert", low, there)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].startswith(f"wrote    {there}, ")
    assert lines[1] == "format   huggingface, 266 tokens"
    assert lines[2].startswith("checked  read again, it gives the same in ")
    assert run("convert", there, back).exit_code == 0
    assert bytepair.load(back).encode("lowest<eos>", special="all") == bytepair.load(low).encode(
        "lowest<eos>", special="all"
    )


def test_a_folder_is_hugging_faces(run, low: Path, tmp_path: Path) -> None:
    assert run("convert", low, f"{tmp_path / 'new'}/").exit_code == 0
    assert {path.name for path in (tmp_path / "new").iterdir()} == {"tokenizer.json", "tokenizer_config.json"}
    result = run("convert", low, tmp_path / "new")
    assert result.exit_code == 1
    assert "tokenizer.json is there already; --force overwrites it" in result.stderr


def test_json(run, low: Path, tmp_path: Path) -> None:
    out = tmp_path / "tokenizer.json"
    told = json.loads(run("convert", low, out, "--json").stdout)
    assert told["to"]["format"] == "huggingface"
    assert told["to"]["files"][0]["sha256"] == hashlib.sha256(out.read_bytes()).hexdigest()
    assert told["losses"] == []
    assert told["check"]["equal"] is True
    assert told["from"]["fingerprint"] == bytepair.load(low).fingerprint


def test_nothing_is_overwritten_unless_forced(run, low: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    out.write_bytes(b"mine")
    result = run("convert", low, out)
    assert result.exit_code == 1
    assert result.stderr == f"bytepair: {out} is there already; --force overwrites it\n"
    assert out.read_bytes() == b"mine"
    assert run("convert", low, out, "--force").exit_code == 0
    assert bytepair.load(out) == bytepair.load(low)
    before = low.read_bytes()
    result = run("convert", low, low, "--force")
    assert result.exit_code == 2
    assert "would overwrite the file that is read" in result.stderr
    assert low.read_bytes() == before


class Lossy:
    """Our JSON without its last merge, by the name of a format of its own."""

    NAME = "lossy"

    @staticmethod
    def write(tokenizer: bytepair.Tokenizer) -> Written:
        smaller = tokenizer.cut(tokenizer.vocab_size - 1)
        return Written(bytepair_json.write(smaller).files, ("the last merge is left out",))

    @staticmethod
    def recognises(source: object) -> bool:
        return False


def test_losses_are_told_and_a_difference_is_1(run, low: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(formats.FORMATS, "lossy", Lossy)
    monkeypatch.setattr(formats, "WRITERS", (*formats.WRITERS, "lossy"))
    out = tmp_path / "out.json"
    result = run("convert", low, out, "--to", "lossy")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert "lost     the last merge is left out" in lines
    assert "differs  read again, it does not give the same:" in lines
    assert any("first difference in ids: torture text, plain 6, character 0 (token 0)" in line for line in lines)
    assert "note:" not in result.stderr
    told = json.loads(run("convert", low, out, "--to", "lossy", "--force", "--json").stdout)
    assert told["losses"] == ["the last merge is left out"]
    assert told["check"]["differences"][0]["text"] == "plain 6"


def test_what_a_format_cannot_hold_is_1_and_nothing_is_written(run, tmp_path: Path) -> None:
    classic = tmp_path / "classic.json"
    bytepair.train("low lowest", alphabet="characters", end_of_word="separate", num_merges=2, specials=()).save(classic)
    out = tmp_path / "tokenizer.json"
    result = run("convert", classic, out)
    assert result.exit_code == 1
    assert "cannot hold this tokenizer" in result.stderr
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["LOW"], 2, "Missing argument 'B'"),
        (["LOW", "-"], 2, "give paths"),
        (["-", "x.json"], 2, "give paths"),
        (["LOW", "x.model"], 2, "several formats have such names; say --to bytepair | "),
        (["LOW", "x"], 2, "its name does not say it; say --to"),
        (
            ["LOW", "x.json", "--to", "nonsense"],
            2,
            "'nonsense' is no format that this version knows; --to takes bytepair",
        ),
        (["LOW", "x.json", "--special", "=5"], 2, "should be NAME=ID"),
        (["LOW", "x.json", "--special", "<a>=5", "--special", "<a>=6"], 2, "twice"),
        (["LOW", "no/such/folder/x.json"], 1, "there is no folder"),
        (["none.json", "x.json"], 1, "none.json"),
    ],
)
def test_wrong_use(run, low: Path, monkeypatch, tmp_path: Path, arguments: list[str], code: int, message: str) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("convert", *(str(low) if word == "LOW" else word for word in arguments))
    assert result.exit_code == code
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert not (tmp_path / "x.json").exists()
