"""Sets of code points, against Python's own sets."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bytepair.pattern.charsets import ALL, CODE_POINTS, EMPTY, CharSet

points = st.one_of(st.integers(0, 12), st.integers(CODE_POINTS - 12, CODE_POINTS - 1))
ranges = st.lists(st.tuples(points, points).map(lambda pair: (min(pair), max(pair))), max_size=5)
EDGE = [*range(16), *range(CODE_POINTS - 16, CODE_POINTS)]


def members(characters: CharSet) -> set[int]:
    return {point for point in EDGE if point in characters}


@given(ranges, ranges)
def test_operations_are_those_of_sets(left: list[tuple[int, int]], right: list[tuple[int, int]]) -> None:
    one, two = CharSet(left), CharSet(right)
    assert members(one) == {point for point in EDGE if any(a <= point <= b for a, b in left)}
    assert members(one | two) == members(one) | members(two)
    assert members(one & two) == members(one) & members(two)
    assert members(one - two) == members(one) - members(two)
    assert members(one ^ two) == members(one) ^ members(two)
    assert members(~one) == set(EDGE) - members(one)
    assert len(one) + len(~one) == CODE_POINTS
    assert ~~one == one


@given(ranges)
def test_borders_always_rise_and_equal_sets_are_equal(some: list[tuple[int, int]]) -> None:
    one = CharSet(some)
    assert all(a < b for a, b in zip(one.borders, one.borders[1:], strict=False))
    again = CharSet(reversed(one.ranges))
    assert again == one
    assert hash(again) == hash(one)
    assert pickle.loads(pickle.dumps(one)) == one


def test_the_two_ends() -> None:
    assert not EMPTY
    assert len(ALL) == CODE_POINTS
    assert ~EMPTY == ALL
    assert ~ALL == EMPTY
    assert list(CharSet.of("ba")) == [97, 98]


def test_a_set_cannot_change() -> None:
    with pytest.raises(AttributeError, match="cannot change"):
        CharSet.of("a").borders = (1, 2)  # type: ignore[misc]
