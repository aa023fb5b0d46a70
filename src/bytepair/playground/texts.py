"""What tokenizers made of the last texts, kept within a bound, so that the page asks for what it shows and no more.

A text of a megabyte has hundreds of thousands of tokens. The page gets their totals, and the tokens in blocks of about
a thousand, when they come into sight.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any

from ..errors import BytepairError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .shelf import Shelved

BLOCK = 1000
"""Tokens of a block at most; it ends where a line does, if there is one in its last three quarters."""

HELD = 256 << 20
"""Bytes of texts and ids that are kept."""


class GoneError(BytepairError):
    """A text that is not kept any more; the page sends it again."""


class Encoded:
    """A text as one tokenizer cuts it."""

    def __init__(self, shelved: Shelved, data: bytes, specials: bool) -> None:
        import numpy as np

        self.shelved = shelved
        self.ids = shelved.tokenizer.encode_array(data, special="all" if specials else "text")
        ends = np.cumsum(shelved.sizes[self.ids])
        self.joins = bool((ends[-1] if len(ends) else 0) == len(data))
        """Whether the tokens joined are the text: then their places in it are known."""
        self.ends: NDArray[np.uint32] = ends.astype(np.uint32)

    @cached_property
    def blocks(self) -> list[int]:
        """The first token of each block, and the number of all tokens."""
        import numpy as np

        n = len(self.ids)
        after_lines = (np.flatnonzero(self.shelved.breaks[self.ids]) + 1).tolist()
        out = [0]
        while n - out[-1] > BLOCK:
            at = bisect_right(after_lines, out[-1] + BLOCK) - 1
            at_line = at >= 0 and after_lines[at] > out[-1] + BLOCK // 4
            out.append(after_lines[at] if at_line else out[-1] + BLOCK)
        return [*out, n] if n else [0]

    @property
    def size(self) -> int:
        return int(self.ids.nbytes + self.ends.nbytes)

    def differing(self, others: Sequence[Encoded], begin: int = 0, end: int | None = None) -> NDArray[np.intp]:
        """The tokens from ``begin`` to ``end``, counted from ``begin``, that another tokenizer cuts differently."""
        import numpy as np

        ends = self.ends[begin:end]
        starts = np.concatenate([self.ends[begin - 1 : begin] if begin else np.zeros(1, np.uint32), ends[:-1]])[
            : len(ends)
        ]
        differs = np.zeros(len(ends), dtype=bool)
        for other in others:
            if not other.joins or not self.joins:
                continue
            at = np.searchsorted(other.ends, ends)
            there = other.ends[np.minimum(at, len(other.ends) - 1)] == ends if len(other.ends) else differs
            begins = np.where(at > 0, other.ends[np.maximum(at, 1) - 1], 0) if len(other.ends) else starts
            differs |= ~(there & (begins == starts))
        return np.flatnonzero(differs)


class Texts:
    """The last texts by their hash, and what was made of them; those that were used longest ago go first."""

    def __init__(self, held: int = HELD) -> None:
        self._held = held
        self._lock = Lock()
        self._texts: OrderedDict[str, tuple[bytes, dict[tuple[str, bool], Encoded]]] = OrderedDict()

    def put(self, data: bytes) -> str:
        """Keep a text; gives its key."""
        key = sha256(data).hexdigest()[:32]
        with self._lock:
            self._texts.setdefault(key, (data, {}))
            self._texts.move_to_end(key)
            self._trim()
        return key

    def text(self, key: str) -> bytes:
        """The text of a key.

        Raises
        ------
        GoneError
            It is not kept any more.
        """
        return self._found(key)[0]

    def encoded(self, key: str, shelved: Shelved, specials: bool) -> Encoded:
        """What a tokenizer makes of a text, from memory where it was asked before.

        Raises
        ------
        GoneError
            The text is not kept any more.
        """
        data, known = self._found(key)
        found = known.get((shelved.name, specials))
        if found is not None and found.shelved is shelved:
            return found
        made = Encoded(shelved, data, specials)
        with self._lock:
            known[shelved.name, specials] = made
            self._trim()
        return made

    def _found(self, key: str) -> tuple[bytes, dict[tuple[str, bool], Encoded]]:
        with self._lock:
            if key not in self._texts:
                raise GoneError("this text is not kept any more; send it again")
            self._texts.move_to_end(key)
            return self._texts[key]

    def _trim(self) -> None:
        while len(self._texts) > 1 and self.size > self._held:
            self._texts.popitem(last=False)

    @property
    def size(self) -> int:
        """Bytes that are held."""
        return sum(len(data) + sum(e.size for e in known.values()) for data, known in self._texts.values())

    def totals(self, key: str) -> dict[str, Any]:
        """Sizes of a text."""
        data = self.text(key)
        return {"text": key, "bytes": len(data), "characters": len(data.decode("utf-8", "surrogateescape"))}
