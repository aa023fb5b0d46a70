"""Models of SentencePiece against `sentencepiece` itself: ids, pieces, places, decoded text, and what we write."""

from __future__ import annotations

import io
import itertools
import random
import re
import warnings
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pattern_peers import TRICKY, vocabulary_file

import bytepair
from bytepair import BytepairNotice, FormatError

sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
pytest.importorskip("google.protobuf", reason="protobuf is not installed")

DATA = Path(__file__).parent / "data"
MISTRAL = "mistral_instruct_tokenizer_240323.model.v3"
CUT = "mistral_v3.2000.model"

CORPUS = """
the quick brown fox jumps over the lazy dog, and the dog sleeps on
low low lower lowest; new newer newest wide wider widest
def main(argv): return 0 if argv else 1  # main main main
Ünïcödé naïve café ﬁne Ⅷ x² ½ 東京 東京都 大阪 こんにちは Привет мир
a  b   c    d     e aaa aaaa aaaaa ababab ba ba black bbbb <sep> <sep>x y<sep>
""".strip().splitlines() * 3  # fmt: skip

WORDS = [
    *("the", "low", "lower", "newest", " ", "  ", "   ", "aaa", "ab", "ba", "<sep>", "<sep>", "<s>", "</s>", "<unk>"),
    *(
        "\u2581",
        "\u2581\u2581",
        "東京",
        "大阪",
        "☃",
        "☃☃",
        "é",
        "e\u0301",
        "ﬁ",
        "Ⅷ",
        "½",
        "\t",
        "\n",
        "\r\n",
        "<0x41>",
        "\0",
    ),
    *("\u3000", "\u00a0", "\u200b", "\ufeff", "\ufffd", "👍🏽", "x" * 30, "0123456789", "ſ", "İ", "ẞ", "<tag>", "<ta"),
]


def train(**options: Any) -> bytes:
    out = io.BytesIO()
    settings: dict[str, Any] = {
        "model_type": "bpe", "vocab_size": 150, "hard_vocab_limit": False, "minloglevel": 2, "character_coverage": 1.0,
        **options,
    }  # fmt: skip
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(CORPUS), model_writer=out, **settings)
    return out.getvalue()


def both(data: bytes) -> tuple[bytepair.Tokenizer, Any]:
    return bytepair.load(data), sentencepiece.SentencePieceProcessor(model_proto=data)


def texts(seed: str, count: int = 300) -> Iterable[str]:
    rng = random.Random(seed)
    yield from ("", " ", "  ", "\u2581", "a", "\ufffd", *WORDS)
    for _ in range(count):
        yield "".join(rng.choices([*WORDS, *WORDS, *TRICKY], k=rng.randint(1, 14)))


def places(theirs: Any, text: str) -> tuple[list[int], list[tuple[int, int]]]:
    """Ids and their places in bytes."""
    try:
        proto = theirs.encode(text, return_type="proto")
    except TypeError:  # before 0.2.2, in characters
        pieces = theirs.encode(text, out_type="immutable_proto").pieces
        at = [len(text[:k].encode()) for k in range(len(text) + 1)]
        return [piece.id for piece in pieces], [(at[piece.begin], at[piece.end]) for piece in pieces]
    return [piece.id for piece in proto.pieces], [(piece.begin, piece.end) for piece in proto.pieces]


def agree(ours: bytepair.Tokenizer, theirs: Any, some: Iterable[str]) -> None:
    controls = {i for i in range(len(theirs)) if theirs.is_control(i) or theirs.is_unknown(i)}
    for text in some:
        ids, spans = places(theirs, text)
        assert ours.encode(text) == ids, text
        assert ours.encode_array(text).tolist() == ids
        assert ours.count(text) == len(ids)
        assert ours.encode_with_offsets(text, unit="bytes") == (ids, spans), text
        assert ours.decode(ids) == theirs.decode(ids), text
        assert [ours.foreign_str(i) for i in ids] == [theirs.id_to_piece(i) for i in ids]
    assert controls == set(ours.specials.values())


