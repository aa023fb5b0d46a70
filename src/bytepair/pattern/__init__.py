"""Patterns: the regexes that cut a text into pretokens.

:class:`Pattern` is what users and tokenizers hold. Below it: ``syntax.py`` reads the regex, ``presets.py`` has the
named ones, ``automaton.py`` compiles, ``families.py`` knows which of them the core cuts by blocks, ``fallback.py`` runs
anything else on the ``regex`` module; ``pretokenizers.py`` reads Hugging Face's. Importing this package imports
neither numpy nor regex, and the compiler only when a pattern is no preset or must be compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from .. import _engine
from .._cache import folder, key_of, read, write
from ..errors import PatternError
from .class_table import ClassTable
from .families import family_of
from .presets import DIALECT_NAMES, PRESETS, UNICODE_VERSION, Preset
from .tables import CompiledPattern, Tables

__all__ = [
    "UNICODE_VERSION",
    "ClassTable",
    "CompiledPattern",
    "Pattern",
    "blanks",
    "engine_splitter",
    "presets",
    "resolve",
]


#: The parts that a pattern may have once its counted repetitions are written out.
MAX_SIZE = 50_000


@dataclass(frozen=True)
class Pattern:
    """A regex that cuts text into pretokens; immutable, hashable and picklable.

    Two patterns are equal if regex, dialect, what follows and Unicode version are. What the regex leaves unmatched is
    a pretoken too, so no byte is ever dropped.

    Parameters
    ----------
    regex
        The regex.
    dialect
        How to read it: ``"tiktoken"``, ``"oniguruma"`` (Hugging Face), ``"python"`` or ``"pcre"``.
    timeout
        Seconds that one document may take where the pattern runs on the ``regex`` module.
    then
        A pattern that cuts each pretoken again, as a text of its own.
    drop
        ``"matches"`` or ``"gaps"``: what is left out, as some of Hugging Face's pre-tokenizers do. A tokenizer with
        such a pattern is not lossless. None, the default, leaves out nothing.

    Raises
    ------
    PatternError
        If the regex is wrong, is not supported, or can match the empty text.

    Examples
    --------
    >>> pattern = Pattern("[a-z]+")
    >>> pattern.ends(b"ab1cd")
    [2, 3, 5]
    """

    regex: str
    dialect: str = field(default="tiktoken", kw_only=True)
    timeout: float = field(default=60.0, kw_only=True, compare=False)
    then: Pattern | None = field(default=None, kw_only=True)
    drop: Literal["matches", "gaps"] | None = field(default=None, kw_only=True)
    #: The preset's name, or None.
    name: str | None = field(init=False, compare=False, repr=False)
    unicode_version: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.regex, str):
            raise PatternError(f"a pattern is a str, not {type(self.regex).__name__}; decode it first")
        if not isinstance(self.dialect, str):
            raise PatternError(f"dialect={self.dialect!r} is no name of a dialect")
        if isinstance(self.timeout, bool) or not isinstance(self.timeout, (int, float)):
            raise PatternError(f"timeout={self.timeout!r} is no number of seconds")
        if self.dialect not in DIALECT_NAMES:
            raise PatternError(f"there is no dialect {self.dialect!r}; the dialects are {', '.join(DIALECT_NAMES)}")
        if self.drop not in (None, "matches", "gaps"):
            raise PatternError(f'drop={self.drop!r} is not "matches", "gaps" or None')
        if not (self.then is None or isinstance(self.then, Pattern)):
            raise PatternError(f"then={self.then!r} is no Pattern; make one of it with bytepair.Pattern(...)")
        if not self.timeout > 0:
            raise PatternError(f"timeout={self.timeout!r} leaves no time; give seconds above 0")
        name = next((name for name, preset in PRESETS.items() if preset.stages == self.stages and not self.drops), None)
        if name is None:
            _check(self.regex, self.dialect)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "unicode_version", UNICODE_VERSION)

    @classmethod
    def checked(cls, stages: Sequence[tuple[str, str, float, str | None]], name: str | None) -> Pattern:
        """The pattern of (regex, dialect, timeout, drop) of each stage, of which it is known that it can be made."""
        made: Pattern | None = None
        for place, (regex, dialect, timeout, drop) in reversed(list(enumerate(stages))):
            here, then = cls.__new__(cls), made
            if not isinstance(regex, str) or dialect not in DIALECT_NAMES or drop not in (None, "matches", "gaps"):
                raise PatternError(f"stage {place} of the pattern is malformed")
            for field_name, value in (
                ("regex", regex), ("dialect", dialect), ("timeout", float(timeout)), ("drop", drop), ("then", then),
                ("unicode_version", UNICODE_VERSION),
            ):  # fmt: skip
                object.__setattr__(here, field_name, value)
            known = (n for n, preset in PRESETS.items() if preset.stages == here.stages and not here.drops)
            object.__setattr__(here, "name", next(known, None) if place else name)
            made = here
        if made is None or (name is not None and name not in PRESETS):
            raise PatternError(f"the pattern {name!r} is none")
        return made

    @property
    def stages(self) -> tuple[tuple[str, str], ...]:
        """Regex and dialect of this pattern and of all that cut its pretokens again."""
        return ((self.regex, self.dialect), *(self.then.stages if self.then else ()))

    @property
    def drops(self) -> tuple[str, ...]:
        """What each stage leaves out, ``"matches"``, ``"gaps"`` or ``"nothing"``; empty where no stage leaves any."""
        stages: list[str] = []
        stage: Pattern | None = self
        while stage is not None:
            stages.append(stage.drop or "nothing")
            stage = stage.then
        return tuple(stages) if set(stages) != {"nothing"} else ()

    @property
    def compiled(self) -> CompiledPattern:
        """The pattern as an automaton, or the reason why it has none; compiled on first use and kept."""
        return CompiledPattern(3, "it leaves out text", None) if self.drops else _compiled(self.stages)

    @property
    def splitter(self) -> Any:
        """What cuts this pattern in the engine, or None: then only :meth:`spans` does."""
        return None if self.drops else engine_splitter(self.stages)

    def ends(self, data: bytes) -> list[int]:
        """Cut a text that nothing is left out of.

        Parameters
        ----------
        data
            The text, in UTF-8; a byte that is no UTF-8 behaves as what ``surrogateescape`` makes of it.

        Returns
        -------
        list of int
            The end of every pretoken, in bytes, rising; the last one is ``len(data)``.

        Raises
        ------
        PatternError
            If the text takes longer than the timeout, or the pattern leaves out text.
        """
        if self.drops:
            from .escapes import shown

            raise PatternError(f"pattern {shown(self.regex)} leaves out text: its pretokens have gaps; ask for spans()")
        splitter = self.splitter
        if splitter is not None:
            found: list[int] = splitter.ends(data).tolist()
            return found
        return [end for _, end in self.spans(data)]

    def spans(self, data: bytes) -> list[tuple[int, int]]:
        """Cut a text: the start and end of every pretoken, in bytes. What a pattern drops lies in none.

        Examples
        --------
        >>> Pattern(r"\\w+|[^\\w\\s]+", drop="gaps").spans(b"a  b.")
        [(0, 1), (3, 4), (4, 5)]
        """
        # A chain without an automaton is cut stage after stage, each in its own way.
        first = None if self.drop else engine_splitter(self.stages[:1] if self.then else self.stages)
        if first is not None:
            ends = first.ends(data).tolist()
            pieces = list(zip([0, *ends], ends, strict=False))
        else:
            from .fallback import regex_cuts

            cuts = regex_cuts(data, self.regex, self.dialect, self.timeout)
            starts = [0, *(end for end, _ in cuts)]
            dropped = {"matches": True, "gaps": False}.get(self.drop or "")
            pieces = [(start, end) for start, (end, match) in zip(starts, cuts, strict=False) if match is not dropped]
        if self.then is None:
            return pieces
        return [(start + a, start + b) for start, stop in pieces for a, b in self.then.spans(data[start:stop])]


def _check(regex: str, dialect: str) -> None:
    """Refuses a regex that is wrong, or cannot cut."""
    from .escapes import shown
    from .nodes import can_be_empty, expanded_size
    from .syntax import parse

    tree = parse(regex, dialect)
    if expanded_size(tree) > MAX_SIZE:
        raise PatternError(
            f"pattern {shown(regex)} has more than {MAX_SIZE} parts once its repetitions are written out; "
            "make their bounds smaller"
        )
    if can_be_empty(tree):
        raise PatternError(
            f"pattern {shown(regex)} can match the empty text, so it cannot cut; "
            "use + where it has *, or add a character"
        )


def _compiled(stages: tuple[tuple[str, str], ...]) -> CompiledPattern:
    return _machine(stages)[0]


@lru_cache(maxsize=64)
def _machine(stages: tuple[tuple[str, str], ...]) -> tuple[CompiledPattern, Any]:
    """A compiled pattern, from the cache if it is there, and the engine's splitter of it."""
    key = key_of("pattern", repr(stages), UNICODE_VERSION) if folder() is not None else None
    kept = None if key is None else read(key)
    if kept is not None:
        try:
            compiled = CompiledPattern.of_kept(kept)
            return compiled, _splitter_of(compiled.tables, None, True)
        except (KeyError, TypeError, ValueError, OverflowError):
            pass  # whoever wrote that; it is made anew
    from .automaton import compile_stages

    compiled = compile_stages(*stages)
    if key is not None:
        write(key, *compiled.to_keep())
    return compiled, _splitter_of(compiled.tables, None, True)


