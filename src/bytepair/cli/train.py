"""``bytepair train``: a corpus in, a tokenizer out, and on request the record of what was learned."""

from __future__ import annotations

from typing import Any

import click

from ..errors import PatternError, SpecialTokenError, VocabularyError
from ..pattern import resolve
from . import _corpus, _io, _normalizer, _sizes


@click.command("train")
@click.argument("corpus", nargs=-1, required=True)
@_corpus.reading_options
@click.option("-o", "--output", metavar="OUT", help="Save the tokenizer to this file; - is stdout.")
@click.option(
    "--vocab-size",
    type=click.IntRange(1),
    metavar="N",
    default=8192,
    show_default=True,
    help="Ids in all: special tokens, alphabet and merges.",
)
@click.option(
    "--num-merges", type=click.IntRange(0), metavar="N", help="Learn so many merges, whatever the vocabulary size."
)
@click.option(
    "--pattern",
    metavar="NAME",
    help="What cuts the text before merging: a preset such as gpt2, al1, cl100k, whitespace or none, or a regex. "
    "Unless given, gpt2 for bytes and whitespace for characters.",
)
@click.option(
    "--alphabet",
    type=click.Choice(["bytes", "characters"]),
    default="bytes",
    show_default=True,
    help="What there is before the first merge.",
)
@click.option(
    "--end-of-word",
    type=click.Choice(["separate", "fused"]),
    help="The classic scheme: drop white space and end each word with a mark, a symbol of its own or fused to the last "
    "character.",
)
@click.option(
    "--unknown",
    type=click.Choice(["error", "bytes", "<unk>"]),
    default="error",
    show_default=True,
    help="What a character is that training never saw, with --alphabet characters.",
)
@click.option(
    "--special", "specials", metavar="NAME", multiple=True, help="A special token, in place of the default six; repeat."
)
@click.option(
    "--protected", metavar="TEXT", multiple=True, help="A text that stays whole: a token that no merge crosses; repeat."
)
@click.option("--no-specials", is_flag=True, help="Have no special tokens.")
@click.option(
    "--layout",
    type=click.Choice(["specials-first", "bytes-first"]),
    default="specials-first",
    show_default=True,
    help="How ids are numbered; it never changes what is learned.",
)
@click.option(
    "--byte-order",
    type=click.Choice(["raw", "gpt2"]),
    default="raw",
    show_default=True,
    help="The order of the 256 byte ids.",
)
@click.option(
    "--min-freq",
    type=click.IntRange(1),
    metavar="N",
    default=2,
    show_default=True,
    help="Stop when no pair of neighbours comes so often.",
)
@click.option(
    "--convention",
    type=click.Choice(["first", "huggingface", "rustbpe", "cs336", "subword-nmt"]),
    default="first",
    show_default=True,
    help="Which of two equally frequent pairs wins: the one that stands first in the corpus, or the one that another "
    "trainer takes.",
)
@_normalizer.option
@click.option(
    "--extend",
    metavar="TOKENIZER",
    help="Train on: put merges behind those of this tokenizer, up to --vocab-size, and keep every id. Only --min-freq, "
    "--convention, --threads and what says how CORPUS is read go with it.",
)
@click.option(
    "--threads", type=click.IntRange(1), metavar="N", help="Use N cores, not all; the result is always the same."
)
@click.option(
    "--max-memory", type=_sizes.size, metavar="SIZE", help="Let counts above so many bytes (512M) go to disk."
)
@click.option(
    "--min-word-count",
    type=click.IntRange(1),
    metavar="N",
    default=1,
    help="Leave out pretokens that come fewer times in the whole corpus.",
)
@click.option("--plan", is_flag=True, help="Train nothing: estimate memory, disk and time from a sample.")
@click.option(
    "--max-token-length",
    type=click.IntRange(2),
    metavar="N",
    help="Make no token of more bytes (or characters) than N.",
)
@click.option(
    "--initial-alphabet",
    metavar="CHARACTERS",
    default="",
    help="Have these characters, though the corpus may lack them.",
)
@click.option("--limit-alphabet", type=click.IntRange(1), metavar="N", help="Have the N most frequent characters only.")
@click.option(
    "--checkpoint",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Keep the state of training in this file, and the counted corpus beside it.",
)
@click.option(
    "--checkpoint-every",
    type=click.IntRange(1),
    metavar="N",
    default=1000,
    show_default=True,
    help="Write it every N merges.",
)
@click.option("--resume", is_flag=True, help="Go on from the checkpoint, where there is one.")
@click.option("--trace", is_flag=True, help="Print what was learned, merge by merge, as `bytepair merges` does.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON lines.")
def command(
    corpus: tuple[str, ...],
    output: str | None,
    specials: tuple[str, ...],
    no_specials: bool,
    normalizer: tuple[str, ...],
    extend: str | None,
    trace: bool,
    as_json: bool,
    plan: bool,
    **options: Any,
) -> None:
    """Train a tokenizer on CORPUS: files, folders with all files below them, addresses, or - for stdin.

    Byte-pair encoding: the most frequent pair of neighbours becomes a new token, again and again, until the vocabulary
    is full or no pair repeats. Files are read as bytes, in the order given; those of a folder in the order of their
    paths, without links and hidden names. Of .jsonl, .parquet and .arrow the texts are read (--field, --column), .tar
    and .zip are looked into, and what gzip, bzip2, xz or zstd packed is unpacked. A file that `bytepair count-words`
    wrote stands for the text that it counted.

    \b
    Examples:
      bytepair train src docs -o my.json
      bytepair train "s3://bucket/*.jsonl.zst" --field content -o my.json
      bytepair train notes.txt --vocab-size 1000 --special "<end>" -o my.json
      bytepair train corpus --vocab-size 50000 --plan
      bytepair train corpus -o my.json --checkpoint my.state --resume
      bytepair train more.txt --extend my.json --vocab-size 2000 -o larger.json
      printf "low low lower lowest" | bytepair train - --vocab-size 280 --trace
    """
    report = trace or as_json
    if output is None and not report and not plan:
        raise click.UsageError("name the file for the tokenizer with -o, or look at what is learned with --trace")
    if report and output == "-":
        raise click.UsageError("stdout cannot hold both the record and the tokenizer; name a file with -o")
    if options["resume"] and options["checkpoint"] is None:
        raise click.UsageError("--resume goes on from a checkpoint; name its file with --checkpoint")
    if specials and no_specials:
        raise click.UsageError("--no-specials and --special exclude each other; leave one out")
    if plan and "-" in corpus:
        raise click.UsageError("a plan needs files whose size is known; stdin (-) has none")
    if extend is not None:
        _extend(corpus, extend, output, report, options)
        return
    _io.check_stdin(*corpus)
    _io.check_output(output, *corpus)

    from .. import train
    from .count_words import counted

    if specials or no_specials:
        options["specials"] = specials
    try:
        if options["pattern"] is not None:
            options["pattern"] = resolve(options["pattern"])
        if normalizer:
            options["normalizer"] = _normalizer.of(normalizer)
        words = counted(corpus)
        texts = _corpus.corpus(corpus, options)
        if plan:
            if words is not None:
                raise click.UsageError("--plan estimates from text, and these words are counted already; train on them")
            from . import _plan

            _plan.show(texts, as_json, **options)
            return
        tok = train(texts if words is None else words, progress=True, **options)
    except (PatternError, SpecialTokenError, VocabularyError) as error:
        raise click.UsageError(str(error)) from error
    if output is not None:
        _io.save(tok, output)
    if report:
        from . import _record

        if as_json:
            _record.print_lines(tok, _record.numbers(tok))
        else:
            _record.print_table(tok, _record.numbers(tok))
            click.echo("\n" + _record.summary(tok))
    click.echo(_sentence(tok, output), err=True)


