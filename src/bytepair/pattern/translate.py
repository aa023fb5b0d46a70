"""A pattern written in another dialect, proved to cut the same.

:func:`in_dialect` is for those who write a tokenizer to a file whose owner reads another dialect than its pattern is
in. Tried in turn: the text as it is, where only spellings that all engines share occur in it; a preset of that
dialect; the tree written out again. Whichever is taken has the same automaton over the same characters as the
original. A pattern without an automaton must have the same tree, in the normal form that :func:`_plain` gives.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, lru_cache
from math import inf
from typing import NamedTuple

from ..errors import PatternError
from . import Pattern, _unicode_tables
from .automaton import compile_stages
from .charsets import ALL, EMPTY, CharSet
from .dialects import Dialect, dialect_named
from .escapes import NEWLINE, shown
from .nodes import (
    NOTHING,
    Alternation,
    Atomic,
    Backreference,
    Chars,
    Concat,
    Group,
    Look,
    Node,
    Repeat,
    RepeatMode,
    alternation,
    concat,
    one_set,
    walk,
)
from .presets import PRESETS
from .program import NotCompilable, build
from .syntax import parse
from .unicode import category, property_set, scripts

__all__ = ["in_dialect"]

#: The longest look-behind of varying length that PCRE2 10.43 takes.
_PCRE_LOOKBEHIND = 255


def in_dialect(pattern: Pattern, dialect: str) -> Pattern:
    """Write a pattern in another dialect.

    Parameters
    ----------
    pattern
        The pattern; each stage of a chain is written for itself.
    dialect
        ``"tiktoken"``, ``"oniguruma"``, ``"python"`` or ``"pcre"``.

    Returns
    -------
    Pattern
        One that cuts every text the same, and leaves out the same.

    Raises
    ------
    PatternError
        If there is no such dialect, or equal cuts cannot be proved; the message says why.

    Examples
    --------
    >>> in_dialect(Pattern(r"\\p{N}{1,3}+|(?i:k)|\\s+$"), "oniguruma").regex
    '(?>\\\\p{N}{1,3})|[Kk\\\\x{212a}]|\\\\s+\\\\z'
    """
    wanted = dialect_named(dialect)
    then = None if pattern.then is None else in_dialect(pattern.then, dialect)
    if pattern.dialect == dialect:
        return pattern if then == pattern.then else replace(pattern, then=then)
    regex = _translated(pattern.regex, pattern.dialect, wanted)
    return replace(pattern, regex=regex, dialect=dialect, then=then)


@lru_cache(maxsize=64)
def _translated(regex: str, dialect: str, wanted: Dialect) -> str:
    why = "it cuts otherwise there"
    plain = _plain(parse(regex, dialect))
    too_far = wanted.name == "pcre" and any(map(_looks_too_far, walk(plain)))
    if too_far:
        why = f"its look-behind, of no fixed length, may take more than {_PCRE_LOOKBEHIND} characters"
    for candidate in () if too_far else _candidates(regex, dialect, wanted):
        try:
            if _cut_alike((regex, dialect), (candidate, wanted.name)):
                return candidate
        except PatternError as error:
            why = str(error)
    reason = compile_stages((regex, dialect)).reason
    if reason is not None and not too_far:
        why = f"{reason}, so only the same tree would be proof; {why}"
    raise PatternError(
        f"pattern {shown(regex)} ({dialect} dialect) cannot be written in the {wanted.name} dialect: {why}; "
        f"simplify it, or write it in that dialect by hand"
    )


def _candidates(regex: str, dialect: str, wanted: Dialect) -> Iterator[str]:
    tree = parse(regex, dialect)
    shared = _shared_spelling(wanted.name).fullmatch(regex) and not any(map(_is_refused, walk(tree)))
    if shared and not _is_of_two_modules(regex, wanted):
        yield regex
    if compile_stages((regex, dialect)).tables is not None:
        yield from (one.regex for one in PRESETS.values() if one.dialect == wanted.name and one.then is None)
    plain = _plain(tree)
    text = _Writer(wanted).text(plain)
    yield _Writer(wanted, short=False).text(plain) if _is_of_two_modules(text, wanted) else text


def _is_of_two_modules(regex: str, wanted: Dialect) -> bool:
    """Whether ``\\p{..}`` asks for the ``regex`` module, whose own ``\\s``, ``\\w`` and ``\\b`` are not Python's."""
    return wanted.name == "python" and all(re.search(rf"\\[{some}]", regex) for some in ("pP", "sSwWbB"))


