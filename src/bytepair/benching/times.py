"""Taking times: two clocks, rounds within a budget, and the machine that a record names."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

Prepared = TypeVar("Prepared")
Clock = Callable[[], float]

ONE_THREAD: Clock = time.process_time
"""For work of one thread: what others do on the machine does not count."""
MANY_THREADS: Clock = time.perf_counter
"""For work of many: what somebody waits for it."""

MOST_ROUNDS = 25


def rounds(
    seconds: float, prepare: Callable[[], Prepared], work: Callable[[Prepared], Any], clock: Clock = ONE_THREAD
) -> list[float]:
    """Times ``work`` on what ``prepare`` makes anew for each round, until ``seconds`` are over: at least one round."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while not times or (time.perf_counter() < end and len(times) < MOST_ROUNDS):
        prepared = prepare()
        start = clock()
        work(prepared)
        times.append(clock() - start)
    return times


def machine() -> dict[str, Any]:
    """Processor, cores, system and Python, for a record."""
    processor = platform.processor()
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        processor = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return {
        "processor": processor,
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }
