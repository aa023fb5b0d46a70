"""Several patterns one after the other, as one transducer: each cuts the pieces of the one before it.

Hugging Face calls this a Sequence; deepseek-v3 cuts digits, then Chinese and Japanese, then words. A border of an
earlier stage is the end of a text, and the beginning of another, for the next one. The product exists where each
earlier stage knows every border when it sees the next character; otherwise the stages run one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .program import GAP, MATCH, NotCompilable
from .transducer import HARD_GAP, HERE, Action, Transducer, explore, fates, minimal, transducer

if TYPE_CHECKING:
    from .classes import Partition
    from .determinise import Automaton

__all__ = ["chained"]

#: For each state and class of a stage: the next state, and whether there is a border before this character.
Borders = list[list[tuple[int, bool]]]


def chained(stages: Sequence[Automaton]) -> tuple[Partition, Transducer]:
    """Compose stages into one transducer.

    Returns
    -------
    classes, product
        The classes that the transducer's rows are about, and the transducer.

    Raises
    ------
    NotCompilable
        If an earlier stage needs to read on before it knows a border, or there are too many states.
    """
    earlier = [_borders(stage) for stage in stages[:-1]]
    last = stages[-1]
    classes, views = stages[0].classes.refined([stage.classes for stage in stages[1:]])
    product = _product(earlier, transducer(last), views)
    new_class = _same_columns(product, classes.n_classes)
    kept = [*(new_class.index(number) for number in range(max(new_class) + 1)), classes.n_classes]
    return classes.merged(new_class), _with_columns(product, kept)


def _borders(stage: Automaton) -> Borders:
    """A stage as a machine that says at each character whether a piece begins there."""
    machine = transducer(stage)
    if machine.width > 1:
        raise NotCompilable("an earlier stage of the chain must read on before it knows a border")
    if set(machine.begin) != {0}:
        raise NotCompilable("an earlier stage of the chain looks behind")
    fate = fates(machine)
    borders: Borders = []
    for row in machine.rows:
        line = []
        for to, action in row[:-1]:
            if action.kind == GAP and fate[to] == GAP | MATCH:
                raise NotCompilable("an earlier stage of the chain must read on before it knows a border")
            # Neighbouring gaps are one piece.
            line.append((to, action.kind == MATCH or (action.kind == GAP and fate[to] != GAP)))
        borders.append(line)
    return borders


def _product(earlier: Sequence[Borders], last: Transducer, views: Sequence[Sequence[int]]) -> Transducer:
    """Run all stages side by side; a state is a state of each.

    Every stage but the first begins anew where an earlier one has a border.
    """
    end = len(views[0])
    at_end = len(last.begin) - 1

    def step(state: tuple[int, ...], c: int) -> tuple[tuple[int, ...] | None, Action]:
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
        return (*following, to), Action(ended.accepts, HARD_GAP if ended.kind == GAP else ended.kind, (HERE,))

    first: tuple[int, ...] = (*([0] * len(earlier)), last.begin[at_end])
    states, rows = explore([first] * (end + 1), step, end)
    return minimal(rows, [0] * (end + 1), [last.widths[state[-1]] for state in states])


def _same_columns(machine: Transducer, n_classes: int) -> list[int]:
    """Merge the classes that no state tells apart."""
    numbers: dict[object, int] = {}
    return [numbers.setdefault(tuple([row[c] for row in machine.rows]), len(numbers)) for c in range(n_classes)]


def _with_columns(machine: Transducer, kept: Sequence[int]) -> Transducer:
    rows = tuple(tuple([row[c] for c in kept]) for row in machine.rows)
    return Transducer(rows, tuple([machine.begin[c] for c in kept]), machine.widths)
