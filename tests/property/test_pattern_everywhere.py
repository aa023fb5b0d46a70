"""Every preset, cut in every way: blocks at each level, the automaton alone, pure Python, and the slow oracles."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import chain, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pattern_engines import Cut, Stages, core_splitters, cuts_of, in_bytes, pure_splitter, sound, tables_of
from pattern_oracles import backtracked, by_regex, check_split_points, lexer, stage_after_stage
from pattern_peers import EVERY_CHARACTER, TRICKY

from bytepair.pattern import Pattern, presets
from bytepair.pattern.classes import partition
from bytepair.pattern.determinise import determinise
from bytepair.pattern.families import family_of
from bytepair.pattern.nodes import Chars, Node, walk
from bytepair.pattern.presets import PRESETS
from bytepair.pattern.program import build
from bytepair.pattern.syntax import parse

#: Two presets that are one pattern need no second turn.
NAMES = [name for name in presets() if name != "p50k"]
WORDS = [
    "'s",
    "'LL",
    "'rE",
    "'ſ",
    "l'l",
    "re",
    "  ",
    "   \n",
    "\r\n",
    "\n\n",
    "12",
    "1234",
    "..",
    "./",
    "aB",
    "Ab",
    " a",
]


def stages_of(name: str) -> Stages:
    return PRESETS[name].stages


@cache
def trees(stages: Stages) -> list[Node]:
    return [parse(*stage) for stage in stages]


@cache
def lexers(stages: Stages) -> list[Callable[[str], list[int]]]:
    return [lexer(determinise(build(tree))) for tree in trees(stages)]


def by_lexer(stages: Stages, text: str) -> list[int]:
    return in_bytes(text, stage_after_stage(lexers(stages), text))


def by_backtracking(stages: Stages, text: str) -> list[int]:
    return in_bytes(text, stage_after_stage([partial(backtracked, tree) for tree in trees(stages)], text))


def by_module(stages: Stages, text: str) -> list[int]:
    return in_bytes(text, stage_after_stage([partial(by_regex, *stage) for stage in stages], text))


def all_cut(cuts: dict[str, Cut], data: bytes, expected: list[int]) -> None:
    for name, cut in cuts.items():
        assert cut(data) == expected, name


@pytest.mark.parametrize("name", NAMES)
def test_short_texts(name: str) -> None:
    stages, rng = stages_of(name), random.Random(name)
    cuts, tables = cuts_of(stages), tables_of(stages)
    splitter = pure_splitter(tables)
    for _ in range(400):
        text = sound("".join(rng.choices([*TRICKY, *WORDS, "\udcff", "\udc80"], k=rng.randint(1, 12))))
        data = text.encode("utf-8", "surrogateescape")
        expected = by_lexer(stages, text)
        assert by_backtracking(stages, text) == by_module(stages, text) == expected
        all_cut(cuts, data, expected)
        check_split_points(tables, splitter, text, expected)


def mixed_texts(seed: str, count: int, length: int) -> Iterator[str]:
    """Mostly words as they are written, some runs of one character, and at any place something tricky."""
    rng = random.Random(seed)
    words = ["the", " of", "Über", " naïve", "Привет", " 你好", "don't", "I'LL", "x1", " 2024", "\n    ", "...", "=="]
    for _ in range(count):
        parts: list[str] = []
        while sum(map(len, parts)) < length:
            kind = rng.random()
            if kind < 0.6:
                parts.append(rng.choice(words))
            elif kind < 0.8:
                parts.append(rng.choice(WORDS))
            elif kind < 0.9:
                parts.append(rng.choice(TRICKY + "\udcff\udc80"))
            else:
                parts.append(rng.choice(" \n\r\t.'/aA1é漢\u0301٣\xa0") * rng.randint(2, 150))
        yield sound("".join(parts))


@pytest.mark.parametrize("name", NAMES)
def test_long_texts(name: str) -> None:
    """Over many blocks of 64 bytes, with what needs the automaton at any place in them."""
    stages = stages_of(name)
    cuts = cuts_of(stages)
    for text in mixed_texts(name, 60, 600):
        data = text.encode("utf-8", "surrogateescape")
        all_cut(cuts, data, by_module(stages, text))


@pytest.mark.parametrize("name", NAMES)
def test_every_place_in_a_block(name: str) -> None:
    """Short texts pushed over the border of a block, byte by byte."""
    stages, rng = stages_of(name), random.Random(name)
    cuts = {level: splitter.ends for level, splitter in core_splitters(stages).items()}
    automaton = cuts.pop("automaton", None)
    for _ in range(25 if cuts else 0):
        middle = sound("".join(rng.choices([*TRICKY, *WORDS, "\udcff"], k=rng.randint(1, 8))))
        for before in range(52, 66):
            text = rng.choice(["a", "A", " ", "1", ".", "漢", "the quick "]) * before
            data = (text.encode()[-before:] + middle.encode("utf-8", "surrogateescape")) + b" then more" * 14
            expected = automaton(data).tolist()
            for level, cut in cuts.items():
                assert cut(data).tolist() == expected, (level, data)


def class_strings(stages: Stages, length: int) -> Iterator[str]:
    """All strings of one character of each class."""
    classes = tables_of(stages).classes
    first = {classes.of(ord(character)): character for character in reversed(EVERY_CHARACTER[:0x30000])}
    return map("".join, product(sorted(first.values()), repeat=length))


@pytest.mark.parametrize("name", NAMES)
def test_all_class_strings(name: str) -> None:
    """No state is left out."""
    stages = stages_of(name)
    cuts = cuts_of(stages)
    for text in chain.from_iterable(class_strings(stages, length) for length in (1, 2)):
        expected = by_lexer(stages, text)
        assert by_backtracking(stages, text) == expected
        all_cut(cuts, text.encode(), expected)
    for text in class_strings(stages, 3):
        expected = by_lexer(stages, text)
        for way, cut in cuts.items():
            assert cut(text.encode()) == expected, way
    # Joined, so that every one still occurs, they are many blocks; and the regex module sees them too.
    text = "".join(class_strings(stages, 3))
    all_cut(cuts, text.encode(), by_module(stages, text))


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "llama3", "qwen2", "o200k", "tekken"])
def test_class_strings_of_four(name: str) -> None:
    """The levels against the automaton alone, which the shorter strings have held to the oracles."""
    stages = stages_of(name)
    splitters = core_splitters(stages)
    automaton = splitters.pop("automaton", None)
    for text in class_strings(stages, 4) if splitters else ():
        # Behind the string a block's worth of text, so that not the end of the text decides.
        data = text.encode() + b" and so on, until this is more than one block of sixty-four bytes."
        expected = automaton.ends(data).tobytes()
        for level, splitter in splitters.items():
            assert splitter.ends(data).tobytes() == expected, (level, text)


CONTEXTS = ["a{}b", "A{}'s", "1{}2", " {} ", "\n{}\n", ".{}/", "{}", "漢{}\u0301"]


@pytest.mark.parametrize("name", NAMES)
def test_every_code_point(name: str) -> None:
    """In every context the levels against the automaton; the oracle sees each code point once."""
    stages = stages_of(name)
    splitters = core_splitters(stages)
    automaton = splitters.pop("automaton", None)
    for context in CONTEXTS if automaton else ():
        before, after = context.split("{}")
        data = (after + before).join(EVERY_CHARACTER).encode()
        expected = automaton.ends(data).tobytes()
        for level, splitter in splitters.items():
            assert splitter.ends(data).tobytes() == expected, (level, context)
    rng = random.Random(name)
    some = EVERY_CHARACTER[:0x800] + "".join(rng.sample(EVERY_CHARACTER[0x800:], 20_000))
    text = "".join(rng.choice(CONTEXTS).format(character) for character in some)
    all_cut(cuts_of(stages), text.encode(), by_module(stages, text))


@pytest.mark.parametrize("name", NAMES)
def test_the_class_of_every_code_point(name: str) -> None:
    """The table that the engines look up has the sets that the pattern names, to the last code point."""
    stages = stages_of(name)
    table = tables_of(stages).classes
    flat = b"".join(
        table.stage2[page * 256 : page * 256 + 256]
        for page in (table.stage1[i] | table.stage1[i + 1] << 8 for i in range(0, len(table.stage1), 2))
    )
    sets = [node.characters for tree in trees(stages) for node in walk(tree) if isinstance(node, Chars)]
    fine = partition(sets)
    # Characters of one class in the sets are of one class in the table, which may be coarser.
    class_of: dict[int, int] = {}
    for first, end, number in fine.segments:
        found = set(flat[first:end])
        assert len(found) == 1
        assert class_of.setdefault(number, found.pop()) == flat[first]
    assert set(class_of.values()) == set(range(table.n_classes))


@pytest.mark.parametrize("name", NAMES)
def test_alone(name: str) -> None:
    """Texts of one character, and of none."""
    stages = stages_of(name)
    rng = random.Random(name)
    some = [*EVERY_CHARACTER[:0x250], *TRICKY, *rng.sample(EVERY_CHARACTER, 1000)]
    for cut in cuts_of(stages).values():
        assert cut(b"") == []
        for character in some:
            assert cut(character.encode()) == [len(character.encode())]
        for byte in range(0x80, 0x100):
            assert cut(bytes([byte])) == [1]


@given(st.sampled_from(NAMES), st.binary(max_size=100))
def test_any_bytes(name: str, data: bytes) -> None:
    stages = stages_of(name)
    all_cut(cuts_of(stages), data, by_module(stages, data.decode("utf-8", "surrogateescape")))


@given(st.text(alphabet=TRICKY, max_size=30))
def test_both_spellings_of_gpt2_cut_alike(text: str) -> None:
    assert by_module(stages_of("gpt2"), text) == by_module(stages_of("r50k"), text)


# ---- families with other classes ----

LETTERS = [r"\p{L}", "a-zA-Z", r"\p{L}_", "a-z", r"a-z\x{4e00}-\x{9fa5}'"]
NUMBERS = [r"\p{N}", "0-9", "0-9_", r"\p{Nd}½", "0-4"]
BLANKS = [r"\s", r" \t\r\n", r"\s\x1c-\x1f", r" \r\n", r"\s."]


def variants(name: str) -> Iterator[Pattern]:
    regex, dialect = PRESETS[name].regex, PRESETS[name].dialect
    for letters, numbers, white in product(LETTERS, NUMBERS, BLANKS):
        inner = regex.replace(r"\p{L}", f"[{letters}]").replace(r"\p{N}", f"[{numbers}]")
        inner = inner.replace(r"\s", f"[{white}]").replace(r"\S", f"[^{white}]")
        yield Pattern(inner, dialect=dialect if "{4e00}" not in letters else "tiktoken")


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "llama3", "qwen2"])
def test_families_with_other_classes(name: str) -> None:
    """Not only the presets' own sets: whatever is recognised as of the family is cut as its automaton says."""
    recognised = 0
    texts = list(mixed_texts(name, 12, 300))
    for pattern in variants(name):
        if pattern.compiled.tables is None or family_of(pattern.compiled.tables) is None:
            continue
        recognised += 1
        splitters = core_splitters(pattern.stages)
        automaton = splitters.pop("automaton", None)
        for text in texts if splitters else ():
            data = text.encode("utf-8", "surrogateescape")
            expected = automaton.ends(data).tolist()
            for level, splitter in splitters.items():
                assert splitter.ends(data).tolist() == expected, (level, pattern.regex)
    assert recognised >= 4


