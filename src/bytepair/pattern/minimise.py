"""The coarsest partition of states that all steps respect: Hopcroft's algorithm, in n log n.

Refining all states at once is simpler but quadratic on long chains, which ``{1,1000}`` makes. Both the automaton and
the transducer are minimised with it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

__all__ = ["coarsest_partition"]


def coarsest_partition(labels: Sequence[Hashable], targets: Sequence[Sequence[int]]) -> list[int]:
    """Find which states cannot be told apart.

    Parameters
    ----------
    labels
        For each state, what shows of it: states with different labels are different.
    targets
        For each state and input, the next state, or a negative number for none. Two states one of which has no next
        state must differ in their labels already.

    Returns
    -------
    list of int
        The block of each state, from 0 on without gaps.

    Examples
    --------
    >>> coarsest_partition(["x", "x", "y"], [[1], [0], [0]])
    [0, 0, 1]
    """
    numbers: dict[Hashable, int] = {}
    block = [numbers.setdefault(label, len(numbers)) for label in labels]
    members: list[set[int]] = [set() for _ in numbers]
    for state, number in enumerate(block):
        members[number].add(state)
    columns = len(targets[0])
    sources: list[list[list[int]]] = [[[] for _ in targets] for _ in range(columns)]
    for state, row in enumerate(targets):
        for column, to in enumerate(row):
            if to >= 0:
                sources[column][to].append(state)
    waiting = set(range(len(members)))
    while waiting:
        splitter = list(members[waiting.pop()])
        for into in sources:
            touched: dict[int, set[int]] = {}
            for to in splitter:
                for state in into[to]:
                    touched.setdefault(block[state], set()).add(state)
            for number, inside in touched.items():
                if len(inside) == len(members[number]):
                    continue
                members[number] -= inside
                # The smaller part becomes the new block; it is enough to split by it, unless both parts wait anyway.
                small, large = sorted((inside, members[number]), key=len)
                members[number] = large
                new = len(members)
                members.append(small)
                for state in small:
                    block[state] = new
                waiting.add(new)
    return block
