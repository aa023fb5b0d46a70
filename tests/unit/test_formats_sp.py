"""Damaged and hostile SentencePiece, tekken and GGUF files: always a FormatError that names file, place and cure."""

from __future__ import annotations

import base64
import contextlib
import json
import pickle
import random
import struct
import sys
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import bytepair
from bytepair import FormatError
from bytepair.formats.source import Source
from bytepair.pipeline._sentencepiece_output import SentencePieceOutput
from bytepair.pipeline.normalise import SentencePiece

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


# ---- messages and heads, byte by byte ----


def varint(number: int) -> bytes:
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def field(number: int, data: bytes | int | float) -> bytes:
    if isinstance(data, bytes):
        return varint(number << 3 | 2) + varint(len(data)) + data
    if isinstance(data, float):
        return varint(number << 3 | 5) + struct.pack("<f", data)
    return varint(number << 3) + varint(data)


def piece(text: str | bytes, score: float = 0.0, kind: int = NORMAL) -> bytes:
    data = text.encode() if isinstance(text, str) else text
    return field(1, field(1, data) + field(2, score) + field(3, kind))


UNK = piece("<unk>", kind=UNKNOWN)


def model(*pieces: bytes, trainer: bytes = field(3, 2), normalizer: bytes = b"", unk: bytes = UNK) -> bytes:
    return unk + b"".join(pieces) + field(2, trainer) + field(3, normalizer)


def text(value: str | bytes) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(data)) + data


