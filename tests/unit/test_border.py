"""What passes between Python and the engine: lists, arrays, strings and methods, and threads that share them."""

from __future__ import annotations

import copy
import inspect
import pickle
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bytepair
from bytepair import Ragged, Tokenizer, UnknownTokenError, _engine
from bytepair.errors import BytepairError, TextError

TEXT = "low lower lowest, d\u00e9j\u00e0 vu \u2014 \u0433\u043e\u0440\u043e\u0434 \u6771\u4eac \U0001f600 "


@pytest.fixture(scope="module")
def tok() -> Tokenizer:
    return bytepair.train(TEXT * 3, num_merges=20)


# ---- methods that the engine answers itself ----


def test_direct_methods_look_like_the_functions_they_stand_for(tok: Tokenizer) -> None:
    for name in ("encode", "count"):
        method = getattr(Tokenizer, name)
        parameters = list(inspect.signature(method).parameters.values())
        assert [p.name for p in parameters[:2]] == ["self", "text"]
        assert all(p.kind is p.KEYWORD_ONLY for p in parameters[2:])
        assert list(inspect.signature(getattr(tok, name)).parameters) == [p.name for p in parameters[1:]]
        assert method.__name__ == name and method.__qualname__ == f"Tokenizer.{name}"
        assert method.__module__ == "bytepair.tokenizer" and inspect.isroutine(method)
        assert "special" in inspect.getsource(method)
    assert "The ids of a text." in (Tokenizer.encode.__doc__ or "")
    assert "Tokenizer.encode" in repr(Tokenizer.encode)


def test_direct_methods_are_pickled_and_copied_by_name(tok: Tokenizer) -> None:
    assert pickle.loads(pickle.dumps(Tokenizer.encode)) is Tokenizer.encode
    assert copy.deepcopy(Tokenizer.count) is Tokenizer.count
    assert pickle.loads(pickle.dumps(tok.encode))(TEXT) == tok.encode(TEXT)


def test_direct_methods_before_and_after_the_first_call_and_by_every_road(tok: Tokenizer) -> None:
    fresh = pickle.loads(pickle.dumps(tok))
    assert fresh.count(TEXT) == len(tok.encode(TEXT)) == fresh.count(TEXT)
    want = fresh.encode(TEXT)
    roads: list[Callable[[], Any]] = [
        lambda: fresh.encode(TEXT),
        lambda: fresh.encode(text=TEXT),
        lambda: fresh.encode(TEXT, special="text"),
        lambda: fresh.encode(TEXT.encode()),
        lambda: fresh.encode(bytearray(TEXT.encode())),
        lambda: Tokenizer.encode(fresh, TEXT),
        lambda: next(map(fresh.encode, [TEXT])),
        lambda: fresh.encode_array(TEXT).tolist(),
    ]
    assert all(road() == want for road in roads)
    long = TEXT * 1000
    assert fresh.encode(long) == fresh.encode_array(long).tolist() and fresh.count(long) == len(fresh.encode(long))


def test_direct_methods_are_inherited_and_overridden() -> None:
    class Louder(Tokenizer):
        __slots__ = ()

        def encode(self, text: Any, **options: Any) -> list[int]:
            return super().encode(text.upper(), **options)

    plain = bytepair.train(TEXT * 3, num_merges=5)
    louder = Louder(plain._vocabulary, plain._pattern)
    for _ in range(2):
        assert louder.encode("low") == plain.encode("LOW") and louder.count("low") == plain.count("low")


