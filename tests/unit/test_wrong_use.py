"""Wrong arguments and hostile files, as they were found: each is a clear error, none is silence, a crash or a flood."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bytepair
from bytepair import Pattern, Tokenizer, WordCounts

TOK = bytepair.train("low low lower lowest", num_merges=4)


def test_a_chain_of_patterns_is_saved_and_hashed(tmp_path: Path) -> None:
    """Only its first stage was: the loaded tokenizer gave other ids, and was equal."""
    one = Tokenizer.from_merges([(b"a", b" ")], pattern=Pattern("[a-z ]+", then=Pattern("[a-z]+")))
    other = Tokenizer.from_merges([(b"a", b" ")], pattern=Pattern("[a-z ]+"))
    assert one != other
    assert one.encode("a b") != other.encode("a b")
    one.save(tmp_path / "t.json")
    again = bytepair.load(tmp_path / "t.json")
    assert again == one
    assert again.pattern == one.pattern
    assert again.encode("a b") == one.encode("a b")


def test_a_long_run_makes_a_small_file(tmp_path: Path) -> None:
    """Examples and messages held whole pretokens: 118 MB for thirty merges of a million NULs."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tok = bytepair.train(b"\0" * 300_000, num_merges=30)
    tok.save(tmp_path / "t.json")
    assert (tmp_path / "t.json").stat().st_size < 100_000
    assert all(len(str(w.message)) < 500 for w in caught)
    assert all(len(example) <= 80 for step in tok.record for example in step.examples)


@pytest.mark.parametrize("name", ["cl100k_base", "GPT2", "gpt-2", "o200k_base", "llama-3", "gpt3", ""])
def test_a_name_that_is_no_preset_is_no_regex(name: str) -> None:
    with pytest.raises(bytepair.PatternError, match=r"there is no preset .* Pattern\("):
        bytepair.train("some text", pattern=name, num_merges=1)
    if name:
        assert bytepair.train("some text", pattern=Pattern(name), num_merges=0).pretokens("x") == [b"x"]


def test_a_pattern_that_grows_without_bound_is_refused() -> None:
    with pytest.raises(bytepair.PatternError, match="repetitions"):
        Pattern("(?:(?:a{1,500}){1,500}){1,500}b")


def test_a_small_file_cannot_fill_the_memory() -> None:
    head = '{"format": "bytepair", "version": 1, "rule": "merges", '
    head += '"pattern": {"regex": "[a-z]+", "dialect": "tiktoken", "unicode": "16.0.0"}, '
    head += '"alphabet": {"kind": "bytes", "end_of_word": null, "unknown": "error"}, '
    head += '"layout": "bytes-first", "byte_order": "raw", "roles": {}, '
    doubling = json.dumps(["97 97", *(f"{255 + i} {255 + i}" for i in range(1, 60))])
    with pytest.raises(bytepair.FormatError, match="bytes together"):
        bytepair.load((head + f'"specials": {{}}, "merges": {doubling}}}').encode())
    with pytest.raises(bytepair.FormatError, match="16777215"):
        bytepair.load((head + '"specials": {"<a>": 16777215}, "merges": []}').encode())


@pytest.mark.parametrize("rewritten", [
    lambda doc: json.dumps(doc, sort_keys=True),
    lambda doc: "\ufeff" + json.dumps(doc),
    lambda doc: " " * 300 + json.dumps(doc),
    lambda doc: json.dumps(doc, indent=4),
])  # fmt: skip
def test_our_file_may_be_rewritten(rewritten: Any, tmp_path: Path) -> None:
    TOK.save(tmp_path / "t.json")
    document = json.loads((tmp_path / "t.json").read_text())
    assert bytepair.load(rewritten(document).encode()) == TOK


@pytest.mark.parametrize("where", ["pattern", "alphabet", "record"])
def test_a_key_that_is_not_understood_is_refused(where: str, tmp_path: Path) -> None:
    TOK.save(tmp_path / "t.json")
    document = json.loads((tmp_path / "t.json").read_text())
    document[where]["extra"] = 1
    with pytest.raises(bytepair.FormatError, match="unknown key 'extra'"):
        bytepair.load(json.dumps(document).encode())


@pytest.mark.parametrize("corpus", [{"lowlow": 500}, {"a", "b"}, 5, None, ["a", 5]])
def test_what_is_no_corpus(corpus: Any) -> None:
    with pytest.raises(bytepair.TrainingError):
        bytepair.train(corpus, num_merges=1)


@pytest.mark.parametrize("ids", [b"hello", "hello", {70, 71}, {70: 1}, 70, True, [True, False], [0.5], None, ["a"]])
def test_what_is_no_list_of_ids(ids: Any) -> None:
    with pytest.raises(TypeError):
        TOK.decode(ids)


