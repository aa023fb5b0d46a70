"""What the peers read: their files, made of our bundled vocabularies, and the texts, each in a file of its own."""

from __future__ import annotations

import base64
import hashlib
import json
import lzma
import os
import sys
import warnings
from pathlib import Path

import bytepair
from bytepair import bundled
from bytepair.benching import texts

VOCABULARIES = {"r50k_base": "r50k", "cl100k_base": "cl100k", "o200k_base": "o200k"}
"""Name -> the preset that cuts for it."""

# As the files on model hubs have them: several peers know their pattern by its very text.
_ENDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_START = r"[^\r\n\p{L}\p{N}]?"
_UPPER, _LOWER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
PATTERNS = {
    "cl100k_base": rf"{_ENDS}|{_START}\p{{L}}+|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "o200k_base": "|".join(
        [
            rf"{_START}[{_UPPER}]*[{_LOWER}]+{_ENDS}?",
            rf"{_START}[{_UPPER}]+[{_LOWER}]*{_ENDS}?",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        ]
    ),
}


def write_vocabulary(folder: Path, name: str) -> None:
    """The rank file, ``tokenizer.json`` and our own file of a vocabulary, without special tokens: text is text."""
    ranks = bundled.ranks(name)
    lines = b"".join(b"%s %d\n" % (base64.b64encode(token), rank) for token, rank in ranks.items())
    places = [folder / f"{name}.tiktoken", folder / "wordchipper" / "openai" / name / f"{name}.tiktoken"]
    if (url := _address(name)) is not None:
        places.append(folder / "tiktoken" / hashlib.sha1(url.encode()).hexdigest())
    for place in places:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(lines)
    (folder / f"{name}.json").write_text(json.dumps(_tokenizer_json(name, ranks), ensure_ascii=False), "utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bytepair.BytepairNotice)
        tok = bytepair.Tokenizer.from_ranks(ranks, pattern=VOCABULARIES[name])
        tok.save(folder / f"{name}.bytepair.json")


def _address(name: str) -> str | None:
    """What tiktoken calls a vocabulary's file in its cache, or None where it is not installed."""
    try:
        from tiktoken_ext import openai_public
    except ImportError:
        return None
    asked: list[str] = []
    load, openai_public.load_tiktoken_bpe = openai_public.load_tiktoken_bpe, lambda url, **_: asked.append(url) or {}
    try:
        openai_public.ENCODING_CONSTRUCTORS[name]()
    except AssertionError:
        pass  # no tokens came, which some check
    finally:
        openai_public.load_tiktoken_bpe = load
    return asked[0]


def _tokenizer_json(name: str, ranks: dict[bytes, int]) -> dict[str, object]:
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in printable]
    letters = {**{b: chr(b) for b in printable}, **{b: chr(256 + k) for k, b in enumerate(others)}}

    def spelled(token: bytes) -> str:
        return "".join(letters[b] for b in token)

    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": name == "r50k_base"}
    cut: dict[str, object] = level
    if name in PATTERNS:
        split = {"type": "Split", "pattern": {"Regex": PATTERNS[name]}, "behavior": "Isolated", "invert": False}
        cut = {"type": "Sequence", "pretokenizers": [split, level]}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": cut,
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": name != "r50k_base",
            "vocab": {spelled(token): rank for token, rank in ranks.items()},
            "merges": [[spelled(part) for part in parts] for parts in _merges(ranks)],
        },
    }


def _merges(ranks: dict[bytes, int]) -> list[tuple[bytes, bytes]]:
    """The two parts that each token is made of, when only lower ranks merge: the merge list that was learned."""
    found = []
    for token, rank in ranks.items():
        parts = [token[at : at + 1] for at in range(len(token))]
        while len(parts) > 2:
            there = [(ranks.get(a + b, rank), at) for at, (a, b) in enumerate(zip(parts, parts[1:]))]
            lowest, at = min(there)
            if lowest >= rank:
                break
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        if len(parts) == 2:
            found.append((parts[0], parts[1]))
    return found


def corpora(folder: Path | None, size: int) -> dict[str, bytes]:
    """The real texts: every ``NAME.txt`` or ``NAME.txt.xz`` in a folder, else Python's own sources."""
    given = folder or os.environ.get("BYTEPAIR_BENCH_CORPORA") or Path(__file__).parents[2] / "shared" / "corpora"
    found: dict[str, bytes] = {}
    for path in sorted(Path(given).glob("*.txt*")):
        data = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
        found[path.name.split(".")[0]] = texts.pieces(data, size)[0]
    if not found and folder is not None:
        sys.exit(f"{folder} has no file NAME.txt or NAME.txt.xz")
    return found or {"stdlib": texts.library(size)}


def write_texts(folder: Path, real: dict[str, bytes], size: int, worst: int) -> None:
    """Each corpus as it is and with its lines in another order, random words, short strings, and worst cases twice."""
    folder.mkdir()
    for name, data in real.items():
        (folder / f"{name}.unseen").write_bytes(data)
        (folder / f"{name}.seen").write_bytes(texts.other_order(data))
    first = real.get("english", next(iter(real.values())))
    (folder / "words").write_bytes(texts.words(size))
    (folder / "short.json").write_text(json.dumps(texts.short(first)), "utf-8")
    for name, make in texts.WORST.items():
        for times in (1, 2):
            (folder / f"{name}.{times}").write_bytes(make(times * worst, times))
