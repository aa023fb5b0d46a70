"""What each bundled vocabulary is made of: its packed ranks, rule, pattern, special tokens and roles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

__all__ = ["ENTRIES", "PACKED", "Entry", "Packed"]


class Packed(NamedTuple):
    """The tokens of one packed file: those of ``after`` (without what ``without`` matches) first, then the file's own,
    from the id ``start`` on. Where there is no ``after``, the 256 bytes come first, in GPT-2's order."""

    after: str | None = None
    without: bytes | None = None
    start: int = 256


class Entry(NamedTuple):
    """One vocabulary.

    ``specials`` may name an id twice, as o200k_harmony does; the first name is the one that decoding gives.
    ``normaliser`` is what Hugging Face calls one, as its files have it.
    """

    packed: str
    pattern: str
    specials: dict[str, int]
    roles: dict[str, str]
    rule: Literal["merges", "ranks"] = "ranks"
    normaliser: Mapping[str, Any] | None = None


PACKED: dict[str, Packed] = {
    "r50k_base": Packed(),
    "p50k_base": Packed(after="r50k_base", start=50257),
    "cl100k_base": Packed(),
    "o200k_base": Packed(),
    # Qwen's tokens are cl100k_base's without numbers of several digits, then its own.
    "qwen2": Packed(after="cl100k_base", without=rb"[0-9]{2,}", start=99156),
}

_END = "<|endoftext|>"
_ENDS = {"eos": _END}
_INFILL = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
_O200K = {_END: 199999, "<|endofprompt|>": 200018}
_HARMONY = {
    "<|startoftext|>": 199998,
    "<|return|>": 200002,
    "<|constrain|>": 200003,
    "<|channel|>": 200005,
    "<|start|>": 200006,
    "<|end|>": 200007,
    "<|message|>": 200008,
    "<|call|>": 200012,
}
_RESERVED = [200000, 200001, 200004, 200009, 200010, 200011, *range(200013, 201088)]

ENTRIES: dict[str, Entry] = {
    "gpt2": Entry("r50k_base", "gpt2", {_END: 50256}, _ENDS, "merges"),
    "r50k_base": Entry("r50k_base", "r50k", {_END: 50256}, _ENDS),
    "p50k_base": Entry("p50k_base", "p50k", {_END: 50256}, _ENDS),
    "p50k_edit": Entry("p50k_base", "p50k", {_END: 50256, **dict(zip(_INFILL, range(50281, 50284)))}, _ENDS),
    "cl100k_base": Entry(
        "cl100k_base",
        "cl100k",
        {_END: 100257, **dict(zip(_INFILL, range(100258, 100261))), "<|endofprompt|>": 100276},
        _ENDS,
    ),
    "o200k_base": Entry("o200k_base", "o200k", _O200K, _ENDS),
    "o200k_harmony": Entry(
        "o200k_base",
        "o200k",
        {**_O200K, **_HARMONY, **{f"<|reserved_{i}|>": i for i in _RESERVED}},
        {"bos": "<|startoftext|>", **_ENDS},
    ),
    "qwen2": Entry(
        "qwen2",
        "qwen2",
        {_END: 151643, "<|im_start|>": 151644, "<|im_end|>": 151645},
        {**_ENDS, "pad": _END},
        normaliser={"type": "NFC"},
    ),
}
