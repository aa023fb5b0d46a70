"""The packed form of a rank file: each token as the two tokens it is made of.

A packed file is one xz stream. It holds six planes: the low, middle and high bytes of the left parts' ids, then those
of the right parts'. The tokens follow each other by id; a part's id is always lower than that of the whole. Such pairs
compress to less than the tokens' own bytes do, and they are the merges where a merge list is what they come from.
``tools/write_bundled.py`` writes these files.
"""

from __future__ import annotations

import lzma
import sys
from array import array
from collections.abc import Iterator, Sequence
from pkgutil import get_data

from ..errors import FormatError

FILTERS = [
    {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 0, "lp": 0, "pb": 0, "dict_size": 1 << 22}
]
"""Planes of ids have no words to remember, so no literal's coding depends on its neighbour or its place."""

PLANES = 3


def pack(pairs: Sequence[tuple[int, int]]) -> bytes:
    """The packed form of (left id, right id); ids below 2^24."""
    sides = [b"".join(pair[side].to_bytes(PLANES, "little") for pair in pairs) for side in (0, 1)]
    planes = b"".join(side[plane::PLANES] for side in sides for plane in range(PLANES))
    return lzma.compress(planes, format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC32, filters=FILTERS)


def unpack(data: bytes) -> Iterator[tuple[int, int]]:
    """The (left id, right id) of each token, by id.

    Examples
    --------
    >>> list(unpack(pack([(1, 2), (70000, 3)])))
    [(1, 2), (70000, 3)]
    """
    planes = lzma.decompress(data, format=lzma.FORMAT_XZ)
    n = len(planes) // (2 * PLANES)
    sides = []
    for first in (0, PLANES):
        wide = bytearray(4 * n)
        for plane in range(PLANES):
            at = (first + plane) * n
            wide[plane::4] = planes[at : at + n]
        side = array("I", bytes(wide))
        if sys.byteorder == "big":
            side.byteswap()
        sides.append(side)
    return zip(*sides)


def read(name: str) -> Iterator[tuple[int, int]]:
    """The pairs of one of the package's own files."""
    try:
        return unpack(get_data(__package__, f"{name}.xz") or b"")
    except (OSError, lzma.LZMAError, EOFError) as error:
        raise FormatError(
            f"the vocabulary data {name}.xz inside the package cannot be read ({error}); install bytepair again"
        ) from error