# ---- split points by brute force ----


@pytest.mark.parametrize(
    ("stages", "length"),
    [
        (stages_of("gpt2"), 4),
        (stages_of("qwen2"), 4),
        ((("[a-z]+", "tiktoken"),), 6),
        ((("a*b|a", "tiktoken"),), 6),
        (((r"(?<!a)b+|a|\s+$", "tiktoken"),), 6),
        ((("ab?|b(?=c)", "tiktoken"),), 6),
        ((("[0-9]{1,2}", "tiktoken"), ("[ab]+", "tiktoken"), (r"a*b|\s+$", "tiktoken")), 5),
    ],
)
def test_split_points_by_brute_force(stages: Stages, length: int) -> None:
    """On all class strings: what is said to be safe is, and what is not has a text that shows why."""
    tables = tables_of(stages)
    splitter = pure_splitter(tables) if not core_splitters(stages) else core_splitters(stages)["automaton"]
    cut: Callable[[bytes], list[int]] = lambda data: splitter.ends(data).tolist()  # noqa: E731
    n = tables.n_classes
    seen, not_weak, not_strong = set(), set(), set()
    shorter: dict[str, list[int]] = {"": []}
    for text in chain.from_iterable(class_strings(stages, k) for k in range(1, length + 1)):
        ends = shorter[text] = cut(text.encode())
        places = in_bytes(text, list(range(len(text) + 1)))
        classes = [tables.classes.of(ord(character)) for character in text]
        for at in range(1, len(text)):
            pair, place = classes[at - 1] * n + classes[at], places[at]
            seen.add(pair)
            if place not in ends:
                not_weak.add(pair)
                continue
            left, right = text[:at], text[at:]
            if shorter[left] + [place + end for end in shorter[right]] != ends:
                not_strong.add(pair)
    weak = {pair for pair in range(n * n) if tables.weak[pair]}
    strong = {pair for pair in range(n * n) if tables.strong[pair]}
    assert seen == set(range(n * n))
    assert weak == seen - not_weak
    assert strong == weak - not_strong
