"""The owners' own libraries as sides, on the same files: each is imported only where it is installed and asked for.

To add one: a class with its library's calls, and its line in :data:`OWNERS`.
"""

from __future__ import annotations

import base64
import io
import re
import tempfile
from collections.abc import Callable, Sequence
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import BytepairError, FormatError, PatternError
from ..pattern.translate import in_dialect
from .sides import Ids, Side, Text

if TYPE_CHECKING:
    from ..formats.source import Source
    from ..tokenizer import Tokenizer

__all__ = ["NO_LIBRARY", "OWNERS", "NoOwnerError", "owner_of"]


class NoOwnerError(BytepairError):
    """The owner's library cannot take part; the message says why."""


class Owner(NamedTuple):
    library: str  # as it is installed
    module: str
    side: Callable[[Any, Tokenizer, bytes], Side]  # from the module, what the file may lack, and the file unpacked


NO_LIBRARY = {
    "bytepair": "our JSON has no other owner than bytepair itself",
    "gpt2": "GPT-2's own program is no library that can be installed",
    "minbpe": "minbpe is no library that can be installed",
    "clip": "CLIP's own program is no library that can be installed",
    "gguf": "llama.cpp has no library of its own for Python",
}
"""Formats whose owner cannot be asked."""


def owner_of(format: str | None, tokenizer: Tokenizer, source: Source | None) -> Side:
    """The side of a format's owner.

    Parameters
    ----------
    format : str, optional
        The format's name; None for a tokenizer without a file, which tiktoken can run where it is under its rule.
    tokenizer : Tokenizer
        For what the file does not say itself, such as a rank file's pattern.
    source : Source, optional
        The file.

    Raises
    ------
    NoOwnerError
        There is no library, it is not installed, or it has no words for this tokenizer.
    FormatError
        The owner itself cannot read the file.
    """
    if source is None and tokenizer.rule != "ranks":
        raise NoOwnerError("there is no file that an owner's library could read")
    known = "tiktoken" if source is None or format is None else format.replace("_", "-")
    if known in NO_LIBRARY:
        raise NoOwnerError(NO_LIBRARY[known])
    owner = OWNERS.get(known)
    if owner is None:
        raise NoOwnerError(f"no library is known that owns the format {known!r}")
    try:
        version = metadata.version(owner.library)
        module = import_module(owner.module)
    except (ImportError, metadata.PackageNotFoundError):
        raise NoOwnerError(f"{owner.library} is not installed") from None
    try:
        side = owner.side(module, tokenizer, _rank_file(tokenizer) if source is None else source.data)
    except BytepairError:
        raise
    except (Exception, SystemExit) as error:  # a library of others raises what it likes, and one of them exits
        where = "this tokenizer" if source is None else source.name
        raise FormatError(f"{owner.library} {version} cannot read {where}: {error}") from error
    side.library, side.version = owner.library, version
    side.name = f"{owner.library} {version}{side.way and f' {side.way}'}"
    return side


class Tiktoken(Side):
    """It has no normaliser: where a file's owner puts one before it, as Qwen's program does, so does this."""

    def __init__(self, library: Any, tokenizer: Tokenizer, data: bytes) -> None:
        pattern = tokenizer.pattern
        try:
            stage = pattern if pattern.dialect == "tiktoken" else in_dialect(pattern, "tiktoken")
        except PatternError as error:
            raise NoOwnerError(f"tiktoken cannot be given this pattern ({error})") from error
        if stage.then is not None or pattern.drops:
            raise NoOwnerError("tiktoken has no pattern that cuts in several stages or leaves out text")
        self.added = set(tokenizer.added)
        names = sorted({**tokenizer.added, **tokenizer.specials}, key=len, reverse=True)
        self.names = re.compile(f"({'|'.join(map(re.escape, names))})") if names else None
        self.normaliser = tokenizer._around.normaliser
        if self.normaliser is not None:
            self.way = "behind the tokenizer's normaliser"
        self.encoding = library.Encoding(
            "verified",
            pat_str=stage.regex,
            mergeable_ranks=_ranks(data),
            special_tokens={**tokenizer.added, **tokenizer.specials},
        )

    def encode(self, texts: Sequence[Text], policy: str) -> list[Ids]:
        allowed: Any = self.added if policy == "text" else "all"
        rows = [self._normalised(str(text), policy) for text in texts]
        return [self.encoding.encode(text, allowed_special=allowed, disallowed_special=()) for text in rows]

    def _normalised(self, text: str, policy: str) -> str:
        if self.normaliser is None:
            return text
        if self.names is None or policy == "text":
            return self.normaliser.apply(text)
        # Names are taken out first, and stay as they are.
        parts = self.names.split(text)
        return "".join(part if k % 2 else self.normaliser.apply(part) for k, part in enumerate(parts))

    def decode(self, ids: Ids) -> str:
        found: str = self.encoding.decode(ids)
        return found

    def decode_bytes(self, ids: Ids) -> bytes:
        found: bytes = self.encoding.decode_bytes(ids)
        return found

    def starts(self, ids: Ids) -> list[int] | None:
        try:
            found: list[int] = self.encoding.decode_with_offsets(ids)[1]
        except UnicodeDecodeError:  # it knows no places in what is no text
            return None
        return found


