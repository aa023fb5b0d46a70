"""What our JSON says of foreign tokenizers only: ids in any order, added tokens, and what stands around the model.

``bytepair_json`` calls it and keeps the rest. Normaliser, decoder and post-processor are written as Hugging Face's
``tokenizer.json`` has them, where that has a word for them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import FormatError
from ..listed import Token, listed
from ..pipeline._sentencepiece_output import SentencePieceOutput
from ..pipeline.around import NOTHING_AROUND, Around, SpaceMark
from ..pipeline.normalise import Normaliser
from ..pipeline.output import Output
from ..pipeline.template import Padding, Template, Truncation
from ..vocabulary import CONTINUED, MARKED, Alphabet, Vocabulary
from .huggingface_write import INSIDE
from .source import parse_json

INERT = 4
"""Beside the bits of a token's form: no encoding makes it."""

SCHEMES = ("always", "first", "never")


# ---- the vocabulary ----


def token_rows(v: Vocabulary) -> Iterable[str]:
    """``[text, id]``, and what the token is where it is no plain one, as a line of JSON each."""
    for i, text in v.tokens.items():
        bits = MARKED * (i in v.marked) | CONTINUED * (i in v.continued) | INERT * (i in v.inert)
        yield json.dumps([text.decode("latin-1"), i, bits] if bits else [text.decode("latin-1"), i])


def merge_rows(v: Vocabulary) -> Iterable[str]:
    """``"left right new"``, and the rank where merges share some."""
    for k, merge in enumerate(v.merges):
        yield '"' + " ".join(map(str, merge if v.ranks is None else (*merge, v.ranks[k]))) + '"'


def vocabulary_to_json(v: Vocabulary) -> dict[str, Any]:
    """The keys that a listed vocabulary has beside those of every other."""
    return {
        "fallback": {f"{b:02X}": i for b, i in enumerate(v.fallback) if i >= 0},
        "unknown_id": v.unknown_id,
        "whole": v.whole,
        "order": v.order,
        "added": dict(v.added),
        "flags": {name: sorted(flags) for name, flags in v.flags.items()},
    }


VOCABULARY_KEYS = ("fallback", "unknown_id", "whole", "order", "added", "flags")


def alphabet_to_json(alphabet: Alphabet) -> dict[str, Any]:
    return {
        "kind": alphabet.kind,
        "prefix": alphabet.prefix,
        "suffix": None if alphabet.end_of_word is None else alphabet.suffix,
        "fuse_unknown": alphabet.fuse_unknown,
    }


def vocabulary_from_json(reader: Any, specials: Mapping[str, int], roles: Mapping[str, str]) -> Vocabulary:
    """The listed vocabulary that :func:`vocabulary_to_json` and the rows describe."""
    tokens: dict[int, Token] = {}
    inert = set()
    for k, row in enumerate(reader.get("tokens", list)):
        sound = isinstance(row, list) and 2 <= len(row) <= 3 and isinstance(row[0], str)
        bits = row[2] if sound and len(row) == 3 else 0
        if not (sound and type(row[1]) is int and type(bits) is int and 0 <= bits < 8):
            raise reader.fail(f"token {k} is {str(row)[:40]}, and should be [text, id] or [text, id, form]")
        if row[1] in tokens:
            raise reader.fail(f"token {k} has the id {row[1]}, which another token has")
        tokens[row[1]] = Token(latin(reader, row[0], f"token {k}"), bits & 3)
        if bits & INERT:
            inert.add(row[1])
    rows = reader.rows(reader.get("merges", list), "merge")
    widths = {len(row) for row in rows}
    if not widths <= {3} and widths != {4}:
        raise reader.fail("each merge should be the ids of left, right and new, and in all of them or none a rank")
    alphabet = reader.sub("alphabet")
    alphabet.only({"kind", "prefix", "suffix", "fuse_unknown"})
    kind, order = alphabet.get("kind", str), reader.get("order", str)
    if kind not in ("bytes", "characters") or order not in ("pair", "place"):
        raise reader.fail(f"the alphabet is of {kind!r} and merges in the order {order!r}, which do not exist")
    fallback = reader.get("fallback", dict)
    for byte, i in fallback.items():
        if len(byte) != 2 or not set(byte) <= set("0123456789ABCDEF") or type(i) is not int or i not in tokens:
            raise reader.fail(f"'fallback' says {byte!r}: {i!r}, and should give bytes in hex the ids of tokens")
    flags = reader.get("flags", dict)
    for name, asked in flags.items():
        if not (isinstance(asked, list) and all(isinstance(flag, str) for flag in asked)):
            raise reader.fail(f"the flags of {name!r} should be a list of names")
    added = reader.get("added", dict)
    for name, i in added.items():
        reader.check(i, f"the id of added token {name!r}", int)
    return listed(
        kind=kind,
        tokens=tokens,
        merges=[(row[0], row[1], row[2]) for row in rows],
        ranks=[row[3] for row in rows] if widths == {4} else None,
        inert=inert,
        specials=specials,
        added=added,
        flags=flags,
        roles=roles,
        fallback={int(byte, 16): i for byte, i in fallback.items()},
        unknown_id=reader.get("unknown_id", int, type(None)),
        fuse_unknown=alphabet.get("fuse_unknown", bool),
        prefix=alphabet.get("prefix", str),
        suffix=alphabet.get("suffix", str, type(None)),
        whole=reader.get("whole", bool),
        order=order,
    )


