"""Compiling a pattern: its tier, and the flat tables that the core's executor runs.

:func:`compile_stages` goes through parsing, program, automaton and transducer. A pattern that cannot be compiled is no
error: it gets tier 3 (the ``regex`` module) and the reason. :meth:`Tables.ends` is the executor in plain Python, one
pass and linear like the core's.
"""

from __future__ import annotations

import hashlib
import sys
from array import array
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from .chain import chained
from .determinise import determinise
from .program import GAP, MATCH, NotCompilable, build
from .scanners import ClassTable, byte_offsets
from .splitpoints import split_pairs
from .syntax import parse
from .transducer import HERE, Marks, Registers, Transducer, with_marks, with_registers

if TYPE_CHECKING:
    from .classes import Partition

__all__ = ["FROM_HERE", "CompiledPattern", "Tables", "compile_stages", "tables_of"]

#: As a source in a coded action: the place before the character just read.
FROM_HERE = 0xFFFF


@dataclass(frozen=True)
class Tables:
    """A transducer as flat arrays; little-endian uint16 unless said otherwise.

    The executor holds a state, a list of borders and up to ``width`` numbers. It begins in ``begin[n_classes]`` with
    all numbers 0. For each character (its class c, its byte offset p) and once more for the end of the text
    (c = ``n_classes``, p = length) it looks up ``place = state * (n_classes + 1) + c``, goes to ``next[place]`` and
    does ``action[place]``. An empty text has no borders and is not run.

    Actions 0 and 1 are all that common text needs: 0 is nothing, 1 is a border at p. Others are in ``actions``, as
    numbers, and what they hold depends on ``form``. Where a source is FROM_HERE it means p (or, for a mark, the number
    of borders after this one was written). Moves are done in order; no move reads what an earlier one has written.

    A border has a kind: 0 after a match, 1 after a gap, 2 after a gap that must not be joined to the next one.

    - ``registers``: the number of borders, and for each (register, kind): write that register's value as a border;
      then the number of moves, and for each (to, from): register ``to`` gets the value of register ``from``.
      Action 1 moves nothing. What is written is certain.
    - ``marks``: accepting copy + 1 or 0, kind, number of moves, and for each (to, from). If there is an accepting
      copy, as many borders are kept as its mark says, p is written after them; then mark ``to`` gets mark ``from``.
      Action 1 accepts copy 0 and moves FROM_HERE to mark 0. Borders up to mark 0 are certain.

    Attributes
    ----------
    form
        ``"registers"`` or ``"marks"``.
    classes
        The class of every code point.
    n_classes, n_states
        The size of the tables: ``n_states`` rows of ``n_classes + 1``.
    next, action
        The rows.
    actions
        The coded actions by number.
    begin
        The state that begins a pretoken after a character of each class; the last one begins a text.
    width
        How many registers or marks there are.
    has_gaps
        Whether gaps can occur. If so, a border of kind 1 is to be dropped where the next one is of kind 1 or 2.
    weak, strong
        One byte for each pair (class before, class after), row by row, 1 where a text can be cut (see
        ``splitpoints.py``).
    canonical
        Hash of the minimal automaton, without its classes: equal for all patterns of a family, however spelled.
    """

    form: Literal["registers", "marks"]
    classes: ClassTable
    n_classes: int
    n_states: int
    next: bytes
    action: bytes
    actions: tuple[tuple[int, ...], ...]
    begin: tuple[int, ...]
    width: int
    has_gaps: bool
    weak: bytes
    strong: bytes
    canonical: str

    def ends(self, data: bytes) -> list[int]:
        """Cut a text and give the end of every pretoken in bytes: the executor in plain Python."""
        if not data:
            return []
        text = data.decode("utf-8", "surrogateescape")
        of = {character: self.classes.of(ord(character)) for character in set(text)}
        classes = [of[character] for character in text]
        classes.append(self.n_classes)
        # Borders are held as position and kind in one number, the kind only where it can matter.
        shift = 2 if self.has_gaps else 0
        borders = (self._run_registers if self.form == "registers" else self._run_marks)(classes, shift)
        if shift:
            following = [*borders[1:], 0]
            pairs = zip(borders, following, strict=True)
            borders = [one >> 2 for one, other in pairs if not (one & 3 == 1 and other & 3)]
        return borders if len(text) == len(data) else byte_offsets(text, borders)

    def _run_registers(self, classes: list[int], shift: int) -> list[int]:
        rows, codes = _rows(self), self.actions
        row = rows[self.begin[-1]]
        registers = [0] * self.width
        borders: list[int] = []
        for position, c in enumerate(classes):
            row, number = row[c]
            if not number:
                continue
            if number == 1:
                borders.append(position << shift)
                continue
            code = codes[number]
            moves = 1 + 2 * code[0]
            for place in range(1, moves, 2):
                source = code[place]
                borders.append((position if source == FROM_HERE else registers[source]) << shift | code[place + 1])
            for place in range(moves + 1, len(code), 2):
                source = code[place + 1]
                registers[code[place]] = position if source == FROM_HERE else registers[source]
        return borders

    def _run_marks(self, classes: list[int], shift: int) -> list[int]:
        rows, codes = _rows(self), self.actions
        row = rows[self.begin[-1]]
        marks = [0] * self.width
        borders: list[int] = []
        for position, c in enumerate(classes):
            row, number = row[c]
            if not number:
                continue
            code = codes[number]
            if code[0]:
                del borders[marks[code[0] - 1] :]
                borders.append(position << shift | code[1])
            for place in range(3, len(code), 2):
                source = code[place + 1]
                marks[code[place]] = len(borders) if source == FROM_HERE else marks[source]
        return borders


