"""``_pure`` held equal to ``_core``, class by class: the same calls give the same values, types and errors."""

from __future__ import annotations

import io
import random
import sys
import warnings
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from itertools import accumulate
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import SPECIALS, corpora, documents, special_texts

from bytepair import _pure
from bytepair._pure import cut, encode
from bytepair.errors import BytepairError
from bytepair.pattern import blanks, presets, resolve, splitter_arguments

if TYPE_CHECKING:
    from bytepair.pattern.automaton import Tables

try:
    from bytepair import _core
except ImportError as error:
    pytest.skip(f"there is no compiled core to compare with: {error}", allow_module_level=True)

NONE = 0xFFFFFFFF
#: Patterns of users too: gaps, borders that are taken back, look-behind, contractions of another kind.
PATTERNS = (*presets(), "[a-z]+", "a*b|a", r"(?<!a)b+|a|\s+$", r"(?:[^a]|a(?=\S))+", "'(?i:s)|[^']{1,2}|'")


def plain(value: Any) -> Any:
    """A value that compares by ==, with the types that must agree."""
    if isinstance(value, np.ndarray):
        return "array", str(value.dtype), value.shape, value.tolist()
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    return type(value).__name__, value


def outcome(call: Callable[[], Any]) -> Any:
    """What a call gives: its value, or its error; a TypeError's words are nanobind's own."""
    try:
        return plain(call())
    except Exception as error:  # noqa: BLE001  # whatever it is, the other engine must raise it too
        return type(error), "" if isinstance(error, TypeError) else str(error)


def same(call: Callable[[ModuleType], Any]) -> Any:
    """Makes a call in both engines, holds the outcomes equal, and gives the outcome."""
    core, pure = outcome(lambda: call(_core)), outcome(lambda: call(_pure))
    assert pure == core
    return core


@contextmanager
def windows_of(size: int) -> Iterator[None]:
    with mock.patch.object(cut, "_WINDOW", size):
        yield


def tables_of(pattern: str) -> Tables:
    compiled = resolve(pattern).compiled
    assert compiled.tables is not None, compiled.reason
    return compiled.tables


def classes_of(engine: ModuleType, pattern: str) -> Any:
    classes = tables_of(pattern).classes
    return engine.ClassTable(classes.stage1, classes.stage2, classes.n_classes)


@cache
def splitter_of(engine: ModuleType, pattern: str) -> Any:
    return engine.Splitter(classes=classes_of(engine, pattern), **splitter_arguments(tables_of(pattern), None, True))


def as_bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


dropping = st.sampled_from([None, "whitespace", "spaces"])


def dropped_of(engine: ModuleType, drop: str | None) -> Any:
    if drop is None:
        return None
    with mock.patch("bytepair.pattern._engine.ClassTable", engine.ClassTable):
        return blanks.__wrapped__(drop == "spaces")


def pieces_of(data: bytes, sizes: list[int]) -> Iterator[bytes]:
    at = 0
    for size in sizes:
        yield data[at : at + size]
        at += size
    yield data[at:]


def specials_of(engine: ModuleType, names: tuple[str, ...] | None) -> Any:
    if names is None:
        return None
    return engine.Specials([name.encode() for name in names], [900 + i for i in range(len(names))])


def offsets_of(words: list[bytes]) -> array[int]:
    return array("q", accumulate(map(len, words), initial=0))


patterns = st.sampled_from(PATTERNS)
names = st.sampled_from([None, (), ("<s>",), SPECIALS, ("<", "<s>", "<s>a", "<s><s> a")])
marked_texts = st.booleans().flatmap(lambda marked: special_texts if marked else documents)
windows = st.sampled_from([1, 9, 16, 1 << 20])


# ---- cutting ----


@given(documents, patterns, windows)
def test_splitting(text: str | bytes, pattern: str, window: int) -> None:
    with windows_of(window):
        same(lambda engine: splitter_of(engine, pattern).ends(text))


@given(marked_texts, patterns, names, st.integers(0, 12))
def test_safe_cuts(text: str | bytes, pattern: str, special: tuple[str, ...] | None, start: int) -> None:
    same(lambda engine: splitter_of(engine, pattern).safe_cut(as_bytes(text), start, specials_of(engine, special)))


@given(documents, dropping, st.integers(0, 1))
def test_classes(text: str | bytes, drop: str, wanted: int) -> None:
    same(lambda engine: dropped_of(engine, drop or "whitespace").covers(as_bytes(text), wanted))


@given(
    st.lists(st.sampled_from([b"<s>", b"<s><s>", b"<", b"\xc3\xa9!", b"a", b"aa", b".*"]), min_size=1, max_size=5),
    marked_texts,
    st.one_of(st.just(0), st.integers(0, 30)),
)
def test_specials(some: list[bytes], text: str | bytes, start: int) -> None:
    same(lambda engine: engine.Specials(some, list(range(len(some)))).find(text, start))


