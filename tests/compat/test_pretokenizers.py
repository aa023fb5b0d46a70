"""Hugging Face's pre-tokenizers as chains of patterns: the owner's spans, or a refusal that says why."""

from __future__ import annotations

import json
import lzma
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pattern_peers import EVERY_CHARACTER, TRICKY, vocabulary_file

import bytepair
from bytepair.errors import PatternError
from bytepair.pattern import Pattern, resolve
from bytepair.pattern.charsets import CharSet
from bytepair.pattern.nodes import one_set
from bytepair.pattern.presets import PRESETS
from bytepair.pattern.pretokenizers import adds_prefix_space, from_huggingface
from bytepair.pattern.syntax import parse

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")

BEHAVIORS = ["Isolated", "Contiguous", "MergedWithPrevious", "MergedWithNext"]
REGEXES = [
    *("a", "ab?", "a+", "[ab]{1,2}", "a|b|ab", r"\s+", r"\d", r"\d{1,3}(?=(?:\d{3})*\b)", "(?i:b)a*", "a+?b|b", r"\w+"),
    *(r"(?<=a)b", "a(?!b)", "^a", "a$", r"\p{L}+|\p{N}", r"(a|b)\1", r"(?i)B|\n", r" ?[^\s\p{L}]+", r"\R", r"[^a]"),
]


def owner(spec: dict[str, Any]) -> Any:
    """The owner's pre-tokenizer, made from the same JSON as ours."""
    model = {"type": "BPE", "vocab": {}, "merges": []}
    return tokenizers.Tokenizer.from_str(json.dumps({"model": model, "pre_tokenizer": spec})).pre_tokenizer


def spans(theirs: Any, text: str) -> list[bytes]:
    return [text[start:end].encode() for _, (start, end) in theirs.pre_tokenize_str(text)]


def cut(pattern: Pattern, text: str) -> list[bytes]:
    data = text.encode()
    return [data[start:end] for start, end in pattern.spans(data)]


def split(regex: str, behavior: str = "Isolated", invert: bool = False, form: str = "Regex") -> dict[str, Any]:
    return {"type": "Split", "pattern": {form: regex}, "behavior": behavior, "invert": invert}


def sequence(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "pretokenizers": list(parts)}


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
NO_REGEX = {**BYTE_LEVEL, "use_regex": False}
DIGITS = [{"type": "Digits", "individual_digits": each} for each in (False, True)]
PUNCTUATION = [{"type": "Punctuation", "behavior": behavior} for behavior in BEHAVIORS]


def texts(seed: object, count: int, alphabet: str = "") -> list[str]:
    rng = random.Random(str(seed))
    some = [*(alphabet or TRICKY), "a", "b", "ab", "aab", "1", "234", "  ", ".", "!?", "\n"]
    return ["".join(rng.choices(some, k=rng.randint(1, 16))) for _ in range(count)]


@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("behavior", BEHAVIORS)
def test_split(behavior: str, invert: bool) -> None:
    for regex in REGEXES:
        if "\\1" in regex and (behavior == "MergedWithNext") != invert and behavior.startswith("Merged"):
            continue  # refused: see below
        spec = split(regex, behavior, invert)
        ours, theirs = from_huggingface(spec), owner(spec)
        for text in texts(regex, 60) + texts(regex, 120, "ab1 \n"):
            assert cut(ours, text) == spans(theirs, text), (regex, text)


_pieces = st.sampled_from(
    ["a", "b", "[ab]", "a+", "b?", "(?:ab)", "a|b", ".", r"\s", "a(?=b)", "(?<!a)b", "[^b]{1,2}", "b+?"]
)


