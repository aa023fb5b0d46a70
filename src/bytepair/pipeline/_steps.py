"""The steps of a Hugging Face ``normalizer``, each with the result and the sources that its owner gives.

``normalise`` puts steps in a row and reads them from files; ``_sentencepiece`` has the one step that is not Hugging
Face's. A byte that is no UTF-8, which is U+DC80 to U+DCFF in a text, passes every step as a character that has no
properties; only ByteLevel gives it its letter.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar

from .._check import brief
from ..errors import PatternError
from ..pattern.charsets import CharSet
from . import _normalise_tables as tables
from ._charsmap import Charsmap, charsmap
from ._forms import Form, lower, normalised, sources_of_form, sources_of_lower
from ._graphemes import grapheme, joins
from ._matches import checked, matches
from ._sets import Members, members
from .fields import Fields

__all__ = [
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "BertNormalizer",
    "ByteLevel",
    "Lowercase",
    "Nmt",
    "Precompiled",
    "Prepend",
    "Replace",
    "Step",
    "Strip",
    "StripAccents",
    "from_base64",
    "to_base64",
    "valid_text",
]

Sources = tuple[str, list[int]]
"""A result, and for each of its characters the place in the text that it is from; -1 is the empty place before it."""

_WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_BLANK = re.compile(f"[{_WHITE_SPACE}]")
_IDEOGRAPH = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002b81f\U0002b920-\U0002ceaf"
    "\U0002f800-\U0002fa1f]"
)
# All graphemes of several characters lie in such a piece whole.
_NEAR = re.compile(r"\r\n|(?:[\x00-\x7f]?[^\x00-\x7f])+[\x00-\x0c\x0e-\x7f]?")
_NMT_REMOVED = Members(CharSet([(1, 8), (0xB, 0xB), (0xE, 0x1F), (0x7F, 0x7F), (0x8F, 0x8F), (0x9F, 0x9F)]))
_NMT_BLANK = re.compile("[\t\n\f\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]")


@dataclass(frozen=True)
class Step:
    """One step; ``kind`` is its type in the file, its attributes are its fields there."""

    kind: ClassVar[str]

    def apply(self, text: str) -> str:
        """The result."""
        raise NotImplementedError

    def sources(self, text: str) -> Sources:
        """The result, and where its characters are from."""
        raise NotImplementedError

    def align(self, text: str, starts: list[int], ends: list[int]) -> tuple[str, list[int], list[int]]:
        """The result with the spans of its characters, made of those of the text's characters."""
        result, sources = self.sources(text)
        # One before the first is the last, where the empty span is put.
        starts, ends = [*starts, 0], [*ends, 0]
        return result, [starts[place] for place in sources], [ends[place] for place in sources]

    @classmethod
    def read(cls, fields: Fields) -> Step:
        """The step that an object of a file says."""
        del fields
        return cls()

    def to_json(self) -> dict[str, Any]:
        """The object as the file has it."""
        return {"type": self.kind, **vars(self)}


class _Form(Step):
    form: ClassVar[Form]

    def apply(self, text: str) -> str:
        return normalised(self.form, text)

    def sources(self, text: str) -> Sources:
        return sources_of_form(self.form, text)


@dataclass(frozen=True)
class NFC(_Form):
    """Canonical composition, of Unicode 9.0."""

    kind = form = "NFC"


@dataclass(frozen=True)
class NFD(_Form):
    """Canonical decomposition, of Unicode 9.0."""

    kind = form = "NFD"


@dataclass(frozen=True)
class NFKC(_Form):
    """Compatibility composition, of Unicode 9.0."""

    kind = form = "NFKC"


@dataclass(frozen=True)
class NFKD(_Form):
    """Compatibility decomposition, of Unicode 9.0."""

    kind = form = "NFKD"


@dataclass(frozen=True)
class Lowercase(Step):
    """Small letters, of Unicode 17; every sigma becomes the same one."""

    kind = "Lowercase"

    def apply(self, text: str) -> str:
        return lower(text)

    def sources(self, text: str) -> Sources:
        return sources_of_lower(text)


