"""Texts that must fit: each answer is checked against its own definition, by counting."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import PIECES, raw_bytes, texts

import bytepair

CORPUS = "low low lower lowest, it's 12 newer é你好 wider 👍 <s>\n" * 3
NAMES = ("<s>", "<bos>", "<eos>")
TOKENIZERS = {
    "bytes": bytepair.train(CORPUS, num_merges=25, specials=NAMES),
    "o200k": bytepair.train(CORPUS, num_merges=25, pattern="o200k", specials=NAMES),
    "no automaton": bytepair.train(CORPUS, num_merges=25, pattern=r"(\w)\1|\w+|\W", specials=NAMES),
    "characters": bytepair.train(
        CORPUS, num_merges=20, alphabet="characters", unknown="bytes", specials=NAMES
    ),
    "classic": bytepair.train(
        CORPUS, num_merges=20, alphabet="characters", end_of_word="fused", unknown="<unk>", specials=NAMES
    ),
}  # fmt: skip
tokenizers = st.sampled_from(sorted(TOKENIZERS)).map(TOKENIZERS.__getitem__)
specials = st.sampled_from(["text", "all"])
some_text = st.one_of(texts, st.lists(st.sampled_from([*PIECES, "<s>"]), max_size=12).map("".join), raw_bytes)


def characters(text: str | bytes) -> list[str]:
    return list(text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else text)


def part(text: str | bytes, start: int, stop: int) -> str | bytes:
    """Some characters of a text."""
    if isinstance(text, str):
        return text[start:stop]
    return text.decode("utf-8", "surrogateescape")[start:stop].encode("utf-8", "surrogateescape")


@given(tokenizers, some_text, st.integers(0, 12), specials, st.sampled_from(["right", "left"]))
def test_truncate(tok: bytepair.Tokenizer, text: str | bytes, most: int, special: str, side: str) -> None:
    cut = tok.truncate(text, most, side=side, special=special)
    assert type(cut) is type(text)
    n, kept = len(characters(text)), len(characters(cut))
    assert cut == (part(text, 0, kept) if side == "right" else part(text, n - kept, n))
    assert tok.count(cut, special=special) <= most
    ids, places = tok.encode_with_offsets(text, special=special)
    if len(ids) <= most:
        assert cut == text
        return
    # No longer piece that the first (or last) tokens cover whole fits on its own, if this one is the first tried.
    if side == "right":
        covered = max((end for _, end in places[:most]), default=0)
        if any(start < covered for start, _ in places[most:]):
            covered = min(start for start, _ in places[most:])
        if tok.count(part(text, 0, covered), special=special) <= most:
            assert kept >= covered
        assert kept <= max((end for _, end in places[:most]), default=0)
    else:
        assert n - kept >= min((start for start, _ in places[len(places) - most :]), default=n) or most == 0


@given(tokenizers, some_text, st.integers(6, 12), st.integers(0, 3), specials)
def test_chunks(tok: bytepair.Tokenizer, text: str | bytes, most: int, overlap: int, special: str) -> None:
    before, seen = 0, -1
    for chunk, start, end in tok.chunks(text, most, overlap, special=special):
        assert text[start:end] == chunk
        assert seen < start <= before < end
        assert tok.count(chunk, special=special) <= most
        assert tok.count(text[start:before], special=special) <= overlap
        before, seen = end, start
    assert before == len(text)


@given(tokenizers, st.lists(some_text, max_size=6), specials, st.data())
def test_appender(tok: bytepair.Tokenizer, pieces: list[str | bytes], special: str, data: st.DataObject) -> None:
    text = tok.appender(special=special)
    whole = [b""]
    for piece in pieces:
        if len(whole) > 1 and data.draw(st.booleans()):
            whole.pop()
            assert text.undo() == tok.count(whole[-1], special=special)
        whole.append(whole[-1] + (piece.encode() if isinstance(piece, str) else piece))
        assert text.append(piece) == text.count == tok.count(whole[-1], special=special)
        assert text.ids() == tok.encode(whole[-1], special=special)
        assert text.text() == whole[-1]


def test_a_long_text_that_grows_is_counted_where_it_may_change() -> None:
    tok = TOKENIZERS["o200k"]
    text, whole = tok.appender(special="all"), ""
    for k in range(400):
        piece = f" lower{k} it's<s" if k % 7 else ">newest\n  "
        whole += piece
        assert text.append(piece) == tok.count(whole, special="all")
    assert text.ids() == tok.encode(whole, special="all")
    for _ in range(400):
        text.undo()
    assert text.count == 0
    with pytest.raises(bytepair.BytepairError, match="nothing to undo"):
        text.undo()


@given(tokenizers, some_text, specials, st.sampled_from(["replace", "surrogateescape", "ignore"]), st.booleans())
def test_stream_decoder(tok: bytepair.Tokenizer, text: str | bytes, special: str, errors: str, skip: bool) -> None:
    ids = tok.encode(text, special=special)
    stream = tok.stream_decoder(errors=errors, skip_specials=skip)
    for _ in range(2):  # it is as new after finish()
        assert "".join(map(stream.push, ids)) + stream.finish() == tok.decode(ids, errors=errors, skip_specials=skip)


def test_what_is_put_around_counts() -> None:
    tok = TOKENIZERS["bytes"]
    for most in range(2, 8):
        cut = tok.truncate("low lower lowest", most, add_bos=True, add_eos=True)
        assert len(tok.encode(cut, add_bos=True, add_eos=True)) <= most
        if most > 2:
            for chunk, _, _ in tok.chunks("low lower lowest", most, add_bos=True, add_eos=True):
                assert len(tok.encode(chunk, add_bos=True, add_eos=True)) <= most


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda tok: tok.truncate("low", -1), "max_tokens"),
        (lambda tok: tok.truncate("low", 2.5), "max_tokens"),
        (lambda tok: tok.truncate("low", 1, side="up"), "side is 'up'"),
        (lambda tok: tok.truncate("low", 1, add_bos=True, add_eos=True), "no room"),
        (lambda tok: list(tok.chunks("low", 0)), "max_tokens"),
        (lambda tok: list(tok.chunks("low", 3, 3)), "overlap=3"),
        (lambda tok: list(tok.chunks("Ж", 1)), "character at 0"),
    ],
)
def test_wrong_use(call: object, message: str) -> None:
    with pytest.raises(bytepair.BytepairError, match=message):
        call(TOKENIZERS["bytes"])  # type: ignore[operator]


def test_options_that_there_are_not() -> None:
    with pytest.raises(TypeError, match="no option 'specials'"):
        TOKENIZERS["bytes"].truncate("low", 1, specials=())
