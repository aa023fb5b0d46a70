"""Damaged files of merges, ranks and codes: a FormatError that names the file, the line and the cure, and quickly."""

from __future__ import annotations

import base64
import gzip
import json
import lzma
import random
import zlib
from pathlib import Path

import pytest

import bytepair
from bytepair.formats import FORMATS
from bytepair.pipeline.letters import to_letters

pytestmark = pytest.mark.timeout(20)


def ranks(more: dict[bytes, int] | None = None, without: bytes = b"") -> list[bytes]:
    """The lines of a rank file."""
    tokens = {bytes([b]): b for b in range(256)} | (more or {})
    return [b"%s %d" % (base64.b64encode(text), rank) for text, rank in tokens.items() if text not in {without}]


def ids(more: dict[str, object] | None = None) -> bytes:
    """GPT-2's file of ids: the bytes, and more."""
    return json.dumps({**{to_letters(bytes([b])): b for b in range(256)}, **(more or {})}).encode()


def refusal(data: bytes, **options: object) -> str:
    with pytest.raises(bytepair.FormatError) as error:
        bytepair.load(data, **options)
    return str(error.value)


LAST = base64.b64encode(b"ab")

TIKTOKEN = {
    "a byte missing (CASES.md 6)": (ranks(without=b"\xe9"), "1 of the 256 single bytes have no rank (0xE9)"),
    "a rank twice (29)": ([*ranks({b"ab": 256}), b"YmM= 256"], "line 258: the rank 256 is on line 257 already"),
    "a token twice": ([*ranks({b"ab": 256}), LAST + b" 257"], "line 258: the token b'ab' is on line 257 already"),
    "no base64": ([*ranks(), b"Y!M= 256"], "line 257: b'Y!M=' is no base64"),
    "cut off in base64": ([*ranks(), b"YmM 256"], "line 257: b'YmM' is no base64"),
    "cut off before the rank": ([*ranks(), b"YmM="], "line 257: b'YmM=' should be a token in base64, a space and"),
    "two ranks": ([*ranks(), b"YmM= 1 2"], "line 257"),
    "a negative rank": ([*ranks(), b"YmM= -1"], "line 257"),
    "a fraction": ([*ranks(), b"YmM= 1.5"], "line 257"),
    "a huge rank": ([*ranks(), b"YmM= 99999999"], "line 257"),
    "a number of thousands of digits": ([*ranks(), b"YmM= " + b"9" * 100_000], "line 257"),
    "an empty token": ([*ranks(), b" 256"], "line 257: the token of rank 256 is empty"),
    "a digit that is none": ([*ranks(), "YmM= ٣".encode()], "line 257"),
}


@pytest.mark.parametrize("what", TIKTOKEN)
def test_rank_files(what: str) -> None:
    lines, message = TIKTOKEN[what]
    found = refusal(b"\n".join(lines), pattern="gpt2")
    assert message in found and found.startswith("the given bytes")


def test_a_rank_file_alone_is_refused_with_what_is_missing() -> None:
    found = refusal(b"\n".join(ranks()))
    assert "pattern=" in found and "specials=" in found
    tok = bytepair.load(b"\n".join(ranks({b"ab": 300})), pattern="gpt2", specials=())
    assert tok.encode("ab") == [300] and tok.specials == {}


def test_specials_that_do_not_fit() -> None:
    assert "256" in refusal(b"\n".join(ranks({b"ab": 256})), pattern="gpt2", specials={"<s>": 256})
    assert "role" in refusal(b"\n".join(ranks()), pattern="gpt2", roles={"eos": "<s>"})
    assert "pattern" in refusal(b"\n".join(ranks()), pattern="a*")


