"""What counting and merging a corpus will take, told from a sample of it: memory, disk and time.

The sample is stretches of text from all over the corpus. How many distinct pretokens there are in n bytes follows
Heaps' law (Heaps 1978, Herdan 1960), V = K n^b: the growth within the sample gives b, and so the size of the whole.
Speed is measured on the sample too. ``bytepair train --plan`` is the caller.
"""

from __future__ import annotations

import math
import os
import random
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from .. import _engine
from ..errors import TrainingError
from .counting import PART
from .readers import Reading, total_size
from .runs import FAN_IN, WORD_BYTES

if TYPE_CHECKING:
    from ..pattern import Pattern

SAMPLE = 8 << 20
"""Bytes that are looked at, of a corpus that is larger."""

STRETCH = 128 << 10
"""Bytes of one stretch of the sample."""

MERGE_BYTES = 34
"""Memory that merging takes for a byte of the distinct words: symbols, words, and the places of pairs."""


@dataclass(frozen=True)
class Plan:
    """An estimate; sizes in bytes, times in seconds.

    Attributes
    ----------
    corpus, sample : int
        Bytes of the corpus, and of the sample.
    distinct, distinct_bytes : int
        Distinct pretokens of the whole corpus, and the bytes of their text.
    growth : float
        The exponent of Heaps' law: how fast new pretokens come, from 0 (none any more) to 1 (all are new).
    count_memory, merge_memory : int
        At the peak of counting, and of merging.
    disk : int
        Of sorted runs, where ``max_memory`` makes them needed.
    count_seconds, merge_seconds : float
    """

    corpus: int
    sample: int
    distinct: int
    distinct_bytes: int
    growth: float
    count_memory: int
    merge_memory: int
    disk: int
    count_seconds: float
    merge_seconds: float

    def to_json(self) -> dict[str, Any]:
        """Its fields by name."""
        return asdict(self)


def plan(
    corpus: Any,
    *,
    pattern: Pattern,
    specials: Iterable[str],
    merges: int,
    min_freq: int = 2,
    threads: int | None = None,
    max_memory: int | None = None,
) -> Plan:
    """Estimates what training on a corpus takes.

    Raises
    ------
    TrainingError
        The size of the corpus is not known beforehand, as of a stream, or it has no text.
    """
    size = total_size(corpus)
    if not size:
        raise TrainingError("a plan needs a corpus whose size is known: files or folders, not a stream, and some text")
    number = (threads or os.cpu_count() or 1) if _engine.NAME == "core" and pattern.splitter is not None else 1
    stretches = list(_stretches(corpus, size))
    random.Random(0).shuffle(stretches)  # noqa: S311  (so that growth is that of the whole, not of its end)
    counter, points, seconds = _counted(stretches, pattern, list(specials))
    sample = sum(map(len, stretches))
    scale = max(size / sample, 1.0)
    n_words, text_bytes = points[-1][1], points[-1][2]
    growth = _exponent([(n, words) for n, words, _ in points])
    text_growth = _exponent([(n, text) for n, _, text in points])

    def words_in(n: float) -> float:
        return float(n_words * (n / sample) ** growth)

    distinct = words_in(size) if scale > 1 else float(n_words)
    distinct_bytes = text_bytes * scale**text_growth
    of_counter = counter.bytes / n_words
    # Each thread counts its own share, and the sum of all is made while they are there.
    counted = number * words_in(size / number) * of_counter + (distinct * of_counter if number > 1 else 0)
    result = distinct_bytes + 32 * distinct
    disk = 0.0
    if max_memory is not None and counted > max_memory:
        in_one = max(max_memory / number / of_counter, 1.0)
        text = sample * (in_one / n_words) ** (1 / max(growth, 0.05))  # that fills one counter
        runs = max(size / text, number)
        passes = 1 + max(math.log(runs, FAN_IN) - 1, 0)
        disk = runs * in_one * (distinct_bytes / distinct + 32) * passes
        counted = max(max_memory, 2 * distinct_bytes + WORD_BYTES * distinct)
    return Plan(
        corpus=size,
        sample=sample,
        distinct=round(distinct),
        distinct_bytes=round(distinct_bytes),
        growth=growth,
        count_memory=round(counted + result + 3 * PART * number),
        merge_memory=round(MERGE_BYTES * distinct_bytes + result),
        disk=round(disk),
        count_seconds=seconds * scale / number,
        merge_seconds=_merging(counter, merges, min_freq) * distinct_bytes / text_bytes,
    )


def _stretches(corpus: Any, size: int) -> Iterator[bytes]:
    """Stretches of text from all over the corpus; all of it where it is no more than the sample."""
    rate = min(SAMPLE / size, 1.0)
    taken, at = 0, 0  # bytes of the sample, and where the piece in hand begins in the corpus
    for document in Reading(corpus, cut_lines=False):
        end = at + (document.size or 0)
        if taken / rate < end:
            for piece in document.open():
                start = 0
                while start < len(piece):
                    due = math.ceil(taken / rate) - at  # up to there the sample is large enough
                    if start < due:
                        start = due
                        continue
                    stretch = piece[start : start + STRETCH]
                    yield stretch
                    taken += len(stretch)
                    start += len(stretch)
                at += len(piece)
                if taken / rate >= end:
                    break
        at = max(at, end)


def _counted(
    stretches: list[bytes], pattern: Pattern, specials: list[str]
) -> tuple[Any, list[tuple[int, int, int]], float]:
    """A counter of the sample, (bytes, distinct pretokens, their bytes) as it grew, and the seconds it took."""
    from .counting import Counting

    run = Counting(pattern, specials, stretches, None)
    counter = _engine.Counter(run.splitter, run.specials)
    seen, points, taken = 0, [], 0.0
    marks = {max(round(len(stretches) * 2 ** (-k / 2)), 1) for k in range(7)}
    for number, document in run.documents:
        start = time.perf_counter()
        run._count(counter, number, document)
        taken += time.perf_counter() - start
        seen += len(stretches[number])
        if number + 1 in marks:
            points.append((seen, counter.n_words, len(counter.table()[0])))
    return counter, points, taken


def _exponent(points: list[tuple[int, int]]) -> float:
    """The slope of log V over log n, by least squares."""
    logs = [(math.log(n), math.log(v)) for n, v in points if n and v]
    if len(logs) < 2:
        return 1.0
    mean_n = sum(n for n, _ in logs) / len(logs)
    mean_v = sum(v for _, v in logs) / len(logs)
    spread = sum((n - mean_n) ** 2 for n, _ in logs)
    slope = sum((n - mean_n) * (v - mean_v) for n, v in logs) / spread if spread else 1.0
    return min(max(slope, 0.0), 1.0)


def _merging(counter: Any, merges: int, min_freq: int) -> float:
    """Seconds that merging the sample's words takes, over bytes."""
    alphabet = _engine.Alphabet.of_bytes(list(range(256)), [], 0xFFFFFFFF)
    start = time.perf_counter()
    trainer = _engine.Trainer(*counter.words(), None, alphabet, 256, min_freq)
    trainer.run(merges, 600.0)
    return time.perf_counter() - start
