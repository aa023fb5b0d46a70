"""Gage's byte-pair compressor: the 1994 algorithm that byte-pair encoding comes from, on raw bytes.

It cuts the data into blocks. In each block it replaces the most frequent pair of neighbouring bytes by a byte value
that the block does not use, and repeats until no pair repeats or no value is free. It is here to study and to
teach with: a general compressor such as zlib packs tighter and is faster. It learns no vocabulary (``bytepair.train``
does) and knows nothing of text. Called by users and by ``bytepair gage``.

The choices that the algorithm leaves open
    *Counting*: places that do not overlap, from left to right, so a pair that counts *c* shortens the block by exactly
    *c* bytes: ``aa`` counts 1 in ``aaa`` and 2 in ``aaaa``. (Training a tokenizer counts windows: 2 and 3.)
    *Ties*: among equal counts the pair whose first place is leftmost. *New values*: from 255 down, each one used once.

A worked example, ``ababcabcd``
    ====  ======  =====  ==========  ==================  ======
    step  pair    count  new value   block afterwards    length
    ====  ======  =====  ==========  ==================  ======
    1     a b     3      FF          FF FF c FF c d      6
    2     FF c    2      FE          FF FE FE d          4
    ====  ======  =====  ==========  ==================  ======

    Each pair now stands once, so it stops. Backwards: FE becomes FF c, then FF becomes a b.

The file, integers little-endian
    Header, 21 bytes: ``GAGE``, version (1 byte), block size (4), size of the original (8), CRC-32 of the original (4).
    Then one record for each block, which all hold *block size* bytes of the original, the last one what remains:
    the number *n* of replacements (1); with *n* = 0 the block follows as it is. Otherwise follow the new values
    (up to 32 of them: *n* bytes, from the highest down; more: 32 bytes, value *v* is bit *v* % 8 of byte *v* // 8), the
    *n* pairs in the order of the steps (2 each), the length of the packed block (4) and the packed block.
    A block is stored as it is where packing it gains nothing.

References
    P. Gage, "A New Algorithm for Data Compression", The C Users Journal 12(2), February 1994.
"""

from __future__ import annotations

import itertools
import operator
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, SupportsIndex

from .errors import BytepairError, FormatError

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = [
    "DEFAULT_BLOCK_SIZE",
    "DEFAULT_MAX_SIZE",
    "MAX_BLOCK_SIZE",
    "Replacement",
    "Summary",
    "compress",
    "decompress",
    "summary",
    "trace",
]

DEFAULT_BLOCK_SIZE = 5_000
"""Bytes in a block, the value of Gage's article: long enough for a table to pay, short enough to leave values free."""

MAX_BLOCK_SIZE = 1 << 24
"""The longest block, 16 MiB: it bounds what a few bytes of a hostile file can make grow."""

DEFAULT_MAX_SIZE = 1 << 30
"""What ``decompress`` agrees to write unless told otherwise, 1 GiB."""

_MAGIC = b"GAGE"
_VERSION = 1
_HEADER = struct.Struct("<4sBIQI")
_BLOCK_SIZE_AT, _SIZE_AT, _CRC_AT = 5, 9, 17
_LENGTH = struct.Struct("<I")
_LISTED_VALUES = 32  # more values than this are a bitmap of 32 bytes
_WALK_FROM_TIES = 16
_DAMAGED = "the file is damaged, take a fresh copy of it"

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Replacement:
    """One step of the algorithm: a pair that was replaced everywhere in one block.

    Attributes
    ----------
    block, step
        Number of the block in the data and of the step in the block, both from 1.
    pair
        The two bytes that were replaced; each is a byte of the block or the value of an earlier step.
    value
        The byte value that stands for the pair from now on, 0 to 255.
    count
        How many places were replaced: the block became shorter by so many bytes.
    after
        The block after the step.
    """

    block: int
    step: int
    pair: bytes
    value: int
    count: int
    after: bytes

    @property
    def length(self) -> int:
        """Length of the block after the step, in bytes."""
        return len(self.after)


