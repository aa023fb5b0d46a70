"""Normalisers: fixed results and sources, both JSON forms, and every error."""

from __future__ import annotations

import base64
import pickle
import random
import struct
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest

from bytepair.errors import FormatError, PatternError
from bytepair.pattern.charsets import CharSet
from bytepair.pipeline import _charsmap, _forms, _matches, _normalise_tables, _sets
from bytepair.pipeline._graphemes import grapheme
from bytepair.pipeline.normalise import (
    NFC,
    NFD,
    NFKC,
    NFKD,
    BertNormalizer,
    ByteLevel,
    Lowercase,
    Nmt,
    Normaliser,
    Precompiled,
    Prepend,
    Replace,
    SentencePiece,
    Step,
    Strip,
    StripAccents,
)


def units(keys: dict[bytes, int]) -> list[int]:
    """A double array in which every node has a block of 256 units of its own; values are where texts begin."""
    inner = sorted({key[:i] for key in keys for i in range(len(key) + 1)})
    base = {prefix: 256 * (place + 1) for place, prefix in enumerate(inner)}
    array = [0] * (256 * (len(inner) + 1))
    array[0] = base[b""] << 10
    for prefix in inner[1:]:
        place = base[prefix[:-1]] + prefix[-1]
        array[place] = (place ^ base[prefix]) << 10 | (prefix in keys) << 8 | prefix[-1]
        if prefix in keys:
            array[base[prefix]] = 1 << 31 | keys[prefix]
    return array


def packed(array: list[int], texts: bytes) -> bytes:
    return struct.pack("<I", 4 * len(array)) + struct.pack(f"<{len(array)}I", *array) + texts


def charsmap(rules: dict[str, str]) -> bytes:
    texts, keys = b"", {}
    for key, given in rules.items():
        keys[key.encode()] = len(texts)
        texts += given.encode() + b"\0"
    return packed(units(keys), texts)


RULES = charsmap({"ﬁ": "fi", "A": "a", "e\u0301": "é", "\r\n": "\n", "\x01": "", "xyz": "-", "x": "+"})

FIXED: list[tuple[Step, str, str, list[tuple[int, int]]]] = [
    (NFC(), "e\u0301x", "éx", [(0, 1), (2, 3)]),
    (NFD(), "é\u0323", "e\u0323\u0301", [(0, 1), (1, 2), (1, 2)]),
    (NFKC(), "ﬁ①", "fi1", [(0, 1), (0, 1), (1, 2)]),
    (NFKD(), "ｶﾞ", "カ\u3099", [(0, 1), (1, 2)]),
    (Lowercase(), "İΣ", "i\u0307σ", [(0, 1), (0, 1), (1, 2)]),
    (StripAccents(), "\u0304e\u0304o", "eo", [(1, 2), (3, 4)]),
    (Nmt(), "a\x01\u200bb", "a b", [(0, 1), (2, 3), (3, 4)]),
    (Strip(), " \u3000a b\n", "a b", [(2, 3), (3, 4), (4, 5)]),
    (Strip(True, False), " a ", "a ", [(1, 2), (2, 3)]),
    (Strip(False, True), " a\x1c ", " a\x1c", [(0, 1), (1, 2), (2, 3)]),
    (Prepend("<>"), "ab", "<>ab", [(0, 1), (0, 1), (0, 1), (1, 2)]),
    (Prepend("<>"), "", "", []),
    (Prepend(""), "ab", "ab", [(0, 0), (1, 2)]),
    (Replace("ab", "xyz"), "cabd", "cxyzd", [(0, 1), (2, 3), (2, 3), (2, 3), (3, 4)]),
    (Replace("", "-"), "ab", "-a-b-", [(0, 0), (0, 1), (0, 1), (1, 2), (1, 2)]),
    (Replace("", "-"), "", "", []),
    (Replace("a*", "-", True), "baab", "-b-b-", [(0, 0), (0, 1), (2, 3), (3, 4), (3, 4)]),
    (Replace(r"\s+", " ", True), "a \n b", "a b", [(0, 1), (3, 4), (4, 5)]),
    (Replace("(a)", "$1", True), "a", "$1", [(0, 1), (0, 1)]),
    (Replace("a|b", "", True), "cab", "c", [(0, 1)]),
    (BertNormalizer(), "É漢\x01", "e 漢 ", [(0, 1), (1, 2), (1, 2), (1, 2)]),
    (BertNormalizer(True, False, False, False), "\tÉ\u200d", " É", [(0, 1), (1, 2)]),
    (ByteLevel(), "é a", "Ã©Ġa", [(0, 1), (0, 1), (1, 2), (2, 3)]),
    (Precompiled(RULES), "ﬁAe\u0301", "fiaé", [(0, 1), (0, 1), (1, 2), (2, 3)]),
    (Precompiled(RULES), "A\u0301b\r\n", "ab\n", [(0, 1), (2, 3), (3, 4)]),
    (Precompiled(RULES), "\x01Ab", "ab", [(0, 1), (1, 2)]),
    (Precompiled(RULES), "b\x01A", "ba", [(0, 1), (2, 3)]),
    (SentencePiece(RULES), " ﬁ  xyz ", "▁fi▁-", [(1, 1), (1, 1), (1, 2), (2, 4), (4, 7)]),
    (SentencePiece(RULES), "e\u0301xy\udcff", "▁é+y\ufffd", [(0, 0), (0, 2), (2, 3), (3, 4), (4, 5)]),
    (SentencePiece(RULES, user_defined=("xy", "xyz", "A")), "xyzxyAx", "▁xyzxyA+", []),
    (SentencePiece(treat_whitespace_as_suffix=True), " a b ", "a▁b▁", [(1, 2), (2, 3), (3, 4), (4, 4)]),
    (SentencePiece(b"", False, False, False), " a  b", " a  b", []),
    (SentencePiece(), "   ", "", []),
    (SentencePiece(), "", "", []),
    (SentencePiece(RULES, treat_whitespace_as_suffix=True), "\x01", "▁", [(1, 1)]),
]  # fmt: skip


