"""``bytepair merges``: what a tokenizer learned, in the order of learning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from . import _io, _record

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer


@click.command("merges")
@click.argument("tokenizer", default="-")
@click.option("--first", type=click.IntRange(0), metavar="N", help="Print the first N only.")
@click.option("--last", type=click.IntRange(0), metavar="N", help="Print the last N only.")
@click.option("--find", metavar="TOKEN", help="Print the merge that makes TOKEN, and those that TOKEN goes into.")
@click.option(
    "--pair-counts",
    is_flag=True,
    help="Print below the table every pair's count before each merge, for small corpora; JSON lines have them anyway.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object for each merge, one a line.")
def command(
    tokenizer: str, first: int | None, last: int | None, find: str | None, pair_counts: bool, as_json: bool
) -> None:
    """Print the merges of TOKENIZER, the file of a tokenizer, or of the one on stdin.

    Where the tokenizer has its training record, the columns are: the merge's rank and the id it made; the pair and the
    token; how often the pair stood in the corpus when it won, and how many pairs had that count; how many tokens the
    corpus had afterwards; how often the token stood there when training ended; and words that it was merged in. The
    lines below the table say why training stopped and which pair would have come next.

    \b
    Examples:
      bytepair merges my.json --first 20
      bytepair merges my.json --find " the"
      bytepair merges my.json --json > merges.jsonl
    """
    if find is not None and (first is not None or last is not None):
        raise click.UsageError("--find goes without --first and --last")
    tok = _io.load(tokenizer)
    ranks = _record.numbers(tok)
    if find is not None:
        chosen: Sequence[int] = _with_token(tok, find)
    elif first is None and last is None:
        chosen = ranks
    else:
        head, tail = ranks[: first or 0], ranks[len(ranks) - min(last or 0, len(ranks)) :]
        chosen = [*head, *(rank for rank in tail if rank >= len(head))]
    if as_json:
        _record.print_lines(tok, chosen)
        return
    _record.print_table(tok, chosen)
    if pair_counts:
        _record.print_pair_counts(tok, chosen)
    if find is None:
        click.echo("\n" + _record.summary(tok))


def _with_token(tok: Tokenizer, token: str) -> list[int]:
    if token not in tok:
        pieces = _split(tok, token)
        raise click.ClickException(f"{token!r} is no token of this vocabulary{pieces}; white space counts")
    wanted = tok.token_to_id(token)
    if tok.merges is None:
        return [rank for rank, other in enumerate(tok.ranks.values()) if other == wanted]
    found = [rank for rank, ((a, b), new) in enumerate(tok.merges.items()) if wanted in (a, b, new)]
    if not found:
        raise click.ClickException(f"{token!r} is a token that no merge made, and none uses it")
    return found


def _split(tok: Tokenizer, token: str) -> str:
    import os

    from .. import showing

    pieces = [showing.visible(piece) for piece in showing.pieces(tok, tok.encode(os.fsencode(token)))]
    return f"; it encodes as {' | '.join(pieces)}" if pieces else ""
