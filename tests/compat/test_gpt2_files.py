"""GPT-2's two files, read and written, against tokenizers and against the algorithm of GPT-2's own program."""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from merge_texts import DATA, code, texts
from pattern_peers import vocabulary_file

import bytepair

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
regex = pytest.importorskip("regex")


@cache
def letters() -> dict[int, str]:
    """GPT-2's ``bytes_to_unicode``."""
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [b for b in range(256) if b not in plain]
    return {**{b: chr(b) for b in plain}, **{b: chr(256 + k) for k, b in enumerate(others)}}


def gpt2s_own(merges: str, ids: dict[str, int]) -> Callable[[str], list[int]]:
    """``Encoder.encode`` of GPT-2's ``encoder.py``, from the algorithm."""
    lines = merges.split("\n")[1:-1]
    ranks = {tuple(line.split()): k for k, line in enumerate(lines)}
    cuts = regex.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")

    @cache
    def bpe(token: str) -> tuple[str, ...]:
        word = tuple(token)
        while len(word) > 1:
            pair = min(zip(word, word[1:]), key=lambda pair: ranks.get(pair, float("inf")))
            if pair not in ranks:
                break
            new: list[str] = []
            k = 0
            while k < len(word):
                here = word[k : k + 2] == pair
                new.append("".join(pair) if here else word[k])
                k += 1 + here
            word = tuple(new)
        return word

    def encode(text: str) -> list[int]:
        pieces = ("".join(letters()[b] for b in token.encode()) for token in cuts.findall(text))
        return [ids[part] for piece in pieces for part in bpe(piece)]

    return encode


@cache
def files(whole: bool) -> tuple[bytes, bytes]:
    if whole:
        return vocabulary_file("gpt2.vocab.bpe").read_bytes(), vocabulary_file("gpt2.encoder.json").read_bytes()
    cut = (DATA / name for name in ("gpt2.2000.vocab.bpe.xz", "gpt2.2000.encoder.json.xz"))
    merges, ids = (lzma.decompress(file.read_bytes()) for file in cut)
    return merges, ids


def owner(folder: Path) -> Any:
    """The folder as tokenizers reads it."""
    model = tokenizers.models.BPE.from_file(str(folder / "vocab.json"), str(folder / "merges.txt"))
    theirs = tokenizers.Tokenizer(model)
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs.decoder = tokenizers.decoders.ByteLevel()
    return theirs


sizes = pytest.mark.parametrize("whole", [False, True], ids=["cut", "whole"])


@sizes
def test_ids_are_gpt2s(whole: bool, tmp_path: Path) -> None:
    merges, ids = files(whole)
    tok = bytepair.load(merges, vocab=ids)
    assert tok.specials == {"<|endoftext|>": 50256}
    assert tok.pattern.name == "gpt2"
    assert bytepair.load(ids, vocab=merges) == tok
    own = gpt2s_own(merges.decode(), json.loads(ids))
    tok.save(tmp_path / "written", format="gpt2")
    theirs = owner(tmp_path / "written")
    assert (tmp_path / "written" / "merges.txt").read_bytes() == merges
    assert json.loads((tmp_path / "written" / "vocab.json").read_bytes()) == json.loads(ids)
    for text in [*texts("gpt2", 100 if whole else 300), *code(40)]:
        found = tok.encode(text)
        assert found == theirs.encode(text).ids
        assert tok.decode(found) == theirs.decode(found)
        # GPT-2's program runs in `regex`, whose Unicode is newer.
        assert found == own(text)
    assert [tok.foreign_str(i) for i in found] == [theirs.id_to_token(i) for i in found]


@pytest.mark.parametrize("names", [("merges.txt", "vocab.json"), ("vocab.bpe", "encoder.json")])
def test_folders_and_files_beside_each_other(names: tuple[str, str], tmp_path: Path) -> None:
    merges, ids = files(False)
    tok = bytepair.load(merges, vocab=ids)
    for name, data in zip(names, (merges, ids)):
        (tmp_path / name).write_bytes(data)
    assert bytepair.load(tmp_path) == tok
    for name in names:
        assert bytepair.load(tmp_path / name) == tok
    assert bytepair.load(tmp_path / names[0], vocab=tmp_path / names[1]) == tok


def test_a_trained_tokenizer_as_gpt2(tmp_path: Path) -> None:
    corpus = "\n".join(code(4))[:300_000]
    tok = bytepair.train(corpus, vocab_size=1500, specials=["<a>", "<pad>"])
    with pytest.warns(bytepair.BytepairNotice, match=r"specials=\['<a>', '<pad>'\]"):
        tok.save(tmp_path / "x", format="gpt2")
    again = bytepair.load(tmp_path / "x", specials=["<a>", "<pad>"])
    theirs = owner(tmp_path / "x")
    assert again.specials == tok.specials
    for text in [*texts("trained"), *code(40)]:
        assert tok.encode(text) == again.encode(text) == theirs.encode(text).ids
    with pytest.warns(bytepair.BytepairNotice):
        again.save(tmp_path / "y", format="gpt2")
    assert bytepair.load(tmp_path / "y", specials=["<a>", "<pad>"]) == again


