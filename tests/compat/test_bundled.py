"""The vocabularies inside the package: the originals byte for byte, tiktoken's ids, and names that find them."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import sysconfig
import unicodedata
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pattern_peers import TRICKY, vocabulary_file
from tiktoken_peers import TORTURE, definition, peer

import bytepair
from bytepair import bundled
from bytepair.bundled.packed import pack, unpack
from bytepair.bundled.table import PACKED
from bytepair.vocabulary import byte_order

FOLDER = Path(bundled.__file__).parent
RECORDS = json.loads((FOLDER / "PROVENANCE.json").read_text("utf-8"))
TIKTOKENS = [name for name in bundled.names() if name != "qwen2"]

every = pytest.mark.parametrize("name", bundled.names())
records = pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["original"])


@cache
def ours(name: str) -> bytepair.Tokenizer:
    tokenizer: bytepair.Tokenizer = bytepair.load(name)
    return tokenizer


SIGNS = {b: chr(b if n < 188 else 256 + n - 188) for n, b in enumerate(byte_order("gpt2"))}


def written_as_gpt2(token: bytes) -> str:
    return "".join(SIGNS[b] for b in token)


def original(record: dict[str, str]) -> bytes:
    """An original file, written again from what is packed."""
    tokenizer = ours(record["name"])
    if record["original"].endswith(".tiktoken"):
        ranks = bundled.ranks(record["name"])
        return b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in ranks.items())
    if record["original"] == "gpt2.encoder.json":
        written = {i: written_as_gpt2(token) for i, token in tokenizer.vocab.items()}
        written.update({i: name for name, i in tokenizer.specials.items()})
        return json.dumps({token: i for i, token in written.items()}).encode()
    assert record["original"] == "gpt2.vocab.bpe"
    assert tokenizer.merges is not None
    lines = [" ".join(written_as_gpt2(tokenizer.vocab[part]) for part in pair) for pair in tokenizer.merges]
    return "\n".join(["#version: 0.2", *lines, ""]).encode()


@records
def test_the_originals_come_out_byte_for_byte(record: dict[str, str]) -> None:
    assert hashlib.sha256(original(record)).hexdigest() == record["sha256"]


@records
def test_the_records_are_of_these_files(record: dict[str, str]) -> None:
    assert hashlib.sha256((FOLDER / record["packed"]).read_bytes()).hexdigest() == record["packed_sha256"]
    assert record["licence"] in ("MIT", "Apache-2.0")
    assert record["published"]
    assert bundled.known(record["sha256"]) == record["name"]
    assert bundled.known(record["sha256"].upper()) == record["name"]


@records
def test_the_records_are_of_the_published_files(record: dict[str, str]) -> None:
    data = vocabulary_file(record["original"]).read_bytes()
    assert hashlib.sha256(data).hexdigest() == record["sha256"]


def test_nothing_else_is_known() -> None:
    assert bundled.known("0" * 64) is None
    assert {record["packed"] for record in RECORDS} == {path.name for path in FOLDER.glob("*.xz")}
    assert {record["packed"] for record in RECORDS} == {f"{name}.xz" for name in PACKED}


def test_the_data_is_small_and_in_the_distribution() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir() if path.is_file()) < 2_000_000
    try:
        listed = metadata.files("bytepair")
    except metadata.PackageNotFoundError:
        pytest.skip("bytepair is not installed here: it runs from the source tree")
    if any(file.name.startswith("__editable__") or file.name.endswith("_editable.pth") for file in listed or ()):
        pytest.skip("an editable install lists no data")
    there = {file.as_posix() for file in listed or ()}
    assert there >= {f"bytepair/bundled/{name}" for name in ("PROVENANCE.json", *(f"{file}.xz" for file in PACKED))}


@given(st.lists(st.tuples(*[st.integers(0, (1 << 24) - 1)] * 2)))
@settings(max_examples=30)
def test_packing(pairs: list[tuple[int, int]]) -> None:
    assert list(unpack(pack(pairs))) == pairs
    assert pack(pairs) == pack(pairs)


@pytest.mark.parametrize("damage", [b"", b"no xz", None])
def test_damaged_data_says_what_to_do(damage: bytes | None, monkeypatch: pytest.MonkeyPatch) -> None:
    from bytepair.bundled import packed

    data = (FOLDER / "p50k_base.xz").read_bytes()[:-20] if damage is None else damage
    monkeypatch.setattr(packed, "get_data", lambda package, name: data)
    with pytest.raises(bytepair.FormatError, match=r"p50k_base\.xz inside the package cannot be read .*install"):
        packed.read("p50k_base")


# ---- against tiktoken ----


@pytest.mark.parametrize("name", TIKTOKENS)
def test_special_tokens_are_tiktokens(name: str) -> None:
    told = definition(name)
    assert bundled.specials(name) == told["special_tokens"]
    assert set(ours(name).specials.items()) <= set(told["special_tokens"].items())
    assert set(ours(name).specials.values()) == set(told["special_tokens"].values())
    if "explicit_n_vocab" in told:
        assert ours(name).n_rows == told["explicit_n_vocab"]


def test_every_encoding_of_tiktoken_is_here() -> None:
    public = pytest.importorskip("tiktoken_ext.openai_public", reason="this tiktoken has no public encodings")
    newer = tuple(map(int, metadata.version("tiktoken").split(".")[:2])) > (0, 14)
    if newer:
        pytest.skip("this tiktoken is newer than 0.14, and may have more")
    assert set(public.ENCODING_CONSTRUCTORS) <= set(bundled.names())


@every
def test_every_token(name: str) -> None:
    """Ids, bytes and specials, one by one."""
    mine, theirs = ours(name), peer(name)
    assert mine.n_rows == theirs.n_vocab
    ranks = bundled.ranks(name)
    assert list(ranks.values()) == sorted(ranks.values())
    assert mine.n_mergeable == len(ranks) == len(theirs.token_byte_values())
    assert mine.vocab == {i: theirs.decode_single_token_bytes(i) for i in mine.vocab}
    if mine.rule == "ranks":
        assert mine.ranks == ranks


@every
def test_torture(name: str) -> None:
    mine, theirs = ours(name), peer(name)
    if name == "qwen2":  # which normalises first, and tiktoken does not
        assert mine.encode(TORTURE) == theirs.encode_ordinary(unicodedata.normalize("NFC", TORTURE))
        return
    assert mine.encode(TORTURE) == theirs.encode_ordinary(TORTURE)
    assert mine.decode(mine.encode(TORTURE)) == TORTURE
    for start in range(len(TORTURE)):
        assert mine.encode(TORTURE[start : start + 12]) == theirs.encode_ordinary(TORTURE[start : start + 12])


@every
def test_real_code(name: str, engine_name: str) -> None:
    mine, theirs = ours(name), peer(name)
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[:: 6 if engine_name == "core" else 60]
    texts = [file.read_text("utf-8", "replace") for file in files]
    assert mine.encode_batch(texts) == [theirs.encode_ordinary(text) for text in texts]


@every
def test_random_texts(name: str) -> None:
    mine, theirs = ours(name), peer(name)
    rng = random.Random(name)
    pieces = [*bundled.specials(name)][:8]
    tokens = [token.decode("utf-8", "ignore") for token in rng.sample(list(bundled.ranks(name)), 400)]
    for _ in range(400):
        text = "".join(rng.choices([*TRICKY, *tokens, *TORTURE.split()], k=rng.randint(1, 30)))
        normal = unicodedata.normalize("NFC", text) if name == "qwen2" else text
        assert mine.encode(text) == theirs.encode_ordinary(normal)
        text = "".join(rng.choices([*pieces, "<|", "|>", " ", *tokens[:20]], k=rng.randint(1, 8)))
        named = set(pieces) & set(mine.specials)
        assert mine.encode(text, special=named) == theirs.encode(text, allowed_special=named, disallowed_special=())


def test_roles() -> None:
    for name in bundled.names():
        tokenizer = ours(name)
        assert tokenizer.eos_id == tokenizer.specials["<|endoftext|>"], name
    assert ours("o200k_harmony").bos_id == 199998
    assert ours("qwen2").pad_id == 151643
    assert ours("gpt2").rule == "merges"
    assert all(ours(name).rule == "ranks" for name in bundled.names() if name != "gpt2")


def test_two_names_of_one_id() -> None:
    """o200k_harmony names 200018 twice; decoding gives the name that tiktoken's does."""
    assert bundled.specials("o200k_harmony")["<|reserved_200018|>"] == 200018
    assert ours("o200k_harmony").decode([200018]) == peer("o200k_harmony").decode([200018]) == "<|endofprompt|>"


