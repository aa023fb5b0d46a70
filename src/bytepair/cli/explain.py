"""``bytepair explain``: why a text splits as it does, what ids mean, where a token comes from."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from .. import showing
from ..errors import BytepairError, SpecialTokenError, UnknownTokenError
from ..explain.replay import EXAMPLES
from . import _io

if TYPE_CHECKING:
    from ..explain import Explanation
    from ..tokenizer import Tokenizer

_LARGEST = 1 << 20  # bytes of a text that is explained: every merge is a line


@click.command("explain")
@click.argument("tokenizer", required=False)
@click.argument("text", required=False)
@click.option("-f", "--file", metavar="FILE", help="Explain the text of this file, or of stdin (-).")
@click.option("--ids", metavar="IDS", help="Explain ids, such as '262,125 201', in place of a text.")
@click.option("--why", metavar="TOKEN", help="Say where this token comes from.")
@click.option("--why-not", metavar="STRING", help="Say why this string is not one token.")
@click.option("--prefix", metavar="STRING", help="List the tokens that begin with this.")
@click.option("--training", is_flag=True, help="Replay the training of TOKENIZER, if its corpus was small.")
@click.option("--example", type=click.Choice(sorted(EXAMPLES)), help="Replay an example, and no TOKENIZER's training.")
@click.option("--tree", is_flag=True, help="Show merge trees, and no tables.")
@click.option("--step", is_flag=True, help="Walk through the merges with the keyboard.")
@click.option("--special", "specials", metavar="WHICH", multiple=True, default=("text",), show_default="text",
              help="As for encode: what the name of a special token in the text is.")  # fmt: skip
@click.option("-o", "--output", metavar="OUT", help="Write here; OUT.html is a page in one file, OUT.svg a picture.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    tokenizer: str | None,
    text: str | None,
    file: str | None,
    ids: str | None,
    why: str | None,
    why_not: str | None,
    prefix: str | None,
    training: bool,
    example: str | None,
    tree: bool,
    step: bool,
    specials: tuple[str, ...],
    output: str | None,
    as_json: bool,
) -> None:
    """Show how TOKENIZER comes from a text to its ids: every merge in each pretoken, with its rank.

    Or start from what a model gave (--ids), from a token (--why), from a string that is not one token (--why-not).

    \b
    Examples:
      bytepair explain my.json "lowest low"
      bytepair explain cl100k_base " internationalization" --tree
      bytepair explain my.json --ids "262,125 201"
      bytepair explain my.json --why " low"
      bytepair explain my.json --why-not lowest
      bytepair explain --example classic --step
    """
    if example is not None:
        if tokenizer is not None:
            raise click.UsageError("--example brings its own tokenizer; leave TOKENIZER out")
        _replay(_example(example), output, step, as_json)
        return
    if tokenizer is None:
        raise click.UsageError("name the file of a tokenizer, or a vocabulary such as cl100k_base")
    asked = [name for name, value in
             [("TEXT", text), ("--file", file), ("--ids", ids), ("--why", why), ("--why-not", why_not),
              ("--prefix", prefix), ("--training", training or None)] if value is not None]  # fmt: skip
    if len(asked) != 1:
        given = " and ".join(asked) or "nothing"
        raise click.UsageError(
            f"give one of TEXT, --file, --ids, --why, --why-not, --prefix and --training, not {given}"
        )
    if step and text is None and file is None and not training:
        raise click.UsageError("--step walks through the merges of a text; give TEXT or --file")
    _io.check_stdin(tokenizer, file or "")
    _io.check_output(output, tokenizer, file)
    tok = _io.load(tokenizer)
    if training:
        _replay(tok, output, step, as_json)
        return
    if ids is not None:
        found: Any = tok.explain_ids(_numbers(ids))
    elif why is not None:
        found = _origin(tok, why)
    elif why_not is not None:
        found = tok.why_not(os.fsencode(why_not))
    elif prefix is not None:
        _print_tokens(tok, tok.tokens_with_prefix(os.fsencode(prefix)), output, as_json)
        return
    else:
        data = os.fsencode(text) if text is not None else _io.read(file or "-")
        if len(data) > _LARGEST:
            raise click.ClickException(
                f"{len(data):,} bytes are too many to look at; cut out what matters, up to {_LARGEST:,}"
            )
        try:
            found = tok.explain(data, special=_special(specials))
        except SpecialTokenError as error:
            raise click.UsageError(str(error)) from error
    if step:
        _walk(list(_states(found)))
        return
    _write(found, output, tree, as_json)


def _special(specials: tuple[str, ...]) -> Any:
    return specials[0] if len(specials) == 1 and specials[0] in ("text", "all", "error") else set(specials)


def _numbers(text: str) -> list[int]:
    words = text.replace(",", " ").replace("[", " ").replace("]", " ").split()
    for place, word in enumerate(words):
        if not (word.isascii() and word.isdigit()):
            raise click.UsageError(f"--ids: {word!r} at place {place} is no id; give whole numbers")
    return [int(word) for word in words]


def _origin(tok: Tokenizer, token: str) -> Any:
    try:
        return tok.why(token if token in tok else os.fsencode(token))
    except UnknownTokenError as error:
        raise click.ClickException(f"{error}; --why-not {token!r} says why") from error


def _print_tokens(tok: Tokenizer, ids: list[int], output: str | None, as_json: bool) -> None:
    if as_json:
        text = json.dumps([{"id": i, "bytes": tok.vocab[i].decode("latin-1"), "token": tok.token_str(i)} for i in ids])
    else:
        shown = (showing.visible(next(showing.pieces(tok, [i]))) for i in ids)
        text = "\n".join(showing.table(["id", "token"], [[str(i), one] for i, one in zip(ids, shown)], left={1}))
    with _io.writing(output) as out:
        out.write(text.encode() + b"\n")


def _write(found: Any, output: str | None, tree: bool, as_json: bool) -> None:
    from ..explain import ExplainedIds, Explanation, Replay
    from ..showing import html

    if as_json:
        text = json.dumps(found.to_json(), ensure_ascii=True)
    elif output is not None and output.endswith(".html"):
        text = html.page("bytepair explain", found._repr_html_())
    elif output is not None and output.endswith(".svg"):
        text = _picture(found)
    elif isinstance(found, Explanation):
        console = showing.console()
        mark = showing.marked_for(console) if output is None else None
        text = "\n".join(found.lines(trees=tree, limit=None, mark=mark))
        if mark is not None and showing.has_colours(console) and len(found.pretokens) > 1:
            text = f"{mark(showing.pieces(found.tokenizer, found.ids))}\n\n{text}"
    elif isinstance(found, Replay):
        text = "\n\n".join("\n".join(found.lines(frame)) for frame in found)
    elif isinstance(found, ExplainedIds):
        text = "\n".join(found.lines(limit=None))
    else:
        text = str(found)
    with _io.writing(output) as out:
        out.write(text.encode("utf-8", "surrogateescape") + b"\n")


def _picture(found: Any) -> str:
    from ..explain import picture

    try:
        drawn = picture(found)
    except BytepairError as error:
        raise click.ClickException(str(error)) from error
    if drawn is None:
        raise click.ClickException("there is no merge tree to draw here; write another kind of file")
    return drawn


# ---- with the keyboard ----


def _example(name: str) -> Tokenizer:
    from ..errors import BytepairNotice
    from ..explain import example_corpus
    from ..training import train

    corpus, options = example_corpus(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BytepairNotice)  # the end of the replay says why it stopped
        return train(corpus, **options)


def _replay(tok: Tokenizer, output: str | None, step: bool, as_json: bool) -> None:
    from ..explain import replay

    found = replay(tok)
    if step:
        _walk([(f.step, list(found.lines(f))) for f in found])
    else:
        _write(found, output, False, as_json)


def _walk(states: list[tuple[int, list[str]]]) -> None:
    """Shows one state after another; n or space goes on, p back, w to the next pretoken, q ends."""
    if not states:
        raise click.ClickException("the text has no tokens")
    if not (_io.is_terminal(sys.stdout) and _io.is_terminal(sys.stdin)):
        for _, lines in states:
            click.echo("\n".join(lines))
        return
    at = 0
    while True:
        word, lines = states[at]
        click.clear()
        click.echo("\n".join(lines))
        click.echo(f"\n{at + 1} of {len(states)}   [n]ext  [p]revious  next [w]ord  [q]uit")
        key = click.getchar()
        if key in ("q", "Q", "\x1b", "\x03", "\x04"):
            return
        if key in ("p", "P", "\x1b[D", "\x1b[A"):
            at = max(at - 1, 0)
        elif key in ("w", "W", "\t"):
            at = next((k for k in range(at, len(states)) if states[k][0] > word), len(states) - 1)
        else:
            at = min(at + 1, len(states) - 1)


def _states(found: Explanation) -> Iterator[tuple[int, list[str]]]:
    tok = found.tokenizer
    mark = showing.marked_for(showing.console())

    def shown(ids: Any) -> str:
        return mark(showing.pieces(tok, ids))

    for number, p in enumerate(found.pretokens):
        head = f"pretoken {number + 1} of {len(found.pretokens)}: {shown(p.ids)}"
        for k, state in enumerate(p.states()):
            if k == 0:
                did = "its first symbols" if p.how == "merged" else f"{p.how}: one token at once"
            else:
                s = p.steps[k - 1]
                did = f"merge {k} of {len(p.steps)}, rank {s.rank}: {shown([s.left])} + {shown([s.right])}"
                did += f" = {shown([s.new])}, at bytes {s.start} to {s.end}"
            yield number, [head, "", did, "  " + shown(state), "  " + " ".join(map(str, state))]
