"""What the same regex text means in the four dialects that tokenizers are written in.

``tiktoken`` is fancy-regex as tiktoken 0.14 uses it, ``oniguruma`` is Hugging Face tokenizers' engine, ``python`` is
the ``re`` module (with ``\\p{..}`` as the ``regex`` module has it), ``pcre`` is PCRE2 10.43 with UTF and UCP on. Only
facts are here; ``syntax.py`` reads them. They were found by trying the engines.

Known and left out: Oniguruma's ``(?i:)`` also folds sequences (``ss`` matches U+00DF); ours folds single characters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from ..errors import PatternError
from .charsets import CharSet
from .presets import DIALECT_NAMES
from .unicode import category, property_set, white_space

__all__ = ["DIALECTS", "Dialect", "dialect_named"]

_LINE_BREAKS = CharSet([(0x0A, 0x0D), (0x85, 0x85), (0x2028, 0x2029)])
_BLANKS = CharSet.of("\t \xa0\u1680\u180e\u202f\u205f\u3000") | CharSet([(0x2000, 0x200A)])
_HEX_DIGITS = CharSet.of("0123456789abcdefABCDEF")
_SEPARATOR_CONTROLS = CharSet([(0x1C, 0x1F)])


@dataclass(frozen=True)
class Dialect:
    """One dialect's answers to what the dialects do not agree on.

    Attributes
    ----------
    space, word
        What ``\\s`` and ``\\w`` match (``\\d`` is Nd in all of them).
    h, v
        What ``\\h`` and ``\\v`` match; None where the escape is an error.
    posix
        What ``[:name:]`` means inside a class; None where it means nothing.
    dollar, big_z
        Where ``$`` and ``\\Z`` match: ``end`` of the text, there or before a ``final newline`` or any number of
        ``final newlines``, or at every ``line`` end.
    caret_lines
        Whether ``^`` matches at every line start.
    nested, operators
        Whether a class may hold classes, and the set operators between its parts.
    possessive_interval
        Whether ``{1,3}+`` is possessive; else it is a repeated group.
    optional_interval
        Whether ``{3}?`` is ``(?:{3})?``; else it is lazy.
    stacked
        Whether a quantifier may follow a quantifier.
    dot_all_flag, multi_line_flag
        The letters of the inline flags; empty where the dialect has none.
    flags_open_group
        Whether ``a(?i)b|c`` is ``a(?i:b|c)``; else the flag changes no grouping.
    flags_at_start_only
        Whether ``(?i)`` may only begin the pattern.
    octal
        Whether ``\\0`` and three octal digits are a character.
    folds_whole_class
        Whether ``(?i:)`` folds a bracketed class as a whole and leaves ``\\p{..}`` outside of brackets alone.
    has_any
        Whether ``\\N``, ``\\O`` and ``\\R`` are escapes.
    """

    name: str
    space: Callable[[], CharSet]
    word: Callable[[], CharSet]
    h: CharSet | None
    v: CharSet
    posix: Callable[[str], CharSet | None] | None
    dollar: str
    big_z: str
    caret_lines: bool
    nested: bool
    operators: tuple[str, ...]
    possessive_interval: bool
    optional_interval: bool
    stacked: bool
    dot_all_flag: str
    multi_line_flag: str
    flags_open_group: bool
    flags_at_start_only: bool
    octal: bool
    folds_whole_class: bool
    has_any: bool


@cache
def _unicode_word() -> CharSet:
    return CharSet.union((property_set("Alphabetic"), category("M"), category("Nd"), category("Pc")))


@cache
def _python_word() -> CharSet:
    return CharSet.union((category("L"), category("N"), CharSet.of("_")))


def _ascii_posix(name: str) -> CharSet | None:
    """POSIX classes where they are ASCII only."""
    text = {
        "alpha": "A-Za-z", "digit": "0-9", "alnum": "0-9A-Za-z", "upper": "A-Z", "lower": "a-z", "word": "0-9A-Z__a-z",
        "xdigit": "0-9A-Fa-f", "space": "\t-\r  ", "blank": "\t\t  ", "cntrl": "\0-\x1f\x7f\x7f", "ascii": "\0-\x7f",
        "punct": "!-/:-@[-`{-~", "graph": "!-~", "print": " -~",
    }.get(name)  # fmt: skip
    if text is None:
        return None
    return CharSet((ord(text[i]), ord(text[i + (2 if text[i + 1] == "-" else 1)])) for i in _starts(text))


def _starts(text: str) -> list[int]:
    """Where the ranges of "A-Za-z__" begin: "x-y" is a range, "xx" a single character."""
    starts, place = [], 0
    while place < len(text):
        starts.append(place)
        place += 3 if text[place + 1] == "-" else 2
    return starts


def _unicode_posix(name: str) -> CharSet | None:
    """POSIX classes where they are Unicode's."""
    if name in ("graph", "print", "punct"):
        raise PatternError(f"[:{name}:] differs between versions of this dialect and is not supported; use \\p{{..}}")
    if name == "blank":
        return category("Zs") | CharSet.of("\t")
    if name == "word":
        return _unicode_word()
    if name == "alnum":
        return property_set("Alphabetic") | category("Nd")
    if name in ("xdigit", "ascii"):
        return _ascii_posix(name)
    known = {"alpha": "Alphabetic", "digit": "Nd", "upper": "Uppercase", "lower": "Lowercase", "space": "White_Space"}
    known["cntrl"] = "Cc"
    return property_set(known[name]) if name in known else None


