"""``bytepair.compat.tiktoken`` against tiktoken: what its public tests ask of it, and both side by side."""

from __future__ import annotations

import copy
import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pattern_peers import TRICKY
from tiktoken_peers import TORTURE, definition, peer

import bytepair.compat.tiktoken as face
from bytepair import bundled

real = pytest.importorskip("tiktoken", reason="tiktoken is not installed")

NAMES = face.list_encoding_names()
SOME = ["r50k_base", "cl100k_base"]
every = pytest.mark.parametrize("name", NAMES)
some = pytest.mark.parametrize("name", SOME)

BYTES = {bytes([b]): b for b in range(256)}

#: Any str, lone surrogates and all, and what the patterns find hard.
texts = st.one_of(
    st.text(),
    st.text(st.characters(codec=None)),
    st.lists(st.sampled_from([*TRICKY, *TORTURE.split(), "<|endoftext|>", "\ud83d", "\udc4d", "  ", "\n"])).map(
        "".join
    ),
)


def both(name: str) -> tuple[face.Encoding, Any]:
    return face.get_encoding(name), peer(name)


def outcome(call: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """What a call gives, or the type of its error."""
    try:
        return call(*args, **options)
    except (ValueError, TypeError, LookupError, ArithmeticError) as error:
        return type(error)


def same(mine: Any, theirs: Any) -> bool:
    """The same result, or an error that a handler of theirs catches."""
    if isinstance(theirs, type):
        return isinstance(mine, type) and issubclass(mine, theirs)
    return bool(mine == theirs)


# ---- the interface ----


def test_the_same_names() -> None:
    public = {name for name in dir(real.Encoding) if not name.startswith("_")}
    assert public <= set(dir(face.Encoding)) | {"name", "max_token_value"}
    for name in ("encode", "encode_batch", "encode_ordinary_batch", "decode", "decode_batch", "encode_with_unstable"):
        theirs = inspect.signature(getattr(real.Encoding, name)).parameters
        mine = inspect.signature(getattr(face.Encoding, name)).parameters
        assert [(p.name, p.kind) for p in mine.values()] == [(p.name, p.kind) for p in theirs.values()]
        assert [p.default for p in mine.values()] == [p.default for p in theirs.values()]
    assert all(hasattr(real, name) and hasattr(face, name) for name in face.__all__)


def test_names_of_encodings() -> None:
    public = pytest.importorskip("tiktoken_ext.openai_public", reason="this tiktoken has no public encodings")
    assert set(NAMES) >= set(public.ENCODING_CONSTRUCTORS) & set(bundled.names())
    for name in NAMES:
        assert face.get_encoding(name).name == name
        assert face.get_encoding(name) is face.get_encoding(name)
        assert repr(face.get_encoding(name)) == repr(peer(name))
    for wrong in ("cl100k", "", "qwen2", 5, None):
        assert same(outcome(face.get_encoding, wrong), ValueError)
    with pytest.raises(ValueError, match=r"Unknown encoding 'cl100k'; there are cl100k_base"):
        face.get_encoding("cl100k")


@pytest.mark.parametrize(
    "model", ["gpt2", "text-davinci-003", "gpt-3.5-turbo-0301", "gpt-4", "gpt-4o-mini", "gpt-oss-120b"]
)
def test_models(model: str) -> None:
    name = real.encoding_name_for_model(model)
    assert face.encoding_name_for_model(model) == name
    assert face.encoding_for_model(model) is face.get_encoding(name)


def test_an_unknown_model() -> None:
    with pytest.raises(KeyError, match=r"gpt-1.*get_encoding"):
        face.encoding_for_model("gpt-1")


@every
def test_facts(name: str) -> None:
    mine, theirs = both(name)
    for fact in ("name", "max_token_value", "n_vocab", "eot_token", "special_tokens_set"):
        assert getattr(mine, fact) == getattr(theirs, fact), fact
    assert mine.token_byte_values() == theirs.token_byte_values()
    assert mine._pat_str == definition(name)["pat_str"]
    assert mine._special_tokens == theirs._special_tokens
    assert mine._mergeable_ranks == theirs._mergeable_ranks
    for token in (0, 50256, mine.eot_token, mine.max_token_value, -1, 1 << 40):
        assert mine.is_special_token(token) == theirs.is_special_token(token)
    with pytest.raises(TypeError, match="int"):
        mine.is_special_token("a")  # type: ignore[arg-type]


def test_numpy_is_not_imported_with_it() -> None:
    code = (
        "import sys, bytepair.compat.tiktoken as t; t.get_encoding('r50k_base').encode('a b')\n"
        "print([name for name in ('numpy', 'regex', 'tiktoken', 'blobfile') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


# ---- every token ----


@every
def test_each_token_alone(name: str) -> None:
    mine, theirs = both(name)
    for token in (*range(0, mine.n_vocab, 1 if name == "r50k_base" else 37), 100_256, mine.n_vocab, mine.n_vocab + 1):
        theirs_bytes = outcome(theirs.decode_single_token_bytes, token)
        if isinstance(theirs_bytes, type):
            assert same(outcome(mine.decode_single_token_bytes, token), theirs_bytes)
        else:
            assert mine.decode_single_token_bytes(token) == theirs_bytes
            assert mine.encode_single_token(theirs_bytes) == theirs.encode_single_token(theirs_bytes) == token
    for special, token in [*mine._special_tokens.items()][:40]:
        assert mine.encode_single_token(special) == token
        assert mine.encode(special, allowed_special="all") == mine.encode(special, allowed_special={special}) == [token]


@pytest.mark.parametrize("wrong", ["hellooooo", b"\xff\xff", "", b"", 5, "\ud800", None])
def test_what_is_no_single_token(wrong: Any) -> None:
    mine, theirs = both("cl100k_base")
    assert same(outcome(mine.encode_single_token, wrong), outcome(theirs.encode_single_token, wrong))


# ---- texts ----


@every
def test_torture(name: str) -> None:
    mine, theirs = both(name)
    for text in (TORTURE, "", "hello world", *TORTURE.split("\n"), "today\n \n", "today\n  \n", "0" * 17, "s", " s"):
        ids = theirs.encode_ordinary(text)
        assert mine.encode_ordinary(text) == mine.encode(text) == mine._encode_bytes(text.encode()) == ids
        assert mine.encode_to_numpy(text).tolist() == mine._encode_only_native_bpe(text) == ids
        assert mine.decode(ids) == text
        assert mine.decode_bytes(ids) == text.encode()
        assert mine.decode_tokens_bytes(ids) == theirs.decode_tokens_bytes(ids)
        assert mine.decode_with_offsets(ids) == theirs.decode_with_offsets(ids)


@some
@given(text=texts)
@settings(max_examples=200)
def test_any_text(name: str, text: str) -> None:
    mine, theirs = both(name)
    assert mine.encode_ordinary(text) == theirs.encode_ordinary(text)
    for options in (
        {},
        {"disallowed_special": ()},
        {"allowed_special": "all"},
        {"allowed_special": {"<|endoftext|>", "<|absent|>"}},
        {"allowed_special": {"<|absent|>"}},
        {"disallowed_special": {"a", "<|endoftext|>"}},
        {"disallowed_special": ["\n"]},
    ):
        given_ids = outcome(theirs.encode, text, **options)
        assert same(outcome(mine.encode, text, **options), given_ids), options
        numbers = outcome(theirs.encode_to_numpy, text, **options)
        mine_numbers = outcome(mine.encode_to_numpy, text, **options)
        if isinstance(numbers, type):
            assert same(mine_numbers, numbers)
        else:
            assert mine_numbers.dtype == numbers.dtype
            assert mine_numbers.tolist() == numbers.tolist()


@some
@given(batch=st.lists(texts, max_size=4), threads=st.integers(1, 3))
@settings(max_examples=50)
def test_batches(name: str, batch: list[str], threads: int) -> None:
    mine, theirs = both(name)
    assert mine.encode_ordinary_batch(batch, num_threads=threads) == theirs.encode_ordinary_batch(batch)
    for options in ({}, {"allowed_special": "all"}, {"disallowed_special": ()}):
        rows = outcome(theirs.encode_batch, batch, **options)
        assert same(outcome(mine.encode_batch, batch, num_threads=threads, **options), rows)
    ids = theirs.encode_ordinary_batch(batch)
    assert mine.decode_batch(ids) == theirs.decode_batch(ids)
    assert mine.decode_bytes_batch(ids) == theirs.decode_bytes_batch(ids)


def test_batches_used_wrongly() -> None:
    mine, theirs = both("r50k_base")
    assert mine.encode_batch("ab") == theirs.encode_batch("ab")
    assert mine.encode_batch([]) == mine.decode_batch([]) == []
    for call in (mine.encode_batch, mine.encode_ordinary_batch, mine.decode_batch, mine.decode_bytes_batch):
        with pytest.raises(ValueError, match="num_threads is 0"):
            call([], num_threads=0)
    with pytest.raises(OverflowError):
        mine.decode_batch([[1], [-1]])


@some
@given(data=st.binary(max_size=40))
@settings(max_examples=200)
def test_any_bytes(name: str, data: bytes) -> None:
    mine, theirs = both(name)
    assert mine._encode_bytes(data) == theirs._encode_bytes(data)
    assert mine.decode_bytes(mine._encode_bytes(data)) == data
    if data:
        assert mine._encode_single_piece(data) == theirs._encode_single_piece(data)


@some
def test_bytes_that_end_within_a_character(name: str) -> None:
    mine, theirs = both(name)
    data = TORTURE.encode()
    for end in range(0, len(data), 7):
        part = data[max(0, end - 30) : end]
        assert mine._encode_bytes(part) == theirs._encode_bytes(part)


@pytest.mark.parametrize("unit", ["^", "0", "a", "'s", " ", "\n", "x", "漢"])
@some
def test_repetitive_text(name: str, unit: str, engine_name: str) -> None:
    mine, theirs = both(name)
    long = unit * (10_000 if engine_name == "core" else 300)
    for text in (long, f" {long}", f"{long}\n"):
        assert mine.encode(text) == theirs.encode(text)
        assert mine.decode(mine.encode(text)) == text


def test_a_million_of_one_letter(engine_name: str) -> None:
    text = "x" * (1_000_000 if engine_name == "core" else 2_000)
    mine = face.get_encoding("o200k_base")
    assert mine.decode(mine.encode(text)) == text


def test_surrogates() -> None:
    mine = face.get_encoding("cl100k_base")
    assert mine.encode("\ud83d\udc4d") == mine.encode("👍")
    assert mine.encode("\ud83d") == mine.encode("\ufffd")


@pytest.mark.parametrize("wrong", [b"hello", None, 5, bytearray(b"a")])
def test_what_is_no_text(wrong: Any) -> None:
    mine = face.get_encoding("r50k_base")
    for call in (mine.encode, mine.encode_ordinary, mine.encode_to_numpy, mine.encode_with_unstable):
        with pytest.raises(TypeError, match="expected str"):
            call(wrong)


# ---- special tokens ----


def test_special_tokens_are_refused_unless_asked_for() -> None:
    mine = face.get_encoding("cl100k_base")
    text = "<|endoftext|> hello <|fim_prefix|> <|fim_middle|>"
    end, prefix = mine.eot_token, mine.encode_single_token("<|fim_prefix|>")
    with pytest.raises(ValueError, match=r"disallowed special token '<\|endoftext\|>'.*allowed_special=\{.*=\(\)"):
        mine.encode(text)
    with pytest.raises(ValueError, match=r"'<\|fim_prefix\|>'"):
        mine.encode(text, allowed_special={"<|endoftext|>"})
    with pytest.raises(ValueError, match=r"'<\|fim_middle\|>'"):
        mine.encode(text, disallowed_special={"<|fim_middle|>"})
    with pytest.raises(ValueError, match=r"'<\|fim_prefix\|>'"):
        mine.encode_batch(["ok", text], disallowed_special=["<|fim_prefix|>"])
    with pytest.raises(TypeError, match="set of names"):
        mine.encode(text, allowed_special=["<|endoftext|>"])  # type: ignore[arg-type]
    assert end not in mine.encode(text, disallowed_special=())
    some_of_them = mine.encode(text, allowed_special={"<|fim_prefix|>"}, disallowed_special=())
    assert prefix in some_of_them
    assert end not in some_of_them
    assert mine.decode(mine.encode(text, allowed_special="all")) == text


@pytest.mark.parametrize(
    "specials",
    [{}, {"<a>": 256, "<b>": 256}, {"<a>": 97, "<b>": 1000}, {"<a>": 300, "é": 299}],
    ids=["none", "one id twice", "a byte's id", "far"],
)
@pytest.mark.parametrize("pat_str", ["a+", r"\w+|\W", r"(?s:.)", definition("o200k_base")["pat_str"]])
def test_encodings_of_ones_own(specials: dict[str, int], pat_str: str) -> None:
    """tiktoken drops what a pattern leaves out, lets names share a token, and a name be an ordinary token."""
    told = {"pat_str": pat_str, "mergeable_ranks": {**BYTES, b"aa": 256 + 700, b"ab": 998}, "special_tokens": specials}
    mine, theirs = face.Encoding("own", **told), real.Encoding("own", **told)
    for text in ("", "a<a>b<b>aaé aab", "<a>", "bab é", "aaa<b>", "\n<a>a"):
        assert mine.encode(text, disallowed_special=()) == theirs.encode(text, disallowed_special=())
        for allowed in ("all", {"<a>"} & set(specials)):
            options = {"allowed_special": allowed, "disallowed_special": ()}
            ids = theirs.encode(text, **options)
            assert mine.encode(text, **options) == mine.encode_batch([text], **options)[0] == ids
            assert mine.encode_to_numpy(text, **options).tolist() == ids
            if len(set(specials.values())) == len(specials):
                assert mine.decode(ids) == theirs.decode(ids)
    assert mine.n_vocab == theirs.n_vocab
    for token in range(mine.n_vocab + 6):
        known = outcome(theirs.decode_bytes, [token])
        if len(set(specials.values())) == len(specials) or isinstance(known, type):
            assert same(outcome(mine.decode_bytes, [token]), known)
            assert same(outcome(mine.decode_single_token_bytes, token), known)


def test_wrong_encodings() -> None:
    right: dict[str, Any] = {"pat_str": "a+", "mergeable_ranks": BYTES, "special_tokens": {}}
    assert face.Encoding("x", **right, explicit_n_vocab=256).n_vocab == 256
    for wrong in ({"explicit_n_vocab": 255}, {"mergeable_ranks": {}}, {"mergeable_ranks": {b"a": 0}}, {"pat_str": "("}):
        with pytest.raises(ValueError, match=r"\w"):
            face.Encoding("x", **{**right, **wrong})


# ---- tokens to text ----

tokens = st.lists(st.integers(0, 60_000), max_size=12)


@some
@given(ids=tokens)
@settings(max_examples=200)
def test_any_tokens(name: str, ids: list[int]) -> None:
    mine, theirs = both(name)
    for method in ("decode_bytes", "decode_tokens_bytes", "decode", "decode_with_offsets", "decode_single_token_bytes"):
        argument = ids[0] if method == "decode_single_token_bytes" and ids else ids
        assert same(outcome(getattr(mine, method), argument), outcome(getattr(theirs, method), argument)), method
    for errors in ("strict", "ignore", "backslashreplace", "no such"):
        assert same(outcome(mine.decode, ids, errors), outcome(theirs.decode, ids, errors=errors))


@some
@given(text=st.text(st.characters(exclude_categories=["Cs"])))
@settings(max_examples=100)
def test_offsets(name: str, text: str) -> None:
    """Each is the number of whole characters before the token."""
    mine, theirs = both(name)
    ids = mine.encode(text, allowed_special="all")
    found, offsets = mine.decode_with_offsets(ids)
    assert (found, offsets) == theirs.decode_with_offsets(ids)
    assert found == text
    assert offsets == [len(mine.decode(ids[:place], errors="ignore")) for place in range(len(ids))]


@pytest.mark.parametrize(
    "wrong", [[100500], [-1], [1 << 40], [1, 1 << 32], [100500, -1], [1.5], "ab", {1}, [True], ["a"], None, [[1]]]
)
def test_wrong_tokens(wrong: Any) -> None:
    mine, theirs = both("cl100k_base")
    for method in ("decode_bytes", "decode"):
        assert same(outcome(getattr(mine, method), wrong), outcome(getattr(theirs, method), wrong)), method
    if isinstance(wrong, list):
        one = wrong[-1]
        assert same(outcome(mine.decode_single_token_bytes, one), outcome(theirs.decode_single_token_bytes, one))


def test_other_sequences_of_tokens() -> None:
    import numpy as np

    mine, theirs = both("cl100k_base")
    for ids in ((1, 2), range(3), np.array([1, 2]), np.array([1, 2], dtype=np.uint32), b"ab"):
        assert mine.decode_bytes(ids) == theirs.decode_bytes(ids)  # type: ignore[arg-type]


# ---- unstable ends ----


def plain(pair: tuple[list[int], list[list[int]]]) -> tuple[list[int], set[tuple[int, ...]]]:
    return pair[0], {tuple(ids) for ids in pair[1]}


@some
def test_unstable_ends(name: str, engine_name: str) -> None:
    mine, theirs = both(name)
    ends = [
        "",
        "hello fanta",
        "x\n\n",
        "a  \n \t ",
        "don't",
        "12345",
        " 漢字",
        "<|endoftext|>",
        "a<|endoftext|>\n",
        "\n\n",
    ]
    for text in ends[: None if engine_name == "core" else 4]:
        found = mine.encode_with_unstable(text, allowed_special="all")
        assert plain(found) == plain(theirs.encode_with_unstable(text, allowed_special="all")), text
        stable, endings = found
        assert text.encode().startswith(mine.decode_bytes(stable))
        assert all(mine.decode_bytes(stable + ending).startswith(text.encode()) for ending in endings)
        assert endings == sorted(endings)


@some
@given(text=st.lists(st.sampled_from([*TRICKY, "the", " of", "\n", "  ", "ing"]), max_size=4).map("".join))
@settings(max_examples=25)
def test_unstable_ends_of_any_text(name: str, text: str) -> None:
    mine, theirs = both(name)
    assert plain(mine.encode_with_unstable(text)) == plain(theirs.encode_with_unstable(text))


def test_unstable_ends_refuse_what_encode_refuses() -> None:
    mine, theirs = both("r50k_base")
    for text in ("<|endoftext|>", "\ud83d"):
        assert same(outcome(mine.encode_with_unstable, text), outcome(theirs.encode_with_unstable, text))


# ---- keeping them ----


def test_pickled_encodings() -> None:
    mine = face.get_encoding("r50k_base")
    assert len(pickle.dumps(mine)) < 200
    again = pickle.loads(pickle.dumps(mine))
    assert again.encode("hello world") == mine.encode("hello world")
    own = face.Encoding(
        "own", pat_str=mine._pat_str, mergeable_ranks=mine._mergeable_ranks, special_tokens={"<|p|>": 100_000}
    )
    for kept in (pickle.loads(pickle.dumps(own)), copy.copy(own), copy.deepcopy(own)):
        assert kept.encode("hello<|p|>", allowed_special="all") == own.encode("hello<|p|>", allowed_special="all")
        assert kept.name == "own"


def test_gpt2_and_r50k_are_the_same() -> None:
    assert face.get_encoding("gpt2").encode(TORTURE) == face.get_encoding("r50k_base").encode(TORTURE)
