"""The face of `tokenizers` against the library itself: everything that an encoding says, and what a tokenizer knows."""

from __future__ import annotations

import copy
import pickle
import warnings
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pattern_peers import TRICKY

import bytepair
from bytepair.compat.tokenizers import AddedToken, DecodeStream, Encoding, Tokenizer
from bytepair.errors import FormatError, UnknownTokenError

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
from huggingface_peers import REAL, S3, SHAPES, TEXT, template, text_of  # noqa: E402
from tokenizers import decoders as D  # noqa: E402, N812


@cache
def loaded(name: str) -> tuple[Tokenizer, Any]:
    return Tokenizer.from_str(text_of(name)), tokenizers.Tokenizer.from_str(text_of(name))


def both(name: str) -> tuple[Tokenizer, Any]:
    """The same tokenizer, ours and the owner's, as it was loaded."""
    ours, theirs = loaded(name)
    for one in (ours, theirs):
        one.no_padding()
        one.no_truncation()
        one.encode_special_tokens = False
    return ours, theirs


# Nine tokenizers and more, each with its own examples.
some = settings(max_examples=max(30, settings().max_examples // 4))
every = pytest.mark.parametrize("name", [*SHAPES, *REAL])
shapes = pytest.mark.parametrize("name", list(SHAPES))

_words = ["the", " quick", "Dog's", " dog ", "dog", " new one", "New one", "Zz", "  ", " ", "\n", "\t", "é", "É", "ñ"]
_words += [
    "ﬁ",
    "Ⅷ",
    "你好",
    "🧠",
    "👩‍👧",
    "<s>",
    "</s>",
    "<sep>",
    "<|endoftext|>",
    "<unk>",
    "▁",
    "##",
    "</w>",
    "x",
    "1234",
    "don't",
]
_texts = st.lists(st.sampled_from([*_words, *TRICKY]), max_size=10).map("".join)
_pairs = st.tuples(_texts, st.one_of(st.none(), _texts))
# Merging what flows over makes all combinations.
_few = st.lists(st.lists(st.sampled_from(_words), max_size=3).map("".join), min_size=1, max_size=3)
_split = st.lists(st.sampled_from(_words), max_size=5)


def said(encoding: Any, depth: int = 2) -> dict[str, Any]:
    """Everything that an encoding says."""
    size = len(encoding)
    out = {
        name: getattr(encoding, name)
        for name in (
            *("ids", "type_ids", "tokens", "offsets", "word_ids", "special_tokens_mask", "attention_mask"),
            *("sequence_ids", "n_sequences"),
        )
    }
    # Where two texts are said to be at one place, the owner's answer is that of a hash map.
    for method in ("token_to_sequence", "token_to_chars", "token_to_word") if encoding.n_sequences < 3 else ():
        out[method] = [getattr(encoding, method)(i) for i in range(size + 2)]
    for method in ("char_to_token", "char_to_word", "word_to_tokens", "word_to_chars"):
        out[method] = [getattr(encoding, method)(i, k) for k in range(2) for i in range(size + 2)]
    out["repr"] = repr(encoding)
    if depth:
        out["overflowing"] = [said(one, depth - 1) for one in encoding.overflowing]
    return out


@every
@some
@given(_pairs, st.booleans())
def test_encode(name: str, texts: tuple[str, str | None], special: bool) -> None:
    ours, theirs = both(name)
    assert said(ours.encode(*texts, add_special_tokens=special)) == said(
        theirs.encode(*texts, add_special_tokens=special)
    )


@shapes
@some
@given(_split, st.one_of(st.none(), _split))
def test_words_that_are_given(name: str, a: list[str], b: list[str] | None) -> None:
    ours, theirs = both(name)
    assert said(ours.encode(a, b, is_pretokenized=True)) == said(theirs.encode(a, b, is_pretokenized=True))


@shapes
@some
@given(_pairs)
def test_specials_as_text(name: str, texts: tuple[str, str | None]) -> None:
    ours, theirs = both(name)
    ours.encode_special_tokens = theirs.encode_special_tokens = True
    assert said(ours.encode(*texts)) == said(theirs.encode(*texts))


@shapes
@settings(max_examples=max(60, settings().max_examples // 2))
@given(
    _pairs,
    *(st.integers(0, 9), st.integers(0, 2)),
    *(st.sampled_from(["longest_first", "only_first", "only_second"]), st.sampled_from(["left", "right"])),
    st.one_of(st.none(), st.fixed_dictionaries({
        "direction": st.sampled_from(["left", "right"]),
        "length": st.sampled_from([None, 3, 12]),
        "pad_to_multiple_of": st.sampled_from([None, 4]),
        "pad_id": st.integers(0, 5),
    })),
)  # fmt: skip
def test_truncation_and_padding(
    name: str,
    texts: tuple[str, str | None],
    most: int,
    stride: int,
    strategy: str,
    direction: str,
    padding: dict[str, Any] | None,
) -> None:
    ours, theirs = both(name)
    try:
        ours.enable_truncation(most, stride=stride, strategy=strategy, direction=direction)
    except ValueError as error:
        with pytest.raises(ValueError, match="tokenizer stride set to"):
            theirs.enable_truncation(most, stride=stride, strategy=strategy, direction=direction)
        assert "tokenizer stride set to" in str(error)
        return
    theirs.enable_truncation(most, stride=stride, strategy=strategy, direction=direction)
    assert ours.truncation == theirs.truncation
    if padding is not None:
        ours.enable_padding(**padding)
        theirs.enable_padding(**padding)
    assert ours.padding == theirs.padding
    try:
        found = said(ours.encode(*texts))
    except FormatError as error:
        if "special tokens; give a max_length" not in str(error):  # there the owner cuts nothing
            with pytest.raises(BaseException, match=r"Truncation error|`stride` must be strictly less"):
                theirs.encode(*texts)
        return
    assert found == said(theirs.encode(*texts))


@shapes
@some
@given(st.lists(_pairs, max_size=4), st.booleans())
def test_batches(name: str, texts: list[tuple[str, str | None]], pads: bool) -> None:
    ours, theirs = both(name)
    if pads:
        ours.enable_padding(pad_id=1, pad_type_id=2, pad_token="<pad>")
        theirs.enable_padding(pad_id=1, pad_type_id=2, pad_token="<pad>")
    rows = [a if b is None else (a, b) for a, b in texts]
    expected = [said(one) for one in theirs.encode_batch(rows)]
    assert [said(one) for one in ours.encode_batch(rows)] == expected
    assert [one.ids for one in ours.encode_batch_fast(rows)] == [one.ids for one in theirs.encode_batch_fast(rows)]
    split = [a.split() if b is None else (a.split(), b.split()) for a, b in texts]
    expected = [said(one) for one in theirs.encode_batch(split, is_pretokenized=True)]
    assert [said(one) for one in ours.encode_batch(split, is_pretokenized=True)] == expected


@every
@some
@given(_pairs, st.lists(st.integers(0, 800), max_size=8))
def test_decode(name: str, texts: tuple[str, str | None], ids: list[int]) -> None:
    ours, theirs = both(name)
    for listed in (theirs.encode(*texts).ids, ids):
        for skip in (False, True):
            assert ours.decode(listed, skip_special_tokens=skip) == theirs.decode(listed, skip_special_tokens=skip)
    assert ours.decode_batch([ids, []]) == theirs.decode_batch([ids, []])
    if theirs.decoder is None:
        assert ours.decoder is None
        return
    strings = theirs.encode(*texts).tokens
    assert ours.decoder is not None
    assert ours.decoder.decode(strings) == theirs.decoder.decode(strings)


@every
@some
@given(_texts, st.booleans())
def test_decode_stream(name: str, text: str, skip: bool) -> None:
    ours, theirs = both(name)
    mine, other = DecodeStream(skip_special_tokens=skip), D.DecodeStream(skip_special_tokens=skip)
    for i in theirs.encode(text).ids:
        try:
            expected = other.step(theirs, i)
        except Exception:  # noqa: BLE001 - the owner's is a plain one
            with pytest.raises(ValueError, match="does not go on"):
                mine.step(ours, i)
            return
        assert mine.step(ours, i) == expected


@every
def test_what_a_tokenizer_knows(name: str) -> None:
    ours, theirs = both(name)
    for with_added in (True, False):
        assert ours.get_vocab(with_added_tokens=with_added) == theirs.get_vocab(with_added_tokens=with_added)
        assert ours.get_vocab_size(with_added) == theirs.get_vocab_size(with_added)
    for i in [*range(0, theirs.get_vocab_size() + 2, 7), *theirs.get_added_tokens_decoder(), 1 << 20]:
        assert ours.id_to_token(i) == theirs.id_to_token(i)
    for token, i in theirs.get_vocab().items():
        assert ours.token_to_id(token) == i
    assert ours.token_to_id("no such token") is None
    assert {i: repr(one) for i, one in ours.get_added_tokens_decoder().items()} == {
        i: repr(one) for i, one in theirs.get_added_tokens_decoder().items()
    }
    for is_pair in (False, True):
        assert ours.num_special_tokens_to_add(is_pair) == theirs.num_special_tokens_to_add(is_pair)
    for setting in ("unk_token", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback", "dropout"):
        assert (getattr(ours.model, setting) or None) == (getattr(theirs.model, setting) or None)
    # Steps that do nothing are none here.
    normalized = "ﬁ Éa" if ours.normalizer is None else ours.normalizer.normalize_str("ﬁ Éa")
    assert normalized == ("ﬁ Éa" if theirs.normalizer is None else theirs.normalizer.normalize_str("ﬁ Éa"))


@every
def test_what_we_write_is_the_same(name: str, tmp_path: Any) -> None:
    ours, theirs = both(name)
    ours.enable_truncation(50, stride=3)
    ours.enable_padding(length=4)
    path = tmp_path / "tokenizer.json"
    ours.save(path)
    for text in (path.read_text("utf-8"), *([] if name in REAL else [ours.to_str()])):
        again = tokenizers.Tokenizer.from_str(text)
        assert again.get_vocab(with_added_tokens=False) == theirs.get_vocab(with_added_tokens=False)
        assert (again.truncation, again.padding) == (ours.truncation, ours.padding)
        assert said(again.encode(TEXT, "a")) == said(ours.encode(TEXT, "a"))
    assert Tokenizer.from_file(path).tokenizer == ours.tokenizer


@every
def test_copies(name: str) -> None:
    ours, _ = both(name)
    ours.enable_truncation(9)
    for other in (copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert other.truncation == ours.truncation
        other.enable_truncation(5)
        assert len(other.encode(TEXT)) == 5
        assert len(ours.encode(TEXT)) == 9
    encoding = ours.encode(TEXT, "b c d")
    assert said(pickle.loads(pickle.dumps(encoding))) == said(encoding)


@shapes
def test_added_tokens(name: str) -> None:
    ours, theirs = Tokenizer.from_str(text_of(name)), tokenizers.Tokenizer.from_str(text_of(name))
    for how, tokens in (
        ("add_tokens", ["<new>", "the", "", "<new>"]),
        ("add_special_tokens", ["<more>", {"content": "<s>", "lstrip": True}, {"content": "end", "rstrip": True}]),
        ("add_special_tokens", [{"content": "<new>", "normalized": True}]),
        ("add_tokens", [{"content": "lazy", "single_word": True}, "<more>"]),
    ):
        mine, other = (
            [make(**token) if isinstance(token, dict) else token for token in tokens]
            for make in (AddedToken, tokenizers.AddedToken)
        )
        getattr(theirs, how)(other)
        getattr(ours, how)(mine)
        assert ours.get_vocab() == theirs.get_vocab()
    text = "the <new> lazy lazyness <more> end  of theory"
    assert said(ours.encode(text)) == said(theirs.encode(text))
    ids = theirs.encode(text).ids
    assert ours.decode(ids) == theirs.decode(ids)
    assert said(tokenizers.Tokenizer.from_str(ours.to_str()).encode(text)) == said(theirs.encode(text))


@shapes
@some
@given(_few, st.sampled_from([0, 2, 3, 6]), st.integers(0, 1), st.booleans(), st.booleans())
def test_encodings_that_change(name: str, texts: list[str], most: int, stride: int, left: bool, growing: bool) -> None:
    ours, theirs = both(name)
    side = "left" if left else "right"
    mine, other = ([one.encode(text, add_special_tokens=False) for text in texts] for one in (ours, theirs))
    for one in (*mine, *other):
        one.truncate(most, stride=stride, direction=side)
    assert [said(one) for one in mine] == [said(one) for one in other]
    merged, expected = Encoding.merge(mine, growing), tokenizers.Encoding.merge(other, growing)
    assert said(merged) == said(expected)
    for one in (merged, expected):
        one.pad(8, direction=side, pad_id=3, pad_type_id=1, pad_token="[P]")
    assert said(merged) == said(expected)
    for one in (merged, expected):
        one.truncate(7)
        one.set_sequence_id(1)
    assert said(merged) == said(expected)


def test_post_process() -> None:
    ours, theirs = both("byte level, Roberta")
    for one in (ours, theirs):
        one.enable_truncation(7)
    found, expected = (
        one.post_process(one.encode("the dog", add_special_tokens=False), one.encode("lazy", add_special_tokens=False))
        for one in (ours, theirs)
    )
    assert found.ids == expected.ids
    assert found.type_ids == expected.type_ids


def test_post_processor_of_the_owner() -> None:
    ours, theirs = (type(one).from_str(text_of("byte level")) for one in both("byte level"))
    assert ours.post_processor is not None or theirs.post_processor is None
    ours.post_processor = theirs.post_processor = template("<s>", "</s>", S3)
    assert said(ours.encode("the dog", "x")) == said(theirs.encode("the dog", "x"))
    ours.post_processor = None
    assert ours.encode("the dog").ids == theirs.encode("the dog", add_special_tokens=False).ids


def test_of_one_of_ours() -> None:
    tok = bytepair.train("low low lower lowest", num_merges=4)
    ours = Tokenizer(tok)
    theirs = tokenizers.Tokenizer.from_str(ours.to_str())
    for text in ("low lowest", "", "é<eos>"):
        assert said(ours.encode(text)) == said(theirs.encode(text))
    assert ours.get_vocab() == theirs.get_vocab()
    assert ours.tokenizer == tok


def test_words_is_deprecated() -> None:
    encoding = both("byte level")[0].encode("a b")
    with pytest.warns(DeprecationWarning, match="word_ids"):
        assert encoding.words == encoding.word_ids


def test_wrong_use() -> None:
    ours, theirs = both("byte level")
    for one in (ours, theirs):
        for wrong in (3, None, ["a"]):
            with pytest.raises(TypeError, match="TextInputSequence must be str"):
                one.encode(wrong)
        with pytest.raises(TypeError, match="PreTokenizedInputSequence must be"):
            one.encode("a", is_pretokenized=True)
        with pytest.raises(ValueError, match="Unknown `direction`: `up`"):
            one.enable_padding(direction="up")
        with pytest.raises(ValueError, match="Unknown `strategy`: `x`"):
            one.enable_truncation(3, strategy="x")
        with pytest.raises(ValueError, match="Unknown `direction`: `up`"):
            one.encode("a").pad(3, direction="up")
        with pytest.raises(ValueError, match="Invalid truncation direction value : up"):
            one.encode("a").truncate(0, direction="up")
        with pytest.raises(OverflowError):
            one.id_to_token(-1)
        with pytest.raises(TypeError):
            one.encode_batch("abc")
    with pytest.raises(UnknownTokenError):
        ours.decode([-1])
    with pytest.raises(ValueError, match="stride is 2"):
        ours.encode("a b c d").truncate(1, stride=2)
    with pytest.raises(FormatError, match="line 1, column 2"):
        Tokenizer.from_str("{")
    with pytest.raises(FormatError, match="cannot read"):
        Tokenizer.from_file("no such file.json")
    with pytest.raises(TypeError, match=r"bytepair\.Tokenizer"):
        Tokenizer("gpt2")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="AddedToken"):
        ours.add_tokens([3])


def test_from_pretrained_takes_a_folder_or_the_cache_alone(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    text = text_of("byte level")
    (tmp_path / "tokenizer.json").write_text(text, "utf-8")
    assert Tokenizer.from_pretrained(str(tmp_path)).encode("the").ids == both("byte level")[1].encode("the").ids
    hub = pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed")
    asked = []

    def try_to_load_from_cache(repo: str, file: str, revision: str) -> str | None:
        asked.append((repo, file, revision))
        return str(tmp_path / file) if repo == "owner/name" else None

    monkeypatch.setattr(hub, "try_to_load_from_cache", try_to_load_from_cache)
    assert Tokenizer.from_pretrained("owner/name").get_vocab_size() == both("byte level")[1].get_vocab_size()
    assert asked == [("owner/name", "tokenizer.json", "main")]
    with pytest.raises(FormatError, match="hf download owner/other"):
        Tokenizer.from_pretrained("owner/other")


def test_what_the_owner_cannot_hold_is_told() -> None:
    ranks = {bytes([b]): b for b in range(256)} | {b"bc": 256, b"ab": 257, b"abc": 258, b"cab": 259, b"cabc": 260}
    ours = Tokenizer(bytepair.Tokenizer.from_ranks(ranks, pattern="gpt2"))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        ours.to_str()
    assert "irregular" in str(told[0].message)