DIALECTS: dict[str, Dialect] = {
    "tiktoken": Dialect(
        name="tiktoken",
        space=white_space,
        word=lambda: _unicode_word() | CharSet([(0x200C, 0x200D)]),
        h=_HEX_DIGITS,
        v=CharSet.of("\v"),
        posix=_ascii_posix,
        dollar="end",
        big_z="final newlines",
        caret_lines=False,
        nested=True,
        operators=("&&", "--", "~~"),
        possessive_interval=True,
        optional_interval=False,
        stacked=False,
        dot_all_flag="s",
        multi_line_flag="m",
        flags_open_group=False,
        flags_at_start_only=False,
        octal=False,
        folds_whole_class=False,
        has_any=True,
    ),
    "oniguruma": Dialect(
        name="oniguruma",
        space=white_space,
        # Oniguruma asks its Latin-1 table first, where the six small digits and fractions are word characters.
        word=lambda: _unicode_word() | CharSet.of("²³¹¼½¾"),
        h=_HEX_DIGITS,
        v=CharSet.of("\v"),
        posix=_unicode_posix,
        dollar="line",
        big_z="final newline",
        caret_lines=True,
        nested=True,
        operators=("&&",),
        possessive_interval=False,
        optional_interval=True,
        stacked=True,
        dot_all_flag="m",
        multi_line_flag="",
        flags_open_group=True,
        flags_at_start_only=False,
        octal=True,
        folds_whole_class=True,
        has_any=True,
    ),
    "python": Dialect(
        name="python",
        space=lambda: white_space() | _SEPARATOR_CONTROLS,
        word=_python_word,
        h=None,
        v=CharSet.of("\v"),
        posix=None,
        dollar="final newline",
        big_z="end",
        caret_lines=False,
        nested=False,
        operators=(),
        possessive_interval=True,
        optional_interval=False,
        stacked=False,
        dot_all_flag="s",
        multi_line_flag="m",
        flags_open_group=False,
        flags_at_start_only=True,
        octal=True,
        folds_whole_class=False,
        has_any=False,
    ),
    "pcre": Dialect(
        name="pcre",
        space=lambda: white_space() | CharSet.of("\u180e"),
        word=lambda: CharSet.union((category("L"), category("N"), category("Mn"), category("Pc"))),
        h=_BLANKS,
        v=_LINE_BREAKS,
        posix=_unicode_posix,
        dollar="final newline",
        big_z="final newline",
        caret_lines=False,
        nested=False,
        operators=(),
        possessive_interval=True,
        optional_interval=False,
        stacked=False,
        dot_all_flag="s",
        multi_line_flag="m",
        flags_open_group=False,
        flags_at_start_only=False,
        octal=True,
        folds_whole_class=False,
        has_any=True,
    ),
}


def dialect_named(name: str) -> Dialect:
    """Look a dialect up.

    Raises
    ------
    PatternError
        If there is none of this name.
    """
    if name not in DIALECTS:
        raise PatternError(f"there is no dialect {name!r}; the dialects are {', '.join(DIALECT_NAMES)}")
    return DIALECTS[name]
