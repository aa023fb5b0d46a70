"""The page's addresses: what each reads from a request, within which bounds, and what it answers.

Work runs in threads, so that typing is answered while a large file is read. Wrong input is an answer with ``error``
and a status from 400 on.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from functools import partial
from importlib import resources
from threading import Lock
from typing import TYPE_CHECKING, Any

from ..errors import BytepairError, BytepairNotice
from ..formats import load
from . import answers, lessons
from .guard import PICTURE_POLICY
from .shelf import Shelf
from .texts import GoneError, Texts

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from ..tokenizer import Tokenizer
    from .texts import Encoded

LARGEST_TEXT = 10 << 20
LARGEST_FILE = 64 << 20
LARGEST_FORM = 2 << 20
SIDES = 6
"""Vocabularies side by side."""

FILES = {
    "index.html": "text/html",
    "style.css": "text/css",
    "icon.svg": "image/svg+xml",
    "main.js": "text/javascript",
    "dom.js": "text/javascript",
    "api.js": "text/javascript",
    "share.js": "text/javascript",
    "text.js": "text/javascript",
    "pane.js": "text/javascript",
    "why.js": "text/javascript",
    "ids.js": "text/javascript",
    "training.js": "text/javascript",
}
"""The page's files with their types; no other file is ever read for a request."""


def routes(tokenizers: dict[str, Tokenizer]) -> Any:
    """The application without its guard."""
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.routing import Route

    held = _Held(tokenizers)
    listed = [
        Route("/api/state", held.state),
        Route("/api/encode", held.encode, methods=["POST"]),
        Route("/api/block", held.block),
        Route("/api/steps", held.steps),
        Route("/api/why", held.why),
        Route("/api/tree.svg", held.tree),
        Route("/api/ids", held.ids, methods=["POST"]),
        Route("/api/train", held.train, methods=["POST"]),
        Route("/api/tokenizers", held.tokenizers, methods=["POST"]),
        Route("/", partial(_file, "index.html")),
        *(Route(f"/{name}", partial(_file, name)) for name in FILES if name != "index.html"),
    ]
    handlers: Any = {BytepairError: _wrong, BytepairNotice: _wrong, HTTPException: _http}
    return Starlette(routes=listed, exception_handlers=handlers)


class _Held:
    """What lives as long as the program: the tokenizers, and what they made of the last texts."""

    def __init__(self, tokenizers: dict[str, Tokenizer]) -> None:
        self._shelf = Shelf(tokenizers)
        self._texts = Texts()

    async def state(self, request: Request) -> Response:  # noqa: ARG002
        names = self._shelf.names()
        given = [one["name"] for one in names if one["kind"] == "given"]
        limits = {"text": LARGEST_TEXT, "file": LARGEST_FILE, "sides": SIDES, "explained": answers.LARGEST_EXPLAINED}
        return _json(
            {
                "tokenizers": names,
                "first": given[:SIDES] or ["gpt2", "o200k_base"],
                "limits": limits,
                "training": lessons.choices(),
            }
        )

    async def encode(self, request: Request) -> Response:
        data = await _body(request, LARGEST_TEXT, "a text")
        names = request.query_params.getlist("tokenizer")
        if not 1 <= len(names) <= SIDES:
            raise BytepairError(f"1 to {SIDES} vocabularies can stand side by side; {len(names)} were asked for")
        return await _in_thread(lambda: self._encode(data, list(dict.fromkeys(names)), _specials(request)))

    def _encode(self, data: bytes, names: list[str], specials: bool) -> dict[str, Any]:
        key = self._texts.put(data)
        sides: dict[str, dict[str, Any]] = {}
        made: dict[str, Encoded] = {}
        for name in names:
            try:
                made[name] = self._texts.encoded(key, self._shelf.get(name), specials)
            except BytepairError as error:  # the others are shown all the same
                sides[name] = {"tokenizer": name, "error": str(error)}
        for name, encoded in made.items():
            others = [other for other in made.values() if other is not encoded and other.joins]
            sides[name] = {
                "tokenizer": name,
                "tokens": len(encoded.ids),
                "distinct": len(set(encoded.ids.tolist())),
                "blocks": encoded.blocks,
                "joins": encoded.joins,
                "differs": len(encoded.differing(others)) if others and encoded.joins else None,
                "facts": encoded.shelved.facts(),
                "first": answers.block(encoded, 0, others) if len(encoded.ids) else None,
            }
        return {**self._texts.totals(key), "sides": [sides[name] for name in names]}

    async def block(self, request: Request) -> Response:
        asked = request.query_params
        names, number = asked.getlist("beside")[:SIDES], _number(request, "block")
        specials = _specials(request)

        def found() -> dict[str, Any]:
            encoded = self._encoded(asked.get("text", ""), asked.get("tokenizer", ""), specials)
            others = [self._encoded(asked.get("text", ""), name, specials) for name in names]
            return answers.block(encoded, number, [other for other in others if other is not encoded])

        return await _in_thread(found)

    def _encoded(self, key: str, name: str, specials: bool) -> Encoded:
        return self._texts.encoded(key, self._shelf.get(name), specials)

    async def steps(self, request: Request) -> Response:
        asked, place = request.query_params, _number(request, "place")
        key, name, specials = asked.get("text", ""), asked.get("tokenizer", ""), _specials(request)
        return await _in_thread(
            lambda: answers.steps(self._encoded(key, name, specials), self._texts.text(key), specials, place)
        )

    async def why(self, request: Request) -> Response:
        name, number = request.query_params.get("tokenizer", ""), _number(request, "id")
        return await _in_thread(lambda: answers.why(self._shelf.get(name), number))

    async def tree(self, request: Request) -> Response:
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import Response

        name, number = request.query_params.get("tokenizer", ""), _number(request, "id")
        drawn = await run_in_threadpool(lambda: answers.picture(self._shelf.get(name), number))
        headers = {"content-security-policy": PICTURE_POLICY}
        return Response(drawn.encode("utf-8", "replace"), media_type="image/svg+xml", headers=headers)

    async def ids(self, request: Request) -> Response:
        asked = await _form(request)
        name = str(asked.get("tokenizer", ""))
        return await _in_thread(lambda: answers.from_ids(self._shelf.get(name), answers.ids_of(asked.get("ids"))))

    async def train(self, request: Request) -> Response:
        from .shelf import Shelved

        asked = await _form(request)

        def made() -> dict[str, Any]:
            tokenizer, _ = _noticed(lambda: lessons.trained(asked))  # that it stopped early is part of the answer
            if asked.get("keep") is True:
                return {"name": self._shelf.add("trained here", tokenizer).name, "tokenizers": self._shelf.names()}
            return answers.frames(Shelved("", tokenizer))

        return await _in_thread(made)

    async def tokenizers(self, request: Request) -> Response:
        data = await _body(request, LARGEST_FILE, "a file")
        name, pattern = request.query_params.get("name", "unnamed"), request.query_params.get("pattern") or None

        def read() -> dict[str, Any]:
            tokenizer, notices = _noticed(lambda: load(data, pattern=pattern))
            kept = self._shelf.add(name, tokenizer)
            return {"name": kept.name, "notices": notices, "tokenizers": self._shelf.names()}

        return await _in_thread(read)


