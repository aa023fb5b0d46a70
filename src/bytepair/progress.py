"""How far a long piece of work has come: reports to a callable, a bar on a terminal or in a notebook, lines in a log.

Everything that can last over a second takes ``progress=``: a callable that is given a :class:`Report`, True for what
the place has, or None. Where stderr is no terminal there is a line now and then, and none where the work is short.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

EVERY = 0.1
"""Seconds between two reports, at the least."""
LINE_EVERY = 10.0
"""Seconds between two lines in a log, and before the first."""
NOTEBOOK_EVERY = 0.5
"""Seconds between two pictures in a notebook: each is a message to a browser."""


@dataclass(frozen=True)
class Report:
    """One report.

    Attributes
    ----------
    stage : str
        What is being done: ``"count"``, ``"merge"`` ...
    done, total : int
        How much of it, in ``unit``; ``total`` is None where it is not known.
    unit : str
        ``"bytes"``, ``"merges"`` ... Bytes of files are those on disk, packed or not.

    Examples
    --------
    >>> print(Report("count", 250_000_000, 1_000_000_000, "bytes"))
    count: 250.0 MB of 1.0 GB (25 %)
    """

    stage: str
    done: int
    total: int | None
    unit: str

    def __str__(self) -> str:
        if self.total is None:
            return f"{self.stage}: {_amount(self.done, self.unit)}"
        if not self.total:
            return f"{self.stage}: {_amount(self.done, self.unit)} of {_amount(0, self.unit)}"
        percent = min(100 * self.done // self.total, 100)
        return f"{self.stage}: {_amount(self.done, self.unit)} of {_amount(self.total, self.unit)} ({percent} %)"

    @staticmethod
    def reporter(stage: str, unit: str, total: int | None, progress: Reporter | bool | None) -> _Progress:
        """What a stage of work calls: ``with Report.reporter(...) as p: p.update(done)``."""
        return _Progress(stage, unit, total, progress)


Reporter = Callable[[Report], Any]
Progress = Reporter | bool | None


class _Progress:
    def __init__(self, stage: str, unit: str, total: int | None, progress: Progress) -> None:
        self.stage, self.unit, self.total = stage, unit, total
        self.tell = progress if callable(progress) else _picture(stage, unit, total) if progress is True else None
        self.done = 0
        self.last = 0.0

    def __enter__(self) -> _Progress:
        if isinstance(self.tell, _Picture):
            self.tell.start()
        return self

    def update(self, done: int) -> None:
        self.done = done
        now = time.monotonic()
        if now - self.last >= EVERY:
            self.last = now
            self._show()

    def _show(self) -> None:
        if self.tell is not None:
            self.tell(Report(self.stage, self.done, self.total, self.unit))

    def __exit__(self, *error: object) -> None:
        try:
            if error[0] is None:
                self._show()
        finally:
            if isinstance(self.tell, _Picture):
                self.tell.stop(finished=error[0] is None)


class _Picture:
    """Shows reports somewhere, from :meth:`start` to :meth:`stop`."""

    def start(self) -> None:
        self.started = time.monotonic()
        self.last = self.started
        self.report: Report | None = None

    def __call__(self, report: Report) -> None:
        raise NotImplementedError

    def stop(self, *, finished: bool) -> None:
        raise NotImplementedError

    def due(self, report: Report, every: float) -> bool:
        """Whether it is time to show something; keeps the report."""
        self.report = report
        now = time.monotonic()
        if now - self.last < every:
            return False
        self.last = now
        return True

    def line(self, report: Report) -> str:
        """The report with how fast it goes, and how long it may take still."""
        seconds = time.monotonic() - self.started
        rate = report.done / seconds if seconds > 0 else 0
        line = f"{report}, {_amount(int(rate), report.unit)}/s"
        if report.total is not None and rate and report.done <= report.total:
            line += f", {_duration((report.total - report.done) / rate)} left"
        return line


class _Bar(_Picture):
    """A bar on a terminal, which goes when the work is done."""

    def __init__(self, stage: str, unit: str, total: int | None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        amount = DownloadColumn() if unit == "bytes" else MofNCompleteColumn()
        self.bar = Progress(
            TextColumn(f"{stage:>8}"), BarColumn(), amount, TextColumn(unit if unit != "bytes" else ""),
            TimeElapsedColumn(), console=Console(stderr=True), transient=True,
        )  # fmt: skip
        self.bar.add_task(stage, total=total)

    def start(self) -> None:
        self.bar.start()

    def __call__(self, report: Report) -> None:
        self.bar.update(self.bar.task_ids[0], completed=report.done)

    def stop(self, *, finished: bool) -> None:  # noqa: ARG002
        self.bar.stop()


class _Lines(_Picture):
    """A line on stderr now and then, as a log wants it."""

    def start(self) -> None:
        super().start()
        self.told = False

    def __call__(self, report: Report) -> None:
        if self.due(report, LINE_EVERY):
            self.told = True
            print(self.line(report), file=sys.stderr, flush=True)

    def stop(self, *, finished: bool) -> None:
        if self.told and self.report is not None:
            end = "done" if finished else "stopped"
            taken = _duration(time.monotonic() - self.started)
            print(f"{self.report}, {end} after {taken}", file=sys.stderr, flush=True)


class _Notebook(_Picture):
    """One place below a notebook's cell, whose text changes."""

    def start(self) -> None:
        super().start()
        self.handle: Any = None

    def __call__(self, report: Report) -> None:
        if self.due(report, NOTEBOOK_EVERY):
            self.show(report, self.line(report))

    def stop(self, *, finished: bool) -> None:
        if self.handle is not None and self.report is not None:
            end = "done" if finished else "stopped"
            self.show(self.report, f"{self.report}, {end} after {_duration(time.monotonic() - self.started)}")

    def show(self, report: Report, line: str) -> None:
        from IPython.display import display

        bar = "" if report.total is None else f' value="{min(report.done, report.total)}" max="{max(report.total, 1)}"'
        both = {"text/plain": line, "text/html": f"<progress{bar}></progress> {escape(line)}"}
        if self.handle is None:
            self.handle = display(both, raw=True, display_id=True)
        else:
            self.handle.update(both, raw=True)


def _picture(stage: str, unit: str, total: int | None) -> _Picture | None:
    if _in_notebook():
        return _Notebook()
    if sys.stderr is None:
        return None
    return _Bar(stage, unit, total) if sys.stderr.isatty() else _Lines()


def _in_notebook() -> bool:
    """Whether IPython runs this, and for a notebook: one on a terminal has no kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    return getattr(shell, "kernel", None) is not None


def _amount(number: int, unit: str) -> str:
    if unit != "bytes":
        return f"{number:,} {unit}"
    for name, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= factor:
            return f"{number / factor:.1f} {name}"
    return f"{number} bytes"


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
