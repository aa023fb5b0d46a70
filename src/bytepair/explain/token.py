"""Where a token comes from: its merge tree, its count when it was learned, and what was made of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import showing
from ..errors import UnknownTokenError
from ..showing import html
from .merging import LARGEST, Tree, merges_of
from .prefix import tokens_with_prefix, tokens_with_suffix
from .trees import LARGEST_PICTURE, label, lines, svg

if TYPE_CHECKING:
    from ..record import MergeStep
    from ..tokenizer import Tokenizer

_USES = 20


@dataclass(frozen=True)
class Origin:
    """What :meth:`~bytepair.tokenizer.Tokenizer.why` gives.

    Attributes
    ----------
    id : int
    data : bytes
    kind : str
        ``"special"``, ``"added"``, ``"symbol"`` (of the alphabet) or ``"merge"``.
    rank : int or None
        The place of its merge in the order; its rank under the rank rule.
    parts : (int, int) or None
        The ids of the two that it is merged from.
    tree : Tree or None
        Its merge tree down to the first symbols. None where no merges make it, or it is larger than 10,000 bytes.
    step : MergeStep or None
        What training noted of its merge: count, ties, frequency at the end, example words. None where it was not
        recorded, as in every vocabulary that we did not train.
    reached : bool
        Whether encoding its own text gives this one token.
    split : tuple of int
        What encoding its text gives.
    by_merges : bool
        Whether merges alone make it; else only a pretoken that is the token as a whole becomes it.
    used_in : tuple of int
        The tokens that a merge makes from it and another, in order, at most 20.
    n_used_in : int
        How many there are.
    """

    id: int
    data: bytes
    kind: str
    rank: int | None
    parts: tuple[int, int] | None
    tree: Tree | None
    step: MergeStep | None
    reached: bool
    split: tuple[int, ...]
    by_merges: bool
    used_in: tuple[int, ...]
    n_used_in: int
    tokenizer: Tokenizer

    def __repr__(self) -> str:
        return f"<Origin of id {self.id}: {self.data[:40]!r}, {self.kind}>"

    def to_json(self) -> dict[str, Any]:
        """Plain values; bytes are text with one character for each byte (Latin-1)."""
        return {
            "id": self.id,
            "bytes": self.data.decode("latin-1"),
            "token": self.tokenizer.token_str(self.id),
            "kind": self.kind,
            "rank": self.rank,
            "parts": None if self.parts is None else list(self.parts),
            "tree": None if self.tree is None else _tree_json(self.tokenizer, self.tree),
            "recorded": None if self.step is None else self.step.to_json(),
            "reached": self.reached,
            "split": list(self.split),
            "by_merges": self.by_merges,
            "used_in": list(self.used_in),
            "n_used_in": self.n_used_in,
        }

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield from self._facts()
        if self.tree is not None and self.tree.parts is not None:
            yield from lines(self.tokenizer, self.tree)

    def _facts(self) -> Iterator[str]:
        tok = self.tokenizer
        yield f"{label(tok, self.id)}  id {self.id}, bytes {self.data[:32].hex(' ')}{' ...' * (len(self.data) > 32)}"
        if self.kind in ("special", "added"):
            yield f"{'a special' if self.kind == 'special' else 'an added'} token: no merge makes it, the text names it"
            return
        if self.kind == "symbol":
            yield "a symbol of the alphabet: it was there before the first merge"
        elif self.parts is not None:
            left, right = self.parts
            yield f"merge of {label(tok, left)} + {label(tok, right)}, rank {self.rank}"
        elif self.by_merges:
            yield f"rank {self.rank}"
        else:
            yield f"no merges make it (rank {self.rank}): only a pretoken that is this token as a whole becomes it"
        if self.step is not None:
            s = self.step
            tied = "" if s.tied == 1 else f", like {s.tied - 1} other pairs"
            yield f"the pair came {s.count} times when it won{tied}; the token stands {s.frequency} times at the end"
            if s.examples:
                words = (showing.visible(showing.Piece(word, False, False)) for word in s.examples)
                yield "first words that it was merged in: " + "  ".join(showing.clipped(word, 40) for word in words)
        elif self.kind == "merge":
            yield "its count in training was not recorded: this vocabulary comes without a training record"
        if not self.reached:
            shown = " ".join(label(tok, i) for i in self.split)
            v = tok._vocabulary
            if v.alphabet.end_of_word is not None and self.id not in v.marked:
                yield f"it stands within words; a whole word ends with the mark, and this one is {shown or 'unknown'}"
            else:
                yield f"encoding its own text does not give it, but {shown or 'an unknown character'}"
        if self.n_used_in:
            shown = "  ".join(label(tok, i) for i in self.used_in)
            more = f" and {self.n_used_in - len(self.used_in)} more" if self.n_used_in > len(self.used_in) else ""
            yield f"merged on into: {shown}{more}"

    def _repr_html_(self) -> str:
        facts = "".join(f"<p>{html.escaped(line)}</p>" for line in self._facts())
        drawn = self.tree is not None and 2 * self.tree.symbols <= LARGEST_PICTURE
        picture = svg(self.tokenizer, [self.tree]) if self.tree is not None and drawn else ""
        return html.fragment(facts + picture)


def why(tok: Tokenizer, token: str | bytes | int) -> Origin:
    """Where a token comes from; see :meth:`Tokenizer.why`."""
    number = tok.token_to_id(token) if isinstance(token, (str, bytes)) else token
    data = tok.id_to_bytes(number)
    v = tok._vocabulary
    if number not in v.tokens:
        kind = "special" if number in tok._special_ids else "added"
        return Origin(number, data, kind, None, None, None, None, False, (), False, (), 0, tok)
    data = v.tokens[number]
    makers = merges_of(tok).makers
    rank, parts = makers.get(number, (None, None))
    is_symbol = number in merges_of(tok).first
    merging = None if is_symbol else merges_of(tok).alone(number)
    by_merges = is_symbol or merging is not None or parts is not None
    tree: Tree | None = None
    if is_symbol:
        tree = Tree(number, 0, len(data))
    elif merging is not None:
        tree = merging.trees[0]
    elif parts is not None and len(data) <= LARGEST:
        tree = _grown(tok, number, makers)
    if v.rule == "ranks":
        rank = number
    if tree is not None and tree.parts is not None:
        rank, parts = tree.rank, (tree.parts[0].id, tree.parts[1].id)
    split = _encoded(tok, data)
    record = tok.record
    step = record[rank] if record is not None and parts is not None and rank is not None else None
    used = _uses(tok, number)
    return Origin(
        number, data, "symbol" if is_symbol else "merge", None if is_symbol else rank, parts, tree, step,
        split == (number,), split, by_merges, tuple(used[:_USES]), len(used), tok,
    )  # fmt: skip


def _encoded(tok: Tokenizer, data: bytes) -> tuple[int, ...]:
    """What encoding gives for a text, with the pattern's borders, but without what the tokenizer rewrites."""
    try:
        return tuple(tok._codec.encode(data, None))
    except UnknownTokenError:
        return ()


