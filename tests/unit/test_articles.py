"""Every number of the two articles, through the public names: train, encode, decode, merges, record, cut.

The suite runs these on the compiled core and again in pure Python (``BYTEPAIR_PURE=1``).
"""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

import bytepair

ARTICLE_1 = "low low lower lowest"
ARTICLE_2 = " ".join(["low"] * 5 + ["lowest"] * 2 + ["newer"] * 6 + ["wider"] * 3 + ["new"] * 2)


@pytest.fixture(scope="module")
def one() -> bytepair.Tokenizer:
    """Article 1: bytes, six specials first. No pair is left long before 280 ids, which gives a notice."""
    with pytest.warns(bytepair.BytepairNotice):
        return bytepair.train(ARTICLE_1, vocab_size=280, min_freq=2, pattern="al1")


def train_article_2(unknown: str = "error") -> bytepair.Tokenizer:
    """Article 2: characters with an end-of-word mark of its own, ten merges, no specials."""
    return bytepair.train(
        ARTICLE_2,
        num_merges=10,
        alphabet="characters",
        end_of_word="separate",
        unknown=unknown,
        specials=(),
    )


@pytest.fixture(scope="module")
def two() -> bytepair.Tokenizer:
    return train_article_2()


def shown(tok: bytepair.Tokenizer, ids: list[int]) -> list[str]:
    return [tok.token_str(token) for token in ids]


# ---- Article 1 ----


def test_article_1_pretokens_and_first_ids(one: bytepair.Tokenizer) -> None:
    assert one.pretokens(ARTICLE_1) == [b"low", b" low", b" lower", b" lowest"]
    assert one.byte_base == 6
    assert one.cut(262).encode("low") == [114, 117, 125]
    assert one.encode(" ") == [38]
    assert one.encode("e") == [107]
    assert one.encode("a") == [103]


def test_article_1_specials(one: bytepair.Tokenizer) -> None:
    names = ["<pad>", "<bos>", "<eos>", "<tool_call>", "</tool_call>", "<tool_result>"]
    assert list(bytepair.AL1_SPECIALS) == names
    assert dict(one.specials) == {name: token for token, name in enumerate(names)}
    assert (one.pad_id, one.bos_id, one.eos_id, one.unk_id) == (0, 1, 2, None)


def test_article_1_pair_counts(one: bytepair.Tokenizer) -> None:
    """Before each merge, sorted by count and then by first place; pairs that stand once are left out of the table."""
    record = one.record
    first = record.pair_counts(0)
    assert first[:4] == [((114, 117), 4), ((117, 125), 4), ((38, 114), 3), ((125, 107), 2)]
    assert {count for _, count in first[4:]} == {1}
    assert [[entry for entry in record.pair_counts(step) if entry[1] > 1] for step in (1, 2, 3, 4)] == [
        [((262, 125), 4), ((38, 262), 3), ((125, 107), 2)],
        [((38, 263), 3), ((263, 107), 2)],
        [((264, 107), 2)],
        [],
    ]


def test_article_1_merges(one: bytepair.Tokenizer) -> None:
    merges = [((114, 117), 262), ((262, 125), 263), ((38, 263), 264), ((264, 107), 265)]
    assert list(one.merges.items()) == merges
    assert list(one.ranks.items()) == [(pair, rank) for rank, (pair, _) in enumerate(merges)]
    assert one.rule == "merges"
    assert one.vocab_size == 266
    assert [one.vocab[token] for token in range(262, 266)] == [b"lo", b"low", b" low", b" lowe"]


def test_article_1_record(one: bytepair.Tokenizer) -> None:
    record = one.record
    assert len(record) == 4
    steps = [record[step] for step in range(4)]
    assert [(s.step, s.left, s.right, s.new_id, s.bytes) for s in steps] == [
        (0, 114, 117, 262, b"lo"),
        (1, 262, 125, 263, b"low"),
        (2, 38, 263, 264, b" low"),
        (3, 264, 107, 265, b" lowe"),
    ]
    assert [s.count for s in steps] == [4, 4, 3, 2]
    assert [s.tied for s in steps] == [2, 1, 1, 1]
    # 3 + 4 + 6 + 7 bytes, less one token for each place merged.
    assert record.length_before == 20
    assert [s.length_after for s in steps] == [16, 12, 9, 7]
    # At the end: low | _low | _lowe r | _lowe s t
    assert [s.frequency for s in steps] == [0, 1, 1, 2]
    for step in steps:
        assert 1 <= len(step.examples) <= 3
        assert all(step.bytes in example for example in step.examples)
    assert record.best_left == ((265, 120), 1)
    assert record.stopped


