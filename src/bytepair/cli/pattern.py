"""``bytepair pattern``: what a pattern is made into, where a text may be cut by it, and how it cuts a text."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from .. import showing
from ..pattern import UNICODE_VERSION, presets
from ..pattern.dialects import DIALECTS
from . import _io

if TYPE_CHECKING:
    from ..pattern import Pattern
    from ..pattern.automaton import Tables

_SHOWN = 1 << 12  # pretokens that are shown at a time
_SAMPLE = 56  # columns for the characters of a class
_MIN_NEAR = 0.75  # how alike a word and a preset's name must be to ask whether that was meant

_TIERS = {
    1: "64 bytes at a time, as the family {family} is cut; the automaton does what that leaves",
    2: "an automaton that reads each character once",
    3: "the regex module",
}


class _Verdict(NamedTuple):
    """How a pattern runs, and why it runs no faster way."""

    tier: int
    family: str | None
    reason: str | None


@click.command("pattern")
@click.argument("pattern", metavar="REGEX|PRESET")
@click.argument("text", required=False)
@click.option(
    "--dialect",
    type=click.Choice(list(DIALECTS)),
    help="How to read REGEX; tiktoken when not given. A preset has its own.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, with all ranges and pairs.")
def command(pattern: str, text: str | None, dialect: str | None, as_json: bool) -> None:
    """Show what REGEX, or the preset of that name, is made into, and how it cuts TEXT (- is stdin).

    Tier 1 cuts 64 bytes at a time, tier 2 is an automaton, tier 3 is the regex module. All cut alike; what differs is
    the speed. A class is a set of characters that the pattern does not tell apart. At a strong split point a text can
    be cut in two beforehand, each part on its own; at a weak one only if the first part is shown the next character.

    \b
    Examples:
      bytepair pattern o200k "HelloWorld, it's 12345"
      bytepair pattern '\\p{Lu}?\\p{Ll}+|\\s+' "helloWorld 12"
      bytepair pattern '(a)\\1' --dialect python
    """
    found = _pattern(pattern, dialect)
    data = None if text is None else _io.read("-") if text == "-" else os.fsencode(text)
    ends = None if data is None else found.ends(data)
    if as_json:
        click.echo(json.dumps(_facts(found, data, ends), ensure_ascii=True, indent=1))
        return
    click.echo("\n".join(_lines(found)))
    if data is not None and ends is not None:
        click.echo(f"\n{_io.plural(len(ends), 'pretoken')}")
        _show_cut(data, ends)


def _pattern(given: str, dialect: str | None) -> Pattern:
    from ..pattern import Pattern, resolve

    if given in presets():
        if dialect is not None:
            raise click.UsageError(f"the preset {given} has its own dialect; leave --dialect out, or give a regex")
        return resolve(given)
    from difflib import get_close_matches

    near = get_close_matches(given, presets(), 1, _MIN_NEAR)
    if near:
        click.echo(f"note: {given!r} is no preset and is read as a regex; the preset {near[0]} is near", err=True)
    return Pattern(given, dialect=dialect or "tiktoken")


def _verdict(pattern: Pattern) -> _Verdict:
    from ..pattern.families import FAMILY_PRESETS, family_of, family_of_automaton

    compiled = pattern.compiled
    if compiled.tables is None:
        return _Verdict(3, None, compiled.reason)
    family = family_of(compiled.tables)
    if family is not None:
        return _Verdict(1, family[0], None)
    alike = family_of_automaton(compiled.tables)
    if alike is not None:
        return _Verdict(2, None, f"it has the automaton of {alike}, but other characters in its classes")
    return _Verdict(2, None, f"its automaton is of none of the families {', '.join(FAMILY_PRESETS)}")


def _stages(pattern: Pattern) -> list[Pattern]:
    """The pattern, and what cuts its pretokens again, each on its own."""
    from ..pattern import Pattern

    return [Pattern(regex, dialect=dialect, timeout=pattern.timeout) for regex, dialect in pattern.stages]


# ---- for people ----


def _lines(pattern: Pattern) -> Iterator[str]:
    stages, verdict = _stages(pattern), _verdict(pattern)
    width = shutil.get_terminal_size().columns if _io.is_terminal(sys.stdout) else None
    title = pattern.name or "your regex"
    for number, stage in enumerate(stages):
        yield _fact("" if number else "pattern", f"{title if not number else 'then'} (dialect {stage.dialect})")
        yield _fact("", _printable(stage.regex))
    if verdict.tier == 3 and len(stages) > 1:
        yield _fact("tier", f"stage after stage, since {verdict.reason}")
        for number, stage in enumerate(stages, 1):
            yield _fact("", f"stage {number}: {_told(_verdict(stage))}")
    else:
        yield _fact("tier", _told(verdict))
    tables = pattern.compiled.tables
    if tables is None:
        return
    size = len(tables.next) // 2
    yield _fact("automaton", f"{_io.plural(tables.n_states, 'state')}, {size:,} entries, {_pending(tables)}")
    yield _fact("classes", f"{tables.n_classes} of characters, by Unicode {UNICODE_VERSION}")
    yield ""
    classes = _classes(tables)
    rows = [
        [str(number), f"{sum(last - first + 1 for first, last in ranges):,}", _sample(ranges)]
        for number, ranges in enumerate(classes)
    ]
    yield from showing.table(["class", "characters", "which"], rows, left={2}, width=width)
    yield ""
    yield from _split_points(tables, [_one(ranges) for ranges in classes], width)


def _fact(name: str, value: str) -> str:
    return f"{name:<11}{value}"


def _printable(regex: str) -> str:
    """The regex with escapes, which mean the same, for what a terminal would not show."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in regex)


