"""What the core does to be quick at Python's border, which plain Python has no need of."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, TypeVar

from ..errors import BytepairError
from ._common import integers

_Function = TypeVar("_Function")


class Direct:
    """What the core's direct methods encode with; here they are the functions themselves."""

    def __init__(self, encoder: object, specials: object) -> None:
        pass


def direct_method(function: _Function, slot: object, way: str) -> _Function:  # noqa: ARG001
    return function


def lists(ids: Any, offsets: Any) -> list[list[int]]:
    numbers, ends = integers(ids), integers(offsets)
    if not ends or ends[0] < 0 or ends[-1] > len(numbers) or any(a > b for a, b in pairwise(ends)):
        raise BytepairError("the offsets do not describe the rows")
    return [numbers[a:b] for a, b in pairwise(ends)]
