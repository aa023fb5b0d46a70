"""The health of a vocabulary: each finding on a tokenizer that has it, and on one that has not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bytepair
from bytepair import Tokenizer
from bytepair.explain.scripts import scripts_of

BYTES = {bytes([b]): b for b in range(256)}


def ranks(*tokens: bytes, pattern: str = "gpt2", specials: tuple[str, ...] = ()) -> Tokenizer:
    table = BYTES | {token: 256 + k for k, token in enumerate(tokens)}
    return Tokenizer.from_ranks(table, pattern=pattern, specials=specials)


def shown(tok: Tokenizer, ids: tuple[int, ...]) -> list[bytes]:
    return [tok.vocab[i] for i in ids]


def test_a_trained_vocabulary_is_well() -> None:
    tok = bytepair.train(["low lower lowest " * 9, "naïve мир 你好 🧠 " * 3], vocab_size=290)
    found = tok.health()
    assert found.level in ("ok", "note")
    assert [f.kind for f in found.findings if f.level == "ok"] == [
        "unreachable", "unreached", "duplicates", "digits", "scripts", "typed-specials"
    ]  # fmt: skip


def test_what_no_merge_makes() -> None:
    # abc would have to be made of bc, which ab takes apart; b is never left beside c.
    tok = Tokenizer.from_merges([(b"a", b"b"), (b"b", b"c"), (b"a", b"bc")])
    found = tok.health()["unreachable"]
    assert shown(tok, found.ids) == [b"abc"]
    assert found.level == "warning"
    assert tok.why_not("abc").reason == "overtaken"
    # Under the rank rule a whole pretoken is the token all the same.
    assert ranks(b"ab", b"bc", b"xabcd").health()["unreachable"].count == 0


def test_what_the_pattern_takes_apart() -> None:
    tok = Tokenizer.from_merges([(b"1", b"2"), (b"a", b"b"), (b"a", b" "), (b"\xc3", b"\xa9")], pattern="qwen2")
    found = tok.health()
    assert found["unreachable"].count == 0
    assert shown(tok, found["unreached"].ids) == [b"12", b"a "]


TOKENS = st.lists(st.text("ab ", min_size=2, max_size=5).map(str.encode), unique=True, max_size=8)


@given(TOKENS, st.text("ab ", max_size=30))
def test_what_is_called_unreachable_never_comes(tokens: list[bytes], text: str) -> None:
    tok = ranks(*tokens)
    found = tok.health()
    never = {*found["unreachable"].ids, *found["unreached"].ids}
    assert not never & set(tok.encode(text))


def test_bytes_digits_scripts() -> None:
    tok = ranks(b"\xe2\x80", b"00", b"1234", b"a1", "aж".encode(), "あ漢".encode(), b"ab", pattern="none")
    found = tok.health()
    assert shown(tok, found["not-utf8"].ids) == [b"\xe2\x80"]
    assert shown(tok, found["digits"].ids) == [b"00", b"1234"]
    assert found["digits"].values == {"longest": 4}
    assert shown(tok, found["scripts"].ids) == ["aж".encode()]


def test_specials_that_may_be_typed() -> None:
    assert ranks(specials=("<|end|>",)).health()["typed-specials"].level == "ok"
    assert ranks(specials=("END", "<|end|>")).health()["typed-specials"].names == ("END",)
    found = ranks(specials=("<|end|>",)).health(["a <|end|> b <|end|>", "c"])["typed-specials"]
    assert found.values == {"<|end|>": 2}
    assert found.level == "warning"


def test_a_corpus() -> None:
    tok = ranks(b"lo", b"low", b" low", b"xy")
    found = tok.health(["low low", "lo"])
    assert shown(tok, found["unused"].ids) == [b"xy"]
    assert found["unused"].values["share"] == 1 / 4
    assert found["steps"].count == 0
    assert shown(tok, tok.health(["low low"])["steps"].ids) == [b"lo"]
    assert found["round-trip"].level == "ok"


def test_documents_that_do_not_come_back(tmp_path: Path) -> None:
    for name, text in (("a.txt", "low"), ("b.txt", "low  low"), ("c.txt", "lox")):
        (tmp_path / name).write_text(text)
    tok = bytepair.train("low low", alphabet="characters", end_of_word="separate", num_merges=2)
    found = tok.health(tmp_path)["round-trip"]
    assert found.level == "error"  # of a character that is not in the alphabet
    assert [Path(name.split(":")[0]).name for name in found.names] == ["c.txt", "b.txt"]


def test_duplicates() -> None:
    tok = bytepair.train("ab ab", alphabet="characters", unknown="bytes", specials=(), num_merges=1)
    assert tok.health()["duplicates"].count == 0  # fallback bytes are no duplicates of characters


def test_leading_spaces() -> None:
    tok = ranks(b" a", b"b")
    found = tok.health("\n".join("a" * 30), against=" a" * 30)["leading-space"]
    assert found.level == "warning"
    assert found.values == {"share": 0.0, "against": 1.0}
    with pytest.raises(bytepair.BytepairError, match="give corpus= as well"):
        tok.health(against="a")


def test_forms() -> None:
    found = ranks(b"00").health("a")
    assert json.loads(json.dumps(found.to_json()))["findings"][0]["kind"] == "unreachable"
    assert "digits" in str(found)
    assert "<table>" in found._repr_html_()
    with pytest.raises(KeyError, match="there are unreachable"):
        found["no"]


def test_scripts() -> None:
    assert scripts_of("漢字かな") == {"Japanese or Chinese"}
    assert scripts_of("ab1 .") == {"Latin"}
    assert scripts_of("1 .½") == set()
    assert scripts_of("αβ мир") == {"Greek", "Cyrillic"}
    assert scripts_of("한국어") == {"Hangul"}
