"""What the page's tests share: a client that speaks to the application without a network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import bytepair

pytest.importorskip("starlette")
pytest.importorskip("httpx")

HOME = "http://localhost:8000"


@pytest.fixture(scope="session")
def low() -> bytepair.Tokenizer:
    return bytepair.train("low low lower lowest", num_merges=4, pattern="al1")


@pytest.fixture
def client(low: bytepair.Tokenizer) -> Iterator[Any]:
    from starlette.testclient import TestClient

    from bytepair.playground import app

    with TestClient(app({"low.json": low}), base_url=HOME) as found:
        yield found


Encode = Callable[..., dict[str, Any]]


@pytest.fixture
def encode(client: Any) -> Encode:
    """POST a text; gives the answer."""

    def call(text: str | bytes, *names: str, specials: bool = False) -> dict[str, Any]:
        query = [("tokenizer", name) for name in names or ("low.json",)] + [("specials", str(int(specials)))]
        answer = client.post("/api/encode", params=query, content=text)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    return call
