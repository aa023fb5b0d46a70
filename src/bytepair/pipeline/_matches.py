"""Where a string or a regex matches in a text, one match after the other as Oniguruma's callers search.

A pattern may match the empty text here, which :class:`~bytepair.pattern.Pattern` never does: so it runs on ``re``, or
on the ``regex`` module with a time limit where its repetitions stand in each other. Either sees explicit ranges only.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from ..errors import PatternError
from ..pattern import MAX_SIZE
from ..pattern.escapes import shown
from ..pattern.fallback import regex_source
from ..pattern.nodes import Backreference, Look, Repeat, can_be_empty, expanded_size, walk
from ..pattern.syntax import parse

__all__ = ["checked", "matches"]

_TIMEOUT = 60.0
"""Seconds that one text may take."""


def checked(pattern: str) -> None:
    """See that a regex can run.

    Raises
    ------
    PatternError
        If it cannot.
    """
    _compiled(pattern, True)


@lru_cache(maxsize=64)
def _compiled(pattern: str, is_regex: bool) -> tuple[Any, bool, bool]:
    """The compiled pattern, whether it needs a time limit, and whether it can match the empty text."""
    if not is_regex:
        return re.compile(re.escape(pattern)), False, not pattern
    tree = parse(pattern, "oniguruma")
    if expanded_size(tree) > MAX_SIZE:
        raise PatternError(
            f"pattern {shown(pattern)} has more than {MAX_SIZE} parts once its repetitions are written out; "
            "make their bounds smaller"
        )
    source = regex_source(tree)
    parts = list(walk(tree))
    repeats = [part for part in parts if isinstance(part, Repeat)]
    plain = len(repeats) <= 1 and all(repeat.mode != "possessive" for repeat in repeats)
    if plain and not any(isinstance(part, (Backreference, Look)) for part in parts):
        return re.compile(source), False, can_be_empty(tree)
    import regex

    try:
        return regex.compile(source, regex.V1), True, can_be_empty(tree)
    except regex.error as error:
        raise PatternError(f"pattern {shown(pattern)} cannot run on the regex module: {error}; simplify it") from error


def matches(pattern: str, is_regex: bool, text: str) -> Iterator[tuple[int, int]]:
    """The spans of all matches, in characters; an empty one does not stand right behind another.

    Raises
    ------
    PatternError
        If the regex takes too long.
    """
    compiled, limited, empty = _compiled(pattern, is_regex)
    if not (limited or empty):
        yield from (found.span() for found in compiled.finditer(text))
        return
    deadline = time.monotonic() + _TIMEOUT
    place, last = 0, -1
    while place <= len(text):
        try:
            options = {"timeout": max(deadline - time.monotonic(), 1e-3)} if limited else {}
            found = compiled.search(text, place, **options)
        except TimeoutError:
            raise PatternError(
                f"pattern {shown(pattern)} took more than {_TIMEOUT:g} seconds, at character {place} of {len(text)}; "
                "rewrite it so that one text can match in one way only"
            ) from None
        if found is None:
            return
        start, end = found.span()
        if start == end == last:
            place = end + 1
            continue
        yield start, end
        place = last = end