def _told(verdict: _Verdict) -> str:
    from .. import _engine

    said = f"{verdict.tier}: {_TIERS[verdict.tier].format(family=verdict.family)}"
    if verdict.reason is not None:
        said += f"{'; not tier 1' if verdict.tier == 2 else ''}, since {verdict.reason}"
    if verdict.tier == 1 and _engine.NAME == "pure":
        said += " (in the compiled core; pure Python, which runs here, has only the automaton)"
    return said


def _pending(tables: Tables) -> str:
    pending = tables.width - 1
    return f"at most {_io.plural(pending, 'border')} not yet certain" if pending else "every border is certain at once"


def _classes(tables: Tables) -> list[list[tuple[int, int]]]:
    """The ranges (first, last) of each class."""
    found: list[list[tuple[int, int]]] = [[] for _ in range(tables.n_classes)]
    for first, end, number in tables.classes.segments():
        found[number].append((first, end - 1))
    return found


def _sample(ranges: list[tuple[int, int]]) -> str:
    """The first ranges of a class, as many as fit."""
    from rich.cells import cell_len

    shown = ""
    for place, (first, last) in enumerate(ranges):
        part = _character(first) if first == last else f"{_character(first)}–{_character(last)}"
        if cell_len(shown) + cell_len(part) > _SAMPLE:
            return f"{shown}… ({len(ranges) - place:,} more ranges)"
        shown += part + " "
    return shown.rstrip()


def _character(point: int) -> str:
    if 0xD800 <= point <= 0xDFFF:
        return f"⟨U+{point:04X}⟩"
    return showing.visible(showing.Piece(chr(point).encode(), False, False))


def _one(ranges: list[tuple[int, int]]) -> str:
    """A character that stands for a class: one that can be seen, if there is one."""
    for first, last in ranges:
        for point in range(first, min(last, first + 256) + 1):
            if not 0xD800 <= point <= 0xDFFF and chr(point).isprintable() and not chr(point).isspace():
                return _character(point)
    return _character(ranges[0][0])


def _split_points(tables: Tables, signs: list[str], width: int | None) -> Iterator[str]:
    n = tables.n_classes
    rows = []
    for before in range(n):
        strong = [signs[after] for after in range(n) if tables.strong[before * n + after]]
        weak = [signs[after] for after in range(n) if _only_weak(tables, before * n + after)]
        if strong or weak:
            rows.append([signs[before], " ".join(strong), " ".join(weak)])
    pairs = f"{sum(tables.strong)} strong and {sum(tables.weak) - sum(tables.strong)} weak of {n * n} pairs of classes"
    yield _fact("split", pairs if rows else "nowhere: no two characters always have a border between them")
    if rows:
        yield ""
        yield from showing.table(["after", "strong before", "weak before"], rows, left={0, 1, 2}, width=width)


def _only_weak(tables: Tables, pair: int) -> bool:
    return bool(tables.weak[pair] and not tables.strong[pair])


def _show_cut(data: bytes, ends: list[int]) -> None:
    console = showing.console()
    colours = showing.has_colours(console)
    for at in range(0, len(ends), _SHOWN):
        starts = [ends[at - 1] if at else 0, *ends[at : at + _SHOWN]]
        some = [showing.Piece(data[start:end], False, False) for start, end in zip(starts, starts[1:])]
        if colours:
            console.print(showing.coloured(some, start=at), soft_wrap=True, end="")
        else:
            click.echo((showing.BORDER if at else "") + showing.bordered(some), nl=False)
    click.echo()


# ---- for machines ----


def _facts(pattern: Pattern, data: bytes | None, ends: list[int] | None) -> dict[str, Any]:
    verdict, tables = _verdict(pattern), pattern.compiled.tables
    facts: dict[str, Any] = {
        "name": pattern.name,
        "unicode": pattern.unicode_version,
        **verdict._asdict(),
        "stages": [
            {"regex": stage.regex, "dialect": stage.dialect, **_verdict(stage)._asdict()} for stage in _stages(pattern)
        ],
    }
    if tables is not None:
        pairs = [divmod(pair, tables.n_classes) for pair in range(tables.n_classes**2)]
        facts |= {
            "states": tables.n_states,
            "pending": tables.width - 1,
            "classes": _classes(tables),
            "strong": [pair for pair, holds in zip(pairs, tables.strong) if holds],
            "weak": [pair for pair, holds in zip(pairs, tables.weak) if holds],
        }
    if data is not None and ends is not None:
        pieces = ((start, end, data[start:end]) for start, end in zip([0, *ends], ends))
        facts["pretokens"] = [
            {"start": start, "end": end, "bytes": piece.decode("latin-1"), "text": piece.decode("utf-8", "replace")}
            for start, end, piece in pieces
        ]
    return facts
