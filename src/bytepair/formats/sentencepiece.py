"""SentencePiece's ``.model`` of the type BPE, read and written with the ``protobuf`` library.

The file is one protobuf message. Declared here is only what decides ids and text; all else in it (how it was trained,
self-tests) the library keeps as it stands, and we keep it for saving. What the pieces mean is in ``scored``.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from .._check import brief
from .._resizing import natural_rows
from ..errors import BytepairError, FormatError
from ..pattern import resolve
from ..pipeline._sentencepiece_output import UNKNOWN_SURFACE, SentencePieceOutput
from ..pipeline.around import Around
from ..pipeline.normalise import Normaliser, SentencePiece
from ..tokenizer import Tokenizer
from . import scored
from .scored import BYTE, CONTROL, NORMAL, SPACE, UNKNOWN, UNUSED, USER_DEFINED, Piece
from .source import Options, Source, Written

if TYPE_CHECKING:
    from ..vocabulary import Vocabulary

NAME = "sentencepiece"
SETTING = "sentencepiece.model"
"""What the file says beside its pieces, and their scores, kept in ``Around.settings``."""

INSTALL = "pip install 'bytepair[formats]', or protobuf alone"
BPE = 2
_OTHERS = {1: "UNIGRAM", 3: "WORD", 4: "CHAR"}
_ROLES = {"bos": "<s>", "eos": "</s>", "pad": "<pad>", "unk": "<unk>"}
"""The names that the pieces of these roles have unless the file says otherwise."""


def recognises(source: Source) -> bool:
    """Whether it begins as such a message does: with a piece, its text, and then its score, its type or nothing."""
    head = source.head
    if head[:1] != b"\n":
        return False
    size, at = _varint(head, 1)
    end = at + size
    if head[at : at + 1] != b"\n":
        return False
    length, at = _varint(head, at + 1)
    at += length
    return at <= end and (at == end or head[at : at + 1] in (b"", b"\x15", b"\x18"))


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of a message and the place behind it; one that is cut off or endless is -1."""
    value = 0
    for place in range(5):
        byte = data[at + place : at + place + 1]
        if not byte:
            break
        value |= (byte[0] & 0x7F) << (7 * place)
        if byte[0] < 0x80:
            return value, at + place + 1
    return -1, at


# ---- the message ----


_FIELDS: dict[str, tuple[tuple[str, int, str, Any], ...]] = {
    "Piece": (("piece", 1, "bytes", None), ("score", 2, "float", None), ("type", 3, "int32", NORMAL)),
    "TrainerSpec": (
        ("model_type", 3, "int32", 1),
        ("vocab_size", 4, "int32", 8000),
        ("treat_whitespace_as_suffix", 24, "bool", False),
        ("byte_fallback", 35, "bool", False),
        ("unk_id", 40, "int32", 0),
        ("bos_id", 41, "int32", 1),
        ("eos_id", 42, "int32", 2),
        ("pad_id", 43, "int32", -1),
        ("unk_surface", 44, "bytes", None),
        *((f"{role}_piece", 45 + k, "bytes", None) for k, role in enumerate(("unk", "bos", "eos", "pad"))),
    ),
    "NormalizerSpec": (
        ("name", 1, "bytes", None),
        ("precompiled_charsmap", 2, "bytes", None),
        ("add_dummy_prefix", 3, "bool", True),
        ("remove_extra_whitespaces", 4, "bool", True),
        ("escape_whitespaces", 5, "bool", True),
    ),
    "Model": (
        ("pieces", 1, "Piece", None),
        ("trainer_spec", 2, "TrainerSpec", None),
        ("normalizer_spec", 3, "NormalizerSpec", None),
        ("denormalizer_spec", 5, "NormalizerSpec", None),
    ),
}
"""Message -> (name, number, type, default) of the fields that are read; texts are bytes, as they may be no UTF-8."""


@lru_cache(maxsize=1)
def _message() -> Any:
    """The class of the whole message."""
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    except ImportError as error:
        raise FormatError(f"SentencePiece models need the protobuf library ({error}); install it: {INSTALL}") from None
    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="bytepair/sentencepiece.proto", package="bytepair", syntax="proto2")
    for message, fields in _FIELDS.items():
        described = file.message_type.add(name=message)
        for name, number, kind, default in fields:
            field = described.field.add(name=name, number=number, label=kinds.LABEL_OPTIONAL)
            if kind in _FIELDS:
                field.type, field.type_name = kinds.TYPE_MESSAGE, f".bytepair.{kind}"
            else:
                field.type = getattr(kinds, f"TYPE_{kind.upper()}")
            if name == "pieces":
                field.label = kinds.LABEL_REPEATED
            if default is not None:
                field.default_value = str(default).lower()
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("bytepair.Model"))


