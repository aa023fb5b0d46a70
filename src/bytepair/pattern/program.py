"""From the syntax tree to a program of the classic kind: characters, splits, jumps, conditions, matches.

:func:`build` also decides what an automaton with one character of look-around can run; everything else raises
:class:`NotCompilable` with the reason that users are shown. ``determinise.py`` runs the program on sets of threads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from .charsets import ALL, EMPTY, CharSet
from .nodes import Alternation, Atomic, Backreference, Chars, Concat, Group, Look, Node, Repeat, can_be_empty, one_set

__all__ = ["GAP", "MATCH", "Condition", "Instruction", "NotCompilable", "Program", "build"]

#: What a match instruction reports: a pretoken of the pattern, or one character that it leaves out.
MATCH, GAP = 1, 2
_MAX_INSTRUCTIONS = 4000


class NotCompilable(Exception):  # noqa: N818 - not an error: the pattern runs on the regex module instead
    """Why a pattern cannot become an automaton."""


@dataclass(frozen=True)
class Condition:
    """What one neighbouring character must be: one of a set, or (``edge``) none because the text ends there."""

    characters: CharSet
    edge: bool

    def negated(self) -> Condition:
        return Condition(~self.characters, not self.edge)

    def __and__(self, other: Condition) -> Condition:
        return Condition(self.characters & other.characters, self.edge and other.edge)

    def __or__(self, other: Condition) -> Condition:
        return Condition(self.characters | other.characters, self.edge or other.edge)


_ANYTHING = Condition(ALL, True)
_NOTHING = Condition(EMPTY, False)


@dataclass
class Instruction:
    """One step: ``char`` takes a character of a set, ``split`` tries ``first`` before ``second``, ``jump`` goes on at
    ``first``, ``ahead`` and ``behind`` look at a neighbour, ``match`` reports ``first`` (MATCH or GAP)."""

    kind: Literal["char", "split", "jump", "ahead", "behind", "match"]
    condition: Condition = _NOTHING
    first: int = 0
    second: int = 0


@dataclass
class Program:
    """A pattern with a gap as its last resort: any one character, where nothing else matches."""

    code: list[Instruction] = field(default_factory=list)

    def add(self, instruction: Instruction) -> int:
        if len(self.code) >= _MAX_INSTRUCTIONS:
            raise NotCompilable(
                f"the pattern needs more than {_MAX_INSTRUCTIONS} steps when its repetitions are unrolled"
            )
        self.code.append(instruction)
        return len(self.code) - 1


def build(node: Node) -> Program:
    """Make the program of a pattern.

    Raises
    ------
    NotCompilable
        If one character of look-around is not enough.
    """
    program = Program()
    whole = program.add(Instruction("split", first=1))
    _emit(program, node)
    program.add(Instruction("match", first=MATCH))
    program.code[whole].second = len(program.code)
    program.add(Instruction("char", Condition(ALL, False)))
    program.add(Instruction("match", first=GAP))
    return program


def _emit(program: Program, node: Node) -> None:
    characters = one_set(node)
    if characters is not None:
        program.add(Instruction("char", Condition(characters, False)))
    elif isinstance(node, Concat):
        for item in node.items:
            _emit(program, item)
    elif isinstance(node, Alternation):
        _emit_alternation(program, node)
    elif isinstance(node, Repeat):
        if node.mode == "possessive":
            _emit_possessive(program, node)
        else:
            _emit_repeat(program, node)
    elif isinstance(node, Look):
        condition = _neighbour(node.body, node.ahead)
        if condition is None:
            raise NotCompilable("a look-around needs more than one character")
        program.add(
            Instruction("ahead" if node.ahead else "behind", condition.negated() if node.negative else condition)
        )
    elif isinstance(node, Group):
        _emit(program, node.body)
    elif isinstance(node, Backreference):
        raise NotCompilable("it has a back-reference")
    elif isinstance(node, Atomic):
        _emit_atomic(program, node)


def _emit_alternation(program: Program, node: Alternation) -> None:
    code = program.code
    jumps = []
    for option in node.options[:-1]:
        split = program.add(Instruction("split", first=len(code) + 1))
        _emit(program, option)
        jumps.append(program.add(Instruction("jump")))
        code[split].second = len(code)
    _emit(program, node.options[-1])
    for jump in jumps:
        code[jump].first = len(code)


def _emit_atomic(program: Program, node: Atomic) -> None:
    body = node.body
    if isinstance(body, Repeat) and body.mode != "lazy" and one_set(body.body) is not None:
        _emit_possessive(program, body)
    elif isinstance(body, Look):
        _emit(program, body)
    else:
        raise NotCompilable("an atomic group or possessive repetition holds more than one character class")


def _emit_repeat(program: Program, node: Repeat) -> None:
    if can_be_empty(node.body) and (node.high is None or node.high > 1):
        raise NotCompilable("a repetition has a body that can be empty")
    code, splits = program.code, []
    for _ in range(node.low):
        _emit(program, node.body)
    if node.high is None:
        loop = program.add(Instruction("split"))
        _emit(program, node.body)
        program.add(Instruction("jump", first=loop))
        splits.append(loop)
    else:
        for _ in range(node.high - node.low):
            splits.append(program.add(Instruction("split")))
            _emit(program, node.body)
    for split in splits:
        inner, after = split + 1, len(code)
        code[split].first, code[split].second = (inner, after) if node.mode == "greedy" else (after, inner)


def _emit_possessive(program: Program, node: Repeat) -> None:
    """A loop over one class that gives nothing back: it may stop early only where no more of the class follows."""
    characters = one_set(node.body)
    if characters is None:
        raise NotCompilable("an atomic group or possessive repetition holds more than one character class")
    code = program.code
    take = Condition(characters, False)
    for _ in range(node.low):
        program.add(Instruction("char", take))
    if node.low == node.high:
        return
    splits = []
    if node.high is None:
        loop = program.add(Instruction("split", first=len(code) + 1))
        program.add(Instruction("char", take))
        program.add(Instruction("jump", first=loop))
        code[loop].second = program.add(Instruction("ahead", take.negated()))
        return
    for _ in range(node.high - node.low):
        splits.append(program.add(Instruction("split", first=len(code) + 1)))
        program.add(Instruction("char", take))
    full = program.add(Instruction("jump"))
    early = program.add(Instruction("ahead", take.negated()))
    for split in splits:
        code[split].second = early
    code[full].first = len(code)


def _neighbour(node: Node, ahead: bool) -> Condition | None:
    """The condition on the next (or, looking behind, the previous) character under which a look-around's body matches.

    None if the body needs to see more than that character.
    """
    if isinstance(node, Chars):
        return Condition(node.characters, False)
    if isinstance(node, (Group, Atomic)):
        return _neighbour(node.body, ahead)
    if isinstance(node, Look):
        inner = _neighbour(node.body, ahead) if node.ahead == ahead else None
        return inner if inner is None or not node.negative else inner.negated()
    if isinstance(node, Alternation):
        result = _NOTHING
        for option in node.options:
            inner = _neighbour(option, ahead)
            if inner is None:
                return None
            result = result | inner
        return result
    if isinstance(node, Repeat):
        # That some match exists is all that matters here, so what comes after the least count does not.
        if node.low == 0:
            return _ANYTHING
        return _neighbour(node.body, ahead) if node.low == 1 else None
    if isinstance(node, Concat):
        return _neighbour_of_sequence(list(node.items) if ahead else list(reversed(node.items)), ahead)
    return None


def _neighbour_of_sequence(items: list[Node], ahead: bool) -> Condition | None:
    """Looks at the neighbour first, then at most one item that takes it, then nothing."""
    result = _ANYTHING
    for place, item in enumerate(items):
        inner = _neighbour(item, ahead)
        if inner is None:
            return None
        result = result & inner
        if not isinstance(item, Look) and place + 1 < len(items):
            return None
    return result
