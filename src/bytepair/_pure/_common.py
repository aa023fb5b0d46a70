"""What comes in and goes out, as the core's binding takes and gives it."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import BytepairError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NONE = 0xFFFFFFFF
"""No id."""


def as_bytes(data: object) -> bytes:
    if isinstance(data, bytes):
        return data
    if isinstance(data, str):
        return data.encode("utf-8")
    raise TypeError("expected str or bytes")


def only_bytes(data: object) -> bytes:
    if not isinstance(data, bytes):
        raise TypeError(f"expected bytes, got {type(data).__name__}")
    return data


def integers(column: Any) -> list[int]:
    """A numpy array or an ``array`` of integers, as a list."""
    view = memoryview(column)
    if view.ndim != 1 or view.format not in tuple("bBhHiIlLqQ"):
        raise TypeError(f"expected a flat array of integers, got {type(column).__name__}")
    return view.tolist()


def uint32(numbers: Sequence[int]) -> NDArray[np.uint32]:
    import numpy as np

    return np.array(numbers, dtype=np.uint32)


def int64(numbers: Sequence[int]) -> NDArray[np.int64]:
    import numpy as np

    return np.array(numbers, dtype=np.int64)


def describe(offsets: list[int], text: bytes) -> bool:
    """Whether the offsets cut the text into rows."""
    return (
        bool(offsets) and offsets[0] == 0 and offsets[-1] == len(text) and all(map(operator.le, offsets, offsets[1:]))
    )


def rows(text: bytes, offsets: list[int]) -> list[bytes]:
    if not describe(offsets, text):
        raise BytepairError("the offsets do not describe the text")
    return [text[start:end] for start, end in zip(offsets, offsets[1:])]


def characters(text: bytes) -> str:
    """The text's characters; a byte b that is no UTF-8 is one of its own, 0xDC00 | b."""
    return text.decode("utf-8", "surrogateescape")


def checksum(data: bytes | memoryview) -> int:
    """A number that damage changes; another one than the core's, which counts on the processor's ways."""
    from hashlib import sha256

    return int.from_bytes(sha256(data).digest()[:8], "little")