@pytest.mark.parametrize(("step", "text", "result", "spans"), FIXED, ids=str)
def test_fixed_values(step: Step, text: str, result: str, spans: list[tuple[int, int]]) -> None:
    normaliser = Normaliser((step,))
    assert normaliser.apply(text) == result
    aligned, starts, ends = normaliser.align(text)
    assert aligned == result
    assert spans in ([], list(zip(starts, ends, strict=True)))


def test_a_sequence() -> None:
    normaliser = Normaliser((Strip(), NFD(), StripAccents(), Prepend("▁"), Replace(" ", "▁"), SentencePiece()))
    assert normaliser.apply("  É à ") == "▁▁E▁a"
    assert normaliser.align("  É à ") == ("▁▁E▁a", [2, 2, 2, 3, 4], [2, 2, 3, 4, 5])


def test_nothing_is_changed_by_no_step() -> None:
    assert Normaliser(()).align("ab") == ("ab", [0, 1], [1, 2])


EVERY = [
    NFC(), NFD(), NFKC(), NFKD(), Lowercase(), StripAccents(), Nmt(), ByteLevel(), Strip(True, False), Prepend("▁"),
    Replace(" ", "▁"), Replace(r"\s+", "", True), BertNormalizer(True, False, None, True), Precompiled(RULES),
    BertNormalizer(False, True, False, False),
]  # fmt: skip
OWN = SentencePiece(RULES, False, True, False, True, ("<a>", "é"))


def test_both_json_forms_and_pickle() -> None:
    whole = Normaliser((*EVERY, OWN))
    for one in (whole, *(Normaliser((step,)) for step in (*EVERY, OWN))):
        assert Normaliser.from_json(one.to_json(), "x") == one
        assert pickle.loads(pickle.dumps(one)) == one
        assert hash(pickle.loads(pickle.dumps(one))) == hash(one)
    for step in EVERY:
        given = Normaliser((step,)).to_huggingface()
        assert given["type"] == step.kind
        assert Normaliser.from_huggingface(given) == Normaliser((step,))
    flat = Normaliser(tuple(EVERY)).to_huggingface()
    assert flat["type"] == "Sequence"
    nested = {"type": "Sequence", "normalizers": [flat, {"type": "Sequence", "normalizers": []}]}
    assert Normaliser.from_huggingface(nested) == Normaliser(tuple(EVERY))


def test_nothing_is_none() -> None:
    assert Normaliser.from_huggingface(None) is None
    assert Normaliser.from_huggingface({"type": "Sequence", "normalizers": []}) is None


