"""Hugging Face's ``tokenizer.json`` with a BPE model, and the files beside it in a model's folder.

The owner's words for things: a *pre-tokenizer* cuts (our pattern), a *normalizer* rewrites before that, a
*post-processor* puts special tokens around, a *decoder* makes text of token strings.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from .._notices import notice
from ..errors import BytepairError, FormatError
from ..listed import Token, listed
from ..pattern.pretokenizers import adds_prefix_space, from_huggingface
from ..pipeline.around import Around, SpaceMark
from ..pipeline.letters import all_from_letters, from_letters
from ..pipeline.normalise import Normaliser
from ..pipeline.output import Output
from ..pipeline.template import Padding, Template, Truncation
from ..tokenizer import Tokenizer
from ..vocabulary import CONTINUED, FLAGS, MARKED, ROLES
from .huggingface_write import INSIDE, write

if TYPE_CHECKING:
    from ..pattern import Pattern
    from .source import Options, Source

__all__ = ["BESIDE", "NAME", "read", "recognises", "write"]

NAME = "huggingface"
BESIDE = ("tokenizer_config.json", "special_tokens_map.json", "chat_template.jinja", "generation_config.json")
"""What a model's folder says about its tokenizer beside ``tokenizer.json``; kept for saving."""

_OTHERS = {
    "WordPiece": "the `tokenizers` library",
    "Unigram": "the `tokenizers` or the `sentencepiece` library",
    "WordLevel": "the `tokenizers` library",
}


def recognises(source: Source) -> bool:
    return source.is_json and b'"model"' in source.data and b'"vocab"' in source.data and b'"tekken"' not in source.head


