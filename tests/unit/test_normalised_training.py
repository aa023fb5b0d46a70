"""Training with a normaliser: the same change in training and encoding, told, saved, and streamed exactly."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bytepair
from bytepair import WordCounts
from bytepair._rewriter import Active
from bytepair.corpus import rewritten
from bytepair.corpus.document import Document
from bytepair.errors import FormatError, TrainingError
from bytepair.pipeline.around import Around
from bytepair.pipeline.names import Names
from bytepair.pipeline.normalise import NFC, Lowercase, Normaliser, normaliser_of

TEXT = "Low LOW lower ÉCOLE École e\u0301cole ﬁsh ﬁsh fish “low” “low” <s>Low\n" * 3
CHAIN = ["nfkc", "lower", ("replace", "“", '"'), ("replace", "”", '"')]


def train(corpus: Any, **options: Any) -> bytepair.Tokenizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bytepair.BytepairNotice)
        return bytepair.train(corpus, num_merges=40, **{"specials": ["<s>"], **options})


def test_training_sees_what_encoding_sees() -> None:
    normaliser = normaliser_of(CHAIN)
    assert normaliser is not None
    tok = train(TEXT, normalizer=CHAIN)
    plain = train("".join(part if part == "<s>" else normaliser.apply(part) for part in cut(TEXT)))
    assert tok.merges == plain.merges
    assert tok.encode("ÉCOLE “Fish”") == plain.encode('école "fish"')
    assert tok.decode(tok.encode("ÉCOLE “Fish”")) == 'école "fish"'
    assert plain.lossless
    assert not tok.lossless
    assert tok.fingerprint != plain.fingerprint
    assert train(TEXT).lossless  # none by default


def cut(text: str) -> list[str]:
    parts = text.split("<s>")
    return [piece for part in parts for piece in (part, "<s>")][:-1]


def test_names_that_only_normalising_makes_are_text() -> None:
    tok = train(["<S>", "<S>"], normalizer="lower", pattern="none")
    assert b"<s>" in tok  # learned: the text held no <s>
    assert tok.encode("<S>", special="all") != [0]
    assert tok.encode("<s>", special="all") == [0]


@pytest.mark.parametrize("normalizer", ["nfc", "nfkd", CHAIN, ("replace", "lo", "LOW\n"), ["strip_accents", "nfd"]])
def test_it_is_saved(tmp_path: Path, normalizer: Any) -> None:
    tok = train(TEXT, normalizer=normalizer)
    tok.save(tmp_path / "ours.json")
    assert bytepair.load(tmp_path / "ours.json") == tok
    tok.save(tmp_path / "tokenizer.json", format="huggingface")
    theirs = bytepair.load(tmp_path / "tokenizer.json")
    assert theirs.encode(TEXT, special="all") == tok.encode(TEXT, special="all")
    assert not theirs.lossless
    peers = pytest.importorskip("tokenizers")
    peer = peers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert peer.encode(TEXT).ids == tok.encode(TEXT, special="all")
    with pytest.raises(FormatError, match="normaliser"):
        tok.save(tmp_path / "x.tiktoken", format="tiktoken")


def test_bytes_that_are_no_utf8_pass() -> None:
    tok = train(b"LOW \xff\xe9 LOW \xff\xe9 \xc3 \xc3", normalizer=["nfc", "lower"])
    assert tok.decode_bytes(tok.encode(b"LOW\xff\xe9\xc3")) == b"low\xff\xe9\xc3"


@pytest.mark.parametrize("threads", [1, 3])
def test_files_iterators_and_threads(tmp_path: Path, threads: int) -> None:
    (tmp_path / "a.txt").write_bytes(TEXT.encode() * 3)
    (tmp_path / "b.txt").write_bytes(TEXT.lower().encode())
    tok = train(tmp_path, normalizer=CHAIN, threads=threads)
    assert tok == train([TEXT * 3, TEXT.lower()], normalizer=CHAIN, threads=threads)
    assert tok.record == train(iter([TEXT * 3, TEXT.lower().encode()]), normalizer=CHAIN).record


def test_counted_words_are_normalised_already(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    words = WordCounts.from_corpus(TEXT, specials=["<s>"], normalizer=CHAIN)
    assert train(words, normalizer=CHAIN) == train(TEXT, normalizer=CHAIN)
    assert train(words) == train(TEXT, normalizer=CHAIN)
    with pytest.raises(TrainingError, match="'Low' is not normalised"):
        train(WordCounts({"Low": 1}), normalizer=CHAIN)
    assert train(WordCounts({"low": 1}), normalizer=CHAIN).encode("Low") == [109, 112, 120]
    with pytest.raises(TrainingError, match="counted with no normaliser, and normalizer= is"):
        train(WordCounts.from_corpus(TEXT), normalizer=CHAIN)
    with pytest.raises(TrainingError, match="normalizer= out, or count again"):
        train(words, normalizer="nfc")
    with pytest.raises(TrainingError, match="their normaliser differ"):
        words.merge(WordCounts.from_corpus(TEXT, specials=["<s>"]))
    words.save(tmp_path / "counts.arrow")
    loaded = WordCounts.load(tmp_path / "counts.arrow")
    assert loaded == words and loaded.normaliser == words.normaliser == normaliser_of(CHAIN)


PIECES = [
    *("a", "A", "É", "e\u0301", "\u0301", "\u0323", "ﬁ", "Σ", "\uac00", "\u11a8", b"\xff", b"\xc3"),
    *("\n", "\n\n", "\r\n", "<s>", "<s><s>", "<", "x\ny"),
]


@given(
    st.lists(st.lists(st.sampled_from(PIECES), max_size=12), max_size=5),
    st.sampled_from([["nfc"], ["nfkd", "lower"], ["nfkc", ("replace", "a", "\n\u0301"), "nfc"], ["lower"]]),
    st.sampled_from([(), ("<s>", "<s><s>"), ("x\ny",)]),
)
def test_lines_one_by_one_are_the_text_whole(parts: list[list[Any]], steps: list[Any], names: tuple[str, ...]) -> None:
    pieces = [b"".join(p if isinstance(p, bytes) else p.encode() for p in part) for part in parts]
    normaliser = normaliser_of(steps)
    assert normaliser is not None
    raw = Names({name: i for i, name in enumerate(names)}, {})
    expected = [run for run in Around(normaliser).runs(b"".join(pieces), raw, Names({}, {})) if isinstance(run, bytes)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rewritten, "LEAST", 1)
        lines = rewritten._Lines(Document("x", None, lambda: iter(pieces)), normaliser, raw)
        found = [b"".join(run.open()) for run in lines.runs()]
    assert [run for run in found if run] == [run for run in expected if run]


def test_what_lines_cannot_be_told_from_is_held_whole() -> None:
    none = Active(Names({}, {}), Names({}, {}))
    for steps, by_lines in ((["nfc", "lower"], True), ([("replace", "\n", " ")], False), (["strip_accents"], False)):
        assert rewritten._goes_by_lines(Around(normaliser_of(steps)), none) == by_lines
    tok = train("a\nb a\nb", normalizer=("replace", "\n", "-"))
    assert tok.decode(tok.encode("a\nb")) == "a-b"


def test_what_names_a_normaliser() -> None:
    assert normaliser_of([]) is None
    assert normaliser_of(None) is None
    assert normaliser_of(["NFC", ["lower"]]) == normaliser_of((NFC(), Lowercase())) == Normaliser((NFC(), Lowercase()))
    for wrong in ("nfx", 1, ["replace", "a"], ("replace", "", "b"), ("replace", "a", "\ud800"), b"nfc", {"nfc": 1}):
        with pytest.raises(TrainingError, match="normalizer"):
            bytepair.train("a", normalizer=wrong)
