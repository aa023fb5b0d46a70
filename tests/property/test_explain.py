"""What is explained is what the encoder does: ids, states, trees, and why a string is no token."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import (
    Options,
    byte_options,
    character_options,
    corpora,
    documents,
    marked_byte_options,
    options,
    raw_bytes,
    special_texts,
    train_both,
)

import bytepair
from bytepair import reference as ref

if TYPE_CHECKING:
    from bytepair.explain import Tree

PAIRS = st.lists(st.tuples(st.sampled_from([b"a", b"b", b"ab", b"ba", b"aa", b"bb", b"aab", b"abb"]),
                           st.sampled_from([b"a", b"b", b"ab", b"ba", b"aa", b"bb"])), max_size=12)  # fmt: skip

strings = st.text("abl owe", min_size=1, max_size=5).map(str.encode)


def text_of(tok: bytepair.Tokenizer, tree: Tree) -> bytes:
    return b"".join(tok._vocabulary.tokens[leaf.id] for leaf in tree.leaves())


def check(tok: bytepair.Tokenizer, text: bytes, special: str) -> None:
    try:
        ids = tok.encode(text, special=special)
    except bytepair.UnknownTokenError:
        with pytest.raises(bytepair.UnknownTokenError):
            tok.explain(text, special=special)
        return
    found = tok.explain(text, special=special)
    assert found.ids == ids
    for p in found.pretokens:
        states = p.states()
        assert states[0] == (p.symbols if p.how == "merged" else p.ids)
        assert states[-1] == p.split
        assert len(states) == len(p.steps) + 1
        for before, step, after in zip(states, p.steps, states[1:]):
            at = next(k for k in range(len(before)) if (*before[:k], step.new, *before[k + 2 :]) == after)
            assert before[at : at + 2] == (step.left, step.right)
            assert p.data[step.start : step.end] == b"".join(tok._vocabulary.tokens[i] for i in before[at : at + 2])
        for tree, i in zip(p.trees, p.split, strict=True):
            assert tree.id == i
            if p.how == "merged" and tok.unk_id is None:
                assert text_of(tok, tree) == p.data[tree.start : tree.end] == tok._vocabulary.tokens[i]
    characters = text.decode("utf-8", "surrogateescape")
    if tok.lossless:
        assert [characters[p.start : p.end].encode("utf-8", "surrogateescape") for p in found.pretokens] == [
            p.data for p in found.pretokens
        ]
    str(found)
    found.to_json()
    found._repr_html_()


@given(options, corpora, st.one_of(documents, special_texts))
def test_a_text(how: Options, corpus: list[str | bytes], text: str | bytes) -> None:
    tok = train_both(corpus, how)[0]
    data = text.encode() if isinstance(text, str) else text
    check(tok, data, "text")
    check(tok, data, "all")


@given(PAIRS, st.text("ab ", max_size=40), st.booleans())
def test_unordered_lists_and_ranks(pairs: list[tuple[bytes, bytes]], text: str, ranks: bool) -> None:
    made: dict[bytes, tuple[bytes, bytes]] = {}
    for left, right in pairs:
        made.setdefault(left + right, (left, right))
    there = {b"a", b"b", *made}
    kept = [pair for pair in made.values() if set(pair) <= there]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bytepair.BytepairNotice)
        if ranks:
            table = {bytes([b]): b for b in range(256)} | {t: 256 + k for k, t in enumerate(made)}
            tok = bytepair.Tokenizer.from_ranks(table, pattern="gpt2")
        else:
            try:
                tok = bytepair.Tokenizer.from_merges(kept)
            except bytepair.VocabularyError:
                return
    check(tok, text.encode(), "text")
    for i in tok.vocab:
        origin = tok.why(i)
        assert origin.split == tuple(tok.encode(tok.vocab[i]))
        if origin.tree is not None:
            assert text_of(tok, origin.tree) == origin.data
        str(origin)
    if ranks:  # what is merged from a token is found by its bytes, without taking every token apart
        parts = {i: tok.why(i).parts or () for i in tok.vocab}
        for i in (*parts,)[ord("a") : ord("c")] + (*parts,)[256:]:
            uses = [new for new, both in parts.items() if i in both]
            assert (list(tok.why(i).used_in), tok.why(i).n_used_in) == (uses[:20], len(uses))


@given(st.one_of(byte_options(), marked_byte_options(), character_options()), corpora, st.one_of(raw_bytes, strings))
def test_why_not_against_the_reference(how: Options, corpus: list[str | bytes], text: bytes) -> None:
    if not text:
        return
    tok = train_both(corpus, how)[0]
    found = tok.why_not(text)
    str(found)
    found.to_json()
    pretokens = tok.pretokens(text)
    if found.reason == "special":
        assert text.decode() in tok.specials
        return
    try:
        ids = tok.encode(text)
    except bytepair.UnknownTokenError:
        assert found.reason == "unknown"
        return
    assert found.ids == tuple(ids)
    if tok.unk_id is not None and tok.unk_id in ids:
        assert found.reason == "unknown"
    elif not ids:
        assert found.reason == "dropped"
    elif len(ids) == 1:
        assert found.reason == "token"
    elif len(pretokens) != 1:
        assert found.reason == "border"
        assert list(found.pretokens) == pretokens
    elif is_token(tok, pretokens[0]):
        assert found.reason == "overtaken"
    else:
        counts = places(tok, pretokens[0])
        assert found.count == counts[0]
        assert found.free == counts[1]
        expected = (
            "absent" if counts[0] == 0
            else "rare" if counts[0] < how.min_freq
            else "taken" if counts[1] < how.min_freq
            else "full"
        )  # fmt: skip
        assert sum(t.count or 0 for t in found.taken_by) == counts[0] - counts[1]
        if expected == "full" and found.reason == "limited":
            assert how.max_token_length is not None or how.limit_alphabet is not None
        else:
            assert found.reason == expected


def is_token(tok: bytepair.Tokenizer, word: bytes) -> bool:
    """Whether some merge makes it, with the mark where words have one."""
    v = tok._vocabulary
    return any(v.tokens[new] == word and ends_as_words_do(tok, new) for _, _, new in v.merges)


def ends_as_words_do(tok: bytepair.Tokenizer, i: int) -> bool:
    return (i in tok._vocabulary.marked) == (tok._vocabulary.alphabet.end_of_word is not None)


def places(tok: bytepair.Tokenizer, text: bytes) -> tuple[int, int]:
    """How often the text stands in the corpus, and how often the tokens of the corpus still cut it out cleanly.

    Where words end with a mark the string's token would too, so that only ends of words count. A place must begin and
    end where first symbols do: between two characters, where those are the alphabet.
    """
    assert tok.record is not None
    v = tok._vocabulary
    marked = v.alphabet.end_of_word is not None
    *_, last = tok.record.replay()
    count = free = 0
    for (symbols, times), (ids, _) in zip(tok.record.words(0), last):
        word = b"".join(v.tokens[i] for i in symbols)
        first = {sum(len(v.tokens[i]) for i in symbols[:k]) for k in range(len(symbols) + 1)}
        borders = {sum(len(v.tokens[i]) for i in ids[:k]) for k in range(len(ids) + 1)}
        for at in range(len(word) - len(text) + 1):
            end = at + len(text)
            if word[at:end] != text or not {at, end} <= first or (marked and end < len(word)):
                continue
            count += times
            free += times * (at in borders and end in borders)
    return count, free


@given(byte_options(), corpora, documents)
def test_canonical_ids(how: Options, corpus: list[str | bytes], text: str | bytes) -> None:
    tok = train_both(corpus, how)[0]
    ids = tok.encode(text, special="all")
    assert tok.is_canonical(ids)
    explained = tok.explain_ids(ids)
    shown = "".join(one.characters for one in explained.ids)
    rest = explained.ids[-1].waiting if ids else b""
    assert shown + rest.decode("utf-8", "replace") == tok.decode(ids)
    for at, i in enumerate(ids):
        if tok.merges is None or i not in tok.merges.values():
            continue
        left, right = next(pair for pair, new in tok.merges.items() if new == i)
        split = [*ids[:at], left, right, *ids[at + 1 :]]
        found = tok.is_canonical(split)
        assert not found
        assert found.place == next(k for k, (a, b) in enumerate(zip(split, ids)) if a != b)
        joined = [b"".join(tok.vocab[i] for i in part) for part in (found.given, found.expected)]
        assert joined[0] == joined[1]


@given(byte_options(), corpora, raw_bytes)
def test_prefixes(how: Options, corpus: list[str | bytes], prefix: bytes) -> None:
    tok = train_both(corpus, how)[0]
    for cut in range(min(len(prefix), 4) + 1):
        found = tok.tokens_with_prefix(prefix[:cut])
        assert set(found) == {i for i, t in tok.vocab.items() if t.startswith(prefix[:cut]) and not tok.is_special(i)}
        assert [tok.vocab[i] for i in found] == sorted(tok.vocab[i] for i in found)


def test_the_articles_corpus_against_the_reference() -> None:
    """Where each string of the first article's corpus stands, counted with nothing but the reference."""
    text = "low low lower lowest"
    tok = bytepair.train(text, num_merges=4)
    model = ref.train(text, vocab_size=266, pattern=ref.gpt2)
    words = Counter(ref.pretokens(text, ref.gpt2))
    strings = {w[a:b] for w in words for a in range(len(w)) for b in range(a + 1, len(w) + 1)}
    assert len(strings) > 30
    for string in sorted(strings):
        found = tok.why_not(string)
        is_token = string.encode() in model.vocab.values()
        assert (found.reason == "token") == is_token, string
        if not is_token:
            assert found.count == sum(n * w.count(string) for w, n in words.items()), string