def latin(reader: Any, text: str, what: str) -> bytes:
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        raise reader.fail(f"{what} has a character above U+00FF; each stands for one byte") from None


# ---- what stands around the model ----


def around_to_json(around: Around) -> dict[str, Any] | None:
    """What differs from nothing around, or None."""
    if around == NOTHING_AROUND:
        return None
    out: dict[str, Any] = {}
    if around.normaliser is not None:
        out["normaliser"] = around.normaliser.to_json()
    if around.mark is not None:
        out["mark"] = {"replacement": around.mark.replacement, "scheme": around.mark.scheme}
    if around.output is not None:
        out["output"] = (
            around.output.to_json()
            if isinstance(around.output, SentencePieceOutput)
            else around.output.to_huggingface()
        )
    if around.splits:
        out["splits"] = [" ".join(map(str, (i, *parts))) for i, parts in around.splits]
    if around.letters:
        out["letters"] = True
    for key in ("template", "truncation", "padding"):
        part = getattr(around, key)
        if part is not None:
            out[key] = part.to_huggingface()
    if around.settings:
        out["settings"] = dict(around.settings)
    return out


def around_from_json(reader: Any) -> Around:
    reader.only({"normaliser", "mark", "output", "letters", "template", "truncation", "padding", "splits", "settings"})
    value, place = reader.value, "'around'"
    mark = None
    if "mark" in value:
        part = reader.sub("mark")
        part.only({"replacement", "scheme"})
        mark = SpaceMark(part.get("replacement", str), part.get("scheme", str))
        if len(mark.replacement) != 1 or mark.scheme not in SCHEMES:
            raise reader.fail(
                f"'mark' says {mark.replacement!r}, {mark.scheme!r}, and should be one character and a scheme"
            )
    settings = reader.get("settings", dict) if "settings" in value else {}
    for name, text in settings.items():
        reader.check(text, f"the setting {name!r}", str)
        _check_setting(reader, name, text)
    try:
        return Around(
            normaliser=Normaliser.from_json(value["normaliser"], f"{place}.normaliser")
            if "normaliser" in value
            else None,
            mark=mark,
            output=_output(value["output"], f"{place}.output") if "output" in value else None,
            splits=_splits(reader) if "splits" in value else (),
            letters=reader.get("letters", bool) if "letters" in value else False,
            template=(
                Template.from_huggingface(value["template"], f"{place}.template") if "template" in value else None
            ),
            truncation=Truncation.from_huggingface(value.get("truncation"), f"{place}.truncation"),
            padding=Padding.from_huggingface(value.get("padding"), f"{place}.padding"),
            settings=tuple(settings.items()),
        )
    except FormatError as error:
        raise reader.fail(str(error)) from error


def _check_setting(reader: Any, name: str, text: str) -> None:
    """What writers of the other formats rely on: files of JSON are objects, and so is what is not listed here."""
    if name.endswith((".jinja", ".model")):  # text, and what the writer of SentencePiece models checks itself
        return
    try:
        value = parse_json(text.encode("utf-8", "surrogatepass"), f"the setting {name!r}")
    except FormatError as error:
        raise reader.fail(str(error)) from error
    if name == INSIDE:
        sound = isinstance(value, list) and all(isinstance(one, str) for one in value)
    else:
        sound = isinstance(value, dict) or (value is None and name == "pre_tokenizer")
    if not sound:
        raise reader.fail(f"the setting {name!r} is {text[:40]!r}, which no file of its format says; take it out")


def _output(value: Any, place: str) -> Output:
    if isinstance(value, dict) and value.get("type") == "SentencePiece":
        return SentencePieceOutput.from_json(value, place)
    return Output.from_huggingface(value, place)


def _splits(reader: Any) -> tuple[tuple[int, tuple[int, ...]], ...]:
    rows = [reader.ints(line, f"'splits' {k}") for k, line in enumerate(reader.get("splits", list))]
    if any(len(row) < 2 for row in rows):
        raise reader.fail("each of the 'splits' should be a token's id and those that it becomes")
    return tuple((row[0], tuple(row[1:])) for row in rows)
