"""Normalisers against tokenizers and sentencepiece: every code point alone, and tricky texts, with their sources."""

from __future__ import annotations

import base64
import io
import json
import os
import random
import struct
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pattern_peers import EVERY_CHARACTER

from bytepair.pipeline.normalise import (
    NFC,
    NFD,
    NFKC,
    NFKD,
    Normaliser,
    Precompiled,
    SentencePiece,
    Step,
)

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")

FULL = os.environ.get("BYTEPAIR_FULL") == "1"
"""Whether to take the minutes that every code point in every surrounding takes."""

ALPHABET = [
    *"ae xABΣς\n\t\r\0\x01\x7f\x85",
    *("\r\n", "  ", "İ", "ﬁ", "ﬃ", "①", "…", "ß", "ẞ", "Ǆ", "漢", "が", "か", "ｶﾞ", "ﾞ", "▁", "\ufffd", "\u200b", "\xa0"),
    *("\xad", "\u3000", "\u2028", "\ufeff", "\u0301", "\u0323", "\u0316", "\u0344", "\u0345", "\u0307", "\u0334"),
    *("\u0315", "\u0f71", "\u0f72", "\u0f73", "é", "ẹ", "ấ", "Ệ", "Å", "\u212b", "\u1e9b", "\u0338"),
    *("\u3099", "\u309a", "ᾳ", "α", "가", "각", "\u1100", "\u1161", "\u11a8", "\u09c7", "\u09be", "\u0958", "\u0dd9"),
    *("\u0dcf", "\u0dca", "\u0f77", "\U0001d15e", "\U0001d165", "\U0001d16f", "\U0002f800", "豈"),
    # What Unicode got after 9.0.
    *("\u1ace", "\u0897", "\U000105d2", "\U000105c9", "\U00011935", "\U00011930", "\U00011938", "\u32ff", "\ua7f2"),
    *("\u1c89", "\ua7cb", "\U00016ea0", "\u061d", "\u08d4"),
    # Graphemes.
    *("\u0600", "\u0903", "\u0915", "\u094d", "\u093c", "\u200d", "\u200c", "\u1000", "\u1039", "©", "™", "😀"),
    *("🏽", "🇩", "🇪", "❤\ufe0f"),
    *("👩\u200d👩\u200d👧", "\U000e0001", "\u0e33", "\u0d4e", "\ua960", "\ud7b0", "\ud7cb"),
]  # fmt: skip


def texts(seed: object, count: int, most: int = 9) -> list[str]:
    rng = random.Random(str(seed))
    return ["".join(rng.choices(ALPHABET, k=rng.randint(0, most))) for _ in range(count)]


def owner(spec: dict[str, Any]) -> Any:
    """A tokenizer whose every character is an unknown token of its own, so that its offsets are the normalizer's."""
    model = {"type": "BPE", "vocab": {"?": 0}, "merges": [], "unk_token": "?", "fuse_unk": False}
    return tokenizers.Tokenizer.from_str(json.dumps({"model": model, "normalizer": spec}))


def ours(spec: dict[str, Any]) -> Normaliser:
    made = Normaliser.from_huggingface(spec)
    assert made is not None
    return made


def check(mine: Normaliser, theirs: Any, text: str) -> None:
    expected = theirs.normalizer.normalize_str(text)
    assert mine.apply(text) == expected, ascii(text)
    result, starts, ends = mine.align(text)
    assert result == expected, ascii(text)
    if "?" not in expected:
        assert list(zip(starts, ends, strict=True)) == theirs.encode(text).offsets, ascii(text)


def replace(pattern: str, content: str, form: str = "Regex") -> dict[str, Any]:
    return {"type": "Replace", "pattern": {form: pattern}, "content": content}


def sequence(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "normalizers": list(parts)}


def bert(clean: bool, chinese: bool, accents: bool | None, lower: bool) -> dict[str, Any]:
    fields = {"clean_text": clean, "handle_chinese_chars": chinese, "strip_accents": accents, "lowercase": lower}
    return {"type": "BertNormalizer", **fields}


def strip(left: bool, right: bool) -> dict[str, Any]:
    return {"type": "Strip", "strip_left": left, "strip_right": right}