@dataclass(frozen=True)
class FinalSigma(Step):
    """A capital sigma at the end of a word becomes the final small one, as Python's ``str.lower`` has it.

    Ours, for CLIP: :class:`Lowercase` does the rest.
    """

    kind = "FinalSigma"

    def apply(self, text: str) -> str:
        if "Σ" not in text:
            return text
        small = text.lower()
        out, longer = list(text), 0
        for place, character in enumerate(text):
            if character == "Σ":
                out[place] = small[place + longer] if small[place + longer] == "ς" else character
            longer += character == "İ"  # the only one whose small letters are two
        return "".join(out)

    def sources(self, text: str) -> Sources:
        return self.apply(text), list(range(len(text)))


@dataclass(frozen=True)
class Replace(Step):
    """Every match of a string, or of a regex in the ``oniguruma`` dialect, becomes the content as it stands.

    Raises
    ------
    PatternError
        If the regex is wrong.
    """

    pattern: str
    content: str
    regex: bool = False

    kind = "Replace"

    def __post_init__(self) -> None:
        if self.regex:
            checked(self.pattern)

    def apply(self, text: str) -> str:
        if self.pattern and not self.regex:
            return text.replace(self.pattern, self.content)
        pieces: list[str] = []
        done = 0
        for start, end in self._matches(text):
            pieces += (text[done:start], self.content)
            done = end
        return "".join([*pieces, text[done:]]) if pieces else text

    def sources(self, text: str) -> Sources:
        # All of the content is from the last character of the match; if it is empty, from the one before it.
        sources: list[int] = []
        done = 0
        for start, end in self._matches(text):
            sources.extend(range(done, start))
            sources.extend([end - 1] * len(self.content))
            done = end
        sources.extend(range(done, len(text)))
        return self.apply(text), sources

    def _matches(self, text: str) -> Iterator[tuple[int, int]]:
        # A text is nothing to be searched if it is empty.
        return matches(self.pattern, self.regex, text) if text else iter(())

    @classmethod
    def read(cls, fields: Fields) -> Replace:
        pattern = fields.get("pattern", 'give {"Regex": ...} or {"String": ...}')
        if not isinstance(pattern, dict) or len(pattern) != 1 or not {"Regex", "String"} >= pattern.keys():
            raise fields.refuse(f'has pattern={brief(pattern)}; give {{"Regex": ...}} or {{"String": ...}}')
        (form,) = pattern
        inner = Fields(pattern, f"{fields.place}.pattern", "Replace")
        try:
            return cls(valid_text(inner, form), valid_text(fields, "content"), form == "Regex")
        except PatternError as error:
            raise fields.refuse(f"has a wrong pattern: {error}") from error

    def to_json(self) -> dict[str, Any]:
        form = "Regex" if self.regex else "String"
        return {"type": self.kind, "pattern": {form: self.pattern}, "content": self.content}


@dataclass(frozen=True)
class Prepend(Step):
    """A string before every text that is not empty."""

    prepend: str

    kind = "Prepend"

    def apply(self, text: str) -> str:
        return self.prepend + text if text else text

    def sources(self, text: str) -> Sources:
        # It is from the first character. The owner loses that one's own source where nothing is prepended.
        first = [0] * (len(self.prepend) + 1) if self.prepend else [-1]
        return self.apply(text), [*first, *range(1, len(text))] if text else []

    @classmethod
    def read(cls, fields: Fields) -> Prepend:
        return cls(valid_text(fields, "prepend"))


