"""Our speed against every other library that installs (`pip install '.[bench]'`), with the ids compared first.

    python bench/peers.py [--rows array,list,...] [--peers NAME,...] [--vocab NAME,...] [--corpora DIR] [--rounds N]
                          [--size MB] [--add]

Every measurement is a fresh process of one library with one vocabulary (worker.py), and ours runs before each of the
others: ours, peer, ours, peer ... A ratio is the median over all rounds of the peer's time over ours beside it; one
thread is timed by its CPU time, two by the clock on the wall. A library whose ids differ from tiktoken's on a text is
listed with the first difference and is no rival there. Those that were over 2.5 times as slow as the fastest when they
were checked are listed with that time and not measured again; gigatoken and fastokens always are.

*Unseen*: a text that the process never saw, in 1 MB calls. *Seen*: its lines in another order, as new objects.
Corpora are the files NAME.txt and NAME.txt.xz in a folder: --corpora, BYTEPAIR_BENCH_CORPORA or ../shared/corpora;
without any, Python's own sources. Writes bench/records/peers.json, or --record; --add keeps the figures of other rows
and vocabularies that it has. `python bench/table.py --write` puts the README's table together.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

from adapters import ALWAYS, OURS, PEERS, REFERENCE, environment
from measure import RECORDS, write_record
from peer_files import VOCABULARIES, corpora, write_texts, write_vocabulary

import bytepair
from bytepair.benching import texts

WORKER = Path(__file__).with_name("worker.py")
ROWS = ("array", "list", "short", "count", "batch", "words", "decode", "worst", "start")
START_TEXT = "The quick brown fox jumps over the dogs."
START_VOCABULARY = "o200k_base"
MOST_FOR_TWICE, LEAST_FOR_COUNT, LEAST_FOR_TWO = 2.3, 1.0, 1.8
"""Our own targets: twice the text, counting against arrays, two threads against one."""
SLOW = 2.5
"""Times as slow as the fastest peer when checked: no rival."""
PATIENCE = {"worst": 20, "check": 30}
"""Seconds for one step, where it is not 60."""


@dataclass
class Group:
    """What one process measures, in one row: a job, and what has to be right for it."""

    row: str
    vocab: str
    kind: str
    text: str = ""
    form: str = "str"
    threads: int = 1
    job: dict[str, Any] = field(default_factory=dict)

    @property
    def clock(self) -> str:
        return "wall" if self.row in ("batch", "start") else "cpu"


@dataclass
class Bench:
    files: Path
    texts: Path
    vocabularies: list[str]
    real: list[str]
    peers: list[str]
    rounds: int
    told: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    """(peer, vocabulary) -> step of the check -> what came of it."""
    missing: dict[tuple[str, str], str] = field(default_factory=dict)
    reference: dict[str, str] = field(default_factory=dict)
    """What tiktoken could not do: text -> whose ids stand in."""

    # ---- one process ----

    def run(self, peer: str, vocab: str, kind: str, threads: int = 1, **job: Any) -> dict[str, Any]:
        """Runs a job to its end: step -> what the worker told, or {"failed": why}."""
        found: dict[str, Any] = {}
        left: list[str] | None = job.get("steps")
        while left is None or left:
            whole = {"peer": peer, "vocab": vocab, "kind": kind, "threads": threads, **job, "steps": left}
            lines, why = self.lines(whole, PATIENCE.get(kind, 60))
            for line in lines:
                if line["step"] is None:
                    self.missing[peer, vocab] = line["missing"]
                    return {}
                found[line["step"]] = line
            if not lines:
                self.missing[peer, vocab] = f"does not load: {why}"
                return {}
            if why is None or left is None:
                if why is not None:
                    found["failed"] = {"failed": why}
                break
            done = [left.index(line["step"]) for line in lines if line["step"] != "loaded"]
            at = max(done, default=-1) + 1
            if at < len(left):
                found[left[at]] = {"failed": why}
            # What hung in one way, or at one length, would hang in the others.
            same = _subject(left[at]) if at < len(left) else None
            left = [step for step in left[at + 1 :] if _subject(step) != same]
        return {step: line for step, line in found.items() if step != "loaded" and "lacks" not in line}

    def lines(self, job: dict[str, Any], patience: float) -> tuple[list[dict[str, Any]], str | None]:
        """The lines of one process, and why it did not end well."""
        job = {**job, "files": str(self.files), "texts": str(self.texts)}
        process = subprocess.Popen(
            [sys.executable, str(WORKER), json.dumps(job)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env=environment(self.files, job["threads"]),
        )
        late = threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        errors: list[str] = []
        reader = threading.Thread(target=lambda: errors.append(process.stderr.read()))
        reader.start()
        found: list[dict[str, Any]] = []
        timer = threading.Timer(patience, stop)
        timer.start()
        for line in process.stdout:
            if line.startswith("{"):  # some libraries print what they think
                found.append(json.loads(line))
            timer.cancel()
            timer = threading.Timer(patience, stop)
            timer.start()
        timer.cancel()
        code = process.wait()
        reader.join()
        process.stdout.close()
        process.stderr.close()
        if code == 0:
            return found, None
        last = (errors[0].strip().splitlines() or [""])[-1][:200]
        return found, f"took over {patience} s" if late.is_set() else f"exit code {code}: {last}"

    # ---- what is right ----

    def check(self, rows: list[str]) -> None:
        """The right ids, and every peer's beside them."""
        for vocab in self.vocabularies:
            wanted, steps = self.references(rows), self.steps(rows)
            made = self.run(REFERENCE, vocab, "make", steps=wanted)
            if lacking := [step for step in wanted if "tokens" not in made.get(step, {})]:
                self.reference.update({f"{vocab}, {step}": OURS for step in lacking})
                self.run(OURS, vocab, "make", steps=lacking)
            for peer in self.peers:
                self.told[peer, vocab] = self.run(peer, vocab, "check", 2, steps=steps)
                wrong = self.wrong(peer, vocab)
                state = self.missing.get((peer, vocab)) or (f"{len(wrong)} differ" if wrong else "exact")
                print(f"{vocab}, {peer}: {state}", flush=True)
                for step, why in wrong.items():
                    print(f"    {step}: {why}", flush=True)

    def references(self, rows: list[str]) -> list[str]:
        return list(
            dict.fromkeys(
                " ".join(step.split(" ")[1:]) for step in self.steps(rows) if not step.endswith("random bytes.1")
            )
        )

    def steps(self, rows: list[str]) -> list[str]:
        """What is checked for some rows: "WAY CUT TEXT"."""
        found: list[str] = []
        for text in self.real:
            for way in ("array", "list"):
                if way in rows:
                    found += [f"{way} blocks {text}.unseen", f"{way}_bytes blocks {text}.unseen"]
            if "count" in rows:
                found.append(f"count blocks {text}.unseen")
            if "batch" in rows:
                found += [f"batch documents {text}.seen", f"huge whole {text}.seen"]
            if "decode" in rows:
                ways = ("decode_str", "decode_bytes", "decode_array_str", "decode_array_bytes")
                found += [f"{way} blocks {text}.unseen" for way in ways]
        if "short" in rows:
            found.append("list strings short.json")
        if "words" in rows:
            found.append("array blocks words")
        if "worst" in rows:
            found += [f"{way} whole {name}.1" for name in texts.WORST for way in self.worst_ways(name)]
        return found

    @staticmethod
    def worst_ways(name: str) -> tuple[str, str]:
        return ("array_bytes", "list_bytes") if name == "random bytes" else ("array", "list")

    def wrong(self, peer: str, vocab: str) -> dict[str, str]:
        told = self.told.get((peer, vocab), {})
        return {
            step: line.get("differs") or line.get("failed")
            for step, line in told.items()
            if line.get("differs") or line.get("failed")
        }

    def checked(self, peer: str, group: Group, step: str) -> dict[str, Any] | None:
        """What came of the check that a figure rests on; None where the library has no such way."""
        told = self.told.get((peer, group.vocab), {})
        if "failed" in told:
            return told["failed"]
        if group.row in ("array", "list"):
            native = told.get(f"{group.row}_bytes blocks {group.text}.unseen") if group.form == "bytes" else None
            return native or told.get(f"{group.row} blocks {group.text}.unseen")
        if group.row == "count":
            return told.get(f"count blocks {group.text}.unseen")
        if group.row == "batch":
            return told.get(f"{step} {'documents' if step == 'batch' else 'whole'} {group.text}.seen")
        if group.row == "decode":
            return told.get(f"{step} blocks {group.text}.unseen")
        if group.row == "short":
            return told.get("list strings short.json")
        if group.row == "words":
            return told.get("array blocks words")
        name = step.rpartition(".")[0]
        ways = (told.get(f"{way} whole {name}.1") for way in self.worst_ways(name))
        return next((way for way in ways if way is not None), None)

    def rivals(self, group: Group, step: str) -> list[str]:
        """The exact peers that were not far behind when they were checked."""
        rough = {}
        for peer in self.peers:
            told = self.checked(peer, group, step)
            if peer != OURS and told is not None and not told.get("failed") and not told.get("differs"):
                rough[peer] = told["seconds"][group.clock]
        best = min(rough.values(), default=0.0)
        return [peer for peer, seconds in rough.items() if seconds <= SLOW * best + 1e-3 or peer in ALWAYS]

    # ---- the rounds ----

    def groups(self, rows: list[str]) -> Iterator[tuple[Group, list[str]]]:
        """Every process that is measured, and the steps that it tells of."""
        for vocab in self.vocabularies:
            for text in self.real:
                for way in ("array", "list"):
                    for form in ("str", "bytes"):
                        if way in rows:
                            job = {"way": way, "form": form, "text": text}
                            yield Group(way, vocab, "encode", text, form, job=job), ["unseen", "seen"]
                if "count" in rows:
                    yield Group("count", vocab, "count", text, job={"text": text}), ["count"]
                if "batch" in rows:
                    yield Group("batch", vocab, "documents", text, threads=2, job={"text": text}), ["batch", "huge"]
                if "decode" in rows:
                    steps = ["decode_str", "decode_bytes", "decode_array_str", "decode_array_bytes"]
                    yield Group("decode", vocab, "decode", text, job={"text": text}), steps
            for row in ("short", "words"):
                if row in rows:
                    yield Group(row, vocab, row), [row]
            if "worst" in rows:
                steps = [f"{name}.{times}" for name in texts.WORST for times in (1, 2)]
                yield Group("worst", vocab, "worst"), steps
        if "start" in rows:
            yield Group("start", START_VOCABULARY, "start", job={"text": START_TEXT}), ["start"]

    def measure(self, group: Group, steps: list[str]) -> list[dict[str, Any]]:
        """The figures of one group."""
        rivals = {step: self.rivals(group, step) for step in steps}
        running = list(dict.fromkeys(peer for each in rivals.values() for peer in each))
        ours: dict[str, list[float]] = {}
        pairs: dict[str, dict[str, list[tuple[float, float]]]] = {step: {} for step in steps}
        alone: dict[str, list[float]] = {}

        def seconds(peer: str, threads: int) -> dict[str, float]:
            job = dict(group.job)
            if group.row == "worst":
                job["steps"] = [step for step in steps if peer == OURS or peer in rivals[step]]
            found = self.run(peer, group.vocab, group.kind, threads, **job)
            return {step: line["seconds"][group.clock] for step, line in found.items() if "seconds" in line}

        if group.row == "start":
            running = self.starting(group)
            rivals = {"start": running}
        for _ in range(self.rounds):
            for peer in running or [None]:
                own = seconds(OURS, group.threads)
                for step, value in own.items():
                    ours.setdefault(step, []).append(value)
                if peer is None:
                    continue
                for step, value in seconds(peer, group.threads).items():
                    if step in own and peer in rivals.get(step, ()):
                        pairs[step].setdefault(peer, []).append((own[step], value))
            if group.threads > 1:
                for step, value in seconds(OURS, 1).items():
                    alone.setdefault(step, []).append(value)
        return [self.figure(group, step, ours, pairs[step], alone) for step in steps if step in ours]

    def starting(self, group: Group) -> list[str]:
        """The peers whose first ids are right; this start also fills the system's file cache, and a library's own."""
        found = {}
        for peer in self.peers:
            told = self.run(peer, group.vocab, "start", **group.job)
            found[peer] = told["start"]["ids"] if "start" in told else None
            if found[peer] != found[OURS]:
                print(f"start, {peer}: {self.missing.get((peer, group.vocab)) or told or 'other ids'}", flush=True)
        return [peer for peer, ids in found.items() if peer != OURS and ids == found[OURS]]

    def figure(
        self,
        group: Group,
        step: str,
        ours: dict[str, list[float]],
        pairs: dict[str, list[tuple[float, float]]],
        alone: dict[str, list[float]],
    ) -> dict[str, Any]:
        peers = {
            peer: {
                "ratio": round(median(theirs / mine for mine, theirs in rounds), 3),
                "seconds": _spread([theirs for _, theirs in rounds]),
                "rounds": len(rounds),
            }
            for peer, rounds in pairs.items()
        }
        best = min(peers, key=lambda peer: peers[peer]["ratio"], default=None)
        extra: dict[str, Any] = {}
        name = step.rpartition(".")[0] if group.row == "worst" else group.text
        if group.row == "worst" and step.endswith(".1") and f"{name}.2" in ours:
            twice = zip(ours[f"{name}.2"], ours[step])
            extra["doubling"] = round(median(two / one for two, one in twice), 2)
        if group.row == "count" and "array" in ours:
            extra["array_over_count"] = round(median(ours["array"]) / median(ours["count"]), 3)
        if step in alone:
            extra["one_thread_over_two"] = round(median(alone[step]) / median(ours[step]), 3)
        target = target_of(group, step)
        return {
            "row": group.row,
            "vocab": group.vocab,
            "text": name,
            "form": group.form,
            "step": step,
            "clock": group.clock,
            "date": datetime.date.today().isoformat(),
            "ours": _spread(ours[step]),
            "peers": peers,
            "best": best,
            "ratio": None if best is None else peers[best]["ratio"],
            "target": target,
            "counts": all(peer in peers or self.cannot(peer, group, step) for peer in ALWAYS),
            **extra,
        }

    def cannot(self, peer: str, group: Group, step: str) -> bool:
        """Whether a peer was asked and has no such way, or another result."""
        if peer not in self.peers or group.row == "start":
            return False
        told = self.checked(peer, group, step)
        return told is None or bool(told.get("differs"))

    def facts(self) -> dict[str, Any]:
        """Each peer: its version, and for each vocabulary that it is exact, or what it does otherwise."""
        found: dict[str, Any] = {}
        for peer in self.peers:
            vocabularies = {}
            for vocab in self.vocabularies:
                told = self.told.get((peer, vocab), {})
                checked = {step: line["seconds"] for step, line in told.items() if "seconds" in line}
                vocabularies[vocab] = _told(self.missing.get((peer, vocab)), self.wrong(peer, vocab), checked)
            found[peer] = {
                "version": bytepair.__version__ if peer == OURS else version(peer),
                "vocabularies": vocabularies,
            }
        return found


