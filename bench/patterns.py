"""Cutting text by patterns: scanners by hand, automata and blocks against each other and against `regex`; end to end
against `tokenizers`; compile times; texts twice as long.

    python bench/patterns.py [--corpus NAME=FILE ...] [--probe FILE] [--runs N]

One thread, results checked before the clock runs, all ways in turn, medians. ``--probe`` is the C++ source of another
scalar cl100k scanner, compiled and timed in the same run (see bench/probe_stage.cpp). Without a corpus: the Python
standard library's sources. Needs CMake and a compiler. Writes bench/records/patterns.json.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import regex
import tokenizers
from measure import in_turn, write_record
from tokenizers import models, pre_tokenizers, trainers
from train_encode import byte_letters

import bytepair
from bytepair.benching.texts import library
from bytepair.pattern import engine_splitter, presets, resolve
from bytepair.pattern.fallback import regex_ends

ROOT = Path(__file__).parent.parent
USER_PATTERN = r"\p{Lu}?\p{Ll}+|\p{N}{1,4}|[^\p{L}\p{N}\s]+|\s+"
VOCAB_SIZE = 8192
MB = 1_000_000

COMPILE = """
import time
from bytepair.pattern import compile_stages, family_of
from bytepair.pattern.presets import PRESETS
start = time.perf_counter()
family_of(compile_stages(*PRESETS[{name!r}].stages).tables)
print(time.perf_counter() - start)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", action="append", default=[], metavar="NAME=FILE")
    parser.add_argument("--probe", type=Path)
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    warnings.simplefilter("ignore", bytepair.BytepairNotice)
    with tempfile.TemporaryDirectory() as folder:
        corpora = [corpus.split("=", 1) for corpus in options.corpus]
        if not corpora:
            corpora = [["stdlib", f"{folder}/stdlib"]]
            Path(corpora[0][1]).write_bytes(library(16 * MB))
        program = built(Path(folder), options.probe)
        runs = str(options.runs)
        core = json.loads(output(program, "cut", runs, *("=".join(corpus) for corpus in corpora)))
        doubling = json.loads(output(program, "doubling", runs))
        texts = {name: Path(path).read_bytes() for name, path in corpora}
    record = {
        "corpora": {name: len(data) for name, data in texts.items()},
        "cut": core,
        "regex": [
            {"corpus": name, **against_regex(pattern, data, options.runs)}
            for name, data in texts.items()
            for pattern in ("cl100k", "gpt2", "o200k", "qwen2", "llama3")
        ],
        "end_to_end": [against_tokenizers(name, data, options.runs) for name, data in texts.items()],
        "compile_seconds": {name: compile_seconds(name, options.runs) for name in presets()},
        "doubling": worst_doubling(doubling),
    }
    record["ratios"] = ratios = {name: round(ratio, 2) for name, ratio in all_ratios(record)}
    for name, ratio in ratios.items():
        target = target_of(name)
        verdict = "" if target is None else f"  (target {target:g}{'' if kept(name, ratio) else ', MISSED'})"
        print(f"{name}: {ratio:.2f}{verdict}")
    print("written:", write_record("patterns", record, ("regex", "tokenizers")))


def built(folder: Path, probe: Path | None) -> Path:
    """Build core_bench from the sources that this script stands beside."""
    flags = ["-DBYTEPAIR_CORE_BENCH=ON", "-DCMAKE_BUILD_TYPE=Release", f"-DPython3_EXECUTABLE={sys.executable}"]
    if probe:
        flags.append(f"-DBYTEPAIR_PROBE={probe.resolve()}")
    output("cmake", "-S", ROOT, "-B", folder / "build", *flags)
    output("cmake", "--build", folder / "build", "--parallel")
    return folder / "build" / "core_bench"


def output(*command: str | Path) -> str:
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{done.stdout}\n{command[0]} failed")
    return done.stdout


def whole_characters(data: bytes, size: int) -> bytes:
    return data[:size].decode("utf-8", "ignore").encode()


def against_regex(name: str, data: bytes, runs: int) -> dict[str, Any]:
    """The automaton alone against `regex` with the same pattern: as our third tier runs it, and its plain text."""
    part = whole_characters(data, MB)
    text = part.decode()
    pattern = resolve(name)
    automaton = engine_splitter(pattern.stages, None, False)
    plain = regex.compile(pattern.regex, regex.V1)

    def third_tier() -> list[int]:
        return regex_ends(part, pattern.regex, pattern.dialect, 600)

    ends = automaton.ends(part).tolist()
    if third_tier() != ends:
        sys.exit(f"{name}: the third tier cuts differently")
    # The module's Unicode is newer, and its `$` is before a last newline too: nearly all must agree.
    theirs = {match.end() for match in plain.finditer(text)}
    ours = set(accumulate(len(part[start:end].decode()) for start, end in zip([0, *ends], ends)))
    if len(theirs ^ ours) > 1 + len(ends) // 1000:
        sys.exit(f"{name}: regex cuts differently in {len(theirs ^ ours)} places")
    often = range(20)  # once takes 2 ms, which is too short for a clock
    times = in_turn(
        runs,
        automaton=lambda: [automaton.ends(part) for _ in often],
        third_tier=third_tier,
        regex=lambda: [match.end() for match in plain.finditer(text)],
    )
    times["automaton"] = {which: seconds / len(often) for which, seconds in times["automaton"].items()}
    return {"pattern": name, "bytes": len(part), "seconds": times}


