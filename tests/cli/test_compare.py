"""``bytepair compare``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


def test_two_vocabularies(run, low: Path) -> None:
    done = run("compare", "gpt2", "cl100k_base", "it's 1234567")
    assert done.stdout.splitlines()[-2:] == ["*   4  ␣123   ␣│123", "*   8  45│67  456│7"]
    assert len(run("compare", "gpt2", "cl100k_base", "--all", "it's 1234567").stdout.splitlines()) == 9
    found = json.loads(run("compare", low, "gpt2", "--text", "low", "--json").stdout)
    assert [t["tokens"] for t in found["tokenizers"]] == [1, 1]


def test_a_page_with_hostile_text(run, low: Path, tmp_path: Path) -> None:
    text, page = tmp_path / "x.txt", tmp_path / "x.html"
    text.write_text("<script>alert(1)</script> \u202e low", "utf-8")
    assert run("compare", low, "gpt2", "-f", text, "-o", page).exit_code == 0
    shown = page.read_text("utf-8")
    assert "<script" not in shown
    assert "\u202e" not in shown


def test_other_models(run, tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    path = tmp_path / "tokenizer.json"
    tokenizers.Tokenizer(tokenizers.models.WordPiece({"[UNK]": 0, "low": 1}, unk_token="[UNK]")).save(str(path))
    assert run("compare", path, f"tokenizers:{path}", "low").exit_code == 0
    assert run("compare", tmp_path, "low").exit_code == 0


def test_wrong_use(run, low: Path) -> None:
    assert run("compare", low).exit_code == 2
    assert run("compare", low, "--text", "a", "--file", "b").exit_code == 2
    assert run("compare", "no-such-name", "a").exit_code == 1
    assert "cannot read" in run("compare", "tokenizers:/no/file", "a").stderr
