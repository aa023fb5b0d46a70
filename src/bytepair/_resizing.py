"""Vocabularies whose ids do not follow their layout alone: grown behind the special tokens, or with tokens taken out.

``growing`` and ``pruning`` make them, and our own format reads and writes them with what is here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ._check import whole
from .errors import SpecialTokenError, VocabularyError
from .vocabulary import MAX_ID, Alphabet, Vocabulary, assemble, check_specials, floor, resolve_roles, without

__all__ = ["follows_layout", "leading", "natural_rows", "numbered", "with_added", "with_rows", "with_specials"]


def natural_rows(v: Vocabulary) -> int:
    """The highest id + 1."""
    return max([*v.tokens, *v.names], default=-1) + 1


def with_rows(v: Vocabulary, rows: int) -> Vocabulary:
    """The vocabulary with so many rows, those behind the highest id being empty."""
    least = natural_rows(v)
    return replace(v, rows=whole("rows", rows, least, VocabularyError, MAX_ID + 1))


def leading(specials: Mapping[str, int]) -> dict[str, int]:
    """The special tokens that have the first ids, without a gap."""
    by_id = {i: name for name, i in specials.items()}
    found: dict[str, int] = {}
    while len(found) in by_id:
        found[by_id[len(found)]] = len(found)
    return found


def follows_layout(v: Vocabulary) -> bool:
    """Whether the n-th merge makes the n-th id after the alphabet."""
    first = floor(v.alphabet, len(leading({**v.specials, **v.added})) if v.layout == "specials-first" else 0)
    return all(new == first + step for step, (_, _, new) in enumerate(v.merges))


def with_specials(v: Vocabulary, specials: Mapping[str, int], roles: Mapping[str, str] | None) -> Vocabulary:
    """The vocabulary with these special tokens beside its own; ``roles`` as a whole, by name.

    Raises
    ------
    SpecialTokenError
        A name is there already, or an id is taken.
    """
    taken = {**v.tokens, **v.names}
    for name, i in specials.items():
        if name in v.specials or name in v.added:
            raise SpecialTokenError(f"special token {name!r} is there already; each name can stand for one id only")
        if isinstance(i, bool) or not isinstance(i, int) or not 0 <= i <= MAX_ID:
            raise SpecialTokenError(
                f"special token {name!r} has the id {i!r}; ids are whole numbers from 0 to {MAX_ID}"
            )
        if i in taken:
            raise SpecialTokenError(f"special token {name!r} has the id {i}, which is {taken[i]!r} already")
        taken[i] = name
    everyone = {**v.specials, **specials}
    check_specials(everyone)
    return replace(
        v,
        specials=everyone,
        roles=resolve_roles(everyone, roles),
        rows=max([v.rows, *(i + 1 for i in specials.values())]),
    )


def with_added(v: Vocabulary, names: Iterable[str], roles: Mapping[str, str] | None) -> Vocabulary:
    """The vocabulary in which these of its special tokens are no specials but always matched; ``roles`` by name.

    Raises
    ------
    SpecialTokenError
        A role is that of a name that is no special token any more.
    """
    added = {name: v.specials[name] for name in names}
    specials = {name: i for name, i in v.specials.items() if name not in added}
    return replace(v, specials=specials, added=added, roles=resolve_roles(specials, roles))


def numbered(
    alphabet: Alphabet,
    specials: Mapping[str, int],
    layout: str,
    order: str,
    roles: Mapping[str, str] | None,
    merges: Sequence[tuple[int, int, int]],
) -> Vocabulary:
    """A vocabulary under the merge rule in one of our layouts, whose merges say which ids they make.

    Raises
    ------
    VocabularyError
        As :func:`~bytepair.vocabulary.assemble`, or an id that a merge makes is taken or out of range.
    """
    first = leading(specials) if layout == "specials-first" else {}
    start = floor(alphabet, len(first))
    dense: dict[int, int] = {}
    for step, (_, _, new) in enumerate(merges):
        if new < start or new > MAX_ID or new in dense:
            raise VocabularyError(
                f"merge {step} makes the id {new}; it must be one of its own, from {start} to {MAX_ID}"
            )
        dense[new] = start + step
    absent = MAX_ID + 1  # no id, so that the message can name the merge
    pairs = [tuple(part if part < start else dense.get(part, absent) for part in merge[:2]) for merge in merges]
    for step, pair in enumerate(pairs):
        if absent in pair:
            part = merges[step][pair.index(absent)]
            raise VocabularyError(
                f"merge {step} uses id {part}, which is neither in the alphabet nor made by any merge"
            )
    v = assemble(alphabet, first, layout, order, None, pairs=[(left, right) for left, right in pairs])
    number = {i: i for i in range(start)} | {new: old for old, new in dense.items()}
    v = without(v, frozenset(), number)
    rest = {name: i for name, i in specials.items() if name not in first}
    v = with_specials(v, rest, roles)
    return replace(v, rows=natural_rows(v))