GPT2 = {
    "a line of one token": ("#version: 0.2\na b\nab\n", {"ab": 256}, "line 3: 'ab' should be two tokens"),
    "a line of three": ("#version: 0.2\na b c\n", {}, "line 2: 'a b c' should be two tokens"),
    "a result that is missing (29)": ("#version: 0.2\na b\n", {}, "line 2: the merge 'a b' needs the token 'ab'"),
    "a part that is missing": ("#version: 0.2\nxy b\n", {"xyb": 256}, "line 2: the merge 'xy b' needs the token 'xy'"),
    "no letters": (
        "#version: 0.2\n一 b\n",
        {"一": 256, "一b": 257},
        "line 2: the token '一' is not written in letters",
    ),
    "CLIP's": ("#version: 0.2\na b</w>\n", {"b</w>": 256, "ab</w>": 257}, "line 2: 'b</w>' is made by no merge"),
    "an id twice": ("#version: 0.2\na b\n", {"ab": 97}, "the id 97 belongs to 'a' and to 'ab'"),
    "an id that is none": ("#version: 0.2\na b\n", {"ab": "x"}, "'ab' has the id 'x'"),
    "a negative id": ("#version: 0.2\na b\n", {"ab": -1}, "'ab' has the id -1"),
    "a huge id": ("#version: 0.2\na b\n", {"ab": 10**12}, "id 1000000000000"),
    "a bool": ("#version: 0.2\na b\n", {"ab": True}, "'ab' has the id True"),
}


@pytest.mark.parametrize("what", GPT2)
def test_gpt2_files(what: str) -> None:
    merges, more, message = GPT2[what]
    assert message in refusal(merges.encode(), vocab=ids(more))
    assert message in refusal(ids(more), vocab=merges.encode())


def test_half_of_a_pair(tmp_path: Path) -> None:
    merges = b"#version: 0.2\n\xc4\xa0 t\n"
    assert "vocab=" in refusal(merges) and "their ids" in refusal(merges)
    assert "the merges" in refusal(ids())
    (tmp_path / "merges.txt").write_bytes(b"#version: 0.2\na b\n")
    with pytest.raises(bytepair.FormatError, match=r"merges\.txt.*vocab="):
        bytepair.load(tmp_path)
    assert "both hold" in refusal(merges, vocab=merges)
    assert "both hold" in refusal(ids(), vocab=ids())
    assert "line 2: byte 0 of it is no UTF-8" in refusal(b"#version: 0.2\n\xff b\n", vocab=ids())
    assert "cut off" in refusal(ids()[:-5], vocab=merges)
    assert "twice" in refusal(b'{"a": 1, "b": 2, "a": 3}', vocab=merges)


HEAD = "minbpe v1\n[a-z]+|[^a-z]+\n"
MINBPE = {
    "another version": ("minbpe v2\n\n0\n", "line 1: the version is 'minbpe v2'"),
    "cut off": ("minbpe v1\n", "ends before the number of special tokens"),
    "no number": (HEAD + "x\n", "line 3: the number of special tokens is 'x'"),
    "a huge number": (HEAD + "9" * 5000 + "\n", "line 3: the number of special tokens"),
    "too few special tokens": (HEAD + "3\n<a> 300\n", "ends before its 3 special tokens"),
    "a special token without id": (HEAD + "1\n<a>\n", "line 4: '<a>' should be a special token"),
    "a special token twice": (HEAD + "2\n<a> 300\n<a> 301\n", "line 5: the special token '<a>' is there already"),
    "an id twice": (HEAD + "2\n<a> 300\n<b> 300\n", "share the id 300"),
    "a special that is a merge": (HEAD + "1\n<a> 256\n97 98\n", "has the id 256, which is the token b'ab' already"),
    "one id": (HEAD + "0\n97\n", "line 4: '97' should be two ids"),
    "no id": (HEAD + "0\n97 b\n", "line 4: an id is 'b'"),
    "an id to come": (HEAD + "0\n97 256\n", "line 4: the id 256 is not there yet"),
    "a merge twice": (HEAD + "0\n97 98\n97 98\n", "line 5: the merge 97 98 is on line 4 already"),
    "a result twice": (HEAD + "0\n97 98\n256 99\n98 99\n97 258\n", "makes b'abc', which id 257 is already"),
    "an empty line": (HEAD + "0\n97 98\n\n98 99\n", "line 5: '' should be two ids"),
    "an empty line at the end": (HEAD + "0\n97 98\n\n", "line 5: '' should be two ids"),
    "a pattern that can be empty": ("minbpe v1\na*\n0\n", "can match the empty text"),
    "a pattern with groups": ("minbpe v1\n(a)|b\n0\n", "capturing group"),
    "a pattern of its own kind": ("minbpe v1\n\\X+\n0\n", r"'\\X' at 0, which is not supported"),
}


