"""``bytepair pattern``: the tier, its reason, and the cut."""

from __future__ import annotations

import json

import pytest


@pytest.mark.parametrize(("args", "tier", "pretokens"), [
    (["cl100k", "it's 12345"], 1, ["it", "'s", " ", "123", "45"]),
    (["[a-z]+|[0-9]{1,3}", "ab1cd"], 2, ["ab", "1", "cd"]),
    ([r"(a)\1|.", "aab"], 3, ["aa", "b"]),
    (["deepseek-v3", "a1"], 2, ["a", "1"]),
    ([r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s", "x 1"], 1, ["x", " 1"]),
])  # fmt: skip
def test_tiers_and_cuts(run, args: list[str], tier: int, pretokens: list[str]) -> None:
    facts = json.loads(run("pattern", *args, "--json").stdout)
    assert facts["tier"] == tier
    assert facts["pretokens"] == pretokens
    shown = run("pattern", *args).stdout
    assert f"tier {tier}: " in shown
    assert "│".join(pretokens).replace(" ", "")[-3:] in shown.replace(" ", "").replace("␣", "")


def test_the_reason_for_tier_3(run) -> None:
    assert "the regex module, since it has a back-reference" in run("pattern", r"(a)\1|.").stdout


def test_classes_and_split_points(run) -> None:
    facts = json.loads(run("pattern", "gpt2", "--json").stdout)
    assert (facts["family"], facts["states"], len(facts["classes"])) == ("gpt2", 12, 10)
    assert sum(one["characters"] for one in facts["classes"]) == 0x110000
    assert facts["strong_pairs"]
    shown = run("pattern", "gpt2").stdout
    assert "family gpt2" in shown
    assert "split points:" in shown


@pytest.mark.parametrize(("args", "message"), [
    (["a*"], "empty"),
    (["[a"], "offset"),
    (["gpt3"], "no preset"),
    (["gpt2", "--dialect", "pcre"], "its own dialect"),
    (["a", "--dialect", "nope"], "--dialect"),
])  # fmt: skip
def test_wrong_use(run, args: list[str], message: str) -> None:
    result = run("pattern", *args)
    assert result.exit_code == 2
    assert message in result.stderr
