"""One pretoken, merge by merge: what the encoder does, written down while it is done.

The result equals the encoder's (a property test holds it to that), for both rules, for unordered lists and for merges
that share a rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from .._codec import NONE, Codec, engine_alphabet, written
from .._rewriter import spans

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer

LARGEST = 10_000
"""Bytes of a token that is taken apart: a hostile file may have tokens of megabytes."""


class Step(NamedTuple):
    """One merge at one place.

    ``start`` and ``end`` are the bytes of the pretoken that the new token stands for; ``symbol`` is the first of the
    pretoken's first symbols in it, ``symbols`` how many of them.
    """

    rank: int
    left: int
    right: int
    new: int
    start: int
    end: int
    symbol: int
    symbols: int


@dataclass(frozen=True)
class Tree:
    """A token and the two that it was merged from; a symbol of the alphabet has no parts."""

    id: int
    start: int
    end: int
    rank: int | None = None
    parts: tuple[Tree, Tree] | None = field(default=None, repr=False)

    def leaves(self) -> Iterator[Tree]:
        """The first symbols, from left to right."""
        stack = [self]
        while stack:
            tree = stack.pop()
            if tree.parts is None:
                yield tree
            else:
                stack += reversed(tree.parts)

    @property
    def symbols(self) -> int:
        """How many first symbols it has."""
        return sum(1 for _ in self.leaves())

    @property
    def depth(self) -> int:
        """Merges on the longest way down."""
        deepest, stack = 0, [(self, 0)]
        while stack:
            tree, depth = stack.pop()
            deepest = max(deepest, depth)
            stack += [(part, depth + 1) for part in tree.parts or ()]
        return deepest


@dataclass(frozen=True)
class Merging:
    """What became of one pretoken: its first symbols, the merges in their order, and the tokens that were left."""

    data: bytes
    whole: bool
    symbols: tuple[int, ...]
    places: tuple[tuple[int, int], ...]
    steps: tuple[Step, ...]
    ids: tuple[int, ...]

    def __repr__(self) -> str:
        return f"<Merging of {self.data[:40]!r}: {len(self.steps):,} merges, {len(self.ids):,} ids>"

    def states(self) -> Iterator[tuple[int, ...]]:
        """The tokens before the first merge and after each."""
        at, after = dict(enumerate(self.symbols)), list(range(1, len(self.symbols) + 1))
        yield self.symbols
        for step in self.steps:
            del at[after[step.symbol]]
            after[step.symbol] = step.symbol + step.symbols
            at[step.symbol] = step.new
            yield tuple(at[place] for place in sorted(at))

    @cached_property
    def trees(self) -> tuple[Tree, ...]:
        """A tree for each token, from the merges that made it."""
        if self.whole:
            return tuple(Tree(i, 0, len(self.data)) for i in self.ids)
        at = {
            k: Tree(symbol, start, end)
            for k, (symbol, (start, end)) in enumerate(zip(self.symbols, self.places, strict=True))
        }
        after = {k: k + 1 for k in at}
        for step in self.steps:
            left, right = at[step.symbol], at.pop(after[step.symbol])
            after[step.symbol] = step.symbol + step.symbols
            at[step.symbol] = Tree(step.new, step.start, step.end, step.rank, (left, right))
        return tuple(at[k] for k in sorted(at))


class Merges:
    """Which two symbols of a vocabulary merge: their rank, and what they become."""

    def __init__(self, codec: Codec) -> None:
        v = codec.vocabulary
        self.codec = codec
        self.vocabulary = v
        self.alphabet = engine_alphabet(v.alphabet, v.base, v.fallback, NONE if v.unknown_id is None else v.unknown_id)
        self._parts: dict[int, tuple[int, int] | tuple[()]] = {}
        self.by_rank_rule = v.rule == "ranks"
        self.all_places_at_once = not self.by_rank_rule and v.order == "pair" and v.unordered_merge is not None
        if self.by_rank_rule:
            self.whole = {text: i for i, text in v.tokens.items()}
        else:
            self.whole = {text: i for i, text in written(v).items()} if v.whole else {}
            ranks: Sequence[int] = v.ranks or range(len(v.merges))
            self._found = {(a, b): (rank, new) for rank, (a, b, new) in zip(ranks, v.merges)}

    @cached_property
    def first(self) -> frozenset[int]:
        """The ids of the alphabet's symbols, which were there before the first merge."""
        return frozenset((*self.vocabulary.base, *self.vocabulary.fallback))

    @cached_property
    def makers(self) -> dict[int, tuple[int, tuple[int, int]]]:
        """Under the merge rule: for each token the first merge that makes it, as (rank, parts)."""
        v = self.vocabulary
        ranks = v.ranks or range(len(v.merges))
        found: dict[int, tuple[int, tuple[int, int]]] = {}
        for rank, (left, right, new) in zip(ranks, v.merges):
            if new not in self.first:
                found.setdefault(new, (rank, (left, right)))
        return found

    def parts(self, id: int) -> tuple[int, int] | tuple[()]:
        """The two that a token is merged from; none where no merge makes it."""
        listed = self.makers[id][1] if not self.by_rank_rule and id in self.makers else ()
        if not self.by_rank_rule and (not listed or self.vocabulary.unordered_merge is None):
            return listed
        if id not in self._parts:
            merging = self.alone(id) if id not in self.first else None
            self._parts[id] = (merging.steps[-1].left, merging.steps[-1].right) if merging else listed
        return self._parts[id]

    def alone(self, id: int) -> Merging | None:
        """How encoding makes a token of its own first symbols; None where it does not, or the token is too large.

        Several merges of a list may make one token: which of them does shows only here.
        """
        data = self.vocabulary.tokens[id]
        if len(data) > LARGEST:
            return None
        symbols, places, end = self.symbols(id), [], 0
        for symbol in symbols:
            start, end = end, end + len(self.vocabulary.tokens[symbol])
            places.append((start, end))
        steps, ids = self.steps(symbols, places)
        return Merging(data, False, tuple(symbols), tuple(places), tuple(steps), (id,)) if ids == [id] else None

    def symbols(self, id: int) -> list[int]:
        """The first symbols that a token stands for."""
        if self.by_rank_rule:
            return [self.vocabulary.base[byte] for byte in self.vocabulary.tokens[id]]
        out, stack = [], [id]
        while stack:
            now = stack.pop()
            if now in self.makers:
                left, right = self.makers[now][1]
                stack += [right, left]
            else:
                out.append(now)
        return out

    def find(self, left: int, right: int) -> tuple[int, int] | None:
        """Rank and id of what two neighbours merge into, or None."""
        if not self.by_rank_rule:
            return self._found.get((left, right))
        tokens = self.vocabulary.tokens
        joined = self.whole.get(tokens[left] + tokens[right])
        return None if joined is None else (joined, joined)

    def of(self, pretoken: bytes, *, whole: bool = True) -> Merging | None:
        """The merging of a pretoken; None where the classic scheme drops it.

        ``whole=False``: by merges alone, though the pretoken be a token.

        Raises
        ------
        UnknownTokenError
            As for encoding.
        """
        if whole and (token := self.whole.get(pretoken)) is not None:
            return Merging(pretoken, True, (token,), ((0, len(pretoken)),), (), (token,))
        symbols: list[int] = list(self.alphabet.symbols(pretoken, self.codec.dropped))
        if not symbols:
            return None
        places = spans(self.codec, [(0, len(pretoken))], pretoken, symbols)
        steps, ids = self.steps(symbols, places)
        return Merging(pretoken, False, tuple(symbols), tuple(places), tuple(steps), tuple(ids))

    def steps(self, symbols: Sequence[int], places: Sequence[tuple[int, int]]) -> tuple[list[Step], list[int]]:
        """The merges of some first symbols with their places in bytes, and the tokens that are left."""
        n = len(symbols)
        now = list(symbols)
        following, previous = list(range(1, n + 1)), list(range(-1, n - 1))
        # The rank of the pair that starts at a place now, None where there is none or the place is gone.
        here: list[tuple[int, int] | None] = [self.find(a, b) for a, b in pairwise(now)]
        here.append(None)
        heap = [(found[0], i) for i, found in enumerate(here) if found is not None]
        heapify(heap)
        steps: list[Step] = []

        def renew(i: int) -> None:
            j = following[i]
            here[i] = self.find(now[i], now[j]) if j < n else None
            if (found := here[i]) is not None:
                heappush(heap, (found[0], i))

        while heap:
            rank = heap[0][0]
            batch = [heappop(heap)[1]]
            while self.all_places_at_once and heap and heap[0][0] == rank:
                batch.append(heappop(heap)[1])
            for i in batch:
                found = here[i]
                if found is None or found[0] != rank:
                    continue
                j = following[i]
                after = following[j]
                steps.append(Step(rank, now[i], now[j], found[1], places[i][0], places[after - 1][1], i, after - i))
                now[i] = found[1]
                here[j] = None
                following[i] = after
                if after < n:
                    previous[after] = i
                renew(i)
                if previous[i] >= 0:
                    renew(previous[i])
        ids, i = [], 0
        while i < n:
            ids.append(now[i])
            i = following[i]
        return steps, ids


def merges_of(tok: Tokenizer) -> Merges:
    """The merges of a tokenizer, made once."""
    kept: dict[str, Any] = vars(tok)
    if "_merges_for_explaining" not in kept:
        kept["_merges_for_explaining"] = Merges(tok._codec)
    found: Merges = kept["_merges_for_explaining"]
    return found
