"""Progress: reports to a callable, a bar on a terminal, lines in a log, a picture in a notebook."""

from __future__ import annotations

import io
import sys
import types
from typing import Any

import pytest

import bytepair
from bytepair import progress
from bytepair.progress import Report


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress.time, "monotonic", clock)
    return clock


def work(clock: Clock, seconds: float, total: int | None = 4_000_000_000, *, fail: bool = False) -> None:
    """Forty steps of a hundred million bytes, or of as many merges."""
    with Report.reporter("count", "bytes", total, True) as report:
        for step in range(1, 41):
            clock.now += seconds / 40
            report.update(step * 100_000_000)
            if fail and step == 20:
                raise KeyboardInterrupt


def test_reports_as_text() -> None:
    assert str(Report("count", 5, None, "bytes")) == "count: 5 bytes"
    assert str(Report("merge", 1500, 3000, "merges")) == "merge: 1,500 merges of 3,000 merges (50 %)"
    assert str(Report("count", 0, 0, "bytes")) == "count: 0 bytes of 0 bytes"
    assert str(Report("count", 9, 8, "bytes")) == "count: 9 bytes of 8 bytes (100 %)"


def test_a_log_has_a_line_now_and_then(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    work(clock, 9)
    assert sys.stderr.getvalue() == ""  # type: ignore[attr-defined]
    work(clock, 40)
    assert sys.stderr.getvalue().splitlines() == [  # type: ignore[attr-defined]
        "count: 1.0 GB of 4.0 GB (25 %), 100.0 MB/s, 30 s left",
        "count: 2.0 GB of 4.0 GB (50 %), 100.0 MB/s, 20 s left",
        "count: 3.0 GB of 4.0 GB (75 %), 100.0 MB/s, 10 s left",
        "count: 4.0 GB of 4.0 GB (100 %), 100.0 MB/s, 0 s left",
        "count: 4.0 GB of 4.0 GB (100 %), done after 40 s",
    ]
    sys.stderr.truncate(0)
    sys.stderr.seek(0)
    with pytest.raises(KeyboardInterrupt):
        work(clock, 8000, None, fail=True)
    assert sys.stderr.getvalue().splitlines()[-2:] == [  # type: ignore[attr-defined]
        "count: 2.0 GB, 500.0 kB/s", "count: 2.0 GB, stopped after 1 h 6 min",
    ]  # fmt: skip


def test_no_stderr_at_all(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    work(clock, 100)


def test_a_bar_on_a_terminal(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    work(clock, 40)
    shown = sys.stderr.getvalue()  # type: ignore[attr-defined]
    assert "count" in shown and "4.0/4.0 GB" in shown


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """What a notebook would show; an empty dict stands for a new place."""
    found: list[dict[str, str]] = []

    class Handle:
        def update(self, data: dict[str, str], raw: bool) -> None:
            assert raw
            found.append(data)

    def display(data: dict[str, str], raw: bool, display_id: bool) -> Handle:
        assert raw and display_id
        found.extend([{}, data])
        return Handle()

    ipython: Any = types.ModuleType("IPython")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    ipython.display = types.ModuleType("IPython.display")
    ipython.display.display = display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)
    return found


def test_a_notebook(clock: Clock, shown: list[dict[str, str]]) -> None:
    work(clock, 0.4)
    assert shown == []
    work(clock, 40)
    assert shown[0] == {}
    assert len(shown) == 42
    assert shown[1] == {
        "text/plain": "count: 100.0 MB of 4.0 GB (2 %), 100.0 MB/s, 39 s left",
        "text/html": '<progress value="100000000" max="4000000000"></progress> '
        "count: 100.0 MB of 4.0 GB (2 %), 100.0 MB/s, 39 s left",
    }
    assert shown[-1]["text/plain"] == "count: 4.0 GB of 4.0 GB (100 %), done after 40 s"


def test_ipython_on_a_terminal_is_no_notebook(
    clock: Clock, shown: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", types.SimpleNamespace)
    work(clock, 40)
    assert shown == []


def test_a_callable_gets_the_reports() -> None:
    reports: list[Report] = []
    bytepair.train("low low lower lowest", num_merges=4, progress=reports.append)
    assert [(report.stage, report.done, report.total) for report in reports][-1] == ("merge", 4, 4)
    assert ("count", 20, 20, "bytes") in [(r.stage, r.done, r.total, r.unit) for r in reports]
