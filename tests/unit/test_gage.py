"""Gage's compressor: values worked out by hand, the bytes of the file, and every way to refuse one."""

from __future__ import annotations

import array
import struct
import time
import tracemalloc
import zlib

import pytest

from bytepair import gage
from bytepair.errors import BytepairError, FormatError

HEADER = 21


def header(
    original: bytes = b"", *, block_size: int = 5000, size: int | None = None, crc: int | None = None, version: int = 1
) -> bytes:
    return struct.pack(
        "<4sBIQI",
        b"GAGE",
        version,
        block_size,
        len(original) if size is None else size,
        zlib.crc32(original) if crc is None else crc,
    )


def record(values: bytes, pairs: list[bytes], packed: bytes) -> bytes:
    return bytes((len(pairs),)) + values + b"".join(pairs) + struct.pack("<I", len(packed)) + packed


def steps(data: bytes, **options: int) -> list[tuple[bytes, int, int, bytes]]:
    return [(step.pair, step.value, step.count, step.after) for step in gage.trace(data, **options)]


class TestTheAlgorithm:
    def test_worked_example(self) -> None:
        """``ababcabcd``.

        Pairs: ab 3, ba 1, bc 2, ca 1, cd 1. ``ab`` becomes FF: FF FF c FF c d, 9 - 3 = 6 bytes.
        Pairs: FF FF 1, FF c 2, c FF 1, c d 1. ``FF c`` becomes FE: FF FE FE d, 6 - 2 = 4 bytes.
        Pairs: FF FE 1, FE FE 1, FE d 1: none repeats, stop.
        """
        assert steps(b"ababcabcd") == [
            (b"ab", 0xFF, 3, b"\xff\xffc\xffcd"),
            (b"\xffc", 0xFE, 2, b"\xff\xfe\xfed"),
        ]

    def test_a_pair_of_equal_bytes_counts_places_that_do_not_overlap(self) -> None:
        """``aaabdaaabac``: aa 2 and ab 2 tie, aa stands first; the windows would count aa 4 times.

        aa becomes FF: FF a b d FF a b a c. FF a 2 and ab 2 tie: FF a becomes FE: FE b d FE b a c.
        FE b 2: FD: FD d FD a c.
        """
        assert steps(b"aaabdaaabac") == [
            (b"aa", 0xFF, 2, b"\xffabd\xffabac"),
            (b"\xffa", 0xFE, 2, b"\xfebd\xfebac"),
            (b"\xfeb", 0xFD, 2, b"\xfdd\xfdac"),
        ]

    def test_three_equal_bytes_hold_one_pair_and_stop(self) -> None:
        assert steps(b"aaa") == []

    def test_a_long_run_halves_at_each_step(self) -> None:
        """17 = 8 pairs and 1 over; then 4, 2 and 1 pairs of the new values."""
        assert [(step.count, step.length) for step in gage.trace(b"a" * 17)] == [(8, 9), (4, 5), (2, 3)]

    def test_ties_go_to_the_pair_that_stands_first(self) -> None:
        """``xyabxyab``: xy 2, ya 2, ab 2, bx 1."""
        assert [step.pair for step in gage.trace(b"xyabxyab")] == [b"xy", b"\xffa", b"\xfeb"]

    def test_a_higher_count_wins_over_an_earlier_place(self) -> None:
        assert steps(b"xyxyababab")[0] == (b"ab", 0xFF, 3, b"xyxy\xff\xff\xff")

    def test_new_values_are_those_that_the_block_does_not_use(self) -> None:
        assert [step.value for step in gage.trace(b"\xff\xfdabab\xff\xfd")] == [0xFE, 0xFC]

    def test_a_value_is_never_used_twice_even_when_it_has_vanished(self) -> None:
        """After two steps no a, b or FF is left in ``abababab``, yet none of them is given out."""
        assert [step.value for step in gage.trace(b"ab" * 8)] == [0xFF, 0xFE, 0xFD]

    def test_without_a_free_value_nothing_is_replaced(self) -> None:
        data = bytes(range(256)) * 4
        assert steps(data) == []
        assert gage.compress(data) == header(data) + b"\0" + data

    def test_it_stops_when_the_last_free_value_is_used(self) -> None:
        data = bytes(range(255)) + b"abab"
        assert [(step.pair, step.value) for step in gage.trace(data)] == [(b"ab", 0xFF)]

    def test_min_count_stops_earlier(self) -> None:
        assert [step.pair for step in gage.trace(b"ababcabcd", min_count=3)] == [b"ab"]
        assert steps(b"ababcabcd", min_count=4) == []

    def test_max_replacements_holds_for_each_block(self) -> None:
        told = [(step.block, step.step) for step in gage.trace(b"ababcabcd" * 2, block_size=9, max_replacements=1)]
        assert told == [(1, 1), (2, 1)]
        assert steps(b"ababcabcd", max_replacements=0) == []

    def test_blocks_know_nothing_of_each_other(self) -> None:
        assert steps(b"abab", block_size=2) == []


