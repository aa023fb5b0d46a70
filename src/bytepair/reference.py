"""Byte-pair encoding, all of it, in plain Python: the specification, and the lesson to read first.

Nothing here is fast and nothing here is clever. Every other module must give exactly these results, and the
property tests hold it to that. It leaves out what is no part of the algorithm: files, threads, progress, saving.
It imports nothing else of this package, and nobody but the tests and curious readers calls it.

**Training** asks again and again: which two neighbours stand side by side most often? These two become one new token.
The four words below hold ``l o`` four times and ``o w`` four times; of equal pairs the one that stands first wins.

>>> model = train("low low lower lowest", vocab_size=280, pattern=al1, specials=AL1_SPECIALS)
>>> for s in model.steps:
...     print(s.left, s.right, "->", s.new_id, model.vocab[s.new_id], "count", s.count, "tied", s.tied)
114 117 -> 262 b'lo' count 4 tied 2
262 125 -> 263 b'low' count 4 tied 1
38 263 -> 264 b' low' count 3 tied 1
264 107 -> 265 b' lowe' count 2 tied 1

Ids 0 to 5 are the special tokens and byte ``b`` has id ``6 + b``, so ``l`` (byte 108) is 114 and the first merge
makes 262. After four merges no pair stands twice and training stops, though 280 ids were allowed.

**Encoding** counts nothing. It takes the merges in the order in which they were learned, inside each pretoken:

>>> for ids in passes([114, 117, 125, 107, 121, 122], model.merges):
...     print(ids)
[114, 117, 125, 107, 121, 122]
[262, 125, 107, 121, 122]
[263, 107, 121, 122]

**Decoding** puts the bytes of the ids one after another:

>>> encode(model, "lowest", add_bos=True, add_eos=True)
[1, 263, 107, 121, 122, 2]
>>> decode(model, [1, 263, 107, 121, 122, 2]), decode(model, [1, 263, 107, 121, 122, 2], skip_specials=True)
(b'<bos>lowest<eos>', b'lowest')
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

AL1_SPECIALS = ("<pad>", "<bos>", "<eos>", "<tool_call>", "</tool_call>", "<tool_result>")

#: How an end-of-word mark is shown.
MARK = b"</w>"
Pair = tuple[int, int]
#: What a merge starts from: the bytes, and whether the end-of-word mark sits on them. The mark is a flag beside the
#: bytes and never the characters ``</w>``, which anybody may type. The mark on its own is ``(b"", True)``.
Symbol = tuple[bytes, bool]
#: A pattern is a function that cuts a text into pretokens, or a compiled regular expression.
Pattern = Callable[[str], list[str]] | re.Pattern[str]


# ---- 1. Cutting text into pretokens. Merges never cross the border between two pretokens. --------------------------


def as_text(data: str | bytes) -> str:
    """Text as characters; a byte that is no UTF-8 becomes one of U+DC80..U+DCFF and so is never lost."""
    return data if isinstance(data, str) else data.decode("utf-8", "surrogateescape")


def pretokens(text: str, pattern: Pattern) -> list[str]:
    """Cut ``text``; what the pattern leaves out between two matches is a pretoken too, so nothing is dropped."""
    if not isinstance(pattern, re.Pattern):
        return pattern(text)
    pieces, end = [], 0
    for match in pattern.finditer(text):
        if not match.group():
            raise ValueError(f"the pattern {pattern.pattern!r} can match nothing: it would cut no text")
        pieces += [text[end : match.start()], match.group()]
        end = match.end()
    return [piece for piece in [*pieces, text[end:]] if piece]


def whole(text: str) -> list[str]:
    """The pattern ``none``: no cut at all."""
    return [text] if text else []


def whitespace(text: str) -> list[str]:
    """The pattern ``whitespace``: words as ``str.split`` finds them, and the white space between them."""
    return pretokens(text, re.compile(r"\S+"))


def al1(text: str) -> list[str]:
    """The pattern of article 1, in the Unicode version of the running Python."""
    return pretokens(text, re.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?[^\W\d]+| ?\d+| ?[^\s\w]+|\s+(?!\S)|\s+"))


def gpt2(text: str) -> list[str]:
    r"""The pattern of GPT-2, in the Unicode version of the running Python.

    As a regular expression: ``'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+``.
    The standard ``re`` has no ``\p{L}``, so this function follows the alternatives by hand.
    """
    pieces, start = [], 0
    while start < len(text):
        end = _gpt2_end(text, start)
        pieces.append(text[start:end])
        start = end
    return pieces


def _gpt2_end(text: str, start: int) -> int:
    for contraction in ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d"):
        if text.startswith(contraction, start):
            return start + len(contraction)
    # One space may lead a run of letters, of numbers, or of anything else that is not white space.
    first = start + 1 if text.startswith(" ", start) else start
    if first < len(text) and _kind(text[first]) != "space":
        return _run_end(text, first)
    # White space before a word leaves its last character to that word, unless there is only one.
    end = _run_end(text, start)
    return end if end == len(text) or end == start + 1 else end - 1


def _run_end(text: str, start: int) -> int:
    end = start + 1
    while end < len(text) and _kind(text[end]) == _kind(text[start]):
        end += 1
    return end


def _kind(character: str) -> str:
    category = unicodedata.category(character)
    if category[0] in "LN":
        return category[0]
    # These are the characters that Unicode calls White_Space.
    return "space" if category in ("Zs", "Zl", "Zp") or character in "\t\n\v\f\r\x85" else "other"


def cut_at_specials(text: str, names: Iterable[str]) -> list[tuple[str, bool]]:
    """Cut out the names of special tokens, the longest where several match; the flag says which pieces are names.

    >>> cut_at_specials("a<x>b", ["<x>"])
    [('a', False), ('<x>', True), ('b', False)]
    """
    longest_first = sorted(names, key=len, reverse=True)
    if not longest_first:
        return [(text, False)] if text else []
    pieces = re.split("(" + "|".join(map(re.escape, longest_first)) + ")", text)
    return [(piece, place % 2 == 1) for place, piece in enumerate(pieces) if piece]


# ---- 2. The alphabet: what a pretoken is made of before the first merge. -------------------------------------------


def symbols(word: str, alphabet: str, end_of_word: str | None) -> list[Symbol]:
    """The start symbols of one pretoken; none for white space under the classic scheme, which marks ends of words.

    >>> symbols("ab", "characters", "separate"), symbols("ab", "characters", "fused")
    ([(b'a', False), (b'b', False), (b'', True)], [(b'a', False), (b'b', True)])
    >>> symbols("  ", "characters", "separate")
    []
    """
    if end_of_word is not None and word.isspace():
        return []
    parts = [c.encode("utf-8", "surrogateescape") for c in word]
    if alphabet == "bytes":
        parts = [bytes([b]) for b in b"".join(parts)]
    plain = [(part, False) for part in parts]
    if end_of_word == "separate":
        return [*plain, (b"", True)]
    if end_of_word == "fused":
        return [*plain[:-1], (parts[-1], True)]
    return plain


def byte_values(byte_order: str) -> list[int]:
    """The 256 bytes in the order of their ids: by value, or as GPT-2 has them with the printable bytes first."""
    if byte_order == "raw":
        return list(range(256))
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    return printable + [value for value in range(256) if value not in printable]


# ---- 3. The model: what training gives, and all that encoding and decoding need. -----------------------------------


@dataclass
class Step:
    """One merge: what was merged, how often the pair stood there, and how many pairs shared that count."""

    left: int
    right: int
    new_id: int
    count: int
    tied: int
    length_after: int


@dataclass
class Model:
    """A tokenizer as plain data."""

    pattern: Pattern
    alphabet: str = "bytes"
    end_of_word: str | None = None
    unknown: str = "error"
    vocab: dict[int, bytes] = field(default_factory=dict)
    marked: set[int] = field(default_factory=set)  # the ids that carry the end-of-word mark
    start: dict[Symbol, int] = field(default_factory=dict)  # symbol -> id, before any merge
    byte_ids: dict[int, int] = field(default_factory=dict)  # byte value -> id, where the vocabulary has all bytes
    specials: dict[str, int] = field(default_factory=dict)
    merges: dict[Pair, int] = field(default_factory=dict)  # in the order of learning
    steps: list[Step] = field(default_factory=list)

    def add(self, symbol: Symbol) -> int:
        """Give the next free id to a symbol or to the result of a merge."""
        new_id = len(self.vocab)
        self.vocab[new_id] = symbol[0]
        if symbol[1]:
            self.marked.add(new_id)
        return new_id

    def add_special(self, name: str) -> None:
        """Give the next free id to a special token."""
        self.specials[name] = self.add((name.encode(), False))


def kept_characters(words: Mapping[str, int], model: Model, limit: int | None) -> set[str]:
    """The characters that are in the alphabet: all, or the most frequent ones; of equals the lowest code points."""
    counts: Counter[str] = Counter()
    for word, count in words.items():
        if symbols(word, model.alphabet, model.end_of_word):
            for character in word:
                counts[character] += count
    return {*sorted(counts, key=lambda character: (-counts[character], character))[:limit]}


def add_start_symbols(
    words: Iterable[str], model: Model, byte_order: str, kept: set[str], initial: Iterable[str] = ()
) -> None:
    """Number the start symbols: all bytes if there are any, then the characters seen, then the mark if it is one."""
    if model.alphabet == "bytes" or model.unknown == "bytes":
        model.byte_ids = {value: model.add((bytes([value]), False)) for value in byte_values(byte_order)}
    seen: list[Symbol] = []
    if model.alphabet == "bytes":
        model.start = {(bytes([value]), False): new_id for value, new_id in model.byte_ids.items()}
        seen = [(bytes([value]), True) for value in model.byte_ids] if model.end_of_word == "fused" else []
    else:
        found = {symbol for word in words for symbol in symbols(word, model.alphabet, model.end_of_word)}
        found = {symbol for symbol in found if as_text(symbol[0]) in kept}
        marks = (False, True) if model.end_of_word == "fused" else (False,)
        found |= {(character.encode(), mark) for character in initial for mark in marks}
        seen = sorted(found - {(b"", True)}, key=lambda symbol: (as_text(symbol[0]), symbol[1]))
    # Where marks are fused, a mark alone ends a word whose last character is spelled in bytes.
    if model.end_of_word == "separate" or (model.end_of_word == "fused" and model.unknown == "bytes"):
        seen.append((b"", True))
    for symbol in seen:
        model.start[symbol] = model.add(symbol)


# ---- 4. Training. ---------------------------------------------------------------------------------------------------


def train(
    corpus: str | bytes | Iterable[str | bytes],
    *,
    vocab_size: int = 8192,
    num_merges: int | None = None,
    pattern: Pattern = gpt2,
    alphabet: str = "bytes",
    end_of_word: str | None = None,
    unknown: str = "error",
    specials: Sequence[str] = (),
    layout: str = "specials-first",
    byte_order: str = "raw",
    min_freq: int = 2,
    convention: str = "first",
    max_token_length: int | None = None,
    initial_alphabet: Iterable[str] = (),
    limit_alphabet: int | None = None,
) -> Model:
    """Learn merges from a text, or from several documents.

    The convention says which of equally frequent pairs wins. With ``b c`` once and ``a b`` once, in this order:

    >>> for convention in ("first", "huggingface", "cs336"):
    ...     print(train("bc ab", num_merges=1, min_freq=1, convention=convention).vocab[256])
    b'bc'
    b'ab'
    b'bc'
    """
    model = Model(pattern, alphabet, end_of_word, unknown)
    names = [*specials]
    if alphabet == "characters" and unknown == "<unk>" and "<unk>" not in names:
        names.append("<unk>")

    # Each distinct word is kept once, in the order of first places, with its count.
    word_counts = count_words([corpus] if isinstance(corpus, (str, bytes)) else corpus, model, names)

    if layout == "specials-first":
        for name in names:
            model.add_special(name)
    kept = kept_characters(word_counts, model, limit_alphabet) | {*initial_alphabet}
    add_start_symbols(word_counts, model, byte_order, kept, initial_alphabet)
    floor = len(model.vocab) + (len(names) if layout == "bytes-first" else 0)
    if num_merges is None:
        if vocab_size < floor:
            raise ValueError(f"vocab_size={vocab_size} is under the floor {floor}")
        num_merges = vocab_size - floor

    if unknown == "<unk>":
        model.specials.setdefault("<unk>", -1)  # where it comes last it has no id yet
    corpus_ids = [(start_ids(model, word), count) for word, count in word_counts.items()]
    length = dict.fromkeys(model.start.values(), 1)  # in first symbols; what is unknown has none, and never merges
    numbers = start_numbers(model, convention)
    for _ in range(num_merges):
        counts = {(a, b): n for (a, b), n in count_pairs(corpus_ids).items() if a in length and b in length}
        if max_token_length is not None:
            counts = {(a, b): n for (a, b), n in counts.items() if length[a] + length[b] <= max_token_length}
        if not counts:
            break
        # Pairs are listed by their first place and max keeps the first of equals.
        best = max(counts, key=lambda pair: (counts[pair], *preference(model, pair, convention, numbers)))
        if counts[best] < min_freq:
            break
        new_id = model.add(joined(model, *best))
        length[new_id] = length[best[0]] + length[best[1]]
        numbers[new_id] = len(numbers)
        model.merges[best] = new_id
        corpus_ids = [(merge(ids, best, new_id), count) for ids, count in corpus_ids]
        tied = sum(count == counts[best] for count in counts.values())
        model.steps.append(Step(*best, new_id, counts[best], tied, sum(len(ids) * n for ids, n in corpus_ids)))

    if layout == "bytes-first":
        for name in names:
            model.add_special(name)
    return model


def start_numbers(model: Model, convention: str) -> dict[int, int]:
    """The convention's own numbers for the start symbols, whatever ids they have; merges are numbered on from there.

    Bytes by value, or as GPT-2 orders them; characters by code point; those with a mark behind the plain ones.
    """
    order = byte_values("gpt2" if convention == "huggingface" else "raw")

    def place(symbol: Symbol) -> tuple[bool, bool, str | int]:
        if model.alphabet == "bytes" and symbol[0]:
            return False, symbol[1], order.index(symbol[0][0])
        return symbol[0] == b"", symbol[1], as_text(symbol[0])

    by_number = sorted(model.start, key=place)
    return {model.start[symbol]: number for number, symbol in enumerate(by_number)}


def preference(model: Model, pair: Pair, convention: str, numbers: Mapping[int, int]) -> tuple[object, ...]:
    """Among pairs of equal count the highest preference wins, and the first one where there are several."""
    if convention in ("huggingface", "rustbpe"):
        return tuple(-numbers[part] for part in pair)
    if convention in ("cs336", "subword-nmt"):
        shown = (model.vocab[part] + (MARK if part in model.marked else b"") for part in pair)
        # Somebody may type the mark; of two pairs that look the same the older one wins.
        return *shown, *(-numbers[part] for part in pair)
    return ()


def count_words(documents: Iterable[str | bytes], model: Model, names: Iterable[str]) -> Counter[str]:
    """How often each pretoken stands in the documents; special names cut the text and are not learned from."""
    counts: Counter[str] = Counter()
    for document in documents:
        for piece, is_special in cut_at_specials(as_text(document), names):
            if not is_special:
                counts.update(pretokens(piece, model.pattern))
    return counts


def count_pairs(corpus: Iterable[tuple[Sequence[int], int]]) -> dict[Pair, int]:
    """How often each pair of neighbours stands in the corpus, listed in the order of first places.

    >>> count_pairs([([5, 5, 5, 5], 1), ([7, 5], 10)])
    {(5, 5): 3, (7, 5): 10}
    """
    counts: dict[Pair, int] = {}
    for ids, count in corpus:
        for pair in pairwise(ids):
            counts[pair] = counts.get(pair, 0) + count
    return counts


def merge(ids: Sequence[int], pair: Pair, new_id: int) -> list[int]:
    """Replace the pair from left to right, without overlap.

    >>> merge([5, 5, 5], (5, 5), 9)
    [9, 5]
    """
    out: list[int] = []
    place = 0
    while place < len(ids):
        here = tuple(ids[place : place + 2]) == pair
        out.append(new_id if here else ids[place])
        place += 2 if here else 1
    return out


def joined(model: Model, left: int, right: int) -> Symbol:
    """What two tokens make together; only the end of a word is marked, so the right one decides."""
    return model.vocab[left] + model.vocab[right], right in model.marked


# ---- 5. Encoding. ---------------------------------------------------------------------------------------------------


def encode(
    model: Model,
    text: str | bytes,
    *,
    special: str | set[str] = "text",
    add_bos: bool = False,
    add_eos: bool = False,
) -> list[int]:
    """Ids of a text by the merge rule; names of special tokens are plain text unless ``special`` says otherwise."""
    names = {"text": set(), "all": set(model.specials)}[special] if isinstance(special, str) else special
    ids = [model.specials["<bos>"]] if add_bos else []
    for piece, is_special in cut_at_specials(as_text(text), names):
        if is_special:
            ids.append(model.specials[piece])
        else:
            for word in pretokens(piece, model.pattern):
                ids += list(passes(start_ids(model, word), model.merges))[-1]
    return ids + ([model.specials["<eos>"]] if add_eos else [])


def start_ids(model: Model, word: str) -> list[int]:
    """Ids of a pretoken before any merge; a character that training never saw follows the ``unknown`` policy."""
    ids: list[int] = []
    for content, mark in symbols(word, model.alphabet, model.end_of_word):
        if (content, mark) in model.start:
            ids.append(model.start[content, mark])
        elif model.unknown == "<unk>":
            ids.append(model.specials["<unk>"])
        elif model.unknown == "bytes":
            ids += [model.byte_ids[b] for b in content] + ([model.start[b"", True]] if mark else [])
        else:
            raise LookupError(f"the character {content!r} of {word!r} is not in the alphabet")
    return ids


def passes(ids: Sequence[int], merges: Mapping[Pair, int]) -> Iterator[list[int]]:
    """The merge rule, pass by pass: of the pairs present take the one learned first, and merge all its places."""
    age = {pair: place for place, pair in enumerate(merges)}
    ids = list(ids)
    yield ids
    while present := [pair for pair in pairwise(ids) if pair in merges]:
        earliest = min(present, key=lambda pair: age[pair])
        ids = merge(ids, earliest, merges[earliest])
        yield ids


def dropout(ids: Sequence[int], merges: Mapping[Pair, int], probability: float, seed: int, offset: int) -> list[int]:
    """The merge rule with BPE-dropout, of a pretoken at a byte ``offset`` of its text (Provilkov et al. 2020).

    In each step every place to merge is left out with the probability; of those that remain the one learned first
    merges, the leftmost of its places. None remain: that is the end.

    >>> dropout([1, 2, 3], {(1, 2): 4, (4, 3): 5}, 0.5, seed=2, offset=0)
    [4, 3]
    """
    age = {pair: place for place, pair in enumerate(merges)}
    ids, numbers = list(ids), random_numbers(seed, offset)
    while True:
        places = sorted((age[pair], i) for i, pair in enumerate(pairwise(ids)) if pair in merges)
        i = next((i for _, i in places if next(numbers) >= probability), None)
        if i is None:
            return ids
        ids[i : i + 2] = [merges[ids[i], ids[i + 1]]]


def random_numbers(seed: int, offset: int) -> Iterator[float]:
    """Numbers from 0 up to 1: splitmix64 (Steele, Lea and Flood 2014), from a state of the seed and the offset."""

    def mixed(x: int) -> int:
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
        return x ^ x >> 31

    step = 0x9E3779B97F4A7C15
    state = mixed(mixed((seed + step) % 2**64) ^ offset)
    while True:
        state = (state + step) % 2**64
        yield (mixed(state) >> 11) / 2**53


def encode_ranks(ranks: Mapping[bytes, int], word: bytes) -> list[int]:
    """The rank rule: join the two neighbours whose bytes together have the lowest rank, leftmost first, one at a time.

    A pretoken that has a rank itself is that token at once, as tiktoken has it. For ranks that were trained this gives
    what the merge rule gives; for others it may not:

    >>> byte_ranks = {bytes([b]): b for b in range(256)}
    >>> encode_ranks(byte_ranks | {b"bc": 256, b"ab": 257, b"abc": 258}, b"abc")
    [258]
    """
    if word in ranks:
        return [ranks[word]]
    parts = [word[place : place + 1] for place in range(len(word))]
    while found := [
        (ranks[left + right], place) for place, (left, right) in enumerate(pairwise(parts)) if left + right in ranks
    ]:
        _, place = min(found)
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
    return [ranks[part] for part in parts]


# ---- 6. Decoding. ---------------------------------------------------------------------------------------------------


def decode(model: Model, ids: Iterable[int], *, skip_specials: bool = False) -> bytes:
    """Bytes of ids. A mark stands for the space after its word, unless that word is the last one."""
    names = set(model.specials.values())
    ids = [token for token in ids if not (skip_specials and token in names)]
    last = max((place for place, token in enumerate(ids) if token not in names), default=-1)
    return b"".join(
        model.vocab[token] + (b" " if token in model.marked and place != last else b"")
        for place, token in enumerate(ids)
    )
