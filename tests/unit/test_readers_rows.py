"""Texts in rows: JSON lines, Parquet, Arrow, comma-separated files, pyarrow's objects and Hugging Face datasets."""

from __future__ import annotations

import gzip
import io
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bytepair
from bytepair import WordCounts, files
from bytepair.corpus import jsonl
from bytepair.corpus.options import How
from bytepair.corpus.streams import ByteStream

sys.path.insert(0, str(Path(__file__).parent))
from corpora import named, texts

ROWS = ["low\r\n", "", "é🧠\0", "a\nb\n", '"quoted", \t', "x" * 5000]


# --- JSON lines


def write_lines(path: Path, *lines: bytes) -> Path:
    path.write_bytes(b"\n".join(lines))
    return path


def test_json_lines(tmp_path: Path) -> None:
    lines = [json.dumps({"id": 10**30, "text": text, "more": [{"text": "no"}]}).encode() for text in ROWS]
    path = write_lines(tmp_path / "a.jsonl", b"\xef\xbb\xbf" + lines[0], b"", *lines[1:3], b" \r", *lines[3:])
    expected = [text.encode() for text in ROWS]
    assert texts(path) == texts(tmp_path) == texts(files(path, field="text")) == expected
    assert [name for name, _ in named(path)] == [f"a.jsonl:{number}" for number in (1, 3, 4, 6, 7, 8)]
    (tmp_path / "b.ndjson.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert texts(tmp_path / "b.ndjson.gz") == expected
    assert texts(files(io.BytesIO(path.read_bytes()), format="jsonl")) == expected
    assert texts(files(path, format="text")) == texts(files(path, format="raw")) == [path.read_bytes()]
    assert texts(files(path, by="line"))[:1] == [b"low\r\n"] and b"a\n" in texts(files(path, by="line"))
    assert texts(files(tmp_path / "b.ndjson.gz", by="line", format="text"))[3] == lines[2] + b"\n"
    path.write_bytes(path.read_bytes()[3:].decode().encode("utf-16"))
    assert texts(files(path, encoding="utf-16")) == expected


@given(st.lists(st.text(max_size=20)), st.integers(1, 9))
def test_json_lines_in_any_pieces(rows: list[str], size: int) -> None:
    data = io.BytesIO(b"".join(json.dumps({"text": row}, ensure_ascii=False).encode() + b"\n" for row in rows))
    stream = ByteStream("x", lambda _: data.read(size))
    assert [document.source for document in jsonl.documents(stream, How())] == [row.encode() for row in rows]


@pytest.mark.parametrize(("line", "message"), [
    (b'{"text": "a"', "this is no JSON"),
    (b"text", "this is no JSON"),
    (b'["text"]', "no JSON object but a list"),
    (b"12", "no JSON object but a number"),
    (b"null", "no JSON object but null"),
    (b'{"content": "a", "id": 5}', r"no field 'text' \(its fields: 'content', 'id'\); name it with field="),
    (b"{}", r"no field 'text' \(its fields: none\)"),
    (b'{"text": 5}', "'text' is a number, no text"),
    (b'{"text": -5e300}', "'text' is a number, no text"),
    (b'{"text": NaN}', "'text' is a number, no text"),
    (b'{"text": null}', "'text' is null, no text"),
    (b'{"text": true}', "'text' is true, no text"),
    (b'{"text": {"a": 1}}', "'text' is an object, no text"),
    (b'{"text": ["a"]}', "'text' is a list, no text"),
    (b'{"text": ' + b"[" * 100_000, "nested too deep"),
    (b'{"a": ' + b"9" * 100_000 + b"}", "no field 'text'"),
    (rb'{"text": "a\ud83d"}', r"lone surrogate U\+D83D at character 1.*--errors replace"),
    (b'{"text": "\xff \\udcff"}', "lone surrogate U\\+DCFF"),
    (b'{"text": "a\x01"}', "this is no JSON"),
])  # fmt: skip
def test_a_bad_line_is_an_error_or_is_left_out(line: bytes, message: str, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", b'{"text": "one"}', line, b'{"text": "two"}')
    with pytest.raises(bytepair.FormatError, match=rf"a\.jsonl, line 2 \(byte offset 16\): .*{message}.*bad_rows"):
        texts(path)
    with pytest.warns(bytepair.BytepairNotice, match="1 of 3 lines were left out; the first: .*line 2"):
        assert texts(files(path, bad_rows="skip")) == [b"one", b"two"]


def test_json_lines_that_are_no_utf8(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", b'{"text": "ok"}', b'{"text": "\xff\xfe \\ud83e\\udde0 bad"}')
    assert texts(path) == [b"ok", b"\xff\xfe " + "🧠".encode() + b" bad"]
    assert texts(files(path, errors="replace"))[1] == "\ufffd\ufffd 🧠 bad".encode()
    assert texts(files(path, encoding="latin-1"))[1] == "ÿþ 🧠 bad".encode()
    with pytest.raises(bytepair.FormatError, match=r"a\.jsonl: byte 0xFF at byte offset 25"):
        texts(files(path, errors="strict"))
    write_lines(path, rb'{"text": "a\ud83d"}')
    assert texts(files(path, errors="replace")) == ["a\ufffd".encode()]


def test_a_line_without_an_end_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "LONGEST", 1 << 20)
    read = 0

    def endless(size: int) -> bytes:
        nonlocal read
        read += size
        return b"x" * size

    with pytest.raises(bytepair.FormatError, match="a line is longer than"):
        list(jsonl.documents(ByteStream("endless", endless), How()))
    assert read < 16 << 20


# --- tables

pa = pytest.importorskip("pyarrow")
TYPES = ["string", "large_string", "binary", "large_binary", "dictionary", "string_view"]


def column(kind: str, rows: Any = ROWS) -> Any:
    if kind == "dictionary":
        return pa.array(rows).dictionary_encode()
    made = pa.array([row if row is None else row.encode() for row in rows], pa.binary())
    return made if kind == "binary" else made.cast(getattr(pa, kind)())


def write_table(path: Path, **columns: Any) -> Path:
    table = pa.table(columns)
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        pq.write_table(table, path, row_group_size=4)
    elif path.suffix == ".feather":
        from pyarrow import feather

        feather.write_feather(table, path, chunksize=4)
    else:
        maker = pa.ipc.new_stream if "stream" in path.name else pa.ipc.new_file
        with pa.OSFile(str(path), "wb") as sink, maker(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=4)
    return path


NAMES = ["a.parquet", "a.feather", "a.arrow", "stream.arrow"]
tables = pytest.mark.parametrize("name", NAMES)


@tables
@pytest.mark.parametrize("kind", TYPES)
def test_a_column_of_texts(name: str, kind: str, tmp_path: Path) -> None:
    if kind == "string_view" and name == "a.parquet":
        pytest.skip("Parquet has no views")
    path = write_table(
        tmp_path / name, id=list(range(len(ROWS))), text=column(kind), other=column("string", ROWS[::-1])
    )
    expected = [(f"{name}#{row}", text.encode()) for row, text in enumerate(ROWS)]
    assert named(path) == named(tmp_path) == expected
    assert texts(files(path, column="other")) == [text.encode() for text in ROWS[::-1]]
    with open(path, "rb") as file:
        assert texts(file) == [text.encode() for text in ROWS]
    for threads in (1, 2):
        assert WordCounts.from_corpus(path, threads=threads) == WordCounts.from_corpus(ROWS, threads=1)


@tables
def test_rows_without_a_text(name: str, tmp_path: Path) -> None:
    rows = ["a", None, "b", "c", None, None, "d"]
    path = write_table(tmp_path / name, text=pa.array(rows))
    with pytest.raises(bytepair.FormatError, match=rf"{name}, row 1: there is no text.*bad_rows"):
        texts(path)
    with pytest.warns(bytepair.BytepairNotice, match=f"{name}: 3 of 7 rows were left out; the first: .*row 1"):
        assert named(files(path, bad_rows="skip")) == [
            (f"{name}#{row}", text.encode()) for row, text in enumerate(rows) if text
        ]


@tables
def test_columns_that_cannot_be_read(name: str, tmp_path: Path) -> None:
    path = write_table(tmp_path / name, id=[1, 2], words=[["a"], ["b"]], content=["a", "b"])
    with pytest.raises(bytepair.FormatError, match=r"is no column 'text' \(its columns: 'id', 'words', 'content'\)"):
        texts(path)
    with pytest.raises(bytepair.FormatError, match=r"'words' holds list<.*no text \(columns of text: 'content'\)"):
        texts(files(path, column="words"))
    with pytest.raises(bytepair.TrainingError, match="give column='content'"):
        texts(files(path, field="content"))


@tables
def test_damaged_tables(name: str, tmp_path: Path) -> None:
    path = write_table(tmp_path / name, text=pa.array(ROWS * 50))
    data = path.read_bytes()
    for bad in (b"", b"text", data[: len(data) // 2], data[:-9] if "stream" not in name else data[:-1000]):
        path.write_bytes(bad)
        with pytest.raises(bytepair.FormatError, match=rf"{name}: (this is no|the) (Parquet|Arrow)"):
            texts(path)
    # Any byte may be another one: an error that names the file, or some texts, and never a crash.
    for at in range(8, len(data), max(1, len(data) // 60)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 255]) + data[at + 1 :])
        try:
            texts(path)
        except bytepair.BytepairError as error:
            assert name in str(error)


@tables
def test_tables_need_a_file_that_can_be_sought(name: str, tmp_path: Path) -> None:
    data = write_table(tmp_path / name, text=pa.array(ROWS)).read_bytes()

    class Pipe(io.RawIOBase):
        def __init__(self) -> None:
            self.file = io.BytesIO(data)

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            return self.file.readinto(buffer)

    with pytest.raises(bytepair.TrainingError, match="cannot be read from a pipe"):
        texts(files(Pipe(), format="parquet" if "parquet" in name else "arrow"))


def test_bytes_in_a_column_that_are_no_utf8(tmp_path: Path) -> None:
    path = write_table(tmp_path / "a.parquet", text=pa.array([b"ok", b"a\xff"]))
    assert texts(path) == [b"ok", b"a\xff"]
    with pytest.raises(bytepair.FormatError, match=r"a\.parquet#1: byte 0xFF at byte offset 1"):
        texts(files(path, errors="strict"))
    assert texts(files(path, errors="replace")) == [b"ok", "a\ufffd".encode()]
    assert texts(files(path, encoding="latin-1")) == [b"ok", "aÿ".encode()]


@pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".tsv", "\t")])
def test_comma_separated_files(suffix: str, delimiter: str, tmp_path: Path) -> None:
    rows = ['"low\r\n\r\nlow"', "NA", '""', '"say ""x"""', "é", "1.50"]
    lines = [f"id{delimiter}content", *(f"{k}{delimiter}{row}" for k, row in enumerate(rows))]
    path = tmp_path / f"a{suffix}"
    path.write_bytes("\n".join(lines).encode())
    expected = [text.encode() for text in ["low\r\n\r\nlow", "NA", "", 'say "x"', "é", "1.50"]]
    assert texts(files(path, column="content")) == expected
    assert texts(path) == [path.read_bytes()]  # nobody asked for a column
    (tmp_path / f"b{suffix}.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert texts(files(tmp_path / f"b{suffix}.gz", column="content")) == expected
    path.write_bytes("\n".join(lines).encode("utf-16"))
    assert texts(files(path, column="content", encoding="utf-16")) == expected
    broken = ["id,text", "1,a\xff", "2", "3,z"]
    path.write_bytes("\n".join(broken).replace(",", delimiter).encode("latin-1"))
    with pytest.raises(bytepair.FormatError, match=rf"a\{suffix}: .*Row #3: Expected 2 columns, got 1"):
        texts(files(path, format=suffix[1:]))
    with pytest.warns(bytepair.BytepairNotice, match="1 of 3 rows were left out"):
        assert texts(files(path, format=suffix[1:], bad_rows="skip")) == [b"a\xff", b"z"]
    path.write_bytes(b"")
    with pytest.raises(bytepair.FormatError, match=rf"a\{suffix}: this is no comma-separated file"):
        texts(files(path, column="text"))


def test_pyarrow_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_table(tmp_path / "a.parquet", text=["a"])
    for module in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(bytepair.FormatError, match=r"a\.parquet.*pip install 'bytepair\[data\]'"):
        texts(tmp_path / "a.parquet")


# --- objects


@pytest.mark.parametrize("kind", TYPES)
def test_arrays_of_pyarrow(kind: str) -> None:
    array = column(kind)
    expected = [text.encode() for text in ROWS]
    assert texts(array) == texts(pa.chunked_array([array[:2], array[2:]])) == expected
    assert texts(array[1:3]) == expected[1:3]
    assert texts(pa.table({"text": array, "id": range(len(ROWS))})) == expected
    assert texts(pa.record_batch([array], ["text"])) == expected
    table = pa.table({"text": array})
    assert texts(pa.RecordBatchReader.from_batches(table.schema, table.to_batches())) == expected


def test_a_dataset_of_pyarrow(tmp_path: Path) -> None:
    from pyarrow import dataset

    write_table(tmp_path / "a.parquet", id=list(range(len(ROWS))), text=ROWS)
    assert texts(dataset.dataset(tmp_path)) == [text.encode() for text in ROWS]


def test_how_objects_are_read() -> None:
    table = pa.table({"content": ["a\nb", None], "text": ["x", "y"]})
    with pytest.warns(bytepair.BytepairNotice, match="the table: 1 of 2 rows were left out"):
        assert named(files(table, column="content", by="line", bad_rows="skip")) == [
            ("the table#0:1", b"a\n"), ("the table#0:2", b"b"),
        ]  # fmt: skip
    assert texts(files(pa.array([b"\xff"]), pa.table({"text": [b"\xe9"]}), encoding="latin-1")) == [
        "ÿ".encode(),
        "é".encode(),
    ]


def test_objects_of_pyarrow_that_are_no_corpus() -> None:
    with pytest.raises(bytepair.TrainingError, match="an array of int64 is no corpus"):
        texts(pa.array([1]))
    with pytest.raises(bytepair.TrainingError, match=r"the table has no column 'text' .*'a'.*files\(table, column="):
        texts(pa.table({"a": ["x"]}))
    with pytest.raises(bytepair.TrainingError, match="'text' of the table holds int64"):
        texts(pa.table({"text": [1]}))
    with pytest.raises(bytepair.FormatError, match="the array, row 1: there is no text"):
        texts(pa.array(["a", None]))
    with pytest.raises(bytepair.TrainingError, match="no corpus"):
        texts(pa.schema([("text", pa.string())]))


def test_datasets_of_hugging_face(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        datasets = pytest.importorskip("datasets")
    expected = [text.encode() for text in ROWS]
    made = datasets.Dataset.from_dict({"text": ROWS, "id": list(range(len(ROWS)))})
    assert texts(made) == expected
    assert texts(made.select([4, 2])) == [expected[4], expected[2]]
    assert texts(made.with_format("numpy")) == expected
    assert texts(made["text"]) == expected
    other = made.rename_column("text", "content")
    assert texts(files(other, other.to_iterable_dataset(), column="content")) == expected * 2
    with pytest.raises(bytepair.TrainingError, match="the table: tables have columns"):
        texts(files(made, field="text"))

    def rows() -> Iterator[dict[str, Any]]:
        for text in ROWS:
            yield {"text": text, "n": 5}

    streamed = datasets.IterableDataset.from_generator(rows)
    assert texts(streamed) == texts(made.to_iterable_dataset()) == texts(streamed.map(lambda row: row)) == expected
    for none in (made.rename_column("text", "content"), streamed.rename_column("text", "content")):
        with pytest.raises(bytepair.TrainingError, match="the dataset has no column 'text'"):
            texts(none)
    for none in (made.remove_columns("text").rename_column("id", "text"), streamed.map(lambda row: {"text": 5})):
        with pytest.raises(bytepair.TrainingError, match="'text' of the dataset holds int64"):
            texts(none)
    splits = datasets.DatasetDict({"train": made, "test": made})
    with pytest.raises(bytepair.TrainingError, match=r"'train', 'test'\); choose one, as in dataset\['train'\]"):
        bytepair.train(splits)


def test_tables_of_other_libraries() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": ROWS})
    assert texts(frame["text"]) == [text.encode() for text in ROWS]
    with pytest.raises(bytepair.TrainingError, match=r"a DataFrame is a table; give its column of texts"):
        texts(frame)
