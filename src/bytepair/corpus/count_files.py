"""Files of counted words: Arrow IPC files, which keep everything, and text tables of words and counts.

``words.WordCounts`` is the caller. What comes from a file is untrusted: types, nulls, counts, places, order and
duplicates are checked before any of it is used.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _engine
from .._check import brief
from .._notices import notice
from ..errors import BytepairError, FormatError, TrainingError
from ..pattern import UNICODE_VERSION, Pattern
from ..pipeline.normalise import Normaliser
from ..vocabulary import check_specials

if TYPE_CHECKING:
    from .runs import Table
    from .words import WordCounts

MAGIC = b"ARROW1"
"""What an Arrow IPC file begins with."""

FORMAT = "bytepair-word-counts"
VERSION = 1
KEY = b"bytepair"
"""The metadata's key; its value is JSON."""

COLUMNS = ("word", "count", "document", "offset")
BATCH = 64 << 20
"""Bytes of words in one record batch, at most (a word is never cut); Arrow's binary columns end at 2^31."""


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError as error:
        raise BytepairError(
            'files of counted words need pyarrow, which is not installed: pip install "bytepair[data]"'
        ) from error
    return pyarrow


def is_counts(head: bytes) -> bool:
    """Whether a file that begins so is one of counted words: their schema, with its metadata, stands first."""
    return head.startswith(MAGIC) and FORMAT.encode() in head


def save(words: WordCounts, path: Path) -> None:
    import numpy as np

    pa = _pyarrow()
    about = {
        "format": FORMAT,
        "version": VERSION,
        "pattern": None if words.pattern is None else _stages(words.pattern),
        "unicode": words.unicode_version,
        "specials": None if words.specials is None else list(words.specials),
        "normalizer": None if words.normaliser is None else words.normaliser.to_json(),
    }
    types = dict(zip(COLUMNS, (pa.binary(), *[pa.int64()] * 3)))
    schema = pa.schema(
        [pa.field(name, kind, nullable=False) for name, kind in types.items()],
        metadata={KEY: json.dumps(about, ensure_ascii=True).encode()},
    )
    temporary = None
    try:
        # Beside its place and then moved there, so that a file of that name is whole at any moment.
        beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        with open(beside, "xb") as file:
            temporary = beside
            with pa.ipc.new_file(file, schema) as writer:
                first = 0
                while first < len(words):
                    end = int(np.searchsorted(words.offsets, words.offsets[first] + BATCH, "right")) - 1
                    end = min(max(end, first + 1), len(words))
                    writer.write_batch(_batch(pa, words, first, end, schema))
                    first = end
        os.replace(temporary, path)
        temporary = None
    except (OSError, pa.ArrowException) as error:
        raise FormatError(f"cannot write {path}: {getattr(error, 'strerror', None) or error}") from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink()


def _batch(pa: Any, words: WordCounts, first: int, end: int, schema: Any) -> Any:
    import numpy as np

    start, stop = int(words.offsets[first]), int(words.offsets[end])
    if stop - start >= 1 << 31:
        raise FormatError(f"word {first} has {stop - start} bytes; an Arrow file holds words of less than 2^31")
    offsets = (words.offsets[first : end + 1] - start).astype(np.int32)
    texts = pa.Array.from_buffers(
        pa.binary(), end - first, [None, pa.py_buffer(offsets), pa.py_buffer(words.text[start:stop])]
    )
    columns = (column[first:end] for column in (words.counts, words.documents, words.places))
    return pa.RecordBatch.from_arrays([texts, *map(pa.array, columns)], schema=schema)


def load(path: Path) -> tuple[Table, Pattern | None, list[str] | None, str, Normaliser | None]:
    """The checked columns, and what cut the words."""
    pa = _pyarrow()
    try:
        with open(path, "rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise FormatError(
                    f"{path} is no file of counted words: it does not begin as an Arrow IPC file; "
                    "make one with `bytepair count-words`"
                )
            file.seek(0)
            reader = pa.ipc.open_file(file)
            about = _about(path, reader.schema)
            for name, kind in zip(COLUMNS, (pa.binary(), *[pa.int64()] * 3)):
                places = reader.schema.get_all_field_indices(name)
                if len(places) != 1 or reader.schema.field(name).type != kind:
                    raise FormatError(f"{path} has no column {name!r} of type {kind}, or more than one")
            batches = []
            for number in range(reader.num_record_batches):
                batch = reader.get_batch(number)
                batch.validate(full=True)
                batches.append(batch)
    except OSError as error:
        raise FormatError(f"cannot read {path}: {error.strerror or error}") from error
    except pa.ArrowException as error:
        raise FormatError(f"{path} is damaged, Arrow cannot read it: {str(error).splitlines()[0]}") from error
    return _checked(path, batches), *about


