"""Where a text may be cut beforehand: pairs of neighbouring classes between which there is always a border.

Threads, streams and chunks use them. A newline is no safe place in general, and hand-made tables are wrong in ways that
only rare text shows, so the pairs are read off the transducer, which knows every state that a text can be in.
"""

from __future__ import annotations

from .program import GAP, MATCH
from .transducer import HARD_GAP, HERE, Action, Transducer

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
    end = len(transducer.begin) - 1
    entered: list[set[int]] = [set() for _ in transducer.rows]
    for row in transducer.rows:
        for before, (to, _) in enumerate(row[:end]):
            entered[to].add(before)
    seen, not_weak, not_strong = set(), set(), set()
    for row, befores in zip(transducer.rows, entered, strict=True):
        _, at_end = row[end]
        for after, (to, action) in enumerate(row[:end]):
            pairs = [(before, after) for before in befores]
            seen.update(pairs)
            if not _is_border(action):
                not_weak.update(pairs)
                continue
            # In a chain an earlier stage may be in the middle of a piece: then a part cannot begin here by itself.
            not_weak.update(
                (before, after) for before, after in pairs if transducer.rows[transducer.begin[before]][after][0] != to
            )
            kind = GAP if action.kind == HARD_GAP else action.kind
            if (action.accepts, kind) != (at_end.accepts, at_end.kind):
                not_strong.update(pairs)
    not_strong |= {pair for pair in seen if transducer.begin[pair[0]] != transducer.begin[end]}
    weak = seen - not_weak
    cells = [(before, after) for before in range(end) for after in range(end)]
    return bytes(pair in weak for pair in cells), bytes(pair in weak - not_strong for pair in cells)


def _is_border(action: Action) -> bool:
    """Whether only the pretoken that begins here goes on: then the border before it can never be taken back.

    A gap's border does not count: the next pretoken may be a gap too, and neighbouring gaps join.
    """
    return action.sources == (HERE,) and action.kind in (MATCH, HARD_GAP)
