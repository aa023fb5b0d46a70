"""Where a text may be cut beforehand: pairs of neighbouring classes between which there is always a border.

Threads, streams and chunks use them. A newline is no safe place in general, and hand-made tables are wrong in ways that
only rare text shows, so the pairs are read off the transducer, which knows every state that a text can be in.
"""

from __future__ import annotations

from .program import GAP, MATCH
from .transducer import HARD_GAP, HERE, Transducer, fates

__all__ = ["split_pairs"]


def split_pairs(transducer: Transducer) -> tuple[bytes, bytes]:
    """Find the weak and the strong pairs.

    Returns
    -------
    weak, strong
        One byte, 0 or 1, for each (class before, class after), row by row. A weak pair is always a border; whoever
        cuts there must show the part before it the next character, and begin the part after it in the state that
        ``Transducer.begin`` has for the class before. At a strong pair, both parts can be cut as texts of their own.
        Pairs that no text has are neither.
    """
    rows, begin, fate = transducer.rows, transducer.begin, fates(transducer)
    end = len(begin) - 1
    # Sets of classes before are bits of an int, one for each class after.
    entered = [0] * len(rows)
    for row in rows:
        for before, (to, _) in enumerate(row[:end]):
            entered[to] |= 1 << before
    begun_in: dict[int, int] = {}
    for before, state in enumerate(begin[:end]):
        begun_in[state] = begun_in.get(state, 0) | 1 << before
    seen, not_weak, not_strong = [0] * end, [0] * end, [0] * end
    for row, befores in zip(rows, entered, strict=True):
        _, at_end = row[end]
        for after, (to, action) in enumerate(row[:end]):
            seen[after] |= befores
            # A gap's border is one only where no gap can follow: neighbouring gaps join.
            if action.sources != (HERE,) or (action.kind == GAP and fate[to] != MATCH):
                not_weak[after] |= befores
                continue
            # In a chain an earlier stage may be in the middle of a piece: then a part cannot begin here by itself.
            for state, members in begun_in.items():
                if rows[state][after][0] != to:
                    not_weak[after] |= befores & members
            kind = GAP if action.kind == HARD_GAP else action.kind
            if rows[begin[end]][after][0] != to or (action.accepts, kind) != (at_end.accepts, at_end.kind):
                not_strong[after] |= befores
    weak = [seen[after] & ~not_weak[after] for after in range(end)]
    strong = [weak[after] & ~not_strong[after] for after in range(end)]
    return _cells(weak), _cells(strong)


def _cells(pairs: list[int]) -> bytes:
    return bytes([bits >> before & 1 for before in range(len(pairs)) for bits in pairs])
