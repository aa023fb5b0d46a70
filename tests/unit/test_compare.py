"""Tokenizers side by side: places, stretches that differ, and every library that can take part."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from strategies import documents

import bytepair
from bytepair.explain import compare
from bytepair.explain.compare import _once

TEXT = "it's 1234567 né🧠 fooBar  x\n\nend"


@pytest.fixture(scope="module")
def both() -> dict[str, bytepair.Tokenizer]:
    return {name: bytepair.load(name) for name in ("gpt2", "cl100k_base")}


@given(text=documents)
def test_stretches_are_where_the_cuts_differ(both: dict[str, bytepair.Tokenizer], text: str | bytes) -> None:
    found = compare(both, text)
    assert "".join(found.text[t.start : t.end] for t in found.stretches) == found.text
    for k, split in enumerate(found.splits):
        assert split.ids == tuple(both[split.name].encode(text))
        assert sum(t.counts[k] for t in found.stretches) == len(split.ids)
        inner = [span for t in found.stretches for span in t.parts[k]]
        assert inner == list(dict.fromkeys(span for span in split.spans if span[0] < span[1]))
        assert "".join(found.text[a:b] for a, b in _once(split.spans)) == found.text
    for stretch in found.stretches:
        assert stretch.same == (stretch.parts[0] == stretch.parts[1] and stretch.counts[0] == stretch.counts[1])
    str(found)
    json.dumps(found.to_json())
    found._repr_html_()


def test_one_and_the_same(both: dict[str, bytepair.Tokenizer]) -> None:
    found = compare([both["gpt2"], both["gpt2"]], TEXT)
    assert found.same
    assert str(found).endswith("all cut the text in the same places")


def test_tiktoken(both: dict[str, bytepair.Tokenizer]) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    tok = both["cl100k_base"]
    ranks = dict(tok.ranks)
    theirs = tiktoken.Encoding("theirs", pat_str=tok.pattern.regex, mergeable_ranks=ranks, special_tokens={})
    found = compare([tok, theirs], TEXT)
    assert found.same, str(found)
    assert found.splits[0].spans == found.splits[1].spans


def test_models_of_tokenizers() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    from tokenizers import models, pre_tokenizers

    piece = tokenizers.Tokenizer(models.WordPiece({"[UNK]": 0, "low": 1, "##est": 2, "new": 3}, unk_token="[UNK]"))
    piece.pre_tokenizer = pre_tokenizers.Whitespace()
    one = tokenizers.Tokenizer(models.Unigram([("<unk>", 0.0), ("low", -1.0), ("est", -2.0), ("l", -9.0)], 0))
    ours = bytepair.train("low lowest new", num_merges=2)
    found = compare({"ours": ours, "wordpiece": piece, "unigram": one}, "lowest")
    assert [s.name for s in found.splits] == ["ours", "wordpiece", "unigram"]
    assert found.splits[1].spans == ((0, 3), (3, 6))
    assert found.splits[2].spans == ((0, 3), (3, 6))
    with pytest.raises(bytepair.BytepairError, match="no UTF-8"):
        compare([piece], b"\xff\xff")


def test_sentencepiece() -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    model = io.BytesIO()
    lines = iter(["low lower lowest newer é wider"] * 20)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=lines, model_writer=model, vocab_size=30, model_type="unigram", minloglevel=2,
        hard_vocab_limit=False,
    )  # fmt: skip
    theirs = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    text = "low é newer"
    found = compare([theirs], text)
    assert found.splits[0].ids == tuple(theirs.encode(text))
    assert max(end for _, end in found.splits[0].spans) == len(text)


def test_what_cannot_be_compared() -> None:
    with pytest.raises(bytepair.BytepairError, match=r"a builtins\.int cannot be compared"):
        compare([1], "a")
    with pytest.raises(bytepair.BytepairError, match="at least one"):
        compare([], "a")
