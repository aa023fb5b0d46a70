"""From a program to the smallest deterministic automaton that cuts one pretoken off the front of a text.

A state is an ordered list of program threads, highest priority first, *before* their conditions are looked at: the
closure runs when the class of the next character is known, so one character of look-ahead is free. A step therefore
says two things: whether a border was accepted before the character just seen, and the next state. What the previous
character was matters only to threads that look behind; states differ in it only then.

``transducer.py`` composes copies of this automaton into one that cuts a whole text in one pass.
"""

from __future__ import annotations

from dataclasses import dataclass

from .classes import Partition, partition
from .minimise import coarsest_partition
from .program import Condition, NotCompilable, Program

__all__ = ["DEAD", "Automaton", "determinise"]

#: The state from which no border can come any more.
DEAD = -1
_MAX_STATES = 2000
_MAX_WORK = 2_000_000
_MAX_RAW_CLASSES = 1000

Row = list[tuple[int, int]]


@dataclass(frozen=True)
class Automaton:
    """A deterministic automaton over character classes; class ``n_classes`` is the end of the text.

    It is canonical: minimal, without accepts that are certain to be overtaken, with classes in the order of their
    smallest code point and states in breadth-first order. So two patterns that cut alike have equal ``delta`` and
    ``restart``, however they are spelled.

    Attributes
    ----------
    classes
        The partition of all code points; its classes are the columns.
    delta
        For each state and class: (0, MATCH or GAP accepted before this character; next state or DEAD).
    restart
        For each class, the state that begins a pretoken after a character of it; the last entry begins the text.
    inevitable
        For each state, whether every continuation (the end of the text too) will still accept.
    """

    classes: Partition
    delta: tuple[tuple[tuple[int, int], ...], ...]
    restart: tuple[int, ...]
    inevitable: tuple[bool, ...]

    @property
    def n_classes(self) -> int:
        return self.classes.n_classes


def determinise(program: Program) -> Automaton:
    """Make the canonical automaton of a program.

    Raises
    ------
    NotCompilable
        If it has too many states.
    """
    sets = [step.condition.characters for step in program.code if step.kind in ("char", "ahead", "behind")]
    classes = partition(sets)
    if classes.n_classes > _MAX_RAW_CLASSES:
        raise NotCompilable(f"it tells more than {_MAX_RAW_CLASSES} classes of characters apart")
    delta, restart = _Subsets(program, classes).explore()
    delta = _without_dead_ends(delta)
    inevitable = _inevitable(delta)
    # An accept that a later one is certain to overtake decides nothing; without it equal cuts have equal tables.
    delta = [[(0 if to >= 0 and inevitable[to] else kind, to) for kind, to in row] for row in delta]
    labels = [tuple([(kind, to < 0) for kind, to in row]) for row in delta]
    block = coarsest_partition(labels, [[to for _, to in row] for row in delta])
    delta, restart = _quotient(delta, restart, block)
    return _canonical(classes, delta, restart)


