"""The regex parser: what each dialect means, and what a wrong regex is told."""

from __future__ import annotations

import re
import warnings

import pytest
from pattern_peers import pieces, tiktoken_matches, tokenizers_cut

from bytepair.errors import PatternError
from bytepair.pattern import Pattern
from bytepair.pattern.dialects import DIALECTS
from bytepair.pattern.fallback import regex_ends, regex_source
from bytepair.pattern.syntax import parse


def cut(regex: str, dialect: str, text: str) -> list[str]:
    data = text.encode()
    return [piece.decode() for piece in pieces(data, regex_ends(data, regex, dialect, 10))]


SAME = [
    (r"[a-c-e]", "abc-de"), (r"[a-]", "a-b"), (r"[]a]", "]ab"), (r"[\w&&[^_]]+", "ab_c"), (r"[[a-c]&&[b-d]]+", "abcd"),
    (r"[[^a]b]", "abc"), (r"[^a&&b]", "abc"), (r"[a&&]", "a&"), (r"(?i:[^\p{Lu}])", "aB1"),
    (r"(?i:[^k])", "k\u212aKa"), (r"(?i)\p{Lu}", "aB"), (r"(?i:[\p{Lu}])", "aB1"), (r"(?i:[\P{Lu}])", "aB1"),
    (r"(?i)\P{Lu}", "aB1"), (r"a{2}?b|a", "aaabab"), (r"a{1,3}+a?", "aaaaaaaa"), (r"a{1,3}?", "aaaa"),
    (r"a{,", "a{,a"), (r"a{x}", "a{x}aa"), (r"a$", "a\na\n"), (r"a\Z", "ba\n"), (r"a\Z", "ba\n\n"), (r"a\z", "aba"),
    (r"^a", "a\na"), (r"^.", "ab\n"), (r"a(?i)b|c", "abaBcCAB"), (r"(?i)a(?-i)b", "AbaB"), (r"\v", "\x0b\n"),
    (r"\R", "\r\n\n\u2028"), (r"\e", "\x1b"), (r"\h+", "af0 \t"), (r"[[:alpha:]]+", "aé1"), (r"[[:^alpha:]]", "a1"),
    (r".", "\n\r\u2028a"), (r"(?m:.)", "\na"), (r"(?<=ab)c", "abc"), (r"(?<!a|bb)c", "cac"), (r"(a)\1", "aaa"),
    (r"(?<n>a)\k<n>", "aaa"), (r"(?>a+)b|a", "aab"), (r"(?x: a b )#c", "ab#c"), (r"(?#x)a", "ab"), (r"\p{^L}", "a1"),
    (r"\x{1F600}|\u00e9", "😀é"), (r"\bb", "bb ab"), (r"\p{Greek}+", "αa"), (r"\p{Letter}", "a1"), (r"[\d-]+", "1-a"),
    (r"[--a]", "-aA"), (r"\/\-\ ", "/- "), (r"\N+|\O", "a\nb"), (r"x++|x+y", "xxy"), (r"(?:ab?)*+b|.", "abab"),
    (r"a(?=b)|(?!c).", "abc"), (r"[\x{41}-\x43]", "ABD"), (r"[a~~b]", "ab~"), (r"(?:a{2}){2}|a", "aaaaaa"),
    (r"\w\B", "ab c"), ("{", "{"), ("}", "}"), ("]", "]"), ("(?:)a", "a"),
]  # fmt: skip


@pytest.mark.parametrize(("regex", "text"), SAME)
def test_tiktoken_dialect_matches_what_tiktoken_matches(regex: str, text: str) -> None:
    engine = pytest.importorskip("regex")
    ours = engine.finditer(regex_source(parse(regex, "tiktoken")), text, engine.V1)
    assert "".join(match.group() for match in ours) == tiktoken_matches(regex, text)


@pytest.mark.parametrize(("regex", "text"), SAME)
def test_oniguruma_dialect_cuts_like_tokenizers(regex: str, text: str) -> None:
    assert [piece.encode() for piece in cut(regex, "oniguruma", text)] == tokenizers_cut(regex, text)


PYTHON = [
    (r"a$", "a\na\n"), (r"a\Z", "ba\n"), (r"^a", "a\na"), (r"(?m)^a$", "a\na\nb"), (r"(?s).+", "a\nb"),
    (r".+", "a\nb"), (r"[[a]", "[a]"), (r"[a&&b]", "a&b"), (r"a{,2}", "aaa"), (r"\101\x41", "AAA"), (r"[\b]", "\b"),
    (r"\bfoo\b", "foo fo"), (r"(?P<n>a|b)(?P=n)", "aabab"), (r"(a)|b", "ab"), (r"(?i:k)", "kK\u212a"),
    (r"(?<!a)b", "abb"), (r"a+?b|a", "aab"), (r"[+--]", "+,-."), (r"\0", "\0a"), (r"(?x)a  b # c", "ab"),
    (r"\U0001F600", "😀"),
]  # fmt: skip


