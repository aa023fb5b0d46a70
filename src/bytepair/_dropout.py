"""BPE-dropout at encode time: a codec in which each place to merge is left out with a probability.

``tokenizer`` makes one for a call with ``dropout=`` and encodes with it as with its own. What is left out follows from
the seed, the text's number in a batch, and the place of the pretoken in its text, and from nothing else: not from
threads, chunks or what was encoded before. There is no cache.

The algorithm: Provilkov, Emelianenko and Voita 2020, as ``tokenizers`` has it. In each step the places where two
symbols could merge are gone through by rank, then from left to right, and each is left out with the probability; the
first that is not merges, and the next step begins with all places again. When all are left out, merging ends.

The numbers: a pretoken at byte ``o`` of its text has the 64-bit state ``mix(mix(seed + c) ^ o)`` with c =
0x9E3779B97F4A7C15 and ``mix`` that of splitmix64; each number is ``mix(state += c) >> 11``, and one under
``dropout * 2**53`` leaves its place out. Text i of a batch has the seed ``seed + i`` (all modulo 2**64). Where the
text is normalised first, ``o`` counts the bytes of what comes out.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import _engine
from ._check import brief, whole
from ._codec import NONE, Codec, cut, engine_alphabet, segments
from .errors import BytepairError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["DroppingCodec", "engine_encoder"]

_64 = (1 << 64) - 1


def engine_encoder(codec: Codec) -> Any:
    """The engine's encoder with dropout for a codec's vocabulary and pattern."""
    v = codec.vocabulary
    if v.rule == "ranks":
        pairs = _engine.PairTable.of_every_split(codec.whole)
    else:
        columns = [array("I", column) for column in zip(*v.merges)] or [array("I")] * 3
        pairs = _engine.PairTable.of_merges(*columns, None if v.ranks is None else array("I", v.ranks))
    return _engine.DropoutEncoder(
        alphabet=engine_alphabet(v.alphabet, v.base, v.fallback, NONE if v.unknown_id is None else v.unknown_id),
        pairs=pairs,
        whole_rank=v.rule == "merges" and v.order == "pair" and v.unordered_merge is not None,
        splitter=codec.splitter,
        dropped=codec.dropped,
    )


def check_dropout(dropout: Any) -> float:
    """A probability."""
    if isinstance(dropout, bool) or not hasattr(dropout, "__float__") or not 0 <= float(dropout) <= 1:
        raise BytepairError(f"dropout is {brief(dropout)}; it is a probability, from 0 (no dropout) to 1 (no merges)")
    return float(dropout)


def check_seed(seed: Any) -> int:
    """A whole number of 64 bits; None is a new one from the system's randomness."""
    if seed is None:
        import secrets

        return secrets.randbits(64)
    return whole("seed", seed, 0, BytepairError, _64)


class DroppingCodec(Codec):
    """A codec with dropout; ``encoder`` is what :func:`engine_encoder` gave for the plain codec."""

    def __init__(self, plain: Codec, engine: Any, dropout: float, seed: int) -> None:
        super().__init__(plain.vocabulary, plain.pattern, plain.letters)
        self.plain = plain
        self.seed = seed
        self.threshold = math.ceil(dropout * (1 << 53))
        self.engine = engine

    @property
    def is_direct(self) -> bool:
        return False

    @property
    def decoder(self) -> Any:
        return self.plain.decoder

    @cached_property
    def encoder(self) -> _Bound:
        return _Bound(self.engine, self.seed, self.threshold)

    def encode_array(self, data: str | bytes, specials: Any) -> NDArray[np.uint32]:
        return self._encode(data, specials, 0, 0)

    def encode_run(self, run: bytes, at: int) -> list[int]:
        ids: list[int] = self._encode(run, None, 0, at).tolist()
        return ids

    def encode_runs(
        self,
        runs: list[bytes],
        places: list[tuple[int, int]],
        threads: int,  # noqa: ARG002
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        return _joined([self._encode(run, None, document, at) for run, (document, at) in zip(runs, places)])

    def encode_batch(
        self, texts: list[str | bytes], specials: Any, threads: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        if self.splitter is not None:
            return super().encode_batch(texts, specials, threads)
        return _joined([self._encode(text, specials, i, 0) for i, text in enumerate(texts)])

    def count(self, data: str | bytes, specials: Any) -> int:
        return len(self._encode(data, specials, 0, 0))

    def _encode(self, data: str | bytes, specials: Any, document: int, at: int) -> NDArray[np.uint32]:
        """The ids of text ``document`` of a batch from its byte ``at`` on."""
        import numpy as np

        numbers = (self.seed + document & _64, self.threshold)
        if self.splitter is not None:
            ids: NDArray[np.uint32] = self.engine.encode(data, specials, *numbers, at)
            return ids
        parts = [np.empty(0, dtype=np.uint32)]
        for run, special in segments(data, specials):
            if special is None:
                parts.append(self.engine.encode_ends(*cut(self.pattern, run), *numbers, at))
            else:
                parts.append(np.array([special], dtype=np.uint32))
            at += len(run)
        return np.concatenate(parts)


def _joined(rows: list[NDArray[np.uint32]]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    import numpy as np

    ids = np.concatenate(rows) if rows else np.empty(0, dtype=np.uint32)
    return ids, np.array([len(row) for row in rows], dtype=np.int64)


class _Bound:
    """The engine's encoder with its seed and threshold, as :class:`Codec` calls an encoder."""

    def __init__(self, engine: Any, seed: int, threshold: int) -> None:
        self.engine = engine
        self.numbers = (seed, threshold)

    def encode(self, data: str | bytes, specials: Any) -> list[int]:
        ids: list[int] = self.engine.encode(data, specials, *self.numbers, 0).tolist()
        return ids

    def encode_batch(self, texts: Iterable[str | bytes], specials: Any, threads: int) -> Any:
        return self.engine.encode_batch(texts, specials, threads, *self.numbers)

    def feed(self, stream: Any, piece: bytes, last: bool, specials: Any) -> Any:
        return self.engine.feed(stream, piece, last, specials, *self.numbers)