@dataclass(frozen=True)
class Strip(Step):
    """No white space at the ends."""

    strip_left: bool = True
    strip_right: bool = True

    kind = "Strip"

    def apply(self, text: str) -> str:
        if self.strip_left:
            text = text.lstrip(_WHITE_SPACE)
        return text.rstrip(_WHITE_SPACE) if self.strip_right else text

    def sources(self, text: str) -> Sources:
        start = len(text) - len(text.lstrip(_WHITE_SPACE)) if self.strip_left else 0
        result = self.apply(text)
        return result, list(range(start, start + len(result)))

    @classmethod
    def read(cls, fields: Fields) -> Strip:
        return cls(fields.boolean("strip_left"), fields.boolean("strip_right"))


@dataclass(frozen=True)
class StripAccents(Step):
    """No combining marks, of an old Unicode; what is composed stays."""

    kind = "StripAccents"

    def apply(self, text: str) -> str:
        return text if text.isascii() else members(tables.MARKS).removed(text)

    def sources(self, text: str) -> Sources:
        return _without(members(tables.MARKS).of(text), text)


@dataclass(frozen=True)
class Nmt(Step):
    """No control characters, and one space for what else is white space or a strange mark."""

    kind = "Nmt"

    def apply(self, text: str) -> str:
        return _NMT_BLANK.sub(" ", _NMT_REMOVED.removed(text))

    def sources(self, text: str) -> Sources:
        result, sources = _without(_NMT_REMOVED.of(text), text)
        return _NMT_BLANK.sub(" ", result), sources


@dataclass(frozen=True)
class BertNormalizer(Step):
    """BERT's cleaning, in this order: control characters, spaces around ideographs, accents, small letters.

    ``strip_accents=None`` is as ``lowercase``.
    """

    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool | None = None
    lowercase: bool = True

    kind = "BertNormalizer"

    @property
    def _strips(self) -> bool:
        return self.lowercase if self.strip_accents is None else self.strip_accents

    def apply(self, text: str) -> str:
        if self.clean_text:
            text = _BLANK.sub(" ", members(tables.CONTROLS).removed(text))
        if self.handle_chinese_chars and not text.isascii():
            text = _IDEOGRAPH.sub(r" \g<0> ", text)
        if self._strips and not text.isascii():
            text = members(tables.NONSPACING).removed(normalised("NFD", text))
        return lower(text) if self.lowercase else text

    def sources(self, text: str) -> Sources:
        sources = list(range(len(text)))
        if self.clean_text:
            text, sources = _behind(sources, _without(members(tables.CONTROLS).of(text), text))
            text = _BLANK.sub(" ", text)
        if self.handle_chinese_chars:
            spaced = [3 if _IDEOGRAPH.match(character) else 1 for character in text]
            sources = [place for place, times in zip(sources, spaced, strict=True) for _ in range(times)]
            text = _IDEOGRAPH.sub(r" \g<0> ", text)
        if self._strips:
            text, sources = _behind(sources, sources_of_form("NFD", text))
            text, sources = _behind(sources, _without(members(tables.NONSPACING).of(text), text))
        return _behind(sources, sources_of_lower(text)) if self.lowercase else (text, sources)

    @classmethod
    def read(cls, fields: Fields) -> BertNormalizer:
        accents = None if fields.values.get("strip_accents") is None else fields.boolean("strip_accents")
        clean, chinese = fields.boolean("clean_text"), fields.boolean("handle_chinese_chars")
        return cls(clean, chinese, accents, fields.boolean("lowercase"))


@cache
def _letters() -> tuple[str, ...]:
    """The letter of every byte."""
    plain = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return tuple([chr(byte if byte in plain else next(others)) for byte in range(256)])


@dataclass(frozen=True)
class ByteLevel(Step):
    """Every byte of the UTF-8 as its letter."""

    kind = "ByteLevel"

    def apply(self, text: str) -> str:
        given = text.encode("utf-8", "surrogateescape").decode("latin-1")
        letters = _letters()
        for byte in set(given):
            if letters[ord(byte)] != byte:
                given = given.replace(byte, letters[ord(byte)])
        return given

    def sources(self, text: str) -> Sources:
        sizes = [len(character.encode("utf-8", "surrogateescape")) for character in text]
        return self.apply(text), [place for place, size in enumerate(sizes) for _ in range(size)]