@pytest.mark.parametrize("what", MINBPE)
def test_minbpe_models(what: str) -> None:
    data, message = MINBPE[what]
    assert message in refusal(data.encode())


CLIP_HEAD = '"bpe_simple_vocab_16e6.txt#version: 0.2\n'
CLIP = {
    "one token": ("a b\nc\n", "line 3: 'c' should be two tokens"),
    "a part that is not there": ("a bc\n", "line 2: 'bc' is neither a byte nor made by a line before"),
    "a merge twice": ("a b\na b\n", "line 3: 'ab' is made by a line before"),
    "no letters": ("a 一\n", "line 2: '一' is not written in letters"),
    "on after the mark": ("a</w> b\n", "goes on after an end-of-word mark"),
}


@pytest.mark.parametrize("what", CLIP)
def test_clips_file(what: str) -> None:
    lines, message = CLIP[what]
    assert message in refusal((CLIP_HEAD + lines).encode())
    assert message in refusal(gzip.compress((CLIP_HEAD + lines).encode()))


CODES = {
    "another version": ("#version: 0.3\na b</w>\n", "line 1: the version is '0.3'"),
    "no version": ("#version: x\na b</w>\n", "line 1: the version is 'x'"),
    "one symbol": ("#version: 0.2\na b</w>\nab\n", "line 3: 'ab' should be two symbols"),
    "three": ("a b</w>\na b c\n", "line 2: 'a b c' should be two symbols"),
    "an empty line": ("a b</w>\n\nb c\n", "line 2: the line is empty"),
    "two spaces": ("a b</w>\na  c\n", "line 2: 'a  c' should be two symbols"),
}


@pytest.mark.parametrize("what", CODES)
def test_codes(what: str) -> None:
    data, message = CODES[what]
    assert message in refusal(data.encode())


def test_options_that_a_file_answers_itself() -> None:
    for data in (HEAD + "0\n", CLIP_HEAD + "a b\n"):
        assert "pattern=" in refusal(data.encode(), pattern="gpt2")
        assert "specials=" in refusal(data.encode(), specials=())


def test_a_second_file_that_nothing_asks_for() -> None:
    for data in (b"\n".join(ranks()), HEAD.encode(), (CLIP_HEAD + "a b\n").encode(), b'{"format": "bytepair"}'):
        assert "vocab= gives a second" in refusal(data, vocab=ids())


