"""Hugging Face's UnicodeScripts as patterns: what it cuts and leaves out, with no peer at hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bytepair
from bytepair.pattern.pretokenizers import from_huggingface

SCRIPTS: dict[str, Any] = {"type": "UnicodeScripts"}


def pieces(text: str, spec: dict[str, Any] = SCRIPTS) -> list[str]:
    data = text.encode("utf-8", "surrogateescape")
    return [data[a:b].decode("utf-8", "surrogateescape") for a, b in from_huggingface(spec).spans(data)]


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("", []),
        ("  ", []),
        ("ab αβ", ["ab ", "αβ"]),
        ("  ab cd", ["ab cd"]),
        # Full stops and digits are of the script Common, as other white space is.
        ("ab. 12", ["ab", ". 12"]),
        (" \tab", ["\t", "ab"]),
        # Hiragana, Katakana and the mark of long vowels go with Han.
        ("漢字ひらカー一。", ["漢字ひらカー一", "。"]),
        ("e\u0301a", ["e", "\u0301", "a"]),
        # Not in Unicode 9.0: U+1C90 (Georgian, 11.0), U+20C0 (Common, 14.0), a noncharacter, private use.
        ("ა\u1c90a\u1c90 \u20c0\ufdd0\ue000b", ["ა\u1c90", "a\u1c90 \u20c0\ufdd0\ue000b"]),
        ("\u1c90\ue000 ა", ["ა"]),
        # Their scripts were others in 9.0: Common, Common, Devanagari.
        ("ա\u0589-", ["ա", "\u0589-"]),
        ("\u0627\u061c.", ["\u0627", "\u061c."]),
        ("\u0905\u0953\u0301\u0954", ["\u0905\u0953", "\u0301", "\u0954"]),
        # A byte that is no UTF-8 has no script.
        ("\udcff a\udcffb\udc80", ["a\udcffb\udc80"]),
    ],
)
def test_scripts(text: str, cut: list[str]) -> None:
    assert pieces(text) == cut


def test_scripts_in_a_sequence() -> None:
    spaces = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithNext", "invert": False}
    for order, cut in (([spaces, SCRIPTS], ["a", "b", "漢", "c"]), ([SCRIPTS, spaces], ["a", " b", "漢", "c"])):
        assert (
            pieces("  a b漢 c" if order[0] is spaces else " a b漢c", {"type": "Sequence", "pretokenizers": order})
            == cut
        )


def test_scripts_are_cut_by_an_automaton_once_the_beginning_is_left_out() -> None:
    first = from_huggingface(SCRIPTS)
    assert first.drops == ("matches", "nothing")
    assert first.then is not None
    assert first.then.compiled.tier == 2


def test_a_tokenizer_that_cuts_scripts_is_saved(tmp_path: Path) -> None:
    pattern = from_huggingface(SCRIPTS)
    tok = bytepair.train("low lower 漢字 漢字", num_merges=6, pattern=pattern)
    assert not tok.lossless
    assert tok.pretokens("  low 漢字") == [b"low ", "漢字".encode()]
    tok.save(tmp_path / "t.json")
    again = bytepair.load(tmp_path / "t.json")
    assert again == tok
    assert again.pattern == pattern
    assert again.encode("  low 漢字") == tok.encode("low 漢字")
