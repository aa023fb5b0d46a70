"""Hugging Face's ``tokenizer.json``: ids, places, token strings and text as its owner's, read and written."""

from __future__ import annotations

import json
import lzma
import pickle
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from huggingface_shapes import SHAPES, corpus, shape, texts, tokenizers
from pattern_peers import TRICKY, vocabulary_file

import bytepair
from bytepair import BytepairNotice, FormatError, Tokenizer
from bytepair.formats.huggingface_write import INSIDE

DATA = Path(__file__).parent / "data"
CUTS = ["qwen3", "deepseek_v3"]


def quietly(source: Any, **options: Any) -> Tokenizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BytepairNotice)
        return bytepair.load(source, **options)


@cache
def ours(name: str) -> Tokenizer:
    return quietly(shape(name).to_str().encode())


def same(tok: Tokenizer, owner: Any, text: str) -> None:
    encoded = owner.encode(text, add_special_tokens=False)
    ids, places = tok.encode_with_offsets(text, special="all")
    assert ids == encoded.ids, text
    assert places == encoded.offsets, text
    assert tok.encode(text, special="all") == ids
    assert tok.encode(text.encode(), special="all") == ids
    assert [tok.foreign_str(i) for i in ids] == [owner.id_to_token(i) for i in ids]
    assert tok.decode(ids) == owner.decode(ids, skip_special_tokens=False)


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_gives_its_owners_ids_places_and_text(name: str) -> None:
    for text in texts(400):
        same(ours(name), shape(name), text)


@pytest.mark.parametrize("name", SHAPES)
def test_every_way_of_encoding_is_the_same(name: str) -> None:
    tok, some = ours(name), texts(60, seed=2)
    rows = [tok.encode(text, special="all") for text in some]
    assert tok.encode_batch(some, special="all") == rows
    assert tok.encode_batch(some, special="all", threads=3) == rows
    assert [tok.encode_array(text, special="all").tolist() for text in some] == rows
    assert [list(tok.encode_iter([text[:3], text[3:]], special="all")) for text in some] == rows
    assert tok.count_batch(some, special="all") == [len(row) for row in rows]
    assert pickle.loads(pickle.dumps(tok)).encode_batch(some, special="all") == rows


@pytest.mark.parametrize("name", SHAPES)
def test_written_and_read_again_it_is_the_same_tokenizer(name: str, tmp_path: Path) -> None:
    tok = ours(name)
    tok.save(tmp_path / "ours.json")
    assert bytepair.load(tmp_path / "ours.json") == tok
    tok.save(tmp_path / "tokenizer.json", format="huggingface")
    assert quietly(tmp_path / "tokenizer.json") == tok
    owner = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in texts(100, seed=3):
        assert (
            owner.encode(text, add_special_tokens=False).ids == shape(name).encode(text, add_special_tokens=False).ids
        )


@pytest.mark.parametrize("name", SHAPES)
def test_a_decoded_text_begins_where_its_tokens_begin(name: str) -> None:
    tok = ours(name)
    for text in texts(100, seed=4):
        ids = tok.encode(text)
        out, starts = tok.decode_with_offsets(ids)
        assert out == tok.decode(ids)
        assert len(starts) == len(ids)
        assert starts == sorted(starts)
        assert all(0 <= start <= len(out) for start in starts)


def cut_of(name: str) -> bytes:
    return lzma.decompress((DATA / f"{name}.2000.tokenizer.json.xz").read_bytes())


@pytest.mark.parametrize("name", CUTS)
def test_cuts_of_real_files(name: str, tmp_path: Path) -> None:
    tok, owner = bytepair.load(cut_of(name)), tokenizers.Tokenizer.from_buffer(cut_of(name))
    for text in [*texts(400), *TRICKY, corpus()]:
        same(tok, owner, text)
    tok.save(tmp_path / "x.json")
    assert bytepair.load(tmp_path / "x.json") == tok
    tok.save(tmp_path / "folder", format="huggingface")
    again = bytepair.load(tmp_path / "folder")
    assert again == tok
    was, written = json.loads(cut_of(name)), json.loads((tmp_path / "folder" / "tokenizer.json").read_text("utf-8"))
    assert written["model"].pop("vocab") == was["model"].pop("vocab")
    for key in ("added_tokens", "pre_tokenizer", "post_processor", "decoder", "truncation", "padding"):
        assert written[key] == was[key]


@pytest.mark.parametrize("file", ["hf_qwen3.tokenizer.json.xz", "hf_deepseek_v3.tokenizer.json.xz"])
def test_whole_real_files(file: str) -> None:
    path = vocabulary_file(file)
    tok, owner = bytepair.load(path), tokenizers.Tokenizer.from_buffer(lzma.decompress(path.read_bytes()))
    for text in [*texts(300), corpus() * 3, *TRICKY]:
        same(tok, owner, text)


