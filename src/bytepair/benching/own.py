"""What one tokenizer does in a second: all its ways in and out, on text it has seen or not, and on the worst texts.

A text's results are checked before the clock runs. One thread is timed by its CPU time, batches by the clock on the
wall. Absolute times drift with the machine; comparing two libraries is the work of the project's ``bench/peers.py``.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

from .. import _engine
from .._check import brief
from ..errors import BytepairError, UnknownTokenError
from ..progress import Progress, Report
from . import texts
from .times import MANY_THREADS, ONE_THREAD, Clock, machine, rounds

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer

DOCUMENT = 4096
"""Bytes of a document in a batch."""
SHORT = 40
"""Characters of a short string."""
CHECKED = texts.MB
"""Bytes of a text whose results are compared in all ways."""


@dataclass(frozen=True)
class Row:
    """One figure.

    Attributes
    ----------
    text, what : str
        The text's name, and what was done with it.
    size, tokens, calls : int
        Bytes, tokens and calls of one round.
    seconds : float
        The median over all rounds.
    rounds : int
    clock : str
        ``"cpu"`` or ``"wall"``.
    doubling : float or None
        Worst cases: the time for a text twice as long, over this one's.
    """

    text: str
    what: str
    size: int
    tokens: int
    calls: int
    seconds: float
    rounds: int
    clock: str
    doubling: float | None = None

    @property
    def speed(self) -> float:
        """Megabytes a second."""
        return self.size / max(self.seconds, 1e-9) / texts.MB


@dataclass(frozen=True)
class Result:
    """What :func:`measure` found; ``left_out`` says why a text is missing."""

    machine: dict[str, Any]
    engine: str
    rows: tuple[Row, ...]
    left_out: dict[str, str]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def measure(
    tokenizer: Tokenizer,
    corpora: Mapping[str, bytes],
    *,
    seconds: float = 1.0,
    worst: int = texts.MB,
    progress: Progress = None,
) -> Result:
    """Times a tokenizer.

    Parameters
    ----------
    tokenizer : Tokenizer
    corpora : name -> text
    seconds : float
        The time for each figure; each gets one round at least.
    worst : int
        Bytes of each worst case; 0 leaves them out.
    progress : callable or bool, optional

    Raises
    ------
    BytepairError
        Two ways to encode a text differ, or it does not come back from its ids.
    UnknownTokenError
        A text has characters that the tokenizer does not know.
    """
    run = _Run(tokenizer, seconds)
    figures: list[tuple[str, Callable[[], None]]] = []
    for name, data in corpora.items():
        figures += [(name, work) for work in run.of_corpus(name, data)]
    figures += [(name, partial(run.worst_case, name, worst)) for name in texts.WORST if worst]
    with Report.reporter("bench", "figures", len(figures), progress) as report:
        for done, (name, work) in enumerate(figures):
            report.update(done)
            try:
                work()
            except UnknownTokenError as error:
                if name in corpora:
                    raise
                run.left_out[name] = str(error)
    return Result(machine(), _engine.NAME, tuple(run.rows), run.left_out)


def check(tokenizer: Tokenizer, data: bytes, name: str) -> int:
    """The number of a text's tokens, after comparing all ways to encode it, and the text with what comes back.

    Raises
    ------
    BytepairError
        Something differs.
    """
    ids = tokenizer.encode_array(data)
    listed: list[int] = ids.tolist()
    parts = texts.pieces(data, len(data) // 2 + 1)
    rows = tokenizer.encode_batch_array([data, *parts])
    ways = {"encode": tokenizer.encode(data), "encode_batch_array": rows[0].tolist()}
    for way, other in ways.items():
        if other != listed:
            raise BytepairError(
                f"{name}: {way} and encode_array differ from token {_first(other, listed)} on; please report this"
            )
    for part, row in zip(parts, list(rows)[1:]):
        if row.tolist() != tokenizer.encode(part):
            raise BytepairError(f"{name}: a part of it has other ids in a batch than alone; please report this")
    if tokenizer.count(data) != len(listed):
        raise BytepairError(f"{name}: count says {tokenizer.count(data)} and encode {len(listed)}; please report this")
    if tokenizer.lossless:
        for kind, back in (("list", tokenizer.decode_bytes(listed)), ("array", tokenizer.decode_bytes(ids))):
            if back != data:
                at = _first(back, data)
                raise BytepairError(
                    f"{name}: from the {kind} of its ids comes {brief(back[at : at + 8])} at byte {at} instead of "
                    f"{brief(data[at : at + 8])}; please report this"
                )
    return len(listed)


def _first(one: Sequence[int], other: Sequence[int]) -> int:
    """The first place where two rows differ."""
    return next((at for at, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))


class _Run:
    """The figures of one tokenizer as they come."""

    def __init__(self, tokenizer: Tokenizer, seconds: float) -> None:
        self.tokenizer = tokenizer
        self.seconds = seconds
        self.rows: list[Row] = []
        self.left_out: dict[str, str] = {}

    def fresh(self) -> Tokenizer:
        """The tokenizer with nothing learned, but ready."""
        new = copy.copy(self.tokenizer)
        new.encode_array("")
        return new

    def of_corpus(self, name: str, data: bytes) -> Iterator[Callable[[], None]]:
        """The work of each figure of a text; it is checked when the first is asked for."""
        tok = self.tokenizer
        tokens = 0
        blocks = texts.pieces(data)
        again = texts.pieces(texts.other_order(data))
        documents = texts.pieces(data, DOCUMENT)
        strings = texts.short(data, length=SHORT)

        def checked() -> None:
            nonlocal tokens
            check(tok, texts.pieces(data, CHECKED)[0], name)
            tokens = tok.count(data)

        def time(
            what: str,
            prepare: Callable[[], Any],
            work: Callable[[Any], Any],
            clock: Clock = ONE_THREAD,
            calls: int = len(blocks),
        ) -> Callable[[], None]:
            def timed() -> None:
                times = rounds(self.seconds, prepare, work, clock)
                self.add(name, what, len(data), tokens, calls, times, clock)

            return timed

        def text(parts: list[bytes]) -> Callable[[], list[str]]:
            # New str objects each time: one that was encoded before may hold its UTF-8.
            return lambda: [part.decode("utf-8", "replace") for part in parts]

        def each(way: Callable[[Any], Any]) -> Callable[[list[Any]], None]:
            def work(parts: list[Any]) -> None:
                for part in parts:
                    way(part)

            return work

        def unseen(kind: str) -> tuple[Callable[[Any], Any], list[str]]:
            return getattr(self.fresh(), kind), text(blocks)()

        def short() -> None:
            new = [string[:1] + string[1:] for string in strings]
            size = sum(map(len, map(str.encode, new)))
            times = rounds(self.seconds, lambda: [string[:1] + string[1:] for string in strings], each(tok.encode))
            what = f"encode, {len(strings):,} strings of {SHORT} characters"
            self.add(name, what, size, sum(map(tok.count, new)), len(new), times, ONE_THREAD)

        yield checked
        for kind in ("encode_array", "encode"):
            yield time(f"{kind}, unseen", partial(unseen, kind), lambda made: each(made[0])(made[1]))
            yield time(f"{kind}, seen", text(again), each(getattr(tok, kind)))
            yield time(f"{kind}, seen, from bytes", lambda: again, each(getattr(tok, kind)))
        yield time("count, seen", text(again), each(tok.count))
        yield short
        yield time(
            "encode_batch_array, 4 KB documents, all cores",
            text(documents),
            tok.encode_batch_array,
            MANY_THREADS,
            len(documents),
        )
        yield time("encode_batch_array, one document, all cores", text([data]), tok.encode_batch_array, MANY_THREADS, 1)
        ids = [tok.encode_array(block) for block in blocks]
        yield time("decode_bytes, from arrays", lambda: ids, each(tok.decode_bytes))
        yield time("decode_bytes, from lists", lambda: [row.tolist() for row in ids], each(tok.decode_bytes))

    def worst_case(self, name: str, size: int) -> None:
        """A worst case, each time another text of its kind, and one twice as long."""
        tok, make = self.tokenizer, texts.WORST[name]
        tokens = check(tok, make(size, 0), name)
        seeds = iter(range(1, 1000))
        times: list[list[float]] = []
        for length in (size, 2 * size):

            def another(length: int = length) -> bytes:
                return make(length, next(seeds))

            times.append(rounds(self.seconds / 2, another, tok.encode_array))
        doubling = min(times[1]) / max(min(times[0]), 1e-9)
        self.add(name, "encode_array", size, tokens, 1, times[0], ONE_THREAD, doubling)

    def add(
        self,
        text: str,
        what: str,
        size: int,
        tokens: int,
        calls: int,
        times: list[float],
        clock: Clock,
        doubling: float | None = None,
    ) -> None:
        kind = "cpu" if clock is ONE_THREAD else "wall"
        self.rows.append(Row(text, what, size, tokens, calls, median(times), len(times), kind, doubling))
