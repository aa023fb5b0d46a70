"""Graphemes as Hugging Face's ``Precompiled`` sees them: the extended clusters of UAX #29 in Unicode 17."""

from __future__ import annotations

import re
from functools import cache

from ..pattern.charsets import CharSet
from . import _normalise_tables as tables
from ._sets import Members, decoded, one_of

__all__ = ["grapheme", "joins"]


def _class(*names: str) -> str:
    found = decoded(tables.GRAPHEMES[names[0]])
    for name in names[1:]:
        found |= decoded(tables.GRAPHEMES[name])
    return one_of(found)


@cache
def joins() -> Members:
    """What a text holds, unless it is CR LF, that has a grapheme of several characters and under 6 bytes."""
    found = (decoded(tables.GRAPHEMES[name]) for name in ("Extend", "SpacingMark", "Prepend"))
    return Members(CharSet.union(found))


@cache
def grapheme() -> re.Pattern[str]:
    """One grapheme; every text is some of them."""
    lead, vowel, tail = _class("L"), _class("V"), _class("T")
    # A Hangul syllable without a final consonant stands at every 28th place.
    open_syllables = f"[{''.join(map(chr, range(0xAC00, 0xD7A4, 28)))}]"
    hangul = f"{lead}*(?:{vowel}+|{open_syllables}{vowel}*|[\uac00-\ud7a3]){tail}*|{lead}+|{tail}+"
    flags = _class("Regional_Indicator") + "{2}"
    picture = _class("Pictographic")
    extend = f"(?:(?!\u200d){_class('Extend')})"
    pictures = f"{picture}(?:{extend}*\u200d{picture})*"
    consonant, linker, between = _class("Consonant"), _class("Linker"), _class("Between", "Linker")
    conjunct = f"{consonant}(?:(?={between}*?{linker}){between}+{consonant})+"
    control = one_of(decoded(tables.GRAPHEMES["Control"]))
    core = f"(?:{hangul}|{flags}|{conjunct}|{pictures}|(?!{control})[^\r\n])"
    return re.compile(f"\r\n|{_class('Prepend')}*{core}{_class('Extend', 'SpacingMark')}*|[\\s\\S]")