def _subject(step: str) -> str:
    """What a step of a check or of the worst cases is about: "whole one letter", "blocks english"."""
    return step.partition(" ")[2].rpartition(".")[0] if " whole " in step or " blocks " in step else step[:-2]


def _spread(times: list[float]) -> dict[str, float]:
    return {"min": min(times), "median": median(times), "max": max(times)}


def target_of(group: Group, step: str) -> float | None:
    """What the ratio shall be at least."""
    many = group.text == "multilingual"
    if group.row == "array":
        return 1.15 if many else 1.3 if step == "seen" else 1.4
    if group.row == "list":
        return 1.2 if step == "seen" else 1.4
    if step.endswith(".2"):
        return None
    return {"short": 1.0, "batch": 1.3, "words": 1.2, "decode": 1.3, "worst": 0.5, "start": 1.0}.get(group.row)


def name_of(figure: dict[str, Any]) -> str:
    return ", ".join(filter(None, (figure["row"], figure["vocab"], figure["text"], figure["form"], figure["step"])))


def is_missed(figure: dict[str, Any]) -> bool:
    """Whether a figure is below its target; counting has to beat our own arrays, doubling the text cost 2.3 at most."""
    ratio, target = figure["ratio"], figure["target"]
    return (
        (ratio is not None and target is not None and ratio < target)
        or figure.get("doubling", 0) > MOST_FOR_TWICE
        or figure.get("array_over_count", LEAST_FOR_COUNT) < LEAST_FOR_COUNT
        or figure.get("one_thread_over_two", LEAST_FOR_TWO) < LEAST_FOR_TWO
    )


