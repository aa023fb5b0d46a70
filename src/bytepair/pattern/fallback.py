"""The third tier: a pattern run on PyPI's ``regex`` module, with our classes and our meaning.

The tree is written out again as source for ``regex`` in which every class is explicit ranges and no flag, property or
anchor is left, so the module's own (newer) Unicode and its own rules for ``$``, ``\\Z`` or case never matter. What it
decides is only the order of the search. ``Pattern.ends`` is the caller; other tiers are held equal to this one.

The module tries the ranges of a class one by one, and letters are 600 ranges: so both the text and the source are
first reduced to the pattern's own classes, class c being U+0000 + c. That is 5 to 30 times faster. Only a
back-reference needs the characters themselves.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from ..errors import PatternError
from .charsets import CharSet
from .class_table import ClassTable, byte_offsets
from .classes import Partition, partition
from .escapes import shown
from .nodes import Alternation, Atomic, Backreference, Chars, Concat, Group, Look, Node, Repeat, walk
from .syntax import parse

if TYPE_CHECKING:
    import regex

__all__ = ["regex_cuts", "regex_ends", "regex_source"]

_MAX_CLASSES = 250
_SUFFIX = {"greedy": "", "lazy": "?", "possessive": "+"}
_TOO_SLOW = "give a longer timeout, or rewrite the pattern so that one text can match in one way only"


class _Classes(dict[int, int]):
    """Code point to class, for ``str.translate``, filled as characters turn up."""

    def __init__(self, table: ClassTable) -> None:
        super().__init__()
        self.table = table

    def __missing__(self, point: int) -> int:
        self[point] = number = self.table.of(point)
        return number


def _character(point: int) -> str:
    if point < 0x100:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def _class(characters: CharSet) -> str:
    if not characters:
        return "(?!)"
    parts = [_character(first) + (f"-{_character(last)}" if last > first else "") for first, last in characters.ranges]
    return f"[{''.join(parts)}]"


def regex_source(node: Node) -> str:
    """Write a tree as source for the ``regex`` module, with its sets as they are.

    Examples
    --------
    >>> from bytepair.pattern.syntax import parse
    >>> print(regex_source(parse("(?i:k)+?$", "tiktoken")))
    [\\x4b\\x6b\\u212a]+?(?![\\x00-\\U0010ffff])
    """
    if isinstance(node, Chars):
        return _class(node.characters)
    if isinstance(node, Concat):
        return "".join(f"(?:{regex_source(i)})" if isinstance(i, Alternation) else regex_source(i) for i in node.items)
    if isinstance(node, Alternation):
        return "|".join(map(regex_source, node.options))
    if isinstance(node, Repeat):
        return _body(node.body) + _bounds(node) + _SUFFIX[node.mode]
    if isinstance(node, Atomic):
        return f"(?>{regex_source(node.body)})"
    if isinstance(node, Look):
        return f"(?{'' if node.ahead else '<'}{'!' if node.negative else '='}{regex_source(node.body)})"
    if isinstance(node, Backreference):
        return f"(?i:(?P=g{node.number}))" if node.fold else f"(?P=g{node.number})"
    return f"(?P<g{node.number}>{regex_source(node.body)})"


def _body(node: Node) -> str:
    source = regex_source(node)
    return source if isinstance(node, (Chars, Group)) and node != Chars(CharSet()) else f"(?:{source})"


def _bounds(node: Repeat) -> str:
    simple = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((node.low, node.high))
    if simple is not None:
        return simple
    return f"{{{node.low},{'' if node.high is None else node.high}}}"


def _in_classes(node: Node, classes: Partition) -> Node:
    """The same tree with every set replaced by the set of its classes, taken as code points."""
    if isinstance(node, Chars):
        bits = classes.members[node.characters]
        return Chars(CharSet((number, number) for number in range(classes.n_classes) if bits >> number & 1))
    if isinstance(node, Concat):
        return Concat(tuple([_in_classes(item, classes) for item in node.items]))
    if isinstance(node, Alternation):
        return Alternation(tuple([_in_classes(option, classes) for option in node.options]))
    if isinstance(node, Backreference):
        return node
    return replace(node, body=_in_classes(node.body, classes))


@lru_cache(maxsize=64)
def _compiled(pattern: str, dialect: str) -> tuple[regex.Pattern[str], ClassTable | None]:
    """The pattern for ``regex``, and the classes that its text is to be reduced to."""
    import regex

    node, table = parse(pattern, dialect), None
    parts = list(walk(node))
    classes = partition([part.characters for part in parts if isinstance(part, Chars)])
    if classes.n_classes <= _MAX_CLASSES and not any(isinstance(part, Backreference) for part in parts):
        node, table = _in_classes(node, classes), classes.table()
    try:
        return regex.compile(regex_source(node), regex.V1), table
    except regex.error as error:
        raise PatternError(f"pattern {shown(pattern)} cannot run on the regex module: {error}; simplify it") from error


def regex_cuts(data: bytes, pattern: str, dialect: str, timeout: float) -> list[tuple[int, bool]]:
    """Cut a text and give the end of every pretoken, and whether it is a match (and no gap).

    Parameters
    ----------
    data
        The text; a byte that is no UTF-8 counts as a character of its own, U+DC80 to U+DCFF.
    pattern, dialect
        The regex as its author wrote it.
    timeout
        Seconds that the whole text may take.

    Returns
    -------
    list of (int, bool)
        End offsets in bytes, rising; a gap that the pattern leaves is a pretoken too.

    Raises
    ------
    PatternError
        If the pattern is wrong or the time is over.
    """
    compiled, table = _compiled(pattern, dialect)
    text = data.decode("utf-8", "surrogateescape")
    searched = text if table is None else text.translate(_Classes(table))
    deadline = time.monotonic() + timeout
    cuts: list[int] = []
    matches: list[bool] = []
    place = 0
    try:
        for match in compiled.finditer(searched, timeout=timeout):
            first, end = match.span()
            if first > place:
                cuts.append(first)
                matches.append(False)
            cuts.append(end)
            matches.append(True)
            place = end
            if time.monotonic() > deadline:
                raise TimeoutError
    except TimeoutError:
        at = len(text[:place].encode("utf-8", "surrogateescape"))
        raise PatternError(
            f"pattern {shown(pattern)} took more than {timeout:g} seconds, at byte {at} of {len(data)}; {_TOO_SLOW}"
        ) from None
    if place < len(text):
        cuts.append(len(text))
        matches.append(False)
    return list(zip(cuts if len(text) == len(data) else byte_offsets(text, cuts), matches))


def regex_ends(data: bytes, pattern: str, dialect: str, timeout: float) -> list[int]:
    """The ends alone of what :func:`regex_cuts` gives."""
    return [end for end, _ in regex_cuts(data, pattern, dialect, timeout)]
