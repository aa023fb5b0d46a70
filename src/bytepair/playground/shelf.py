"""The tokenizers that the page can ask for: given ones, bundled ones, and files that were dropped on it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

from .. import bundled, showing
from ..errors import FormatError
from ..formats import load

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..tokenizer import Tokenizer

DROPPED = 8
"""So many dropped or trained tokenizers are kept; the oldest goes for a new one."""

_LONGEST_NAME = 60


class Shelved:
    """A tokenizer with the tables that showing it needs, made when they are first used."""

    def __init__(self, name: str, tokenizer: Tokenizer) -> None:
        self.name = name
        self.tokenizer = tokenizer

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """For each id the number of its bytes, shape (n_rows,)."""
        import numpy as np

        sizes = np.zeros(self.tokenizer.n_rows, dtype=np.int64)
        vocab = self.tokenizer.vocab
        sizes[np.fromiter(vocab, np.int64, len(vocab))] = np.fromiter(map(len, vocab.values()), np.int64, len(vocab))
        return sizes

    @cached_property
    def breaks(self) -> NDArray[np.bool_]:
        """For each id whether a line ends with it, shape (n_rows,)."""
        import numpy as np

        breaks = np.zeros(self.tokenizer.n_rows, dtype=bool)
        breaks[[i for i, data in self.tokenizer.vocab.items() if data.endswith(b"\n")]] = True
        return breaks

    def facts(self) -> dict[str, Any]:
        """What the page says of a vocabulary."""
        tok = self.tokenizer
        return {"tokens": tok.vocab_size, "rule": tok.rule, "lossless": tok.lossless}


class Shelf:
    """Name -> tokenizer; bundled ones are made when they are first asked for."""

    def __init__(self, given: Mapping[str, Tokenizer]) -> None:
        self._lock = Lock()
        self._given = {name: Shelved(name, tokenizer) for name, tokenizer in given.items()}
        self._bundled: dict[str, Shelved] = {}
        self._dropped: dict[str, Shelved] = {}

    def names(self) -> list[dict[str, str]]:
        """Every name with its kind: given, dropped or bundled."""
        with self._lock:
            kinds = dict.fromkeys((*self._given, *self._dropped, *bundled.names()), "bundled")
            kinds |= dict.fromkeys(self._dropped, "dropped") | dict.fromkeys(self._given, "given")
            return [{"name": name, "kind": kind} for name, kind in kinds.items()]

    def get(self, name: str) -> Shelved:
        """The tokenizer of a name.

        Raises
        ------
        FormatError
            There is none. A name never is a file's path here.
        """
        with self._lock:
            for held in (self._given, self._dropped, self._bundled):
                if name in held:
                    return held[name]
        if name not in bundled.names():
            raise FormatError(
                f"there is no tokenizer {showing.one_line(name[:_LONGEST_NAME])!r} here any more; drop its file again"
            )
        made = Shelved(name, load(name))
        with self._lock:
            return self._bundled.setdefault(name, made)

    def add(self, name: str, tokenizer: Tokenizer) -> Shelved:
        """Keep a tokenizer for the session, under a name that no other has."""
        plain = showing.one_line(name)[:_LONGEST_NAME].strip() or "unnamed"
        with self._lock:
            for held in self._dropped.values():
                if held.tokenizer == tokenizer and held.name.partition(" (")[0] == plain:
                    return held
            taken = {*self._given, *self._dropped, *bundled.names()}
            free, number = plain, 2
            while free in taken:
                free, number = f"{plain} ({number})", number + 1
            while len(self._dropped) >= DROPPED:
                del self._dropped[next(iter(self._dropped))]
            self._dropped[free] = Shelved(free, tokenizer)
            return self._dropped[free]
