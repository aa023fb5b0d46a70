"""Decoders of ``tokenizer.json``: the owner's text for every type, alone and in a row."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bytepair.pipeline.output import Output

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
FUSE, BYTES = {"type": "Fuse"}, {"type": "ByteFallback"}


def replace(before: str, after: str, form: str = "String") -> dict[str, Any]:
    return {"type": "Replace", "pattern": {form: before}, "content": after}


def strip(content: str, start: int, stop: int) -> dict[str, Any]:
    return {"type": "Strip", "content": content, "start": start, "stop": stop}


def metaspace(replacement: str = "▁", scheme: str = "always") -> dict[str, Any]:
    return {"type": "Metaspace", "replacement": replacement, "prepend_scheme": scheme, "split": True}


def sequence(*decoders: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "decoders": list(decoders)}


def owner(spec: dict[str, Any] | None) -> Any:
    """The owner's tokenizer with a decoder made from the same JSON as ours."""
    model = {"type": "WordLevel", "vocab": {"a": 0, "b": 1, " c": 2}, "unk_token": "a"}
    return tokenizers.Tokenizer.from_str(json.dumps({"model": model, "decoder": spec}))


# What real files have.
REAL = {
    "Llama": sequence(replace("▁", " "), BYTES, FUSE, strip(" ", 1, 0)),
    "Gemma": sequence(replace("▁", " "), BYTES, FUSE),
    "T5": metaspace(),
    "XLM-R": sequence(metaspace("▁", "first")),
    "ByteFallback, Metaspace": sequence(BYTES, FUSE, metaspace("▁", "never")),
    "GPT-2": BYTE_LEVEL,
    "GPT-2 in a row": sequence(sequence(BYTE_LEVEL), FUSE),
    "BERT": {"type": "WordPiece", "prefix": "##", "cleanup": True},
    "CLIP": {"type": "BPEDecoder", "suffix": "</w>"},
    "wav2vec2": {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": True},
    "CTC, Strip": sequence({"type": "CTC", "pad_token": "a", "word_delimiter_token": "b", "cleanup": False}, FUSE),
    "regex": sequence(replace(r"\s+(?=[.!])", "", "Regex"), replace("▁+", " ", "Regex"), FUSE, strip(" ", 1, 1)),
    "empty": sequence(),
}

_bits = st.sampled_from(
    [
        *("a", "b", "Hello", " ", "▁", "##", "</w>", "<pad>", "|", "_", "do not", "n't", "'", "'s", " 've", ".", "!"),
        *("Ġ", "ĠĠ", "Ċ", "Ã", "©", "ä", "¸", "Ń", "é", "日", "😀", "\n", "\t", "\xad", "\x7f", "\x00", "I", "İ"),
    ]
)
_tokens = st.one_of(
    st.lists(_bits, max_size=4).map("".join),
    st.text(max_size=3),
    st.sampled_from(
        ["<0x61>", "<0xE4>", "<0xb8>", "<0xAD>", "<0xF0>", "<0x9F>", "<0x98>", "<0x80>", "<0xED>", "<0xA0>"]
    ),
    st.sampled_from(["<0x+a>", "<0x-0>", "<0x++>", "<0xg0>", "<0xé>", "<0x6>", "<0x061>", "<0x61", "0x61>", "<0X61>"]),
    st.text("<0x19aF+>é ", max_size=6),
)
_lists = st.lists(_tokens, max_size=8)


@pytest.mark.parametrize("name", REAL)
def test_what_real_files_have(name: str) -> None:
    ours, theirs = Output.from_huggingface(REAL[name]), owner(REAL[name]).decoder

    @given(_lists)
    def check(tokens: list[str]) -> None:
        if "strip" in str(REAL[name]).lower():
            assume(panics_not(theirs, tokens))
        assert ours.decode(tokens) == theirs.decode(tokens)
        assert "".join(ours.chain(tokens)) == ours.decode(tokens)

    check()


def panics_not(theirs: Any, tokens: list[str]) -> bool:
    """A Strip from both ends of a token that is nothing else makes the owner panic."""
    try:
        theirs.decode(tokens)
    except BaseException as error:  # noqa: BLE001 - the panic is no Exception
        assert type(error).__name__ == "PanicException", error
        return False
    return True


_characters = st.sampled_from(["a", "▁", " ", "_", "é", "日", "Ġ"])
_texts = st.one_of(st.just(""), _bits, st.text("ab▁ #", max_size=2))
_steps = st.one_of(
    st.just(FUSE),
    st.just(BYTES),
    st.just(BYTE_LEVEL),
    st.builds(replace, _texts, _texts),
    st.builds(
        replace,
        st.sampled_from(
            ["a", "a+", r"\s", r"\s+", "[ab]", "(a)(b)", "(?<=a)b", "a(?!b)", "^a", "a$", "(?i:A)", "é|日"]
        ),
        st.sampled_from(["", "x", "$1", "${0}", "\\1", "a"]),
        st.just("Regex"),
    ),
    st.builds(strip, _characters, st.integers(0, 3), st.just(0)),
    st.builds(strip, _characters, st.just(0), st.integers(0, 1)),
    st.builds(metaspace, _characters, st.sampled_from(["always", "first", "never"])),
    st.builds(lambda suffix: {"type": "BPEDecoder", "suffix": suffix}, _texts),
    st.builds(lambda prefix, clean: {"type": "WordPiece", "prefix": prefix, "cleanup": clean}, _texts, st.booleans()),
    st.builds(
        lambda pad, word, clean: {"type": "CTC", "pad_token": pad, "word_delimiter_token": word, "cleanup": clean},
        *(_texts, _texts, st.booleans()),
    ),
)
_specs = st.one_of(_steps, st.recursive(_steps, lambda inner: st.lists(inner, max_size=4).map(lambda x: sequence(*x))))


@given(_specs, st.lists(_lists, min_size=1, max_size=4))
def test_any_row_of_steps(spec: dict[str, Any], lists: list[list[str]]) -> None:
    ours, theirs = Output.from_huggingface(spec), owner(spec).decoder
    for tokens in lists:
        if "Strip" in str(spec) and not panics_not(theirs, tokens):
            continue
        assert ours.decode(tokens) == theirs.decode(tokens)


@given(_specs)
def test_what_we_write_is_read_by_the_owner(spec: dict[str, Any]) -> None:
    ours = Output.from_huggingface(spec)
    written = json.loads(owner(ours.to_huggingface()).to_str())["decoder"]
    assert written == ours.to_huggingface()
    assert Output.from_huggingface(written) == ours


CLEANED = [" .", " ?", " !", " ,", " ' ", " n't", " 'm", " do not", " 's", " 've", " 're", "a", " ", "not", "'"]


@given(st.lists(st.lists(st.sampled_from(CLEANED), max_size=4).map("".join), max_size=5))
def test_cleanup(tokens: list[str]) -> None:
    for spec in REAL["BERT"], REAL["wav2vec2"]:
        ours, theirs = Output.from_huggingface(spec), owner(spec).decoder
        bare = [token.removeprefix(" ") for token in tokens]
        assert ours.decode(tokens) == theirs.decode(tokens)
        assert ours.decode(bare) == theirs.decode(bare)
        for token in CLEANED:
            assert ours.decode(["a", token, token[1:]]) == theirs.decode(["a", token, token[1:]])


@pytest.mark.parametrize("form", ["String", "Regex"])
@pytest.mark.parametrize("scheme", ["always", "first", "never"])
def test_marks_in_every_place(scheme: str, form: str) -> None:
    for spec in (
        metaspace("▁", scheme),
        sequence(metaspace("▁", scheme), replace("▁" if form == "Regex" else "", "x", form)),
    ):
        ours, theirs = Output.from_huggingface(spec), owner(spec).decoder
        for tokens in [["▁a▁", "▁b▁"], ["", "▁"], ["a▁▁", ""], ["▁"], [""], ["▁", ""]]:
            assert ours.decode(tokens) == theirs.decode(tokens)


def test_no_decoder_joins_with_spaces() -> None:
    theirs = owner(None)
    assert theirs.decoder is None
    for ids in [[], [0], [0, 1, 2, 0]]:
        assert Output.from_huggingface(None).decode([theirs.id_to_token(i) for i in ids]) == theirs.decode(ids)
