"""``bytepair explain``."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest


def test_a_text(run, low: Path) -> None:
    done = run("explain", low, "lowest")
    assert done.stdout.splitlines() == [
        "low│e│s│t  = 263 107 121 122",
        "  step  rank  pair    token   id  bytes",
        "     1     0  l + o   lo     262    0-2",
        "     2     1  lo + w  low    263    0-3",
    ]
    tree = run("explain", low, "--tree", " lowe").stdout.splitlines()
    assert tree[:4] == ["␣lowe  = 265", "  ␣lowe  265  rank 3", "  ├ ␣low  264  rank 2", "  │ ├ ␣  38"]


def test_json(run, low: Path) -> None:
    found = json.loads(run("explain", low, "lowest low", "--json").stdout)
    assert found["ids"] == [263, 107, 121, 122, 264]
    assert [step["rank"] for step in found["pretokens"][1]["steps"]] == [0, 1, 2]
    assert json.loads(run("explain", low, "--ids", "[262, 125]", "--json").stdout)["canonical"] == {
        "canonical": False, "place": 0, "given": [262, 125], "expected": [263]
    }  # fmt: skip


def test_from_ids_a_token_a_string_a_prefix(run, low: Path) -> None:
    assert "not canonical from id 0 on" in run("explain", low, "--ids", "262,125 201").stdout
    assert "rank 2" in run("explain", low, "--why", " low").stdout
    assert "merges with what stood around it" in run("explain", low, "--why-not", "lowe").stdout
    assert run("explain", low, "--prefix", " l").stdout.splitlines()[1:] == ["264  ␣low", "265  ␣lowe"]


def test_files_and_pictures(run, low: Path, tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_bytes(b"low <script>alert(1)</script>\x1b[31m\xff\n")
    page, picture = tmp_path / "x.html", tmp_path / "x.svg"
    run("explain", low, "--file", str(text), "-o", str(page))
    shown = page.read_text("utf-8")
    assert "<script" not in shown
    assert "\x1b" not in shown
    assert "&lt;" in shown
    run("explain", low, "--file", str(text), "-o", str(picture))
    root = ElementTree.fromstring(picture.read_text("utf-8"))
    assert root.tag.endswith("svg")


def test_steps_without_a_terminal_are_printed(run, low: Path) -> None:
    lines = run("explain", low, "lowest", "--step").stdout.splitlines()
    assert lines.count("pretoken 1 of 1: low│e│s│t") == 3
    assert "merge 2 of 2, rank 1: lo + w = low, at bytes 0 to 3" in lines


def test_training_is_replayed(run, low: Path) -> None:
    shown = run("explain", low, "--training").stdout
    assert "merge 2: ␣ + low = ␣low (id 264), 3 times; 12 tokens before" in shown
    assert run("explain", "--example", "bytes", "--step").stdout.startswith(shown[:60])
    classic = json.loads(run("explain", "--example", "classic", "--json").stdout)
    assert [f["winner"]["count"] for f in classic["frames"][:-1]] == [9, 9, 8, 8, 7, 7, 6, 5, 3, 3]
    assert run("explain", low, "--example", "bytes").exit_code == 2
    assert run("explain").exit_code == 2


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "give one of TEXT"),
        (["a", "--ids", "1"], "not TEXT and --ids"),
        (["--ids", "1,x"], "'x' at place 1 is no id"),
        (["--ids", "1", "--step"], "--step walks through the merges of a text"),
        (["a", "--special", "<no>"], "'<no>' is no special token"),
    ],
)
def test_wrong_use(run, low: Path, options: list[str], says: str) -> None:
    done = run("explain", low, *options)
    assert done.exit_code == 2
    assert says in done.stderr


def test_what_is_not_there(run, low: Path) -> None:
    assert "id 99999 does not exist" in run("explain", low, "--ids", "99999").stderr
    assert "--why-not" in run("explain", low, "--why", "xyz").stderr
