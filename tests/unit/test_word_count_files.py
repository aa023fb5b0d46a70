"""Files of counted words: what is written is read again, and nothing in a file is believed unchecked."""

from __future__ import annotations

import builtins
import json
from pathlib import Path
from typing import Any

import pytest

import bytepair
from bytepair import FormatError, WordCounts
from bytepair.corpus import count_files
from bytepair.pattern import UNICODE_VERSION

pa = pytest.importorskip("pyarrow")
ipc = pytest.importorskip("pyarrow.ipc")

ABOUT = {"format": "bytepair-word-counts", "version": 1, "pattern": None, "unicode": UNICODE_VERSION, "specials": None}


@pytest.mark.parametrize("pattern", ["gpt2", "none", r"\w+(?i:x)|\s", "deepseek-v3"])
def test_what_is_saved_is_loaded(pattern: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "counts.arrow"
    words = WordCounts.from_corpus(
        ["low lower \xff", "", b"\x00\xff low\r\n" + "漢字".encode()],
        pattern=pattern,
        specials=["<é>"],
        first_document=7,
    )
    monkeypatch.setattr(count_files, "BATCH", 5)  # several record batches
    words.save(path)
    again = WordCounts.load(path)
    assert again == words
    assert again.documents.tolist() == words.documents.tolist()
    assert again.places.tolist() == words.places.tolist()
    assert (again.pattern, again.specials) == (words.pattern, ("<é>",))
    assert list(tmp_path.iterdir()) == [path]
    table = ipc.open_file(path).read_all()
    assert str(table.schema.remove_metadata()).splitlines() == [
        "word: binary not null", "count: int64 not null", "document: int64 not null", "offset: int64 not null",
    ]  # fmt: skip


def test_nothing_and_what_is_not_known(tmp_path: Path) -> None:
    for words in (WordCounts({}), WordCounts({"a": 1}), WordCounts.from_corpus("")):
        words.save(tmp_path / "x")
        again = WordCounts.load(tmp_path / "x")
        assert again == words and (again.pattern, again.specials) == (words.pattern, words.specials)


def written(path: Path, columns: dict[str, Any], about: Any = ABOUT, key: bytes = b"bytepair") -> Path:
    given = {
        "word": pa.array([b"a", b"b"], pa.binary()),
        "count": pa.array([1, 2], pa.int64()),
        "document": pa.array([0, 0], pa.int64()),
        "offset": pa.array([0, 1], pa.int64()),
        **columns,
    }
    kept = {name: column for name, column in given.items() if column is not None}
    about = about if isinstance(about, bytes) else json.dumps(about).encode()
    schema = pa.schema([pa.field(name, column.type) for name, column in kept.items()], metadata={key: about})
    with ipc.new_file(str(path), schema) as writer:
        writer.write_batch(pa.RecordBatch.from_arrays(list(kept.values()), schema=schema))
    return path


def of(*numbers: Any) -> Any:
    return pa.array(numbers, pa.int64())


WRONG: dict[str, tuple[dict[str, Any], Any, str]] = {
    "a missing column": ({"count": None}, ABOUT, "no column 'count'"),
    "a wrong type": ({"count": pa.array([1.0, 2.0])}, ABOUT, "no column 'count' of type int64"),
    "text": ({"word": pa.array(["a", "b"])}, ABOUT, "no column 'word' of type binary"),
    "a null": ({"offset": of(0, None)}, ABOUT, "row 1 has no offset"),
    "a null word": ({"word": pa.array([None, b"b"], pa.binary())}, ABOUT, "row 0 has no word"),
    "no count": ({"count": of(1, 0)}, ABOUT, "row 1 has a count that is not positive"),
    "a negative count": ({"count": of(-1, 1)}, ABOUT, "row 0 has a count that is not positive"),
    "a negative document": ({"document": of(0, -1)}, ABOUT, "row 1 has a negative document"),
    "a negative offset": ({"offset": of(-5, 0)}, ABOUT, "row 0 has a negative offset"),
    "an empty word": ({"word": pa.array([b"a", b""], pa.binary())}, ABOUT, "row 1 has an empty word"),
    "a word twice": ({"word": pa.array([b"a", b"a"], pa.binary())}, ABOUT, "word b'a' comes twice"),
    "no JSON": ({}, b"{", "no JSON"),
    "nested": ({}, b"[" * 100_000, "no JSON"),
    "another format": ({}, {"format": "x"}, "not those of counted words"),
    "a list": ({}, [1], "not those of counted words"),
    "another version": ({}, {**ABOUT, "version": 2}, "version 2"),
    "no Unicode version": ({}, {**ABOUT, "unicode": 16}, "no Unicode version"),
    "specials": ({}, {**ABOUT, "specials": [1]}, "no list of names"),
    "specials twice": ({}, {**ABOUT, "specials": ["a", "a"]}, "named twice"),
    "a pattern": ({}, {**ABOUT, "pattern": "gpt2"}, "no list of stages"),
    "a stage": ({}, {**ABOUT, "pattern": [{"regex": "a"}]}, "malformed"),
    "a regex": ({}, {**ABOUT, "pattern": [{"regex": "(", "dialect": "tiktoken", "drop": None}]}, "pattern"),
    "a regex of numbers": ({}, {**ABOUT, "pattern": [{"regex": 5, "dialect": "tiktoken", "drop": None}]}, "pattern"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told(name: str, tmp_path: Path) -> None:
    columns, about, what = WRONG[name]
    path = written(tmp_path / "wrong.arrow", columns, about)
    with pytest.raises(FormatError, match=what) as caught:
        WordCounts.load(path)
    assert "wrong.arrow" in str(caught.value)


def test_rows_in_any_order_and_other_columns_are_read(tmp_path: Path) -> None:
    path = written(tmp_path / "x", {"offset": of(9, 3), "note": pa.array(["x", "y"])})
    with pytest.warns(bytepair.BytepairNotice, match="Unicode 1.0"):
        WordCounts.load(written(tmp_path / "old", {}, {**ABOUT, "unicode": "1.0"}))
    words = WordCounts.load(path)
    assert list(words.items()) == [(b"b", 2), (b"a", 1)]


def test_files_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "x"
    for data, what in (
        (b"", "no file of counted words"),
        (b"low 5\n", "no file of"),
        (b"ARROW1\0\0" + bytes(99), "damaged"),
    ):
        path.write_bytes(data)
        with pytest.raises(FormatError, match=what):
            WordCounts.load(path)
    with pytest.raises(FormatError, match="not one of counted words"):
        WordCounts.load(written(path, {}, key=b"other"))
    with pytest.raises(FormatError, match="cannot read"):
        WordCounts.load(tmp_path / "none")
    with pytest.raises(FormatError, match="cannot write"):
        WordCounts({"a": 1}).save(tmp_path / "none" / "x")


def test_a_damaged_file_is_an_error_or_what_it_was(tmp_path: Path) -> None:
    """Every byte turned over: no crash, no other exception, and no words that break the rules."""
    path = tmp_path / "x"
    WordCounts.from_corpus("low lower lowest").save(path)
    data = path.read_bytes()
    for at in range(0, len(data), 3):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])
        try:
            words = WordCounts.load(path)
        except FormatError:
            continue
        except bytepair.BytepairNotice:
            continue
        assert all(count > 0 for count in words.counts.tolist()) and b"" not in set(words)
    for size in range(0, len(data), 37):
        path.write_bytes(data[:size])
        with pytest.raises(FormatError):
            WordCounts.load(path)


def test_without_pyarrow_the_error_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    true_import = builtins.__import__

    def no_pyarrow(name: str, *rest: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return true_import(name, *rest)

    monkeypatch.setattr(builtins, "__import__", no_pyarrow)
    for call in (lambda: WordCounts({"a": 1}).save(tmp_path / "x"), lambda: WordCounts.load(tmp_path / "x")):
        with pytest.raises(bytepair.BytepairError, match=r'pip install "bytepair\[data\]"'):
            call()
