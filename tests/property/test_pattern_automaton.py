"""Patterns of users and chains: every engine against a rescanning lexer, a backtracking matcher and ``regex``.

The presets have ``test_pattern_presets_everywhere.py``.
"""

from __future__ import annotations

import random
from functools import partial

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pattern_engines import Stages, cuts_of, in_bytes, pure_splitter, sound, tables_of
from pattern_oracles import backtracked, by_regex, check_split_points, lexer, stage_after_stage
from pattern_peers import TRICKY

from bytepair.pattern import Pattern
from bytepair.pattern.automaton import compile_stages
from bytepair.pattern.determinise import determinise
from bytepair.pattern.fallback import regex_ends
from bytepair.pattern.nodes import can_be_empty
from bytepair.pattern.presets import PRESETS
from bytepair.pattern.program import build
from bytepair.pattern.syntax import parse

CLASSES = [
    *("a", "b", "1", r"\n", " ", "'", "é", ".", "[ab]", "[^a]", r"[^\n]", r"\s", r"\S", "[a-z1]", r"[^\sa-z]"),
    *("(?i:A)", r"\d", r"\xDF"),
]
COUNTS = ["", "", "", "*", "+", "?", "*?", "+?", "??", "{1,3}", "{2}", "{1,2}?", "*+", "++", "?+", "{1,3}+"]
LOOKS = ["(?!%s)", "(?=%s)", "(?<!%s)", "(?<=%s)", "(?!%s|$)", "(?=%s|$)", "(?<=^|%s)", "(?<!^|%s)", "(?!(?!%s))"]

single = st.sampled_from(CLASSES)
simple = st.one_of(
    st.builds(str.__add__, single, st.sampled_from(COUNTS)),
    st.builds(str.__add__, single, st.sampled_from(COUNTS)),
    st.builds(lambda look, one: look % one, st.sampled_from(LOOKS), single),
    st.sampled_from([r"\z", "$", "^", r"\b", r"\B", r"\A", "(?>a+)", r"(?>[ab]?)"]),
)


def _sequences(items: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(st.lists(items, min_size=1, max_size=4).map("".join), min_size=1, max_size=3).map("|".join)


regexes = _sequences(
    st.recursive(
        simple,
        lambda inner: st.builds(
            lambda body, count: f"(?:{body}){count}",
            _sequences(inner),
            st.sampled_from(["", "*", "+", "?", "*?", "{1,2}", "??", "+?"]),
        ),
        max_leaves=4,
    )
)
dialects = st.sampled_from(["tiktoken", "oniguruma", "python", "pcre"])
texts = st.text(alphabet="aab1 \n'éA\udcff_", max_size=12).map(sound)
#: Those that can match nothing would be refused: a character more, and they are patterns too.
cutting = regexes.map(lambda regex: f"(?:{regex})[a1]" if can_be_empty(parse(regex, "tiktoken")) else regex)


@given(regexes, dialects, st.lists(texts, min_size=1, max_size=6))
def test_user_patterns_cut_alike_everywhere(regex: str, dialect: str, some: list[str]) -> None:
    tree, stages = parse(regex, dialect), ((regex, dialect),)
    assume(not can_be_empty(tree))
    if compile_stages(*stages).tables is None:
        return
    lexed, cuts = lexer(determinise(build(tree))), cuts_of(stages)
    for text in some:
        data = text.encode("utf-8", "surrogateescape")
        ends = backtracked(tree, text)
        expected = in_bytes(text, ends)
        assert lexed(text) == ends
        assert regex_ends(data, regex, dialect, 60) == expected
        assert {name: cut(data) for name, cut in cuts.items()} == dict.fromkeys(cuts, expected)
        check_split_points(tables_of(stages), pure_splitter(tables_of(stages)), text, expected)


@given(cutting, st.integers(0, 3))
def test_user_patterns_on_long_texts(regex: str, seed: int) -> None:
    """Borders that are taken back over many blocks and windows; long runs, and rare characters between them."""
    stages = ((regex, "tiktoken"),)
    if compile_stages(*stages).tables is None:
        return
    rng, cuts = random.Random(seed), cuts_of(stages)
    text = "".join(rng.choice("aab1 \n'éA_.") * int(rng.expovariate(0.1) + 1) for _ in range(60))
    # Backtracking would take for ever on some of them.
    expected = in_bytes(text, lexer(determinise(build(parse(regex, "tiktoken"))))(text))
    assert {name: cut(text.encode()) for name, cut in cuts.items()} == dict.fromkeys(cuts, expected)


CHAINS: list[Stages] = [
    PRESETS["deepseek-v3"].stages,
    (("[0-9]{1,3}", "tiktoken"), (r"[a-z]+", "tiktoken")),
    (("[0-9]", "tiktoken"), ("[a-z0-9]+|[0-9]", "tiktoken"), (r"a*b|a", "tiktoken")),
    (("[ab]+", "tiktoken"), (r"(?<!a)b+|a|\n|\s+$", "tiktoken")),
]


@pytest.mark.parametrize("stages", CHAINS)
def test_chains_cut_like_stage_after_stage(stages: Stages) -> None:
    cuts = cuts_of(stages)
    rng = random.Random(str(stages))
    for _ in range(500):
        text = sound("".join(rng.choices(TRICKY + "aabb012345  \n\udcff漢字かなカナ#!", k=rng.randint(1, 16))))
        data = text.encode("utf-8", "surrogateescape")
        expected = one_by_one(stages, text)
        assert {name: cut(data) for name, cut in cuts.items()} == dict.fromkeys(cuts, expected)
        check_split_points(tables_of(stages), pure_splitter(tables_of(stages)), text, expected)


def one_by_one(stages: Stages, text: str) -> list[int]:
    """Each stage on ``regex``, on each piece of the one before it; the ends are in bytes."""
    return in_bytes(text, stage_after_stage([partial(by_regex, *stage) for stage in stages], text))


@given(cutting, cutting, st.lists(texts, min_size=1, max_size=6))
def test_chains_of_user_patterns(first: str, second: str, some: list[str]) -> None:
    """Those that have a transducer, and those that run stage after stage."""
    stages = ((first, "tiktoken"), (second, "tiktoken"))
    chain = Pattern(first, then=Pattern(second))
    cuts = {"chain": chain.ends} if chain.compiled.tables is None else {"chain": chain.ends, **cuts_of(stages)}
    for text in some:
        data = text.encode("utf-8", "surrogateescape")
        expected = one_by_one(stages, text)
        assert {name: cut(data) for name, cut in cuts.items()} == dict.fromkeys(cuts, expected)


def test_chains_that_must_read_on_say_so() -> None:
    compiled = compile_stages(("a*b|a", "tiktoken"), ("a", "tiktoken"))
    assert compiled.tier == 3
    assert compiled.reason is not None
    assert "earlier stage" in compiled.reason
