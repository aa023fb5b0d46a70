"""``bytepair serve``."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import bytepair

pytest.importorskip("uvicorn")


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is sent another way there")
def test_it_serves_and_ends_with_ctrl_c(low: Path) -> None:
    source = str(Path(bytepair.__file__).parents[1])
    paths = os.pathsep.join([source, *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "bytepair", "serve", str(low), "--port", "0", "--no-browser"]
    env = {**os.environ, "PYTHONPATH": paths, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, text=True) as server:
        assert server.stdout is not None
        line = server.stdout.readline()
        try:
            port = int(re.fullmatch(r"bytepair is at http://127\.0\.0\.1:(\d+)/ \(Ctrl-C ends it\)\n", line)[1])
            for host, status in ((f"127.0.0.1:{port}", 200), (f"localhost:{port}", 200), (f"evil.example:{port}", 403)):
                asked = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                asked.request("GET", "/api/state", headers={"Host": host})
                answer = asked.getresponse()
                assert answer.status == status
                assert "server" not in {name.lower() for name, _ in answer.getheaders()}
                asked.close()
        finally:
            server.send_signal(signal.SIGINT)
        assert server.wait(60) == 0
        assert server.stderr is not None
        assert server.stderr.read().strip() == ""


def test_a_port_that_is_taken(run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("serve", "--port", port, "--no-browser")
    assert done.exit_code == 1
    assert done.stderr.startswith(f"bytepair: cannot listen on port {port}: ")
    assert done.stderr.endswith("; give another --port, or 0\n")


def test_without_the_libraries(run, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = run("serve", "--no-browser")
    assert done.exit_code == 1
    assert "which is not installed: pip install 'bytepair[web]'" in done.stderr


def test_the_page_names_files_without_their_folders() -> None:
    from bytepair.cli.serve import _titles

    assert _titles(["gpt2", "/home/me/low.json", "hub/", "-"]) == ["gpt2", "low.json", "hub", "stdin"]
    assert _titles(["a/tokenizer.json", "b/tokenizer.json"]) == ["a/tokenizer.json", "b/tokenizer.json"]


def test_wrong_use(run, low: Path, tmp_path: Path) -> None:
    assert run("serve", *"abcdefg").exit_code == 2
    assert run("serve", "--port", "70000").exit_code == 2
    done = run("serve", tmp_path / "none.json", "--no-browser")
    assert done.exit_code == 1
    assert "there is no file" in done.stderr
