"""CLIP's file, against the algorithm of CLIP's own tokenizer and against tokenizers set up as transformers does."""

from __future__ import annotations

import gzip
import html
import re
import sys
import unicodedata
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from merge_texts import DATA, code, texts
from pattern_peers import EVERY_CHARACTER, vocabulary_file

import bytepair

regex = pytest.importorskip("regex")
CUT = DATA / "bpe_simple_vocab_16e6.2000.txt.gz"


@cache
def letters() -> dict[int, str]:
    """CLIP's ``bytes_to_unicode``."""
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [b for b in range(256) if b not in plain]
    return {**{b: chr(b) for b in plain}, **{b: chr(256 + k) for k, b in enumerate(others)}}


class Own:
    """CLIP's ``SimpleTokenizer``, from the algorithm, without ``basic_clean``."""

    def __init__(self, file: Path) -> None:
        lines = gzip.decompress(file.read_bytes()).decode().removesuffix("\n").split("\n")
        self.merges = [tuple(line.split()) for line in lines[1 : 49152 - 256 - 2 + 1]]
        vocab = list(letters().values())
        vocab += [letter + "</w>" for letter in vocab]
        vocab += ["".join(merge) for merge in self.merges]
        vocab += ["<|startoftext|>", "<|endoftext|>"]
        self.ids = {token: k for k, token in enumerate(vocab)}
        self.ranks = {merge: k for k, merge in enumerate(self.merges)}
        self.cache = {name: (name,) for name in ("<|startoftext|>", "<|endoftext|>")}
        self.pattern = regex.compile(
            r"""<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+""",
            regex.IGNORECASE,
        )

    def bpe(self, token: str) -> tuple[str, ...]:
        if token in self.cache:
            return self.cache[token]
        word = (*token[:-1], token[-1] + "</w>")
        while len(word) > 1:
            pair = min(zip(word, word[1:]), key=lambda pair: self.ranks.get(pair, float("inf")))
            if pair not in self.ranks:
                break
            new: list[str] = []
            k = 0
            while k < len(word):
                here = word[k : k + 2] == pair
                new.append("".join(pair) if here else word[k])
                k += 1 + here
            word = tuple(new)
        self.cache[token] = word
        return word

    def encode(self, text: str) -> list[int]:
        text = re.sub(r"\s+", " ", text).strip().lower()
        found: list[int] = []
        for token in regex.findall(self.pattern, text):
            written = "".join(letters()[b] for b in token.encode())
            found += [self.ids[part] for part in self.bpe(written)]
        return found

    def decode(self, ids: list[int]) -> str:
        names = {k: token for token, k in self.ids.items()}
        byte = {letter: b for b, letter in letters().items()}
        text = "".join(names[i] for i in ids)
        return bytes(byte[letter] for letter in text).decode("utf-8", "replace").replace("</w>", " ")


def load(file: Path | bytes) -> bytepair.Tokenizer:
    with pytest.warns(bytepair.BytepairNotice, match="ftfy"):
        tok: bytepair.Tokenizer = bytepair.load(file)
    return tok


@cache
def both(whole: bool) -> tuple[bytepair.Tokenizer, Own]:
    file = vocabulary_file("bpe_simple_vocab_16e6.txt.gz") if whole else CUT
    return load(file), Own(file)


sizes = pytest.mark.parametrize("whole", [False, True], ids=["cut", "whole"])


@sizes
def test_ids_and_text_are_clips(whole: bool) -> None:
    tok, own = both(whole)
    assert tok.n_rows == len(own.ids) == (49408 if whole else 2514)
    assert [tok.foreign_str(i) for i in range(256, 300)] == [f"{chr(b)}</w>" for b in range(33, 77)]
    for text in [*texts("clip"), *code(200 if whole else 60)]:
        if "<|" in text:
            continue  # a name of a special token is text here, see below
        ids = own.encode(text)
        assert tok.encode(text) == ids
        assert tok.decode(ids) == own.decode(ids)


