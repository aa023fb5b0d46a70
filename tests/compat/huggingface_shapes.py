"""Tokenizers of every shape that a ``tokenizer.json`` may have, trained small by their owner."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
N, P, D = tokenizers.normalizers, tokenizers.pre_tokenizers, tokenizers.decoders

BYTE_TOKENS = [f"<0x{b:02X}>" for b in range(256)]
CHARACTERS = [
    *list("abcdefgh  \n\t.,'’éÉ你好é́🧠<>|sZz0123½Ⅷ▁_ #"),
    *("tok one", "word", "Zz", "</w>", "<s>", "<|endoftext|>", "<0x41>", "##", "ſ", "İ", "ﬁ", "각", "\u200d", "\r\n"),
]


@cache
def corpus() -> str:
    """Some text of this repository's own and of the standard library, and of many scripts."""
    sources = sorted(Path(json.__file__).parent.glob("*.py"))
    many = (
        "हिन्दी नमस्ते దేశం 日本語のテキスト 中文字符 한국어 Ελληνικά русский текст العربية עברית ไทย émigré naïve Straße "
    )
    return "\n".join(path.read_text("utf-8") for path in sources) + many * 40


def texts(n: int, seed: int = 1) -> list[str]:
    """Fixed ones, and random ones over pieces where tokenizers go wrong."""
    rng = random.Random(seed)
    fixed = ["", " ", "  ", "hello world", " hello  world ", "tok one", "x tok one  y word  z wordy Zz  Zz"]
    drawn = ["".join(rng.choice(CHARACTERS) for _ in range(rng.randrange(1, 30))) for _ in range(n)]
    return [*fixed, corpus()[:3000], corpus()[-2000:], *drawn]


def _trained(normalizer: Any, pre_tokenizer: Any, decoder: Any, trainer: dict[str, Any], **model: Any) -> Any:
    made = tokenizers.Tokenizer(tokenizers.models.BPE(**model))
    for name, part in (("normalizer", normalizer), ("pre_tokenizer", pre_tokenizer), ("decoder", decoder)):
        if part is not None:
            setattr(made, name, part)
    options = {"vocab_size": 1500, "show_progress": False, **trainer}
    made.train_from_iterator(corpus().split("\n"), tokenizers.trainers.BpeTrainer(**options))
    return made


_FALLBACK = {"special_tokens": ["<unk>", "<s>", "</s>", *BYTE_TOKENS], "limit_alphabet": 90}
_FEW = {"special_tokens": ["<unk>", "<s>", "</s>"], "limit_alphabet": 60}


def _added(tokenizer: Any, normalized: bool) -> Any:
    document = json.loads(tokenizer.to_str())
    size = len(document["model"]["vocab"])
    flags = [
        ("tok one", {"lstrip": True, "normalized": normalized}),
        ("word", {"single_word": True, "rstrip": True}),
        ("Zz", {"lstrip": True, "rstrip": True, "normalized": normalized}),
    ]
    for k, (content, asked) in enumerate(flags):
        row = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
        document["added_tokens"].append({"id": size + k, "content": content, **row, **asked})
    return tokenizers.Tokenizer.from_str(json.dumps(document))


def _llama() -> Any:
    document = json.loads(_metaspace("always").to_str())
    document["normalizer"] = {
        "type": "Sequence",
        "normalizers": [
            {"type": "Prepend", "prepend": "▁"},
            {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        ],
    }
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
    document["model"]["fuse_unk"] = True
    return tokenizers.Tokenizer.from_str(json.dumps(document))


def _metaspace(scheme: str) -> Any:
    pre, decoder = P.Metaspace(prepend_scheme=scheme), D.Metaspace(prepend_scheme=scheme)
    return _trained(None, pre, decoder, _FALLBACK, unk_token="<unk>", byte_fallback=True)


def _roberta() -> Any:
    made = _trained(
        N.NFC(),
        P.ByteLevel(add_prefix_space=True),
        D.ByteLevel(),
        {"special_tokens": ["<s>", "</s>"], "initial_alphabet": P.ByteLevel.alphabet()},
    )
    made.post_processor = tokenizers.processors.RobertaProcessing(("</s>", 1), ("<s>", 0))
    return made


def _clip() -> Any:
    regex = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
    return _trained(
        N.Sequence([N.NFC(), N.Replace(tokenizers.Regex(r"\s+"), " "), N.Lowercase()]),
        P.Sequence([P.Split(tokenizers.Regex(regex), "removed", invert=True), P.ByteLevel(add_prefix_space=False)]),
        D.ByteLevel(),
        {
            "special_tokens": ["<|startoftext|>", "<|endoftext|>"],
            "end_of_word_suffix": "</w>",
            "initial_alphabet": P.ByteLevel.alphabet(),
        },
        unk_token="<|endoftext|>",
        end_of_word_suffix="</w>",
    )


def _irregular() -> Any:
    """Merges the wrong way round, and whole words that need none."""
    document = json.loads(_added(_metaspace("first"), normalized=True).to_str())
    document["model"]["ignore_merges"] = True
    document["model"]["merges"].reverse()
    return tokenizers.Tokenizer.from_str(json.dumps(document))


SHAPES: dict[str, Callable[[], Any]] = {
    "metaspace, always": lambda: _metaspace("always"),
    "metaspace, first": lambda: _metaspace("first"),
    "metaspace, never": lambda: _metaspace("never"),
    "fused unknown": lambda: _trained(
        None, P.Metaspace(prepend_scheme="first"), D.Metaspace(), _FEW, unk_token="<unk>", fuse_unk=True
    ),
    "suffix": lambda: _trained(
        N.Lowercase(),
        P.WhitespaceSplit(),
        D.BPEDecoder(suffix="</w>"),
        {**_FEW, "end_of_word_suffix": "</w>"},
        unk_token="<unk>",
        end_of_word_suffix="</w>",
    ),
    "prefix": lambda: _trained(
        N.NFKC(),
        P.Sequence([P.Whitespace(), P.Digits(individual_digits=True)]),
        D.WordPiece(),
        {**_FEW, "continuing_subword_prefix": "##"},
        unk_token="<unk>",
        continuing_subword_prefix="##",
    ),
    "prefix and suffix, no decoder": lambda: _trained(
        None,
        P.Whitespace(),
        None,
        {**_FEW, "continuing_subword_prefix": "##", "end_of_word_suffix": "</w>"},
        unk_token="<unk>",
        continuing_subword_prefix="##",
        end_of_word_suffix="</w>",
    ),
    "scripts": lambda: _trained(None, P.UnicodeScripts(), None, _FEW, unk_token="<unk>"),
    "roberta": _roberta,
    "bytes with holes": lambda: _trained(
        None, P.ByteLevel(add_prefix_space=False), D.ByteLevel(), {"special_tokens": ["<unk>"]}, unk_token="<unk>"
    ),
    "clip": _clip,
    "llama": _llama,
    "llama with added tokens": lambda: _added(_llama(), normalized=True),
    "raw added tokens": lambda: _added(_metaspace("first"), normalized=False),
    "bytes with added tokens": lambda: _added(_roberta(), normalized=True),
    "irregular": _irregular,
}


@cache
def shape(name: str) -> Any:
    return SHAPES[name]()
