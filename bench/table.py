"""The README's figures, from the records: `python bench/table.py --write` puts them between its two marks.

A test holds the README to what this makes of the records, so that no figure is typed by hand.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
BEGIN, END = "<!-- bench/table.py: begin -->\n", "<!-- bench/table.py: end -->\n"


def table() -> str:
    """The table as Markdown."""
    records = ROOT / "bench" / "records"
    first = json.loads((records / "train_encode.json").read_text("utf-8"))
    cuts = json.loads((records / "patterns.json").read_text("utf-8"))
    ratios, cut = first["ratios"], cuts["ratios"]
    versions = first["versions"]
    size = f"{first['bytes'] / 1e6:.0f} MB of Python, {first['vocab_size']:,} tokens, one thread"

    def worst(text: str) -> float:
        return min(value for name, value in cut.items() if name.endswith(text))

    rows = [
        ("training, " + size, f"`tokenizers` {versions['tokenizers']}", ratios["train, tokenizers / ours, one thread"]),
        ("encoding to a list, the same", f"`tiktoken` {versions['tiktoken']}", ratios["encode, tiktoken / ours, list"]),
        ("encoding to an array, the same", "`tiktoken`, list", ratios["encode, tiktoken / ours, array"]),
        ("cutting, any compiled preset, the slowest case", "the `regex` module", worst(": automaton / regex")),
        ("the same, 64 bytes at a time (AVX2)", "a hand-written scanner", worst(": avx2 / scalar")),
    ]
    lines = ["| what | against | times as fast |", "|---|---|---|"]
    lines += [f"| {what} | {peer} | {ratio:.1f} |" for what, peer, ratio in rows]
    machine = first["machine"]
    lines.append("")
    lines.append(
        f"Medians of alternating runs on {machine['cores']} cores ({machine['processor']}), {first['date']}; the ids "
        "are compared before the clock runs."
    )
    lines.append("`bench/` makes them anew.")
    peers = records / "peers.json"
    if peers.exists():
        lines += ["", *peers_table(json.loads(peers.read_text("utf-8")))]
    return "\n".join(lines) + "\n"


# What a row is called, and which figures it has: their row, step and form.
PEER_ROWS = (
    ("ids to an array, text seen before", "array", "seen", "str"),
    ("the same from bytes", "array", "seen", "bytes"),
    ("ids to an array, new text", "array", "unseen", "str"),
    ("the same from bytes", "array", "unseen", "bytes"),
    ("ids to a list, text seen before", "list", "seen", "str"),
    ("the same from bytes", "list", "seen", "bytes"),
    ("ids to a list, new text", "list", "unseen", "str"),
    ("the same from bytes", "list", "unseen", "bytes"),
    ("a list of a string of 40 characters", "short", "short", "str"),
    ("counting", "count", "count", "str"),
    ("a batch of 4 KB documents, two threads", "batch", "batch", "str"),
    ("one document of 16 MB, two threads", "batch", "huge", "str"),
    ("random words, each once", "words", "words", "str"),
    ("decoding a list", "decode", ("decode_str", "decode_bytes"), "str"),
    ("decoding an array", "decode", ("decode_array_str", "decode_array_bytes"), "str"),
    ("a fresh process: import, load 200,000 tokens, first ids", "start", "start", "str"),
)


def peers_table(record: dict[str, Any]) -> list[str]:
    """Our speed over that of the fastest exact peer: for each row the vocabulary and text where it is lowest."""
    figures = [figure for figure in record["figures"] if figure["counts"] and figure["ratio"] is not None]

    def lowest(found: list[dict[str, Any]]) -> str:
        if not found:
            return "–"
        least = min(found, key=lambda figure: figure["ratio"])
        return f"{least['ratio']:.2f} (`{least['best']}`)"

    lines = ["| times as fast as the fastest exact peer | English, code | multilingual |", "|---|---|---|"]
    for what, row, steps, form in PEER_ROWS:
        found = [
            figure
            for figure in figures
            if figure["row"] == row
            and figure["form"] == form
            and figure["step"] in ((steps,) if isinstance(steps, str) else steps)
        ]
        many = [figure for figure in found if figure["text"] == "multilingual"]
        few = [figure for figure in found if figure["text"] != "multilingual"]
        if found:
            lines.append(f"| {what} | {lowest(few)} | {lowest(many)} |")
    worst: dict[str, list[dict[str, Any]]] = {}
    for figure in figures:
        if figure["row"] == "worst" and figure["step"].endswith(".1"):
            worst.setdefault(figure["text"], []).append(figure)
    if worst:
        lines += ["", "| worst case, 1 MB | times as fast | twice as long takes |", "|---|---|---|"]
        for name, found in worst.items():
            lines.append(f"| {name} | {lowest(found)} | {max(figure['doubling'] for figure in found):.1f} times |")
    two = [figure["one_thread_over_two"] for figure in record["figures"] if "one_thread_over_two" in figure]
    count = [figure["array_over_count"] for figure in record["figures"] if "array_over_count" in figure]
    own = [f"two threads are {min(two):.1f} times as fast as one"] if two else []
    own += [f"counting is {min(count):.1f} times as fast as making an array"] if count else []
    exact, other = [], []
    for peer, told in record["peers"].items():
        differs = [vocab for vocab, facts in told["vocabularies"].items() if facts["differs"]]
        if peer != "bytepair":
            (other if differs else exact).append(f"{peer} {told['version']}")
    machine = record["machine"]
    vocabularies = dict.fromkeys(figure["vocab"] for figure in figures)
    lines.append("")
    lines.append(
        f"Medians of {record['rounds']} alternating rounds, each in a fresh process, on {machine['cores']} cores "
        f"({machine['processor']}), {record['date']};"
    )
    lines.append(f"the lowest of {', '.join(vocabularies)}, with the peer that was fastest there.")
    lines.append(f"Compared first: the ids of {', '.join(exact)} are right.")
    if own:
        lines.append(f"At the least, {' and '.join(own)}.")
    if other:
        lines.append(f"Not right, or no result, on some text: {', '.join(other)}; no rivals there.")
    return lines


def with_table(readme: str) -> str:
    """The README with the table between its marks."""
    before, rest = readme.split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + table() + END + after


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write it into the README")
    if parser.parse_args().write:
        README.write_text(with_table(README.read_text("utf-8")), "utf-8")
    else:
        sys.stdout.write(table())


if __name__ == "__main__":
    main()
