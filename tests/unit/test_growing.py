"""Larger and smaller tokenizers: extend, retrain, prune, add_specials, pad_to_multiple, cut; and each saved again."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bytepair
from bytepair import Tokenizer, WordCounts
from bytepair.errors import BytepairError, SpecialTokenError, TrainingError, UnknownTokenError, VocabularyError

CORPUS = "low low lower lowest newer newest wide wider widest the then there these żółć 你好你好 <eos> lows\n" * 3
TEXT = CORPUS + "wow<eos>LOWEST \n\n  éé lowlow"


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bytepair.BytepairNotice)
        yield


def train(n: int = 20, **options: Any) -> Tokenizer:
    return bytepair.train(CORPUS, num_merges=n, **options)


WAYS: dict[str, dict[str, Any]] = {
    "specials first": {},
    "bytes first": {"layout": "bytes-first", "byte_order": "gpt2"},
    "no specials": {"specials": (), "layout": "bytes-first"},
    "fused": {"alphabet": "characters", "end_of_word": "fused"},
    "separate": {"alphabet": "characters", "end_of_word": "separate", "layout": "bytes-first"},
    "fallback": {"alphabet": "characters", "unknown": "bytes"},
    "unknown": {"alphabet": "characters", "end_of_word": "fused", "unknown": "<unk>"},
    "marked bytes": {"end_of_word": "fused", "pattern": "whitespace"},
    "normalised": {"normalizer": ["nfc", "lower"]},
}


def listed(tmp_path: Path) -> Tokenizer:
    """A Hugging Face file with a template, a flag, an added token that is not special, and a normaliser."""
    folder = tmp_path / "hf"
    train(layout="bytes-first", byte_order="gpt2", specials=["<eos>", "<pad>"]).save(folder, format="huggingface")
    file = folder / "tokenizer.json"
    document = json.loads(file.read_bytes())
    end = max(row["id"] for row in document["added_tokens"])
    plain = {"lstrip": False, "rstrip": False, "normalized": False, "single_word": False}
    document["added_tokens"] += [{"id": end + 1, "content": "lows", "special": False, **plain, "single_word": True}]
    document["normalizer"] = {"type": "NFC"}
    document["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "<eos>", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
        "special_tokens": {"<eos>": {"id": "<eos>", "ids": [end - 1], "tokens": ["<eos>"]}},
    }
    file.write_text(json.dumps(document))
    return bytepair.load(file)


def ranked() -> Tokenizer:
    made = train(layout="bytes-first")
    ranks = {text: i for i, text in made._vocabulary.tokens.items()}
    return Tokenizer.from_ranks(ranks, pattern="gpt2", specials={"<eos>": len(ranks) + 10})


ALL: dict[str, Callable[[Path], Tokenizer]] = {
    **{name: (lambda _, options=options: train(**options)) for name, options in WAYS.items()},
    "hugging face": listed,
    "ranks": lambda _: ranked(),
    "gpt2": lambda _: bytepair.load("gpt2"),
    "cl100k": lambda _: bytepair.load("cl100k_base"),
}
SMALL = [name for name in ALL if name not in ("gpt2", "cl100k")]


def text_of(tok: Tokenizer) -> str:
    """A text that it can encode."""
    whole = tok.alphabet == "bytes" or tok._vocabulary.alphabet.unknown != "error"
    return TEXT if whole else CORPUS.replace("<eos>", "")


def sound(tok: Tokenizer, tmp_path: Path) -> None:
    """Saved and loaded it is the same, and gives the same ids."""
    tok.save(tmp_path / "saved.json")
    again = bytepair.load(tmp_path / "saved.json")
    assert again == tok
    assert again.n_rows == tok.n_rows
    text = text_of(tok)
    for special in ("text", "all"):
        assert again.encode(text, special=special) == tok.encode(text, special=special)
    ids = tok.encode(text)
    assert tok.decode(again.encode(text)) == again.decode(ids)
    assert tok.encode_batch([text])[0] == ids
    if tok.lossless:
        assert tok.decode(ids) == text


def as_hugging_face(tok: Tokenizer, tmp_path: Path) -> None:
    tok.save(tmp_path / "theirs", format="huggingface")
    theirs = bytepair.load(tmp_path / "theirs")
    assert theirs.encode(TEXT) == tok.encode(TEXT)
    assert theirs.encode(TEXT, special="all") == tok.encode(TEXT, special="all")
    peers = pytest.importorskip("tokenizers")
    peer = peers.Tokenizer.from_file(str(tmp_path / "theirs" / "tokenizer.json"))
    assert peer.encode(TEXT, add_special_tokens=False).ids == tok.encode(TEXT, special="all")


@pytest.mark.parametrize("name", ALL)
def test_extend_keeps_every_id(name: str, tmp_path: Path) -> None:
    tok = ALL[name](tmp_path)
    larger, report = tok.extend(CORPUS, tok.vocab_size + 5)
    assert report.added == 5
    assert larger.vocab_size == tok.vocab_size + 5 == report.vocab_size_after
    assert {i: larger.vocab[i] for i in tok.vocab} == dict(tok.vocab)
    assert set(larger.vocab) - set(tok.vocab) == set(range(tok.n_rows, tok.n_rows + 5))
    assert larger.specials == tok.specials
    assert report.tokens_after < report.tokens_before
    assert report.stopped == "the vocabulary is full"
    assert [step.new_id for step in report.record] == list(range(tok.n_rows, tok.n_rows + 5))
    sound(larger, tmp_path)
    again, report = larger.extend(CORPUS, larger.vocab_size + 3)  # and once more
    assert report.added == (3 if name != "cl100k" else 0)
    sound(again, tmp_path)


@pytest.mark.parametrize("name", [*WAYS, "ranks"])
def test_extend_is_training_on(name: str, tmp_path: Path) -> None:
    tok, whole = ALL[name](tmp_path), train(35, **WAYS.get(name, {"layout": "bytes-first"}))
    larger, report = tok.extend(CORPUS, tok.vocab_size + 15)
    texts = list(larger.vocab.values()) if name == "ranks" else [larger.vocab[new] for new in larger.merges.values()]
    wanted = [whole.vocab[new] for new in whole.merges.values()]
    assert [text for text in texts if text in wanted] == wanted if name == "ranks" else texts == wanted
    assert [(s.count, s.bytes, s.tied) for s in report.record] == [
        (s.count, s.bytes, s.tied) for s in whole.record.steps[20:]
    ]
    if tok._vocabulary.layout == "specials-first" or not tok.specials:
        assert larger == whole
    words = WordCounts.from_corpus(CORPUS, pattern=tok.pattern, specials=tok.specials)
    if name != "normalised":
        assert tok.extend(words, tok.vocab_size + 15)[0] == larger


def test_extend_stops_and_says_why() -> None:
    tok = train()
    larger, report = tok.extend(CORPUS, 5000)
    assert larger.vocab_size < 5000
    assert "comes 2 times any more" in report.stopped or "single token" in report.stopped
    assert "merges learned" in str(report)
    assert json.dumps(report.to_json())
    assert tok.extend("", 5000)[1].stopped == "the corpus holds no text"
    assert tok.extend(CORPUS, tok.vocab_size)[0] == tok
    with pytest.raises(VocabularyError, match="under the 282 ids that there are; cut"):
        tok.extend(CORPUS, 281)
    with pytest.raises(TrainingError, match="convention"):
        tok.extend(CORPUS, 300, convention="last")
    with pytest.raises(BytepairError, match="min_freq"):
        tok.extend(CORPUS, 300, min_freq=0)


def test_extend_takes_the_settings_of_the_training_before(tmp_path: Path) -> None:
    tok = train(20, min_freq=5)
    larger, report = tok.extend(CORPUS, 400)
    assert larger == train(400, min_freq=5)
    assert report.record.min_freq == 5
    tok.save(tmp_path / "a.json")
    assert bytepair.load(tmp_path / "a.json").extend(CORPUS, 400)[0] == larger


def test_extend_refuses_what_is_irregular(tmp_path: Path) -> None:
    """`ab` is a token that no merge makes: learning it again would give one text two ids."""
    folder = tmp_path / "odd"
    train(1, specials=()).save(folder, format="huggingface")
    file = folder / "tokenizer.json"
    document = json.loads(file.read_bytes())
    document["model"]["vocab"]["ab"] = 257
    file.write_text(json.dumps(document))
    tok = bytepair.load(file)
    with pytest.raises(VocabularyError, match="irregular"):
        tok.extend("ab ab ab", 300)


@pytest.mark.parametrize("name", ALL)
def test_add_specials_and_rows(name: str, tmp_path: Path) -> None:
    tok = ALL[name](tmp_path)
    larger, report = tok.add_specials(["<user>", "<unk >"], roles={"unk": "<user>"})
    assert report.ids == {"<user>": tok.n_rows, "<unk >": tok.n_rows + 1}
    assert larger.specials == {**tok.specials, **report.ids}
    assert larger.unk_id == tok.n_rows
    assert larger.eos_id == tok.eos_id
    assert larger.record == tok.record
    assert larger.encode("<user>", special="all") == [tok.n_rows]
    assert larger.encode(text_of(tok)) == tok.encode(text_of(tok))
    sound(larger, tmp_path)
    for wrong in (["<user>"], [""], ["a", "a"], "ab", {"a": 1}):
        with pytest.raises(SpecialTokenError):
            larger.add_specials(wrong)
    padded, rows = larger.pad_to_multiple(128)
    assert padded.n_rows % 128 == 0
    assert 0 <= padded.n_rows - larger.n_rows < 128
    assert rows.to_json() == {"ids": {}, "n_rows_before": larger.n_rows, "n_rows_after": padded.n_rows}
    assert padded == larger
    assert padded.pad_to_multiple(1)[0].n_rows == larger.n_rows
    with pytest.raises(UnknownTokenError):
        padded.decode([padded.n_rows - 1])
    sound(padded, tmp_path)
    # What is added later comes behind the highest id, where the rows are.
    assert padded.add_specials(["<x>"])[0].n_rows == padded.n_rows


@pytest.mark.parametrize("n", [0, -1, 1.5, 1 << 40])
def test_rows_that_cannot_be(n: Any) -> None:
    with pytest.raises(VocabularyError, match="n is"):
        train().pad_to_multiple(n)


@pytest.mark.parametrize("renumber", [False, True])
@pytest.mark.parametrize("name", ALL)
def test_prune_to_what_a_text_uses(name: str, renumber: bool, tmp_path: Path) -> None:
    tok = ALL[name](tmp_path)
    text = "lowest wider the"
    used = np.unique(tok.encode_array(text))
    small, report = tok.prune(keep=used, renumber=renumber, corpus=text)
    assert small.encode(text) == [report.ids[i] for i in tok.encode(text)]
    assert report.changed == ()
    assert report.tokens_before == report.tokens_after
    assert set(report.ids) == set(tok.vocab) - set(report.dropped)
    assert {report.ids[i]: tok.vocab[i] for i in report.ids} == dict(small.vocab)
    assert small.vocab_size == len(report.ids)
    assert small.specials == {special: report.ids[i] for special, i in tok.specials.items()}
    assert small.added == {special: report.ids[i] for special, i in tok.added.items()}
    if renumber:
        assert sorted(small.vocab) == list(range(small.n_rows))
    else:
        assert all(old == new for old, new in report.ids.items())
    assert (
        tok._put("eos", True) == [{new: i for i, new in report.ids.items()}[i] for i in small._put("eos", True)]
        if (tok.eos_id is not None)
        else True
    )
    sound(small, tmp_path)
    for i, now in report.split.items():
        shown = b"".join(small.vocab[j] for j in now)
        assert shown == tok.vocab[i]


@pytest.mark.parametrize("name", SMALL)
def test_what_is_dropped_is_split_as_if_never_learned(name: str, tmp_path: Path) -> None:
    tok = ALL[name](tmp_path)
    v = tok._vocabulary
    last = [i for i in v.tokens if i not in v.base and i not in v.fallback and i not in v.names][-4:]
    small, report = tok.prune(drop=last, corpus=CORPUS)
    assert set(report.dropped) == set(last)
    assert small.encode(text_of(tok)) == tok.cut(tok.vocab_size - 4).encode(text_of(tok))
    assert report.pretokens == sum(
        WordCounts.from_corpus(CORPUS, pattern=tok.pattern, specials=tok.specials).counts
    ) or (tok._changes_text_before)
    assert report.tokens_after > report.tokens_before
    for one in report.changed:
        assert b"".join(small.vocab[i] for i in one.after) == one.text
        assert set(one.before) & set(last) or len(one.before) < len(one.after)
    assert json.dumps(report.to_json())
    assert "are split otherwise" in str(report)


def test_a_part_goes_only_with_what_is_made_of_it() -> None:
    tok = train()
    part = tok.token_to_id("low")
    with pytest.raises(VocabularyError, match=r"'low' .* cannot be dropped alone: .* is made of it"):
        tok.prune(drop=["low"])
    small, report = tok.prune(drop=["low"], children=True)
    assert all(b"low" not in text for text in small.vocab.values())
    assert part in report.dropped
    assert small == tok.prune(drop=report.dropped)[0]
    for wrong, error in (
        ({"drop": ["a"]}, "cannot be dropped"),
        ({"drop": ["<eos>"]}, "cannot be dropped"),
        ({}, "one of them"),
        ({"keep": [1], "drop": [2]}, "one of them"),
        ({"keep": "low"}, "give ids"),
        ({"keep": [1.5]}, "keep holds 1.5"),
        ({"keep": [True]}, "keep holds True"),
    ):
        with pytest.raises(VocabularyError, match=error):
            tok.prune(**wrong)
    for unknown in ([9999], ["nothing of the kind"]):
        with pytest.raises(UnknownTokenError):
            tok.prune(keep=unknown)


def test_of_several_merges_that_make_a_token_the_one_that_is_used_counts(tmp_path: Path) -> None:
    """`abc` is `ab` + `c` when its own text is merged; `a` + `bc` never comes about, and `bc` need not stay."""
    tok = several()
    small, _ = tok.prune(keep=[b"abc"])
    assert b"bc" not in small
    assert small.pieces("abc") == [b"abc"]
    sound(small, tmp_path)


def several() -> Tokenizer:
    from bytepair.listed import Token
    from bytepair.listed import listed as made_of

    tokens = {b: Token(bytes([b])) for b in range(256)}
    tokens |= {256 + k: Token(text) for k, text in enumerate([b"ab", b"bc", b"abc"])}
    merges = [(97, 98, 256), (98, 99, 257), (97, 257, 258), (256, 99, 258)]
    vocabulary = made_of(kind="bytes", tokens=tokens, merges=merges)
    return Tokenizer(vocabulary, bytepair.Pattern("[a-z]+|."))


@pytest.mark.parametrize("name", [name for name in ALL if name != "cl100k"])
def test_retrain_keeps_the_settings(name: str, tmp_path: Path) -> None:
    tok = ALL[name](tmp_path)
    corpus = CORPUS.replace("low", "wol")
    size = min(tok.vocab_size, 540)
    other, report = tok.retrain(corpus, size)
    assert other.rule == tok.rule
    assert other.pattern == tok.pattern
    assert set(other.specials) == set(tok.specials)
    assert set(other.added) == set(tok.added)
    assert other._vocabulary.flags == tok._vocabulary.flags
    assert other._around.normaliser == tok._around.normaliser
    assert report.tokens_before is None or report.tokens_after < report.tokens_before or name == "gpt2"
    assert (report.tokens_before is None) == (name == "fused")
    if tok.eos_id is not None:
        assert other.encode("wol", add_eos=True)[-1] == other.eos_id == other.specials[tok.token_str(tok.eos_id)]
    if tok.alphabet == "bytes":
        assert other.decode(other.encode(corpus)) == tok.decode(tok.encode(corpus))
    other.save(tmp_path / "r.json")
    assert bytepair.load(tmp_path / "r.json") == other
    if name in WAYS and name != "normalised":
        options = dict(WAYS[name])
        assert other == bytepair.train(corpus, vocab_size=size, **options)


def test_retrain_of_a_foreign_alphabet_of_characters_is_refused(tmp_path: Path) -> None:
    train(alphabet="characters", end_of_word="fused", unknown="<unk>").save(tmp_path / "c", format="huggingface")
    tok = bytepair.load(tmp_path / "c")
    with pytest.raises(TrainingError, match="lists characters"):
        tok.retrain(CORPUS, 300)


@pytest.mark.parametrize("name", ["specials first", "bytes first", "normalised", "hugging face", "gpt2"])
def test_hugging_face_takes_all_of_them(name: str, tmp_path: Path) -> None:
    tok = ALL[name](tmp_path)
    used = np.unique(tok.encode_array(CORPUS))[:-3]
    as_hugging_face(tok.extend(CORPUS, tok.vocab_size + 5)[0], tmp_path)
    as_hugging_face(tok.add_specials(["<user>"])[0], tmp_path)
    as_hugging_face(tok.prune(keep=used, renumber=True)[0], tmp_path)
    as_hugging_face(tok.prune(keep=used)[0], tmp_path)
    with pytest.warns(bytepair.BytepairNotice, match="rows without a token"):
        tok.pad_to_multiple(1000)[0].save(tmp_path / "padded", format="huggingface")


def test_tiktoken_takes_ranks(tmp_path: Path) -> None:
    tok = bytepair.load("cl100k_base")
    used = np.unique(tok.encode_array(CORPUS))
    for made in (tok.extend(CORPUS, tok.vocab_size + 5)[0], tok.prune(keep=used)[0], tok.add_specials(["<user>"])[0]):
        made.save(tmp_path / "x.tiktoken", format="tiktoken")
        again = bytepair.load(tmp_path / "x.tiktoken", pattern="cl100k", specials=made.specials)
        assert again.encode(TEXT, special="all") == made.encode(TEXT, special="all")
        tiktoken = pytest.importorskip("tiktoken")
        ranks = {text: i for i, text in made._vocabulary.tokens.items()}
        peer = tiktoken.Encoding(
            "x", pat_str=made.pattern.regex, mergeable_ranks=ranks, special_tokens=dict(made.specials)
        )
        assert peer.encode(TEXT, disallowed_special=()) == made.encode(TEXT)


@pytest.mark.parametrize("options", [{}, {"layout": "bytes-first"}, {"alphabet": "characters"}])
def test_cut_is_shorter_training(options: dict[str, Any]) -> None:
    tok, shorter = train(**options), train(7, **options)
    small, ids = tok.cut(shorter.vocab_size, renumber=True)
    assert small == shorter
    assert all(shorter.vocab[new] == tok.vocab[old] for old, new in ids.items())
    assert (tok.cut(shorter.vocab_size) == shorter) == (options.get("layout") != "bytes-first")


def test_cut_takes_the_template_along(tmp_path: Path) -> None:
    tok = listed(tmp_path)
    small, ids = tok.cut(tok.vocab_size - 5, renumber=True)
    assert small.encode("a", add_eos=True)[-1] == ids[tok.specials["<eos>"]] == small.eos_id


def test_a_file_that_says_where_merges_stand_is_checked(tmp_path: Path) -> None:
    tok = train(5, layout="bytes-first").extend(CORPUS, 275)[0]
    tok.save(tmp_path / "a.json")
    sound_text = (tmp_path / "a.json").read_text()
    lines = [line for line in sound_text.splitlines() if line.strip().startswith('"') and line.count(" ") >= 6]
    assert lines
    last = tok._vocabulary.merges[-1]
    row = '"' + " ".join(map(str, last)) + '"'
    assert row in sound_text
    for wrong in (f'"{last[0]} {last[1]} 97"', f'"{last[0]} {last[1]} 256"', f'"{last[0]} 400 {last[2]}"', '"1 2"'):
        (tmp_path / "b.json").write_text(sound_text.replace(row, wrong))
        with pytest.raises(bytepair.FormatError):
            bytepair.load(tmp_path / "b.json")
    (tmp_path / "b.json").write_text(sound_text.replace('"rule"', '"rows": 12, "rule"'))
    with pytest.raises(bytepair.FormatError, match="rows"):
        bytepair.load(tmp_path / "b.json")