@lru_cache(maxsize=64)
def _rows(tables: Tables) -> list[list[tuple[Any, int]]]:
    """For each state and class, the row of the next state and the number of the action."""
    following, action = _uint16(tables.next), _uint16(tables.action)
    columns = tables.n_classes + 1
    rows: list[list[tuple[Any, int]]] = [[] for _ in range(tables.n_states)]
    for state, row in enumerate(rows):
        for place in range(state * columns, (state + 1) * columns):
            row.append((rows[following[place]], action[place]))
    return rows


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
    >>> compile_stages(("[a-z]+|[0-9]", "tiktoken")).tables.ends(b"ab12")
    [2, 3, 4]
    >>> compile_stages((r"(a)\\1", "tiktoken")).reason
    'it has a back-reference'
    """
    try:
        automata = [determinise(build(parse(regex, dialect))) for regex, dialect in stages]
        if len(automata) > 1:
            classes, marks, registers = chained(automata)
            shape: object = marks
        else:
            classes, marks, registers = automata[0].classes, with_marks(automata[0]), with_registers(automata[0])
            shape = automata[0].delta, automata[0].restart
    except NotCompilable as why:
        return CompiledPattern(3, str(why), None)
    canonical = hashlib.sha256(repr(shape).encode()).hexdigest()
    return CompiledPattern(2, None, tables_of(classes, canonical, marks, registers))


def tables_of(
    classes: Partition, canonical: str, marks: Transducer[Marks], registers: Transducer[Registers] | None
) -> Tables:
    """Write a transducer as tables: in the form with registers, where there is one."""
    form: Literal["registers", "marks"] = "marks" if registers is None else "registers"
    chosen: Transducer[Marks] | Transducer[Registers] = marks if registers is None else registers
    codes: dict[tuple[int, ...], int] = {_NOTHING: 0, _BORDER[form]: 1}
    following, action = array("H"), array("H")
    for row in chosen.rows:
        for to, what in row:
            following.append(max(to, 0))
            action.append(codes.setdefault(_coded(what), len(codes)))
    weak, strong = split_pairs(marks)
    return Tables(
        form=form,
        classes=classes.table(),
        n_classes=classes.n_classes,
        n_states=len(chosen.rows),
        next=_little_endian(following),
        action=_little_endian(action),
        actions=tuple(codes),
        begin=chosen.begin,
        width=chosen.width,
        has_gaps=any(what.kind >= GAP for row in marks.rows for _, what in row),
        weak=weak,
        strong=strong,
        canonical=canonical,
    )


_NOTHING = (0, 0, 0)
_BORDER = {"registers": (1, FROM_HERE, 0, 0), "marks": (1, 0, 1, 0, FROM_HERE)}


def _coded(action: Marks | Registers) -> tuple[int, ...]:
    moves = [
        number
        for to, source in enumerate(action.sources)
        if to != source
        for number in (to, FROM_HERE if source == HERE else source)
    ]
    if isinstance(action, Marks):
        code = [action.accepts + 1, max(action.kind - MATCH, 0), len(moves) // 2, *moves]
        return tuple(code)
    emits = [
        number for source, kind in action.emits for number in (FROM_HERE if source == HERE else source, kind - MATCH)
    ]
    code = [len(emits) // 2, *emits, len(moves) // 2, *moves]
    return _NOTHING if code == [0, 0] else tuple(code)


def _little_endian(numbers: array[int]) -> bytes:

    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def _uint16(data: bytes) -> array[int]:

    numbers = array("H")
    numbers.frombytes(data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
