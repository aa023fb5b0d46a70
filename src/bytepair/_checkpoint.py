"""The state of a training in two files, so that a killed one can go on: the counted words, and the merges so far.

``training`` writes and reads them. A file is written beside its place, brought to the disk and then renamed, so that at
any moment its place holds a whole one. What is in them, with a checksum, stands in ``_cache``. Nothing here knows how
to train.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ._cache import opened, packed
from .errors import FormatError, TrainingError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .corpus.runs import Table

STATE, WORDS = "bytepair training state", "bytepair training words"
COLUMNS: tuple[tuple[str, Literal["I", "q"], int], ...] = (
    ("left", "I", 1),
    ("right", "I", 1),
    ("counts", "q", 1),
    ("tied", "q", 1),
    ("lengths", "q", 1),
    ("examples", "I", 3),
)
"""What the engine tells of its merges: name, type, numbers for each merge."""
WORD_COLUMNS = ("offsets", "counts", "documents", "places")


@dataclass(frozen=True)
class Checkpoint:
    """Where a training keeps its state."""

    path: Path

    @property
    def words_path(self) -> Path:
        return self.path.with_name(self.path.name + ".words")

    def write_words(self, corpus: Any, table: Table) -> None:
        """Keeps the counted words; the states that follow know them by their :func:`checksum`."""
        text, *columns = table
        sections = {"text": text, **{name: column.tobytes() for name, column in zip(WORD_COLUMNS, columns)}}
        _replace(self.words_path, packed(WORDS, {"corpus": corpus}, sections))

    def read_words(self) -> tuple[Any, str, Table] | None:
        """What :meth:`write_words` kept: the corpus's description, the checksum, and the words.

        Raises
        ------
        FormatError
            The file is damaged, or none that training wrote.
        """
        import numpy as np

        kept = _read(self.words_path, WORDS)
        if kept is None:
            return None
        try:
            text = bytes(kept.sections["text"])
            columns = [np.array(kept.numbers(name, "q"), dtype=np.int64) for name in WORD_COLUMNS]
            corpus = kept.head["corpus"]
        except (ValueError, KeyError, TypeError) as error:
            raise FormatError(f"{self.words_path} is no checkpoint of this version: {error}; delete it") from error
        if {len(column) for column in columns[1:]} != {len(columns[0]) - 1}:
            raise FormatError(f"{self.words_path} is damaged: its columns differ in length; delete it")
        offsets, counts, documents, places = columns
        return corpus, checksum(text, offsets, counts), (text, offsets, counts, documents, places)

    def write(self, settings: Mapping[str, Any], words: str, length_before: int, columns: list[NDArray[Any]]) -> None:
        """Keeps the merges so far."""
        head = {"settings": dict(settings), "words": words, "length_before": length_before}
        sections = {name: column.tobytes() for (name, _, _), column in zip(COLUMNS, columns)}
        _replace(self.path, packed(STATE, head, sections))

    def read(self, settings: Mapping[str, Any]) -> State | None:
        """The state, or None where there is none yet.

        Raises
        ------
        FormatError
            The file is damaged, or none that training wrote.
        TrainingError
            It is the state of a training with other settings; the message lists them.
        """
        import numpy as np

        kept = _read(self.path, STATE)
        if kept is None:
            return None
        theirs = kept.head["settings"]
        ours = json.loads(json.dumps(settings))  # as a file tells them
        differ = [name for name in ours if theirs.get(name) != ours[name]]
        if differ:
            shown = "; ".join(f"{name} was {theirs.get(name)!r} and is {ours[name]!r}" for name in differ)
            raise TrainingError(
                f"{self.path} is the state of another training: {shown}; train as before, or name another checkpoint"
            )
        columns = [
            np.array(kept.numbers(name, code), dtype=np.uint32 if code == "I" else np.int64)
            for name, code, _ in COLUMNS
        ]
        if len({len(column) // each for column, (_, _, each) in zip(columns, COLUMNS)}) > 1:
            raise FormatError(f"{self.path} is damaged: its columns differ in length; delete it")
        return State(kept.head["words"], kept.head["length_before"], columns)


@dataclass(frozen=True)
class State:
    """Merges that were learned, as the engine tells them, and the words that they were learned from."""

    words: str
    length_before: int
    columns: list[NDArray[Any]]


def checksum(text: bytes, offsets: NDArray[Any], counts: NDArray[Any]) -> str:
    """The sha256 of counted words."""
    import hashlib

    digest = hashlib.sha256()
    for part in (len(counts).to_bytes(8, "little"), offsets.astype("<i8").data, counts.astype("<i8").data, text):
        digest.update(part)
    return digest.hexdigest()


def _read(path: Path, key: str) -> Any:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise TrainingError(f"cannot read the checkpoint {path}: {error.strerror or error}") from error
    try:
        return opened(key, data)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FormatError(f"{path} is no checkpoint, or a damaged one: {error}; delete it to begin anew") from error


def _replace(path: Path, data: bytes) -> None:
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        try:
            with open(beside, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)
        if os.name == "posix":  # the new name must reach the disk too
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except OSError as error:
        raise TrainingError(f"cannot write the checkpoint {path}: {error.strerror or error}") from error
