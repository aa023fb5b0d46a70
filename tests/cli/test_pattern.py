"""``bytepair pattern``: tiers and reasons, classes, split points, the text cut; for people and for machines."""

from __future__ import annotations

import json

import pytest

from bytepair import _engine
from bytepair.pattern import Pattern, presets, resolve


def test_a_preset(run) -> None:
    result = run("pattern", "gpt2", "it's 12")
    assert result.exit_code == 0
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[0] == "pattern    gpt2 (dialect oniguruma)"
    assert lines[1].strip() == resolve("gpt2").regex
    assert lines[2].startswith("tier       1: 64 bytes at a time, as the family gpt2 is cut")
    assert ("pure Python" in lines[2]) == (_engine.NAME == "pure")
    assert lines[3] == "automaton  12 states, 132 entries, at most 1 border not yet certain"
    assert lines[4] == "classes    10 of characters, by Unicode 16.0.0"
    assert "    2           1  ␣" in lines
    assert "    6           4  d m s–t" in lines
    assert "split      47 strong and 8 weak of 100 pairs of classes" in lines
    assert "0      ! ⇥ ␣ ' A d e l r" in lines
    assert lines[-2:] == ["3 pretokens", "it│'s│ 12"]


def test_a_chain(run) -> None:
    lines = run("pattern", "deepseek-v3").stdout.splitlines()
    assert lines[0] == "pattern    deepseek-v3 (dialect oniguruma)"
    assert lines[2].strip() == "then (dialect oniguruma)"
    assert r"[^\r\n\p{L}" in lines[5]
    assert lines[6].startswith("tier       2: an automaton that reads each character once; not tier 1, since ")
    assert "pretoken" not in lines[-1]


SPELLED = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s"
TIERS = [
    ("o200k", "1: 64 bytes at a time, as the family o200k is cut"),
    (SPELLED, "1: 64 bytes at a time, as the family gpt2 is cut"),
    ("[a-z]+", "2: an automaton that reads each character once; not tier 1, since its automaton is of none of the"),
    (SPELLED.replace("m", "n"), "not tier 1, since it has the automaton of gpt2, but other characters"),
    (r"(a)\1", "3: the regex module, since it has a back-reference"),
    ("a(?=bc)", "3: the regex module, since a look-around needs more than one character"),
    ("(?>ab|a)c", "3: the regex module, since an atomic group"),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "told"), TIERS)
def test_tiers(run, pattern: str, told: str) -> None:
    result = run("pattern", pattern)
    assert result.exit_code == 0
    assert told in next(line for line in result.stdout.splitlines() if line.startswith("tier"))
    assert ("classes" in result.stdout) == ("3: the" not in told)


def test_a_class_of_bytes_and_the_rest(run) -> None:
    lines = run("pattern", r"[\p{L}\p{M}]+", "é漢1").stdout.splitlines()
    assert lines[-2:] == ["2 pretokens", "é漢│1"]
    assert any("more ranges)" in line for line in lines)
    assert "split      2 strong and 0 weak of 4 pairs of classes" in lines
    assert "split      nowhere: no two characters always have a border between them" in run("pattern", "none").stdout


def test_text(run) -> None:
    assert run("pattern", "gpt2", "-", stdin=b"a b\n\xff").stdout.endswith("4 pretokens\na│ b│↵\n│⟨FF⟩\n")
    assert run("pattern", "[^a]+", "").stdout.endswith("\n0 pretokens\n\n")
    long = run("pattern", "a|b", "ab" * 5000).stdout
    assert "10,000 pretokens" in long
    assert long.splitlines()[-1] == "│".join("ab" * 5000)


def test_dialects(run) -> None:
    assert "²²²│²" in run("pattern", r"\p{N}{1,3}+", "²²²²").stdout
    assert run("pattern", r"\p{N}{1,3}+", "²²²²", "--dialect", "oniguruma").stdout.endswith("1 pretoken\n²²²²\n")
    result = run("pattern", "gpt2", "--dialect", "pcre")
    assert result.exit_code == 2
    assert "the preset gpt2 has its own dialect" in result.stderr
    assert run("pattern", "a", "--dialect", "perl").exit_code == 2


def test_wrong_patterns(run) -> None:
    result = run("pattern", "(a")
    assert result.exit_code == 1
    assert result.stderr.startswith("bytepair: pattern '(a', offset 0 (tiktoken dialect): this ( is not closed")
    assert run("pattern", "a*").exit_code == 1
    assert run("pattern").exit_code == 2
    result = run("pattern", "gtp2")
    assert result.exit_code == 0
    assert result.stderr == "note: 'gtp2' is no preset and is read as a regex; the preset gpt2 is near\n"


@pytest.mark.parametrize("name", presets())
def test_json(run, name: str) -> None:
    told = json.loads(run("pattern", name, "it's é\n", "--json").stdout)
    pattern = resolve(name)
    tables = pattern.compiled.tables
    assert tables is not None
    assert told["name"] == name
    assert told["unicode"] == "16.0.0"
    assert [(stage["regex"], stage["dialect"]) for stage in told["stages"]] == list(pattern.stages)
    assert (told["tier"] == 1) == (told["family"] is not None)
    assert (told["reason"] is None) == (told["tier"] == 1)
    assert told["states"] == tables.n_states
    n = tables.n_classes
    assert {tuple(pair) for pair in told["weak"]} >= {tuple(pair) for pair in told["strong"]}
    assert sum(tables.strong) == len(told["strong"])
    assert all(tables.weak[before * n + after] for before, after in told["weak"])
    covered = sorted(tuple(part) for ranges in told["classes"] for part in ranges)
    assert [first for first, _ in covered] == [0, *(last + 1 for _, last in covered[:-1])]
    assert covered[-1][1] == 0x10FFFF
    pieces = told["pretokens"]
    assert "".join(piece["bytes"] for piece in pieces).encode("latin-1") == "it's é\n".encode()
    assert [piece["end"] for piece in pieces] == pattern.ends("it's é\n".encode())
    assert pieces[0]["text"].startswith("it")


def test_json_of_tier_3(run) -> None:
    told = json.loads(run("pattern", r"(a)\1", "--json").stdout)
    assert told["tier"] == 3
    assert told["reason"] == "it has a back-reference"
    assert "classes" not in told
    assert "pretokens" not in told


def test_a_chain_that_runs_stage_after_stage() -> None:
    from bytepair.cli.pattern import _facts, _lines

    chain = Pattern("a*b|a", then=Pattern("a", then=Pattern(r"(b)\1")))
    lines = list(_lines(chain))
    assert lines[6].startswith("tier       stage after stage, since it has a back-reference")
    assert "stage 1: 2: an automaton" in lines[7]
    assert "stage 3: 3: the regex module" in lines[9]
    told = _facts(chain, b"aabb", chain.ends(b"aabb"))
    assert [stage["tier"] for stage in told["stages"]] == [2, 2, 3]
    assert [piece["text"] for piece in told["pretokens"]] == ["a", "a", "b", "b"]


def test_on_a_terminal(run, monkeypatch) -> None:
    from rich.cells import cell_len

    monkeypatch.setattr("bytepair.cli._io.is_terminal", lambda stream: True)
    monkeypatch.setenv("COLUMNS", "60")
    lines = run("pattern", "o200k").stdout.splitlines()
    table = lines[lines.index("") :]
    assert max(map(cell_len, table)) <= 60
    assert any(line.endswith("…") for line in table)
