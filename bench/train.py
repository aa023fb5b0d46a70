"""Training against every trainer that gives the same merges: gigabpe, gigatoken and `tokenizers`.

    python bench/train.py FILE... [--vocab-size N]... [--threads N]... [--unbroken] [--size MB] [--runs N]
                          [--only PEER]... [--peers PYTHON] [--record NAME]

For each file, vocabulary size and number of threads: convention `huggingface`, documents cut by line, from opening the
file to merges in hand. The first run of each checks the merges; a peer whose merges are not ours is listed as inexact
and not timed. Then runs alternate, each in a fresh process held to as many cores as it has threads: CPU time for one
thread, wall time for more. Memory is the highest that the process had without mapped file pages (Linux).

--unbroken trains on texts without a border instead, of random letters and of CJK characters, made here (1 MB).
--size N trains on files repeated or cut to N MB. --peers names the Python that has the peers.

gigatoken leaves out the newlines at which it cuts, so its merges are compared with ours on such lines.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PEERS = ("gigabpe", "gigatoken", "tokenizers")
LIMIT = 600.0
"""Seconds after which a run is given up."""


# ---- one run, in a process of its own ----


def run_once(who: str, path: str, size: int, threads: int, newlines: bool) -> dict[str, Any]:
    """Trains once; the clock starts with the modules imported and the file unopened."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    os.environ["RAYON_NUM_THREADS"] = str(threads)
    start, merges = TRAINERS[who](path, size, threads, newlines)
    end = (time.process_time(), time.perf_counter())
    pairs = merges()
    digest = hashlib.sha256(repr(pairs).encode()).hexdigest()
    return {"cpu": end[0] - start[0], "wall": end[1] - start[1], "merges": len(pairs), "digest": digest}


def now() -> tuple[float, float]:
    return time.process_time(), time.perf_counter()


def ours(convention: str) -> Any:
    def train(path: str, size: int, threads: int, newlines: bool) -> Any:
        import warnings

        import numpy  # noqa: F401

        import bytepair
        from bytepair import training  # noqa: F401
        from bytepair.corpus import counting, readers  # noqa: F401

        warnings.simplefilter("ignore", bytepair.BytepairNotice)
        start = now()
        corpus: Any
        if newlines:
            corpus = bytepair.files(Path(path), by="line")
        else:
            corpus = Path(path).read_bytes().split(b"\n")
        tok = bytepair.train(corpus, vocab_size=size, convention=convention, specials=(), threads=threads)
        merges = list(tok.merges)
        return start, lambda: [(tok.vocab[a], tok.vocab[b]) for a, b in merges]

    return train


def gigabpe(path: str, size: int, threads: int, newlines: bool) -> Any:  # noqa: ARG001
    import gigabpe

    # It has no initial alphabet: bytes that the text lacks have no ids, so it needs fewer for the same merges.
    present = len({*Path(path).read_bytes()})
    start = now()
    _, merges = gigabpe.train_bpe(
        [path], vocab_size=size - 256 + present, min_frequency=2, pretokenizer="bytelevel", threads=threads
    )
    return start, lambda: [tuple(map(of_letters, pair)) for pair in merges]


def gigatoken(path: str, size: int, threads: int, newlines: bool) -> Any:  # noqa: ARG001
    import gigatoken

    start = now()
    _, merges = gigatoken.train_bpe(path, size, [], separator=b"\n")
    return start, lambda: [tuple(pair) for pair in merges]


def huggingface(path: str, size: int, threads: int, newlines: bool) -> Any:  # noqa: ARG001
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    start = now()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=size, min_frequency=2, initial_alphabet=alphabet, show_progress=False)
    with open(path, encoding="utf-8", newline="\n") as file:
        tok.train_from_iterator(file, trainer)
    merges = json.loads(tok.to_str())["model"]["merges"]
    pairs = [pair.split(" ") if isinstance(pair, str) else pair for pair in merges]
    return start, lambda: [tuple(map(of_letters, pair)) for pair in pairs]


TRAINERS = {
    "bytepair": ours("huggingface"),
    "bytepair, first": ours("first"),
    "gigabpe": gigabpe,
    "gigatoken": gigatoken,
    "tokenizers": huggingface,
}


