"""The presets: known cuts, and the cuts of the libraries that they come from."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest
from pattern_peers import pieces

from bytepair.errors import PatternError
from bytepair.pattern import Pattern, presets, resolve


def cut(pattern: str | Pattern, text: str | bytes) -> list[str]:
    data = text.encode() if isinstance(text, str) else text
    return [piece.decode("utf-8", "backslashreplace") for piece in pieces(data, resolve(pattern).ends(data))]


def test_gaps_are_pretokens() -> None:
    assert cut("[a-z]+", "ab1cd") == ["ab", "1", "cd"]
    assert cut("[a-z]+", "12ab34") == ["12", "ab", "34"]


KNOWN = [
    ("it's IT'S it’s", "it|'s| IT|'|S| it|’|s", "it|'s| IT|'S| it|’s", "it's| IT'S| it|’s"),
    ("'RE", "'|RE", "'RE", "'RE"),
    ("1234567", "1234567", "123|456|7", "123|456|7"),
    ("x² Ⅷ ١٢٣٤ ½", "x|²| Ⅷ| ١٢٣٤| ½", "x|²| |Ⅷ| |١٢٣|٤| |½", "x|²| |Ⅷ| |١٢٣|٤| |½"),
    ("नमस्ते", "नमस|्|त|े", "नमस|्त|े", "नमस्ते"),
    ("e\u0301a", "e|\u0301|a", "e|\u0301a", "e\u0301a"),
    ("\n\n\nx", "\n\n|\n|x", "\n\n\n|x", "\n\n\n|x"),
    ("x\r\ny", "x|\r|\n|y", "x|\r\n|y", "x|\r\n|y"),
    ("a  b   ", "a| | b|   ", "a| | b|   ", "a| | b|   "),
    ("fooBarBAZ", "fooBarBAZ", "fooBarBAZ", "foo|Bar|BAZ"),
    (".\n/", ".|\n|/", ".\n|/", ".\n/"),
]


@pytest.mark.parametrize(("text", "gpt2", "cl100k", "o200k"), KNOWN)
def test_known_cuts(text: str, gpt2: str, cl100k: str, o200k: str) -> None:
    assert cut("gpt2", text) == cut("r50k", text) == gpt2.split("|")
    assert cut("cl100k", text) == cl100k.split("|")
    assert cut("o200k", text) == o200k.split("|")


def test_cl100k_spellings_differ_at_the_end_of_a_text() -> None:
    assert cut("cl100k", "x\n  ") == ["x", "\n  "]
    assert cut("llama3", "x\n  ") == ["x", "\n", "  "]


def test_o200k_keeps_han_and_latin_together() -> None:
    assert cut("o200k", "Hello你好World") == ["Hello你好", "World"]


def test_al1_is_not_gpt2() -> None:
    for text in ("__init__", "foo_bar", "x²"):
        assert cut("al1", text) == [text]
        assert len(cut("gpt2", text)) > 1
    assert cut("al1", "a\x1cb") == ["a", "\x1c", "b"]


def test_articles_sentence() -> None:
    assert cut("gpt2", "Hello, I've been learning BPE!") == [
        "Hello", ",", " I", "'ve", " been", " learning", " BPE", "!",
    ]  # fmt: skip


def test_whitespace_is_str_split() -> None:
    text = " a\tb\x1c\u3000c\u200bd\n"
    assert [piece for piece in cut("whitespace", text) if piece.split()] == text.split()
    assert "".join(cut("whitespace", text)) == text
    assert cut("spaces", "a b\tc\n\n d") == ["a", " ", "b\tc", "\n\n ", "d"]
    assert cut("none", "a b\n") == ["a b\n"]


@pytest.mark.parametrize("name", presets())
def test_bytes_that_are_no_utf8(name: str) -> None:
    data = b"ok\n\xff\xfe bad\xed\xa0\x80\xf0\x9f"
    ends = resolve(name).ends(data)
    assert b"".join(pieces(data, ends)) == data
    assert resolve(name).ends(b"") == []
    if name not in ("whitespace", "spaces", "none", "o200k", "tekken"):
        # A bad byte is in no positive class and in every negated one.
        assert b"\xff\xfe" in pieces(data, ends)


@pytest.mark.parametrize("name", presets())
def test_presets_are_values(name: str) -> None:
    pattern = resolve(name)
    assert pattern.name == name
    assert resolve(pattern) is pattern
    again = Pattern(pattern.regex, dialect=pattern.dialect, timeout=1.0, then=pattern.then)
    assert again == pattern
    assert hash(again) == hash(pattern)
    copy = pickle.loads(pickle.dumps(pattern))
    assert copy == pattern
    assert copy.name == name
    assert pattern.unicode_version == "16.0.0"
    assert pattern != Pattern(pattern.regex, dialect="pcre", then=pattern.then)
    assert pattern != Pattern(pattern.regex, dialect=pattern.dialect, then=Pattern("a"))


def test_every_preset_runs_in_the_engine() -> None:
    for name in presets():
        assert resolve(name).compiled.tier == 2
        assert resolve(name).splitter is not None
    assert resolve(r"(a)\1").splitter is None


def test_importing_takes_neither_numpy_nor_regex() -> None:
    code = (
        "import sys; from bytepair.pattern import resolve, presets\n"
        "for name in presets(): resolve(name)\n"
        "assert not {'numpy', 'regex'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize("wrong", ["a*", r"\s*|x", "x|", "(?:a?b?)+", "(?=x)", "^", r"\b", "()", "(a?)\\1", ""])
def test_a_pattern_that_can_match_nothing_is_refused(wrong: str) -> None:
    with pytest.raises(PatternError, match="can match the empty text"):
        Pattern(wrong)


def test_wrong_arguments() -> None:
    with pytest.raises(PatternError, match="no pattern"):
        resolve(5)  # type: ignore[arg-type]
    with pytest.raises(PatternError, match="dialects are tiktoken"):
        Pattern("a", dialect="perl6")
    with pytest.raises(PatternError, match="timeout"):
        Pattern("a", timeout=0)
    with pytest.raises(PatternError, match="no Pattern"):
        Pattern("a", then="b")  # type: ignore[arg-type]
    with pytest.raises(PatternError, match="bytes"):
        Pattern(b"a")  # type: ignore[arg-type]


def test_a_pattern_cannot_run_for_ever() -> None:
    with pytest.raises(PatternError, match=r"took more than 0\.2 seconds, at byte 1 of"):
        Pattern(r"!|(?:a|aa)+b(?=xy)", timeout=0.2).ends(b"!" + b"a" * 60)


def test_patterns_on_the_regex_module() -> None:
    # With a back-reference the module sees the characters, else only their classes.
    assert cut(r"(\p{L})\1|\p{L}+?(?=é)", "aab ééx") == ["aa", "b ", "éé", "x"]
    assert cut(r"\p{L}+(?=\s\p{N})|.", "ab é 1") == ["a", "b", " ", "é", " ", "1"]
    assert cut(r"(?i:(\w)\1)", "aAbCc") == ["aA", "b", "Cc"]
    assert cut(r"[^\s\S]|ab(?=cd)", "abcd") == ["ab", "cd"]
    assert resolve(r"(?>\r\n|[\r\n])+x").compiled.tier == 3
    assert cut(r"(?>\r\n|[\r\n])+x", "a\r\nx\xff") == ["a", "\r\nx", "\xff"]
    assert cut(r"b(?=\W\W)|\W+(?=a)", b"b\xff\xfea") == ["b", "\\xff\\xfe", "a"]