def test_huggingface_has_no_word_for_sentencepiece() -> None:
    with pytest.raises(FormatError, match=r"step 1 of the normaliser is SentencePiece's own.*own format"):
        Normaliser((NFC(), OWN)).to_huggingface()


def replace(pattern: Any, content: Any = "") -> dict[str, Any]:
    return {"type": "Replace", "pattern": pattern, "content": content}


def in_a_sequence(step: Any) -> dict[str, Any]:
    return {"type": "Sequence", "normalizers": [{"type": "NFC"}, step]}


def deep() -> Any:
    value: Any = {"type": "NFC"}
    for _ in range(100):
        value = {"type": "Sequence", "normalizers": [value]}
    return value


WRONG: list[tuple[Any, str]] = [
    ("NFC", r"normalizer is 'NFC' and no object with a type; give one such as {\"type\": \"NFC\"}"),
    ({"prepend": "x"}, "normalizer has no type"),
    (deep(), "nested more than 50 deep"),
    ({"type": "Sequence"}, r"normalizer \(Sequence\) has no list normalizers"),
    ({"type": "Nope"}, r"normalizer \(Nope\) is not supported; there are BertNormalizer, ByteLevel"),
    ({"type": "SentencePiece"}, r"normalizer \(SentencePiece\) is not supported"),
    (in_a_sequence({"type": "Strip"}), r"normalizer.normalizers\[1\] \(Strip\) has no strip_left; give true or false"),
    ({"type": "Prepend", "prepend": 1}, r"normalizer \(Prepend\) has prepend=1; give a string"),
    ({"type": "Prepend", "prepend": "a\ud800"}, r"has a lone surrogate in prepend at character 1; write characters"),
    ({"type": "Replace", "content": ""}, r'\(Replace\) has no pattern; give {"Regex": ...} or {"String": ...}'),
    (replace("a"), r"has pattern='a'; give {"),
    (replace({"String": "a", "Regex": "b"}), r"has pattern={'String': 'a', 'Regex': 'b'}; give {"),
    (replace({"String": 1}), r"normalizer.pattern \(Replace\) has String=1; give a string"),
    (replace({"String": "a"}, None), r"normalizer \(Replace\) has content=None; give a string"),
    (replace({"Regex": "(a"}), r"normalizer \(Replace\) has a wrong pattern: pattern '\(a', offset"),
    (replace({"Regex": "(?:a{1000}){1000}"}), r"more than 50000 parts.*make their bounds smaller"),
    (replace({"Regex": "a(?R)"}), "recursion"),
    ({**BertNormalizer().to_json(), "clean_text": 1}, "clean_text=1; give true or false"),
    ({**BertNormalizer().to_json(), "strip_accents": 0}, "strip_accents=0; give true or false"),
    ({"type": "Precompiled"}, "has no precompiled_charsmap; give a string"),
    ({"type": "Precompiled", "precompiled_charsmap": "é"}, r"precompiled_charsmap='é', which is no base 64"),
    ({"type": "Precompiled", "precompiled_charsmap": "AAA"}, r"'AAA', which is no base 64.*take it from the model"),
    ({"type": "Precompiled", "precompiled_charsmap": ""}, r"normalizer \(Precompiled\) is wrong: .* it has 0 bytes"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "reason"), WRONG, ids=[reason for _, reason in WRONG])
def test_what_is_wrong_says_where_and_how_to_mend_it(value: Any, reason: str) -> None:
    with pytest.raises(FormatError, match=reason):
        Normaliser.from_huggingface(value)


def own(**changes: Any) -> list[dict[str, Any]]:
    return [{**OWN.to_json(), **changes}]


WRONG_OWN: list[tuple[Any, str]] = [
    ({}, r"steps is {}; give a list of steps"),
    ("ab", r"steps is 'ab'; give a list of steps"),
    ([1], r"steps\[0\] is 1 and no object; give one such as"),
    ([{}], r"steps\[0\] has no type"),
    ([{"type": "Sequence", "normalizers": []}], r"steps\[0\] \(Sequence\) is not supported; there are .*SentencePiece"),
    (own(user_defined="ab"), r"steps\[0\] \(SentencePiece\) has user_defined='ab'; give a list of strings"),
    (own(user_defined=["a", 1]), r"has user_defined\[1\]=1; give a string"),
    (own(user_defined=["a", ""]), r"steps\[0\] \(SentencePiece\) is wrong: user_defined\[1\] is empty; leave it out"),
    (own(add_dummy_prefix="no"), r"has add_dummy_prefix='no'; give true or false"),
    (own(charsmap="AAAA"), r"is wrong: precompiled_charsmap is damaged: it has 3 bytes"),
]