class TestTheFile:
    def test_every_byte_of_a_small_file(self) -> None:
        """16 times ab: FF 16 times; FF FF 8 times; FE FE 4 times; FD FD 2 times; FC FC stands once."""
        data = b"ab" * 16
        expected = header(data) + record(
            b"\xff\xfe\xfd\xfc", [b"ab", b"\xff\xff", b"\xfe\xfe", b"\xfd\xfd"], b"\xfc\xfc"
        )
        assert gage.compress(data) == expected
        assert gage.decompress(expected) == data

    def test_empty_data_is_a_header(self) -> None:
        assert gage.compress(b"") == header()
        assert gage.decompress(header()) == b""

    def test_a_block_that_gains_nothing_is_stored_as_it_is(self) -> None:
        assert gage.compress(b"ababcabcd") == header(b"ababcabcd") + b"\0ababcabcd"

    def test_more_than_32_new_values_are_a_bitmap(self) -> None:
        data = b"".join(bytes((i, i + 1)) * 4 for i in range(0, 80, 2)) * 2
        packed = gage.compress(data)
        values = [step.value for step in gage.trace(data)]
        assert len(values) > 32
        assert packed[HEADER] == len(values)
        bits = int.from_bytes(packed[HEADER + 1 : HEADER + 33], "little")
        assert sorted(values) == [value for value in range(256) if bits >> value & 1]
        assert gage.decompress(packed) == data

    def test_blocks_of_different_kinds_in_one_file(self) -> None:
        data = b"a" * 100 + bytes(range(100)) + b"xy" * 25
        packed = gage.compress(data, block_size=100)
        told = gage.summary(packed)
        assert (told.blocks, told.raw_blocks, told.size) == (3, 1, 250)
        assert told.compressed_size == len(packed)
        assert told.ratio == len(packed) / 250
        assert told.crc32 == zlib.crc32(data)
        assert gage.decompress(packed) == data

    def test_the_summary_counts_what_the_trace_shows(self) -> None:
        data = b"the cat sat on the mat, the rat sat on the cat; " * 40
        told = gage.summary(gage.compress(data, block_size=500))
        assert told.raw_blocks == 0
        assert told.replacements == sum(1 for _ in gage.trace(data, block_size=500))

    def test_the_ratio_of_nothing_is_one(self) -> None:
        assert gage.summary(gage.compress(b"")).ratio == 1.0

    @pytest.mark.parametrize("block_size", [1, 2, 3, 7, 1000, gage.MAX_BLOCK_SIZE])
    def test_block_sizes(self, block_size: int) -> None:
        data = b"she sells sea shells " * 30
        assert gage.decompress(gage.compress(data, block_size=block_size)) == data

    def test_anything_that_gives_bytes(self) -> None:
        data = b"abab" * 20
        packed = gage.compress(data)
        for same in (bytearray(data), memoryview(data), array.array("B", data), memoryview(data * 2)[: len(data)]):
            assert gage.compress(same) == packed
        assert gage.decompress(bytearray(packed)) == data
        assert gage.decompress(memoryview(packed)) == data

    def test_progress_ends_at_the_size(self) -> None:
        calls: list[tuple[int, int]] = []
        packed = gage.compress(b"ab" * 50, block_size=40, progress=lambda done, total: calls.append((done, total)))
        assert calls == [(40, 100), (80, 100), (100, 100)]
        calls.clear()
        gage.decompress(packed, progress=lambda done, total: calls.append((done, total)))
        assert calls == [(40, 100), (80, 100), (100, 100)]


