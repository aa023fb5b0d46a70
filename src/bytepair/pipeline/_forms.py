"""NFC, NFD, NFKC, NFKD and lower case as Hugging Face's normalizers have them, whatever this Python's Unicode is.

Their forms are those of Unicode 9.0: a later character stands alone, and nothing moves or composes across it. So the
text between such characters is Python's to normalise. Their lower case is Unicode 17's, one character at a time.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Literal

from . import _normalise_tables as tables
from ._sets import Members, decoded, newer

__all__ = ["Form", "lower", "normalised", "sources_of_form", "sources_of_lower"]

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]

# A character below U+0080 neither changes nor joins the one before it.
_RUN = re.compile(r"[^\x00-\x7f]+")


@cache
def _later() -> Members:
    """What Unicode 9.0 does not have and Python's may not leave alone."""
    return Members(decoded(tables.SINCE_9) | newer(lambda c: unicodedata.combining(c) or unicodedata.decomposition(c)))


def normalised(form: Form, text: str) -> str:
    """The text in a form."""
    # What is normal to a later Unicode is so to an earlier one.
    if text.isascii() or unicodedata.is_normalized(form, text):
        return text
    later = _later().of(text)
    out: list[str] = []
    done = 0
    for start, end in _chunks(text):
        out += (text[done:start], _normalised(form, text[start:end], later))
        done = end
    return "".join([*out, text[done:]])


def _chunks(text: str) -> Iterator[tuple[int, int]]:
    """The spans of what may change: runs beyond ASCII, each with the character before it."""
    for run in _RUN.finditer(text):
        yield max(run.start() - 1, 0), run.end()


def _normalised(form: Form, text: str, later: set[str]) -> str:
    if unicodedata.is_normalized(form, text):
        return text
    if later.isdisjoint(text):
        return unicodedata.normalize(form, text)
    pieces = re.split(f"([{''.join(later)}])", text)
    pieces[::2] = [unicodedata.normalize(form, piece) for piece in pieces[::2]]
    return "".join(pieces)


def sources_of_form(form: Form, text: str) -> tuple[str, list[int]]:
    """The text in a form, and for each of its characters the place in the text that the owner takes it to be from.

    The owner counts: a character is from the next place, one more out of the same decomposition is from the place
    before, and a composed one is from the first of its places. Characters that change their order take no place along.
    """
    if text.isascii():
        return text, list(range(len(text)))
    out: list[str] = []
    sources: list[int] = []
    done = 0
    for place, end in _chunks(text):
        out.append(text[done:place])
        sources.extend(range(done, place))
        done = end
        for character, uses in _changed(form, text[place:end]):
            out.append(character)
            sources.append(place if uses else place - 1)
            place += uses
    out.append(text[done:])
    sources.extend(range(done, len(text)))
    return "".join(out), sources


def _changed(form: Form, text: str) -> list[tuple[str, int]]:
    """The characters of a form, and how many of the text's each uses up."""
    whole: Form = "NFD" if form in ("NFC", "NFD") else "NFKD"
    parts: list[tuple[int, str, int]] = []
    marks = 0  # where the marks begin that are to be sorted
    for character in text:
        for place, part in enumerate(_decomposed(whole, character)):
            order = _order(part)
            if not order:
                parts[marks:] = sorted(parts[marks:], key=lambda one: one[0])
                marks = len(parts) + 1
            parts.append((order, part, not place))
    parts[marks:] = sorted(parts[marks:], key=lambda one: one[0])
    if form == whole:
        return [(part, uses) for _, part, uses in parts]
    result: list[tuple[str, int]] = []
    first = -1  # the last character of order 0, which others may join
    last = 0  # the order of the last one after it that did not
    for order, part, uses in parts:
        joined = None
        if first >= 0 and (first == len(result) - 1 or last < order):
            joined = _composed(result[first][0], part)
        if joined is not None:
            result[first] = (joined, result[first][1] + uses)
            continue
        if not order:
            first = len(result)
        last = order
        result.append((part, uses))
    return result


@lru_cache(maxsize=1 << 14)
def _decomposed(form: Form, character: str) -> str:
    return normalised(form, character)


@lru_cache(maxsize=1 << 14)
def _order(character: str) -> int:
    """The canonical combining class."""
    return 0 if _later().of(character) else unicodedata.combining(character)


@lru_cache(maxsize=1 << 14)
def _composed(first: str, second: str) -> str | None:
    both = normalised("NFC", first + second)
    return both if len(both) == 1 else None


@cache
def _small() -> dict[str, str]:
    """What Python's ``lower`` may not give as the owner has it."""
    points = [chr(int(number, 36)) for number in tables.LOWER.split()]
    known = dict(zip(points[::2], points[1::2]))
    unknown = newer(lambda character: character not in known and character.lower() != character)
    # Python looks around a sigma.
    return {chr(point): chr(point) for point in unknown} | known | {"Σ": "σ"}


def lower(text: str) -> str:
    """The text in small letters."""
    small = _small()
    special = set() if text.isascii() else small.keys() & set(text)
    if not special:
        return text.lower()
    pieces = re.split(f"([{''.join(special)}])", text)
    pieces[::2] = [piece.lower() for piece in pieces[::2]]
    pieces[1::2] = [small[character] for character in pieces[1::2]]
    return "".join(pieces)


def sources_of_lower(text: str) -> tuple[str, list[int]]:
    """The text in small letters, and the place that each character is from."""
    small = lower(text)
    if len(small) == len(text):
        return small, list(range(len(text)))
    # The only one that becomes two.
    return small, [place for place, character in enumerate(text) for _ in range(1 + (character == "İ"))]
