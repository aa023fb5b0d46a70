"""The notebooks in ``examples/``: every cell runs, warnings are errors, and gives the outputs that are written there.

Here the cells run as a script, which takes seconds; ``.ci/full`` runs them in Jupyter. Cells tagged ``varies`` have
outputs that depend on the machine; those tagged ``picture`` need Jupyter itself.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import json
import os
import warnings
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def code_cells(notebook: dict[str, Any]) -> list[tuple[str, set[str], list[dict[str, Any]]]]:
    """(source, tags, outputs) of each cell of code."""
    return [
        ("".join(cell["source"]), set(cell["metadata"].get("tags", [])), cell["outputs"])
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]


def written(outputs: list[dict[str, Any]]) -> tuple[str, str]:
    """What the cell printed, and the page of its value."""
    printed = "".join("".join(one["text"]) for one in outputs if one["output_type"] == "stream")
    pages = ["".join(one["data"].get("text/html", "")) for one in outputs if one["output_type"] == "execute_result"]
    return printed, "".join(pages)


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_every_cell(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for source, tags, outputs in code_cells(json.loads(path.read_text("utf-8"))):
            if "picture" in tags or ("varies" in tags and os.environ.get("BYTEPAIR_PURE")):
                continue
            tree = ast.parse(source)
            value = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            printed = io.StringIO()
            shown = None
            with contextlib.redirect_stdout(printed):
                exec(compile(tree, path.name, "exec"), names)
                if value is not None:
                    shown = eval(compile(ast.Expression(value.value), path.name, "eval"), names)
            page = shown._repr_html_() if hasattr(shown, "_repr_html_") else ""
            if "varies" not in tags:
                assert (printed.getvalue(), page) == written(outputs), source


@pytest.mark.skipif(not os.environ.get("BYTEPAIR_FULL"), reason="takes a Jupyter kernel; .ci/full runs it")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_in_jupyter(path: Path) -> None:
    spec = importlib.util.spec_from_file_location("run_notebooks", ROOT / "tools" / "run_notebooks.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    again = code_cells(json.loads(json.dumps(tool.run(path))))
    for (source, tags, outputs), (_, _, expected) in zip(
        again, code_cells(json.loads(path.read_text("utf-8"))), strict=True
    ):
        if "varies" not in tags:
            assert written(outputs) == written(expected), source