class TestWrongArguments:
    @pytest.mark.parametrize("data", ["text", 5, None, [97, 98]])
    @pytest.mark.parametrize("function", [gage.compress, gage.decompress, gage.trace, gage.summary])
    def test_no_bytes(self, function, data) -> None:
        with pytest.raises(TypeError, match=rf"gage\.{function.__name__} takes bytes, not {type(data).__name__}"):
            function(data)

    def test_text_is_told_to_encode(self) -> None:
        with pytest.raises(TypeError, match=r"text\.encode\(\)"):
            gage.compress("text")  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"block_size": 0}, "block_size is 0; it must be 1 to 16777216"),
            ({"block_size": -1}, "block_size is -1"),
            ({"block_size": gage.MAX_BLOCK_SIZE + 1}, "block_size is 16777217"),
            ({"min_count": 1}, "min_count is 1; it must be 2 or more"),
            ({"max_replacements": -1}, "max_replacements is -1; it must be 0 or more"),
        ],
    )
    @pytest.mark.parametrize("function", [gage.compress, gage.trace])
    def test_options_out_of_range(self, function, options, message) -> None:
        with pytest.raises(BytepairError, match=message):
            function(b"abab", **options)

    @pytest.mark.parametrize("name", ["block_size", "min_count", "max_replacements"])
    @pytest.mark.parametrize("value", [2.5, "7"])
    def test_options_that_are_no_integers(self, name, value) -> None:
        with pytest.raises(TypeError, match=f"{name} must be an integer, not {type(value).__name__}"):
            gage.compress(b"abab", **{name: value})

    def test_max_size(self) -> None:
        packed = gage.compress(b"ab" * 50)
        assert gage.decompress(packed, max_size=100) == b"ab" * 50
        assert gage.decompress(packed, max_size=None) == b"ab" * 50
        with pytest.raises(FormatError, match=r"offset 9: the file declares 100 bytes and the limit is 99; .*max_size"):
            gage.decompress(packed, max_size=99)
        with pytest.raises(BytepairError, match="max_size is -1"):
            gage.decompress(packed, max_size=-1)


