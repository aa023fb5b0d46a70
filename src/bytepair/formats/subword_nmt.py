"""subword-nmt's codes files: merges over characters, each word with an end-of-word mark.

Without a header, or with ``#version: 0.1``, the mark ``</w>`` is a symbol of its own; with ``#version: 0.2`` it is
fused to the last character. The file has no ids. Here they are: 256 bytes for characters that the file does not have,
then the file's symbols by code point, plain before marked, then the mark alone, then the merges in their order.

As for the owner, of a code that comes twice the first counts, and several codes may make one symbol. A code with a part
that nothing makes has no effect, and so no id; a notice says how many there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Literal, NamedTuple

from .._check import brief
from .._notices import notice
from ..errors import BytepairError, FormatError
from ..pattern import resolve
from ..tokenizer import Tokenizer
from ..vocabulary import MARK, Alphabet, Vocabulary, assemble, check_specials, number_base
from ._rules import lost_roles
from .source import Options, Source, Written

NAME = "subword-nmt"
_STRIPPED = "\r\n "
"""What the owner strips from lines."""

Symbol = tuple[str, bool]
"""Characters, and whether the mark follows; the mark alone is no characters."""


class Code(NamedTuple):
    line: int
    left: Symbol
    right: Symbol

    @property
    def whole(self) -> Symbol:
        return self.left[0] + self.right[0], self.right[1]


def recognises(source: Source) -> bool:
    """A header, or a mark somewhere; and lines of two."""
    if source.is_json:
        return False
    lines = source.head.split(b"\n")[:2]
    if lines[0].startswith(b"#version:"):
        return len(lines) < 2 or len(lines[1].split()) in (0, 2) or MARK.encode() in source.head
    return len(lines[0].strip(b"\r ").split(b" ")) == 2 and MARK.encode() in source.head


# ---- reading ----


def read(source: Source, options: Options) -> Tokenizer:
    """The tokenizer of a codes file; characters that it does not have become bytes.

    Raises
    ------
    FormatError
        The version is unknown, or a line is not two symbols.
    """
    end_of_word, codes = _codes(source)
    specials = () if options.specials is None else options.specials
    try:
        vocabulary, idle = _vocabulary(codes, end_of_word, specials, options.roles)
        pattern = resolve("spaces" if options.pattern is None else options.pattern)
    except BytepairError as error:
        raise source.fail(f"{error}") from error
    if idle:
        shown = " ".join(map(_written, idle[0][1:]))
        notice(
            f"{source.name}: {len(idle)} of {len(codes)} codes have a part that no other code makes, the first is "
            f"{brief(shown)} on line {idle[0].line}: they have no effect, as for the format's owner",
            stacklevel=4,
        )
    return Tokenizer(vocabulary, pattern)


def _codes(source: Source) -> tuple[Literal["separate", "fused"], list[Code]]:
    end_of_word: Literal["separate", "fused"] = "separate"
    codes: dict[tuple[Symbol, Symbol], Code] = {}
    empty = 0  # the first empty line; there may be some at the end
    for number, line in source.text_lines():
        if number == 1 and line.startswith("#version:"):
            version = line.removeprefix("#version:").strip()
            if version not in ("0.1", "0.2"):
                raise source.fail(f", line 1: the version is {brief(version)}, and 0.1 and 0.2 are what can be read")
            end_of_word = "separate" if version == "0.1" else "fused"
            continue
        if not line:
            empty = empty or number
            continue
        if empty:
            raise source.fail(f", line {empty}: the line is empty, and should be two symbols; take it out")
        parts = line.strip(_STRIPPED).split(" ")
        if len(parts) != 2:
            raise source.fail(f", line {number}: {brief(line)} should be two symbols with one space between")
        left, right = (_symbol(part, end_of_word) for part in parts)
        codes.setdefault((left, right), Code(number, left, right))
    return end_of_word, list(codes.values())


def _symbol(text: str, end_of_word: str) -> Symbol:
    if text.endswith(MARK) and (text != MARK or end_of_word == "separate"):
        return text.removesuffix(MARK), True
    return text, False


def _vocabulary(
    codes: list[Code],
    end_of_word: Literal["separate", "fused"],
    specials: Iterable[str] | Mapping[str, int],
    roles: Mapping[str, str] | None,
) -> tuple[Vocabulary, list[Code]]:
    """The vocabulary, and the codes that have no effect."""
    plain: set[str] = set()
    marked: set[str] = set()
    for code in codes:
        for text, mark in code[1:]:
            if mark and text and end_of_word == "fused":
                marked.add(text[-1])
                plain.update(text[:-1])
            else:
                plain.update(text)
    points = tuple(sorted(map(ord, plain)))
    alphabet = Alphabet("characters", end_of_word, "bytes", points, tuple(sorted(map(ord, marked))))
    if not isinstance(specials, Mapping):
        specials = check_specials(specials)
    _, base, _, first_merge = number_base(alphabet, specials, "bytes-first", "raw")
    ids: dict[Symbol, int] = {}
    for i, (data, mark) in zip(base, alphabet.symbols()):
        ids[data.decode("utf-8", "surrogateescape"), mark] = i
    working = _working(codes, set(ids))
    several = False
    firsts: list[Code] = []
    for code in working:
        if code.whole in ids:
            several = True
        else:
            ids[code.whole] = first_merge + len(firsts)
            firsts.append(code)
    pairs = [(ids[code.left], ids[code.right]) for code in firsts]
    vocabulary = assemble(alphabet, specials, "bytes-first", "raw", roles, pairs=pairs)
    if several:
        merges = tuple((ids[code.left], ids[code.right], ids[code.whole]) for code in working)
        vocabulary = replace(vocabulary, merges=merges, layout="listed")
    lines = {code.line for code in working}
    return vocabulary, [code for code in codes if code.line not in lines]


def _working(codes: list[Code], there: set[Symbol]) -> list[Code]:
    """The codes whose parts can both arise, in their order; ``there`` are the first symbols."""
    waiting: dict[Symbol, list[Code]] = {}
    found = []
    for code in codes:
        ready = [code]
        while ready:
            now = ready.pop()
            absent = next((part for part in now[1:] if part not in there), None)
            if now.left[1]:  # nothing comes after a mark
                continue
            if absent is not None:
                waiting.setdefault(absent, []).append(now)
                continue
            found.append(now)
            if now.whole not in there:
                there.add(now.whole)
                ready += waiting.pop(now.whole, ())
    return sorted(found)


# ---- writing ----


def _written(symbol: Symbol) -> str:
    return symbol[0] + MARK * symbol[1]


def write(tokenizer: Tokenizer) -> Written:
    """The codes of a tokenizer over characters with an end-of-word mark."""
    try:
        codes = _codes_of(tokenizer)
    except FormatError as error:
        raise FormatError(f'cannot be saved with format="{NAME}": {error}; save it with format="bytepair"') from None
    v = tokenizer._vocabulary
    lines = [f"{_written(code.left)} {_written(code.right)}" for code in codes]
    if v.alphabet.end_of_word == "fused":
        lines.insert(0, "#version: 0.2")
    elif lines and lines[0].startswith("#version:"):
        lines.insert(0, "#version: 0.1")
    return Written({"": ("\n".join(lines) + "\n").encode()}, tuple(_losses(tokenizer, codes)))


def _codes_of(tokenizer: Tokenizer) -> list[Code]:
    v = tokenizer._vocabulary
    if v.alphabet.listed or v.alphabet.kind != "characters" or v.alphabet.end_of_word is None:
        raise FormatError("its tokens are not made of characters with an end-of-word mark")
    if tokenizer._around.rewrites:
        raise FormatError("it rewrites a text before it cuts it, which the format has no word for")
    codes = []
    for step, (left, right, _) in enumerate(v.merges):
        symbols = []
        for i in (left, right):
            try:
                text = v.tokens[i].decode()
            except UnicodeDecodeError:
                raise FormatError(f"merge {step} has {brief(v.tokens[i])}, which is no UTF-8, as the file is") from None
            symbol = (text, i in v.marked)
            if _symbol(_written(symbol), v.alphabet.end_of_word) != symbol or set(text) & set(_STRIPPED):
                raise FormatError(
                    f"merge {step} has {brief(_written(symbol))}, which would be read as something else: it has white "
                    "space, or ends as the mark is written"
                )
            symbols.append(symbol)
        codes.append(Code(step, *symbols))
    return codes


def _losses(tokenizer: Tokenizer, codes: list[Code]) -> list[str]:
    v, around = tokenizer._vocabulary, tokenizer._around
    losses = []
    named = {**v.added, **v.specials}
    if named:
        losses.append(f"the special tokens {named!r} are not in the file; give specials= to load it")
    losses += lost_roles(tokenizer)
    if tokenizer.pattern != resolve("spaces"):
        losses.append(
            f"the pattern {tokenizer.pattern.name or tokenizer.pattern.regex!r} is not in the file, and its owner cuts "
            "at spaces and line ends; give pattern= to load it"
        )
    if v.alphabet.unknown != "bytes":
        losses.append(
            f"that unseen characters are {v.alphabet.unknown!r} is not in the file; loading it makes them bytes"
        )
    again, _ = _vocabulary(codes, v.alphabet.end_of_word or "fused", (), None)
    if {**again.tokens} != {**v.tokens}:
        losses.append("ids are not in the file; loading it numbers anew the characters that its codes have")
    if around.template is not None or around.padding is not None or around.truncation is not None:
        losses.append("template, padding and truncation are not in the file")
    if not around.joins_bytes:
        losses.append("its own way to put tokens together is not in the file")
    return losses
