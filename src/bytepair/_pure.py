"""The core's work in plain Python: the same classes, arguments, results and errors as ``_core``, only slower.

``_engine`` chooses it where there is no compiled core, or where ``BYTEPAIR_PURE=1`` asks for it; nothing else imports
it. What each class does, and why it is exact, is told in ``core/*.hpp``; here are the same methods with Python's own
dicts, lists and heaps. Text is cut by the plain scanners of ``pattern.scanners``. Arguments come checked, as for the
core.
"""

from __future__ import annotations

import collections
import operator
import re
import time
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any

from .errors import BytepairError, TrainingError, VocabularyError, unknown_character

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "Alphabet",
    "ClassTable",
    "Counter",
    "Decoder",
    "Encoder",
    "PairTable",
    "Specials",
    "Splitter",
    "Trainer",
    "collect_characters",
]

_NONE = 0xFFFFFFFF
_LOW = 0xFFFFFFFF
"""Masks the lower half of a number that holds two."""
_LOOK_AHEAD = 8
"""A pretoken that ends this many bytes before the end of what is known is certain: nothing that follows changes it."""
_WINDOW = 1 << 20
"""Bytes that are scanned at a time, since a scan keeps lists many times its text."""


# ---- what comes in and goes out ----


def _as_bytes(data: object) -> bytes:
    if isinstance(data, bytes):
        return data
    if isinstance(data, str):
        return data.encode("utf-8")
    raise TypeError("expected str or bytes")


def _only_bytes(data: object) -> bytes:
    if not isinstance(data, bytes):
        raise TypeError(f"expected bytes, got {type(data).__name__}")
    return data


def _integers(column: Any) -> list[int]:
    """A numpy array or an ``array`` of integers, as a list."""
    view = memoryview(column)
    if view.ndim != 1 or view.format not in tuple("bBhHiIlLqQ"):
        raise TypeError(f"expected a flat array of integers, got {type(column).__name__}")
    return view.tolist()


def _uint32(numbers: Sequence[int]) -> NDArray[np.uint32]:
    import numpy as np

    return np.array(numbers, dtype=np.uint32)


def _int64(numbers: Sequence[int]) -> NDArray[np.int64]:
    import numpy as np

    return np.array(numbers, dtype=np.int64)


def _describe(offsets: list[int], text: bytes) -> bool:
    """Whether the offsets cut the text into rows."""
    return (
        bool(offsets) and offsets[0] == 0 and offsets[-1] == len(text) and all(map(operator.le, offsets, offsets[1:]))
    )


def _rows(text: bytes, offsets: list[int]) -> list[bytes]:
    if not _describe(offsets, text):
        raise BytepairError("the offsets do not describe the text")
    return [text[start:end] for start, end in zip(offsets, offsets[1:])]


def _characters(text: bytes) -> str:
    """The text's characters; a byte b that is no UTF-8 is one of its own, 0xDC00 | b."""
    return text.decode("utf-8", "surrogateescape")


# ---- cutting text ----


class ClassTable:
    def __init__(self, stage1: bytes, stage2: bytes, n_classes: int) -> None:
        from .pattern import scanners

        if len(stage1) // 2 != 0x1100:
            raise BytepairError("class table: stage 1 needs 4352 pages")
        if not stage2 or len(stage2) % 256:
            raise BytepairError("class table: stage 2 is no whole page")
        if max(low | high << 8 for low, high in zip(stage1[::2], stage1[1::2])) >= len(stage2) // 256:
            raise BytepairError("class table: a page lies outside stage 2")
        if max(stage2) >= n_classes:
            raise BytepairError("class table: a class is out of range")
        self.plain = scanners.ClassTable(n_classes, stage1, stage2)

    def drops(self, pretoken: bytes) -> bool:
        """Whether it is all class 1: white space, which the classic scheme leaves out."""
        return all(self.plain.of(ord(character)) == 1 for character in _characters(pretoken))


_CLASSES_OF = {"gpt2": 4, "runs": 2, "none": 0}
"""How many classes each scanner wants."""


