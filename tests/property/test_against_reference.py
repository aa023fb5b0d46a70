"""The tokenizer held equal to ``bytepair.reference``: training, its record, encoding by both rules, decoding, cut."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import (
    BAD_BYTES,
    PATTERNS,
    SPECIALS,
    Options,
    byte_options,
    character_options,
    corpora,
    documents,
    merge_lists,
    options,
    rank_lists,
    raw_bytes,
    special_texts,
    texts,
    train_both,
    words,
)

import bytepair
from bytepair import reference as ref


def corpus_before(model: ref.Model, corpus: list[str | bytes], step: int) -> list[tuple[list[int], int]]:
    """Words and counts before merge ``step``, by replaying the merges."""
    counted = ref.count_words(corpus, model, model.specials)
    replayed = [(ids, count) for word, count in counted.items() if (ids := ref.start_ids(model, word))]
    for pair, new_id in list(model.merges.items())[:step]:
        replayed = [(ref.merge(ids, pair, new_id), count) for ids, count in replayed]
    return replayed


def by_count(corpus: list[tuple[list[int], int]]) -> list[tuple[tuple[int, int], int]]:
    """Pair counts, highest first; equal ones stay in the order of their first places."""
    return sorted(ref.count_pairs(corpus).items(), key=lambda entry: -entry[1])


def encode_or_none(model: ref.Model, text: str | bytes, **options: object) -> list[int] | None:
    """What the reference says, or None where a character is unknown and that is an error."""
    try:
        return ref.encode(model, text, **options)
    except LookupError:
        return None


# ---- Training ----


@given(corpora, options)
def test_training_learns_the_same(corpus: list[str | bytes], options: Options) -> None:
    tok, model = train_both(corpus, options)
    assert list(tok.merges.items()) == list(model.merges.items())
    assert dict(tok.specials) == model.specials
    assert tok.vocab_size == len(model.vocab)
    mergeable = [token for token in model.vocab if token not in model.specials.values()]
    assert [tok.vocab.get(token, b"") for token in mergeable] == [model.vocab[token] for token in mergeable]
    assert list(tok.ranks.items()) == [(pair, rank) for rank, pair in enumerate(model.merges)]


@given(corpora, options)
def test_the_record_tells_the_same(corpus: list[str | bytes], options: Options) -> None:
    tok, model = train_both(corpus, options)
    record = tok.record
    assert len(record) == len(model.steps)
    final = corpus_before(model, corpus, len(record))
    for place, expected in enumerate(model.steps):
        step = record[place]
        assert (step.step, step.left, step.right, step.new_id) == (
            place,
            expected.left,
            expected.right,
            expected.new_id,
        )
        assert (step.count, step.tied, step.length_after) == (expected.count, expected.tied, expected.length_after)
        assert step.bytes == model.vocab[step.new_id]
        assert step.frequency == sum(ids.count(step.new_id) * count for ids, count in final)
        assert 1 <= len(step.examples) <= 3
        assert all(step.bytes in example for example in step.examples)
        state = corpus_before(model, corpus, place)
        assert record.words(place) == [(tuple(ids), count) for ids, count in state]
        assert record.pair_counts(place) == by_count(state)
    assert record.words(len(record)) == [(tuple(ids), count) for ids, count in final]
    lengths = dict.fromkeys(model.start.values(), 1)
    numbers = ref.start_numbers(model, options.convention)
    for (left, right), new_id in model.merges.items():
        lengths[new_id] = lengths[left] + lengths[right]
        numbers[new_id] = len(numbers)
    limit = options.max_token_length or 10**9
    left_over = [
        (pair, count)
        for pair, count in by_count(final)
        if all(part in lengths for part in pair) and sum(lengths[part] for part in pair) <= limit
    ]
    best = max(
        left_over,
        key=lambda entry: (entry[1], *ref.preference(model, entry[0], options.convention, numbers)),
        default=None,
    )
    assert record.best_left == best
    assert record.length_before == sum(len(ids) * count for ids, count in corpus_before(model, corpus, 0))


@given(corpora, options, st.integers(0, 4))
def test_vocab_size_counts_every_id(corpus: list[str | bytes], options: Options, above: int) -> None:
    """vocab_size = floor + n is num_merges = n, and one under the floor is refused with the floor named."""
    tok, model = train_both(corpus, options)
    floor = len(model.vocab) - len(model.merges)
    assume(floor > 0)
    above = min(above, len(model.merges))
    sized = {**options.keywords(), "num_merges": None}
    again = bytepair.train(corpus, **{**sized, "vocab_size": floor + above})
    assert list(again.merges) == [tuple(pair) for pair in list(tok.merges)[:above]]
    with pytest.raises(bytepair.BytepairError, match=str(floor)):
        bytepair.train(corpus, **{**sized, "vocab_size": floor - 1})


@given(corpora, options, st.integers(0, 15))
def test_a_cut_is_a_shorter_training(corpus: list[str | bytes], options: Options, keep: int) -> None:
    tok, model = train_both(corpus, options)
    keep = min(keep, len(model.merges))
    size = len(model.vocab) - len(model.merges) + keep
    short = tok.cut(size)
    assert list(short.merges.items()) == list(model.merges.items())[:keep]
    assert dict(short.specials) == model.specials
    if options.layout == "specials-first" or not model.specials:
        assert short == bytepair.train(corpus, **{**options.keywords(), "num_merges": keep})


@given(corpora, options, st.integers(1, 3))
def test_neither_threads_nor_chunks_nor_form_show(corpus: list[str | bytes], options: Options, threads: int) -> None:
    tok, _ = train_both(corpus, options)
    keywords = {**options.keywords(), "num_merges": len(tok.merges)}
    as_bytes = [text.encode() if isinstance(text, str) else text for text in corpus]
    assert bytepair.train(as_bytes, threads=threads, **keywords) == tok
    assert bytepair.train(iter(corpus), threads=threads, **keywords) == tok


# ---- Encoding and decoding what was trained ----


@given(corpora, options, documents)
def test_encoding_by_the_merge_rule(corpus: list[str | bytes], options: Options, text: str | bytes) -> None:
    tok, model = train_both([*corpus, text] if len(corpus) % 2 else corpus, options)
    expected = encode_or_none(model, text)
    if expected is None:
        with pytest.raises(bytepair.UnknownTokenError):
            tok.encode(text)
        with pytest.raises(bytepair.UnknownTokenError):
            tok.count(text)
        return
    assert tok.encode(text) == expected
    assert tok.encode_array(text).tolist() == expected
    assert tok.count(text) == len(expected)
    if options.unknown == "bytes":  # an unseen character is one piece, whatever its tokens
        assert b"".join(tok.pieces(text)) == b"".join(model.vocab[token] for token in expected)
    else:
        assert tok.pieces(text) == [model.vocab[token] for token in expected]
    assert tok.pretokens(text) == [
        word.encode("utf-8", "surrogateescape")
        for word in ref.pretokens(ref.as_text(text), model.pattern)
        if not (options.end_of_word and word.isspace())
    ]
    assert list(tok.encode_iter([text[:7], text[7:8], text[8:]])) == expected
    assert tok.decode_bytes(expected) == ref.decode(model, expected)
    assert tok.decode(expected) == ref.decode(model, expected).decode(errors="replace")


@given(corpora, byte_options(), st.lists(documents, max_size=6), st.integers(1, 3))
def test_batches_are_many_single_calls(
    corpus: list[str | bytes], options: Options, batch: list[str | bytes], threads: int
) -> None:
    tok, model = train_both(corpus, options)
    expected = [ref.encode(model, text) for text in batch]
    assert tok.encode_batch(batch, threads=threads) == expected
    ragged = tok.encode_batch_array(batch, threads=threads)
    offsets = ragged.offsets.tolist()
    assert offsets[0] == 0
    assert [ragged.ids[a:b].tolist() for a, b in pairwise(offsets)] == expected
    assert list(tok.count_batch(batch)) == [len(ids) for ids in expected]
    assert tok.decode_batch(expected) == [ref.decode(model, ids).decode(errors="replace") for ids in expected]


@given(corpora, byte_options(), documents)
def test_bytes_lose_nothing(corpus: list[str | bytes], options: Options, text: str | bytes) -> None:
    tok, _ = train_both(corpus, options)
    data = text.encode() if isinstance(text, str) else text
    assert tok.lossless
    assert tok.decode_bytes(tok.encode(text)) == data
    assert b"".join(tok.pieces(text)) == data
    assert b"".join(tok.pretokens(text)) == data


@given(corpora, character_options(), documents)
def test_characters_lose_only_what_they_say(corpus: list[str | bytes], options: Options, text: str | bytes) -> None:
    tok, model = train_both(corpus, options)
    assert tok.lossless == (options.end_of_word is None and options.unknown != "<unk>")
    ids = encode_or_none(model, text)
    assume(ids is not None and tok.unk_id not in ids)
    data = text.encode() if isinstance(text, str) else text
    if options.end_of_word is not None:
        pretokens = ref.pretokens(data.decode("utf-8", "surrogateescape"), model.pattern)
        data = " ".join(word for word in pretokens if not word.isspace()).encode("utf-8", "surrogateescape")
    assert tok.decode_bytes(tok.encode(text)) == data


@given(corpora, options, st.lists(st.integers(0, 400), max_size=8), st.booleans())
def test_decoding_any_ids(corpus: list[str | bytes], options: Options, draws: list[int], skip: bool) -> None:
    """Ids that no text gives: halves of characters, special tokens anywhere, and numbers that are no ids."""
    tok, model = train_both(corpus, options)
    ids = [token for token in draws if token < len(model.vocab)]
    expected = ref.decode(model, ids, skip_specials=skip)
    assert tok.decode_bytes(ids, skip_specials=skip) == expected
    assert tok.decode(ids, skip_specials=skip) == expected.decode(errors="replace")
    with pytest.raises(bytepair.UnknownTokenError, match=str(len(model.vocab))):
        tok.decode_bytes([*ids, len(model.vocab)])


# ---- Special tokens and text ----


@given(corpora, byte_options(), st.one_of(documents, special_texts), st.sets(st.sampled_from(SPECIALS)))
def test_special_policies(corpus: list[str | bytes], options: Options, text: str | bytes, chosen: set[str]) -> None:
    tok, model = train_both(corpus, options)
    allowed = chosen & set(tok.specials)
    everything = ref.encode(model, text, special="all")
    assert tok.encode(text, special="text") == ref.encode(model, text)
    assert tok.encode(text, special="all") == everything
    assert tok.encode(text, special=allowed) == ref.encode(model, text, special=allowed)
    if any(is_special for _, is_special in ref.cut_at_specials(ref.as_text(text), model.specials)):
        with pytest.raises(bytepair.SpecialTokenError):
            tok.encode(text, special="error")
    else:
        assert tok.encode(text, special="error") == everything


@given(corpora, byte_options(), documents)
def test_bos_and_eos(corpus: list[str | bytes], options: Options, text: str | bytes) -> None:
    tok, model = train_both(corpus, options)
    if "<bos>" in model.specials:
        expected = ref.encode(model, text, add_bos=True, add_eos=True)
        assert tok.encode(text, add_bos=True, add_eos=True) == expected
        assert tok.encode_array(text, add_bos=True, add_eos=True).tolist() == expected
    else:
        with pytest.raises(bytepair.SpecialTokenError):
            tok.encode(text, add_bos=True)


lone_surrogates = st.lists(st.sampled_from(["a", "é", "👍", " ", "\ud800", "\udbff", "\udc80", "\udcff"]), max_size=8)


@given(lone_surrogates.map("".join))
def test_lone_surrogates(text: str) -> None:
    tok = bytepair.Tokenizer.from_merges([(b"a", b" "), (b"\xc3", b"\xa9")], pattern="gpt2")
    lone = re.search("[\ud800-\udfff]", text)
    calls = (tok.encode, lambda text, **keywords: tok.encode_array(text, **keywords).tolist())
    for call in calls:
        if lone is None:
            assert call(text) == call(text.encode())
        else:
            with pytest.raises(bytepair.TextError, match=rf"\b{lone.start()}\b"):
                call(text)
        assert call(text, errors="replace") == call(re.sub("[\ud800-\udfff]", "\ufffd", text))
        outside = re.search("[\ud800-\udc7f\udd00-\udfff]", text)
        if outside is None:
            assert call(text, errors="surrogateescape") == call(text.encode("utf-8", "surrogateescape"))
        else:
            with pytest.raises(bytepair.TextError, match=rf"\b{outside.start()}\b"):
                call(text, errors="surrogateescape")


@given(st.one_of(texts, raw_bytes), st.sampled_from(sorted(PATTERNS)))
def test_pretokens(text: str | bytes, pattern: str) -> None:
    tok = bytepair.Tokenizer.from_merges([], pattern=pattern)
    expected = [piece.encode("utf-8", "surrogateescape") for piece in PATTERNS[pattern](ref.as_text(text))]
    assert tok.pretokens(text) == expected


@pytest.mark.parametrize("bad", BAD_BYTES)
def test_invalid_bytes_between_everything(bad: bytes) -> None:
    for pattern, reference in PATTERNS.items():
        tok = bytepair.Tokenizer.from_merges([], pattern=pattern)
        for data in (bad, b"a" + bad, bad + b"a", b" " + bad + b" ", b"'s" + bad + b"'s", bad * 3, b"1" + bad + b"\n"):
            pieces = reference(data.decode("utf-8", "surrogateescape"))
            assert tok.pretokens(data) == [piece.encode("utf-8", "surrogateescape") for piece in pieces]


# ---- Foreign vocabularies ----


@given(merge_lists(), words)
def test_any_merge_list(pairs: list[tuple[bytes, bytes]], text: str) -> None:
    tok = bytepair.Tokenizer.from_merges(pairs, pattern="none")
    ids = {bytes([b]): b for b in range(256)}
    merges: dict[tuple[int, int], int] = {}
    for left, right in pairs:
        merges[ids[left], ids[right]] = ids[left + right] = len(ids)
    assert list(tok.merges.items()) == list(merges.items())
    *_, expected = ref.passes(list(text.encode()), merges)
    assert tok.encode(text) == expected
    assert bytepair.Tokenizer.from_merges(list(merges), pattern="none") == tok


@given(rank_lists, words)
def test_any_ranks(tokens: list[bytes], text: str) -> None:
    ranks = {bytes([b]): b for b in range(256)} | {token: 256 + place for place, token in enumerate(tokens)}
    expected = ref.encode_ranks(ranks, text.encode())
    tok = bytepair.Tokenizer.from_ranks(ranks, pattern="none")
    assert tok.rule == "ranks"
    assert tok.merges is None
    assert tok.encode(text) == expected
    assert tok.count(text) == len(expected)


@given(corpora, byte_options(), documents)
def test_both_rules_agree_on_what_was_trained(corpus: list[str | bytes], options: Options, text: str | bytes) -> None:
    """So exporting a trained tokenizer as ranks loses nothing: lowest id first is earliest merge first."""
    _, model = train_both(corpus, options)
    order = [token for token in model.vocab if token not in model.specials.values()]
    ranks = {model.vocab[token]: rank for rank, token in enumerate(order)}
    assert len(ranks) == len(order), "training made two tokens with the same bytes"
    tok = bytepair.Tokenizer.from_ranks(ranks, pattern=options.pattern)
    assert [order[rank] for rank in tok.encode(text)] == ref.encode(model, text)
