"""Comparing sides: what differs is found, in every kind and with its place; a certificate says only what is so."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path

import pytest

import bytepair
from bytepair.errors import BytepairNotice, FormatError
from bytepair.verifying import Ours, verify
from bytepair.verifying.owners import NO_LIBRARY, OWNERS, NoOwnerError, SubwordNmt, owner_of
from bytepair.verifying.texts import PIECE, corpus, random_texts, torture


@pytest.fixture(scope="module")
def tok() -> bytepair.Tokenizer:
    return bytepair.train("low low lower lowest, the theme of them é é", num_merges=12, pattern="gpt2", min_freq=1)


class Broken(Ours):
    """A side that does one thing wrong, in texts that have a certain word in them."""

    def __init__(self, tokenizer: bytepair.Tokenizer, wrong: str, word: str = "lowest") -> None:
        super().__init__(tokenizer, f"broken in {wrong}", "0")
        self.wrong, self.word = wrong, word

    def _hit(self, text: str | bytes) -> bool:
        return self.word.encode() in (text if isinstance(text, bytes) else text.encode())

    def encode(self, texts, policy):
        rows = super().encode(texts, policy)
        if self.wrong == "refusing" and any(map(self._hit, texts)):
            raise RuntimeError("not with me")
        if self.wrong == "ids" or (self.wrong == "names" and policy == "all"):
            rows = [row[:-1] if self._hit(text) else row for text, row in zip(texts, rows)]
        return rows

    def decode_bytes(self, ids):
        data = super().decode_bytes(ids)
        return data.replace(b"lowest", b"lowesT") if self.wrong == "decoded text" else data

    def spans(self, text, policy):
        spans = super().spans(text, policy)
        return [*spans[:-1], (0, 1)] if self.wrong == "offsets" and self._hit(text) else spans

    def starts(self, ids):
        starts = super().starts(ids)
        return [start + 1 for start in starts] if self.wrong == "starts" and self._hit(self.decode(ids)) else starts


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        ("ids", "ids"),
        ("names", "ids"),
        ("refusing", "ids"),
        ("decoded text", "decoded text"),
        ("offsets", "offsets"),
        ("starts", "offsets"),
    ],
)
def test_a_broken_side_is_found_in_every_kind(tok: bytepair.Tokenizer, wrong: str, kind: str) -> None:
    found = verify(tok, Broken(tok, wrong), random=20)
    assert not found.equal
    (difference,) = found.differences
    assert difference.kind == kind
    assert (difference.source, difference.text) == ("torture text", "plain 7")
    assert difference.policy == ("all" if wrong == "names" else "text")
    assert "lowest" in difference.excerpt
    assert difference.texts >= 2  # "lowest newer wider" too
    assert f"first difference in {kind}: torture text, plain 7, character " in str(found)
    if wrong == "refusing":
        assert "RuntimeError: not with me" in str(found)
    elif wrong in ("ids", "names"):
        assert (difference.character, difference.token) == (19, len(tok.encode("low low lower lowest")) - 1)
    elif wrong == "decoded text":
        assert difference.character == 19


def test_a_side_that_is_not_broken_is_equal(tok: bytepair.Tokenizer) -> None:
    found = verify(tok, Broken(tok, "nothing"), random=20)
    assert found.equal
    assert found.with_owner


@pytest.mark.parametrize("at", ["random", "corpus", "tokens", "ids decoded"])
def test_every_source_finds_it(tok: bytepair.Tokenizer, tmp_path: Path, at: str) -> None:
    class Wrong(Ours):
        def encode(self, texts, policy):
            rows = super().encode(texts, policy)
            words = {"random": "ſ", "corpus": "quark", "tokens": "\u0000\u0000"}
            word = words.get(at, "nowhere to be found")
            return [
                r[:-1] if word.encode() in (t if isinstance(t, bytes) else t.encode()) else r
                for t, r in zip(texts, rows)
            ]

        def decode_bytes(self, ids):
            return b"?" if at == "ids decoded" and ids == [200] else super().decode_bytes(ids)

    file = tmp_path / "notes.txt"
    file.write_bytes(b"x\xff\n" * PIECE + "é\né quark\n".encode())
    wrong = Wrong(tok, "wrong", "0")
    if at == "tokens":
        tok = bytepair.Tokenizer.from_merges([(b"\0", b"\0")])
        wrong = Wrong(tok, "wrong", "0")
    found = verify(tok, wrong, corpus=[file], random=300, policies=("text",))
    sources = {difference.source for difference in found.differences}
    if at == "random":
        assert sources == {"torture text"}  # the long s is there too
        return
    assert sources == {at}
    (difference,) = found.differences
    if at == "corpus":
        assert (difference.text, difference.line) == (str(file), PIECE + 2)
        assert difference.character == PIECE * 3 + len("é\né quark")
    if at == "ids decoded":
        assert difference.text == "id 200"


def test_two_rules_that_differ_are_reported_with_their_place() -> None:
    """Ranks bc < ab < abc, learned as ab + c: one list, and a|bc by merges where ranks give abc."""
    merges = bytepair.Tokenizer.from_merges(
        [(b"b", b"c"), (b"a", b"b"), (b"ab", b"c")], layout="bytes-first", specials=()
    )
    ranks = bytepair.Tokenizer.from_ranks(
        {**{bytes([b]): b for b in range(256)}, b"bc": 256, b"ab": 257, b"abc": 258}, pattern="gpt2"
    )
    assert merges.vocab == ranks.vocab
    found = verify(merges, ranks, owners=False)
    (difference,) = found.differences
    assert (difference.text, difference.character, difference.token) == ("merging 1", 0, 0)
    assert (difference.left.ids, difference.left.tokens) == ((97, 256), ("a", "bc"))
    assert (difference.right.ids, difference.right.tokens) == ((258,), ("abc",))
    assert difference.texts >= 4  # xabc, abcabc and the token itself


def test_without_an_owner_it_says_so_first(tok: bytepair.Tokenizer, tmp_path: Path) -> None:
    tok.save(tmp_path / "a.json")
    found = verify(tmp_path / "a.json")
    assert found.equal
    assert not found.with_owner
    assert str(found).splitlines()[0] == (
        f"made without the owner's library: {tmp_path / 'a.json'}: {NO_LIBRARY['bytepair']}"
    )
    assert found.sides[0].fingerprint == found.sides[1].fingerprint == tok.fingerprint


def test_a_library_that_is_not_installed_is_missed(
    tok: bytepair.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tok.save(tmp_path / "tokenizer.json", format="huggingface")

    def version(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr("bytepair.verifying.owners.metadata.version", version)
    found = verify(tmp_path / "tokenizer.json", random=5)
    assert found.equal
    assert found.without_owner.endswith("tokenizers is not installed")


def test_the_owner_is_asked(tok: bytepair.Tokenizer, tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    tok.save(tmp_path / "a.json")
    tok.save(tmp_path / "folder", format="huggingface")
    text = tmp_path / "notes.txt"
    text.write_bytes(b"low lower\xff\n" * 500)
    found = verify(tmp_path / "a.json", tmp_path / "folder", corpus=[text], random=200)
    assert found.equal
    assert found.with_owner
    assert [side.library for side in found.sides] == ["bytepair", "bytepair", "tokenizers"]
    assert found.sides[2].version == tokenizers.__version__
    assert found.sides[2].kinds == ("ids", "decoded text", "offsets")
    assert found.sides[1].files[0].name == str(tmp_path / "folder" / "tokenizer.json")
    by_source = {row.source: row for row in found.compared}
    assert by_source["corpus"].bytes == text.stat().st_size == found.corpus[0].bytes
    assert by_source["tokens"].texts == sum("\ufffd" not in tok.decode([i]) for i in tok.vocab)
    assert by_source["ids decoded"].texts == tok.vocab_size
    assert by_source["random"].texts == 200
    again = json.loads(json.dumps(found.to_json()))
    assert again["equal"] is True
    assert again["corpus"][0]["sha256"] == found.corpus[0].sha256


def test_the_owner_finds_what_we_read_wrong(tmp_path: Path) -> None:
    """A file that its owner takes for another tokenizer: here ours has one merge less."""
    pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    tok = bytepair.train("low low lower", num_merges=3, pattern="gpt2")
    tok.save(tmp_path / "tokenizer.json", format="huggingface")
    smaller = tok.cut(tok.vocab_size - 1)
    found = verify(smaller, tmp_path / "tokenizer.json", random=0)
    assert {difference.right.side for difference in found.differences} == {side.name for side in found.sides[1:]}
    assert all(difference.kind == "ids" for difference in found.differences)


def test_a_file_that_its_owner_cannot_read_is_an_error(tok: bytepair.Tokenizer, tmp_path: Path) -> None:
    pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    tok.save(tmp_path / "tokenizer.json", format="huggingface")
    text = (tmp_path / "tokenizer.json").read_text("utf-8")
    (tmp_path / "tokenizer.json").write_text(text.replace('"version": "1.0"', '"version": "9.0"'), "utf-8")
    with pytest.raises(FormatError, match=r"tokenizers [0-9.]+ cannot read .*tokenizer\.json"):
        verify(tmp_path / "tokenizer.json")


def test_ranks_without_a_file_are_tiktokens(tok: bytepair.Tokenizer) -> None:
    pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    texts = {token: i for i, token in tok.cut(tok.vocab_size).vocab.items() if i > 5}
    ranks = bytepair.Tokenizer.from_ranks(texts, pattern="cl100k", specials={"<|a|>": 1000})
    found = verify(ranks, random=200)
    assert found.equal
    assert found.with_owner
    assert found.sides[1].library == "tiktoken"
    with pytest.raises(NoOwnerError, match="no file"):
        owner_of(None, tok, None)


def test_subword_nmt_is_held_against_strings() -> None:
    pytest.importorskip("subword_nmt", reason="subword-nmt is not installed")
    tok = bytepair.train(
        "low low lower lowest newer wider", alphabet="characters", end_of_word="fused", unknown="bytes",
        pattern="spaces", num_merges=8, specials=(), min_freq=1,
    )  # fmt: skip
    strings = [(tok.token_str(a), tok.token_str(b)) for a, b in tok.merges]
    codes = "\n".join(["#version: 0.2", *(f"{a} {b}" for a, b in strings)])
    from subword_nmt import apply_bpe

    theirs = SubwordNmt(apply_bpe, tok, codes.encode())
    ours = Ours(tok, "ours", "0")
    for text in ("low lowest", " lower  x\nwiderж newer\n", "жо", ""):
        assert ours.strings(tok.encode(text), "@@") == theirs.encode([text], "text")[0]


def test_words_are_given_to_subword_nmt_as_they_are_cut_here() -> None:
    """A carriage return is a character of its word here; the owner's program takes it off a line."""
    apply_bpe = pytest.importorskip("subword_nmt.apply_bpe", reason="subword-nmt is not installed")
    codes = b"#version: 0.2\nl o\nlo w</w>\n"
    tok = bytepair.load(codes)
    text = "low\r\nlow\r \n \rlow"
    assert (
        Ours(tok, "ours", "0").strings(tok.encode(text), "@@")
        == SubwordNmt(apply_bpe, tok, codes).encode([text], "text")[0]
    )


