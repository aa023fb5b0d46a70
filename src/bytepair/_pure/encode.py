"""From pretokens to ids: alphabets, merges by rank, and a bounded cache."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import chain
from typing import TYPE_CHECKING, Any

from ..errors import BytepairError, VocabularyError, unknown_character
from ._common import NONE, as_bytes, characters, describe, int64, integers, only_bytes, rows, uint32
from .cut import ClassTable, Specials, Splitter, Stream

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MAX_ID = (1 << 21) - 1
"""The highest id that a packed pair can hold."""
_LOW = 0xFFFFFFFF
"""Masks the lower half of a number that holds two."""


class Alphabet:
    """Made by :meth:`of_bytes` or :meth:`of_characters`."""

    def __init__(
        self,
        points: dict[str, int] | None,
        last_points: dict[str, int],
        byte_ids: list[int],
        last_bytes: list[int],
        fused: bool,
        mark: int,
        unknown: str,
        unknown_id: int,
    ) -> None:
        self._points = points
        self._last_points = last_points
        self._byte_ids = byte_ids
        self._last_bytes = last_bytes
        self._fused = fused
        self._mark = mark
        self._unknown = unknown
        self._unknown_id = unknown_id
        self._end = [] if fused or mark == NONE else [mark]

    @staticmethod
    def of_bytes(ids: Sequence[int], last: Sequence[int], mark: int) -> Alphabet:
        if len(ids) != 256 or (last and len(last) != 256):
            raise VocabularyError("alphabet: 256 byte symbols are needed")
        return Alphabet(None, {}, list(ids), list(last), bool(last), mark, "error", NONE)

    @staticmethod
    def of_characters(
        points: Sequence[int],
        ids: Sequence[int],
        last_points: Sequence[int],
        last_ids: Sequence[int],
        fused: bool,
        mark: int,
        unknown: str,
        bytes: Sequence[int],
        unknown_id: int,
    ) -> Alphabet:
        if unknown == "bytes" and len(bytes) != 256:
            raise VocabularyError("alphabet: 256 byte symbols are needed")
        for some, their_ids in ((points, ids), (last_points, last_ids)):
            if len(some) != len(their_ids):
                raise VocabularyError("alphabet: characters and ids differ in number")
            if any(point > 0x10FFFF for point in some):
                raise VocabularyError("alphabet: a code point is out of range")
        inner, last = dict(zip(map(chr, points), ids)), dict(zip(map(chr, last_points), last_ids))
        return Alphabet(inner, last, list(bytes), [], fused, mark, unknown, unknown_id)

    @staticmethod
    def of_listed(
        characters: bool,
        points: Sequence[Sequence[int]],
        ids: Sequence[Sequence[int]],
        last: bool,
        continued: bool,
        fallback: Sequence[int],
        unknown_id: int,
        fuse_unknown: bool,
    ) -> Alphabet:
        return _Listed(characters, points, ids, last, continued, fallback, unknown_id, fuse_unknown)

    def symbols(self, pretoken: bytes, dropped: ClassTable | None) -> list[int]:
        if not only_bytes(pretoken) or (dropped and dropped.covers(pretoken, 1)):
            return []
        return self.first_symbols(pretoken, 0, None)

    def first_symbols(self, pretoken: bytes, offset: int, document: int | None) -> list[int]:
        """The symbols of a pretoken that is not empty; where it stands only serves the error."""
        if self._points is None:
            symbols = list(map(self._byte_ids.__getitem__, pretoken))
            if self._fused:
                symbols[-1] = self._last_bytes[pretoken[-1]]
            return symbols + self._end
        symbols = []
        text = characters(pretoken)
        last = len(text) - 1 if self._fused else -1
        for place, character in enumerate(text):
            marked = place == last
            symbol = (self._last_points if marked else self._points).get(character)
            if symbol is not None:
                symbols.append(symbol)
            elif self._unknown == "error":
                before = len(text[:place].encode("utf-8", "surrogateescape"))
                raise unknown_character(ord(character), offset + before, document)
            elif self._unknown == "bytes":
                symbols += map(self._byte_ids.__getitem__, character.encode("utf-8", "surrogateescape"))
                if marked:
                    symbols.append(self._mark)
            else:
                symbols.append(self._unknown_id)
        return symbols + self._end


class _Listed(Alphabet):
    """The symbols that a file lists, in four forms: plain, last, continued, both."""

    def __init__(
        self,
        characters: bool,
        points: Sequence[Sequence[int]],
        ids: Sequence[Sequence[int]],
        last: bool,
        continued: bool,
        fallback: Sequence[int],
        unknown_id: int,
        fuse_unknown: bool,
    ) -> None:
        if len(points) != 4 or len(ids) != 4:
            raise VocabularyError("alphabet: four forms are needed")
        if fallback and len(fallback) != 256:
            raise VocabularyError("alphabet: 256 byte symbols are needed")
        for some, their_ids in zip(points, ids):
            if len(some) != len(their_ids):
                raise VocabularyError("alphabet: characters and ids differ in number")
            if any(point > 0x10FFFF for point in some):
                raise VocabularyError("alphabet: a code point is out of range")
        super().__init__(None, {}, list(fallback), [], last, NONE, "error", unknown_id)
        self._characters = characters
        self._forms = [dict(zip(some, their_ids)) for some, their_ids in zip(points, ids)]
        self._continued = continued
        self._fuse_unknown = fuse_unknown

    def first_symbols(self, pretoken: bytes, offset: int, document: int | None) -> list[int]:
        if self._characters:
            units = [(ord(c), c.encode("utf-8", "surrogateescape")) for c in characters(pretoken)]
        else:
            units = [(byte, bytes([byte])) for byte in pretoken]
        symbols: list[int] = []
        after_unknown = False
        for place, (point, text) in enumerate(units):
            form = (self._fused and place == len(units) - 1) + 2 * (self._continued and place > 0)
            symbol = self._forms[form].get(point)
            fallback = [self._byte_ids[byte] for byte in text] if self._byte_ids and symbol is None else [NONE]
            if symbol is not None:
                symbols.append(symbol)
            elif NONE not in fallback:
                symbols += fallback
            elif self._unknown_id == NONE:
                raise unknown_character(point, offset + sum(len(before) for _, before in units[:place]), document)
            elif not (after_unknown and self._fuse_unknown):
                symbols.append(self._unknown_id)
            after_unknown = symbol is None and NONE in fallback
        return symbols


def collect_characters(
    text: bytes, offsets: Any, dropped: ClassTable | None
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    inner: set[str] = set()
    last: set[str] = set()
    for word in rows(only_bytes(text), integers(offsets)):
        if not dropped or not dropped.covers(word, 1):
            text_of = characters(word)
            inner.update(text_of[:-1])
            last.update(text_of[-1:])
    return uint32(sorted(map(ord, inner))), uint32(sorted(map(ord, last)))


class TokenTable:
    def __init__(self, text: bytes, offsets: Any, ids: Any, later: bool = False) -> None:
        """``later``: of two tokens with the same bytes only the first is found."""
        starts, numbers = integers(offsets), integers(ids)
        if not describe(starts, only_bytes(text)) or len(starts) != len(numbers) + 1:
            raise VocabularyError("tokens: the offsets do not describe the text")
        self.by_bytes: dict[bytes, int] = {}
        for token, number in zip(rows(text, starts), numbers):
            if token in self.by_bytes and later:
                continue
            if token in self.by_bytes:
                raise VocabularyError(f"token {number} has the bytes of another token")
            self.by_bytes[token] = number


class PairTable:
    """Made by :meth:`of_merges` or :meth:`of_ranks`.

    ``codes`` gives each pair its rank, and below it in the lower 32 bits its id: the lowest code has the lowest rank.
    Where several pairs share a rank, which is ``shared``, the first place in a word goes first, whatever the ids.
    """

    def __init__(self, codes: dict[tuple[int, int], int], shared: bool = False, ranks: bool = False) -> None:
        self.codes = codes
        self.shared = shared
        self.of_rank_rule = ranks

    @staticmethod
    def of_merges(left: Any, right: Any, ids: Any, ranks: Any = None) -> PairTable:
        columns = integers(left), integers(right), integers(ids)
        by = range(len(columns[0])) if ranks is None else integers(ranks)
        if len({len(by), *map(len, columns)}) > 1:
            raise VocabularyError("merges: the columns differ in length")
        codes: dict[tuple[int, int], int] = {}
        for i, (a, b, made, rank) in enumerate(zip(*columns, by)):
            if rank == NONE:
                raise VocabularyError(f"merge {i} has a rank that is none")
            if (a, b) in codes:
                raise VocabularyError(f"merge {i} is given twice")
            codes[a, b] = rank << 32 | made
        return PairTable(codes, ranks is not None and len(set(by)) < len(by))

    @staticmethod
    def of_ranks(tokens: TokenTable) -> PairTable:
        # The core keeps of every split the one that merging can come to, for the same ids: finding it takes merging
        # every token, which is too slow here.
        return PairTable.of_every_split(tokens)

    @staticmethod
    def of_every_split(tokens: TokenTable) -> PairTable:
        by_bytes = tokens.by_bytes
        lengths = sorted({len(token) for token in by_bytes} - {0})  # only there can a token be split in two
        codes: dict[tuple[int, int], int] = {}
        for token, rank in by_bytes.items():
            for k in lengths:
                if k >= len(token):
                    break
                left = by_bytes.get(token[:k])
                if left is None:
                    continue
                right = by_bytes.get(token[k:])
                if right is not None:
                    codes.setdefault((left, right), rank << 32 | rank)
        return PairTable(codes, ranks=True)

    @staticmethod
    def of_packed(pairs: Any) -> PairTable:
        codes: dict[tuple[int, int], int] = {}
        for i, pair in enumerate(integers(pairs)):
            left, right, rank = pair >> 43, pair >> 22 & _MAX_ID, pair & 0x3FFFFF
            if rank > _MAX_ID:
                raise VocabularyError(f"pair {i} has a rank above {_MAX_ID}")
            if (left, right) in codes:
                raise VocabularyError(f"pair {i} is given twice")
            codes[left, right] = rank << 32 | rank
        return PairTable(codes, ranks=True)

    def packed(self) -> bytes:
        if not self.of_rank_rule:
            raise BytepairError("only a table of ranks can be packed")
        pairs = array("Q", (a << 43 | b << 22 | code & _LOW for (a, b), code in self.codes.items()))
        return pairs.tobytes()

    def __len__(self) -> int:
        return len(self.codes)


_NO_CODE = 1 << 64
"""The code of two symbols that do not merge: above all others."""
_SCAN_LIMIT = 64
"""Up to so many symbols looking through all of them beats a heap."""


def merge_symbols(symbols: list[int], pairs: PairTable, whole_rank: bool) -> list[int]:
    if len(symbols) <= _SCAN_LIMIT and not pairs.shared:
        return _merge_by_scan(symbols, pairs.codes, whole_rank)
    return _merge_by_heap(symbols, pairs.codes, whole_rank)


def _merge_by_scan(symbols: list[int], codes: dict[tuple[int, int], int], whole_rank: bool) -> list[int]:
    code_of = codes.get
    here = [code_of(pair, _NO_CODE) for pair in zip(symbols, symbols[1:])]
    while here:
        lowest = min(here)
        if lowest == _NO_CODE:
            break
        i = here.index(lowest)
        if not whole_rank:
            symbols[i : i + 2] = [lowest & _LOW]
            del here[i]
            if i < len(here):
                here[i] = code_of((symbols[i], symbols[i + 1]), _NO_CODE)
            if i:
                here[i - 1] = code_of((symbols[i - 1], symbols[i]), _NO_CODE)
            continue
        merged = symbols[:i]
        while i < len(symbols):
            together = i < len(here) and here[i] == lowest
            merged.append(lowest & _LOW if together else symbols[i])
            i += 2 if together else 1
        symbols = merged
        here = [code_of(pair, _NO_CODE) for pair in zip(symbols, symbols[1:])]
    return symbols


def _entry(code: int, place: int) -> int:
    return (code >> 32) << 64 | place << 32 | code & _LOW


def _merge_by_heap(symbols: list[int], codes: dict[tuple[int, int], int], whole_rank: bool) -> list[int]:
    n = len(symbols)
    code_of = codes.get
    # here[i]: the code of the pair that starts at i now; a heap entry that says another one is out of date.
    here = [code_of(pair, _NO_CODE) for pair in zip(symbols, symbols[1:])]
    here.append(_NO_CODE)
    following, previous = list(range(1, n + 1)), list(range(-1, n - 1))
    # By rank, then by place; the id comes along.
    heap = [_entry(code, i) for i, code in enumerate(here) if code != _NO_CODE]
    heapify(heap)
    while heap:
        batch = [heappop(heap)]
        rank = batch[0] >> 64
        while whole_rank and heap and heap[0] >> 64 == rank:
            batch.append(heappop(heap))
        for entry in batch:
            i = entry >> 32 & _LOW
            if here[i] != rank << 32 | entry & _LOW:
                continue
            symbols[i] = entry & _LOW
            gone = following[i]
            here[gone] = _NO_CODE
            after = following[i] = following[gone]
            here[i] = _NO_CODE
            if after < n:
                previous[after] = i
                code = here[i] = code_of((symbols[i], symbols[after]), _NO_CODE)
                if code != _NO_CODE:
                    heappush(heap, _entry(code, i))
            before = previous[i]
            if before >= 0:
                code = here[before] = code_of((symbols[before], symbols[i]), _NO_CODE)
                if code != _NO_CODE:
                    heappush(heap, _entry(code, before))
    merged = []
    i = 0
    while i < n:
        merged.append(symbols[i])
        i = following[i]
    return merged


class Encoder:
    # The longest pretoken, and the most ids, that the cache takes; and what an entry takes in memory on real text.
    _CACHED_BYTES, _CACHED_IDS, _ENTRY_BYTES = 54, 16, 256

    def __init__(
        self,
        alphabet: Alphabet,
        pairs: PairTable,
        whole_rank: bool,
        whole: TokenTable | None,
        splitter: Splitter | None,
        dropped: ClassTable | None,
        cache_bytes: int,
    ) -> None:
        self._alphabet = alphabet
        self._pairs = pairs
        self._whole_rank = whole_rank
        self._whole = whole.by_bytes if whole else {}
        self._splitter = splitter
        self._dropped = dropped
        # Two generations: when the young one is full it becomes the old one, and the old one goes. A thread that loses
        # a race over them only loses an entry.
        self._half = cache_bytes // self._ENTRY_BYTES // 2
        self._young: dict[bytes, tuple[int, ...]] = {}
        self._old: dict[bytes, tuple[int, ...]] = {}

    def encode(self, data: object, specials: Specials | None) -> list[int]:
        return list(chain.from_iterable(self._pretokens(as_bytes(data), specials, None)))

    def encode_array(self, data: object, specials: Specials | None) -> NDArray[np.uint32]:
        return uint32(self.encode(data, specials))

    def encode_ends(self, data: object, ends: Any) -> NDArray[np.uint32]:
        text = as_bytes(data)
        ids: list[int] = []
        at = 0
        for end in integers(ends):
            if not at < end <= len(text):
                raise BytepairError("encoder: the ends of pretokens must ascend and lie in the text")
            ids += self._ids(text[at:end], at, None)
            at = end
        if at != len(text):
            raise BytepairError("encoder: the last pretoken must end where the text ends")
        return uint32(ids)

    def count(self, data: object, specials: Specials | None) -> int:
        return sum(map(len, self._pretokens(as_bytes(data), specials, None)))

    def encode_batch(
        self,
        texts: list[str | bytes],
        specials: Specials | None,
        threads: int,  # noqa: ARG002
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """``threads`` is there for the core: Python has one lock for all of them."""
        ids: list[int] = []
        counts = []
        for document, text in enumerate([as_bytes(text) for text in texts]):
            before = len(ids)
            ids += chain.from_iterable(self._pretokens(text, specials, document))
            counts.append(len(ids) - before)
        return uint32(ids), int64(counts)

    def encode_rows(
        self, data: Any, offsets: Any, specials: Specials | None, threads: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        text, starts = bytes(data), integers(offsets)
        if not starts or starts[0] < 0 or starts[-1] > len(text) or any(a > b for a, b in zip(starts, starts[1:])):
            raise BytepairError("the offsets do not describe the text")
        return self.encode_batch([text[a:b] for a, b in zip(starts, starts[1:])], specials, threads)

    def cache_bytes(self) -> int:
        return (len(self._young) + len(self._old)) * self._ENTRY_BYTES

    def feed(self, stream: Stream, piece: object, last: bool, specials: Specials | None) -> list[int]:
        return list(chain.from_iterable(self._pieces(stream, as_bytes(piece), last, specials, None)))

    def _pretokens(self, text: bytes, specials: Specials | None, document: int | None) -> Iterator[Sequence[int]]:
        return self._pieces(Stream(), text, True, specials, document)

    def _pieces(
        self, stream: Stream, text: bytes, last: bool, specials: Specials | None, document: int | None
    ) -> Iterator[Sequence[int]]:
        """The ids of each pretoken and each special token."""
        if self._splitter is None:
            raise BytepairError("encoder: this pattern's pretokens are cut outside of the core")
        start_of = -1  # where the run begins that `start` is in
        start = 0
        for offset, run, found in stream.feed(self._splitter, specials, text, last):
            if isinstance(found, int):
                yield (found,)
                start_of = -1
                continue
            if offset != start_of:
                start_of, start = offset, 0
            for end in found:
                pretoken = run[start:end]
                ids = self._young.get(pretoken)
                yield self._ids(pretoken, offset + start, document) if ids is None else ids
                start = end

    def _ids(self, pretoken: bytes, offset: int, document: int | None) -> Sequence[int]:
        ids = self._young.get(pretoken)
        if ids is not None:
            return ids
        ids = self._old.get(pretoken)
        if ids is None:
            if self._dropped and self._dropped.covers(pretoken, 1):
                ids = ()
            elif pretoken in self._whole:
                ids = (self._whole[pretoken],)
            else:
                symbols = self._alphabet.first_symbols(pretoken, offset, document)
                ids = tuple(merge_symbols(symbols, self._pairs, self._whole_rank))
        if self._half and len(pretoken) <= self._CACHED_BYTES and len(ids) <= self._CACHED_IDS:
            if len(self._young) >= self._half:
                self._old, self._young = self._young, {}
            self._young[pretoken] = ids
        return ids