def parse(data: bytes) -> Any:
    """The message in a file."""
    model = _message()()
    from google.protobuf.message import DecodeError

    try:
        model.ParseFromString(data)
    except (DecodeError, RecursionError) as error:
        raise FormatError(
            f"it is no SentencePiece model: {error or 'the message is damaged'}; fetch the file again"
        ) from None
    return model


# ---- reading ----


def read(source: Source, options: Options) -> Tokenizer:
    """The tokenizer in a file."""
    options.refuse(source)
    try:
        return _read(parse(source.data), options.roles)
    except BytepairError as error:
        raise FormatError(f"{source.name}: {error}") from error


def _read(model: Any, roles: Mapping[str, str] | None = None) -> Tokenizer:
    trainer, normalizer = model.trainer_spec, model.normalizer_spec
    if trainer.model_type != BPE:
        kind = _OTHERS.get(trainer.model_type, str(trainer.model_type))
        raise FormatError(
            f"the model is of the type {kind}, which is no byte-pair encoding; the `sentencepiece` library runs it"
        )
    if not model.pieces:
        raise FormatError("the model has no pieces; the file may be cut off")
    if not model.HasField("normalizer_spec"):
        raise FormatError("there is no normalizer_spec, which says what is done with spaces; the file may be cut off")
    pieces = _pieces(model)
    vocabulary = scored.vocabulary(pieces, {**_roles(trainer, pieces), **(roles or {})})
    if bool(vocabulary.fallback) != trainer.byte_fallback:
        there = "has pieces for bytes" if vocabulary.fallback else "has no pieces for bytes"
        raise FormatError(
            f"the model {there}, and trainer_spec.byte_fallback is {str(trainer.byte_fallback).lower()}, which its "
            "owner refuses; set the one as the other is"
        )
    step = SentencePiece(
        charsmap=normalizer.precompiled_charsmap,
        add_dummy_prefix=normalizer.add_dummy_prefix,
        remove_extra_whitespaces=normalizer.remove_extra_whitespaces,
        escape_whitespaces=normalizer.escape_whitespaces,
        treat_whitespace_as_suffix=trainer.treat_whitespace_as_suffix,
        user_defined=tuple(vocabulary.added),
    )
    header = type(model)()
    header.CopyFrom(model)
    del header.pieces[:]
    scores = struct.pack(f"<{len(pieces)}f", *(piece.score for piece in pieces))
    kept = [base64.b64encode(part).decode() for part in (header.SerializeToString(deterministic=True), scores)]
    return tokenizer(pieces, vocabulary, step, _surface(trainer), _denormaliser(model), ((SETTING, json.dumps(kept)),))


def tokenizer(
    pieces: list[Piece],
    vocabulary: Vocabulary,
    step: SentencePiece,
    surface: str = UNKNOWN_SURFACE,
    denormaliser: SentencePiece | None = None,
    settings: tuple[tuple[str, str], ...] = (),
) -> Tokenizer:
    """The tokenizer of pieces that were read, from here or from llama.cpp's files."""
    controls = tuple(piece.text for piece in pieces if piece.kind == CONTROL)
    output = SentencePieceOutput(
        control=controls,
        unknown=next(piece.text for piece in pieces if piece.kind == UNKNOWN),
        surface=surface,
        falls_back=bool(vocabulary.fallback),
        strips=step.add_dummy_prefix or step.remove_extra_whitespaces,
        strips_all=step.remove_extra_whitespaces,
        denormaliser=denormaliser,
    )
    around = Around(
        normaliser=Normaliser((step,)),
        output=output,
        splits=scored.splits(pieces, vocabulary.merges),
        settings=settings,
    )
    space = SPACE if step.escape_whitespaces else " "
    return Tokenizer(vocabulary, scored.pattern(pieces, space), None, around)


def _pieces(model: Any) -> list[Piece]:
    out = []
    for i, piece in enumerate(model.pieces):
        try:
            text = piece.piece.decode("utf-8")
        except UnicodeDecodeError as error:
            raise FormatError(
                f"piece {i} {brief(piece.piece)} is no UTF-8 at byte {error.start}; take it out"
            ) from None
        out.append(Piece(text, piece.score, piece.type))
    return out


def _roles(trainer: Any, pieces: list[Piece]) -> dict[str, str]:
    """Role -> piece, where there is one of the right type by the name that the file gives."""
    kinds = {piece.text: piece.kind for piece in pieces if piece.kind in (CONTROL, UNKNOWN)}
    found = {}
    for role in _ROLES:
        name = _name(trainer, role)
        if kinds.get(name) == (UNKNOWN if role == "unk" else CONTROL):
            found[role] = name
    return found


