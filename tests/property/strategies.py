"""What the property tests draw: small texts over an alphabet where tokenizers go wrong, and ways to train."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from hypothesis import strategies as st

import bytepair
from bytepair import reference as ref

SPECIALS = ("<s>", "<s><s>", "<eos>", "é!")

#: Pieces rather than characters, so that runs, contractions and special names come up often. Every character here has
#: had the same category in each Unicode version since 6.0, since the reference follows that of the running Python.
PIECES = [
    *("a", "aa", "aaa", "b", "ab", "ba", "abc", "B", "low", "er"),
    *("é", "e\u0301", "ñ", "你", "नि", "👍", "\u200d", "ſ"),
    *("1", "12", "²", "٣", "½", "_", "__", "-", "!", "...", "(x)"),
    *("'", "’", "'s", "'ll", "'RE", "'v", "''"),
    *(" ", "  ", "   ", "\t", "\n", "\n\n", "\r\n", "\r", "\v", "\x1c", "\x85", "\u00a0", "\u2028", "\u3000"),
    *("\0", "\ufeff", "</w>", "<unk>", "<s", "<s>", "<eos>", "é!"),
]

#: A stray continuation, a lone lead byte, half an emoji, an encoded surrogate, an overlong form, and no UTF-8 at all.
BAD_BYTES = [b"\x80", b"\xc3", b"\xf0\x9f", b"\xed\xa0\x80", b"\xc0\xaf", b"\xff", b"\xfe\xff"]

texts = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
raw_bytes = st.lists(st.sampled_from([piece.encode() for piece in PIECES] + BAD_BYTES), max_size=12).map(b"".join)
_latin = st.text(st.characters(max_codepoint=0x24F), max_size=6)
documents = st.one_of(texts, raw_bytes, _latin, st.binary(max_size=6))
#: Names side by side, overlapping and unfinished.
special_texts = st.lists(st.sampled_from([*SPECIALS, "<pad>", "<eos", "<", "a", " ", "é"]), max_size=10).map("".join)
#: Few different pieces make pairs that repeat, tie and overlap.
_dense = st.lists(st.sampled_from(["a", "b", "ab", " a", " ", "é", "aa"]), max_size=30).map("".join)
corpora = st.lists(st.one_of(documents, _dense, _dense), max_size=5)

CONVENTIONS = ("first", "huggingface", "rustbpe", "cs336", "subword-nmt")
PATTERNS = {"gpt2": ref.gpt2, "al1": ref.al1, "whitespace": ref.whitespace, "none": ref.whole}


@dataclass(frozen=True)
class Options:
    """How to train, in words that both ``bytepair.train`` and the reference understand."""

    pattern: str
    alphabet: str
    end_of_word: str | None
    unknown: str
    specials: tuple[str, ...]
    layout: str
    byte_order: str
    min_freq: int
    num_merges: int
    convention: str
    max_token_length: int | None
    initial_alphabet: str
    limit_alphabet: int | None

    def keywords(self) -> dict[str, object]:
        return dict(vars(self))


def _options(draw: st.DrawFn, alphabet: str, marks: list[str | None], unknowns: list[str]) -> Options:
    unknown = draw(st.sampled_from(unknowns))
    return Options(
        pattern=draw(st.sampled_from(sorted(PATTERNS))),
        alphabet=alphabet,
        end_of_word=draw(st.sampled_from(marks)),
        unknown=unknown,
        specials=draw(st.sampled_from([(), SPECIALS, (*SPECIALS, "<unk>"), bytepair.AL1_SPECIALS])),
        layout=draw(st.sampled_from(["specials-first", "bytes-first"])),
        byte_order=draw(st.sampled_from(["raw", "gpt2"])),
        min_freq=draw(st.integers(1, 3)),
        num_merges=draw(st.integers(0, 15)),
        convention=draw(st.sampled_from(CONVENTIONS)),
        max_token_length=draw(st.sampled_from([None, None, 2, 3, 5])),
        initial_alphabet=draw(st.sampled_from(["", "", "zé"])) if alphabet == "characters" else "",
        limit_alphabet=draw(st.sampled_from([None, None, 1, 3])) if unknown != "error" else None,
    )


@st.composite
def byte_options(draw: st.DrawFn) -> Options:
    """Ways to train over bytes: nothing is unknown and nothing is lost."""
    return _options(draw, "bytes", [None], ["error"])


@st.composite
def character_options(draw: st.DrawFn) -> Options:
    """Ways to train over characters, with every mark and every policy for the unknown."""
    return _options(draw, "characters", [None, "separate", "fused"], ["error", "bytes", "<unk>"])


@st.composite
def marked_byte_options(draw: st.DrawFn) -> Options:
    """Words of bytes with a mark at the end, as CLIP has them."""
    return _options(draw, "bytes", ["separate", "fused"], ["error"])


options = st.one_of(byte_options(), character_options(), marked_byte_options())


def train_both(corpus: list[str | bytes], options: Options) -> tuple[bytepair.Tokenizer, ref.Model]:
    """The same training twice; small corpora end early all the time, so that notice is expected."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bytepair.BytepairNotice)
        tok = bytepair.train(corpus, **options.keywords())
    model = ref.train(corpus, **{**options.keywords(), "pattern": PATTERNS[options.pattern]})
    return tok, model


@st.composite
def merge_lists(draw: st.DrawFn) -> list[tuple[bytes, bytes]]:
    """Merge lists that no corpus need have taught: any two tokens so far, as long as the result is new."""
    tokens = [b"a", b"b", b"c", b" "]
    pairs: list[tuple[bytes, bytes]] = []
    for _ in range(draw(st.integers(0, 10))):
        left, right = draw(st.sampled_from(tokens)), draw(st.sampled_from(tokens))
        if left + right not in tokens and len(left + right) <= 12:
            tokens.append(left + right)
            pairs.append((left, right))
    return pairs


#: Ranks in any order over a few letters: irregular, and some of them out of reach.
rank_lists = st.lists(st.text("abc", min_size=2, max_size=6).map(str.encode), max_size=12, unique=True)
words = st.text("abc", max_size=14)