PLAIN = [{"type": name} for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel")]
STEPS = [
    *PLAIN,
    *(strip(left, right) for left in (False, True) for right in (False, True)),
    *({"type": "Prepend", "prepend": prefix} for prefix in ("▁", "<ä>", "")),
    *(
        replace(*args, "String")
        for args in ((" ", "▁"), ("é", "e"), ("  ", ""), ("", "-"), ("a", "$0\\1"), ("\n", " "))
    ),
    *(bert(*flags) for flags in ((True, True, None, True), (True, False, None, False), (False, True, False, True))),
    *(bert(*flags) for flags in ((False, False, True, False), (True, True, False, False), (False,) * 4)),
]
REGEXES = [
    *(r"\s+", r" {2,}", r"\s", "a*", "^", "$", r"(?<=a)e", r"(a)(e)|\n", r"[^\x00-\x7f]", r"\p{M}+", r"(?i)B", "(?=e)"),
    *(r"(.)\1", "|a", r"\b", r"[\r\n]+", r"(?:a|e)*?x", r"(a|ae)+", r".?", r"\R"),
]
SEQUENCES = {
    "llama": sequence({"type": "Prepend", "prepend": "▁"}, replace(" ", "▁", "String")),
    "albert": sequence(replace("``", '"', "String"), {"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"}),
    "all forms": sequence(*PLAIN[:4], PLAIN[1], PLAIN[0]),
    "nested": sequence(sequence({"type": "NFD"}, sequence()), sequence({"type": "Nmt"}, strip(True, True))),
    "accents": sequence({"type": "NFD"}, {"type": "StripAccents"}, {"type": "NFKC"}, bert(True, True, None, True)),
    "spaces": sequence({"type": "Nmt"}, {"type": "NFKC"}, replace(" {2,}", " "), strip(False, True)),
    "bytes": sequence({"type": "NFC"}, {"type": "ByteLevel"}),
    "growing": sequence(replace("a", "éa"), {"type": "NFD"}, replace("\u0301", "<>"), {"type": "Lowercase"}),
}  # fmt: skip


@pytest.mark.parametrize("spec", STEPS, ids=str)
def test_steps(spec: dict[str, Any]) -> None:
    mine, theirs = ours(spec), owner(spec)
    for text in texts(spec, 1500):
        check(mine, theirs, text)


@pytest.mark.parametrize("regex", REGEXES)
def test_replaced_regexes(regex: str) -> None:
    for content in ("", "-", "$1é"):
        mine, theirs = ours(replace(regex, content)), owner(replace(regex, content))
        for text in [*texts(regex, 150), "baab", "aea  e\n\nx", "aa ee"]:
            check(mine, theirs, text)


@pytest.mark.parametrize("what", SEQUENCES)
def test_sequences(what: str) -> None:
    mine, theirs = ours(SEQUENCES[what]), owner(SEQUENCES[what])
    for text in texts(what, 1500):
        check(mine, theirs, text)


@pytest.mark.parametrize("form", ["NFC", "NFKC"])
def test_normal_texts_are_their_own_source(form: str) -> None:
    spec = {"type": form}
    mine, theirs = ours(spec), owner(spec)
    for text in texts(form, 1500):
        check(mine, theirs, mine.apply(text))


@given(st.text(max_size=12))
def test_any_text(text: str) -> None:
    for spec in (*PLAIN, STEPS[-6], SEQUENCES["accents"]):
        check(ours(spec), _owner(json.dumps(spec)), text)


@cache
def _owner(spec: str) -> Any:
    return owner(json.loads(spec))


def differences(
    mine: Callable[[str], str], theirs: Callable[[str], str], around: str = "{}", between: str = "\n"
) -> list[str]:
    """The code points that two normalizers differ in. What stands between them lets none see another."""
    found: list[str] = []
    for first in range(0, len(EVERY_CHARACTER), 1 << 12):
        some = [around.format(character) for character in EVERY_CHARACTER[first : first + (1 << 12)]]
        text = between.join(some)
        if mine(text) != theirs(text):
            found += [ascii(one) for one in some if mine(one) != theirs(one)] or ["together"]
    return found


@pytest.mark.parametrize("spec", [*PLAIN, *STEPS[-6:]], ids=str)
def test_every_code_point_alone(spec: dict[str, Any]) -> None:
    assert differences(ours(spec).apply, owner(spec).normalizer.normalize_str) == []


def test_every_code_point_at_an_end() -> None:
    mine, theirs = ours(strip(True, True)), tokenizers.normalizers.Strip()
    assert [ascii(c) for c in EVERY_CHARACTER if mine.apply(c) != theirs.normalize_str(c)] == []


@pytest.mark.parametrize("mark", ["\u0334", "\u0316", "\u0315", "\u0345"])
def test_the_order_of_every_code_point(mark: str) -> None:
    assert differences(NFD().apply, tokenizers.normalizers.NFD().normalize_str, "x" + mark + "{}") == []


def test_long_texts() -> None:
    text = "".join(texts("long", 400))
    for spec in (*STEPS, *SEQUENCES.values()):
        check(ours(spec), owner(spec), text)


# ---- charsmaps ----


def field(message: bytes, number: int) -> bytes:
    """The last field of this number in a protobuf message, if it has bytes."""
    place, found = 0, b""

    def varint() -> int:
        nonlocal place
        value = shift = 0
        while True:
            byte = message[place]
            place += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while place < len(message):
        key = varint()
        if key & 7 == 2:
            size = varint()
            if key >> 3 == number:
                found = message[place : place + size]
            place += size
        elif key & 7 == 0:
            varint()
        else:
            place += 4 if key & 7 == 5 else 8
    return found


def sentencepiece() -> Any:
    return pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")


@cache
def charsmap(rule: str) -> bytes:
    made = sentencepiece().SentencePieceNormalizer(rule_name=rule)
    return field(made.serialized_normalizer_spec(), 2)


@cache
def charsmap_of(rules: tuple[tuple[str, str], ...]) -> bytes:
    made = sentencepiece().SentencePieceNormalizer(norm_map=list(rules))
    return field(made.serialized_normalizer_spec(), 2)


RULES = ["nmt_nfkc", "nmt_nfkc_cf", "nfkc", "nfkc_cf"]
OWN_RULES = (
    *(("a", "  x  "), ("ae", " "), ("é", ""), ("e\u0301x", "  "), ("x", "漢字"), ("\n", " a"), ("\u0301", "")),
    *(("B", ""), ("©", "(c)"), ("\u0915\u094d", "k"), ("\u0600", "0"), ("AB", "▁"), ("İ", "i "), ("😀", "")),
    ("\r\n", "\n"),
)  # fmt: skip


def precompiled(data: bytes) -> dict[str, Any]:
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(data).decode()}


