"""Slow ways to cut a text that share nothing with the transducer, and what split points promise.

They are a backtracking matcher, a rescanning lexer and the ``regex`` module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

from bytepair.pattern.fallback import regex_ends
from bytepair.pattern.nodes import Alternation, Atomic, Chars, Concat, Group, Look, Node, Repeat
from bytepair.pattern.program import GAP

if TYPE_CHECKING:
    from bytepair.pattern.automaton import Tables
    from bytepair.pattern.determinise import Automaton


class Backtracker:
    """Leftmost-first search over the syntax tree, by definition: all ends of a node, most preferred first."""

    def __init__(self, text: str) -> None:
        self.text = [ord(character) for character in text]

    def ends(self, node: Node, at: int) -> Iterator[int]:
        if isinstance(node, Chars):
            if at < len(self.text) and self.text[at] in node.characters:
                yield at + 1
        elif isinstance(node, Concat):
            yield from self.sequence(node.items, at)
        elif isinstance(node, Alternation):
            for option in node.options:
                yield from self.ends(option, at)
        elif isinstance(node, Repeat):
            found = self.repeated(node, at, 0)
            if node.mode == "possessive":
                yield from list(found)[:1]
            else:
                yield from found
        elif isinstance(node, Atomic):
            yield from list(self.ends(node.body, at))[:1]
        elif isinstance(node, Look):
            if node.ahead:
                holds = any(True for _ in self.ends(node.body, at))
            else:
                holds = any(end == at for start in range(at + 1) for end in self.ends(node.body, start))
            if holds != node.negative:
                yield at
        elif isinstance(node, Group):
            yield from self.ends(node.body, at)
        else:
            raise NotImplementedError(node)

    def sequence(self, items: tuple[Node, ...], at: int) -> Iterator[int]:
        if not items:
            yield at
            return
        for middle in self.ends(items[0], at):
            yield from self.sequence(items[1:], middle)

    def repeated(self, node: Repeat, at: int, count: int) -> Iterator[int]:
        if node.mode == "lazy" and count >= node.low:
            yield at
        if node.high is None or count < node.high:
            for middle in self.ends(node.body, at):
                # Only an endless loop must not take nothing; elsewhere an empty turn counts like any other.
                if middle > at or node.high is not None:
                    yield from self.repeated(node, middle, count + 1)
        if node.mode != "lazy" and count >= node.low:
            yield at


def backtracked(node: Node, text: str) -> list[int]:
    """The ends of all pretokens, in characters."""
    matcher = Backtracker(text)
    ends: list[int] = []
    at = cut = 0
    while at < len(text):
        end = next(matcher.ends(node, at), None)
        if end is None:
            at += 1
            continue
        if at > cut:
            ends.append(at)
        ends.append(end)
        at = cut = end
    if at > cut:
        ends.append(at)
    return ends


def lexer(automaton: Automaton) -> Callable[[str], list[int]]:
    """Gives the ends of all pretokens, in characters: one pretoken at a time, each read again from its beginning."""
    table, end = automaton.classes.table(), automaton.n_classes

    def lexed(text: str) -> list[int]:
        classes = [table.of(ord(character)) for character in text] + [end]
        found: list[tuple[int, int]] = []
        start = 0
        while start < len(text):
            state = automaton.restart[classes[start - 1] if start else end]
            accepted = (0, start)
            for place in range(start, len(classes)):
                kind, state = automaton.delta[state][classes[place]]
                if kind:
                    accepted = (kind, place)
                if state < 0:
                    break
            found.append(accepted)
            start = accepted[1]
        kinds = [kind for kind, _ in found] + [0]
        return [at for place, (_, at) in enumerate(found) if not (kinds[place] == GAP == kinds[place + 1])]

    return lexed


def by_regex(regex: str, dialect: str, text: str) -> list[int]:
    """The ends of all pretokens, in characters, as the ``regex`` module finds them."""
    ends = regex_ends(text.encode("utf-8", "surrogateescape"), regex, dialect, 60)
    at = {0: 0}
    total = 0
    for number, character in enumerate(text, 1):
        total += len(character.encode("utf-8", "surrogateescape"))
        at[total] = number
    return [at[end] for end in ends]


def stage_after_stage(stages: Sequence[Callable[[str], list[int]]], text: str) -> list[int]:
    """The ends of all pretokens of a chain, in characters: each stage cuts every piece of the one before it anew."""
    first, *rest = stages
    ends = first(text)
    if not rest:
        return ends
    return [start + end for start, stop in pairwise([0, *ends]) for end in stage_after_stage(rest, text[start:stop])]


def check_split_points(tables: Tables, splitter: Any, text: str, ends: list[int]) -> None:
    """Hold the pairs to their promise at every place of a text.

    Parameters
    ----------
    splitter
        The one in pure Python.
    ends
        The right ends of the text's pretokens, in bytes.
    """
    characters = [character.encode("utf-8", "surrogateescape") for character in text]
    classes = [tables.classes.of(ord(character)) for character in text]
    for at in range(1, len(text)):
        pair = classes[at - 1] * tables.n_classes + classes[at]
        left, right = b"".join(characters[:at]), b"".join(characters[at:])
        behind = [end - len(left) for end in ends if end > len(left)]
        if tables.weak[pair]:
            assert len(left) in ends
            # The part after a weak cut goes on in the state that begins a pretoken after that class.
            assert list(chain.from_iterable(splitter.certain_ends(right, left, True))) == behind
        if tables.strong[pair]:
            assert tables.weak[pair]
            assert splitter.ends(left).tolist() == [end for end in ends if end <= len(left)]
            assert splitter.ends(right).tolist() == behind
