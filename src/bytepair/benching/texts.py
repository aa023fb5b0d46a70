"""Texts to time on: real ones in pieces and in another order, random ones, and the worst that there are.

Everything is made from a size and a seed, so that it is the same on every machine, and another seed is a text that no
cache has seen.
"""

from __future__ import annotations

import base64
import random
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path

from ..errors import BytepairError

MB = 1_000_000

_NOT_THE_LIBRARY = {"site-packages", "dist-packages", "__pycache__"}


def library(size: int) -> bytes:
    """``size`` bytes of the Python standard library's own sources, whole files as far as they go.

    Raises
    ------
    BytepairError
        There are not so many.
    """
    folder = Path(sysconfig.get_path("stdlib"))
    out = bytearray()
    for path in sorted(folder.rglob("*.py")):
        if _NOT_THE_LIBRARY.isdisjoint(path.parts):
            out += path.read_bytes()
            if len(out) >= size:
                return bytes(out[:size])
    raise BytepairError(f"{folder} has only {len(out)} bytes of Python sources, not {size}; name a text instead")


def pieces(data: bytes, size: int = MB) -> list[bytes]:
    """The text in pieces of about ``size`` bytes, cut between characters.

    Examples
    --------
    >>> pieces("aéa".encode(), 2)
    [b'a', b'\\xc3\\xa9', b'a']
    """
    out, start = [], 0
    while start < len(data):
        end = start + size
        # A character has at most three bytes more; what has more of them is no UTF-8 and may be cut anywhere.
        for back in range(4):
            if end - back >= len(data) or data[end - back] & 0xC0 != 0x80:
                end -= back
                break
        out.append(data[start : max(end, start + 1)])
        start = max(end, start + 1)
    return out


def other_order(data: bytes, seed: int = 0) -> bytes:
    """The same lines in another order: words that were seen, in places where they were not."""
    lines = data.splitlines(keepends=True)
    random.Random(seed).shuffle(lines)  # noqa: S311
    return b"".join(lines)


def short(data: bytes, number: int = 20_000, length: int = 40) -> list[str]:
    """Up to ``number`` different strings of ``length`` characters, from all over the text."""
    text = data.decode("utf-8", "replace")
    step = max(1, len(text) // (2 * number))
    found = dict.fromkeys(text[at : at + length] for at in range(0, max(1, len(text) - length), step))
    return list(found)[:number]


def words(size: int, seed: int = 0) -> bytes:
    """Random words of 6 to 14 letters, each of them once, with spaces between: a cache is of no use."""
    import numpy as np

    rng = np.random.default_rng(seed)
    number = size // 10  # a word and its space have eleven bytes on average
    letters = (rng.integers(0, 26, 14 * number, dtype=np.uint8) + ord("a")).tobytes()
    lengths = rng.integers(6, 15, number).tolist()
    found = dict.fromkeys(letters[14 * at : 14 * at + length] for at, length in enumerate(lengths))
    return b" ".join(found)[:size]


def _repeated(character: bytes) -> Callable[[int, int], bytes]:
    return lambda size, _: character * size


def _drawn(*points: Sequence[int]) -> Callable[[int, int], bytes]:
    """Random characters of some ranges."""

    def make(size: int, seed: int) -> bytes:
        import numpy as np

        there = np.concatenate([np.array(some, dtype="<u4") for some in points])
        return _text(there[np.random.default_rng(seed).integers(0, len(there), size)], size)

    return make


def _random_bytes(size: int, seed: int) -> bytes:
    return random.Random(seed).randbytes(size)  # noqa: S311


def _zalgo(size: int, seed: int) -> bytes:
    """Letters, each under twelve random marks."""
    import numpy as np

    rng = np.random.default_rng(seed)
    stacks = rng.integers(0x300, 0x370, (size // 20, 13)).astype("<u4")
    stacks[:, 0] = rng.integers(ord("a"), ord("z") + 1, len(stacks))
    return _text(np.tile(stacks.ravel(), 2), size)


def _text(points: object, size: int) -> bytes:
    """The first ``size`` bytes of some code points, or a few less: whole characters."""
    data: bytes = points.tobytes().decode("utf-32-le").encode()  # type: ignore[attr-defined]
    return data[:size].decode("utf-8", "ignore").encode()


WORST: dict[str, Callable[[int, int], bytes]] = {
    "one letter": _repeated(b"a"),
    "random letters": _drawn(range(ord("a"), ord("z") + 1)),
    "spaces": _repeated(b" "),
    "newlines": _repeated(b"\n"),
    "emoji": _drawn(range(0x1F300, 0x1F650), range(0x1F900, 0x1FA00), [0x200D, 0xFE0F] * 50),
    "base64": lambda size, seed: base64.b64encode(_random_bytes(size * 3 // 4, seed)),
    "CJK": _drawn(range(0x4E00, 0x9FA6)),
    "Thai": _drawn(range(0x0E01, 0x0E3B), range(0x0E40, 0x0E4F)),
    "Zalgo": _zalgo,
    "random bytes": _random_bytes,
}
"""Name -> what makes the text from its size and a seed: long pretokens, rare characters, no word twice."""