# ---- names ----


def test_models_are_tiktokens() -> None:
    model = pytest.importorskip("tiktoken.model", reason="tiktoken is not installed")
    theirs = {
        **model.MODEL_TO_ENCODING,
        **{f"{start}x": name for start, name in model.MODEL_PREFIX_TO_ENCODING.items()},
    }
    newer = tuple(map(int, metadata.version("tiktoken").split(".")[:2])) > (0, 14)
    for name, encoding in theirs.items():
        assert bundled.for_model(name) == encoding or (newer and bundled.for_model(name) is None), name
    for name in ("ft:gpt-4o-mini:org::id", "ft:gpt-4:org", "gpt-4o-2024-05-13", "gpt-4-32k", "gpt-2x", "", "GPT-4"):
        try:
            expected = model.encoding_name_for_model(name)
        except KeyError:
            expected = None
        assert bundled.for_model(name) == expected, name


@pytest.mark.parametrize(
    ("name", "vocabulary"),
    [
        ("gpt-4o", "o200k_base"),
        ("gpt-4o-2024-05-13", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-3.5-turbo-0301", "cl100k_base"),
        ("text-davinci-003", "p50k_base"),
        ("gpt2", "gpt2"),
    ],
)
def test_load_by_model(name: str, vocabulary: str) -> None:
    assert bytepair.load(name) == ours(vocabulary)


def test_an_unknown_name_lists_near_ones() -> None:
    with pytest.raises(bytepair.FormatError, match=r"cl100k_bse.*near ones are cl100k_base"):
        bytepair.load("cl100k_bse")
    with pytest.raises(bytepair.FormatError, match=r"no-such.*check the path.*o200k_harmony, qwen2"):
        bytepair.load("no-such")
    with pytest.raises(bytepair.FormatError, match="there is no bundled vocabulary 'no-such'"):
        bundled.load("no-such")


def test_files_that_are_called_like_a_vocabulary_or_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    small = bytepair.train("low low lower lowest", num_merges=2)
    for name in ("cl100k_base", "gpt-4-mine"):
        small.save(name)
    assert bytepair.load("cl100k_base") == ours("cl100k_base")
    assert bytepair.load(Path("cl100k_base")) == bytepair.load("./cl100k_base") == small
    assert bytepair.load("gpt-4-mine") == small
    with pytest.raises(bytepair.FormatError, match=r"there is no file gpt-4-absent\.json"):
        bytepair.load("gpt-4-absent.json")
