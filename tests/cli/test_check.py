"""``bytepair check``: findings, and the exit code for continuous integration."""

from __future__ import annotations

import json
from pathlib import Path

import bytepair
from bytepair import Tokenizer


def test_the_command(run, tmp_path: Path) -> None:
    path, text = tmp_path / "t.json", tmp_path / "x.txt"
    Tokenizer.from_merges([(b"a", b"b"), (b"b", b"c"), (b"a", b"bc")]).save(path)
    text.write_text("abc")
    assert run("check", path).exit_code == 0
    done = run("check", path, "--corpus", text, "--fail-on", "warning")
    assert done.exit_code == 1
    assert "unreachable" in done.stdout
    assert json.loads(run("check", path, "--json").stdout)["level"] == "warning"
    run("check", path, "-o", tmp_path / "x.html")
    assert (tmp_path / "x.html").read_text().startswith("<!DOCTYPE html>")
    assert run("check", path, "--against", text).exit_code == 2
    assert run("check", path, "--corpus", tmp_path / "no").exit_code == 1


def test_a_corpus_is_read_as_training_reads_it(run, tmp_path: Path) -> None:
    path, rows = tmp_path / "tok.json", tmp_path / "rows.jsonl"
    bytepair.train("low low", num_merges=2).save(path)
    rows.write_text('{"body": "low"}\n{"body": "low\\nlow"}\n')
    done = run("check", path, "--corpus", rows, "--field", "body", "--by", "line")
    assert "all comes back from its ids; documents: 3, bytes: 10" in done.stdout
    assert run("check", path, "--corpus", rows, "--field", "no").exit_code == 1
