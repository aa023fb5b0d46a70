"""What the compiler makes of known patterns: sizes, families, tiers, split points."""

from __future__ import annotations

import pickle
import random

import pytest

from bytepair.pattern import Pattern, presets, resolve
from bytepair.pattern.automaton import FROM_HERE, Tables, compile_stages
from bytepair.pattern.charsets import CharSet
from bytepair.pattern.class_table import ClassTable
from bytepair.pattern.classes import partition


def tables(pattern: str | Pattern) -> Tables:
    compiled = resolve(pattern).compiled
    assert compiled.tables is not None, compiled.reason
    return compiled.tables


@pytest.mark.parametrize(
    ("name", "n_classes", "n_states", "width"),
    [
        ("gpt2", 10, 12, 2),
        ("r50k", 10, 12, 2),
        ("al1", 10, 12, 2),
        ("cl100k", 11, 20, 3),
        ("llama3", 11, 20, 3),
        ("qwen2", 11, 18, 3),
        ("o200k", 19, 25, 3),
        ("tekken", 10, 18, 3),
        ("deepseek-v3", 12, 22, 3),
        ("whitespace", 2, 3, 1),
        ("none", 1, 2, 1),
    ],
)
def test_sizes(name: str, n_classes: int, n_states: int, width: int) -> None:
    """A state runs the certain pretoken and one for each border that pends: one for gpt2, two for most."""
    found = tables(name)
    assert (found.n_classes, found.n_states, found.width) == (n_classes, n_states, width)
    assert any(code[1] for code in found.actions) == (name == "deepseek-v3")
    assert len(found.next) == len(found.action) == 2 * n_states * (n_classes + 1)
    assert len(found.weak) == len(found.strong) == n_classes**2
    assert pickle.loads(pickle.dumps(found)) == found


def test_families_are_recognised_whatever_the_spelling() -> None:
    canonical = {name: tables(name).canonical for name in presets()}
    assert canonical["gpt2"] == canonical["r50k"] == canonical["p50k"] == canonical["al1"]
    assert canonical["whitespace"] == canonical["spaces"]
    assert len(set(canonical.values())) == len(canonical) - 4
    nested = Pattern(r"'(?>s|t|m|d|ll|re|ve)| ?\p{L}+(?!\p{L})| ?\p{N}+?(?!\p{N})| ?[^\s\p{L}\p{N}]++|\s+(?=\s|$)|\s")
    # An atomic group is not compiled, but without it the family is found through another spelling.
    assert nested.compiled.tier == 3
    plain = Pattern(nested.regex.replace("(?>", "(?:"))
    assert tables(plain).canonical == canonical["gpt2"]
    assert tables(plain).classes == tables("gpt2").classes


def test_coded_actions() -> None:
    for name in presets():
        assert tables(name).actions[:2] == ((0, 0, 0), (1, 0, 1, 0, FROM_HERE))
    # A border that may be taken back: the copy that was begun there gets a mark, the one below it keeps its own.
    assert (1, 0, 1, 1, FROM_HERE) in tables("gpt2").actions


def test_pending_borders_without_bound_stay_linear() -> None:
    assert (tables("a*b|a").n_states, tables("a*b|a").width) == (5, 2)
    ends = Pattern("a*b|a").ends
    assert ends(b"a" * 50) == list(range(1, 51))
    assert ends(b"a" * 50 + b"b") == [51]
    assert ends(b"a" * 50 + b"c") == list(range(1, 52))


#: 280 words of six letters out of 248.
MANY_WORDS = "|".join(
    "".join(chr(0x4E00 + number % 248) for number in random.Random(word).choices(range(248), k=6))
    for word in range(280)
)


@pytest.mark.parametrize(
    ("regex", "reason"),
    [
        (r"(a)\1", "back-reference"),
        ("a(?=bc)", "look-around"),
        ("(?<=ab)c", "look-around"),
        ("(?>ab|a)c", "atomic"),
        ("(?:ab)++", "atomic"),
        ("(?:a*b?)+c", "can be empty"),
        ("(?:a|b)*a(?:a|b){12}", "states"),
        ("(?:[ab]{1,70}[bc]){1,70}", "steps when"),
        ("".join(map(chr, range(0x4E00, 0x4E00 + 1000))), "1000 classes"),
        ("".join(f"{chr(point)}?" for point in range(0x4E00, 0x4E00 + 251)) + "x", "250 classes"),
        (MANY_WORDS, "262,143 steps"),
    ],
)
def test_what_cannot_be_compiled_says_why(regex: str, reason: str) -> None:
    compiled = Pattern(regex).compiled
    assert compiled.tier == 3
    assert compiled.tables is None
    assert compiled.reason is not None
    assert reason in compiled.reason


