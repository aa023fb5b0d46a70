"""``bytepair count-words`` and what ``bytepair train`` makes of it; ``bytepair train --plan``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bytepair
from bytepair import WordCounts

pytest.importorskip("pyarrow")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a").write_bytes(b"low low lower<eos>low")
    (folder / "b").write_bytes(b"lowest newest \xff\n")
    return folder


def test_counting_and_training_on_the_counts(run, folder: Path, tmp_path: Path) -> None:
    counts, out = tmp_path / "counts.arrow", tmp_path / "tok.json"
    result = run("count-words", folder, "-o", counts, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {
        "pretokens": 8,
        "distinct": 7,
        "bytes": 32,
        "distinct_bytes": 29,
        "pattern": "gpt2",
        "specials": sorted(bytepair.AL1_SPECIALS),
        "normalizer": None,
    }
    assert f"8 pretokens, 7 of them distinct; saved to {counts}" in result.stderr
    assert run("train", counts, "--num-merges", "3", "-o", out).exit_code == 0
    assert bytepair.load(out) == bytepair.train(folder, num_merges=3)


def test_parts_are_merged_and_keep_their_order(run, folder: Path, tmp_path: Path) -> None:
    one, two, both = (tmp_path / f"{name}.arrow" for name in ("one", "two", "both"))
    assert run("count-words", folder / "a", "-o", one).exit_code == 0
    assert run("count-words", folder / "b", "-o", two, "--first-document", 1 << 32).exit_code == 0
    assert run("count-words", "--merge", two, "--merge", one, "-o", both).exit_code == 0
    whole = WordCounts.from_corpus(folder, specials=bytepair.AL1_SPECIALS)
    assert WordCounts.load(both) == whole
    assert run("count-words", folder / "a", "--merge", two, "-o", both).exit_code == 0
    assert WordCounts.load(both) == whole
    trained = run("train", two, one, "--num-merges", "2", "-o", tmp_path / "tok.json")
    assert trained.exit_code == 0
    assert bytepair.load(tmp_path / "tok.json") == bytepair.train(folder, num_merges=2)


def test_options(run, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.arrow"
    result = run(
        "count-words", "-", "-o", out, "--special", "<x>", "--pattern", "spaces", "--min-count", "2", stdin=b"a a b<x>a"
    )
    assert "min_word_count=2 left out" in result.stderr
    words = WordCounts.load(out)
    assert (list(words.items()), words.specials) == ([(b"a", 3), (b" ", 2)], ("<x>",))
    table = tmp_path / "vocab.txt"
    table.write_bytes(b"low 5\nx 1\n")
    result = run("count-words", "--table", table, "--min-count", "2", "--no-specials", "-o", out)
    assert "1 distinct pretokens left out" in result.stderr
    assert list(WordCounts.load(out).items()) == [(b"low", 5)]
    assert run("count-words", folder, "--max-memory", "1M", "--threads", "1", "-o", out).exit_code == 0
    assert WordCounts.load(out) == WordCounts.from_corpus(folder, specials=bytepair.AL1_SPECIALS)


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ((), "name the files to count"),
        (("x",), "-o"),
        (("x", "-o", "-"), "cannot go to stdout"),
        (("x", "--table", "y", "-o", "z"), "exclude each other"),
        (("x", "--special", "a", "--no-specials", "-o", "z"), "exclude each other"),
        (("x", "--max-memory", "12Q", "-o", "z"), "12Q"),
        (("-", "--pattern", "(", "-o", "z"), "pattern"),
        (("-", "-", "-o", "z"), "only once"),
    ],
)
def test_wrong_use_is_2(run, arguments: tuple[str, ...], what: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("count-words", *arguments)
    assert result.exit_code == 2
    assert what in result.stderr


def test_failures_are_1_and_named(run, folder: Path, tmp_path: Path) -> None:
    counts = tmp_path / "counts.arrow"
    WordCounts({"a": 1}).save(counts)
    for arguments, what in (
        (("count-words", tmp_path / "none", "-o", tmp_path / "x"), "none"),
        (("count-words", "--merge", folder / "a", "-o", tmp_path / "x"), "no file of counted words"),
        (("count-words", folder, "--merge", counts, "-o", tmp_path / "x"), "pattern differ"),
    ):
        result = run(*arguments)
        assert result.exit_code == 1
        assert what in result.stderr
    mixed = run("train", counts, folder / "a", "-o", tmp_path / "x")
    assert mixed.exit_code == 2 and "count it with" in mixed.stderr


# ---- the plan ----


def test_the_plan_is_near_what_comes(run) -> None:
    """On the standard library's own sources, of which a sixth is looked at: sizes within a third."""
    folder = Path(json.__file__).parents[1]
    files = sorted(folder.glob("*.py"))
    from bytepair.corpus import plan

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "SAMPLE", sum(file.stat().st_size for file in files) // 6)
        patch.setattr(plan, "STRETCH", 16 << 10)
        result = run("train", *files, "--plan", "--json", "--threads", "1", "--vocab-size", "2000")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    words = WordCounts.from_corpus(files)
    assert told["corpus"] == sum(file.stat().st_size for file in files)
    assert told["sample"] < told["corpus"] / 4
    assert 0.75 < told["distinct"] / len(words) < 1.33
    assert 0.75 < told["distinct_bytes"] / len(words.text) < 1.33
    assert 0.3 < told["growth"] < 0.9
    assert told["disk"] == 0 and told["count_seconds"] > 0 and told["merge_seconds"] > 0


def test_a_plan_with_a_budget_tells_of_disk(run, folder: Path) -> None:
    told = json.loads(run("train", folder, "--plan", "--json").stdout)
    assert told["sample"] == told["corpus"] == 37
    assert (told["distinct"], told["distinct_bytes"]) == (7, 29)
    result = run("train", folder, "--plan", "--max-memory", "1K")
    assert result.exit_code == 0
    assert "distinct pretokens   7, 29 bytes of text" in result.stdout
    assert "disk                 none" not in result.stdout


def test_a_plan_needs_files(run, tmp_path: Path) -> None:
    assert run("train", "-", "--plan").exit_code == 2
    (tmp_path / "empty").write_bytes(b"")
    result = run("train", tmp_path / "empty", "--plan")
    assert result.exit_code == 1 and "size is known" in result.stderr
