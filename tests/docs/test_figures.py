"""The README's figures are those of the records in bench/."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_readme_has_the_records_figures() -> None:
    spec = importlib.util.spec_from_file_location("table", ROOT / "bench" / "table.py")
    assert spec is not None and spec.loader is not None
    table = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(table)
    readme = (ROOT / "README.md").read_text("utf-8")
    assert table.with_table(readme) == readme