def test_every_string_kind_and_length_goes_the_direct_way_alike(tok: Tokenizer) -> None:
    for character in ("a", "\u00e9", "\u0433", "\u6771", "\U0001f600", "\x00"):
        for n in (0, 1, 7, 511, 512, 513, 2047, 2048, 9000):
            text = "low " * (n // 8) + character * (n - n // 8)
            want = tok.encode_array(text.encode()).tolist()
            assert tok.encode(text) == want and tok.count(text) == len(want)


@pytest.mark.parametrize("text", ["low\ud800", "\udc80" * 600, 3, None, ["low"], 2.5])
def test_what_cannot_be_encoded_is_told_as_ever(tok: Tokenizer, text: Any) -> None:
    tok.encode("low")
    for method in (tok.encode, tok.count):
        with pytest.raises(TextError if isinstance(text, str) else TypeError):
            method(text)
    with pytest.raises(TypeError):
        tok.encode()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        tok.encode("low", True)  # type: ignore[misc]
    with pytest.raises(AttributeError):
        Tokenizer.encode(3, "low")  # type: ignore[arg-type]


def test_an_unknown_character_is_named_on_the_direct_way_too() -> None:
    letters = bytepair.train("low lower lowest", num_merges=2, alphabet="characters", specials=())
    letters.encode("low")
    for method in (letters.encode, letters.count):
        with pytest.raises(UnknownTokenError, match="U\\+007A"):
            method("low z")


def test_lists_hold_plain_ints(tok: Tokenizer) -> None:
    ids = tok.encode(TEXT * 50)
    assert all(type(i) is int for i in ids) and [i + 0 for i in ids] == tok.encode_array(TEXT * 50).tolist()
    counts = [sys.getrefcount(i) for i in set(ids)]
    for _ in range(100):
        tok.encode(TEXT * 50)
    after = [sys.getrefcount(i) for i in set(ids)]
    assert all(abs(a - b) < 50 for a, b in zip(counts, after))  # what was made is given back


@pytest.mark.parametrize("number", [0, 1, 63, 64, 256, (1 << 18) - 1, 1 << 18, (1 << 30) - 1, 1 << 30, (1 << 32) - 2])
def test_ints_of_every_size_are_what_they_say(number: int) -> None:
    rows = _engine.lists(np.array([number, number], dtype=np.uint32), np.array([0, 1, 1, 2]))
    assert rows == [[number], [], [number]]
    (found,) = rows[0]
    assert str(found) == str(number) and hash(found) == hash(number) and found * 3 - number == 2 * number
    assert pickle.loads(pickle.dumps(found)) == number and {number: 1}[found] == 1 and found.bit_length() < 33


# ---- ids that come in ----


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", ">u4", ">i8", "<i2", ">u2"])
def test_arrays_of_every_integer_type(tok: Tokenizer, dtype: str) -> None:
    ids = [i for i in tok.encode(TEXT) if i < 127]
    array = np.array(ids, dtype=dtype)
    want = tok.decode_bytes(ids)
    frozen = array.copy()
    frozen.flags.writeable = False
    spread = np.zeros(2 * len(ids), dtype=dtype)
    spread[::2] = array
    for given in (array, frozen, spread[::2], array[::-1][::-1]):
        assert tok.decode_bytes(given) == want and tok.decode(given) == want.decode("utf-8", "replace")
        assert tok.decode_batch([given, given]) == [want.decode("utf-8", "replace")] * 2
        assert tok.decode_with_offsets(given) == tok.decode_with_offsets(ids)


def test_numpys_ints_in_a_list_and_other_sequences(tok: Tokenizer) -> None:
    ids = tok.encode(TEXT)
    for given in ([np.uint16(i) for i in ids], [np.int64(i) for i in ids], tuple(ids), iter(ids), np.array(ids)):
        assert tok.decode(given) == TEXT  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [-1, 300, 1 << 30, (1 << 32) - 1, 1 << 32, (1 << 32) + 5, 1 << 64, -(1 << 64)])
def test_an_id_that_does_not_exist_is_named_with_its_place(tok: Tokenizer, bad: int) -> None:
    ids = [*tok.encode(TEXT), bad, 7]
    message = f"id {bad} at place {len(ids) - 2} does not exist"
    for method in (tok.decode, tok.decode_bytes, tok.decode_with_offsets):
        with pytest.raises(UnknownTokenError, match=message):
            method(ids)
    with pytest.raises(UnknownTokenError, match=f"row 1: {message}"):
        tok.decode_batch([[7], ids])
    if -(1 << 63) <= bad < 1 << 63:
        with pytest.raises(UnknownTokenError, match=message):
            tok.decode(np.array(ids))
    if 0 <= bad < 1 << 32:
        with pytest.raises(UnknownTokenError, match="row 1: id"):
            tok.decode_batch(Ragged(np.array([7, bad], dtype=np.uint32), np.array([0, 1, 2])))


@pytest.mark.parametrize("bad", [True, False, 2.0, "7", None, np.float32(3), np.bool_(True)])
def test_what_is_no_whole_number_is_named_with_its_place(tok: Tokenizer, bad: Any) -> None:
    for method in (tok.decode, tok.decode_bytes, tok.decode_with_offsets, lambda ids: tok.decode_batch([ids])):
        with pytest.raises(TypeError, match=r"ids\[2\] is a .*; an id is a whole number"):
            method([7, 8, bad])


def test_arrays_that_are_no_ids(tok: Tokenizer) -> None:
    for bad in (np.array([1.5]), np.array([True]), np.zeros((2, 2), dtype=int), "low", b"low", {1: 2}, {1}, 7):
        with pytest.raises(TypeError):
            tok.decode(bad)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="row 1: "):
            tok.decode_batch([[7], bad])  # type: ignore[list-item]


def test_an_index_that_changes_the_list_while_it_is_read(tok: Tokenizer) -> None:
    class Clears:
        def __index__(self) -> int:
            ids.clear()
            return 107

    class Fails:
        def __index__(self) -> int:
            raise ZeroDivisionError

    ids: list[Any] = [263, Clears(), *range(256, 280)]
    assert tok.decode(ids) == tok.decode([263, 107])
    with pytest.raises(ZeroDivisionError):
        tok.decode([263, Fails()])  # type: ignore[list-item]


# ---- text that comes out ----