def test_chains_have_the_same_limits() -> None:
    first, second = (
        "|".join(f"{chr(c)}{chr(c + 128)}?" for c in range(start, start + 70))
        + rf"|[\x{{{whole}00}}-\x{{{whole}ff}}]+|."
        for start, whole in ((0x4E00, "5e"), (0x5E00, "4e"))
    )
    assert Pattern(first).compiled.tier == 2
    chain = Pattern(first, then=Pattern(second))
    assert chain.compiled.reason == "it tells more than 250 classes of characters apart"
    assert chain.ends("一亀帀庀".encode()) == [6, 12]


@pytest.mark.parametrize(
    "regex",
    [
        r"\w+\b|.", "a$|.", r"(?m:^a+$|b)|\n", r"(?<!\S)a+(?!\S)|.", r"\R|.", "(?>a+)b|a",
        "a(?=[^b]+)|b", r"(?<=^|\s)x|y", "(?:a{2}){2}|a", r"a++(?:b|c)*+|.", "[a&&b]|c",
    ],
)  # fmt: skip
def test_what_can_be_compiled(regex: str) -> None:
    assert Pattern(regex).compiled.tier == 2


def pairs(name: str, before: str, after: str) -> tuple[int, int]:
    """Whether the pair is weak, and whether it is strong."""
    found = tables(name)
    place = found.classes.of(ord(before)) * found.n_classes + found.classes.of(ord(after))
    return found.weak[place], found.strong[place]


def test_split_points() -> None:
    # \n|b is always a border in gpt2, but at the end of a text \n\n is one pretoken.
    assert pairs("gpt2", "\n", "b") == (1, 0)
    assert pairs("gpt2", "a", " ") == (1, 1)
    # A newline is no safe place: .\n/ is one pretoken of o200k.
    assert pairs("o200k", "\n", "/") == (0, 0)
    assert pairs("o200k", "a", "B") == (1, 1)
    for before, after in ("lL", "vE", "rE"):
        assert pairs("o200k", before, after) == (0, 0)
    # No cut inside a run.
    for name in ("gpt2", "cl100k", "o200k", "llama3", "qwen2", "tekken", "al1"):
        for run in ("  ", "\n\n", "..", "aa"):
            assert pairs(name, *run)[0] == 0
    assert pairs("qwen2", "1", "1") == (1, 1)
    # A gap ends for certain only where none can follow.
    assert pairs("[a-z]+", "1", "a") == (1, 1)
    assert pairs("[a-z]+", "1", "1") == (0, 0)
    assert pairs("[a-z]{2}", "1", "a") == (0, 0)


def test_look_behind_has_states_to_begin_with() -> None:
    found = tables(Pattern(r"(?<!a)b+|a|b"))
    assert max(found.begin) > 0
    assert Pattern(r"(?<!a)b+|a|b").ends(b"abbb") == [1, 2, 4]
    # Where the next character has no use for what was before it, that pair is a strong one all the same.
    assert pairs(r"(?<!a)b+|a|c", "a", "c") == (1, 1)
    assert pairs(r"(?<!a)b+|a|c", "a", "b") == (1, 0)


def test_partition_is_the_coarsest() -> None:
    sets = [CharSet.of("abc"), CharSet.of("cd"), CharSet.of("abc")]
    found = partition(sets)
    assert found.n_classes == 4
    table = found.table()
    assert [table.of(ord(character)) for character in "\0abcd"] == [0, 1, 1, 2, 3]
    assert found.members == {sets[0]: 0b110, sets[1]: 0b1100}


def test_compiling_is_cached() -> None:
    assert compile_stages(("a+", "tiktoken")) is Pattern("a+").compiled


def test_segments_are_those_that_made_the_table() -> None:
    table = tables("gpt2").classes
    assert ClassTable.of_segments(table.n_classes, table.segments()) == table
    assert list(ClassTable.of_sets(CharSet.of("ab"), CharSet.of("\n\U0010ffff")).segments()) == [
        (0, 10, 0), (10, 11, 2), (11, 97, 0), (97, 99, 1), (99, 0x10FFFF, 0), (0x10FFFF, 0x110000, 2),
    ]  # fmt: skip
