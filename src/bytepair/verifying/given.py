"""What was given to be compared: loaded, with its file and format, and the sides that it makes."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..errors import FormatError
from ..formats import FORMATS, load
from ..formats.source import Source
from ..tokenizer import Tokenizer
from .certificate import FileFacts
from .owners import NO_LIBRARY, NoOwnerError, owner_of
from .sides import Ours, Side

__all__ = ["Given", "Named", "Sides", "read_again", "version"]

Named = str | os.PathLike[str] | bytes | Tokenizer


def version() -> str:
    """Of this package, which is loaded; nothing below the command line imports from it."""
    found: str = sys.modules[__name__.partition(".")[0]].__version__
    return found


class Given(NamedTuple):
    """A tokenizer, and the file it came from, where there is one.

    ``note`` is what a reader should know of how it was loaded; ``took_options`` says whether its file needed them.
    """

    tokenizer: Tokenizer
    name: str
    source: Source | None = None
    format: str | None = None
    note: str = ""
    took_options: bool = False

    @classmethod
    def of(cls, what: Named, call: str, options: Mapping[str, Any], lender: Given | None = None) -> Given:
        """Load it; ``options`` are what its file may lack, and ``lender`` has them where nobody gave them."""
        if isinstance(what, Tokenizer):
            return cls(what, f"{call} tokenizer")
        source = _source(what, options.get("vocab"))
        tokenizer, note, took = _load(what, {k: v for k, v in options.items() if v is not None}, lender)
        kind, source = (None, None) if source is None else _format(source)
        name = f"{call} file" if isinstance(what, bytes) else os.fspath(what)
        return cls(tokenizer, name, source, kind, note and f"{name}: {note}", took)

    def side(self) -> Ours:
        """This package's side of it."""
        return Ours(self.tokenizer, f"bytepair {version()}, {self.name}", version(), self.format == "huggingface")

    def files(self) -> tuple[FileFacts, ...]:
        """The files with their hashes, as they lie there, packed or not."""
        if self.source is None:
            return ()
        facts = []
        for part in filter(None, [self.source, self.source.vocab]):
            with part.open() as file:
                data = file.read()
            facts.append(FileFacts(part.name, len(data), hashlib.sha256(data).hexdigest()))
        return tuple(facts)


class Sides:
    """The sides of a comparison: the first, the others, and why an owner's library is not among them."""

    def __init__(self, first: Given) -> None:
        self.base = first.side()
        self.others: list[Side] = []
        self.files = {id(self.base): first.files()}
        self.notes = [first.note] if first.note else []
        self.owners = 0
        self.missing: list[str] = []
        self.without_library: list[str] = []

    def add(self, side: Side, files: tuple[FileFacts, ...] = ()) -> None:
        self.others.append(side)
        self.files[id(side)] = files

    def add_ours(self, given: Given) -> None:
        self.add(given.side(), given.files())
        self.notes += [given.note] if given.note else []

    def add_owner(self, given: Given) -> None:
        """The library that owns the format, on the same file."""
        try:
            side = owner_of(given.format, given.tokenizer, given.source)
        except NoOwnerError as reason:
            why = self.without_library if given.format in NO_LIBRARY else self.missing
            why.append(f"{given.name}: {reason}")
            return
        side.name += f", {given.name}"
        self.owners += 1
        self.add(side, given.files())

    def add_itself(self, given: Given) -> None:
        """The first again, by way of our JSON: what there is to compare where nobody else can be asked."""
        again = load(FORMATS["bytepair"].write(given.tokenizer).files[""])
        self.add(Ours(again, f"bytepair {version()}, {given.name} written as our JSON and read again", version()))

    def without_owner(self) -> str:
        """Why this is no proof by an owner's library; "" where it is one."""
        reasons = self.missing if self.owners else [*self.missing, *self.without_library] or ["none was asked"]
        return "; ".join(reasons)


def read_again(path: str | os.PathLike[str], tokenizer: Tokenizer, format: str) -> Side:
    """What was written for a tokenizer, as a side: what such a file cannot say it is given, as whoever uses it must."""
    try:
        again = load(path, pattern=tokenizer.pattern, specials=dict(tokenizer.specials), roles=_roles(tokenizer))
    except FormatError:  # it says these things itself, and must then be read as it is
        again = load(path)
    return Ours(again, f"bytepair {version()}, {os.fspath(path)} ({format})", version())


def _load(what: Any, options: dict[str, Any], lender: Given | None) -> tuple[Tokenizer, str, bool]:
    """The tokenizer, what to note of it, and whether it took the options: a file that says them itself refuses them."""
    bare = {key: value for key, value in options.items() if key == "vocab"}
    tries: list[tuple[dict[str, Any], str]] = [(options, ""), (bare, "")] if options != bare else [(bare, "")]
    if lender is not None:
        tok = lender.tokenizer
        borrowed = {**bare, "pattern": tok.pattern, "specials": dict(tok.specials), "roles": _roles(tok)}
        tries.append((borrowed, f"it says neither pattern nor special tokens, and was given those of {lender.name}"))
    failures = []
    for keywords, note in tries:
        try:
            return load(what, **keywords), note, keywords is options and options != bare
        except FormatError as error:
            failures.append(error)
    raise failures[0]


def _roles(tokenizer: Tokenizer) -> dict[str, str]:
    """Role -> name, as ``load`` takes them."""
    names = tokenizer._vocabulary.names
    return {role: names[i] for role, i in tokenizer._vocabulary.roles.items()}


def _source(what: Any, vocab: Any) -> Source | None:
    """The file that was meant; None for a name that is no path."""
    source = Source.of(what, None if vocab is None else Source.of(vocab))
    try:
        return source if source.path is None or source.path.exists() else None
    except (OSError, ValueError):
        return None


def _format(source: Source) -> tuple[str | None, Source]:
    """The format of a file, or of the one in a folder, and that file; found as ``load`` finds it."""
    if source.path is not None and source.path.is_dir():
        for name, module in FORMATS.items():
            for file in module.FILES:
                if (path := source.path / file).is_file():
                    return name, Source.of(path, source.vocab)
        return None, source
    return next((name for name, module in FORMATS.items() if module.recognises(source)), None), source