def pair(key: str, kind: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + value


def strings(*values: str) -> bytes:
    return struct.pack("<IQ", 8, len(values)) + b"".join(map(text, values))


def numbers(kind: int, code: str, *values: float) -> bytes:
    return struct.pack(f"<IQ{len(values)}{code}", kind, len(values), *values)


def head(*pairs: bytes, version: int = 3, count: int | None = None) -> bytes:
    number = len(pairs) if count is None else count
    return b"GGUF" + struct.pack("<IQQ", version, 0, number) + b"".join(pairs)


def ggml(**values: tuple[int, bytes]) -> list[bytes]:
    return [pair(f"tokenizer.ggml.{key}", kind, value) for key, (kind, value) in values.items()]


def scored(**changes: tuple[int, bytes]) -> bytes:
    values = {
        "model": (8, text("llama")),
        "tokens": (9, strings("<unk>", "<s>", "a", "b", "ab", "\u2581")),
        "scores": (9, numbers(6, "f", 0, 0, -2, -3, -1, -4)),
        "token_type": (9, numbers(5, "i", 2, 3, 1, 1, 1, 1)),
        "bos_token_id": (4, struct.pack("<I", 1)),
        **changes,
    }
    return head(*ggml(**values))


def merged(**changes: tuple[int, bytes]) -> bytes:
    values = {
        "model": (8, text("gpt2")),
        "pre": (8, text("gpt-2")),
        "tokens": (9, strings("a", "b", "ab", "<|end|>")),
        "token_type": (9, numbers(5, "i", 1, 1, 1, 3)),
        "merges": (9, strings("a b")),
        **changes,
    }
    return head(*ggml(**values))


def refused(data: bytes, match: str, tmp_path: Path | None = None) -> None:
    with pytest.raises(FormatError, match=match) as caught:
        bytepair.load(data)
    assert "the given bytes" in str(caught.value)
    assert len(str(caught.value)) < 2500
    if tmp_path is not None:
        path = tmp_path / "some.model"
        path.write_bytes(data)
        with pytest.raises(FormatError, match=match) as caught:
            bytepair.load(path)
        assert str(path) in str(caught.value)


# ---- SentencePiece ----


@pytest.fixture
def protobuf() -> None:
    pytest.importorskip("google.protobuf", reason="protobuf is not installed")


@pytest.mark.usefixtures("protobuf")
def test_a_small_model_is_read() -> None:
    tok = bytepair.load(model(piece("a", -2.0), piece("b", -3.0), piece("ab", -1.0), piece("\u2581", -4.0)))
    assert tok.encode("ab ba") == [4, 3, 4, 2, 1]
    assert tok.pieces("ab") == ["\u2581".encode(), b"ab"]
    assert pickle.loads(pickle.dumps(tok)) == tok
    assert tok.decode(tok.encode("ab ba")) == "ab ba"
    assert tok.encode("ab☃☃b")[-2:] == [0, 2]


@pytest.mark.usefixtures("protobuf")
@pytest.mark.parametrize(
    ("data", "match"),
    [
        (model(piece("a"), trainer=b""), "type UNIGRAM, .*`sentencepiece` library runs it"),
        (model(piece("a"), trainer=field(3, 9)), "type 9"),
        (model(piece("a"), piece("a")), "piece 2 is 'a', as piece 1 is; take one out"),
        (model(piece("")), "piece 1 is empty"),
        (model(piece(b"\xff\xfe")), "piece 1 .* is no UTF-8 at byte 0"),
        (model(piece("a", float("nan"))), "piece 1 'a' has no number as its score"),
        (model(piece("a", kind=7)), "piece 1 'a' has the type 7"),
        (model(piece("a"), UNK.replace(b"<unk>", b"<UNK>")), "pieces 0 and 2 are both of the type"),
        (model(piece("a"), unk=b""), "no piece has the type for what is unknown"),
        (model(piece("<0x1>", kind=BYTE)), "piece 1 '<0x1>' is a byte by its type"),
        (model(piece("<0x41>", kind=BYTE)), "the piece <0x00> is missing"),
        (model(piece("a"), trainer=field(3, 2) + field(35, 1)), "byte_fallback is true, which its owner"),
        (model(piece("a"), piece("ab")), "piece 2 'ab' can be made of 'b', which is no piece itself"),
        (model(piece("a"), normalizer=field(2, b"\x01")), "precompiled_charsmap"),
        (model(piece("a"), normalizer=field(2, b"\xff" * 64)), "precompiled_charsmap"),
        (model(piece("a"), trainer=field(3, 2) + field(44, b"\xff")), "unk_surface is no UTF-8"),
        (model(*(piece("a" * n, -float(n)) for n in range(1, 2000))), "the pieces are too long to be a vocabulary"),
        (UNK + field(2, field(3, 2)), "there is no normalizer_spec"),
        (model(piece("a"))[:-3], "no SentencePiece model"),
    ],
)  # fmt: skip
def test_damaged_models(data: bytes, match: str, tmp_path: Path) -> None:
    refused(data, match, tmp_path)


@pytest.mark.usefixtures("protobuf")
def test_cut_off_and_junk_models() -> None:
    whole = model(*(piece(chr(0x61 + k), -float(k)) for k in range(20)), trainer=field(3, 2) + field(45, b"<unk>"))
    bytepair.load(whole)
    rng = random.Random(5)
    for size in range(len(whole)):
        with pytest.raises(FormatError):
            bytepair.load(whole[:size])
    for _ in range(400):
        junk = bytearray(whole)
        for _ in range(rng.randint(1, 6)):
            junk[rng.randrange(len(junk))] = rng.randrange(256)
        with contextlib.suppress(FormatError):
            bytepair.load(bytes(junk)).encode("abc")


@pytest.mark.usefixtures("protobuf")
def test_hostile_models() -> None:
    deep = b""
    for _ in range(20_000):  # groups within groups
        deep = b"\x0b" + deep + b"\x0c"
    refused(UNK + deep, "SentencePiece model|unknown|type UNIGRAM")
    refused(b"\n\x0f\n\x05<unk>\x18\x02" + field(1, b"")[:1] + b"\xff" * 9 + b"\x01", "no SentencePiece model")


def test_without_protobuf_the_cure_is_told() -> None:
    from bytepair.formats import sentencepiece

    sentencepiece._message.cache_clear()
    with mock.patch.dict(sys.modules, {"google.protobuf": None, "google": None}):
        refused(model(piece("a")), r"need the protobuf library .*pip install 'bytepair\[formats\]'")
    sentencepiece._message.cache_clear()


def test_other_files_are_not_taken_for_models() -> None:
    from bytepair.formats import sentencepiece

    for data in (b"", b"\n", b"\n\n\n\n", b"\nabc", b"minbpe v1\n", b"#version: 0.2\n", b"\n\x05hello", b"{}"):
        assert not sentencepiece.recognises(Source.of(data))
    assert sentencepiece.recognises(Source.of(UNK))


def test_what_it_makes_of_pieces_can_be_kept_as_json() -> None:
    output = SentencePieceOutput(
        control=("<s>", "</s>"), unknown="<unk>", surface="?", falls_back=True, strips_all=True,
        denormaliser=SentencePiece(),
    )  # fmt: skip
    value = json.loads(json.dumps(output.to_json()))
    assert SentencePieceOutput.from_json(value, "output") == output
    assert SentencePieceOutput.from_json(SentencePieceOutput().to_json(), "output") == SentencePieceOutput()
    for key, wrong in (
        ("control", "x"),
        ("control", [1]),
        ("unknown", 1),
        ("strips", 0),
        ("surface", None),
        ("denormaliser", 3),
    ):
        with pytest.raises(FormatError, match=r"^output"):
            SentencePieceOutput.from_json({**value, key: wrong}, "output")
    with pytest.raises(FormatError, match=r"has no name in a tokenizer\.json"):
        output.to_huggingface()


def test_bytes_of_pieces_are_kept_where_that_is_asked_for() -> None:
    output = SentencePieceOutput(falls_back=True)
    assert output.decode(["<0xE2>", "<0x98>", "a"]) == "\ufffd\ufffda"
    assert output.decode(["<0xE2>", "<0x98>", "a"], exact=True) == "\udce2\udc98a"
    assert output.starts(["\u2581a", "<0xC3>", "<0xA9>", "b"]) == [0, 1, 1, 2]


# ---- tekken ----


def tekken(**changes: Any) -> bytes:
    vocab = [
        {"rank": rank, "token_bytes": base64.b64encode(data).decode(), "token_str": None}
        for rank, data in enumerate([*(bytes([b]) for b in range(256)), b"ab", b"abc"])
    ]
    config = {"pattern": r"\p{L}+|\s+", "num_vocab_tokens": 258, "default_vocab_size": 288,
              "default_num_special_tokens": 30, "version": "v3"}  # fmt: skip
    for key, value in changes.items():
        if key in ("vocab", "special_tokens"):
            continue
        config[key] = value
    document: dict[str, Any] = {"config": config, "vocab": changes.get("vocab", lambda rows: rows)(vocab)}
    if "special_tokens" in changes:
        document["special_tokens"] = changes["special_tokens"]
    return json.dumps(document).encode()


def changed(place: int, **values: Any) -> Any:
    return lambda rows: [{**row, **values} if k == place else row for k, row in enumerate(rows)]


def test_a_small_tekken_file_is_read() -> None:
    tok = bytepair.load(tekken())
    assert tok.encode("abc") == [287]
    assert (tok.bos_id, tok.eos_id, tok.vocab_size) == (1, 2, 288)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"pattern": 3}, "config.pattern is a int, and should be str"),
        ({"pattern": "("}, "pattern"),
        ({"pattern": "a*"}, "empty text"),
        ({"default_vocab_size": None}, "config.default_vocab_size is missing or null"),
        ({"default_vocab_size": True}, "config.default_vocab_size is a bool"),
        ({"default_vocab_size": 289}, "config.default_vocab_size is 289, .*from 286 to 288"),
        ({"default_vocab_size": 100}, "config.default_vocab_size is 100"),
        ({"default_vocab_size": 10**30}, "config.default_vocab_size is 1000"),
        ({"default_num_special_tokens": -1}, "config.default_num_special_tokens is -1"),
        ({"default_num_special_tokens": 10, "default_vocab_size": 268}, "there are 20 special tokens"),
        ({"version": "v11"}, "special_tokens is missing, and config.version is 'v11'"),
        ({"special_tokens": 3}, "special_tokens is a int"),
        ({"special_tokens": [3]}, r"special_tokens\[0\] is a int"),
        ({"special_tokens": [{"rank": 1, "token_str": "a"}]}, r"special_tokens\[0\] has the rank 1"),
        ({"special_tokens": [{"rank": k, "token_str": "a"} for k in range(2)]}, "special token 1 is 'a', as 0 is"),
        ({"special_tokens": [{"rank": 0, "token_str": ""}]}, "empty name"),
        ({"vocab": lambda rows: rows[:200]}, "the file may be cut off"),
        ({"vocab": lambda rows: {}}, "vocab is a dict"),
        ({"vocab": changed(256, token_bytes="***")}, r"vocab\[256\].token_bytes is '\*\*\*', which is no base64"),
        ({"vocab": changed(256, token_bytes="")}, r"vocab\[256\].token_bytes is empty"),
        ({"vocab": changed(256, token_bytes="YQ==")}, r"vocab\[256\] is b'a', as vocab\[97\] is"),
        ({"vocab": changed(97, token_bytes="Yg==")}, r"vocab\[97\] is b'b', and should be the byte b'a'"),
        ({"vocab": changed(256, rank=7)}, r"vocab\[256\] has the rank 7"),
        ({"vocab": changed(256, rank="256")}, r"vocab\[256\].rank is a str"),
    ],
)  # fmt: skip
def test_damaged_tekken_files(changes: dict[str, Any], match: str) -> None:
    if "vocab" in changes and isinstance(changes["vocab"]([]), dict):
        data = tekken().replace(b'"vocab": [', b'"x": {"token_bytes": [')[:-1] + b'}, "vocab": {}}'
        refused(data, match)
        return
    refused(tekken(**changes), match)


