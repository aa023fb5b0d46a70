"""How far a long piece of work has come: reports to a callable, or a bar on a terminal.

Everything that can last over a second takes ``progress=``: a callable that is given a :class:`Report`, True for a bar
on stderr (only where that is a terminal), or None.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

EVERY = 0.1
"""Seconds between two reports, at the least."""


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
        ``"bytes"``, ``"merges"`` ...
    """

    stage: str
    done: int
    total: int | None
    unit: str

    @staticmethod
    def reporter(stage: str, unit: str, total: int | None, progress: Reporter | bool | None) -> _Progress:
        """What a stage of work calls: ``with Report.reporter(...) as p: p.update(done)``."""
        return _Progress(stage, unit, total, progress)


Reporter = Callable[[Report], Any]
Progress = Reporter | bool | None


class _Progress:
    def __init__(self, stage: str, unit: str, total: int | None, progress: Progress) -> None:
        self.stage, self.unit, self.total = stage, unit, total
        self.tell = progress if callable(progress) else None
        self.bar = _bar(stage, unit, total) if progress is True else None
        self.done = 0
        self.last = 0.0

    def __enter__(self) -> _Progress:
        if self.bar is not None:
            self.bar.start()
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
        if self.bar is not None:
            self.bar.update(self.bar.task_ids[0], completed=self.done)

    def __exit__(self, *error: object) -> None:
        if error[0] is None:
            self._show()
        if self.bar is not None:
            self.bar.stop()


def _bar(stage: str, unit: str, total: int | None) -> Any:
    if not sys.stderr.isatty():
        return None
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    amount = DownloadColumn() if unit == "bytes" else MofNCompleteColumn()
    bar = Progress(
        TextColumn(f"{stage:>8}"), BarColumn(), amount, TextColumn(unit if unit != "bytes" else ""),
        TimeElapsedColumn(), console=Console(stderr=True), transient=True,
    )  # fmt: skip
    bar.add_task(stage, total=total)
    return bar
