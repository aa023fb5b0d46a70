"""Files of merges or ranks that are known by their hash: they lack what only their owner's program says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import bundled

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer
    from .source import Options, Source

__all__ = ["known"]


def known(source: Source, options: Options) -> Tokenizer | None:
    """The vocabulary that a file alone is, whole with its pattern and specials; None where it is none we know.

    With ``pattern=`` the caller says what the file lacks, and is taken at their word.
    """
    if options.pattern is not None:
        return None
    found = _known(source.sha256)
    if found is not None:
        options.refuse(source, ("specials", "roles"))
    return found


def _known(sha256: str) -> Tokenizer | None:
    name = bundled.known(sha256)
    return None if name is None else bundled.load(name)
