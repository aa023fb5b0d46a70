"""minbpe's .model files, against the algorithm of minbpe's own classes (it is not on PyPI)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from merge_texts import code, texts

import bytepair

regex = pytest.importorskip("regex")

GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
GPT4 = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"


def minbpes_own(model: bytes) -> tuple[Callable[[str], list[int]], dict[str, int]]:
    """Loads a model and encodes ordinary text as minbpe's BasicTokenizer or RegexTokenizer, from the algorithm."""
    lines = iter(model.decode().split("\n"))
    assert next(lines).strip() == "minbpe v1"
    pattern = next(lines).strip()
    specials = {}
    for _ in range(int(next(lines).strip())):
        name, i = next(lines).strip().split()
        specials[name] = int(i)
    merges = {}
    for k, line in enumerate(line for line in lines if line):
        left, right = map(int, line.split())
        merges[left, right] = 256 + k

    def chunk(data: bytes) -> list[int]:
        ids = list(data)
        while len(ids) >= 2:
            pair = min(zip(ids, ids[1:]), key=lambda pair: merges.get(pair, float("inf")))
            if pair not in merges:
                break
            new, k = [], 0
            while k < len(ids):
                here = tuple(ids[k : k + 2]) == pair
                new.append(merges[pair] if here else ids[k])
                k += 1 + here
            ids = new
        return ids

    def encode(text: str) -> list[int]:
        if not pattern:
            return chunk(text.encode())
        return [i for piece in regex.findall(regex.compile(pattern), text) for i in chunk(piece.encode())]

    return encode, specials


def model(pattern: str, specials: dict[str, int] | None = None, size: int = 1000) -> bytes:
    """A model as minbpe trains it."""
    corpus = "\n".join(code(8))[:200_000]
    tok = bytepair.train(
        corpus, vocab_size=size, specials=(), layout="bytes-first", pattern="gpt2" if pattern else "none"
    )
    specials = specials or {}
    return "\n".join(
        ["minbpe v1", pattern, str(len(specials)), *(f"{name} {i}" for name, i in specials.items()),
         *(f"{left} {right}" for left, right in tok.merges or ()), ""]
    ).encode()  # fmt: skip


@pytest.mark.parametrize(
    "pattern",
    [
        GPT2,
        GPT4,
        r"[a-z]+",  # the rest is dropped
        r"\w+|[^\w\s]+",
        r"\p{L}+$|\p{L}+\Z|.|\n",
        r"[[&&a-z~~^-]+|[^\S\n]+|[]x.]",
    ],
)
def test_ids_are_minbpes(pattern: str, tmp_path: Path) -> None:
    data = model(pattern, {"<|endoftext|>": 100257, "<pad>": 100300})
    tok = bytepair.load(data)
    own, specials = minbpes_own(data)
    assert tok.specials == specials
    tok.save(tmp_path / "x.model", format="minbpe")
    again, _ = minbpes_own((tmp_path / "x.model").read_bytes())
    for text in [*texts(pattern), *code(60)]:
        ids = own(text)
        assert tok.encode(text) == ids
        assert again(text) == ids
    if pattern in (GPT2, GPT4):
        assert tok.lossless and tok.pattern.splitter is not None
        assert (tmp_path / "x.model").read_bytes() == data
        assert bytepair.load(tmp_path / "x.model") == tok


def test_the_basic_tokenizer(tmp_path: Path) -> None:
    data = model("", size=400)
    tok = bytepair.load(data)
    assert tok.pattern.name == "none"
    own, _ = minbpes_own(data)
    for text in texts("basic", 100):
        assert tok.encode(text) == own(text)
        assert tok.decode(tok.encode(text)) == text
    tok.save(tmp_path / "x.model", format="minbpe")
    assert (tmp_path / "x.model").read_bytes() == data
    assert bytepair.load(tmp_path / "x.model") == tok


@pytest.mark.parametrize(
    "pattern", ["gpt2", "llama3", "qwen2", "cl100k", "o200k", "none", "[a-z]+|[0-9 ]+", " +| x|[^ ]+ "]
)
def test_our_own_are_written(pattern: str, tmp_path: Path) -> None:
    tok = bytepair.train(
        "\n".join(code(8))[:100_000], vocab_size=700, pattern=pattern, layout="bytes-first", specials=["<a>"]
    )
    tok.save(tmp_path / "x.model", format="minbpe")
    own, _ = minbpes_own((tmp_path / "x.model").read_bytes())
    again = bytepair.load(tmp_path / "x.model")
    assert again.specials == tok.specials
    for text in texts(pattern):
        assert tok.encode(text) == own(text) == again.encode(text)


def test_what_it_cannot_hold(tmp_path: Path) -> None:
    def refused(tok: bytepair.Tokenizer) -> str:
        with pytest.raises(bytepair.FormatError) as error:
            tok.save(tmp_path / "x", format="minbpe")
        assert not list(tmp_path.iterdir())
        return str(error.value)

    text = "low low lower"
    assert "byte 0x00 has the id 6" in refused(bytepair.train(text, num_merges=2))
    plain = {"num_merges": 2, "layout": "bytes-first"}
    assert "'a b'" in refused(bytepair.train(text, specials=["a b"], **plain))
    assert r"'\\W'" in refused(bytepair.train(text, specials=(), pattern="al1", **plain))
    assert "several stages" in refused(bytepair.train(text, specials=(), pattern="deepseek-v3", **plain))
    ranks = {bytes([b]): b for b in range(256)} | {b"bc": 256, b"ab": 257, b"abcd": 258}
    assert "id 258" in refused(bytepair.Tokenizer.from_ranks(ranks, pattern="gpt2"))


def test_roles_are_a_loss(tmp_path: Path) -> None:
    tok = bytepair.train(
        "low low lower", num_merges=2, layout="bytes-first", specials=["<end>", "<pad>"], roles={"eos": "<end>"}
    )
    with pytest.warns(bytepair.BytepairNotice, match=r"roles \{'eos': '<end>'\}"):
        tok.save(tmp_path / "x", format="minbpe")
    again = bytepair.load(tmp_path / "x", roles={"eos": "<end>"})
    assert (again.eos_id, again.pad_id) == (tok.eos_id, tok.pad_id)