@given(
    st.lists(_pieces, min_size=1, max_size=4).map("".join),
    st.sampled_from(BEHAVIORS),
    st.booleans(),
    st.lists(st.text("ab \n1é", max_size=12), min_size=1, max_size=5),
)
def test_split_with_random_patterns(regex: str, behavior: str, invert: bool, some: list[str]) -> None:
    spec = split(regex, behavior, invert)
    try:
        ours = from_huggingface(spec)
    except PatternError as error:
        assume("empty text" not in str(error))
        raise
    theirs = owner(spec)
    for text in some:
        assert cut(ours, text) == spans(theirs, text)


@pytest.mark.parametrize("string", ["a", "ab", " ", "\n", ".", "[a]", "a|b", "漢", "\\", "^", "(?i)"])
def test_strings(string: str) -> None:
    for behavior in BEHAVIORS:
        spec = split(string, behavior, form="String")
        ours, theirs = from_huggingface(spec), owner(spec)
        for text in [*texts(string, 100, "ab[]|.\\^(?i)漢 \n"), string, string * 3, f"x{string}y{string}{string}"]:
            assert cut(ours, text) == spans(theirs, text)


@pytest.mark.parametrize("spec", [BYTE_LEVEL, NO_REGEX, *DIGITS, *PUNCTUATION], ids=str)
def test_the_others(spec: dict[str, Any]) -> None:
    ours, theirs = from_huggingface(spec), owner(spec)
    for text in texts(spec, 600):
        assert cut(ours, text) == spans(theirs, text)
    for start in range(0, len(EVERY_CHARACTER), 1 << 15):
        # A letter between them, so that each stands alone.
        text = "a".join(EVERY_CHARACTER[start : start + (1 << 15)])
        assert cut(ours, text) == spans(theirs, text)


@pytest.mark.parametrize("kind", ["Whitespace", "WhitespaceSplit"])
def test_white_space_that_is_dropped(kind: str) -> None:
    ours, theirs = from_huggingface({"type": kind}), owner({"type": kind})
    some = texts(kind, 600)
    for start in range(0, len(EVERY_CHARACTER), 1 << 15):
        some.append("a".join(EVERY_CHARACTER[start : start + (1 << 15)]))
    for text in some:
        assert cut(ours, text) == spans(theirs, text)


SCRIPTS: dict[str, Any] = {"type": "UnicodeScripts"}


@pytest.mark.parametrize("between", ["", "a", "漢", "\u0301"])
def test_the_script_of_every_character(between: str) -> None:
    ours, theirs = from_huggingface(SCRIPTS), owner(SCRIPTS)
    for start in range(0, len(EVERY_CHARACTER), 1 << 15):
        text = between.join(["", *EVERY_CHARACTER[start : start + (1 << 15)], ""])
        assert cut(ours, text) == spans(theirs, text)


def test_every_character_without_a_script() -> None:
    """Alone it gives nothing. Ours is asked for the set that its first stage leaves out."""
    first, theirs = from_huggingface(SCRIPTS).regex, owner(SCRIPTS)
    assert (first[:2], first[-1]) == (r"\A", "+")
    left_out = one_set(parse(first[2:-1], "tiktoken"))
    assert left_out is not None
    found = CharSet.of(character for character in EVERY_CHARACTER if not theirs.pre_tokenize_str(character))
    assert [hex(point) for point in (left_out - CharSet([(0xD800, 0xDFFF)])) ^ found] == []


#: No script, Common, Inherited, Han in three writings, those that changed, new ones in old scripts.
_OF_SCRIPTS = (
    " \u0378\ue000\ufdd0\t.1\u0301\u200d漢あカーｶ々abαβдא\u0589\u061cա\u0627\u0905\u0953\u0954"
    "\u1c90\u0870\U00011d00😀\U0001fae8"
)


@given(st.lists(st.one_of(st.text(_OF_SCRIPTS, max_size=20), st.text(max_size=8)), min_size=1, max_size=8))
def test_scripts(some: list[str]) -> None:
    for spec in (SCRIPTS, sequence(SCRIPTS, BYTE_LEVEL), sequence(split(" ", "MergedWithNext"), SCRIPTS, DIGITS[1])):
        ours, theirs = from_huggingface(spec), owner(spec)
        for text in ["".join(some), *some]:
            assert cut(ours, text) == spans(theirs, text)