def test_our_own_tokenizers_are_written_for_it(tmp_path: Path) -> None:
    for pattern in ("gpt2", "al1", "cl100k", "o200k", "llama3", "qwen2", "deepseek-v3", "tekken"):
        tok = bytepair.train(corpus(), vocab_size=800, pattern=pattern)
        path = tmp_path / f"{pattern}.json"
        tok.save(path, format="huggingface")
        owner = tokenizers.Tokenizer.from_file(str(path))
        read = bytepair.load(path)
        for text in texts(200, seed=5):
            ids = tok.encode(text, special="all")
            assert owner.encode(text).ids == ids == read.encode(text, special="all"), (pattern, text)
            assert owner.decode(ids, skip_special_tokens=False) == tok.decode(ids) == read.decode(ids)
    tok = bytepair.train(corpus(), vocab_size=800)
    tok.save(tmp_path / "gpt2.json", format="huggingface")
    assert bytepair.load(tmp_path / "gpt2.json") == tok


@pytest.mark.parametrize("unknown", ["<unk>", "bytes"])
@pytest.mark.parametrize("end_of_word", [None, "fused"])
def test_our_own_characters_are_written_for_it(unknown: str, end_of_word: str | None, tmp_path: Path) -> None:
    tok = bytepair.train(
        corpus(), vocab_size=900, alphabet="characters", end_of_word=end_of_word, unknown=unknown, specials=()
    )
    path = tmp_path / "tokenizer.json"
    if unknown == "bytes" and end_of_word:
        with pytest.raises(FormatError, match="symbol of its own"):
            tok.save(path, format="huggingface")
        return
    tok.save(path, format="huggingface")
    owner = tokenizers.Tokenizer.from_file(str(path))
    for text in texts(200, seed=6):
        assert owner.encode(text).ids == tok.encode(text)


def test_bos_and_eos_as_the_post_processor_says() -> None:
    tok, owner = ours("roberta"), shape("roberta")
    for text in texts(50, seed=7):
        encoded = owner.encode(text)
        ids, places = tok.encode_with_offsets(text, add_bos=True, add_eos=True, special="all")
        assert ids == encoded.ids == tok.encode(text, add_bos=True, add_eos=True, special="all")
        assert places == encoded.offsets
    assert (tok.bos_id, tok.eos_id) == (0, 1)
    assert tok.encode_batch(["a", "b"], add_bos=True, add_eos=True) == [owner.encode(t).ids for t in ("a", "b")]


