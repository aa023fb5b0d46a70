"""Rows of ids of different lengths in two flat arrays. ``Tokenizer.encode_batch_array`` makes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from ._check import whole
from .errors import BytepairError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Ragged:
    """A batch of token ids without padding.

    Parameters
    ----------
    ids : uint32 array, shape (n_tokens,)
        The ids of all rows, one after the other.
    offsets : int64 array, shape (n_rows + 1,)
        Row ``i`` is ``ids[offsets[i]:offsets[i + 1]]``.
    pad_id : int, optional
        What :meth:`padded` fills up with unless told otherwise; a tokenizer gives its own pad token.

    Examples
    --------
    >>> import numpy as np
    >>> rows = Ragged(np.array([7, 8, 9], dtype=np.uint32), np.array([0, 2, 3]), pad_id=0)
    >>> len(rows), rows[0].tolist(), rows.to_lists()
    (2, [7, 8], [[7, 8], [9]])
    >>> ids, mask = rows.padded(length=3)
    >>> ids.tolist(), mask.tolist()
    ([[7, 8, 0], [9, 0, 0]], [[1, 1, 0], [1, 0, 0]])
    """

    __slots__ = ("ids", "offsets", "pad_id")

    def __init__(self, ids: NDArray[np.uint32], offsets: NDArray[np.int64], pad_id: int | None = None) -> None:
        import numpy as np

        ids, offsets = np.asarray(ids, dtype=np.uint32), np.asarray(offsets, dtype=np.int64)
        if ids.ndim != 1 or offsets.ndim != 1:
            raise BytepairError("ids and offsets are flat arrays, of shape (n_tokens,) and (n_rows + 1,)")
        if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(ids) or (offsets[1:] < offsets[:-1]).any():
            raise BytepairError(f"offsets must rise from 0 to the {len(ids)} ids there are")
        self.ids = ids
        self.offsets = offsets
        self.pad_id = pad_id

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> NDArray[np.uint32]:
        """The ids of one row, a view."""
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} does not exist; there are {len(self)}")
        row %= len(self)
        return self.ids[self.offsets[row] : self.offsets[row + 1]]

    def __iter__(self) -> Iterator[NDArray[np.uint32]]:
        return (self[row] for row in range(len(self)))

    def __repr__(self) -> str:
        return f"Ragged({len(self)} rows, {len(self.ids)} ids)"

    def to_lists(self) -> list[list[int]]:
        """The rows as lists of int."""
        ids, offsets = self.ids.tolist(), self.offsets.tolist()
        return [ids[start:end] for start, end in zip(offsets, offsets[1:])]

    def padded(
        self,
        pad_id: int | None = None,
        length: int | None = None,
        side: Literal["right", "left"] = "right",
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """The rows as one rectangle, for a model.

        Parameters
        ----------
        pad_id : int, optional
            The id to fill up with; the tokenizer's pad token by default.
        length : int, optional
            Tokens in each row; the longest row's number by default. A longer row is an error, never cut.
        side : "right" or "left"
            Where the padding goes.

        Returns
        -------
        ids : uint32 array, shape (n_rows, length)
        mask : uint8 array, shape (n_rows, length)
            1 where a token stands, 0 where padding does.

        Raises
        ------
        BytepairError
            No pad id is known, a row is longer than ``length``, or ``side`` is something else.
        """
        import numpy as np

        fill = self.pad_id if pad_id is None else pad_id
        if fill is None:
            raise BytepairError("this tokenizer has no pad token; give padded(pad_id=...)")
        fill = whole("pad_id", fill, 0, BytepairError, 0xFFFFFFFF)
        if side not in ("right", "left"):
            raise BytepairError(f'side is {side!r}; it can be "right" or "left"')
        lengths = np.diff(self.offsets)
        longest = int(lengths.max(initial=0))
        if length is None:
            length = longest
        length = whole("length", length, 0, BytepairError)
        if longest > length:
            row = int(lengths.argmax())
            raise BytepairError(f"row {row} has {longest} tokens, more than length={length}; cut the text first")
        places = np.arange(length)
        if side == "right":
            filled = places < lengths[:, None]
        else:
            filled = places >= length - lengths[:, None]
        out = np.full((len(self), length), fill, dtype=np.uint32)
        out[filled] = self.ids
        return out, filled.astype(np.uint8)
