"""Cuts real tokenizer files down to fixtures for the tests of their formats.

    python tools/cut_formats.py VOCAB tests/compat/data

VOCAB is a folder with the whole files (tests/compat/data/README.md says which). A cut keeps what makes it a whole
tokenizer of its own: all special tokens and bytes, the first tokens, and the characters that these are made of. Needs
this package and protobuf: PYTHONPATH=src.
"""

from __future__ import annotations

import json
import lzma
import sys
from pathlib import Path

from bytepair.formats.sentencepiece import parse

SENTENCEPIECE = "mistral_instruct_tokenizer_240323.model.v3"
TEKKEN = "tekken_240911.json.xz"
TOKENS = 2000
NORMAL = 1


def sentencepiece(data: bytes) -> bytes:
    """The first pieces of a model, and the characters that they are made of."""
    model = parse(data)
    merged = [piece for piece in model.pieces if piece.type == NORMAL and len(piece.piece.decode()) > 1][:TOKENS]
    kept = {piece.piece for piece in merged}
    kept |= {character.encode() for piece in merged for character in piece.piece.decode()}
    pieces = [piece for piece in model.pieces if piece.type != NORMAL or piece.piece in kept]
    copies = [type(piece).FromString(piece.SerializeToString()) for piece in pieces]
    del model.pieces[:]
    model.pieces.extend(copies)
    model.trainer_spec.vocab_size = len(copies)
    return bytes(model.SerializeToString(deterministic=True))


def tekken(data: bytes) -> bytes:
    """The first tokens; the last hundred of them lie beyond the vocabulary's default size, as in the whole file."""
    document = json.loads(data)
    document["vocab"] = document["vocab"][:TOKENS]
    config = document["config"]
    config["num_vocab_tokens"] = TOKENS
    config["default_vocab_size"] = config["default_num_special_tokens"] + TOKENS - 100
    return json.dumps(document, separators=(",", ":")).encode()


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, out = map(Path, sys.argv[1:])
    (out / "mistral_v3.2000.model").write_bytes(sentencepiece((source / SENTENCEPIECE).read_bytes()))
    cut = tekken(lzma.decompress((source / TEKKEN).read_bytes()))
    (out / "tekken_240911.2000.json.xz").write_bytes(lzma.compress(cut, preset=9))


if __name__ == "__main__":
    main()
