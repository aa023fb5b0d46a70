"""``bytepair train``: the options that say what is learned, and those that keep its state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bytepair

TEXT = b"low low lower lowest newest newest widest low km/h ab ba ab ba\n"


@pytest.mark.parametrize("convention", ["first", "huggingface", "rustbpe", "cs336"])
def test_conventions(run, tmp_path: Path, convention: str) -> None:
    out = tmp_path / "out.json"
    assert run("train", "-", "--num-merges", 9, "--convention", convention, "-o", out, stdin=TEXT).exit_code == 0
    tok = bytepair.load(out)
    assert tok == bytepair.train(TEXT, num_merges=9, convention=convention)
    assert tok.record.convention == convention


@pytest.mark.parametrize(("arguments", "options"), [
    (["--max-token-length", 3], {"max_token_length": 3}),
    (["--protected", "km/h", "--protected", "new"], {"protected": ["km/h", "new"]}),
    (["--alphabet", "characters", "--initial-alphabet", "xyzé"],
     {"alphabet": "characters", "initial_alphabet": "xyzé"}),
    (["--alphabet", "characters", "--unknown", "<unk>", "--limit-alphabet", 7],
     {"alphabet": "characters", "unknown": "<unk>", "limit_alphabet": 7}),
    (["--max-memory", "1M"], {}),
])  # fmt: skip
def test_what_is_learned(run, tmp_path: Path, arguments: list[Any], options: dict[str, Any]) -> None:
    out = tmp_path / "out.json"
    result = run("train", "-", "--num-merges", 5, *arguments, "-o", out, stdin=TEXT)
    assert result.exit_code == 0, result.stderr
    tok = bytepair.load(out)
    assert tok == bytepair.train(TEXT, num_merges=5, **options)
    assert not options or tok != bytepair.train(TEXT, num_merges=5)


@pytest.mark.parametrize(("arguments", "message"), [
    (["--max-token-length", 1], "--max-token-length"),
    (["--checkpoint-every", 0], "--checkpoint-every"),
    (["--resume"], "--checkpoint"),
    (["--max-memory", "lots"], "write 65536, 512M or 2G"),
    (["--protected", "<eos>"], "as a special token too"),
])  # fmt: skip
def test_wrong_use(run, tmp_path: Path, arguments: list[Any], message: str) -> None:
    result = run("train", "-", "-o", tmp_path / "out.json", *arguments, stdin=TEXT)
    assert result.exit_code in (1, 2)
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "out.json").exists()


def test_a_training_goes_on_where_it_was(run, tmp_path: Path) -> None:
    text, state, out = tmp_path / "text", tmp_path / "state", tmp_path / "out.json"
    text.write_bytes(TEXT)
    keep = ["--checkpoint", state, "--checkpoint-every", 2, "-o", out]
    assert run("train", text, "--num-merges", 3, *keep).exit_code == 0
    assert state.exists() and (tmp_path / "state.words").exists()
    assert run("train", text, "--num-merges", 8, "--resume", *keep).exit_code == 0
    assert bytepair.load(out) == bytepair.train(text, num_merges=8)
    for arguments, message in (
        (["--min-freq", 3], "min_freq was 2 and is 3"),
        (["--normalizer", "lower"], "normalizer was None"),
        (["--protected", "km/h"], "protected was [] and is ['km/h']"),
        (["--min-word-count", 2], "min_word_count was 1 and is 2"),
    ):
        result = run("train", text, "--num-merges", 8, "--resume", *keep, *arguments)
        assert result.exit_code == 1
        assert "is the state of another training" in result.stderr and message in result.stderr
    text.write_bytes(TEXT * 2)
    result = run("train", text, "--num-merges", 8, "--resume", *keep)
    assert result.exit_code == 1 and "another corpus" in result.stderr


def test_files_that_are_read_otherwise_are_another_corpus(run, tmp_path: Path) -> None:
    text, state, out = tmp_path / "text", tmp_path / "state", tmp_path / "out.json"
    text.write_bytes(b"a\n\na\n\na\n\n")
    keep = ["--checkpoint", state, "--min-freq", 1, "-o", out, "--num-merges", 1]
    assert run("train", text, *keep, "--by", "line").exit_code == 0
    result = run("train", text, *keep, "--resume")
    assert result.exit_code == 1 and "another corpus" in result.stderr


def test_counts_are_read_and_normalised_as_a_corpus_is(run, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    rows, counts, out = tmp_path / "rows.jsonl", tmp_path / "counts.arrow", tmp_path / "out.json"
    rows.write_text('{"body": "LOW low\\nlower"}\n{"body": "Lowest"}\n')
    how = ["--field", "body", "--by", "line", "--normalizer", "lower"]
    assert run("count-words", rows, *how, "-o", counts).exit_code == 0
    assert run("train", counts, "--num-merges", 3, "-o", out).exit_code == 0
    expected = bytepair.train(bytepair.files(rows, field="body", by="line"), num_merges=3, normalizer="lower")
    assert bytepair.load(out) == expected
    result = run("train", counts, "--num-merges", 3, "--normalizer", "nfc", "-o", out)
    assert result.exit_code == 1 and "count again with it" in result.stderr
    result = run("train", counts, "--plan")
    assert result.exit_code == 2 and "counted already" in result.stderr
