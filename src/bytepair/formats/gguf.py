"""The tokenizer in the head of a llama.cpp GGUF file, read only.

Such files have many gigabytes; only the key-value pairs at their beginning are read, never a tensor. Two kinds of
tokenizer in them are byte-pair encodings: ``gpt2`` (merges, on bytes written as letters) and ``llama`` (pieces that
merge by score, as SentencePiece does it). Decoding joins the tokens; llama.cpp's own clean-up of spaces is left out.
"""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Mapping
from contextlib import closing
from typing import IO, TYPE_CHECKING, Any

from .._check import brief
from .._notices import notice
from ..errors import BytepairError, FormatError
from ..listed import Token, listed
from ..pipeline.around import Around
from ..pipeline.letters import from_letters
from ..pipeline.normalise import SentencePiece
from ..tokenizer import Tokenizer
from ..vocabulary import MAX_ID, ROLES
from . import _llama_patterns, scored, sentencepiece
from .scored import BYTE, CONTROL, NORMAL, UNKNOWN, UNUSED, USER_DEFINED, Piece

if TYPE_CHECKING:
    from .source import Options, Source

NAME = "gguf"
MAGIC = b"GGUF"
SETTING = "gguf"
"""The tokenizer's plain values in the file, kept in ``Around.settings``."""

PREFIX = "tokenizer.ggml."
MAX_PAIRS = 1 << 16
MAX_STRING = 1 << 24
MAX_KEY = 1 << 16
MAX_ITEMS = 1 << 23
MAX_HEAD = 1 << 28
"""Limits on the head: its pairs, the bytes of a text and of a key, the items of all lists, the bytes of it all."""

MAX_DEPTH = 8
_PLAIN = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _LIST = 8, 9
_OTHERS = {"bert": "WordPiece", "t5": "Unigram", "rwkv": "a trie of words", "plamo2": "a trie of words"}


def recognises(source: Source) -> bool:
    return source.head[:4] == MAGIC


def read(source: Source, options: Options) -> Tokenizer:
    """The tokenizer in a file."""
    options.refuse(source)
    try:
        return _Reader(_head(source), options.roles).tokenizer()
    except BytepairError as error:
        raise FormatError(f"{source.name}: {error}") from error


# ---- the head ----


def _head(source: Source) -> dict[str, Any]:
    """The keys and values at the file's beginning."""
    with closing(source.open()) as file:
        if file.read(4) == MAGIC:
            return _Head(file, source.size).pairs()
    return _Head(io.BytesIO(source.data[4:]), len(source.data)).pairs()


class _Head:
    def __init__(self, file: IO[bytes], size: int) -> None:
        self.file, self.size, self.at, self.items = file, size, 4, 0
        version = self.take(4)
        self.order = "<" if int.from_bytes(version, "little") < 1 << 16 else ">"
        (number,) = struct.unpack(f"{self.order}I", version)
        if number not in (2, 3):
            raise FormatError(
                f"it has version {number} of GGUF, and versions 2 and 3 are read; convert it with llama.cpp"
            )

    def take(self, count: int) -> bytes:
        if self.at + count > MAX_HEAD:
            raise FormatError(f"its head goes on behind byte {MAX_HEAD}, which no tokenizer needs; it may be damaged")
        data = self.file.read(count) if self.at + count <= self.size else b""
        if len(data) != count:
            raise FormatError(
                f"at byte {self.at} it says that {count} bytes follow, and it has {self.size}; fetch it again"
            )
        self.at += count
        return data

    def number(self, code: str) -> Any:
        return struct.unpack(f"{self.order}{code}", self.take(struct.calcsize(f"={code}")))[0]

    def count(self, most: int, what: str) -> int:
        at = self.at
        number: int = self.number("Q")
        if number > most:
            raise FormatError(f"at byte {at} it says that {what} {number}, and may be {most}; the file may be damaged")
        return number

    def text(self, most: int, what: str) -> str:
        length = self.count(most, f"{what} has a length of")
        at = self.at
        try:
            return self.take(length).decode("utf-8")
        except UnicodeDecodeError as error:
            raise FormatError(f"{what} is no UTF-8 at byte {at + error.start}; the file may be damaged") from None

    def pairs(self) -> dict[str, Any]:
        self.number("Q")  # tensors
        found: dict[str, Any] = {}
        for k in range(self.count(MAX_PAIRS, "the number of its pairs is")):
            key = self.text(MAX_KEY, f"the name of pair {k}")
            if key in found:
                raise FormatError(f"pair {k} is {brief(key)}, which is there already; take one out")
            found[key] = self.value(self.number("I"), key)
        return found

    def value(self, kind: int, key: str, depth: int = 0) -> Any:
        if kind in _PLAIN:
            return self.number(_PLAIN[kind])
        if kind == _TEXT:
            return self.text(MAX_STRING, f"the value of {brief(key)}")
        if kind != _LIST:
            raise FormatError(f"the value of {brief(key)} has the type {kind}, and there are 0 to 12; is it damaged?")
        if depth == MAX_DEPTH:
            raise FormatError(f"the value of {brief(key)} is nested more than {MAX_DEPTH} deep; it may be damaged")
        inner = self.number("I")
        count = self.count(MAX_ITEMS - self.items, f"the number of items of {brief(key)} is")
        self.items += count
        if inner in _PLAIN:
            layout = f"{self.order}{count}{_PLAIN[inner]}"
            return list(struct.unpack(layout, self.take(struct.calcsize(layout))))
        if inner == _TEXT:
            return [self.text(MAX_STRING, f"{key}[{k}]") for k in range(count)]
        return [self.value(inner, key, depth + 1) for _ in range(count)]