def of_letters(text: str) -> bytes:
    """The bytes that GPT-2 writes as these letters."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [value for value in range(256) if value not in printable]
    table = {chr(value): value for value in printable} | {chr(256 + k): value for k, value in enumerate(rest)}
    return bytes(table[letter] for letter in text)


# ---- all of them, in turn ----


def measured(who: str, python: str, path: Path, size: int, threads: int, newlines: bool = True) -> dict[str, Any]:
    """One run in a fresh process, and the most memory that it had to itself."""
    arguments = [python, __file__, "--once", who, str(path), str(size), str(threads), str(int(newlines))]
    environment = {**os.environ, "RAYON_NUM_THREADS": str(threads)}
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=errors, env=environment)
        most = 0
        status = Path(f"/proc/{child.pid}/status")
        until = time.monotonic() + LIMIT
        while child.poll() is None:
            if time.monotonic() > until:
                child.kill()
            try:
                lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
                most = max(most, int(lines["RssAnon"].split()[0]) * 1024)
            except (OSError, KeyError, ValueError):
                pass  # no such file system, or the process has just ended
            time.sleep(0.02)
        assert child.stdout is not None
        said = child.stdout.read().decode().splitlines()
        child.stdout.close()
        if child.returncode:
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip().splitlines()
            return {"error": f"given up after {LIMIT:.0f} s" if child.returncode < 0 else said[-1:]}
    return {**json.loads(said[-1]), "memory": most}


def compare(
    path: Path, size: int, threads: int, runs: int, python: str, peers: Sequence[str] = PEERS
) -> dict[str, Any]:
    clock = "cpu" if threads == 1 else "wall"
    # Lines without their newline go through Python one by one: only where a peer is to be held against them.
    forms = {True, *(peer != "gigatoken" for peer in peers)}
    checks = {newlines: measured("bytepair", sys.executable, path, size, threads, newlines) for newlines in forms}
    for check in checks.values():
        if "error" in check:
            raise SystemExit(f"bytepair: {check['error']}")
    exact, notes = ["bytepair", "bytepair, first"], {}
    for peer in peers:
        found = measured(peer, python, path, size, threads)
        if "error" in found:
            notes[peer] = f"failed: {found['error']}"
        elif found["digest"] != checks[peer != "gigatoken"]["digest"]:
            notes[peer] = f"inexact: {found['merges']} merges, not ours"
        else:
            exact.append(peer)
    figures: dict[str, list[dict[str, Any]]] = {who: [] for who in exact}
    for _ in range(runs):
        for who in exact:
            by = sys.executable if who.startswith("bytepair") else python
            figures[who].append(measured(who, by, path, size, threads))
    medians = {who: statistics.median(run[clock] for run in found) for who, found in figures.items()}
    memory = {who: max(run["memory"] for run in found) for who, found in figures.items()}
    best = min((who for who in exact if not who.startswith("bytepair")), key=medians.__getitem__, default=None)
    row = {
        "text": path.stem,
        "bytes": path.stat().st_size,
        "vocab_size": size,
        "threads": threads,
        "clock": clock,
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "merges": checks[True]["merges"],
        "seconds": medians,
        "memory": memory,
        "not timed": notes,
        "best peer": best,
        "ratio": medians["bytepair"] / medians[best] if best else None,
        "first to huggingface": medians["bytepair, first"] / medians["bytepair"],
    }
    shown = "  ".join(f"{who} {seconds:.3f}" for who, seconds in medians.items())
    ratio = f"{row['ratio']:.2f} of {best}" if best else "no exact peer"
    print(f"{path.stem} {size} on {threads}: {ratio}; {clock} {shown}; {notes or ''}", flush=True)
    return row


def unbroken(folder: Path) -> list[Path]:
    """1 MB without a border for the pattern: letters, and CJK characters."""
    draw = random.Random(5)
    texts = {
        "letters": "".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=1_000_000)),
        "cjk": "".join(chr(draw.randrange(0x4E00, 0x5600)) for _ in range(333_333)),
    }
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, "utf-8")
    return [folder / f"{name}.txt" for name in texts]


def sized(path: Path, megabytes: float, folder: Path) -> Path:
    """The file, cut or repeated at line borders to so many megabytes."""
    wanted, made = int(megabytes * 1e6), folder / path.name
    data = path.read_bytes()
    with made.open("wb") as file:
        left = wanted
        while left > 0:
            part = data if len(data) <= left else data[: data.rfind(b"\n", 0, left) + 1]
            if not part:
                break
            file.write(part)
            left -= len(part)
    return made


def main() -> None:
    if sys.argv[1:2] == ["--once"]:
        who, path, size, threads, newlines = sys.argv[2:]
        print(json.dumps(run_once(who, path, int(size), int(threads), newlines == "1")))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--vocab-size", type=int, action="append")
    parser.add_argument("--threads", type=int, action="append")
    parser.add_argument("--unbroken", action="store_true")
    parser.add_argument("--size", type=float)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", action="append", choices=PEERS)
    parser.add_argument("--peers", default=sys.executable)
    parser.add_argument("--record", default="train")
    options = parser.parse_args()
    if not options.files and not options.unbroken:
        parser.error("name files, or ask for --unbroken texts")
    from measure import write_record

    rows: list[dict[str, Any]] = []
    told = "import importlib.metadata as m, json, sys; print(json.dumps({n: m.version(n) for n in sys.argv[1:]}))"
    answer = subprocess.run([options.peers, "-c", told, *PEERS], capture_output=True, text=True, check=True)
    peers = json.loads(answer.stdout)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        paths = [sized(path, options.size, folder) if options.size else path for path in options.files]
        paths += unbroken(folder) if options.unbroken else []
        for path in paths:
            for size in options.vocab_size or ([4096, 8192] if path.parent == folder else [8192, 32768]):
                for threads in options.threads or [1, 2]:
                    rows.append(compare(path, size, threads, options.runs, options.peers, options.only or PEERS))
                    # After each row: a run that is broken off has what it has measured.
                    write_record(options.record, {"rows": rows, "peers": peers}, ())


if __name__ == "__main__":
    main()
