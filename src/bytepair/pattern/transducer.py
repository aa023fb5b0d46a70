"""One pass over a whole text: copies of the automaton, one for each pretoken that may begin at a pending border.

While a pretoken has accepted a border and may still accept a later one, the next pretoken is begun on trial at the
border. The state of the transducer is the stack of all that are running, lowest (certain) first, so its number is
finite and no character is read twice. Three rules keep it small: a copy that cannot accept is dead; a border is not
pending when the copy is certain to accept later; a copy is dropped when a lower one always accepts no later than it.

There are two forms. :func:`with_marks` works for every pattern: borders are written at once, each copy remembers how
many there were when it began, and when a lower copy accepts, what was written since is taken back.
:func:`with_registers` keeps the few pending borders in registers and writes only what is certain; it exists where few
enough pend. Both are minimal.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from .determinise import DEAD, Automaton
from .minimise import coarsest_partition
from .program import NotCompilable

__all__ = [
    "HARD_GAP",
    "HERE",
    "Action",
    "Marks",
    "Registers",
    "Transducer",
    "explore",
    "minimal",
    "with_marks",
    "with_registers",
]

#: As the source of a register or mark: the place before the character just read.
HERE = -1
#: The kind of a gap that ends where an earlier stage of a chain has a border: it never joins the next gap.
HARD_GAP = 3
_MAX_STATES = 4000
_MAX_COPIES = 64
_MAX_PAIRS = 200_000
_MAX_STEPS = 400_000


@dataclass(frozen=True)
class Marks:
    """What a step does in the form with marks.

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


@dataclass(frozen=True)
class Registers:
    """What a step does in the form with registers.

    Attributes
    ----------
    emits
        The borders that are certain now, in order: (register or HERE, kind).
    sources
        For each register afterwards, which register it was, or HERE.
    """

    emits: tuple[tuple[int, int], ...]
    sources: tuple[int, ...]


Action = TypeVar("Action", Marks, Registers)
_State = TypeVar("_State", bound=Hashable)


@dataclass(frozen=True)
class Transducer(Generic[Action]):
    """The states as rows: for each class, and last for the end of the text, (next state, action).

    Attributes
    ----------
    rows
        State 0 begins a text. After the end of the text the next state is DEAD.
    begin
        For each class, the state that begins a pretoken, and nothing else, after a character of it; the last entry is
        0. They are all 0 unless the pattern looks behind.
    widths
        For each state, how many marks or registers it holds.
    """

    rows: tuple[tuple[tuple[int, Action], ...], ...]
    begin: tuple[int, ...]
    widths: tuple[int, ...]

    @property
    def width(self) -> int:
        """The largest number of marks, or of registers, that a state holds."""
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


def with_marks(automaton: Automaton, max_states: int = _MAX_STATES) -> Transducer[Marks]:
    """Compose the form with marks.

    Raises
    ------
    NotCompilable
        If it has more than ``max_states`` states.
    """
    delta, inevitable, end = automaton.delta, automaton.inevitable, automaton.n_classes
    dominates = _Dominance(automaton)

    def step(state: _Stack, c: int) -> tuple[_Stack | None, Marks]:
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
        action = Marks(accepts, kind, tuple([number for _, _, number in kept]))
        if c == end:
            return None, Marks(accepts, kind, ())
        return (tuple([(to, has) for to, has, _ in kept]), automaton.restart[c]), action

    firsts: list[_Stack] = [(((begin, False),), begin) for begin in automaton.restart]
    states, rows = explore(firsts, step, end, max_states)
    return minimal(rows, [states.index(first) for first in firsts], [len(copies) for copies, _ in states])


_Stack = tuple[tuple[tuple[int, bool], ...], int]
_Pending = tuple[tuple[tuple[int, int], ...], int]


def with_registers(automaton: Automaton, max_registers: int = 3, max_states: int = 512) -> Transducer[Registers] | None:
    """Compose the form with registers; None where more borders may pend, or more states are needed."""
    delta, inevitable, end = automaton.delta, automaton.inevitable, automaton.n_classes

    def step(state: _Pending, c: int) -> tuple[_Pending | None, Registers]:
        copies, begin = state
        running: list[tuple[int, int]] = []  # state or DEAD, kind of the border that pends at its end or 0
        registers: list[int] = []
        for number, (copy, pending) in enumerate(copies):
            if copy == DEAD:
                running.append((DEAD, pending))
                registers.append(number)
                continue
            accepted, to = delta[copy][c]
            if accepted:
                running.append((to, accepted))
                registers.append(HERE)
                if c != end:
                    running.append((delta[begin][c][1], 0))
                break
            if to >= 0 and inevitable[to]:
                running.append((to, 0))
                break
            running.append((to, pending))
            if pending:
                registers.append(number)
        emits = []
        while registers and running[0][0] == DEAD:
            emits.append((registers.pop(0), running.pop(0)[1]))
        if c == end:
            return None, Registers(tuple(emits), ())
        if len(registers) > max_registers:
            raise NotCompilable(f"more than {max_registers} borders may pend")
        return (tuple(running), automaton.restart[c]), Registers(tuple(emits), tuple(registers))

    firsts: list[_Pending] = [(((begin, 0),), begin) for begin in automaton.restart]
    try:
        states, rows = explore(firsts, step, end, max_states)
    except NotCompilable:
        return None
    return minimal(rows, [states.index(first) for first in firsts], [len(copies) - 1 for copies, _ in states])


def explore(
    firsts: list[_State],
    step: Callable[[_State, int], tuple[_State | None, Action]],
    end: int,
    max_states: int = _MAX_STATES,
) -> tuple[list[_State], list[list[tuple[int, Action]]]]:
    """All states that can be reached, the one that begins a text (the last of ``firsts``) first, and their rows."""
    states = list(dict.fromkeys(reversed(firsts)))
    numbers = {state: number for number, state in enumerate(states)}
    rows: list[list[tuple[int, Action]]] = []
    for state in states:
        if len(rows) * (end + 1) > _MAX_STEPS:
            raise NotCompilable(f"its transducer has more than {_MAX_STEPS} steps")
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
                if number >= max_states:
                    raise NotCompilable(f"its transducer has more than {max_states} states")
            row.append((number, action))
        rows.append(row)
    return states, rows


def minimal(rows: list[list[tuple[int, Action]]], begin: list[int], widths: list[int]) -> Transducer[Action]:
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
