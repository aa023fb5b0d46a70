"""A text in pieces, cut anywhere: the ids, and when each comes, for presets, patterns of users and special tokens."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pattern_peers import TRICKY
from test_pattern_automaton import cutting

import bytepair
from bytepair.pattern import Pattern, presets

SPECIALS = ("<s>", "<s><s>", "é!", "<|end of text|>")
#: Users' patterns: gaps, borders taken back far behind, look-behind, a chain, and one on the ``regex`` module.
OTHERS = [
    Pattern("[a-z]+"),
    Pattern("a*b|a"),
    Pattern(r"(?<!a)b+|a|\s+$"),
    Pattern(r"(?<=\s)a+|[^a]"),
    Pattern("[0-9]{1,2}", then=Pattern("[a-z]+", then=Pattern(r"\s+$|\S+"))),
    Pattern(r"(?:ab)++|\S"),
    Pattern(r"(a)\1|b"),
]
WORDS = [
    "<s>",
    "<s",
    "<|end of",
    " text|>",
    "é!",
    "é",
    "'s",
    "'LL",
    "  ",
    "\r\n",
    "1234",
    "./",
    "aab",
    "b",
    "漢字",
    "👍🏽",
]


@cache
def tokenizer(pattern: str | Pattern) -> bytepair.Tokenizer:
    """Merges of a few common pairs, so that tokens and pretokens differ."""
    merges = [(b"a", b"b"), (b"a", b"a"), (b" ", b" "), (b"'", b"s"), (b"\n", b"\n"), (b"aa", b"ab"), (b"1", b"2")]
    return bytepair.Tokenizer.from_merges(merges, pattern=pattern, specials=SPECIALS)


def in_pieces(text: Any, rng: random.Random, sizes: Callable[[random.Random], int]) -> list[Any]:
    pieces, at = [], 0
    while at < len(text):
        size = sizes(rng)
        pieces.append(text[at : at + size])
        at += size
    return pieces


SIZES: list[Callable[[random.Random], int]] = [
    lambda rng: 1,
    lambda rng: rng.randint(0, 4),
    lambda rng: rng.randint(1, 40),
    lambda rng: 1000,
]


@pytest.mark.parametrize("pattern", [*presets(), *OTHERS], ids=str)
def test_random_pieces(pattern: str | Pattern) -> None:
    tok, rng = tokenizer(pattern), random.Random(str(pattern))
    for _ in range(250):
        text = "".join(rng.choices([*TRICKY, *WORDS, *WORDS], k=rng.randint(0, 40)))
        data = text.encode().replace(b"\xe2\x80\xa8", b"\xe2\x80") + rng.choice([b"", b"\xf0\x9f", b"\xff"])
        for special in ("text", "all", {"<s>"}):
            whole, of_bytes = tok.encode(text, special=special), tok.encode(data, special=special)
            for sizes in SIZES:
                assert list(tok.encode_iter(in_pieces(text, rng, sizes), special=special)) == whole
                assert list(tok.encode_iter(in_pieces(data, rng, sizes), special=special)) == of_bytes


@given(cutting, st.lists(st.text("aab1 \n'éA_<s>", max_size=8), max_size=8), st.sampled_from(["text", "all"]))
def test_random_patterns(regex: str, chunks: list[str], special: str) -> None:
    tok = tokenizer.__wrapped__(Pattern(regex))
    whole = tok.encode("".join(chunks), special=special)
    assert list(tok.encode_iter(chunks, special=special)) == whole
    data = "".join(chunks).encode()
    assert list(tok.encode_iter([data[i : i + 1] for i in range(len(data))], special=special)) == whole


def test_chunks_of_both_kinds() -> None:
    tok = tokenizer("gpt2")
    assert list(tok.encode_iter(["a", b"\xc3", b"\xa9", "b", b""])) == tok.encode("aéb")
    assert list(tok.encode_iter([])) == []
    assert list(tok.encode_iter([b"\xf0\x9f"])) == tok.encode(b"\xf0\x9f")


def test_ids_come_as_soon_as_they_are_certain() -> None:
    """Word after word, not at the end: the next word's beginning is enough."""
    tok, seen = tokenizer("gpt2"), []
    taken = 0

    def chunks() -> Any:
        nonlocal taken
        for number in range(1, 101):
            taken = number
            yield " word"

    for count, _ in enumerate(tok.encode_iter(chunks()), 1):
        seen.append((count, taken))
    per_word = len(tok.encode(" word"))
    assert all(taken <= count // per_word + 2 for count, taken in seen)


def test_one_chunk_after_another_is_let_go() -> None:
    """Memory does not grow with the text: what is certain leaves the stream."""
    from bytepair import _engine

    tok = tokenizer("o200k")
    encoder, stream = tok._codec.encoder, _engine.Stream()
    rng, most = random.Random(5), 0
    for _ in range(300):
        encoder.feed(
            stream, "".join(rng.choices(["the ", "lazy ", "12 ", "\n", "é", "漢字", "! "], k=20)).encode(), False, None
        )
        most = max(most, stream.pending)
    encoder.feed(stream, b"", True, None)
    assert most < 100
    assert stream.pending == 0


def test_a_stretch_without_a_cut_waits_and_stays_linear(engine_name: str) -> None:
    tok = tokenizer("gpt2")
    run = "a" * (200_000 if engine_name == "core" else 20_000)
    assert list(tok.encode_iter(in_pieces(run, random.Random(1), lambda rng: 10))) == tok.encode(run)


def test_special_tokens_across_chunks() -> None:
    tok = tokenizer("gpt2")
    ids = tok.specials
    for cut in range(1, len("x<|end of text|>y")):
        text = "x<|end of text|>y"
        assert list(tok.encode_iter([text[:cut], text[cut:]], special="all")) == [
            tok.token_to_id(b"x"), ids["<|end of text|>"], tok.token_to_id(b"y"),
        ]  # fmt: skip
    with pytest.raises(bytepair.SpecialTokenError, match="<s>"):
        list(tok.encode_iter(["x<", "s", ">"], special="error"))
    assert list(tok.encode_iter(["<", "s", "><", "s>"], special="all")) == [ids["<s><s>"]]


def test_wrong_chunks() -> None:
    tok = tokenizer("gpt2")
    with pytest.raises(TypeError, match="chunks"):
        tok.encode_iter("text")  # type: ignore[arg-type]
    with pytest.raises(bytepair.TextError, match="chunk 1"):
        list(tok.encode_iter(["a", "b\ud800"]))
