"""What `import bytepair` gives, and what it costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import bytepair
from bytepair import errors

HEAVY = ("click", "numpy", "regex", "rich")


def in_a_fresh_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_all_is_sorted_and_has_each_name_once() -> None:
    assert list(bytepair.__all__) == sorted(set(bytepair.__all__))


@pytest.mark.parametrize("name", bytepair.__all__)
def test_every_public_name_is_importable_and_documented(name: str) -> None:
    value = getattr(bytepair, name)
    assert name in dir(bytepair)
    if callable(value) or name in ("evaluate", "gage", "reference"):
        assert (value.__doc__ or "").strip(), f"{name} has no docstring"


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(bytepair.__file__).read_text("utf-8"))
    seen = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level
        for alias in node.names
    }
    assert seen == set(bytepair.__all__)


def test_every_error_is_public() -> None:
    defined = {
        name for name, value in vars(errors).items() if isinstance(value, type) and value.__module__ == errors.__name__
    }
    assert {name for name in defined if not name.startswith("_")} <= set(bytepair.__all__)


def test_an_unknown_name_is_an_attribute_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match="no attribute 'tokeniser'"):
        bytepair.tokeniser  # noqa: B018


def test_import_loads_nothing_heavy() -> None:
    code = f"import sys, bytepair; print(*(name for name in {HEAVY} if name in sys.modules))"
    assert in_a_fresh_process(code) == ""


@pytest.mark.parametrize("module", [name for name in bytepair.__all__ if name in ("evaluate", "gage", "reference")])
def test_the_teaching_modules_load_nothing_heavy(module: str) -> None:
    code = f"import sys, bytepair.{module}; print(*(name for name in {HEAVY} if name in sys.modules))"
    assert in_a_fresh_process(code) == ""


def test_each_name_can_be_the_first_one_used() -> None:
    code = (
        "import sys, bytepair\n"
        "for name in bytepair.__all__:\n"
        "    for module in [m for m in sys.modules if m.split('.')[0] == 'bytepair' and m != 'bytepair._core']:\n"
        "        del sys.modules[module]\n"
        "    getattr(__import__('bytepair'), name)\n"
        "print('all')"
    )
    assert in_a_fresh_process(code) == "all"