def test_every_character(engine_name: str) -> None:
    """Of those that Python's Unicode has, whose `lower` is CLIP's; of the many ideographs one in twenty."""
    tok, own = both(False)
    known = [c for c in EVERY_CHARACTER if unicodedata.category(c) not in ("Cn", "Co")]
    known = [c for k, c in enumerate(known) if c < "\u3400" or unicodedata.category(c) != "Lo" or k % 20 == 0]
    some = known if engine_name == "core" else known[:0x3000]
    contexts = [f"A{c}b {c}" for c in some[:: 1 if engine_name == "core" else 4]]
    assert [text for text, ids in zip(contexts, tok.encode_batch(contexts)) if ids != own.encode(text)] == []


def test_special_tokens() -> None:
    tok, own = both(False)
    bos, eos = tok.specials["<|startoftext|>"], tok.specials["<|endoftext|>"]
    assert (tok.bos_id, tok.eos_id) == (bos, eos) == (own.ids["<|startoftext|>"], own.ids["<|endoftext|>"])
    assert tok.encode("a dog", add_bos=True, add_eos=True) == [bos, *own.encode("a dog"), eos]
    text = "<|startoftext|>a dog <|endoftext|> x"
    assert tok.encode(text, special="all") == own.encode(text)
    assert eos not in tok.encode(text)


def hugging_face(own: Own) -> Any:
    """As transformers' CLIPTokenizer sets it up."""
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    normalizers, pre, regex_ = tokenizers.normalizers, tokenizers.pre_tokenizers, tokenizers.Regex
    theirs = tokenizers.Tokenizer(
        tokenizers.models.BPE(vocab=own.ids, merges=own.merges, end_of_word_suffix="</w>", unk_token="<|endoftext|>")
    )
    theirs.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(regex_(r"\s+"), " "), normalizers.Lowercase()]
    )
    cuts = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
    theirs.pre_tokenizer = pre.Sequence(
        [pre.Split(regex_(cuts), behavior="removed", invert=True), pre.ByteLevel(add_prefix_space=False)]
    )
    return theirs


@sizes
def test_ids_are_hugging_faces_where_it_does_as_clip(whole: bool) -> None:
    tok, own = both(whole)
    theirs = hugging_face(own)
    for text in code(30):
        plain = "".join(c for c in text if c.isascii() and c not in "\x1c\x1d\x1e\x1f").replace("<|", "")
        assert tok.encode(plain) == theirs.encode(plain).ids


def test_written_and_read_again(tmp_path: Path) -> None:
    tok, own = both(False)
    path = tmp_path / "bpe_simple_vocab_16e6.txt.gz"
    tok.save(path, format="clip")
    assert Own(path).ids == own.ids
    assert Own(path).ranks == own.ranks
    assert load(path) == load(tmp_path) == load(path.read_bytes()) == tok
    assert load(gzip.decompress(path.read_bytes())) == tok


def test_what_it_cannot_hold(tmp_path: Path) -> None:
    other = bytepair.train("low low lower", num_merges=2, end_of_word="fused")
    with pytest.raises(bytepair.FormatError, match="GPT-2's order"):
        other.save(tmp_path / "x", format="clip")
    with pytest.raises(bytepair.FormatError, match="alphabet"):
        bytepair.train("low low lower", num_merges=2).save(tmp_path / "x", format="clip")


def test_cleaning_is_clips() -> None:
    ftfy = pytest.importorskip("ftfy", reason="ftfy is not installed")
    from bytepair.compat.clip import clean

    def own(text: str) -> str:
        text = html.unescape(html.unescape(ftfy.fix_text(text))).strip()
        return re.sub(r"\s+", " ", text).strip().lower()

    for text in [*texts("clean", 50), "&amp;lt;b&amp;gt;  caf\u00c3\u00a9 \n", "âœ” ok"]:
        assert clean(text) == own(text)
    tok, theirs = both(False)
    assert tok.encode(clean("&lt;CAF\u00c3\u0089&gt;")) == theirs.encode("<café>")


def test_cleaning_without_ftfy_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from bytepair.compat.clip import clean

    monkeypatch.setitem(sys.modules, "ftfy", None)
    with pytest.raises(ModuleNotFoundError, match="pip install ftfy"):
        clean("a")


def test_offsets_are_those_of_the_text_as_it_came() -> None:
    tok, _ = both(False)
    text = "The  ΟΔΟΣ\x1cİs"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ids, places = tok.encode_with_offsets(text)
    assert ids == tok.encode(text)
    assert places[0] == (0, 3) and places[-1][1] == len(text)