def _name(trainer: Any, role: str) -> str:
    """The piece that has a role, if there is one."""
    name: str = getattr(trainer, f"{role}_piece").decode("utf-8", "replace")
    return name or _ROLES[role]


def _surface(trainer: Any) -> str:
    if not trainer.HasField("unk_surface"):
        return UNKNOWN_SURFACE
    try:
        text: str = trainer.unk_surface.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"trainer_spec.unk_surface is no UTF-8 at byte {error.start}; mend it") from None
    return text


def _denormaliser(model: Any) -> SentencePiece | None:
    spec = model.denormalizer_spec
    if not spec.precompiled_charsmap:
        return None
    return SentencePiece(
        charsmap=spec.precompiled_charsmap,
        add_dummy_prefix=spec.add_dummy_prefix,
        remove_extra_whitespaces=spec.remove_extra_whitespaces,
        escape_whitespaces=spec.escape_whitespaces,
    )


# ---- writing ----


def write(tokenizer: Tokenizer) -> Written:
    """A model that the `sentencepiece` library encodes with to the same ids.

    It cuts no text, and merges any neighbours that make a piece; so what it can hold are characters, with each way to
    make a token among the merges.
    """
    around, vocabulary = tokenizer._around, tokenizer._vocabulary
    steps = () if around.normaliser is None else around.normaliser.steps
    step = steps[0] if len(steps) == 1 else None
    own = isinstance(step, SentencePiece) and isinstance(around.output, SentencePieceOutput)
    losses: list[str] = []
    _refuse_what_it_has_no_word_for(tokenizer, own)
    model, scores = _kept(around)
    pieces = _pieces_of(tokenizer, losses)
    if len(scores) != len(pieces):
        model.trainer_spec.vocab_size = len(pieces)
    else:
        pieces = [piece._replace(score=score) for piece, score in zip(pieces, scores)]
    for piece in pieces:
        _set(model.pieces.add(piece=piece.text.encode(), score=piece.score), "type", piece.kind)
    trainer = model.trainer_spec
    _set(trainer, "model_type", BPE)
    _set(trainer, "byte_fallback", bool(vocabulary.fallback))
    unknown = next(i for i, piece in enumerate(pieces) if piece.kind == UNKNOWN)
    for role in _ROLES:
        i = unknown if role == "unk" else vocabulary.roles.get(role, -1)
        _set(trainer, f"{role}_id", i)
        if i >= 0 and _name(trainer, role) != pieces[i].text:
            setattr(trainer, f"{role}_piece", pieces[i].text.encode())
    if isinstance(step, SentencePiece):
        _set_normaliser(model, step, around.output)
    else:
        losses.append("bytes that are no UTF-8 become U+FFFD")
        for name in ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces"):
            setattr(model.normalizer_spec, name, False)
        model.normalizer_spec.name = b"identity"
    if around.template is not None or around.truncation is not None or around.padding is not None:
        losses.append("the template, truncation and padding are left out")
    try:
        again = _read(model)
    except FormatError as error:
        raise _cannot(str(error)) from None
    _compare(tokenizer, again, own)
    return Written({"": model.SerializeToString(deterministic=True)}, tuple(losses))


def _cannot(why: str) -> FormatError:
    return FormatError(f'a SentencePiece model cannot hold this tokenizer: {why}; save it with format="bytepair"')


def _refuse_what_it_has_no_word_for(tokenizer: Tokenizer, own: bool) -> None:
    around, v = tokenizer._around, tokenizer._vocabulary
    if v.rule != "merges" or v.alphabet.kind != "characters":
        raise _cannot("it merges bytes, and there characters are merged")
    if v.alphabet.end_of_word is not None or v.alphabet.prefix:
        raise _cannot("its tokens have marks, for which there is no word there")
    if v.whole:
        raise _cannot("a pretoken that is a token is that token before any merge, which is not so there")
    if not own and (around.rewrites or not around.joins_bytes):
        raise _cannot("what it does to a text before and after is not SentencePiece's")
    if v.alphabet.unknown == "<unk>" and not v.alphabet.fuse_unknown:
        raise _cannot("each unknown character is a token of its own, and there a run of them is one")
    asked = {flag for flags in v.flags.values() for flag in flags} - {"normalized"}
    if asked:
        raise _cannot(f"names ask for {', '.join(sorted(asked))}, for which there is no word there")
    if v.added and not own:
        raise _cannot("it has added tokens beside its specials")


