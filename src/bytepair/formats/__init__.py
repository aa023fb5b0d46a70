"""Tokenizers on disk: :func:`load` finds a file's format by its content, :func:`save` writes one.

One module a format; all parsing of untrusted files lives below here. A malformed file is a
:class:`~bytepair.FormatError` that names file, place and cure.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .. import bundled
from .._check import whole
from .._codec import DEFAULT_CACHE_BYTES
from .._resizing import natural_rows
from ..errors import BytepairNotice, FormatError
from ._stored import Place
from .source import Options, Source

if TYPE_CHECKING:
    from pathlib import Path

    from ..pattern import Pattern
    from .source import Written


class Format:
    """A format's module, imported when it is first asked something.

    Its ``NAME``, ``recognises`` and ``read``, and where there is one ``write``, are the module's own.
    """

    def __init__(self, module: str, files: tuple[str, ...] = (), two_files: bool = False) -> None:
        self._module = module
        self.FILES = files
        """How its files are called in a model's folder."""
        self.TWO_FILES = two_files
        """Whether a second file may belong to the first."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(f".{self._module}", __name__), name)
        setattr(self, name, value)
        return value


FORMATS: dict[str, Any] = {
    "bytepair": Format("bytepair_json"),
    "tekken": Format("tekken", ("tekken.json",)),
    "huggingface": Format("huggingface", ("tokenizer.json",)),
    "gguf": Format("gguf"),
    "sentencepiece": Format(
        "sentencepiece",
        ("tokenizer.model", "tokenizer.model.v3", "sentencepiece.bpe.model", "spiece.model", "spm.model"),
    ),
    "minbpe": Format("minbpe"),
    "clip": Format("clip", ("bpe_simple_vocab_16e6.txt.gz", "bpe_simple_vocab_16e6.txt")),
    "tiktoken": Format("tiktoken_ranks"),
    "gpt2": Format("gpt2", ("merges.txt", "vocab.bpe"), two_files=True),
    "subword-nmt": Format("subword_nmt"),
}
"""Name -> format; a file is read by the first that recognises it."""

WRITERS = tuple(name for name in FORMATS if name != "gguf")


def load(
    source: str | os.PathLike[str] | bytes,
    *,
    pattern: str | Pattern | None = None,
    specials: Iterable[str] | Mapping[str, int] | None = None,
    roles: Mapping[str, str] | None = None,
    vocab: str | os.PathLike[str] | bytes | None = None,
    cache_bytes: int = DEFAULT_CACHE_BYTES,
) -> Any:
    """A tokenizer from a file or a folder, or one that comes with the package.

    Parameters
    ----------
    source : str, Path or bytes
        The name of a bundled vocabulary (``"cl100k_base"``) or of a model that uses one (``"gpt-4o"``); else the path
        of a file or a folder, or (bytes) a file's content; the format is found by what is in it. A Path is always a
        path. ``"owner/name"`` that is no path is looked for in an installed huggingface_hub's cache; nothing is ever
        downloaded.
    pattern : str or Pattern, optional
        For files that do not say how text is cut, such as rank files.
    specials : names, or name -> id, optional
        For files that do not say which special tokens there are.
    roles : role -> name, optional
        Which special is ``bos``, ``eos``, ``pad`` or ``unk`` where their names do not say so.
    vocab : str, Path or bytes, optional
        The second of two files: ids, where ``source`` holds merges.
    cache_bytes : int
        How many bytes the words that were seen may take, with their ids, of all threads together; 0 keeps none. It
        never changes an id. Where it is full, what comes replaces what was there.

    Returns
    -------
    Tokenizer

    Raises
    ------
    FormatError
        The file cannot be read, is no tokenizer, lacks something, or is damaged; the message says where. No file and
        no vocabulary has the name; the message lists near ones.

    Notes
    -----
    What was made of a file is kept in the user's cache folder (``$XDG_CACHE_HOME/bytepair`` or ``~/.cache/bytepair``,
    on macOS ``~/Library/Caches/bytepair``, on Windows ``%LOCALAPPDATA%\\bytepair``; 1 GiB at most), so that the next
    process has its first ids at once. It is found by all that it follows from, believed by its checksum only, and may
    be deleted at any time. ``BYTEPAIR_CACHE`` in the environment names another folder; empty or ``0``, it switches
    this off.

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
    cache_bytes = whole("cache_bytes", cache_bytes, 0, FormatError)
    options = Options(pattern, specials, roles)
    second = None if vocab is None else Source.of(vocab)
    if isinstance(source, str) and (name := _bundled_name(source)) is not None:
        named = Source(f"the bundled vocabulary {name}")
        options.refuse(named, ("pattern", "specials", "roles"))
        if second is not None:
            raise FormatError(f"{named.name} has its ids, so vocab= cannot be given with it; leave it out")
        place = Place.of_bundled(name)
        kept = None if place is None else place.read(cache_bytes)
        if kept is None:
            kept = bundled.load(name)._with_cache(cache_bytes)
            if place is not None:
                place.write(kept)
        return kept
    file = Source.of(source, second)
    if isinstance(source, str) and file.at is not None and not file.exists:
        folder = _in_hub_cache(source)
        if folder is None:
            raise FormatError(f"there is no file {source}; {_near(source)}")
        file = Source.of(folder, second)
    modules = list(FORMATS.values())
    if file.at is not None and file.is_folder:
        module, file = _in_folder(file)
        modules.insert(0, module)
    place = Place.of_file(file, "folder" if len(modules) > len(FORMATS) else "", options)
    if place is not None and (kept := place.read(cache_bytes)) is not None:
        return kept
    for module in modules:
        # Two files that belong together say by their names what they are.
        if module.recognises(file) or (len(modules) > len(FORMATS) and module.TWO_FILES):
            if second is not None and not module.TWO_FILES:
                raise FormatError(
                    f"{file.name} is read as {module.NAME}, which is one file, and vocab= gives a second; leave it out"
                )
            tokenizer = module.read(file, options)._with_cache(cache_bytes)
            if place is not None:
                place.write(tokenizer)
            return tokenizer
    start = file.head[:20].decode("latin-1")
    raise FormatError(
        f"{file.name} is no tokenizer file that this version reads: it starts with {start!r}; "
        f"known are the formats {', '.join(FORMATS)}"
    )