def test_article_1_corpus_step_by_step(one: bytepair.Tokenizer) -> None:
    assert one.record.words(1) == [
        ((262, 125), 1),
        ((38, 262, 125), 1),
        ((38, 262, 125, 107, 120), 1),
        ((38, 262, 125, 107, 121, 122), 1),
    ]
    assert one.record.words(4) == [((263,), 1), ((264,), 1), ((265, 120), 1), ((265, 121, 122), 1)]


def test_article_1_record_as_json_lines(one: bytepair.Tokenizer, tmp_path: Path) -> None:
    one.record.to_jsonl(tmp_path / "record.jsonl")
    stream = io.StringIO()
    one.record.to_jsonl(stream)
    written = (tmp_path / "record.jsonl").read_text(encoding="utf-8")
    assert written == stream.getvalue()
    steps = [line for line in map(json.loads, written.splitlines()) if "new_id" in line]
    assert [(s["step"], s["left"], s["right"], s["new_id"], s["count"], s["tied"]) for s in steps] == [
        (0, 114, 117, 262, 4, 2),
        (1, 262, 125, 263, 4, 1),
        (2, 38, 263, 264, 3, 1),
        (3, 264, 107, 265, 2, 1),
    ]


def test_article_1_encodings(one: bytepair.Tokenizer) -> None:
    assert one.encode("low") == [263]
    assert one.encode(" low") == [264]
    assert one.encode(" lower") == [265, 120]
    assert one.encode(" lowest") == [265, 121, 122]
    assert one.encode("lowest") == [263, 107, 121, 122]
    assert one.encode(ARTICLE_1) == [263, 264, 265, 120, 265, 121, 122]


def test_article_1_passes(one: bytepair.Tokenizer) -> None:
    """A vocabulary cut after n merges stands where encoding stands after n passes."""
    assert one.cut(263).encode("lowest") == [262, 125, 107, 121, 122]
    assert one.cut(264).encode("lowest") == [263, 107, 121, 122]


def test_article_1_decoding(one: bytepair.Tokenizer) -> None:
    ids = one.encode("lowest", add_bos=True, add_eos=True)
    assert ids == [1, 263, 107, 121, 122, 2]
    assert one.decode(ids) == "<bos>lowest<eos>"
    assert one.decode(ids, skip_specials=True) == "lowest"
    assert one.decode_bytes([263, 107, 121, 122]) == b"lowest"
    assert one.lossless


def test_article_1_floor() -> None:
    with pytest.raises(bytepair.BytepairError, match="262"):
        bytepair.train(ARTICLE_1, vocab_size=261, pattern="al1")
    assert bytepair.train(ARTICLE_1, vocab_size=262, pattern="al1").vocab_size == 262


@pytest.mark.parametrize("word", ["__init__", "foo_bar", "x²"])
def test_al1_keeps_whole_what_gpt2_cuts(one: bytepair.Tokenizer, word: str) -> None:
    assert one.pretokens(word) == [word.encode()]
    assert len(bytepair.Tokenizer.from_merges([], pattern="gpt2").pretokens(word)) > 1


# ---- Article 2 ----


def test_article_2_merges(two: bytepair.Tokenizer) -> None:
    steps = [two.record[step] for step in range(len(two.record))]
    assert [(two.token_str(s.left), two.token_str(s.right), two.token_str(s.new_id), s.count) for s in steps] == [
        ("e", "r", "er", 9),
        ("er", "</w>", "er</w>", 9),
        ("n", "e", "ne", 8),
        ("ne", "w", "new", 8),
        ("l", "o", "lo", 7),
        ("lo", "w", "low", 7),
        ("new", "er</w>", "newer</w>", 6),
        ("low", "</w>", "low</w>", 5),
        ("w", "i", "wi", 3),
        ("wi", "d", "wid", 3),
    ]
    assert list(two.merges.items()) == [((s.left, s.right), s.new_id) for s in steps]


def test_article_2_vocabulary(two: bytepair.Tokenizer) -> None:
    assert two.vocab_size == 11 + 10
    symbols = sorted(set(range(21)) - set(two.merges.values()))
    assert sorted(shown(two, symbols)) == sorted([*"lowestnrid", "</w>"])
    assert not two.lossless


