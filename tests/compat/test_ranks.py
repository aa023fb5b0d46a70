"""Ids under the rank rule, against tiktoken with the same ranks: small cuts of real rank files, and the whole files."""

from __future__ import annotations

import base64
import lzma
import random
import sysconfig
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from pattern_peers import EVERY_CHARACTER, TRICKY, vocabulary_file

import bytepair

tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed")

DATA = Path(__file__).parent / "data"
NAMES = ["r50k_base", "cl100k_base", "o200k_base"]


@cache
def definition(name: str) -> dict[str, Any]:
    """What tiktoken itself says of an encoding, without the ranks, which it would fetch."""
    public = pytest.importorskip("tiktoken_ext.openai_public", reason="this tiktoken has no public encodings")
    with (
        mock.patch.object(public, "load_tiktoken_bpe", return_value={}),
        mock.patch.object(public, "data_gym_to_mergeable_bpe_ranks", return_value={}),
    ):
        found: dict[str, Any] = getattr(public, name)()
    return found


def ranks_in(data: bytes) -> dict[bytes, int]:
    lines = (line.split() for line in data.splitlines())
    return {base64.b64decode(token): int(rank) for token, rank in lines}


@cache
def both(name: str, whole: bool) -> tuple[bytepair.Tokenizer, Any]:
    """The same encoding, ours and tiktoken's."""
    if whole:
        ranks = ranks_in(vocabulary_file(f"{name}.tiktoken").read_bytes())
    else:
        ranks = ranks_in(lzma.decompress((DATA / f"{name}.2000.tiktoken.xz").read_bytes()))
    told = definition(name)
    specials = told["special_tokens"] if whole else {}
    ours = bytepair.Tokenizer.from_ranks(ranks, pattern=name.removesuffix("_base"), specials=specials)
    theirs = tiktoken.Encoding(name, pat_str=told["pat_str"], mergeable_ranks=ranks, special_tokens=specials)
    return ours, theirs


sizes = pytest.mark.parametrize("whole", [False, True], ids=["cut", "whole"])
names = pytest.mark.parametrize("name", NAMES)


@names
def test_the_pattern_is_tiktokens_own(name: str) -> None:
    from bytepair.pattern import resolve

    ours = resolve(name.removesuffix("_base"))
    assert ours.dialect == "tiktoken"
    assert ours.regex == definition(name)["pat_str"]


@names
@sizes
def test_random_texts(name: str, whole: bool) -> None:
    ours, theirs = both(name, whole)
    rng = random.Random(name)
    words = ["the", " of", "Über", " naïve", "Привет", " 你好", "don't", "I'LL", " 2024", "\n    ", "...", "==", "  "]
    for _ in range(500):
        text = "".join(rng.choices([*TRICKY, *words, *words], k=rng.randint(1, 30)))
        assert ours.encode(text) == theirs.encode_ordinary(text)
        assert ours.count(text) == len(theirs.encode_ordinary(text))


@names
@sizes
def test_every_character(name: str, whole: bool, engine_name: str) -> None:
    ours, theirs = both(name, whole)
    every = EVERY_CHARACTER if engine_name == "core" else EVERY_CHARACTER[:0x3000]
    for context in ("{}", "a{}'s", " {}\n", "1{}2") if whole else ("a{}'s",):
        before, after = context.split("{}")
        for start in range(0, len(every), 1 << 16):
            text = (after + before).join(every[start : start + (1 << 16)])
            assert ours.encode(text) == theirs.encode_ordinary(text)


@names
@sizes
def test_real_code(name: str, whole: bool, engine_name: str) -> None:
    ours, theirs = both(name, whole)
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[:: 4 if engine_name == "core" else 40]
    texts = [file.read_text("utf-8", "replace") for file in files]
    assert ours.encode_batch(texts) == [theirs.encode_ordinary(text) for text in texts]


@names
@sizes
def test_what_is_no_utf8(name: str, whole: bool) -> None:
    """tiktoken takes only a str; a lone byte of ours is a token of its own, as its bytes are there."""
    ours, theirs = both(name, whole)
    for byte in range(0x80, 0x100):
        assert ours.encode(bytes([byte])) == [theirs.encode_single_token(bytes([byte]))]
        assert ours.decode_bytes(ours.encode(b"a\xff" + bytes([byte]) + b" b")) == b"a\xff" + bytes([byte]) + b" b"


@names
def test_special_tokens(name: str) -> None:
    ours, theirs = both(name, True)
    rng = random.Random(name)
    pieces = [*ours.specials, "<|endoftext|", "<|", "a", " ", "\n\n", "1234", "é"]
    for _ in range(300):
        text = "".join(rng.choices(pieces, k=rng.randint(1, 8)))
        assert ours.encode(text, special="all") == theirs.encode(text, allowed_special="all")
        assert list(ours.encode_iter(list(text), special="all")) == theirs.encode(text, allowed_special="all")


@names
@sizes
def test_long_words(name: str, whole: bool) -> None:
    """A token may be longer than any merging reaches: then it is the pretoken as a whole that wins."""
    ours, theirs = both(name, whole)
    longest = sorted((token for token in ours.vocab.values()), key=len)[-200:]
    for token in longest:
        text = token.decode("utf-8", "ignore")
        assert ours.encode(text) == theirs.encode_ordinary(text)
        assert ours.encode(f"x {text} {text}") == theirs.encode_ordinary(f"x {text} {text}")
