"""Both articles' worked examples, step by step, through explain, why, why_not and replay."""

from __future__ import annotations

import warnings

import pytest

import bytepair
from bytepair.explain import example_corpus, replay


def example(name: str) -> bytepair.Tokenizer:
    corpus, options = example_corpus(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bytepair.BytepairNotice)
        return bytepair.train(corpus, **options)


@pytest.fixture(scope="module")
def one() -> bytepair.Tokenizer:
    return example("bytes")


@pytest.fixture(scope="module")
def two() -> bytepair.Tokenizer:
    return example("classic")


# ---- article 1 ----


def test_training_of_article_1(one: bytepair.Tokenizer) -> None:
    """Steps 3 to 10: the counts, the merge, and what it leaves of each pretoken."""
    lowest = [
        (38, 114, 117, 125, 107, 121, 122),
        (38, 262, 125, 107, 121, 122),
        (38, 263, 107, 121, 122),
        (264, 107, 121, 122),
        (265, 121, 122),
    ]
    counts = [
        {(114, 117): 4, (117, 125): 4, (38, 114): 3, (125, 107): 2},
        {(262, 125): 4, (38, 262): 3, (125, 107): 2},
        {(38, 263): 3, (263, 107): 2},
        {(264, 107): 2},
        {},
    ]
    winners = [(114, 117, 262), (262, 125, 263), (38, 263, 264), (264, 107, 265)]
    frames = replay(one)
    assert len(frames) == 5
    for frame, counted, word in zip(frames, counts, lowest, strict=True):
        assert {pair: n for pair, n in frame.pairs if n > 1} == counted
        assert [ids for ids, _ in frame.before][-1] == word
        assert all(n == 1 for _, n in frame.before)
    assert [(f.winner.left, f.winner.right, f.winner.new_id) for f in frames[:-1]] == winners
    assert [f.tied for f in frames] == [((114, 117), (117, 125)), (), (), (), frames[4].tied]
    assert {n for _, n in frames[4].pairs} == {1}
    assert [ids for ids, _ in frames[4].before] == [(263,), (264,), (265, 120), (265, 121, 122)]
    assert frames.stopped


def test_encoding_of_article_1(one: bytepair.Tokenizer) -> None:
    """Step 12: 'lowest' in three passes, and the encodings of step 11."""
    [word] = one.explain("lowest").pretokens
    assert word.states() == [(114, 117, 125, 107, 121, 122), (262, 125, 107, 121, 122), (263, 107, 121, 122)]
    assert [(s.rank, s.left, s.right, s.new) for s in word.steps] == [(0, 114, 117, 262), (1, 262, 125, 263)]
    table = {"low": [263], " low": [264], " lower": [265, 120], " lowest": [265, 121, 122]}
    for text, ids in table.items():
        assert one.explain(text).ids == ids
    assert [p.ids for p in one.explain("low low lower lowest").pretokens] == [tuple(ids) for ids in table.values()]
    ids = one.encode("lowest", add_bos=True, add_eos=True)
    explained = one.explain_ids(ids)
    assert [(e.id, e.kind, e.characters) for e in explained.ids] == [
        (1, "special", "<bos>"), (263, "token", "low"), (107, "symbol", "e"), (121, "symbol", "s"),
        (122, "symbol", "t"), (2, "special", "<eos>"),
    ]  # fmt: skip
    assert explained.canonical


def test_tokens_of_article_1(one: bytepair.Tokenizer) -> None:
    for rank, (text, parts, count, frequency) in enumerate(
        [
            (b"lo", (114, 117), 4, 0),
            (b"low", (262, 125), 4, 1),
            (b" low", (38, 263), 3, 1),
            (b" lowe", (264, 107), 2, 2),
        ]
    ):
        origin = one.why(text)
        assert (origin.rank, origin.parts, origin.step.count, origin.step.frequency) == (rank, parts, count, frequency)
        assert origin.tree.symbols == len(text)
        assert [leaf.id for leaf in origin.tree.leaves()] == [6 + byte for byte in text]
    st = one.why_not("st")
    assert (st.reason, st.count, st.needed) == ("rare", 1, 2)
    lowe = one.why_not("lowe")
    assert (lowe.reason, lowe.count, lowe.free) == ("taken", 2, 0)
    assert [(t.left, t.right, t.count) for t in lowe.taken_by] == [(38, 263, 2)]


