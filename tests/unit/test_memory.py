"""What a tokenizer keeps: the words that it has seen, within its budget, on any number of threads, and nothing else."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import bytepair
from bytepair import FormatError, Tokenizer, TrainingError, VocabularyError
from bytepair.formats import _stored

RANKS = {bytes([b]): b for b in range(256)} | {b"lo": 256, b"low": 257}

SOAK = """
import sys, threading
import bytepair
from soak import documents, resident

how, n = sys.argv[1], int(sys.argv[2])
made = lambda: bytepair.train("low low lower lowest " * 9, num_merges=9, cache_bytes=4 << 20)
tok = made()
seen = []
for part in range(10):
    texts = documents(part * n, n)
    if how == "one thread":
        for text in texts:
            tok.encode(text)
            tok.count(text)
    elif how == "a batch":
        for at in range(0, n, 1000):
            tok.encode_batch_array(texts[at : at + 1000], threads=3)
    elif how == "short-lived threads":
        for at in range(0, n, 1000):
            work = lambda: [tok.encode(text) for text in texts[at : at + 1000]]
            threads = [threading.Thread(target=work) for _ in range(4)]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
    elif how == "many tokenizers":
        for at in range(0, n, 1000):
            tok = made()
            tok.encode_batch_array(texts[at : at + 1000], threads=2)
    del texts
    seen.append(resident())
print(*seen)
"""

HELPER = """
import os

