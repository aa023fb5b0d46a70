"""Tokenizers in the cache: what :func:`~bytepair.load` made of a file, so that it need not be made again.

Kept under the file's own bytes, its name, what the caller said beside it, and (in the head, asked again on reading) the
files beside it that were looked at. What a reader told a notice of is not kept, since it must be told each time. The
engine's encoder is made at once, so that arrays which it refuses are found where the file can still be read instead.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import _cache, _notices

if TYPE_CHECKING:
    from ..record import TrainingRecord
    from ..tokenizer import Tokenizer
    from .source import Options, Source

__all__ = ["Place"]

MAX_BYTES = 1 << 26
"""Larger files are not kept: they are models, of which the tokenizer is a small part."""

_SETS = ("marked", "continued", "inert")
_PLAIN = ("rule", "layout", "byte_order", "specials", "roles", "rows", "added", "unknown_id", "whole", "order")
_TUPLES = ("base", "fallback")
_ALPHABET = (
    *("kind", "end_of_word", "unknown", "points", "last_points", "listed", "inner_points", "inner_last_points"),
    *("prefix", "suffix", "fuse_unknown"),
)
_POINTS = ("points", "last_points", "inner_points", "inner_last_points")


class Place:
    """Where the tokenizer of one call of ``load`` is in the cache, or will be."""

    def __init__(self, key: str, source: Source | None) -> None:
        self.key = key
        self.source = source
        self.notices = _notices.given()

    @classmethod
    def of_bundled(cls, name: str, content: bytes) -> Place | None:
        if _cache.folder() is None:
            return None
        from .. import _engine

        return cls(_cache.key_of("bundled", _engine.NAME, name, content), None)

    @classmethod
    def of_file(cls, source: Source, format: str, options: Options) -> Place | None:
        """None where there is no cache, or what the caller said cannot be written down."""
        said = _said(options)
        if said is None or _cache.folder() is None or source.size > MAX_BYTES:
            return None
        from .. import _engine

        name = "" if source.at is None else os.path.basename(source.at)
        second = b"" if source.vocab is None else source.vocab.raw
        return cls(_cache.key_of("file", _engine.NAME, format, name, said, second, source.raw), source)

    def read(self) -> Tokenizer | None:
        kept = _cache.read(self.key)
        if kept is None:
            return None
        try:
            if self.source is not None and kept.head["beside"] != _beside(self.source, kept.head["beside"]):
                return None
            return _tokenizer(kept)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            return None  # sound by its checksum, and yet no tokenizer: it is made anew

    def write(self, tokenizer: Tokenizer) -> None:
        if self.notices == _notices.given():
            asked = {} if self.source is None else _beside(self.source, self.source.asked)
            head, sections = _parts(tokenizer)
            _cache.write(self.key, {**head, "beside": asked}, sections)


def _said(options: Options) -> str | None:
    """What the caller of ``load`` said, as text; None where that holds more than names and numbers."""
    said = (options.pattern, options.specials, options.roles)
    values: list[Any] = []
    for one in said:
        if type(one) in (list, tuple):
            values += one  # type: ignore[arg-type]
        elif isinstance(one, dict):
            values += [*one, *one.values()]
        else:
            values.append(one)
    return repr(said) if set(map(type, values)) <= {str, int, type(None)} else None


def _beside(source: Source, names: Mapping[str, Any]) -> dict[str, str | None]:
    """The sha256 of files in the same folder, None of those that are not there."""
    found = {}
    for name in names:
        file = source.beside(name)
        found[name] = None if file is None else file.sha256
    return found


# ---- writing ----


def _parts(tokenizer: Tokenizer) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Head and sections of a tokenizer's file."""
    from .._codec import token_arrays, written

    v, codec = tokenizer._vocabulary, tokenizer._codec
    text, offsets, ids = token_arrays(v.tokens)
    columns = [array("I", column) for column in zip(*v.merges)] or [array("I")] * 3
    arrays: dict[str, array[int]] = {"offsets": offsets, "ids": ids}
    arrays |= dict(zip(("left", "right", "new"), columns))
    arrays |= {name: array("I", sorted(getattr(v, name))) for name in _SETS}
    if v.ranks is not None:
        arrays["ranks"] = array("I", v.ranks)
    sections = {"text": text}
    if v.whole:
        sections["whole_text"], arrays["whole_offsets"], arrays["whole_ids"] = token_arrays(written(v))
    if v.rule == "ranks":
        sections["packed"] = codec.rank_pairs.packed()
    sections |= {name: numbers.tobytes() for name, numbers in arrays.items()}
    alphabet = {name: getattr(v.alphabet, name) for name in _ALPHABET}
    head: dict[str, Any] = {name: getattr(v, name) for name in (*_PLAIN, *_TUPLES)}
    head |= {"alphabet": alphabet, "flags": {name: sorted(asked) for name, asked in v.flags.items()}}
    head |= {"unordered_merge": v.unordered_merge if v.rule == "merges" else None}
    stages, pattern = [], tokenizer.pattern
    while pattern is not None:
        stages.append((pattern.regex, pattern.dialect, pattern.timeout, pattern.drop))
        pattern = pattern.then  # type: ignore[assignment]
    head["pattern"] = {"name": tokenizer.pattern.name, "stages": stages}
    head["around"] = _around_to_json(tokenizer)
    if tokenizer.record is not None:
        from . import bytepair_json

        sections["record"] = bytepair_json.record_to_bytes(tokenizer.record)
    return head, sections


