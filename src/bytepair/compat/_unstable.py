"""Which tokens the end of a text may still become, as tiktoken's ``encode_with_unstable`` sees it.

A text's last piece is unstable: more text may change its tokens. Its completions are the ways in which it, and the
token that reaches beyond it, can be encoded. Source: the algorithm of tiktoken's ``_encode_unstable_native``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence

Encode = Callable[[str], list[int]]
EncodePiece = Callable[[bytes], list[int]]


def last_piece_length(tokens: Sequence[int], length: int, token_bytes: Callable[[int], bytes]) -> int:
    """How many of the last tokens may change: those of the last piece, and all white space before white space."""

    def blank(token: int) -> bool:
        return not token_bytes(token).strip(b" \n\t")

    if length and blank(tokens[-length]):
        while length < len(tokens) and blank(tokens[-length - 1]):
            length += 1
    return length


def completions(
    unstable: bytes,
    ranks: Mapping[bytes, int],
    ordered: Sequence[bytes],
    token_bytes: Callable[[int], bytes],
    encode: Encode,
    encode_piece: EncodePiece,
) -> list[list[int]]:
    """All that unstable bytes may become, sorted.

    ``ordered`` are the tokens in the order of their bytes, ``encode`` encodes a text, ``encode_piece`` merges bytes
    without cutting them.
    """
    found: set[tuple[int, ...]] = {(ranks[token],) for token in starting_with(unstable, ordered)}
    # A token may straddle the end: what it adds is added at every place where it may begin, and all is encoded anew.
    for cut in range(1, len(unstable)):
        for token in starting_with(unstable[cut:], ordered):
            longer = unstable[:cut] + token
            try:
                ids = encode(longer.decode("utf-8"))
            except UnicodeDecodeError:
                ids = encode_piece(longer)
            found.add(covering(ids, len(unstable), token_bytes))
    # White space at the end may be cut off from what is before it, as \s+(?!\S) does.
    last = last_character(unstable)
    if last is not None and is_white(last) and len(unstable) > len(last.encode()):
        end = len(unstable) - len(last.encode())
        found.add((*encode_piece(unstable[:end]), *encode_piece(unstable[end:])))
    return [list(ids) for ids in sorted(found)]


def starting_with(start: bytes, ordered: Sequence[bytes]) -> Iterator[bytes]:
    for place in range(bisect_left(ordered, start), len(ordered)):
        if not ordered[place].startswith(start):
            return
        yield ordered[place]


def covering(ids: Sequence[int], length: int, token_bytes: Callable[[int], bytes]) -> tuple[int, ...]:
    """The first ids, up to the one that reaches ``length`` bytes."""
    reached = 0
    for place, i in enumerate(ids):
        reached += len(token_bytes(i))
        if reached >= length:
            return tuple(ids[: place + 1])
    return tuple(ids)


def last_character(data: bytes) -> str | None:
    """The last character of bytes, or None where they end in what is no UTF-8."""
    for size in range(1, min(4, len(data)) + 1):
        try:
            return data[-size:].decode("utf-8")
        except UnicodeDecodeError:
            continue
    return None


def is_white(character: str) -> bool:
    """Unicode's White_Space, which unlike Python's has no U+001C to U+001F."""
    return character.isspace() and not "\x1c" <= character <= "\x1f"


def merged(piece: bytes, ranks: Mapping[bytes, int]) -> list[int]:
    """The tokens of a short piece by merges alone, even where the piece is a token that no merges reach."""
    parts = [piece[i : i + 1] for i in range(len(piece))]
    while True:
        known = [(ranks[a + b], i) for i, (a, b) in enumerate(zip(parts, parts[1:])) if a + b in ranks]
        if not known:
            return [ranks[part] for part in parts]
        _, i = min(known)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
