"""What tiktoken's users pass, checked and made plain: texts, tokens, names of special tokens."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import index
from typing import Any, NoReturn


def one_id_each(specials: Mapping[str, int], ranks: Mapping[bytes, int]) -> tuple[dict[str, int], dict[int, int]]:
    """Special tokens with an id of their own each, and the ids that stand in for taken ones -> those."""
    taken = set(ranks.values())
    free = max([*taken, *specials.values()], default=-1) + 1
    own: dict[str, int] = {}
    real: dict[int, int] = {}
    for name, i in specials.items():
        own[name] = i
        if i in taken:
            own[name] = free
            real[free] = i
            free += 1
        taken.add(i)
    return own, real


def as_text(text: str) -> str:
    if not isinstance(text, str):
        raise TypeError(f"expected str, got {type(text).__name__}; decode bytes first")
    return text


def repaired(text: str) -> str:
    """Surrogate pairs become their character, lone surrogates U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def listed(tokens: Any) -> list[Any]:
    if isinstance(tokens, list):
        return tokens
    if hasattr(tokens, "tolist"):
        numbers: list[Any] = tokens.tolist()
        return numbers
    if isinstance(tokens, str) or not isinstance(tokens, Sequence):
        raise TypeError(f"tokens are a sequence of int, not a {type(tokens).__name__}")
    return list(tokens)


def number(token: Any) -> int:
    i = int(index(token))
    if not 0 <= i < 1 << 32:
        raise OverflowError(f"{i} is no token; tokens lie between 0 and 2**32 - 1")
    return i


def check_threads(num_threads: int) -> None:
    if num_threads < 1:
        raise ValueError(f"num_threads is {num_threads}; it must be greater than 0")


@lru_cache(maxsize=128)
def finder(names: frozenset[str]) -> re.Pattern[str]:
    """Finds the earliest of some names, and there the longest."""
    return re.compile("|".join(re.escape(name) for name in sorted(names, key=lambda name: (-len(name), name))))


def raise_disallowed_special_token(token: str) -> NoReturn:
    """The error for a special token's name in a text."""
    raise ValueError(
        f"Encountered text corresponding to disallowed special token {token!r}. To encode it as that token, pass "
        f"allowed_special={{{token!r}, ...}}; to encode it as text, pass "
        f"disallowed_special=(enc.special_tokens_set - {{{token!r}}}); "
        "to encode all such names as text, pass disallowed_special=()"
    )
