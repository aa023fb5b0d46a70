"""A Hugging Face ``pre_tokenizer`` as a chain of patterns that cuts exactly where its owner does.

:func:`from_huggingface` reads the object as ``tokenizer.json`` has it; readers of such files call it. What a pattern
cannot say is refused with the reason: spaces that the owner adds, characters that it replaces.

A Split finds the matches of its regex R, and gaps between them. Its behavior then joins some of these pieces:

- Isolated leaves them: ``R``.
- Contiguous joins neighbouring matches: ``(?:R)+``.
- MergedWithPrevious, and MergedWithNext inverted, join a gap and the match behind it: ``[\\s\\S]*?(?:R)``.
- MergedWithNext, and MergedWithPrevious inverted, join a match and the gap behind it: ``(?:R)(?:(?!R)[\\s\\S])*``.
- Removed leaves out the matches, or inverted the gaps, as Whitespace and WhitespaceSplit leave out white space.

UnicodeScripts cuts where the script changes, after Unicode 9.0. Hiragana and Katakana count as Han. A space, and what
has no script, goes on with whatever stands before it; where nothing does, at the beginning of a text, it is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

from ..errors import PatternError
from . import Pattern, resolve
from .determinise import determinise
from .escapes import shown
from .nodes import Backreference, Node, can_be_empty, walk
from .presets import PRESETS
from .program import GAP, NotCompilable, build
from .syntax import parse
from .unicode import age, script, scripts

__all__ = ["adds_prefix_space", "from_huggingface"]

_BEHAVIORS = ("Isolated", "Contiguous", "MergedWithPrevious", "MergedWithNext", "Removed")
_MAX_DEPTH = 50
_MAX_STAGES = 100

# Rust's char::is_numeric, as tokenizers 0.23 has it, is of Unicode 17: it knows 13 numbers more than 16.0.
_NUMBER = r"[\p{N}\x{11de0}-\x{11de9}\x{16ff4}-\x{16ff6}]"
# ASCII punctuation, and category P of an old Unicode: found by asking tokenizers for every code point.
_NOT_YET = (
    r"\x{61d}\x{9fd}\x{a76}\x{c77}\x{c84}\x{1b4e}\x{1b4f}\x{1b7d}-\x{1b7f}\x{2e43}-\x{2e4f}\x{2e52}-\x{2e5d}\x{10d6e}"
    r"\x{10ead}\x{10f55}-\x{10f59}\x{10f86}-\x{10f89}\x{113d4}\x{113d5}\x{113d7}\x{113d8}\x{1144b}-\x{1144f}\x{1145a}"
    r"\x{1145b}\x{1145d}\x{11660}-\x{1166c}\x{116b9}\x{1183b}\x{11944}-\x{11946}\x{119e2}\x{11a3f}-\x{11a46}"
    r"\x{11a9a}-\x{11a9c}\x{11a9e}-\x{11aa2}\x{11b00}-\x{11b09}\x{11be1}\x{11c41}-\x{11c45}\x{11c70}\x{11c71}\x{11ef7}"
    r"\x{11ef8}\x{11f43}-\x{11f4f}\x{11fff}\x{12ff1}\x{12ff2}\x{16d6d}-\x{16d6f}\x{16e97}-\x{16e9a}\x{16fe2}\x{1e5ff}"
    r"\x{1e95e}\x{1e95f}"
)
_PUNCTUATION = rf"[[\p{{P}}!-/:-@\[-`{{-~\x{{166d}}\x{{111c9}}]&&[^{_NOT_YET}]]"
# What UnicodeScripts knows no script of. Its table is of Unicode 9.0: its scripts are those of 16.0 but for what
# _OTHERWISE says, found by asking tokenizers 0.23 for every code point.
_NO_SCRIPT = r" \P{Age=9.0}\p{Cn}\p{Co}\p{Cs}"
_OTHERWISE = {
    "Arabic": r"[\p{Arabic}--\x{61c}]",
    "Armenian": r"[\p{Armenian}--\x{589}]",
    "Common": r"[\p{Common}\x{589}\x{61c}--\x{30fc}]",
    "Devanagari": r"\p{Devanagari}\x{953}\x{954}",
    "Han": r"\p{Han}\p{Hiragana}\p{Katakana}\x{30fc}",
    "Inherited": r"[\p{Inherited}--[\x{953}\x{954}]]",
}


class _Stage(NamedTuple):
    regex: str
    dialect: str
    drop: Literal["matches", "gaps"] | None = None


class _Part(NamedTuple):
    """One pre-tokenizer that is no Sequence: its type, its fields, and where it stands, for errors."""

    kind: str
    fields: Mapping[str, Any]
    place: str

    def refuse(self, why: str) -> PatternError:
        return PatternError(f"{self.place} ({self.kind}) {why}")

    def boolean(self, name: str, default: bool) -> bool:
        value = self.fields.get(name, default)
        if not isinstance(value, bool):
            raise self.refuse(f"has {name}={value!r}; give true or false")
        return value

    def behavior(self, default: str | None) -> str:
        value = self.fields.get("behavior", default)
        if value not in _BEHAVIORS:
            raise self.refuse(f"has behavior={value!r}; there are {', '.join(_BEHAVIORS)}")
        return str(value)


def from_huggingface(pre_tokenizer: Mapping[str, Any] | None) -> Pattern:
    """Make the pattern that cuts where a Hugging Face pre-tokenizer does.

    Parameters
    ----------
    pre_tokenizer
        The object as ``tokenizer.json`` has it; None is no cut at all.

    Returns
    -------
    Pattern
        A chain where there are several stages. A space that a ByteLevel puts before the text is no matter of cutting:
        see :func:`adds_prefix_space`.

    Raises
    ------
    PatternError
        If a pattern cannot cut like it; the message names the part and why.

    Examples
    --------
    >>> digits = {"type": "Digits", "individual_digits": True}
    >>> words = {"type": "ByteLevel", "add_prefix_space": False}
    >>> from_huggingface({"type": "Sequence", "pretokenizers": [digits, words]}).ends(b"it's 12")
    [2, 4, 5, 6, 7]
    """
    stages: list[_Stage] = []
    last: _Part | None = None
    for part in _flat(pre_tokenizer, "pre_tokenizer"):
        if last is not None and last.kind == "ByteLevel":
            raise part.refuse("comes after a ByteLevel, whose letters for bytes it would cut; put the ByteLevel last")
        if part.kind == "ByteLevel" and stages and part.boolean("add_prefix_space", True):
            raise part.refuse("adds a space to every piece, which no pattern does; set add_prefix_space to false")
        if part.kind not in _READERS:
            why = _REFUSED.get(part.kind, f"is not supported; there are {', '.join(sorted(_READERS))}")
            raise part.refuse(why)
        stages += _READERS[part.kind](part)
        if len(stages) > _MAX_STAGES:
            raise part.refuse(f"is one of more than {_MAX_STAGES}, which is too many; leave out those that cut nothing")
        last = part
    pattern: Pattern | None = None
    for stage in reversed(stages):
        pattern = Pattern(stage.regex, dialect=stage.dialect, drop=stage.drop, then=pattern)
    return resolve("none") if pattern is None else pattern


def adds_prefix_space(pre_tokenizer: Mapping[str, Any] | None) -> bool:
    """Whether the pre-tokenizer puts a space before a text that does not begin with one, as ByteLevel may.

    Examples
    --------
    >>> adds_prefix_space({"type": "ByteLevel", "add_prefix_space": True})
    True
    """
    parts = _flat(pre_tokenizer, "pre_tokenizer")
    return any(part.boolean("add_prefix_space", True) for part in parts if part.kind == "ByteLevel")


def _flat(pre_tokenizer: object, place: str, depth: int = 0) -> Iterator[_Part]:
    """The parts in order, with sequences opened."""
    if pre_tokenizer is None and not depth:
        return
    if not isinstance(pre_tokenizer, Mapping):
        raise PatternError(f"{place} is {type(pre_tokenizer).__name__} and no object with a type")
    kind = pre_tokenizer.get("type")
    if not isinstance(kind, str):
        raise PatternError(f"{place} has no type; it needs one such as Split or ByteLevel")
    if kind != "Sequence":
        yield _Part(kind, pre_tokenizer, place)
        return
    inner = pre_tokenizer.get("pretokenizers")
    if not isinstance(inner, Sequence) or isinstance(inner, (str, bytes)):
        raise PatternError(f"{place} (Sequence) has no list pretokenizers")
    if depth > _MAX_DEPTH:
        raise PatternError(f"{place} is nested more than {_MAX_DEPTH} deep; write it flat")
    for number, one in enumerate(inner):
        yield from _flat(one, f"{place}.pretokenizers[{number}]", depth + 1)


def _split(part: _Part) -> list[_Stage]:
    pattern = part.fields.get("pattern")
    if not isinstance(pattern, Mapping) or len(pattern) != 1 or not {"Regex", "String"} >= pattern.keys():
        raise part.refuse('has no pattern; give {"Regex": ...} or {"String": ...}')
    ((form, text),) = pattern.items()
    if not isinstance(text, str):
        raise part.refuse(f"has {form}={text!r}; give a string")
    regex = text if form == "Regex" else "".join(f"\\{c}" if c.isascii() and not c.isalnum() else c for c in text)
    return [_joined(part, regex, part.behavior(None), part.boolean("invert", False))]


def _joined(part: _Part, regex: str, behavior: str, invert: bool) -> _Stage:
    """The pattern whose matches and gaps are the pieces of a Split."""
    dialect = "oniguruma"
    try:
        tree = parse(regex, dialect)
    except PatternError as error:
        raise part.refuse(f"has a wrong pattern: {error}") from error
    if can_be_empty(tree):
        raise part.refuse(f"has the pattern {shown(regex)}, which can match the empty text; use + where it has *")
    if behavior == "Removed":
        # Older files write Isolated so, with a regex that leaves no gap: then nothing is dropped.
        whole = invert and _leaves_no_gap(regex, dialect)
        return _Stage(regex, dialect, None if whole else "gaps" if invert else "matches")
    if behavior == "Isolated":
        return _Stage(regex, dialect)
    if not _stands_in_a_group(regex, tree, dialect):
        raise part.refuse(f"has the pattern {shown(regex)}, which cannot stand in a group; end it without a comment")
    if behavior == "Contiguous":
        return _Stage(f"(?:{regex})+", dialect)
    if (behavior == "MergedWithPrevious") != invert:
        return _Stage(rf"[\s\S]*?(?:{regex})", dialect)
    if any(isinstance(node, Backreference) for node in walk(tree)):
        raise part.refuse(f"has the pattern {shown(regex)} with a back-reference, which cannot be written twice")
    return _Stage(rf"(?:{regex})(?:(?!{regex})[\s\S])*", dialect)


def _stands_in_a_group(regex: str, tree: Node, dialect: str) -> bool:
    try:
        return parse(f"(?:{regex})", dialect) == tree
    except PatternError:
        return False


def _leaves_no_gap(regex: str, dialect: str) -> bool:
    """Whether the matches cover every text; False too where that is not known."""
    try:
        automaton = determinise(build(parse(regex, dialect)))
    except NotCompilable:
        return False
    return not any(kind == GAP for row in automaton.delta for kind, _ in row)


def _byte_level(part: _Part) -> list[_Stage]:
    gpt2 = PRESETS["gpt2"]
    return [_Stage(gpt2.regex, gpt2.dialect)] if part.boolean("use_regex", True) else []


def _digits(part: _Part) -> list[_Stage]:
    behavior = "Isolated" if part.boolean("individual_digits", False) else "Contiguous"
    return [_joined(part, _NUMBER, behavior, False)]


def _punctuation(part: _Part) -> list[_Stage]:
    return [_joined(part, _PUNCTUATION, part.behavior("Isolated"), False)]


def _white_space(part: _Part) -> list[_Stage]:
    # Its \w and \s are those of Rust's regexes, as in tiktoken.
    return [_Stage(r"\S+" if part.kind == "WhitespaceSplit" else r"\w+|[^\w\s]+", "tiktoken", "gaps")]


def _unicode_scripts(_part: _Part) -> list[_Stage]:
    # Once the first stage has left out what begins a text without a script, one option at most matches anywhere.
    return [_Stage(rf"\A[{_NO_SCRIPT}]+", "tiktoken", "matches"), _Stage(_runs_of_a_script(), "tiktoken")]


@cache
def _runs_of_a_script() -> str:
    known = [name for name in scripts() if script(name) & age("9.0") and name not in ("Hiragana", "Katakana")]
    sets = [_OTHERWISE.get(name, rf"\p{{{name}}}") for name in known]
    return "|".join(f"[{one}{_NO_SCRIPT}]+" for one in sets)


_READERS: dict[str, Callable[[_Part], list[_Stage]]] = {
    "Split": _split,
    "ByteLevel": _byte_level,
    "Digits": _digits,
    "Punctuation": _punctuation,
    "Whitespace": _white_space,
    "WhitespaceSplit": _white_space,
    "UnicodeScripts": _unicode_scripts,
}
_REFUSED = {
    "Metaspace": "replaces spaces by U+2581, which no pattern does",
    "BertPreTokenizer": "belongs to WordPiece; write it as a Sequence of WhitespaceSplit and Punctuation",
    "CharDelimiterSplit": "is not supported; write it as a Split with behavior Removed",
}
