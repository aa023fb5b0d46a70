"""Hopcroft's partition against plain refinement."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bytepair.pattern.minimise import coarsest_partition


def refined(labels: list[int], targets: list[list[int]]) -> list[int]:
    block = list(labels)
    while True:
        numbers: dict[tuple[int, ...], int] = {}
        new = [
            numbers.setdefault((block[state], *[block[to] for to in row]), len(numbers))
            for state, row in enumerate(targets)
        ]
        if len(numbers) == len(set(block)):
            return new
        block = new


@st.composite
def machines(draw: st.DrawFn) -> tuple[list[int], list[list[int]]]:
    n, columns = draw(st.integers(1, 9)), draw(st.integers(1, 3))
    labels = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    rows = st.lists(st.integers(0, n - 1), min_size=columns, max_size=columns)
    return labels, draw(st.lists(rows, min_size=n, max_size=n))


@given(machines())
def test_equals_plain_refinement(machine: tuple[list[int], list[list[int]]]) -> None:
    ours, plain = coarsest_partition(*machine), refined(*machine)
    states = range(len(ours))
    assert all((ours[a] == ours[b]) == (plain[a] == plain[b]) for a in states for b in states)
    assert set(ours) == set(range(len(set(ours))))
