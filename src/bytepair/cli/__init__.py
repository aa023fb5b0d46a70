"""The command ``bytepair``: the group of verbs, and what every verb does when it ends badly.

One verb a file, imported when it is asked for; each file holds its click command as ``command``. What they share is in
``_io`` (files, pipes, checks). The entry point is :data:`main`.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TextIO

import click

from .. import __version__
from ..errors import BytepairError, BytepairNotice

VERBS = {
    "demo": "Train on Python's own sources and show what was learned.",
    "train": "Train a tokenizer on files, folders or stdin.",
    "count-words": "Count the pretokens of a corpus, for training.",
    "encode": "Turn text into ids, or show its tokens.",
    "decode": "Turn ids back into the exact bytes.",
    "count": "Count tokens, and bytes per token, of files.",
    "merges": "Print what a tokenizer learned, merge by merge.",
    "explain": "Show every merge of a text, and where a token comes from.",
    "evaluate": "Measure tokenizers and baselines on text.",
    "sweep": "Measure every size of vocabulary on held-out text.",
    "compare": "Show where several tokenizers cut a text.",
    "check": "Look for what may bite later in a vocabulary.",
    "convert": "Write a tokenizer in another format, and check it.",
    "verify": "Compare tokenizers, and the libraries that own their formats.",
    "serve": "Open a page that shows tokens as you type.",
    "pattern": "Show what a pattern is made into, and how it cuts a text.",
    "bench": "Time a tokenizer on this machine, its results checked first.",
    "gage": "Compress a file as Philip Gage did in 1994.",
}
"""Every verb and its line in the help, so that the help imports none of them."""

INTERRUPTED = 130
BROKEN_PIPE = 141
"""128 + the number of the signal, as a shell reports a program that the signal ended."""


class Verbs(click.Group):
    """The group: imports a verb when it is called, and turns every failure into one line and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in VERBS:
            return None
        command: click.Command = import_module(f".{cmd_name.replace('-', '_')}", __name__).command
        return command

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in VERBS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], VERBS, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(VERBS)}"
            raise click.UsageError(f"there is no verb {args[0]!r}; {hint}", context)
        return super().resolve_command(context, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, *rest: Any, **extra: Any) -> Any:
        extra["standalone_mode"] = False
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # a notebook's or a test's stream may not have it
                stream.reconfigure(encoding="utf-8", errors="backslashreplace")
        with _notes():
            code = self._end(lambda: super(Verbs, self).main(args, prog_name or "bytepair", *rest, **extra))
        sys.exit(code)

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except BrokenPipeError:  # click would end with 1, as if something had gone wrong
            _close_stdout()
            context.exit(BROKEN_PIPE)

    def _end(self, run: Any) -> int:
        try:
            code = run()
            if sys.stdout is not None:
                sys.stdout.flush()
            return code if isinstance(code, int) else 0
        except click.UsageError as error:
            verb = error.ctx.command_path if error.ctx else "bytepair"
            return _fail(f"{error.format_message().rstrip('.')} (see {verb} --help)", 2)
        except click.ClickException as error:
            return _fail(error.format_message(), error.exit_code)
        except BytepairError as error:
            return _fail(str(error), 1)
        except BrokenPipeError:
            _close_stdout()
            return BROKEN_PIPE
        except OSError as error:
            if error.filename is not None:
                return _fail(f"{error.filename}: {error.strerror}", 1)
            _close_stdout()  # reading says which file it was, so this is a full disk behind stdout
            return _fail(f"cannot write to stdout: {error.strerror or error}", 1)
        except MemoryError:
            return _fail("there is not enough memory for this; give smaller files", 1)
        except (click.Abort, KeyboardInterrupt):
            return _fail("interrupted", INTERRUPTED)


def _fail(message: str, code: int) -> int:
    from ..showing import one_line

    click.echo(f"bytepair: {one_line(message)}", err=True)
    return code


def _close_stdout() -> None:
    """Let Python's own last flush go nowhere, instead of failing and saying so."""
    try:
        number = sys.stdout.fileno()
    except (AttributeError, OSError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)


@contextmanager
def _notes() -> Iterator[None]:
    """Notices, and the log's warnings, become plain lines on stderr."""
    import logging

    from ..showing import one_line

    class Notes(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            click.echo(f"note: {one_line(record.getMessage())}", err=True)

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if issubclass(category, BytepairNotice):
            click.echo(f"note: {one_line(str(message))}", err=True)
        else:
            python(message, category, filename, lineno, file, line)

    python = warnings.showwarning
    log, notes = logging.getLogger("bytepair"), Notes(logging.WARNING)
    log.addHandler(notes)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", BytepairNotice)
            warnings.showwarning = show
            yield
    finally:
        log.removeHandler(notes)


@click.command(
    "bytepair",
    cls=Verbs,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def main(context: click.Context) -> None:
    """Train, run and look into byte-pair-encoding tokenizers.

    A tokenizer cuts text into tokens and numbers them: it turns text into ids and ids back into text. These verbs train
    one on your files, show every merge that it learned, and run it.

    Text is read and written as bytes, so that nothing in it changes. Where a verb takes a file, - is stdin. Results go
    to stdout; progress, notes and errors go to stderr. The exit code is 0, 1 after a failure, or 2 after wrong use.

    \b
    Begin with:
      bytepair demo
      bytepair train my-folder -o my.json
      bytepair encode my.json --text "hello world" --pieces
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