def test_no_ids_are_an_empty_text() -> None:
    assert TOK.decode(np.array([])) == TOK.decode([]) == TOK.decode(()) == ""
    assert TOK.decode(np.array([70, 71], dtype=np.int16)) == TOK.decode([70, np.int64(71)])


def test_globs_pass_links_by(tmp_path: Path) -> None:
    (tmp_path / "v").mkdir()
    (tmp_path / "v" / "c.py").write_text("x")
    try:
        os.symlink(tmp_path / "v", tmp_path / "ln")
    except OSError:
        pytest.skip("no links here")
    found = bytepair.files(str(tmp_path / "**" / "*.py")).paths()
    assert [path.relative_to(tmp_path).as_posix() for path in found] == ["v/c.py"]


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda: bytepair.train("ab", min_freq=1 << 63), bytepair.TrainingError, "min_freq"),
    (lambda: bytepair.train("ab", threads=-1), bytepair.TrainingError, "threads"),
    (lambda: bytepair.train("ab", specials={"<a>": 900}), bytepair.SpecialTokenError, "names only"),
    (lambda: bytepair.train("ab", roles=True), bytepair.SpecialTokenError, "roles"),
    (lambda: bytepair.train("ab", roles={"eos": ["x"]}), bytepair.SpecialTokenError, "role"),
    (lambda: bytepair.train(["ok", "\ud800"]), bytepair.TextError, "document 1.*encode it yourself"),
    (lambda: WordCounts({"\ud800": 1}), bytepair.TextError, "give it as bytes"),
    (lambda: WordCounts(None), bytepair.TrainingError, "from_corpus"),
    (lambda: WordCounts.from_corpus(["ab"], threads=0), bytepair.TrainingError, "threads"),
    (lambda: TOK.encode_batch(["a"], threads=1.5), bytepair.BytepairError, "threads"),
    (lambda: TOK.encode("a", special=[["a"]]), bytepair.SpecialTokenError, "no special token"),
    (lambda: TOK.encode("a", special=5), bytepair.SpecialTokenError, "special"),
    (lambda: TOK.cut(None), bytepair.VocabularyError, "vocab_size"),
    (lambda: TOK.record.cut(1 << 32), bytepair.TrainingError, "merges"),
    (lambda: TOK.record.words(9), bytepair.TrainingError, "step"),
    (lambda: TOK.decode([205], errors="bogus"), bytepair.VocabularyError, "errors"),
    (lambda: TOK.id_to_bytes(True), TypeError, "bool"),
    (lambda: TOK.encode_batch_array(["a"]).padded(pad_id=-100), bytepair.BytepairError, "pad_id"),
    (lambda: TOK.encode_batch_array(["a"]).padded(0, length=float("nan")), bytepair.BytepairError, "length"),
    (lambda: Tokenizer.from_ranks(None, pattern="gpt2"), bytepair.VocabularyError, "maps bytes"),
    (lambda: Tokenizer.from_merges([()]), bytepair.VocabularyError, "pair"),
    (lambda: Tokenizer.from_merges([("\ud800", "b")]), bytepair.TextError, "merge 0"),
    (lambda: Tokenizer.from_merges([("", "b")]), bytepair.VocabularyError, "empty"),
    (lambda: Pattern("a", timeout=None), bytepair.PatternError, "timeout"),
    (lambda: Pattern("a", dialect=[]), bytepair.PatternError, "dialect"),
    (lambda: TOK.save("x.json", format=[]), bytepair.FormatError, "format"),
    (lambda: TOK.save(""), bytepair.FormatError, "names no file"),
    (lambda: bytepair.load("\ud800"), bytepair.FormatError, "path"),
    (lambda: bytepair.load("a\0b"), bytepair.FormatError, "path"),
    (lambda: bytepair.load(b'{"format": "bytepair", "version": ' + b"1" * 5001 + b"}"), bytepair.FormatError, "digits"),
])  # fmt: skip
def test_wrong_arguments(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_numpy_numbers_are_numbers() -> None:
    tok = bytepair.train("low low lower lowest", num_merges=np.int64(4), min_freq=np.int32(2))
    assert tok == TOK
    assert Tokenizer.from_merges([(np.int64(97), np.int64(98))], layout="bytes-first").encode("ab") == [256]


def test_an_unordered_merge_list_is_named() -> None:
    with pytest.warns(bytepair.BytepairNotice, match="merge 0 .* unordered"):
        tok = Tokenizer.from_merges([(b"ab", b"c"), (b"a", b"b")])
    assert tok.pieces("abc") == [b"abc"]


def test_a_tokenizer_never_changes() -> None:
    with pytest.raises(AttributeError, match="never changes"):
        TOK.foo = 1
    with pytest.raises(AttributeError, match="never changes"):
        del TOK.vocab
