"""What the page shows, as JSON: tokens in their signs, where a token comes from, what ids mean, a training in frames.

Tokens are listed once in each answer, by id: ``parts`` alternates between text that is shown as it is and signs for
what cannot be shown (``showing.signs`` makes them), beginning with text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from .. import explain, showing
from ..errors import BytepairError
from ..explain.trees import lines, svg
from ..showing import LINE_BREAK, Part, Piece

if TYPE_CHECKING:
    from ..explain.merging import Tree
    from .shelf import Shelved
    from .texts import Encoded

LONGEST = 300
"""Bytes of a token that are shown."""

LARGEST_EXPLAINED = 20_000
"""Bytes of a text whose merges are shown."""

MOST_IDS = 100_000
"""Ids that are explained in one answer."""

MOST_ROWS = 1_000
"""Of those, how many have a row in the table."""

_LEAVES, _DEPTH, _LINES, _STEPS = 64, 40, 400, 100
_PAIRS, _WORDS, _WORD = 12, 40, 200


def block(encoded: Encoded, number: int, others: Iterable[Encoded]) -> dict[str, Any]:
    """The tokens of one block of a text, and which of them another tokenizer cuts differently.

    Raises
    ------
    BytepairError
        There is no such block.
    """
    borders = encoded.blocks
    if not 0 <= number < len(borders) - 1:
        raise BytepairError(f"there is no block {number}; there are {len(borders) - 1}, from 0")
    begin, end = borders[number], borders[number + 1]
    ids = encoded.ids[begin:end].tolist()
    return {
        "start": begin,
        "ids": ids,
        "tokens": tokens(encoded.shelved, ids),
        "differs": encoded.differing(list(others), begin, end).tolist(),
    }


def tokens(shelved: Shelved, ids: Iterable[int]) -> dict[str, dict[str, Any]]:
    """Each of the tokens once: what is shown for it, its bytes, and whether it is special."""
    distinct = sorted(set(ids))
    pieces = zip(distinct, showing.pieces(shelved.tokenizer, distinct))
    return {str(i): {"parts": parts(piece), "bytes": hexed(piece.data)} | _kind(piece) for i, piece in pieces}


def _kind(piece: Piece) -> dict[str, Any]:
    return {"special": True} if piece.is_special else {}


def parts(piece: Piece) -> list[str]:
    """What is shown for a token: text and signs by turns, text first; a line breaks after its sign."""
    out = [""]
    for text, is_sign in _bounded(piece):
        if is_sign == (len(out) % 2 == 1):
            out.append("")
        out[-1] += f"{text}\n" if is_sign and text == LINE_BREAK else text
    return out


def _bounded(piece: Piece) -> Iterator[Part]:
    """The parts of a token; of a very long one (files of others may have them) those of its beginning."""
    if len(piece.data) <= LONGEST:
        yield from showing.signed(piece, False)
        return
    end = next((at for at in range(LONGEST, LONGEST - 4, -1) if piece.data[at] & 0xC0 != 0x80), LONGEST)
    yield from showing.signed(piece._replace(data=piece.data[:end], is_marked=False), False)
    yield Part(f"⟨{len(piece.data) - end:,} more bytes⟩", True)


def hexed(data: bytes, most: int = 16) -> str:
    """Bytes as a person reads them: ``68 65 6C``."""
    return data[:most].hex(" ").upper() + (" …" if len(data) > most else "")


def why(shelved: Shelved, id: int) -> dict[str, Any]:
    """Where a token comes from: facts with a name each, and its merge tree.

    A fact has ``text``, or ``tokens`` (ids that can be asked about in turn), or ``words`` (parts).
    """
    tok = shelved.tokenizer
    origin = explain.why(tok, id)
    facts: list[dict[str, Any]] = [
        {"name": "id", "text": str(id)},
        {"name": "bytes", "text": f"{hexed(origin.data, 32)} ({_many(len(origin.data), 'byte')})"},
        {"name": "what it is", "text": _SORTS[origin.kind]},
    ]
    if origin.kind == "merge" and not origin.by_merges:
        facts[-1]["text"] = "a token that no merges make: only a pretoken that is this token as a whole becomes it"
    if origin.parts is not None:
        facts.append({"name": "merged from", "tokens": list(origin.parts)})
    if origin.rank is not None:
        facts.append({"name": "rank", "text": f"{origin.rank:,}"})
    if origin.step is not None:
        s = origin.step
        tied = "" if s.tied == 1 else f", like {_many(s.tied - 1, 'other pair')}"
        facts.append({"name": "count", "text": f"the pair came {_many(s.count, 'time')} when it won{tied}"})
        facts.append({"name": "at the end", "text": f"the token stands {_many(s.frequency, 'time')} in the corpus"})
        facts.append({"name": "first seen in", "words": [parts(Piece(word, False, False)) for word in s.examples]})
    elif origin.kind == "merge":
        facts.append({"name": "count", "text": "not recorded: this vocabulary comes without its training"})
    if not origin.reached and origin.split:
        facts.append({"name": "its own text is encoded as", "tokens": list(origin.split)[:50]})
    if origin.n_used_in:
        more = origin.n_used_in - len(origin.used_in)
        facts.append(
            {"name": "merged on into", "tokens": list(origin.used_in), "text": f"and {more:,} more" * bool(more)}
        )
    asked = {id, *(i for fact in facts for i in fact.get("tokens", ()))}
    tree = origin.tree if origin.tree is not None and origin.tree.parts is not None else None
    return {
        "id": id,
        "facts": facts,
        "tokens": tokens(shelved, asked),
        "tree": None if tree is None else list(islice(lines(tok, tree), _LINES)),
        "picture": tree is not None and _drawable(tree),
    }


_SORTS = {
    "special": "a special token: no merge makes it, only its name in a text",
    "added": "an added token: no merge makes it, only its name in a text",
    "symbol": "a symbol of the alphabet: it was there before the first merge",
    "merge": "a merge of two tokens",
}


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _drawable(tree: Tree) -> bool:
    return sum(1 for _ in islice(tree.leaves(), _LEAVES + 1)) <= _LEAVES and tree.depth <= _DEPTH


def picture(shelved: Shelved, id: int) -> str:
    """The merge tree of a token as SVG.

    Raises
    ------
    BytepairError
        It has none, or one that is too large to look at.
    """
    tree = explain.why(shelved.tokenizer, id).tree
    if tree is None or tree.parts is None or not _drawable(tree):
        raise BytepairError(f"id {id} has no merge tree that could be drawn")
    return svg(shelved.tokenizer, [tree])


def steps(encoded: Encoded, data: bytes, specials: bool, place: int) -> dict[str, Any]:
    """Every merge of the pretoken in which a token of a text lies.

    Raises
    ------
    BytepairError
        The text has no such token, or is too long for that.
    """
    if len(data) > LARGEST_EXPLAINED:
        raise BytepairError(f"merges are shown for texts of up to {LARGEST_EXPLAINED:,} bytes; this has {len(data):,}")
    before = 0
    for pretoken in explain.explain(encoded.shelved.tokenizer, data, special="all" if specials else "text").pretokens:
        if place < before + len(pretoken.ids):
            break
        before += len(pretoken.ids)
    else:
        raise BytepairError(f"there is no token {place} in this text; it has {before:,}")
    states = [list(ids[:_WORD]) for ids in islice(pretoken.states(), _STEPS + 1)]
    merges = [{"rank": s.rank, "left": s.left, "right": s.right, "new": s.new} for s in pretoken.steps[:_STEPS]]
    return {
        "how": pretoken.how,
        "number": place - before,
        "states": states,
        "steps": merges,
        "more": len(pretoken.steps) - len(merges),
        "tokens": tokens(encoded.shelved, {i for state in states for i in state}),
    }


def ids_of(text: Any) -> list[int]:
    """The ids in what somebody pasted: whole numbers, with anything but letters and other numbers between them.

    Raises
    ------
    BytepairError
        There is something else, or too much.
    """
    if not isinstance(text, str):
        raise BytepairError("ids should be text, such as 15339, 1917")
    if (odd := re.search(r"[^\d\s,;:|()\[\]{}'\"]+|\d{8,}", text, re.ASCII)) is not None:
        shown = showing.clipped(showing.one_line(odd[0][:40]), 20)
        raise BytepairError(f"{shown!r} at character {odd.start()} is no id; paste whole numbers, such as 15339, 1917")
    found = re.findall(r"\d+", text, re.ASCII)
    if len(found) > MOST_IDS:
        raise BytepairError(f"{len(found):,} ids are too many to explain at once; paste up to {MOST_IDS:,}")
    return [int(number) for number in found]


def from_ids(shelved: Shelved, ids: list[int]) -> dict[str, Any]:
    """What ids stand for, and whether encoding would have given them."""
    tok = shelved.tokenizer
    found = explain.explain_ids(tok, ids)
    rows = [
        {
            "id": one.id,
            "kind": one.kind,
            "bytes": hexed(one.data),
            "characters": parts(Piece(one.characters.encode("utf-8", "surrogatepass"), False, False)),
            "note": "no UTF-8" if one.broken else f"waits for more: {hexed(one.waiting)}" if one.waiting else "",
        }
        for one in found.ids[:MOST_ROWS]
    ]
    canonical = found.canonical.to_json()
    canonical["given"], canonical["expected"] = canonical["given"][:_WORD], canonical["expected"][:_WORD]
    return {
        "count": len(ids),
        "bytes": sum(len(one.data) for one in found.ids),
        "text": tok.decode(ids),
        "ids": ids[:MOST_ROWS],
        "rows": rows,
        "canonical": canonical,
        "tokens": tokens(shelved, {*ids[:MOST_ROWS], *canonical["given"], *canonical["expected"]}),
    }


def frames(shelved: Shelved) -> dict[str, Any]:
    """A training on a small corpus, frame by frame."""
    seen = explain.replay(shelved.tokenizer)
    out = []
    shown: set[int] = set()
    for frame in seen:
        # Those that change come first where not all can be shown.
        chosen = sorted(list(dict.fromkeys([*frame.changed(), *range(len(frame.before))]))[:_WORDS])
        words: list[tuple[tuple[int, ...], tuple[int, ...], int]] = [
            (frame.before[k][0][:_WORD], frame.after[k][0][:_WORD], frame.before[k][1]) for k in chosen
        ]
        winner = frame.winner
        pairs = [[*pair, count] for pair, count in frame.pairs[:_PAIRS]]
        out.append(
            {
                "winner": None if winner is None else [winner.left, winner.right, winner.new_id, winner.count],
                "tied": [list(pair) for pair in frame.tied[:_PAIRS]],
                "n_tied": len(frame.tied),
                "pairs": pairs,
                "n_pairs": len(frame.pairs),
                "words": words,
                "n_words": len(frame.before),
                "length": frame.length,
            }
        )
        for before, after, _ in words:
            shown.update(before, after)
        shown.update(i for pair, _ in frame.pairs[:_PAIRS] for i in pair)
        if winner is not None:
            shown.update((winner.left, winner.right, winner.new_id))
    return {"frames": out, "stopped": seen.stopped, "tokens": tokens(shelved, shown)}
