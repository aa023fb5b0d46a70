"""Texts that training keeps whole: tokens of their own that no merge crosses and that are always matched."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bytepair
from bytepair import WordCounts
from bytepair.errors import FormatError, SpecialTokenError, TrainingError, VocabularyError

TEXT = "km/h is 3 km/h, not 3km / h; low km low lower km/hour <eos>km/h\n" * 3


def train(corpus: Any, **options: Any) -> bytepair.Tokenizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bytepair.BytepairNotice)
        return bytepair.train(corpus, **{"num_merges": 30, "protected": ["km/h", " km"], **options})


@pytest.mark.parametrize("layout", ["specials-first", "bytes-first"])
def test_they_are_tokens_that_no_merge_crosses(layout: str, tmp_path: Path) -> None:
    tok = train(TEXT, layout=layout)
    # What is learned is what is learned from the text between them: as if they were special tokens.
    plain = train(TEXT, layout=layout, specials=(*bytepair.AL1_SPECIALS, "km/h", " km"), protected=())
    assert dict(tok.merges) == dict(plain.merges)
    assert dict(tok.added) == {name: plain.specials[name] for name in ("km/h", " km")}
    assert set(tok.specials) == set(bytepair.AL1_SPECIALS)
    assert tok.pieces("3 km/h") == [b"3", b" km", b"/", b"h"]  # the one that stands first is found first
    assert tok.pieces("km/hour")[0] == b"km/h"
    assert tok.encode("km/h") == tok.encode("km/h", special="all") == [tok.added["km/h"]]
    assert tok.decode(tok.encode(TEXT), skip_specials=True) == TEXT
    assert tok.count(TEXT) == len(tok.encode(TEXT)) and tok.encode_batch([TEXT], threads=2)[0] == tok.encode(TEXT)
    tok.save(tmp_path / "tok.json")
    loaded = bytepair.load(tmp_path / "tok.json")
    assert loaded == tok and loaded.fingerprint == tok.fingerprint
    assert dict(loaded.added) == dict(tok.added) and loaded.encode(TEXT) == tok.encode(TEXT)
    assert tok != plain and tok.fingerprint != plain.fingerprint


def test_they_stay_when_a_tokenizer_changes(tmp_path: Path) -> None:
    tok = train(TEXT, num_merges=4)
    larger, _ = tok.extend(TEXT, tok.vocab_size + 6)
    assert larger == train(TEXT, num_merges=10)
    assert larger.cut(tok.vocab_size) == tok
    again, _ = tok.retrain(TEXT)
    assert again == tok
    grown, _ = tok.add_specials(["<end>"])
    grown.save(tmp_path / "tok.json")
    assert bytepair.load(tmp_path / "tok.json") == grown
    assert dict(grown.added) == dict(tok.added)
    counts = WordCounts.from_corpus(TEXT, specials=[*bytepair.AL1_SPECIALS, "km/h", " km"])
    assert train(counts, num_merges=4) == tok
    with pytest.warns(bytepair.BytepairNotice, match="km/h"):
        bytepair.train(WordCounts.from_corpus(TEXT), num_merges=1, protected=["km/h"])


def test_transformers_sees_them_as_added_tokens(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    tok = train(TEXT)
    tok.save(tmp_path / "tokenizer.json", format="huggingface")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    text = TEXT.replace("<eos>", "")
    assert theirs.encode(text).ids == tok.encode(text)
    assert bytepair.load(tmp_path / "tokenizer.json").encode(text) == tok.encode(text)


@given(st.lists(st.sampled_from(["a", "b", "ab", " ", "ba", "é", "\n"]), max_size=30), st.sets(
    st.sampled_from(["ab", "b a", "é", "a"]), max_size=3
))  # fmt: skip
def test_training_is_that_of_the_texts_between(parts: list[str], protected: set[str]) -> None:
    import re

    text, names = "".join(parts), sorted(protected, key=len, reverse=True)
    between = re.split("|".join(map(re.escape, names)), text) if names else [text]
    tok = train(text, protected=sorted(protected), specials=(), num_merges=5)
    plain = train(between, protected=(), specials=(), num_merges=5)
    n = len(names)
    assert [(a - n, b - n) for a, b in tok.merges] == list(plain.merges)
    assert tok.decode(tok.encode(text)) == text
    assert all(
        tok.encode(name) == [tok.added[name]] for name in names if not any(o in name for o in protected - {name})
    )


@pytest.mark.parametrize(("protected", "message"), [
    ("km", "sequence"), (5, "sequence"), ([""], "not empty"), ([b"a"], "not empty"), (["a", "a"], "twice"),
    (["<eos>"], "special token too"), (["\ud800"], "surrogate at 0"),
])  # fmt: skip
def test_wrong_ones(protected: Any, message: str) -> None:
    with pytest.raises(TrainingError, match=message):
        train("a", protected=protected)


def test_a_role_is_for_specials() -> None:
    assert train("a", protected=["<unk>"]).unk_id is None
    with pytest.raises(SpecialTokenError, match="km"):
        train("a", protected=["km"], roles={"eos": "km"})
    with pytest.raises(VocabularyError, match="floor 263"):
        bytepair.train("a", vocab_size=262, protected=["km"])


def test_a_file_that_has_one_twice(tmp_path: Path) -> None:
    path = tmp_path / "tok.json"
    train("a", protected=["km"]).save(path)
    path.write_text(path.read_text().replace('"<eos>"', '"km"', 1))
    with pytest.raises(FormatError, match="'km' is a special and an added token"):
        bytepair.load(path)
