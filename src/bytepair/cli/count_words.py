"""``bytepair count-words``: a corpus in, a file of its counted pretokens out, for ``bytepair train`` to learn from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import PatternError, SpecialTokenError
from . import _corpus, _io, _normalizer, _sizes

if TYPE_CHECKING:
    from ..corpus import WordCounts


@click.command("count-words")
@click.argument("files", nargs=-1)
@_corpus.reading_options
@click.option("-o", "--output", metavar="OUT", help="Write the counts to this file, an Arrow file.")
@click.option(
    "--pattern",
    metavar="NAME",
    help="What cuts the text: a preset such as gpt2, cl100k, whitespace or none, or a regex. gpt2 unless given.",
)
@click.option(
    "--special",
    "specials",
    metavar="NAME",
    multiple=True,
    help="A special token that cuts the text and is not counted, in place of the default six of training; repeat.",
)
@click.option("--no-specials", is_flag=True, help="Look for no special tokens.")
@_normalizer.option
@click.option(
    "--merge",
    "others",
    metavar="COUNTS",
    multiple=True,
    help="Add the counts of this file, which count-words wrote; repeat. Their order changes nothing.",
)
@click.option(
    "--table", metavar="FILE", help="Take the counts of a text table, lines of a word and its count, instead of FILES."
)
@click.option(
    "--min-count", type=click.IntRange(1), metavar="N", default=1, help="Leave out pretokens that come fewer times."
)
@click.option(
    "--first-document",
    type=click.IntRange(0),
    metavar="N",
    default=0,
    help="Number the documents from N, so that parts that are counted apart keep their order when they are merged.",
)
@click.option(
    "--max-memory", type=_sizes.size, metavar="SIZE", help="Let counts above so many bytes (512M) go to disk."
)
@click.option("--threads", type=click.IntRange(1), metavar="N", help="Use N cores, not all; the result is the same.")
@click.option("--json", "as_json", is_flag=True, help="Print what was counted as one JSON object.")
def command(
    files: tuple[str, ...],
    output: str | None,
    pattern: str | None,
    specials: tuple[str, ...],
    no_specials: bool,
    normalizer: tuple[str, ...],
    others: tuple[str, ...],
    table: str | None,
    min_count: int,
    first_document: int,
    max_memory: int | None,
    threads: int | None,
    as_json: bool,
    **reading: Any,
) -> None:
    """Count the distinct pretokens of FILES: files, folders, addresses, or - for stdin.

    The file holds each distinct pretoken, how often it comes, and where it stands first: all that training needs.
    `bytepair train` takes it in place of the texts. Parts of a corpus can be counted apart and merged in any order.

    \b
    Examples:
      bytepair count-words src docs -o counts.arrow
      bytepair count-words part2 --first-document 4294967296 -o two.arrow
      bytepair count-words --merge one.arrow --merge two.arrow -o all.arrow
      bytepair train all.arrow -o my.json
    """
    if not files and not others and table is None:
        raise click.UsageError("name the files to count, or files of counts with --merge, or a --table")
    if files and table is not None:
        raise click.UsageError("--table and FILES exclude each other; count the files first, then --merge")
    if output is None and not as_json:
        raise click.UsageError("name the file for the counts with -o, or look at what there is with --json")
    if output == "-":
        raise click.UsageError("an Arrow file cannot go to stdout; name a file with -o")
    if specials and no_specials:
        raise click.UsageError("--no-specials and --special exclude each other; leave one out")
    _io.check_stdin(*files)
    _io.check_output(output, *files, *others, table)

    from ..corpus import WordCounts
    from ..pattern import resolve
    from ..vocabulary import AL1_SPECIALS

    names = () if no_specials else specials or AL1_SPECIALS
    parts: list[WordCounts] = []
    try:
        if files:
            parts.append(
                WordCounts.from_corpus(
                    _corpus.corpus(files, reading),
                    pattern=resolve(pattern or "gpt2"),
                    specials=names,
                    threads=threads,
                    progress=True,
                    max_memory=max_memory,
                    first_document=first_document,
                    normalizer=_normalizer.of(normalizer) if normalizer else None,
                    min_word_count=1 if others else min_count,
                )
            )
        elif table is not None:
            given = names if specials or no_specials else None
            parts.append(WordCounts.from_table(table, pattern=pattern, specials=given))
    except (PatternError, SpecialTokenError) as error:
        raise click.UsageError(str(error)) from error
    parts += map(WordCounts.load, others)
    words = parts[0].merge(*parts[1:]) if len(parts) > 1 else parts[0]
    left_out = None
    if min_count > 1 and (others or table is not None):
        words, left_out = words.filter(min_count=min_count)
        click.echo(f"note: {left_out}", err=True)
    if output is not None:
        words.save(output)
    if as_json:
        click.echo(json.dumps(_facts(words), indent=1))
    where = f"; saved to {output}" if output is not None else ""
    click.echo(f"{words.total:,} pretokens, {len(words):,} of them distinct{where}", err=True)


def _facts(words: WordCounts) -> dict[str, Any]:
    return {
        "pretokens": words.total,
        "distinct": len(words),
        "bytes": words.bytes,
        "distinct_bytes": len(words.text),
        "pattern": None if words.pattern is None else words.pattern.name or words.pattern.regex,
        "specials": None if words.specials is None else list(words.specials),
        "normalizer": None if words.normaliser is None else words.normaliser.to_json(),
    }


def counted(sources: tuple[str, ...]) -> WordCounts | None:
    """The counts in the files, found by content, merged; None where the sources are text."""
    from ..corpus import WordCounts
    from ..corpus.count_files import is_counts

    are_counts = [source != "-" and is_counts(_head(source)) for source in sources]
    if not any(are_counts):
        return None
    if not all(are_counts):
        text = sources[are_counts.index(False)]
        raise click.UsageError(
            f"{sources[are_counts.index(True)]} holds counted words and {text} is text; count it with "
            "`bytepair count-words` and give both files of counts"
        )
    first, *others = map(WordCounts.load, sources)
    return first.merge(*others) if others else first


def _head(source: str) -> bytes:
    try:
        if not Path(source).is_file():
            return b""
        with open(source, "rb") as file:
            return file.read(1 << 16)
    except OSError:
        return b""  # reading the corpus tells what is wrong
