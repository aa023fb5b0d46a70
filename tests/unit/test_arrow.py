"""Texts in pyarrow's arrays: the rows are those of the same texts as str."""

from __future__ import annotations

import pytest

import bytepair

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

TEXTS = ["low lower", "", "lowest é👍", "a<eos>b", "x" * 300]
TOK = bytepair.train("low low lower lowest", num_merges=4)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()], ids=str)
@pytest.mark.parametrize("special", ["text", "all"])
def test_rows(kind: object, special: str) -> None:
    array = pa.array([text.encode() for text in TEXTS] if "binary" in str(kind) else TEXTS, type=kind)
    for some, texts in (
        (array, TEXTS),
        (array.slice(1, 3), TEXTS[1:4]),
        (array.slice(2, 0), []),
        (pa.chunked_array([array.slice(0, 2), array.slice(2, 0), array.slice(2)]), TEXTS),
        (pa.chunked_array([], type=kind), []),
    ):
        for around in ({}, {"add_bos": True, "add_eos": True}):
            rows = TOK.encode_batch_array(some, special=special, **around)
            assert rows.to_lists() == [TOK.encode(text, special=special, **around) for text in texts]
            assert TOK.encode_batch(some, special=special, threads=2, **around) == rows.to_lists()


def test_other_ways_to_look_for_specials() -> None:
    array = pa.array(TEXTS)
    assert TOK.count_batch(array, special={"<eos>"}) == [TOK.count(text, special={"<eos>"}) for text in TEXTS]
    with pytest.raises(bytepair.SpecialTokenError, match="text 3"):
        TOK.encode_batch(array, special="error")


def test_a_row_that_is_null_is_named() -> None:
    with pytest.raises(bytepair.BytepairError, match=r"row 3 of the texts is null.*fill_null"):
        TOK.encode_batch(pa.chunked_array([["a", "b"], ["c", None, "d"]]))


def test_other_arrays_are_no_texts() -> None:
    with pytest.raises(TypeError):
        TOK.encode_batch(pa.array([1, 2]))
