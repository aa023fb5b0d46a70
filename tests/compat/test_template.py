"""Post-processors, truncation and padding of ``tokenizer.json``: the owner's arrays, or its error."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bytepair.errors import FormatError
from bytepair.pipeline.template import Padding, Template, Truncation, spread, trim

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")

WORDS = "abcdefghij"
LETTERS = {chr(code): code - 0x100 for code in range(0x100, 0x144)}
LETTERS |= {chr(code): code for code in [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]}


def owner(
    post_processor: dict[str, Any] | None = None,
    truncation: dict[str, Any] | None = None,
    padding: dict[str, Any] | None = None,
) -> Any:
    """The owner's tokenizer: one token a word, with the same JSON that we read."""
    spec = {
        "model": {"type": "WordLevel", "vocab": {word: place for place, word in enumerate(WORDS)}, "unk_token": "a"},
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": post_processor,
        "truncation": truncation,
        "padding": padding,
    }
    return tokenizers.Tokenizer.from_str(json.dumps(spec))


def ids_of(text: str) -> list[int]:
    return [WORDS.index(word) for word in text.split()]


def spans_of(text: str) -> list[tuple[int, int]]:
    return [(place, place + 1) for place, letter in enumerate(text) if letter != " "]


def arrays(encoding: Any) -> tuple[Any, ...]:
    """What an encoding of the owner says, as a Wrapped does."""
    return encoding.ids, encoding.type_ids, encoding.special_tokens_mask, encoding.sequence_ids


BERT = {"type": "BertProcessing", "sep": ["[SEP]", 102], "cls": ["[CLS]", 101]}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}


def roberta(trims: bool = False, space: bool = True) -> dict[str, Any]:
    cls, sep = ["<s>", 20], ["</s>", 22]
    return {"type": "RobertaProcessing", "sep": sep, "cls": cls, "trim_offsets": trims, "add_prefix_space": space}


def row(*processors: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "processors": list(processors)}


SPECIAL = {
    "X": {"id": "X", "ids": [30], "tokens": ["X"]},
    "Y": {"id": "y", "ids": [31, 32], "tokens": ["y1", "y2"]},
    "Z": {"id": "Z", "ids": [], "tokens": []},
}
_type_ids = st.integers(0, 3)


def _slots(letters: str) -> st.SearchStrategy[list[dict[str, Any]]]:
    texts = st.builds(lambda id, t: {"Sequence": {"id": id, "type_id": t}}, st.sampled_from(letters), _type_ids)  # noqa: A006
    tokens = st.builds(lambda id, t: {"SpecialToken": {"id": id, "type_id": t}}, st.sampled_from("XYZ"), _type_ids)  # noqa: A006
    # Every time that a text stands in a template multiplies what flows over.
    return st.lists(st.one_of(texts, tokens), max_size=5).filter(lambda slots: str(slots).count("Sequence") <= 2)


_templates = st.builds(
    lambda single, pair: {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": SPECIAL},
    *(_slots("A"), _slots("AB")),
)
_processors = st.one_of(
    st.sampled_from([None, BERT, BYTE_LEVEL, roberta(), row(), row(BYTE_LEVEL, BERT), row(row(roberta()), BYTE_LEVEL)]),
    _templates,
    st.builds(lambda template: row(BYTE_LEVEL, template), _templates),
    st.builds(
        lambda template: row(row(template), BYTE_LEVEL), st.one_of(_templates, st.sampled_from([BERT, roberta()]))
    ),
)
_texts = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)
_truncations = st.builds(
    lambda most, stride, strategy, direction: {
        "direction": direction,
        "max_length": most,
        "strategy": strategy,
        "stride": stride,
    },
    st.integers(0, 12),
    st.integers(0, 3),
    st.sampled_from(["LongestFirst", "OnlyFirst", "OnlySecond"]),
    st.sampled_from(["Left", "Right"]),
)


def texts_in(template: Template) -> list[Any]:
    return [piece for piece in template.single if piece.kind == "sequence"]


