"""GPT-2's two files: ``encoder.json`` (or ``vocab.json``), token -> id, and ``vocab.bpe`` (or ``merges.txt``), merges.

Tokens are written in letters, one for each byte. Neither file says how text is cut: this pair of files is GPT-2's, so
that its pattern is the default; ``pattern=`` says another. The first line of the merges is a header only where it is
``#version: <number>``.

Neither file says which tokens are special. A token of the first file that is no byte and that no merge makes is never
the result of an encoding, so it is there for another purpose: ``<|endoftext|>``, the only one of GPT-2's own, is taken
for a special token. With any other, ``specials=`` must name those that are special; what it leaves out stays a token
that no encoding makes. Names that the file does not have get the ids after the highest.

Meaning and order of merging are those of GPT-2's ``encoder.py``: of the pairs present the lowest one merges at all its
places at once.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping

from .._check import brief
from ..errors import BytepairError, FormatError
from ..listed import Token, listed
from ..pattern import resolve
from ..pipeline.around import Around
from ..pipeline.letters import from_letters, to_letters
from ..tokenizer import Tokenizer
from ..vocabulary import check_specials
from ._known import known
from ._rules import lost_roles, merges_of, not_plain_bytes, unreached
from .source import Options, Source, Written

NAME = "gpt2"
_PAIRS = {"merges.txt": "vocab.json", "vocab.bpe": "encoder.json"}
_PAIRS |= {ids: merges for merges, ids in _PAIRS.items()}
OWN_SPECIAL = "<|endoftext|>"

_HEADER = re.compile(r"#version: ?[0-9]+(?:\.[0-9]+)*\s*")
_IDS = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*-?[0-9]+\s*[,}]')
_SPACE = "\u0120".encode()  # the letter of a space


def recognises(source: Source) -> bool:
    """An object of ids, or lines of two tokens that are in GPT-2's letters or have the ids beside them."""
    if source.is_json:
        return _IDS.match(source.head) is not None
    lines = source.head.split(b"\n")[:3]
    first = lines[0].decode("utf-8", "replace")
    if _HEADER.fullmatch(first):
        lines = lines[1:]
    elif not _is_pair(lines[0]):
        return False
    if not all(_is_pair(line) for line in lines[:-1]):
        return source.vocab is not None
    if source.vocab is not None or _other(source) is not None:
        return True
    return source.head.count(_SPACE) > source.head.count(b"</w>")


def _is_pair(line: bytes) -> bool:
    parts = line.removesuffix(b"\r").split(b" ")
    return len(parts) == 2 and all(parts)


def _other(source: Source) -> Source | None:
    """The other one of the two files: as it was given, or beside this one under the usual name."""
    if source.vocab is not None:
        return source.vocab
    name = None if source.at is None else _PAIRS.get(os.path.basename(source.at))
    return None if name is None else source.beside(name)


