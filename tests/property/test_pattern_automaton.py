"""The transducer, in both forms, against a rescanning lexer, a backtracking matcher and the ``regex`` module."""

from __future__ import annotations

import dataclasses
import itertools
import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pattern_oracles import backtracked, cut_before, lexed
from pattern_peers import TRICKY

from bytepair.pattern import Pattern, presets, resolve
from bytepair.pattern.automaton import Tables, compile_stages, tables_of
from bytepair.pattern.chain import chained
from bytepair.pattern.determinise import Automaton, determinise
from bytepair.pattern.fallback import regex_ends
from bytepair.pattern.nodes import can_be_empty
from bytepair.pattern.presets import PRESETS
from bytepair.pattern.program import NotCompilable, build
from bytepair.pattern.syntax import parse
from bytepair.pattern.transducer import Marks, Registers, Transducer, with_marks, with_registers

if TYPE_CHECKING:
    from bytepair.pattern.classes import Partition

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
texts = st.text(alphabet="aab1 \n'éA\udcff_", max_size=12)


def in_bytes(text: str, ends: list[int]) -> list[int]:
    return [len(text[:end].encode("utf-8", "surrogateescape")) for end in ends]


def in_bytes_at_once(text: str, ends: list[int]) -> list[int]:
    sizes = [0, *itertools.accumulate(len(character.encode()) for character in text)]
    return [sizes[end] for end in ends]


def both_forms(automaton: Automaton) -> list[Tables]:
    return forms_of(automaton.classes, with_marks(automaton), with_registers(automaton))


def forms_of(classes: Partition, marks: Transducer[Marks], registers: Transducer[Registers] | None) -> list[Tables]:
    found = [tables_of(classes, "", marks, None)]
    return found if registers is None else [*found, tables_of(classes, "", marks, registers)]


@pytest.mark.parametrize(
    "stages",
    [
        PRESETS["deepseek-v3"].stages,
        (("[0-9]{1,3}", "tiktoken"), (r"[a-z]+", "tiktoken")),
        (("[0-9]", "tiktoken"), ("[a-z0-9]+|[0-9]", "tiktoken"), (r"a*b|a", "tiktoken")),
        (("[ab]+", "tiktoken"), (r"(?<!a)b+|a|\n|\s+$", "tiktoken")),
    ],
)
def test_chains_cut_like_stage_after_stage(stages: tuple[tuple[str, str], ...]) -> None:
    compiled = compile_stages(*stages)
    assert compiled.tables is not None, compiled.reason
    forms = forms_of(*chained([determinise(build(parse(*stage))) for stage in stages]))
    chain = None
    for regex, dialect in reversed(stages):
        chain = Pattern(regex, dialect=dialect, then=chain)
    assert chain is not None
    rng = random.Random(str(stages))
    for _ in range(500):
        text = "".join(rng.choices(TRICKY + "aabb012345  \n\udcff漢字かなカナ#!", k=rng.randint(1, 16)))
        text = text.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
        data = text.encode("utf-8", "surrogateescape")
        ends = chain.ends(data)
        for tables in (*forms, compiled.tables):
            assert tables.ends(data) == ends
        sizes = [0, *itertools.accumulate(len(c.encode("utf-8", "surrogateescape")) for c in text)]
        _check_split_points(forms[0], text, [sizes.index(end) for end in ends])


def test_chains_that_must_read_on_say_so() -> None:
    compiled = compile_stages(("a*b|a", "tiktoken"), ("a", "tiktoken"))
    assert compiled.tier == 3
    assert compiled.reason is not None
    assert "earlier stage" in compiled.reason


