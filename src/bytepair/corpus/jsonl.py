"""JSON lines: the text in one field of the object on each line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .._check import brief
from ..errors import FormatError
from .document import Document
from .encodings import to_utf8
from .rows import BadRows

if TYPE_CHECKING:
    from .options import How
    from .streams import ByteStream

LONGEST = 1 << 27
"""Bytes of the longest line that is read."""

# With bytes that are no UTF-8 in the line, an escape that stands for such a byte could not be told from one.
_ESCAPED_BYTE = re.compile(rb"(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][cC][89a-fA-F][0-9a-fA-F]")


class _Number:
    """A number in the file: it is no text, and its value is of no use, however many digits it has."""

    def __init__(self, digits: str) -> None: ...


_decode = json.JSONDecoder(parse_int=_Number, parse_float=_Number, parse_constant=_Number).decode


def documents(stream: ByteStream, how: How) -> Iterator[Document]:
    """A document for each line; blank lines are passed by.

    Raises
    ------
    FormatError
        A line has no such text, and ``how`` does not say that it is left out; or a line is too long.
    """
    field = how.field or "text"
    bad = BadRows(stream.name, "line", how)
    by_line = how.by == "line"
    for number, offset, line in _lines(to_utf8(stream.pieces(), how, stream.name), stream.name):
        bad.seen += 1
        try:
            text = _text(line, field, how)
        except _BadLineError as error:
            place = f" (byte offset {offset})" if how.is_utf8 else ""  # that of the file, not of what it became
            bad.add(f"{stream.name}, line {number}{place}", str(error))
            continue
        yield Document(f"{stream.name}:{number}", len(text), text, by_line)
    bad.tell()


def _lines(pieces: Iterable[bytes], name: str) -> Iterator[tuple[int, int, bytes]]:
    """(number, byte offset, line) of every line that is not blank."""
    offset = 0
    for number, line in enumerate(_whole_lines(pieces, name), 1):
        data = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
        if data and not data.isspace():
            yield number, offset, data
        offset += len(line)


def _whole_lines(pieces: Iterable[bytes], name: str) -> Iterator[bytes]:
    """The lines of a text; one that is too long is an error before it has been read."""
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        start = 0
        while (end := piece.find(b"\n", start) + 1) > 0:
            yield b"".join([*held, piece[start:end]])
            held.clear()
            start, size = end, 0
        held.append(piece[start:])
        size += len(held[-1])
        if size > LONGEST:
            raise FormatError(
                f'{name}: a line is longer than {LONGEST >> 20} MiB; if these are no JSON lines, say format="text" '
                "(--format text)"
            )
    yield b"".join(held)


class _BadLineError(Exception):
    pass


def _text(line: bytes, field: str, how: How) -> bytes:
    """The text in a line, as UTF-8."""
    try:
        source = line.decode("utf-8")
        kept = "strict"
    except UnicodeDecodeError:
        # Only where bytes are kept as they are does such a line come so far.
        source = line.decode("utf-8", "surrogateescape")
        kept = "strict" if _ESCAPED_BYTE.search(line) else "surrogateescape"
    try:
        row: Any = _decode(source)
    except json.JSONDecodeError as error:
        raise _BadLineError(f"this is no JSON: {error.msg} at character {error.pos}") from None
    except RecursionError:
        raise _BadLineError("its brackets are nested too deep") from None
    if not isinstance(row, dict):
        raise _BadLineError(f"this is no JSON object but {_a(row)}; for such a file say format='text' (--format text)")
    if field not in row:
        has = ", ".join(map(brief, list(row)[:8])) or "none"
        raise _BadLineError(f"there is no field {field!r} (its fields: {has}); name it with field= (--field)")
    text = row[field]
    if not isinstance(text, str):
        raise _BadLineError(f"the field {field!r} is {_a(text)}, no text")
    try:
        return text.encode("utf-8", kept)
    except UnicodeEncodeError as error:
        if how.policy == "replace":
            return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text).encode("utf-8")
        raise _BadLineError(
            f"the text has the lone surrogate U+{ord(text[error.start]):04X} at character {error.start}, which is no "
            'character; say errors="replace" (--errors replace) for U+FFFD in its place'
        ) from None


def _a(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return {_Number: "a number", str: "a string", list: "a list", dict: "an object"}[type(value)]
