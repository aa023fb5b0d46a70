"""Mistral's tekken files against `mistral_common`'s Tekkenizer: ids, text, special tokens, and what we write."""

from __future__ import annotations

import json
import lzma
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pattern_peers import TRICKY, vocabulary_file

import bytepair
from bytepair import BytepairNotice, FormatError

tekken = pytest.importorskip("mistral_common.tokens.tokenizers.tekken", reason="mistral_common is not installed")

DATA = Path(__file__).parent / "data"
CUT = "tekken_240911.2000.json.xz"
WORDS = [
    "the",
    " of",
    "Über",
    " naïve",
    "Привет",
    " 你好",
    "don't",
    "I'LL",
    " 2024",
    "\n    ",
    "...",
    "<s>",
    "[INST]",
    "  ",
]


def their(data: bytes, folder: Path) -> Any:
    path = folder / "tekken.json"
    path.write_bytes(data)
    return tekken.Tekkenizer.from_file(path)


@cache
def content(whole: bool) -> bytes:
    return lzma.decompress((vocabulary_file("tekken_240911.json.xz") if whole else DATA / CUT).read_bytes())


@pytest.fixture(scope="module", params=[False, True], ids=["cut", "whole"])
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[bytepair.Tokenizer, Any]:
    data = content(request.param)
    return bytepair.load(data), their(data, tmp_path_factory.mktemp("tekken"))


def texts(seed: int) -> list[str]:
    rng = random.Random(seed)
    source = Path(bytepair.__file__).with_name("tokenizer.py").read_text("utf-8")
    return ["", source, *("".join(rng.choices([*TRICKY, *WORDS, *WORDS], k=rng.randint(1, 30))) for _ in range(300))]


def test_ids_and_text(both: tuple[bytepair.Tokenizer, Any]) -> None:
    ours, theirs = both
    for text in texts(1):
        ids = theirs.encode(text, bos=False, eos=False)
        assert ours.encode(text) == ids
        assert ours.decode(ids) == theirs.decode(ids) == text
        assert ours.encode(text, add_bos=True, add_eos=True) == theirs.encode(text, bos=True, eos=True)


def test_all_ids(both: tuple[bytepair.Tokenizer, Any]) -> None:
    ours, theirs = both
    assert ours.vocab_size == theirs.n_words
    assert set(ours.specials.values()) == theirs.special_ids
    policy = tekken.SpecialTokenPolicy.KEEP
    for i in (*range(1500), *range(1500, ours.vocab_size, 97), ours.vocab_size - 1):
        assert ours.id_to_bytes(i) == theirs.id_to_byte_piece(i, policy)
    for role in ("bos", "eos", "pad", "unk"):
        assert getattr(ours, f"{role}_id") == getattr(theirs, f"{role}_id")


def test_written_and_read_again(both: tuple[bytepair.Tokenizer, Any], tmp_path: Path) -> None:
    ours, theirs = both
    ours.save(tmp_path / "a.json", format="tekken")
    again = bytepair.load(tmp_path / "a.json")
    assert again == ours
    owner = their((tmp_path / "a.json").read_bytes(), tmp_path)
    for text in texts(2)[:50]:
        assert owner.encode(text, True, True) == theirs.encode(text, True, True)
    assert owner.image == theirs.image


def test_a_file_that_lists_its_special_tokens(tmp_path: Path) -> None:
    document = json.loads(content(False))
    names = ["<unk>", "<s>", "</s>", "[INST]", "<pad>", "[NEW]"]
    document["special_tokens"] = [{"rank": k, "token_str": name, "is_control": k < 3} for k, name in enumerate(names)]
    document["config"]["version"] = "v11"
    data = json.dumps(document).encode()
    ours, theirs = bytepair.load(data), their(data, tmp_path)
    assert ours.specials["[NEW]"] == theirs.get_special_token("[NEW]") == 5
    assert ours.specials["<SPECIAL_6>"] == theirs.get_special_token("<SPECIAL_6>") == 6
    assert ours.pad_id == theirs.pad_id == 4
    assert ours.encode("[NEW] a", special="all")[0] == 5
    ours.save(tmp_path / "b.json", format="tekken")
    written = json.loads((tmp_path / "b.json").read_bytes())
    assert written["special_tokens"][:6] == document["special_tokens"]
    assert bytepair.load(tmp_path / "b.json") == ours


def test_ranks_of_ours_are_written_where_they_can_be(tmp_path: Path) -> None:
    names = ["<unk>", "<s>", "</s>", "<pad>"]
    ranks = {bytes([b]): 4 + b for b in range(256)} | {b"he": 260, b"the": 261, b" the": 262}
    ours = bytepair.Tokenizer.from_ranks(ranks, pattern="cl100k", specials={name: k for k, name in enumerate(names)})
    ours.save(tmp_path / "a.json", format="tekken")
    theirs = their((tmp_path / "a.json").read_bytes(), tmp_path)
    assert theirs.encode("the the é", False, False) == ours.encode("the the é")
    last = bytepair.Tokenizer.from_ranks({bytes([b]): b for b in range(256)}, pattern="cl100k", specials=["</s>"])
    with pytest.raises(FormatError, match="its 1 special tokens have other ids than 0 to 0"):
        last.save(tmp_path / "b.json", format="tekken")
    with pytest.raises(FormatError, match="under the merge rule"):
        bytepair.train("low low", num_merges=2).save(tmp_path / "b.json", format="tekken")
    other = bytepair.Tokenizer.from_ranks(
        {bytes([b]): 1 + b for b in range(256)}, pattern="cl100k", specials={"[END]": 0}, roles={"eos": "[END]"}
    )
    with pytest.warns(BytepairNotice, match=r"the role eos is '\[END\]' here"):
        other.save(tmp_path / "c.json", format="tekken")