def against_tokenizers(corpus: str, data: bytes, runs: int) -> dict[str, Any]:
    """Training and encoding with a pattern that no tokenizer ships, one thread each."""
    text = whole_characters(data, 8 * MB).decode()
    documents = [text[i : i + 100_000] for i in range(0, len(text), 100_000)]
    split = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(tokenizers.Regex(USER_PATTERN), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )

    def ours() -> bytepair.Tokenizer:
        return bytepair.train(
            documents, vocab_size=VOCAB_SIZE, pattern=USER_PATTERN, specials=(), layout="bytes-first", threads=1
        )

    def theirs() -> tokenizers.Tokenizer:
        made = tokenizers.Tokenizer(models.BPE())
        made.pre_tokenizer = split
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(
            vocab_size=VOCAB_SIZE, min_frequency=2, initial_alphabet=alphabet, show_progress=False
        )
        made.train_from_iterator(documents, trainer)
        return made

    # Ties are broken otherwise, so the vocabularies may differ in a few tokens; the work is the same.
    tok, peer = ours(), theirs()
    letter = byte_letters()
    spelled = {number: "".join(letter[b] for b in token) for number, token in tok.vocab.items()}
    same = set(spelled.values()) & set(peer.get_vocab())
    if len(same) < 0.98 * tok.vocab_size:
        sys.exit(f"only {len(same)} of {tok.vocab_size} tokens are the same; this compares different things")
    training = in_turn(max(3, runs // 2), ours=ours, tokenizers=theirs)

    vocab = {token: number for number, token in spelled.items()}
    merges = [(spelled[left], spelled[right]) for left, right in tok.merges]
    fast = tokenizers.Tokenizer(models.BPE(vocab, merges))
    fast.pre_tokenizer = split
    if fast.encode(text).ids != tok.encode(text):
        sys.exit(f"the ids differ from those of tokenizers on {corpus}")
    encoding = in_turn(
        max(3, runs // 2),
        list=lambda: tok.encode(text),
        array=lambda: tok.encode_array(text),
        tokenizers=lambda: fast.encode(text).ids,
    )
    return {
        "corpus": corpus,
        "pattern": USER_PATTERN,
        "bytes": len(text.encode()),
        "vocab_size": VOCAB_SIZE,
        "training_seconds": training,
        "encoding_seconds": encoding,
    }


def compile_seconds(name: str, runs: int) -> float:
    """The best of some fresh processes: with all that the first pattern of a process has to load."""
    return min(float(output(sys.executable, "-c", COMPILE.format(name=name))) for _ in range(runs))


def worst_doubling(lines: list[dict[str, Any]]) -> dict[str, float]:
    """For each pattern, the highest ratio over all texts."""
    worst: dict[str, float] = {}
    for line in lines:
        worst[line["pattern"]] = max(worst.get(line["pattern"], 0), round(line["twice"] / line["once"], 2))
    return worst


def all_ratios(record: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """Each figure of the targets, by name. There is no scalar scanner but for cl100k and gpt2: cl100k's stands in."""
    times = {(line["corpus"], line["pattern"], line["way"]): line["median"] for line in record["cut"]}
    for corpus in record["corpora"]:
        if probe := times.get((corpus, "cl100k", "probe")):
            yield f"{corpus}, cl100k: scalar / probe", probe / times[corpus, "cl100k", "scalar"]
        for (where, pattern, way), seconds in times.items():
            if where == corpus and way not in ("scalar", "probe"):
                scalar = times[corpus, pattern if (corpus, pattern, "scalar") in times else "cl100k", "scalar"]
                yield f"{corpus}, {pattern}: {way} / scalar", scalar / seconds
    for line in record["regex"]:
        for other in ("third_tier", "regex"):
            ratio = line["seconds"][other]["median"] / line["seconds"]["automaton"]["median"]
            yield f"{line['corpus']}, {line['pattern']}: automaton / {other}", ratio
    for line in record["end_to_end"]:
        training, encoding = line["training_seconds"], line["encoding_seconds"]
        for way in ("list", "array"):
            ratio = encoding["tokenizers"]["median"] / encoding[way]["median"]
            yield f"{line['corpus']}: encode, {way} / tokenizers", ratio
        yield f"{line['corpus']}: train / tokenizers", training["tokenizers"]["median"] / training["ours"]["median"]
    yield "compile, slowest preset, milliseconds", 1000 * max(record["compile_seconds"].values())
    yield "doubling, worst of all patterns and texts", max(record["doubling"].values())


def target_of(name: str) -> float | None:
    many = "multilingual" in name
    for end, target in {
        "scalar / probe": 0.9,
        "avx512 / scalar": 2.5 if many else 4,
        "avx2 / scalar": 1.7 if many else 2.5,
        "automaton / scalar": 1.0,
        "automaton / third_tier": 30,
        "automaton / regex": 30,
        "/ tokenizers": 10,
        "milliseconds": 100,
        "texts": 2.2,
    }.items():
        if name.endswith(end):
            return target
    return None


def kept(name: str, ratio: float) -> bool:
    target = target_of(name)
    assert target is not None
    return ratio <= target if name.startswith(("compile", "doubling")) else ratio >= target


if __name__ == "__main__":
    main()