def test_tiktoken_stands_behind_the_normaliser_that_its_file_has() -> None:
    pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    side = owner_of(None, bytepair.load("qwen2"), None)
    assert "normaliser" in side.name
    tok = bytepair.load("qwen2")
    for text in ("\u2000 e\u0301 \u212b", "<|im_end|>\u0338e\u0301"):
        for policy in ("text", "all"):
            special = "all" if policy == "all" else "text"
            assert side.encode([text], policy) == [tok.encode(text, special=special)]


def test_every_format_has_an_owner_or_none_for_a_reason() -> None:
    from bytepair.formats import FORMATS

    for name in FORMATS:
        assert (name.replace("_", "-") in OWNERS) != (name in NO_LIBRARY), name


def test_options_that_no_file_needs_are_refused(tok: bytepair.Tokenizer, tmp_path: Path) -> None:
    tok.save(tmp_path / "a.json")
    with pytest.raises(FormatError, match="says its own pattern"):
        verify(tmp_path / "a.json", pattern="gpt2")


def test_a_side_may_refuse_what_the_first_refuses() -> None:
    """A character that was never seen is an error on both sides, and so no difference."""
    with pytest.warns(BytepairNotice):
        tok = bytepair.train("low", alphabet="characters", num_merges=1, specials=())
    found = verify(tok, Ours(tok, "the same", "0"), random=20)
    assert found.equal


