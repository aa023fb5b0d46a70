"""Tokenizers on disk: :func:`load` finds a file's format by its content, :func:`save` writes one.

One module a format; all parsing of untrusted files lives below here. A malformed file is a
:class:`~bytepair.FormatError` that names file, place and cure.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import BytepairNotice, FormatError
from . import bytepair_json, huggingface
from .source import Options, Source, Written

if TYPE_CHECKING:
    from ..pattern import Pattern

FORMATS: dict[str, Any] = {module.NAME: module for module in (bytepair_json, huggingface)}
"""Name -> module; a file is read by the first that recognises it."""

WRITERS = tuple(name for name, module in FORMATS.items() if hasattr(module, "write"))


def load(
    source: str | os.PathLike[str] | bytes,
    *,
    pattern: str | Pattern | None = None,
    specials: Iterable[str] | Mapping[str, int] | None = None,
    roles: Mapping[str, str] | None = None,
    vocab: str | os.PathLike[str] | bytes | None = None,
) -> Any:
    """A tokenizer from a file, a folder, or a name.

    Parameters
    ----------
    source : str, Path or bytes
        A file or a folder, its path or (bytes) its content; the format is found by what is in it. A ``str`` may also
        name a vocabulary that is part of this package, or a model that uses one.
    pattern : str or Pattern, optional
        For files that do not say how text is cut, such as rank files.
    specials : names, or name -> id, optional
        For files that do not say which special tokens there are.
    roles : role -> name, optional
        Which special is ``bos``, ``eos``, ``pad`` or ``unk`` where their names do not say so.
    vocab : str, Path or bytes, optional
        The second of two files: ids, where ``source`` holds merges.

    Returns
    -------
    Tokenizer

    Raises
    ------
    FormatError
        The file cannot be read, is no tokenizer, lacks something, or is damaged; the message says where.

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
    second = None if vocab is None else Source.of(vocab)
    file = Source.of(source, second)
    options = Options(pattern, specials, roles)
    if file.path is not None and _is_folder(file):
        return _from_folder(file, options)
    for module in FORMATS.values():
        if module.recognises(file):
            return module.read(file, options)
    start = file.head[:20].decode("latin-1")
    raise FormatError(
        f"{file.name} is no tokenizer file that this version reads: it starts with {start!r}; "
        f"known are the formats {', '.join(FORMATS)}"
    )


def _is_folder(file: Source) -> bool:
    try:
        return file.path is not None and file.path.is_dir()
    except ValueError as error:
        raise FormatError(f"{file.name!r} cannot be a path: {error}") from None


def _from_folder(folder: Source, options: Options) -> Any:
    """A folder as model hubs have it: the first of the files that a tokenizer may be in."""
    assert folder.path is not None
    for module in FORMATS.values():
        for name in getattr(module, "FILES", ()):
            if (path := folder.path / name).is_file():
                return module.read(Source.of(path, folder.vocab), options)
    names = ", ".join(name for module in FORMATS.values() for name in getattr(module, "FILES", ()))
    raise FormatError(f"the folder {folder.name} holds none of {names}; give the tokenizer's file")


def save(tokenizer: Any, path: Path, format: str) -> None:
    """Writes a tokenizer in one of the formats; each file is whole or absent, never half.

    What the format cannot hold is told in a notice.
    """
    if not path.name:
        raise FormatError(f"{str(path)!r} names no file; give the path of one")
    if not isinstance(format, str) or format not in WRITERS:
        raise FormatError(f"there is no format {format!r} to save in; there is {', '.join(map(repr, WRITERS))}")
    written: Written = FORMATS[format].write(tokenizer)
    if written.losses:
        warnings.warn(f"{path}, format {format}: {'; '.join(written.losses)}", BytepairNotice, stacklevel=3)
    files = written.files
    if written.main and path.suffix and not path.is_dir():
        files = {"": files[written.main]}
    write_files(path, files)


def write_files(path: Path, files: Mapping[str, bytes]) -> None:
    """Write the files of a folder, or (named "") of the path itself; each is whole or absent, never half."""
    try:
        if "" not in files:
            path.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            # A link stays, what it leads to is written.
            _replace(Path(os.path.realpath(path / name if name else path)), data)
    except OSError as error:
        raise FormatError(f"cannot write {path}: {error.strerror or error}") from error


def _replace(target: Path, data: bytes) -> None:
    if target.exists() and not target.is_file():  # a pipe or a device cannot be replaced
        target.write_bytes(data)
        return
    beside = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        beside.write_bytes(data)
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)
