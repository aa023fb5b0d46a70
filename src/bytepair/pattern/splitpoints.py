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
    entered: list[set[int]] = [set() for _ in rows]
    for row in rows:
        for before, (to, _) in enumerate(row[:end]):
            entered[to].add(before)
    seen, not_weak, not_strong = set(), set(), set()
    for row, befores in zip(rows, entered, strict=True):
        _, at_end = row[end]
        for after, (to, action) in enumerate(row[:end]):
            pairs = [(before, after) for before in befores]
            seen.update(pairs)
            # A gap's border is one only where no gap can follow: neighbouring gaps join.
            if action.sources != (HERE,) or (action.kind == GAP and fate[to] != MATCH):
                not_weak.update(pairs)
                continue
            # In a chain an earlier stage may be in the middle of a piece: then a part cannot begin here by itself.
            not_weak.update((before, after) for before, after in pairs if rows[begin[before]][after][0] != to)
            not_strong.update((before, after) for before, after in pairs if rows[begin[end]][after][0] != to)
            kind = GAP if action.kind == HARD_GAP else action.kind
            if (action.accepts, kind) != (at_end.accepts, at_end.kind):
                not_strong.update(pairs)
    weak = seen - not_weak
    cells = [(before, after) for before in range(end) for after in range(end)]
    return bytes(pair in weak for pair in cells), bytes(pair in weak - not_strong for pair in cells)
