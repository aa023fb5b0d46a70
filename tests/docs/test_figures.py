"""The README's figures are those of the records in bench/."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def table() -> Any:
    spec = importlib.util.spec_from_file_location("table", ROOT / "bench" / "table.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_readme_has_the_records_figures() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert table().with_table(readme) == readme


def test_a_row_is_the_lowest_ratio_to_the_fastest_exact_peer() -> None:
    def figure(ratio: float | None, *, text: str = "english", counts: bool = True, **other: Any) -> dict[str, Any]:
        best = None if ratio is None else f"peer{ratio}"
        told = {"row": "array", "vocab": "cl100k_base", "text": text, "form": "str", "step": "seen"}
        return {**told, "ratio": ratio, "best": best, "counts": counts, **other}

    def facts(differs: dict[str, str]) -> dict[str, Any]:
        return {"version": "1.0", "vocabularies": {"cl100k_base": {"differs": differs}}}

    record = {
        "date": "2026-01-01",
        "rounds": 5,
        "machine": {"processor": "a processor", "cores": 2},
        "peers": {"bytepair": facts({}), "right": facts({}), "wrong": facts({"list blocks x": "token 3"})},
        "figures": [
            figure(1.5),
            figure(1.25, vocab="o200k_base"),
            figure(0.5, counts=False),
            figure(None),
            figure(2.0, text="multilingual"),
            figure(3.0, form="bytes"),
            figure(1.4, row="batch", step="huge", one_thread_over_two=1.75),
            figure(None, row="count", step="count", array_over_count=1.21),
            figure(0.75, row="worst", text="CJK", step="CJK.1", doubling=2.04),
        ],
    }
    lines = table().peers_table(record)
    assert "| ids to an array, text seen before | 1.25 (`peer1.25`) | 2.00 (`peer2.0`) |" in lines
    assert "| the same from bytes | 3.00 (`peer3.0`) | – |" in lines
    assert "| CJK | 0.75 (`peer0.75`) | 2.0 times |" in lines
    assert sum(line.startswith("| ") for line in lines) == 6
    assert (
        "At the least, two threads are 1.8 times as fast as one and counting is 1.2 times as fast as making an array."
        in lines
    )
    assert "Compared first: the ids of right 1.0 are right." in lines
    assert "Not right, or no result, on some text: wrong 1.0; no rivals there." in lines
