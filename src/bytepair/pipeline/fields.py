"""Reading the objects of a ``tokenizer.json``: typed fields, and errors that name the place and the cure.

``output`` and ``template`` read with it. It knows no type of object and no meaning of a field.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._check import brief, whole
from ..errors import FormatError

__all__ = ["ID_MOST", "MAX_DEPTH", "Fields", "a_list", "flat"]

MAX_DEPTH = 50
"""How deep one Sequence may stand in another."""

ID_MOST = (1 << 32) - 1
"""The highest id and type id: the owner keeps them in 32 bits."""

_MISSING = object()


@dataclass(frozen=True)
class Fields:
    """One JSON object: its fields, where it stands in the file, and its type if it says one."""

    values: Mapping[str, Any]
    place: str
    kind: str = ""

    @classmethod
    def of(cls, value: object, place: str, cure: str) -> Fields:
        """The fields of an object without a type."""
        if not isinstance(value, Mapping):
            raise FormatError(f"{place} is {brief(value)} and no object; {cure}")
        return cls(value, place)

    @property
    def label(self) -> str:
        """The place as messages begin with it."""
        return f"{self.place} ({self.kind})" if self.kind else self.place

    def refuse(self, why: str) -> FormatError:
        """The error of this object."""
        return FormatError(f"{self.label} {why}")

    def get(self, name: str, cure: str) -> Any:
        """A field that must be there."""
        value = self.values.get(name, _MISSING)
        if value is _MISSING:
            raise self.refuse(f"has no {name}; {cure}")
        return value

    def text(self, name: str) -> str:
        """A field that is a string."""
        value = self.get(name, "give a string")
        if not isinstance(value, str):
            raise self.refuse(f"has {name}={brief(value)}; give a string")
        return value

    def character(self, name: str) -> str:
        """A field that is a string of one character."""
        value = self.get(name, "give one character")
        if not isinstance(value, str) or len(value) != 1:
            raise self.refuse(f"has {name}={brief(value)}; give one character")
        return value

    def boolean(self, name: str, default: bool | None = None) -> bool:
        """A field that is true or false; one without a default must be there."""
        value = self.get(name, "give true or false") if default is None else self.values.get(name, default)
        if not isinstance(value, bool):
            raise self.refuse(f"has {name}={brief(value)}; give true or false")
        return value

    def whole(self, name: str, most: int = (1 << 63) - 1) -> int:
        """A field that is a whole number from 0."""
        return whole(f"{self.label} {name}", self.get(name, "give a whole number"), 0, FormatError, most)

    def choice(self, name: str, choices: Sequence[str], default: str | None = None) -> str:
        """A field that is one of some names; one without a default must be there."""
        cure = f"there are {', '.join(choices)}"
        value = self.get(name, cure) if default is None else self.values.get(name, default)
        if not isinstance(value, str) or value not in choices:
            raise self.refuse(f"has {name}={brief(value)}; {cure}")
        return value


def a_list(value: object) -> bool:
    """Whether a JSON value is a list."""
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def flat(value: object, place: str, inner: str, example: str, depth: int = 0) -> Iterator[Fields]:
    """The objects in order, with every Sequence opened; ``inner`` names its list."""
    if not isinstance(value, Mapping):
        raise FormatError(f"{place} is {brief(value)} and no object with a type; give one such as {example}")
    kind = value.get("type")
    if not isinstance(kind, str):
        raise FormatError(f"{place} has no type; give one such as {example}")
    if kind != "Sequence":
        yield Fields(value, place, kind)
        return
    if depth >= MAX_DEPTH:
        raise FormatError(f"{place} (Sequence) is nested more than {MAX_DEPTH} deep; write it flat")
    parts = value.get(inner)
    if not isinstance(parts, Sequence) or not a_list(parts):
        raise FormatError(f"{place} (Sequence) has no list {inner}; give one, which may be empty")
    for number, part in enumerate(parts):
        yield from flat(part, f"{place}.{inner}[{number}]", inner, example, depth + 1)
