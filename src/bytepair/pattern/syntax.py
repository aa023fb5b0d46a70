"""Parsing a regex in one of the dialects that tokenizers use.

:func:`parse` gives the tree of ``nodes.py``, or a PatternError with the offset and the cure. It knows nothing of how
the tree is run. Valid regexes that the automaton cannot run (back-references, long look-around, atomic groups) are
parsed all the same; refused are only features that no tokenizer's pattern uses (recursion, conditions, ``\\K``,
``\\G``, ``\\X``).
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from .charsets import ALL, CharSet
from .dialects import dialect_named
from .escapes import NEWLINE, Flags, Reader
from .nodes import (
    NOTHING,
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
)

__all__ = ["parse"]

_MAX_DEPTH = 100
_MAX_REPEAT = 65535
_LOOKS = {"(?=": (True, False), "(?!": (True, True), "(?<=": (False, False), "(?<!": (False, True)}
_REFUSED = {
    "(?|": "branch reset groups", "(?(": "conditions", "(?&": "recursion", "(?R": "recursion", "(?P>": "recursion",
    "(?+": "recursion", "(*": "verbs",
}  # fmt: skip


@lru_cache(maxsize=256)
def parse(regex: str, dialect: str) -> Node:
    """Parse a regex.

    Parameters
    ----------
    regex
        The text of the pattern.
    dialect
        ``"tiktoken"``, ``"oniguruma"``, ``"python"`` or ``"pcre"``.

    Raises
    ------
    PatternError
        If the regex is wrong in this dialect, or uses what is not supported; the message has the offset.

    Examples
    --------
    >>> parse("a|b+", "tiktoken").options[1]
    Repeat(body=Chars(characters=CharSet([(0x62, 0x62)])), low=1, high=None, mode='greedy')
    """
    return _Parser(regex, dialect).whole()


class _Parser(Reader):
    def __init__(self, regex: str, dialect: str) -> None:
        super().__init__(regex, dialect_named(dialect))
        self.depth = 0
        self.groups = 0
        self.names: dict[str, int] = {}
        self.references: list[tuple[int | str, int]] = []
        # In Oniguruma a plain group captures nothing once a group has a name.
        self.plain_groups_capture = not (dialect == "oniguruma" and _has_named_group(regex))

    def whole(self) -> Node:
        node = self.options()
        if self.position < len(self.regex):
            self.fail(r"this ) closes nothing; write \) for the character")
        for reference, place in self.references:
            if isinstance(reference, int) and not 1 <= reference <= self.groups:
                self.fail(f"there is no group {reference}; the pattern has {self.groups}", place)
        return node

    def options(self) -> Node:
        """Read alternatives up to a closing parenthesis or the end; flags set inside end there."""
        flags = self.flags
        options = [self.sequence()]
        while self.take("|"):
            options.append(self.sequence())
        self.flags = flags
        return alternation(options)

    def sequence(self) -> Node:
        items: list[Node] = []
        while True:
            self.skip_comments()
            if self.position >= len(self.regex) or self.peek() in "|)":
                return concat(items)
            item = self.flag_setting()
            if item is None:
                item = self.quantified(self.atom())
            items.append(item)

    def skip_comments(self) -> None:
        while True:
            if self.take("(?#"):
                end = self.regex.find(")", self.position)
                if end < 0:
                    self.fail("the comment (?# is not closed; add the )")
                self.position = end + 1
            elif self.flags.verbose and self.peek().isspace():
                self.position += 1
            elif self.flags.verbose and self.peek() == "#":
                end = self.regex.find("\n", self.position)
                self.position = len(self.regex) if end < 0 else end + 1
            else:
                return

    # Repetition

    def quantified(self, node: Node) -> Node:
        count = 0
        while True:
            self.skip_comments()
            place = self.position
            bounds = self.quantifier()
            if bounds is None:
                return node
            count += 1
            if count > 1 and not self.dialect.stacked:
                self.fail("a quantifier follows a quantifier; put the inner one in (?:...)", place)
            if count > _MAX_DEPTH:
                self.fail(f"more than {_MAX_DEPTH} quantifiers in a row; keep one", place)
            low, high = bounds
            is_interval = self.regex[self.position - 1] == "}"
            mode: RepeatMode = "greedy"
            if self.take("?"):
                if is_interval and low == high and self.dialect.optional_interval:
                    node = Repeat(Repeat(node, low, high, "greedy"), 0, 1, "greedy")
                    continue
                mode = "lazy"
            elif (not is_interval or self.dialect.possessive_interval) and self.take("+"):
                mode = "possessive"
            node = Repeat(node, low, high, mode)

    def quantifier(self) -> tuple[int, int | None] | None:
        for sign, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self.take(sign):
                return bounds
        return self.interval()

    def interval(self) -> tuple[int, int | None] | None:
        """Read ``{m}``, ``{m,}``, ``{,n}`` or ``{m,n}``; None, with nothing read, where the brace is literal."""
        start = self.position
        end = self.regex.find("}", start)
        if self.peek() != "{" or end < 0:
            return None
        low, comma, high = self.regex[start + 1 : end].partition(",")
        if not (low or high) or not _is_number(low) or not _is_number(high):
            return None
        least = int(low) if low else 0
        most = (int(high) if high else None) if comma else least
        if least > _MAX_REPEAT or (most or 0) > _MAX_REPEAT:
            self.fail(f"more than {_MAX_REPEAT} repetitions; use * or +")
        if most is not None and most < least:
            self.fail(f"{{{low},{high}}} asks for at least {low} and at most {high}; swap them")
        self.position = end + 1
        return least, most

    # Single items

    def atom(self) -> Node:
        start, character = self.position, self.peek()
        if character == "(":
            return self.group()
        if character == "[":
            return Chars(self.bracketed())
        if character == "\\":
            return self.escape()
        if character in "*+?" or (character == "{" and self.interval() is not None):
            self.fail(rf"nothing to repeat before the quantifier; write \{character} for the character", start)
        self.position += 1
        if character == ".":
            return Chars(ALL if self.flags.dot_all else ~NEWLINE)
        if character == "^":
            return self.line_start() if self.dialect.caret_lines or self.flags.multi_line else _TEXT_START
        if character == "$":
            return _END["line" if self.flags.multi_line else self.dialect.dollar]
        return Chars(self.folded(CharSet.of(character)))

    def line_start(self) -> Node:
        if self.dialect.name != "oniguruma":
            return Look(Chars(~NEWLINE), ahead=False, negative=True)
        # Oniguruma sees no line after the last newline of the text.
        after_newline = Concat((Look(Chars(NEWLINE), ahead=False, negative=False), Look(Chars(ALL), True, False)))
        return alternation((_TEXT_START, after_newline))

    def escape(self) -> Node:
        start = self.position
        letter = self.regex[start + 1 : start + 2]
        anchor: Node | None = {"A": _TEXT_START, "z": _TEXT_END, "Z": _END[self.dialect.big_z]}.get(letter)
        if letter in ("b", "B"):
            anchor = _word_border(self.dialect.word(), letter == "B")
        if anchor is not None:
            self.position += 2
            return anchor
        if letter == "R" and self.dialect.has_any:
            self.position += 2
            return _ANY_NEWLINE
        if letter in ("k", "g"):
            return self.named_reference()
        if letter.isdigit() and letter != "0" and not (self.dialect.octal and self._is_octal(start)):
            digits = self.regex[start + 1 : start + 3]
            digits = digits if digits.isdigit() else letter
            self.position += 1 + len(digits)
            return self.reference(int(digits), start)
        found = self.escaped_set(in_class=False)
        if found is not None:
            return Chars(found)
        return Chars(self.folded(CharSet([(point := self.escaped_character(in_class=False), point)])))

    def _is_octal(self, start: int) -> bool:
        digits = self.regex[start + 1 : start + 4]
        return len(digits) == 3 and all(digit in "01234567" for digit in digits)

    # Groups

    def group(self) -> Node:
        start = self.position
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            self.fail(f"groups are nested more than {_MAX_DEPTH} deep; simplify the pattern")
        for opening, what in _REFUSED.items():
            if self.regex.startswith(opening, start):
                self.fail(f"{what} are not supported; write the pattern without them")
        flags = self.flags
        node = self._group_body(start)
        self.flags = flags
        if not self.take(")"):
            self.fail(r"this ( is not closed; add the ), or write \( for the character", start)
        self.depth -= 1
        return node

    def _group_body(self, start: int) -> Node:
        for opening, (ahead, negative) in _LOOKS.items():
            if self.take(opening):
                return Look(self.options(), ahead, negative)
        if self.take("(?:"):
            return self.options()
        if self.take("(?>"):
            return Atomic(self.options())
        if self.take("(?P="):
            return self.reference(self._name(")"), start)
        for opening, closing in (("(?P<", ">"), ("(?<", ">"), ("(?'", "'")):
            if self.take(opening):
                name = self._name(closing)
                self.position += 1
                self.groups += 1
                number = self.names[name] = self.groups
                return Group(self.options(), number)
        if self.take("(?"):
            self.flags = self.read_flags()
            if not self.take(":"):
                self.fail("this flag group is not closed; write (?i) or (?i:...)", start)
            return self.options()
        self.position += 1
        if not self.plain_groups_capture:
            return self.options()
        self.groups += 1
        number = self.groups
        return Group(self.options(), number)

    def _name(self, closing: str) -> str:
        end = self.regex.find(closing, self.position)
        name = self.regex[self.position : end] if end >= 0 else ""
        if not name.isidentifier():
            self.fail(f"a group's name must be a word before {closing}; rename the group")
        self.position = end
        return name

    def reference(self, target: int | str, start: int) -> Node:
        if isinstance(target, str):
            if target not in self.names:
                self.fail(f"there is no group {target!r} before this place; name a group that is", start)
            target = self.names[target]
        self.references.append((target, start))
        return Backreference(target, self.flags.fold)

    def named_reference(self) -> Node:
        start = self.position
        closing = {"<": ">", "{": "}", "'": "'"}.get(self.regex[start + 2 : start + 3])
        if closing is None or self.regex[start + 1] == "g":
            self.fail(r"this reference is not supported; write \k<name> or \1")
        self.position += 3
        name = self._name(closing)
        self.position += 1
        return self.reference(name, start)

    def flag_setting(self) -> Node | None:
        """Read ``(?i)`` and the like; None, with nothing read, if there is none here."""
        start = self.position
        if self.peek(2) != "(?" or self.regex[start + 2 : start + 3] not in (*"imsxuaLU-",):
            return None
        end = self.regex.find(")", start)
        if end < 0 or not self.regex[start + 2 : end].replace("-", "").isalpha():
            return None
        self.position += 2
        self.flags = self.read_flags()
        self.position += 1
        if self.dialect.flags_at_start_only and start > 0:
            self.fail("flags for the whole pattern must begin it; use (?i:...) here", start)
        # Oniguruma: a(?i)b|c is a(?i:b|c), so the rest of the enclosing group is read here as one item.
        return self.options() if self.dialect.flags_open_group else NOTHING

    def read_flags(self) -> Flags:
        known = {"i": "fold", "x": "verbose", self.dialect.dot_all_flag: "dot_all"}
        known[self.dialect.multi_line_flag or "?"] = "multi_line"
        flags, value = self.flags, True
        while self.peek() not in (":", ")"):
            letter = self.peek()
            if not letter:
                self.fail("this flag group is not closed; write (?i) or (?i:...)")
            if letter == "-" and value:
                value = False
            elif letter in known and letter != "?":
                flags = replace(flags, **{known[letter]: value})
            elif letter != "u" or not value:
                self.fail(f"the flag {letter!r} is not supported in this dialect; use i, s, m or x as it has them")
            self.position += 1
        return flags


def _is_number(text: str) -> bool:
    return not text or (text.isascii() and text.isdigit() and len(text) < 10)


def _has_named_group(regex: str) -> bool:
    return any(regex[i + 3 : i + 4] not in ("=", "!") for i in range(len(regex)) if regex.startswith("(?<", i))


_TEXT_START = Look(Chars(ALL), ahead=False, negative=True)
_TEXT_END = Look(Chars(ALL), ahead=True, negative=True)
_FINAL_NEWLINE = Look(concat((Repeat(Chars(NEWLINE), 0, 1, "greedy"), _TEXT_END)), ahead=True, negative=False)
_FINAL_NEWLINES = Look(concat((Repeat(Chars(NEWLINE), 0, None, "greedy"), _TEXT_END)), ahead=True, negative=False)
_END = {
    "end": _TEXT_END,
    "final newline": _FINAL_NEWLINE,
    "final newlines": _FINAL_NEWLINES,
    "line": Look(Chars(~NEWLINE), ahead=True, negative=True),
}
# Atomic in the dialects; written so that \r never gives its \n back, it needs no atomic group.
_ANY_NEWLINE = alternation(
    (
        concat((Chars(CharSet.of("\r")), Chars(NEWLINE))),
        concat((Chars(CharSet.of("\r")), Look(Chars(NEWLINE), ahead=True, negative=True))),
        Chars(CharSet([(0x0A, 0x0C), (0x85, 0x85), (0x2028, 0x2029)])),
    )
)


def _word_border(word: CharSet, negated: bool) -> Node:
    """``\\b`` as look-arounds: exactly one side is a word character; ``\\B``: both sides or none are."""
    before, not_before = (Look(Chars(word), ahead=False, negative=negative) for negative in (False, True))
    after, not_after = (Look(Chars(word), ahead=True, negative=negative) for negative in (False, True))
    if negated:
        return alternation((concat((before, after)), concat((not_before, not_after))))
    return alternation((concat((before, not_after)), concat((not_before, after))))
