"""Our tokenizers in `transformers`: the class against the library's own, and AutoTokenizer on what `export` writes."""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import bytepair
from bytepair.compat.transformers import export
from bytepair.errors import BytepairNotice, FormatError

os.environ["HF_HUB_OFFLINE"] = "1"  # read when it is imported
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
from huggingface_peers import TEXT, text_of

CHAT = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}<eos>{% endfor %}"
HELLO = [{"role": "user", "content": "the quick  dog's"}]
TEXTS = [
    "the quick brown fox doesn't  jump\n\n  over 1234 dogs ",
    "Über die naïve Straße, déjà 你好🧠 <s> Zz new one <eos>",
    "",
    " ",
    "<|im_start|>user\nhi<|im_end|><pad></s>",
    TEXT[:300],
]
NAMES = [
    "ours, gpt2",
    "ours, cl100k",
    "byte level, Roberta",
    "Llama",
    "Metaspace, first",
    "CLIP",
    "hf_qwen3",
    "hf_deepseek_v3",
]
every = pytest.mark.parametrize("name", NAMES)
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


@cache
def ours(name: str) -> bytepair.Tokenizer:
    if name.startswith("ours"):
        return bytepair.train(TEXT, vocab_size=400, pattern=name.split()[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BytepairNotice)
        tokenizer: bytepair.Tokenizer = bytepair.load(text_of(name).encode())
    return tokenizer


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Any:
    @cache
    def folder(name: str) -> Path:
        path: Path = tmp_path_factory.mktemp("model")
        export(ours(name), path, chat_template=CHAT, model_max_length=512, padding_side="left")
        return path

    return folder


@pytest.fixture(scope="module")
def pair_of(folder_of: Any) -> Any:
    """The class and the library's own, both from the folder; shared, so that no test may change them for good."""

    @cache
    def pair(name: str) -> tuple[Any, Any]:
        return face().from_pretrained(folder_of(name)), auto(folder_of(name))

    return pair


def face() -> Any:
    from bytepair.compat.transformers import BytepairTokenizer

    return BytepairTokenizer


def auto(folder: Path) -> Any:
    return transformers.AutoTokenizer.from_pretrained(folder)


def listed(encoding: Any) -> dict[str, Any]:
    return {name: getattr(value, "tolist", lambda value=value: value)() for name, value in encoding.items()}


CALLS: list[dict[str, Any]] = [
    {},
    {"add_special_tokens": False, "return_offsets_mapping": True, "return_special_tokens_mask": True},
    {"padding": True, "return_tensors": "np", "return_token_type_ids": True},
    {"padding": "max_length", "truncation": True, "max_length": 12, "return_length": True},
    {
        "truncation": True,
        "max_length": 9,
        "stride": 2,
        "return_overflowing_tokens": True,
        "return_offsets_mapping": True,
    },
    {"padding": True, "pad_to_multiple_of": 8, "padding_side": "right"},
]


@every
def test_export_loads_with_the_same_ids(name: str, pair_of: Any) -> None:
    tok, theirs = ours(name), pair_of(name)[1]
    template = tok._around.template
    for text in TEXTS:
        ids = tok.encode(text, special="all")
        assert theirs(text, add_special_tokens=False).input_ids == ids
        assert theirs(text).input_ids == (ids if template is None else template.wrap(ids).ids)
        assert theirs.decode(ids) == tok.decode(ids)
        assert theirs.decode(ids, skip_special_tokens=True) == tok.decode(ids, skip_specials=True)
    assert len(theirs) == tok.vocab_size
    assert (theirs.model_max_length, theirs.padding_side, theirs.chat_template) == (512, "left", CHAT)
    for role in ("bos", "eos", "pad", "unk"):
        assert getattr(theirs, f"{role}_token_id") == getattr(tok, f"{role}_id")


@every
@pytest.mark.parametrize("call", CALLS, ids=lambda call: " ".join(call) or "plain")
def test_calls(name: str, call: dict[str, Any], pair_of: Any) -> None:
    mine, theirs = pair_of(name)
    if "padding" in call and theirs.pad_token is None:
        mine, theirs = copy.deepcopy(mine), copy.deepcopy(theirs)
        mine.pad_token = theirs.pad_token = theirs.convert_ids_to_tokens(5)
    found, expected = mine(TEXTS, **call), theirs(TEXTS, **call)
    assert listed(found) == listed(expected)
    for k in range(len(found["input_ids"])):
        assert found.tokens(k) == expected.tokens(k)
        assert found.word_ids(k) == expected.word_ids(k)
        assert found.sequence_ids(k) == expected.sequence_ids(k)
    for text in TEXTS:
        single = {**call, "return_tensors": None}
        assert listed(mine(text, "a b", **single)) == listed(theirs(text, "a b", **single))


@every
def test_the_rest_of_the_class(name: str, pair_of: Any, tmp_path: Path) -> None:
    mine, theirs = pair_of(name)
    text = TEXTS[1]
    assert mine.encode(text) == theirs.encode(text)
    assert mine.tokenize(text) == theirs.tokenize(text)
    ids = theirs.encode(text)
    assert mine.decode(ids) == theirs.decode(ids)
    assert mine.decode(ids, skip_special_tokens=True) == theirs.decode(ids, skip_special_tokens=True)
    assert mine.batch_decode([ids, ids[:3]]) == theirs.batch_decode([ids, ids[:3]])
    tokens = theirs.convert_ids_to_tokens(ids)
    assert mine.convert_ids_to_tokens(ids) == tokens
    assert mine.convert_tokens_to_ids(tokens) == theirs.convert_tokens_to_ids(tokens)
    assert mine.convert_tokens_to_string(tokens) == theirs.convert_tokens_to_string(tokens)
    assert mine.get_vocab() == theirs.get_vocab()
    assert (len(mine), mine.vocab_size) == (len(theirs), theirs.vocab_size)
    assert mine.special_tokens_map == theirs.special_tokens_map
    assert mine.all_special_ids == theirs.all_special_ids
    assert str(mine.added_tokens_decoder) == str(theirs.added_tokens_decoder)
    assert mine.num_special_tokens_to_add(pair=True) == theirs.num_special_tokens_to_add(pair=True)
    words = text.split()
    assert listed(mine(words, is_split_into_words=True)) == listed(theirs(words, is_split_into_words=True))
    assert mine(text, split_special_tokens=True).input_ids == theirs(text, split_special_tokens=True).input_ids

    mine.save_pretrained(tmp_path)
    for again in (auto(tmp_path), face().from_pretrained(tmp_path), pickle.loads(pickle.dumps(mine))):
        assert again(TEXTS).input_ids == theirs(TEXTS).input_ids
        assert (again.model_max_length, again.padding_side, again.chat_template) == (512, "left", CHAT)
        assert again.special_tokens_map == theirs.special_tokens_map


@pytest.mark.parametrize("name", NAMES[:3])
def test_new_tokens(name: str, folder_of: Any) -> None:
    mine, theirs = face().from_pretrained(folder_of(name)), auto(folder_of(name))
    for one in (mine, theirs):
        one.add_tokens(["<new>", "quick"])
        one.add_special_tokens({"pad_token": "<fill>"})
    text = "the <new> quick<fill> fox"
    assert mine(text).input_ids == theirs(text).input_ids
    assert listed(mine([text, "a"], padding=True)) == listed(theirs([text, "a"], padding=True))
    assert mine.pad_token_id == theirs.pad_token_id == len(theirs) - 1


@every
def test_chat_template(name: str, pair_of: Any) -> None:
    pytest.importorskip("jinja2", reason="jinja2, which transformers needs for chat templates, is not installed")
    mine, theirs = pair_of(name)
    shown = "user: the quick  dog's<eos>"
    for one in (mine, theirs):
        assert one.apply_chat_template(HELLO, tokenize=False) == shown
    found, expected = (one.apply_chat_template(HELLO, tokenize=True, return_dict=True) for one in (mine, theirs))
    assert listed(found) == listed(expected)


@every
def test_of_a_tokenizer(name: str, pair_of: Any) -> None:
    tok = ours(name)
    mine = face()(tok, model_max_length=100, truncation_side="left")
    theirs = pair_of(name)[1]
    assert mine(TEXTS).input_ids == theirs(TEXTS).input_ids
    assert (mine.model_max_length, mine.truncation_side) == (100, "left")
    assert mine.special_tokens_map == theirs.special_tokens_map


def test_settings_of_the_folder_stay(tmp_path: Path) -> None:
    start, end = tmp_path / "start", tmp_path / "end"
    export(ours("ours, gpt2"), start, chat_template="old")
    config = json.loads((start / "tokenizer_config.json").read_text("utf-8"))
    config |= {"pad_token": "<eos>", "model_input_names": ["input_ids"], "padding_side": "left"}
    (start / "tokenizer_config.json").write_text(json.dumps(config), "utf-8")
    (start / "chat_template.jinja").write_text("first", "utf-8")
    tok = bytepair.load(start)
    export(tok, end)
    again = auto(end)
    # Where versions of transformers look that know no chat_template.jinja.
    assert json.loads((end / "tokenizer_config.json").read_text("utf-8"))["chat_template"] == "first"
    assert (again.pad_token, again.padding_side, again.chat_template) == ("<eos>", "left", "first")
    assert list(again("a")) == ["input_ids"]
    mine = face()(tok)
    assert (mine.pad_token, mine.padding_side, mine.chat_template) == ("<eos>", "left", "first")
    export(tok, end, chat_template="second", padding_side="right")  # over what is there
    assert (auto(end).chat_template, auto(end).padding_side) == ("second", "right")
    config = json.loads((end / "tokenizer_config.json").read_text("utf-8"))
    assert config["chat_template"] == "second"


def test_padding_and_truncation_of_the_file_stay(tmp_path: Path) -> None:
    document = json.loads(text_of("byte level, Roberta"))
    document["padding"] = {
        "strategy": {"Fixed": 12},
        "direction": "Left",
        "pad_to_multiple_of": None,
        "pad_id": 2,
        "pad_type_id": 0,
        "pad_token": "<pad>",
    }
    document["truncation"] = {"direction": "Left", "max_length": 8, "strategy": "LongestFirst", "stride": 1}
    tok = bytepair.load(json.dumps(document).encode())
    export(tok, tmp_path)
    theirs, mine, direct = auto(tmp_path), face().from_pretrained(tmp_path), face()(tok)
    for one in (theirs, mine, direct):
        assert (one.padding_side, one.pad_token_id, one.truncation_side) == ("left", 2, "left")
        assert (
            one(TEXTS[0], truncation=True, padding="max_length", max_length=12).input_ids
            == theirs(TEXTS[0], truncation=True, padding="max_length", max_length=12).input_ids
        )
    settings = json.loads((tmp_path / "tokenizer.json").read_text("utf-8"))
    assert (settings["padding"], settings["truncation"]) == (document["padding"], document["truncation"])


def test_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"a bytepair\.Tokenizer, not a str"):
        face()("gpt2")
    with pytest.raises(TypeError, match=r"a bytepair\.Tokenizer, not a NoneType"):
        face()()
    with pytest.raises(FormatError, match="'up'"):
        export(ours("ours, gpt2"), tmp_path, padding_side="up")
    file = tmp_path / "file"
    file.write_bytes(b"")
    with pytest.raises(FormatError, match="is a file"):
        export(ours("ours, gpt2"), file)
    with pytest.raises(AttributeError, match="no attribute 'Other'"):
        bytepair.compat.transformers.Other  # noqa: B018


def test_without_transformers_the_error_says_how_to_install_it(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['transformers'] = None\n"
        "import bytepair.compat.transformers as face, bytepair\n"
        f"face.export(bytepair.train('low low lower', num_merges=3), {str(tmp_path)!r})\n"
        "try:\n    face.BytepairTokenizer\n"
        "except ImportError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert "pip install transformers" in done.stdout