def line_of(figure: dict[str, Any]) -> str:
    """A figure as it is printed."""
    ratio = "no exact peer" if figure["ratio"] is None else f"{figure['ratio']:.2f} x {figure['best']}"
    told = [f"{name_of(figure)}: {ratio}, ours {figure['ours']['median'] * 1e3:.2f} ms"]
    if is_missed(figure):
        told.append("MISSED" if figure["target"] is None else f"MISSED (target {figure['target']:g})")
    told += [
        f"{key} {figure[key]:.2f}" for key in ("doubling", "array_over_count", "one_thread_over_two") if key in figure
    ]
    others = sorted(figure["peers"].items(), key=lambda item: item[1]["ratio"])
    told.append(" ".join(f"{peer} {told['ratio']:.2f}" for peer, told in others))
    return "; ".join(filter(None, told))


def joined(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """What is known of the peers, from two runs; what was checked again counts as it is now."""
    found = {**old, **new}
    for peer in old.keys() & new.keys():
        before, now = old[peer]["vocabularies"], new[peer]["vocabularies"]
        both = {**before, **now}
        for vocab in before.keys() & now.keys():
            again = now[vocab]["checked_seconds"].keys() | now[vocab]["differs"].keys()
            kept = {step: why for step, why in before[vocab]["differs"].items() if step not in again}
            checked = {**before[vocab]["checked_seconds"], **now[vocab]["checked_seconds"]}
            both[vocab] = _told(now[vocab]["missing"], {**kept, **now[vocab]["differs"]}, checked)
        found[peer] = {**new[peer], "vocabularies": both}
    return found


def _told(missing: str | None, differs: dict[str, str], checked: dict[str, Any]) -> dict[str, Any]:
    """What is known of a peer with one vocabulary."""
    exact = bool(checked) and not differs
    return {"exact": exact, "missing": missing, "differs": differs, "checked_seconds": checked}


def chosen(given: str | None, there: tuple[str, ...], what: str) -> list[str]:
    if given is None:
        return list(there)
    names = [name for name in given.split(",") if name]
    for name in names:
        if name not in there:
            sys.exit(f"there is no {what} {name!r}; there are {', '.join(there)}")
    return [name for name in there if name in names]


def installed() -> list[str]:
    found = []
    for peer in PEERS:
        try:
            version(peer)
        except PackageNotFoundError:
            if peer == OURS:
                found.append(peer)  # from the source tree
            else:
                print(f"{peer} is not installed", flush=True)
        else:
            found.append(peer)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", help=f"some of {','.join(ROWS)}")
    parser.add_argument("--peers", help="some peers; gigatoken and fastokens have to be among them for a row to count")
    parser.add_argument("--vocab", help=f"some of {','.join(VOCABULARIES)}")
    parser.add_argument("--corpora", type=Path, metavar="DIR")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--size", type=float, default=16, metavar="MB", help="megabytes of each text")
    parser.add_argument("--add", action="store_true", help="keep what the record has of other figures")
    parser.add_argument("--record", type=Path, default=RECORDS / "peers.json", metavar="FILE")
    options = parser.parse_args()
    there = installed()
    peers = [OURS, *(peer for peer in chosen(options.peers, tuple(PEERS), "peer") if peer != OURS and peer in there)]
    if REFERENCE not in there:
        sys.exit(f"{REFERENCE} says what is right, and is not installed: pip install '.[bench]'")
    rows = chosen(options.rows, ROWS, "row")
    size = int(options.size * texts.MB)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        real = corpora(options.corpora, size)
        write_texts(folder / "texts", real, size, max(1000, size // 16))
        vocabularies = chosen(options.vocab, tuple(VOCABULARIES), "vocabulary")
        for name in {*vocabularies, *([START_VOCABULARY] if "start" in rows else [])}:
            write_vocabulary(folder, name)
        bench = Bench(folder, folder / "texts", vocabularies, list(real), peers, options.rounds)
        bench.check(rows)
        figures = []
        for group, steps in bench.groups(rows):
            for figure in bench.measure(group, steps):
                print(line_of(figure), flush=True)
                figures.append(figure)
        facts = bench.facts()
    record = {"bytes": {name: len(data) for name, data in real.items()}, "rounds": options.rounds, "peers": facts}
    if options.add and options.record.exists():
        old = json.loads(options.record.read_text("utf-8"))
        facts = joined(old["peers"], facts)
        record["peers"] = facts
        names = {name_of(figure) for figure in figures}
        figures = [figure for figure in old["figures"] if name_of(figure) not in names] + figures
    record["reference"] = {"ids": REFERENCE, "instead": bench.reference}
    record["figures"] = figures
    missed = [figure for figure in figures if is_missed(figure)]
    print(f"{len(missed)} of {len(figures)} figures below their target", *map(line_of, missed), sep="\n    ")
    print("written:", write_record(options.record, record, tuple(peer for peer in peers if peer != OURS)))


if __name__ == "__main__":
    main()
