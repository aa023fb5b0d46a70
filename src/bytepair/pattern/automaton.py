"""Compiling a pattern: its tier, and the flat tables that the engine's executor runs.

:func:`compile_stages` goes through parsing, program, automaton and transducer. A pattern that cannot be compiled is no
error: it gets tier 3 (the ``regex`` module) and the reason.
"""

from __future__ import annotations

import hashlib
import sys
from array import array
from functools import lru_cache
from typing import TYPE_CHECKING

from .chain import chained
from .determinise import determinise
from .program import MATCH, NotCompilable, build
from .splitpoints import split_pairs
from .syntax import parse
from .tables import FROM_HERE, CompiledPattern, Tables
from .transducer import HERE, Action, Transducer, transducer

if TYPE_CHECKING:
    from .classes import Partition

__all__ = ["FROM_HERE", "CompiledPattern", "Tables", "compile_stages", "tables_of"]

# To the engines a class is one byte, an action 10 bits.
_MAX_CLASSES = 250
_MAX_ACTIONS = 1 << 10


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
