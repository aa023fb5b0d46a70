"""The patterns that the core cuts by blocks: recognised by what they do, whatever the spelling."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from bytepair import _engine
from bytepair.pattern import Pattern, engine_splitter, presets, resolve
from bytepair.pattern.families import _CANONICAL, _ROLES, FAMILY_PRESETS, family_of
from bytepair.pattern.presets import PRESETS

in_core = pytest.mark.skipif(_engine.NAME == "pure", reason="blocks are the compiled core's alone")


def family(pattern: str | Pattern) -> str | None:
    tables = resolve(pattern).compiled.tables
    assert tables is not None, resolve(pattern).compiled.reason
    found = family_of(tables)
    if found is None:
        return None
    name, flags = found
    assert len(flags) == tables.n_classes
    return name


def test_the_canonical_forms_are_those_of_the_presets() -> None:
    """Made anew: this fails when the compiler numbers its states or classes in another way."""
    made = {}
    for name, members in FAMILY_PRESETS.items():
        for preset in members:
            tables = resolve(preset).compiled.tables
            assert tables is not None
            made[tables.canonical] = name
            assert len(_ROLES[name]) == tables.n_classes
    assert made == _CANONICAL


def test_the_families_of_the_presets() -> None:
    assert {name: family(name) for name in presets()} == {
        "gpt2": "gpt2", "r50k": "gpt2", "p50k": "gpt2", "al1": "gpt2", "cl100k": "cl100k", "llama3": "cl100k",
        "qwen2": "qwen2", "o200k": "o200k", "tekken": "tekken", "deepseek-v3": None, "whitespace": None,
        "spaces": None, "none": None,
    }  # fmt: skip


_LINES = r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s*[\r\n]"
SPELLINGS = {
    "gpt2": [
        r"'(?:s|t|m|d|ll|re|ve)| ?\p{L}+(?!\p{L})| ?\p{N}+?(?!\p{N})| ?[^\s\p{L}\p{N}]++|\s+(?=\s|$)|\s",
        r"'(?:[stmd]|ll|[rv]e)|[ ]?(?:[\p{Lu}\P{Lu}&&\p{L}])+|\x20?+\p{N}+| ?[^\s\p{L}\p{N}]+|\s+$|\s*\s(?!\S)|\s",
        # Other classes of letters, numbers and white space: the same automaton.
        r"'s|'t|'re|'ve|'m|'ll|'d| ?[a-zA-Z]+| ?[0-9]+| ?[^\sa-zA-Z0-9]+|\s+(?!\S)|\s+",
    ],
    "cl100k": [
        r"'(?i:s|d|m|t|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}" + _LINES + r"+|\s+(?!\S)|\s",
        r"(?i:'[sdmt]|'ll|'[vr]e)|(?:(?![\r\n\p{L}\p{N}])[\s\S])?\p{L}+|\p{N}\p{N}?\p{N}?" + _LINES + r"|\s+(?!\S)|\s+",
    ],
    "qwen2": [r"'(?i:[sdmt]|ll|[rv]e)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}" + _LINES + r"+|\s+(?=\s|$)|\s"],
    "o200k": [PRESETS["o200k"].regex.replace(r"\p{N}{1,3}", r"\p{N}\p{N}{0,2}").replace(r"\S)|\s+", r"\S)|\s")],
    "tekken": [PRESETS["tekken"].regex.replace("[\\r\\n/]*", "(?:[/]|\\r|\\n)*")],
}  # fmt: skip


@pytest.mark.parametrize("name", SPELLINGS)
def test_another_spelling_is_recognised(name: str) -> None:
    for regex in SPELLINGS[name]:
        assert regex not in {preset.regex for preset in PRESETS.values()}
        assert family(Pattern(regex)) == name, regex


NOT = {
    "gpt2 with another letter": PRESETS["gpt2"].regex.replace("'m", "'n"),
    "gpt2 with another sign": PRESETS["gpt2"].regex.replace("'", "`"),
    "gpt2 with another blank": PRESETS["gpt2"].regex.replace(" ?", r"\t?"),
    "gpt2 with folding": PRESETS["gpt2"].regex.replace("'s|'t|'re|'ve|'m|'ll|'d", "(?i:'s|'t|'re|'ve|'m|'ll|'d)"),
    "gpt2 without contractions": PRESETS["gpt2"].regex.replace("'s|'t|'re|'ve|'m|'ll|'d|", ""),
    "llama3 without U+017F": PRESETS["llama3"].regex.replace("(?i:'s|'t|'re", "(?i:'t|'re").replace(
        "(?i:'t", "'[sS]|(?i:'t"
    ),
    "llama3 with pairs of digits": PRESETS["llama3"].regex.replace("{1,3}", "{1,2}"),
    "llama3 with other line ends": PRESETS["llama3"].regex.replace(r"[\r\n]", r"[\v\n]").replace(r"^\r\n", r"^\v\n"),
    "o200k with another slash": PRESETS["o200k"].regex.replace(r"[\r\n/]", r"[\r\n|]"),
    "o200k with other contractions": PRESETS["o200k"].regex.replace("'d)", "'b)"),
    "tekken without slash": PRESETS["tekken"].regex.replace(r"[\r\n/]", r"[\r\n]"),
}  # fmt: skip


@pytest.mark.parametrize("what", NOT)
def test_other_named_characters_are_not(what: str) -> None:
    """They run as automata all the same, and cut as they say."""
    pattern = Pattern(NOT[what])
    assert NOT[what] not in {preset.regex for preset in PRESETS.values()}
    assert family(pattern) is None
    assert pattern.compiled.tier == 2


def test_a_sign_that_is_a_letter_too() -> None:
    """Where the apostrophe is a letter, or a letter of a contraction is none, it is another automaton."""
    gpt2 = PRESETS["gpt2"].regex
    assert family(Pattern(gpt2.replace("?\\p{L}+", "?[\\p{L}']+").replace("[^\\s", "[^'\\s"))) is None
    assert family(Pattern(gpt2.replace("?\\p{L}+", "?[a-ln-z]+").replace("[^\\s\\p{L}", "[^\\sa-ln-z"))) is None
    assert family(Pattern(gpt2.replace("?\\p{L}+", "?[a-z]+").replace("[^\\s\\p{L}", "[^\\sa-z"))) == "gpt2"


LEVEL = "from bytepair import _engine; print(_engine._impl.simd_level())"


def level_of(**environment: str) -> str:
    found = subprocess.run(
        [sys.executable, "-c", LEVEL], capture_output=True, text=True, check=True, timeout=60,
        env={**os.environ, **environment},
    )  # fmt: skip
    return found.stdout.strip()


@in_core
def test_the_environment_forces_a_level() -> None:
    assert level_of(BYTEPAIR_SIMD="plain") == "plain"
    assert level_of(BYTEPAIR_SIMD="") == level_of()
    for level in ("avx2", "avx512", "neon"):
        try:
            engine_splitter(PRESETS["gpt2"].stages, level)
        except ValueError as error:
            assert str(error) == f"this machine does not have {level}"
            continue
        assert level_of(BYTEPAIR_SIMD=level) == level


CUT = """
import hashlib
from bytepair.pattern import presets, resolve
text = "".join(map(chr, range(1, 0x3000))).encode() * 3 + b"it's 1234  \\n\\n x\\xff./ aB"
print(hashlib.sha256(repr([resolve(name).ends(text) for name in presets()]).encode()).hexdigest())
"""


@in_core
def test_every_forced_level_cuts_alike() -> None:
    def digest(**environment: str) -> str:
        return subprocess.run(
            [sys.executable, "-c", CUT], capture_output=True, text=True, check=True, timeout=60,
            env={**os.environ, **environment},
        ).stdout  # fmt: skip

    assert (
        len({digest(BYTEPAIR_SIMD=level) for level in ("plain", "avx2", "avx512")} | {digest(BYTEPAIR_PURE="1")}) == 1
    )
