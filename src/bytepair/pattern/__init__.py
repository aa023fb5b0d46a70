"""Patterns: the regexes that cut a text into pretokens.

:class:`Pattern` is what users and tokenizers hold. Below it: ``syntax.py`` reads the regex, ``presets.py`` has the
named ones, ``scanners.py`` the hand-written scanners, ``automaton.py`` compiles, ``fallback.py`` runs anything else on
the ``regex`` module. Importing this package imports neither numpy nor regex.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..errors import PatternError
from .automaton import CompiledPattern, compile_stages
from .dialects import dialect_named
from .escapes import shown
from .fallback import regex_ends
from .nodes import can_be_empty
from .presets import PRESETS, Preset
from .scanners import ClassTable, scan, scanner_name, scanner_table
from .syntax import parse
from .unicode import UNICODE_VERSION

__all__ = ["UNICODE_VERSION", "ClassTable", "CompiledPattern", "Pattern", "presets", "resolve"]


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
    #: The preset's name, or None.
    name: str | None = field(init=False, compare=False, repr=False)
    unicode_version: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.regex, str):
            raise PatternError(f"a pattern is a str, not {type(self.regex).__name__}; decode it first")
        dialect_named(self.dialect)
        if not (self.then is None or isinstance(self.then, Pattern)):
            raise PatternError(f"then={self.then!r} is no Pattern; make one of it with bytepair.Pattern(...)")
        if not self.timeout > 0:
            raise PatternError(f"timeout={self.timeout!r} leaves no time; give seconds above 0")
        name = next((name for name, preset in PRESETS.items() if preset.stages == self.stages), None)
        if name is None and can_be_empty(parse(self.regex, self.dialect)):
            raise PatternError(
                f"pattern {shown(self.regex)} can match the empty text, so it cannot cut; "
                "use + where it has *, or add a character"
            )
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "unicode_version", UNICODE_VERSION)

    @property
    def stages(self) -> tuple[tuple[str, str], ...]:
        """Regex and dialect of this pattern and of all that cut its pretokens again."""
        return ((self.regex, self.dialect), *(self.then.stages if self.then else ()))

    @property
    def scanner(self) -> str | None:
        """The hand-written scanner that cuts this pattern: ``"gpt2"``, ``"runs"``, ``"none"``, or None."""
        return None if self.then else scanner_name(self.regex, self.dialect)

    @property
    def classes(self) -> ClassTable | None:
        """The class table that the scanner wants, if it wants one."""
        return None if self.then else scanner_table(self.regex, self.dialect)

    @property
    def compiled(self) -> CompiledPattern:
        """The pattern as an automaton, or the reason why it has none; compiled on first use and kept."""
        return compile_stages(*self.stages)

    def ends(self, data: bytes) -> list[int]:
        """Cut a text by the plain path.

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
            If the text takes longer than the timeout.
        """
        scanner = self.scanner
        if scanner is not None:
            return scan(scanner, self.classes, data)
        tables = self.compiled.tables
        if tables is not None:
            return tables.ends(data)
        ends = regex_ends(data, self.regex, self.dialect, self.timeout)
        if self.then is None:
            return ends
        pieces = zip([0, *ends], ends, strict=False)
        return [start + end for start, stop in pieces for end in self.then.ends(data[start:stop])]


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
        return Pattern(pattern)
    resolved = _of_preset(PRESETS[pattern])
    # Presets may share a text (r50k and p50k): the name that was asked for is kept.
    object.__setattr__(resolved, "name", pattern)
    return resolved