@dataclass(frozen=True)
class Summary:
    """What a compressed file says about itself; sizes in bytes."""

    size: int
    compressed_size: int
    block_size: int
    blocks: int
    raw_blocks: int
    replacements: int
    crc32: int

    @property
    def ratio(self) -> float:
        """Compressed size over original size: lower is better, above 1 it grew; 1 for empty data."""
        return self.compressed_size / self.size if self.size else 1.0


@dataclass(frozen=True)
class _Record:
    """One checked block of a compressed file: undoing ``steps`` from the last to the first gives ``length`` bytes."""

    length: int
    packed: bytes
    steps: list[tuple[int, bytes]]  # value, pair


def compress(
    data: Buffer,
    *,
    block_size: int = DEFAULT_BLOCK_SIZE,
    min_count: int = 2,
    max_replacements: int | None = None,
    progress: Progress | None = None,
) -> bytes:
    """Compress bytes with Gage's algorithm.

    The cost follows the places replaced, not the data times the steps: one to two seconds for a megabyte of English
    or code with the default block size, in plain Python. It holds the data, the result and a few copies
    of one block.

    Parameters
    ----------
    data
        ``bytes`` or anything that gives its bytes: ``bytearray``, ``memoryview``, an array.
    block_size
        Bytes in a block, 1 to ``MAX_BLOCK_SIZE``. A longer block shares one table among more bytes but leaves fewer
        byte values free; a block that uses all 256 values cannot shrink.
    min_count
        Stop when the best pair counts less than this; 2 or more. A step costs 2 or 3 bytes of table, so in small
        blocks 3 or 4 give a smaller file than 2, which replaces everything that repeats.
    max_replacements
        Stop after so many steps in a block; ``None``: no limit but the free values, never more than 255.
    progress
        Called after each block with the bytes done and the bytes in all.

    Returns
    -------
    bytes
        The header and the blocks; never longer than the data by more than 21 bytes and one byte for each block.

    Raises
    ------
    TypeError
        ``data`` has no bytes, or an option is not an integer.
    BytepairError
        An option is out of its range.

    Examples
    --------
    >>> from bytepair import gage
    >>> packed = gage.compress(b"to be or not to be, " * 50)
    >>> len(packed)
    87
    >>> gage.decompress(packed) == b"to be or not to be, " * 50
    True
    """
    raw = _as_bytes(data, "compress")
    block_size, min_count, limit = _checked_options(block_size, min_count, max_replacements)
    out = bytearray(_HEADER.pack(_MAGIC, _VERSION, block_size, len(raw), zlib.crc32(raw)))
    for start in range(0, len(raw), block_size):
        block = raw[start : start + block_size]
        out += _pack(block, min_count, limit)
        if progress is not None:
            progress(start + len(block), len(raw))
    return bytes(out)


def decompress(data: Buffer, *, max_size: int | None = DEFAULT_MAX_SIZE, progress: Progress | None = None) -> bytes:
    """Give back the bytes that ``compress`` was given; refuse everything that ``compress`` cannot have written.

    Every length is worked out from the pair table before a byte is written, so a hostile file costs no more memory
    than the size it declares, and no more than ``max_size``. A megabyte takes about a tenth of a second.

    Parameters
    ----------
    data
        A whole compressed file, as bytes or anything that gives its bytes.
    max_size
        The largest original, in bytes, that is accepted; ``None``: whatever the file declares.
    progress
        Called after each block with the bytes done and the bytes in all.

    Raises
    ------
    FormatError
        The data is no such file, is cut short, goes on after its end, or is damaged; the message names the offset.
    TypeError
        ``data`` has no bytes, or ``max_size`` is not an integer.
    BytepairError
        ``max_size`` is negative.

    Examples
    --------
    >>> from bytepair import gage
    >>> gage.decompress(gage.compress(b"ababcabcd"))
    b'ababcabcd'
    >>> gage.decompress(b"GAGE")
    Traceback (most recent call last):
    ...
    bytepair.errors.FormatError: offset 4: the file ends inside its header of 21 bytes; take a complete copy of it
    """
    packed = _as_bytes(data, "decompress")
    limit = None if max_size is None else _integer(max_size, "max_size", 0, None)
    _, size, crc = _read_header(packed)
    if limit is not None and size > limit:
        raise FormatError(
            f"offset {_SIZE_AT}: the file declares {size} bytes and the limit is {limit}; "
            f"if you trust it, give a max_size of {size} or more"
        )
    out = bytearray()
    for record in _read_records(packed):
        block = record.packed
        for value, pair in reversed(record.steps):
            block = block.replace(bytes((value,)), pair)
        out += block
        if progress is not None:
            progress(len(out), size)
    found = zlib.crc32(out)
    if found != crc:
        raise FormatError(f"offset {_CRC_AT}: the CRC-32 is {crc:08x} but the content has {found:08x}; {_DAMAGED}")
    return bytes(out)