def documents(start, n):
    # Each with words that no other has, of one script or another.
    han = lambda k: chr(0x4E00 + k % 20000)
    return [f"w{k} x{k}y {k:x}{k} " + han(k) * 3 + han(k // 7) * 4 for k in range(start, start + n)]

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
"""


def soak(how: str, n: int, folder: Any) -> list[int]:
    """Resident bytes after each of ten parts of so many documents of ever new words."""
    (folder / "soak.py").write_text(HELPER)
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:] = {[str(folder), *sys.path]!r}\n{SOAK}", how, str(n)],
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [int(number) for number in done.stdout.split()]


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="asks /proc for the memory in use")
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("how", ["one thread", "a batch", "short-lived threads", "many tokenizers"])
def test_memory_levels_off_however_many_new_words_come(how: str, tmp_path: Any) -> None:
    long = os.environ.get("BYTEPAIR_FULL") == "1"
    seen = soak(how, 100_000 if long else 4000, tmp_path)
    # The first parts fill the budget of 4 MiB; the allocator keeps some pages of what was freed.
    assert max(seen[4:]) - seen[3] < 6 << 20, seen


def test_the_budget_is_that_of_the_tokenizer_and_of_all_its_threads(engine_name: str) -> None:
    texts = [" ".join(f"w{k}x{j}" for j in range(40)) for k in range(3000)]
    for budget in (0, 1 << 14, 1 << 20):
        tok = Tokenizer.from_ranks(RANKS, pattern="gpt2", cache_bytes=budget)
        tok.encode_batch_array(texts, threads=4)
        with ThreadPoolExecutor(4) as pool:
            counts = list(pool.map(tok.count, texts))
        assert counts == [len(text.encode()) for text in texts]
        held = tok._codec.encoder.cache_bytes()
        assert held <= budget
        assert held > 0 or budget == 0


def test_a_long_pretoken_leaves_no_more_than_a_short_one(engine_name: str) -> None:
    if engine_name != "core":
        pytest.skip("Python's own lists are freed")
    tok = Tokenizer.from_ranks(RANKS, pattern="gpt2")
    assert tok.count("lo" * 1_000_000) == 1_000_000
    assert len(tok.encode_array("al" * 1_000_000)) == 2_000_000
    assert tok._codec.encoder.scratch_bytes() <= 1 << 20


def test_the_budget_goes_along_and_decides_nothing(tmp_path: Any) -> None:
    path = tmp_path / "tok.json"
    bytepair.train("low low lower", num_merges=3, cache_bytes=1 << 20).save(path)
    usual, small = bytepair.load(path), bytepair.load(path, cache_bytes=5000)
    again = bytepair.load(path, cache_bytes=5000)  # from the cache on disk, where there is one
    assert usual._codec.cache_bytes == 128 << 20
    for one in (small, again, pickle.loads(pickle.dumps(small)), bytepair.load("gpt2", cache_bytes=5000)):
        assert one._codec.cache_bytes == 5000
    assert small.cut(small.vocab_size - 1)._codec.cache_bytes == 5000
    assert small == usual
    assert (hash(small), small.fingerprint) == (hash(usual), usual.fingerprint)
    assert bytepair.load(path, cache_bytes=0).encode("lower low") == usual.encode("lower low")


@pytest.mark.parametrize("wrong", [-1, 1.5, "128", None, True, 1 << 63])
def test_a_budget_is_a_whole_number_of_bytes(wrong: Any, tmp_path: Any) -> None:
    for call, error in (
        (lambda: bytepair.load("gpt2", cache_bytes=wrong), FormatError),
        (lambda: bytepair.train("low low", num_merges=1, cache_bytes=wrong), TrainingError),
        (lambda: Tokenizer.from_merges([], cache_bytes=wrong), VocabularyError),
        (lambda: Tokenizer.from_ranks(RANKS, pattern="gpt2", cache_bytes=wrong), VocabularyError),
    ):
        with pytest.raises(error, match=r"cache_bytes is .*; it must be a whole number"):
            call()


# ---- fork, and the end ----


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_of_fork_encodes_while_its_parent_was_at_it() -> None:
    code = """
import os, sys, threading, warnings
warnings.simplefilter("ignore")
import bytepair
tok = bytepair.train("low low lower lowest " * 9, num_merges=9)
texts = [f"low lower {k} " * 400 for k in range(64)]
right = tok.encode_batch(texts, threads=3)
done = False
def busy():
    while not done:
        tok.encode("lower low")
        tok.encode_batch_array(texts, threads=2)
threads = [threading.Thread(target=busy) for _ in range(2)]
[thread.start() for thread in threads]
codes = []
for _ in range(30):
    child = os.fork()
    if child == 0:
        os._exit(0 if tok.encode_batch(texts, threads=3) == right else 1)
    codes.append(os.waitpid(child, 0)[1])
done = True
[thread.join() for thread in threads]
print(codes.count(0))
"""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}\n{code}"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stdout.split() == ["30"], done.stderr


@pytest.mark.parametrize("threads", [1, 4])
def test_a_process_ends_when_its_work_does(threads: int) -> None:
    code = f"""
import bytepair
tok = bytepair.train("low low lower lowest " * 9, num_merges=9)
print(len(tok.encode_batch_array(["low lower " * 20000] * 4, threads={threads}).ids))
"""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}\n{code}"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="asks /proc for the threads there are")
def test_small_calls_start_no_thread() -> None:
    code = """
import os
import bytepair
tok = bytepair.train("low low lower lowest " * 9, num_merges=9)
tok.encode_batch(["low lower"] * 100, threads=8)
import numpy
before = len(os.listdir("/proc/self/task"))
tok.encode_batch(["low lower"] * 1000, threads=8)
tok.count_batch(["low lower"] * 1000)
print(len(os.listdir("/proc/self/task")) - before)
"""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}\n{code}"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.split() == ["0"], done.stderr


# ---- a file that the system says was not touched ----


def test_a_file_that_was_not_touched_is_not_read_again(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, engine_name: str
) -> None:
    if sys.platform == "win32":
        pytest.skip("the system does not say when a file changed")
    monkeypatch.setenv("BYTEPAIR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(_stored, "SETTLED", 0.0)
    path = tmp_path / "tok.json"
    first, other = bytepair.train("low low lower", num_merges=3), bytepair.train("new new newer", num_merges=3)
    first.save(path)
    time.sleep(0.05)
    assert bytepair.load(path) == first
    read: list[str] = []
    real = bytepair.formats.source._read
    monkeypatch.setattr(bytepair.formats.source, "_read", lambda where: read.append(where) or real(where))
    assert bytepair.load(path) == first
    assert read == []
    # Another content of the same length at the same place, with the same time: the system knows better.
    about = path.stat()
    data = path.read_bytes().replace(b"low", b"LOW")
    path.write_bytes(data)
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert bytepair.load(path.read_bytes()) == bytepair.load(path)
    assert read
    other.save(path)
    assert bytepair.load(path) == other
    # Without its tokenizer the note leads nowhere.
    time.sleep(0.05)
    assert bytepair.load(path) == other
    for file in (tmp_path / "cache").iterdir():
        if b'"alphabet"' in file.read_bytes():
            file.unlink()
    assert bytepair.load(path) == other


def test_a_file_that_was_touched_a_moment_ago_is_read(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_stored, "SETTLED", 60.0)
    path = tmp_path / "tok.json"
    path.write_bytes(b"{}")
    assert _stored._identity(str(path)) is None
    assert _stored._identity(str(tmp_path / "none")) is None
