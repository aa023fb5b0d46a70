"""One pass over a whole text: copies of the automaton, one for each pretoken that may begin at a pending border.

While a pretoken has accepted a border and may still accept a later one, the next pretoken is begun on trial at the
border. The state of the transducer is the stack of all that are running, lowest (certain) first, so its number is
finite and no character is read twice. Three rules keep it small: a copy that cannot accept is dead; a border is not
pending when the copy is certain to accept later; a copy is dropped when a lower one always accepts no later than it.

Borders are written at once: each copy remembers how many there were when it began, and when a lower copy accepts, what
was written since is taken back. So any number of borders may pend, and any pattern stays linear.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TypeVar

from .determinise import DEAD, Automaton
from .minimise import coarsest_partition
from .program import GAP, NotCompilable

__all__ = ["HARD_GAP", "HERE", "Action", "Transducer", "explore", "fates", "minimal", "transducer"]

#: As the source of a mark: the number of borders once this one is written.
HERE = -1
#: The kind of a gap that ends where an earlier stage of a chain has a border: it never joins the next gap.
HARD_GAP = 3
_MAX_STATES = 4000
_MAX_COPIES = 64
_MAX_PAIRS = 200_000
# The engines have 18 bits for the place of a row.
_MAX_STEPS = (1 << 18) - 1


@dataclass(frozen=True)
class Action:
    """What a step does.

    Attributes
    ----------
    accepts
        The copy that accepts a border before this character: borders written since it began are taken back, and this
        one is written. -1 where none does.
    kind
        MATCH, GAP or HARD_GAP (0 where none accepts).
    sources
        For each copy running afterwards, which copy it was; HERE for the one that begins at this border.
    """

    accepts: int
    kind: int
    sources: tuple[int, ...]


_State = TypeVar("_State", bound=Hashable)


@dataclass(frozen=True)
class Transducer:
    """The states as rows: for each class, and last for the end of the text, (next state, action).

    Attributes
    ----------
    rows
        State 0 begins a text. After the end of the text the next state is DEAD.
    begin
        For each class, the state that begins a pretoken, and nothing else, after a character of it; the last entry is
        0. They are all 0 unless the pattern looks behind.
    widths
        For each state, how many copies run in it; each has a mark.
    """

    rows: tuple[tuple[tuple[int, Action], ...], ...]
    begin: tuple[int, ...]
    widths: tuple[int, ...]

    @property
    def width(self) -> int:
        """The largest number of copies that run in a state."""
        return max(self.widths)


class _Dominance:
    """Whether a lower copy always accepts no later than an upper one, found for the pairs that are asked for.

    After very many pairs the answer is no, which is never wrong: it only keeps a copy that could be dropped.
    """

    def __init__(self, automaton: Automaton) -> None:
        self.delta = automaton.delta
        self.known: dict[tuple[int, int], bool] = {}

    def __call__(self, lower: int, upper: int) -> bool:
        asked = (lower, upper)
        if asked not in self.known:
            if len(self.known) > _MAX_PAIRS:
                return False
            self._find(asked)
        return self.known[asked]

    def _find(self, asked: tuple[int, int]) -> None:
        """The greatest fixpoint on all pairs that can be reached, by taking away what fails."""
        sources: dict[tuple[int, int], list[tuple[int, int]]] = {asked: []}
        pairs, failed = [asked], []
        for pair in pairs:
            needed = self._needed(*pair)
            if needed is None or any(self.known.get(other) is False for other in needed):
                failed.append(pair)
                continue
            for other in needed:
                if self.known.get(other):
                    continue
                if other not in sources:
                    sources[other] = []
                    pairs.append(other)
                sources[other].append(pair)
        self.known.update(dict.fromkeys(pairs, True))
        while failed:
            pair = failed.pop()
            if self.known[pair]:
                self.known[pair] = False
                failed += sources[pair]

    def _needed(self, lower: int, upper: int) -> list[tuple[int, int]] | None:
        """The pairs that must hold after one more character; None if the upper copy may accept before the lower."""
        needed = []
        for (low_kind, low), (high_kind, high) in zip(self.delta[lower], self.delta[upper], strict=True):
            if low_kind:
                continue
            if high_kind or (high >= 0 and low < 0):
                return None
            if high >= 0:
                needed.append((low, high))
        return needed


def transducer(automaton: Automaton) -> Transducer:
    """Compose the minimal transducer.

    Raises
    ------
    NotCompilable
        If it has too many states.
    """
    delta, inevitable, end = automaton.delta, automaton.inevitable, automaton.n_classes
    dominates = _Dominance(automaton)

    def step(state: _Stack, c: int) -> tuple[_Stack | None, Action]:
        copies, begin = state
        running: list[tuple[int, bool, int]] = []  # state, has accepted, which copy it was
        accepts, kind = -1, 0
        for number, (copy, has) in enumerate(copies):
            accepted, to = delta[copy][c]
            if accepted:
                accepts, kind = number, accepted
                if to >= 0:
                    running.append((to, True, number))
                if c != end:
                    running.append((delta[begin][c][1], False, HERE))
                break
            if to >= 0:
                running.append((to, has, number))
                if inevitable[to]:
                    break
        kept: list[tuple[int, bool, int]] = []
        for to, has, number in running:
            # The top copy has accepted nothing; if the ones below it fail, the text's next border is its.
            if not (has and any(dominates(lower, to) for lower, _, _ in kept)):
                kept.append((to, has, number))
        if len(kept) > _MAX_COPIES:
            raise NotCompilable(f"more than {_MAX_COPIES} pretokens may be begun on trial at once")
        action = Action(accepts, kind, tuple([number for _, _, number in kept]))
        if c == end:
            return None, Action(accepts, kind, ())
        return (tuple([(to, has) for to, has, _ in kept]), automaton.restart[c]), action

    firsts: list[_Stack] = [(((begin, False),), begin) for begin in automaton.restart]
    states, rows = explore(firsts, step, end)
    return minimal(rows, [states.index(first) for first in firsts], [len(copies) for copies, _ in states])


_Stack = tuple[tuple[tuple[int, bool], ...], int]


def explore(
    firsts: list[_State],
    step: Callable[[_State, int], tuple[_State | None, Action]],
    end: int,
) -> tuple[list[_State], list[list[tuple[int, Action]]]]:
    """All states that can be reached, the one that begins a text (the last of ``firsts``) first, and their rows."""
    states = list(dict.fromkeys(reversed(firsts)))
    numbers = {state: number for number, state in enumerate(states)}
    rows: list[list[tuple[int, Action]]] = []
    for state in states:
        if (len(rows) + 1) * (end + 1) > _MAX_STEPS:
            raise NotCompilable(f"its transducer has more than {_MAX_STEPS:,} steps")
        row: list[tuple[int, Action]] = []
        for c in range(end + 1):
            to, action = step(state, c)
            if to is None:
                row.append((DEAD, action))
                continue
            number = numbers.get(to)
            if number is None:
                number = numbers[to] = len(states)
                states.append(to)
                if number >= _MAX_STATES:
                    raise NotCompilable(f"its transducer has more than {_MAX_STATES} states")
            row.append((number, action))
        rows.append(row)
    return states, rows


def minimal(rows: list[list[tuple[int, Action]]], begin: list[int], widths: list[int]) -> Transducer:
    """Merge states that act alike from here on, and number the rest breadth first."""
    actions: dict[Hashable, int] = {}
    coded = [[actions.setdefault(action, len(actions)) for _, action in row] for row in rows]
    labels = [(width, tuple(codes)) for width, codes in zip(widths, coded, strict=True)]
    targets = [[to for to, _ in row] for row in rows]
    block = coarsest_partition(labels, targets)
    member = {number: state for state, number in reversed(list(enumerate(block)))}
    order = list(dict.fromkeys(block[state] for state in reversed(begin)))
    place = {number: position for position, number in enumerate(order)}
    for number in order:
        for to in targets[member[number]]:
            if to >= 0 and block[to] not in place:
                place[block[to]] = len(order)
                order.append(block[to])
    kept = [rows[member[number]] for number in order]
    return Transducer(
        tuple(tuple([(place[block[to]] if to >= 0 else DEAD, action) for to, action in row]) for row in kept),
        tuple([place[block[state]] for state in begin]),
        tuple([widths[member[number]] for number in order]),
    )


def fates(machine: Transducer) -> list[int]:
    """For each state, what the pretoken that runs lowest may be in the end: MATCH, GAP, or both as bits."""
    fate = [0] * len(machine.rows)
    changed = True
    while changed:
        changed = False
        for state, row in enumerate(machine.rows):
            found = fate[state]
            for to, action in row:
                if action.accepts == 0:
                    found |= GAP if action.kind == HARD_GAP else action.kind
                if action.sources[:1] == (0,):
                    found |= fate[to]
            if found != fate[state]:
                fate[state], changed = found, True
    return fate