def _bundled_name(source: str) -> str | None:
    """The bundled vocabulary that a str names, itself or by its model, or None where it is a file's path."""
    if source in bundled.names():
        return source
    name = bundled.for_model(source)
    if name is None or source in bundled.models():
        return name
    # Only the beginning is a model's, as in "gpt-4-tokenizer.json": what is a file, or looks like one, is a file.
    return None if os.path.exists(source) or os.path.splitext(source)[1][1:].isalpha() else name


def _near(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, [*bundled.names(), *bundled.models()], 3, 0.6)
    if not near:
        return f"check the path. Without a file there are {', '.join(bundled.names())}"
    return f"check the path, or the name: near ones are {', '.join(near)}"


def _in_hub_cache(name: str) -> str | None:
    """The folder in huggingface_hub's cache that has the tokenizer of ``owner/name``; None for other names."""
    import re

    if not re.fullmatch(r"[\w.-]+/[\w.-]+", name):
        return None
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError:
        raise FormatError(
            f"there is no file {name}, and huggingface_hub is not installed, in whose cache a model of that name could "
            "be; check the path, or install it and fetch the model"
        ) from None
    for module in FORMATS.values():
        for file in module.FILES:
            found = try_to_load_from_cache(name, file)
            if isinstance(found, str):
                return os.path.dirname(found)
    raise FormatError(
        f"there is no file {name}, and no tokenizer of a model {name} in huggingface_hub's cache, which is all that is "
        f"looked into; fetch it first: huggingface_hub.snapshot_download({name!r})"
    )


def _in_folder(folder: Source) -> tuple[Any, Source]:
    """Of a folder as model hubs have it, the first of the files that a tokenizer may be in, and whose it should be."""
    for module in FORMATS.values():
        for name in module.FILES:
            if os.path.isfile(path := os.path.join(folder.name, name)):
                return module, Source.of(path, folder.vocab)
    names = ", ".join(name for module in FORMATS.values() for name in module.FILES)
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
    losses = [*written.losses]
    rows, least = tokenizer.n_rows, natural_rows(tokenizer._vocabulary)
    if rows > least and format != "bytepair":
        losses.append(f"it has no word for rows without a token: {rows} rows become {least}")
    if losses:
        import warnings

        warnings.warn(f"{path}, format {format}: {'; '.join(losses)}", BytepairNotice, stacklevel=3)
    files = written.files
    if written.main and path.suffix and not path.is_dir():
        files = {"": files[written.main]}
    write_files(path, files)


def write_files(path: Path, files: Mapping[str, bytes]) -> None:
    """Write the files of a folder, or (named "") of the path itself; each is whole or absent, never half."""
    from pathlib import Path

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
