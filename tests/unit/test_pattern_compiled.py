"""What the compiler makes of known patterns: sizes, families, tiers, split points."""

from __future__ import annotations

import pickle

import pytest

from bytepair.pattern import Pattern, presets, resolve
from bytepair.pattern.automaton import FROM_HERE, Tables, compile_stages
from bytepair.pattern.charsets import CharSet
from bytepair.pattern.classes import partition
from bytepair.pattern.determinise import determinise
from bytepair.pattern.program import build
from bytepair.pattern.syntax import parse
from bytepair.pattern.transducer import with_marks, with_registers


def tables(pattern: str | Pattern) -> Tables:
    compiled = resolve(pattern).compiled
    assert compiled.tables is not None, compiled.reason
    return compiled.tables


@pytest.mark.parametrize(
    ("name", "n_classes", "n_states", "registers"),
    [
        ("gpt2", 10, 12, 1),
        ("r50k", 10, 12, 1),
        ("al1", 10, 12, 1),
        ("cl100k", 11, 20, 2),
        ("llama3", 11, 20, 2),
        ("qwen2", 11, 18, 2),
        ("o200k", 19, 25, 2),
        ("tekken", 10, 18, 2),
        ("deepseek-v3", 12, 22, 2),
    ],
)
def test_sizes(name: str, n_classes: int, n_states: int, registers: int) -> None:
    found = tables(name)
    assert (found.n_classes, found.n_states, found.width) == (n_classes, n_states, registers)
    assert found.form == "registers"
    assert found.has_gaps == (name == "deepseek-v3")
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
    found = tables("gpt2")
    assert found.actions[:2] == ((0, 0, 0), (1, FROM_HERE, 0, 0))
    marks = tables("a*b|a")
    assert marks.form in ("marks", "registers")


def test_pending_borders_without_bound_stay_linear() -> None:
    automaton = determinise(build(parse("a*b|a", "tiktoken")))
    marks = with_marks(automaton)
    assert (len(marks.rows), marks.width) == (5, 2)
    assert with_registers(automaton) is None
    found = tables("a*b|a")
    assert found.form == "marks"
    assert found.ends(b"a" * 50) == list(range(1, 51))
    assert found.ends(b"a" * 50 + b"b") == [51]
    assert found.ends(b"a" * 50 + b"c") == list(range(1, 52))


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
        ("(?:[ab]{1,70}[bc]){1,70}", "steps"),
    ],
)
def test_what_cannot_be_compiled_says_why(regex: str, reason: str) -> None:
    compiled = Pattern(regex).compiled
    assert compiled.tier == 3
    assert compiled.tables is None
    assert compiled.reason is not None
    assert reason in compiled.reason


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


def test_look_behind_has_states_to_begin_with() -> None:
    found = tables(Pattern(r"(?<!a)b+|a|b"))
    assert max(found.begin) > 0
    assert found.ends(b"abbb") == [1, 2, 4]


def test_partition_is_the_coarsest() -> None:
    sets = [CharSet.of("abc"), CharSet.of("cd"), CharSet.of("abc")]
    found = partition(sets)
    assert found.n_classes == 4
    table = found.table()
    assert [table.of(ord(character)) for character in "\0abcd"] == [0, 1, 1, 2, 3]
    assert found.members == {sets[0]: 0b110, sets[1]: 0b1100}


def test_compiling_is_cached() -> None:
    assert compile_stages(("a+", "tiktoken")) is Pattern("a+").compiled
