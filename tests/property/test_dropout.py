"""BPE-dropout: equal to its definition, on every path, and random as it should be."""

from __future__ import annotations

import random
import time
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import documents, special_texts

import bytepair
from bytepair import _engine, _pure
from bytepair import reference as ref
from bytepair.errors import BytepairError

CORPUS = "low lower lowest the then there these is his this " * 4 + "hiss hisses — żółć 你好你好 \n\n  end "
PROBABILITIES = st.sampled_from([0.01, 0.1, 0.3, 0.5, 0.9, 1.0])
SEEDS = st.integers(0, 2**64 - 1)


def trained(**options: Any) -> bytepair.Tokenizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bytepair.BytepairNotice)
        return bytepair.train(CORPUS, num_merges=60, **options)


TOK = trained()
MARKED = trained(alphabet="characters", end_of_word="fused", unknown="bytes")
LISTED = trained(pattern=r"(?=(t))\1|.(?<!z.)")  # a look-ahead and a look-behind: cut outside of the core


def ranked() -> bytepair.Tokenizer:
    """Irregular ranks: `abc` is made of `ab` and `c` or of `a` and `bc`, and of parts that come later."""
    texts = [b"bc", b"ab", b"abc", b"cc", b"abcabc", b"aa", b"aaa", b" a", b" ab"]
    return bytepair.Tokenizer.from_ranks(
        {**{bytes([b]): b for b in range(256)}, **{text: 256 + k for k, text in enumerate(texts)}}, pattern="gpt2"
    )


RANKED = ranked()
ALL = [TOK, MARKED, LISTED, RANKED]


@given(documents, PROBABILITIES, SEEDS)
def test_it_is_what_the_reference_says(text: str | bytes, dropout: float, seed: int) -> None:
    try:
        data = text if isinstance(text, bytes) else text.encode()
    except UnicodeEncodeError:
        return
    expected: list[int] = []
    at = 0
    for word in TOK.pretokens(data):
        start = [TOK.byte_base + byte for byte in word]
        expected += ref.dropout(start, TOK.merges, dropout, seed, at)
        at += len(word)
    assert TOK.encode(data, dropout=dropout, seed=seed) == expected


