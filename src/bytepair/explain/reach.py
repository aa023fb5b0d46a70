"""Which tokens encoding can produce.

A token that stands anywhere in an encoded text is also what merges make of its own first symbols: nothing merged across
its borders there, so the same merges happened inside it. Where merges alone do not make it, and it is not taken whole,
no text ever has it: that is certain. Where they do, it is looked for in its own text, and then in many surroundings,
for the pattern may cut it and its neighbours may take its pieces; not to be found there is a suspicion, no proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..errors import UnknownTokenError
from .merging import Merges, merges_of

if TYPE_CHECKING:
    from .._codec import Codec
    from ..tokenizer import Tokenizer

_BEFORE = ("", "a", "A", " ", "1", ".", "\n", "'", "é", "你", "_", " a", "  ", "a\n", "/", "{")
_AFTER = ("", "a", "A", " ", "1", ".", "\n", "é", "你", "_", " a", "  ", "/", "}", "\n\n", "s")
_LEADS = (b"\xc3", b"\xd0", b"\xd8", b"\xe4", b"\xe4\xb8", b"\xe0", b"\xe0\xa4", b"\xe3\x81", b"\xea\xb0", b"\xe2\x80",
          b"\xf0", b"\xf0\x9f", b"\xf0\x9f\x98", b"\xf0\xa0\x80", b"\xed\x95", b"\xef\xbc")  # fmt: skip
_TAILS = (*(bytes([byte]) for byte in range(0x80, 0xC0)), b"\x80\x80", b"\xa0\x80", b"\xbf\xbf", b"\x80\x80\x80",
          b"\x9f\x98\x80", b"\x98\x80")  # fmt: skip

SURROUNDINGS = len(_BEFORE) * len(_AFTER)


def unreachable(tok: Tokenizer) -> tuple[list[int], list[int]]:
    """The tokens that no text can have, and those that were not found in any surroundings."""
    v = tok._vocabulary
    codec, merges = tok._codec, merges_of(tok)
    ids = [i for i, text in v.tokens.items() if text and i not in v.inert]
    impossible: list[int] = sorted(i for i in v.tokens if i in v.inert)
    missing: list[int] = []
    whole = set(merges.whole.values())
    for i in ids:
        if _encodes_to(codec, v.tokens[i], i):
            continue
        if i not in whole and not _made(merges, i):
            impossible.append(i)
        elif not any(_stands(codec, before, v.tokens[i], after, i) for before, after in _surroundings(v.tokens[i])):
            missing.append(i)
    return sorted(impossible), missing


def _encodes_to(codec: Codec, text: bytes, id: int) -> bool:
    try:
        return codec.encode(text, None) == [id]
    except UnknownTokenError:
        return False


def _made(merges: Merges, id: int) -> bool:
    """Whether merges make the token of its own first symbols."""
    symbols = merges.symbols(id)
    places = [(k, k + 1) for k in range(len(symbols))]
    return merges.steps(symbols, places)[1] == [id]


def _stands(codec: Codec, before: bytes, text: bytes, after: bytes, id: int) -> bool:
    """Whether the token is one of those between the two."""
    try:
        ids = codec.encode(before + text + after, None)
    except UnknownTokenError:
        return False
    tokens, at = codec.vocabulary.tokens, 0
    for i in ids:
        if i == id and at == len(before):
            return True
        at += len(tokens[i])
    return False


def _surroundings(text: bytes) -> Iterator[tuple[bytes, bytes]]:
    """What may stand around a token, its first and last character completed where the token cuts them."""
    for head in _completions(text, _LEADS, before=True):
        for tail in _completions(head + text, _TAILS, before=False):
            for before in _BEFORE:
                for after in _AFTER:
                    yield before.encode() + head, tail + after.encode()


def _completions(text: bytes, parts: Iterable[bytes], *, before: bool) -> list[bytes]:
    cut = text[:1] and (0x80 <= text[0] < 0xC0) if before else _ends_within(text)
    if not cut:
        return [b""]
    found = [part for part in parts if _is_whole(part + text if before else text + part, before)]
    return [*found, b""]


def _is_whole(text: bytes, before: bool) -> bool:
    """Whether the text begins, or as well ends, with a whole character."""
    shown = text.decode("utf-8", "surrogateescape")
    return not "\udc80" <= (shown[:1] if before else shown[-1:]) <= "\udcff"


def _ends_within(text: bytes) -> bool:
    return not _is_whole(text, False)