def _kept(around: Around) -> tuple[Any, tuple[float, ...]]:
    """What the file said that the tokenizer came from, and its scores; or nothing."""
    for name, text in around.settings:
        if name == SETTING:
            try:
                header, scores = map(base64.b64decode, json.loads(text))
                return parse(header), struct.unpack(f"<{len(scores) // 4}f", scores)
            except (ValueError, TypeError, struct.error) as error:
                raise _cannot(f"what it keeps of its old file is damaged ({error})") from None
    return _message()(), ()


def _pieces_of(tokenizer: Tokenizer, losses: list[str]) -> list[Piece]:
    v, around = tokenizer._vocabulary, tokenizer._around
    unknown = v.unknown_id if v.unknown_id is not None else v.roles.get("unk")
    names, fallback, unused = v.names, {i: byte for byte, i in enumerate(v.fallback)}, {i for i, _ in around.splits}
    rank_of: dict[int, int] = {}
    for step, (_, _, new) in enumerate(v.merges):
        rank = v.ranks[step] if v.ranks is not None else step
        if rank_of.setdefault(new, rank) != rank:
            raise _cannot(f"there are merges of different ranks that make id {new}, and there a piece has one score")
    below = max(rank_of.values(), default=-1)
    out: list[Piece] = []
    for i in range(natural_rows(v)):
        if i in names:
            kind = UNKNOWN if i == unknown else USER_DEFINED if names[i] in v.added else CONTROL
            out.append(Piece(names[i], 0.0, kind))
        elif i in fallback:
            out.append(Piece(scored.byte_name(fallback[i]), 0.0, BYTE))
        elif i in v.tokens:
            try:
                text = v.tokens[i].decode("utf-8")
            except UnicodeDecodeError:
                raise _cannot(f"id {i} {brief(v.tokens[i])} is no UTF-8") from None
            if around.output is None and SPACE in text:
                raise _cannot(f"id {i} {brief(text)} holds U+2581, which is a space there")
            if i not in rank_of:
                below += 1
            out.append(Piece(text, -float(rank_of.get(i, below)), UNUSED if i in unused or i in v.inert else NORMAL))
        else:
            raise _cannot(f"it has no id {i}, and there the ids have no gaps")
    if unknown is None:
        losses.append(f"an unknown character is the new id {len(out)}, as there must be one; here it is an error")
        out.append(Piece("<unk>", 0.0, UNKNOWN))
    return out


def _set_normaliser(model: Any, step: SentencePiece, output: Any) -> None:
    names = ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces")
    for spec, values in ((model.normalizer_spec, step), (model.denormalizer_spec, output.denormaliser)):
        if values is not None:
            for name in names:
                _set(spec, name, getattr(values, name))
            if values.charsmap or spec.precompiled_charsmap:
                spec.precompiled_charsmap = values.charsmap
    _set(model.trainer_spec, "treat_whitespace_as_suffix", step.treat_whitespace_as_suffix)
    if _surface(model.trainer_spec) != output.surface:
        model.trainer_spec.unk_surface = output.surface.encode()


def _set(spec: Any, name: str, value: Any) -> None:
    """Sets a field that has another value, so that what a file did not say it does not say afterwards."""
    if getattr(spec, name) != value:
        setattr(spec, name, value)


def _compare(tokenizer: Tokenizer, again: Tokenizer, own: bool) -> None:
    """Holds what is read back against the tokenizer; where they differ, SentencePiece would give other ids."""
    if own:
        if tokenizer != again:
            raise _cannot("what is read back differs from it")
        return
    v, w = tokenizer._vocabulary, again._vocabulary
    if tokenizer.pattern not in (resolve("none"), again.pattern):
        raise _cannot(
            f"it cuts text by the pattern {tokenizer.pattern.name or tokenizer.pattern.regex!r}, and there none is cut"
        )
    if _ordered(v) != _ordered(w):
        more = next((m for m in _ordered(w) if m not in _ordered(v)), None)
        why = "merges have another order" if more is None else f"ids {more[0]} and {more[1]} would merge as well"
        raise _cannot(f"there any neighbours merge that make a piece, and {why}")
    if v.order == "pair" and v.unordered_merge is not None:
        raise _cannot("its merges are unordered, and there the leftmost of one rank comes first")
    if v.fallback != w.fallback or (v.unknown_id is not None and v.alphabet.fuse_unknown != w.alphabet.fuse_unknown):
        raise _cannot("it treats unknown characters in another way")


def _ordered(v: Vocabulary) -> dict[tuple[int, int, int], int]:
    """Merge -> its rank, counted without gaps."""
    ranks = v.ranks if v.ranks is not None else range(len(v.merges))
    number = {rank: k for k, rank in enumerate(sorted(set(ranks)))}
    return {merge: number[rank] for merge, rank in zip(v.merges, ranks)}
