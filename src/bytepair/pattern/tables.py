"""A compiled pattern as flat arrays. ``automaton.py`` makes them; here is what they mean, without the compiler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from .class_table import ClassTable

if TYPE_CHECKING:
    from .._cache import Kept

__all__ = ["FROM_HERE", "CompiledPattern", "Tables"]

#: As a source in a coded action: the number of borders once this one is written.
FROM_HERE = 0xFFFF


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

    def to_keep(self) -> tuple[dict[str, Any], dict[str, bytes]]:
        """Head and sections of a file in the cache."""
        head: dict[str, Any] = {"tier": self.tier, "reason": self.reason}
        tables = self.tables
        if tables is None:
            return head, {}
        head |= {name: getattr(tables, name) for name in _NUMBERS}
        sections = {name: getattr(tables, name) for name in _ROWS}
        return head, {"stage1": tables.classes.stage1, "stage2": tables.classes.stage2, **sections}

    @classmethod
    def of_kept(cls, kept: Kept) -> CompiledPattern:
        """What :meth:`to_keep` says; the engine checks the tables when it takes them."""
        head = kept.head
        if head["tier"] == 3:
            return cls(3, str(head["reason"]), None)
        stage1, stage2, *rows = (bytes(kept.sections[name]) for name in ("stage1", "stage2", *_ROWS))
        tables = Tables(
            classes=ClassTable(head["n_classes"], stage1, stage2),
            n_classes=head["n_classes"],
            actions=tuple(tuple(code) for code in head["actions"]),
            width=head["width"],
            canonical=head["canonical"],
            **dict(zip(_ROWS, rows)),
        )
        return cls(2, None, tables)


_NUMBERS = ("n_classes", "actions", "width", "canonical")
_ROWS = ("next", "action", "begin", "levels", "weak", "strong")
