"""Vocabularies of pieces that merge by score: SentencePiece's byte-pair encoding, which llama.cpp took over.

Any two neighbours merge whose concatenation is a piece, the highest score first and of equal ones the leftmost. So each
way to make a piece of two others is a merge, and pieces of one score share a rank. ``sentencepiece`` and ``gguf`` read
files into :class:`Piece` and call :func:`vocabulary`; :func:`merges` serves writing as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .._check import brief
from ..errors import FormatError
from ..listed import Token, listed
from ..pattern import Pattern, resolve

if TYPE_CHECKING:
    from ..vocabulary import Vocabulary

__all__ = ["BYTE", "CONTROL", "NORMAL", "SPACE", "UNKNOWN", "UNUSED", "USER_DEFINED", "Merge", "Piece"]

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
"""The types of pieces, with the numbers that the files have."""

SPACE = "\u2581"
MAX_SPLITS = 1 << 30
"""Characters that may be looked at to find all merges, the square of each piece's length: a thousand times what the
largest vocabularies need."""

_BYTE = re.compile("<0x([0-9A-F]{2})>")


class Piece(NamedTuple):
    text: str
    score: float
    kind: int


Merge = tuple[int, int, int]


def byte_of(text: str) -> int | None:
    """The byte that a piece stands for by its name."""
    found = _BYTE.fullmatch(text)
    return None if found is None else int(found[1], 16)


def byte_name(byte: int) -> str:
    return f"<0x{byte:02X}>"


def check(pieces: Sequence[Piece]) -> int:
    """What the owner checks when it loads a model; returns the id of the unknown piece."""
    ids: dict[str, int] = {}
    unknown = None
    for i, piece in enumerate(pieces):
        if not piece.text:
            raise FormatError(f"piece {i} is empty, and no text can hold it; take it out")
        if ids.setdefault(piece.text, i) != i:
            raise FormatError(f"piece {i} is {brief(piece.text)}, as piece {ids[piece.text]} is; take one out")
        if not NORMAL <= piece.kind <= BYTE:
            raise FormatError(f"piece {i} {brief(piece.text)} has the type {piece.kind}; there are 1 to 6")
        if piece.score != piece.score:
            raise FormatError(f"piece {i} {brief(piece.text)} has no number as its score; give it one")
        if piece.kind == BYTE and byte_of(piece.text) is None:
            raise FormatError(
                f"piece {i} {brief(piece.text)} is a byte by its type, and such are named <0x00> to <0xFF>"
            )
        if piece.kind == UNKNOWN:
            if unknown is not None:
                raise FormatError(f"pieces {unknown} and {i} are both of the type for what is unknown; there is one")
            unknown = i
    if unknown is None:
        raise FormatError(
            "no piece has the type for what is unknown (2), which its owner wants; the file may be cut off"
        )
    return unknown


def merging(pieces: Iterable[Piece]) -> dict[str, int]:
    """The pieces that are made of text by merging, with their ids."""
    return {piece.text: i for i, piece in enumerate(pieces) if piece.kind in (NORMAL, UNUSED)}


def merges(pieces: Sequence[Piece]) -> tuple[list[Merge], list[int]]:
    """All merges, the lowest rank first, and their ranks.

    Raises
    ------
    FormatError
        A piece holds a character that is no piece: its owner merges even that, and we do not.
    """
    ids = merging(pieces)
    fixed = {piece.text for piece in pieces if piece.kind == USER_DEFINED}
    if sum(len(text) ** 2 for text in ids) > MAX_SPLITS:
        longest = max(ids, key=len)
        raise FormatError(
            f"the pieces are too long to be a vocabulary: piece {ids[longest]} has {len(longest)} characters"
        )
    found: list[tuple[float, Merge]] = []
    for text, i in ids.items():
        for cut in range(1, len(text)):
            left, right = text[:cut], text[cut:]
            if left in ids and right in ids:
                found.append((pieces[i].score, (ids[left], ids[right], i)))
            elif _may_be(left, ids, fixed) and _may_be(right, ids, fixed):
                missing = left if left not in ids else right
                raise FormatError(
                    f"piece {i} {brief(text)} can be made of {missing!r}, which is no piece itself: add it as one, or "
                    "encode with the `sentencepiece` library"
                )
    found.sort(key=lambda one: -one[0])
    rank_of = {score: rank for rank, score in enumerate(dict.fromkeys(score for score, _ in found))}
    return [merge for _, merge in found], [rank_of[score] for score, _ in found]


def _may_be(part: str, ids: Mapping[str, int], fixed: set[str]) -> bool:
    """Whether a text can stand alone before any merge, or be made."""
    return part in ids or (len(part) == 1 and part not in fixed)


def vocabulary(pieces: Sequence[Piece], roles: Mapping[str, str], normalized: bool = True) -> Vocabulary:
    """The vocabulary; the id of a piece is its place.

    ``normalized``: pieces that the user defined are looked for in the normalised text, or else in the text as it comes.
    """
    unknown = check(pieces)
    bytes_of = {i: byte_of(piece.text) or 0 for i, piece in enumerate(pieces) if piece.kind == BYTE}
    if bytes_of and len(set(bytes_of.values())) != 256:
        there = set(bytes_of.values())
        missing = next(byte for byte in range(256) if byte not in there)
        raise FormatError(f"the piece {byte_name(missing)} is missing; of bytes there are all 256 or none")
    steps, ranks = merges(pieces)
    ids = merging(pieces)
    tokens = {i: Token(text.encode()) for text, i in ids.items()} | {i: Token(bytes([b])) for i, b in bytes_of.items()}
    # An unused character is unknown; where it takes part in merging it is split again like other unused pieces.
    in_merges = {i for merge in steps for i in merge}
    unused = {i for i, piece in enumerate(pieces) if piece.kind == UNUSED and len(piece.text) == 1}
    if not bytes_of and unused & in_merges:
        i = min(unused & in_merges)
        raise FormatError(
            f"piece {i} {brief(pieces[i].text)} is unused and pieces are made of it, while it is unknown itself; the "
            "`sentencepiece` library runs it"
        )
    user_defined = {piece.text: i for i, piece in enumerate(pieces) if piece.kind == USER_DEFINED}
    return listed(
        kind="characters",
        tokens=tokens,
        merges=steps,
        ranks=ranks,
        inert=unused - in_merges,
        specials={piece.text: i for i, piece in enumerate(pieces) if piece.kind in (CONTROL, UNKNOWN)},
        added=user_defined,
        flags={name: ("normalized",) for name in user_defined if normalized},
        roles=roles,
        fallback={byte: i for i, byte in bytes_of.items()},
        unknown_id=unknown,
        fuse_unknown=not bytes_of,
    )


def splits(pieces: Sequence[Piece], steps: Iterable[Merge]) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """What each unused piece becomes again once all is merged: its parts, and a character its bytes.

    Raises
    ------
    FormatError
        One could be made in two ways: then its owner's result depends on the rest of the text.
    """
    parts: dict[int, tuple[int, int]] = {}
    for left, right, new in steps:
        if pieces[new].kind != UNUSED:
            continue
        if new in parts:
            raise FormatError(
                f"piece {new} {brief(pieces[new].text)} is unused and can be made in two ways, so that it is split "
                "again in the one or the other; the `sentencepiece` library runs it"
            )
        parts[new] = (left, right)
    byte_ids = {byte_of(piece.text): i for i, piece in enumerate(pieces) if piece.kind == BYTE}
    whole = {
        i: tuple(byte_ids[byte] for byte in piece.text.encode())
        for i, piece in enumerate(pieces)
        if piece.kind == UNUSED and len(piece.text) == 1 and byte_ids
    }
    for new in sorted(parts, key=lambda i: len(pieces[i].text)):
        whole[new] = tuple(i for part in parts[new] for i in whole.get(part, (part,)))
    return tuple(sorted(whole.items()))


def pattern(pieces: Sequence[Piece], space: str = SPACE) -> Pattern:
    """How text may be cut before merging so that nothing changes.

    The owner cuts nothing. Where no piece has a space behind another character, none is made across the place before
    such a space; and where none has one before another character, none across the place behind it. A space that is
    unknown would be one token with unknown neighbours, so there nothing is cut.
    """
    ids = merging(pieces)
    known = any(
        piece.kind == BYTE or (piece.text == space and piece.kind in (NORMAL, USER_DEFINED)) for piece in pieces
    )
    if known and not any(re.search(f"[^{space}]{space}", text) for text in ids):
        return Pattern(f"{space}*[^{space}]+|{space}+", dialect="tiktoken")
    if known and not any(re.search(f"{space}[^{space}]", text) for text in ids):
        return Pattern(f"[^{space}]*{space}+|[^{space}]+", dialect="tiktoken")
    return resolve("none")
