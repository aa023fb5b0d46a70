"""The third tier: a pattern run on PyPI's ``regex`` module, with our classes and our meaning.

The tree is written out again as source for ``regex`` in which every class is explicit ranges and no flag, property or
anchor is left, so the module's own (newer) Unicode and its own rules for ``$``, ``\\Z`` or case never matter. What it
decides is only the order of the search. ``Pattern.ends`` is the caller; other tiers are held equal to this one.
"""

from __future__ import annotations

import time
from functools import lru_cache
from typing import TYPE_CHECKING

from ..errors import PatternError
from .charsets import CharSet
from .nodes import Alternation, Atomic, Backreference, Chars, Concat, Group, Look, Node, Repeat
from .scanners import byte_offsets
from .syntax import parse

if TYPE_CHECKING:
    import regex

__all__ = ["regex_ends", "regex_source"]

_SUFFIX = {"greedy": "", "lazy": "?", "possessive": "+"}
_TOO_SLOW = "give a longer timeout, or rewrite the pattern so that one text can match in one way only"


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
    """Write a tree as source for the ``regex`` module.

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


@lru_cache(maxsize=64)
def _compiled(pattern: str, dialect: str) -> regex.Pattern[str]:
    import regex

    try:
        return regex.compile(regex_source(parse(pattern, dialect)), regex.V1)
    except regex.error as error:
        raise PatternError(f"pattern {pattern!r} cannot run on the regex module: {error}; simplify it") from error


def regex_ends(data: bytes, pattern: str, dialect: str, timeout: float) -> list[int]:
    """Cut a text and give the end of every pretoken.

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
    list of int
        End offsets in bytes, rising; a gap that the pattern leaves is a pretoken too.

    Raises
    ------
    PatternError
        If the pattern is wrong or the time is over.
    """
    compiled = _compiled(pattern, dialect)
    text = data.decode("utf-8", "surrogateescape")
    deadline = time.monotonic() + timeout
    cuts: list[int] = []
    place = 0
    try:
        for match in compiled.finditer(text, timeout=timeout):
            first, end = match.span()
            if first > place:
                cuts.append(first)
            cuts.append(end)
            place = end
            if time.monotonic() > deadline:
                raise TimeoutError
    except TimeoutError:
        at = len(text[:place].encode("utf-8", "surrogateescape"))
        raise PatternError(
            f"pattern {pattern!r} took more than {timeout:g} seconds, at byte {at} of {len(data)}; {_TOO_SLOW}"
        ) from None
    if place < len(text):
        cuts.append(len(text))
    return cuts if len(text) == len(data) else byte_offsets(text, cuts)