class TestBadFiles:
    @pytest.mark.parametrize(
        ("packed", "message"),
        [
            (b"", "offset 0: the file ends inside its header of 21 bytes"),
            (b"GA", "offset 2: the file ends inside its header"),
            (
                b"PK\3\4" + bytes(40),
                r"offset 0: a file made by bytepair gage begins with b'GAGE', this begins with b'PK",
            ),
            (b"x", "offset 0: a file made by"),
            (header()[:-1], "offset 20: the file ends inside its header"),
            (header(version=2), "offset 4: format version 2"),
            (header(block_size=0), "offset 5: a block size of 0"),
            (header(block_size=gage.MAX_BLOCK_SIZE + 1), "offset 5: a block size of 16777217"),
            (header(size=2**64 - 1), "offset 9: a size of 18446744073709551615 bytes needs"),
            (header(size=1), "offset 9: a size of 1 bytes needs 1 blocks, more than the 0 bytes"),
            (header(b"") + b"!", "offset 21: the last block ends here, but 1 more bytes follow"),
            (
                header(b"abc") + b"\0ab",
                "offset 22: 3 bytes expected for a block stored as it is, but the file ends after 2",
            ),
            (header(b"abc") + b"\0abd", "offset 17: the CRC-32 is 352441c2 but the content has"),
            (header(b"abc") + b"\0abcjunk", "offset 25: the last block ends here, but 4 more bytes follow"),
            (header(b"abc") + b"\2\xff", "offset 22: 2 bytes expected for the new values"),
            (header(b"abc") + b"\1\xff", "offset 23: 2 bytes expected for the pairs"),
            (header(b"abc") + b"\1\xffab\1", "offset 25: 4 bytes expected for the length of a packed block"),
            (header(b"abc") + b"\1\xffab\2\0\0\0\xff", "offset 29: 2 bytes expected for a packed block"),
            (header(b"abc") + b"\1\xffab\xff\xff\xff\xff", "offset 29: 4294967295 bytes expected for a packed block"),
            (
                header(b"abc") + record(b"\xff", [b"ab"], b"\xff"),
                "offset 29: the packed block expands to 2 bytes where 3",
            ),
            (header(b"abc") + record(b"\xff", [b"ab"], b""), "offset 29: the packed block expands to 0 bytes"),
            (header(b"abc") + record(b"\xff", [b"ab"], b"\xff\xff"), "expands to 4 bytes where 3 are due"),
            (header(b"abc") + record(b"\xff", [b"a\xff"], b"\xffc"), "offset 24: the pair of FF uses itself, a loop"),
            (
                header(b"abc") + record(b"\xff\xfe", [b"\xfea", b"\xffb"], b"\xffc"),
                "offset 24: the pair of FF uses FE, which is made later: they could form a loop",
            ),
            (header(b"abc") + record(b"\xff\xff", [b"ab", b"bc"], b"\xff"), "offset 23: .* but FF stands twice"),
            (header(b"abc") + record(b"\xfe\xff", [b"ab", b"bc"], b"\xff"), "offset 23: .* but FF stands after FE"),
            (
                header(b"abcd") + record(b"\xff\xfe\xfd", [b"ab", b"\xff\xff", b"\xfe\xfe"], b"\xfe"),
                "offset 29: FD stands for 8 bytes in a block of 4",
            ),
            (
                header(b"ab" * 30) + record(bytes(31) + b"\1", [b"ab"] * 33, b"\xff"),
                "offset 22: the bitmap names 1 new values where 33 are due",
            ),
        ],
    )
    def test_each_fault_is_named_with_its_offset(self, packed: bytes, message: str) -> None:
        with pytest.raises(FormatError, match=message):
            gage.decompress(packed)

    def test_every_cut_is_noticed(self) -> None:
        packed = gage.compress(b"ab" * 40 + bytes(range(80)), block_size=80)
        for end in range(len(packed)):
            with pytest.raises(FormatError, match=r"offset \d+"):
                gage.decompress(packed[:end])

    def test_every_flipped_bit_is_noticed(self) -> None:
        packed = gage.compress(b"the cat sat on the mat, the rat sat on the cat; " * 4)
        for at in range(len(packed)):
            for bit in range(8):
                damaged = bytearray(packed)
                damaged[at] ^= 1 << bit
                # A block size that still makes one block of the data decodes to the same bytes.
                if 5 <= at < 9:
                    continue
                with pytest.raises(FormatError, match=r"offset \d+"):
                    gage.decompress(damaged)

    def test_a_chain_that_doubles_is_refused_before_it_grows(self) -> None:
        """200 steps, each twice the one before: 2**200 bytes from less than a kilobyte."""
        values = bytes(range(255, 55, -1))
        pairs = [b"\0\0"] + [bytes((value, value)) for value in values[:-1]]
        bitmap = sum(1 << value for value in values).to_bytes(32, "little")
        size = gage.MAX_BLOCK_SIZE
        bomb = header(block_size=size, size=size) + record(bitmap, pairs, values[-1:])
        tracemalloc.start()
        try:
            with pytest.raises(FormatError, match="stands for 33554432 bytes in a block of 16777216"):
                gage.decompress(bomb)
            assert tracemalloc.get_traced_memory()[1] < 1_000_000
        finally:
            tracemalloc.stop()

    def test_the_longest_honest_block_is_read(self) -> None:
        data = bytes(gage.MAX_BLOCK_SIZE)
        packed = header(data, block_size=len(data)) + record(
            bytes(range(255, 231, -1)), [b"\0\0"] + [bytes((value, value)) for value in range(255, 232, -1)], b"\xe8"
        )
        assert len(packed) < 120
        assert gage.decompress(packed) == data

    def test_a_declared_size_costs_nothing_before_it_is_reached(self) -> None:
        packed = header(b"", block_size=gage.MAX_BLOCK_SIZE, size=2**30) + bytes(200)
        tracemalloc.start()
        try:
            with pytest.raises(FormatError, match="offset 22: 16777216 bytes expected"):
                gage.decompress(packed)
            assert tracemalloc.get_traced_memory()[1] < 1_000_000
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize("unit", [b"\0", b"ab", b"the cat sat on the mat; ", bytes(range(200))])
def test_time_grows_with_the_size(unit: bytes) -> None:
    """Four times the data takes about four times the time, within one block and over many."""

    def seconds(size: int, block_size: int) -> float:
        data = (unit * (size // len(unit) + 1))[:size]
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            gage.compress(data, block_size=block_size)
            best = min(best, time.process_time() - start)
        return best

    for block_size in (5000, gage.MAX_BLOCK_SIZE):
        assert seconds(200_000, block_size) < 8 * seconds(50_000, block_size) + 0.01
