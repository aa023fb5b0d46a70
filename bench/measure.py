"""Timing with care: results are checked before the clock runs, and two things are compared in turn, in one process.

Machines drift, so absolute times are not results; the ratio of medians over alternating runs is. A record names the
processor, the versions and the date.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

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


def machine() -> dict[str, Any]:
    processor = platform.processor()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        processor = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return {
        "processor": processor,
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def versions(*packages: str) -> dict[str, str]:
    return {name: version(name) for name in ("bytepair", *packages)}


def write_record(name: str, record: dict[str, Any], packages: tuple[str, ...]) -> Path:
    """Writes bench/records/NAME.json."""
    RECORDS.mkdir(exist_ok=True)
    path = RECORDS / f"{name}.json"
    whole = {
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "versions": versions(*packages),
        **record,
    }
    path.write_text(json.dumps(whole, indent=1) + "\n")
    return path


def stdlib_sources(size: int) -> bytes:
    """``size`` bytes of the Python standard library's own sources, whole files as far as they go."""
    import sysconfig

    folder = Path(sysconfig.get_path("stdlib"))
    out = bytearray()
    for path in sorted(folder.rglob("*.py")):
        if "site-packages" not in path.parts:
            out += path.read_bytes()
            if len(out) >= size:
                return bytes(out[:size])
    sys.exit(f"{folder} has only {len(out)} bytes of sources; give --corpus FILE")