def test_article_2_marks_are_no_text(two: bytepair.Tokenizer) -> None:
    marked = two.token_to_id("er</w>")
    plain = two.token_to_id(b"er")
    assert marked != plain
    assert two.id_to_bytes(marked) == two.id_to_bytes(plain) == b"er"
    assert two.vocab.get(two.token_to_id("</w>"), b"") == b""


def test_article_2_final_corpus(two: bytepair.Tokenizer) -> None:
    final = two.record.words(len(two.record))
    assert [(" ".join(shown(two, list(ids))), count) for ids, count in final] == [
        ("low</w>", 5),
        ("low e s t </w>", 2),
        ("newer</w>", 6),
        ("wid er</w>", 3),
        ("new </w>", 2),
    ]


@pytest.mark.parametrize(
    ("word", "tokens"),
    [
        ("low", ["low</w>"]),
        ("lower", ["low", "er</w>"]),
        ("newest", ["new", "e", "s", "t", "</w>"]),
        ("wider", ["wid", "er</w>"]),
    ],
)
def test_article_2_encodings(two: bytepair.Tokenizer, word: str, tokens: list[str]) -> None:
    assert shown(two, two.encode(word)) == tokens
    assert two.decode(two.encode(word)) == word


def test_article_2_white_space_becomes_one_space(two: bytepair.Tokenizer) -> None:
    ids = two.encode("  low\n\tlower ")
    assert shown(two, ids) == ["low</w>", "low", "er</w>"]
    assert two.decode(ids) == "low lower"


def test_article_2_unknown_character_is_an_error_that_names_it(two: bytepair.Tokenizer) -> None:
    with pytest.raises(bytepair.UnknownTokenError, match="'g'"):
        two.encode("lowering")
    with pytest.raises(LookupError):
        two.encode("lowering")


def test_article_2_unknown_character_as_bytes() -> None:
    tok = train_article_2("bytes")
    assert tok.vocab_size == 256 + 11 + 10
    ids = tok.encode("lowering")
    assert shown(tok, ids[:4]) == ["low", "er", "i", "n"]
    assert tok.id_to_bytes(ids[4]) == b"g"
    assert shown(tok, ids[5:]) == ["</w>"]
    assert tok.decode(ids) == "lowering"
    assert tok.decode(tok.encode("low é👍 low")) == "low é👍 low"


def test_article_2_unknown_character_as_unk() -> None:
    tok = train_article_2("<unk>")
    assert dict(tok.specials) == {"<unk>": tok.unk_id}
    ids = tok.encode("lowering")
    assert shown(tok, ids) == ["low", "er", "i", "n", "<unk>", "</w>"]
    assert ids[4] == tok.unk_id
    assert not tok.lossless


def test_article_2_floor_is_known_after_counting() -> None:
    with pytest.raises(bytepair.BytepairError, match="11"):
        bytepair.train(
            ARTICLE_2,
            vocab_size=10,
            alphabet="characters",
            end_of_word="separate",
            specials=(),
        )


def test_article_2_pretokens_of_gpt2() -> None:
    tok = bytepair.Tokenizer.from_merges([], pattern="gpt2")
    expected = [b"Hello", b",", b" I", b"'ve", b" been", b" learning", b" BPE", b"!"]
    assert tok.pretokens("Hello, I've been learning BPE!") == expected


def test_article_2_only_the_pattern_none_learns_across_words() -> None:
    corpus = "of the " * 20
    across = bytepair.train(corpus, num_merges=4, pattern="none", specials=())
    with pytest.warns(bytepair.BytepairNotice):
        within = bytepair.train(corpus, num_merges=50, pattern="gpt2", specials=())
    assert any(b" " in across.vocab[token].strip() for token in across.merges.values())
    assert not any(b" " in within.vocab[token].strip() for token in within.merges.values())


def test_article_2_the_merge_list_is_the_tokenizer() -> None:
    pairs = [(b"a", b"b"), (b"b", b"c")]
    forward = bytepair.Tokenizer.from_merges(pairs)
    backward = bytepair.Tokenizer.from_merges(pairs[::-1])
    assert set(forward.vocab.values()) == set(backward.vocab.values())
    assert forward != backward
    assert forward.fingerprint != backward.fingerprint
    assert forward.pieces("abc") == [b"ab", b"c"]
    assert backward.pieces("abc") == [b"a", b"bc"]