def _splitter_of(tables: Tables | None, level: str | None, blocks: bool) -> Any:
    if tables is None:
        return None
    arguments = splitter_arguments(tables, level, blocks)
    return _engine.Splitter(classes=engine_classes(tables.classes), **arguments)


@lru_cache(maxsize=64)
def engine_splitter(stages: tuple[tuple[str, str], ...], level: str | None = None, blocks: bool = True) -> Any:
    """The engine's splitter of a pattern, or None where it has no automaton.

    ``level`` names an instruction set of the core, None is the best there is; without ``blocks`` the automaton alone
    cuts.
    """
    compiled, splitter = _machine(stages)
    return splitter if level is None and blocks else _splitter_of(compiled.tables, level, blocks)


def splitter_arguments(tables: Tables, level: str | None, blocks: bool) -> dict[str, Any]:
    """What an engine's splitter is made of, beside the classes."""
    family, flags = (family_of(tables) if blocks else None) or (None, [])
    return {
        "width": tables.width,
        "begin": tables.begin,
        "levels": tables.levels,
        "next": tables.next,
        "action": tables.action,
        "actions": [list(code) for code in tables.actions],
        "strong": tables.strong,
        "family": family,
        "flags": flags,
        "level": level,
    }


def engine_classes(table: ClassTable) -> Any:
    """A class table for the engine."""
    return _engine.ClassTable(table.stage1, table.stage2, table.n_classes)