def decode_alike(ours: bytepair.Tokenizer, theirs: Any, seed: str, count: int = 400) -> None:
    """Any ids, as a model gives them."""
    rng = random.Random(seed)
    rows = range(len(theirs))
    some = [*range(min(300, len(rows))), *rng.choices(rows, k=50)]
    for _ in range(count):
        ids = rng.choices(some, k=rng.randint(0, 12))
        text = theirs.decode(ids)
        assert ours.decode(ids) == text, ids
        found, starts = ours.decode_with_offsets(ids)
        assert found == text
        assert len(starts) == len(ids)


OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "bytes": {"byte_fallback": True, "vocab_size": 400},
    "identity": {"normalization_rule_name": "identity"},
    "folded": {"normalization_rule_name": "nmt_nfkc_cf"},
    "no prefix": {"add_dummy_prefix": False},
    "all spaces": {"remove_extra_whitespaces": False, "normalization_rule_name": "identity"},
    "all spaces, no prefix": {"remove_extra_whitespaces": False, "add_dummy_prefix": False},
    "spaces are pieces": {"remove_extra_whitespaces": False, "allow_whitespace_only_pieces": True},
    "suffix": {"treat_whitespace_as_suffix": True},
    "suffix, all spaces": {
        "treat_whitespace_as_suffix": True,
        "remove_extra_whitespaces": False,
        "allow_whitespace_only_pieces": True,
    },
    "across words": {"split_by_whitespace": False},
    "across words, all spaces": {"split_by_whitespace": False, "remove_extra_whitespaces": False},
    "across all": {"split_by_unicode_script": False, "split_by_number": False, "split_by_whitespace": False},
    "digits": {"split_digits": True, "byte_fallback": True, "vocab_size": 400},
    "user defined": {"user_defined_symbols": ["<sep>", "<tag>", "ab", "aba", "東", "low"]},
    "user defined bytes": {
        "user_defined_symbols": ["<sep>", "er", "\u2581the"],
        "byte_fallback": True,
        "vocab_size": 420,
    },
    "user defined space": {"user_defined_symbols": ["\u2581\u2581", "\u2581"], "remove_extra_whitespaces": False},
    "controls": {"control_symbols": ["<tag>", "<c>"], "pad_id": 3},
    "other ids": {"unk_id": 2, "bos_id": 0, "eos_id": 1, "pad_id": 3, "unk_piece": "UNK", "bos_piece": "[CLS]"},
    "no roles": {"bos_id": -1, "eos_id": -1},
    "surface": {"unk_surface": "<?>", "character_coverage": 0.98},
    "few characters": {"character_coverage": 0.98},
    "few characters, bytes": {"character_coverage": 0.98, "byte_fallback": True, "vocab_size": 350},
}


@cache
def model(name: str) -> bytes:
    return train(**OPTIONS[name])


@pytest.mark.parametrize("name", OPTIONS)
def test_every_option(name: str) -> None:
    ours, theirs = both(model(name))
    agree(ours, theirs, texts(name))
    decode_alike(ours, theirs, name)
    for role in ("bos", "eos", "pad", "unk"):
        theirs_id = getattr(theirs, f"{role}_id")()
        assert getattr(ours, f"{role}_id") == (None if theirs_id < 0 else theirs_id)


@pytest.mark.parametrize(
    ("prefix", "extra", "suffix", "rule"),
    list(itertools.product((True, False), (True, False), (True, False), ("identity", "nmt_nfkc"))),
)
def test_options_together(prefix: bool, extra: bool, suffix: bool, rule: str) -> None:
    data = train(
        add_dummy_prefix=prefix,
        remove_extra_whitespaces=extra,
        treat_whitespace_as_suffix=suffix,
        normalization_rule_name=rule,
        byte_fallback=prefix is extra,
        vocab_size=400,
        user_defined_symbols=["<sep>"],
        allow_whitespace_only_pieces=not extra,
    )
    ours, theirs = both(data)
    agree(ours, theirs, texts(f"{prefix}{extra}{suffix}{rule}", 150))
    decode_alike(ours, theirs, rule, 150)


