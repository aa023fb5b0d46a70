"""Tokenizers of the shapes that models have, trained by `tokenizers` itself, and real ones: as ``tokenizer.json``."""

from __future__ import annotations

import json
import lzma
from functools import cache
from typing import Any

import pytest
from pattern_peers import vocabulary_file

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
from tokenizers import decoders as D  # noqa: E402, N812
from tokenizers import models, normalizers, trainers  # noqa: E402
from tokenizers import pre_tokenizers as P  # noqa: E402, N812
from tokenizers import processors as Q  # noqa: E402, N812

TEXT = (
    "The quick brown fox jumps over the lazy dog's back, and the dog doesn't mind it at all. "
    "Low lower lowest, new newer newest; wide wider widest! 1234 567 89 0.5 "
    "Über die naïve Älteren Straße, où l'été déjà était. Привет, мир и мы. 你好,世界。"
) * 3
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
WORD = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
ADDED = [
    {"content": "new one", "single_word": False, "lstrip": True, "rstrip": False, "normalized": True, "special": False},
    {"content": "dog", "single_word": True, "lstrip": False, "rstrip": True, "normalized": False, "special": False},
    {"content": "Zz", "single_word": False, "lstrip": True, "rstrip": True, "normalized": True, "special": True},
    {"content": "<sep>", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True},
]


def trained(model: dict[str, Any], trainer: dict[str, Any], **parts: Any) -> Any:
    tokenizer = tokenizers.Tokenizer(models.BPE(**model))
    for name, part in parts.items():
        setattr(tokenizer, name, part)
    tokenizer.train_from_iterator([TEXT], trainers.BpeTrainer(vocab_size=700, show_progress=False, **trainer))
    return tokenizer


def grown(tokenizer: Any) -> Any:
    """With added tokens of every kind."""
    document = json.loads(tokenizer.to_str())
    size = len(document["model"]["vocab"])
    document["added_tokens"] += [{"id": size + k, **row} for k, row in enumerate(ADDED)]
    return tokenizers.Tokenizer.from_str(json.dumps(document))


def gpt2(space: bool, **parts: Any) -> Any:
    specials = ["<s>", "</s>", "<pad>"]
    return trained(
        {},
        {"special_tokens": specials, "initial_alphabet": P.ByteLevel.alphabet()},
        pre_tokenizer=P.ByteLevel(add_prefix_space=space),
        decoder=D.ByteLevel(),
        **parts,
    )


def llama(post_processor: Any) -> Any:
    trainer = {"special_tokens": ["<unk>", "<s>", "</s>", *BYTES], "limit_alphabet": 40}
    tokenizer = trained(
        {"unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True},
        trainer,
        pre_tokenizer=P.Metaspace(prepend_scheme="always"),
        post_processor=post_processor,
    )
    document = json.loads(tokenizer.to_str())
    prepend = {"type": "Prepend", "prepend": "▁"}
    spaces = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    document["normalizer"] = {"type": "Sequence", "normalizers": [prepend, spaces]}
    document["pre_tokenizer"] = None
    document["decoder"] = {
        "type": "Sequence",
        "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
            {"type": "ByteFallback"},
            {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        ],
    }
    return tokenizers.Tokenizer.from_str(json.dumps(document))


def template(start: str, stop: str, ids: dict[str, int]) -> Any:
    return Q.TemplateProcessing(
        single=f"{start} $A {stop}",
        pair=f"{start} $A {stop} $B:1 {stop}:1",
        special_tokens=[(name, ids[name]) for name in (start, stop)],
    )


S3 = {"<s>": 0, "</s>": 1}
LLAMA = {"<s>": 1, "</s>": 2}
SHAPES = {
    "byte level": lambda: gpt2(False),
    "byte level, Roberta": lambda: grown(
        gpt2(True, post_processor=Q.RobertaProcessing(("</s>", 1), ("<s>", 0), True, True))
    ),
    "byte level, Template, trimmed": lambda: grown(
        gpt2(False, post_processor=Q.Sequence([Q.ByteLevel(trim_offsets=True), template("<s>", "</s>", S3)]))
    ),
    "byte level, lower case": lambda: grown(
        gpt2(False, normalizer=normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()]))
    ),
    "Llama": lambda: grown(llama(template("<s>", "</s>", LLAMA))),
    "Metaspace, first": lambda: grown(
        trained(
            {"unk_token": "<unk>", "fuse_unk": True},
            {"special_tokens": ["<unk>", "<s>", "</s>"], "limit_alphabet": 40},
            pre_tokenizer=P.Metaspace(prepend_scheme="first"),
            decoder=D.Metaspace(prepend_scheme="first"),
            post_processor=Q.BertProcessing(("</s>", 2), ("<s>", 1)),
        )
    ),
    "CLIP": lambda: trained(
        {"unk_token": "<|endoftext|>", "end_of_word_suffix": "</w>"},
        {
            "special_tokens": ["<|startoftext|>", "<|endoftext|>"],
            "end_of_word_suffix": "</w>",
            "initial_alphabet": P.ByteLevel.alphabet(),
        },
        normalizer=normalizers.Sequence(
            [normalizers.NFC(), normalizers.Replace(tokenizers.Regex(r"\s+"), " "), normalizers.Lowercase()]
        ),
        pre_tokenizer=P.Sequence(
            [P.Split(tokenizers.Regex(WORD), "removed", invert=True), P.ByteLevel(add_prefix_space=False)]
        ),
        decoder=D.ByteLevel(),
        post_processor=Q.RobertaProcessing(("<|endoftext|>", 1), ("<|startoftext|>", 0), False, False),
    ),
    "prefix ##": lambda: grown(
        trained(
            {"unk_token": "<unk>", "continuing_subword_prefix": "##"},
            {"special_tokens": ["<unk>"], "continuing_subword_prefix": "##", "limit_alphabet": 40},
            normalizer=normalizers.NFKC(),
            pre_tokenizer=P.Sequence([P.Whitespace(), P.Digits(individual_digits=True)]),
            decoder=D.WordPiece(),
        )
    ),
    "end of word": lambda: trained(
        {"unk_token": "<unk>", "end_of_word_suffix": "</w>"},
        {"special_tokens": ["<unk>"], "end_of_word_suffix": "</w>", "limit_alphabet": 40},
        normalizer=normalizers.Lowercase(),
        pre_tokenizer=P.WhitespaceSplit(),
        decoder=D.BPEDecoder(suffix="</w>"),
    ),
}
REAL = ["hf_qwen3", "hf_deepseek_v3"]


@cache
def text_of(name: str) -> str:
    if name in REAL:
        return lzma.decompress(vocabulary_file(f"{name}.tokenizer.json.xz").read_bytes()).decode()
    return str(SHAPES[name]().to_str())
