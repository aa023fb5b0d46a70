"""The page to play with: tokens of a text as it is typed, where each comes from, and training step by step.

:func:`app` is an ASGI application for a browser on the same machine; ``bytepair serve`` runs it. ``guard`` stands
before everything and decides who is answered. ``routes`` reads requests, ``shelf`` holds tokenizers, ``texts`` what
they made of the last texts, and ``answers`` turns what ``explain`` knows into JSON. The page itself, plain HTML, CSS
and JavaScript, lies in ``page``; how tokens are shown is decided here, by ``showing.signs``, and only put up there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer

__all__ = ["app"]


def app(tokenizers: Mapping[str, Tokenizer] | None = None) -> Any:
    """The page and its API, as an ASGI application.

    It answers only to ``localhost``, ``127.0.0.1`` and ``[::1]`` and to its own page, reads no file that a request
    names, and writes none.

    Parameters
    ----------
    tokenizers : mapping of name -> Tokenizer, optional
        Shown first, beside the bundled vocabularies.

    Returns
    -------
    ASGI application

    Raises
    ------
    ImportError
        starlette is not installed: ``pip install 'bytepair[web]'``.

    Examples
    --------
    >>> import bytepair
    >>> page = app({"low": bytepair.train("low low lower lowest", num_merges=4)})
    """
    from .guard import Guard
    from .routes import routes

    return Guard(routes(dict(tokenizers or {})))