def test_a_file_is_named_by_its_path(tmp_path: Path) -> None:
    for name, data in (
        ("r.tiktoken", b"\n".join([*ranks(), b"x"])),
        ("c.codes", b"a b</w>\nx\n"),
        ("m", HEAD.encode()),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(bytepair.FormatError) as error:
            bytepair.load(path, **({"pattern": "gpt2"} if name == "r.tiktoken" else {}))
        assert str(path) in str(error.value)


def valid() -> dict[str, bytes]:
    return {
        "tiktoken": b"\n".join(ranks({b"ab": 256, b"abc": 257})),
        "gpt2": "#version: 0.2\nĠ a\nĠa b\n".encode(),
        "minbpe": (HEAD + "1\n<a> 300\n97 98\n256 99\n").encode(),
        "clip": (CLIP_HEAD + "a b\nab c</w>\n").encode(),
        "subword-nmt": b"#version: 0.2\na b\nab c</w>\n",
    }


@pytest.mark.parametrize("format", valid())
@pytest.mark.filterwarnings("ignore::bytepair.BytepairNotice")
def test_any_damage_is_a_format_error_or_a_tokenizer(format: str) -> None:
    data = valid()[format]
    rng = random.Random(format)
    tried = [data[:k] for k in rng.sample(range(len(data)), 30 if len(data) > 30 else len(data))]
    junk = [0, 10, 13, 32, 45, 48, 57, 97, 123, 255]
    for _ in range(150):
        broken = bytearray(data)
        for _ in range(rng.randint(1, 4)):
            broken[rng.randrange(len(broken))] = rng.choice(junk)
        tried.append(bytes(broken))
    for damaged in tried:
        options = {"pattern": "gpt2"} if format == "tiktoken" else {}
        options |= {"vocab": ids({"Ġa": 256, "Ġab": 257})} if format == "gpt2" else {}
        try:
            tok = bytepair.load(damaged, **options)
        except bytepair.FormatError as error:
            assert "the given bytes" in str(error)
        else:
            assert isinstance(tok, bytepair.Tokenizer)


@pytest.mark.parametrize("format", valid())
def test_a_file_is_taken_for_what_it_is(format: str) -> None:
    from bytepair.formats.source import Source

    for data in (valid()[format], valid()[format].replace(b"\n", b"\r\n")):
        source = Source.of(data)
        assert next(name for name, module in FORMATS.items() if module.recognises(source)) == format


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"\x00" * 1000,
        b"low low lower\n",
        b"two words\nper line\n",
        bytes(range(256)),
        b"[" * 10**6,
        b"a b\n",
    ],
)
def test_other_files_are_none_of_these(data: bytes) -> None:
    assert "no tokenizer file" in refusal(data) or "nested" in refusal(data) or "lacks" in refusal(data)


def test_bombs_and_mountains() -> None:
    """Small files that ask for much: bounded, and said."""
    doubling = "\n".join(f"{256 + k - 1 if k else 97} {256 + k - 1 if k else 97}" for k in range(60))
    assert "67108864 bytes" in refusal(f"minbpe v1\n\n0\n{doubling}\n".encode())
    packed = lzma.compress(b"\n".join(ranks()) + b"\n" * 5_000_000)
    assert bytepair.load(packed, pattern="gpt2").n_rows == 256
    assert "damaged" in refusal(packed[:-10], pattern="gpt2")
    assert "line 3" in refusal(b"#version: 0.2\na b</w>\n" + b"x" * 10_000_000)
    greedy = bytearray(lzma.compress(b"a b</w>\n"))
    header = slice(12, 12 + 4 * greedy[12])  # the check of the block's header stands behind it
    greedy[greedy.index(b"\x21\x01", 12) + 2] = 39  # it asks for a dictionary of 3 GB
    greedy[header.stop : header.stop + 4] = zlib.crc32(greedy[header]).to_bytes(4, "little")
    assert "Memory usage limit" in refusal(bytes(greedy))
    assert "16777216 values" in refusal(lzma.compress(b'{"model":{"vocab":[' + b"[]," * 9_000_000))
    two = b"".join(map(lzma.compress, (b"#version: 0.2\n", b"a b</w>\n")))
    assert "b</w>" in [tok.token_str(i) for tok in [bytepair.load(two)] for i in tok.vocab]
    symbol = "a"
    lines = []
    for _ in range(40):
        lines.append(f"{symbol} {symbol}")
        symbol += symbol
        if len(symbol) > 1 << 20:
            break
    tok = bytepair.load(("#version: 0.2\n" + "\n".join(lines) + "\n").encode())
    assert tok.n_rows > 256
