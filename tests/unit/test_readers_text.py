"""Texts: files byte for byte, lines, other encodings, folders, globs, open files, addresses."""

from __future__ import annotations

import gzip
import io
import itertools
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bytepair
from bytepair import WordCounts, _engine, files
from bytepair.corpus.document import Document, by_lines, lines
from bytepair.corpus.readers import Reading, total_size

sys.path.insert(0, str(Path(__file__).parent))
from corpora import named, texts

AWKWARD = b"\xef\xbb\xbfa\r\n\0\r\n\xff\xfe b\rc"


def test_a_file_is_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(AWKWARD)
    assert texts(path) == texts([path]) == texts(files(str(path))) == texts(files(path, format="raw")) == [AWKWARD]
    with open(path, "rb") as file:
        assert texts(file) == [AWKWARD]


def test_case_25_no_line_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"a\n\n\nb\n" * 50)
    with open(path, "rb") as file:
        by_iterator = list(file)
    assert texts(files(path, by="line")) == by_iterator == [b"a\n", b"\n", b"\n", b"b\n"] * 50
    of_file = bytepair.train(files(path, by="line"), num_merges=1, pattern="none")
    assert of_file == bytepair.train(by_iterator, num_merges=1, pattern="none")
    assert bytepair.train(path, num_merges=1) == bytepair.train(path.read_bytes(), num_merges=1)


