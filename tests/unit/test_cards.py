"""What a notebook shows of a tokenizer and of its training."""

from __future__ import annotations

import re

import bytepair


def words(shown: str) -> str:
    """The page without its marks."""
    return re.sub(r"<[^>]*>", " ", shown.split("</style>")[1])


def test_a_tokenizer() -> None:
    tok = bytepair.train("low low lower lowest", num_merges=4)
    shown = words(tok._repr_html_())
    assert "266 ids, 6 of them special; 266 rows" in shown
    assert "4 merges; " in shown
    assert "&lt;pad&gt; 0  &lt;bos&gt; 1" in shown
    assert f"{len(tok.encode(bytepair.explain.card.SAMPLE))} tokens" in shown
    for name in ("gpt2", "cl100k_base"):
        loaded = bytepair.load(name)
        shown = words(loaded._repr_html_())
        assert f"{loaded.vocab_size:,} ids" in shown
        assert "trained" not in shown


def test_a_name_that_is_markup() -> None:
    tok = bytepair.train("a b", specials=["<script>alert(1)</script>", "\u202e", "\x1b[31m"], vocab_size=259)
    shown = tok._repr_html_()
    assert "<script" not in shown
    assert "\u202e" not in shown
    assert "\x1b" not in shown


def test_an_alphabet_without_the_sample() -> None:
    tok = bytepair.train("low low", alphabet="characters", end_of_word="fused", specials=(), num_merges=2)
    assert "does not give every text back exactly" in tok._repr_html_()


def test_a_training_record() -> None:
    tok = bytepair.train("low low lower lowest", num_merges=4)
    shown = words(tok.record._repr_html_())
    assert "114 + 117" in shown
    assert "20 tokens became 7" in shown
    longer = bytepair.train(" ".join(f"w{k}{k}" for k in range(300)), num_merges=30, specials=())
    assert "... and 10 more merges" in words(longer.record._repr_html_())


def test_what_is_printed_of_large_things_is_short() -> None:
    tok = bytepair.train("low low lower lowest " * 3, num_merges=4)
    text = "low " * 5000
    found = tok.explain(text)
    replayed = bytepair.explain.replay(tok)
    origin, absence = tok.why("low"), tok.why_not(b"x" * 5000)
    report, sweep = (
        bytepair.evaluate.evaluate([tok], text),
        bytepair.evaluate.sweep(text, held_out=text, vocab_sizes=[262]),
    )
    compared = bytepair.explain.compare([tok], text)
    ids = tok.explain_ids(found.ids)
    for one in (found, *found.pretokens[:1], ids, origin, absence, tok.health(text), compared, replayed,
                replayed[0], report, sweep, tok.record):  # fmt: skip
        assert repr(one).startswith(f"<{type(one).__name__} ") or repr(one).startswith(f"<{type(one).__name__}:")
        assert len(repr(one)) < 120