def trace(
    data: Buffer,
    *,
    block_size: int = DEFAULT_BLOCK_SIZE,
    min_count: int = 2,
    max_replacements: int | None = None,
) -> Iterator[Replacement]:
    """Yield each replacement that ``compress`` makes with the same options, in order, one at a time.

    Blocks that compress would store as they are, because the table costs more than it saves, are traced too.
    The parameters and errors are those of ``compress``; wrong ones raise at the call, not at the first step.

    Examples
    --------
    >>> from bytepair import gage
    >>> for step in gage.trace(b"ababcabcd"):
    ...     print(step.pair, f"{step.value:02X}", step.count, step.after)
    b'ab' FF 3 b'\\xff\\xffc\\xffcd'
    b'\\xffc' FE 2 b'\\xff\\xfe\\xfed'
    """
    raw = _as_bytes(data, "trace")
    block_size, min_count, limit = _checked_options(block_size, min_count, max_replacements)
    return (
        Replacement(number, step, pair, value, count, after)
        for number, start in enumerate(range(0, len(raw), block_size), 1)
        for step, (pair, value, count, after) in enumerate(
            _replacements(raw[start : start + block_size], min_count, limit), 1
        )
    )


def summary(data: Buffer) -> Summary:
    """Read the sizes and counts of a compressed file without decompressing it; the CRC is not verified.

    Raises
    ------
    FormatError
        As for ``decompress``, except a wrong CRC.

    Examples
    --------
    >>> from bytepair import gage
    >>> told = gage.summary(gage.compress(b"ab" * 1000))
    >>> told.size, told.compressed_size, told.replacements
    (2000, 60, 9)
    """
    packed = _as_bytes(data, "summary")
    block_size, size, crc = _read_header(packed)
    blocks = raw_blocks = replacements = 0
    for record in _read_records(packed):
        blocks += 1
        raw_blocks += not record.steps
        replacements += len(record.steps)
    return Summary(size, len(packed), block_size, blocks, raw_blocks, replacements, crc)


class _PairCounts:
    """The counts of the pairs of one block that may still be replaced, also grouped by count.

    A count only falls after its pair is born, so a pair under ``min_count`` is forgotten for good.
    """

    def __init__(self, block: bytes, min_count: int) -> None:
        self._min_count = min_count
        self._counts: dict[bytes, int] = {}
        self._with_count: dict[int, set[bytes]] = {}
        for key, count in Counter(itertools.pairwise(block)).items():
            pair = bytes(key)
            self.put(pair, count if key[0] != key[1] else block.count(pair))

    def put(self, pair: bytes, count: int) -> None:
        old = self._counts.pop(pair, 0)
        if old:
            group = self._with_count[old]
            group.remove(pair)
            if not group:
                del self._with_count[old]
        if count >= self._min_count:
            self._counts[pair] = count
            self._with_count.setdefault(count, set()).add(pair)

    def lower(self, pair: bytes, places: int) -> None:
        if places and pair in self._counts:
            self.put(pair, self._counts[pair] - places)

    def recount(self, pair: bytes, block: bytes) -> None:
        if pair in self._counts:
            self.put(pair, block.count(pair))

    def best(self, block: bytes) -> tuple[bytes, int] | None:
        """Return the pair with the highest count, among equals the one whose first place is leftmost."""
        if not self._counts:
            return None
        highest = max(self._with_count)
        tied = self._with_count[highest]
        if len(tied) < _WALK_FROM_TIES:
            return min(tied, key=block.find), highest
        # Hundreds of pairs tie once counts are down at 2. Searching for each is slow; a walk soon meets one of them.
        return next(pair for at in range(len(block)) if (pair := block[at : at + 2]) in tied), highest


