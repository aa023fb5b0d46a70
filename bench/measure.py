"""Timing with care: results are checked before the clock runs, and two things are compared in turn, in one process.

Machines drift, so absolute times are not results; the ratio of medians over alternating runs is. A record names the
processor, the versions and the date.
"""

from __future__ import annotations

import datetime
import json
import statistics
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import bytepair
from bytepair.benching.times import machine

RECORDS = Path(__file__).parent / "records"


def in_turn(runs: int, **work: Callable[[], Any]) -> dict[str, dict[str, float]]:
    """Runs each piece of work ``runs`` times, one after the other, and gives min, median and max seconds of each."""
    times: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(runs):
        for name, do in work.items():
            start = time.perf_counter()
            do()
            times[name].append(time.perf_counter() - start)
    return {name: {"min": min(t), "median": statistics.median(t), "max": max(t)} for name, t in times.items()}


def versions(*packages: str) -> dict[str, str]:
    return {"bytepair": bytepair.__version__, **{name: version(name) for name in packages}}


def write_record(where: str | Path, record: dict[str, Any], packages: tuple[str, ...]) -> Path:
    """Writes bench/records/NAME.json, or the file that a path names."""
    RECORDS.mkdir(exist_ok=True)
    path = where if isinstance(where, Path) else RECORDS / f"{where}.json"
    whole = {
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "versions": versions(*packages),
        **record,
    }
    path.write_text(json.dumps(whole, indent=1) + "\n", "utf-8")
    return path