class Splitter:
    def __init__(self, scanner: str, classes: ClassTable | None) -> None:
        if scanner not in _CLASSES_OF:
            raise BytepairError(f"no scanner is named {scanner}")
        if (classes.plain.n_classes if classes else 0) != _CLASSES_OF[scanner]:
            raise BytepairError("splitter: the class table does not fit the scanner")
        self._scanner = scanner
        self._table = classes.plain if classes else None

    def ends(self, data: object) -> NDArray[np.int64]:
        text = _as_bytes(data)
        return _int64(list(chain.from_iterable(self.certain_ends(text, len(text)))))

    def certain_ends(self, text: bytes, certain: int) -> Iterator[list[int]]:
        """The ends of pretokens up to and with ``certain``, one window's after the other."""
        from .pattern.scanners import scan

        at, size = 0, _WINDOW
        while at < certain:
            window = text[at : at + size]
            whole = at + len(window) == len(text)
            limit = min(certain - at, len(window) - (0 if whole else _LOOK_AHEAD))
            ends = scan(self._scanner, self._table, window)
            ends = [at + end for end in ends[: bisect_right(ends, limit)]]
            if ends:
                yield ends
                at, size = ends[-1], _WINDOW
            elif whole:
                return
            else:
                size *= 2


class Specials:
    def __init__(self, names: Sequence[bytes], ids: Sequence[int]) -> None:
        if len(names) != len(ids):
            raise BytepairError("specials: names and ids differ in number")
        if b"" in names:
            raise BytepairError("specials: a name is empty")
        self._ids = dict(zip(reversed(names), reversed(ids)))  # of two equal names the first counts
        self.longest = max(map(len, names), default=0)
        # The earliest place wins, and there the alternative that stands first: the longest.
        longest_first = sorted(names, key=len, reverse=True)
        self._search = re.compile(b"|".join(map(re.escape, longest_first))).search if names else None

    def find(self, data: object, start: int) -> tuple[int, int, int]:
        text = _as_bytes(data)
        found = self._search(text, start) if self._search else None
        if found is None:
            return len(text), 0, -1
        return found.start(), len(found[0]), self._ids[found[0]]


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
        self._end = [] if fused or mark == _NONE else [mark]

    @staticmethod
    def of_bytes(ids: Sequence[int], last: Sequence[int], mark: int) -> Alphabet:
        if len(ids) != 256 or (last and len(last) != 256):
            raise VocabularyError("alphabet: 256 byte symbols are needed")
        return Alphabet(None, {}, list(ids), list(last), bool(last), mark, "error", _NONE)

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

    def symbols(self, pretoken: bytes, dropped: ClassTable | None) -> list[int]:
        if not _only_bytes(pretoken) or (dropped and dropped.drops(pretoken)):
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
        text = _characters(pretoken)
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