def _replacements(block: bytes, min_count: int, limit: int) -> Iterator[tuple[bytes, int, int, bytes]]:
    """Run the algorithm on one block: pair, new value, count and block after each step.

    The counts are kept, not made anew. Cutting the block at a pair shows all that the step changes: the first and
    the last byte of each part are the neighbours of the places replaced. Pairs of two equal bytes overlap themselves
    and would need the length of each run; at most three change in a step, so ``bytes.count`` counts them again.
    """
    counts = _PairCounts(block, min_count)
    free = sorted(set(range(256)).difference(block), reverse=True)
    for value in free[:limit]:
        best = counts.best(block)
        if best is None:
            return
        pair, count = best
        left, right, new = pair[:1], pair[1:], bytes((value,))
        parts = block.split(pair)
        block = new.join(parts)
        before = Counter(part[-1:] for part in parts[:-1] if part)
        behind = Counter(part[:1] for part in parts[1:] if part)
        touching = parts[1:-1].count(b"")
        counts.put(pair, 0)
        if left != right:
            counts.lower(right + left, touching)
            counts.recount(left * 2, block)
            counts.recount(right * 2, block)
        if touching:
            counts.put(new * 2, block.count(new * 2))
        for neighbour, places in before.items():
            counts.put(neighbour + new, places)
            if neighbour != left:
                counts.lower(neighbour + left, places)
        for neighbour, places in behind.items():
            counts.put(new + neighbour, places)
            if neighbour != right:
                counts.lower(right + neighbour, places)
        yield pair, value, count, block


def _pack(block: bytes, min_count: int, limit: int) -> bytes:
    """Return the record of one block."""
    table, pairs, packed = bytearray(), bytearray(), block
    for pair, value, _, after in _replacements(block, min_count, limit):
        table.append(value)
        pairs += pair
        packed = after
    count = len(table)
    if count > _LISTED_VALUES:
        table[:] = sum(1 << value for value in table).to_bytes(32, "little")
    record = bytes((count,)) + table + pairs + _LENGTH.pack(len(packed)) + packed
    if count and len(record) <= len(block):
        return record
    return b"\0" + block


