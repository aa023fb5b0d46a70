"""Trainings that stop and go on: the same merges and record as an unbroken one, and files that are always whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

import bytepair
from bytepair import WordCounts

TEXT = "the cat sat on the mat; the cats sat on the other mats, and a hat lay there. " * 3 + "aaaaaa ééé " * 4
CONVENTIONS = ["first", "huggingface", "rustbpe", "cs336", "subword-nmt"]


def train(corpus: Any = TEXT, merges: int = 30, **options: Any) -> bytepair.Tokenizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bytepair.BytepairNotice)  # some options leave too little to learn
        return bytepair.train(corpus, num_merges=merges, **options)


def same(one: bytepair.Tokenizer, other: bytepair.Tokenizer) -> None:
    assert one == other
    assert one.record == other.record


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_token_length": 3},
        {"alphabet": "characters", "end_of_word": "fused", "unknown": "bytes", "limit_alphabet": 9},
        {"alphabet": "characters", "end_of_word": "separate", "unknown": "<unk>", "initial_alphabet": "xyz"},
    ],
)
def test_resuming_gives_what_an_unbroken_training_gives(
    tmp_path: Path, convention: str, options: dict[str, Any]
) -> None:
    options["convention"] = convention
    unbroken = train(**options)
    path = tmp_path / "state"
    for stop in (0, 1, 12, 13, 30):
        tok = train(merges=stop, checkpoint=path, resume=True, **options)
        same(tok, train(merges=stop, **options))
    same(train(checkpoint=path, resume=True, **options), unbroken)
    same(train(resume=path, **options), unbroken)
    same(train(merges=5, resume=path, **options), train(merges=5, **options))
    same(train(iter([TEXT]), resume=path, **options), unbroken)


def test_the_state_is_written_every_so_many_merges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bytepair import _checkpoint

    written: list[int] = []
    write = _checkpoint.Checkpoint.write

    def spy(self: Any, settings: Any, words: str, length: int, columns: Any) -> None:
        written.append(len(columns[0]))
        write(self, settings, words, length, columns)

    monkeypatch.setattr(_checkpoint.Checkpoint, "write", spy)
    train(merges=25, checkpoint=tmp_path / "state", checkpoint_every=10)
    assert written == [0, 10, 20, 25]
    written.clear()
    train(merges=30, checkpoint=tmp_path / "state", checkpoint_every=3, resume=True)
    assert written == [28, 30]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["state", "state.words"]


def test_the_corpus_is_not_counted_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text(TEXT, "utf-8")
    unbroken = train(corpus)
    train(corpus, merges=5, checkpoint=tmp_path / "state")
    monkeypatch.setattr(WordCounts, "from_corpus", lambda *a, **k: pytest.fail("counted again"))
    same(train(corpus, resume=tmp_path / "state"), unbroken)


def test_a_corpus_that_changed_is_refused(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text(TEXT, "utf-8")
    train(corpus, merges=5, checkpoint=tmp_path / "state")
    same(
        train(WordCounts.from_corpus(corpus, specials=bytepair.AL1_SPECIALS), resume=tmp_path / "state"), train(corpus)
    )
    os.utime(corpus, (1, 1))  # another time and the same text: counted again, and found to be the same
    same(train(corpus, resume=tmp_path / "state"), train(corpus))
    corpus.write_text(TEXT + "more", "utf-8")
    for other in (corpus, TEXT + "more", [TEXT, "more"], iter(["more"]), WordCounts({"more": 1})):
        with pytest.raises(bytepair.TrainingError, match="another corpus"):
            train(other, resume=tmp_path / "state")


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"min_freq": 3}, "min_freq was 2 and is 3"),
        ({"convention": "cs336"}, "convention was 'first' and is 'cs336'"),
        ({"max_token_length": 9}, "max_token_length was None and is 9"),
        ({"pattern": "al1"}, "pattern was"),
        ({"specials": ["<s>"]}, "specials was"),
        ({"alphabet": "characters"}, "alphabet was 'bytes' and is 'characters'"),
    ],
)
def test_other_settings_are_refused_with_what_differs(tmp_path: Path, other: dict[str, Any], message: str) -> None:
    train(merges=5, checkpoint=tmp_path / "state")
    with pytest.raises(bytepair.TrainingError, match=message):
        train(resume=tmp_path / "state", **other)
    layout = {"layout": "bytes-first", "byte_order": "gpt2"}  # which only number ids
    same(train(resume=tmp_path / "state", **layout), train(**layout))


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    state = tmp_path / "state"
    train(merges=5, checkpoint=state)
    good = state.read_bytes()
    for bad in (b"", b"x" * 200, good[:-1], good[:100] + bytes([good[100] ^ 1]) + good[101:]):
        state.write_bytes(bad)
        with pytest.raises(bytepair.FormatError, match="delete it to begin anew"):
            train(resume=state)
    state.write_bytes((tmp_path / "state.words").read_bytes())
    with pytest.raises(bytepair.FormatError, match="another key"):
        train(resume=state)


def test_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(bytepair.TrainingError, match="there is no checkpoint"):
        train(resume=tmp_path / "none")
    with pytest.raises(bytepair.TrainingError, match="name its file with checkpoint="):
        train(resume=True)
    with pytest.raises(bytepair.TrainingError, match="there is no folder"):
        train(checkpoint=tmp_path / "a" / "b")
    with pytest.raises(bytepair.TrainingError, match="checkpoint_every is 0"):
        train(checkpoint=tmp_path / "state", checkpoint_every=0)
    with pytest.raises(bytepair.TrainingError, match="checkpoint is 3"):
        train(checkpoint=3)
    (tmp_path / "folder").mkdir()
    with pytest.raises(bytepair.TrainingError, match="cannot write the checkpoint"):
        train(checkpoint=tmp_path / "folder")


CHILD = """
import sys, bytepair
from pathlib import Path
print("ready", flush=True)
bytepair.train(Path(sys.argv[1]), num_merges=600, checkpoint=sys.argv[2], checkpoint_every=7, resume=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_a_killed_training_loses_one_interval_at_most(tmp_path: Path) -> None:
    """Killed again and again at any moment, it gets to the end, and to the same merges."""
    corpus, state = tmp_path / "corpus.txt", tmp_path / "state"
    corpus.write_bytes(Path(subprocess.__file__).read_bytes())
    merges = -1
    for delay in (0.0, 0.01, 0.02, 0.03, 0.05, 0.08, 0.1):
        child = subprocess.Popen([sys.executable, "-c", CHILD, corpus, state], stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(delay)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        if state.exists():  # whole, and never behind what it was
            from bytepair import _checkpoint

            data = state.read_bytes()
            now = len(_checkpoint.opened(_checkpoint.STATE, data).sections["left"]) // 4
            assert now >= merges
            merges = now
    resumed = bytepair.train(corpus, num_merges=600, checkpoint=state, resume=True)
    same(resumed, bytepair.train(corpus, num_merges=600))
