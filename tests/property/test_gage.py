"""Gage's compressor against a plain one, there and back on any bytes, and decoding of hostile bytes."""

from __future__ import annotations

import tracemalloc

from hypothesis import example, given
from hypothesis import strategies as st

from bytepair import gage
from bytepair.errors import FormatError

any_bytes = st.one_of(
    st.binary(max_size=300),
    st.lists(st.sampled_from(b"ab"), max_size=120).map(bytes),
    st.lists(st.sampled_from(b"abc \xff\xfe\0"), max_size=120).map(bytes),
    st.lists(st.tuples(st.binary(min_size=1, max_size=6), st.integers(1, 40)), max_size=12).map(
        lambda runs: b"".join(run * times for run, times in runs)
    ),
    st.permutations(range(256)).map(lambda values: bytes(values) + bytes(values[:7]) * 20),
)
options = st.fixed_dictionaries(
    {},
    optional={
        "block_size": st.integers(1, 200),
        "min_count": st.integers(2, 5),
        "max_replacements": st.none() | st.integers(0, 20),
    },
)


def plain_steps(
    data: bytes, block_size: int = gage.DEFAULT_BLOCK_SIZE, min_count: int = 2, max_replacements: int | None = None
) -> list[tuple[int, int, bytes, int, int, bytes]]:
    """Count every pair anew at every step: slow, and short enough to be read as the definition."""
    told = []
    for number, start in enumerate(range(0, len(data), block_size), 1):
        block = data[start : start + block_size]
        free = [value for value in range(255, -1, -1) if value not in block]
        for step, value in enumerate(free[:max_replacements], 1):
            pairs = [block[i : i + 2] for i in range(len(block) - 1)]
            pair = max(pairs, key=block.count, default=b"")  # max returns the first of equals
            count = block.count(pair) if pair else 0
            if count < min_count:
                break
            block = block.replace(pair, bytes((value,)))
            told.append((number, step, pair, value, count, block))
    return told


@given(any_bytes, options)
@example(b"aaa", {})
@example(b"ab" * 40 + b"ba" * 40, {"min_count": 3})
def test_the_steps_are_those_of_the_definition(data, options) -> None:
    told = [
        (step.block, step.step, step.pair, step.value, step.count, step.after) for step in gage.trace(data, **options)
    ]
    assert told == plain_steps(data, **options)


@given(any_bytes, options)
@example(b"", {})
@example(bytes(range(256)), {})
@example(bytes(20_000), {})
def test_there_and_back(data, options) -> None:
    packed = gage.compress(data, **options)
    assert gage.decompress(packed) == data
    told = gage.summary(packed)
    assert (told.size, told.compressed_size) == (len(data), len(packed))
    assert len(packed) <= 21 + told.blocks + len(data)


@given(any_bytes)
def test_each_step_shortens_by_its_count_and_can_be_undone(data) -> None:
    block = data
    for step in gage.trace(data):
        assert step.length == len(block) - step.count
        assert step.after.replace(bytes((step.value,)), step.pair) == block
        block = step.after


def decode_or_refuse(packed: bytes) -> None:
    """Decode within a few megabytes of memory, or refuse with FormatError; any other outcome fails the test."""
    limit = 1 << 20
    tracemalloc.start()
    try:
        gage.decompress(packed, max_size=limit)
    except FormatError as error:
        assert "offset " in str(error)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 8 * limit


@given(st.binary(max_size=400))
def test_random_bytes_are_refused(packed) -> None:
    decode_or_refuse(packed)
    decode_or_refuse(b"GAGE\1" + packed)
    decode_or_refuse(b"GAGE\1\x88\x13\0\0" + packed)


@given(st.integers(1, 5000), st.binary(max_size=400))
def test_random_records_are_refused(size, records) -> None:
    decode_or_refuse(b"GAGE\1\x88\x13\0\0" + size.to_bytes(8, "little") + b"\0\0\0\0" + records)


@given(
    any_bytes,
    options,
    st.lists(st.tuples(st.integers(0, 10**6), st.binary(max_size=4), st.integers(0, 4)), min_size=1, max_size=4),
)
def test_changed_files_are_refused_or_read(data, options, changes) -> None:
    packed = gage.compress(data, **options)
    for at, inserted, removed in changes:
        at %= len(packed) + 1
        packed = packed[:at] + inserted + packed[at + removed :]
    decode_or_refuse(packed)
