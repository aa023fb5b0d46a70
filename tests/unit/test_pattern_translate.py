"""Patterns in another dialect: equal automata, and equal cuts in the engines that the dialects belong to."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pattern_peers import TRICKY, tokenizers_cut
from test_pattern_automaton import cutting, dialects

from bytepair.errors import PatternError
from bytepair.pattern import Pattern, presets, resolve
from bytepair.pattern.automaton import compile_stages
from bytepair.pattern.dialects import DIALECTS
from bytepair.pattern.presets import PRESETS
from bytepair.pattern.translate import in_dialect


def chain(pattern: Pattern) -> Iterator[Pattern]:
    stage: Pattern | None = pattern
    while stage is not None:
        yield stage
        stage = stage.then


def assert_same_cuts(one: Pattern, other: Pattern) -> None:
    stages = list(zip(chain(one), chain(other), strict=True))
    for left, right in stages:
        assert left.drop == right.drop
        first, second = (compile_stages((stage.regex, stage.dialect)).tables for stage in (left, right))
        assert first is not None and second is not None
        assert (first.canonical, first.classes) == (second.canonical, second.classes), (left, right)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", presets())
def test_presets_there_and_back(name: str, dialect: str) -> None:
    pattern = resolve(name)
    there = in_dialect(pattern, dialect)
    assert {stage.dialect for stage in chain(there)} == {dialect}
    assert_same_cuts(pattern, there)
    back = in_dialect(there, pattern.dialect)
    assert_same_cuts(pattern, back)
    # Names stay names: letters alone would be 600 ranges.
    assert sum(len(stage.regex) for stage in chain(there)) < 600


WRITTEN = {
    "gpt2": PRESETS["gpt2"].regex,
    "r50k": PRESETS["r50k"].regex,
    "o200k": PRESETS["o200k"].regex,
    "tekken": PRESETS["tekken"].regex,
    "al1": r"'s|'t|'re|'ve|'m|'ll|'d| ?[_\p{L}\p{Nl}\p{No}]+| ?\d+| ?[^\s\x1c-\x1f_\p{L}\p{N}]+"
    r"|[\s\x1c-\x1f]+(?![^\s\x1c-\x1f])|[\s\x1c-\x1f]+",
    "cl100k": r"'(?:[DMSTdmst\x{17f}]|[Ll][Ll]|[Vv][Ee]|[Rr][Ee])|[^\r\n\p{L}\p{N}]?+\p{L}++|(?>\p{N}{1,3})"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++\z|\s*[\r\n]|\s+(?!\S)|\s",
    "whitespace": r"[\s\x1c-\x1f]+|[^\s\x1c-\x1f]+",
    "spaces": PRESETS["spaces"].regex,
    "none": r"[\s\S]+",
}


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written_for_oniguruma(name: str) -> None:
    assert in_dialect(resolve(name), "oniguruma").regex == WRITTEN[name]


@pytest.mark.parametrize(
    ("regex", "dialect", "wanted", "written"),
    [
        # A preset is taken where the text means something else.
        (r"'s|'t|'re|'ve|'m|'ll|'d| ?\pL+| ?\pN+| ?[^\s\pL\pN]+|\s+(?!\S)|\s+", "tiktoken", "oniguruma",
         PRESETS["gpt2"].regex),
        # Where $, \w, ., {1,3}+, {2}? and \Z differ.
        (r"a$", "tiktoken", "oniguruma", r"a\z"),
        (r"a$", "oniguruma", "tiktoken", r"a(?!.)"),
        (r"\w+", "python", "oniguruma", r"[_\p{L}\p{N}]+"),
        (r"a\z", "pcre", "python", r"a\Z"),
        (r"a{1,3}+b", "oniguruma", "tiktoken", r"(?:a{1,3})+b"),
        (r"a{1,3}+b", "tiktoken", "oniguruma", r"(?>a{1,3})b"),
        (r"(?s:.)a{2}?", "tiktoken", "oniguruma", r"[\s\S]a{2}"),
        # Folding: as one group where no engine folds sequences, else by explicit classes.
        (r"(?i:'ll|k)", "tiktoken", "oniguruma", r"(?i:'ll|k)"),
        (r"(?i)stk", "tiktoken", "oniguruma", r"[Ss\x{17f}][Tt][Kk\x{212a}]"),
        (r"(?i:[^k])", "tiktoken", "python", r"[^Kk\u212a]"),
        # Names that an engine does not have, and what is shorter as ranges.
        (r"\p{Script=Han}+", "tiktoken", "oniguruma", r"\p{Han}+"),
        (r"\p{Han}+", "tiktoken", "pcre", r"\p{sc=Han}+"),
        (r"[\p{Letter}--a]", "tiktoken", "pcre", r"[^a\P{L}]"),
        (r"a(?!\W)", "python", "tiktoken", r"a(?![^_\p{L}\p{N}])"),
        (r"[[a-z]&&[^b]]", "tiktoken", "python", r"[ac-z]"),
        (r"[]\-^[{&~|]\x{1f600}", "pcre", "python", r"[&\-\[\]\^{|~]\U0001f600"),
        # Look-arounds of one character, and repeated ones.
        (r"a(?=\s|$)(?<=^|a)", "tiktoken", "oniguruma", r"a(?!\S)(?<![^a])"),
        (r"(?P<x>a)(?:(?=b))?", "tiktoken", "oniguruma", r"a"),
        (r"a(?: |^)?b", "tiktoken", "oniguruma", r"a(?: |(?=)\A)?b"),
        (r"a(?:(?=b)){1}", "tiktoken", "python", r"a(?=b)"),
    ],
)  # fmt: skip
def test_what_is_written(regex: str, dialect: str, wanted: str, written: str) -> None:
    pattern = Pattern(regex, dialect=dialect)
    found = in_dialect(pattern, wanted)
    assert found.regex == written
    assert_same_cuts(pattern, found)


WORDS = ["'s", "'LL", "'rE", "  ", "\r\n", "\n\n", "1234", "./", "aB", " a", "漢字かな", "カナab", "#!", "नमस्ते", "=="]
#: No preset says so much in so few characters: what is written for each dialect differs from the original.
MIXED = r"(?i)stk|\w{1,2}+|[^\W\d_]\b|\s+$|[[:punct:]]+?(?=\p{Lu}|\z)|(?<!\p{Han})\S"
OWN = [*((regex, dialect) for name in presets() for regex, dialect in PRESETS[name].stages), (MIXED, "tiktoken")]


def owners_texts() -> Iterator[str]:
    rng = random.Random("texts")
    for _ in range(150):
        # Unicode leaves U+0378 out, which is why each engine has it unassigned.
        yield "".join(rng.choices([*TRICKY, *WORDS], k=rng.randint(1, 14)))


@pytest.mark.parametrize(("regex", "dialect"), OWN)
def test_oniguruma_cuts_alike(regex: str, dialect: str) -> None:
    pattern = Pattern(regex, dialect=dialect)
    there = in_dialect(pattern, "oniguruma")
    for text in owners_texts():
        found = [text.encode()[start:end] for start, end in pattern.spans(text.encode())]
        assert tokenizers_cut(there.regex, text) == found


def tiktoken_matches_of(regex: str) -> Callable[[str], list[bytes]]:
    tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed")

    def matches(text: str) -> list[bytes]:
        # Every part of the text is a token, so that each match is one.
        every = {text[a:b].encode() for a in range(len(text)) for b in range(a + 1, len(text) + 1)}
        tokens = [bytes([byte]) for byte in range(256)]
        tokens += sorted(every - set(tokens))
        ranks = {token: rank for rank, token in enumerate(tokens)}
        encoding = tiktoken.Encoding("probe", pat_str=regex, mergeable_ranks=ranks, special_tokens={})
        return [tokens[token] for token in encoding.encode_ordinary(text)]

    return matches


def regex_matches_of(regex: str) -> Callable[[str], list[bytes]]:
    module = pytest.importorskip("regex", reason="the regex module is not installed")
    compiled = [module.compile(regex, version) for version in (module.V0, module.V1)]

    def matches(text: str) -> list[bytes]:
        first, second = ([match.group().encode() for match in one.finditer(text)] for one in compiled)
        assert first == second
        return first

    return matches


@pytest.mark.parametrize("wanted", ["tiktoken", "python"])
@pytest.mark.parametrize(("regex", "dialect"), [one for one in OWN if one[1] != "python"])
def test_the_owners_match_alike(regex: str, dialect: str, wanted: str) -> None:
    pattern = Pattern(regex, dialect=dialect, drop="gaps")
    matches = (tiktoken_matches_of if wanted == "tiktoken" else regex_matches_of)(in_dialect(pattern, wanted).regex)
    for text in owners_texts():
        assert matches(text) == [text.encode()[start:end] for start, end in pattern.spans(text.encode())]


@given(cutting, dialects, dialects, st.sampled_from(["", "+?", "{1,2}+", "{2}?"]))
def test_user_patterns(regex: str, dialect: str, wanted: str, count: str) -> None:
    try:
        pattern = Pattern(f"(?:{regex}){count}", dialect=dialect)
    except PatternError:
        return  # {2}? may match nothing
    if pattern.compiled.tables is None:
        return
    there = in_dialect(pattern, wanted)
    assert_same_cuts(pattern, there)
    assert_same_cuts(pattern, in_dialect(there, dialect))


@given(cutting, dialects, st.lists(st.text("aab1 \n'éA_", max_size=12), max_size=5))
def test_user_patterns_in_hugging_face(regex: str, dialect: str, texts: list[str]) -> None:
    pattern = Pattern(f"(?:{regex})", dialect=dialect)
    there = in_dialect(pattern, "oniguruma")
    if there is not pattern:
        for text in texts:
            found = [text.encode()[start:end] for start, end in pattern.spans(text.encode())]
            assert tokenizers_cut(there.regex, text) == found


def test_the_same_dialect_changes_nothing() -> None:
    pattern = resolve("p50k")
    assert in_dialect(pattern, "tiktoken") is pattern


def test_a_preset_comes_back() -> None:
    back = in_dialect(in_dialect(resolve("al1"), "oniguruma"), "python")
    assert back.name == "al1"
    # \s and \w are Python's own where nothing asks for the regex module.
    assert in_dialect(Pattern(r"a[[:space:]\x1c-\x1f]", dialect="pcre"), "python").regex == r"a\s"


def test_chains_and_what_they_drop() -> None:
    pattern = Pattern(r"\s+$", timeout=5, drop="matches", then=Pattern(r"\w{1,2}+", dialect="python", drop="gaps"))
    there = in_dialect(pattern, "oniguruma")
    assert there.regex == r"\s+\z"
    assert there.then is not None and there.then.regex == r"(?>[_\p{L}\p{N}]{1,2})"
    assert (there.drop, there.then.drop, there.timeout) == ("matches", "gaps", 5)
    assert there.drops == pattern.drops
    data = "añb_c 1\n ".encode()
    assert there.spans(data) == pattern.spans(data)
    mixed = Pattern("a+", dialect="oniguruma", then=Pattern("b$"))
    assert in_dialect(mixed, "oniguruma").stages == (("a+", "oniguruma"), (r"b\z", "oniguruma"))


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "regex",
    [
        r"(\p{L})\1|a(?=bc)",
        r"(?P<x>a|k)(b)(?i:(?P=x))\2\1",
        r"(?:a|ab)++c$",
        r"a(?!b.)\b",
        r"(a)\1(?:0)",
        r"(?>a|b{2}c)+?(?<=ab)\w{2,3}+",
        r"(?:a{2}){,3}b",
        r"a(?:(?=b)|(?=c))*",
    ],
)
def test_patterns_without_an_automaton(regex: str, dialect: str) -> None:
    """Equal trees are the proof; the ``regex`` module cuts both."""
    pattern = Pattern(regex)
    there = in_dialect(pattern, dialect)
    assert there.dialect == dialect
    for text in owners_texts():
        assert there.spans(text.encode()) == pattern.spans(text.encode())
    for text in ("aabbab", "abcabc", "kbKbk", "ababc", "aa0", "aaaaab", "bbc_ab"):
        assert there.spans(text.encode()) == pattern.spans(text.encode())


def test_what_cannot_be_said() -> None:
    with pytest.raises(PatternError, match="dialects are tiktoken"):
        in_dialect(resolve("gpt2"), "perl6")
    groups = "".join(f"({letter})" for letter in "ab" * 50)
    with pytest.raises(PatternError, match=r"cannot be written in the oniguruma dialect: it has a back-reference"):
        in_dialect(Pattern(groups + r"(c)(?P<x>d)(?P=x)", dialect="tiktoken"), "oniguruma")
    for regex in (r"a(?<=ba*)", r"(a)(?<=b\1)(c)", r"a(?<=c|b{256})"):
        with pytest.raises(PatternError, match=r"cannot be written in the pcre dialect: its look-behind"):
            in_dialect(Pattern(regex), "pcre")
    for regex in (r"a(?<=b{300}a)", r"a(?<=b{0,254}a)", r"a(?<=[bc]?(?:(?=x)|$)*a)"):
        assert in_dialect(Pattern(regex), "pcre").dialect == "pcre"
