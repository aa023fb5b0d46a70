"""Measurements against plain scripts that compute them again."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import corpora

import bytepair
from bytepair.evaluate import evaluate, renyi_efficiency, sweep
from bytepair.evaluate.sweep import portion

TEXTS = {"en": ["the cat sat on the mat\n", "a cat, the mat"], "de": ["die Katze saß auf der Matte\n"]}


@pytest.fixture(scope="module")
def tok() -> bytepair.Tokenizer:
    return bytepair.train("the cat sat on the mat the cat der Katze saß " * 5, num_merges=20)


def test_every_number_again(tok: bytepair.Tokenizer) -> None:
    report = evaluate({"ours": tok}, TEXTS, rare_under=2)
    assert [(row.tokenizer, row.group) for row in report] == [("ours", "en"), ("ours", "de"), ("ours", "all")]
    for group, texts in {**TEXTS, "all": [*TEXTS["en"], *TEXTS["de"]]}.items():
        row = report.row("ours", group)
        ids = [i for text in texts for i in tok.encode(text)]
        words = [word for text in texts for word in text.split()]
        n_bytes = sum(len(text.encode()) for text in texts)
        counts = Counter(ids)
        assert (row.documents, row.bytes, row.characters) == (len(texts), n_bytes, sum(map(len, texts)))
        assert (row.tokens, row.words) == (len(ids), len(words))
        assert row.bytes_per_token == n_bytes / len(ids)
        assert row.characters_per_token == sum(map(len, texts)) / len(ids)
        assert row.fertility == len(ids) / len(words)
        assert row.whole_words == sum(len(tok.encode(" " + word)) == 1 for word in words)
        assert row.single_bytes == sum(len(tok.vocab[i]) == 1 for i in ids)
        assert row.used == len(counts)
        assert row.used_share == len(counts) / tok.vocab_size
        assert row.rare == sum(counts[i] < 2 for i in tok.vocab if not tok.is_special(i))
        p = [n / len(ids) for n in counts.values()]
        assert row.renyi == pytest.approx(math.log2(sum(x**2.5 for x in p)) / (1 - 2.5) / math.log2(tok.vocab_size))
        assert row.bits_factor == pytest.approx(len(ids) / n_bytes / math.log(2))
        assert row.unknown_rate is None
    [bits] = [r for r in report.bits_per_byte([2.0]) if r["group"] == "en"]
    assert bits["2.0"] == pytest.approx(2.0 * report.row("ours", "en").bits_factor)


def test_baselines(tok: bytepair.Tokenizer) -> None:
    texts = TEXTS["en"]
    report = evaluate({}, texts, baselines=["bytes", "characters", "words"], training="the cat\u00e9", vocab_size=3)
    data = "".join(texts).encode()
    row = report.row("bytes")
    assert (row.tokens, row.vocab_size, row.bytes_per_token) == (len(data), 256, 1.0)
    assert row.renyi == pytest.approx(renyi_efficiency(Counter(data).values(), 256))
    row = report.row("characters")
    assert (row.tokens, row.vocab_size) == (len("".join(texts)), len(set("the cat\u00e9")) + 1)
    row = report.row("words")
    words = "".join(texts).split()  # a line break stands between the two
    assert (row.tokens, row.words, row.vocab_size) == (len(words), len(words), 3)
    assert row.unknown_rate == sum(word not in ("the", "cat\u00e9") for word in words) / len(words)
    assert evaluate([tok], texts, baselines=["words"]).row("words").unknown_rate == 0


def test_parity(tok: bytepair.Tokenizer) -> None:
    report = evaluate({"ours": tok}, TEXTS, parallel=True)
    ratio = report.row("ours", "de").tokens / report.row("ours", "en").tokens
    assert [row.parity for row in report] == [1.0, ratio, None]


@given(st.lists(st.integers(0, 1000), max_size=20), st.integers(20, 3000), st.sampled_from([1, 2, 2.5]))
def test_renyi_lies_between_none_and_all(counts: list[int], size: int, alpha: float) -> None:
    found = renyi_efficiency(counts, size, alpha)
    assert -1e-9 <= found <= 1 + 1e-9
    assert renyi_efficiency(counts[::-1], size, alpha) == pytest.approx(found)


def test_shannon() -> None:
    assert renyi_efficiency([1, 1, 2], 4, alpha=1) == pytest.approx(1.5 / 2)
    assert renyi_efficiency([], 4) == renyi_efficiency([3], 1) == 0


def test_forms(tok: bytepair.Tokenizer, tmp_path: Path) -> None:
    report = evaluate({"ours": tok}, TEXTS)
    rows = list(csv.DictReader(io.StringIO(report.to_csv())))
    assert [int(row["tokens"]) for row in rows] == [row.tokens for row in report]
    assert json.loads(json.dumps(report.to_json()))["rows"][0]["fertility"] == report[0].fertility
    assert "bytes/token" in str(report)
    assert "<table>" in report._repr_html_()
    for name, start in (("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.pdf", b"%PDF")):
        report.plot(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
    with pytest.raises(bytepair.BytepairError, match="names no kind of picture"):
        report.plot(tmp_path / "a.txt")
    with pytest.raises(KeyError):
        report.row("no")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda tok: evaluate({}, "a"), "nothing to measure"),
        (lambda tok: evaluate({"x": 1}, "a"), "'x' is a int"),
        (lambda tok: evaluate([tok], ""), "no text to measure"),
        (lambda tok: evaluate([tok], {"all": "a"}), "cannot be called 'all'"),
        (lambda tok: evaluate([tok], "a", baselines=["no"]), "no baseline 'no'"),
        (lambda tok: evaluate([tok], "a", rare_under=0), "rare_under is 0"),
        (lambda tok: sweep(["a"] * 5), "has 5 documents"),
        (lambda tok: sweep("a", held_out=""), "no text to train on"),
        (lambda tok: sweep("a", held_out="a", vocab_sizes=[]), "at least one"),
        (lambda tok: sweep("a", held_out="a", shares=[0]), "a share of the text is 0"),
        (lambda tok: sweep("a", held_out="a", vocab_size=3), "is what a sweep tries"),
    ],
)
def test_wrong_use(tok: bytepair.Tokenizer, call, says: str) -> None:
    with pytest.raises(bytepair.BytepairError, match=says):
        call(tok)


with_text = corpora.filter(any)


@given(with_text, with_text)
def test_every_size_is_a_cut(corpus: list[str | bytes], other: list[str | bytes]) -> None:
    found = sweep(corpus, held_out=other, vocab_sizes=range(256, 276), specials=(), patterns=["gpt2", "none"])
    for curve in found.curves:
        tok = bytepair.train(corpus, num_merges=len(curve.tokens) - 1, specials=(), pattern=curve.pattern)
        for k, tokens in enumerate(curve.tokens):
            smaller = tok.cut(256 + k)
            assert tokens == sum(map(len, smaller.encode_batch(other)))
    for p in found:
        curve = next(c for c in found.curves if c.pattern == p.pattern)
        assert p.tokens == curve.tokens[p.vocab_size - curve.first_size]
        assert (p.untied, p.tied) == (2 * p.vocab_size * 768, p.vocab_size * 768)
        assert p.bytes == sum(len(d.encode() if isinstance(d, str) else d) for d in other)
        assert p.attention == pytest.approx(4 * 1024 * 768 * 1000 * p.tokens / p.bytes)


def test_portions() -> None:
    documents = [b"ab\ncd\n", b"efgh\nij"]
    assert portion(documents, 1) == documents
    assert portion(documents, 0.6) == [b"ab\ncd\n", b"efgh\n"]
    assert portion(documents, 0.1) == [b"ab\n"]
    assert portion([b"abcdefghij"], 0.5) == [b"abcde"]


def test_a_sweep_in_every_form(tmp_path: Path) -> None:
    documents = [f"line {k} of the text, and some words\n" * 3 for k in range(40)]
    found = sweep(documents, vocab_sizes=[260, 280, 9999], shares=[0.5, 1], width=64, context=128)
    assert [(p.share, p.vocab_size) for p in found] == [(0.5, 280), (1.0, 280)]
    assert len(list(csv.DictReader(io.StringIO(found.to_csv())))) == 2
    json.dumps(found.to_json())
    assert "2Vd" in str(found)
    assert f"{found.curves[1].first_size + len(found.curves[1].tokens) - 1} ids is all: " in str(found)
    found._repr_html_()
    found.plot(tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_a_special_name_in_the_held_out_text_is_text() -> None:
    found = sweep("low lower lowest " * 40, held_out="slow <eos> lowest<pad>", vocab_sizes=[262, 266, 270])
    [curve] = found.curves
    assert [p.tokens for p in found] == [curve.tokens[p.vocab_size - curve.first_size] for p in found]


def test_every_column_of_a_sweep_again() -> None:
    """Each point of each training, from a tokenizer that is trained alone to that size."""
    documents = [f"line {k} of the text, and {k * 7} words: x² _foo_\n" * 3 for k in range(30)]
    held_out = ["a line of other text, 1234 words\n", "_foo_ bar"]
    found = sweep(documents, held_out=held_out, vocab_sizes=[270, 280], patterns=["gpt2", "al1"], shares=[0.5, 1],
                  width=64, context=128, specials=())  # fmt: skip
    assert [(p.pattern, p.share, p.vocab_size) for p in found] == [
        (pattern, share, size) for pattern in ("gpt2", "al1") for share in (0.5, 1.0) for size in (270, 280)
    ]
    n = sum(len(text.encode()) for text in held_out)
    for p in found:
        half, size = [], 0
        for text in documents:  # all are whole lines, so that the share ends behind one
            if size >= round(p.share * sum(len(d.encode()) for d in documents)):
                break
            lines = text.splitlines(keepends=True)
            kept = []
            while lines and size < round(p.share * sum(len(d.encode()) for d in documents)):
                kept.append(lines.pop(0))
                size += len(kept[-1].encode())
            half.append("".join(kept))
        assert p.training_bytes == sum(len(text.encode()) for text in half)
        tok = bytepair.train(half, vocab_size=p.vocab_size, pattern=p.pattern, specials=())
        ids = [i for text in held_out for i in tok.encode(text)]
        counts = Counter(ids)
        shares = [c / len(ids) for c in counts.values()]
        assert (p.tokens, p.bytes, p.bytes_per_token) == (len(ids), n, n / len(ids))
        assert p.used_share == len(counts) / p.vocab_size
        assert p.renyi == pytest.approx(math.log2(sum(x**2.5 for x in shares)) / -1.5 / math.log2(p.vocab_size))
        assert (p.untied, p.tied) == (2 * p.vocab_size * 64, p.vocab_size * 64)
        assert p.sequence == pytest.approx(1000 * len(ids) / n)
        assert p.bytes_in_context == pytest.approx(128 * n / len(ids))
        assert p.attention == pytest.approx(4 * 128 * 64 * 1000 * len(ids) / n)


def test_baselines_again(tok: bytepair.Tokenizer) -> None:
    """Every column of the baselines, with nothing but Counter."""
    texts, known = TEXTS["de"], ["die Katze", "auf"]
    report = evaluate({}, texts, baselines=["bytes", "characters", "words"], training=known, rare_under=2)
    text = "".join(texts)
    words = text.split()
    listed = {
        "bytes": ([bytes([b]) for b in text.encode()], [bytes([b]) for b in range(256)]),
        "characters": (list(text), sorted(set("".join(known)))),
        "words": (words, sorted(set(" ".join(known).split()))),
    }
    for name, (pieces, vocabulary) in listed.items():
        row = report.row(name)
        counts = Counter(piece if piece in vocabulary else None for piece in pieces)
        size = len(vocabulary) + (name != "bytes")
        assert (row.vocab_size, row.tokens, row.used) == (size, len(pieces), len(counts))
        assert row.rare == sum(counts[piece] < 2 for piece in [*vocabulary, *([None] if name != "bytes" else [])])
        p = [n / len(pieces) for n in counts.values()]
        assert row.renyi == pytest.approx(math.log2(sum(x**2.5 for x in p)) / -1.5 / math.log2(size))
        assert row.fertility == len(pieces) / len(words)
        assert row.bits_factor == pytest.approx(len(pieces) / len(text.encode()) / math.log(2))
    assert report.row("words").unknown_words == sum(word not in ("die", "Katze", "auf") for word in words)
    assert report.row("characters").whole_words == 0
