"""The reference against every exact value of the two articles, worked out by hand, and against its own promises."""

from __future__ import annotations

import ast
import doctest
import re
import sys
from pathlib import Path

import pytest

from bytepair import reference as ref

ARTICLE_1 = "low low lower lowest"
ARTICLE_2 = " ".join(["low"] * 5 + ["lowest"] * 2 + ["newer"] * 6 + ["wider"] * 3 + ["new"] * 2)


def article_1(vocab_size: int = 280) -> ref.Model:
    return ref.train(ARTICLE_1, vocab_size=vocab_size, pattern=ref.al1, specials=ref.AL1_SPECIALS)


def article_2(unknown: str = "error") -> ref.Model:
    return ref.train(
        ARTICLE_2,
        num_merges=10,
        pattern=ref.whitespace,
        alphabet="characters",
        end_of_word="separate",
        unknown=unknown,
    )


def shown(model: ref.Model, token: int) -> str:
    """A token as the articles print it."""
    return model.vocab[token].decode() + ("</w>" if token in model.marked else "")


def corpus_before(model: ref.Model, text: str, step: int) -> list[tuple[list[int], int]]:
    """Words and counts before merge ``step``, by replaying the merges."""
    words = ref.count_words([text], model, model.specials)
    corpus = [(ids, count) for word, count in words.items() if (ids := ref.start_ids(model, word))]
    for pair, new_id in list(model.merges.items())[:step]:
        corpus = [(ref.merge(ids, pair, new_id), count) for ids, count in corpus]
    return corpus


def test_the_lesson_runs() -> None:
    assert doctest.testmod(ref).failed == 0


def test_the_reference_stands_alone() -> None:
    """A specification that imports what it specifies would prove nothing."""
    tree = ast.parse(Path(ref.__file__).read_text(encoding="utf-8"))
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add((node.module or "").split(".")[0])
    assert imported <= set(sys.stdlib_module_names)


# ---- Article 1 ----


def test_article_1_pretokens_and_first_ids() -> None:
    assert ref.al1(ARTICLE_1) == ["low", " low", " lower", " lowest"]
    model = article_1()
    assert ref.start_ids(model, "low") == [114, 117, 125]
    assert ref.start_ids(model, " ea") == [38, 107, 103]


def test_article_1_pair_counts() -> None:
    """The whole worked example, every count:

    low lowe are in all four words, so (l,o) and (o,w) stand 4 times; a space leads three of them.
    """
    model = article_1()
    counts = [ref.count_pairs(corpus_before(model, ARTICLE_1, step)) for step in range(5)]
    named = {(114, 117): 4, (117, 125): 4, (38, 114): 3, (125, 107): 2}
    assert counts[0].items() >= named.items()
    assert {count for pair, count in counts[0].items() if pair not in named} == {1}
    above_one = [{pair: count for pair, count in step.items() if count > 1} for step in counts[1:]]
    assert above_one == [
        {(262, 125): 4, (38, 262): 3, (125, 107): 2},
        {(38, 263): 3, (263, 107): 2},
        {(264, 107): 2},
        {},
    ]


def test_article_1_merges_and_encodings() -> None:
    model = article_1()
    assert list(model.merges.items()) == [((114, 117), 262), ((262, 125), 263), ((38, 263), 264), ((264, 107), 265)]
    assert [(step.count, step.tied) for step in model.steps] == [(4, 2), (4, 1), (3, 1), (2, 1)]
    # 3 + 4 + 6 + 7 bytes at the start; each merge takes its places away.
    assert [step.length_after for step in model.steps] == [16, 12, 9, 7]
    assert ref.encode(model, "low") == [263]
    assert ref.encode(model, " low") == [264]
    assert ref.encode(model, " lower") == [265, 120]
    assert ref.encode(model, " lowest") == [265, 121, 122]
    assert list(ref.passes(ref.start_ids(model, "lowest"), model.merges))[1:] == [
        [262, 125, 107, 121, 122],
        [263, 107, 121, 122],
    ]
    with_ends = ref.encode(model, "lowest", add_bos=True, add_eos=True)
    assert with_ends == [1, 263, 107, 121, 122, 2]
    assert ref.decode(model, with_ends) == b"<bos>lowest<eos>"
    assert ref.decode(model, with_ends, skip_specials=True) == b"lowest"


def test_article_1_floor() -> None:
    with pytest.raises(ValueError, match="262"):
        article_1(vocab_size=261)
    assert article_1(vocab_size=262).merges == {}


# ---- Article 2 ----


def test_article_2_merges() -> None:
    model = article_2()
    assert [(shown(model, s.left), shown(model, s.right), s.count) for s in model.steps] == [
        ("e", "r", 9),
        ("er", "</w>", 9),
        ("n", "e", 8),
        ("ne", "w", 8),
        ("l", "o", 7),
        ("lo", "w", 7),
        ("new", "er</w>", 6),
        ("low", "</w>", 5),
        ("w", "i", 3),
        ("wi", "d", 3),
    ]
    assert len(model.start) == 11
    assert len(model.vocab) == 21