def _uses(tok: Tokenizer, id: int) -> list[int]:
    """The tokens that are merged from this one and another, in the order of their merges."""
    v = tok._vocabulary
    if v.rule == "merges":
        return list(_by_part(tok).get(id, ()))
    # What is merged from it begins or ends with it; only those are taken apart, not the whole vocabulary.
    data, parts = v.tokens[id], merges_of(tok).parts
    near = {*tokens_with_prefix(tok, data), *tokens_with_suffix(tok, data)} - {id}
    return [i for i in sorted(near) if id in parts(i)]


def _by_part(tok: Tokenizer) -> dict[int, dict[int, None]]:
    """Under the merge rule: for each token those that are merged from it and another."""
    kept: dict[str, Any] = vars(tok)
    if "_uses_for_explaining" not in kept:
        uses: dict[int, dict[int, None]] = {}
        for left, right, new in tok._vocabulary.merges:
            for part in (left, right):
                uses.setdefault(part, {})[new] = None
        kept["_uses_for_explaining"] = uses
    found: dict[int, dict[int, None]] = kept["_uses_for_explaining"]
    return found


def _grown(tok: Tokenizer, id: int, makers: dict[int, tuple[int, tuple[int, int]]]) -> Tree:
    """The tree of a token under the merge rule, by its merges down to symbols."""
    sizes = tok._vocabulary.tokens
    order: list[tuple[int, int]] = []  # (id, start), tokens before their parts
    stack = [(id, 0)]
    while stack:
        now, start = stack.pop()
        order.append((now, start))
        if now in makers:
            one, other = makers[now][1]
            stack += [(other, start + len(sizes[one])), (one, start)]
    done: list[Tree] = []
    for now, start in reversed(order):  # a token's parts are the last two that were made
        end = start + len(sizes[now])
        if now not in makers:
            done.append(Tree(now, start, end))
            continue
        rank = makers[now][0]
        left, right = done.pop(), done.pop()
        done.append(Tree(now, start, end, rank, (left, right)))
    return done[0]


def _tree_json(tok: Tokenizer, tree: Tree) -> dict[str, Any]:
    made: dict[int, dict[str, Any]] = {}
    order, stack = [], [tree]
    while stack:
        now = stack.pop()
        order.append(now)
        stack += now.parts or ()
    for now in reversed(order):
        made[id(now)] = {
            "id": now.id,
            "token": tok.token_str(now.id),
            "start": now.start,
            "end": now.end,
            "rank": now.rank,
            "parts": [made.pop(id(part)) for part in now.parts or ()],
        }
    return made[id(tree)]
