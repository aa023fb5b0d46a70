"""Cuts a ``tokenizer.json`` down to its first merges, as a small fixture of real data for the tests.

    python tools/cut_huggingface.py FULL.tokenizer.json.xz OUT.json.xz [MERGES]

Kept are the tokens without merges, the first MERGES (2,000) merges with what they make, and every added token up to 40;
ids are numbered anew in their old order. All else stays as it is in the file.
"""

from __future__ import annotations

import json
import lzma
import sys
from pathlib import Path


def cut(document: dict, n: int) -> dict:
    model = document["model"]
    pairs = [merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"]]
    made = {left + right for left, right in pairs}
    kept = {text for text in model["vocab"] if text not in made} | {left + right for left, right in pairs[:n]}
    added = document["added_tokens"][:40]
    names = {token["content"] for token in added}
    gone = {token["content"] for token in document["added_tokens"]} - names
    order = sorted((i, text) for text, i in model["vocab"].items() if text in kept and text not in gone)
    model["vocab"] = {text: i for i, (_, text) in enumerate(order)}
    model["merges"] = model["merges"][:n]
    following = len(order)
    for token in added:
        token["id"] = model["vocab"].get(token["content"], following)
        following += token["content"] not in model["vocab"]
    return {**document, "added_tokens": added}


def main() -> None:
    source, target = map(Path, sys.argv[1:3])
    n = int(sys.argv[3]) if len(sys.argv) > 3 else 2000
    opener = lzma.open if source.suffix == ".xz" else open
    with opener(source, "rb") as file:
        document = json.load(file)
    text = json.dumps(cut(document, n), ensure_ascii=False, separators=(",", ":"))
    target.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{target}: {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
