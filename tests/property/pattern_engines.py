"""Every way in which the engines cut: pure Python, the core's automaton alone, and its blocks at each level."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from bytepair import _engine, _pure
from bytepair.errors import BytepairError
from bytepair.pattern import engine_splitter, splitter_arguments
from bytepair.pattern.automaton import compile_stages
from bytepair.pattern.families import family_of
from bytepair.pattern.presets import PRESETS

if TYPE_CHECKING:
    from bytepair.pattern.automaton import Tables

LEVELS = ("plain", "avx2", "avx512", "neon")

Stages = tuple[tuple[str, str], ...]
Cut = Callable[[bytes], list[int]]


def tables_of(stages: Stages) -> Tables:
    compiled = compile_stages(*stages)
    assert compiled.tables is not None, compiled.reason
    return compiled.tables


def pure_splitter(tables: Tables) -> Any:
    """The splitter in pure Python, whichever engine is under test."""
    classes = _pure.ClassTable(tables.classes.stage1, tables.classes.stage2, tables.classes.n_classes)
    return _pure.Splitter(classes=classes, **splitter_arguments(tables, None, False))


@cache
def levels() -> tuple[str, ...]:
    """The levels that the core has on this machine."""
    return () if _engine.NAME == "pure" else tuple(filter(_is_there, LEVELS))


def _is_there(level: str) -> bool:
    try:
        engine_splitter(PRESETS["gpt2"].stages, level)
    except BytepairError as error:
        assert "does not have" in str(error)
        return False
    return True


def core_splitters(stages: Stages) -> dict[str, Any]:
    """In the core: the automaton alone, and blocks at each level where the pattern's family is known."""
    if _engine.NAME == "pure":
        return {}
    found = {"automaton": engine_splitter(stages, blocks=False)}
    if family_of(tables_of(stages)) is not None:
        found |= {level: engine_splitter(stages, level) for level in levels()}
    return found


def cuts_of(stages: Stages) -> dict[str, Cut]:
    """By name, every way to cut."""
    splitters = {"pure": pure_splitter(tables_of(stages)), **core_splitters(stages)}
    return {name: _cut(splitter) for name, splitter in splitters.items()}


def _cut(splitter: Any) -> Cut:
    return lambda data: splitter.ends(data).tolist()  # type: ignore[no-any-return]


def in_bytes(text: str, ends: list[int]) -> list[int]:
    """Character offsets as byte offsets."""
    sizes = [0, *itertools.accumulate(len(character.encode("utf-8", "surrogateescape")) for character in text)]
    return [sizes[end] for end in ends]


def sound(text: str) -> str:
    """The text as decoding gives it: escaped bytes that happen to be UTF-8 become their character."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