@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("regex", REGEXES)
def test_removed(regex: str, invert: bool) -> None:
    spec = split(regex, "Removed", invert)
    ours, theirs = from_huggingface(spec), owner(spec)
    for text in texts((regex, invert), 100, "ab 1\nB"):
        assert cut(ours, text) == spans(theirs, text)


def test_a_tokenizer_that_drops_says_so(tmp_path: Path) -> None:
    pattern = from_huggingface(sequence({"type": "WhitespaceSplit"}, PUNCTUATION[0]))
    tok = bytepair.train("low low lower, lowest!", num_merges=3, pattern=pattern)
    assert not tok.lossless
    assert tok.pretokens(" low,  low") == [b"low", b",", b"low"]
    assert tok.pieces(" low,  low") == [b"low", b",", b"low"]
    assert list(tok.encode_iter([" lo", "w,", "  low"])) == tok.encode(" low,  low")
    tok.save(tmp_path / "t.json")
    again = bytepair.load(tmp_path / "t.json")
    assert again == tok
    assert again.pattern == pattern
    kept = bytepair.Pattern(r"\S+", then=pattern.then)
    assert bytepair.train("low low lower, lowest!", num_merges=3, pattern=kept) != tok


SEQUENCES = {
    "digits one by one, then bytes": sequence(DIGITS[1], BYTE_LEVEL),
    "digits in runs, then bytes": sequence(DIGITS[0], BYTE_LEVEL),
    "punctuation, digits, bytes": sequence(PUNCTUATION[0], DIGITS[1], BYTE_LEVEL),
    "falcon": sequence(PUNCTUATION[1], BYTE_LEVEL, ),
    "numbers by three from the right": sequence(split(r"\d{1,3}(?=(?:\d{3})*\b)"), BYTE_LEVEL),
    "newlines alone, then words": sequence(split("\n", form="String"), split(r"\s+", "MergedWithNext"), NO_REGEX),
    "merged, then cut again": sequence(split("b", "MergedWithPrevious"), split("a+", "Contiguous"), DIGITS[1]),
    "nested": sequence(sequence(split("a"), sequence()), sequence(split("b", "MergedWithNext", True))),
    "only bytes": sequence(NO_REGEX),
    "nothing": sequence(),
}  # fmt: skip


@pytest.mark.parametrize("what", SEQUENCES)
def test_sequences(what: str) -> None:
    ours, theirs = from_huggingface(SEQUENCES[what]), owner(SEQUENCES[what])
    for text in texts(what, 500) + texts(what, 500, "ab1 \n.é"):
        assert cut(ours, text) == spans(theirs, text)


@pytest.mark.parametrize("name", ["gpt2", "llama3", "qwen2", "o200k", "tekken", "deepseek-v3"])
def test_presets_are_known_again(name: str) -> None:
    parts = [split(regex) for regex, _ in PRESETS[name].stages]
    found = from_huggingface(sequence(*parts, NO_REGEX))
    assert found.stages[0][0] == resolve(name).stages[0][0]
    if PRESETS[name].dialect == "oniguruma":
        assert found == resolve(name)
        assert found.name == name
    assert found.compiled.tables == resolve(name).compiled.tables
    # The way to write Isolated that older files have; allowed because nothing is left to remove.
    if name in ("llama3", "qwen2", "o200k", "tekken"):
        removed = from_huggingface(sequence(*(split(regex, "Removed", True) for regex, _ in PRESETS[name].stages)))
        assert removed == from_huggingface(sequence(*parts))


