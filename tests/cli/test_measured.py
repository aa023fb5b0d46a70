"""``bytepair evaluate`` and ``bytepair sweep``."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    for k in range(20):
        (folder / f"{k:02}.{'md' if k % 2 else 'txt'}").write_text(f"low lower lowest {k}\n" * 9)
    return folder


def test_evaluate(run, low: Path, texts: Path, tmp_path: Path) -> None:
    done = run("evaluate", low, "gpt2", "--corpus", texts, "--baseline", "words", "--loss", "2.5")
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["low", "gpt2", "words"]
    assert "bits per byte" in lines
    found = json.loads(run("evaluate", low, "--corpus", f"mine={texts}", "--by", "suffix", "--json").stdout)
    assert [row["group"] for row in found["rows"]] == [".txt", ".md", "all"]
    rows = csv.DictReader(io.StringIO(run("evaluate", low, "--corpus", f"mine={texts}", "--csv").stdout))
    assert [row["group"] for row in rows] == ["mine"]
    page, picture = tmp_path / "x.html", tmp_path / "x.png"
    assert run("evaluate", low, "--corpus", texts, "-o", page, "--plot", picture).exit_code == 0
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_sweep(run, texts: Path, tmp_path: Path) -> None:
    picture = tmp_path / "x.svg"
    done = run("sweep", texts, "--sizes", "256,260,265", "--pattern", "gpt2", "--pattern", "o200k", "--plot", picture)
    assert done.exit_code == 0, done.stderr
    assert [line.split()[:3] for line in done.stdout.splitlines()[1:7]] == [
        [pattern, "100%", size] for pattern in ("gpt2", "o200k") for size in ("256", "260", "265")
    ]
    assert picture.read_bytes().startswith(b"<?xml")
    found = json.loads(run("sweep", texts, "--held-out", texts / "00.txt", "--sizes", "260", "--json").stdout)
    assert len(found["curves"][0]["tokens"]) == 5


def test_wrong_use(run, low: Path, texts: Path) -> None:
    assert run("evaluate", low).exit_code == 2
    assert run("evaluate", low, "--corpus", texts, "--json", "--csv").exit_code == 2
    assert run("evaluate", low, "--corpus", texts / "no").exit_code == 1
    assert run("evaluate", "--corpus", texts).exit_code == 1
    assert run("sweep", texts, "--sizes", "a").exit_code == 2
    assert "a share of the text is 2.0" in run("sweep", texts, "--share", "2").stderr
    assert run("sweep", texts, "--plot", texts).exit_code == 2


def test_evaluate_reads_rows(run, low: Path, tmp_path: Path) -> None:
    rows, plain = tmp_path / "rows.jsonl", tmp_path / "plain.txt"
    rows.write_text('{"body": "low lower"}\n{"body": "lowest"}\n')
    plain.write_text("low lowerlowest")
    found = json.loads(run("evaluate", low, "--corpus", f"x={rows}", "--field", "body", "--json").stdout)
    same = json.loads(run("evaluate", low, "--corpus", f"x={plain}", "--json").stdout)
    assert [row["bytes"] for row in found["rows"]] == [row["bytes"] for row in same["rows"]] == [15]