def read(source: Source, options: Options) -> Tokenizer:
    """The tokenizer in two files, whichever of them comes first.

    Raises
    ------
    FormatError
        One of the files is missing or damaged, they do not belong together, or which tokens are special is unclear.
    """
    other = _other(source)
    if other is None:
        if (whole := known(source, options)) is not None:
            return whole
        has, lacks, example = (
            ("ids", "the merges", 'vocab="merges.txt"')
            if source.is_json
            else ("merges", "their ids", 'vocab="vocab.json"')
        )
        raise source.fail(f"it holds {has} only; {lacks} are in a second file: give it too, {example}")
    ids_file, merges_file = (source, other) if source.is_json else (other, source)
    if not ids_file.is_json or merges_file.is_json:
        kind = "the ids" if merges_file.is_json else "merges"
        missing = "merges" if merges_file.is_json else "ids (a JSON object)"
        raise source.fail(f"it and {other.name} both hold {kind}; give one file of {missing}")
    ids = _ids(ids_file)
    merges = _merges(merges_file, ids, ids_file)
    made = {new for _, _, new in merges}
    tokens: dict[int, Token] = {}
    inert, unmade = set(), []
    for text, i in ids.items():
        data = from_letters(text)
        if data is None or not data:
            inert.add(i)
        tokens[i] = Token(data or text.encode("utf-8", "surrogatepass"))
        if data is None or (len(data) != 1 and i not in made):
            unmade.append(text)
    specials = _specials(ids_file, ids, unmade, options)
    in_merges = {i for merge in merges for i in merge}
    for i in specials.values():
        if i not in in_merges and i in tokens and len(tokens[i].text) > 1:
            del tokens[i]
            inert.discard(i)
    try:
        vocabulary = listed(
            kind="bytes",
            tokens=tokens,
            merges=merges,
            inert=inert,
            specials=specials,
            roles=options.roles,
            order="pair",
        )
        pattern = resolve("gpt2" if options.pattern is None else options.pattern)
    except BytepairError as error:
        raise source.fail(f"{error}") from error
    return Tokenizer(vocabulary, pattern, None, Around(letters=True))


def _ids(source: Source) -> dict[str, int]:
    ids = source.json
    if not isinstance(ids, dict):
        raise source.fail("it is no JSON object of tokens and ids")
    by_id: dict[int, str] = {}
    for text, i in ids.items():
        if type(i) is not int or i < 0:
            raise source.fail(f"the token {brief(text)} has the id {brief(i)}; ids are whole numbers from 0")
        if i in by_id:
            raise source.fail(f"the id {i} belongs to {brief(by_id[i])} and to {brief(text)}; ids are unique")
        by_id[i] = text
    return ids


def _merges(source: Source, ids: Mapping[str, int], ids_file: Source) -> list[tuple[int, int, int]]:
    out = []
    marked: tuple[int, str] | None = None
    for number, line in source.text_lines():
        if not line or (number == 1 and _HEADER.fullmatch(line)):
            continue
        parts = line.split(" ")
        if len(parts) != 2 or not all(parts):
            raise source.fail(f", line {number}: {brief(line)} should be two tokens with a space between")
        left, right = parts
        missing = next((text for text in (left, right, left + right) if text not in ids), None)
        if missing is not None:
            raise source.fail(
                f", line {number}: the merge {brief(line)} needs the token {brief(missing)}, which {ids_file.name} "
                "does not have; the two files do not belong together, or one is cut off"
            )
        bad = next((text for text in parts if from_letters(text) is None), None)
        if bad is not None:
            raise source.fail(
                f", line {number}: the token {brief(bad)} is not written in letters for bytes, as GPT-2 does it; "
                "a tokenizer.json says how its tokens are written"
            )
        if right.endswith("</w>") and len(right) > 4:
            marked = marked or (number, right)
        out.append((ids[left], ids[right], ids[left + right]))
    if marked is not None and ids[marked[1]] not in {new for _, _, new in out}:
        raise source.fail(
            f", line {marked[0]}: {brief(marked[1])} is made by no merge: it seems to be a letter with an end-of-word "
            "mark, as in CLIP's files, and GPT-2's have none; give CLIP's bpe_simple_vocab_16e6.txt.gz or a "
            "tokenizer.json"
        )
    return out