def test_no_pretoken_crosses_a_line(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x\r\ny\r\n")
    words = WordCounts.from_corpus(files(tmp_path / "a", by="line"), pattern="none")
    assert dict(words.items()) == {b"x\r\n": 1, b"y\r\n": 1}


@given(st.lists(st.binary(max_size=5) | st.sampled_from([b"\n", b"\r\n", b"\n\n"]), max_size=12))
def test_lines_do_not_depend_on_the_pieces(pieces: list[bytes]) -> None:
    text = b"".join(pieces)
    assert list(lines(pieces)) == list(io.BytesIO(text))
    found = list(by_lines([Document("x", len(text), lambda: iter(pieces), True), Document("y", 1, b"\n")]))
    assert b"".join(document.source for document in found) == text + b"\n"  # type: ignore[misc]
    assert [document.name for document in found] == [f"x:{k}" for k in range(1, len(found))] + ["y"]


def test_documents_whose_lines_the_counter_cuts(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a\nb")
    (document,) = Reading(files(tmp_path / "a", by="line"), cut_lines=False)
    assert document.by_line and b"".join(document.open()) == b"a\nb"


@pytest.mark.parametrize(("encoding", "text"), [
    ("latin-1", "é ÿ\r\n"), ("utf-16", "é 🧠\n"), ("utf-16-be", "é 🧠"), ("utf-32", "🧠"), ("gb18030", "中文 🧠"),
    ("shift_jis", "日本"), ("cp1252", "€"), ("utf-8-sig", "é"), ("UTF8", "é"), ("utf-7", "é"),
])  # fmt: skip
def test_other_encodings(encoding: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes((text * 3).encode(encoding))
    assert texts(files(path, encoding=encoding)) == [(text * 3).encode()]


@pytest.mark.parametrize(("encoding", "data", "offset"), [
    (None, b"ok\n\xff\xfe bad", 3), ("utf-8", b"ok \xe2\x82", 3), ("utf-8-sig", b"\xef\xbb\xbfa\xff", 4),
    ("ascii", b"abc\xe9", 3), ("utf-16", b"\xff\xfea\0b", 4), ("utf-16-le", b"a\0\0\xdca\0", 2),
    ("gb18030", b"a\xff", 1), ("shift_jis", b"ab\x81", 2), ("euc-jp", b"ab\xff", 2), ("cp1252", b"a\x81", 1),
])  # fmt: skip
@pytest.mark.parametrize("piece", [1, 2, 3, 100])
def test_what_is_not_in_the_encoding_has_file_and_offset(
    encoding: str | None, data: bytes, offset: int, piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bytepair.corpus.streams.PIECE", piece)
    path = tmp_path / "bad.txt"
    path.write_bytes(data)
    with pytest.raises(bytepair.FormatError, match=rf"bad\.txt: byte 0x.. at byte offset {offset} is no .*errors="):
        texts(files(path, encoding=encoding, errors="strict"))
    assert b"\xef\xbf\xbd" in texts(files(path, encoding=encoding, errors="replace"))[0]


def test_case_27_bytes_that_are_no_text_are_kept(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"ok\n\xff\xfe bad" * 5)
    tok = bytepair.train(tmp_path / "a", num_merges=6)
    assert b"\xff\xfe" in tok
    assert tok.decode_bytes(tok.encode((tmp_path / "a").read_bytes())) == (tmp_path / "a").read_bytes()
    assert texts(files(tmp_path / "a", encoding="utf-8")) == [b"ok\n\xff\xfe bad" * 5]


def test_folders_and_globs(tmp_path: Path) -> None:
    for name in ["b/2.txt", "b/.hidden", ".git/x", "b-/1.txt", "a.txt", "é.txt"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name, "utf-8")
    if hasattr(os, "symlink") and os.name != "nt":
        os.symlink(tmp_path / "a.txt", tmp_path / "link.txt")
        os.symlink(tmp_path / "b", tmp_path / "linked")
    everything = ["a.txt", "b-/1.txt", "b/2.txt", "é.txt"]
    for corpus in (tmp_path, files(tmp_path), files(str(tmp_path)), files(str(tmp_path / "**")), [tmp_path]):
        assert [text.decode() for text in texts(corpus)] == everything
    # In the order given; what two patterns match is read once.
    twice = files(str(tmp_path / "b" / "*"), str(tmp_path / "**"))
    assert [text.decode() for text in texts(twice)] == ["b/2.txt", "a.txt", "b-/1.txt", "é.txt"]
    assert texts([tmp_path / "a.txt", tmp_path / "a.txt"]) == [b"a.txt"] * 2
    (tmp_path / "a[1].txt").write_text("x")
    assert texts(files(tmp_path / "a[1].txt")) == [b"x"]


def test_a_list_can_mix_all(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"file")
    mixed = ["text", b"\xff", tmp_path / "a", files(str(tmp_path / "*")), io.BytesIO(b"open"), bytearray(b"array")]
    assert texts(mixed) == texts(iter([*mixed[:4], io.BytesIO(b"open"), memoryview(b"array")])) == [
        b"text", b"\xff", b"file", b"file", b"open", b"array",
    ]  # fmt: skip


def test_open_files(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"0123")
    with open(tmp_path / "a.txt", "rb") as file:
        file.read(1)
        assert texts(file) == [b"123"]
        assert not file.closed
    with open(tmp_path / "a.txt", encoding="utf-8") as text:
        for corpus in (text, [text], io.StringIO("x")):
            with pytest.raises(bytepair.TrainingError, match="binary mode"):
                texts(corpus)
        assert texts(line for line in text) == [b"0123"]
    (tmp_path / "l.jsonl.gz").write_bytes(gzip.compress(b'{"text": "a"}\n'))
    with gzip.open(tmp_path / "l.jsonl.gz") as file:  # unpacked by whom it was opened; its name says what it holds
        assert texts(file) == [b"a"]

    class Odd:
        def read(self, size: int) -> str:
            return "text"

    with pytest.raises(bytepair.TrainingError, match="gives str, not bytes"):
        texts(Odd())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_named_pipe(tmp_path: Path) -> None:
    import threading

    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(b"piped",))
    writer.start()
    assert total_size(tmp_path / "pipe") is None
    assert texts(tmp_path / "pipe") == [b"piped"]
    writer.join()


def test_addresses(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    root = f"/bytepair-{tmp_path.name}"
    for name, data in {
        "b.txt": b"b",
        "a.txt": b"a",
        "in/c.jsonl": b'{"text": "c"}',
        "in/.no": b"",
        ".h/x": b"",
    }.items():
        memory.pipe(f"{root}/{name}", data)
    memory.pipe(f"{root}/z.txt.gz", gzip.compress(b"zz"))
    address = f"memory:/{root}"
    try:
        assert texts(files(address)) == [b"a", b"b", b"c", b"zz"]
        assert texts(files(f"{address}/*.txt")) == [b"a", b"b"]
        assert texts(files(f"{address}/**/*.jsonl")) == [b"c"]
        assert named(files(f"{address}/z.txt.gz")) == [("z.txt.gz", b"zz")]
        assert total_size(files(f"{address}/*.txt")) == 2
        with pytest.raises(bytepair.TrainingError, match=r"there is no file at memory:.*nothing"):
            texts(files(f"{address}/nothing*"))
        with pytest.raises(bytepair.TrainingError, match="does not exist"):
            texts(files(f"{address}/nothing"))
    finally:
        memory.rm(root, recursive=True)
    with pytest.raises(bytepair.TrainingError, match="nosuch"):
        texts(files("nosuch://x"))


def test_web_addresses(tmp_path: Path) -> None:
    """From a server on this machine."""
    pytest.importorskip("fsspec")
    pytest.importorskip("aiohttp")
    import http.server
    import threading

    (tmp_path / "a.txt").write_bytes(AWKWARD)
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(b'{"text": "b"}\n'))

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments, directory=str(tmp_path))

        def log_message(self, *arguments: Any) -> None: ...

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        try:
            assert texts(files(f"{address}/a.txt", f"{address}/b.jsonl.gz")) == [AWKWARD, b"b"]
            assert total_size(files(f"{address}/a.txt?version=1")) == len(AWKWARD)
            assert texts(files(f"{address}/b.jsonl.gz?version=1")) == [b"b"]
            with pytest.raises(bytepair.TrainingError, match=r"none.txt does not exist"):
                texts(files(f"{address}/none.txt"))
        finally:
            server.shutdown()


def test_file_addresses(tmp_path: Path) -> None:
    (tmp_path / "a b.txt").write_bytes(b"x")
    assert texts(files((tmp_path / "a b.txt").as_uri())) == texts(files(tmp_path.as_uri())) == [b"x"]


def test_fsspec_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(bytepair.TrainingError, match=r"pip install 'bytepair\[data\]'"):
        texts(files("s3://bucket/x"))


@pytest.mark.parametrize(("options", "message"), [
    ({"by": "word"}, "by is 'word'; it can be 'document', 'line'"),
    ({"format": "json"}, "format is 'json'"),
    ({"errors": "ignore"}, "errors is 'ignore'"),
    ({"bad_rows": True}, "bad_rows"),
    ({"field": 3}, "field is 3"),
    ({"encoding": "no-such"}, "encoding is 'no-such'"),
    ({"encoding": "rot13"}, "encoding is 'rot13'"),
    ({"encoding": "a\0b"}, "encoding is"),
    ({"format": "raw", "encoding": "latin-1"}, "leave one out"),
    ({"format": "text", "field": "a"}, "means nothing"),
    ({"format": "jsonl", "column": "a"}, "give field='a'"),
    ({"format": "parquet", "field": "a"}, "give column='a'"),
])  # fmt: skip
def test_options_that_cannot_be_used(options: dict[str, Any], message: str) -> None:
    with pytest.raises(bytepair.TrainingError, match=message):
        files("x", **options)


def test_a_field_of_what_is_read_as_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"content": "x"}')
    with pytest.raises(bytepair.TrainingError, match=r"a\.json.*field='content' means nothing; say format="):
        texts(files(tmp_path / "a.json", field="content"))


@pytest.mark.parametrize("corpus", [(), ("x", 5), (None,), (["a"],)])
def test_what_files_does_not_take(corpus: Any) -> None:
    with pytest.raises(bytepair.TrainingError, match=r"files\(\) takes"):
        files(*corpus)


def test_what_is_no_corpus(tmp_path: Path) -> None:
    for corpus, message in [
        (files(str(tmp_path / "*.none")), "no file matches"),
        (tmp_path / "none", "does not exist"),
        ([{"text": "x"}], r"document 0: a dict is no text; give the text in it, row\['text'\]"),
        (["a", 5], "document 1: a int is no text"),
        (WordCounts({"a": 1}), "counted already"),
    ]:
        with pytest.raises(bytepair.TrainingError, match=message):
            texts(corpus)


def test_repr() -> None:
    assert repr(files("a*", by="line", encoding="latin-1")) == "files('a*', by='line', encoding='latin-1')"
    assert files("a") == files("a") != files("a", by="line")


def test_progress_counts_bytes_as_they_lie_on_disk(tmp_path: Path) -> None:
    text = b"low lower lowest " * (300_000 if _engine.NAME == "core" else 3_000)
    (tmp_path / "a.txt").write_bytes(text)
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(text))
    size = sum(path.stat().st_size for path in tmp_path.iterdir())
    for corpus, total in [(tmp_path, size), (files(tmp_path, by="line"), size), ([text.decode(), b"x"], len(text) + 1)]:
        for threads in (1, 2):
            reports: list[Any] = []
            WordCounts.from_corpus(corpus, threads=threads, progress=reports.append)
            assert {report.total for report in reports} == {total}
            assert reports[-1].done == total
            assert all(a.done <= b.done for a, b in itertools.pairwise(reports))
