"""``WordCounts`` as a value: counted in parts and merged, filtered, sampled; counted within a budget of memory."""

from __future__ import annotations

import io
import os
import random
import sys
import tempfile
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bytepair
from bytepair import TrainingError, WordCounts, _engine
from bytepair.corpus import counting, runs
from bytepair.corpus.document import Document

texts = st.lists(
    st.sampled_from(["a", "b", " a", "low", "\n", "\r\n", " \n", "é", "<s>", "\u3000", "x" * 40, "'s"]), max_size=12
)
documents = st.lists(texts.map("".join), max_size=8)


def places(words: WordCounts) -> list[tuple[int, int]]:
    return list(zip(words.documents.tolist(), words.places.tolist()))


@given(documents, st.lists(st.integers(0, 8), max_size=3), st.randoms())
def test_parts_merged_in_any_order_are_the_whole(corpus: list[str], cuts: list[int], rng: random.Random) -> None:
    whole = WordCounts.from_corpus(corpus, specials=["<s>"])
    borders = sorted({0, len(corpus), *(min(cut, len(corpus)) for cut in cuts)})
    parts = [
        WordCounts.from_corpus(corpus[a:b], specials=["<s>"], first_document=a) for a, b in zip(borders, borders[1:])
    ]
    rng.shuffle(parts)
    nothing = WordCounts.from_corpus([], specials=["<s>"])
    merged = nothing.merge(*parts)
    assert merged == whole
    assert places(merged) == places(whole)
    one_by_one = nothing
    for part in parts:
        one_by_one = one_by_one + part
    assert one_by_one == whole


def test_first_places_decide_the_order_and_so_the_merges() -> None:
    one = WordCounts.from_corpus(["xy xy", "ab ab"])
    first, second = (WordCounts.from_corpus([text], first_document=i) for i, text in ((1 << 32, "ab ab"), (0, "xy xy")))
    assert first + second == one
    learned = bytepair.train(first + second, num_merges=1, specials=())
    assert learned.token_str(256) == "xy"


def test_counts_of_different_cuts_are_not_merged() -> None:
    words = WordCounts.from_corpus("a b")
    for other, what in (
        (WordCounts.from_corpus("a b", pattern="cl100k"), "pattern differ, gpt2 and cl100k"),
        (WordCounts.from_corpus("a b", specials=["<s>"]), "specials differ"),
        (WordCounts({"a": 1}), "not known"),
    ):
        with pytest.raises(TrainingError, match=what):
            words + other
    assert words + WordCounts({"a": 1}, pattern="gpt2", specials=()) != words
    with pytest.raises(TypeError):
        words + {"a": 1}  # type: ignore[operator]
    with pytest.raises(TrainingError, match="argument 1 of merge"):
        words.merge(words, 3)  # type: ignore[arg-type]


def test_counts_are_64_bit_and_never_wrap() -> None:
    most = (1 << 63) - 1
    words = WordCounts({"  x": 3 * 10**9, "y": most})
    assert words.total == 3 * 10**9 + most
    assert words.bytes == 9 * 10**9 + most
    assert dict((words + WordCounts({"  x": 3 * 10**9})).items())[b"  x"] == 6 * 10**9
    with pytest.raises(TrainingError, match="2\\^63"):
        words + words


def test_filter_tells_what_it_left_out() -> None:
    words = WordCounts({"low": 5, "lower": 2, "x": 1})
    kept, gone = words.filter(lambda word, count: len(word) > 1, min_count=2)
    assert list(kept.items()) == [(b"low", 5), (b"lower", 2)]
    assert (gone.words, gone.pretokens, gone.bytes, gone.share) == (1, 1, 1, 0.125)
    assert places(kept) == places(words)[:2]
    assert words.filter()[0] == words
    assert WordCounts({}).filter()[1].share == 0.0
    for wrong in ({"min_count": 0}, {"predicate": 3}):
        with pytest.raises(TrainingError):
            words.filter(**wrong)  # type: ignore[arg-type]


