"""Writing a tokenizer as Hugging Face's ``tokenizer.json``, and the files of a model's folder beside it.

What the owner would do otherwise than we is refused, or told as a loss where it can only matter for texts or
vocabularies out of the ordinary.
"""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..errors import FormatError, PatternError
from ..pattern import Pattern, resolve
from ..pattern.translate import in_dialect
from ..pipeline.letters import to_letters
from ..vocabulary import ROLES, Vocabulary
from .source import Written

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer

OWNER = "Hugging Face's tokenizer.json"
INSIDE = "names in model.vocab"
"""The setting that keeps which added tokens stand in the model's vocabulary, as a list in JSON."""

_BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}


def write(tokenizer: Tokenizer) -> Written:
    """``tokenizer.json`` and ``tokenizer_config.json``."""
    whole, losses = document(tokenizer)
    files = {
        "tokenizer.json": _dump(whole),
        "tokenizer_config.json": _dump(config(tokenizer)),
        **{
            name: text.encode()
            for name, text in tokenizer._around.settings
            if name.endswith((".json", ".jinja")) and name not in ("tokenizer.json", "tokenizer_config.json")
        },
    }
    return Written(files, tuple(losses), main="tokenizer.json")


def document(tokenizer: Tokenizer) -> tuple[dict[str, Any], list[str]]:
    """``tokenizer.json``, and what it cannot hold."""
    losses: list[str] = []
    return _Writer(tokenizer, losses).document(), losses


def decoder(tokenizer: Tokenizer) -> dict[str, Any] | None:
    """The ``decoder`` of ``tokenizer.json``."""
    return _Writer(tokenizer, []).decoder()


def outside_model(tokenizer: Tokenizer) -> list[tuple[int, str]]:
    """The names that ``tokenizer.json`` has beside the model's vocabulary alone, by id.

    The owner numbers them anew, on from the vocabulary's size. A file that was read says which they are; else they are
    the last ones, as many as get the same ids. None more should stand in the vocabulary: with ignore_merges a word that
    is one would become it.
    """
    v = tokenizer._vocabulary
    names = sorted((i, name) for i, name in v.names.items() if i not in v.tokens)
    kept = dict(tokenizer._around.settings).get(INSIDE)
    if kept is not None:
        inside = set(json.loads(kept))
        names = [(i, name) for i, name in names if name not in inside]
    size = len(v.tokens) + len(v.names.keys() - v.tokens.keys())
    for k in range(len(names) + 1):
        if all(i == size - len(names) + j for j, (i, _) in enumerate(names) if j >= k):
            return names[k:]
    return []


def _dump(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "surrogatepass")


def config(tokenizer: Tokenizer) -> dict[str, Any]:
    """What ``AutoTokenizer`` wants to know beside the tokenizer; what a file brought stays."""
    settings = dict(tokenizer._around.settings)
    kept = settings.get("tokenizer_config.json")
    found: dict[str, Any] = json.loads(kept) if kept is not None else {}
    if "chat_template.jinja" in settings:  # which counts, but old versions do not look there
        found["chat_template"] = settings["chat_template.jinja"]
    v = tokenizer._vocabulary
    found.setdefault("tokenizer_class", "PreTrainedTokenizerFast")
    found.setdefault("clean_up_tokenization_spaces", False)
    for role in ROLES:
        i = v.roles.get(role)
        if i is not None and not isinstance(found.get(f"{role}_token"), dict):
            found[f"{role}_token"] = v.names[i]
    known = v.tokens.keys() | v.roles.values()
    others = [name for name, i in v.specials.items() if i not in known and not v.flags.get(name)]
    if kept is None and others:
        found["additional_special_tokens"] = others
    return found


