"""Several patterns one after the other, as one transducer: each cuts the pieces of the one before it.

Hugging Face calls this a Sequence; deepseek-v3 cuts digits, then Chinese and Japanese, then words. A border of an
earlier stage is the end of a text, and the beginning of another, for the next one. The product exists where each
earlier stage knows every border when it sees the next character; otherwise the stages run one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .program import GAP, MATCH, NotCompilable
from .transducer import (
    HARD_GAP,
    HERE,
    Marks,
    Transducer,
    explore,
    minimal,
    with_marks,
    with_registers,
)

if TYPE_CHECKING:
    from .classes import Partition
    from .determinise import Automaton

__all__ = ["chained"]

#: For each state and class of a stage: the next state, and whether there is a border before this character.
Borders = list[list[tuple[int, bool]]]


def chained(stages: Sequence[Automaton]) -> tuple[Partition, Transducer[Marks]]:
    """Compose stages into one transducer.

    Returns
    -------
    classes, marks
        The classes that the transducer's rows are about, and the transducer.

    Raises
    ------
    NotCompilable
        If an earlier stage needs to read on before it knows a border, or there are too many states.
    """
    earlier = [_borders(stage) for stage in stages[:-1]]
    last = stages[-1]
    classes, views = stages[0].classes.refined([stage.classes for stage in stages[1:]])
    marks = _product(earlier, with_marks(last), views)
    new_class = _same_columns(marks, classes.n_classes)
    kept = [*(new_class.index(number) for number in range(max(new_class) + 1)), classes.n_classes]
    return classes.merged(new_class), _with_columns(marks, kept)


def _borders(stage: Automaton) -> Borders:
    """A stage as a machine that says at each character whether a piece begins there."""
    transducer = with_registers(stage, max_registers=0)
    if transducer is None:
        raise NotCompilable("an earlier stage of the chain must read on before it knows a border")
    if set(transducer.begin) != {0}:
        raise NotCompilable("an earlier stage of the chain looks behind")
    # What the piece that is being read may turn out to be: a match, a gap, or either.
    fate = [0] * len(transducer.rows)
    changed = True
    while changed:
        changed = False
        for state, row in enumerate(transducer.rows):
            found = fate[state]
            for to, action in row:
                found |= action.emits[0][1] if action.emits else fate[to] if to >= 0 else 0
            if found != fate[state]:
                fate[state], changed = found, True
    borders: Borders = []
    for row in transducer.rows:
        line = []
        for to, action in row[:-1]:
            if action.emits and action.emits[0][1] == GAP and fate[to] == GAP | MATCH:
                raise NotCompilable("an earlier stage of the chain must read on before it knows a border")
            # Neighbouring gaps are one piece.
            line.append((to, bool(action.emits) and not (action.emits[0][1] == GAP == fate[to])))
        borders.append(line)
    return borders


def _product(earlier: Sequence[Borders], last: Transducer[Marks], views: Sequence[Sequence[int]]) -> Transducer[Marks]:
    """Run all stages side by side; a state is a state of each.

    Every stage but the first begins anew where an earlier one has a border.
    """
    end = len(views[0])
    at_end = len(last.begin) - 1

    def step(state: tuple[int, ...], c: int) -> tuple[tuple[int, ...] | None, Marks]:
        *firsts, state_of_last = state
        if c == end:
            return None, last.rows[state_of_last][at_end][1]
        border = False
        following: list[int] = []
        for stage, now, view in zip(earlier, firsts, views, strict=False):
            to, here = stage[0 if border else now][view[c]]
            # The begin of a text has no border before it; a stage that begins anew shows none of its own.
            border = border or here
            following.append(to)
        column = views[-1][c]
        if not border:
            to, action = last.rows[state_of_last][column]
            return (*following, to), action
        to, _ = last.rows[last.begin[at_end]][column]
        ended = last.rows[state_of_last][at_end][1]
        return (*following, to), Marks(ended.accepts, HARD_GAP if ended.kind == GAP else ended.kind, (HERE,))

    first: tuple[int, ...] = (*([0] * len(earlier)), last.begin[at_end])
    states, rows = explore([first] * (end + 1), step, end)
    return minimal(rows, [0] * (end + 1), [last.widths[state[-1]] for state in states])


def _same_columns(transducer: Transducer[Marks], n_classes: int) -> list[int]:
    """Merge the classes that no state tells apart."""
    numbers: dict[object, int] = {}
    return [numbers.setdefault(tuple([row[c] for row in transducer.rows]), len(numbers)) for c in range(n_classes)]


def _with_columns(transducer: Transducer[Marks], kept: Sequence[int]) -> Transducer[Marks]:
    rows = tuple(tuple([row[c] for c in kept]) for row in transducer.rows)
    return Transducer(rows, tuple([transducer.begin[c] for c in kept]), transducer.widths)