def _around_to_json(tokenizer: Tokenizer) -> dict[str, Any] | None:
    from ..pipeline.around import NOTHING_AROUND

    if tokenizer._around == NOTHING_AROUND:
        return None
    from .foreign_json import around_to_json

    return around_to_json(tokenizer._around)


# ---- reading ----


def _tokenizer(kept: _cache.Kept) -> Tokenizer:
    from ..pattern import Pattern
    from ..tokenizer import Tokenizer
    from ..vocabulary import MAX_ID, Alphabet, Flat, Vocabulary

    head = kept.head

    def numbers(name: str) -> Any:
        return array("I", bytes(kept.sections[name]))

    whole = None
    if head["whole"]:
        whole = bytes(kept.sections["whole_text"]), kept.numbers("whole_offsets", "q"), kept.numbers("whole_ids", "I")
    flat = Flat(
        bytes(kept.sections["text"]),
        array("q", bytes(kept.sections["offsets"])),
        numbers("ids"),
        (numbers("left"), numbers("right"), numbers("new")),
        kept.numbers("packed", "Q") if head["rule"] == "ranks" else None,
        whole,
    )
    alphabet = dict(head["alphabet"])
    alphabet |= {name: tuple(alphabet[name]) for name in _POINTS}
    vocabulary = Vocabulary.of_flat(
        flat,
        head["unordered_merge"],
        alphabet=Alphabet(**alphabet),
        ranks=tuple(numbers("ranks")) if "ranks" in kept.sections else None,
        flags={name: frozenset(asked) for name, asked in head["flags"].items()},
        **{name: head[name] for name in _PLAIN},
        **{name: tuple(head[name]) for name in _TUPLES},
        **{name: frozenset(numbers(name)) for name in _SETS},
    )
    if not 0 <= vocabulary.rows <= MAX_ID + 1:  # there will be a table of so many
        raise ValueError("there are more rows than a vocabulary can have")
    pattern = Pattern.checked(head["pattern"]["stages"], head["pattern"]["name"])
    around = None
    if head["around"] is not None:
        from .bytepair_json import Reader
        from .foreign_json import around_from_json

        around = around_from_json(Reader(head["around"], "the cache", "'around'"))
    record = _Record(bytes(kept.sections["record"]), vocabulary) if "record" in kept.sections else None
    tokenizer = Tokenizer(vocabulary, pattern, record, around)
    tokenizer._codec.encoder  # noqa: B018  # which looks at every number that it is given
    vars(vocabulary)["flat"] = flat._replace(packed=None, whole=None)  # so that the file's bytes may go
    return tokenizer


class _Record:
    """A training record that is read when it is asked for."""

    def __init__(self, data: bytes, vocabulary: Any) -> None:
        self.data = data
        self.vocabulary = vocabulary

    def __call__(self) -> TrainingRecord:
        from .bytepair_json import record_of_bytes

        return record_of_bytes(self.data, self.vocabulary)
