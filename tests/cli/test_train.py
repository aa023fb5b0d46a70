"""``bytepair train``: corpora, every option, what it prints and how it ends."""

from __future__ import annotations

import gzip
import json
import tarfile
from pathlib import Path

import pytest

import bytepair

TEXT = b"low low lower lowest"


def test_the_article_from_stdin(run, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    result = run("train", "-", "--vocab-size", 280, "--pattern", "al1", "--trace", "-o", out, stdin=TEXT)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "rank   id  pair      token  count  tied  length after  final  examples",
        "   0  262  l + o     lo         4     2            16      0  low  ␣low  ␣lower",
        "   1  263  lo + w    low        4     1            12      1  low  ␣low  ␣lower",
        "   2  264  ␣ + low   ␣low       3     1             9      1  ␣low  ␣lower  ␣lowest",
        "   3  265  ␣low + e  ␣lowe      2     1             7      2  ␣lower  ␣lowest",
        "",
        "4 merges: 4 pretokens, 4 distinct; 20 symbols became 7 tokens",
        "stopped: no pair comes 2 times any more; the best one left, b' lowe' + b'r', comes 1",
        "best pair left: ␣lowe + r, 1 time",
    ]
    note = "no pair comes 2 times any more; the best one left, b' lowe' + b'r', comes 1"
    assert result.stderr.splitlines() == [
        f"note: training stopped after 4 of 18 merges: {note}",
        f"266 tokens, 4 merges of them learned from 4 pretokens; saved to {out}",
    ]
    assert bytepair.load(out) == bytepair.train(TEXT, num_merges=4, pattern="al1")


def test_json_lines(run) -> None:
    record = bytepair.train(TEXT, num_merges=3).record
    for form in (["--json"], ["--json", "--trace"]):
        result = run("train", "-", "--num-merges", 3, *form, stdin=TEXT)
        assert [json.loads(line) for line in result.stdout.splitlines()] == list(record.lines())


def test_files_and_folders(run, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    (folder / "b").mkdir(parents=True)
    (folder / "a.txt").write_bytes(b"\xef\xbb\xbflow\r\n\0low\xff")
    (folder / "b" / "c.bin").write_bytes(bytes(range(256)) * 3)
    (folder / "empty").write_bytes(b"")
    extra = tmp_path / "extra.txt"
    extra.write_bytes(TEXT)
    out = tmp_path / "out.json"
    result = run("train", folder, extra, "-", "--num-merges", 20, "-o", out, stdin=b"xyxy xyxy")
    assert result.exit_code == 0, result.stderr
    assert bytepair.load(out) == bytepair.train([folder, extra, b"xyxy xyxy"], num_merges=20)


def test_every_option_reaches_training(run, tmp_path: Path) -> None:
    cases = {
        "--vocab-size 262 --layout bytes-first --byte-order gpt2 --special <a> --special <b>": {
            "vocab_size": 262, "layout": "bytes-first", "byte_order": "gpt2", "specials": ["<a>", "<b>"]
        },
        "--num-merges 6 --no-specials --min-freq 1 --threads 1 --convention first": {
            "num_merges": 6, "specials": (), "min_freq": 1
        },
        "--num-merges 3 --alphabet characters --end-of-word fused --unknown bytes": {
            "num_merges": 3, "alphabet": "characters", "end_of_word": "fused", "unknown": "bytes"
        },
        "--num-merges 3 --alphabet characters --end-of-word separate --unknown <unk> --pattern spaces": {
            "num_merges": 3, "alphabet": "characters", "end_of_word": "separate", "unknown": "<unk>",
            "pattern": "spaces",
        },
        "--num-merges 3 --pattern [a-z]+": {"num_merges": 3, "pattern": "[a-z]+"},
    }  # fmt: skip
    out = tmp_path / "out.json"
    for options, keywords in cases.items():
        result = run("train", "-", *options.split(), "-o", out, stdin=TEXT)
        assert result.exit_code == 0, (options, result.stderr)
        assert bytepair.load(out) == bytepair.train(TEXT, **keywords), options


def test_the_tokenizer_on_stdout(program, tmp_path: Path) -> None:
    result = program("train", "-", "--num-merges", 4, "-o", "-", stdin=TEXT)
    assert bytepair.load(result.stdout) == bytepair.train(TEXT, num_merges=4)
    assert result.stderr == b"266 tokens, 4 merges of them learned from 4 pretokens\n"


def test_an_empty_corpus_is_a_note(run, tmp_path: Path) -> None:
    result = run("train", "-", "-o", tmp_path / "out.json")
    assert result.exit_code == 0
    assert result.stderr.startswith("note: training stopped after 0 of 7930 merges: the corpus holds no text\n")
    assert bytepair.load(tmp_path / "out.json").vocab_size == 262


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "name the file for the tokenizer with -o"),
        (["--trace", "-o", "-"], "stdout cannot hold both"),
        (["-o", "x", "--special", "<a>", "--no-specials"], "exclude each other"),
        (["-o", "x", "--vocab-size", "261"], "under the floor 262"),
        (["-o", "x", "--vocab-size", "0"], "--vocab-size"),
        (["-o", "x", "--num-merges", "-1"], "--num-merges"),
        (["-o", "x", "--min-freq", "0"], "--min-freq"),
        (["-o", "x", "--threads", "0"], "--threads"),
        (["-o", "x", "--alphabet", "words"], "--alphabet"),
        (["-o", "x", "--convention", "nope"], "--convention"),
        (["-o", "x", "--unknown", "bytes"], "unknown"),
        (["-o", "x", "--pattern", "a*"], "can match the empty text"),
        (["-o", "x", "--pattern", "("], "pattern"),
        (["-o", "x", "--special", ""], "special"),
        (["-o", "x", "--special", "<a>", "--special", "<a>"], "<a>"),
    ],
)
def test_wrong_use_is_2_with_one_line(run, tmp_path: Path, monkeypatch, options: list[str], message: str) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("train", "-", *options, stdin=TEXT)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not Path("x").exists()


