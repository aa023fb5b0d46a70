"""Compiling a pattern: its tier, and the flat tables that the engine's executor runs.

:func:`compile_stages` goes through parsing, program, automaton and transducer. A pattern that cannot be compiled is no
error: it gets tier 3 (the ``regex`` module) and the reason.
"""

from __future__ import annotations

import hashlib
import sys
from array import array
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from .chain import chained
from .determinise import determinise
from .program import MATCH, NotCompilable, build
from .splitpoints import split_pairs
from .syntax import parse
from .transducer import HERE, Action, Transducer, transducer

if TYPE_CHECKING:
    from .class_table import ClassTable
    from .classes import Partition

__all__ = ["FROM_HERE", "CompiledPattern", "Tables", "compile_stages", "tables_of"]

#: As a source in a coded action: the number of borders once this one is written.
FROM_HERE = 0xFFFF
# To the engines a class is one byte, an action 10 bits.
_MAX_CLASSES = 250
_MAX_ACTIONS = 1 << 10


@dataclass(frozen=True)
class Tables:
    """A transducer as flat arrays; little-endian uint16 unless said otherwise.

    The executor holds a state, a list of borders and up to ``width`` marks. It begins in the last state of ``begin``
    with all marks 0. For each character (its class c, its byte offset p) and once more for the end of the text
    (c = ``n_classes``, p = length) it looks up ``place = state * (n_classes + 1) + c``, goes to ``next[place]`` and
    does ``action[place]``. An empty text has no borders and is not run.

    Actions 0 and 1 are all that common text needs: 0 is nothing, 1 accepts copy 0 and moves FROM_HERE to mark 0. All
    are in ``actions``, as numbers: accepting copy + 1 or 0, the border's kind, number of moves, and each (to, from).
    If there is an accepting copy, as many borders are kept as its mark says, p is written after them; then mark ``to``
    gets mark ``from``, or the number of borders where that is FROM_HERE. Moves are done in order; none reads what an
    earlier one has written. Borders up to mark 0 are certain.

    A border has a kind: 0 after a match, 1 after a gap, 2 after a gap that must not be joined to the next one. A border
    of kind 1 is to be dropped where the next one is of kind 1 or 2.

    Attributes
    ----------
    classes
        The class of every code point.
    n_classes
        The tables have rows of ``n_classes + 1``.
    next, action
        The rows.
    actions
        The coded actions by number.
    begin
        The state that begins a pretoken after a character of each class; the last one begins a text.
    levels
        How many marks each state has in use.
    width
        How many there are at the most.
    weak, strong
        One byte for each pair (class before, class after), row by row, 1 where a text can be cut (see
        ``splitpoints.py``).
    canonical
        Hash of the minimal automaton, without its classes: equal for all patterns of a family, however spelled.
    """

    classes: ClassTable
    n_classes: int
    next: bytes
    action: bytes
    actions: tuple[tuple[int, ...], ...]
    begin: bytes
    levels: bytes
    width: int
    weak: bytes
    strong: bytes
    canonical: str

    @property
    def n_states(self) -> int:
        return len(self.levels) // 2


@dataclass(frozen=True)
class CompiledPattern:
    """What became of a pattern.

    Attributes
    ----------
    tier
        2 if it runs as an automaton, 3 if it runs on the ``regex`` module.
    reason
        Why it could not be compiled; None in tier 2.
    tables
        The automaton's tables; None in tier 3.
    """

    tier: Literal[2, 3]
    reason: str | None
    tables: Tables | None


@lru_cache(maxsize=64)
def compile_stages(*stages: tuple[str, str]) -> CompiledPattern:
    """Compile a pattern, or a chain of them in which each cuts the pieces of the one before it.

    Parameters
    ----------
    stages
        Regex and dialect of each: they can be parsed and do not match the empty text.

    Examples
    --------
    >>> compile_stages(("[a-z]+|[0-9]", "tiktoken")).tier
    2
    >>> compile_stages((r"(a)\\1", "tiktoken")).reason
    'it has a back-reference'
    """
    try:
        automata = [determinise(build(parse(regex, dialect))) for regex, dialect in stages]
        if len(automata) > 1:
            classes, machine = chained(automata)
            shape: object = machine
        else:
            classes, machine = automata[0].classes, transducer(automata[0])
            shape = automata[0].delta, automata[0].restart
        canonical = hashlib.sha256(repr(shape).encode()).hexdigest()
        return CompiledPattern(2, None, tables_of(classes, canonical, machine))
    except NotCompilable as why:
        return CompiledPattern(3, str(why), None)


def tables_of(classes: Partition, canonical: str, machine: Transducer) -> Tables:
    """Write a transducer as tables.

    Raises
    ------
    NotCompilable
        If they are larger than the engines take.
    """
    if classes.n_classes > _MAX_CLASSES:
        raise NotCompilable(f"it tells more than {_MAX_CLASSES} classes of characters apart")
    codes: dict[tuple[int, ...], int] = {(0, 0, 0): 0, (1, 0, 1, 0, FROM_HERE): 1}
    following, action = array("H"), array("H")
    for row in machine.rows:
        for to, what in row:
            following.append(max(to, 0))
            action.append(codes.setdefault(_coded(what), len(codes)))
    if len(codes) >= _MAX_ACTIONS:
        raise NotCompilable(f"its tables have more than {_MAX_ACTIONS - 1} different actions")
    weak, strong = split_pairs(machine)
    return Tables(
        classes=classes.table(),
        n_classes=classes.n_classes,
        next=_little_endian(following),
        action=_little_endian(action),
        actions=tuple(codes),
        begin=_little_endian(array("H", machine.begin)),
        levels=_little_endian(array("H", machine.widths)),
        width=machine.width,
        weak=weak,
        strong=strong,
        canonical=canonical,
    )


def _coded(action: Action) -> tuple[int, ...]:
    moves = [
        number
        for to, source in enumerate(action.sources)
        if to != source
        for number in (to, FROM_HERE if source == HERE else source)
    ]
    return (action.accepts + 1, max(action.kind - MATCH, 0), len(moves) // 2, *moves)


def _little_endian(numbers: array[int]) -> bytes:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()
