"""Tokenizers on disk: :func:`load` finds a file's format by its content, :func:`save` writes one.

One module a format; all parsing of untrusted files lives below here. A malformed file is a
:class:`~bytepair.FormatError` that names file, place and cure.
"""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from .. import bundled
from ..errors import FormatError
from . import bytepair_json

FORMATS = {"bytepair": bytepair_json}


def load(source: str | os.PathLike[str] | bytes) -> Any:
    """A tokenizer from a file, or one that comes with the package.

    Parameters
    ----------
    source : str, Path or bytes
        The name of a bundled vocabulary (``"cl100k_base"``) or of a model that uses one (``"gpt-4o"``); else the path
        of a file, or a file's content. A Path is always a file.

    Returns
    -------
    Tokenizer

    Raises
    ------
    FormatError
        The file cannot be read, is no tokenizer, or is damaged; the message says where. No file and no vocabulary has
        the name; the message lists near ones.

    Examples
    --------
    >>> import bytepair, os, tempfile
    >>> tok = bytepair.train("low low lower lowest", num_merges=4)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "low.json")
    ...     tok.save(path)
    ...     bytepair.load(path) == tok
    True
    """
    if isinstance(source, str) and (name := _bundled_name(source)) is not None:
        return bundled.load(name)
    if isinstance(source, (bytes, bytearray, memoryview)):
        data, name = bytes(source), "the given bytes"
    else:
        try:
            path = Path(source)
        except TypeError:
            raise FormatError(f"load takes a path or a file's bytes, not a {type(source).__name__}") from None
        name = str(path)
        try:
            if path.is_dir():
                raise FormatError(f"{name} is a folder; give the tokenizer's file")
            data = path.read_bytes()
        except ValueError as error:  # a NUL or a lone surrogate
            if isinstance(error, FormatError):
                raise
            raise FormatError(f"{name!r} cannot be a path: {error}") from None
        except FileNotFoundError as error:
            raise FormatError(f"cannot read {name}: {error.strerror}; {_near(name)}") from error
        except OSError as error:
            raise FormatError(f"cannot read {name}: {error.strerror or error}; check the path") from error
    for reader in FORMATS.values():
        if reader.recognises(data):
            return reader.read(data, name)
    start = data[:20].decode("latin-1")
    raise FormatError(
        f"{name} is no tokenizer file that this version reads: it starts with {start!r}; "
        "known is the JSON that tok.save(path) writes"
    )


def _bundled_name(source: str) -> str | None:
    """The bundled vocabulary that a str names, itself or by its model, or None where it is a file's path."""
    if source in bundled.names():
        return source
    name = bundled.for_model(source)
    if name is None or source in bundled.models():
        return name
    # Only the beginning is a model's, as in "gpt-4-tokenizer.json": what is a file, or looks like one, is a file.
    return None if os.path.exists(source) or Path(source).suffix[1:].isalpha() else name


def _near(name: str) -> str:
    near = get_close_matches(name, [*bundled.names(), *bundled.models()], 3, 0.6)
    if not near:
        return f"check the path. Without a file there are {', '.join(bundled.names())}"
    return f"check the path, or the name: near ones are {', '.join(near)}"


def save(tokenizer: Any, path: Path, format: str) -> None:
    """Writes a tokenizer in one of the formats; the file is whole or absent, never half."""
    if not path.name:
        raise FormatError(f"{str(path)!r} names no file; give the path of one")
    if not isinstance(format, str) or format not in FORMATS:
        raise FormatError(f"there is no format {format!r} to save in; there is {', '.join(map(repr, FORMATS))}")
    data = FORMATS[format].write(tokenizer)
    target = Path(os.path.realpath(path))  # a link stays, what it leads to is written
    try:
        if target.exists() and not target.is_file():  # a pipe or a device cannot be replaced
            target.write_bytes(data)
            return
        beside = target.with_name(f"{target.name}.{os.getpid()}.part")
        try:
            beside.write_bytes(data)
            os.replace(beside, target)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise FormatError(f"cannot write {path}: {error.strerror or error}") from error