@pytest.mark.parametrize("rule", RULES)
def test_precompiled(rule: str) -> None:
    spec = precompiled(charsmap(rule))
    mine, theirs = ours(spec), owner(spec)
    for text in texts(rule, 2500 if FULL else 500):
        check(mine, theirs, text)
    for around in ("{}", "{}\u0301") if FULL else ("{}",):
        assert differences(mine.apply, theirs.normalizer.normalize_str, around) == []


def test_precompiled_with_rules_that_remove_and_add() -> None:
    spec = precompiled(charsmap_of(OWN_RULES))
    mine, theirs = ours(spec), owner(spec)
    for text in texts("own", 4000 if FULL else 800):
        check(mine, theirs, text)
    xlnet = sequence(replace("``", '"', "String"), spec, {"type": "NFKD"}, replace(" {2,}", " "))
    for text in texts("own, in a sequence", 1000):
        check(ours(xlnet), owner(xlnet), text)


def every_character_is_x(characters: str) -> bytes:
    """A charsmap by which each of these is X; every node of its trie has a block of units of its own."""
    keys = {c.encode() for c in characters if c not in "\0\n"}
    inner = sorted({key[:i] for key in keys for i in range(len(key))})
    base = {prefix: 256 * (place + 2) for place, prefix in enumerate(inner)}
    units = [0] * (256 * (len(inner) + 2))
    units[0], units[256] = base[b""] << 10, 1 << 31
    for key in keys:
        for i, label in enumerate(key):
            place, leaf = base[key[:i]] + label, i + 1 == len(key)
            units[place] = (place ^ (256 if leaf else base[key[: i + 1]])) << 10 | leaf << 8 | label
    return struct.pack("<I", 4 * len(units)) + struct.pack(f"<{len(units)}I", *units) + b"X\0"


@pytest.mark.parametrize(
    "around", ["a{}", "{}a", "{}\u0301\u0301", "{}\u200d©\u0301", "{}\u094d\u0915\u0301", "\u0915{}\u0915\u0301"]
)
def test_the_graphemes_of_every_code_point(around: str) -> None:
    """A grapheme under 6 bytes becomes one X, so that the number of X tells where the owner cuts."""
    step = 1 if FULL else 7
    for first in range(0, len(EVERY_CHARACTER), 0x4000 * step):
        chunk = EVERY_CHARACTER[first : first + 0x4000 * step : step]
        if first > 0x40000 and first < 0xD0000:
            continue  # nothing is there, and nothing is what the owner says of it: see the chunks beside
        data = every_character_is_x(chunk + "a\u0301\u200d©\u0915\u094d")
        mine, theirs = Precompiled(data), tokenizers.normalizers.Precompiled(data)
        text = "\n".join([around.format(c) for c in chunk])
        assert mine.apply(text).split("\n") == theirs.normalize_str(text).split("\n"), ascii(chunk[0])


