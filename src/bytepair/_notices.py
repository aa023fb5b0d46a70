"""Telling of what is no error: :func:`notice` warns, and counts, so that what was told of once is not kept silently."""

from __future__ import annotations

from .errors import BytepairNotice

__all__ = ["given", "notice"]

_told = [0]


def given() -> int:
    """How many notices there were in this process."""
    return _told[0]


def notice(message: str, stacklevel: int) -> None:
    """As ``warnings.warn`` with a :class:`~bytepair.BytepairNotice`, ``stacklevel`` seen from the caller."""
    import warnings

    _told[0] += 1
    warnings.warn(message, BytepairNotice, stacklevel=stacklevel + 1)
