"""A smaller tokenizer: the tokens that are wanted, all that is needed to make them, and nothing else.

:func:`prune` is what :meth:`bytepair.Tokenizer.prune` calls. Bytes (or the alphabet), special and added tokens always
stay. No token that stays is ever made in another way than before: what goes is split as if it had never been learned.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ._check import brief
from .corpus import WordCounts
from .corpus.rewritten import count_as_encoded
from .errors import UnknownTokenError, VocabularyError
from .tokenizer import Tokenizer
from .vocabulary import Vocabulary, without

__all__ = ["ChangedPretoken", "PruneReport", "prune"]


@dataclass(frozen=True)
class ChangedPretoken:
    """A pretoken that is split otherwise now: ids of the old tokenizer, ids of the new one, how often it comes."""

    text: bytes
    count: int
    before: tuple[int, ...]
    after: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain values; bytes are text with one character for each byte (Latin-1)."""
        return {
            "text": self.text.decode("latin-1"),
            "count": self.count,
            "before": list(self.before),
            "after": list(self.after),
        }


@dataclass(frozen=True)
class PruneReport:
    """What :meth:`bytepair.Tokenizer.prune` did.

    Attributes
    ----------
    ids : old id -> new id
        Of all that stays.
    dropped : tuple of int
        The old ids of what went.
    split : old id -> tuple of new ids
        Of each token that went and can be a pretoken, what its own text is now.
    pretokens : int or None
        How many pretokens of the given corpus were looked at; None without one.
    changed : tuple of ChangedPretoken
        Those that are split otherwise now, in the order of the corpus.
    tokens_before, tokens_after : int or None
        Tokens in the corpus.
    """

    ids: Mapping[int, int]
    dropped: tuple[int, ...]
    split: Mapping[int, tuple[int, ...]]
    pretokens: int | None = None
    changed: tuple[ChangedPretoken, ...] = ()
    tokens_before: int | None = None
    tokens_after: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "ids": [[old, new] for old, new in self.ids.items()],
            "dropped": list(self.dropped),
            "split": [[old, list(now)] for old, now in self.split.items()],
            "pretokens": self.pretokens,
            "changed": [one.to_json() for one in self.changed],
            "tokens_before": self.tokens_before,
            "tokens_after": self.tokens_after,
        }

    def __str__(self) -> str:
        lines = [f"{len(self.ids)} ids stay, {len(self.dropped)} are dropped"]
        if self.pretokens is not None:
            changed = sum(one.count for one in self.changed)
            lines.append(
                f"{changed} of {self.pretokens} pretokens are split otherwise, {len(self.changed)} different ones; "
                f"{self.tokens_before} tokens became {self.tokens_after}"
            )
        return "\n".join(lines)


def prune(
    tok: Tokenizer,
    keep: Any = None,
    drop: Any = None,
    renumber: bool = False,
    children: bool = False,
    corpus: Any = None,
) -> tuple[Tokenizer, PruneReport]:
    """See :meth:`bytepair.Tokenizer.prune`."""
    if (keep is None) == (drop is None):
        raise VocabularyError("prune() takes keep= or drop=, one of them: the tokens that stay, or those that go")
    v = tok._vocabulary
    family = _Family(v)
    pinned = {*v.base, *(i for i in v.fallback if i >= 0), *v.names}
    if v.unknown_id is not None:
        pinned.add(v.unknown_id)
    pinned |= {i for new, parts in tok._around.splits for i in (new, *parts)}
    if keep is not None:
        kept = family.with_parents({*pinned, *_ids(tok, keep, "keep")} & v.tokens.keys())
        gone = v.tokens.keys() - kept
    else:
        gone = _dropped(tok, family, pinned, _ids(tok, drop, "drop"), children)
    stays = sorted({*v.tokens, *v.names} - gone)
    number = {old: new if renumber else old for new, old in enumerate(stays)}
    around = tok._around.renumbered(number)
    smaller = Tokenizer(without(v, gone, number), tok.pattern, None, around, tok._codec.cache_bytes)
    found: dict[str, Any] = {}
    if corpus is not None:
        found = _compared(tok, smaller, number, corpus)
    dropped = tuple(sorted(gone))
    return smaller, PruneReport(number, dropped, _split(tok, smaller, dropped), **found)


def _ids(tok: Tokenizer, tokens: Any, what: str) -> set[int]:
    """The ids that a caller's tokens (bytes, str) and ids (whole numbers) name."""
    if isinstance(tokens, (str, bytes, int, Mapping)) or not isinstance(tokens, Iterable):
        raise VocabularyError(f"{what} is {brief(tokens)}; give ids, or tokens as bytes or str, in a list")
    known = {*tok._vocabulary.tokens, *tok._vocabulary.names}
    found = set()
    for token in tokens:
        if isinstance(token, (str, bytes)):
            found.add(tok.token_to_id(token))
            continue
        if isinstance(token, bool) or not hasattr(token, "__index__"):
            raise VocabularyError(f"{what} holds {brief(token)}; give ids, or tokens as bytes or str")
        if token.__index__() not in known:
            raise UnknownTokenError(
                f"{what} holds the id {token}, which does not exist here; its ids lie under {tok.n_rows}"
            )
        found.add(token.__index__())
    return found


