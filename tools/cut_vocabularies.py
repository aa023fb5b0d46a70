"""Cuts small vocabularies out of real ones, for the tests: ``python tools/cut_vocabularies.py FOLDER``.

FOLDER holds GPT-2's two files, CLIP's file and a codes file of subword-nmt; the cuts go to ``tests/compat/data``. Each
is a whole vocabulary of its own: a list of merges may end anywhere.
"""

from __future__ import annotations

import gzip
import json
import lzma
import sys
from pathlib import Path

DATA = Path(__file__).parents[1] / "tests" / "compat" / "data"
MERGES = 2000


def first_lines(text: str, number: int) -> str:
    return "\n".join([*text.split("\n")[:number], ""])  # other line ends may be tokens


def gpt2(folder: Path) -> None:
    merges = first_lines((folder / "gpt2.vocab.bpe").read_text("utf-8"), 1 + MERGES)
    ids = json.loads((folder / "gpt2.encoder.json").read_text("utf-8"))
    kept = {text: i for text, i in ids.items() if i < 256 + MERGES or text == "<|endoftext|>"}
    (DATA / f"gpt2.{MERGES}.vocab.bpe.xz").write_bytes(lzma.compress(merges.encode()))
    (DATA / f"gpt2.{MERGES}.encoder.json.xz").write_bytes(lzma.compress(json.dumps(kept).encode()))


def clip(folder: Path) -> None:
    whole = gzip.decompress((folder / "bpe_simple_vocab_16e6.txt.gz").read_bytes()).decode()
    cut = first_lines(whole, 1 + MERGES)
    (DATA / f"bpe_simple_vocab_16e6.{MERGES}.txt.gz").write_bytes(gzip.compress(cut.encode(), mtime=0))


def subword_nmt(folder: Path) -> None:
    cut = first_lines((folder / "subword_nmt_english_4000.codes").read_text("utf-8"), 1 + MERGES)
    (DATA / f"subword_nmt_english.{MERGES}.codes").write_bytes(cut.encode())


if __name__ == "__main__":
    for make in (gpt2, clip, subword_nmt):
        make(Path(sys.argv[1]))
