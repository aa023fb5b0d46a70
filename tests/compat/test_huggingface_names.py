"""Added tokens of a ``tokenizer.json`` in the corners where their owner has ways of its own."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bytepair
from bytepair.formats import huggingface_write

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
from huggingface_peers import text_of  # noqa: E402

ROW = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False}


def both(name: str, *rows: dict[str, Any], **parts: Any) -> tuple[bytepair.Tokenizer, Any]:
    """A shape with more added tokens, ours and the owner's."""
    document = json.loads(text_of(name)) | parts
    names = {row["content"] for row in document["added_tokens"]}
    size = len(document["model"]["vocab"].keys() | names)
    for k, row in enumerate(rows):
        document["added_tokens"].append({"id": size + k, **ROW, **row})
    text = json.dumps(document)
    return bytepair.load(text.encode()), tokenizers.Tokenizer.from_str(text)


TRIMS = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
LOWER = {"type": "Lowercase"}


@given(st.lists(st.sampled_from([" ", "  ", "the", "<x>", "<y>", "\n", "é"]), max_size=8).map("".join))
def test_white_space_that_a_token_took_with_it_is_trimmed(text: str) -> None:
    ours, theirs = both(
        "byte level", {"content": "<x>", "lstrip": True}, {"content": "<y>", "rstrip": True}, post_processor=TRIMS
    )
    expected = theirs.encode(text)
    assert ours.encode_with_offsets(text, special="all") == (expected.ids, expected.offsets)


def test_normalised_names_are_decoded_as_normalised() -> None:
    ours, theirs = both("byte level", {"content": "<X>", "normalized": True}, normalizer=LOWER)
    ids = theirs.encode("The <X>").ids
    assert ours.decode(ids) == theirs.decode(ids) == "the <x>"


def test_a_special_token_is_left_out_by_its_normalised_name() -> None:
    rows = [
        {"content": "<X>", "normalized": True, "special": True},
        {"content": "<y>", "normalized": True, "special": True},
    ]
    for name in ("byte level", "end of word"):
        ours, theirs = both(name, *rows, normalizer=LOWER)
        ids = theirs.encode("The <X><y>").ids
        assert ours.decode(ids, skip_specials=True) == theirs.decode(ids)
        assert "<x>" in theirs.decode(ids)


def test_a_token_that_has_a_normalised_name_too_is_written_as_it_was() -> None:
    document = json.loads(text_of("end of word"))
    vocab = document["model"]["vocab"]
    token = next(token for token in vocab if len(token) > 5)
    document["added_tokens"].append({"id": vocab[token], "content": token, **ROW, "normalized": True})
    document["normalizer"] = {"type": "Prepend", "prepend": "_"}
    written, _ = huggingface_write.document(bytepair.load(json.dumps(document).encode()))
    assert written["model"]["vocab"] == vocab


def test_names_in_the_models_vocabulary_are_written_there() -> None:
    document = json.loads(text_of("end of word"))
    vocab = document["model"]["vocab"]
    vocab["<last>"] = len(vocab)
    document["added_tokens"].append({"id": vocab["<last>"], "content": "<last>", **ROW, "special": True})
    document["added_tokens"].append({"id": len(vocab), "content": "<more>", **ROW, "special": True})
    written, _ = huggingface_write.document(bytepair.load(json.dumps(document).encode()))
    assert written["model"]["vocab"] == vocab