# ---- texts ----


def test_the_torture_text_is_the_same_every_time_and_has_what_it_promises() -> None:
    items = list(torture(["<eos>", "<|x|>"]))
    assert items == list(torture(["<eos>", "<|x|>"]))
    assert len({item.name for item in items}) == len(items)
    texts = [item.text for item in items]
    assert "x<|x|>y" in texts
    assert b"\xf0\x9f" in texts
    joined = "".join(text for text in texts if isinstance(text, str))
    for needed in (
        "it's IT'S it’s",
        "1234567",
        "नमस्ते",
        "'RE",
        "\u200d",
        "\u202e",
        "\u1112\u1161",
        "abacbb",
        "a" * 20000,
    ):
        assert needed in joined
    spaces = [chr(c) for c in range(0x110000) if chr(c).isspace()]
    assert all(f"a{space}b" in texts for space in spaces)
    contractions = [form for s in ("s", "t", "m", "d") for form in (s, s.upper())]
    contractions += [a + b for x, y in ("re", "ve", "ll") for a in (x, x.upper()) for b in (y, y.upper())]
    assert all(f"it'{form}" in texts for form in contractions)
    assert len(list(torture([f"<{k}>" for k in range(1000)]))) < len(items) + 1000


def test_random_texts_follow_their_seed() -> None:
    first = list(random_texts(1, 50, ["<eos>"], ["low"]))
    assert first == list(random_texts(1, 50, ["<eos>"], ["low"]))
    assert first != list(random_texts(2, 50, ["<eos>"], ["low"]))
    assert any("<eos>" in str(item.text) for item in first)
    assert any("low" in str(item.text) for item in first)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"a\nb",
        b"line\r\n" * 20_000,
        "é".encode() * PIECE,
        "a👍".encode() * PIECE,
        b"\xff" * (3 * PIECE),
        b"x" * PIECE + b"\n" + b"y" * PIECE,
    ],
)
def test_a_corpus_comes_whole_and_is_cut_between_characters(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "corpus"
    path.write_bytes(data)
    items = list(corpus(path))
    joined = b"".join(item.text if isinstance(item.text, bytes) else item.text.encode() for item in items)
    assert joined == data
    text = data.decode("utf-8", "surrogateescape")
    at = 0
    for item in items:
        assert item.start == at
        assert item.line == 1 + text.count("\n", 0, at)
        at += len(item.text if isinstance(item.text, str) else item.text.decode("utf-8", "surrogateescape"))
