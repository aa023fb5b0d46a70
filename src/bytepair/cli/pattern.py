"""``bytepair pattern``: what a pattern is made into, and how it cuts a text."""

from __future__ import annotations

import json
import os
import re
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from ..errors import PatternError
from . import _io, _show

if TYPE_CHECKING:
    from ..pattern import Pattern
    from ..pattern.automaton import Tables

_SAMPLES = 6  # of ranges or pairs that are shown
_DIALECTS = ("tiktoken", "oniguruma", "python", "pcre")


@click.command("pattern")
@click.argument("pattern")
@click.argument("text", required=False)
@click.option(
    "--dialect",
    type=click.Choice(_DIALECTS),
    help="How the regex is read: as tiktoken, Hugging Face (oniguruma), Python's re or PCRE do. A preset has its own.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(pattern: str, text: str | None, dialect: str | None, as_json: bool) -> None:
    """Show what PATTERN, a preset or a regex, is made into, and how it cuts TEXT (or - for stdin).

    Tier 1 is cut 64 bytes at a time, as one of the families that most tokenizers use; tier 2 by an automaton that reads
    each character once; tier 3 runs on the regex module, and the reason is told. Split points are pairs of characters
    between which every text can be cut in two, whatever stands before and behind.

    \b
    Examples:
      bytepair pattern cl100k "it's 12345"
      bytepair pattern '[a-z]+|[0-9]{1,3}' "ab1cd"
      bytepair pattern '(a)\\1|.'
    """
    from .. import Pattern
    from ..pattern import presets, resolve

    if dialect is not None and pattern in presets():
        raise click.UsageError(f"the preset {pattern!r} has its own dialect; leave --dialect out")
    try:
        given = resolve(pattern) if dialect is None else Pattern(pattern, dialect=dialect)
    except PatternError as error:
        raise click.UsageError(str(error)) from error
    facts = _facts(given)
    data = None
    if text is not None:
        data = _io.read("-") if text == "-" else os.fsencode(text)
        ends = given.ends(data)
        facts["pretokens"] = [data[a:b].decode("latin-1") for a, b in zip([0, *ends], ends)]
    if as_json:
        click.echo(json.dumps(facts, indent=1))
        return
    _print(given, facts)
    if data is not None:
        click.echo("\ncut")
        console = _show.console()
        shown = [_show.Piece(piece.encode("latin-1"), False, False) for piece in facts["pretokens"]]
        console.print(_show.tokens(shown, console), soft_wrap=True)


def _facts(pattern: Pattern) -> dict[str, Any]:
    from ..pattern.families import family_of

    compiled = pattern.compiled
    facts: dict[str, Any] = {
        "preset": pattern.name,
        "stages": [{"regex": regex, "dialect": dialect} for regex, dialect in pattern.stages],
        "unicode": pattern.unicode_version,
    }
    tables = compiled.tables
    if tables is None:
        return {**facts, "tier": 3, "reason": compiled.reason}
    family = family_of(tables)
    strong, weak = _pairs(tables, tables.strong), _pairs(tables, tables.weak)
    return {
        **facts,
        "tier": 1 if family else 2,
        "family": family[0] if family else None,
        "states": tables.n_states,
        "levels": tables.width,
        "classes": _classes(tables),
        "strong_pairs": strong,
        "weak_only_pairs": [pair for pair in weak if pair not in strong],
    }


def _pairs(tables: Tables, matrix: bytes) -> list[list[int]]:
    n = tables.n_classes
    return [[before, after] for before in range(n) for after in range(n) if matrix[before * n + after]]


def _classes(tables: Tables) -> list[dict[str, Any]]:
    """Each class: how many characters it has, and its first ranges."""
    stage1, stage2 = tables.classes.stage1, tables.classes.stage2
    pages = (low | high << 8 for low, high in zip(stage1[::2], stage1[1::2]))
    flat = b"".join(stage2[page * 256 : page * 256 + 256] for page in pages)
    out = []
    for number in range(tables.n_classes):
        ranges = re.finditer(re.escape(bytes([number])) + b"+", flat)
        first = [[found.start(), found.end() - 1] for found in islice(ranges, _SAMPLES)]
        out.append({"class": number, "characters": flat.count(number), "ranges": first})
    return out


def _print(pattern: Pattern, facts: dict[str, Any]) -> None:
    for place, stage in enumerate(facts["stages"]):
        name = (f"preset {pattern.name}" if pattern.name else "regex") if place == 0 else "then"
        click.echo(f"{name}, dialect {stage['dialect']}: {_show.one_line(stage['regex'])}")
    if facts["tier"] == 3:
        click.echo(f"tier 3: the regex module, since {facts['reason']}")
        return
    if facts["tier"] == 1:
        click.echo(f"tier 1: 64 bytes at a time, family {facts['family']}")
    else:
        click.echo("tier 2: an automaton, one look-up a character")
    click.echo(f"{len(facts['classes'])} classes, {_io.plural(facts['states'], 'state')}, Unicode {facts['unicode']}\n")
    names = [_class_name(one) for one in facts["classes"]]
    rows = [[str(one["class"]), f"{one['characters']:,}", _ranges(one)] for one in facts["classes"]]
    click.echo("\n".join(_show.table(["class", "characters", "among them"], rows, left={2})))
    strong, weak = facts["strong_pairs"], facts["weak_only_pairs"]
    click.echo(
        f"\nsplit points: {_io.plural(len(strong), 'pair')} of classes, and {len(weak):,} more if the text goes on"
    )
    some = [f"{names[a]} {_show.BORDER} {names[b]}" for a, b in strong[: 2 * _SAMPLES]]
    if some:
        click.echo("  " + "   ".join(some) + ("   ..." if len(strong) > len(some) else ""))


def _class_name(one: dict[str, Any]) -> str:
    """A character of the class that a person knows, where it has one."""
    for first, last in one["ranges"]:
        for point in (*range(max(first, 0x20), min(last, 0x7E) + 1), first):
            if point >= 0x20:
                return _visible(point)
    return _visible(one["ranges"][0][0])


def _visible(point: int) -> str:
    data = chr(point).encode("utf-8", "surrogatepass" if not 0xDC80 <= point <= 0xDCFF else "surrogateescape")
    return _show.visible(_show.Piece(data, False, False))


def _ranges(one: dict[str, Any]) -> str:
    shown = [
        _visible(first) if first == last else f"{_visible(first)}-{_visible(last)}" for first, last in one["ranges"]
    ]
    held = sum(last - first + 1 for first, last in one["ranges"])
    return " ".join(shown) + (" ..." if held < one["characters"] else "")