def collect_characters(
    text: bytes, offsets: Any, dropped: ClassTable | None
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    inner: set[str] = set()
    last: set[str] = set()
    for word in _rows(_only_bytes(text), _integers(offsets)):
        if not dropped or not dropped.drops(word):
            characters = _characters(word)
            inner.update(characters[:-1])
            last.update(characters[-1:])
    return _uint32(sorted(map(ord, inner))), _uint32(sorted(map(ord, last)))


# ---- encoding ----


class PairTable:
    """Made by :meth:`of_merges` or :meth:`of_ranks`.

    ``codes`` gives each pair its rank, and below it in the lower 32 bits its id: the lowest code has the lowest rank.
    """

    def __init__(self, codes: dict[tuple[int, int], int]) -> None:
        self.codes = codes

    @staticmethod
    def of_merges(left: Any, right: Any, ids: Any) -> PairTable:
        columns = _integers(left), _integers(right), _integers(ids)
        if len({*map(len, columns)}) > 1:
            raise VocabularyError("merges: the three columns differ in length")
        codes: dict[tuple[int, int], int] = {}
        for rank, (a, b, made) in enumerate(zip(*columns)):
            if codes.setdefault((a, b), rank << 32 | made) >> 32 != rank:
                raise VocabularyError(f"merge {rank} is given twice")
        return PairTable(codes)

    @staticmethod
    def of_ranks(text: bytes, offsets: Any, ids: Any) -> PairTable:
        tokens, ranks = _rows(_only_bytes(text), _integers(offsets)), _integers(ids)
        if len(tokens) != len(ranks):
            raise VocabularyError("ranks: tokens and ids differ in number")
        by_bytes: dict[bytes, int] = {}
        for token, rank in zip(tokens, ranks):
            if token in by_bytes:
                raise VocabularyError(f"token {rank} has the bytes of another token")
            by_bytes[token] = rank
        lengths = sorted({len(token) for token in tokens} - {0})  # only there can a token be split in two
        codes: dict[tuple[int, int], int] = {}
        for token, rank in zip(tokens, ranks):
            for k in lengths:
                if k >= len(token):
                    break
                left = by_bytes.get(token[:k])
                if left is None:
                    continue
                right = by_bytes.get(token[k:])
                if right is not None:
                    codes.setdefault((left, right), rank << 32 | rank)
        return PairTable(codes)

    def __len__(self) -> int:
        return len(self.codes)


_NO_CODE = 1 << 64
"""The code of two symbols that do not merge: above all others."""
_SCAN_LIMIT = 64
"""Up to so many symbols looking through all of them beats a heap."""


def _merge(symbols: list[int], codes: dict[tuple[int, int], int], whole_rank: bool) -> list[int]:
    if len(symbols) <= _SCAN_LIMIT:
        return _merge_by_scan(symbols, codes, whole_rank)
    return _merge_by_heap(symbols, codes, whole_rank)


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


def _merge_by_heap(symbols: list[int], codes: dict[tuple[int, int], int], whole_rank: bool) -> list[int]:
    n = len(symbols)
    code_of = codes.get
    # here[i]: the code of the pair that starts at i now; a heap entry that says another one is out of date.
    here = [code_of(pair, _NO_CODE) for pair in zip(symbols, symbols[1:])]
    here.append(_NO_CODE)
    following, previous = list(range(1, n + 1)), list(range(-1, n - 1))
    heap = [code << 32 | i for i, code in enumerate(here) if code != _NO_CODE]
    heapify(heap)
    while heap:
        batch = [heappop(heap)]
        lowest = batch[0] >> 32
        while whole_rank and heap and heap[0] >> 32 == lowest:
            batch.append(heappop(heap))
        for entry in batch:
            i = entry & _LOW
            if here[i] != lowest:
                continue
            symbols[i] = lowest & _LOW
            gone = following[i]
            here[gone] = _NO_CODE
            after = following[i] = following[gone]
            here[i] = _NO_CODE
            if after < n:
                previous[after] = i
                code = here[i] = code_of((symbols[i], symbols[after]), _NO_CODE)
                if code != _NO_CODE:
                    heappush(heap, code << 32 | i)
            before = previous[i]
            if before >= 0:
                code = here[before] = code_of((symbols[before], symbols[i]), _NO_CODE)
                if code != _NO_CODE:
                    heappush(heap, code << 32 | before)
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
        splitter: Splitter | None,
        dropped: ClassTable | None,
        cache_bytes: int,
    ) -> None:
        self._alphabet = alphabet
        self._codes = pairs.codes
        self._whole_rank = whole_rank
        self._splitter = splitter
        self._dropped = dropped
        # Two generations: when the young one is full it becomes the old one, and the old one goes. A thread that loses
        # a race over them only loses an entry.
        self._half = cache_bytes // self._ENTRY_BYTES // 2
        self._young: dict[bytes, tuple[int, ...]] = {}
        self._old: dict[bytes, tuple[int, ...]] = {}

    def encode(self, data: object, specials: Specials | None) -> list[int]:
        return list(chain.from_iterable(self._pretokens(_as_bytes(data), specials, None)))

    def encode_array(self, data: object, specials: Specials | None) -> NDArray[np.uint32]:
        return _uint32(self.encode(data, specials))

    def encode_ends(self, data: object, ends: Any) -> NDArray[np.uint32]:
        text = _as_bytes(data)
        ids: list[int] = []
        at = 0
        for end in _integers(ends):
            if not at < end <= len(text):
                raise BytepairError("encoder: the ends of pretokens must ascend and lie in the text")
            ids += self._ids(text[at:end], at, None)
            at = end
        if at != len(text):
            raise BytepairError("encoder: the last pretoken must end where the text ends")
        return _uint32(ids)

    def count(self, data: object, specials: Specials | None) -> int:
        return sum(map(len, self._pretokens(_as_bytes(data), specials, None)))

    def encode_batch(
        self,
        texts: list[str | bytes],
        specials: Specials | None,
        threads: int,  # noqa: ARG002
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """``threads`` is there for the core: Python has one lock for all of them."""
        ids: list[int] = []
        counts = []
        for document, text in enumerate([_as_bytes(text) for text in texts]):
            before = len(ids)
            ids += chain.from_iterable(self._pretokens(text, specials, document))
            counts.append(len(ids) - before)
        return _uint32(ids), _int64(counts)

    def cache_bytes(self) -> int:
        return (len(self._young) + len(self._old)) * self._ENTRY_BYTES

    def _pretokens(self, text: bytes, specials: Specials | None, document: int | None) -> Iterator[Sequence[int]]:
        """The ids of each pretoken and each special token."""
        if self._splitter is None:
            raise BytepairError("encoder: this pattern's pretokens are cut outside of the core")
        at = 0
        while at < len(text):
            found, length, special = specials.find(text, at) if specials else (len(text), 0, -1)
            run = text[at:found]
            start = 0
            for ends in self._splitter.certain_ends(run, len(run)):
                for end in ends:
                    pretoken = run[start:end]
                    ids = self._young.get(pretoken)
                    yield self._ids(pretoken, at + start, document) if ids is None else ids
                    start = end
            if special >= 0:
                yield (special,)
            at = found + length

    def _ids(self, pretoken: bytes, offset: int, document: int | None) -> Sequence[int]:
        ids = self._young.get(pretoken)
        if ids is not None:
            return ids
        ids = self._old.get(pretoken)
        if ids is None:
            if self._dropped and self._dropped.drops(pretoken):
                ids = ()
            else:
                symbols = self._alphabet.first_symbols(pretoken, offset, document)
                ids = tuple(_merge(symbols, self._codes, self._whole_rank))
        if self._half and len(pretoken) <= self._CACHED_BYTES and len(ids) <= self._CACHED_IDS:
            if len(self._young) >= self._half:
                self._old, self._young = self._young, {}
            self._young[pretoken] = ids
        return ids


# ---- decoding ----


class Decoder:
    _PRESENT, _SPECIAL, _MARKED = 1, 2, 4

    def __init__(self, text: bytes, offsets: Any, flags: bytes) -> None:
        numbers = _integers(offsets)
        if len(numbers) != len(flags) + 1 or not _describe(numbers, _only_bytes(text)):
            raise BytepairError("decoder: the offsets do not describe the text")
        rows = zip(flags, _rows(text, numbers))
        self._tokens = {i: token for i, (flag, token) in enumerate(rows) if flag & self._PRESENT}
        self._flags = flags
        self._ordinary = {i: b"" if flags[i] & self._SPECIAL else token for i, token in self._tokens.items()}
        self._any_marked = any(flags[i] & self._MARKED for i in self._tokens)

    def decode(self, ids: list[int], skip_specials: bool) -> bytes:
        if not isinstance(ids, list):
            raise TypeError(f"expected a list of int, got {type(ids).__name__}")
        return self._decode(list(map(operator.index, ids)), skip_specials)

    def decode_array(self, ids: Any, skip_specials: bool) -> bytes:
        return self._decode(_integers(ids), skip_specials)

    def _decode(self, ids: list[int], skip_specials: bool) -> bytes:
        tokens = self._ordinary if skip_specials else self._tokens
        try:
            if self._any_marked:
                return b"".join(self._marked_pieces(ids, skip_specials))
            return b"".join(map(tokens.__getitem__, ids))
        except KeyError:
            raise IndexError(str(next(i for i, token in enumerate(ids) if token not in self._tokens))) from None

    def _marked_pieces(self, ids: list[int], skip_specials: bool) -> list[bytes]:
        """A marked token is followed by a space, unless no ordinary token comes after it."""
        pieces = []
        pending = -1  # where the space stands that the last mark asked for
        for number in ids:
            token, flag = self._tokens[number], self._flags[number]
            if flag & self._SPECIAL:
                if skip_specials:
                    continue
            else:
                pending = -1
            pieces.append(token)
            if flag & self._MARKED:
                pending = len(pieces)
                pieces.append(b" ")
        if pending >= 0:
            pieces[pending] = b""
        return pieces


# ---- training ----


class Counter:
    def __init__(self, splitter: Splitter | None, specials: Specials | None) -> None:
        self._splitter = splitter
        self._specials = specials
        self._counts: collections.Counter[bytes] = collections.Counter()
        self._first: dict[bytes, tuple[int, int]] = {}  # (document, offset)
        self._pending = b""  # the uncertain end of what was fed
        self._document = 0
        self._base = 0  # where _pending begins in its document

    def feed(self, data: object, document: int, last: bool) -> None:
        piece = _as_bytes(data)
        if self._splitter is None:
            raise BytepairError("counter: this pattern's pretokens are cut outside of the core")
        if self._pending and document != self._document:
            raise BytepairError("counter: the document before this one was not ended")
        self._document = document
        text = self._pending + piece
        size = len(text)
        # A special name may begin in the last `hold` bytes and go on in what comes next.
        hold = 0 if last or self._specials is None else max(self._specials.longest - 1, 0)
        certain = size if last else size - hold - _LOOK_AHEAD
        at = 0
        while at < size:
            found, length, special = self._specials.find(text, at) if self._specials else (size, 0, -1)
            if special < 0 or found + hold >= size:
                at += self._count_run(self._splitter, text[at:], self._base + at, certain - at)
                break
            # Whatever comes, no longer name begins here: the run before it is complete.
            self._count_run(self._splitter, text[at:found], self._base + at, found - at)
            at = found + length
        self._pending = text[at:]
        self._base = 0 if last else self._base + at

    def _count_run(self, splitter: Splitter, run: bytes, offset: int, certain: int) -> int:
        """Counts the pretokens that end by ``certain``; returns where the rest begins."""
        at = 0
        for ends in splitter.certain_ends(run, certain):
            self._add(run, [at, *ends], self._document, offset)
            at = ends[-1]
        return at

    def feed_ends(self, data: object, ends: Any, document: int, offset: int) -> None:
        text = _as_bytes(data)
        borders = [0, *_integers(ends)]
        if borders[-1] > len(text) or not all(map(operator.lt, borders, borders[1:])):
            raise BytepairError("counter: the ends of pretokens must ascend and lie in the text")
        self._add(text, borders, document, offset)

    def _add(self, text: bytes, borders: list[int], document: int, offset: int) -> None:
        words = [text[start:end] for start, end in zip(borders, borders[1:])]
        self._counts.update(words)
        for word, start in dict(zip(reversed(words), reversed(borders[:-1]))).items():
            self._first_at(word, (document, offset + start))

    def _first_at(self, word: bytes, place: tuple[int, int]) -> None:
        known = self._first.get(word)
        if known is None or place < known:
            self._first[word] = place

    def merge(self, other: Counter) -> None:
        self._counts.update(other._counts)
        for word, place in other._first.items():
            self._first_at(word, place)

    def words(self) -> tuple[bytes, NDArray[np.int64], NDArray[np.int64]]:
        order = sorted(self._first, key=self._first.__getitem__)
        offsets = list(accumulate(map(len, order), initial=0))
        return b"".join(order), _int64(offsets), _int64([self._counts[word] for word in order])

    @property
    def pending(self) -> int:
        return len(self._pending)

    @property
    def n_words(self) -> int:
        return len(self._first)


class _Pair:
    __slots__ = ("count", "first", "left", "places", "right")

    def __init__(self, left: int, right: int, count: int, places: list[int]) -> None:
        self.left = left
        self.right = right
        self.count = count
        self.places = places  # ascending; those before `first` are gone
        self.first = 0


class _Touched:
    """What one merge does to the pairs of one neighbouring symbol."""

    __slots__ = ("gained_left", "gained_right", "lost_left", "lost_right", "places_left", "places_right")

    def __init__(self) -> None:
        self.lost_left = self.lost_right = 0  # (symbol, left part), (right part, symbol)
        self.gained_left = self.gained_right = 0  # (symbol, new), (new, symbol)
        self.places_left: list[int] = []
        self.places_right: list[int] = []


_GAP = -1
"""The cell between words."""
_INSIDE = -2
"""A cell within a token, neither its first nor its last."""


class Trainer:
    def __init__(
        self,
        text: bytes,
        offsets: Any,
        counts: Any,
        dropped: ClassTable | None,
        alphabet: Alphabet,
        n_symbols: int,
        min_count: int,
    ) -> None:
        starts = _integers(offsets)
        words = _rows(_only_bytes(text), starts)
        self._counts = _integers(counts)
        if len(words) != len(self._counts):
            raise TrainingError("words and counts differ in number")
        self._min_count = max(min_count, 1)
        # A token fills as many cells as it has first symbols; its first and its last cell hold it.
        self._cells = [_GAP]
        self._word_of = [_NONE]
        length = 0
        for w, (word, count) in enumerate(zip(words, self._counts)):
            if not word or count <= 0:
                raise TrainingError("a word is empty, or its count is not positive")
            if dropped and dropped.drops(word):
                continue
            symbols = alphabet.first_symbols(word, starts[w], None)
            length += count * len(symbols)
            if length >= 1 << 63:
                raise TrainingError("the corpus has more than 2^63 - 1 symbols: its counts are too high")
            if max(symbols) >= n_symbols:
                raise TrainingError("a word has a symbol that the alphabet does not have")
            self._cells += symbols
            self._cells.append(_GAP)
            self._word_of += [w] * len(symbols)
            self._word_of.append(_NONE)
        self._length_before = self._length_now = length
        self._lengths = [1] * n_symbols  # of each symbol, in cells
        self._exhausted = False
        self._pairs: list[_Pair] = []
        self._index: dict[tuple[int, int], _Pair] = {}
        self._heap: list[tuple[int, int, int]] = []  # (-count, first place, place in _pairs)
        self._with_count: dict[int, int] = {}  # count -> how many pairs have it
        self._merges: list[tuple[int, int, int, int, int]] = []
        self._examples: list[int] = []
        self._build_pairs()

    def _build_pairs(self) -> None:
        places: dict[tuple[int, int], list[int]] = {}
        for place, pair in enumerate(zip(self._cells, self._cells[1:])):
            if pair in places:
                places[pair].append(place)
            elif _GAP not in pair:
                places[pair] = [place]
        for (left, right), where in places.items():
            self._add_pair(left, right, sum(self._counts[self._word_of[place]] for place in where), where)

    def _add_pair(self, left: int, right: int, count: int, places: list[int]) -> None:
        # A pair under min_count can never win, since counts only fall: it is not kept at all.
        if count < self._min_count:
            return
        pair = self._index[left, right] = _Pair(left, right, count, places)
        heappush(self._heap, (-count, places[0], len(self._pairs)))
        self._pairs.append(pair)
        self._count_change(0, count)

    def _count_change(self, before: int, after: int) -> None:
        with_count = self._with_count
        if before > 0:
            if with_count[before] == 1:
                del with_count[before]
            else:
                with_count[before] -= 1
        if after > 0:
            with_count[after] = with_count.get(after, 0) + 1

    def run(self, wanted: int, seconds: float) -> int:
        until = time.monotonic() + seconds
        while not self._exhausted and len(self._merges) < wanted:
            pair = self._next_pair()
            if pair is None:
                self._exhausted = True
            else:
                self._apply(pair)
            if time.monotonic() >= until:
                break
        return len(self._merges)

    def _next_pair(self) -> _Pair | None:
        cells, heap = self._cells, self._heap
        while heap:
            count, place, number = heappop(heap)
            pair = self._pairs[number]
            if pair.count < self._min_count:
                continue
            left, right, places, first = pair.left, pair.right, pair.places, pair.first
            length = self._lengths[left]
            while cells[places[first]] != left or cells[places[first] + length] != right:
                first += 1
            pair.first = first
            if -count == pair.count and place == places[first]:
                return pair
            # Out of date: it stood too early, never too late.
            heappush(heap, (-pair.count, places[first], number))
        return None

    def _apply(self, pair: _Pair) -> None:
        a, b, made = pair.left, pair.right, len(self._lengths)
        cells, word_of, counts, lengths = self._cells, self._word_of, self._counts, self._lengths
        tied = self._with_count[pair.count]
        la, lb = lengths[a], lengths[b]
        lengths.append(la + lb)
        touched: dict[int, _Touched] = collections.defaultdict(_Touched)
        examples: list[int] = []
        gone = 0
        for k in range(pair.first, len(pair.places)):
            p = pair.places[k]
            q = p + la
            if cells[p] != a or cells[q] != b:
                continue
            after = q + lb
            word = word_of[p]
            count = counts[word]
            before, following = cells[p - 1], cells[after]
            if before != _GAP:
                t = touched[before]
                if before == made:
                    touched[a].gained_right -= count  # (made, a), born a moment ago, is (made, made) now
                else:
                    t.lost_left += count
                t.gained_left += count
                t.places_left.append(p - lengths[before])
            if following != _GAP:
                t = touched[following]
                if a != b or following != b:
                    t.lost_right += count
                t.gained_right += count
                t.places_right.append(p)
            cells[q - 1] = cells[q] = _INSIDE
            cells[p] = cells[after - 1] = made
            gone += count
            if len(examples) < 3 and word not in examples:
                examples.append(word)
        self._length_now -= gone
        self._merges.append((a, b, pair.count, tied, self._length_now))
        self._examples += (*examples, *[_NONE] * (3 - len(examples)))
        # The pair itself has no place left; what its overlapping places (aaa) lost is part of that.
        self._count_change(pair.count, 0)
        pair.count = 0
        pair.places = []
        for symbol, t in touched.items():
            self._settle(symbol, a, t.lost_left)
            self._settle(b, symbol, t.lost_right)
            self._add_pair(symbol, made, t.gained_left, t.places_left)
            self._add_pair(made, symbol, t.gained_right, t.places_right)

    def _settle(self, left: int, right: int, lost: int) -> None:
        pair = self._index.get((left, right)) if lost else None
        if pair is not None:
            self._count_change(pair.count, pair.count - lost)
            pair.count -= lost

    @property
    def exhausted(self) -> bool:
        return self._exhausted

    @property
    def length_before(self) -> int:
        return self._length_before

    def merges(self) -> tuple[Any, ...]:
        left, right, counts, tied, lengths = zip(*self._merges) if self._merges else ((),) * 5
        return (
            *(_uint32(left), _uint32(right)),
            *(_int64(counts), _int64(tied), _int64(lengths)),
            _uint32(self._examples),
        )

    def _tokens(self) -> Iterator[tuple[int, int]]:
        """Each token of the corpus, and where it stands; gaps too."""
        place = 0
        while place < len(self._cells):
            symbol = self._cells[place]
            yield symbol, place
            place += 1 if symbol == _GAP else self._lengths[symbol]

    def frequencies(self) -> NDArray[np.int64]:
        out = [0] * len(self._lengths)
        for symbol, place in self._tokens():
            if symbol != _GAP:
                out[symbol] += self._counts[self._word_of[place]]
        return _int64(out)

    def best_left(self) -> tuple[int, int, int] | None:
        seen: dict[tuple[int, int], int] = {}  # in the order of first places
        left, at = _GAP, 0
        for symbol, place in self._tokens():
            if left != _GAP and symbol != _GAP:
                seen[left, symbol] = seen.get((left, symbol), 0) + self._counts[self._word_of[at]]
            left, at = symbol, place
        if not seen:
            return None
        best = max(seen, key=seen.__getitem__)  # the first one among equals
        return (*best, seen[best])