# ---- sentencepiece ----


@cache
def trained(rule: str, symbols: tuple[str, ...], suffix: bool) -> Any:
    spm, model = sentencepiece(), io.BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter([f"the cat sat on the mat {n} and ran" for n in range(50)]),
        model_writer=model,
        vocab_size=60,
        model_type="bpe",
        normalization_rule_name=rule,
        user_defined_symbols=list(symbols),
        treat_whitespace_as_suffix=suffix,
        minloglevel=2,
    )
    return model.getvalue()


def check_piece(step: Step, theirs: Any, text: str) -> None:
    expected, borders = theirs.normalize(text, with_offsets=True)
    mine = Normaliser((step,))
    assert mine.apply(text) == expected, ascii(text)
    result, starts, ends = mine.align(text)
    assert (result, starts, ends) == (expected, borders[:-1], borders[1:]), ascii(text)


@pytest.mark.parametrize("suffix", [False, True])
@pytest.mark.parametrize("symbols", [(), ("ae", "e", " x", "a  ", "éé", "漢", "ﬁx")], ids=["none", "symbols"])
@pytest.mark.parametrize("rule", ["nmt_nfkc", "nmt_nfkc_cf", "identity"])
def test_models(rule: str, symbols: tuple[str, ...], suffix: bool) -> None:
    model = trained(rule, symbols, suffix)
    theirs = sentencepiece().SentencePieceProcessor(model_proto=model)
    data = field(field(model, 3), 2)
    assert bool(data) == (rule != "identity")
    step = SentencePiece(data, treat_whitespace_as_suffix=suffix, user_defined=symbols)
    for text in texts((rule, symbols), 2500):
        if "\0" not in text:  # its user-defined symbols and its Python end there
            check_piece(step, theirs, text)


@pytest.mark.parametrize("flags", range(8))
@pytest.mark.parametrize("rule", ["nmt_nfkc", "own"])
def test_flags(rule: str, flags: int) -> None:
    prefix, extra, escape = bool(flags & 1), bool(flags & 2), bool(flags & 4)
    options = {"add_dummy_prefix": prefix, "remove_extra_whitespaces": extra, "escape_whitespaces": escape}
    source = {"rule_name": rule} if rule != "own" else {"norm_map": list(OWN_RULES)}
    theirs = sentencepiece().SentencePieceNormalizer(**source, **options)
    step = SentencePiece(charsmap(rule) if rule != "own" else charsmap_of(OWN_RULES), **options)
    for text in [*texts((rule, flags), 1500), " ", "   ", "", "\u3000 ", "▁", " ▁ ", "é", " é ", "B", "B "]:
        check_piece(step, theirs, text)


@pytest.mark.parametrize("rule", ["nmt_nfkc", "nmt_nfkc_cf"])
def test_every_code_point_in_a_model(rule: str) -> None:
    theirs = sentencepiece().SentencePieceNormalizer(rule_name=rule)
    step = SentencePiece(charsmap(rule))
    assert differences(step.apply, theirs.normalize, "x{}\u0301", "q") == []


def test_bytes_that_are_no_utf8() -> None:
    model = trained("nmt_nfkc", (), False)
    theirs = sentencepiece().SentencePieceProcessor(model_proto=model)
    step = SentencePiece(field(field(model, 3), 2))
    rng = random.Random("bytes")
    for _ in range(2000):
        data = bytes(rng.choices(b"a \xff\x80\xe3\x81\x8c\xcc\x81\xed\xa0\xf0\x9f\x98\x80\xc3", k=rng.randint(1, 8)))
        expected, _ = theirs.normalize(data, with_offsets=True)
        assert step.apply(data.decode("utf-8", "surrogateescape")).encode() == expected


@pytest.mark.parametrize("step", [NFC(), NFD(), NFKC(), NFKD()])
def test_python_has_the_same_forms_where_its_unicode_is_the_same(step: Step) -> None:
    """What Unicode had before 9.0 has never changed: Python and the owner agree on it."""
    import unicodedata

    for text in texts(step, 2000):
        old = "".join(c for c in text if unicodedata.ucd_3_2_0.category(c) != "Cn")
        assert step.apply(old) == unicodedata.normalize(step.kind, old)  # type: ignore[arg-type]
