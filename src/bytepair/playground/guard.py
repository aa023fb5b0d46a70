"""Who is answered, and with what headers: this machine's browser, on this page, and nobody else.

A page of another site can send requests to loopback, and after DNS rebinding under a name of its own. So the ``Host``
must be a name of loopback with our port, ``Origin`` must be the same, and ``Sec-Fetch-Site`` must not say that another
site asks, unless somebody follows a link to the page.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

Scope = dict[str, Any]
Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

NAMES = ("localhost", "127.0.0.1", "[::1]")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
"""For a picture that is opened on its own: it brings its style, and can run nothing."""

_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)


class Guard:
    """Stands before an application: refuses what does not come from its own page, and adds the headers."""

    def __init__(self, app: Callable[[Scope, Receive, Send], Awaitable[None]]) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                names = {name.lower() for name, _ in headers}
                if b"content-security-policy" not in names:
                    headers.append((b"content-security-policy", POLICY.encode()))
                if b"cache-control" not in names:
                    headers.append((b"cache-control", b"no-store"))
                message = {**message, "headers": [*headers, *_HEADERS]}
            await send(message)

        if (why := refusal(scope)) is not None:
            body = json.dumps({"error": why}).encode()
            head = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
            await answer({"type": "http.response.start", "status": 403, "headers": head})
            await answer({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
            return
        await self._app(scope, receive, answer)


def refusal(scope: Scope) -> str | None:
    """Why a request is not answered; None where it is."""
    values: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        values.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    hosts = values.get("host", [])
    host = hosts[0].lower() if len(hosts) == 1 else ""
    port = scope["server"][1] if scope.get("server") else None
    if host not in {f"{name}:{port}" for name in NAMES} and not (port == 80 and host in NAMES):
        return f"this page answers only to {' and '.join(f'http://{name}:{port}' for name in NAMES[:2])}"
    if any(origin.lower() != f"http://{host}" for origin in values.get("origin", [])):
        return "requests from other pages are not answered"
    for site in values.get("sec-fetch-site", []):
        follows = scope["method"] == "GET" and scope["path"] == "/" and values.get("sec-fetch-dest") == ["document"]
        if site not in ("same-origin", "none") and not follows:
            return "requests from other sites are not answered"
    return None