def test_a_corpus_that_is_missing_is_1(run, tmp_path: Path) -> None:
    result = run("train", tmp_path / "none", "-o", tmp_path / "out.json")
    assert result.exit_code == 1
    assert "none does not exist; give the path of a file or of a folder" in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out.json").exists()


ROWS = ["low low", "lower", "low\nlowest\n"]


def test_corpora_of_every_kind(run, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    lines = "".join(json.dumps({"text": row, "content": row[::-1]}) + "\n" for row in ROWS).encode()
    (tmp_path / "a.jsonl").write_bytes(lines)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines))
    pq.write_table(pa.table({"text": ROWS}), tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text("n,text\n" + "".join(f'1,"{row}"\n' for row in ROWS), "utf-8")
    for number, row in enumerate(ROWS):
        (tmp_path / f"{number}.txt").write_text(row, "utf-16", newline="")
    with tarfile.open(tmp_path / "a.tar.xz", "w:xz") as archive:
        archive.add(tmp_path / "a.jsonl", "a.jsonl")
    out = tmp_path / "out.json"
    expected = bytepair.train(ROWS, num_merges=3)
    by_line = bytepair.train(["low low", "lower", "low\n", "lowest\n"], num_merges=3, pattern="none")
    for arguments, tok in [
        (("a.jsonl",), expected),
        (("a.jsonl.gz",), expected),
        (("a.jsonl", "--field", "content"), bytepair.train([row[::-1] for row in ROWS], num_merges=3)),
        (("a.parquet",), expected),
        (("a.parquet", "--by", "line", "--pattern", "none"), by_line),
        (("a.csv", "--column", "text"), expected),
        (("a.csv", "--format", "csv"), expected),
        (("a.csv",), bytepair.train(tmp_path / "a.csv", num_merges=3)),
        (("a.tar.xz",), expected),
        (("?.txt", "--encoding", "utf-16"), expected),
        ((tmp_path.as_uri() + "/a.parquet",), expected),
        (("a.jsonl", "--format", "text"), bytepair.train(lines, num_merges=3)),
        (("a.jsonl.gz", "--format", "raw"), bytepair.train(gzip.compress(lines, mtime=0), num_merges=0)),
    ]:
        name = arguments[0] if "://" in arguments[0] else tmp_path / arguments[0]
        merges = 0 if "raw" in arguments else 3
        result = run("train", name, *arguments[1:], "--num-merges", merges, "-o", out)
        assert result.exit_code == 0, result.stderr
        assert bytepair.load(out) == tok, arguments
    result = run("train", "-", "--format", "jsonl", "--num-merges", 3, "-o", out, stdin=lines)
    assert bytepair.load(out) == expected
    result = run("train", "-", "--num-merges", 3, "-o", out, stdin=gzip.compress(TEXT))
    assert bytepair.load(out) == bytepair.train(TEXT, num_merges=3)
    (tmp_path / "bad.jsonl").write_bytes(lines + b"no\n")
    result = run("train", tmp_path / "bad.jsonl", "-o", out, "--num-merges", 3)
    assert result.exit_code == 1
    assert "bad.jsonl, line 4 (byte offset" in result.stderr and "--bad-rows skip" in result.stderr
    result = run("train", tmp_path / "bad.jsonl", "-o", out, "--num-merges", 3, "--bad-rows", "skip")
    assert result.stderr.startswith("note: ") and "1 of 4 lines were left out" in result.stderr
    assert bytepair.load(out) == expected


@pytest.mark.parametrize(("options", "message"), [
    (["--by", "word"], "--by"),
    (["--format", "text", "--field", "a"], "means nothing"),
    (["--encoding", "nope"], "encoding is 'nope'"),
])  # fmt: skip
def test_wrong_ways_to_read(run, tmp_path: Path, options: list[str], message: str) -> None:
    result = run("train", "-", "-o", tmp_path / "x", *options, stdin=TEXT)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_text_that_is_not_in_its_encoding_has_file_and_offset(run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"ok\n\xff\xfe bad")
    result = run("train", tmp_path, "--errors", "strict", "-o", tmp_path / "out.json")
    assert result.exit_code == 1
    assert "a.txt: byte 0xFF at byte offset 3 is no utf-8" in result.stderr


def test_a_normaliser(run, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    result = run(
        "train", "-", "--num-merges", 3, "--normalizer", "nfc,lower", "--normalizer", "replace:x:y", "-o", out,
        stdin=b"LOW Low low xx",
    )  # fmt: skip
    assert result.exit_code == 0
    wanted = bytepair.train("LOW Low low xx", num_merges=3, normalizer=["nfc", "lower", ("replace", "x", "y")])
    assert bytepair.load(out) == wanted
    for wrong in ("nfq", "replace:a"):
        result = run("train", "-", "--normalizer", wrong, "-o", out, stdin=b"a")
        assert result.exit_code == 2
        assert wrong.split(":")[0] in result.stderr


def test_extend(run, tmp_path: Path) -> None:
    small, large = tmp_path / "small.json", tmp_path / "large.json"
    bytepair.train(TEXT, num_merges=2).save(small)
    result = run("train", "-", "--extend", small, "--vocab-size", 266, "-o", large, stdin=TEXT)
    assert result.exit_code == 0
    assert bytepair.load(large) == bytepair.train(TEXT, num_merges=4)
    assert result.stderr.splitlines()[-4:] == [
        "2 merges learned; 264 ids became 266",
        "stopped: the vocabulary is full",
        "bytes per token: 1.667, now 2.857 (12 tokens became 7)",
        f"saved to {large}",
    ]
    for wrong, said in (
        (["--vocab-size", 266, "--pattern", "al1"], "--pattern"),
        (["--vocab-size", 266, "--trace"], "--trace"),
        (["--vocab-size", 266, "--no-specials"], "--no-specials"),
        ([], "--vocab-size"),
        (["--vocab-size", 263], "cut"),
    ):
        result = run("train", "-", "--extend", small, "-o", large, *wrong, stdin=TEXT)
        assert result.exit_code == 2
        assert said in result.stderr