def test_cut_off_tekken_files() -> None:
    whole = tekken()
    for size in range(300, len(whole), 97):
        with pytest.raises(FormatError):
            bytepair.load(whole[:size])


# ---- GGUF ----


def test_small_heads_are_read() -> None:
    tok = bytepair.load(scored())
    assert tok.pieces("ab") == ["\u2581".encode(), b"ab"]
    assert (tok.bos_id, tok.unk_id) == (1, 0)
    untyped = (9, numbers(5, "i", 1, 3, 1, 1, 1, 1))
    assert bytepair.load(scored(token_type=untyped, unknown_token_id=(4, b"\0\0\0\0"))).unk_id == 0
    assert bytepair.load(merged()).encode("abab") == [2, 2]
    assert bytepair.load(merged(merges=(9, strings("a b", "a b")))).encode("ab") == [2]


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (b"GGUF", "at byte 4 it says that 4 bytes follow"),
        (head(version=1), "version 1 of GGUF, and versions 2 and 3 are read"),
        (head(version=77), "version 77"),
        (head(count=1 << 60), "at byte 16 it says that the number of its pairs is"),
        (head(count=9), "at byte 24 it says that 8 bytes follow"),
        (head(struct.pack("<Q", 1 << 62)), "at byte 24 it says that the name of pair 0 has a length of"),
        (head(struct.pack("<Q", 5000)), "at byte 32 it says that 5000 bytes follow"),
        (head(pair("x", 99, b"")), "the value of 'x' has the type 99"),
        (head(pair("x", 8, struct.pack("<Q", 1 << 50))), "the value of 'x' has a length of"),
        (head(pair("x", 9, struct.pack("<IQ", 4, 1 << 50))), "the number of items of 'x' is"),
        (head(pair("x", 9, struct.pack("<IQ", 8, 1 << 20))), "bytes follow"),
        (head(pair("x", 9, struct.pack("<IQ", 9, 1) * 50)), "nested more than 8 deep"),
        (head(pair("x", 8, text(b"\xff"))), "the value of 'x' is no UTF-8 at byte"),
        (head(text(b"\xff")), "the name of pair 0 is no UTF-8"),
        (head(pair("x", 0, b"\0"), pair("x", 0, b"\0")), "pair 1 is 'x', which is there already"),
        (head(), "no tokenizer.ggml.model"),
        (head(*ggml(model=(0, b"\0"))), "tokenizer.ggml.model is a int, and should be str"),
        (scored(model=(8, text("bert"))), "'bert', WordPiece, .*llama.cpp runs it"),
        (scored(tokens=(9, numbers(5, "i", 1))), "tokenizer.ggml.tokens holds something else"),
        (scored(tokens=(9, strings("<unk>", "a", "a", "b", "c", "d"))), "token 2 is 'a', as token 1 is"),
        (scored(tokens=(4, b"\0\0\0\0")), "tokenizer.ggml.tokens is a int, and should be list"),
        (scored(scores=(9, numbers(6, "f", 0.0))), "tokenizer.ggml.scores has 1 items for 6 tokens"),
        (scored(scores=(9, numbers(6, "f", *[float("nan")] * 6))), "has no number as its score"),
        (scored(token_type=(9, numbers(5, "i", 2, 3, 1))), "tokenizer.ggml.token_type has 3 items"),
        (scored(token_type=(9, numbers(5, "i", 2, 3, 1, 1, 1, 77))), "has the type 77"),
        (scored(bos_token_id=(4, struct.pack("<I", 9))), "bos_token_id is 9, and the tokens have the ids 0 to 5"),
        (scored(bos_token_id=(8, text("1"))), "bos_token_id is a str"),
        (scored(add_space_prefix=(8, text("1"))), "add_space_prefix is a str"),
        (merged(pre=(8, text("mine"))), "tokenizer.ggml.pre is 'mine', .*Known are a.x-4.0, bailingmoe"),
        (merged(merges=(9, strings("ab"))), r"tokenizer.ggml.merges\[0\] is 'ab', and should be two tokens"),
        (merged(merges=(9, strings("a c"))), r"tokenizer.ggml.merges\[0\] 'a c' needs 'c', which is no token"),
        (merged(merges=(8, text("a b"))), "tokenizer.ggml.merges is a str"),
    ],
)  # fmt: skip
def test_damaged_heads(data: bytes, match: str, tmp_path: Path) -> None:
    refused(data, match, tmp_path)