def read(source: Source, options: Options) -> Tokenizer:
    """The tokenizer in a file; ``tokenizer_config.json`` beside it says which special has which role."""
    options.refuse(source)
    reader = _Reader(source)
    try:
        return reader.tokenizer(options)
    except FormatError as error:
        if source.name in str(error):
            raise
        raise FormatError(f"{source.name}: {error}") from error
    except BytepairError as error:
        raise FormatError(f"{source.name}: {error}") from error


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.document = self.typed(source.json, "the file", dict)
        self.model = self.typed(self.document.get("model"), "model", dict)
        kind = self.model.get("type", "BPE")
        if kind != "BPE":
            tool = _OTHERS.get(kind) if isinstance(kind, str) else None
            raise self.fail(
                f"the model is {kind!r}, which is no byte-pair encoding"
                + (f"; {tool} runs it" if tool else "; the `tokenizers` library may run it")
            )
        self.vocab = self.typed(self.model.get("vocab"), "model.vocab", dict)
        self.prefix = self.affix("continuing_subword_prefix") or ""
        self.suffix = self.affix("end_of_word_suffix") or None
        self.parts = list(_flat(self.document.get("pre_tokenizer"), self))
        self.letters = any(part.get("type") == "ByteLevel" for part in self.parts)

    # ---- typed looks ----

    def fail(self, message: str) -> FormatError:
        return FormatError(f"{self.source.name}: {message}")

    def typed(self, value: Any, what: str, *types: type) -> Any:
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            wanted = " or ".join("null" if t is type(None) else t.__name__ for t in types)
            found = "missing or null" if value is None else f"a {type(value).__name__}"
            raise self.fail(f"{what} is {found}, and should be {wanted}")
        return value

    def affix(self, key: str) -> str | None:
        affix: str | None = self.typed(self.model.get(key), f"model.{key}", str, type(None))
        return affix

    def flag(self, value: Mapping[str, Any], key: str, where: str, default: bool = False) -> bool:
        found: bool = self.typed(value.get(key, default), f"{where}.{key}", bool)
        return found

    # ---- the whole ----

    def tokenizer(self, options: Options) -> Tokenizer:
        ids = self.ids()
        merges = self.merges()
        specials, added, flags = self.added_tokens()
        in_merges = {i for merge in merges for i in merge}
        fallback = self.fallback()
        byte_of = {i: b for b, i in fallback.items()}
        unknown_id = self.unknown_id()
        tokens: dict[int, Token] = {}
        inert: set[int] = set()
        names = {**specials, **added}
        plain = self.letters and not self.suffix and not self.prefix and "" not in ids
        at_once = all_from_letters(ids) if plain else None
        for place, (text, i) in enumerate(ids.items()):
            token, can_be_made = self.token(text) if at_once is None else (Token(at_once[place]), True)
            if i in tokens:
                raise self.fail(f"model.vocab gives the id {i} to {text!r} and to another token; ids are unique")
            if i in byte_of:
                token, can_be_made = Token(bytes([byte_of[i]])), False
            elif names.get(text) == i and i not in in_merges and len(text) > 1 and i != unknown_id:
                continue
            tokens[i] = token
            if not can_be_made or (i == unknown_id and i not in in_merges):
                inert.add(i)
        vocabulary = listed(
            kind="bytes" if self.letters else "characters",
            tokens=tokens,
            merges=merges,
            inert=inert,
            specials=specials,
            added=added,
            flags=flags,
            roles=self.roles(specials, unknown_id, options),
            fallback=fallback,
            unknown_id=unknown_id,
            fuse_unknown=self.flag(self.model, "fuse_unk", "model") if unknown_id is not None else False,
            prefix=self.prefix,
            suffix=self.suffix,
            whole=self.flag(self.model, "ignore_merges", "model")
            if self.model.get("ignore_merges") is not None
            else False,
        )
        self.tell_what_is_left_out(vocabulary.unordered_merge)
        pattern, mark = self.pattern()
        return Tokenizer(vocabulary, pattern, None, self.around(mark))

    def tell_what_is_left_out(self, unordered: int | None) -> None:
        dropout = self.typed(self.model.get("dropout"), "model.dropout", int, float, type(None))
        if dropout:
            self.tell(
                f"it asks for BPE-dropout {dropout}, which is for training models: here a call asks for it, with "
                f"dropout={dropout}"
            )
        if unordered is not None:
            left, right = self.pair(self.model["merges"][unordered], unordered)
            self.tell(
                f"merge {unordered} ({left!r} + {right!r}) uses a token that a later merge makes: the list is "
                "unordered. "
                "It is kept as it is: encoding merges the lowest rank first, its first place first, as its owner does"
            )

    def tell(self, what: str) -> None:
        notice(f"{self.source.name}: {what}", stacklevel=6)

    # ---- the model ----

    def ids(self) -> dict[str, int]:
        for text, i in self.vocab.items():
            if type(i) is not int:
                raise self.fail(f"model.vocab gives {text!r} the id {i!r}; ids are whole numbers")
        return dict(self.vocab)

    def token(self, text: str) -> tuple[Token, bool]:
        """What a token is made of, and whether an encoding can make it."""
        form, body = 0, text
        if self.suffix and body.endswith(self.suffix) and body != self.suffix:
            form, body = MARKED, body.removesuffix(self.suffix)
        if self.prefix and body.startswith(self.prefix) and body != self.prefix:
            form, body = form | CONTINUED, body.removeprefix(self.prefix)
        data = from_letters(body) if self.letters else _utf8(body)
        if data is None or not body:
            return Token(_utf8(text)), False
        return Token(data, form), True

    def fallback(self) -> dict[int, int]:
        if not self.flag(self.model, "byte_fallback", "model"):
            return {}
        return {b: self.vocab[f"<0x{b:02X}>"] for b in range(256) if f"<0x{b:02X}>" in self.vocab}

    def unknown_id(self) -> int | None:
        name = self.typed(self.model.get("unk_token"), "model.unk_token", str, type(None))
        if name is None:
            return None
        if name not in self.vocab:
            raise self.fail(f"model.unk_token is {name!r}, which model.vocab does not have; add it, or set null")
        found: int = self.vocab[name]
        return found

    def pair(self, line: Any, step: int) -> tuple[str, str]:
        parts = line.split(" ") if isinstance(line, str) else line
        if not (isinstance(parts, list) and len(parts) == 2 and all(isinstance(part, str) for part in parts)):
            raise self.fail(f"model.merges[{step}] is {str(line)[:60]!r}, and should be two tokens")
        return parts[0], parts[1]

    def plain_pairs(self, lines: list[Any]) -> list[Any] | None:
        """The merges as pairs of texts, all at once; None where one is not plainly that."""
        kinds = set(map(type, lines))
        if kinds == {str} and not any(line.startswith("#version") for line in lines):
            lines = [line.split(" ") for line in lines]
        elif kinds != {list}:
            return None
        whole = not self.prefix and set(map(len, lines)) == {2}
        return lines if whole and set(map(type, chain.from_iterable(lines))) == {str} else None

    def merges(self) -> list[tuple[int, int, int]]:
        listed_merges = self.typed(self.model.get("merges"), "model.merges", list)
        vocab, cut = self.vocab, len(self.prefix)
        try:
            plain = self.plain_pairs(listed_merges)
            if plain is not None:
                return [(vocab[left], vocab[right], vocab[left + right]) for left, right in plain]
        except KeyError:
            pass  # it must be found
        out = []
        for step, line in enumerate(listed_merges):
            if isinstance(line, str) and line.startswith("#version"):
                self.tell(f"model.merges[{step}] {line[:40]!r} is taken for a header and left out, as its owner does")
                continue
            left, right = self.pair(line, step)
            whole = left + (right[cut:] if right.startswith(self.prefix) else right)
            try:
                out.append((vocab[left], vocab[right], vocab[whole]))
            except KeyError as error:
                raise self.fail(
                    f"model.merges[{step}] ({left!r} + {right!r}) needs {error.args[0]!r}, which model.vocab lacks"
                ) from None
        return out

    # ---- added tokens and roles ----

    def added_tokens(self) -> tuple[dict[str, int], dict[str, int], dict[str, list[str]]]:
        specials: dict[str, int] = {}
        added: dict[str, int] = {}
        flags: dict[str, list[str]] = {}
        rows = self.document.get("added_tokens")
        # What is not in the model's vocabulary the owner numbers anew, on from its size, whatever the file says.
        following = len(self.vocab)
        for k, row in enumerate(self.typed(rows if rows is not None else [], "added_tokens", list)):
            where = f"added_tokens[{k}]"
            self.typed(row, where, dict)
            name = self.typed(row.get("content"), f"{where}.content", str)
            i = self.typed(row.get("id"), f"{where}.id", int)
            if not name:
                self.tell(f"{where} has an empty content; it is left out, as its owner does")
                continue
            if name in specials or name in added:
                raise self.fail(f"{where} is {name!r}, which is there already; take one out")
            counts = self.vocab.get(name, following)
            if name not in self.vocab:
                following += 1
            if counts != i:
                self.tell(f"{where} {name!r} has the id {i} there, and its owner gives it {counts}, which counts")
                i = counts
            (specials if self.flag(row, "special", where) else added)[name] = i
            flags[name] = [flag for flag in FLAGS if self.flag(row, flag, where)]
        return specials, added, flags

    def roles(self, specials: Mapping[str, int], unknown_id: int | None, options: Options) -> dict[str, str]:
        """Role -> name: from the caller, ``tokenizer_config.json``, or what the file's own parts say."""
        by_id = {i: name for name, i in specials.items()}
        found: dict[str, str] = {}
        template = Template.from_huggingface(self.document.get("post_processor"))
        for role, ids in (("bos", template.prefix), ("eos", template.suffix)):
            if len(ids) == 1 and ids[0] in by_id:
                found[role] = by_id[ids[0]]
        if unknown_id in by_id:
            found["unk"] = by_id[unknown_id]
        padding = self.document.get("padding")
        pad = padding.get("pad_token") if isinstance(padding, dict) else None
        if isinstance(pad, str) and pad in specials:
            found["pad"] = pad
        config = self.beside().get("tokenizer_config.json")
        if config is not None:
            for role in ROLES:
                token = config.get(f"{role}_token")
                name = token.get("content") if isinstance(token, dict) else token
                if isinstance(name, str) and name in specials:
                    found[role] = name
        return {**found, **(options.roles or {})}

    def beside(self) -> dict[str, Any]:
        """The JSON files in the folder that belong to the tokenizer."""
        files = {name: self.source.beside(name) for name in BESIDE}
        found = {name: file.json for name, file in files.items() if file is not None and name.endswith(".json")}
        for name, value in found.items():
            self.typed(value, f"{name} beside it", dict)
        return found

    # ---- what stands around the model ----

    def pattern(self) -> tuple[Pattern, SpaceMark | None]:
        """How text is cut, and the space that is put before it or the mark that replaces spaces."""
        parts = [dict(part) for part in self.parts]
        mark = None
        for k, part in enumerate(parts):
            kind = part.get("type")
            if kind == "Metaspace":
                if k:
                    raise self.fail(
                        f"pre_tokenizer: a Metaspace after {parts[k - 1].get('type')} marks every piece, which is not "
                        "supported; the `tokenizers` library runs it"
                    )
                mark = self.metaspace(part)
                split = self.flag(part, "split", "pre_tokenizer (Metaspace)", True)
                parts[k] = {
                    "type": "Split",
                    "pattern": {"String": mark.replacement},
                    "behavior": "MergedWithNext",
                    "invert": False,
                }
                if not split:
                    del parts[k]
            elif kind == "ByteLevel" and not k and adds_prefix_space(part):
                mark = SpaceMark(" ", "always")
                part["add_prefix_space"] = False
        return from_huggingface({"type": "Sequence", "pretokenizers": parts}), mark

    def metaspace(self, part: Mapping[str, Any]) -> SpaceMark:
        where = "pre_tokenizer (Metaspace)"
        replacement = self.typed(part.get("replacement"), f"{where}.replacement", str)
        if len(replacement) != 1:
            raise self.fail(f"{where}.replacement is {replacement!r}, and should be one character")
        scheme: Any = part.get("prepend_scheme")
        if scheme is None:  # as it was written before there were schemes
            scheme = "always" if self.flag(part, "add_prefix_space", where, True) else "never"
        if scheme not in ("always", "first", "never"):
            raise self.fail(f"{where}.prepend_scheme is {scheme!r}, and should be always, first or never")
        return SpaceMark(replacement, scheme)

    def around(self, mark: SpaceMark | None) -> Around:
        document = self.document
        rows = document.get("added_tokens") or []
        inside = [row["content"] for row in rows if row["content"] in self.vocab]
        settings = [("pre_tokenizer", json.dumps(document.get("pre_tokenizer"))), (INSIDE, json.dumps(inside))]
        for name in BESIDE:
            file = self.source.beside(name)
            if file is not None:
                settings.append((name, file.text.removeprefix("\ufeff")))
        return Around(
            normaliser=Normaliser.from_huggingface(document.get("normalizer")),
            mark=mark,
            output=Output.from_huggingface(document.get("decoder")),
            letters=self.letters,
            template=Template.from_huggingface(document.get("post_processor")),
            truncation=Truncation.from_huggingface(document.get("truncation")),
            padding=Padding.from_huggingface(document.get("padding")),
            settings=tuple(settings),
        )


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _flat(part: Any, reader: _Reader, depth: int = 0) -> Iterator[dict[str, Any]]:
    """The pre-tokenizers in order, with sequences opened."""
    if part is None:
        return
    if not isinstance(part, dict) or depth > 50:
        raise reader.fail("pre_tokenizer is no object with a type, or is nested too deeply")
    if part.get("type") != "Sequence":
        yield part
        return
    for inner in reader.typed(part.get("pretokenizers"), "pre_tokenizer.pretokenizers", list):
        yield from _flat(inner, reader, depth + 1)
