"""Checks of plain arguments, the same in every entry point and for both engines."""

from __future__ import annotations

import operator
from typing import Any

SHOWN = 60
"""Characters of a value that messages show."""


def whole(what: str, value: Any, least: int, error: type[ValueError], most: int = (1 << 63) - 1) -> int:
    """A whole number from ``least`` to ``most``; numpy's count, bools do not."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or not least <= number <= most:
        limit = f"{least} or more" if most >= (1 << 63) - 1 else f"from {least} to {most}"
        raise error(f"{what} is {brief(value)}; it must be a whole number, {limit}")
    return number


def threads(value: Any, error: type[ValueError]) -> int | None:
    """A number of threads, or None for all cores."""
    return None if value is None else whole("threads", value, 1, error)


def brief(value: Any) -> str:
    """A value as messages show it: its repr, cut short where it is long."""
    shown = repr(value[:SHOWN] if isinstance(value, (str, bytes)) else value)
    cut = len(shown) > SHOWN + 4 or (isinstance(value, (str, bytes)) and len(value) > SHOWN)
    return shown[: SHOWN + 4] + " ..." if cut else shown
