"""Explanations of foreign vocabularies: every tokenizer file that we have a cut of, and the large ones at hand."""

from __future__ import annotations

import gzip
import lzma
import random
from functools import cache
from pathlib import Path

import pytest

import bytepair
from bytepair.evaluate import evaluate

DATA = Path(__file__).parent / "data"
FILES = {
    "clip": "bpe_simple_vocab_16e6.2000.txt.gz",
    "cl100k": "cl100k_base.2000.tiktoken.xz",
    "deepseek": "deepseek_v3.2000.tokenizer.json.xz",
    "mistral": "mistral_v3.2000.model",
    "qwen3": "qwen3.2000.tokenizer.json.xz",
    "subword-nmt": "subword_nmt_english.2000.codes",
    "tekken": "tekken_240911.2000.json.xz",
}
TEXTS = ["Hello, world! it's <s> é👍 1234567\n\n  x", "", " ", "low  lower\t\r\n", "naïve 你好",
         "<|endoftext|> a <|im_end|>b", "\u202e\x1b[31mX\x00"]  # fmt: skip
LARGE = ("gpt2", "cl100k_base")


@cache
def opened(name: str) -> bytepair.Tokenizer:
    path = DATA / FILES[name]
    data = path.read_bytes()
    if path.suffix in (".xz", ".gz"):
        data = (lzma if path.suffix == ".xz" else gzip).decompress(data)
    return bytepair.load(data, pattern="cl100k") if name == "cl100k" else bytepair.load(data)


def pieces(tok: bytepair.Tokenizer, tree: bytepair.explain.Tree) -> bytes:
    return b"".join(tok._vocabulary.tokens[leaf.id] for leaf in tree.leaves())


@pytest.mark.filterwarnings("ignore::bytepair.BytepairNotice")
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("special", ["text", "all"])
def test_texts(name: str, special: str) -> None:
    tok = opened(name)
    for text in TEXTS:
        try:
            ids = tok.encode(text, special=special)
        except bytepair.UnknownTokenError:
            continue
        found = tok.explain(text, special=special)
        assert found.ids == ids
        explained = tok.explain_ids(ids)
        rest = explained.ids[-1].waiting if ids else b""
        if not tok._vocabulary.marked:  # the spaces between words belong to none of them
            assert "".join(one.characters for one in explained.ids) + rest.decode(errors="replace") == tok.decode(ids)
        if tok.unk_id is None or tok.unk_id not in ids:
            assert tok.is_canonical(ids), (text, str(tok.is_canonical(ids)))
        for shown in (found, explained):
            assert "\x1b" not in str(shown) + shown._repr_html_()
            assert "\u202e" not in str(shown) + shown._repr_html_()
            shown.to_json()


@pytest.mark.filterwarnings("ignore::bytepair.BytepairNotice")
@pytest.mark.parametrize("name", [*FILES, *LARGE])
def test_where_tokens_come_from(name: str) -> None:
    """A tree's leaves are the token's bytes; a step's parts are older, unless the list itself has another order."""
    tok = bytepair.load(name) if name in LARGE else opened(name)
    v = tok._vocabulary
    rng = random.Random(name)
    for i in rng.sample(sorted(v.tokens), 300):
        origin = tok.why(i)
        assert origin.split == tuple(tok._codec.encode(v.tokens[i], None))
        assert (origin.tree is not None) == (origin.kind == "symbol" or origin.by_merges)
        if origin.tree is None:
            continue
        assert pieces(tok, origin.tree) == origin.data
        stack = [origin.tree]
        while stack:
            tree = stack.pop()
            assert origin.data[tree.start : tree.end] == v.tokens[tree.id]
            for part in tree.parts or ():
                assert v.unordered_merge is not None or part.rank is None or part.rank < tree.rank
                stack.append(part)
            if tree.parts is not None:
                left, right = tree.parts
                assert v.tokens[left.id] + v.tokens[right.id] == v.tokens[tree.id]
        if origin.parts is not None:
            assert [part.id for part in origin.tree.parts] == list(origin.parts)
            assert origin.rank == origin.tree.rank