# ---- first symbols ----


@dataclass(frozen=True)
class Letters:
    """The arguments of an alphabet."""

    kind: str
    end_of_word: str | None
    unknown: str
    points: tuple[int, ...]
    last_points: tuple[int, ...]
    #: Listed alphabets: the two continued forms, whether they count, and whether a run of unknown units is one token.
    inner_points: tuple[int, ...] = ()
    inner_last_points: tuple[int, ...] = ()
    continued: bool = False
    fuse_unknown: bool = False

    def make(self, engine: ModuleType) -> Any:
        if self.kind.startswith("listed"):
            forms = (self.points, self.last_points, self.inner_points, self.inner_last_points)
            return engine.Alphabet.of_listed(
                self.kind == "listed characters",
                [list(form) for form in forms],
                [[300 + 40 * k + i for i in range(len(form))] for k, form in enumerate(forms)],
                self.end_of_word == "fused",
                self.continued,
                [i if i % 5 else NONE for i in range(256)] if self.unknown == "bytes" else [],
                NONE if self.unknown == "error" else 599,
                self.fuse_unknown,
            )
        fused = self.end_of_word == "fused"
        if self.kind == "bytes":
            last = list(range(256, 512)) if fused else []
            return engine.Alphabet.of_bytes(list(range(256)), last, 512 if self.end_of_word == "separate" else NONE)
        return engine.Alphabet.of_characters(
            list(self.points),
            [300 + i for i in range(len(self.points))],
            list(self.last_points),
            [400 + i for i in range(len(self.last_points))],
            fused,
            NONE if self.end_of_word is None else 512,
            self.unknown,
            list(range(256)) if self.unknown == "bytes" else [],
            599,
        )

    n_symbols = 600


some_points = st.sets(st.sampled_from([*map(ord, "abc lower<s>'é你👍"), 0xDC80, 0xDCFF, 0xDCC3])).map(
    lambda points: tuple(sorted(points))
)
letters = st.builds(
    Letters,
    st.sampled_from(["bytes", "characters", "characters", "listed bytes", "listed characters"]),
    st.sampled_from([None, "separate", "fused"]),
    st.sampled_from(["error", "bytes", "<unk>"]),
    some_points,
    some_points,
    some_points,
    some_points,
    st.booleans(),
    st.booleans(),
)


@given(letters, documents, dropping)
def test_first_symbols(alphabet: Letters, text: str | bytes, drop: str | None) -> None:
    same(lambda engine: alphabet.make(engine).symbols(as_bytes(text), dropped_of(engine, drop)))


@given(st.lists(documents.map(as_bytes), max_size=6), dropping)
def test_collecting_characters(words: list[bytes], drop: str | None) -> None:
    same(lambda engine: engine.collect_characters(b"".join(words), offsets_of(words), dropped_of(engine, drop)))


# ---- encoding ----


@dataclass(frozen=True)
class Pairs:
    """The arguments of a pair table, by merges or by ranks."""

    merges: tuple[tuple[int, int, int], ...] | None
    ranks: tuple[bytes, ...] = ()
    shared: int = 0
    """How many merges in a row have one rank; none share without it."""

    def make(self, engine: ModuleType) -> Any:
        if self.merges is not None:
            columns = [array("I", column) for column in zip(*self.merges)] or [array("I")] * 3
            by = array("I", [k // self.shared for k in range(len(self.merges))]) if self.shared else None
            return engine.PairTable.of_merges(*columns, by)
        return engine.PairTable.of_ranks(self.tokens(engine))

    def tokens(self, engine: ModuleType) -> Any:
        """The tokens by their bytes, which go before merging; None where there are none."""
        if self.merges is not None:
            return None
        ids = [t[0] if len(t) == 1 else 256 + i for i, t in enumerate(self.ranks)]
        return engine.TokenTable(b"".join(self.ranks), offsets_of(list(self.ranks)), array("I", ids))


_symbols = st.one_of(
    st.sampled_from(b"abc"),
    st.sampled_from(b"abc"),
    st.integers(600, 604),
    st.sampled_from([*b" lower", 300, 400, 512]),
)
merge_tables = st.builds(
    # Results that are older symbols, or made before they are used: more than any loaded vocabulary may have.
    lambda rows, shared: Pairs(tuple({row[:2]: row for row in rows}.values()), shared=shared),
    st.lists(st.tuples(_symbols, _symbols, _symbols), max_size=20),
    st.integers(0, 3),
)
chained_tables = st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), max_size=20).map(
    lambda draws: Pairs(tuple(dict.fromkeys(_chained(draws))))
)
rank_tables = st.lists(st.text("abc ", min_size=2, max_size=5).map(str.encode), max_size=12, unique=True).map(
    lambda tokens: Pairs(None, (*(bytes([b]) for b in range(256)), *tokens))
)
pair_tables = st.one_of(merge_tables, chained_tables, rank_tables)


