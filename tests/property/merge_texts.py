"""Texts that tests of merges, ranks and codes encode: tricky ones, random ones and real code."""

from __future__ import annotations

import random
import sysconfig
from pathlib import Path

DATA = Path(__file__).parents[1] / "compat" / "data"

PIECES = [
    "the", " of", "The", "Über", " naïve", "Привет", " 你好", "don't", "I'LL", " 2024", "\n    ", "...", "==",
    "  ", "é", "e\u0301", "😀", "\U0001f468\u200d\U0001f469", "\t", "\r\n", "\xa0", "\u3000", "ſ", "İ", "ΟΔΟΣ",
    "Σ", "ß", "ﬁ", "\x00", "\x1c", "\x85", "\ufeff", "aaaa", "----", "http://www.example.org/~x?a=b&c",
    " lower", " lowest", "\u0345", "</w>", "<|endoftext|", "@@", "@@ ", "١٢٣", "½", "Ⅷ", "x²", "\u2028",
]  # fmt: skip


def texts(seed: str, number: int = 300) -> list[str]:
    rng = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyz ABCDE 012 .,'\n"
    made = ["".join(rng.choices(PIECES, k=rng.randint(1, 25))) for _ in range(number)]
    made += ["".join(rng.choices(letters, k=rng.randint(1, 80))) for _ in range(number)]
    made += ["", " ", "\n", "a", *PIECES, "".join(PIECES), " ".join(PIECES)]
    return made


def code(every: int = 8) -> list[str]:
    """Files of the standard library."""
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[::every]
    return [file.read_text("utf-8", "replace") for file in files]