@pytest.mark.parametrize("errors", ["replace", "strict", "ignore", "surrogateescape", "backslashreplace"])
def test_text_is_what_python_makes_of_the_bytes(tok: Tokenizer, errors: Any) -> None:
    data = TEXT.encode()
    base = tok.byte_base or 0
    for cut in range(len(data)):
        for ids in (tok.encode(data[:cut]), [base + byte for byte in data[cut:]], [*tok.encode(data[cut:]), 1]):
            given = tok.decode_bytes(ids)
            try:
                want: Any = given.decode("utf-8", errors)
            except UnicodeDecodeError as error:
                with pytest.raises(UnicodeDecodeError, match=error.reason):
                    tok.decode(ids, errors=errors)
                continue
            found = tok.decode(ids, errors=errors)
            assert (
                found == want
                and sys.getsizeof(found) <= sys.getsizeof(want) + 4 * len(given)
                and hash(found) == hash(want)
            )
            assert tok.decode(np.array(ids, dtype=np.uint32), errors=errors) == want
            assert tok.decode_batch([ids, [], ids], errors=errors, threads=2) == [want, "", want]
    with pytest.raises(BytepairError, match="errors"):
        tok.decode([7], errors="other")  # type: ignore[arg-type]


def test_batches_of_every_kind_are_what_each_row_is(tok: Tokenizer) -> None:
    texts = [TEXT[k : k + n] for k in range(0, 30, 3) for n in (0, 1, 5, 40)]
    rows = tok.encode_batch_array(texts)
    assert rows.to_lists() == tok.encode_batch(texts) == [tok.encode(text) for text in texts]
    lists: list[Any] = tok.encode_batch(texts)
    mixed = [row if k % 2 else np.array(row, dtype=np.int64) for k, row in enumerate(lists)]
    for threads in (None, 1, 3):
        for batch in (rows, lists, list(rows), mixed, iter(lists)):
            assert tok.decode_batch(batch, threads=threads) == texts
    assert tok.decode_batch([]) == []
    with pytest.raises(BytepairError, match="threads"):
        tok.decode_batch(lists, threads=0)


def test_a_batch_with_specials_and_large_rows_on_threads(tok: Tokenizer) -> None:
    one = tok.encode(TEXT * 30 + "<eos>" + TEXT, special="all")
    rows = [one * 40, one, [], one * 3, [1, 2]] * 3
    for skip in (False, True):
        want = [tok.decode(row, skip_specials=skip) for row in rows]
        assert tok.decode_batch(rows, skip_specials=skip, threads=4) == want
    assert tok.decode(one, skip_specials=True) == TEXT * 31


def test_huge_lists(tok: Tokenizer) -> None:
    ids = tok.encode(TEXT) * 20_000
    assert tok.decode(ids) == TEXT * 20_000 and tok.decode_bytes(np.array(ids)) == TEXT.encode() * 20_000
    assert tok.decode_batch([ids, ids[:10]], threads=2)[0] == TEXT * 20_000


# ---- threads ----


def _all_at_once(number: int, work: Callable[[int], None]) -> None:
    failed: list[BaseException] = []
    start = threading.Barrier(number)

    def run(k: int) -> None:
        try:
            start.wait()
            work(k)
        except BaseException as error:  # noqa: BLE001  # shown below
            failed.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed


def test_sixteen_threads_share_one_tokenizer() -> None:
    for _ in range(3):
        fresh = bytepair.train(TEXT * 3, num_merges=20)  # whose parts are made while all of them want them
        texts = [TEXT[k:] + TEXT * k for k in range(16)]

        def work(k: int, fresh: Tokenizer = fresh, texts: list[str] = texts) -> None:
            for _ in range(20):
                for text in texts[k:] + texts[:k]:
                    ids = fresh.encode(text)
                    assert fresh.decode(ids) == text and fresh.count(text) == len(ids)
                    assert fresh.decode(fresh.encode_array(text)) == text

        _all_at_once(16, work)


def test_a_list_that_another_thread_changes(tok: Tokenizer) -> None:
    word = tok.encode(TEXT)
    ids = list(word)
    known = set(TEXT)
    stop = threading.Event()

    def work(k: int) -> None:
        if k == 0:
            for _ in range(300):
                ids.extend(word * 5)
                del ids[len(word) :]
                ids[:] = list(word)
            stop.set()
            return
        while not stop.is_set():
            assert set(tok.decode(ids)) <= known | {"\ufffd"}
            tok.decode_batch([ids, ids])

    _all_at_once(4, work)
    assert tok.decode(ids) == TEXT


def test_texts_that_another_thread_takes_out_of_their_list(tok: Tokenizer) -> None:
    texts = [TEXT * 3] * 50
    stop = threading.Event()

    def work(k: int) -> None:
        if k == 0:
            for n in range(200):
                texts.append(f"{TEXT}{n}")
                texts.pop(0)
            stop.set()
            return
        while not stop.is_set():
            for row in tok.decode_batch(tok.encode_batch(texts)):
                assert row.startswith(TEXT)

    _all_at_once(3, work)
