"""``bytepair encode`` and ``bytepair decode``: files and pipes, exact bytes, options, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bytepair

HOSTILE = b"\xef\xbb\xbflow\0low\r\n\x1b[2J\xff\xfe \xf0\x9f lowest\n\n"


def test_ids_of_the_article(run, low: Path) -> None:
    assert run("encode", low, "--text", "lowest").stdout == "263 107 121 122\n"
    assert run("encode", low, "-t", "lowest", "--add-bos", "--add-eos").stdout == "1 263 107 121 122 2\n"
    assert run("encode", low, "-t", "").stdout == "\n"
    assert run("decode", low, stdin=b"1 263 107 121 122 2").stdout == "<bos>lowest<eos>"
    assert run("decode", low, "--skip-specials", stdin=b"1 263 107 121 122 2").stdout == "lowest"


@pytest.mark.parametrize(
    "data",
    [b"", b"\n", HOSTILE, bytes(range(256)), b"low " * 50_000],
    ids=["empty", "line", "hostile", "bytes", "long"],
)
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_files_and_pipes_keep_every_byte(run, program, low: Path, tmp_path: Path, data: bytes, form: list[str]) -> None:
    source, ids, back = tmp_path / "source", tmp_path / "ids", tmp_path / "back"
    source.write_bytes(data)
    result = run("encode", low, source, "-o", ids, *form)
    assert (result.exit_code, result.output) == (0, "")
    assert run("decode", low, ids, "-o", back).exit_code == 0
    assert back.read_bytes() == data
    if len(data) < 1000:
        piped = program("encode", low, "-", *form, stdin=data)
        assert piped.stdout == ids.read_bytes()
        assert program("decode", low, "-", stdin=piped.stdout).stdout == data


def test_json_is_a_list_of_ids(run, low: Path) -> None:
    assert json.loads(run("encode", low, "--json", "-t", "lowest low").stdout) == [263, 107, 121, 122, 264]
    assert json.loads(run("encode", low, "--json", "-t", "").stdout) == []


def test_ids_are_read_however_they_are_spaced(run, low: Path) -> None:
    for ids in (b"263 107", b"\n263\r\n\t107\n", b"[263, 107]", b" [263,\n107]\n"):
        assert run("decode", low, stdin=ids).stdout == "lowe"


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (b"1 2 x", "stdin: number 2 is 'x'; ids are whole numbers"),
        (b"1 -2", "number 1 is '-2'"),
        (b"1,2", "number 0 is '1,2'"),
        (b"1 2_0", "number 1 is '2_0'"),
        (b"\xff\x1b", "number 0 is"),
        (b"[1, 2.5]", "item 1 of the list is 2.5"),
        (b"[1, true]", "item 1 of the list is True"),
        (b'["1"]', "item 0 of the list is '1'"),
        (b"[1, -1]", "-1"),
        (b"[1, 2", "line 1, column"),
        (b"[" * 100_000, "stdin"),
        (b"1000000", "1000000"),
        (b"99999999999999999999", "99999999999999999999"),
        (b"[99999999999999999999999]", "99999999999999999999999"),
    ],
)
def test_bad_ids_are_1_with_one_line(run, low: Path, ids: bytes, message: str) -> None:
    result = run("decode", low, stdin=ids)
    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert "\x1b" not in result.stderr
    assert result.stdout == ""


def test_special_tokens(run, low: Path) -> None:
    text = "low<eos>"
    plain = "263 66 107 117 121 68\n"
    assert run("encode", low, "-t", text).stdout == plain
    assert run("encode", low, "-t", text, "--special", "text").stdout == plain
    assert run("encode", low, "-t", text, "--special", "all").stdout == "263 2\n"
    assert run("encode", low, "-t", text, "--special", "<eos>", "--special", "<pad>").stdout == "263 2\n"
    assert run("encode", low, "-t", text, "--special", "<pad>").stdout == plain
    result = run("encode", low, "-t", text, "--special", "error")
    assert result.exit_code == 1
    assert "'<eos>' at character 3" in result.stderr
    result = run("encode", low, "-t", text, "--special", "<nope>")
    assert result.exit_code == 2
    assert "'<nope>' is no special token here; there are: <pad>, <bos>" in result.stderr


def test_bos_that_is_not_there_is_wrong_use(run, tmp_path: Path) -> None:
    bare = tmp_path / "bare.json"
    bytepair.train("low low", num_merges=1, specials=()).save(bare)
    result = run("encode", bare, "-t", "low", "--add-bos")
    assert result.exit_code == 2
    assert "add_bos needs a token for BOS" in result.stderr


def test_bytes_that_are_no_utf8(run, low: Path) -> None:
    data = b"a\xff\xfe"
    assert run("encode", low, stdin=data).stdout == "103 261 260\n"
    result = run("encode", low, "--errors", "strict", stdin=data)
    assert result.exit_code == 1
    assert "stdin: byte 0xFF at offset 1 is no UTF-8" in result.stderr
    ids = run("encode", low, "--errors", "replace", stdin=data).stdout
    assert run("decode", low, stdin=ids.encode()).stdout == "a\ufffd\ufffd"
    assert run("encode", low, "--errors", "strict", stdin="é".encode()).exit_code == 0


def test_pieces(run, low: Path) -> None:
    assert run("encode", low, "-t", " lowest low\nx", "--pieces").stdout == " lowe│s│t│ low│↵\n│x\n"
    assert run("encode", low, "--pieces", stdin=b"\xff\0\t\x1b").stdout == "⟨FF⟩│␀│⇥│␛\n"
    told = json.loads(run("encode", low, "-t", "low\xe9<eos>", "--special", "all", "--pieces", "--json").stdout)
    assert told == [
        {"id": 263, "bytes": "low", "text": "low"},
        {"id": 201, "bytes": "\xc3", "text": "\\xc3"},
        {"id": 175, "bytes": "\xa9", "text": "\\xa9"},
        {"id": 2, "bytes": "<eos>", "text": "<eos>"},
    ]


def test_pieces_of_a_long_text_go_on_where_they_stopped(run, low: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run("encode", low, "--pieces", "-o", out, stdin=b" low" * 10_000).exit_code == 0
    assert out.read_text(encoding="utf-8") == "│".join([" low"] * 10_000) + "\n"


def test_file_and_text_exclude_each_other(run, low: Path) -> None:
    result = run("encode", low, low, "--text", "x")
    assert result.exit_code == 2
    assert "give a FILE or --text, not both" in result.stderr


def test_a_tokenizer_comes_through_a_pipe(run, low: Path) -> None:
    assert run("encode", "-", "--text", "low", stdin=low.read_bytes()).stdout == "263\n"
    result = run("encode", "-", "--text", "low", stdin=b"no tokenizer")
    assert result.exit_code == 1
    assert "stdin" in result.stderr


def test_decoded_text_that_a_terminal_would_obey_is_not_written_to_one(
    run, low: Path, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr("bytepair.cli._io.is_terminal", lambda stream: True)
    ids = run("encode", low, "-t", "\x1b[2J").stdout.encode()
    result = run("decode", low, stdin=ids)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "give a file with -o" in result.stderr
    assert run("decode", low, "-o", tmp_path / "out", stdin=ids).exit_code == 0
    assert run("decode", low, stdin=b"263 201").exit_code == 0


def test_characters(run, tmp_path: Path) -> None:
    path = tmp_path / "words.json"
    text = " ".join(["low"] * 5 + ["lowest"] * 2 + ["newer"] * 6 + ["wider"] * 3 + ["new"] * 2)
    bytepair.train(text, alphabet="characters", end_of_word="separate", num_merges=10, specials=()).save(path)
    assert run("encode", path, "-t", "lower newest", "--pieces").stdout == "low│er</w>│new│e│s│t│</w>\n"
    result = run("encode", path, "-t", "lowering")
    assert result.exit_code == 1
    assert "'g'" in result.stderr


def test_dropout(run, tmp_path: Path) -> None:
    tok = bytepair.train("low low lower lowest", num_merges=4)
    tok.save(tmp_path / "t.json")
    result = run("encode", tmp_path / "t.json", "-t", "low lowest", "--dropout", "0.5", "--seed", 3, "--json")
    assert json.loads(result.stdout) == tok.encode("low lowest", dropout=0.5, seed=3)
    assert run("encode", tmp_path / "t.json", "-t", "low", "--dropout", "1.5").exit_code == 2