@pytest.mark.parametrize("file", ["hf_qwen3.tokenizer.json.xz", "hf_deepseek_v3.tokenizer.json.xz"])
def test_real_files(file: str) -> None:
    spec = json.loads(lzma.decompress(vocabulary_file(file).read_bytes()))["pre_tokenizer"]
    ours, theirs = from_huggingface(spec), owner(spec)
    assert ours.name == {"q": "qwen2", "d": "deepseek-v3"}[file[3]]
    assert not adds_prefix_space(spec)
    for text in texts(file, 1500):
        assert cut(ours, text) == spans(theirs, text)


def test_the_prefix_space_is_told() -> None:
    assert adds_prefix_space({"type": "ByteLevel"})
    assert adds_prefix_space(sequence(BYTE_LEVEL, {**BYTE_LEVEL, "add_prefix_space": True}))
    assert not adds_prefix_space(BYTE_LEVEL)
    assert not adds_prefix_space(None)
    spec = {**BYTE_LEVEL, "add_prefix_space": True}
    assert from_huggingface(spec) == resolve("gpt2") == from_huggingface(BYTE_LEVEL)
    for text in texts("prefix", 200):
        theirs = [piece for piece, _ in owner(spec).pre_tokenize_str(text)]
        spaced = text if text.startswith(" ") else " " + text
        assert len(cut(from_huggingface(spec), spaced)) == len(theirs)


REFUSED = [
    ({"type": "Metaspace", "replacement": "\u2581"}, "replaces spaces by U"),
    ({"type": "BertPreTokenizer"}, "WordPiece"),
    ({"type": "CharDelimiterSplit", "delimiter": "x"}, "Split with behavior Removed"),
    ({"type": "Unheard"}, "is not supported; there are ByteLevel, Digits"),
    (sequence(BYTE_LEVEL, split("a")), r"pretokenizers\[1\] \(Split\) comes after a ByteLevel"),
    (sequence(split("a"), {"type": "ByteLevel"}), r"pretokenizers\[1\] \(ByteLevel\) adds a space to every piece"),
    (split("a*"), r"pre_tokenizer \(Split\) has the pattern 'a\*', which can match the empty text"),
    (split("(a"), r"has a wrong pattern: pattern '\(a', offset"),
    (split("", form="String"), "empty text"),
    (split(r"(a|b)\1", "MergedWithNext"), "back-reference"),
    (split("(?x)a # comment", "Contiguous"), "cannot stand in a group"),
    (split("a", "Merged"), "behavior='Merged'; there are Isolated"),
    ({"type": "Split", "pattern": {"Regex": "a"}}, "behavior=None"),
    ({"type": "Split", "behavior": "Isolated"}, "has no pattern"),
    ({"type": "Split", "pattern": "a", "behavior": "Isolated"}, "has no pattern"),
    ({"type": "Split", "pattern": {"Regex": 1}, "behavior": "Isolated"}, "Regex=1; give a string"),
    ({**split("a"), "invert": "no"}, "invert='no'; give true or false"),
    ({"type": "Digits", "individual_digits": 1}, "individual_digits=1"),
    (sequence(split("a"), 5), r"pre_tokenizer.pretokenizers\[1\] is int and no object"),  # type: ignore[arg-type]
    ({"type": "Sequence"}, "has no list pretokenizers"),
    ({"type": "Sequence", "pretokenizers": "ab"}, "has no list pretokenizers"),
    ({"pretokenizers": []}, "has no type"),
    ("Split", "is str and no object"),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "reason"), REFUSED, ids=[reason for _, reason in REFUSED])
def test_what_is_refused_says_why(spec: Any, reason: str) -> None:
    with pytest.raises(PatternError, match=reason):
        from_huggingface(spec)


def test_nothing_is_too_deep_for_an_error() -> None:
    deep: dict[str, Any] = sequence()
    for _ in range(20_000):
        deep = sequence(deep)
    with pytest.raises(PatternError, match="nested more than 50 deep"):
        from_huggingface(deep)


def test_nothing_cuts_nothing() -> None:
    assert from_huggingface(None) == resolve("none")