# ---- the tokenizer ----


class _Reader:
    def __init__(self, head: Mapping[str, Any], roles: Mapping[str, str] | None) -> None:
        self.head, self.given = head, roles or {}
        if f"{PREFIX}model" not in head:
            raise FormatError(f"it has no {PREFIX}model, so no tokenizer is in it; give the file of the whole model")
        self.model = self.get("model", str)
        if self.model not in ("gpt2", "llama"):
            kind = _OTHERS.get(self.model)
            raise FormatError(
                f"the tokenizer is {brief(self.model)}{f', {kind}' if kind else ''}, which is no byte-pair encoding "
                "that is read here; llama.cpp runs it"
            )
        self.tokens: list[str] = self.listed("tokens", str)
        if len(self.tokens) > MAX_ID + 1:
            raise FormatError(f"it has {len(self.tokens)} tokens, and there may be {MAX_ID + 1}")
        self.kinds: list[int] = self.listed("token_type", int, len(self.tokens))
        seen: dict[str, int] = {}
        for i, text in enumerate(self.tokens):
            if seen.setdefault(text, i) != i:
                raise FormatError(f"token {i} is {brief(text)}, as token {seen[text]} is; take one out")

    def get(self, name: str, kind: type, default: Any = None) -> Any:
        value = self.head.get(f"{PREFIX}{name}", default)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            found = "missing" if value is None else f"a {type(value).__name__}"
            raise FormatError(f"{PREFIX}{name} is {found}, and should be {kind.__name__}")
        return value

    def listed(self, name: str, kind: type | tuple[type, ...], count: int | None = None) -> list[Any]:
        values: list[Any] = self.get(name, list)
        if values and not all(isinstance(value, kind) and not isinstance(value, bool) for value in values):
            raise FormatError(f"{PREFIX}{name} holds something else than it should; convert the model again")
        if count is not None and len(values) < count:
            raise FormatError(f"{PREFIX}{name} has {len(values)} items for {count} tokens; convert the model again")
        return values

    def tokenizer(self) -> Tokenizer:
        plain = {
            key: value
            for key, value in self.head.items()
            if key.startswith(PREFIX) and isinstance(value, (str, int, float))
        }
        settings = ((SETTING, json.dumps(plain)),)
        return self.by_merges(settings) if self.model == "gpt2" else self.by_scores(settings)

    def named(self, *kinds: int) -> dict[str, int]:
        return {text: i for i, (text, kind) in enumerate(zip(self.tokens, self.kinds)) if kind in kinds and text}

    def roles(self) -> dict[str, str]:
        """Role -> name of the special token that the file says."""
        specials = self.named(CONTROL, UNKNOWN)
        found: dict[str, str] = {}
        for role, key in zip(ROLES, ("bos", "eos", "padding", "unknown")):
            name = f"{key}_token_id"
            if f"{PREFIX}{name}" not in self.head:
                continue
            i = self.get(name, int)
            if not 0 <= i < len(self.tokens):
                raise FormatError(f"{PREFIX}{name} is {i}, and the tokens have the ids 0 to {len(self.tokens) - 1}")
            if self.tokens[i] in specials:
                found[role] = self.tokens[i]
            else:
                notice(
                    f"the token of the role {role}, {i} {brief(self.tokens[i])}, is no special token by its type; the "
                    "role is left out",
                    stacklevel=7,
                )
        return {**found, **self.given}

    # ---- "llama": pieces by score ----

    def by_scores(self, settings: tuple[tuple[str, str], ...]) -> Tokenizer:
        scores = self.listed("scores", (int, float), len(self.tokens))
        unknown = self.head.get(f"{PREFIX}unknown_token_id", -1)
        if UNKNOWN not in self.kinds and isinstance(unknown, int) and 0 <= unknown < len(self.tokens):
            self.kinds[unknown] = UNKNOWN
        as_normal = (0, UNUSED)  # there these are tokens like any other
        pieces = [
            Piece(text or f"[EMPTY_{i}]", float(score), NORMAL if kind in as_normal else kind)
            for i, (text, score, kind) in enumerate(zip(self.tokens, scores, self.kinds))
        ]
        vocabulary = scored.vocabulary(pieces, self.roles(), normalized=False)
        step = SentencePiece(
            add_dummy_prefix=self.get("add_space_prefix", bool, True),
            remove_extra_whitespaces=False,
        )
        return sentencepiece.tokenizer(pieces, vocabulary, step, settings=settings)

    # ---- "gpt2": merges ----

    def by_merges(self, settings: tuple[tuple[str, str], ...]) -> Tokenizer:
        pre = self.pre()
        ids = {text: i for i, text in enumerate(self.tokens)}
        merges = self.merges(ids)
        in_merges = {i for merge in merges for i in merge}
        tokens: dict[int, Token] = {}
        inert: set[int] = set()
        for i, (text, kind) in enumerate(zip(self.tokens, self.kinds)):
            if kind in (CONTROL, UNKNOWN, USER_DEFINED) and text and i not in in_merges:
                continue
            data = from_letters(text)
            tokens[i] = Token(text.encode() if data is None else data)
            if not data or kind == BYTE:
                inert.add(i)
        vocabulary = listed(
            kind="bytes",
            tokens=tokens,
            merges=merges,
            inert=inert,
            specials=self.named(CONTROL, UNKNOWN),
            added=self.named(USER_DEFINED),
            roles=self.roles(),
            whole=pre in _llama_patterns.IGNORES_MERGES,
        )
        around = Around(letters=True, settings=settings)
        return Tokenizer(vocabulary, _llama_patterns.pattern(pre), None, around)

    def pre(self) -> str:
        name: str = self.get("pre", str, "")
        if not name:
            notice(
                f"it has no {PREFIX}pre, so text is cut by llama.cpp's default, which is no model's own; convert the "
                "model again with a newer llama.cpp",
                stacklevel=6,
            )
            return "default"
        if name not in _llama_patterns.NAMES:
            raise FormatError(
                f"{PREFIX}pre is {brief(name)}, a way to cut text that is not known here; llama.cpp may run it. Known "
                f"are {', '.join(sorted(_llama_patterns.NAMES))}"
            )
        return name

    def merges(self, ids: Mapping[str, int]) -> list[tuple[int, int, int]]:
        """The merges; of a pair that is listed twice the first counts, as for the owner."""
        out: dict[tuple[int, int], tuple[int, int, int]] = {}
        for step, line in enumerate(self.listed("merges", str)):
            space = line.find(" ", 1)
            left, right = line[:space], line[space + 1 :]
            if space < 0 or not right:
                raise FormatError(f"{PREFIX}merges[{step}] is {brief(line)}, and should be two tokens")
            try:
                merge = ids[left], ids[right], ids[left + right]
            except KeyError as error:
                raise FormatError(
                    f"{PREFIX}merges[{step}] {brief(line)} needs {brief(error.args[0])}, which is no token; convert "
                    "the model again"
                ) from None
            out.setdefault(merge[:2], merge)
        return list(out.values())
