"""Pretokens against Hugging Face's pre-tokenizers: where each span begins and ends."""

from __future__ import annotations

import random
from typing import Any

import pytest
from pattern_peers import EVERY_CHARACTER, TRICKY, pieces

from bytepair.pattern import resolve
from bytepair.pattern.presets import PRESETS

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")

# o200k, tekken and r50k come from tiktoken: what their text means in Oniguruma happens to be the same.
NAMES = ["gpt2", "r50k", "llama3", "qwen2", "o200k", "tekken", "deepseek-v3"]
CONTEXTS = ["{}", "a{}b", "A{}'s", "1{}2", " {} ", "\n{}\n", ".{}/", "漢{}\u0301"]


def owner(name: str) -> Any:
    make = tokenizers.pre_tokenizers
    if name == "gpt2":
        # Its own: the regex is in the library, and the bytes come back as letters, of which only the spans count.
        return make.ByteLevel(add_prefix_space=False, use_regex=True)
    stages = PRESETS["gpt2" if name == "r50k" else name].stages
    return make.Sequence([make.Split(tokenizers.Regex(regex), "isolated") for regex, _ in stages])


def assert_same(name: str, theirs: Any, text: str) -> None:
    data = text.encode()
    expected = [text[start:end].encode() for _, (start, end) in theirs.pre_tokenize_str(text)]
    found = pieces(data, resolve(name).ends(data))
    if found != expected:
        at = next(place for place, (one, other) in enumerate(zip(found, expected)) if one != other)
        pytest.fail(f"{found[max(at - 2, 0) : at + 2]} and theirs {expected[max(at - 2, 0) : at + 2]}")


@pytest.mark.parametrize("name", NAMES)
def test_random_texts(name: str) -> None:
    theirs, rng = owner(name), random.Random(name)
    words = [
        "'s",
        "'LL",
        "'rE",
        "  ",
        "\r\n",
        "\n\n",
        "1234",
        "./",
        "aB",
        " a",
        "漢字かな",
        "カナab",
        "#!",
        "नमस्ते",
        "==",
    ]
    for _ in range(2500):
        assert_same(name, theirs, "".join(rng.choices([*TRICKY, *words], k=rng.randint(1, 14))))


@pytest.mark.parametrize("name", NAMES)
def test_many_characters(name: str) -> None:
    """Those at which a class begins or ends, and others; ``test_classes.py`` has the classes of all."""
    theirs, rng, tables = owner(name), random.Random(name), resolve(name).compiled.tables
    assert tables is not None
    classes = [tables.classes.of(ord(character)) for character in EVERY_CHARACTER]
    borders = [c for c, before, here in zip(EVERY_CHARACTER[1:], classes, classes[1:]) if before != here]
    text = "".join(
        rng.choice(CONTEXTS).format(c)
        for c in (*EVERY_CHARACTER[:0x800], *borders, *rng.sample(EVERY_CHARACTER, 20_000))
    )
    for start in range(0, len(text), 20_000):
        assert_same(name, theirs, text[start : start + 20_000])


def test_equal_ids_do_not_prove_equal_pretokens() -> None:
    """tiktoken's spelling of cl100k is not Hugging Face's: both are presets."""
    spelled = tokenizers.Regex(PRESETS["llama3"].regex)
    theirs = tokenizers.pre_tokenizers.Split(spelled, "isolated").pre_tokenize_str("x\n  ")
    assert [piece for piece, _ in theirs] == ["x", "\n", "  "]
    assert pieces(b"x\n  ", resolve("llama3").ends(b"x\n  ")) == [b"x", b"\n", b"  "]
    assert pieces(b"x\n  ", resolve("cl100k").ends(b"x\n  ")) == [b"x", b"\n  "]