def test_article_2_final_corpus() -> None:
    model = article_2()
    final = corpus_before(model, ARTICLE_2, 10)
    assert [(" ".join(shown(model, token) for token in ids), count) for ids, count in final] == [
        ("low</w>", 5),
        ("low e s t </w>", 2),
        ("newer</w>", 6),
        ("wid er</w>", 3),
        ("new </w>", 2),
    ]


@pytest.mark.parametrize(
    ("word", "tokens"),
    [
        ("low", "low</w>"),
        ("lower", "low er</w>"),
        ("newest", "new e s t </w>"),
        ("wider", "wid er</w>"),
    ],
)
def test_article_2_encodings(word: str, tokens: str) -> None:
    model = article_2()
    assert [shown(model, token) for token in ref.encode(model, word)] == tokens.split()


def test_article_2_unknown_character() -> None:
    with pytest.raises(LookupError, match="g"):
        ref.encode(article_2(), "lowering")

    model = article_2("bytes")
    ids = ref.encode(model, "lowering")
    assert [shown(model, token) for token in ids] == ["low", "er", "i", "n", "g", "</w>"]
    assert ids[4] == model.byte_ids[0x67]
    assert len(model.start) == 11, "the reserved bytes are no part of the alphabet"
    assert ref.decode(model, ids) == b"lowering"

    model = article_2("<unk>")
    ids = ref.encode(model, "lowering")
    assert [shown(model, token) for token in ids] == ["low", "er", "i", "n", "<unk>", "</w>"]
    assert ids[4] == model.specials["<unk>"] == 0


def test_gpt2_pretokens_of_article_2() -> None:
    expected = ["Hello", ",", " I", "'ve", " been", " learning", " BPE", "!"]
    assert ref.gpt2("Hello, I've been learning BPE!") == expected


def test_only_the_pattern_none_learns_across_words() -> None:
    corpus = "of the " * 20
    across = ref.train(corpus, num_merges=10, pattern=ref.whole)
    within = ref.train(corpus, num_merges=10, pattern=ref.gpt2)
    assert any(b" " in token.strip() for token in across.vocab.values())
    assert not any(b" " in token.strip() for token in within.vocab.values())


@pytest.mark.parametrize("word", ["__init__", "foo_bar", "x²"])
def test_al1_keeps_whole_what_gpt2_cuts(word: str) -> None:
    assert ref.al1(word) == [word]
    assert len(ref.gpt2(word)) > 1


def test_the_order_of_merges_is_the_tokenizer() -> None:
    a, b, c = b"abc"
    one = {(a, b): 256, (b, c): 257}
    other = {(b, c): 256, (a, b): 257}
    assert list(ref.passes([a, b, c], one))[-1] == [256, c]
    assert list(ref.passes([a, b, c], other))[-1] == [a, 256]


# ---- Meaning, piece by piece ----


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("it's IT'S it’s", "it|'s| IT|'|S| it|’|s"),
        ("'RE'll", "'|RE|'ll"),
        ("x² Ⅷ ١٢٣٤ ½", "x|²| Ⅷ| ١٢٣٤| ½"),
        ("\n\n\nx", "\n\n|\n|x"),
        ("x\r\ny", "x|\r|\n|y"),
        ("a  b   ", "a| | b|   "),
        (" ", " "),
        ("", ""),
    ],
)
def test_gpt2_pretokens(text: str, pieces: str) -> None:
    assert ref.gpt2(text) == [piece for piece in pieces.split("|") if piece]


def test_what_a_pattern_leaves_out_is_kept() -> None:
    assert ref.pretokens("ab1cd", re.compile("[a-z]+")) == ["ab", "1", "cd"]
    with pytest.raises(ValueError, match="can match nothing"):
        ref.pretokens("ab", re.compile("a*"))


def test_the_longest_special_name_wins() -> None:
    names = ["<|a|>", "<|a|><|b|>", "<|b|>"]
    assert ref.cut_at_specials("<|a|><|b|>", names) == [("<|a|><|b|>", True)]
    assert ref.cut_at_specials("<|b|>x<|a|>", names) == [("<|b|>", True), ("x", False), ("<|a|>", True)]


def test_a_run_counts_windows_and_merges_without_overlap() -> None:
    assert ref.count_pairs([([1, 1, 1, 1], 1)]) == {(1, 1): 3}
    assert ref.merge([1, 1, 1, 1, 1], (1, 1), 2) == [2, 2, 1]
    assert [s.count for s in ref.train("aaaa", num_merges=9, min_freq=1).steps] == [3, 1]
    assert [s.count for s in ref.train("aaaa", num_merges=9).steps] == [3]