def test_the_order_of_merges_decides_ids_and_not_the_round_trip(one: bytepair.Tokenizer) -> None:
    """Article 1 says that re-sorting breaks the round trip: the ids change, the text comes back."""
    pairs = [(one.vocab[a], one.vocab[b]) for a, b in one.merges]
    with pytest.warns(bytepair.BytepairNotice, match="order"):
        other = bytepair.Tokenizer.from_merges(pairs[::-1], specials=bytepair.AL1_SPECIALS, pattern="al1")
    assert one.encode("lowest") != other.encode("lowest")
    assert one.decode(one.encode("lowest")) == other.decode(other.encode("lowest")) == "lowest"
    abc = [(b"a", b"b"), (b"b", b"c")]
    pieces = [bytepair.Tokenizer.from_merges(merges).pieces("abc") for merges in (abc, abc[::-1])]
    assert pieces == [[b"ab", b"c"], [b"a", b"bc"]]


# ---- article 2 ----


def shown(tok: bytepair.Tokenizer, ids: tuple[int, ...]) -> str:
    return " ".join(tok.token_str(i) for i in ids)


def test_training_of_article_2(two: bytepair.Tokenizer) -> None:
    frames = replay(two)
    merged = [(two.token_str(f.winner.new_id), f.winner.count) for f in frames[:-1]]
    assert merged == [
        ("er", 9), ("er</w>", 9), ("ne", 8), ("new", 8), ("lo", 7), ("low", 7), ("newer</w>", 6), ("low</w>", 5),
        ("wi", 3), ("wid", 3),
    ]  # fmt: skip
    assert [(shown(two, ids), n) for ids, n in frames[0].before] == [
        ("l o w </w>", 5), ("l o w e s t </w>", 2), ("n e w e r </w>", 6), ("w i d e r </w>", 3), ("n e w </w>", 2)
    ]  # fmt: skip
    assert [(shown(two, ids), n) for ids, n in frames[-1].before] == [
        ("low</w>", 5), ("low e s t </w>", 2), ("newer</w>", 6), ("wid er</w>", 3), ("new </w>", 2)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("word", "states"),
    [
        ("low", ["l o w </w>", "lo w </w>", "low </w>", "low</w>"]),
        ("lower", ["l o w e r </w>", "l o w er </w>", "l o w er</w>", "lo w er</w>", "low er</w>"]),
        ("newest", ["n e w e s t </w>", "ne w e s t </w>", "new e s t </w>"]),
    ],
)
def test_encoding_of_article_2(two: bytepair.Tokenizer, word: str, states: list[str]) -> None:
    [found] = two.explain(word).pretokens
    assert [shown(two, ids) for ids in found.states()] == states
    assert two.is_canonical(found.ids)


def test_an_unseen_character_of_article_2() -> None:
    """``lowering`` has a g that training did not see; the merge e + r fires before an i all the same."""
    corpus, options = example_corpus("classic")
    for unknown in ("<unk>", "bytes"):
        tok = bytepair.train(corpus, **options, unknown=unknown)
        [found] = tok.explain("lowering").pretokens
        assert shown(tok, found.ids[:4]) == "low er i n"
        assert tok.id_to_bytes(found.ids[4]) == (b"g" if unknown == "bytes" else b"<unk>")
        assert tok.is_canonical(found.ids)
        both = tok.encode("lowering xg low")
        assert tok.is_canonical(both)
        assert tok.why_not("lowering").reason == ("absent" if unknown == "bytes" else "unknown")


def test_more_training_need_not_make_est_a_token(two: bytepair.Tokenizer) -> None:
    corpus, options = example_corpus("classic")
    assert (two.why_not("est").reason, two.why_not("est").count) == ("full", 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bytepair.BytepairNotice)
        longer = bytepair.train(corpus, **{**options, "num_merges": 1000})
    assert b"est" not in {longer.vocab[i] for i in longer.merges.values()}
    found = longer.why_not("est")
    assert (found.reason, found.count, found.free) == ("taken", 2, 0)
    assert longer.explain("lowest").ids == [longer.token_to_id("lowest</w>")]
