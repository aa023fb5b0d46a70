"""The syntax tree that a pattern is parsed into.

Characters are already sets: case folding, classes and properties are resolved by ``syntax.py``. Anchors and word
borders are look-arounds of one character (``\\z`` is "no character follows"), so they have no node of their own. What
the automaton cannot run (back-references, long look-around, atomic groups) has a node all the same, for
``fallback.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from .charsets import CharSet

__all__ = [
    "NEVER",
    "NOTHING",
    "Alternation",
    "Atomic",
    "Backreference",
    "Chars",
    "Concat",
    "Group",
    "Look",
    "Node",
    "Repeat",
    "RepeatMode",
    "alternation",
    "can_be_empty",
    "concat",
    "expanded_size",
    "one_set",
    "walk",
]

RepeatMode = Literal["greedy", "lazy", "possessive"]


@dataclass(frozen=True)
class Chars:
    """One character of a set."""

    characters: CharSet


@dataclass(frozen=True)
class Concat:
    """All items, one after the other; without items the empty text."""

    items: tuple[Node, ...]


@dataclass(frozen=True)
class Alternation:
    """The first option that lets the rest match."""

    options: tuple[Node, ...]


@dataclass(frozen=True)
class Repeat:
    """The body from ``low`` to ``high`` times (None: without bound)."""

    body: Node
    low: int
    high: int | None
    mode: RepeatMode


@dataclass(frozen=True)
class Atomic:
    """The body's first match; no other one is tried afterwards."""

    body: Node


@dataclass(frozen=True)
class Look:
    """What follows (``ahead``) or precedes does, or does not (``negative``), match the body; takes no text."""

    body: Node
    ahead: bool
    negative: bool


@dataclass(frozen=True)
class Group:
    """A capturing group; it matters to back-references only."""

    body: Node
    number: int


@dataclass(frozen=True)
class Backreference:
    """The text that a group matched, up to case where ``fold`` is set."""

    number: int
    fold: bool


Node = Chars | Concat | Alternation | Repeat | Atomic | Look | Group | Backreference

NOTHING = Concat(())
#: A class without characters: never matches.
NEVER = Chars(CharSet())


def concat(items: Iterable[Node]) -> Node:
    """Concatenate, with nested concatenations opened and a single item left as it is."""
    flat: list[Node] = []
    for item in items:
        flat += item.items if isinstance(item, Concat) else (item,)
    return flat[0] if len(flat) == 1 else Concat(tuple(flat))


def alternation(options: Iterable[Node]) -> Node:
    """Alternate, with a single option left as it is."""
    kept = tuple(options)
    return kept[0] if len(kept) == 1 else Alternation(kept)


def one_set(node: Node) -> CharSet | None:
    """The set, if the node matches exactly one character of a set whatever surrounds it; else None."""
    if isinstance(node, Chars):
        return node.characters
    if isinstance(node, Concat) and len(node.items) == 1:
        return one_set(node.items[0])
    if isinstance(node, (Group, Atomic)):
        return one_set(node.body)
    if isinstance(node, Alternation):
        sets = [one_set(option) for option in node.options]
        known = [one for one in sets if one is not None]
        return CharSet.union(known) if len(known) == len(sets) else None
    if isinstance(node, Repeat) and node.low == node.high == 1:
        return one_set(node.body)
    return None


def can_be_empty(node: Node, groups: dict[int, Node] | None = None) -> bool:
    """Whether the node could match the empty text somewhere (look-arounds are taken to hold).

    Parameters
    ----------
    groups
        The capturing groups by number, for back-references; found in the node itself when not given.
    """
    if groups is None:
        groups = {inner.number: inner.body for inner in walk(node) if isinstance(inner, Group)}
    if isinstance(node, Chars):
        return False
    if isinstance(node, Concat):
        return all(can_be_empty(item, groups) for item in node.items)
    if isinstance(node, Alternation):
        return any(can_be_empty(option, groups) for option in node.options)
    if isinstance(node, Repeat):
        return node.low == 0 or can_be_empty(node.body, groups)
    if isinstance(node, Look):
        return True
    if isinstance(node, Backreference):
        # A group that refers to itself cannot be entered twice: without its own entry the recursion ends.
        others = {number: body for number, body in groups.items() if number != node.number}
        return node.number in groups and can_be_empty(groups[node.number], others)
    return can_be_empty(node.body, groups)


def expanded_size(node: Node) -> int:
    """How many single characters, references and repetitions there are once counted repetitions are written out."""
    if isinstance(node, Concat):
        return sum(map(expanded_size, node.items))
    if isinstance(node, Alternation):
        return sum(map(expanded_size, node.options))
    if isinstance(node, Repeat):
        return 1 + expanded_size(node.body) * max(node.low, node.high or 0, 1)
    if isinstance(node, (Chars, Backreference)):
        return 1
    return expanded_size(node.body)


def walk(node: Node) -> Iterator[Node]:
    """The node and all nodes below it."""
    yield node
    if isinstance(node, Concat):
        children: tuple[Node, ...] = node.items
    elif isinstance(node, Alternation):
        children = node.options
    elif isinstance(node, (Chars, Backreference)):
        children = ()
    else:
        children = (node.body,)
    for child in children:
        yield from walk(child)