def test_a_sample_is_reproducible_and_about_as_large_as_asked() -> None:
    words = WordCounts({f"w{i}": 1 + i for i in range(1000)})
    part = words.sample(0.25, seed=3)
    assert part == words.sample(0.25, seed=3) != words.sample(0.25, seed=4)
    assert 0.23 < part.total / words.total < 0.27
    assert set(part) < set(words) and words.sample(1.0) == words
    assert all(count <= 1 + int(word[1:]) for word, count in part.items())
    for wrong in (0, 1.5, True, "a", float("nan")):
        with pytest.raises(TrainingError, match="fraction"):
            words.sample(wrong)  # type: ignore[arg-type]


def test_the_columns_do_not_change() -> None:
    words = WordCounts.from_corpus("a b")
    for column in (words.offsets, words.counts, words.documents, words.places):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 5


def test_training_takes_the_pattern_that_cut_the_words() -> None:
    text = "low low lower 12345 67890 low"
    words = WordCounts.from_corpus(text, pattern="cl100k", specials=bytepair.AL1_SPECIALS)
    tok = bytepair.train(words, num_merges=3)
    assert tok == bytepair.train(text, pattern="cl100k", num_merges=3)
    with pytest.raises(TrainingError, match="cut by cl100k"):
        bytepair.train(words, pattern="gpt2", num_merges=3)
    with pytest.warns(bytepair.BytepairNotice, match="<new>"):
        bytepair.train(words, specials=["<new>"], num_merges=3)


# ---- within a budget ----


def mixed(n: int, seed: int = 1) -> list[str]:
    rng = random.Random(seed)
    return [
        " ".join(
            f"{rng.choice('abc')}{int(rng.paretovariate(0.6)) % 9000}{'ä' * rng.randint(0, 9)}" for _ in range(200)
        )
        for _ in range(n)
    ]