@pytest.mark.parametrize("name", ["mistral", "tekken", "qwen3"])
@pytest.mark.filterwarnings("ignore::bytepair.BytepairNotice")
def test_a_tree_is_what_encoding_does(name: str) -> None:
    """SentencePiece merges one token in several ways: the tree is the way that encoding takes."""
    tok = opened(name)
    checked = 0
    for i in random.Random(1).sample(sorted(tok._vocabulary.tokens), 400):
        text = tok._vocabulary.tokens[i]
        merging = bytepair.explain.merging.merges_of(tok).of(text, whole=False)
        origin = tok.why(i)
        if merging is not None and merging.ids == (i,) and origin.kind == "merge":
            checked += 1
            assert origin.tree == merging.trees[0]
    assert checked > 200


@pytest.mark.parametrize("name", LARGE)
def test_used_in_is_every_token_that_is_merged_from_it(name: str) -> None:
    tok = bytepair.load(name)
    merges = bytepair.explain.merging.merges_of(tok)
    for word in (b" the", b"ing", b" inter"):
        i = tok.token_to_id(word)
        wanted = [j for j in tok._vocabulary.tokens if j < 30_000 and i in merges.parts(j)]
        origin = tok.why(i)
        assert [j for j in origin.used_in if j < 30_000] == wanted[: len(origin.used_in)]
        assert origin.n_used_in >= len(wanted)


@pytest.mark.parametrize("name", LARGE)
def test_strings_that_are_no_token(name: str) -> None:
    """The reason is what a plain look at pattern and vocabulary gives."""
    tok = bytepair.load(name)
    text = Path(bytepair.tokenizer.__file__).read_text("utf-8")
    rng = random.Random(name)
    reasons = set()
    for _ in range(300):
        at = rng.randrange(len(text) - 20)
        word = text[at : at + rng.randint(2, 14)]
        found = tok.why_not(word)
        reasons.add(found.reason)
        assert found.ids == tuple(tok.encode(word))
        assert found.pretokens == tuple(tok.pretokens(word))
        expected = "token" if len(found.ids) == 1 else "border" if len(found.pretokens) > 1 else "unrecorded"
        assert found.reason == expected, word
        assert (word.encode() in tok) == (expected == "token" and tok.vocab[found.ids[0]] == word.encode())
    assert reasons == {"token", "border", "unrecorded"}


@pytest.mark.filterwarnings("ignore::bytepair.BytepairNotice")
def test_typed_and_real_names_are_both_canonical() -> None:
    """SentencePiece's decoder drops control tokens, and a file that rewrites text is encoded as a whole."""
    for name, special in (("mistral", "<s>"), ("qwen3", "<|endoftext|>"), ("deepseek", "<｜end▁of▁sentence｜>")):
        tok = opened(name)
        for text in (f"it's {special} é", f"{special}a", f"a{special}", special):
            for how in ("text", "all"):
                ids = tok.encode(text, special=how)
                assert tok.is_canonical(ids), (name, text, how, str(tok.is_canonical(ids)))
    tok = opened("mistral")
    ids = tok.encode("low")
    split = [j for i in ids for j in (tok.merges and next((p for p, n in tok.merges.items() if n == i), (i,)))]
    assert split != ids
    assert not tok.is_canonical(split)


@pytest.mark.filterwarnings("ignore::bytepair.BytepairNotice")
def test_words_are_whole_where_the_tokenizer_puts_the_space() -> None:
    tok = opened("mistral")
    text = "the house and the xqzw in it"
    row = evaluate({"mistral": tok}, text)[0]
    assert row.whole_words == sum(len(tok.encode(word)) == 1 for word in text.split()) > 2


@pytest.mark.filterwarnings("ignore::bytepair.BytepairNotice")
def test_added_tokens_are_not_ordinary_ones() -> None:
    """Those are always matched, and none of the vocabulary that is counted as rare."""
    tok = opened("qwen3")
    name = next(iter(tok.added))
    text = f"low low {name}{name}"
    row = evaluate({"qwen3": tok}, text, rare_under=2)[0]
    ids = tok.encode(text)
    assert ids.count(tok.added[name]) == 2
    assert row.rare == sum(ids.count(i) < 2 for i in tok._vocabulary.tokens)
