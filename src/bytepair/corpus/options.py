"""How files are read: the options of :func:`bytepair.files`, and what a file's name says where they are silent."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from .._check import brief
from ..errors import TrainingError

FORMATS = ("raw", "text", "jsonl", "csv", "tsv", "parquet", "arrow")
ERRORS = ("surrogateescape", "strict", "replace")
TABLES = ("csv", "tsv", "parquet", "arrow")

_PACKED = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".lzma": "lzma", ".zst": "zstd"}
_PACKED_ARCHIVES = {".tgz": ".gz", ".tbz2": ".bz2", ".tbz": ".bz2", ".txz": ".xz", ".tzst": ".zst"}
_ARCHIVES = {".tar": "tar", ".zip": "zip"}
_KINDS = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet",
    ".arrow": "arrow", ".feather": "arrow", ".csv": "csv", ".tsv": "tsv",
}  # fmt: skip


@dataclass(frozen=True)
class How:
    """The options of :func:`bytepair.files`, checked."""

    by: str = "document"
    field: str | None = None
    column: str | None = None
    encoding: str | None = None
    errors: str | None = None
    format: str | None = None
    bad_rows: str = "error"

    def __post_init__(self) -> None:
        _choice("by", self.by, ("document", "line"))
        _choice("format", self.format, (None, *FORMATS))
        _choice("errors", self.errors, (None, *ERRORS))
        _choice("bad_rows", self.bad_rows, ("error", "skip"))
        for name in ("field", "column"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise TrainingError(f"{name} is {brief(value)}; it is the name of a {name}, a str")
        if self.encoding is not None:
            _check_encoding(self.encoding)
        if self.format is not None:
            self.check_used(self.format, f"format={self.format!r}")
        if self.format == "raw" and self.encoding is not None:
            raise TrainingError(
                f'encoding={self.encoding!r} changes bytes, format="raw" keeps them as they are; leave one out'
            )

    @property
    def is_utf8(self) -> bool:
        """Whether texts are, or are taken for, UTF-8 already."""
        return self.encoding is None or codecs.lookup(self.encoding).name == "utf-8"

    @property
    def policy(self) -> str:
        """What becomes of bytes that the encoding does not know."""
        return self.errors or ("surrogateescape" if self.is_utf8 else "strict")

    @property
    def is_plain(self) -> bool:
        """Whether every byte stays as it is, unlooked at."""
        return self.is_utf8 and self.policy == "surrogateescape"

    @property
    def skips(self) -> bool:
        """Whether rows without a text are left out."""
        return self.bad_rows == "skip"

    def kind(self, name: str) -> Kind:
        """What a file of this name holds.

        Raises
        ------
        TrainingError
            ``field`` or ``column`` is given, and a file of this kind has none.
        """
        if self.format == "raw":
            return Kind(None, None, "raw")
        if name.startswith(("http://", "https://")):
            name = re.split(r"[?#]", name)[0]  # what follows is a question to the server, and no name
        packing, stem = packed(name)
        archive = next((kind for suffix, kind in _ARCHIVES.items() if stem.endswith(suffix)), None)
        if archive is not None:
            return Kind(packing, archive, "text")
        content = self.format or next((kind for suffix, kind in _KINDS.items() if stem.endswith(suffix)), "text")
        if self.format is None and content in ("csv", "tsv") and self.column is None:
            content = "text"  # comma-separated files are often small data in a tree of sources, and readable as text
        self.check_used(content, name)
        return Kind(packing, None, content)

    def check_used(self, content: str, what: str) -> None:
        """Refuse a field or column that would have no effect on ``what``.

        Raises
        ------
        TrainingError
            The message says what to give in its place.
        """
        if content == "jsonl" and self.field is None and self.column is not None:
            raise TrainingError(f"{what}: JSON lines have fields, not columns; give field={self.column!r}")
        if content in TABLES and self.column is None and self.field is not None:
            raise TrainingError(f"{what}: tables have columns, not fields; give column={self.field!r}")
        if content in ("raw", "text") and (self.field is not None or self.column is not None):
            asked = f"field={self.field!r}" if self.field is not None else f"column={self.column!r}"
            raise TrainingError(
                f"{what}: this is read as text, in which {asked} means nothing; say format= (--format) if it is of "
                "another kind, or read such files apart"
            )


@dataclass(frozen=True)
class Kind:
    """What a file holds: how it is packed, by its name; what archive it is; what texts are in it."""

    packing: str | None
    archive: str | None
    content: str


def packed(name: str) -> tuple[str | None, str]:
    """The packing that a name ends with, and the name in lower case without it."""
    stem = name.lower()
    for suffix, inner in _PACKED_ARCHIVES.items():
        if stem.endswith(suffix):
            return _PACKED[inner], stem.removesuffix(suffix) + ".tar"
    for suffix, packing in _PACKED.items():
        if stem.endswith(suffix):
            return packing, stem.removesuffix(suffix)
    return None, stem


def _choice(name: str, value: object, allowed: tuple[str | None, ...]) -> None:
    if value not in allowed:
        choices = ", ".join(repr(a) for a in allowed if a is not None)
        raise TrainingError(f"{name} is {brief(value)}; it can be {choices}")


def _check_encoding(encoding: object) -> None:
    try:
        known = codecs.lookup(encoding)._is_text_encoding if isinstance(encoding, str) else False
    except (LookupError, ValueError):
        known = False
    if not known:
        raise TrainingError(
            f"encoding is {brief(encoding)}, which Python does not know as an encoding of text; "
            'it can be "utf-8", "latin-1", "cp1252", "utf-16", "gb18030" and many more'
        )