@settings(max_examples=120)
@given(regexes, st.sampled_from(["tiktoken", "oniguruma", "python", "pcre"]), st.lists(texts, min_size=1, max_size=6))
def test_user_patterns_cut_alike_everywhere(regex: str, dialect: str, some: list[str]) -> None:
    tree = parse(regex, dialect)
    assume(not can_be_empty(tree))
    try:
        automaton = determinise(build(tree))
        forms = both_forms(automaton)
    except NotCompilable:
        return
    for text in some:
        data = text.encode("utf-8", "surrogateescape")
        if data.decode("utf-8", "surrogateescape") != text:
            continue
        ends = backtracked(tree, text)
        assert lexed(automaton, text) == ends
        assert regex_ends(data, regex, dialect, 60) == in_bytes(text, ends)
        for tables in forms:
            assert tables.ends(data) == in_bytes(text, ends)
        _check_split_points(forms[0], text, ends)


def _check_split_points(tables: Tables, text: str, ends: list[int]) -> None:
    classes = [tables.classes.of(ord(character)) for character in text]
    for at in cut_before(tables.weak, tables.n_classes, classes):
        assert at in ends
        # The part after a weak cut goes on in the state that begins a pretoken after that class.
        begin = (*tables.begin[:-1], tables.begin[classes[at - 1]])
        rest = dataclasses.replace(tables, begin=begin).ends(text[at:].encode("utf-8", "surrogateescape"))
        assert rest == in_bytes(text[at:], [end - at for end in ends if end > at])
    for at in cut_before(tables.strong, tables.n_classes, classes):
        assert at in ends
        left, right = (part.encode("utf-8", "surrogateescape") for part in (text[:at], text[at:]))
        assert tables.ends(left) + [len(left) + end for end in tables.ends(right)] == in_bytes(text, ends)


SINGLE = [name for name in presets() if PRESETS[name].then is None]


@pytest.mark.parametrize("name", SINGLE)
def test_presets_cut_alike_everywhere(name: str) -> None:
    preset = PRESETS[name]
    tree = parse(preset.regex, preset.dialect)
    automaton = determinise(build(tree))
    forms = both_forms(automaton)
    assert len(forms) == 2
    rng = random.Random(name)
    for _ in range(400):
        text = "".join(rng.choices(TRICKY + "\udcff\udc80", k=rng.randint(1, 16)))
        text = text.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
        data = text.encode("utf-8", "surrogateescape")
        ends = lexed(automaton, text)
        assert ends == backtracked(tree, text)
        assert resolve(name).ends(data) == in_bytes(text, ends)
        for tables in forms:
            assert tables.ends(data) == in_bytes(text, ends)
        _check_split_points(forms[0], text, ends)


@pytest.mark.parametrize("name", [name for name in SINGLE if name not in ("p50k", "none", "spaces")])
def test_presets_on_all_class_strings(name: str) -> None:
    """One character of each class, all strings of them up to a length: no state is left out."""
    preset = PRESETS[name]
    automaton = determinise(build(parse(preset.regex, preset.dialect)))
    forms = both_forms(automaton)
    first = {number: chr(start) for start, _, number in reversed(automaton.classes.segments)}
    alphabet = [first[number] for number in range(automaton.n_classes)]
    for length in (1, 2):
        for characters in itertools.product(alphabet, repeat=length):
            text = "".join(characters)
            data = text.encode()
            ends = in_bytes(text, lexed(automaton, text))
            assert [tables.ends(data) for tables in forms] == [ends, ends]
    # The longer ones are joined, so that every one still occurs, and the regex module sees them too.
    joined = "".join(itertools.chain.from_iterable(itertools.product(alphabet, repeat=3)))
    data = joined.encode()
    assert regex_ends(data, preset.regex, preset.dialect, 60) == forms[1].ends(data) == forms[0].ends(data)
    assert forms[0].ends(data) == in_bytes_at_once(joined, lexed(automaton, joined))


@given(st.binary(max_size=24))
def test_any_bytes(data: bytes) -> None:
    for name in ("cl100k", "o200k", "deepseek-v3"):
        tables = compile_stages(*PRESETS[name].stages).tables
        assert tables is not None
        assert tables.ends(data) == resolve(name).ends(data)