def _checked(path: Path, batches: list[Any]) -> Table:
    """The columns of batches that Arrow finds sound."""
    import numpy as np

    texts: list[bytes] = []
    lengths: list[Any] = [np.zeros(1, dtype=np.int64)]
    columns: list[list[Any]] = [[np.empty(0, dtype=np.int64)] for _ in range(3)]
    row = 0
    for batch in batches:
        for name in COLUMNS:
            column = batch.column(name)
            if column.null_count:
                at = row + column.is_null().index(True).as_py()
                raise FormatError(f"{path}: row {at} has no {name}; a file of counted words has no nulls")
        words = batch.column("word")
        _, places, data = words.buffers()
        if len(words):
            offsets = np.frombuffer(places, dtype=np.int32)[words.offset : words.offset + len(words) + 1]
            offsets = offsets.astype(np.int64)
            texts.append(b"" if data is None else bytes(memoryview(data)[int(offsets[0]) : int(offsets[-1])]))
            lengths.append(np.diff(offsets))
        for into, name in zip(columns, COLUMNS[1:]):
            into.append(np.asarray(batch.column(name).to_numpy(zero_copy_only=False), dtype=np.int64))
        row += len(batch)
    offsets = np.cumsum(np.concatenate(lengths))
    counts, documents, places = map(np.concatenate, columns)
    for wrong, what in (
        (np.diff(offsets) == 0, "an empty word"),
        (counts <= 0, "a count that is not positive"),
        (documents < 0, "a negative document"),
        (places < 0, "a negative offset"),
    ):
        if wrong.any():
            raise FormatError(f"{path}: row {int(np.flatnonzero(wrong)[0])} has {what}")
    table: Table = b"".join(texts), offsets.astype(np.int64, copy=False), counts, documents, places
    counter = _engine.Counter(None, None)
    counter.add_words(*table)
    if counter.n_words != len(counts):
        raise FormatError(f"{path}: word {_twice(table)!r} comes twice; each word has one row")
    ordered: Table = counter.table()  # by first places, whatever the order of the rows
    return ordered


def _twice(table: Table) -> bytes:
    text, offsets, *_ = table
    places = offsets.tolist()
    seen: set[bytes] = set()
    for start, end in zip(places, places[1:]):
        word = text[start:end]
        if word in seen:
            return word
        seen.add(word)
    return b""


def _stages(pattern: Pattern) -> list[dict[str, Any]]:
    stages: list[dict[str, Any]] = []
    stage: Pattern | None = pattern
    while stage is not None:
        stages.append({"regex": stage.regex, "dialect": stage.dialect, "drop": stage.drop})
        stage = stage.then
    return stages


def _about(path: Path, schema: Any) -> tuple[Pattern | None, list[str] | None, str, Normaliser | None]:
    """Pattern, specials, Unicode version and normaliser from the metadata."""
    found = (schema.metadata or {}).get(KEY)
    if found is None:
        raise FormatError(
            f"{path} is an Arrow file, but not one of counted words; make one with `bytepair count-words`"
        )
    try:
        about = json.loads(found)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path}: its metadata are no JSON") from error
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise FormatError(f"{path}: its metadata are not those of counted words")
    if about.get("version") != VERSION:
        raise FormatError(
            f"{path} has version {brief(about.get('version'))}, and this bytepair reads version {VERSION}; "
            "count again, or update bytepair"
        )
    stages, specials, version = about.get("pattern"), about.get("specials"), about.get("unicode")
    if not isinstance(version, str):
        raise FormatError(f"{path}: its metadata name no Unicode version")
    if specials is not None and not (isinstance(specials, list) and all(isinstance(name, str) for name in specials)):
        raise FormatError(f"{path}: specials in its metadata is no list of names")
    pattern: Pattern | None = None
    try:
        if stages is not None:
            if not isinstance(stages, list) or not stages:
                raise FormatError(f"{path}: pattern in its metadata is no list of stages")
            for stage in reversed(stages):
                if not isinstance(stage, dict) or set(stage) != {"regex", "dialect", "drop"}:
                    raise FormatError(f"{path}: a stage of the pattern in its metadata is malformed")
                pattern = Pattern(stage["regex"], dialect=stage["dialect"], drop=stage["drop"], then=pattern)
        names = None if specials is None else check_specials(specials)
        given = about.get("normalizer")
        normaliser = None if given is None else Normaliser.from_json(given, f"{path}: normalizer")
    except FormatError:
        raise
    except BytepairError as error:
        raise FormatError(f"{path}: {error}") from error
    if version != UNICODE_VERSION:
        notice(
            f"{path} was counted with Unicode {version[:20]}, and this bytepair has {UNICODE_VERSION}: characters that "
            "became letters, numbers or white space in between are cut otherwise",
            stacklevel=4,
        )
    return pattern, names, version, normaliser


def read_text(path: Path) -> dict[bytes, int]:
    """A text table: a line for each word, with its count behind the last tab or space."""
    words: dict[bytes, int] = {}
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                line = line.rstrip(b"\r\n")
                if not line:
                    continue
                word, found, count = line.rpartition(b"\t")
                if not found:
                    word, found, count = line.rpartition(b" ")
                if not word or not count.isdigit() or not 0 < int(count[:20]) < 1 << 63 or len(count) > 19:
                    raise TrainingError(
                        f"{path}, line {number}: {brief(line)} is no word and count; each line is a word, a tab or a "
                        "space, and a whole number from 1 to 2^63 - 1"
                    )
                if word in words:
                    raise TrainingError(f"{path}, line {number}: {brief(word)} comes a second time; add its counts up")
                words[word] = int(count)
    except OSError as error:
        raise TrainingError(f"cannot read {path}: {error.strerror or error}") from error
    return words
