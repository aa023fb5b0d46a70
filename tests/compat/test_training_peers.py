"""Merges equal to those of the trainers whose conventions we have, on text with many ties and on real text."""

from __future__ import annotations

import io
import json
import random
import warnings
from pathlib import Path
from typing import Any

import pytest

import bytepair
from bytepair.vocabulary import byte_order

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def texts() -> list[list[str]]:
    draw = random.Random(7)
    pieces = ["a", "b", "aa", "ab", "é", "你", " ", " a", " b", "\n", "1", "-", "low", "er"]
    tied = [["".join(draw.choices(pieces, k=draw.randrange(1, 60))) for _ in range(4)] for _ in range(12)]
    return [*tied, Path(warnings.__file__).read_text("utf-8").splitlines(keepends=True)]


def trained(documents: list[str], **options: Any) -> bytepair.Tokenizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bytepair.BytepairNotice)
        return bytepair.train(documents, specials=(), **options)


@pytest.mark.parametrize("longest", [None, 5])
def test_huggingface(longest: int | None) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    byte_level = tokenizers.pre_tokenizers.ByteLevel
    letters = sorted(byte_level.alphabet())
    value = dict(zip(letters, byte_order("gpt2")))
    for documents in texts():
        peer = tokenizers.Tokenizer(tokenizers.models.BPE())
        peer.pre_tokenizer = byte_level(add_prefix_space=False)
        limit = {} if longest is None else {"max_token_length": longest + 1}
        trainer = tokenizers.trainers.BpeTrainer(
            vocab_size=700, min_frequency=2, initial_alphabet=letters, show_progress=False, **limit
        )
        peer.train_from_iterator(documents, trainer)
        merges = json.loads(peer.to_str())["model"]["merges"]
        expected = [tuple(bytes(value[c] for c in part) for part in pair) for pair in merges]
        tok = trained(documents, vocab_size=700, convention="huggingface", max_token_length=longest)
        assert [(tok.vocab[a], tok.vocab[b]) for a, b in tok.merges] == expected


def test_rustbpe_and_bpeasy() -> None:
    rustbpe, bpeasy = pytest.importorskip("rustbpe"), pytest.importorskip("bpeasy")
    for documents in texts():
        tok = trained(documents, vocab_size=400, convention="rustbpe", min_freq=1)
        ours = [tok.vocab[token] for token in range(len(tok.vocab))]
        peer = rustbpe.Tokenizer()
        peer.train_from_iterator(iter(documents), 400, pattern=GPT2)
        assert [bytes(token) for token, _ in sorted(peer.get_mergeable_ranks(), key=lambda row: row[1])] == ours
        ranks = bpeasy.train_bpe(iter(documents), GPT2, 1 << 20, 400)
        assert sorted(ranks, key=ranks.__getitem__) == ours


def test_subword_nmt() -> None:
    learn_bpe = pytest.importorskip("subword_nmt.learn_bpe").learn_bpe
    for documents in texts():
        out = io.StringIO()
        learn_bpe(io.StringIO("".join(documents), newline="\n"), out, 60, 2)
        expected = [tuple(line.split(" ")) for line in out.getvalue().split("\n")[1:] if line]
        options = {"alphabet": "characters", "end_of_word": "fused", "pattern": "spaces"}
        tok = trained(["".join(documents)], num_merges=60, convention="subword-nmt", **options)
        assert [(tok.token_str(a), tok.token_str(b)) for a, b in tok.merges] == expected
