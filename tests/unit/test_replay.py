"""Training, watched: the two articles' tables, frame by frame."""

from __future__ import annotations

import warnings

import pytest

import bytepair
from bytepair.explain import example_corpus, replay


def seen(name: str) -> list[tuple[str, int, int]]:
    """(merge, its count, how many pairs tied) of each frame of an example."""
    corpus, options = example_corpus(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bytepair.BytepairNotice)
        tok = bytepair.train(corpus, **options)
    found = replay(tok)
    for frame, after in zip(found, found[1:]):
        assert frame.after == after.before
        assert frame.winner.length_after == after.length
        assert dict(frame.pairs)[frame.winner.left, frame.winner.right] == frame.winner.count == frame.pairs[0][1]
        assert len(frame.tied) == (frame.winner.tied if frame.winner.tied > 1 else 0)
    assert found[-1].winner is None
    assert found[-1].before == found[-1].after
    str(found)
    found._repr_html_()
    return [
        (f"{tok.token_str(f.winner.left)}+{tok.token_str(f.winner.right)}", f.winner.count, len(f.tied))
        for f in found[:-1]
    ]


def test_article_1() -> None:
    assert seen("bytes") == [("l+o", 4, 2), ("lo+w", 4, 0), (" +low", 3, 0), (" low+e", 2, 0)]


def test_article_2() -> None:
    assert [(pair, count) for pair, count, _ in seen("classic")] == [
        ("e+r", 9), ("er+</w>", 9), ("n+e", 8), ("ne+w", 8), ("l+o", 7), ("lo+w", 7), ("new+er</w>", 6),
        ("low+</w>", 5), ("w+i", 3), ("wi+d", 3)
    ]  # fmt: skip


def test_what_cannot_be_replayed() -> None:
    with pytest.raises(bytepair.TrainingError, match="no training record"):
        replay(bytepair.load("gpt2"))
    with pytest.raises(bytepair.TrainingError, match="no example 'x'"):
        example_corpus("x")
    large = bytepair.train(" ".join(map(str, range(10_000))), num_merges=3)
    with pytest.raises(bytepair.TrainingError, match="too many to be kept"):
        replay(large)
