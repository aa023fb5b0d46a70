"""Our Unicode tables against the installed tiktoken, tokenizers and Python: every code point, every class."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable

import pytest
from pattern_peers import EVERY_CHARACTER, tiktoken_matches, tokenizers_matches

from bytepair.errors import PatternError
from bytepair.pattern import _unicode_tables, unicode
from bytepair.pattern.charsets import CharSet
from bytepair.pattern.dialects import DIALECTS

SURROGATES = CharSet([(0xD800, 0xDFFF)])
CATEGORIES = [*_unicode_tables.CATEGORIES, "Cn", "L", "M", "N", "P", "S", "Z", "LC"]


def listed(text: str) -> CharSet:
    return CharSet.of(text)


@pytest.mark.parametrize("owner", [tiktoken_matches, tokenizers_matches])
def test_categories_equal_both_peers(owner: Callable[[str, str], str]) -> None:
    for name in CATEGORIES:
        text = "".join(map(chr, unicode.category(name) - SURROGATES))
        assert owner(rf"\p{{{name}}}", text) == text
    # The minor categories are disjoint and cover everything, so none has too few characters either.
    minor = [name for name in CATEGORIES if len(name) == 2 and name != "LC"]
    assert sum(len(unicode.category(name)) for name in minor) == 0x110000


def test_scripts_equal_tiktokens() -> None:
    for name in _unicode_tables.SCRIPTS:
        text = "".join(map(chr, unicode.script(name)))
        assert tiktoken_matches(rf"\p{{Script={name}}}", text) == text
    sizes = sum(len(unicode.script(name)) for name in (*_unicode_tables.SCRIPTS, "Unknown"))
    assert sizes == 0x110000


def test_ages_equal_tiktokens() -> None:
    versions = sorted(_unicode_tables.AGES, key=unicode._number)
    for before, version in zip(versions, versions[1:]):
        new = "".join(map(chr, unicode.age(version) - unicode.age(before) - SURROGATES))
        assert tiktoken_matches(rf"\p{{Age={version}}}", new) == new
        assert tiktoken_matches(rf"\p{{Age={before}}}", new) == ""
    # So every character of the last version is of the right age, if both ends are right.
    for version in (versions[0], versions[-1]):
        theirs = tiktoken_matches(rf"\p{{Age={version}}}", EVERY_CHARACTER)
        assert listed(theirs) == unicode.age(version) - SURROGATES


@pytest.mark.parametrize("escape", [r"\s", r"\w", r"\d", r"\h", r"\p{Alphabetic}", r"\p{Uppercase}", r"\p{Lowercase}"])
def test_escapes_equal_their_dialects_owner(escape: str) -> None:
    from bytepair.pattern.nodes import one_set
    from bytepair.pattern.syntax import parse

    for dialect, owner in (("tiktoken", tiktoken_matches), ("oniguruma", tokenizers_matches)):
        ours = one_set(parse(escape, dialect))
        assert ours is not None
        assert (ours - SURROGATES) ^ listed(owner(escape, EVERY_CHARACTER)) == CharSet()


def test_simple_folding_equals_tiktokens() -> None:
    groups = unicode._fold_groups()
    cased = "".join(map(chr, sorted(groups)))
    for point in groups:
        if unicode.simple_fold(point) == point:
            assert tiktoken_matches(f"(?i:{chr(point)})", cased) == "".join(map(chr, sorted(groups[point])))
    # No other character has a second case: the class of all the rest, folded, is itself.
    rest = "".join(sorted(set(EVERY_CHARACTER) - set(cased)))
    written = "".join(rf"\x{{{a:x}}}-\x{{{b:x}}}" for a, b in (~listed(cased) - SURROGATES).ranges)
    assert tiktoken_matches(f"(?i:[{written}])", EVERY_CHARACTER) == rest


def test_python_classes_where_both_versions_agree() -> None:
    """``re`` has the running Python's Unicode: every difference is a code point whose category differs."""
    categories = {point: name for name in _unicode_tables.CATEGORIES for point in unicode.category(name)}
    same = [point for point in range(0x110000) if unicodedata.category(chr(point)) == categories.get(point, "Cn")]
    text = "".join(map(chr, same))
    dialect = DIALECTS["python"]
    for escape, ours in (("s", dialect.space()), ("w", dialect.word()), ("d", unicode.category("Nd"))):
        theirs = re.findall(rf"\{escape}", text)
        assert listed("".join(theirs)) == ours & listed(text)
    assert len(same) > 1_090_000, f"Python {sys.version_info[:2]} and Unicode 16.0.0 share too little"


def test_names_are_loose() -> None:
    assert unicode.category("uppercase letter") == unicode.category("Lu")
    assert unicode.category("L&") == unicode.category("LC")
    assert unicode.script("hani") == unicode.script("HAN") == unicode.property_set("sc=Han")
    assert unicode.property_set("IsHan") == unicode.property_set("Script=Han")
    assert unicode.property_set("gc=Nd") == unicode.property_set("Is_Nd")
    assert unicode.property_set("Any") == unicode.property_set("Assigned") | unicode.category("Cn")


@pytest.mark.parametrize("call", [unicode.category, unicode.script, unicode.age, unicode.property_set])
def test_unknown_names_are_refused_with_a_way_out(call: object) -> None:
    with pytest.raises(PatternError, match=r"Klingon.*; use"):
        call("Klingon")  # type: ignore[operator]


def test_script_extensions_are_refused() -> None:
    with pytest.raises(PatternError, match="scx=Han"):
        unicode.property_set("scx=Han")


def test_exact_sizes() -> None:
    assert len(unicode.category("L")) == 141_028
    assert [hex(point) for point in unicode.white_space()][:7] == ["0x9", "0xa", "0xb", "0xc", "0xd", "0x20", "0x85"]
    assert len(unicode.white_space()) == 25
    assert len(unicode.category("Cs")) == 2048
    assert len(unicode.age("1.1")) == 33_979
    assert unicode.age("12.1") - unicode.age("12.0") == listed("\u32ff")
    # All that 16.0 has, and the 66 noncharacters.
    beyond = unicode.property_set("Age=16.0") - unicode.property_set("Assigned")
    assert len(beyond) == 66
    assert not unicode.property_set("Assigned") - unicode.age("16.0")
