"""Special tokens around texts, truncation and padding: fixed values, and every error."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from bytepair.errors import FormatError
from bytepair.pipeline.fields import MAX_DEPTH
from bytepair.pipeline.template import Padding, Piece, Template, Truncation, spread, trim

BERT = {"type": "BertProcessing", "sep": ["[SEP]", 102], "cls": ["[CLS]", 101]}
ROBERTA = {
    "type": "RobertaProcessing",
    "sep": ["</s>", 2],
    "cls": ["<s>", 0],
    "trim_offsets": True,
    "add_prefix_space": False,
}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}


def text(id: str, type_id: int = 0) -> dict[str, Any]:
    return {"Sequence": {"id": id, "type_id": type_id}}


def token(id: str, type_id: int = 0) -> dict[str, Any]:
    return {"SpecialToken": {"id": id, "type_id": type_id}}


LLAMA = {
    "type": "TemplateProcessing",
    "single": [token("<s>"), text("A")],
    "pair": [token("<s>"), text("A"), token("<s>", 1), text("B", 1)],
    "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}},
}


def row(*processors: Any) -> dict[str, Any]:
    return {"type": "Sequence", "processors": list(processors)}


def test_a_template_that_begins_with_one_token() -> None:
    template = Template.from_huggingface(LLAMA)
    assert template.single == (Piece("special", (1,), 0, ("<s>",)), Piece("sequence", "A", 0))
    assert (template.prefix, template.suffix) == ((1,), ())
    assert (template.added_tokens(False), template.added_tokens(True)) == (1, 2)
    assert template.trims_offsets is None
    assert template.wrap([7, 8]) == ([1, 7, 8], [0, 0, 0], [1, 0, 0], [None, 0, 0])
    assert template.wrap([7], [8]) == ([1, 7, 1, 8], [0, 0, 1, 1], [1, 0, 1, 0], [None, 0, None, 1])
    assert template.wrap([7], [8], special=False) == ([7, 8], [0, 1], [0, 0], [0, 1])


def test_bert_and_roberta() -> None:
    bert, roberta = Template.from_huggingface(BERT), Template.from_huggingface(ROBERTA)
    assert (bert.prefix, bert.suffix, bert.trims_offsets) == ((101,), (102,), None)
    assert bert.wrap([7], [8]).ids == [101, 7, 102, 8, 102]
    assert bert.wrap([7], [8]).type_ids == [0, 0, 0, 1, 1]
    assert (roberta.prefix, roberta.suffix, roberta.trims_offsets) == ((0,), (2,), False)
    assert roberta.wrap([7], [8]).ids == [0, 7, 2, 2, 8, 2]
    assert roberta.wrap([7], [8]).type_ids == [0] * 6
    assert [bert.added_tokens(True), roberta.added_tokens(True)] == [3, 4]


def test_nothing_is_added_without_one() -> None:
    for spec in [None, BYTE_LEVEL, row()]:
        template = Template.from_huggingface(spec)
        assert template.wrap([7], [8]) == ([7, 8], [0, 1], [0, 0], [0, 1])
        assert (template.prefix, template.suffix, template.added_tokens(True)) == ((), (), 0)
    assert Template.from_huggingface(BYTE_LEVEL).trims_offsets is True


def test_a_template_without_a_text_is_all_prefix() -> None:
    spec = {**LLAMA, "single": [token("<s>"), token("<s>")]}
    assert (Template.from_huggingface(spec).prefix, Template.from_huggingface(spec).suffix) == ((1, 1), ())
    assert Template.from_huggingface(spec).wrap([7]).ids == [1, 1]


def test_a_byte_level_behind_the_template_numbers_the_pieces() -> None:
    # The owner's quirk: sequence_ids are then those of the pieces. In the usual order they are those of the texts.
    assert Template.from_huggingface(row(BYTE_LEVEL, LLAMA)).wrap([7, 8]).sequence_of == [None, 0, 0]
    assert Template.from_huggingface(row(LLAMA, BYTE_LEVEL)).wrap([7, 8]).sequence_of == [None, 1, 1]
    assert Template.from_huggingface(row(BERT, BYTE_LEVEL)).wrap([7, 8]).sequence_of == [0, 0, 0, 0]


def test_what_flows_over_without_a_post_processor_has_forgotten_its_text() -> None:
    found = [one.sequence_of for one in Template().wrap_slices([[1], [2]], [[3], [4]])]
    assert found == [[0, 1], [0, 0], [0, 0], [0, None]]
    found = [one.sequence_of for one in Template.from_huggingface(row()).wrap_slices([[1], [2]], [[3], [4]])]
    assert found == [[0, 1]] * 4


def test_what_flows_over_is_combined() -> None:
    template = Template.from_huggingface(BERT)
    found = template.wrap_slices([[1], [2]], [[3], [4]])
    assert [one.ids for one in found] == [
        [101, 1, 102, 3, 102],
        [101, 2, 102, 3, 102],
        [101, 2, 102, 4, 102],
        [101, 1, 102, 4, 102],
    ]
    assert found[3].type_ids == [0, 0, 0, 1, 1]
    roberta = Template.from_huggingface(ROBERTA)
    assert roberta.wrap_slices([[1]], [[3], [4]])[1].type_ids == [0] * 6
    # Without special tokens the owner leaves what flows over as it was.
    assert [one.type_ids for one in roberta.wrap_slices([[1]], [[3], [4]], special=False)] == [[0, 0], [0, 1]]
    layouts = template.layouts(2, 2)
    assert spread(layouts[1], ["a", "b"], ["c", "d"], "-") == list("-b-c-")
    assert spread(layouts[3], ["a", "b"], ["c", "d"], "-") == list("-a-d-")


def test_written_and_read_again() -> None:
    for spec in [None, BERT, ROBERTA, BYTE_LEVEL, LLAMA, row(BYTE_LEVEL, LLAMA)]:
        template = Template.from_huggingface(spec)
        assert template.to_huggingface() == spec
        assert template.wrap([7]).ids  # what is kept of it is pickled too
        assert pickle.loads(pickle.dumps(template)) == template
        assert hash(template) == hash(Template.from_huggingface(spec))
    assert Template.from_huggingface(row(row(BERT))).to_huggingface() == BERT


def test_trim() -> None:
    spans, tokens = [(0, 1), (1, 3), (3, 6), (6, 8)], ["Ġ", "Ġm", "ĠĠx", "yĠ"]
    assert trim(spans, tokens, False) == [(1, 1), (2, 3), (5, 6), (6, 7)]
    assert trim(spans, tokens, True) == [(0, 0), (2, 3), (5, 6), (6, 7)]
    # A later token whose span begins at 0 is taken for the first one; two spaces were not added.
    assert trim([(0, 2), (0, 3)], ["a", "Ġab"], True) == [(0, 2), (0, 3)]
    assert trim([(0, 4)], ["ĠĠab"], True) == [(2, 4)]
    # An end that lies before all the white space stays.
    assert trim([(0, 1), (0, 2)], ["aĠĠ", "aĠĠ"], False) == [(0, 1), (0, 0)]
    # U+001C is white space for Python, not for the owner; U+0085 is for both.
    assert trim([(0, 2)], ["\x1ca"], False) == [(0, 2)]
    assert trim([(0, 2)], ["\x85a"], False) == [(1, 2)]


def truncation(**fields: Any) -> dict[str, Any]:
    return {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0, **fields}


def test_truncation_of_one_text() -> None:
    assert Truncation(4).cut(4) == ([(0, 4)], None)
    assert Truncation(4).cut(9) == ([(0, 4), (4, 8), (8, 9)], None)
    assert Truncation(4, 2).cut(9) == ([(0, 4), (2, 6), (4, 8), (6, 9)], None)
    assert Truncation(4, 2, direction="left").cut(9) == ([(5, 9), (3, 7), (1, 5), (0, 3)], None)
    assert Truncation(4).cut(9, added=2) == ([(0, 2), (2, 4), (4, 6), (6, 8), (8, 9)], None)
    assert Truncation(4).cut(9, added=4) == ([(0, 0), (0, 9)], None)
    assert Truncation(0).cut(0) == ([(0, 0)], None)
    # A stride that is too long is no matter where nothing is cut.
    assert Truncation(4, 4).cut(4) == ([(0, 4)], None)


@pytest.mark.parametrize(
    ("a", "b", "kept"), [(2, 9, (2, 5)), (9, 2, (5, 2)), (9, 9, (3, 4)), (5, 4, (4, 3)), (0, 9, (0, 7)), (3, 4, (3, 4))]
)
def test_longest_first(a: int, b: int, kept: tuple[int, int]) -> None:
    slices_a, slices_b = Truncation(7).cut(a, b)
    assert slices_b is not None
    assert (slices_a[0][1], slices_b[0][1]) == kept


def test_one_text_only() -> None:
    assert Truncation(6, strategy="only_first").cut(5, 4) == ([(0, 2), (2, 4), (4, 5)], [(0, 4)])
    assert Truncation(6, strategy="only_second").cut(5, 4) == ([(0, 5)], [(0, 1), (1, 2), (2, 3), (3, 4)])


TOO_SHORT: list[tuple[Truncation, tuple[int, int | None, int], str]] = [
    (Truncation(1), (5, None, 2), "max_length=1, but there are 2 special tokens; give a max_length of 2 or more"),
    (
        Truncation(4, 2),
        (5, None, 2),
        "stride=2, but slices have only 2 ids besides special tokens; give a stride below 2",
    ),
    (Truncation(3, strategy="only_second"), (5, None, 0), 'strategy="OnlySecond", but there is no second text'),
    (Truncation(3, strategy="only_first"), (2, 9, 0), "must take 8 ids off the first text, which has 2"),
    (Truncation(3, strategy="only_second"), (9, 2, 0), "must take 8 ids off the second text, which has 2"),
]


@pytest.mark.parametrize(("ours", "lengths", "message"), TOO_SHORT, ids=["added", "stride", "none", "first", "second"])
def test_truncation_that_does_not_fit(ours: Truncation, lengths: tuple[int, int | None, int], message: str) -> None:
    with pytest.raises(FormatError) as caught:
        ours.cut(*lengths)
    assert message in str(caught.value)


PADDING = {
    "strategy": "BatchLongest",
    "direction": "Left",
    "pad_to_multiple_of": 8,
    "pad_id": 3,
    "pad_type_id": 1,
    "pad_token": "<pad>",
}


def test_truncation_and_padding_written_and_read_again() -> None:
    assert Truncation.from_huggingface(None) is None
    assert Padding.from_huggingface(None) is None
    for spec in [truncation(), truncation(strategy="OnlySecond", direction="Left", stride=2)]:
        read = Truncation.from_huggingface(spec)
        assert read is not None
        assert read.to_huggingface() == spec
    old = {name: value for name, value in truncation().items() if name != "direction"}
    assert Truncation.from_huggingface(old) == Truncation(4)
    for spec in [PADDING, {**PADDING, "strategy": {"Fixed": 7}, "pad_to_multiple_of": None}]:
        padding = Padding.from_huggingface(spec)
        assert padding is not None
        assert padding.to_huggingface() == spec
        assert pickle.loads(pickle.dumps(padding)) == padding


def test_padding() -> None:
    assert Padding().length([3, 5]) == 5
    assert Padding().length([]) == 0
    assert Padding(7).length([3, 9]) == 7
    assert Padding(7, pad_to_multiple_of=4).length([3]) == 8
    assert Padding(7, pad_to_multiple_of=0).length([3]) == 7
    assert Padding().pad([1, 2], 4, 0) == [1, 2, 0, 0]
    assert Padding(direction="left").pad([1, 2], 4, 0) == [0, 0, 1, 2]
    assert Padding().pad([1, 2], 1, 0) == [1, 2]


def special(**fields: Any) -> dict[str, Any]:
    return {**LLAMA, "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"], **fields}}}


LIST = 'give a list of {"Sequence"'
WRONG: list[tuple[Any, str]] = [
    (3, "post_processor is 3 and no object with a type; give one such as TemplateProcessing"),
    ({}, "post_processor has no type"),
    ({"type": "Nope"}, "post_processor (Nope) is no post-processor; there are BertProcessing, ByteLevel, "),
    ({"type": "Sequence"}, "post_processor (Sequence) has no list processors; give one"),
    (row(BERT, {"type": "X"}), "post_processor.processors[1] (X) is no post-processor"),
    (row(BERT, LLAMA), "post_processor.processors[1] (TemplateProcessing) adds special tokens to those of another one"),
    (row(ROBERTA, BYTE_LEVEL), "processors[1] (ByteLevel) trims offsets that another one has trimmed; set its"),
    ({"type": "BertProcessing", "cls": ["a", 1]}, "post_processor (BertProcessing) has no sep; give [token, id]"),
    ({**BERT, "sep": ["a"]}, "post_processor (BertProcessing) has sep=['a']; give [token, id]"),
    (
        {**BERT, "cls": ["a", -1]},
        "post_processor (BertProcessing) cls[1] is -1; it must be a whole number, from 0 to 42",
    ),
    ({"type": "RobertaProcessing", "cls": ["a", 1], "sep": ["b", 2]}, "has no trim_offsets; give true or false"),
    ({"type": "ByteLevel", "trim_offsets": True}, "post_processor (ByteLevel) has no add_prefix_space"),
    ({"type": "TemplateProcessing", "single": [], "pair": []}, "has no special_tokens; give an object such as"),
    ({**LLAMA, "special_tokens": []}, "post_processor (TemplateProcessing) has special_tokens=[]; give an object"),
    ({**LLAMA, "special_tokens": {"<s>": 1}}, "post_processor.special_tokens['<s>'] is 1 and no object; give its id,"),
    (special(ids=1), "post_processor.special_tokens['<s>'] has ids=1; give a list of ids"),
    (special(ids=[1 << 32]), "post_processor.special_tokens['<s>'] ids[0] is 4294967296; it must be a whole number"),
    (special(tokens=[1]), "post_processor.special_tokens['<s>'] has tokens=[1]; give a list of strings"),
    (special(ids=[1, 2]), "post_processor.special_tokens['<s>'] has 2 ids and 1 tokens; give one token for each id"),
    (special(id=1), "post_processor.special_tokens['<s>'] has id=1; give a string"),
    ({**LLAMA, "single": "$A"}, f"post_processor (TemplateProcessing) has single='$A'; {LIST}"),
    ({**LLAMA, "pair": ["$A"]}, f"post_processor.pair[0] is '$A'; {LIST}"),
    ({**LLAMA, "single": [{**text("A"), **token("<s>")}]}, "post_processor.single[0] is {'Sequence': "),
    (
        {**LLAMA, "single": [{"Sequence": "A"}]},
        "post_processor.single[0] is 'A' and no object; give its id and type_id",
    ),
    ({**LLAMA, "single": [text("B")]}, "post_processor.single[0] (Sequence) has id='B'; there are A"),
    ({**LLAMA, "pair": [text("C")]}, "post_processor.pair[0] (Sequence) has id='C'; there are A, B"),
    ({**LLAMA, "pair": [text("AB")]}, "post_processor.pair[0] (Sequence) has id='AB'; there are A, B"),
    ({**LLAMA, "pair": [text("A", -1)]}, "post_processor.pair[0] (Sequence) type_id is -1; it must be a whole number"),
    ({**LLAMA, "single": [token("</s>")]}, "(SpecialToken) has id='</s>', which special_tokens do not have; add it"),
]


@pytest.mark.parametrize(("spec", "message"), WRONG, ids=[str(number) for number in range(len(WRONG))])
def test_wrong_post_processors(spec: Any, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        Template.from_huggingface(spec)
    assert message in str(caught.value)
    with pytest.raises(FormatError, match=r"^x\.y"):
        Template.from_huggingface(spec, "x.y")


def test_depth_is_bounded() -> None:
    spec = BERT
    for _ in range(MAX_DEPTH):
        spec = row(spec)
    assert Template.from_huggingface(spec).to_huggingface() == BERT
    with pytest.raises(FormatError, match="is nested more than 50 deep; write it flat"):
        Template.from_huggingface(row(spec))


WRONG_LENGTHS: list[tuple[Any, Any, str]] = [
    (Truncation, 3, "truncation is 3 and no object; give max_length, stride, strategy and direction, or null"),
    (
        Truncation,
        truncation(strategy="longest_first"),
        "truncation has strategy='longest_first'; there are LongestFirst,",
    ),
    (Truncation, truncation(direction="right"), "truncation has direction='right'; there are Left, Right"),
    (Truncation, truncation(max_length=-1), "truncation max_length is -1; it must be a whole number, 0 or more"),
    (Truncation, truncation(stride=None), "truncation stride is None; it must be a whole number, 0 or more"),
    (Truncation, {"strategy": "OnlyFirst"}, "truncation has no max_length; give a whole number"),
    (Padding, [], "padding is [] and no object; give strategy, direction, pad_id, pad_type_id and pad_token, or null"),
    (
        Padding,
        {**PADDING, "strategy": "Fixed"},
        'padding has strategy=\'Fixed\'; give "BatchLongest" or {"Fixed": length}',
    ),
    (Padding, {**PADDING, "strategy": {"Fixed": -1}}, "padding.strategy Fixed is -1; it must be a whole number"),
    (Padding, {**PADDING, "direction": "left"}, "padding has direction='left'; there are Left, Right"),
    (Padding, {**PADDING, "pad_to_multiple_of": "8"}, "padding pad_to_multiple_of is '8'; it must be a whole number"),
    (Padding, {**PADDING, "pad_id": 1 << 32}, "padding pad_id is 4294967296; it must be a whole number, from 0 to"),
    (Padding, {**PADDING, "pad_token": 0}, "padding has pad_token=0; give a string"),
    (Padding, {"strategy": "BatchLongest"}, "padding has no direction; there are Left, Right"),
]


@pytest.mark.parametrize(("ours", "spec", "message"), WRONG_LENGTHS, ids=[str(i) for i in range(len(WRONG_LENGTHS))])
def test_wrong_truncation_and_padding(ours: Any, spec: Any, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        ours.from_huggingface(spec)
    assert message in str(caught.value)