class _Writer:
    def __init__(self, tokenizer: Tokenizer, losses: list[str]) -> None:
        self.tokenizer = tokenizer
        self.vocabulary: Vocabulary = tokenizer._vocabulary
        self.around = tokenizer._around
        self.losses = losses
        self.letters = self.vocabulary.alphabet.kind == "bytes"

    @cached_property
    def strings(self) -> dict[int, str]:
        return {i: self.string(i) for i in self.vocabulary.tokens}

    def fail(self, why: str) -> FormatError:
        return FormatError(f"{OWNER} cannot hold this tokenizer: {why}")

    def document(self) -> dict[str, Any]:
        around = self.around
        model = self.model()
        return {
            "version": "1.0",
            "truncation": None if around.truncation is None else around.truncation.to_huggingface(),
            "padding": None if around.padding is None else around.padding.to_huggingface(),
            "added_tokens": self.added_tokens(),
            "normalizer": None if around.normaliser is None else around.normaliser.to_huggingface(),
            "pre_tokenizer": self.pre_tokenizer(),
            "post_processor": None if around.template is None else around.template.to_huggingface(),
            "decoder": self.decoder(),
            "model": model,
        }

    # ---- the model ----

    def string(self, id: int) -> str:
        """A token as the owner writes it."""
        v = self.vocabulary
        text = v.tokens[id]
        if v.layout == "listed" and self.letters == self.around.letters:
            return self.tokenizer._model_str(id)
        if id in v.fallback:
            return f"<0x{text[0]:02X}>"
        try:
            body = to_letters(text) if self.letters else text.decode("utf-8")
        except UnicodeDecodeError:
            raise self.fail(f"token {id}, {text!r}, is no UTF-8 and not a byte") from None
        return body + (v.alphabet.suffix if id in v.marked else "")

    def model(self) -> dict[str, Any]:
        v = self.vocabulary
        alphabet = v.alphabet
        if alphabet.has_mark_symbol:
            raise self.fail(
                "its end-of-word mark is a symbol of its own, and there it can only be a part of a word's last "
                'character; train with end_of_word="fused" and another unknown='
            )
        ids: dict[str, int] = {}
        for i, name in v.names.items():
            if self.strings.get(i, name) != name:
                raise self.fail(f"{self.strings[i]!r} and {name!r} share the id {i}; give the name an id of its own")
        for i, text in (*self.strings.items(), *v.names.items()):
            if ids.setdefault(text, i) != i:
                raise self.fail(f"ids {ids[text]} and {i} are both written {text!r} there")
        for _, name in outside_model(self.tokenizer):
            del ids[name]
        unknown = None
        if v.unknown_id is not None:
            unknown = self.strings.get(v.unknown_id) or v.names[v.unknown_id]
        if alphabet.kind == "characters" and unknown is None and not v.fallback:
            self.losses.append("a character that the alphabet does not have is an error here, and left out there")
        return {
            "type": "BPE",
            "dropout": None,
            "unk_token": unknown,
            "continuing_subword_prefix": alphabet.prefix or None,
            "end_of_word_suffix": alphabet.suffix if alphabet.end_of_word else None,
            "fuse_unk": alphabet.fuse_unknown,
            "byte_fallback": bool(v.fallback),
            "ignore_merges": v.whole or v.rule == "ranks",
            "vocab": dict(sorted(ids.items(), key=lambda item: item[1])),
            "merges": self.merges(),
        }

    def merges(self) -> list[list[str]]:
        v, strings = self.vocabulary, self.strings
        if v.rule == "ranks":
            pairs, sure = _pairs_of_ranks(v)
            if not sure:
                self.losses.append(
                    "the ranks are irregular (a token's part has a higher rank, or its splits overlap), so merging "
                    "by the list need not equal merging by rank for every text; `bytepair verify` compares them"
                )
            return [[strings[left], strings[right]] for left, right in pairs]
        if v.order == "pair" and v.unordered_merge is not None:
            self.losses.append(
                f"merge {v.unordered_merge} uses a token that a later merge makes: here all places of a pair merge at "
                "once, there the first place merges and is looked at again, which differs for some texts"
            )
        if v.ranks is not None and _overlaps(v.merges, v.ranks):
            self.losses.append("merges share ranks here and are all of different ranks there, so some texts may differ")
        return [[strings[left], strings[right]] for left, right, _ in v.merges]

    # ---- around it ----

    def added_tokens(self) -> list[dict[str, Any]]:
        v = self.vocabulary
        rows = []
        for name, i in sorted({**v.added, **v.specials}.items(), key=lambda item: item[1]):
            asked = v.flags.get(name, frozenset())
            row: dict[str, Any] = {"id": i, "content": name}
            row.update({flag: flag in asked for flag in ("single_word", "lstrip", "rstrip", "normalized")})
            rows.append({**row, "special": name in v.specials})
        return rows

    def pre_tokenizer(self) -> dict[str, Any] | None:
        kept = dict(self.around.settings).get("pre_tokenizer")
        if kept is not None:
            value: dict[str, Any] | None = json.loads(kept)
            return value
        if self.around.mark is not None:
            raise self.fail("it marks spaces in a way that was not read from such a file")
        parts = [*self.splits(self.tokenizer.pattern), *([_BYTE_LEVEL] if self.letters else [])]
        if len(parts) > 1:
            return {"type": "Sequence", "pretokenizers": parts}
        return parts[0] if parts else None

    def splits(self, pattern: Pattern) -> list[dict[str, Any]]:
        if pattern == resolve("none"):
            return []
        try:
            stage: Pattern | None = in_dialect(pattern, "oniguruma")
        except PatternError as error:
            raise self.fail(str(error)) from error
        parts = []
        dropped = self.tokenizer._codec.dropped is not None
        while stage is not None:
            behavior, invert = "Isolated", False
            if stage.drop is not None:
                behavior, invert = "Removed", stage.drop == "gaps"
            parts.append({"type": "Split", "pattern": {"Regex": stage.regex}, "behavior": behavior, "invert": invert})
            stage = stage.then
        if dropped:  # the classic scheme leaves out white space
            spaces = r"[ \n]+" if pattern == resolve("spaces") else r"[\s\x{1c}-\x{1f}]+"
            parts = [{"type": "Split", "pattern": {"Regex": spaces}, "behavior": "Removed", "invert": False}]
        return parts

    def decoder(self) -> dict[str, Any] | None:
        v = self.vocabulary
        if self.around.output is not None:
            return self.around.output.to_huggingface()
        if v.alphabet.end_of_word and v.layout != "listed":
            if self.letters:
                raise self.fail("its bytes have an end-of-word mark, which no decoder there puts together")
            return {"type": "BPEDecoder", "suffix": v.alphabet.suffix}
        if self.letters:
            return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
        return {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]}


def _pairs_of_ranks(v: Vocabulary) -> tuple[list[tuple[int, int]], bool]:
    """All pairs that make a token, by rank, and whether merging them in this order is sure to equal the rank rule."""
    ids = {text: i for i, text in v.tokens.items()}
    pairs: list[tuple[int, int]] = []
    sure = True
    for new, text in v.tokens.items():
        splits = [(ids[text[:k]], ids[text[k:]]) for k in range(1, len(text)) if text[:k] in ids and text[k:] in ids]
        if len(splits) > 1:
            rights = {right for _, right in splits}
            sure = sure and not any(left in rights and (left, left) not in splits for left, _ in splits)
        sure = sure and all(left < new and right < new for left, right in splits)
        pairs += splits
    return pairs, sure


def _overlaps(merges: tuple[tuple[int, int, int], ...], ranks: tuple[int, ...]) -> bool:
    """Whether two merges of one rank can compete for a token in a text."""
    lefts: dict[int, set[int]] = {}
    for (left, _, _), rank in zip(merges, ranks):
        lefts.setdefault(rank, set()).add(left)
    return any(
        right in lefts[rank] and not (left == right and lefts[rank] == {left})
        for (left, right, _), rank in zip(merges, ranks)
    )