class _Subsets:
    """The subset construction, with ordered thread lists and all classes at once as bits of an int."""

    def __init__(self, program: Program, classes: Partition) -> None:
        self.code = program.code
        self.n_classes = classes.n_classes
        self.edge = 1 << classes.n_classes
        self.bits = [self._bits(step.condition, classes) for step in program.code]
        self.behind = sorted({bits for step, bits in zip(self.code, self.bits, strict=True) if step.kind == "behind"})
        self.looks_behind = self._threads_that_look_behind()
        self.numbers: dict[tuple[tuple[int, ...], int], int] = {}
        self.queue: list[tuple[tuple[int, ...], int]] = []
        self.work = 0

    def _bits(self, condition: Condition, classes: Partition) -> int:
        if condition.characters not in classes.members:
            return 0
        return classes.members[condition.characters] | (self.edge if condition.edge else 0)

    def _threads_that_look_behind(self) -> list[bool]:
        """For each instruction, whether its closure looks at the previous character."""
        looks = [step.kind == "behind" for step in self.code]
        changed = True
        while changed:
            changed = False
            for place in range(len(self.code) - 1, -1, -1):
                step = self.code[place]
                targets: tuple[int, ...] = ()
                if step.kind == "split":
                    targets = (step.first, step.second)
                elif step.kind == "jump":
                    targets = (step.first,)
                elif step.kind == "ahead":
                    targets = (place + 1,)
                if not looks[place] and any(looks[target] for target in targets):
                    looks[place] = changed = True
        return looks

    def explore(self) -> tuple[list[Row], list[int]]:
        # The signature of a previous class: which of the look-behind conditions it meets.
        signatures = [
            sum(1 << place for place, bits in enumerate(self.behind) if bits >> previous & 1)
            for previous in range(self.n_classes + 1)
        ]
        restart = [self._number((0,), signature) for signature in signatures]
        delta: list[Row] = []
        place = 0
        while place < len(self.queue):
            kinds, threads = self._step(*self.queue[place])
            delta.append(
                [(kinds[c], self._number(threads[c], signatures[c])) for c in range(self.n_classes)]
                + [(kinds[self.n_classes], DEAD)]
            )
            place += 1
        return delta, restart

    def _number(self, threads: tuple[int, ...], signature: int) -> int:
        if not threads:
            return DEAD
        key = (threads, signature if any(self.looks_behind[thread] for thread in threads) else 0)
        number = self.numbers.get(key)
        if number is None:
            number = self.numbers[key] = len(self.numbers)
            self.queue.append(key)
            if number >= _MAX_STATES:
                raise NotCompilable(f"its automaton has more than {_MAX_STATES} states")
        return number

    def _step(self, threads: tuple[int, ...], signature: int) -> tuple[list[int], list[tuple[int, ...]]]:
        """For every class of the next character: what is accepted before it, and the threads after it."""
        self.work += self.n_classes
        kinds = [0] * (self.n_classes + 1)
        after: list[list[int]] = [[] for _ in kinds]
        seen: dict[int, int] = {}
        met = {bits for place, bits in enumerate(self.behind) if signature >> place & 1}
        closed = 0  # classes for which a thread has matched: threads below it do not count
        every = (self.edge << 1) - 1
        stack = [(thread, every) for thread in reversed(threads)]
        while stack:
            place, mask = stack.pop()
            mask &= ~(seen.get(place, 0) | closed)
            if not mask:
                continue
            seen[place] = seen.get(place, 0) | mask
            step = self.code[place]
            self.work += 1
            if step.kind == "char":
                mask &= self.bits[place]
                self.work += mask.bit_count()
                while mask:
                    low = mask & -mask
                    after[low.bit_length() - 1].append(place + 1)
                    mask ^= low
            elif step.kind == "split":
                stack.append((step.second, mask))
                stack.append((step.first, mask))
            elif step.kind == "jump":
                stack.append((step.first, mask))
            elif step.kind == "ahead":
                stack.append((place + 1, mask & self.bits[place]))
            elif step.kind == "behind":
                if self.bits[place] in met:
                    stack.append((place + 1, mask))
            else:
                closed |= mask
                while mask:
                    low = mask & -mask
                    kinds[low.bit_length() - 1] = step.first
                    mask ^= low
        if self.work > _MAX_WORK:
            raise NotCompilable("its automaton takes too long to build")
        return kinds, [tuple(dict.fromkeys(places)) for places in after]


def _without_dead_ends(delta: list[Row]) -> list[Row]:
    """Send every step to DEAD that leads where nothing is accepted any more."""
    sources: list[list[int]] = [[] for _ in delta]
    live = [False] * len(delta)
    stack = []
    for state, row in enumerate(delta):
        for _, to in row:
            if to >= 0:
                sources[to].append(state)
        if any(kind for kind, _ in row):
            live[state] = True
            stack.append(state)
    while stack:
        for source in sources[stack.pop()]:
            if not live[source]:
                live[source] = True
                stack.append(source)
    return [[(kind, to if to >= 0 and live[to] else DEAD) for kind, to in row] for row in delta]


def _inevitable(delta: list[Row]) -> list[bool]:
    """For each state, whether it accepts on every continuation: the greatest fixpoint, by taking away."""
    sources: list[list[int]] = [[] for _ in delta]
    result = [True] * len(delta)
    stack = []
    for state, row in enumerate(delta):
        for kind, to in row:
            if not kind and to >= 0:
                sources[to].append(state)
        if any(not kind and to < 0 for kind, to in row):
            result[state] = False
            stack.append(state)
    while stack:
        for source in sources[stack.pop()]:
            if result[source]:
                result[source] = False
                stack.append(source)
    return result


def _quotient(delta: list[Row], restart: list[int], block: list[int]) -> tuple[list[Row], list[int]]:
    rows: dict[int, Row] = {}
    for state, row in enumerate(delta):
        rows.setdefault(block[state], [(kind, block[to] if to >= 0 else DEAD) for kind, to in row])
    return [rows[number] for number in range(len(rows))], [block[state] for state in restart]


def _canonical(classes: Partition, delta: list[Row], restart: list[int]) -> Automaton:
    """Merge classes that no state tells apart, and number the states breadth first."""
    columns: dict[tuple[object, ...], int] = {}
    new_class = [
        columns.setdefault((restart[c], tuple([row[c] for row in delta])), len(columns))
        for c in range(classes.n_classes)
    ]
    kept = [new_class.index(number) for number in range(len(columns))] + [classes.n_classes]
    order: list[int] = []
    place: dict[int, int] = {}

    def visit(state: int) -> None:
        if state >= 0 and state not in place:
            place[state] = len(order)
            order.append(state)

    done = 0
    for begin in [restart[-1]] + [restart[c] for c in kept]:
        visit(begin)
        while done < len(order):
            for c in kept:
                visit(delta[order[done]][c][1])
            done += 1
    rows = [[(delta[s][c][0], place.get(delta[s][c][1], DEAD)) for c in kept] for s in order]
    return Automaton(
        classes.merged(new_class),
        tuple(map(tuple, rows)),
        tuple(place[restart[c]] for c in kept),
        tuple(_inevitable(rows)),
    )