def _specials(source: Source, ids: Mapping[str, int], unmade: list[str], options: Options) -> dict[str, int]:
    given = options.specials
    if given is None:
        others = [text for text in unmade if text != OWN_SPECIAL]
        if others:
            shown = ", ".join(map(brief, others[:8])) + (" ..." if len(others) > 8 else "")
            raise source.fail(
                f"{len(others)} tokens are no byte and no merge makes them ({shown}): it does not say whether they are "
                "special tokens; give specials= with the names of those that are, or () for none"
            )
        return {text: ids[text] for text in unmade}
    try:
        names = check_specials(given)
    except BytepairError as error:
        raise source.fail(f"{error}") from error
    highest = max(ids.values(), default=-1)
    out: dict[str, int] = {}
    for name in names:
        i = given[name] if isinstance(given, Mapping) else ids.get(name)
        if i is None:
            highest += 1
            i = highest
        if ids.get(name, i) != i:
            raise source.fail(f"it gives {name!r} the id {ids[name]}, and specials= says {i}; leave the ids out")
        out[name] = i
    by_id = {i: text for text, i in ids.items()}
    for name, i in out.items():
        if by_id.get(i, name) != name:
            raise source.fail(f"specials= gives {name!r} the id {i}, which is {brief(by_id[i])}; choose a free one")
    return out


# ---- writing ----


def write(tokenizer: Tokenizer) -> Written:
    """``vocab.json`` and ``merges.txt``; ranks become merges where both give the same ids."""
    try:
        merges, losses = _written(tokenizer)
    except FormatError as error:
        raise FormatError(f'cannot be saved with format="{NAME}": {error}; save it with format="bytepair"') from None
    v = tokenizer._vocabulary
    texts = {i: text.decode() if i in v.inert else to_letters(text) for i, text in v.tokens.items()}
    names = v.names
    vocab: dict[str, int] = {}
    for i, text in sorted({**texts, **names}.items()):
        if text in vocab:
            raise FormatError(
                f'cannot be saved with format="{NAME}": ids {vocab[text]} and {i} are both written {text!r}; '
                'save it with format="bytepair"'
            )
        vocab[text] = i
    lines = [f"{texts[left]} {texts[right]}" for left, right, _ in merges]
    return Written(
        {
            "vocab.json": json.dumps(vocab, ensure_ascii=False).encode(),
            "merges.txt": "\n".join(["#version: 0.2", *lines, ""]).encode(),
        },
        tuple(losses),
    )


def _written(tokenizer: Tokenizer) -> tuple[list[tuple[int, int, int]], list[str]]:
    v, around = tokenizer._vocabulary, tokenizer._around
    if (reason := not_plain_bytes(tokenizer)) is not None:
        raise FormatError(reason)
    if v.rule == "ranks":
        merges = merges_of(v.tokens)
    else:
        merges = list(v.merges)
        if v.ranks is not None and any(a >= b for a, b in zip(v.ranks, v.ranks[1:])):
            raise FormatError("some of its merges share a rank, and the format has an order only")
        if v.order == "place" and (step := v.unordered_merge) is not None:
            raise FormatError(
                f"merge {step} uses a token that a later merge makes, and its owner merges one place at a time where "
                "GPT-2 merges all places at once, which may give other ids"
            )
        if v.whole and (i := unreached(tokenizer)) is not None:
            raise FormatError(
                f"id {i} ({brief(v.tokens[i])}) comes from a whole pretoken and not from merges, which GPT-2 "
                "does not do"
            )
    losses = []
    if tokenizer.pattern != resolve("gpt2"):
        losses.append(
            f"the pattern {tokenizer.pattern.name or tokenizer.pattern.regex!r} is not in the files, and their owner "
            "cuts as GPT-2 does; give pattern= to load them"
        )
    names = {**v.added, **v.specials}
    if set(names) - {OWN_SPECIAL} or (names and v.names.get(names[OWN_SPECIAL]) in v.added):
        losses.append(f"which tokens are special is not in the files; give specials={list(names)!r} to load them")
    if flags := sorted(name for name, asked in v.flags.items() if asked - {"normalized"}):
        losses.append(f"what {', '.join(map(repr, flags))} ask for beside them is not in the files")
    losses += lost_roles(tokenizer, "files")
    if around.template is not None or around.padding is not None or around.truncation is not None:
        losses.append("template, padding and truncation are not in the files")
    if not around.joins_bytes:
        losses.append("its own way to put tokens together is not in the files")
    return merges, losses