def _rank_file(tokenizer: Tokenizer) -> bytes:
    """The rank file of a tokenizer that came from none."""
    return b"\n".join(b"%s %d" % (base64.b64encode(text), i) for i, text in tokenizer._vocabulary.tokens.items())


def _ranks(data: bytes) -> dict[bytes, int]:
    """A rank file as tiktoken reads it; its own reader takes a path and keeps a copy of it elsewhere."""
    rows = (line.split() for line in data.splitlines() if line)
    return {base64.b64decode(token): int(rank) for token, rank in rows}


class Tokenizers(Side):
    policies = ("text", "all", "framed")

    def __init__(self, library: Any, tokenizer: Tokenizer, data: bytes) -> None:  # noqa: ARG002
        self.tokenizer = library.Tokenizer.from_str(data.decode("utf-8-sig"))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        if self.tokenizer.model.dropout:
            self.tokenizer.model.dropout = None  # by chance, so that no two runs are equal

    def _options(self, policy: str) -> bool:
        self.tokenizer.encode_special_tokens = policy == "text"
        return policy == "framed"

    def encode(self, texts: Sequence[Text], policy: str) -> list[Ids]:
        framed = self._options(policy)
        return [row.ids for row in self.tokenizer.encode_batch(list(texts), add_special_tokens=framed)]

    def decode(self, ids: Ids) -> str:
        found: str = self.tokenizer.decode(ids, skip_special_tokens=False)
        return found

    def spans(self, text: Text, policy: str) -> list[tuple[int, int]]:
        framed = self._options(policy)
        found: list[tuple[int, int]] = self.tokenizer.encode(text, add_special_tokens=framed).offsets
        return found

    def token(self, id: Any) -> str:
        return self.tokenizer.id_to_token(id) or ""


class SentencePiece(Side):
    """It has one way with names: user-defined pieces are always matched, control pieces never."""

    policies = ("text",)

    def __init__(self, library: Any, tokenizer: Tokenizer, data: bytes) -> None:  # noqa: ARG002
        self.processor = library.SentencePieceProcessor()
        self.processor.LoadFromSerializedProto(data)
        self.hides = frozenset(i for i in range(self.processor.GetPieceSize()) if self.processor.IsControl(i))

    def encode(self, texts: Sequence[Text], policy: str) -> list[Ids]:  # noqa: ARG002
        found: list[Ids] = self.processor.Encode(list(texts))
        return found

    def decode(self, ids: Ids) -> str:
        found: str = self.processor.Decode(list(ids))
        return found

    def spans(self, text: Text, policy: str) -> list[tuple[int, int]] | None:  # noqa: ARG002
        try:
            pieces = self.processor.Encode(text, return_type="proto").pieces
        except TypeError:  # an older version, whose places are others
            return None
        character_of = [k for k, character in enumerate(str(text)) for _ in character.encode()]
        character_of.append(len(text))
        return [(character_of[piece.begin], character_of[piece.end]) for piece in pieces]

    def token(self, id: Any) -> str:
        found: str = self.processor.IdToPiece(id)
        return found


class MistralCommon(Side):
    """It takes special tokens from messages, never from a text."""

    policies = ("text",)

    def __init__(self, library: Any, tokenizer: Tokenizer, data: bytes) -> None:  # noqa: ARG002
        self.keep = library.SpecialTokenPolicy.KEEP
        with tempfile.TemporaryDirectory() as folder:  # it reads only files, and none that are packed
            path = Path(folder) / "tekken.json"
            path.write_bytes(data)
            self.tekken = library.Tekkenizer.from_file(path)

    def encode(self, texts: Sequence[Text], policy: str) -> list[Ids]:  # noqa: ARG002
        return [self.tekken.encode(text, bos=False, eos=False) for text in texts]

    def decode(self, ids: Ids) -> str:
        found: str = self.tekken.decode(ids, self.keep)
        return found


class SubwordNmt(Side):
    """It has no ids: it writes tokens with spaces between, line by line.

    What it does at the ends of lines, where it keeps carriage returns out of words, is its program's: words are given
    to it as they are cut here, at spaces and line feeds. :class:`bytepair.compat.subword_nmt.BPE` has the rest.
    """

    policies = ("text",)
    speaks_ids = False
    separator = "@@"
    way = "word by word"

    def __init__(self, library: Any, tokenizer: Tokenizer, data: bytes) -> None:  # noqa: ARG002
        self.bpe = library.BPE(io.StringIO(data.decode("utf-8"), newline="\n"), separator=self.separator)

    def encode(self, texts: Sequence[Text], policy: str) -> list[Ids]:  # noqa: ARG002
        return [self.bpe.segment_tokens(str(text).replace("\n", " ").split(" ")) for text in texts]

    def token(self, id: Any) -> str:
        return str(id)


OWNERS = {
    "tiktoken": Owner("tiktoken", "tiktoken", Tiktoken),
    "huggingface": Owner("tokenizers", "tokenizers", Tokenizers),
    "sentencepiece": Owner("sentencepiece", "sentencepiece", SentencePiece),
    "tekken": Owner("mistral-common", "mistral_common.tokens.tokenizers.tekken", MistralCommon),
    "subword-nmt": Owner("subword-nmt", "subword_nmt.apply_bpe", SubwordNmt),
}
"""Format -> the library that decides what its files mean."""