@pytest.mark.parametrize(("value", "reason"), WRONG_OWN, ids=[reason for _, reason in WRONG_OWN])
def test_what_is_wrong_in_our_own_format(value: Any, reason: str) -> None:
    with pytest.raises(FormatError, match=reason):
        Normaliser.from_json(value, "steps")


def test_a_wrong_regex_without_a_file() -> None:
    with pytest.raises(PatternError, match="offset"):
        Replace("(a", "", True)


def test_a_regex_that_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_matches, "_TIMEOUT", 0.05)
    with pytest.raises(PatternError, match=r"took more than 0.05 seconds, at character 0 of 41; rewrite it"):
        Replace("(a|aa)+$", "", True).apply("a" * 40 + "b")


# ---- charsmaps ----


def circle() -> list[int]:
    array = units({b"a": 0})
    place = array[0] >> 10 | ord("a")
    array[place] = (place ^ array[0] >> 10) << 10 | ord("a")
    return array


def changed(key: bytes, change: Callable[[list[int]], None], texts: bytes = b"x\0") -> bytes:
    array = units({key: 0})
    change(array)
    return packed(array, texts)


def far(array: list[int]) -> None:
    array[0] = 1 << 20 << 10


def rooted(array: list[int]) -> None:
    array[0] |= 1 << 8


DAMAGED: list[tuple[bytes, str]] = [
    (b"abc", "it has 3 bytes, and the size of its trie alone takes 4; take precompiled_charsmap from the model again"),
    (struct.pack("<I", 0) + b"x\0", "the trie has 0 bytes, and behind it are 2, texts included"),
    (struct.pack("<I", 1024) + b"x\0", "the trie has 1024 bytes, and behind it are 2"),
    (struct.pack("<I", 4) + b"abcd", "the trie has 4 bytes, and behind it are 4"),
    (struct.pack("<I", 3) + b"abcd\0", "3 bytes, which is no multiple of 4"),
    (packed(units({b"a": 0}), b"x"), "its last text does not end with a NUL"),
    (packed(units({b"a": 0}), b"x\xff\0"), "the texts are no UTF-8 at offset 3077"),
    (packed(units({b"a": 2}), b"x\0"), "the rule at unit 353 of its trie has its text at byte 2, and the texts have 2"),
    (packed(units({b"a": 1}), "é\0".encode()), "has its text at byte 1, amid a character"),
    (packed(circle(), b"x\0"), "unit 353 of its trie leads back to itself"),
    (changed(b"a", far), "unit 0 of its trie leads to unit 1048576, and there are 768"),
    (changed(b"a", rooted), "a rule of its trie is for the empty text"),
    (packed(units({b"\xc3": 0}), b"x\0"), "the rule at unit 451 of its trie ends amid a character"),
    (packed(units({b"\xc3a": 0}), b"x\0"), "has the label 0x61, which is no UTF-8 there"),
    (packed(units({b"\x80": 0}), b"x\0"), "has the label 0x80, which is no UTF-8 there"),
    (packed(units({b"\xf8": 0}), b"x\0"), "has the label 0xf8, which is no UTF-8 there"),
    (packed(units({b"a" * 1001: 0}), b"x\0"), "looks at more than 1000 bytes"),
]


@pytest.mark.parametrize(("data", "reason"), DAMAGED, ids=[reason for _, reason in DAMAGED])
def test_damaged_charsmaps(data: bytes, reason: str) -> None:
    for make in (Precompiled, SentencePiece):
        if data or make is Precompiled:
            with pytest.raises(FormatError, match=f"precompiled_charsmap is damaged: .*{reason}"):
                make(data)