def test_cut_off_and_junk_heads() -> None:
    rng = random.Random(6)
    for whole in (scored(), merged()):
        for size in range(4, len(whole)):
            with pytest.raises(FormatError):
                bytepair.load(whole[:size])
        for _ in range(300):
            junk = bytearray(whole)
            for _ in range(rng.randint(1, 6)):
                junk[rng.randrange(4, len(junk))] = rng.randrange(256)
            with warnings.catch_warnings(), contextlib.suppress(FormatError):
                warnings.simplefilter("ignore", bytepair.BytepairNotice)
                bytepair.load(bytes(junk))


def test_tensors_are_never_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.gguf"
    path.write_bytes(scored())
    with path.open("r+b") as file:
        file.truncate(1 << 33)  # a hole of eight gigabytes
    assert bytepair.load(path) == bytepair.load(scored())


def test_an_unread_role_is_told() -> None:
    with pytest.warns(bytepair.BytepairNotice, match="the role eos, 2 'a', is no special token"):
        assert bytepair.load(scored(eos_token_id=(4, struct.pack("<I", 2)))).eos_id is None


def test_a_folder_is_read_by_what_its_file_holds(tmp_path: Path) -> None:
    """Some models have other formats under SentencePiece's usual name."""
    (tmp_path / "tokenizer.model").write_bytes(tekken())
    assert bytepair.load(tmp_path).encode("abc") == [287]
