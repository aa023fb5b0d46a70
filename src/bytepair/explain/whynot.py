"""Why a string is not one token.

A string is one token where three things hold: no border of the pattern lies inside it, training made its token, and no
earlier merge takes its pieces away. :func:`why_not` finds the first that fails, and says what it cannot know.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import showing
from .._text import to_bytes
from ..errors import UnknownTokenError, VocabularyError
from ..showing import html
from .merging import LARGEST, Merging, Step, Tree, merges_of
from .token import why
from .trees import label

if TYPE_CHECKING:
    from ..record import TrainingRecord
    from ..tokenizer import Tokenizer

SENTENCES = {
    "token": "it is one token",
    "special": "it is the name of a token, which a text may name only where that is allowed",
    "unknown": "it holds a character that the alphabet does not have",
    "dropped": "the tokenizer drops it before it encodes: it has no tokens",
    "border": "the pattern cuts it, and no merge crosses a border",
    "overtaken": "its token exists, but another merge comes first and takes a piece of it",
    "absent": "it never stood in a pretoken of the corpus",
    "rare": "it did not come often enough",
    "taken": "merges with what stood around it took its pieces",
    "full": "the vocabulary was full before its turn came",
    "limited": "a limit of training kept it from being made: the longest token, or the characters of the alphabet",
    "unrecorded": "no merge makes it; what its count was in training is not recorded",
}


@dataclass(frozen=True)
class Taking:
    """A merge that takes a piece of the string together with what stands beside it, or against its own tree.

    ``count`` is how many places of the corpus it took so; None where that is not known.
    """

    rank: int
    left: int
    right: int
    new: int
    count: int | None


@dataclass(frozen=True)
class Absence:
    """What :meth:`~bytepair.tokenizer.Tokenizer.why_not` gives.

    Attributes
    ----------
    data : bytes
    reason : str
        ``"token"`` and ``"special"``: it is one. ``"unknown"``: a character that the alphabet does not have.
        ``"dropped"``: the tokenizer drops it, as the classic scheme drops white space. ``"border"``: the pattern cuts
        it (``pretokens``). ``"overtaken"``: its token exists, but encoding gives others, since the merge in
        ``taken_by`` comes first. Where the corpus is recorded: ``"absent"``, it is in no pretoken; ``"rare"``, it came
        ``count`` times, under ``needed``; ``"taken"``, merges with its neighbours (``taken_by``) left fewer than
        ``needed`` of its ``count`` places; ``"full"``, the vocabulary was full first;
        ``"limited"``, it came often enough, but is longer than ``max_token_length`` or crosses a character that
        ``limit_alphabet`` left out. Else ``"unrecorded"``.
    pretokens : tuple of bytes
        What the pattern makes of it.
    ids : tuple of int
        The tokens that encoding gives for it.
    count : int or None
        How often it stood in the pretokens of the corpus; None where that is not recorded.
    free : int or None
        How many of those places no merge had taken a piece of when training ended.
    needed : int or None
        The lowest count that training merged (``min_freq``).
    at_most : int or None
        No pair that is left has more than this count: the best one left, or the last that was merged.
    taken_by : tuple of Taking
    """

    data: bytes
    reason: str
    pretokens: tuple[bytes, ...]
    ids: tuple[int, ...]
    count: int | None
    free: int | None
    needed: int | None
    at_most: int | None
    taken_by: tuple[Taking, ...]
    tokenizer: Tokenizer

    def __repr__(self) -> str:
        return f"<Absence of {self.data[:40]!r}: {self.reason}>"

    def to_json(self) -> dict[str, Any]:
        """Plain values; bytes are text with one character for each byte (Latin-1)."""
        tok = self.tokenizer
        return {
            "bytes": self.data.decode("latin-1"),
            "reason": self.reason,
            "says": SENTENCES[self.reason],
            "pretokens": [p.decode("latin-1") for p in self.pretokens],
            "ids": list(self.ids),
            "tokens": [tok.token_str(i) for i in self.ids],
            "count": self.count,
            "free": self.free,
            "needed": self.needed,
            "at_most": self.at_most,
            "taken_by": [
                {"rank": t.rank, "left": t.left, "right": t.right, "new": t.new, "count": t.count}
                for t in self.taken_by
            ],
        }

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        tok = self.tokenizer
        shown = showing.visible(showing.Piece(self.data[:200], False, False))
        yield f"{shown}: {SENTENCES[self.reason]}"
        if self.reason == "border":
            cut = (showing.visible(showing.Piece(p[:200], False, False)) for p in self.pretokens[:40])
            yield "pretokens: " + showing.BORDER.join(cut) + " ..." * (len(self.pretokens) > 40)
        if self.ids:
            shown = " ".join(f"{label(tok, i)} ({i})" for i in self.ids[:40])
            yield f"it encodes as {shown}" + " ..." * (len(self.ids) > 40)
        if self.count is not None:
            yield f"in the corpus: {self.count} times; a pair was merged from {self.needed} times on"
            if self.free is not None and self.free < self.count:
                yield f"places that no merge took a piece of: {self.free}"
        for t in self.taken_by[:40]:
            times = "" if t.count is None else f", in {t.count} places"
            yield f"taken by rank {t.rank}: {label(tok, t.left)} + {label(tok, t.right)} = {label(tok, t.new)}{times}"
        if self.reason == "unrecorded":
            if self.at_most is not None:
                yield f"the pair that would make it came at most {self.at_most} times when training ended"
            else:
                yield "this vocabulary comes without a training record"

    def _repr_html_(self) -> str:
        return html.fragment("".join(f"<p>{html.escaped(line)}</p>" for line in self._lines()))


def why_not(tok: Tokenizer, data: bytes | str) -> Absence:
    """Why a string is not one token; see :meth:`Tokenizer.why_not`."""
    text = to_bytes(data, "surrogateescape")
    if not text:
        raise VocabularyError("the string is empty; no token is")
    record = tok.record
    needed = None if record is None else record.min_freq
    at_most = None if record is None else _bound(record)

    def absence(reason: str, **facts: Any) -> Absence:
        given = {"pretokens": (), "ids": (), "count": None, "free": None, "taken_by": (), **facts}
        return Absence(text, reason, needed=needed, at_most=at_most, tokenizer=tok, **given)

    if any(text == name.encode() for name in (*tok.specials, *tok.added)):
        return absence("special")
    try:
        ids = tuple(tok.encode(text, special=()))
    except UnknownTokenError:
        return absence("unknown")
    seen = tok._front.pretokens(text, tok._always)
    known: dict[str, Any] = {"pretokens": tuple(seen), "ids": ids}
    if tok.unk_id is not None and tok.unk_id in ids:
        return absence("unknown", **known)
    if not ids:
        return absence("dropped", **known)
    if len(ids) == 1:
        return absence("token", **known)
    if len(seen) != 1:
        return absence("border", **known)
    word = seen[0]
    merging = merges_of(tok).of(word)
    own = next((i for i in _tokens_of(tok, word) if i not in ids), None)
    if merging is not None and own is not None and len(word) <= LARGEST:
        return absence("overtaken", taken_by=_overtaking(why(tok, own).tree, merging), **known)
    if record is None or record.corpus is None:
        return absence("unrecorded", **known)
    count, free, taken = _places(tok, record, word)
    known |= {"count": count, "free": free, "taken_by": tuple(taken)}
    if count == 0:
        return absence("absent", **known)
    if count < record.min_freq:
        return absence("rare", **known)
    if free < record.min_freq:
        return absence("taken", **known)
    # Where a pair as frequent as this one could still have been merged, only the end of training came before it.
    more = record.best_left is not None and record.best_left[1] >= record.min_freq
    return absence("full" if more else "limited", **known)


def _bound(record: TrainingRecord) -> int | None:
    if record.best_left is not None:
        return record.best_left[1]
    return record.steps[-1].count if record.steps else None


def _tokens_of(tok: Tokenizer, word: bytes) -> list[int]:
    """The tokens with these bytes that a whole pretoken can be: with the mark where there is one."""
    v = tok._vocabulary
    marked = v.alphabet.end_of_word is not None
    wanted = v.marked if marked else frozenset(v.tokens) - v.marked
    return [i for i, text in v.tokens.items() if text == word and i in wanted and i not in v.inert]


def _overtaking(tree: Tree | None, merging: Merging) -> tuple[Taking, ...]:
    """The first step of the encoder that makes what is no part of the token's own tree."""
    if tree is None:
        return ()
    own: set[tuple[int, int]] = set()
    stack = [tree]
    while stack:
        now = stack.pop()
        own.add((now.start, now.end))
        stack += now.parts or ()
    for step in merging.steps:
        if (step.start, step.end) not in own:
            return (Taking(step.rank, step.left, step.right, step.new, None),)
    return ()