@pytest.mark.parametrize("name", OPTIONS)
def test_written_and_read_again(name: str, tmp_path: Path) -> None:
    ours, theirs = both(model(name))
    ours.save(tmp_path / "a.model", format="sentencepiece")
    written = (tmp_path / "a.model").read_bytes()
    again = sentencepiece.SentencePieceProcessor(model_proto=written)
    assert bytepair.load(tmp_path / "a.model") == ours
    for text in texts(name, 60):
        assert again.encode(text) == theirs.encode(text)
        assert again.decode(theirs.encode(text)) == theirs.decode(theirs.encode(text))
    assert [again.id_to_piece(i) for i in range(len(again))] == [theirs.id_to_piece(i) for i in range(len(theirs))]
    proto = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
    assert proto.ModelProto.FromString(written) == proto.ModelProto.FromString(model(name))
    ours.save(tmp_path / "a.json")
    assert bytepair.load(tmp_path / "a.json") == ours
    bytepair.load(tmp_path / "a.json").save(tmp_path / "b.model", format="sentencepiece")
    assert (tmp_path / "b.model").read_bytes() == written


def test_what_is_no_utf8() -> None:
    for name in ("plain", "bytes", "user defined"):
        ours, theirs = both(model(name))
        rng = random.Random(name)
        for _ in range(200):
            soup = bytes(rng.choices([*range(256), 0x20, 0x61, 0xE2, 0x96, 0x81, 0xE6], k=rng.randint(1, 20)))
            assert ours.encode(soup) == theirs.encode(soup)


def test_equal_scores_go_left_to_right() -> None:
    """Pieces of one score: the leftmost pair merges first, whichever piece it makes."""
    proto = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
    edited = proto.ModelProto.FromString(model("identity"))
    for score in (0.0, -5.0):
        for piece in edited.pieces:
            if piece.type == proto.ModelProto.SentencePiece.NORMAL:
                piece.score = score
        ours, theirs = both(edited.SerializeToString())
        agree(ours, theirs, texts("equal"))
    rng = random.Random(1)
    for piece in edited.pieces:
        piece.score = rng.choice([0.0, -1.5, -2.25, 7.0, float("-inf")])
    ours, theirs = both(edited.SerializeToString())
    agree(ours, theirs, texts("random scores"))
    assert bytepair.load(written(ours)) == ours


def written(tokenizer: bytepair.Tokenizer) -> bytes:
    from bytepair.formats import sentencepiece as module

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BytepairNotice)
        data: bytes = module.write(tokenizer).files[""]
    return data


def test_unused_pieces_are_split_again(tmp_path: Path) -> None:
    proto = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
    edited = proto.ModelProto.FromString(model("identity"))
    ids: dict[str, int] = {piece.piece: i for i, piece in enumerate(edited.pieces)}
    count = 0
    for text, i in ids.items():
        pairs = [(text[:k], text[k:]) for k in range(1, len(text)) if text[:k] in ids and text[k:] in ids]
        if len(pairs) == 1 and edited.pieces[i].type == 1 and i % 2:
            edited.pieces[i].type = 5
            count += 1
    assert count > 5
    ours, theirs = both(edited.SerializeToString())
    agree(ours, theirs, texts("unused"))
    batch = list(texts("unused", 20))
    assert ours.encode_batch(batch) == [theirs.encode(text) for text in batch]
    assert bytepair.load(written(ours)) == ours
    again = sentencepiece.SentencePieceProcessor(model_proto=written(ours))
    assert [again.encode(text) for text in batch] == [theirs.encode(text) for text in batch]
    ours.save(tmp_path / "unused.json")
    assert bytepair.load(tmp_path / "unused.json") == ours
    text = (tmp_path / "unused.json").read_text("utf-8")
    (tmp_path / "unused.json").write_text(re.sub(r'("splits": \["[0-9]+) [0-9]+', r"\1 999999", text), "utf-8")
    with pytest.raises(FormatError, match="'splits' names the id 999999, which is no token"):
        bytepair.load(tmp_path / "unused.json")


