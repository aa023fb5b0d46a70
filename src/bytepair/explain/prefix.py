"""Tokens that begin with given bytes, which token healing needs, and those that end with them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .._text import to_bytes

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer


def tokens_with_prefix(tok: Tokenizer, prefix: bytes | str) -> list[int]:
    """The ids of the tokens that begin so; see :meth:`Tokenizer.tokens_with_prefix`."""
    wanted = to_bytes(prefix, "surrogateescape")
    texts, ids = _sorted(tok)
    return _beginning(texts, ids, wanted)


def tokens_with_suffix(tok: Tokenizer, suffix: bytes) -> list[int]:
    """The ids of the tokens that end so, in the order of their bytes read backwards."""
    kept: dict[str, Any] = vars(tok)
    if "_sorted_for_suffixes" not in kept:
        kept["_sorted_for_suffixes"] = _listed((text[::-1], i) for text, i in zip(*_sorted(tok)))
    texts, ids = kept["_sorted_for_suffixes"]
    return _beginning(texts, ids, suffix[::-1])


def _beginning(texts: list[bytes], ids: list[int], wanted: bytes) -> list[int]:
    start = bisect_left(texts, wanted)
    end = start
    while end < len(texts) and texts[end].startswith(wanted):
        end += 1
    return ids[start:end]


def _sorted(tok: Tokenizer) -> tuple[list[bytes], list[int]]:
    """All tokens that stand for bytes, in the order of their bytes; looked up in logarithmic time."""
    kept: dict[str, Any] = vars(tok)
    if "_sorted_for_prefixes" not in kept:
        v = tok._vocabulary
        kept["_sorted_for_prefixes"] = _listed((text, i) for i, text in v.tokens.items() if text and i not in v.inert)
    found: tuple[list[bytes], list[int]] = kept["_sorted_for_prefixes"]
    return found


def _listed(pairs: Iterable[tuple[bytes, int]]) -> tuple[list[bytes], list[int]]:
    ordered = sorted(pairs)
    return [text for text, _ in ordered], [i for _, i in ordered]