@pytest.mark.parametrize("budget", [counting.LEAST_MEMORY * 5, 400_000, 10**6])
def test_any_budget_gives_the_same(budget: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(runs, "WORD_BYTES", 1)  # the words are few: let them fit where counting them does not
    monkeypatch.setattr(runs, "FAN_IN", 4)
    corpus = mixed(60)
    whole = WordCounts.from_corpus(corpus)
    written: list[int] = []
    write = runs.Runs._write
    monkeypatch.setattr(runs.Runs, "_write", lambda self, tables: (write(self, tables), written.append(self.written)))
    for threads in (1, 2, 8):
        spilled = WordCounts.from_corpus(corpus, max_memory=budget, threads=threads)
        assert spilled == whole
        assert places(spilled) == places(whole)
    if _engine.NAME == "core" and budget < 10**6:  # what a word takes in Python is only guessed
        assert written
    with pytest.warns(bytepair.BytepairNotice, match="min_word_count=3 left out"):
        cut = WordCounts.from_corpus(corpus, max_memory=budget, min_word_count=3)
    assert cut == whole.filter(min_count=3)[0]
    with pytest.warns(bytepair.BytepairNotice, match="min_word_count=3 left out"):
        assert WordCounts.from_corpus(corpus, min_word_count=3) == cut
    assert not list(tmp_path.iterdir())


@given(documents, st.integers(1, 60), st.integers(2, 5), st.booleans())
def test_spilling_anywhere_changes_nothing(corpus: list[str], every: int, fan_in: int, by_line: bool) -> None:
    """A counter is written to disk after every few bytes, and runs are merged into runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "FAN_IN", fan_in)
        documents = [lines_of(text.encode()) for text in corpus] if by_line else corpus
        whole = WordCounts.from_corpus(documents)
        patch.setattr(counting.Counting, "_spill", lambda self, counter: self.runs.add(counter))
        run = counting.Counting(bytepair.Pattern(whole.pattern.regex), [], documents, None, 0, 10**9)
        patch.setattr(runs, "BLOCK", every)
        table = run.run(1)
    assert WordCounts.of_table(table, whole.pattern, ()) == whole


def test_words_that_do_not_fit_are_an_error_with_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    corpus = [f"w{i} w{i // 100}" for i in range(20_000)]
    with pytest.raises(TrainingError, match=r"take .* MiB, and max_memory allows 0.2 MiB") as caught:
        WordCounts.from_corpus(corpus, max_memory=200_000)
    least = int(str(caught.value).split("min_word_count=")[1].split()[0])
    with pytest.warns(bytepair.BytepairNotice):
        few = WordCounts.from_corpus(corpus, max_memory=200_000, min_word_count=least)
    assert few == WordCounts.from_corpus(corpus).filter(min_count=least)[0]
    enough = int(str(caught.value).split("max_memory=")[1].split()[0])
    assert WordCounts.from_corpus(corpus, max_memory=enough) == WordCounts.from_corpus(corpus)
    for wrong in (0, 1000, "1G", True):
        with pytest.raises(TrainingError, match="max_memory"):
            WordCounts.from_corpus("a", max_memory=wrong)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_the_temporary_files_go_when_counting_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    there: list[int] = []

    def corpus() -> Any:
        yield from mixed(40)
        there.append(len(list(tmp_path.iterdir())))
        raise KeyboardInterrupt

    for threads in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            WordCounts.from_corpus(corpus(), max_memory=counting.LEAST_MEMORY * 2, threads=threads)
    assert there == [1, 1]
    assert not list(tmp_path.iterdir())


def test_a_disk_that_cannot_be_written_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(TrainingError, match="TMPDIR"):
        WordCounts.from_corpus(mixed(40), max_memory=counting.LEAST_MEMORY, threads=1)


# ---- lines that are texts of their own ----


def lines_of(data: bytes, piece: int = 7) -> Document:
    return Document("lines", len(data), lambda: (data[i : i + piece] for i in range(0, len(data), piece)), by_line=True)


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "o200k", r"(\w)\1|\s+|."])
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_a_file_by_line_is_an_iterator_of_its_lines(
    pattern: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = Path(threading.__file__).read_bytes()[:60_000].replace(b"\n\n", b"\r\n\n") + b"  \n\n\n  last line \xff\xfe"
    apart = WordCounts.from_corpus(list(io.BytesIO(text)), pattern=pattern, specials=["def", "n\nx"])
    monkeypatch.setattr(counting, "PART", 4096)
    for piece in (1000, 4096, 50_000, len(text)):
        by_line = WordCounts.from_corpus(
            [lines_of(text, piece)], pattern=pattern, specials=["def", "n\nx"], threads=threads
        )
        assert by_line == apart
        assert all(text[place:].startswith(word) for word, place in zip(by_line, by_line.places.tolist()))


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_files_and_iterators_are_the_same(threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "PART", 5000)
    source = Path(os.__file__).read_bytes()
    (tmp_path / "a.txt").write_bytes(source)
    (tmp_path / "b.txt").write_bytes(source[::-1])
    apart = WordCounts.from_corpus(iter([source, source[::-1]]), threads=threads)
    assert WordCounts.from_corpus(tmp_path, threads=threads) == apart
    assert np.all(np.diff(apart.documents) >= 0)
    assert sys.getsizeof(apart.text) > 0


# ---- tables in text ----


def test_a_table_of_words_and_counts(tmp_path: Path) -> None:
    table = tmp_path / "vocab.txt"
    table.write_bytes(b"the 12\nof 7\r\na b\t5\n\xff 3\n\n")
    words = WordCounts.from_table(table, pattern="spaces", specials=())
    assert list(words.items()) == [(b"the", 12), (b"of", 7), (b"a b", 5), (b"\xff", 3)]
    assert words.pattern == bytepair.WordCounts.from_corpus("x", pattern="spaces").pattern
    for line, what in (
        (b"the", "line 2: b'the' is no word and count"),
        (b"the -1", "line 2"),
        (b"the 0", "line 2"),
        (b" 4", "line 2"),
        (b"the " + b"9" * 30, "line 2"),
        (b"x 3", "a second time"),
    ):
        table.write_bytes(b"x 1\n" + line + b"\n")
        with pytest.raises(TrainingError, match=what):
            WordCounts.from_table(table)
    with pytest.raises(TrainingError, match="cannot read"):
        WordCounts.from_table(tmp_path / "none")


def test_the_table_that_subword_nmt_writes(tmp_path: Path) -> None:
    get_vocab = pytest.importorskip("subword_nmt.get_vocab")
    text = "low low lower low\nnewest newest\n"
    out = io.StringIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        get_vocab.get_vocab(io.StringIO(text), out)
    (tmp_path / "vocab").write_text(out.getvalue(), "utf-8")
    assert dict(WordCounts.from_table(tmp_path / "vocab").items()) == {
        b"low": 3, b"lower": 1, b"newest": 2,
    }  # fmt: skip