def test_roles_come_from_the_config_beside_it(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes(cut_of("deepseek_v3"))
    config = {"bos_token": {"content": "<｜begin▁of▁sentence｜>"}, "eos_token": "<｜end▁of▁sentence｜>"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({**config, "chat_template": "{{ x }}"}), "utf-8")
    tok = bytepair.load(tmp_path)
    assert tok.token_str(tok.bos_id) == "<｜begin▁of▁sentence｜>"
    assert tok.token_str(tok.eos_id) == "<｜end▁of▁sentence｜>"
    tok.save(tmp_path / "out", format="huggingface")
    assert json.loads((tmp_path / "out" / "tokenizer_config.json").read_text("utf-8"))["chat_template"] == "{{ x }}"


@pytest.mark.parametrize("text", ["[]", '"x"', "{", ""])
def test_a_config_that_is_no_object_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes(cut_of("qwen3"))
    (tmp_path / "tokenizer_config.json").write_text(text, "utf-8")
    with pytest.raises(FormatError, match=r"tokenizer_config\.json"):
        bytepair.load(tmp_path)


def test_a_config_may_begin_with_a_mark_of_byte_order(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes(cut_of("qwen3"))
    (tmp_path / "tokenizer_config.json").write_text('{"kept": 1}', "utf-8-sig")
    bytepair.load(tmp_path).save(tmp_path / "out", format="huggingface")
    assert json.loads((tmp_path / "out" / "tokenizer_config.json").read_text("utf-8"))["kept"] == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [("tokenizer_config.json", "[]"), ("tokenizer_config.json", "{"), ("pre_tokenizer", "3"), (INSIDE, "[1]")],
)
def test_our_json_holds_only_settings_that_can_be_written_again(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "ours.json"
    bytepair.load(cut_of("qwen3")).save(path)
    value = json.loads(path.read_text("utf-8"))
    value["around"]["settings"][name] = text
    with pytest.raises(FormatError, match=name):
        bytepair.load(json.dumps(value).encode())


def document(**model: Any) -> dict[str, Any]:
    """A small file by hand."""
    parts = {"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]], **model}
    return {"added_tokens": [], "model": {"type": "BPE", **parts}}


def loaded(value: Any) -> Tokenizer:
    return bytepair.load(json.dumps(value).encode())


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (document(type="Unigram"), "Unigram.*sentencepiece"),
        (document(type="WordPiece"), "WordPiece.*tokenizers"),
        (document(type=["BPE"]), r"model is \['BPE'\]"),
        (document(vocab=[]), "model.vocab is a list"),
        (document(vocab={"a": "0"}), "'a' the id '0'"),
        (document(vocab={"a": 0, "b": 0, "ab": 2}), "id 0"),
        (document(vocab={"a": -1, "b": 1, "ab": 2}), "id -1"),
        (document(vocab={"a": 1 << 40, "b": 1, "ab": 2}), "1099511627776"),
        (document(merges=None), "model.merges is missing or null"),
        (document(merges=["ab"]), r"model.merges\[0\]"),
        (document(merges=[["a", "c"]]), r"merges\[0\].*'c'"),
        (document(merges=[["b", "a"]]), r"merges\[0\].*'ba'"),
        (document(merges=[["a", 7]]), r"model.merges\[0\]"),
        (document(unk_token="<unk>"), "unk_token.*<unk>"),
        (document(fuse_unk=3, unk_token="a"), "fuse_unk"),
        ({**document(), "added_tokens": [{"content": "x"}]}, r"added_tokens\[0\].id"),
        ({**document(), "added_tokens": [7]}, r"added_tokens\[0\]"),
        ({**document(), "added_tokens": [{"id": 3, "content": "x"}] * 2}, r"added_tokens\[1\].*already"),
        ({**document(), "normalizer": {"type": "Nope"}}, "normalizer"),
        ({**document(), "pre_tokenizer": {"type": "Nope"}}, "pre_tokenizer"),
        ({**document(), "pre_tokenizer": 3}, "pre_tokenizer"),
        ({**document(), "decoder": {"type": "Nope"}}, "decoder"),
        ({**document(), "post_processor": {"type": "Nope"}}, "post_processor"),
        ({**document(), "truncation": 3}, "truncation"),
        ({**document(), "padding": {"strategy": 1}}, "padding"),
        ({**document(), "padding": {"pad_token": ["x"]}}, "padding"),
    ],
)
def test_what_is_wrong_is_said(value: Any, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        loaded(value)


def test_deep_nesting_ends_in_an_error() -> None:
    deep = b'{"model":{"vocab":{}},"pre_tokenizer":' + b"[" * 1_000_000
    with pytest.raises(FormatError, match="nested too deeply"):
        bytepair.load(deep)
    part: Any = {"type": "Digits"}
    for _ in range(80):
        part = {"type": "Sequence", "pretokenizers": [part]}
    with pytest.raises(FormatError, match="nested"):
        loaded({**document(), "pre_tokenizer": part})


def test_more_pre_tokenizers_than_anyone_has_are_refused() -> None:
    part = {"type": "Split", "pattern": {"Regex": r"\d+"}, "behavior": "Isolated", "invert": False}
    with pytest.raises(FormatError, match=r"pretokenizers\[100\].*more than 100"):
        loaded({**document(), "pre_tokenizer": {"type": "Sequence", "pretokenizers": [part] * 20_000}})


def test_a_name_that_shares_an_id_with_another_token_is_not_written() -> None:
    """A file whose ids have a gap: its owner numbers the name anew, and meets the id of "c"."""
    row = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    value = document(vocab={"a": 0, "b": 1, "ab": 2, "c": 4})
    value["added_tokens"] = [{"id": 4, "content": "<x>", "special": True, **row}]
    tok = loaded(value)
    assert tok.encode("<x>", special="all") == tok.encode("c") == [4]
    with pytest.raises(FormatError, match="'c' and '<x>' share the id 4"):
        tok.save("x.json", format="huggingface")


def test_its_own_words_are_not_overruled() -> None:
    with pytest.raises(FormatError, match="pattern= cannot be given"):
        bytepair.load(json.dumps(document()).encode(), pattern="gpt2")


def test_ids_that_the_owner_numbers_anew_are_told() -> None:
    row = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    value = {**document(), "added_tokens": [{"id": 50, "content": "<x>", "special": True, **row}]}
    with pytest.warns(BytepairNotice, match="'<x>' has the id 50 there, and its owner gives it 3"):
        tok = loaded(value)
    assert tok.encode("ab<x>", special="all") == tokenizers.Tokenizer.from_str(json.dumps(value)).encode("ab<x>").ids


def test_an_unordered_list_is_told_and_kept() -> None:
    vocab = {"a": 0, "b": 1, "c": 2, "ab": 3, "abc": 4}
    value = document(vocab=vocab, merges=[["ab", "c"], ["a", "b"]])
    with pytest.warns(BytepairNotice, match=r"merge 0 \('ab' \+ 'c'\)"):
        tok = loaded(value)
    assert tok.encode("abcab") == tokenizers.Tokenizer.from_str(json.dumps(value)).encode("abcab").ids == [4, 3]


def test_dropout_is_told() -> None:
    with pytest.warns(BytepairNotice, match="BPE-dropout"):
        loaded(document(dropout=0.1))


def test_nothing_disappears_silently() -> None:
    with pytest.raises(bytepair.UnknownTokenError, match="'z'"):
        loaded(document()).encode("abz")


def test_the_sets_of_shapes_hold_what_they_say() -> None:
    assert ours("llama").lossless is False
    assert ours("bytes with added tokens").added.keys() == {"tok one", "word", "Zz"}