@given(_processors, _texts, st.one_of(st.none(), _texts), st.booleans())
def test_wrap(spec: dict[str, Any] | None, a: str, b: str | None, special: bool) -> None:
    ours = Template.from_huggingface(spec)
    encoding = owner(spec).encode(a, b, add_special_tokens=special)
    wrapped = ours.wrap(ids_of(a), None if b is None else ids_of(b), special=special)
    assert tuple(wrapped) == arrays(encoding)
    if special:
        assert ours.added_tokens(b is not None) == owner(spec).num_special_tokens_to_add(b is not None)
        if b is None and len(texts_in(ours)) == 1:
            assert [*ours.prefix, *ids_of(a), *ours.suffix] == wrapped.ids


@settings(max_examples=max(400, settings().max_examples))
@given(_processors, _truncations, _texts, st.one_of(st.none(), _texts), st.booleans())
def test_truncation_and_what_flows_over(
    spec: dict[str, Any] | None, truncation: dict[str, Any], a: str, b: str | None, special: bool
) -> None:
    template, ours = Template.from_huggingface(spec), Truncation.from_huggingface(truncation)
    assert ours is not None
    added = template.added_tokens(b is not None) if special else 0
    theirs = owner(spec, truncation)
    ids_a, ids_b = ids_of(a), ids_of(b or "")
    try:
        slices_a, slices_b = ours.cut(len(ids_a), None if b is None else len(ids_b), added)
    except FormatError as error:
        if "special tokens; give a max_length" in str(error):
            # The owner's length wraps around below 0, so that it cuts nothing: too long for the model.
            assert added > truncation["max_length"]
            assert len(theirs.encode(a, b, add_special_tokens=special).overflowing) == 0
        else:
            with pytest.raises(BaseException, match=r"Truncation error|`stride` must be strictly less"):
                theirs.encode(a, b, add_special_tokens=special)
        return
    encoding = theirs.encode(a, b, add_special_tokens=special)
    parts_a = [ids_a[start:end] for start, end in slices_a]
    parts_b = None if slices_b is None else [ids_b[start:end] for start, end in slices_b]
    found = template.wrap_slices(parts_a, parts_b, special=special)
    assert tuple(found[0]) == arrays(encoding)
    assert [tuple(one) for one in found[1:]] == [arrays(one) for one in encoding.overflowing]

    layouts = template.layouts(len(slices_a), None if slices_b is None else len(slices_b), special=special)
    spans_a, spans_b = (
        [spans_of(text)[start:end] for start, end in slices]
        for text, slices in ((a, slices_a), (b or "", slices_b or []))
    )
    tokens_a, tokens_b = (
        [text.split()[start:end] for start, end in slices]
        for text, slices in ((a, slices_a), (b or "", slices_b or []))
    )
    for layout, one in zip(layouts, [encoding, *encoding.overflowing], strict=True):
        assert spread(layout, spans_a, spans_b, (0, 0)) == one.offsets
        names = iter([name for part in layout for name in part.tokens])
        shown = spread(layout, tokens_a, tokens_b, "")
        assert [token or next(names) for token in shown] == one.tokens


@pytest.mark.parametrize("stride", [0, 1])
@pytest.mark.parametrize("spec", [None, row(), BYTE_LEVEL], ids=["null", "Sequence", "ByteLevel"])
def test_every_pair_of_lengths(spec: dict[str, Any] | None, stride: int) -> None:
    template = Template.from_huggingface(spec)
    for most in range(7):
        ours = Truncation(most, stride)
        theirs = owner(spec, ours.to_huggingface())
        for a in range(6):
            for b in range(6):
                ids_a, ids_b = list(range(a)), list(range(b))
                try:
                    slices = ours.cut(a, b)
                except FormatError:
                    assert stride == 1
                    continue
                parts = [[ids[i:j] for i, j in one or ()] for ids, one in zip((ids_a, ids_b), slices, strict=True)]
                found = theirs.encode(" ".join(WORDS[:a]), " ".join(WORDS[:b]))
                expected = [arrays(one) for one in (found, *found.overflowing)]
                assert [tuple(one) for one in template.wrap_slices(*parts)] == expected


