"""The command ``bench``: what it shows, what it checks first, and the texts it times on."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import bytepair
from bytepair import benching
from bytepair.benching import texts

QUICK = ("--seconds", "0", "--size", "0.02")


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_bytes("low lower, lowest é 👍\n\n".encode() * 400)
    return path


def test_a_table_for_each_text_and_one_of_worst_cases(run, low: Path, text: Path) -> None:
    result = run("bench", low, "--text", text, *QUICK)
    assert result.exit_code == 0, result.stderr
    shown = result.stdout
    assert "<Tokenizer 266 ids" in shown
    assert "text.txt, 10.8 kB" in shown
    for what in (
        "encode_array, unseen",
        "encode, seen, from bytes",
        "count, seen",
        "all cores",
        "decode_bytes, from lists",
    ):
        assert what in shown
    for name in texts.WORST:
        assert f"\n{name}  " in shown


def test_json_has_what_the_table_shows(run, low: Path, text: Path) -> None:
    told = json.loads(run("bench", low, "--text", text, *QUICK, "--json").stdout)
    assert told["machine"]["python"] == sys.version.split()[0]
    rows = {(row["text"], row["what"]): row for row in told["rows"]}
    tok = bytepair.load(low)
    row = rows["text.txt", "encode_array, unseen"]
    assert (row["size"], row["tokens"]) == (text.stat().st_size, tok.count(text.read_bytes()))
    assert row["calls"] == row["rounds"] == 1
    assert row["clock"] == "cpu"
    assert rows["text.txt", "encode_batch_array, one document, all cores"]["clock"] == "wall"
    assert {name for name, _ in rows} == {"text.txt", *texts.WORST}
    assert rows["CJK", "encode_array"]["doubling"] > 0
    assert told["left_out"] == {}


def test_the_default_is_cl100k_on_the_standard_library(run) -> None:
    told = json.loads(run("bench", *QUICK, "--json").stdout)
    assert told["tokenizer"] == "cl100k_base"
    assert told["rows"][0]["text"] == "standard library"
    assert told["rows"][0]["size"] == 20_000


def test_characters_that_a_tokenizer_does_not_know(run, tmp_path: Path, text: Path) -> None:
    path = tmp_path / "characters.json"
    bytepair.train("low lower aaaa  \n\n", num_merges=2, alphabet="characters", specials=()).save(path)
    known = tmp_path / "known.txt"
    known.write_text("low lower")
    told = json.loads(run("bench", path, "--text", known, *QUICK, "--json").stdout)
    assert "Thai" in told["left_out"]
    assert "was never seen in training" in told["left_out"]["Thai"]
    assert "one letter" in {row["text"] for row in told["rows"]}
    result = run("bench", path, "--text", text, *QUICK)
    assert result.exit_code == 1
    assert "was never seen in training" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["none.json"], 1, "none.json"),
        (["LOW", "--text", "none.txt"], 1, "cannot read none.txt"),
        (["LOW", "--text", "EMPTY"], 1, "is empty; give a text"),
        (["-", "--text", "-"], 2, "stdin (-) can be read only once"),
        (["LOW", "--seconds", "-1"], 2, "--seconds"),
        (["LOW", "--size", "0"], 2, "--size"),
    ],
)
def test_wrong_use(run, low: Path, tmp_path: Path, arguments: list[str], code: int, message: str) -> None:
    empty = tmp_path / "empty.txt"
    empty.write_bytes(b"")
    names = {"LOW": low, "EMPTY": empty}
    result = run("bench", *(names.get(word, word) for word in arguments))
    assert result.exit_code == code
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


class _Broken:
    """A tokenizer one of whose ways is wrong."""

    def __init__(self, way: str) -> None:
        self.tok, self.way = bytepair.train("low low lower lowest", num_merges=4), way

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.tok, name)
        if name != self.way:
            return value
        if name == "encode":
            return lambda text: [*value(text)[:-1], 0]
        if name == "count":
            return lambda text: value(text) + 1
        if name == "decode_bytes":
            return lambda ids: value(ids)[:-1]
        return lambda rows: value([*rows[:-1], b""])


@pytest.mark.parametrize(
    ("way", "message"),
    [
        ("encode", "encode and encode_array differ from token 6 on"),
        ("count", "count says 8 and encode 7"),
        ("decode_bytes", "comes b'' at byte 12 instead of b'.'"),
        ("encode_batch_array", "a part of it has other ids in a batch than alone"),
    ],
)
def test_results_are_checked_before_the_clock_runs(way: str, message: str) -> None:
    with pytest.raises(bytepair.BytepairError, match="please report this") as caught:
        benching.check(_Broken(way), b"lower lowest.", "a text")  # type: ignore[arg-type]
    assert message in str(caught.value)
    benching.check(_Broken("none"), b"lower lowest.", "a text")  # type: ignore[arg-type]


def test_texts_are_what_their_size_and_seed_say() -> None:
    for name, make in {**texts.WORST, "words": texts.words}.items():
        for size in (1000, 20_000):
            one = make(size, 1)
            assert size - 13 <= len(one) <= size, name
            assert one == make(size, 1), name
            assert (one == make(size, 2)) == (name in ("one letter", "spaces", "newlines")), name
            if name != "random bytes":
                one.decode()


def test_pieces_are_the_text_and_cut_no_character() -> None:
    data = "aé👍\u0300".encode() * 9
    for size in range(4, 40):
        parts = texts.pieces(data, size)
        assert b"".join(parts) == data
        assert max(map(len, parts)) <= size
        for part in parts:
            part.decode()
    assert b"".join(texts.pieces(b"\x80" * 50, 7)) == b"\x80" * 50
    assert texts.pieces("👍".encode(), 1)[0] == b"\xf0"  # nothing smaller is whole
    assert texts.pieces(b"") == []


def test_other_texts() -> None:
    data = b"".join(b"line %d\n" % i for i in range(100))
    mixed = texts.other_order(data, 1)
    assert mixed != data
    assert sorted(mixed.splitlines()) == sorted(data.splitlines())
    strings = texts.short(data, 50, 40)
    assert len(set(strings)) == len(strings) == 50
    assert {len(string) for string in strings} == {40}
    found = texts.words(5000).split()
    assert len(set(found)) == len(found)
    with pytest.raises(bytepair.BytepairError, match="name a text instead"):
        texts.library(1 << 40)