def test_an_unused_piece_that_can_be_made_in_two_ways_is_refused() -> None:
    proto = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
    edited = proto.ModelProto.FromString(model("identity"))
    for text, kind in (("qz", 1), ("zq", 1), ("qzq", 5)):
        edited.pieces.add(piece=text, score=-1.0, type=kind)
    with pytest.raises(FormatError, match="'qzq' is unused and can be made in two ways"):
        bytepair.load(edited.SerializeToString())


def test_denormalised(tmp_path: Path) -> None:
    rules = tmp_path / "rules.tsv"
    rules.write_text("6C\t4C 4C\n6F 77\t2E\n", "utf-8")  # l -> LL, ow -> .
    data = train(denormalization_rule_tsv=str(rules))
    ours, theirs = both(data)
    assert theirs.decode(theirs.encode("low lower")) == "LL. LL.er"
    for text in texts("denormalised", 100):
        ids = theirs.encode(text)
        assert ours.encode(text) == ids
        assert ours.decode(ids) == theirs.decode(ids)
    assert bytepair.load(written(ours)) == ours


def test_roles_from_the_caller() -> None:
    ours = bytepair.load(model("controls"), roles={"eos": "<c>"})
    assert ours.eos_id == ours.specials["<c>"]
    assert ours.encode("low", add_bos=True)[0] == ours.bos_id


@pytest.mark.parametrize("kind", ["unigram", "char", "word"])
def test_other_models_are_refused(kind: str) -> None:
    size = {"vocab_size": 80} if kind == "unigram" else {}
    with pytest.raises(FormatError, match=rf"type {kind.upper()}, .* the `sentencepiece` library runs it"):
        bytepair.load(train(model_type=kind, **size))


def random_model(rng: random.Random) -> Any:
    """A small model as no training makes it: any pieces, scores that tie, types and settings at random."""
    proto = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
    made = proto.ModelProto()
    made.trainer_spec.model_type = 2
    made.trainer_spec.byte_fallback = rng.random() < 0.3
    made.trainer_spec.treat_whitespace_as_suffix = rng.random() < 0.3
    made.normalizer_spec.add_dummy_prefix = rng.random() < 0.6
    made.normalizer_spec.remove_extra_whitespaces = rng.random() < 0.4
    made.normalizer_spec.escape_whitespaces = rng.random() < 0.85
    space = "\u2581" if made.normalizer_spec.escape_whitespaces else " "
    letters = rng.choice(["ab", "abc", "aé", "a☃"]) + rng.choice(["", space, space])
    shape = rng.choice(["any", "before", "behind", "none"])
    scores = rng.choice([[0.0], [0.0, -1.0], [float(-k) for k in range(20)]])
    pieces = {"<unk>": (0.0, 2), "<s>": (0.0, 3)}
    if made.trainer_spec.byte_fallback:
        pieces.update({f"<0x{byte:02X}>": (0.0, 6) for byte in range(256)})
    for letter in letters:
        if rng.random() < 0.95:
            pieces[letter] = (rng.choice(scores), rng.choice([*[1] * 14, 4, 5]))
    for _ in range(rng.randint(0, 14)):
        normal = [text for text, (_, kind) in pieces.items() if kind == 1]
        if normal and rng.random() < 0.5:
            text = rng.choice(normal) + rng.choice(normal)
        else:
            text = "".join(rng.choices(letters, k=rng.randint(2, 4)))
        word, there = text.replace(space, ""), space * (space in text)
        text = {"any": text, "before": there + word, "behind": word + there, "none": word}[shape]
        if text:
            pieces.setdefault(text, (rng.choice(scores), rng.choice([*[1] * 14, 3, 4, 5])))
    for text, (score, kind) in pieces.items():
        made.pieces.add(piece=text, score=score, type=kind)
    return made


@pytest.mark.parametrize("seed", range(4))
def test_random_models(seed: int) -> None:
    """Where we do not refuse a model we encode as its owner, however the text is cut for it."""
    rng = random.Random(seed)
    regexes = set()
    for _ in range(80):
        data = random_model(rng).SerializeToString()
        try:
            ours, theirs = both(data)
        except FormatError as error:
            assert re.search("unused|which is no piece itself", str(error))
            continue
        regexes.add(ours.pattern.regex)
        agree(ours, theirs, ("".join(rng.choices("aabbcé☃  \u2581", k=rng.randint(0, 12))) for _ in range(12)))
        assert bytepair.load(written(ours)) == ours
    assert len(regexes) >= 3