def test_a_trie_of_shared_blocks_takes_no_longer_than_its_units(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block leads to the next by 100 labels: 100 to the power of 20 keys, in 6000 units."""
    array = [0] * (256 * 22)
    array[0] = 256 << 10
    for block in range(1, 21):
        for label in range(1, 101):
            place = 256 * block + label
            array[place] = (place ^ 256 * (block + 1)) << 10 | (block == 20) << 8 | label
    data = packed(array, b"x\0")
    assert SentencePiece(data).apply("\x01" * 20) == "▁x"
    assert Precompiled(data).apply("\x01" * 20) == "\x01" * 20
    monkeypatch.setattr(_charsmap, "_MAX_CHARACTERS", 50)
    with pytest.raises(FormatError, match="begin with more than 50 characters"):
        _charsmap._Reader(_charsmap.array("I", array), data, 4 + 4 * len(array)).read()


def test_any_bytes_are_a_charsmap_or_an_error() -> None:
    places = [place for place, byte in enumerate(RULES) if byte]
    rng = random.Random("damage")
    errors = 0
    for _ in range(400):
        data = bytearray(RULES)
        for place in rng.sample(places, rng.randint(1, 3)):
            data[place] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
        try:
            step = SentencePiece(bytes(data))
        except FormatError:
            errors += 1
            continue
        step.apply("ﬁ A e\u0301 xyz \x01\r\n")
        Precompiled(bytes(data)).sources("ﬁ A e\u0301 xyz \x01\r\n")
    assert 0 < errors < 400


# ---- Unicode ----


def test_bytes_that_are_no_utf8_pass() -> None:
    text = "a\udc80\udcff b"
    for step in EVERY:
        if step != ByteLevel():
            kept = [c for c in Normaliser((step,)).apply(text) if c >= "\ud800"]
            assert "".join(kept).replace("▁", "") == "\udc80\udcff", step
            assert Normaliser((step,)).align(text)[0] == step.apply(text)
    assert ByteLevel().apply(text) == "aĢÿĠb"


def test_characters_after_unicode_9_stand_alone_in_forms() -> None:
    # Combining class 230 since 14.0, and a composition since 16.0.
    for text in ("a\u1ace\u0316", "\U000105d2\u0307", "\ua7f2", "\u32ff", "é\u0898\u0316"):
        for step in (NFC(), NFD(), NFKC(), NFKD()):
            old = "\0".join(text).replace("é\0", "é")
            assert step.apply(text) == step.apply(old).replace("\0", ""), ascii(text)


def test_a_newer_python_is_asked_for_what_the_tables_do_not_have() -> None:
    def differs(character: str) -> object:
        return unicodedata.combining(character) or unicodedata.decomposition(character)

    assert not _sets.newer(differs, unicodedata.unidata_version)
    assert not _sets.newer(differs, "99.0.0")
    since_9 = _sets.newer(differs, "9.0.0")
    assert since_9
    assert not since_9 - _sets.decoded(_normalise_tables.SINCE_9)


def test_lower_case_is_the_same_on_every_python() -> None:
    pairs = [int(number, 36) for number in _normalise_tables.LOWER.split()]
    assert Lowercase().apply("".join(map(chr, pairs[::2])) + "ΑΣ") == "".join(map(chr, pairs[1::2])) + "ασ"
    assert not CharSet((p, p) for p in pairs[::2]) & CharSet([(0, 0x7F)])


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_normal_text_is_given_back_as_it_is(form: Any) -> None:
    for text in ("plain text", "漢字", unicodedata.normalize(form, "Ünïcödé 각")):
        assert _forms.normalised(form, text) is text


GRAPHEMES = [
    ["\r\n", "\n", "\r", "a"], ["e\u0301", "x"], ["\u0600a", "b"], ["\u0600", "\n"], ["🇩🇪", "🇫🇷", "🇬"],
    ["👩\u200d👩\u200d👧\ufe0f", "👩"], ["a\u200d", "👩"], ["\u1100\u1161\u11a8\u0301", "가\u11a8", "각\u11a8", "가"],
    ["\u0915\u094d\u0915", "\u0915\u0903", "\u0915"], ["\u0301\u0301"], ["\0", "\u0301"], ["\udc80\u0301", "\udc80"],
]  # fmt: skip


@pytest.mark.parametrize("parts", GRAPHEMES, ids=ascii)
def test_graphemes(parts: list[str]) -> None:
    assert grapheme().findall("".join(parts)) == parts


def test_base64_of_files_is_kept() -> None:
    value = {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(RULES).decode()}
    made = Normaliser.from_huggingface(value)
    assert made is not None
    assert made.to_huggingface() == value
