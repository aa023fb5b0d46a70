"""llama.cpp's GGUF files, written here with its own `gguf` package from models that other owners run."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pattern_peers import TRICKY, vocabulary_file

import bytepair
from bytepair import BytepairNotice, FormatError
from bytepair.pattern import resolve
from bytepair.pipeline.letters import from_letters, to_letters

gguf = pytest.importorskip("gguf", reason="gguf is not installed")

DATA = Path(__file__).parent / "data"
ENDIANS = pytest.mark.parametrize("endian", ["LITTLE", "BIG"])


def write(path: Path, fill: Callable[[Any], None], endian: str = "LITTLE", tensor: bool = False) -> Path:
    writer = gguf.GGUFWriter(path, "llama", endianess=getattr(gguf.GGUFEndian, endian))
    writer.add_block_count(3)
    writer.add_string("general.name", "a test")
    fill(writer)
    if tensor:
        import numpy as np

        writer.add_tensor("blob", np.ones((1 << 20,), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    if tensor:
        writer.write_tensors_to_file()
    writer.close()
    return path


def texts(seed: str, count: int = 200) -> list[str]:
    rng = random.Random(seed)
    words = [
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
        "  ",
        "<s>",
        "low",
    ]
    return ["", *("".join(rng.choices([*TRICKY, *words, *words], k=rng.randint(1, 20))) for _ in range(count))]


# ---- "llama": against sentencepiece ----


def scored(writer: Any, model: Any, prefix: bool = True) -> None:
    kinds = {1: gguf.TokenType.NORMAL, 2: gguf.TokenType.UNKNOWN, 3: gguf.TokenType.CONTROL,
             4: gguf.TokenType.USER_DEFINED, 5: gguf.TokenType.UNUSED, 6: gguf.TokenType.BYTE}  # fmt: skip
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([piece.piece.encode() for piece in model.pieces])
    writer.add_token_scores([piece.score for piece in model.pieces])
    writer.add_token_types([kinds[piece.type] for piece in model.pieces])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(True)
    writer.add_add_space_prefix(prefix)


@ENDIANS
@pytest.mark.parametrize("whole", [False, True], ids=["cut", "whole"])
@pytest.mark.parametrize("prefix", [True, False])
def test_scores_are_sentencepieces(tmp_path: Path, endian: str, whole: bool, prefix: bool) -> None:
    sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
    proto = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
    name = "mistral_instruct_tokenizer_240323.model.v3"
    file = vocabulary_file(name) if whole else DATA / "mistral_v3.2000.model"
    model = proto.ModelProto.FromString(file.read_bytes())
    model.normalizer_spec.add_dummy_prefix = prefix
    theirs = sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())
    path = write(tmp_path / "a.gguf", lambda writer: scored(writer, model, prefix), endian, tensor=True)
    ours = bytepair.load(path)
    assert (ours.bos_id, ours.eos_id, ours.unk_id, ours.pad_id) == (1, 2, 0, None)
    for text in texts(f"{prefix}"):
        ids = theirs.encode(text)
        assert ours.encode(text) == ids
        assert ours.decode(ids) == theirs.decode(ids)
    assert ours.encode("low", add_bos=True) == [1, *theirs.encode("low")]
    assert bytepair.load(path.read_bytes()) == ours


def test_a_user_defined_token_has_the_space_behind_it(tmp_path: Path) -> None:
    """As in llama.cpp, where each stretch of text between such tokens is encoded as a text of its own."""
    proto = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
    model = proto.ModelProto.FromString((DATA / "mistral_v3.2000.model").read_bytes())
    model.pieces.add(piece="<think>", score=0.0, type=4)
    ours = bytepair.load(write(tmp_path / "a.gguf", lambda writer: scored(writer, model)))
    i = len(model.pieces) - 1
    assert ours.encode("<think>the<think>") == [i, *ours.encode("the"), i]
    assert ours.added["<think>"] == i


# ---- "gpt2": against tiktoken ----


def merged(writer: Any, encoder: dict[str, int], merges: list[str], pre: str, special: str) -> None:
    tokens = sorted(encoder, key=lambda text: encoder[text])
    writer.add_tokenizer_model("gpt2")
    if pre:
        writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    control, normal = gguf.TokenType.CONTROL, gguf.TokenType.NORMAL
    writer.add_token_types([control if text == special else normal for text in tokens])
    writer.add_token_merges(merges)
    writer.add_bos_token_id(encoder[special])
    writer.add_eos_token_id(encoder[special])


def small_gpt2() -> tuple[dict[str, int], list[str]]:
    """The bytes as letters, and a few merges."""
    merges = ["t h", "Ġ t", "h e", "Ġt he", "l o", "lo w", "Ġ low", "Ã ©", "Ġ Ġ", "ĠĠ ĠĠ", "1 2"]
    tokens = [to_letters(bytes([b])) for b in range(256)] + [merge.replace(" ", "") for merge in merges]
    return {text: i for i, text in enumerate([*tokens, "<|endoftext|>"])}, merges


@ENDIANS
def test_gpt2_as_a_whole(tmp_path: Path, endian: str) -> None:
    tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    encoder = json.loads(vocabulary_file("gpt2.encoder.json").read_text("utf-8"))
    lines = vocabulary_file("gpt2.vocab.bpe").read_text("utf-8").splitlines()[1:]
    path = write(tmp_path / "a.gguf", lambda w: merged(w, encoder, lines, "gpt-2", "<|endoftext|>"), endian)
    ours = bytepair.load(path)
    ranks = {from_letters(text): i for text, i in encoder.items() if text != "<|endoftext|>"}
    pattern = resolve("gpt2").regex
    theirs = tiktoken.Encoding("gpt2", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    for text in texts("gpt2"):
        assert ours.encode(text) == theirs.encode_ordinary(text)
        assert ours.decode(ours.encode(text)) == text
    assert ours.encode("a<|endoftext|>", special="all")[-1] == ours.eos_id == ours.bos_id == 50256


@pytest.mark.parametrize(
    "pre", ["gpt-2", "llama-bpe", "qwen2", "tekken", "starcoder", "gpt-4o", "deepseek-v3", "default"]
)
def test_gpt2_in_small(tmp_path: Path, pre: str) -> None:
    """Against `tokenizers` with the same merges, cut by our pattern."""
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    encoder, merges = small_gpt2()
    ours = bytepair.load(write(tmp_path / "a.gguf", lambda w: merged(w, encoder, merges, pre, "<|endoftext|>")))
    pairs = [tuple(merge.split(" ")) for merge in merges]
    model = tokenizers.models.BPE(vocab=encoder, merges=pairs, ignore_merges=pre in ("llama-bpe", "tekken"))
    theirs = tokenizers.Tokenizer(model)
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    for text in texts(pre):
        ids = [i for piece in ours.pretokens(text) for i in theirs.encode(piece.decode(), add_special_tokens=False).ids]
        assert ours.encode(text) == ids


def test_llama3s_pattern_is_llama_cpps_own(tmp_path: Path) -> None:
    """It spells out the contractions' cases, so that the long s is none of them."""
    encoder, merges = small_gpt2()
    load = bytepair.load(write(tmp_path / "a.gguf", lambda w: merged(w, encoder, merges, "llama-bpe", "<|endoftext|>")))
    assert load.pretokens("it'S it'\u017f") == [b"it", b"'S", b" it", "'\u017f".encode()]


