"""What is trained and then extended is what is trained at once; what is pruned is made as before."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import SPECIALS, corpora

import bytepair

CONVENTIONS = ["first", "huggingface", "rustbpe", "cs336", "subword-nmt"]
KINDS: list[dict[str, Any]] = [
    {},
    {"layout": "bytes-first", "byte_order": "gpt2"},
    {"alphabet": "characters", "end_of_word": "fused"},
    {"alphabet": "characters", "end_of_word": "separate", "unknown": "bytes"},
    {"end_of_word": "fused", "pattern": "whitespace"},
    {"pattern": "none", "normalizer": ["nfkc", "lower"]},
]


def trained(corpus: Any, **options: Any) -> bytepair.Tokenizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bytepair.BytepairNotice)
        return bytepair.train(corpus, specials=SPECIALS, **options)


@settings(max_examples=150)
@given(
    corpora,
    st.sampled_from(KINDS),
    st.sampled_from(CONVENTIONS),
    st.integers(0, 12),
    st.integers(0, 12),
    st.integers(1, 3),
)
def test_extending_is_training_on(
    corpus: Any, kind: dict[str, Any], convention: str, n: int, more: int, min_freq: int
) -> None:
    options = {**kind, "convention": convention, "min_freq": min_freq}
    tok, whole = trained(corpus, num_merges=n, **options), trained(corpus, num_merges=n + more, **options)
    larger, report = tok.extend(corpus, tok.vocab_size + more)
    assert report.added == len(whole.record.steps) - len(tok.record.steps)
    assert report.stopped == whole.record.stopped or not more
    shown = [(s.bytes, s.count, s.tied) for s in report.record]
    assert shown == [(s.bytes, s.count, s.tied) for s in whole.record.steps[len(tok.record.steps) :]]
    assert report.tokens_after == whole.record.length_after
    text = [document for document in corpus if isinstance(document, str)]
    assert [larger.pieces(t, special="all") for t in text] == [whole.pieces(t, special="all") for t in text]
    if tok._vocabulary.layout == "specials-first":
        assert larger == whole


@settings(max_examples=100)
@given(corpora, st.sampled_from(KINDS), st.integers(1, 15), st.data())
def test_what_is_kept_is_made_as_before(corpus: Any, kind: dict[str, Any], n: int, data: st.DataObject) -> None:
    tok = trained(corpus, num_merges=n, min_freq=1, **kind)
    made = [new for _, _, new in tok._vocabulary.merges]
    keep = data.draw(st.lists(st.sampled_from(made), unique=True)) if made else []
    small, report = tok.prune(keep=keep, renumber=data.draw(st.booleans()), corpus=corpus)
    changed = {one.text for one in report.changed}
    for document in corpus:
        before = tok.encode_array(document, special="all", errors="surrogateescape").tolist()
        after = small.encode(document, special="all", errors="surrogateescape")
        if not set(before) & set(report.dropped):
            assert after == [report.ids[i] for i in before]
    assert (report.tokens_after == report.tokens_before) == (not changed)
    for i in keep:
        assert small.vocab[report.ids[i]] == tok.vocab[i]
    assert np.unique(list(report.ids.values())).size == small.vocab_size
