"""What is put through both sides: the torture text, files of a corpus, and random strings. All of it is the same again.

The torture text is data that a person can read, in ``torture.json``.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Item", "corpus", "corpus_sha256", "random_texts", "torture", "torture_sha256"]

PIECE = 1 << 15
"""Bytes of a corpus that are one text; it ends with a line where that is possible."""

NAMES = 40
"""Special names that are typed into the torture text, the first ones: some vocabularies have a thousand."""


class Item(NamedTuple):
    """A text: what to call it, and where in its file it begins (characters and lines, from 0 and 1)."""

    name: str
    text: str | bytes
    start: int = 0
    line: int | None = None


@cache
def _file() -> bytes:
    return Path(__file__).with_name("torture.json").read_bytes()


@cache
def _data() -> Any:
    return json.loads(_file().decode("utf-8"))


def torture_sha256() -> str:
    """The sha256 of the file as it was written, wherever its line ends were changed."""
    return hashlib.sha256(_file().replace(b"\r\n", b"\n")).hexdigest()


def torture(specials: Sequence[str]) -> Iterator[Item]:
    """The torture text, with the names of special tokens typed into it."""
    names = specials[:NAMES]
    for part in _data()["parts"]:
        texts: list[str | bytes] = list(part.get("texts", ()))
        texts += [bytes.fromhex(row) for row in part.get("hex", ())]
        each = names if part.get("each") == "specials" else part.get("each", ())
        texts += [form.replace("{}", one) for one in each for form in part.get("in", ())]
        if "times" in part:
            texts += [one * part["times"] for one in each]
        for number, text in enumerate(texts, 1):
            yield Item(f"{part['name']} {number}", text)
    if len(specials) > NAMES:
        yield Item("all special names", " ".join(specials))


def random_texts(seed: int, number: int, specials: Sequence[str], tokens: Sequence[str]) -> Iterator[Item]:
    """Strings of a tricky alphabet, of special names, and of tokens of the vocabulary; the same for the same seed."""
    rng = random.Random(seed)  # noqa: S311  # nothing here is a secret
    alphabet: list[str] = _data()["random"]
    some = list(specials[:NAMES])
    for k in range(number):
        pieces = alphabet if not tokens or k % 2 == 0 else [*rng.choices(tokens, k=20), *rng.choices(alphabet, k=10)]
        if some and k % 4 == 3:
            pieces = [*pieces, *rng.choices(some, k=3)]
        yield Item(f"random text {k + 1}", "".join(rng.choices(pieces, k=rng.randint(1, 40))))


def corpus(path: Path) -> Iterator[Item]:
    """A file, read as bytes, in pieces that end with a line, or at least with a character."""
    start, line = 0, 1
    rest = b""
    with path.open("rb") as file:
        while True:
            block = file.read(PIECE)
            rest += block
            if not rest:
                return
            end = _end(rest) if block else len(rest)
            if not end:
                continue
            piece, rest = rest[:end], rest[end:]
            text = piece.decode("utf-8", "surrogateescape")
            yield Item(str(path), piece if _has_bytes(text) else text, start, line)
            start += len(text)
            line += piece.count(b"\n")


def _end(data: bytes) -> int:
    """Where a piece may end: after a line, else before the last character, which may go on; 0 is not yet."""
    end = data.rfind(b"\n") + 1
    if end or len(data) < PIECE:
        return end
    end = len(data) - 1
    while end > len(data) - 4 and 0x80 <= data[end] < 0xC0:
        end -= 1
    return end


def _has_bytes(text: str) -> bool:
    """Whether some of the text was no UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def corpus_sha256(paths: Iterable[Path]) -> Iterator[tuple[Path, int, str]]:
    """Each file's size and sha256, read in blocks."""
    for path in paths:
        digest, size = hashlib.sha256(), 0
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
                size += len(block)
        yield path, size, digest.hexdigest()