@lru_cache(maxsize=2)
def blanks(only_spaces: bool) -> Any:
    """For the engine: class 1 is the white space that the classic scheme leaves out, all there is or " " and "\\n"."""
    from .charsets import CharSet
    from .dialects import DIALECTS

    dropped = CharSet.of(" \n") if only_spaces else DIALECTS["python"].space()
    return engine_classes(ClassTable.of_sets(dropped))


def _of_preset(preset: Preset) -> Pattern:
    then = None if preset.then is None else _of_preset(preset.then)
    return Pattern(preset.regex, dialect=preset.dialect, then=then)


def presets() -> tuple[str, ...]:
    """The names of all presets."""
    return tuple(PRESETS)


def resolve(pattern: str | Pattern) -> Pattern:
    """Give the pattern that ``pattern=`` means: a preset's name, a regex in the tiktoken dialect, or a Pattern.

    Raises
    ------
    PatternError
        If it is none of these.

    Examples
    --------
    >>> resolve("gpt2").ends(b"it's 5")
    [2, 4, 6]
    >>> resolve("[a-z]+|.").name is None
    True
    """
    if isinstance(pattern, Pattern):
        return pattern
    if not isinstance(pattern, str):
        raise PatternError(f"pattern={pattern!r} is no pattern; give a preset's name, a regex or a Pattern")
    if pattern not in PRESETS:
        import re
        from difflib import get_close_matches

        if re.fullmatch(r"[A-Za-z0-9_-]*", pattern):  # a regex of nothing but that matches one word only
            near = get_close_matches(pattern.lower().removesuffix("_base"), PRESETS, 3, 0.5)
            raise PatternError(
                f"there is no preset {pattern!r}; "
                + (f"near ones are {', '.join(near)}. " if near else f"there are {', '.join(PRESETS)}. ")
                + f"If it is meant as a regex, give Pattern({pattern!r})"
            )
        return Pattern(pattern)
    resolved = _of_preset(PRESETS[pattern])
    # Presets may share a text (r50k and p50k): the name that was asked for is kept.
    object.__setattr__(resolved, "name", pattern)
    return resolved
