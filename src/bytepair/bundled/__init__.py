"""Vocabularies that come with the package and work offline.

:func:`load` makes a tokenizer of one, :func:`for_model` knows which one a model uses, :func:`known` recognises an
original file by its sha256. ``table.py`` lists them, ``packed.py`` reads their data; where each came from and under
which licence is in ``PROVENANCE.json``. ``formats`` and ``compat`` call these; users call :func:`bytepair.load`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..errors import FormatError
from .known import known
from .models import BY_MODEL, for_model

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer
    from .table import Entry

__all__ = ["for_model", "known", "load", "models", "names", "ranks", "specials"]


NAMES = ("gpt2", "r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base", "o200k_harmony", "qwen2")
"""As in ``table.py``, which is read when one of them is wanted."""


def names() -> tuple[str, ...]:
    """The names of all bundled vocabularies."""
    return NAMES


def models() -> tuple[str, ...]:
    """The models whose vocabulary is known by their full name."""
    return tuple(BY_MODEL)


def load(name: str) -> Tokenizer:
    """The tokenizer of a bundled vocabulary; it is made anew each time.

    Raises
    ------
    FormatError
        There is no such vocabulary.

    Examples
    --------
    >>> load("cl100k_base").encode("hello world")
    [15339, 1917]
    """
    from ..tokenizer import Tokenizer
    from .packed import read

    entry = _entry(name)
    if entry.rule == "merges":
        tokenizer = Tokenizer.from_merges(
            read(entry.packed),
            pattern=entry.pattern,
            specials=entry.specials,
            roles=entry.roles,
            layout="bytes-first",
            byte_order="gpt2",
        )
    else:
        one_name_each = {i: special for special, i in reversed(entry.specials.items())}
        tokenizer = Tokenizer.from_ranks(
            ranks(name),
            pattern=entry.pattern,
            specials={special: i for special, i in entry.specials.items() if one_name_each[i] == special},
            roles=entry.roles,
        )
    if entry.normaliser is None:
        return tokenizer
    from ..pipeline.around import Around
    from ..pipeline.normalise import Normaliser

    normaliser = Normaliser.from_huggingface(entry.normaliser)
    return Tokenizer(tokenizer._vocabulary, tokenizer.pattern, None, Around(normaliser=normaliser))


def ranks(name: str) -> dict[bytes, int]:
    """The ranks of a bundled vocabulary, bytes -> rank, ascending by rank.

    Examples
    --------
    >>> ranks("gpt2")[b"hello"]
    31373
    """
    return _ranks(_entry(name).packed)


def specials(name: str) -> dict[str, int]:
    """The special tokens of a bundled vocabulary; two names may share an id, then the first is what it decodes to."""
    return dict(_entry(name).specials)


def content(name: str) -> bytes:
    """All that :func:`load` makes a vocabulary of, to tell it from another: its entry, and its files as they are."""
    from .table import PACKED

    entry = _entry(name)
    files: list[str | None] = [entry.packed]
    while files[-1] is not None:
        files.append(PACKED[files[-1]].after)
    chain = [file for file in files if file is not None]
    about = repr((entry, [PACKED[file] for file in chain])).encode()
    return b"".join([about, *(_data(f"{file}.xz") for file in chain)])


def _data(name: str) -> bytes:
    """One of the package's own files, or nothing: then :func:`load` says what is wrong with it."""
    try:
        data: bytes = __loader__.get_data(os.path.join(os.path.dirname(__file__), name))  # type: ignore[name-defined]
    except OSError:
        return b""
    return data


def _entry(name: str) -> Entry:
    from .table import ENTRIES

    if name not in ENTRIES:
        raise FormatError(f"there is no bundled vocabulary {name!r}; there are {', '.join(NAMES)}")
    return ENTRIES[name]


def _ranks(file: str) -> dict[bytes, int]:
    from ..vocabulary import byte_order
    from .packed import read
    from .table import PACKED

    packed = PACKED[file]
    if packed.after is None:
        tokens = [bytes([b]) for b in byte_order("gpt2")]
    else:
        tokens = list(_ranks(packed.after))
        if packed.without is not None:
            import re

            unwanted = re.compile(packed.without).fullmatch
            tokens = [token for token in tokens if not unwanted(token)]
    pairs = read(file)
    tokens += [b""] * (packed.start - len(tokens))  # an id that no token has
    add = tokens.append
    for left, right in pairs:
        add(tokens[left] + tokens[right])
    found = {token: rank for rank, token in enumerate(tokens)}
    found.pop(b"", None)
    return found
