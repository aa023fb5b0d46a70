"""Ten megabytes of real code: every merge equal to a plain count, and every file back from its ids.

The reference here shares nothing with the package: the `regex` module cuts, dictionaries count. It is a little less
plain than ``bytepair.reference`` (it keeps which words hold a pair), or it would take an hour.
"""

from __future__ import annotations

import os
import sysconfig
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

import pytest
import regex

import bytepair

pytestmark = [
    pytest.mark.timeout(1800),
    pytest.mark.skipif(not os.environ.get("BYTEPAIR_FULL"), reason="takes minutes; BYTEPAIR_FULL=1 runs it"),
]

GPT2 = regex.compile(r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
SIZE = int(os.environ.get("BYTEPAIR_FULL_SIZE", "10000000"))
N_MERGES = 8192 - 256


@pytest.fixture(scope="module")
def files() -> list[Path]:
    """Sources of the standard library, in order, until there are enough bytes."""
    chosen, size = [], 0
    for path in sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py")):
        if "site-packages" not in path.parts and size < SIZE:
            chosen.append(path)
            size += path.stat().st_size
    return chosen


@pytest.fixture(scope="module")
def tok(files: list[Path]) -> bytepair.Tokenizer:
    return bytepair.train(files, num_merges=N_MERGES, specials=(), layout="bytes-first", pattern="gpt2")


def words_of(files: list[Path]) -> Counter[bytes]:
    counts: Counter[bytes] = Counter()
    for path in files:
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        counts.update(word.encode("utf-8", "surrogateescape") for word in GPT2.findall(text))
    return counts


def merges_of(counted: Counter[bytes], n_merges: int) -> list[tuple[tuple[int, int], int, int, int]]:
    """For each merge: its pair, its count, how many pairs had that count, and the corpus length afterwards."""
    words, counts = [list(word) for word in counted], list(counted.values())
    length = sum(len(word) * count for word, count in zip(words, counts, strict=True))
    pairs: Counter[tuple[int, int]] = Counter()
    where: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    for w, word in enumerate(words):
        for pair in pairwise(word):
            pairs[pair] += counts[w]
            where[pair].add(w)
    found = []
    for new in range(256, 256 + n_merges):
        best = max(pairs.values(), default=0)
        if best < 2:
            break
        tied = [pair for pair, count in pairs.items() if count == best]
        first = {pair: min(where[pair]) for pair in tied}
        left, right = min(tied, key=lambda pair: (first[pair], list(pairwise(words[first[pair]])).index(pair)))
        gone: set[tuple[int, int]] = set()
        for w in sorted(where[left, right]):
            old, merged, i = words[w], [], 0
            while i < len(old):
                here = old[i : i + 2] == [left, right]
                merged.append(new if here else old[i])
                i += 2 if here else 1
            for pair in pairwise(old):
                pairs[pair] -= counts[w]
                where[pair].discard(w)
                gone.add(pair)
            for pair in pairwise(merged):
                pairs[pair] += counts[w]
                where[pair].add(w)
            length -= counts[w] * (len(old) - len(merged))
            words[w] = merged
        for pair in gone:
            if pairs[pair] == 0:
                del pairs[pair], where[pair]
        found.append(((left, right), best, len(tied), length))
    return found


def test_every_merge_of_real_code(files: list[Path], tok: bytepair.Tokenizer) -> None:
    ours = [((step.left, step.right), step.count, step.tied, step.length_after) for step in tok.record]
    plain = merges_of(words_of(files), N_MERGES)
    assert len(ours) == len(plain) == N_MERGES
    for step, (mine, theirs) in enumerate(zip(ours, plain, strict=True)):
        assert mine == theirs, step
    assert [*tok.merges] == [pair for pair, *_ in plain]


def test_every_file_comes_back_and_the_lengths_add_up(files: list[Path], tok: bytepair.Tokenizer) -> None:
    total = 0
    for path in files:
        data = path.read_bytes()
        ids = tok.encode_array(data)
        assert tok.decode_bytes(ids) == data, path
        total += len(ids)
    assert total == tok.record[-1].length_after
    together = tok.encode_batch_array([path.read_bytes() for path in files], threads=2)
    assert len(together.ids) == total