def _read_header(data: bytes) -> tuple[int, int, int]:
    """Return block size, original size and CRC-32, each one checked as far as the header alone allows."""
    if not _MAGIC.startswith(data[:4]):
        raise FormatError(
            f"offset 0: a file made by bytepair gage begins with {_MAGIC!r}, this begins with {data[:4]!r}; "
            "compress it first, or give the right file"
        )
    if len(data) < _HEADER.size:
        raise FormatError(
            f"offset {len(data)}: the file ends inside its header of {_HEADER.size} bytes; take a complete copy of it"
        )
    _, version, block_size, size, crc = _HEADER.unpack_from(data)
    if version != _VERSION:
        raise FormatError(
            f"offset 4: format version {version}, and this bytepair reads version {_VERSION}; "
            "use the bytepair that wrote it"
        )
    if not 1 <= block_size <= MAX_BLOCK_SIZE:
        raise FormatError(
            f"offset {_BLOCK_SIZE_AT}: a block size of {block_size}, which must be 1 to {MAX_BLOCK_SIZE}; {_DAMAGED}"
        )
    blocks = -(-size // block_size)
    # Every record takes two bytes at least. Without this test a size of 2**64 would promise a very long loop.
    if 2 * blocks > len(data) - _HEADER.size:
        raise FormatError(
            f"offset {_SIZE_AT}: a size of {size} bytes needs {blocks} blocks, more than the "
            f"{len(data) - _HEADER.size} bytes after the header can hold; {_DAMAGED}"
        )
    return block_size, size, crc


def _read_records(data: bytes) -> Iterator[_Record]:
    """Read and check each record, and that nothing follows the last."""
    block_size, size, _ = _read_header(data)
    at = _HEADER.size

    def take(count: int, what: str) -> bytes:
        nonlocal at
        if count > len(data) - at:
            raise FormatError(
                f"offset {at}: {count} bytes expected for {what}, but the file ends after {len(data) - at}; "
                "take a complete copy of it"
            )
        at += count
        return data[at - count : at]

    for start in range(0, size, block_size):
        length = min(block_size, size - start)
        count = take(1, "the number of replacements")[0]
        if count == 0:
            yield _Record(length, take(length, "a block stored as it is"), [])
            continue
        values = _read_values(take(min(count, _LISTED_VALUES), "the new values"), count, at)
        pairs_at = at
        pairs = take(2 * count, "the pairs")
        steps = [(value, pairs[2 * i : 2 * i + 2]) for i, value in enumerate(values)]
        lengths = _expanded_lengths(steps, length, pairs_at)
        (packed_length,) = _LENGTH.unpack(take(4, "the length of a packed block"))
        packed_at = at
        packed = take(packed_length, "a packed block")
        expanded = sum(map(lengths.__getitem__, packed))
        if expanded != length:
            raise FormatError(
                f"offset {packed_at}: the packed block expands to {expanded} bytes where {length} are due; {_DAMAGED}"
            )
        yield _Record(length, packed, steps)
    if at != len(data):
        raise FormatError(
            f"offset {at}: the last block ends here, but {len(data) - at} more bytes follow; "
            "cut them off if something was appended to the file"
        )


def _read_values(table: bytes, count: int, end: int) -> list[int]:
    """Return the new values from the highest down; ``end`` is the offset behind the table."""
    at = end - len(table)
    if count > _LISTED_VALUES:
        bits = int.from_bytes(table, "little")
        values = [value for value in range(255, -1, -1) if bits >> value & 1]
        if len(values) != count:
            raise FormatError(
                f"offset {at}: the bitmap names {len(values)} new values where {count} are due; {_DAMAGED}"
            )
        return values
    for i in range(1, count):
        if table[i] >= table[i - 1]:
            fault = "stands twice" if table[i] in table[:i] else f"stands after {table[i - 1]:02X}"
            raise FormatError(f"offset {at + i}: the new values must fall, but {table[i]:02X} {fault}; {_DAMAGED}")
    return list(table)


def _expanded_lengths(steps: list[tuple[int, bytes]], length: int, at: int) -> list[int]:
    """Return how many bytes of the original each byte value stands for; ``at`` is the offset of the pairs.

    A pair may use plain bytes and the values of earlier steps only, so no value can lead back to itself. A chain of
    pairs doubles with each step: what is longer than the block is refused here, before anything is expanded.
    """
    lengths = [1] * 256
    undefined = {value for value, _ in steps}
    for i, (value, pair) in enumerate(steps):
        for side, part in enumerate(pair):
            if part in undefined:
                fault = (
                    "itself, a loop" if part == value else f"{part:02X}, which is made later: they could form a loop"
                )
                raise FormatError(f"offset {at + 2 * i + side}: the pair of {value:02X} uses {fault}; {_DAMAGED}")
        undefined.remove(value)
        lengths[value] = lengths[pair[0]] + lengths[pair[1]]
        if lengths[value] > length:
            raise FormatError(
                f"offset {at + 2 * i}: {value:02X} stands for {lengths[value]} bytes in a block of {length}; {_DAMAGED}"
            )
    return lengths


def _checked_options(block_size: int, min_count: int, max_replacements: int | None) -> tuple[int, int, int]:
    limit = 255 if max_replacements is None else _integer(max_replacements, "max_replacements", 0, None)
    return _integer(block_size, "block_size", 1, MAX_BLOCK_SIZE), _integer(min_count, "min_count", 2, None), limit


def _integer(value: SupportsIndex, name: str, low: int, high: int | None) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {type(value).__name__} {value!r}") from None
    if number < low or (high is not None and number > high):
        span = f"{low} or more" if high is None else f"{low} to {high}"
        raise BytepairError(f"{name} is {number}; it must be {span}")
    return number


def _as_bytes(data: Buffer, function: str) -> bytes:
    if isinstance(data, bytes):
        return data
    try:
        return memoryview(data).tobytes()
    except TypeError:
        cure = "encode the text first: text.encode()" if isinstance(data, str) else "give bytes, or read the file first"
        raise TypeError(f"gage.{function} takes bytes, not {type(data).__name__}; {cure}") from None