@pytest.mark.parametrize("tok", ALL)
@settings(max_examples=40)
@given(text=st.one_of(documents, special_texts), dropout=PROBABILITIES, seed=SEEDS)
def test_every_way_gives_the_same_ids(tok: bytepair.Tokenizer, text: Any, dropout: float, seed: int) -> None:
    how = {"dropout": dropout, "seed": seed, "errors": "surrogateescape"}
    ids = tok.encode(text, **how)
    assert tok.encode_array(text, **how).tolist() == ids
    assert tok.encode_with_offsets(text, **how)[0] == ids
    assert tok.count(text, **how) == len(ids)
    cuts = [text[k : k + 3] for k in range(0, len(text), 3)]
    assert list(tok.encode_iter(cuts, **how)) == ids
    rows = tok.encode_batch([text, "x", text], **how)
    assert rows[0] == ids
    assert rows[2] == tok.encode(text, dropout=dropout, seed=(seed + 2) % 2**64, errors="surrogateescape")
    assert tok.count_batch([text, "x", text], **how) == list(map(len, rows))
    if tok.lossless:
        assert tok.decode_bytes(ids) == (text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape"))
        assert b"".join(tok.pieces(text, **how)) == tok.decode_bytes(ids)


@given(special_texts, PROBABILITIES, SEEDS)
def test_specials_stay_whole(text: str, dropout: float, seed: int) -> None:
    ids = TOK.encode(text, special="all", dropout=dropout, seed=seed, add_bos=True, add_eos=True)
    plain = TOK.encode(text, special="all", add_bos=True, add_eos=True)
    assert [i for i in ids if TOK.is_special(i)] == [i for i in plain if TOK.is_special(i)]
    assert list(TOK.encode_iter([text[:2], text[2:]], special="all", dropout=dropout, seed=seed)) == ids[1:-1]


@pytest.mark.parametrize("tok", [TOK, MARKED, RANKED])
def test_nothing_left_out_is_plain_encoding_and_all_is_the_alphabet(tok: bytepair.Tokenizer) -> None:
    assert tok.encode(CORPUS, dropout=0.0) == tok.encode(CORPUS, dropout=0) == tok.encode(CORPUS)
    least = tok.encode(CORPUS, dropout=1.0)
    assert set(least) <= {*tok._vocabulary.base, *tok._vocabulary.fallback}
    assert tok.decode(least) == tok.decode(tok.encode(CORPUS))
    # So seldom that none is left out here.
    if tok is not RANKED:
        assert tok.encode(CORPUS, dropout=1e-12, seed=1) == tok.encode(CORPUS)


def test_what_stands_around_the_text_counts_in_the_normalised_text(tmp_path: Any) -> None:
    peers = pytest.importorskip("tokenizers")
    made = peers.Tokenizer(peers.models.BPE())
    made.normalizer = peers.normalizers.Lowercase()
    made.pre_tokenizer = peers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = peers.decoders.ByteLevel()
    made.train_from_iterator(
        [CORPUS],
        peers.trainers.BpeTrainer(
            vocab_size=300, special_tokens=["<s>"], initial_alphabet=peers.pre_tokenizers.ByteLevel.alphabet()
        ),
    )
    made.add_tokens(["LOW"])
    made.save(str(tmp_path / "tokenizer.json"))
    tok = bytepair.load(tmp_path / "tokenizer.json")
    text = "The LOW lowest of LOW these<s>Lower His THIS hisses"
    for seed in range(20):
        how: dict[str, Any] = {"dropout": 0.3, "seed": seed, "special": "all"}
        ids = tok.encode(text, **how)
        assert tok.encode_array(text, **how).tolist() == ids == list(tok.encode_iter([text[:9], text[9:]], **how))
        assert tok.encode_with_offsets(text, **how)[0] == ids
        how["seed"] -= 1 if seed else 0
        assert tok.encode_batch(["x", text], **how)[1] == ids or not seed
        assert tok.decode(ids, skip_specials=False).replace(" ", "") == "thelowlowestoflowthese<s>lowerhisthishisses"


def test_arrow_rows_are_numbered_through() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    texts = ["the lowest", "lower this", "hisses there"]
    rows = pyarrow.chunked_array([texts[:1], texts[1:]])
    found = TOK.encode_batch(rows, dropout=0.4, seed=5)
    assert found == TOK.encode_batch(texts, dropout=0.4, seed=5)


def test_threads_do_not_matter() -> None:
    texts = [CORPUS * 40, "", *[CORPUS * k for k in range(12)]]
    rows = [TOK.encode_batch_array(texts, dropout=0.2, seed=9, threads=n) for n in (1, 2, 8)]
    assert all(np.array_equal(rows[0].ids, row.ids) and np.array_equal(rows[0].offsets, row.offsets) for row in rows)
    assert rows[0].to_lists() == [TOK.encode(text, dropout=0.2, seed=9 + i) for i, text in enumerate(texts)]


def test_without_a_seed_each_call_differs() -> None:
    assert len({tuple(TOK.encode(CORPUS, dropout=0.3)) for _ in range(5)}) == 5
    assert TOK.encode(CORPUS, dropout=0.3, seed=4) == TOK.encode(CORPUS, dropout=0.3, seed=4)
    assert TOK.encode(CORPUS, dropout=0.3, seed=4) != TOK.encode(CORPUS, dropout=0.3, seed=5)


def test_texts_that_must_fit_take_it_too() -> None:
    how: dict[str, Any] = {"dropout": 0.4, "seed": 2}
    for most in range(1, 30):
        beginning = TOK.truncate(CORPUS, most, **how)
        assert CORPUS.startswith(beginning)
        assert TOK.count(beginning, **how) <= most
    for chunk, start, end in TOK.chunks(CORPUS[:200], 12, 3, **how):
        assert chunk == CORPUS[start:end]
        assert TOK.count(chunk, **how) <= 12


def test_a_place_is_left_out_as_often_as_asked() -> None:
    """One pair: it merges unless its one place is left out, in a single step."""
    tok = bytepair.Tokenizer.from_merges([(b"a", b"b")], pattern=bytepair.Pattern("ab"))
    n = 20_000
    ids = tok.encode("ab" * n, dropout=0.3, seed=11)
    left_out = len(ids) - n
    # Binomial: six standard deviations.
    assert abs(left_out - 0.3 * n) < 6 * (n * 0.3 * 0.7) ** 0.5
    # Neighbours know nothing of each other: as many pairs of equal ones as chance gives.
    whole = [i == ids[0] or i >= 256 for i in ids]
    runs = sum(a != b for a, b in zip(whole, whole[1:]))
    assert runs > 0.3 * n


def test_the_tokens_per_text_are_those_of_tokenizers() -> None:
    peers = pytest.importorskip("tokenizers")
    shown = "".join(TOK.vocab[i].decode("latin-1") if len(TOK.vocab[i]) == 1 else "" for i in range(6, 262))
    letters = {bytes([b]): chr(0x100 + b) for b in range(256)}
    write = lambda i: "".join(letters[bytes([b])] for b in TOK.vocab[i])  # noqa: E731
    assert len(shown) == 256
    vocab = {write(i): i - 6 for i in range(6, TOK.n_rows)}
    merges = [(write(a), write(b)) for a, b in TOK.merges]
    words = [b"lowest", b" these", b" hisses", b" the"]
    for dropout in (0.1, 0.5):
        theirs = peers.models.BPE(vocab=vocab, merges=merges, dropout=dropout)
        model = peers.Tokenizer(theirs)
        for word in words:
            n = 1500
            text = "".join(letters[bytes([b])] for b in word)
            peer = [len(model.encode(text).ids) for _ in range(n)]
            ours = [TOK.count(word, dropout=dropout, seed=seed) for seed in range(n)]
            spread = (np.var(peer) / n + np.var(ours) / n) ** 0.5
            # tokenizers draws for places that are gone too, which moves it a little at high probabilities.
            assert abs(np.mean(peer) - np.mean(ours)) < 6 * spread + 0.15 * dropout * len(word) / 2


def test_merges_that_share_a_rank_are_drawn_once_a_place() -> None:
    pairs = {(0, 0): (0, 1), (0, 1): (0, 2), (1, 0): (0, 3), (1, 1): (0, 4), (2, 0): (1, 5)}
    table = _engine.PairTable.of_merges(
        *[np.array(column, dtype=np.uint32) for column in zip(*[(a, b, new) for (a, b), (_, new) in pairs.items()])],
        np.array([rank for rank, _ in pairs.values()], dtype=np.uint32),
    )
    alphabet = _engine.Alphabet.of_bytes([0] * 256, [], 0xFFFFFFFF)
    for whole_rank in (False, True):
        encoder = _engine.DropoutEncoder(alphabet, table, whole_rank, None, None)
        for n in (*range(1, 30), 100):
            for seed in range(30):
                ends = np.array([n], dtype=np.int64)
                got = encoder.encode_ends(b"x" * n, ends, seed, 1 << 52, 0).tolist()
                assert got == plainly(pairs, [0] * n, whole_rank, seed)


def plainly(pairs: Any, symbols: list[int], whole_rank: bool, seed: int) -> list[int]:
    numbers = ref.random_numbers(seed, 0)
    while True:
        places = sorted((pairs[pair][0], i) for i, pair in enumerate(zip(symbols, symbols[1:])) if pair in pairs)
        merging: list[int] = []
        lowest = -1
        for rank, i in places:
            if merging and (not whole_rank or rank != lowest):
                break
            if merging and merging[-1] + 1 == i:
                continue
            if next(numbers) >= 0.5:
                merging.append(i)
                lowest = rank
        if not merging:
            return symbols
        for i in reversed(merging):
            symbols = [*symbols[:i], pairs[symbols[i], symbols[i + 1]][1], *symbols[i + 2 :]]


def test_pure_equals_core() -> None:
    if _engine.NAME != "core":
        pytest.skip("there is no compiled core to compare with")
    draw = random.Random(3)
    from unittest import mock

    from bytepair import _codec, _dropout

    for tok in (TOK, MARKED, RANKED):
        with mock.patch.multiple(_engine, **{name: getattr(_pure, name) for name in _pure.__all__}):
            codec = _codec.Codec(tok._vocabulary, tok.pattern)
            vars(codec)["splitter"] = None  # kept with the pattern, and the core's
            engine = _dropout.engine_encoder(codec)
        for _ in range(30):
            at = draw.randrange(len(CORPUS))
            text, seed, threshold = CORPUS[at : at + 90], draw.getrandbits(64), draw.getrandbits(53)
            pure = engine.encode_ends(text, np.array(tok.pattern.ends(text.encode())), seed, threshold, at)
            assert pure.tolist() == tok._dropout_encoder.encode(text, None, seed, threshold, at).tolist()


@pytest.mark.parametrize("dropout", [-0.1, 1.5, float("nan"), "0.1", True])
def test_a_wrong_probability_is_refused(dropout: Any) -> None:
    with pytest.raises(BytepairError, match=r"from 0 .* to 1"):
        TOK.encode("a", dropout=dropout)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "1", True])
def test_a_wrong_seed_is_refused(seed: Any) -> None:
    with pytest.raises(BytepairError, match="seed is"):
        TOK.encode("a", dropout=0.1, seed=seed)


def test_a_long_pretoken_takes_about_linear_time() -> None:
    if _engine.NAME != "core":
        pytest.skip("growth is the core's")
    tok = trained(pattern="none")
    text = "".join(random.Random(1).choices("thelowsi r", k=30_000))

    def seconds(n: int) -> float:
        best = 1e9
        for _ in range(3):
            start = time.process_time()
            tok.encode_array(text * n, dropout=0.3, seed=1)
            best = min(best, time.process_time() - start)
        return best

    seconds(1)
    assert seconds(8) < 4 * 6 * max(seconds(2), 1e-3)