def _chained(draws: list[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """Merges of what there is already, as training gives them."""
    known = [*b"abc ", 300, 301, 400]
    seen = set()
    for a, b in draws:
        pair = known[a % len(known)], known[b % len(known)]
        if pair not in seen:
            seen.add(pair)
            yield (*pair, 600 + len(seen))
            known.append(600 + len(seen))


@dataclass(frozen=True)
class Encoding:
    letters: Letters
    pairs: Pairs
    whole_rank: bool
    pattern: str
    drop: str | None
    cache: int
    with_whole: bool = False

    def make(self, engine: ModuleType) -> Any:
        return engine.Encoder(
            self.letters.make(engine),
            self.pairs.make(engine),
            self.whole_rank,
            self.pairs.tokens(engine) if self.with_whole else None,
            splitter_of(engine, self.pattern),
            dropped_of(engine, self.drop),
            self.cache,
        )


#: No cache; one of a few entries in either engine; a large one.
caches = st.sampled_from([0, 1024, 10_000, 1 << 20])
encodings = st.builds(Encoding, letters, pair_tables, st.booleans(), patterns, dropping, caches, st.booleans())
long_texts = st.lists(st.sampled_from(["a", "b", "c", "ab", "abc", " "]), min_size=60, max_size=200).map("".join)


@given(encodings, st.lists(st.one_of(marked_texts, long_texts), max_size=5), names, windows)
def test_encoding(encoding: Encoding, batch: list[str | bytes], special: tuple[str, ...] | None, window: int) -> None:
    def encoded(engine: ModuleType) -> tuple[Any, ...]:
        encoder, matcher = encoding.make(engine), specials_of(engine, special)
        calls = (encoder.encode, encoder.encode_array, encoder.count)
        # Twice: the second time the cache has what it took.
        seen = [outcome(partial(call, text, matcher)) for text in (*batch, *batch) for call in calls]
        seen.append(outcome(partial(encoder.encode_batch, batch, matcher, 2)))
        assert encoder.cache_bytes() <= encoding.cache
        return tuple(seen)

    with windows_of(window):
        same(encoded)


@given(
    encodings, st.lists(st.tuples(marked_texts, st.lists(st.integers(0, 9), max_size=9)), max_size=3), names, windows
)
def test_streams(
    encoding: Encoding, texts: list[tuple[str | bytes, list[int]]], special: tuple[str, ...] | None, window: int
) -> None:
    """The same ids after the same pieces, and together those of the whole text; a stream that ended is as new."""

    def streamed(engine: ModuleType) -> tuple[Any, ...]:
        encoder, matcher, stream = encoding.make(engine), specials_of(engine, special), engine.Stream()
        seen = []
        for text, sizes in texts:
            whole = outcome(partial(encoder.encode, text, matcher))
            ids: list[int] = []
            try:
                for piece in pieces_of(as_bytes(text), sizes):
                    ids += encoder.feed(stream, piece, False, matcher)
                    seen.append((list(ids), stream.pending))
                ids += encoder.feed(stream, b"", True, matcher)
            except BytepairError as error:
                assert whole[0] is type(error)
                return (*seen, whole)
            assert ("list", ids) == whole
            assert stream.pending == 0
        return tuple(seen)

    with windows_of(window):
        same(streamed)


@given(encodings, st.one_of(documents, long_texts), st.lists(st.integers(0, 40), max_size=6), st.booleans())
def test_encoding_pretokens_that_were_cut_elsewhere(
    encoding: Encoding, text: str | bytes, ends: list[int], sound: bool
) -> None:
    size = len(as_bytes(text))
    if sound:
        ends = sorted({end for end in ends if 0 < end < size} | ({size} if size else set()))
    same(lambda engine: encoding.make(engine).encode_ends(text, array("q", ends)))


@given(pair_tables, st.booleans(), st.one_of(long_texts, st.text("abc", max_size=20)))
def test_both_ways_to_merge(pairs: Pairs, whole_rank: bool, text: str) -> None:
    codes = pairs.make(_pure).codes
    # Where a merge makes one of its own parts again, "all its places" depends on the way.
    assume(not whole_rank or all(code & NONE not in pair for pair, code in codes.items()))
    ways = encode._merge_by_scan, encode._merge_by_heap
    by_scan, by_heap = (way(list(text.encode()), codes, whole_rank) for way in ways)
    assert by_scan == by_heap


@given(st.integers(0, 3), st.integers(1, 600), st.booleans(), st.booleans())
def test_long_pretokens(seed: int, size: int, whole_rank: bool, ordered: bool) -> None:
    draw = random.Random(seed * 1000 + size)
    text = bytes(draw.choices(b"ab", k=size))
    if ordered:
        pairs = Pairs(tuple(_chained([(draw.randrange(99), draw.randrange(99)) for _ in range(30)])))
    else:
        known = [*b"ab", 600, 601, 602]
        every = [(left, right) for left in known for right in known]
        pairs = Pairs(tuple((*pair, draw.choice(known)) for pair in draw.sample(every, 12)))
    encoding = Encoding(Letters("bytes", None, "error", (), ()), pairs, whole_rank, "none", None, 0)
    same(lambda engine: encoding.make(engine).encode(text, None))


def test_a_full_cache_replaces_and_never_grows() -> None:
    encoding = Encoding(Letters("bytes", None, "error", (), ()), Pairs(((97, 98, 600),)), False, "gpt2", None, 8192)
    text = " ".join(f"ab{n % 300}" for n in range(3000))
    encoder = encoding.make(_pure)
    assert encoder.encode(text, None) == encoding.make(_core).encode(text, None)
    assert 0 < encoder.cache_bytes() <= 8192


@given(st.lists(st.tuples(_symbols, _symbols, _symbols), max_size=8), st.integers(0, 2))
def test_merge_tables(rows: list[tuple[int, int, int]], short: int) -> None:
    """Pairs given twice, and columns of unequal length, are refused in the same words."""
    columns = [array("I", [row[k] for row in rows]) for k in range(3)]
    if short:
        columns[short] = columns[short][:-1]
    same(lambda engine: len(engine.PairTable.of_merges(*columns)))
    ranks = array("I", [NONE if k == 5 else k // 2 for k in range(len(rows) - short // 2)])
    same(lambda engine: len(engine.PairTable.of_merges(*columns, ranks)))


@given(st.lists(st.text("ab", max_size=4).map(str.encode), max_size=8), st.integers(0, 1))
def test_rank_tables(tokens: list[bytes], short: int) -> None:
    ids = array("I", range(len(tokens) - short if tokens else 0))

    def packed(engine: ModuleType) -> Any:
        table = engine.PairTable.of_ranks(engine.TokenTable(b"".join(tokens), offsets_of(tokens), ids))
        pairs = memoryview(table.packed()).cast("Q")
        again = engine.PairTable.of_packed(pairs)
        assert sorted(memoryview(again.packed()).cast("Q")) == sorted(pairs)
        assert len(table) == len(pairs)
        return set(pairs)

    # The core leaves out those splits of a token that merging never comes to.
    core, pure = outcome(lambda: packed(_core)), outcome(lambda: packed(_pure))
    if core[0] == pure[0] == "set":
        assert core[1] <= pure[1]
    else:
        assert core == pure


@given(st.lists(st.one_of(st.integers(0, (1 << 64) - 1), st.sampled_from([5, 5 | 1 << 22, 1 << 21])), max_size=6))
def test_packed_tables(pairs: list[int]) -> None:
    same(lambda engine: len(engine.PairTable.of_packed(array("Q", pairs))))


# ---- decoding ----


rows = st.lists(
    st.tuples(st.sampled_from([b"", b"a", b" ", b"\xff", b"low"]), st.sampled_from([0, 1, 1, 1, 3, 5, 5, 7])),
    max_size=8,
)


@given(
    rows, st.lists(st.one_of(st.integers(0, 8), st.sampled_from([-1, 10**6, 1 << 80, True])), max_size=8), st.booleans()
)
def test_decoding(some: list[tuple[bytes, int]], ids: list[int], skip: bool) -> None:
    texts, flags = [text for text, _ in some], bytes(flag for _, flag in some)

    def decoder(engine: ModuleType) -> Any:
        return engine.Decoder(b"".join(texts), offsets_of(texts), flags)

    def places(data: str | bytes, characters: bool, engine: ModuleType) -> Any:
        return decoder(engine).places(array("I", ids), data, characters)

    same(lambda engine: decoder(engine).decode(ids, skip))
    if all(0 <= i < 1 << 32 for i in ids):
        text = b"".join(texts[i] for i in ids if i < len(texts))
        for data in (text, text + b"x", text.decode("latin-1")):
            for characters in (True, False):
                same(partial(places, data, characters))
    small = np.array([i for i in ids if 0 <= i < 1 << 32], dtype=np.uint32)
    same(lambda engine: decoder(engine).decode_array(small, skip))


# ---- counting ----


chunks = st.lists(st.integers(0, 12), max_size=12)


@given(st.lists(st.tuples(marked_texts, chunks), max_size=4), patterns, names, windows, st.integers(0, 4))
def test_counting_in_pieces(
    corpus: list[tuple[str | bytes, list[int]]], pattern: str, special: tuple[str, ...] | None, window: int, cut: int
) -> None:
    def count(engine: ModuleType) -> tuple[Any, ...]:
        counters = [engine.Counter(splitter_of(engine, pattern), specials_of(engine, special)) for _ in range(2)]
        seen = []
        for number, (text, sizes) in enumerate(corpus):
            # The later documents go to the other counter, in which they come first.
            counter = counters[number < cut]
            for piece in pieces_of(as_bytes(text), sizes):
                counter.feed(piece, number, False)
                seen.append((counter.pending, counter.n_words))
            counter.feed(b"", number, True)
            seen.append((counter.pending, counter.n_words))
        counters[0].merge(counters[1])
        return (tuple(seen), *counters[0].words())

    with windows_of(window):
        same(count)


@given(st.lists(st.tuples(marked_texts, chunks), max_size=4), patterns, st.booleans(), windows)
def test_counting_by_line(corpus: list[tuple[str | bytes, list[int]]], pattern: str, marked: bool, window: int) -> None:
    special = ("<s>", "a\nb", "é!\n") if marked else None

    def count(engine: ModuleType) -> tuple[Any, ...]:
        counter = engine.Counter(splitter_of(engine, pattern), specials_of(engine, special))
        apart = engine.Counter(splitter_of(engine, pattern), specials_of(engine, special))
        seen = []
        for number, (text, sizes) in enumerate(corpus):
            data = as_bytes(text).replace(b" ", b"\n")
            for piece in pieces_of(data, sizes):
                counter.feed(piece, number, False, 0, True)
                seen.append((counter.pending, counter.n_words))
            counter.feed(b"", number, True, 0, True)
            at = 0
            for line in io.BytesIO(data):
                apart.feed(line, number, True, at)
                at += len(line)
        table = counter.table()
        assert [list(column) for column in table] == [list(column) for column in apart.table()]
        return (tuple(seen), *table)

    with windows_of(window):
        same(count)


@given(
    st.lists(
        st.tuples(documents.map(as_bytes).filter(bool), st.integers(1, 5), st.integers(0, 3), st.integers(0, 20)),
        max_size=12,
    ),
    st.booleans(),
    st.integers(1, 4),
    st.data(),
)
def test_adding_words(rows: list[tuple[bytes, int, int, int]], by_text: bool, least: int, data: st.DataObject) -> None:
    order = data.draw(st.lists(st.integers(0, max(len(rows) - 1, 0)), max_size=4)) if rows else []

    def add(engine: ModuleType) -> tuple[Any, ...]:
        counter = engine.Counter(None, None)
        columns = [array("q", column) for column in zip(*(row[1:] for row in rows))] or [array("q")] * 3
        texts = [row[0] for row in rows]
        counter.add_words(b"".join(texts), offsets_of(texts), *columns)
        counter.merge(engine.Counter(None, None))
        table = counter.table(by_text, least)
        gathered = engine.gather_words(b"".join(texts), offsets_of(texts), array("q", order))
        counter.clear()
        return (*table, *gathered, counter.n_words, counter.table()[0])

    same(add)


@given(st.lists(st.tuples(documents, st.sets(st.integers(1, 30)), st.integers(0, 3)), max_size=5))
def test_counting_pretokens_that_were_cut_elsewhere(runs: list[tuple[str | bytes, set[int], int]]) -> None:
    def count(engine: ModuleType) -> tuple[Any, ...]:
        counter = engine.Counter(None, None)
        # Places in one document never overlap.
        for number, (text, ends, document) in enumerate(runs):
            size = len(as_bytes(text))
            sound = array("q", sorted(end for end in ends if end <= size))
            counter.feed_ends(text, sound, document, number * 1000)
        return (counter.n_words, *counter.words())

    same(count)


# ---- training ----


def everything_of(trainer: Any) -> tuple[Any, ...]:
    return (
        trainer.merges(),
        trainer.frequencies(),
        trainer.best_left(),
        trainer.exhausted,
        trainer.length_before,
    )


_repeating = st.lists(st.sampled_from(["a", "b", "aa", "ab", "é"]), min_size=1, max_size=12).map("".join)
counted = st.dictionaries(
    st.one_of(documents, _repeating, _repeating).map(as_bytes).filter(bool),
    st.one_of(st.integers(1, 4), st.sampled_from([70_000, 1 << 33])),
    max_size=10,
)


@given(
    counted,
    letters,
    dropping,
    st.integers(0, 4),
    st.lists(st.integers(0, 12), max_size=3),
    st.sampled_from(["first", "smallest", "greatest"]),
    st.sampled_from([None, None, 2, 4]),
)
def test_training(
    words: dict[bytes, int],
    alphabet: Letters,
    drop: str | None,
    least: int,
    stops: list[int],
    ties: str,
    longest: int | None,
) -> None:
    texts = list(words)
    n = alphabet.n_symbols

    def train(engine: ModuleType) -> tuple[Any, ...]:
        trainer = engine.Trainer(
            b"".join(texts),
            offsets_of(texts),
            array("q", words.values()),
            dropped_of(engine, drop),
            alphabet.make(engine),
            n,
            least,
            ties,
            [n - 1 - k for k in range(n)] if ties != "first" else [],
            [b"x" * (k % 3) + bytes([k % 5]) for k in range(n)] if ties == "greatest" else [],
            longest,
        )
        seen = []
        for wanted in (*stops, 40):
            seen.append((trainer.run(wanted, 60.0), everything_of(trainer)))
        return tuple(seen)

    same(train)


@given(corpora, st.sampled_from(["gpt2", "whitespace", "none"]), st.integers(1, 3))
def test_training_on_counted_text(corpus: list[str | bytes], pattern: str, least: int) -> None:
    def train(engine: ModuleType) -> tuple[Any, ...]:
        return everything_of(trained(engine, [as_bytes(text) for text in corpus], pattern, least, 60))

    same(train)


def trained(engine: ModuleType, corpus: list[bytes], pattern: str, least: int, wanted: int) -> Any:
    counter = engine.Counter(splitter_of(engine, pattern), None)
    for number, text in enumerate(corpus):
        counter.feed(text, number, True)
    alphabet = engine.Alphabet.of_bytes(list(range(256)), [], NONE)
    trainer = engine.Trainer(*counter.words(), None, alphabet, 256, least)
    trainer.run(wanted, 600.0)
    return trainer


def test_training_on_the_standard_library() -> None:
    folder = Path(warnings.__file__).parent
    corpus = [(folder / name).read_bytes() for name in ("argparse.py", "textwrap.py", "json/decoder.py", "heapq.py")]
    for pattern in ("gpt2", "al1", "whitespace"):
        same(lambda engine, pattern=pattern: everything_of(trained(engine, corpus, pattern, 2, 500)))


@given(corpora, st.integers(0, 20), st.booleans())
def test_training_from_given_merges(corpus: list[str | bytes], given: int, whole_rank: bool) -> None:
    """Going on from merges that are given is what one training does."""

    def train(engine: ModuleType) -> tuple[Any, ...]:
        texts = [as_bytes(text) for text in corpus]
        unbroken = trained(engine, texts, "gpt2", 1, 30)
        left, right, counts, tied, lengths, examples = (column.tolist() for column in unbroken.merges())
        k = min(given, len(left))
        pairs = engine.PairTable.of_merges(
            array("I", left[:k]), array("I", right[:k]), array("I", range(256, 256 + k)), None
        )
        sizes = [1] * 256
        for a, b in zip(left[:k], right[:k]):
            sizes.append(sizes[a] + sizes[b])
        counter = engine.Counter(splitter_of(engine, "gpt2"), None)
        for number, text in enumerate(texts):
            counter.feed(text, number, True)
        alphabet = engine.Alphabet.of_bytes(list(range(256)), [], NONE)
        resumed = engine.Trainer(
            *counter.words(), None, alphabet, 256 + k, 1, given=pairs, whole_rank=whole_rank, lengths=sizes
        )
        resumed.run(len(left) - k, 600.0)
        columns = [column.tolist() for column in resumed.merges()]
        assert columns == [left[k:], right[k:], counts[k:], tied[k:], lengths[k:], examples[3 * k :]]
        assert resumed.frequencies().tolist() == unbroken.frequencies().tolist()
        return everything_of(resumed)

    same(train)


def test_training_a_slice_at_a_time() -> None:
    for engine in (_core, _pure):
        trainer = trained(engine, [b"low low lower lowest"], "gpt2", 1, 0)
        assert [trainer.run(3, 0.0) for _ in range(4)] == [1, 2, 3, 3]
        assert not trainer.exhausted


# ---- errors ----


def columns_of(*numbers: list[int]) -> list[array[int]]:
    return [array("q", column) for column in numbers]


GPT2 = tables_of("gpt2").classes
ALPHABET = Letters("bytes", None, "error", (), ())


def wrong_splitter(engine: ModuleType, **wrong: Any) -> Any:
    arguments = {**splitter_arguments(tables_of("gpt2"), None, False), **wrong}
    return engine.Splitter(classes=classes_of(engine, "gpt2"), **arguments)


def words(*numbers: int) -> bytes:
    return (
        array("H", numbers).tobytes()
        if sys.byteorder == "little"
        else bytes(b for n in numbers for b in (n & 255, n >> 8))
    )


def wrong_action(engine: ModuleType, code: list[int]) -> Any:
    return wrong_splitter(engine, actions=[*splitter_arguments(tables_of("gpt2"), None, False)["actions"][:-1], code])


WRONG: dict[str, Callable[[ModuleType], Any]] = {
    "stage 1 is short": lambda e: e.ClassTable(GPT2.stage1[:-2], GPT2.stage2, 4),
    "stage 2 is empty": lambda e: e.ClassTable(GPT2.stage1, b"", 4),
    "stage 2 is no page": lambda e: e.ClassTable(GPT2.stage1, GPT2.stage2[:-1], 4),
    "a page is outside": lambda e: e.ClassTable(GPT2.stage1, GPT2.stage2[:256], 4),
    "a class is outside": lambda e: e.ClassTable(GPT2.stage1, GPT2.stage2, 3),
    "no width": lambda e: wrong_splitter(e, width=0),
    "a large width": lambda e: wrong_splitter(e, width=1024),
    "short begin": lambda e: wrong_splitter(e, begin=words(0)),
    "begins in no state": lambda e: wrong_splitter(e, begin=words(*[12] * 11)),
    "short next": lambda e: wrong_splitter(e, next=words(0)),
    "short action": lambda e: wrong_splitter(e, action=words(0)),
    "no states": lambda e: wrong_splitter(e, levels=b"", next=b"", action=b""),
    "short strong": lambda e: wrong_splitter(e, strong=b""),
    "next is outside": lambda e: wrong_splitter(e, next=words(*[12] * 132)),
    "action is outside": lambda e: wrong_splitter(e, action=words(*[7] * 132)),
    "a state without levels": lambda e: wrong_splitter(e, levels=words(*[1] * 11, 0)),
    "a state of too many": lambda e: wrong_splitter(e, levels=words(*[1] * 11, 3)),
    "begins in two levels": lambda e: wrong_splitter(e, levels=words(*[2] * 12)),
    "ends before it begins": lambda e: wrong_splitter(e, action=words(*[1] * 132)),
    "no actions": lambda e: wrong_splitter(e, actions=[]),
    "other actions": lambda e: wrong_splitter(e, actions=[[0, 0, 0]] * 7),
    "a short action": lambda e: wrong_action(e, [0, 0]),
    "moves that are not there": lambda e: wrong_action(e, [0, 0, 1, 0]),
    "accepts what is not there": lambda e: wrong_action(e, [3, 0, 0]),
    "no such kind": lambda e: wrong_action(e, [1, 3, 0]),
    "a mark that is not there": lambda e: wrong_action(e, [1, 0, 1, 2, 0]),
    "a source that is not there": lambda e: wrong_action(e, [1, 0, 1, 0, 2]),
    "names without ids": lambda e: e.Specials([b"a"], []),
    "an empty name": lambda e: e.Specials([b"a", b""], [1, 2]),
    "255 bytes": lambda e: e.Alphabet.of_bytes(list(range(255)), [], NONE),
    "255 last bytes": lambda e: e.Alphabet.of_bytes(list(range(256)), list(range(255)), NONE),
    "no fallback bytes": lambda e: e.Alphabet.of_characters([], [], [], [], False, NONE, "bytes", [], NONE),
    "characters without ids": lambda e: e.Alphabet.of_characters([97], [], [], [], False, NONE, "error", [], NONE),
    "last ones without ids": lambda e: e.Alphabet.of_characters([], [], [97], [], False, NONE, "error", [], NONE),
    "no code point": lambda e: e.Alphabet.of_characters([1 << 21], [0], [], [], False, NONE, "error", [], NONE),
    "three forms": lambda e: e.Alphabet.of_listed(True, [[]] * 3, [[]] * 3, False, False, [], NONE, False),
    "forms without ids": lambda e: e.Alphabet.of_listed(True, [[]] * 4, [[]] * 3, False, False, [], NONE, False),
    "a form without ids": lambda e: e.Alphabet.of_listed(
        True, [[97], [], [], []], [[]] * 4, False, False, [], 1, False
    ),
    "half a fallback": lambda e: e.Alphabet.of_listed(True, [[]] * 4, [[]] * 4, False, False, [1], NONE, False),
    "an unknown byte": lambda e: Letters("listed bytes", None, "error", (97,), ()).make(e).symbols(b"ab", None),
    "symbols of a str": lambda e: ALPHABET.make(e).symbols("a", None),
    "tokens: broken offsets": lambda e: e.TokenTable(b"ab", array("q", [0, 1]), array("I", [0])),
    "tokens: the same bytes": lambda e: e.TokenTable(b"aa", array("q", [0, 1, 2]), array("I", [5, 6])),
    "no splitter": lambda e: e.Encoder(ALPHABET.make(e), Pairs(()).make(e), False, None, None, None, 0).encode(
        b"a", None
    ),
    "a decoder without offsets": lambda e: e.Decoder(b"", array("q"), b""),
    "decoder: falling offsets": lambda e: e.Decoder(b"abc", array("q", [0, 2, 1, 3]), b"\1\1\1"),
    "decoder: too few flags": lambda e: e.Decoder(b"abc", array("q", [0, 2, 3]), b"\1"),
    "a counter without splitter": lambda e: e.Counter(None, None).feed(b"a", 0, True),
    "counter: ends beyond": lambda e: e.Counter(None, None).feed_ends(b"ab", array("q", [1, 3]), 0, 0),
    "counter: ends fall": lambda e: e.Counter(None, None).feed_ends(b"ab", array("q", [2, 1]), 0, 0),
    "counter: an empty word": lambda e: e.Counter(None, None).add_words(b"", *columns_of([0, 0], [1], [0], [0])),
    "counter: no count": lambda e: e.Counter(None, None).add_words(b"a", *columns_of([0, 1], [0], [0], [0])),
    "counter: a negative place": lambda e: e.Counter(None, None).add_words(
        b"a", *columns_of([0, 1], [1], [0], [-1])
    ),
    "counter: columns differ": lambda e: e.Counter(None, None).add_words(
        b"a", *columns_of([0, 1], [1], [], [1])
    ),
    "counter: too many": lambda e: e.Counter(None, None).add_words(
        b"aa", *columns_of([0, 1, 2], [1 << 62, 1 << 62], [0, 0], [0, 1])
    ),
    "words: out of range": lambda e: e.gather_words(b"a", array("q", [0, 1]), array("q", [1])),
    "counter: an empty pretoken": lambda e: e.Counter(None, None).feed_ends(b"ab", array("q", [1, 1]), 0, 0),
    "characters: broken offsets": lambda e: e.collect_characters(b"ab", array("q", [1, 2]), None),
    "a character that was never seen": lambda e: Letters("characters", None, "error", (97,), ()).make(e).symbols(
        "aé".encode(), None
    ),
    "and where it stands": lambda e: Encoding(
        Letters("characters", None, "error", (0x20, 0x61, 0xE9), ()), Pairs(()), False, "gpt2", None, 0
    ).make(e).encode_batch(["é", "é éaéx"], None, 1),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_wrong_arguments(what: str) -> None:
    kind, *_ = same(WRONG[what])
    assert isinstance(kind, type)
    assert issubclass(kind, Exception)


def words_to_train(engine: ModuleType, offsets: list[int], counts: list[int], n_symbols: int) -> Any:
    return engine.Trainer(
        b"abc", array("q", offsets), array("q", counts), None, ALPHABET.make(engine), n_symbols, 1
    ).length_before


@pytest.mark.parametrize(
    ("offsets", "counts", "n_symbols"),
    [
        ([0, 2], [1], 256),  # the text goes on
        ([0, 2, 3], [1], 256),  # a count is missing
        ([0, 0, 3], [1, 1], 256),  # an empty word
        ([0, 2, 3], [1, 0], 256),
        ([0, 2, 3], [1, -1], 256),
        ([0, 2, 3], [1, 1], 99),  # c is symbol 99
        ([0, 3], [(1 << 63) // 3 + 1], 256),  # more symbols than 64 bits can count
        ([0, 3], [(1 << 63) // 3], 256),
    ],
)
def test_words_that_cannot_be_trained_on(offsets: list[int], counts: list[int], n_symbols: int) -> None:
    same(lambda engine: words_to_train(engine, offsets, counts, n_symbols))


def test_a_document_that_was_not_ended() -> None:
    def feed(engine: ModuleType) -> None:
        counter = engine.Counter(splitter_of(engine, "gpt2"), None)
        counter.feed("some text", 0, False)
        counter.feed("some text", 1, True)

    _, message = same(feed)
    assert "was not ended" in message


@pytest.mark.parametrize("text", [None, 1, bytearray(b"a"), memoryview(b"a"), ["a"], "a\ud800", "\udc80"])
def test_what_is_no_text(text: Any) -> None:
    encoding = Encoding(ALPHABET, Pairs(()), False, "gpt2", None, 0)
    calls: list[Callable[[ModuleType], Any]] = [
        lambda e: splitter_of(e, "gpt2").ends(text),
        lambda e: specials_of(e, SPECIALS).find(text, 0),
        lambda e: encoding.make(e).encode(text, None),
        lambda e: encoding.make(e).encode_array(text, None),
        lambda e: encoding.make(e).encode_ends(text, array("q", [1])),
        lambda e: encoding.make(e).count(text, None),
        lambda e: encoding.make(e).encode_batch(["a", text], None, 1),
        lambda e: e.Counter(splitter_of(e, "gpt2"), None).feed(text, 0, True),
    ]
    for call in calls:
        kind, *_ = same(call)
        assert kind in (TypeError, UnicodeEncodeError)


@pytest.mark.parametrize("ids", [[1.0], ["1"], [None], (1,), [1, 99, "1"]])
def test_what_are_no_ids(ids: Any) -> None:
    kind, _ = same(lambda e: e.Decoder(b"ab", array("q", [0, 1, 2]), b"\1\1").decode(ids, False))
    assert kind is TypeError