@pytest.mark.parametrize(("regex", "text"), PYTHON)
def test_python_dialect_matches_what_re_matches(regex: str, text: str) -> None:
    engine = pytest.importorskip("regex")
    ours = [match.span() for match in engine.finditer(regex_source(parse(regex, "python")), text, engine.V1)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # re warns that [[ and && may mean more one day
        assert ours == [match.span() for match in re.finditer(regex, text)]


def test_what_the_dialects_disagree_on() -> None:
    assert cut(r"\p{N}{1,3}+", "tiktoken", "²²²²") == ["²²²", "²"]
    assert cut(r"\p{N}{1,3}+", "oniguruma", "²²²²") == ["²²²²"]
    assert cut(r"a$|.", "tiktoken", "a\n") == ["a", "\n"]  # the newline is a gap
    assert cut(r"a$\n?|\n", "tiktoken", "a\n") == ["a", "\n"]
    assert cut(r"\h+", "pcre", "a \t") == ["a", " \t"]
    assert cut(r"\h+", "tiktoken", "a \t") == ["a", " \t"]
    assert cut(r"\h+", "tiktoken", "ab g") == ["ab", " g"]
    assert cut(r"\v", "pcre", "\u2028\n") == ["\u2028", "\n"]
    assert cut(r"\s", "python", "\x1ca") == ["\x1c", "a"]
    assert cut(r"\s|a", "tiktoken", "\x1ca") == ["\x1c", "a"]
    assert cut(r"\w+", "python", "x²e\u0301") == ["x²e", "\u0301"]
    assert cut(r"\w+", "tiktoken", "x²e\u0301") == ["x", "²", "e\u0301"]


WRONG = [
    ("a)", 1, "closes nothing"), ("(a", 0, "not closed"), ("[a", 0, "not closed"), ("*a", 0, "nothing to repeat"),
    ("a**", 2, "quantifier follows"), ("a|{2}", 2, "nothing to repeat"), ("a{3,2}", 1, "swap"), ("\\", 0, "backslash"),
    (r"\p{Foo}", 0, "Foo"), (r"\p{L", 0, "closed"), (r"\pé1", 0, "property"), (r"[z-a]", 1, "backwards"),
    (r"[\d-z]", 3, "hyphen"), (r"[a-\d]", 1, "hyphen"), (r"(a)\2", 3, "no group 2"), (r"\k<n>", 0, "no group 'n'"),
    (r"\y", 0, "not supported"), (r"(?(1)a)", 0, "conditions"), (r"(?R)", 0, "recursion"), (r"(?q:a)", 2, "flag"),
    (r"\x4", 0, "hexadecimal"), (r"\x{110000}", 0, "no character"), (r"\ud800", 0, "no character"),
    (r"(?P<1>a)", 4, "word"), ("(?i", 3, "not closed"), ("(?", 2, "not closed"), ("(?#a", 3, "comment"),
    ("[]", 0, "empty or not closed"), ("[a-", 3, "middle of a range"), ("a{99999}", 1, "65535"),
    (r"\K", 0, "not supported"), (r"\X", 0, "not supported"), (r"\Ga", 0, "not supported"), ("(?|a)", 0, "branch"),
    ("(" * 5000, 100, "nested"), ("[" * 5000, 101, "nested"), (r"\g<1>", 0, "not supported"),
]  # fmt: skip


@pytest.mark.parametrize(("regex", "offset", "words"), WRONG)
def test_errors_name_the_offset_and_the_cure(regex: str, offset: int, words: str) -> None:
    with pytest.raises(PatternError, match=rf"(?s)offset {offset} \(tiktoken dialect\): .*{re.escape(words)}"):
        Pattern(regex)


def test_dialects_refuse_what_they_do_not_have() -> None:
    for regex, dialect in ((r"\h", "python"), ("(?s:.)", "oniguruma"), ("a(?i)b", "python"), ("[[:graph:]]", "pcre")):
        with pytest.raises(PatternError):
            parse(regex, dialect)
    assert set(DIALECTS) == {"tiktoken", "oniguruma", "python", "pcre"}


@pytest.mark.parametrize("regex", ["a" + "|a" * 50_000, "(?:a)" * 20_000, "a{1000}" * 50, "((" * 50 + "))" * 50])
def test_long_and_deep_patterns_are_read(regex: str) -> None:
    parse(regex, "oniguruma")