@pytest.mark.parametrize("name", ["r50k_base", "cl100k_base", "o200k_base"])
def test_ranks_become_merges(name: str, tmp_path: Path) -> None:
    """A pattern of tiktoken's is not GPT-2's, so the pieces are compared."""
    tok = bytepair.load(DATA / f"{name}.2000.tiktoken.xz", pattern="gpt2", specials=())
    tok.save(tmp_path / "x", format="gpt2")
    again = bytepair.load(tmp_path / "x")
    theirs = owner(tmp_path / "x")
    for text in [*texts(name), *code(40)]:
        assert tok.encode(text) == again.encode(text) == theirs.encode(text).ids


def test_ranks_that_no_merges_give_are_refused(tmp_path: Path) -> None:
    ranks = {bytes([b]): b for b in range(256)} | {b"bc": 256, b"ab": 257, b"abcd": 258}
    tok = bytepair.Tokenizer.from_ranks(ranks, pattern="gpt2")
    with pytest.raises(bytepair.FormatError, match=r"id 258 \(b'abcd'\).*b'a', b'bc', b'd'"):
        tok.save(tmp_path / "x", format="gpt2")


def small(merges: str, extra: dict[str, int] | None = None) -> tuple[bytes, bytes]:
    """Merges, and ids that fit: the bytes' letters, what the merges make, and more."""
    ids = {letter: b for b, letter in letters().items()}
    for line in merges.splitlines():
        parts = line.split(" ")
        if not line.startswith("#version: ") and len(parts) == 2:
            ids.setdefault("".join(parts), len(ids))
    return merges.encode(), json.dumps({**ids, **(extra or {})}).encode()


def test_a_first_merge_that_looks_like_the_header_is_a_merge(tmp_path: Path) -> None:
    """CASES.md 28."""
    pairs = [("#", "v"), ("e", "r"), ("s", "i"), ("o", "n"), ("#v", "er"), ("#ver", "si"), ("#versi", "on")]
    inner = "\n".join(map(" ".join, pairs))
    merges, ids = small(f"#version: 0.2\n{inner}\n#version :\n")
    tok = bytepair.load(merges, vocab=ids, pattern="none")
    assert len(tok.merges or ()) == 8
    assert tok.pieces("#version:") == [b"#version:"]
    # Unordered, but a merge: the whole list without the header begins with it.
    merges, ids = small(f"#version :\n{inner}\n")
    unordered = bytepair.load(merges, vocab=ids)
    assert len(unordered.merges or ()) == 8
    unordered.save(tmp_path / "x", format="gpt2")
    again = bytepair.load(tmp_path / "x")
    assert again == unordered
    assert again.token_to_id(b"#version:") == unordered.token_to_id(b"#version:")


def test_unordered_merges_as_gpt2_does_them() -> None:
    merges = "#version: 0.2\nab c\na b\nb c\nc ab\nabc abc\n"
    data, ids = small(merges)
    tok = bytepair.load(data, vocab=ids)
    own = gpt2s_own(merges, json.loads(ids))
    for text in ["abc", "abcabc", "cabcab", "aabbcc", "bcab", "abcababcabc", "cabab"]:
        assert tok.encode(text) == own(text)


def test_tokens_that_no_merge_makes() -> None:
    data, ids = small("#version: 0.2\na b\n", {"<s>": 300, "two words": 301, "<|endoftext|>": 302, "\u0120x": 303})
    with pytest.raises(bytepair.FormatError, match=r"3 tokens .*'<s>', 'two words', '.x'.*specials="):
        bytepair.load(data, vocab=ids)
    tok = bytepair.load(data, vocab=ids, specials=["<s>", "<new>"])
    assert tok.specials == {"<s>": 300, "<new>": 304}
    assert tok.encode("<s>ab", special="all") == [300, 256]
    assert tok.decode([301, 303, 302]) == "two words x<|endoftext|>"
    assert bytepair.load(data, vocab=ids, specials=()).specials == {}


def test_tokens_with_spaces_survive(tmp_path: Path) -> None:
    """CASES.md 28."""
    tok = bytepair.Tokenizer.from_merges([(b" ", b"\n"), (b" \n", b"x")], specials=(), pattern="none")
    with pytest.warns(bytepair.BytepairNotice, match="pattern"):
        tok.save(tmp_path / "x", format="gpt2")
    again = bytepair.load(tmp_path / "x", pattern="none")
    assert again.pieces("a \nx") == tok.pieces("a \nx") == [b"a", b" \nx"]
