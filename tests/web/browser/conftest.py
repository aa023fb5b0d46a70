"""A server of its own, and a browser that looks at it: what it asks for and says on its console is noted."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bytepair


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """``bytepair serve`` with one tokenizer of ours, as a user starts it."""
    path = tmp_path_factory.mktemp("serve") / "low.json"
    bytepair.train("low low lower lowest", num_merges=4, pattern="al1").save(path)
    source = str(Path(bytepair.__file__).parents[1])
    paths = os.pathsep.join([source, *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "bytepair", "serve", "low.json", "gpt2", "--port", "0", "--no-browser"]
    env = {**os.environ, "PYTHONPATH": paths, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=path.parent, env=env, text=True) as server:
        assert server.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+/", server.stdout.readline())
        assert found is not None
        yield found[0]
        server.terminate()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    path = os.environ.get("BYTEPAIR_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("there is no chromium; BYTEPAIR_CHROMIUM can name one")
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


class Seen:
    """What a page asked for, and what it said on its console."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.console: list[str] = []


@pytest.fixture
def seen() -> Seen:
    return Seen()


@pytest.fixture
def options() -> dict[str, Any]:
    """How the browser is set up; a test may have its own."""
    return {"viewport": {"width": 1360, "height": 900}}


@pytest.fixture
def page(browser: Any, address: str, seen: Seen, options: dict[str, Any]) -> Iterator[Any]:
    """The page, open; afterwards nothing may have left loopback, and the console may have no complaint."""
    context = browser.new_context(**options)
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.on("request", lambda request: seen.requests.append(request.url))
    page.on("console", lambda message: seen.console.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: seen.console.append(f"error: {error}"))
    page.on("dialog", lambda dialog: seen.console.append(f"error: dialog {dialog.message}"))
    page.goto(address)
    page.wait_for_selector("body[data-ready] .flow .token")
    yield page
    context.close()
    # What the server refuses on purpose shows as a failed load; a policy that was broken does not.
    complaints = [line for line in seen.console if "the server responded with a status of 4" not in line]
    assert complaints == []
    assert [url for url in seen.requests if not url.startswith((address, "data:", "blob:"))] == []
