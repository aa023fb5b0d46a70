"""The README's figures, from the records: `python bench/table.py --write` puts them between its two marks.

A test holds the README to what this makes of the records, so that no figure is typed by hand.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

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
    return "\n".join(lines) + "\n"


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
