"""The comparison with other libraries runs from end to end, and tells a library that is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import bytepair

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.skipif(not os.environ.get("BYTEPAIR_FULL"), reason="takes a minute; BYTEPAIR_FULL=1 runs it"),
]
pytest.importorskip("tiktoken")
pytest.importorskip("tokenizers")


def compared(folder: Path, *arguments: str, before: str = "") -> tuple[dict[str, Any], str]:
    """The record of a small run, and what was printed; ``before`` is Python that each process runs first."""
    corpora = folder / "corpora"
    corpora.mkdir(exist_ok=True)
    (corpora / "english.txt").write_text("It's the same text, over and over: naïve 12345\n\n" * 300, "utf-8")
    (folder / "sitecustomize.py").write_text(before, "utf-8")
    paths = [str(Path(bytepair.__file__).parents[1]), str(folder)]
    done = subprocess.run(
        [
            *(sys.executable, str(ROOT / "bench" / "peers.py"), "--corpora", str(corpora), "--record"),
            *(str(folder / "record.json"), "--size", "0.02", "--rounds", "2", "--vocab", "r50k_base"),
            *("--peers", "tiktoken,tokenizers", *arguments),
        ],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "record.json").read_text("utf-8")), done.stdout


def test_rows_of_a_small_run(tmp_path: Path) -> None:
    record, printed = compared(tmp_path, "--rows", "list,short,worst")
    figures = {(f["row"], f["text"], f["form"], f["step"]): f for f in record["figures"]}
    assert {key[0] for key in figures} == {"list", "short", "worst"}
    one = figures["list", "english", "str", "unseen"]
    assert one["peers"]["tiktoken"]["rounds"] == 2
    assert one["best"] in ("tiktoken", "tokenizers")
    assert one["ratio"] == one["peers"][one["best"]]["ratio"] > 0
    assert not one["counts"]  # gigatoken and fastokens took no part
    assert figures["worst", "CJK", "str", "CJK.1"]["doubling"] > 0
    assert record["peers"]["tokenizers"]["vocabularies"]["r50k_base"]["exact"]
    assert record["versions"]["tiktoken"]
    assert "figures below their target" in printed
    more, _ = compared(tmp_path, "--rows", "count", "--add")
    assert {figure["row"] for figure in more["figures"]} == {"list", "short", "worst", "count"}
    assert more["peers"]["tokenizers"]["vocabularies"]["r50k_base"]["exact"]


def test_a_library_with_other_ids_is_no_rival(tmp_path: Path) -> None:
    # Its pattern is another one in this run.
    wrong = (
        "import tokenizers\n"
        "real = tokenizers.Tokenizer\n"
        "class Wrong:\n"
        "    @staticmethod\n"
        "    def from_file(path):\n"
        "        made = real.from_file(path)\n"
        "        made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=True)\n"
        "        return made\n"
        "tokenizers.Tokenizer = Wrong\n"
    )
    record, printed = compared(tmp_path, "--rows", "short", before=wrong)
    told = record["peers"]["tokenizers"]["vocabularies"]["r50k_base"]
    assert not told["exact"]
    assert told["differs"]["list strings short.json"].startswith("part 0, token 0: ")
    assert "part 0, token 0: " in printed
    assert set(record["figures"][0]["peers"]) == {"tiktoken"}