async def _body(request: Request, most: int, what: str) -> bytes:
    """The body of a request; it is not read further than the limit."""
    from starlette.exceptions import HTTPException
    from starlette.requests import ClientDisconnect

    too_large = HTTPException(413, f"{what} may have up to {most:,} bytes here")
    length = request.headers.get("content-length", "")
    if length.isdecimal() and (len(length) > 12 or int(length) > most):
        raise too_large
    read = bytearray()
    try:
        async for chunk in request.stream():
            read += chunk
            if len(read) > most:
                raise too_large
    except ClientDisconnect:  # a newer request took its place
        raise HTTPException(400, "the request was broken off") from None
    return bytes(read)


async def _form(request: Request) -> dict[str, Any]:
    """The JSON object that a request holds."""
    data = await _body(request, LARGEST_FORM, "a request")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise BytepairError("this should be a JSON object") from None
    if not isinstance(found, dict):
        raise BytepairError("this should be a JSON object")
    return found


_one_at_a_time = Lock()  # Python's filters of warnings belong to all threads


def _noticed(work: Callable[[], Tokenizer]) -> tuple[Tokenizer, list[str]]:
    """What some work gives, and the notices that it gave: they are for the page, not for the terminal."""
    with _one_at_a_time, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", BytepairNotice)
        made = work()
    return made, [str(one.message) for one in caught if issubclass(one.category, BytepairNotice)]


def _specials(request: Request) -> bool:
    return bool(request.query_params.get("specials") == "1")


def _number(request: Request, name: str) -> int:
    value = request.query_params.get(name, "")
    if not (value.isascii() and value.isdecimal() and len(value) < 16):
        raise BytepairError(f"{name} should be a whole number")
    return int(value)


async def _in_thread(work: Callable[[], dict[str, Any]]) -> Response:
    """Answer with what some work gives; it and writing it down as JSON stay out of the event loop."""
    from starlette.concurrency import run_in_threadpool

    return await run_in_threadpool(lambda: _json(work()))


def _json(value: dict[str, Any], status: int = 200) -> Response:
    from starlette.responses import Response

    return Response(json.dumps(value, separators=(",", ":")).encode(), status, media_type="application/json")


async def _file(name: str, request: Request) -> Response:  # noqa: ARG001
    from starlette.responses import Response

    data = (resources.files(__package__) / "page" / name).read_bytes()
    return Response(data, media_type=FILES[name], headers={"cache-control": "no-cache"})


async def _wrong(request: Request, error: Exception) -> Response:  # noqa: ARG001
    gone = isinstance(error, GoneError)
    return _json({"error": str(error), "gone": True} if gone else {"error": str(error)}, 410 if gone else 400)


async def _http(request: Request, error: Any) -> Response:  # noqa: ARG001
    response: Response = _json({"error": str(error.detail)}, error.status_code)
    for name, value in (error.headers or {}).items():
        response.headers[name] = value
    return response
