"""Tokenizers in the cache: what :func:`~bytepair.load` made of a file, so that it need not be made again.

Kept under the file's own bytes, its name, what the caller said beside it, and (in the head, asked again on reading) the
files beside it that were looked at. Where the system says that a file was not touched since its bytes were looked at,
they are not looked at again (:func:`_identity`). What a reader told a notice of is not kept, since it must be told
each time. The engine's encoder is made at once, so that arrays which it refuses are found where the file can still be
read instead.
"""

from __future__ import annotations

import os
import sys
from array import array
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

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


SETTLED = 2.0
"""Seconds that a file must have been left alone before the system's word is taken for it: clocks tick slowly."""


def checksum(data: Any) -> bytes:
    """The engine's checksum: that of millions of bytes in less time than loading OpenSSL takes."""
    from .. import _engine

    number: int = _engine.checksum(data)
    return number.to_bytes(32, "little")


class Place:
    """Where the tokenizer of one call of ``load`` is in the cache, or will be.

    ``parts`` gives what its key follows from; it is asked only where ``known``, which stands for the file as the system
    knows it, does not lead to the key.
    """

    def __init__(self, parts: Callable[[], tuple[str | bytes, ...]], source: Source | None, known: str | None) -> None:
        self.parts = parts
        self.source = source
        self.known = known
        self.notices = _notices.given()

    @cached_property
    def key(self) -> str:
        return _cache.key_of(*self.parts())

    @classmethod
    def of_bundled(cls, name: str) -> Place | None:
        if _cache.folder() is None:
            return None
        from .. import _engine, bundled

        return cls(lambda: ("bundled", _engine.NAME, name, bundled.content(name)), None, None)

    @classmethod
    def of_file(cls, source: Source, format: str, options: Options) -> Place | None:
        """None where there is no cache, or what the caller said cannot be written down."""
        said = _said(options)
        if said is None or _cache.folder() is None or source.size > MAX_BYTES:
            return None
        from .. import _engine

        name = "" if source.at is None else os.path.basename(source.at)
        about = ("file", _engine.NAME, format, name, said)
        # What the system knows of it is asked before its bytes are read.
        identity = None if source.at is None or source.vocab is not None else _identity(source.at)
        known = None if identity is None else _cache.key_of("known", *about, identity)
        second = source.vocab
        return cls(lambda: (*about, b"" if second is None else second.raw, source.raw), source, known)

    def read(self, cache_bytes: int) -> Tokenizer | None:
        link = None if self.known is None else _cache.read(self.known)
        if link is not None and type(key := link.head.get("leads to")) is str and key.isalnum():
            self.key = key
        kept = _cache.read(self.key, checksum)
        if kept is None:
            if link is not None:  # it leads nowhere
                vars(self).pop("key", None)
            return None
        try:
            if self.source is not None and kept.head["beside"] != _beside(self.source, kept.head["beside"]):
                return None
            tokenizer = _tokenizer(kept, cache_bytes)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            return None  # sound by its checksum, and yet no tokenizer: it is made anew
        if link is None:
            self.remember()
        return tokenizer

    def write(self, tokenizer: Tokenizer) -> None:
        if self.notices == _notices.given():
            asked = {} if self.source is None else _beside(self.source, self.source.asked)
            head, sections = _parts(tokenizer)
            _cache.write(self.key, {**head, "beside": asked}, sections, checksum)
            self.remember()

    def remember(self) -> None:
        """Where the file as the system knows it has its tokenizer."""
        if self.known is not None:
            _cache.write(self.known, {"leads to": self.key}, {})


def _identity(path: str) -> str | None:
    """What changes whenever a file's bytes do: its place, length and times, to the nanosecond.

    None where that cannot be relied on: a file that was touched a moment ago may be touched again within the same tick,
    and Windows does not say when a file changed, only what its owner says about that.
    """
    import time

    if sys.platform == "win32":
        return None
    try:
        about = os.stat(path)
    except (OSError, ValueError):
        return None  # reading it says why
    if time.time() - max(about.st_mtime, about.st_ctime) < SETTLED:
        return None
    numbers = (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
    return repr((os.path.abspath(path), numbers))


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


def _tokenizer(kept: _cache.Kept, cache_bytes: int) -> Tokenizer:
    from ..pattern import Pattern
    from ..tokenizer import Tokenizer
    from ..vocabulary import MAX_ID, Alphabet, Flat, Vocabulary

    head = kept.head

    def numbers(name: str, code: Literal["I", "q"] = "I") -> Any:
        made = array(code)
        made.frombytes(kept.sections[name])
        return made

    whole = None
    if head["whole"]:
        whole = bytes(kept.sections["whole_text"]), kept.numbers("whole_offsets", "q"), kept.numbers("whole_ids", "I")
    flat = Flat(
        bytes(kept.sections["text"]),
        numbers("offsets", "q"),
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
    tokenizer = Tokenizer(vocabulary, pattern, record, around, cache_bytes)
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