# ---- a real one ----


@pytest.fixture(scope="module", params=["cut", "whole"])
def mistral(request: pytest.FixtureRequest) -> tuple[bytepair.Tokenizer, Any]:
    file = DATA / CUT if request.param == "cut" else vocabulary_file(MISTRAL)
    return both(file.read_bytes())


def test_mistral(mistral: tuple[bytepair.Tokenizer, Any]) -> None:
    agree(*mistral, texts("mistral"))
    decode_alike(*mistral, "mistral")


def test_mistral_source_code(mistral: tuple[bytepair.Tokenizer, Any]) -> None:
    ours, theirs = mistral
    text = Path(bytepair.__file__).with_name("tokenizer.py").read_text("utf-8")
    agree(ours, theirs, [text, text.replace(" ", ""), text[::-1]])
    assert list(ours.encode_iter([text[:100], text[100:]])) == theirs.encode(text)


def test_mistral_written(mistral: tuple[bytepair.Tokenizer, Any]) -> None:
    ours, theirs = mistral
    data = written(ours)
    assert bytepair.load(data) == ours
    assert sentencepiece.SentencePieceProcessor(model_proto=data).encode("low lower") == theirs.encode("low lower")


# ---- other tokenizers ----


def test_characters_of_ours_are_written_where_they_can_be(tmp_path: Path) -> None:
    tok = bytepair.train(
        "abab abab cdcd", pattern="none", alphabet="characters", unknown="bytes", num_merges=2, specials=["<unk>"]
    )
    with pytest.warns(BytepairNotice, match="no UTF-8"):
        tok.save(tmp_path / "a.model", format="sentencepiece")
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "a.model"))
    for text in ("abab", " ab cd", "é ab", "  a", "ababab"):
        assert theirs.encode(text) == tok.encode(text)
        assert theirs.decode(tok.encode(text)) == tok.decode(tok.encode(text)) == text


def test_what_a_model_cannot_hold_is_an_error(tmp_path: Path) -> None:
    characters: dict[str, Any] = {"alphabet": "characters", "pattern": "none"}
    fused: dict[str, Any] = {"end_of_word": "fused", "alphabet": "characters", "unknown": "bytes"}
    unknown: dict[str, Any] = {"unknown": "<unk>", "specials": ["<unk>"]}
    unordered = [(b"b", b"c"), (b"a", b"b"), (b"ab", b"c")]
    cases = [
        (bytepair.train("low lower", num_merges=2), "it merges bytes"),
        (bytepair.train("low lower", num_merges=2, alphabet="characters", unknown="bytes"), "cuts text by the pattern"),
        (bytepair.train("low lower", num_merges=2, **unknown, **characters), "a run of them is one"),
        (bytepair.train("low low", num_merges=2, **fused), "marks"),
        (bytepair.Tokenizer.from_merges(unordered, **characters), "would merge as well"),
    ]
    for tokenizer, why in cases:
        with pytest.raises(FormatError, match=f"cannot hold this tokenizer: .*{why}"):
            tokenizer.save(tmp_path / "a.model", format="sentencepiece")


# ---- worst cases ----


@pytest.mark.parametrize("name", ["plain", "across words", "suffix"])
def test_long_texts_take_no_quadratic_time(name: str, engine_name: str) -> None:
    """Without spaces a text is one word, and where pieces go across words it always is."""
    import time

    ours = bytepair.load(model(name))
    base = 1 << (14 if engine_name == "core" else 11)

    def seconds(text: str) -> float:
        began = time.perf_counter()
        ours.encode(text)
        return time.perf_counter() - began

    for unit in ("a", "ab ", "東京"):
        seconds(unit * base)
        small = min(seconds(unit * base) for _ in range(2))
        large = min(seconds(unit * base * 4) for _ in range(2))
        assert large < 10 * small + 0.05, unit
