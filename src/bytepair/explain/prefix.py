"""Tokens that begin with given bytes: what token healing needs."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from .._text import to_bytes

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer


def tokens_with_prefix(tok: Tokenizer, prefix: bytes | str) -> list[int]:
    """The ids of the tokens that begin so; see :meth:`Tokenizer.tokens_with_prefix`."""
    wanted = to_bytes(prefix, "surrogateescape")
    texts, ids = _sorted(tok)
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
        pairs = sorted((text, i) for i, text in v.tokens.items() if text and i not in v.inert)
        kept["_sorted_for_prefixes"] = ([text for text, _ in pairs], [i for _, i in pairs])
    found: tuple[list[bytes], list[int]] = kept["_sorted_for_prefixes"]
    return found
