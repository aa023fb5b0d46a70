"""From token strings to text: fixed values of every step, and every error."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import pytest

from bytepair.errors import FormatError, TextError
from bytepair.pipeline.fields import MAX_DEPTH
from bytepair.pipeline.output import ByteFallback, ByteLevel, Fuse, Output, Spaces, Strip

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False}
FUSE, BYTES = {"type": "Fuse"}, {"type": "ByteFallback"}
LLAMA = {
    "type": "Sequence",
    "decoders": [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        *(BYTES, FUSE, {"type": "Strip", "content": " ", "start": 1, "stop": 0}),
    ],
}


def strip(content: str, start: int, stop: int) -> dict[str, Any]:
    return {"type": "Strip", "content": content, "start": start, "stop": stop}


def regex(pattern: str, content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}


def ctc(cleanup: bool) -> dict[str, Any]:
    return {"type": "CTC", "pad_token": "<p>", "word_delimiter_token": "|", "cleanup": cleanup}


MALFORMED = ["<0xé>", "<0x-1>", "<0x++>", "<0x6>", "<0x061>", "<0X61>"]
KNOWN: list[tuple[dict[str, Any] | None, str, list[str]]] = [
    (None, "a b", ["a b"]),
    (FUSE, "a b", ["ab"]),
    (LLAMA, "▁the ▁<s> <0xE6> <0xBC> <0xA2> ▁", ["the <s>漢 "]),
    (BYTES, f"<0xE6> <0xBC> a <0x61> <0x+a> {' '.join(MALFORMED)}", ["\ufffd", "\ufffd", "a", "a\n", *MALFORMED]),
    (BYTE_LEVEL, "Hello Ġwo rld æ¼ ¢", ["Hello world漢"]),
    (BYTE_LEVEL, "æ¼ 漢 é漢é", ["\ufffd漢é漢é"]),
    ({"type": "WordPiece", "prefix": "##", "cleanup": False}, "##un ##aff able !", ["##un", "aff", " able", " !"]),
    ({"type": "WordPiece", "prefix": "##", "cleanup": True}, "I ##t 's it !", ["I", "t", "'s", " it", "!"]),
    ({"type": "Metaspace", "replacement": "▁"}, "▁a▁ ▁b", ["a", " b"]),
    ({"type": "Metaspace", "replacement": "_", "prepend_scheme": "first"}, "_a_ _b", ["a", " b"]),
    ({"type": "Metaspace", "replacement": "_", "prepend_scheme": "never"}, "_a _b", [" a", " b"]),
    ({"type": "BPEDecoder", "suffix": "</w>"}, "a b</w> c</w>", ["a", "b ", "c"]),
    (strip("a", 1, 2), "abaa aa a aaaaa bab", ["b", "", "", "aa", "bab"]),
    (ctc(True), "<p> a a <p> a | | b<p> <p>", ["a", "a", " ", "b"]),
    (ctc(False), "a a | x", ["a", "|", "x"]),
    (regex(r"(a)+", "$1\\1"), "baab x aa", ["b$1\\1b", "x", "$1\\1"]),
    (regex(r"(?<=é)\w", "漢"), "éab ab", ["é漢b", "ab"]),
    ({"type": "Sequence", "decoders": []}, "a b", ["a", "b"]),
]


@pytest.mark.parametrize(("spec", "tokens", "pieces"), KNOWN, ids=lambda one: str(one)[:30])
def test_known(spec: dict[str, Any] | None, tokens: str, pieces: list[str]) -> None:
    output = Output.from_huggingface(spec)
    assert output.chain(tokens.split()) == pieces
    assert output.decode(tokens.split()) == "".join(pieces)


def test_the_empty_string_is_replaced_between_characters_but_not_in_an_empty_token() -> None:
    output = Output.from_huggingface({"type": "Replace", "pattern": {"String": ""}, "content": "x"})
    assert output.chain(["ab", ""]) == ["xaxbx", ""]


def test_cleanup_is_of_each_token_alone() -> None:
    output = Output.from_huggingface({"type": "WordPiece", "prefix": "##", "cleanup": True})
    before = "x . ? ! , ' y n't 'm do not 's 've 're ' z"
    after = "x.?!,'yn't'm don't's've're'z"
    assert output.chain([before, "do not", "'s", "."]) == [after, " don't", "'s", "."]


def test_no_tokens() -> None:
    for spec in [None, FUSE, BYTES, BYTE_LEVEL, LLAMA, ctc(True), {"type": "BPEDecoder", "suffix": ""}]:
        assert Output.from_huggingface(spec).decode([]) == ""


def test_sequences_are_opened() -> None:
    nested = {"type": "Sequence", "decoders": [{"type": "Sequence", "decoders": [FUSE]}, BYTES]}
    output = Output.from_huggingface(nested)
    assert output.steps == (Fuse(), ByteFallback())
    assert output.to_huggingface() == {"type": "Sequence", "decoders": [FUSE, BYTES]}
    assert Output.from_huggingface(LLAMA).steps[-1] == Strip(" ", 1, 0)
    assert Output.from_huggingface(LLAMA).to_huggingface() == LLAMA


def test_values_are_immutable_hashable_and_picklable() -> None:
    for spec in [None, LLAMA, regex("a+", ""), BYTE_LEVEL]:
        output = Output.from_huggingface(spec)
        assert pickle.loads(pickle.dumps(output)) == output
        assert hash(output) == hash(Output.from_huggingface(spec))
        with pytest.raises(AttributeError):
            output.steps = ()  # type: ignore[misc]


def test_defaults_of_old_files() -> None:
    assert Output.from_huggingface(BYTE_LEVEL).steps == (ByteLevel(True, False, True),)
    old = {"type": "Metaspace", "replacement": "_", "str_rep": "_", "add_prefix_space": True}
    written = {"type": "Metaspace", "replacement": "_", "prepend_scheme": "always", "split": True}
    assert Output.from_huggingface(old).to_huggingface() == written
    never = {**old, "add_prefix_space": False, "prepend_scheme": "never"}
    assert Output.from_huggingface(never).to_huggingface() == {**written, "prepend_scheme": "never"}


def test_spaces_stand_alone() -> None:
    with pytest.raises(FormatError, match="a file without a decoder"):
        Output((Spaces(), Fuse())).to_huggingface()


def test_surrogates_of_raw_bytes_are_the_bytes() -> None:
    raw = "æ\udcff"
    assert Output.from_huggingface(BYTE_LEVEL).decode([raw]) == "æ\ufffd"
    assert Output.from_huggingface(regex("a", "b")).decode(["a\udcff"]) == "b\udcff"
    with pytest.raises(TextError, match=r"token '.ud800': the text has the lone surrogate U\+D800"):
        Output.from_huggingface(BYTE_LEVEL).decode(["\ud800"])


def deep(depth: int) -> dict[str, Any]:
    spec: dict[str, Any] = FUSE
    for _ in range(depth):
        spec = {"type": "Sequence", "decoders": [spec]}
    return spec


def test_depth_is_bounded() -> None:
    assert Output.from_huggingface(deep(MAX_DEPTH)).steps == (Fuse(),)
    for depth in (MAX_DEPTH + 1, 5000):
        with pytest.raises(FormatError, match=r"decoders\[0\] \(Sequence\) is nested more than 50 deep; write it flat"):
            Output.from_huggingface(deep(depth))


META = {"type": "Metaspace", "replacement": "_"}
WRONG: list[tuple[Any, str]] = [
    ([], "decoder is [] and no object with a type; give one such as ByteLevel"),
    ("Fuse", "decoder is 'Fuse' and no object with a type"),
    ({}, "decoder has no type; give one such as ByteLevel"),
    ({"type": 3}, "decoder has no type"),
    ({"type": "Nope"}, "decoder (Nope) is no decoder; there are BPEDecoder, ByteFallback, ByteLevel, CTC, Fuse, "),
    ({"type": "Sequence"}, "decoder (Sequence) has no list decoders; give one"),
    ({"type": "Sequence", "decoders": "abc"}, "decoder (Sequence) has no list decoders"),
    ({"type": "Sequence", "decoders": [FUSE, None]}, "decoder.decoders[1] is None and no object"),
    ({"type": "Sequence", "decoders": [{"type": "CTC"}]}, "decoder.decoders[0] (CTC) has no pad_token; give a string"),
    ({"type": "BPEDecoder"}, "decoder (BPEDecoder) has no suffix; give a string"),
    ({"type": "BPEDecoder", "suffix": None}, "decoder (BPEDecoder) has suffix=None; give a string"),
    ({"type": "ByteLevel"}, "decoder (ByteLevel) has no add_prefix_space; give true or false"),
    ({**BYTE_LEVEL, "trim_offsets": 1}, "decoder (ByteLevel) has trim_offsets=1; give true or false"),
    ({**BYTE_LEVEL, "use_regex": None}, "decoder (ByteLevel) has use_regex=None; give true or false"),
    ({"type": "WordPiece", "prefix": "##"}, "decoder (WordPiece) has no cleanup; give true or false"),
    ({"type": "Metaspace"}, "decoder (Metaspace) has no replacement; give one character"),
    ({**META, "replacement": "__"}, "decoder (Metaspace) has replacement='__'; give one character"),
    ({**META, "prepend_scheme": "x"}, "has prepend_scheme='x'; there are first, never, always"),
    ({**META, "add_prefix_space": False}, "has add_prefix_space=False beside prepend_scheme='always'"),
    ({**META, "add_prefix_space": 0}, "has add_prefix_space=0; give true or false"),
    ({**META, "split": 3}, "decoder (Metaspace) has split=3; give true or false"),
    (strip("ab", 1, 1), "decoder (Strip) has content='ab'; give one character"),
    (strip("a", -1, 1), "decoder (Strip) start is -1; it must be a whole number, 0 or more"),
    ({**strip("a", 1, 1), "stop": 1.0}, "decoder (Strip) stop is 1.0; it must be a whole number"),
    ({**strip("a", 1, 1), "stop": True}, "decoder (Strip) stop is True; it must be a whole number"),
    ({"type": "Replace", "content": ""}, 'decoder (Replace) has no pattern; give {"String": ...} or {"Regex": ...}'),
    ({"type": "Replace", "content": "", "pattern": "a"}, "decoder (Replace) has pattern='a'; give"),
    ({"type": "Replace", "content": "", "pattern": {}}, "decoder (Replace) has pattern={}; give"),
    ({"type": "Replace", "content": "", "pattern": {"Regex": 1}}, "decoder (Replace) has Regex=1; give a string"),
    ({"type": "Replace", "pattern": {"String": "a"}}, "decoder (Replace) has no content; give a string"),
    (regex("(", ""), "decoder (Replace) has a pattern that cannot be used: "),
    (regex("a*", ""), "can match the empty text, so it cannot cut; use + where it has *"),
]


@pytest.mark.parametrize(("spec", "message"), WRONG, ids=[str(number) for number in range(len(WRONG))])
def test_wrong_values(spec: Any, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        Output.from_huggingface(spec)
    assert message in str(caught.value)
    with pytest.raises(FormatError, match=r"^model\.decoder"):
        Output.from_huggingface(spec, "model.decoder")


def test_importing_it_loads_neither_numpy_nor_regex() -> None:
    modules = "bytepair.pipeline.output, bytepair.pipeline.template"
    code = f"import sys, {modules}; assert not {{'numpy', 'regex'}} & {{*sys.modules}}"
    subprocess.run([sys.executable, "-c", code], check=True)