@given(st.lists(st.sampled_from([" ", "  ", "a", "ab", "é", "\n", "\u3000", "\t", "日"]), max_size=10), st.data())
def test_trim(words: list[str], data: st.DataObject) -> None:
    text = "".join(words)
    space, trims = data.draw(st.booleans()), data.draw(st.sampled_from(["ByteLevel", "Roberta", "Sequence"]))
    byte_level = {"type": "ByteLevel", "add_prefix_space": space, "trim_offsets": True, "use_regex": True}
    spec = {"ByteLevel": byte_level, "Roberta": roberta(True, space), "Sequence": row(byte_level, BERT)}[trims]
    merges = [["Ġ", "Ġ"], ["Ġ", "a"], ["a", "b"], ["Ġa", "b"], ["a", "Ġ"], ["ĠĠ", "a"], ["Ã", "©"]]
    vocab = {**LETTERS, **{a + b: 400 + place for place, (a, b) in enumerate(merges)}}
    pre = {**byte_level, "add_prefix_space": data.draw(st.booleans()), "use_regex": data.draw(st.booleans())}
    most, stride = data.draw(st.integers(4, 9)), data.draw(st.integers(0, 1))
    truncation = {"direction": "Right", "max_length": most, "strategy": "LongestFirst", "stride": stride}
    model = {"type": "BPE", "vocab": vocab, "merges": merges}
    parts = {"model": model, "pre_tokenizer": pre, "truncation": truncation}
    raw = tokenizers.Tokenizer.from_str(json.dumps({**parts, "truncation": None}))
    theirs = tokenizers.Tokenizer.from_str(json.dumps({**parts, "post_processor": spec}))

    template, ours = Template.from_huggingface(spec), Truncation.from_huggingface(truncation)
    assert ours is not None
    assert template.trims_offsets is space
    # Words that come one by one have spans that begin at 0 again.
    given_words, split = (words, True) if data.draw(st.booleans()) else (text, False)
    encoding = raw.encode(given_words, is_pretokenized=split)
    slices, _ = ours.cut(len(encoding.ids), added=template.added_tokens(False))
    spans = [trim(encoding.offsets[start:end], encoding.tokens[start:end], space) for start, end in slices]
    found = theirs.encode(given_words, is_pretokenized=split)
    layouts = template.layouts(len(slices))
    assert [spread(one, spans, [], (0, 0)) for one in layouts] == [e.offsets for e in (found, *found.overflowing)]


_paddings = st.builds(
    lambda strategy, direction, multiple, pad_id, type_id: {
        "strategy": strategy,
        "direction": direction,
        "pad_to_multiple_of": multiple,
        "pad_id": pad_id,
        "pad_type_id": type_id,
        "pad_token": "[PAD]",
    },
    st.one_of(st.just("BatchLongest"), st.builds(lambda length: {"Fixed": length}, st.integers(0, 9))),
    st.sampled_from(["Left", "Right"]),
    st.one_of(st.none(), st.integers(0, 5)),
    *(st.integers(0, 9), st.integers(0, 3)),
)


@given(_processors, _paddings, st.lists(_texts, min_size=1, max_size=4))
def test_padding(spec: dict[str, Any] | None, padding: dict[str, Any], texts: list[str]) -> None:
    template, ours = Template.from_huggingface(spec), Padding.from_huggingface(padding)
    assert ours is not None
    wrapped = [template.wrap(ids_of(text)) for text in texts]
    length = ours.length([len(one.ids) for one in wrapped])
    for one, theirs in zip(wrapped, owner(spec, None, padding).encode_batch(texts), strict=True):
        assert ours.pad(one.ids, length, ours.pad_id) == theirs.ids
        assert ours.pad(one.type_ids, length, ours.pad_type_id) == theirs.type_ids
        assert ours.pad(one.special_mask, length, 1) == theirs.special_tokens_mask
        assert ours.pad([1] * len(one.ids), length, 0) == theirs.attention_mask


@given(_processors, _truncations, _paddings)
def test_what_we_write_is_read_by_the_owner(
    spec: dict[str, Any] | None, truncation: dict[str, Any], padding: dict[str, Any]
) -> None:
    template, cut = Template.from_huggingface(spec), Truncation.from_huggingface(truncation)
    pad = Padding.from_huggingface(padding)
    assert cut is not None
    assert pad is not None
    theirs = owner(template.to_huggingface(), cut.to_huggingface(), pad.to_huggingface())
    written = json.loads(theirs.to_str())
    assert written["post_processor"] == template.to_huggingface()
    assert Template.from_huggingface(written["post_processor"]) == template
    assert written["truncation"] == cut.to_huggingface() == truncation
    assert written["padding"] == pad.to_huggingface() == padding