def _dropped(tok: Tokenizer, family: _Family, pinned: set[int], gone: set[int], children: bool) -> set[int]:
    tokens = tok._vocabulary.tokens
    if stuck := sorted(gone & pinned):
        raise VocabularyError(
            f"{brief(tok.token_str(stuck[0]))} (id {stuck[0]}) cannot be dropped: the alphabet and special tokens "
            "stay; leave it out of drop="
        )
    for i in sorted(tokens.keys() - gone - pinned, key=lambda i: len(tokens[i])):
        needed = [part for part in family.parents(i) if part in gone]
        if needed and not children:
            raise VocabularyError(
                f"{brief(tok.token_str(needed[0]))} (id {needed[0]}) cannot be dropped alone: "
                f"{brief(tok.token_str(i))} (id {i}) is made of it; drop that too, or give children=True to drop all "
                "that is made of what is dropped"
            )
        if needed:
            gone.add(i)
    return gone


class _Family:
    """Which tokens each token is made of, when its own text is encoded."""

    def __init__(self, v: Vocabulary) -> None:
        self.v = v

    @cached_property
    def merges(self) -> dict[int, list[int]]:
        """New id -> the merges that make it."""
        made: dict[int, list[int]] = {}
        for step, (_, _, new) in enumerate(self.v.merges):
            made.setdefault(new, []).append(step)
        return made

    @cached_property
    def ranks(self) -> dict[bytes, int]:
        return {text: i for i, text in self.v.tokens.items()}

    @cached_property
    def codes(self) -> dict[tuple[int, int], tuple[int, int]]:
        """Pair -> (rank, new id)."""
        v = self.v
        return {
            merge[:2]: (step if v.ranks is None else v.ranks[step], merge[2]) for step, merge in enumerate(v.merges)
        }

    def parents(self, i: int) -> tuple[int, ...]:
        """The two tokens that make a token; none of one that no merge makes."""
        if self.v.rule == "ranks":
            text = self.v.tokens[i]
            parts = _merged([self.ranks[text[k : k + 1]] for k in range(len(text))], lambda a, b: self._joined(a, b, i))
            return tuple(parts) if len(parts) == 2 else ()
        steps = self.merges.get(i, [])
        if len(steps) > 1:
            parts = _merged(self._symbols(i), lambda a, b: self._code(a, b, i))
            if len(parts) == 2:
                return tuple(parts)
        return self.v.merges[steps[0]][:2] if steps else ()

    def with_parents(self, ids: set[int]) -> set[int]:
        waiting = list(ids)
        while waiting:
            new = [part for part in self.parents(waiting.pop()) if part not in ids]
            ids.update(new)
            waiting += new
        return ids

    def _joined(self, left: int, right: int, without: int) -> tuple[int, int] | None:
        found = self.ranks.get(self.v.tokens[left] + self.v.tokens[right])
        return None if found is None or found >= without else (found, found)

    def _code(self, left: int, right: int, without: int) -> tuple[int, int] | None:
        found = self.codes.get((left, right))
        return None if found is None or found[1] == without else found

    def _symbols(self, i: int) -> list[int]:
        """The first symbols of a token."""
        out, waiting = [], [i]
        while waiting:
            one = waiting.pop()
            steps = self.merges.get(one)
            if steps:
                left, right, _ = self.v.merges[steps[0]]
                waiting += [right, left]
            else:
                out.append(one)
        return out


def _merged(ids: list[int], code: Any) -> list[int]:
    """The lowest rank first, at its first place, until none is left; quadratic, for tokens."""
    while True:
        found = [(*made, k) for k, pair in enumerate(zip(ids, ids[1:])) if (made := code(*pair)) is not None]
        if not found:
            return ids
        _, new, k = min(found, key=lambda one: (one[0], one[2]))
        ids = [*ids[:k], new, *ids[k + 2 :]]


def _split(old: Tokenizer, new: Tokenizer, dropped: tuple[int, ...]) -> dict[int, tuple[int, ...]]:
    """What the text of each dropped token is now, where it can stand for a whole pretoken."""
    v = old._vocabulary
    marks = v.alphabet.end_of_word is not None
    out = {}
    for i in dropped:
        text = v.tokens[i]
        if text and i not in v.continued and i not in v.inert and (i in v.marked) == marks:
            out[i] = _encoded(new, text)
    return out


def _encoded(tok: Tokenizer, word: bytes) -> tuple[int, ...]:
    """The ids of a pretoken."""
    ids: list[int] = tok._codec.encoder.encode_ends(word, array("q", [len(word)])).tolist()
    return tuple(tok._around.after(ids))


def _compared(old: Tokenizer, new: Tokenizer, number: Mapping[int, int], corpus: Any) -> dict[str, Any]:
    words = corpus if isinstance(corpus, WordCounts) else count_as_encoded(old, corpus)
    changed, before, after = [], 0, 0
    for word, count in words.items():
        was, now = _encoded(old, word), _encoded(new, word)
        before += count * len(was)
        after += count * len(now)
        if tuple(map(number.get, was)) != now:
            changed.append(ChangedPretoken(word, count, was, now))
    return {
        "pretokens": words.total,
        "changed": tuple(changed),
        "tokens_before": before,
        "tokens_after": after,
    }
