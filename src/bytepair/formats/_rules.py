"""When merges and ranks give the same ids, and one as the other.

Under the rank rule any two neighbours that together are a token merge. Merges in a list, each made of what is made
before it, give the same ids if and only if every token's own bytes, merged by all that is below it, end as the two
parts of its merge: then no other two neighbours that make the token can ever stand there when its turn comes. Any
tokenizer that was trained is so; others need not be (ranks ``bc`` < ``ab`` < ``abc`` with ``abc`` made of ``ab`` and
``c``). What cannot be shown to be so is refused.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

from .._check import brief
from .._codec import Codec
from ..errors import FormatError
from ..vocabulary import resolve_roles

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer
    from ..vocabulary import Vocabulary

__all__ = ["lost_roles", "merges_of", "not_plain_bytes", "ranks_of", "unreached"]

MAX_BYTES = 1024
"""How long a token may be whose merge is looked for; it takes time that is quadratic in it."""

Merge = tuple[int, int, int]


def not_plain_bytes(tokenizer: Tokenizer) -> str | None:
    """What a tokenizer has that a format of plain byte-level tokens cannot hold and that decides ids, or None."""
    v, around = tokenizer._vocabulary, tokenizer._around
    if v.alphabet.kind != "bytes" or v.alphabet.end_of_word is not None or v.alphabet.prefix or v.continued:
        return "its tokens are made of characters, or carry marks, and the format has plain bytes only"
    if len({v.tokens[i] for i in v.base}) != 256:
        missing = next(b for b in range(256) if bytes([b]) not in {v.tokens[i] for i in v.base})
        return f"it has no token for the byte 0x{missing:02X}"
    if around.rewrites:
        return "it rewrites a text before it cuts it (normaliser, mark for spaces), which the format has no word for"
    return None


def lost_roles(tokenizer: Tokenizer, where: str = "file") -> list[str]:
    """A sentence on the roles that do not follow from the names of special tokens, in a list; empty where all do."""
    v = tokenizer._vocabulary
    by_name = resolve_roles(v.specials, None)
    lost = {role: v.names[i] for role, i in sorted(v.roles.items()) if by_name.get(role) != i}
    return [f"the roles {lost!r} are not in the {where}; give roles= to load"] if lost else []


def unreached(tokenizer: Tokenizer) -> int | None:
    """The first token of several bytes whose own bytes do not merge into it; None where all do."""
    v = tokenizer._vocabulary
    names = v.names
    several = {i: text for i, text in v.tokens.items() if len(text) > 1 and i not in names}
    ends = array("q", accumulate(map(len, several.values())))
    codec = tokenizer._codec if not v.whole else Codec(replace(v, whole=False), tokenizer.pattern)
    found = codec.encoder.encode_ends(b"".join(several.values()), ends).tolist() if several else []
    for i, got in zip(several, found):
        if i != got:
            return i
    return None


def ranks_of(tokenizer: Tokenizer) -> dict[bytes, int]:
    """Bytes -> rank with which the rank rule gives this tokenizer's ids.

    Raises
    ------
    FormatError
        That cannot be shown; the message names the first merge that differs.
    """
    v = tokenizer._vocabulary
    if v.rule == "ranks":
        return {text: i for i, text in v.tokens.items()}
    names = v.names
    ranks: dict[bytes, int] = {}
    for i, text in v.tokens.items():
        if i in v.inert:
            if i not in names:
                raise FormatError(
                    f"id {i} ({brief(text)}) is a token that no encoding makes, and as a rank it would be"
                )
        elif ranks.setdefault(text, i) != i:
            raise FormatError(f"ids {ranks[text]} and {i} are both {brief(text)}, and ranks belong to different bytes")
    made: dict[int, Merge] = {}
    highest, simple = -1, v.ranks is None and v.unordered_merge is None
    for step, merge in enumerate(v.merges):
        left, right, new = merge
        if new < highest:
            raise FormatError(
                f"merge {step} ({brief(v.tokens[left])} + {brief(v.tokens[right])}) makes id {new}, and one before it "
                f"makes id {highest}: ranks are ids, so they would merge in another order"
            )
        highest = new
        simple &= new not in made
        made.setdefault(new, merge)
    for i, text in v.tokens.items():
        if len(text) > 1 and i not in made and i not in v.inert and i not in names:
            raise FormatError(f"id {i} ({brief(text)}) is made by no merge, and as a rank it would be made")
    if simple:
        if (first := unreached(tokenizer)) is not None:
            raise _differs(v, made[first])
    else:
        listed = set(v.merges)
        for merge in merges_of({i: text for text, i in ranks.items()}):
            if merge not in listed:
                raise _differs(v, made[merge[2]])
    return ranks


def _differs(v: Vocabulary, merge: Merge) -> FormatError:
    left, right, new = merge
    return FormatError(
        f"the merge {brief(v.tokens[left])} + {brief(v.tokens[right])} (id {new}) is not how {brief(v.tokens[new])} "
        "comes about from what is below it: under the rank rule other neighbours would merge, with other ids"
    )


def merges_of(tokens: Mapping[int, bytes]) -> list[Merge]:
    """The merges that give the same ids as tokens under the rank rule, their ids being their ranks.

    Raises
    ------
    FormatError
        There are none; the message names the first token that no single merge makes.
    """
    ranks = {text: i for i, text in tokens.items()}
    merges = []
    for i, text in sorted(tokens.items()):
        if len(text) < 2:
            continue
        if len(text) > MAX_BYTES:
            raise FormatError(f"id {i} has {len(text)} bytes; merges are looked for up to {MAX_BYTES}")
        parts = _parts(text, ranks, i)
        if len(parts) != 2:
            raise FormatError(
                f"id {i} ({brief(text)}) is no merge of two tokens: what is below it makes {len(parts)} of its bytes, "
                f"{', '.join(map(brief, parts[:6]))}{' ...' if len(parts) > 6 else ''}, so that no list of merges "
                "gives the same ids"
            )
        merges.append((ranks[parts[0]], ranks[parts[1]], i))
    return merges


def _parts(text: bytes, ranks: Mapping[bytes, int], limit: int) -> list[bytes]:
    """A text by the rank rule, with the ranks below ``limit`` only."""
    parts = [text[k : k + 1] for k in range(len(text))]
    pairs = [ranks.get(text[k : k + 2], limit) for k in range(len(text) - 1)]
    while pairs and (lowest := min(pairs)) < limit:
        k = pairs.index(lowest)
        parts[k : k + 2] = [parts[k] + parts[k + 1]]
        del pairs[k]
        if k:
            pairs[k - 1] = ranks.get(parts[k - 1] + parts[k], limit)
        if k < len(pairs):
            pairs[k] = ranks.get(parts[k] + parts[k + 1], limit)
    return parts
