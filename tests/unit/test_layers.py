"""Imports only point down, as ARCHITECTURE.md draws them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import bytepair

PACKAGE = Path(bytepair.__file__).parent
DRAWING = Path(__file__).parents[2] / "ARCHITECTURE.md"

# The arrows that point up; they are followed only when a tokenizer is saved, asked about itself, grown or shrunk.
UPWARD = {
    ("record", "showing"),
    ("tokenizer", "formats"),
    ("_inside", "explain"),
    ("_changing", "growing"),
    ("_changing", "pruning"),
}


def layers() -> list[list[str]]:
    """The drawing's lines from the top down, each a list of modules and packages."""
    block = re.search(r"^```layers\n(.*?)^```", DRAWING.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert block is not None
    return [line[16:].split() for line in block[1].splitlines()]


def height() -> dict[str, int]:
    rows = layers()
    return {name: len(rows) - place for place, row in enumerate(rows) for name in row}


def sources() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py"))


def unit_of(path: Path) -> str:
    """The module or package of ``bytepair`` that a file belongs to; "" is the package's own ``__init__``."""
    first = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return "" if first == "__init__" else first


def imported(path: Path) -> set[str]:
    """The units that a file imports, wherever in it; "" is the package itself."""
    package = ["bytepair", *path.relative_to(PACKAGE).parts[:-1]]
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"), str(path))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            # `from . import x` names a module or something that the package defines.
            names = [f"{module}.{alias.name}" for alias in node.names] if module == "bytepair" else [module]
        for name in names:
            parts = name.split(".")
            if parts[0] == "bytepair":
                unit = parts[1] if len(parts) > 1 else ""
                found.add(unit if unit in height() else "")
    return found


def test_every_module_is_drawn_once_and_every_name_drawn_is_a_module() -> None:
    drawn = [name for row in layers() for name in row]
    there = {unit_of(path) for path in sources()} - {""}
    assert sorted(drawn) == sorted(there | {"_core"})


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path: Path) -> None:
    unit, heights = unit_of(path), height()
    if unit == "":
        return  # the public names; nothing below imports from it, which the other files' turns check
    for target in imported(path) - {unit}:
        if (unit, target) in UPWARD:
            continue
        if target == "":
            assert unit == "cli", f"{path.name} imports from bytepair itself; import from the name's own module"
            continue
        assert heights[target] < heights[unit], f"{path.name} ({unit}) imports {target}, which is not below it"


def test_the_upward_arrows_are_there() -> None:
    there = {(unit_of(path), target) for path in sources() for target in imported(path)}
    assert there >= UPWARD


def test_only_the_engine_imports_the_engines() -> None:
    for path in sources():
        if unit_of(path) not in ("_engine", "_pure"):
            assert not imported(path) & {"_core", "_pure"}, path


def test_errors_and_reference_import_nothing_of_ours() -> None:
    for name in ("errors", "reference"):
        assert imported(PACKAGE / f"{name}.py") == set()
