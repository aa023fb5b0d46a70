"""Every code point where our classes differ from those of the installed tiktoken, tokenizers and Python: listed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

import pytest
from pattern_peers import EVERY_CHARACTER, tiktoken_matches, tokenizers_matches

from bytepair.pattern import _unicode_tables, unicode
from bytepair.pattern.charsets import CharSet
from bytepair.pattern.nodes import one_set
from bytepair.pattern.syntax import parse

#: What stands in patterns of tokenizers.
CLASSES = [
    *(r"\s", r"\S", r"\d", r"\w", r"\W", r"\p{L}", r"\p{N}", r"\p{M}", r"\p{P}", r"\p{S}", r"\p{Z}", r"\p{C}"),
    *(r"\p{Lu}", r"\p{Ll}", r"\p{Lt}", r"\p{Lm}", r"\p{Lo}", r"\p{Nd}", r"\p{Han}", r"\p{Hiragana}", r"\p{Katakana}"),
    *(r"[^\s\p{L}\p{N}]", r"[^\r\n\p{L}\p{N}]", r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"(?i:[sdmt])", r"[[:punct:]]"),
]


def ours(regex: str, dialect: str) -> CharSet:
    found = one_set(parse(regex, dialect))
    assert found is not None
    return found & CharSet.of(EVERY_CHARACTER)


def listed(points: CharSet) -> list[str]:
    return [f"U+{point:04X}" for point in points]


@pytest.mark.parametrize("regex", CLASSES)
def test_tiktoken(regex: str) -> None:
    assert listed(ours(regex, "tiktoken") ^ CharSet.of(tiktoken_matches(regex, EVERY_CHARACTER))) == []


@pytest.mark.parametrize(
    "regex", [r"\s", r"\w", r"\p{L}", r"\p{N}", r"\p{M}", r"\p{P}", r"\p{S}", r"\p{Lu}", r"\p{Han}"]
)
def test_tokenizers(regex: str) -> None:
    assert listed(ours(regex, "oniguruma") ^ CharSet.of(tokenizers_matches(regex, EVERY_CHARACTER))) == []


def _is_word(category: str) -> bool:
    return category[0] in "LN"


def _is_digit(category: str) -> bool:
    return category == "Nd"


@pytest.mark.parametrize(("escape", "rule"), [(r"\w", _is_word), (r"\d", _is_digit)])
def test_python(escape: str, rule: Callable[[str], bool]) -> None:
    """``re`` has the running Python's Unicode: the differences are those of the two versions, and no other."""
    categories = {point: name for name in _unicode_tables.CATEGORIES for point in unicode.category(name)}
    changed = [
        point
        for point in map(ord, EVERY_CHARACTER)
        if rule(unicodedata.category(chr(point))) != rule(categories.get(point, "Cn"))
    ]
    theirs = CharSet.of(re.findall(escape, EVERY_CHARACTER))
    assert listed(ours(escape, "python") ^ theirs) == [f"U+{point:04X}" for point in changed]
    assert (unicodedata.unidata_version == unicode.UNICODE_VERSION) <= (not changed)


def test_python_white_space() -> None:
    assert listed(ours(r"\s", "python") ^ CharSet.of(re.findall(r"\s", EVERY_CHARACTER))) == []
    assert ours(r"\s", "python") == CharSet.of(character for character in EVERY_CHARACTER if character.isspace())
    assert listed(ours(r"\s", "python") - ours(r"\s", "tiktoken")) == ["U+001C", "U+001D", "U+001E", "U+001F"]
