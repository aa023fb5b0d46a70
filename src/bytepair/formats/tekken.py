"""Mistral's tekken: a JSON file with ranks, special tokens and tiktoken's kind of pattern.

Special tokens have the first ids, and a token's id is its rank behind them. Only ``default_vocab_size`` ids count; what
the file lists beyond them is left out, as its owner does. Files up to version v7 may name no special tokens; then there
are the ones that mistral-common names for them.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

from .._check import brief
from ..errors import BytepairError, FormatError
from ..pattern import Pattern
from ..pipeline.around import Around
from ..tokenizer import Tokenizer
from ..vocabulary import MAX_ID, from_ranks
from .source import Options, Source, Written

NAME = "tekken"
SETTING = "tekken.json"
"""What the file says beside its vocabulary, kept in ``Around.settings``."""

OLD_VERSIONS = ("v1", "v2", "v3", "v7")
OLD_SPECIALS = (
    "<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]",
    "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
)  # fmt: skip
"""The first special tokens of files that do not list them."""

_ROLES = {"bos": "<s>", "eos": "</s>", "pad": "<pad>", "unk": "<unk>"}
_SIZES = ("default_vocab_size", "default_num_special_tokens")


def recognises(source: Source) -> bool:
    return source.is_json and b'"default_num_special_tokens"' in source.data and b'"token_bytes"' in source.data


# ---- reading ----


def read(source: Source, options: Options) -> Tokenizer:
    """The tokenizer in a file."""
    options.refuse(source)
    reader = _Reader(source)
    try:
        return reader.tokenizer(options)
    except FormatError:
        raise
    except BytepairError as error:
        raise FormatError(f"{source.name}: {error}") from error


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.document = self.typed(source.json, "the file", dict)
        self.config = self.typed(self.document.get("config"), "config", dict)

    def typed(self, value: Any, what: str, kind: type) -> Any:
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            found = "missing or null" if value is None else f"a {type(value).__name__}"
            raise self.source.fail(f"{what} is {found}, and should be {kind.__name__}")
        return value

    def size(self, key: str) -> int:
        number: int = self.typed(self.config.get(key), f"config.{key}", int)
        if not 0 <= number <= MAX_ID + 1:
            raise self.source.fail(f"config.{key} is {number}, and should be from 0 to {MAX_ID + 1}")
        return number

    def tokenizer(self, options: Options) -> Tokenizer:
        pattern = self.typed(self.config.get("pattern"), "config.pattern", str)
        total, count = map(self.size, _SIZES)
        vocab = self.typed(self.document.get("vocab"), "vocab", list)
        if not count + 256 <= total <= count + len(vocab):
            raise self.source.fail(
                f"config.default_vocab_size is {total}, and with {count} special tokens and the {len(vocab)} tokens of "
                f"the vocab it should be from {count + 256} to {count + len(vocab)}; the file may be cut off"
            )
        specials = self.specials(count)
        ranks: dict[bytes, int] = {}
        for rank in range(total - count):
            text = self.token(vocab[rank], rank)
            if text in ranks:
                raise self.source.fail(
                    f"vocab[{rank}] is {brief(text)}, as vocab[{ranks[text] - count}] is; take one out"
                )
            ranks[text] = count + rank
        roles = {role: name for role, name in _ROLES.items() if name in specials}
        vocabulary = from_ranks(ranks, specials, {**roles, **(options.roles or {})})
        kept = {key: value for key, value in self.document.items() if key != "vocab"}
        around = Around(settings=((SETTING, json.dumps(kept)),))
        return Tokenizer(vocabulary, Pattern(pattern, dialect="tiktoken"), None, around)

    def token(self, row: Any, rank: int) -> bytes:
        where = f"vocab[{rank}]"
        self.typed(row, where, dict)
        if self.typed(row.get("rank"), f"{where}.rank", int) != rank:
            raise self.source.fail(f"{where} has the rank {row['rank']}, and ranks go up by one from 0; sort them")
        written = self.typed(row.get("token_bytes"), f"{where}.token_bytes", str)
        try:
            text = base64.b64decode(written, validate=True)
        except (binascii.Error, ValueError):
            raise self.source.fail(f"{where}.token_bytes is {brief(written)}, which is no base64") from None
        if not text:
            raise self.source.fail(f"{where}.token_bytes is empty, and no text can hold it; take it out")
        if rank < 256 and text != bytes([rank]):
            raise self.source.fail(f"{where} is {brief(text)}, and should be the byte {bytes([rank])!r}")
        return text

    def specials(self, count: int) -> dict[str, int]:
        """All special tokens; ids that the file does not name have the names that its owner fills in."""
        listed = self.document.get("special_tokens")
        if listed is None:
            version = self.config.get("version")
            if version not in OLD_VERSIONS:
                raise self.source.fail(
                    f"special_tokens is missing, and config.version is {brief(version)}; only files of the versions "
                    f"{', '.join(OLD_VERSIONS)} may leave them out"
                )
            names = list(OLD_SPECIALS)
        else:
            names = []
            for k, row in enumerate(self.typed(listed, "special_tokens", list)):
                where = f"special_tokens[{k}]"
                self.typed(row, where, dict)
                if self.typed(row.get("rank"), f"{where}.rank", int) != k:
                    raise self.source.fail(
                        f"{where} has the rank {row['rank']}, and ranks go up by one from 0; sort them"
                    )
                names.append(self.typed(row.get("token_str"), f"{where}.token_str", str))
        if len(names) > count:
            raise self.source.fail(
                f"there are {len(names)} special tokens, and config.default_num_special_tokens is {count}; make it more"
            )
        names += [f"<SPECIAL_{i}>" for i in range(len(names), count)]
        found: dict[str, int] = {}
        for i, name in enumerate(names):
            if found.setdefault(name, i) != i:
                raise self.source.fail(
                    f"special token {i} is {brief(name)}, as {found[name]} is; give each its own name"
                )
        return found


# ---- writing ----


def write(tokenizer: Tokenizer) -> Written:
    """A file that mistral-common encodes with to the same ids."""
    v, pattern, around = tokenizer._vocabulary, tokenizer.pattern, tokenizer._around
    names = {i: name for name, i in v.specials.items()}
    count = len(names)
    if v.rule != "ranks":
        raise _cannot("it is under the merge rule, and tekken's files are under the rank rule")
    if v.added or v.flags or around.rewrites or not around.joins_bytes:
        raise _cannot("it has added tokens, or changes texts before or after, for which there is no word there")
    if sorted(names) != list(range(count)):
        raise _cannot(f"its {count} special tokens have other ids than 0 to {count - 1}")
    if sorted(v.tokens) != list(range(count, count + len(v.tokens))):
        raise _cannot(f"its tokens have other ids than those from {count} on without a gap")
    wrong = next((b for b in range(256) if v.tokens[count + b] != bytes([b])), None)
    if wrong is not None:
        raise _cannot(f"id {count + wrong} is {brief(v.tokens[count + wrong])}, and there it is the byte {wrong:#04x}")
    if pattern.dialect != "tiktoken" or pattern.then is not None or pattern.drop is not None:
        raise _cannot("its pattern is none of tiktoken's kind")
    losses = [
        f"the role {role} is {names[i]!r} here, and there it is what is named {_ROLES[role]!r}"
        for role, i in sorted(v.roles.items())
        if names[i] != _ROLES[role]
    ]
    if around.template is not None or around.truncation is not None or around.padding is not None:
        losses.append("the template, truncation and padding are left out")
    document: dict[str, Any] = next((json.loads(text) for name, text in around.settings if name == SETTING), {})
    config = document.get("config", {"version": "v7"})
    size = len(v.tokens)
    config |= {"pattern": pattern.regex, "num_vocab_tokens": size}
    config |= dict(zip(_SIZES, (count + size, count)))
    document = {"config": config, **document}
    listed = document.get("special_tokens") or ()
    controls = {row["token_str"]: row.get("is_control", True) for row in listed}
    if listed or ("special_tokens" not in document and not any(name == SETTING for name, _ in around.settings)):
        document["special_tokens"] = [
            {"rank": i, "token_str": names[i], "is_control": controls.get(names[i], True)} for i in range(count)
        ]
    document["vocab"] = [_row(rank, v.tokens[count + rank]) for rank in range(size)]
    return Written({"": (json.dumps(document, indent=1) + "\n").encode("ascii")}, tuple(losses))


def _row(rank: int, text: bytes) -> dict[str, Any]:
    try:
        shown: str | None = text.decode("utf-8")
    except UnicodeDecodeError:
        shown = None
    return {"rank": rank, "token_bytes": base64.b64encode(text).decode(), "token_str": shown}


def _cannot(why: str) -> FormatError:
    return FormatError(f'a tekken file cannot hold this tokenizer: {why}; save it with format="bytepair"')