def _places(tok: Tokenizer, record: TrainingRecord, word: bytes) -> tuple[int, int, list[Taking]]:
    """Where the corpus has the string: how often, how often untouched at the end, and the merges that took it.

    Each pretoken of the corpus is merged as training merged it, which is as encoding merges it. A merge takes a place
    where it joins what lies inside the string with what lies outside.
    """
    merges = merges_of(tok)
    size = {i: len(text) for i, text in tok._vocabulary.tokens.items()}
    ends_words = tok._vocabulary.alphabet.end_of_word is not None
    count = free = 0
    taken: dict[tuple[int, int, int, int], int] = {}
    for symbols, times in record.corpus or ():
        starts = [0]
        for symbol in symbols:
            starts.append(starts[-1] + size[symbol])
        text = b"".join(tok._vocabulary.tokens[symbol] for symbol in symbols)
        steps: list[Step] | None = None
        at = text.find(word)
        while at >= 0:
            end = at + len(word)
            # Where words end with a mark, so would the string's token.
            if at in starts and end in starts and (end == len(text) or not ends_words):
                if steps is None:
                    places = list(zip(starts, starts[1:]))
                    steps = merges.steps(symbols, places)[0]
                count += times
                taking = next((s for s in steps if _takes(s, at, end)), None)
                if taking is None:
                    free += times
                else:
                    key = (taking.rank, taking.left, taking.right, taking.new)
                    taken[key] = taken.get(key, 0) + times
            at = text.find(word, at + 1)
    return count, free, [Taking(*key, times) for key, times in sorted(taken.items())]


def _takes(step: Step, start: int, end: int) -> bool:
    """Whether a merge joins something of a place with something beside it; the place as a whole is no token."""
    return step.start < end and step.end > start and not (start <= step.start and step.end <= end)