def test_a_tie_goes_to_the_pair_that_stands_first() -> None:
    """``ab`` and `` ab``, ``cd``: after ``ab`` the pair (space, c) stands before (c, d)."""
    model = ref.train("ab ab ab cd cd cd", num_merges=2)
    assert [model.vocab[new_id] for new_id in model.merges.values()] == [b"ab", b" c"]


def test_the_first_place_is_looked_up_anew_at_each_step() -> None:
    """(b,c) stood first in the first word, until ``ab`` took that place away; then (d,e) stands before it."""
    model = ref.train(["abc", "ab", "ab", "ab", "de", "de", "bc", "bc"], num_merges=2, pattern=ref.whole)
    assert [model.vocab[new_id] for new_id in model.merges.values()] == [b"ab", b"de"]


def test_layouts_number_ids_and_change_no_merge() -> None:
    models = [
        ref.train(ARTICLE_2, num_merges=12, specials=("<x>", "<y>"), layout=layout, byte_order=order)
        for layout in ("specials-first", "bytes-first")
        for order in ("raw", "gpt2")
    ]
    learned = [[model.vocab[new_id] for new_id in model.merges.values()] for model in models]
    assert all(merges == learned[0] for merges in learned)
    assert [model.specials["<y>"] for model in models] == [1, 1, 269, 269]
    assert [model.start[b"a", False] for model in models] == [99, 66, 97, 64]
    assert [model.start[b"\0", False] for model in models] == [2, 190, 0, 188]


def test_special_names_cut_the_corpus() -> None:
    model = ref.train("x<sep>y" * 5, num_merges=10, specials=("<sep>",))
    assert [model.vocab[new_id] for new_id in model.merges.values()] == [b"yx"]


def test_fused_marks() -> None:
    model = ref.train(
        "er her er erx",
        num_merges=2,
        pattern=ref.whitespace,
        alphabet="characters",
        end_of_word="fused",
        unknown="bytes",
    )
    assert [shown(model, new_id) for new_id in model.merges.values()] == ["er</w>"]
    ids = ref.encode(model, "er ex he\tq er")
    assert [shown(model, token) for token in ids] == ["er</w>", "e", "x</w>", "h", "e", "</w>", "q", "</w>", "er</w>"]
    assert ref.decode(model, ids) == b"er ex he q er"


def test_a_mark_is_a_space_only_between_words() -> None:
    model = ref.train(
        "low new",
        num_merges=0,
        pattern=ref.whitespace,
        alphabet="characters",
        end_of_word="separate",
        specials=("<bos>", "<eos>"),
    )
    ids = ref.encode(model, " low\nnew ", add_bos=True, add_eos=True)
    assert ref.decode(model, ids) == b"<bos>low new<eos>"
    assert ref.decode(model, ids, skip_specials=True) == b"low new"


def test_a_typed_mark_is_four_characters() -> None:
    model = ref.train(
        "low</w> low",
        num_merges=0,
        pattern=ref.whitespace,
        alphabet="characters",
        end_of_word="separate",
    )
    ids = ref.encode(model, "low</w>")
    assert len(ids) == 8
    assert [token in model.marked for token in ids] == [False] * 7 + [True]
    assert ref.decode(model, ids) == b"low</w>"


def test_invalid_bytes_are_symbols_like_others() -> None:
    data = b"ok\n\xff\xfe bad\xc3"
    for alphabet in ("bytes", "characters"):
        model = ref.train(data * 3, num_merges=20, alphabet=alphabet)
        assert ref.decode(model, ref.encode(model, data)) == data


def test_the_rank_rule() -> None:
    """Rows of CASES: the tokens of each row take the ranks after the bytes, in this order."""

    def pieces(tokens: str, word: str) -> str:
        ranks = {bytes([b]): b for b in range(256)}
        ranks |= {token.encode(): 256 + place for place, token in enumerate(tokens.split())}
        names = {rank: token.decode("latin-1") for token, rank in ranks.items()}
        return "|".join(names[rank] for rank in ref.encode_ranks(ranks, word.encode()))

    assert pieces("bc ab abc", "abc") == "abc"
    assert pieces("ab cb ac bb cbb acbb", "abacb") == "ab|a|cb"
    assert pieces("ab cb ac bb cbb acbb", "abacbb") == "ab|acbb"
    assert pieces("aa aaa aaaa", "aaaaa") == "aa|aaa"


def test_both_rules_agree_on_what_was_trained() -> None:
    model = ref.train("aaaa abab banana bandana " * 3, num_merges=30)
    ranks = {content: token for token, content in model.vocab.items()}
    for word in (b" banana", b"aaaaaaa", b"bandbandana", b"ab"):
        assert ref.encode_ranks(ranks, word) == list(ref.passes(list(word), model.merges))[-1]