def _cut_alike(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Whether two regexes, each with its dialect, are certain to cut every text the same."""
    first, second = compile_stages(one).tables, compile_stages(other).tables
    if first is not None and second is not None:
        return first.canonical == second.canonical and first.classes == second.classes
    return _plain(parse(*one)) == _plain(parse(*other))


@cache
def _shared_spelling(dialect: str) -> re.Pattern[str]:
    """What the engine of a dialect is sure to read as our parser does: no rare escape, flag or property name.

    Engines may fold sequences (``ss`` and U+00DF) where ours folds single characters. So under ``(?i:`` there may be
    ASCII letters alone, without the pairs that are such a sequence.
    """
    names = "|".join(re.escape(name) for name, _ in _properties(dialect))
    end = "Z" if dialect == "python" else "z"
    escape = (
        rf"\\(?:[sSwWdDtnrf]|[-/.^$|?*+()\[\]{{}}\\&~#]|x[0-7][0-9a-fA-F]|x\{{[0-9a-fA-F]+\}}|[pP]\{{(?:{names})\}})"
    )
    return re.compile(
        rf"(?:[^\\(\[\]{{}}]|{escape}|\\[Ab{end}1-9]"
        rf"|\[\^?(?:[^\\\[\]]|{escape})+\]"
        r"|\{[0-9]+(?:,[0-9]*)?\}"
        r"|\((?!\?)|\(\?(?:s?:|<?[=!]|>)"
        r"|\(\?i:(?:(?!(?:[sS][sStT]|[fF][fFiIlL]))[A-Za-z'|]|\[[A-Za-z]+\])+\))*"
    )


# The tree


def _plain(node: Node) -> Node:
    """The normal form of a tree: one way to say a thing, and no groups but those that are referred to."""
    return _normal(node, any(isinstance(part, Backreference) for part in walk(node)))


def _normal(node: Node, groups: bool) -> Node:
    if not groups and (characters := one_set(node)) is not None:
        return Chars(characters)
    if isinstance(node, Concat):
        return concat(_normal(item, groups) for item in node.items)
    if isinstance(node, Alternation):
        return alternation(_normal(option, groups) for option in node.options)
    if isinstance(node, Repeat):
        return _normal_repeat(node, groups)
    if isinstance(node, Look):
        return _normal_look(node, groups)
    if isinstance(node, Group) and not groups:
        return _normal(node.body, groups)
    if isinstance(node, (Atomic, Group)):
        return replace(node, body=_normal(node.body, groups))
    return node


def _normal_repeat(node: Repeat, groups: bool) -> Node:
    body = _normal(node.body, groups)
    if not groups and _takes_nothing(body):
        # Looking once is as good as often.
        return body if node.low else NOTHING
    mode: RepeatMode = "lazy" if node.mode == "lazy" and node.low != node.high else "greedy"
    repeat: Node = body if node.low == node.high == 1 else Repeat(body, node.low, node.high, mode)
    return Atomic(repeat) if node.mode == "possessive" else repeat


def _takes_nothing(node: Node) -> bool:
    if isinstance(node, Concat):
        return all(map(_takes_nothing, node.items))
    if isinstance(node, Alternation):
        return all(map(_takes_nothing, node.options))
    if isinstance(node, (Group, Atomic, Repeat)):
        return _takes_nothing(node.body)
    return isinstance(node, Look)


def _is_refused(node: Node) -> bool:
    """Whether a node repeats what may be a bare look-around, which not all engines allow."""
    return isinstance(node, Repeat) and _may_take_nothing(node.body)


def _may_take_nothing(node: Node) -> bool:
    options = node.options if isinstance(node, Alternation) else ()
    return _takes_nothing(node) or any(map(_may_take_nothing, options))


def _normal_look(node: Look, groups: bool) -> Node:
    """A look at one character as ``(?=[...])`` or ``(?![...])``, whatever its body is."""
    if not groups:
        try:
            condition = build(node).code[1].condition
        except NotCompilable:
            pass
        else:
            if condition.edge:
                return Look(Chars(~condition.characters), node.ahead, True) if condition.characters != ALL else NOTHING
            return Look(Chars(condition.characters), node.ahead, False)
    return replace(node, body=_normal(node.body, groups))


def _looks_too_far(node: Node) -> bool:
    """Whether a node is a look-behind that PCRE2 refuses."""
    if not isinstance(node, Look) or node.ahead:
        return False
    shortest, longest = _length(node.body)
    return shortest != longest and longest > _PCRE_LOOKBEHIND


def _length(node: Node) -> tuple[float, float]:
    """How many characters a node takes, at least and at most; of a back-reference nothing is known."""
    if isinstance(node, Chars):
        return 1, 1
    if isinstance(node, Look):
        return 0, 0
    if isinstance(node, Backreference):
        return 0, inf
    if isinstance(node, Concat):
        lengths = [_length(item) for item in node.items]
        return sum(least for least, _ in lengths), sum(most for _, most in lengths)
    if isinstance(node, Alternation):
        lengths = [_length(option) for option in node.options]
        return min(least for least, _ in lengths), max(most for _, most in lengths)
    shortest, longest = _length(node.body)
    if isinstance(node, Repeat):
        most = inf if node.high is None else node.high
        return shortest * node.low, longest * most if longest and most else 0
    return shortest, longest


class _Writer:
    """Writes trees in their normal form as text of a dialect; only where it is ``short`` with escapes for words and
    white space."""

    def __init__(self, dialect: Dialect, short: bool = True) -> None:
        self.dialect = dialect
        self.short = short
        self.anchors: dict[Node, str] = {}
        # Python's own module has no \z.
        end = r"\Z" if dialect.big_z == "end" else r"\z"
        for text in ("^", "$", r"\A", end, *((r"\b", r"\B") if short else ())):
            self.anchors.setdefault(_plain(parse(text, dialect.name)), text)

    def text(self, node: Node) -> str:
        """A node that nothing is repeated of and that stands beside nothing."""
        if node in self.anchors:
            return self.anchors[node]
        if isinstance(node, Chars):
            return _set_text(node.characters, self.dialect, self.short)
        if isinstance(node, Concat):
            return self._sequence([self._item(item) for item in node.items])
        if isinstance(node, Alternation):
            return "|".join(map(self._item, node.options))
        if isinstance(node, Repeat):
            lazy = "?" if node.mode == "lazy" else ""
            return self._repeated(node) + lazy
        if isinstance(node, Atomic):
            return self._atomic(node)
        if isinstance(node, Look):
            return f"(?{'' if node.ahead else '<'}{'!' if node.negative else '='}{self.text(node.body)})"
        if isinstance(node, Backreference):
            return rf"(?i:\{node.number})" if node.fold else rf"\{node.number}"
        return f"({self.text(node.body)})"

    def _sequence(self, items: list[str]) -> str:
        for place, following in enumerate(items[1:]):
            # A digit would lengthen the number of a reference.
            if following[:1].isdigit() and re.fullmatch(r"\\[0-9]+", items[place]):
                items[place] = f"(?:{items[place]})"
        return "".join(items)

    def _item(self, node: Node) -> str:
        text = self.text(node)
        return f"(?:{text})" if isinstance(node, Alternation) and node not in self.anchors else text

    def _atomic(self, node: Atomic) -> str:
        body = node.body
        if isinstance(body, Repeat) and body.mode == "greedy":
            text = self._repeated(body)
            if self.dialect.possessive_interval or not text.endswith("}"):
                return text + "+"
        return f"(?>{self.text(body)})"

    def _repeated(self, node: Repeat) -> str:
        text = self.text(self._repeatable(node.body))
        if not isinstance(node.body, (Chars, Group)):
            text = f"(?:{text})"
        simple = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((node.low, node.high))
        if simple is None:
            simple = f"{{{node.low}}}" if node.low == node.high else f"{{{node.low},{node.high or ''}}}"
        return text + simple

    def _repeatable(self, node: Node) -> Node:
        """Oniguruma repeats no alternation with an option that is a bare anchor, so ``(?=)`` goes before it."""
        if self.dialect.name != "oniguruma" or not isinstance(node, Alternation):
            return node
        return Alternation(
            tuple(
                Concat((_ALWAYS, option))
                if isinstance(option, Look) or option in self.anchors
                else self._repeatable(option)
                for option in node.options
            )
        )


_ALWAYS = Look(NOTHING, ahead=True, negative=False)


# Sets of characters


@cache
def _properties(dialect: str) -> tuple[tuple[str, CharSet], ...]:
    """The names that ``\\p{..}`` has in a dialect's engine, with the sets they mean."""
    categories = {name: category(name) for name in ("L", "M", "N", "P", "S", "Z", "C", *_unicode_tables.CATEGORIES)}
    # Of a script, PCRE2's bare name means the script extensions.
    prefix = "sc=" if dialect == "pcre" else ""
    names = (*(f"{prefix}{name}" for name in scripts()), "White_Space", "Alphabetic", "Uppercase", "Lowercase")
    return (*categories.items(), *((name, property_set(name)) for name in names))


@cache
def _named_sets(dialect: str, short: bool) -> tuple[tuple[str, CharSet], ...]:
    """What a class may be made of, the largest sets first and of equal ones the shortest text."""
    known = dialect_named(dialect)
    found = [(r"\d", category("Nd"))]
    if short:
        found += [(r"\s", known.space()), (r"\w", known.word())]
    found += [(rf"\p{{{name}}}", characters) for name, characters in _properties(dialect)]
    every = [*found, *((f"\\{text[1].upper()}{text[2:]}", ~characters) for text, characters in found)]
    sizes: dict[CharSet, str] = {}
    for text, characters in every:
        if len(text) < len(sizes.get(characters, text + " ")):
            sizes[characters] = text
    return tuple(sorted(((text, characters) for characters, text in sizes.items()), key=lambda one: -len(one[1])))


@lru_cache(maxsize=1024)
def _set_text(characters: CharSet, dialect: Dialect, short: bool) -> str:
    """A readable text for one character of a set: a name, or a class or its complement."""
    if characters in (ALL, EMPTY, ~NEWLINE):
        return {ALL: r"[\s\S]", EMPTY: r"[^\s\S]", ~NEWLINE: "."}[characters]
    if len(characters) == 1:
        return _character(characters.borders[0], dialect, r"\.^$*+?()[]{}|")
    for text, named in _named_sets(dialect.name, short):
        if named == characters:
            return text
    plain, inverted = _class_body(characters, dialect, short), _class_body(~characters, dialect, short)
    return f"[^{inverted.text}]" if inverted < plain else f"[{plain.text}]"


class _Body(NamedTuple):
    """What stands between the brackets of a class; the less, the better it reads."""

    parts: float
    properties: int
    length: int
    text: str


def _class_body(characters: CharSet, dialect: Dialect, short: bool) -> _Body:
    chosen: list[tuple[str, CharSet]] = []
    left = characters
    for text, named in _named_sets(dialect.name, short):
        if _inside(named, characters) and (rest := left - named) != left:
            chosen.append((text, named))
            left = rest
    best = _body(characters, chosen, dialect)
    # The smallest first: a name may be needless beside others, or for characters that ranges say as well.
    for one in reversed(list(chosen)):
        fewer = [other for other in chosen if other != one]
        body = _body(characters, fewer, dialect)
        if body < best:
            chosen, best = fewer, body
    return best


def _body(characters: CharSet, chosen: list[tuple[str, CharSet]], dialect: Dialect) -> _Body:
    left = characters - CharSet.union(named for _, named in chosen)
    parts = []
    for first, last in left.ranges:
        begin, end = (_character(point, dialect, r"\[]^-") for point in (first, last))
        parts.append(begin if first == last else begin + ("-" if last > first + 1 else "") + end)
    ranges = "".join(parts).replace(r"\n\r", r"\r\n")
    names = sorted(text for text, _ in chosen)
    short = [text for text in names if len(text) == 2]
    long = [text for text in names if len(text) > 2]
    text = "".join((*short, ranges, *long))
    # A surrogate cannot be written; the set or its complement has none.
    writable = not any(0xD800 <= border <= 0xDFFF for pair in left.ranges for border in pair)
    return _Body(len(parts) + len(names) if writable else inf, len(long), len(text), text)


def _inside(small: CharSet, large: CharSet) -> bool:
    """Whether a set is part of another one; quick where it is not."""
    borders = large.borders
    for first, last in zip(small.borders[::2], small.borders[1::2], strict=True):
        place = bisect_right(borders, first)
        if not place & 1 or borders[place] < last:
            return False
    return True


def _character(point: int, dialect: Dialect, special: str) -> str:
    known = {0x09: r"\t", 0x0A: r"\n", 0x0D: r"\r"}.get(point)
    if known is not None:
        return known
    if 0x20 <= point < 0x7F:
        return f"\\{chr(point)}" if chr(point) in special else chr(point)
    if point < 0x80:
        return f"\\x{point:02x}"
    if dialect.name != "python":
        return f"\\x{{{point:x}}}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"
