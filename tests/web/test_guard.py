"""Who is answered, and with what headers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bytepair.playground import guard
from bytepair.playground.guard import Guard, refusal

PATHS = ("/", "/main.js", "/style.css", "/api/state", "/no/such/page", "/api/why?tokenizer=low.json&id=262")


def scope(host: str | None = "localhost:8000", *headers: tuple[str, str], **rest: Any) -> dict[str, Any]:
    given = [*([("host", host)] if host is not None else []), *headers]
    raw = [(name.encode(), value.encode("latin-1")) for name, value in given]
    return {"type": "http", "method": "GET", "path": "/", "headers": raw, "server": ("127.0.0.1", 8000)} | rest


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_has_the_headers(client, path: str) -> None:
    headers = client.get(path).headers
    assert headers["content-security-policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers


def test_the_picture_brings_its_style_and_can_run_nothing(client) -> None:
    headers = client.get("/api/tree.svg?tokenizer=low.json&id=262").headers
    assert headers["content-security-policy"] == guard.PICTURE_POLICY
    assert "script" not in guard.PICTURE_POLICY
    assert headers["content-type"] == "image/svg+xml"


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1:8000", "[::1]:8000", "LOCALHOST:8000"])
def test_loopback_is_answered(host: str) -> None:
    assert refusal(scope(host)) is None
    assert refusal(scope(host, ("origin", f"http://{host}"))) is None


@pytest.mark.parametrize(
    "host",
    ["evil.example:8000", "localhost:8001", "localhost", "127.0.0.1", "localhost.evil.example:8000", "0.0.0.0:8000",
     "127.0.0.2:8000", "localhost:8000@evil.example", "localhost:8000, evil.example", "", " localhost:8000", None],
)  # fmt: skip
def test_other_names_are_refused(host: str | None) -> None:
    assert refusal(scope(host)) == "this page answers only to http://localhost:8000 and http://127.0.0.1:8000"


def test_two_hosts_are_refused() -> None:
    assert refusal(scope("localhost:8000", ("Host", "localhost:8000"))) is not None


def test_port_80_needs_no_port() -> None:
    assert refusal(scope("localhost", server=("127.0.0.1", 80))) is None


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "https://localhost:8000", "http://localhost:8001", "null", "http://127.0.0.1:8000",
     "http://localhost:8000.evil.example", ""],
)  # fmt: skip
def test_other_origins_are_refused(client, origin: str) -> None:
    assert refusal(scope("localhost:8000", ("origin", origin))) == "requests from other pages are not answered"
    answer = client.post("/api/encode?tokenizer=low.json", content="low", headers={"Origin": origin})
    assert (answer.status_code, answer.json()) == (403, {"error": "requests from other pages are not answered"})
    assert "content-security-policy" in answer.headers


def test_other_sites_may_link_to_the_page_and_nothing_else() -> None:
    link = (("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document"))
    assert refusal(scope("localhost:8000", *link)) is None
    assert refusal(scope("localhost:8000", *link, path="/api/state")) is not None
    assert refusal(scope("localhost:8000", *link, method="POST")) is not None
    framed = (*link[:2], ("sec-fetch-dest", "iframe"))
    assert refusal(scope("localhost:8000", *framed)) is not None
    assert refusal(scope("localhost:8000", ("sec-fetch-site", "same-site"))) is not None
    assert refusal(scope("localhost:8000", ("sec-fetch-site", "same-origin"))) is None
    assert refusal(scope("localhost:8000", ("sec-fetch-site", "none"))) is None


def test_websockets_are_closed() -> None:
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def never(*_: Any) -> Any:
        raise AssertionError("the application was asked")

    asyncio.run(Guard(never)({"type": "websocket", "headers": []}, never, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]
