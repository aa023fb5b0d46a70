"""The texts of a pyarrow array, as they lie in memory.

Nothing here imports pyarrow: an array brings all that is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from .errors import BytepairError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["is_array", "listed", "texts"]

_WIDTHS = {"string": "int32", "binary": "int32", "large_string": "int64", "large_binary": "int64"}


def is_array(value: object) -> bool:
    """Whether it is a pyarrow Array or ChunkedArray of texts in one buffer each."""
    if not type(value).__module__.startswith("pyarrow") or not hasattr(value, "type"):
        return False
    return str(value.type) in _WIDTHS


def texts(array: Any) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.int64]]]:
    """For each chunk its bytes, and where in them each text begins; the last place is where the last one ends.

    Raises
    ------
    BytepairError
        A row is null.
    """
    import numpy as np

    row = 0
    for chunk in getattr(array, "chunks", [array]):
        if chunk.null_count:
            first = row + chunk.is_null().index(True).as_py()
            raise BytepairError(
                f'row {first} of the texts is null; fill it first, as pyarrow.compute.fill_null(texts, "") does'
            )
        row += len(chunk)
        _, places, data = chunk.buffers()
        bytes_of = (
            np.frombuffer(data, dtype=np.uint8) if data is not None and data.size else np.empty(0, dtype=np.uint8)
        )
        if places is None or not len(chunk):
            yield bytes_of, np.zeros(1, dtype=np.int64)
            continue
        offsets = np.frombuffer(places, dtype=_WIDTHS[str(chunk.type)])
        yield bytes_of, offsets[chunk.offset : chunk.offset + len(chunk) + 1].astype(np.int64)


def listed(array: Any) -> list[str | bytes]:
    """The texts as Python's objects."""
    return [data[a:b].tobytes() for data, offsets in texts(array) for a, b in pairwise(offsets.tolist())]
