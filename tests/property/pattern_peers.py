"""What the installed peers' regex engines do, for tests that hold our classes and cuts against them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

#: Every character that a str can encode.
EVERY_CHARACTER = "".join(chr(point) for point in range(0x110000) if not 0xD800 <= point <= 0xDFFF)

#: Letters of each case class, marks, digits of several scripts, white space of all kinds, and what else is tricky.
TRICKY = (
    "aAzZsStTmMlLdDrReEvV'’\u017f\u0130\u0131Kk\u212aǅʰあ漢\u0301"
    "\u0903\u20dd0٣²½Ⅷ \t\n\r\x0b\x0c\x1c\x1f\x85\xa0\u2028\u2029"
    "\u3000\u180e\u200b\u200d\ufeff.,!/-_😀\U0001f468©\x00\u0378\ue000"
)


def tiktoken_matches(regex: str, text: str) -> str:
    """All that the pattern matches in the text, joined: tiktoken drops what its pattern leaves out."""
    tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    encoding = tiktoken.Encoding(
        "probe", pat_str=regex, mergeable_ranks={bytes([byte]): byte for byte in range(256)}, special_tokens={}
    )
    return bytes(encoding.encode_ordinary(text)).decode()


def tokenizers_matches(regex: str, text: str) -> str:
    """All that the pattern matches in the text, joined, in Hugging Face's engine."""
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(regex), "removed", invert=True)
    return "".join(piece for piece, _ in split.pre_tokenize_str(text))


def tokenizers_cut(regex: str, text: str) -> list[bytes]:
    """The pretokens of a text in Hugging Face's engine, gaps included."""
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(regex), "isolated")
    return [piece.encode() for piece, _ in split.pre_tokenize_str(text)]


def pieces(data: bytes, ends: list[int]) -> list[bytes]:
    return [data[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def vocabulary_file(name: str) -> Path:
    """A real vocabulary's file; the test skips where it is not at hand.

    They are looked for in the folder that ``BYTEPAIR_TEST_VOCAB`` names, else beside this repository.
    """
    folder = Path(os.environ.get("BYTEPAIR_TEST_VOCAB") or Path(__file__).parents[3] / "shared" / "vocab")
    if not (folder / name).exists():
        pytest.skip(f"there is no {name} here; BYTEPAIR_TEST_VOCAB may name a folder that has it")
    return folder / name
