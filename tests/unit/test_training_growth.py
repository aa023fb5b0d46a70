"""Training on a word that never ends: what a merge costs is what it touches, however long the word."""

from __future__ import annotations

import random
import time

import pytest

import bytepair
from bytepair import _engine


def seconds(text: bytes, num_merges: int, pattern: str, convention: str) -> float:
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        bytepair.train(
            text, num_merges=num_merges, pattern=pattern, convention=convention, specials=(), min_freq=1, threads=1
        )
        best = min(best, time.process_time() - start)
    return best


@pytest.mark.skipif(_engine.NAME != "core", reason="times of the core; in pure Python so many merges take minutes")
@pytest.mark.parametrize("convention", ["first", "huggingface"])
@pytest.mark.parametrize("pattern", ["gpt2", "none"])
@pytest.mark.parametrize("kind", ["random letters", "one letter"])
def test_a_word_four_times_as_long_takes_little_more_than_four_times_as_long(
    kind: str, pattern: str, convention: str
) -> None:
    n = 100_000
    draw = random.Random(1)
    texts = [
        bytes(draw.choices(b"abcdefghijklmnopqrstuvwxyz", k=size)) if kind == "random letters" else b"a" * size
        for size in (n, 4 * n)
    ]
    few, many = (seconds(text, 1000 if kind == "random letters" else 12, pattern, convention) for text in texts)
    assert many < 10 * max(few, 0.01)
