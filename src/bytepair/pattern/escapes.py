"""Reading the parts of a regex that stand for characters: escapes and bracketed classes.

:class:`Reader` walks the text; ``syntax.py`` builds groups, alternation and repetition on it. What an escape or class
means depends on the dialect and on the flags in force.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from ..errors import PatternError
from .charsets import ALL, EMPTY, CharSet
from .unicode import category, fold_closure, property_set

if TYPE_CHECKING:
    from .dialects import Dialect

__all__ = ["NEWLINE", "Flags", "Reader", "shown"]

NEWLINE = CharSet.of("\n")
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "a": "\a"}
_HEX_LENGTHS = {"x": 2, "u": 4, "U": 8}
_HEX = frozenset("0123456789abcdefABCDEF")
_OCTAL = frozenset("01234567")
_MAX_NESTING = 100


@dataclass(frozen=True)
class Flags:
    """The inline flags in force."""

    fold: bool = False
    dot_all: bool = False
    multi_line: bool = False
    verbose: bool = False


def shown(regex: str) -> str:
    """A regex for an error message: quoted, and only its beginning if it is long."""
    return repr(regex) if len(regex) <= 200 else f"{regex[:200]!r}... ({len(regex)} characters)"


class Reader:
    """A place in the text of a regex, and what can be read there as a set of characters."""

    def __init__(self, regex: str, dialect: Dialect) -> None:
        self.regex = regex
        self.dialect = dialect
        self.position = 0
        self.flags = Flags()

    def fail(self, what: str, at: int | None = None) -> NoReturn:
        """Raise the error that names the pattern, the offset in it, and the cure that ``what`` ends with."""
        place = self.position if at is None else at
        raise PatternError(f"pattern {shown(self.regex)}, offset {place} ({self.dialect.name} dialect): {what}")

    def peek(self, length: int = 1) -> str:
        return self.regex[self.position : self.position + length]

    def take(self, text: str) -> bool:
        """Step over ``text`` if it comes next."""
        if self.regex.startswith(text, self.position):
            self.position += len(text)
            return True
        return False

    def folded(self, characters: CharSet) -> CharSet:
        return fold_closure(characters) if self.flags.fold else characters

    # Escapes

    def escaped_set(self, in_class: bool) -> CharSet | None:
        """Read ``\\d``, ``\\p{..}`` and the like at a backslash; None, with nothing read, if it is no set."""
        letter = self.regex[self.position + 1 : self.position + 2]
        fold = self.flags.fold and not self.dialect.folds_whole_class
        found: CharSet | None = None
        if letter in ("p", "P"):
            found = self._property()
            found = fold_closure(found) if fold else found
            return ~found if letter == "P" else found
        if letter in ("s", "S"):
            found = self.dialect.space()
        elif letter in ("d", "D"):
            found = category("Nd")
        elif letter in ("w", "W"):
            found = self.dialect.word()
        elif letter in ("h", "H"):
            found = self.dialect.h
            if found is None:
                self.fail(rf"this dialect has no \{letter}; write the characters as a class")
        elif letter in ("v", "V") and len(self.dialect.v) > 1:
            found = self.dialect.v
        elif letter == "N" and self.dialect.has_any and not in_class:
            self.position += 2
            return ~NEWLINE
        elif letter == "O" and self.dialect.has_any and not in_class:
            self.position += 2
            return ALL
        if found is not None:
            self.position += 2
            return ~found if letter.isupper() else found
        return None

    def _property(self) -> CharSet:
        start = self.position
        self.position += 2
        if self.take("{"):
            end = self.regex.find("}", self.position)
            if end < 0:
                self.fail(r"\p{ is not closed; add the }", start)
            name = self.regex[self.position : end]
            self.position = end + 1
        else:
            name = self.peek()
            self.position += 1
            if not name.isalpha():
                self.fail(r"\p needs a property, such as \p{L}", start)
        negated = name.startswith("^")
        try:
            found = property_set(name.removeprefix("^").strip())
        except PatternError as error:
            self.fail(str(error), start)
        return ~found if negated else found

    def escaped_character(self, in_class: bool) -> int:
        """Read an escape that stands for one character, at its backslash, and give its code point."""
        start = self.position
        letter = self.regex[start + 1 : start + 2]
        if not letter:
            self.fail(r"the pattern ends with a lone backslash; write \\ for the character")
        self.position += 2
        if letter in _HEX_LENGTHS:
            return self._hex(letter, start)
        if letter in _CONTROLS:
            return ord(_CONTROLS[letter])
        if letter == "v":
            return 0x0B
        if letter == "e" and self.dialect.name != "python":
            return 0x1B
        if letter == "b" and in_class:
            return 0x08
        if letter in _OCTAL and self.dialect.octal and (letter == "0" or in_class or self._octal_ahead()):
            return self._octal(letter, start)
        if letter.isalnum() and letter.isascii():
            self.fail(rf"the escape \{letter} is not supported here; write the character itself or \x{{..}}", start)
        return ord(letter)

    def _octal_ahead(self) -> bool:
        two = self.peek(2)
        return len(two) == 2 and set(two) <= _OCTAL

    def _octal(self, first: str, start: int) -> int:
        digits = first
        while len(digits) < 3 and self.peek() in _OCTAL and self.peek():
            digits += self.peek()
            self.position += 1
        if int(digits, 8) > 0xFF:
            self.fail(rf"\{digits} is above \377; write \x{{..}}", start)
        return int(digits, 8)

    def _hex(self, letter: str, start: int) -> int:
        if self.dialect.name != "python" and self.take("{"):
            end = self.regex.find("}", self.position)
            digits = self.regex[self.position : end] if end >= 0 else ""
            self.position = end + 1
            good = 1 <= len(digits) <= 8
        else:
            digits = self.peek(_HEX_LENGTHS[letter])
            self.position += len(digits)
            good = len(digits) == _HEX_LENGTHS[letter]
        if not good or not set(digits) <= _HEX:
            self.fail(rf"\{letter} needs {_HEX_LENGTHS[letter]} hexadecimal digits, or {{..}}", start)
        point = int(digits, 16)
        if point > 0x10FFFF or 0xD800 <= point <= 0xDFFF:
            self.fail(rf"\{letter} names U+{point:04X}, which is no character; use U+0000 to U+10FFFF", start)
        return point

    # Bracketed classes

    def bracketed(self, depth: int = 0) -> CharSet:
        """Read ``[...]`` at its opening bracket."""
        start = self.position
        if depth > _MAX_NESTING:
            self.fail(f"classes are nested more than {_MAX_NESTING} deep; write them flat")
        self.position += 1
        negated = self.take("^")
        result, operator = EMPTY, "|"
        parts: list[CharSet] = []
        # A closing bracket, and with a -- operator any number of hyphens, are literal at the very start.
        if "--" in self.dialect.operators:
            while self.take("-"):
                parts.append(self.folded(CharSet.of("-")))
        if self.peek() == "]":
            if not parts and self.regex.find("]", self.position + 1) < 0:
                self.fail(r"the class is empty or not closed; for a literal ] write \]", start)
            if not parts:
                self.position += 1
                parts.append(self.folded(CharSet.of("]")))
        while not self.take("]"):
            if self.position >= len(self.regex):
                self.fail(r"the class is not closed; add the ], or write \[ for the character", start)
            found = next((sign for sign in self.dialect.operators if self.take(sign)), None)
            if found is None:
                parts.append(self._class_part(depth))
                continue
            result = _apply(operator, result, CharSet.union(parts))
            operator, parts = found, []
        result = _apply(operator, result, CharSet.union(parts))
        if depth == 0 and self.dialect.folds_whole_class:
            result = self.folded(result)
        return ~result if negated else result

    def _class_part(self, depth: int) -> CharSet:
        if self.peek() == "[":
            posix = self._posix()
            if posix is not None:
                return posix
            if self.dialect.nested:
                return self.bracketed(depth + 1)
        start = self.position
        if self.peek() == "\\":
            found = self.escaped_set(in_class=True)
            if found is not None:
                if self.peek() == "-" and self.peek(2) not in ("-]", "--"):
                    self.fail(r"a set cannot begin a range; write \- for a literal hyphen")
                return found
        first = self._class_character()
        last = first
        if self.peek() == "-" and self.peek(2) != "-]" and self.peek(2) not in self.dialect.operators:
            self.position += 1
            if self.peek() == "\\" and self.escaped_set(in_class=True) is not None:
                self.fail(r"a set cannot end a range; write \- for a literal hyphen", start)
            last = self._class_character()
            if last < first:
                self.fail(f"the range {chr(first)!r}-{chr(last)!r} runs backwards; swap its ends", start)
        found = CharSet([(first, last)])
        return found if self.dialect.folds_whole_class else self.folded(found)

    def _class_character(self) -> int:
        if self.peek() == "\\":
            return self.escaped_character(in_class=True)
        character = self.peek()
        if not character:
            self.fail("the class ends in the middle of a range; add its end and the ]")
        self.position += 1
        return ord(character)

    def _posix(self) -> CharSet | None:
        """Read ``[:name:]`` inside a class; None, with nothing read, if there is none."""
        if self.dialect.posix is None or self.peek(2) != "[:":
            return None
        end = self.regex.find(":]", self.position + 2)
        name = self.regex[self.position + 2 : end] if end >= 0 else ""
        if not name.removeprefix("^").isalpha():
            return None
        try:
            found = self.dialect.posix(name.removeprefix("^"))
        except PatternError as error:
            self.fail(str(error))
        if found is None:
            self.fail(f"there is no class [:{name}:]; use one such as [:alpha:] or \\p{{L}}")
        self.position = end + 2
        found = found if self.dialect.folds_whole_class else self.folded(found)
        return ~found if name.startswith("^") else found


def _apply(operator: str, left: CharSet, right: CharSet) -> CharSet:
    if operator == "&&":
        return left & right
    if operator == "--":
        return left - right
    return left | right if operator == "|" else left ^ right
