"""``bytepair serve``: the page to play with, for a browser on this machine."""

from __future__ import annotations

import os
import socket
from typing import Any

import click

from . import _io

_PORT = 8000


@click.command("serve")
@click.argument("tokenizers", metavar="[TOKENIZER]...", nargs=-1)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    help=f"The port; 0 takes a free one. Without it {_PORT}, or a free one where that is taken.",
)
@click.option("--no-browser", is_flag=True, help="Do not open a browser, only say the address.")
def command(tokenizers: tuple[str, ...], port: int | None, no_browser: bool) -> None:
    """Open a page in your browser that shows tokens, ids and bytes as you type.

    Several vocabularies stand side by side; each TOKENIZER is a file or a known name, and more files can be dropped on
    the page. Click a token for its merge tree. Paste ids to see what they say. Train on a small corpus of your own,
    and step through it merge by merge.

    The page is served to this machine only, loads nothing from the network, and sends nothing anywhere. It ends with
    Ctrl-C.

    \b
    Examples:
      bytepair serve
      bytepair serve my.json gpt2 --port 8000 --no-browser
    """
    try:
        import starlette  # noqa: F401
        import uvicorn
    except ImportError as error:
        raise click.ClickException(
            f"the page needs {error.name}, which is not installed: pip install 'bytepair[web]'"
        ) from None
    from ..playground import app
    from ..playground.routes import SIDES

    if len(set(tokenizers)) > SIDES:
        raise click.UsageError(f"{len(set(tokenizers))} tokenizers are too many side by side; give up to {SIDES}")
    _io.check_stdin(*tokenizers)
    named = dict.fromkeys(tokenizers)
    page = app({title: _io.load(name) for name, title in zip(named, _titles(list(named)))})
    listening = _listen(port)
    address = f"http://127.0.0.1:{listening.getsockname()[1]}/"
    click.echo(f"bytepair is at {address} (Ctrl-C ends it)")
    config = uvicorn.Config(
        page,
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    if not no_browser:
        import webbrowser

        webbrowser.open(address)  # it waits in the socket's queue until the server answers
    try:
        uvicorn.Server(config).run(sockets=[listening])
    except KeyboardInterrupt:
        click.echo("", err=True)
    finally:
        listening.close()


def _titles(names: list[str]) -> list[str]:
    """What the page calls tokenizers: a file's name without its folder, which is nobody's business in a shared link."""
    short = [_io.name_of(os.path.basename(name.rstrip("/\\")) or name) for name in names]
    return [title if short.count(title) == 1 else name for title, name in zip(short, names)]


def _listen(port: int | None) -> Any:
    """A socket on loopback that listens."""
    try:
        return socket.create_server(("127.0.0.1", _PORT if port is None else port))
    except OSError as error:
        if port is None:
            return socket.create_server(("127.0.0.1", 0))
        reason = error.strerror or error
        raise click.ClickException(f"cannot listen on port {port}: {reason}; give another --port, or 0") from None
