"""tiktoken's rank files, read and written, against tiktoken itself."""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import Any

import pytest
from merge_texts import DATA, code, texts
from pattern_peers import vocabulary_file

import bytepair
from bytepair import reference

tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed")

CUTS = ["r50k_base", "cl100k_base", "o200k_base"]
WHOLE = [*CUTS, "p50k_base", "qwen"]


def pattern_of(name: str) -> str:
    return "qwen2" if name == "qwen" else name.removesuffix("_base")


def in_tiktoken(path: Path, tok: bytepair.Tokenizer, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The file as tiktoken reads it."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    from tiktoken.load import load_tiktoken_bpe

    ranks = load_tiktoken_bpe(str(path))
    return tiktoken.Encoding(
        path.name, pat_str=tok.pattern.regex, mergeable_ranks=ranks, special_tokens=dict(tok.specials)
    )


def written(tok: bytepair.Tokenizer, path: Path) -> Path:
    with pytest.warns(bytepair.BytepairNotice, match="pattern"):
        tok.save(path, format="tiktoken")
    return path


@pytest.mark.parametrize("name", CUTS)
def test_a_cut_of_a_real_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = DATA / f"{name}.2000.tiktoken.xz"
    tok = bytepair.load(file, pattern=pattern_of(name), specials=["<|endoftext|>"])
    assert tok.specials == {"<|endoftext|>": tok.n_mergeable}
    again = written(tok, tmp_path / name)
    assert again.read_bytes() == lzma.decompress(file.read_bytes())
    theirs = in_tiktoken(again, tok, monkeypatch)
    for text in texts(name):
        ids = theirs.encode_ordinary(text)
        assert tok.encode(text) == ids
        assert tok.decode(ids) == theirs.decode(ids)
    assert bytepair.load(again, pattern=pattern_of(name), specials=tok.specials) == tok


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = vocabulary_file(f"{name}.tiktoken")
    tok = bytepair.load(file, pattern=pattern_of(name), specials=())
    again = written(tok, tmp_path / name)
    assert again.read_bytes() == file.read_bytes()
    theirs = in_tiktoken(again, tok, monkeypatch)
    for text in [*texts(name, 100), *code(20)]:
        assert tok.encode(text) == theirs.encode_ordinary(text)


@pytest.mark.parametrize("layout", ["specials-first", "bytes-first"])
def test_a_trained_tokenizer_becomes_ranks(layout: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = "\n".join(code(4))[:300_000]
    tok = bytepair.train(corpus, vocab_size=1500, layout=layout, pattern="cl100k", specials=["<a>", "<b>"])
    path = tmp_path / "trained.tiktoken"
    with pytest.warns(bytepair.BytepairNotice) as notices:
        tok.save(path, format="tiktoken")
    told = str(notices[0].message)
    assert repr(tok.pattern.regex) in told and repr(dict(tok.specials)) in told
    theirs = in_tiktoken(path, tok, monkeypatch)
    again = bytepair.load(path, pattern="cl100k", specials=tok.specials)
    for text in [*texts(layout), *code(40)]:
        ids = tok.encode(text)
        assert theirs.encode_ordinary(text) == ids
        assert again.encode(text) == ids


RANKS = {bytes([b]): b for b in range(256)}


def lines(ranks: dict[bytes, int]) -> bytes:
    import base64

    return b"".join(b"%s %d\n" % (base64.b64encode(text), rank) for text, rank in ranks.items())


def test_where_the_rules_differ_ranks_are_refused_and_the_merge_named(tmp_path: Path) -> None:
    """CASES.md 1: bc < ab < abc, learned as ab + c."""
    merges = bytepair.Tokenizer.from_merges([(b"b", b"c"), (b"a", b"b"), (b"ab", b"c")], specials=(), pattern="none")
    ranks = bytepair.load(lines(RANKS | {b"bc": 256, b"ab": 257, b"abc": 258}), pattern="none")
    assert merges.pieces("abc") == [b"a", b"bc"]
    assert ranks.pieces("abc") == [b"abc"]
    assert reference.encode_ranks(dict(ranks.ranks), b"abc") == ranks.encode("abc")
    with pytest.raises(bytepair.FormatError, match=r"b'ab' \+ b'c' \(id 258\)"):
        merges.save(tmp_path / "x", format="tiktoken")
    assert not list(tmp_path.iterdir())


def test_ranks_in_another_order_than_merges_are_refused(tmp_path: Path) -> None:
    from dataclasses import replace

    tok = bytepair.Tokenizer.from_merges([(b"a", b"b"), (b"c", b"d")], specials=())
    v = tok._vocabulary
    swapped = replace(v, merges=(v.merges[1], v.merges[0]), layout="listed")
    with pytest.raises(bytepair.FormatError, match=r"merge 1 \(b'a' \+ b'b'\) makes id 256"):
        bytepair.Tokenizer(swapped, tok.pattern).save(tmp_path / "x", format="tiktoken")


def test_several_merges_of_one_token_are_ranks_if_the_right_one_is_among_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Hugging Face files made of rank files have them."""
    from dataclasses import replace

    tok = bytepair.Tokenizer.from_merges([(b"a", b"b"), (b"b", b"c"), (b"ab", b"c")], specials=())
    v = tok._vocabulary
    a, bc, abc = ord("a"), 257, 258
    several = bytepair.Tokenizer(
        replace(v, merges=(*v.merges, (a, bc, abc)), layout="listed", ranks=(0, 1, 2, 2)), tok.pattern
    )
    path = written(several, tmp_path / "x")
    theirs = in_tiktoken(path, tok, monkeypatch)
    for text in ["abc", "bc", "abcabc", "aabcc", "bca", "aabbcc"]:
        assert several.encode(text) == theirs.encode_ordinary(text)
    wrong = bytepair.Tokenizer(replace(v, merges=(*v.merges[:2], (a, bc, abc)), layout="listed"), tok.pattern)
    with pytest.raises(bytepair.FormatError, match=r"\(id 258\)"):
        wrong.save(tmp_path / "y", format="tiktoken")


def test_what_ranks_cannot_hold_is_refused(tmp_path: Path) -> None:
    tok = bytepair.train("low low lower", num_merges=2, alphabet="characters", end_of_word="fused")
    with pytest.raises(bytepair.FormatError, match="made of characters"):
        tok.save(tmp_path / "x", format="tiktoken")


def test_gaps_and_line_ends_are_kept(tmp_path: Path) -> None:
    tok = bytepair.load(lines(RANKS | {b"a\n b": 700, b" \r": 999}).replace(b"\n", b"\r\n"), pattern="none")
    assert tok.token_to_id(b"a\n b") == 700
    assert tok.n_rows == 1000
    path = written(tok, tmp_path / "x")
    assert bytepair.load(path, pattern="none") == tok