def _extend(corpus: tuple[str, ...], given: str, output: str | None, report: bool, options: dict[str, Any]) -> None:
    """Trains on from a tokenizer."""
    context = click.get_current_context()
    asked = {
        name for name in context.params if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    }
    kept = {"corpus", "output", "extend", "vocab_size", "min_freq", "convention", "threads", *_corpus.OPTIONS}
    others = sorted(asked - kept)
    if report or others:
        name = (["as_json" if "as_json" in asked else "trace"] if report else others)[0]
        option = next(one.opts[0] for one in context.command.params if one.name == name)
        raise click.UsageError(
            f"--extend and {option} exclude each other: what is extended keeps its settings; leave one out"
        )
    if output is None or "vocab_size" not in asked:
        raise click.UsageError("--extend needs --vocab-size, how many ids there are to be, and -o, where to save them")
    from .count_words import counted

    _io.check_stdin(given, *corpus)
    _io.check_output(output, given, *corpus)
    tok = _io.load(given)
    settings = {name: options[name] for name in ("min_freq", "convention") if name in asked}
    words = counted(corpus)
    texts = _corpus.corpus(corpus, options) if words is None else words
    try:
        larger, done = tok.extend(texts, options["vocab_size"], threads=options["threads"], progress=True, **settings)
    except VocabularyError as error:
        raise click.UsageError(str(error)) from error
    _io.save(larger, output)
    click.echo(str(done), err=True)
    click.echo(f"saved to {output}" if output != "-" else "done", err=True)


def _sentence(tok: Any, output: str | None) -> str:
    learned = (
        f"{_io.plural(tok.vocab_size, 'token')}, {_io.plural(len(tok.record), 'merge')} of them learned from "
        f"{_io.plural(tok.record.pretokens, 'pretoken')}"
    )
    return f"{learned}; saved to {output}" if output not in (None, "-") else learned