def test_no_pattern_is_llama_cpps_default(tmp_path: Path) -> None:
    encoder, merges = small_gpt2()
    path = write(tmp_path / "a.gguf", lambda w: merged(w, encoder, merges, "", "<|endoftext|>"))
    with pytest.warns(BytepairNotice, match=r"no tokenizer\.ggml\.pre"):
        assert bytepair.load(path).pretokens("a1234$b") == [b"a", b"123", b"4", b"$", b"b"]


def test_what_is_refused(tmp_path: Path) -> None:
    encoder, merges = small_gpt2()
    path = write(tmp_path / "a.gguf", lambda w: merged(w, encoder, merges, "kimi-k2", "<|endoftext|>"))
    with pytest.raises(FormatError, match=r"tokenizer\.ggml\.pre is 'kimi-k2'.*llama\.cpp may run it"):
        bytepair.load(path)
    for model, kind in (("bert", "WordPiece"), ("t5", "Unigram"), ("rwkv", "a trie of words"), ("else", "")):
        path = write(tmp_path / f"{model}.gguf", lambda w: w.add_tokenizer_model(model))  # noqa: B023
        with pytest.raises(FormatError, match=rf"the tokenizer is '{model}'.*{kind}.*llama\.cpp runs it"):
            bytepair.load(path)
    path = write(tmp_path / "none.gguf", lambda w: None)
    with pytest.raises(FormatError, match="no tokenizer is in it"):
        bytepair.load(path)
    with pytest.raises(FormatError, match="there is no format 'gguf' to save in"):
        bytepair.train("low low", num_merges=2).save(tmp_path / "b.gguf", format="gguf")