@dataclass(frozen=True)
class Precompiled(Step):
    """SentencePiece's rules in the owner's way: by grapheme if that has under 6 bytes and a rule, else by character.

    Of several rules that fit, the owner takes the shortest, and drops the rest of the grapheme with it.

    Raises
    ------
    FormatError
        If the bytes are no charsmap.
    """

    precompiled_charsmap: bytes = field(repr=False)

    kind = "Precompiled"

    def __post_init__(self) -> None:
        charsmap(self.precompiled_charsmap)

    def apply(self, text: str) -> str:
        rules = charsmap(self.precompiled_charsmap)
        if rules.active.isdisjoint(text):
            return text
        given = {ord(one): rules.shortest(one) or "" for one in rules.singles.intersection(text)}
        if "\r\n" not in text and not joins().of(text):
            return text.translate(given)
        out: list[str] = []
        done = 0
        for near in _NEAR.finditer(text):
            out.append(text[done : near.start()].translate(given))
            for one in grapheme().findall(near[0]):
                whole = _whole(rules, one)
                out.append(one.translate(given) if whole is None else whole)
            done = near.end()
        return "".join([*out, text[done:].translate(given)])

    def sources(self, text: str) -> Sources:
        rules = charsmap(self.precompiled_charsmap)
        out: list[str] = []
        changes: list[int] = []
        for found in grapheme().finditer(text):
            whole = found[0]
            given = _whole(rules, whole)
            parts = [(whole, given)] if given is not None else [(one, rules.shortest(one)) for one in whole]
            for old, new in parts:
                more = len(old if new is None else new) - len(old)
                out.append(old if new is None else new)
                changes += [*[0] * (len(out[-1]) - max(more, 0)), *[1] * max(more, 0)]
                # The last character takes along what is removed; before the first, the owner forgets it.
                if more < 0 and changes:
                    changes[-1] += more
        return "".join(out), _counted(changes)

    @classmethod
    def read(cls, fields: Fields) -> Precompiled:
        return cls(from_base64(fields, "precompiled_charsmap"))

    def to_json(self) -> dict[str, Any]:
        return {"type": self.kind, "precompiled_charsmap": to_base64(self.precompiled_charsmap)}


def _whole(rules: Charsmap, text: str) -> str | None:
    short = len(text) < 6 and len(text.encode("utf-8", "surrogateescape")) < 6
    return rules.shortest(text) if short else None


def _counted(changes: list[int]) -> list[int]:
    """The owner's counting: 1 is one more from the place before, 0 is the next place, -n is that and n others."""
    sources: list[int] = []
    place = 0
    for change in changes:
        sources.append(place - (change > 0))
        place += 1 - change if change <= 0 else 0
    return sources


def _without(removed: set[str], text: str) -> Sources:
    """The text without some characters."""
    kept = [(character, place) for place, character in enumerate(text) if character not in removed]
    return "".join([character for character, _ in kept]), [place for _, place in kept]


def _behind(sources: list[int], made: Sources) -> Sources:
    """The sources of a second step, in the text that the first one had."""
    return made[0], [sources[place] for place in made[1]]


def valid_text(fields: Fields, name: str) -> str:
    """A field that is a string and can be UTF-8."""
    text = fields.text(name)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise fields.refuse(f"has a lone surrogate in {name} at character {error.start}; write characters") from None
    return text


def from_base64(fields: Fields, name: str) -> bytes:
    """A field that is bytes in base 64."""
    text = fields.text(name)
    try:
        return base64.b64decode(text.encode("ascii"), validate=True)
    except (UnicodeEncodeError, binascii.Error) as error:
        raise fields.refuse(
            f"has {name}={brief(text)}, which is no base 64: {error}; take it from the model again"
        ) from None


def to_base64(data: bytes) -> str:
    """Bytes in base 64."""
    return base64.b64encode(data).decode("ascii")
