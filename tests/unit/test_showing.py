"""How tokens are shown: plainly, and without doing anything to the screen."""

from __future__ import annotations

import unicodedata

import pytest

import bytepair
from bytepair import showing
from bytepair.showing import terminal


def piece(data: bytes, *, special: bool = False, marked: bool = False) -> showing.Piece:
    return showing.Piece(data, special, marked)


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ("low", "low"),
        (" low  x ", "␣low␣␣x␣"),
        ("a\n\n\tb\r", "a↵↵⇥b␍"),
        ("\0\x1b\x7f", "␀␛␡"),
        ("\x9b", "⟨U+009B⟩"),
        ("a\u202eb\u2066\u200f", "a⟨U+202E⟩b⟨U+2066⟩⟨U+200F⟩"),
        ("\ufeff\u200b\u00ad\u00a0\u3000", "⟨U+FEFF⟩⟨U+200B⟩⟨U+00AD⟩⟨U+00A0⟩⟨U+3000⟩"),
        ("\u2028\u2029\ue000\U000e0041", "⟨U+2028⟩⟨U+2029⟩⟨U+E000⟩⟨U+E0041⟩"),
        ("\u3164\ufe0f", "⟨U+3164⟩⟨U+FE0F⟩"),
        ("é你🧠", "é你🧠"),
        ("\u0301a\u0301", "\u25cc\u0301a\u0301"),
    ],
)
def test_visible(data: str, shown: str) -> None:
    assert showing.visible(piece(data.encode())) == shown


def test_bytes_that_are_no_utf8() -> None:
    assert showing.visible(piece(b"a\xf0\x9f\xffb")) == "a⟨F0⟩⟨9F⟩⟨FF⟩b"


def test_no_character_is_obeyed_or_lost() -> None:
    for point in [*range(0x3000), *range(0xD800, 0xE100), *range(0xFE00, 0x10000), 0x1F9E0, 0xE0001, 0x10FFFF]:
        data = chr(point).encode("utf-8", "surrogatepass")
        shown = showing.visible(piece(data))
        assert shown
        assert not any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in shown), hex(point)


def test_specials_and_marks() -> None:
    words = bytepair.train("low low", alphabet="characters", end_of_word="fused", num_merges=2)
    shown = list(showing.pieces(words, [2, *words.encode("low")]))
    assert shown == [piece(b"<eos>", special=True), piece(b"low", marked=True)]
    assert showing.bordered(shown) == "<eos>│low</w>"
    assert showing.coloured(shown).plain == "<eos>low</w>"


def test_lines_break_where_the_text_does() -> None:
    shown = [piece(b"a"), piece(b"\n\n "), piece(b"b")]
    assert showing.bordered(shown) == "a│↵\n↵\n │b"
    assert showing.bordered(shown, inline=True) == "a│↵↵␣│b"
    assert showing.coloured(shown).plain == "a↵\n↵\n b"
    assert showing.coloured(shown, inline=True).plain == "a↵↵␣b"


def test_neighbours_have_different_backgrounds() -> None:
    text = showing.coloured([piece(b"a"), piece(b"b"), piece(b"\t"), piece(b"<x>", special=True)], start=1)
    one, other = terminal.GROUNDS
    assert [str(span.style) for span in text.spans] == [
        f"{terminal.INK} on {other}", f"{terminal.INK} on {one}", f"{terminal.FAINT_INK} on {other}", terminal.SPECIAL
    ]  # fmt: skip


def test_one_line() -> None:
    assert showing.one_line("a\nb\tc\x1b[2J\u202e\udcff é") == "a b c\\x1b[2J\\u202e\\udcff é"


def test_table() -> None:
    rows = [["1", "你好", "x"], ["20", "a", ""]]
    assert list(showing.table(["n", "word", "more"], rows, left={1, 2})) == [
        " n  word  more", " 1  你好  x", "20  a"
    ]  # fmt: skip
    assert list(showing.table(["n", "word"], [["1", "abcdef"]], left={1}, width=6))[1] == "1  ab…"


def test_a_megabyte_is_shown_in_part() -> None:
    """What a notebook and ``str`` show is bounded, whatever is explained."""
    tok = bytepair.load("gpt2")
    text = ("<b>\u202e\x1b[31m é\t\n" * 1500) + "a" * 10_000
    found = tok.explain(text)
    ids = tok.explain_ids(found.ids)
    both = bytepair.explain.compare([tok, bytepair.load("cl100k_base")], text)
    for one in (found, ids, both):
        for shown in (str(one), one._repr_html_()):
            assert len(shown) < 4_000_000
            assert "\x1b" not in shown
            assert "\u202e" not in shown
            assert "<b>" not in shown or shown is not one._repr_html_()
        assert "more" in str(one)
    assert "too many" in tok.explain("a" * 10_000)._repr_html_()
    with pytest.raises(bytepair.BytepairError, match="too many for one picture"):
        bytepair.explain.picture(found)


def test_tokens_have_colours_where_the_screen_has() -> None:
    from rich.console import Console

    shown = [piece(b"a b"), piece(b"\xff"), piece("你\t".encode())]
    there = Console(force_terminal=True, color_system="truecolor", no_color=False)
    marked = terminal.marked_for(there)(shown)
    assert "48;2;175;215;255m" in marked
    assert "⟨FF⟩" in marked
    assert "⇥" in marked
    plain = Console(force_terminal=True, color_system="truecolor", no_color=True)
    assert terminal.marked_for(plain)(shown) == "a␣b│⟨FF⟩│你⇥"
