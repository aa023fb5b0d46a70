r"""Our own format: one JSON file that a person can read, with everything that decides ids, and the training record.

Merges are lines ``"left right"`` in the order of learning; the n-th makes the n-th id after the alphabet. Else they
are lines ``"left right new"``. Where bytes must be written (tokens under the rank rule, examples), each
byte is the character of the same number, as in Latin-1: ``"\u00c3\u00a9"`` are the bytes C3 A9.
"""

from __future__ import annotations

import json
import re
from typing import Any

from .._notices import notice
from .._resizing import follows_layout, leading, natural_rows, numbered, with_added, with_rows
from ..errors import BytepairError, FormatError
from ..pattern import UNICODE_VERSION, Pattern
from ..record import MergeStep, TrainingRecord
from ..tokenizer import Tokenizer
from ..vocabulary import BYTE_ORDERS, LAYOUTS, Alphabet, Vocabulary, assemble, check_choice, floor, from_ranks
from . import foreign_json
from .source import Options, Source, Written, parse_json

NAME = "bytepair"
VERSION = 1
COLUMNS = ("count", "tied", "length_after", "frequency", "examples")


def recognises(source: Source) -> bool:
    """Whether it is ours: JSON that names our format, wherever in its first object's head."""
    return source.is_json and re.search(rb'"format"\s*:\s*"bytepair"', source.head) is not None


# ---- writing ----


def write(tokenizer: Tokenizer) -> Written:
    v, pattern, record = tokenizer._vocabulary, tokenizer.pattern, tokenizer.record
    names = {i: name for name, i in v.specials.items()}
    listed = v.layout == "listed"
    head: dict[str, Any] = {
        "format": NAME,
        "version": VERSION,
        "rule": v.rule,
        "pattern": {"name": pattern.name, **_pattern_to_json(pattern), "unicode": pattern.unicode_version},
        "alphabet": foreign_json.alphabet_to_json(v.alphabet) if listed else _alphabet_to_json(v.alphabet),
        "layout": v.layout,
        "byte_order": v.byte_order,
        "specials": dict(sorted(v.specials.items(), key=lambda item: item[1])),
        "roles": {role: names[i] for role, i in sorted(v.roles.items())},
    }
    if v.rows > natural_rows(v):
        head["rows"] = v.rows
    if listed:
        head.update(foreign_json.vocabulary_to_json(v))
    elif v.added:
        head["added"] = dict(sorted(v.added.items(), key=lambda item: item[1]))
    around = foreign_json.around_to_json(tokenizer._around)
    if around is not None:
        head["around"] = around
    if listed:
        head["tokens"] = _Lines(foreign_json.token_rows(v))
        head["merges"] = _Lines(foreign_json.merge_rows(v))
    elif v.rule == "merges":
        width = 2 if follows_layout(v) else 3
        head["merges"] = _Lines('"' + " ".join(map(str, merge[:width])) + '"' for merge in v.merges)
    else:
        head["tokens"] = _Lines(json.dumps([text.decode("latin-1"), i]) for i, text in sorted(v.tokens.items()))
    if record is not None:
        head["record"] = _record_to_json(record)
    return Written({"": (_dump(head) + "\n").encode("ascii")})


class _Lines(list):  # type: ignore[type-arg]
    """JSON values, already written, one a line."""


def _dump(value: Any, indent: str = "") -> str:
    """JSON with one key a line, and one line for each of a :class:`_Lines`."""
    if isinstance(value, dict) and (not indent or any(isinstance(v, _Lines) for v in value.values())):
        inner = indent + "  "
        rows = ",\n".join(f"{inner}{json.dumps(key)}: {_dump(v, inner)}" for key, v in value.items())
        return f"{{\n{rows}\n{indent}}}"
    if isinstance(value, _Lines):
        return "[\n" + ",\n".join(f"{indent}  {line}" for line in value) + f"\n{indent}]" if value else "[]"
    return json.dumps(value)


def _pattern_to_json(pattern: Pattern) -> dict[str, Any]:
    out: dict[str, Any] = {"regex": pattern.regex, "dialect": pattern.dialect}
    if pattern.drop is not None:
        out["drop"] = pattern.drop
    if pattern.then is not None:
        out["then"] = _pattern_to_json(pattern.then)
    return out


def _alphabet_to_json(alphabet: Alphabet) -> dict[str, Any]:
    out: dict[str, Any] = {"kind": alphabet.kind, "end_of_word": alphabet.end_of_word, "unknown": alphabet.unknown}
    if alphabet.kind == "characters":
        out["characters"] = "".join(map(chr, alphabet.points))
        out["last_characters"] = "".join(map(chr, alphabet.last_points))
    return out


def _record_to_json(record: TrainingRecord) -> dict[str, Any]:
    best = record.best_left
    out: dict[str, Any] = {
        "convention": record.convention,
        "min_freq": record.min_freq,
        "pretokens": record.pretokens,
        "distinct": record.distinct,
        "length_before": record.length_before,
        "stopped": record.stopped,
        "best_left": None if best is None else [*best[0], best[1]],
        "columns": list(COLUMNS),
        "steps": _Lines(json.dumps([step.to_json()[c] for c in COLUMNS], separators=(",", ":")) for step in record),
    }
    if record.corpus is not None:
        out["corpus"] = _Lines(json.dumps([" ".join(map(str, ids)), count]) for ids, count in record.corpus)
    return out


# ---- reading ----


def read(source: Source, options: Options) -> Tokenizer:
    """The tokenizer in a file."""
    options.refuse(source, ("pattern", "specials", "roles"))
    document, name = source.json, source.name
    reader = Reader(document, name, "the file")
    if reader.get("version", int) != VERSION:
        raise FormatError(
            f"{name} has version {document['version']} of the format, and this bytepair reads version {VERSION}; "
            "update bytepair"
        )
    allowed = {
        "format", "version", "rule", "pattern", "alphabet", "layout", "byte_order", "specials", "roles", "merges",
        "tokens", "record", "around", "rows", "added",
    }  # fmt: skip
    if document.get("layout") == "listed":
        allowed.update(foreign_json.VOCABULARY_KEYS)
    reader.only(allowed)
    try:
        vocabulary = _vocabulary(reader)
        if "rows" in document:
            vocabulary = with_rows(vocabulary, reader.get("rows", int))
        pattern = _pattern(reader.sub("pattern"), name)
        around = foreign_json.around_from_json(reader.sub("around")) if "around" in document else None
        for part in () if around is None else (i for new, parts in around.splits for i in (new, *parts)):
            if part not in vocabulary.tokens:
                raise reader.fail(f"'splits' names the id {part}, which is no token")
    except FormatError:
        raise
    except BytepairError as error:
        raise FormatError(f"{name}: {error}") from error
    record = _record(reader.sub("record"), vocabulary) if document.get("record") is not None else None
    return Tokenizer(vocabulary, pattern, record, around)


class Reader:
    """Typed looks into one JSON object."""

    def __init__(self, value: Any, name: str, where: str) -> None:
        if not isinstance(value, dict):
            raise FormatError(f"{name}: {where} is no JSON object")
        self.value, self.name, self.where = value, name, where

    def fail(self, message: str) -> FormatError:
        return FormatError(f"{self.name}: {message}")

    def get(self, key: str, *types: type) -> Any:
        if key not in self.value:
            raise self.fail(f"{self.where} lacks the key {key!r}; the file may be cut off")
        return self.check(self.value[key], f"{key!r} in {self.where}", *types)

    def check(self, value: Any, what: str, *types: type) -> Any:
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            wanted = " or ".join("null" if t is type(None) else t.__name__ for t in types)
            raise self.fail(f"{what} is a {type(value).__name__}, and should be {wanted}")
        return value

    def only(self, allowed: set[str]) -> None:
        """What is not understood may matter: it is refused, never passed over."""
        unknown = sorted(set(self.value) - allowed)
        if unknown:
            raise self.fail(f"{self.where} has the unknown key {unknown[0]!r}; take it out, or update bytepair")

    def sub(self, key: str) -> Reader:
        return Reader(self.get(key, dict), self.name, f"{key!r} in {self.where}")

    def ints(self, text: Any, what: str) -> list[int]:
        if not isinstance(text, str) or not re.fullmatch(r"[0-9]{1,9}(?: [0-9]{1,9})*", text):
            raise self.fail(f"{what} is {str(text)[:40]!r}, and should be ids with one space between")
        return [int(number) for number in text.split(" ")]

    def rows(self, lines: list[Any], what: str) -> list[tuple[int, ...]]:
        """As :meth:`ints` of each line; lines of two, three or four ids each, as most are, in one go."""
        if all(type(line) is str for line in lines):
            together = "\n".join([*lines, ""])
            for width in (2, 3, 4):
                if together.count("\n") == len(lines) and re.fullmatch(_ROWS[width], together):
                    numbers = list(map(int, together.split()))
                    return list(zip(*(numbers[k::width] for k in range(width))))
        return [tuple(self.ints(line, f"{what} {k}")) for k, line in enumerate(lines)]


_ROWS = {width: r"(?:[0-9]{1,9}" + r" [0-9]{1,9}" * (width - 1) + r"\n)*" for width in (2, 3, 4)}


def _vocabulary(reader: Reader) -> Vocabulary:
    rule = reader.get("rule", str)
    specials = reader.get("specials", dict)
    for special, i in specials.items():
        reader.check(i, f"the id of special token {special!r}", int)
    roles = reader.get("roles", dict)
    for role, special in roles.items():
        reader.check(special, f"the role {role!r}", str)
    if rule == "ranks":
        if "added" in reader.value:
            raise reader.fail("under the rule 'ranks' there are no added tokens in this format; take out 'added'")
        rows = reader.get("tokens", list)
        ranks = _plain_ranks(rows)
        if ranks is not None:
            return from_ranks(ranks, specials, roles)
        ranks = {}
        for k, row in enumerate(rows):
            if not (isinstance(row, list) and len(row) == 2 and isinstance(row[0], str)):
                raise reader.fail(f"token {k} is {str(row)[:40]}, and should be [text, rank]")
            text = foreign_json.latin(reader, row[0], f"token {k}")
            if text in ranks:
                raise reader.fail(f"token {k} {text!r} comes twice, with the ranks {ranks[text]} and {row[1]}")
            ranks[text] = reader.check(row[1], f"the rank of token {k}", int)
        return from_ranks(ranks, specials, roles)
    if rule != "merges":
        raise reader.fail(f"the rule is {rule!r}, and should be 'merges' or 'ranks'")
    if reader.get("layout", str) == "listed":
        return foreign_json.vocabulary_from_json(reader, specials, roles)
    added = reader.get("added", dict) if "added" in reader.value else {}
    for name, i in added.items():
        reader.check(i, f"the id of added token {name!r}", int)
        if name in specials:
            raise reader.fail(f"{name!r} is a special and an added token; it can be one of them")
    return with_added(_in_our_layout(reader, {**specials, **added}, roles), added, roles)


def _in_our_layout(reader: Reader, specials: dict[str, int], roles: dict[str, str]) -> Vocabulary:
    lines = reader.get("merges", list)
    pairs: Any = reader.rows(lines, "merge")
    widths = set(map(len, pairs))
    if widths - {2} and widths != {3}:
        k = next(k for k, pair in enumerate(pairs) if len(pair) != 2)
        raise reader.fail(f"merge {k} is {lines[k]!r}, and should be two ids with a space between")
    alphabet = _alphabet(reader.sub("alphabet"))
    layout, order = reader.get("layout", str), reader.get("byte_order", str)
    behind = layout == "specials-first" and len(leading(specials)) < len(specials)
    if widths == {3} or (behind and layout in LAYOUTS and order in BYTE_ORDERS):
        check_choice("layout", layout, LAYOUTS)
        start = floor(alphabet, len(leading(specials)) if layout == "specials-first" else 0)
        merges = [(*pair[:2], pair[2] if widths == {3} else start + k) for k, pair in enumerate(pairs)]
        return numbered(alphabet, specials, layout, order, roles, merges)
    return assemble(alphabet, specials, layout, order, roles, pairs=pairs)


def _plain_ranks(rows: list[Any]) -> dict[bytes, int] | None:
    """Rows of [text, rank], all at once; None where one is wrong: then it must be found."""
    if not (set(map(type, rows)) == {list} and set(map(len, rows)) == {2}):
        return None
    texts, numbers = [row[0] for row in rows], [row[1] for row in rows]
    if not (set(map(type, texts)) == {str} and set(map(type, numbers)) == {int}):
        return None
    try:
        ranks = dict(zip([text.encode("latin-1") for text in texts], numbers))
    except UnicodeEncodeError:
        return None
    return ranks if len(ranks) == len(rows) else None


def _alphabet(reader: Reader) -> Alphabet:
    def one_of(key: str, *allowed: str | None) -> Any:
        value = reader.get(key, str, type(None))
        if value not in allowed:
            raise reader.fail(f"{key!r} of the alphabet is {value!r}, and should be one of {allowed}")
        return value

    def points(key: str) -> tuple[int, ...]:
        found = tuple(map(ord, reader.get(key, str)))
        if any(a >= b for a, b in zip(found, found[1:])):
            raise reader.fail(f"{key!r} of the alphabet must ascend by code point, each character once")
        if any(0xD800 <= c <= 0xDFFF and not 0xDC80 <= c <= 0xDCFF for c in found):
            raise reader.fail(f"{key!r} of the alphabet holds a lone surrogate that stands for no byte")
        return found

    kind = one_of("kind", "bytes", "characters")
    reader.only(
        {"kind", "end_of_word", "unknown"} | ({"characters", "last_characters"} if kind == "characters" else set())
    )
    end_of_word = one_of("end_of_word", None, "separate", "fused")
    unknown = one_of("unknown", "error", "bytes", "<unk>")
    if kind == "bytes":
        return Alphabet(kind, end_of_word, unknown)
    return Alphabet(kind, end_of_word, unknown, points("characters"), points("last_characters"))


def _pattern(reader: Reader, name: str) -> Pattern:
    recorded = reader.get("unicode", str)
    pattern = _stage(reader)
    if recorded != UNICODE_VERSION:
        notice(
            f"{name} was made with Unicode {recorded[:20]}, and this bytepair has {UNICODE_VERSION}: characters that "
            "became letters, numbers or white space in between are cut otherwise, and so may get other ids. "
            f"{_changes(recorded)}",
            stacklevel=4,
        )
    return pattern


def _stage(reader: Reader) -> Pattern:
    reader.only({"name", "regex", "dialect", "unicode", "drop", "then"})
    drop = reader.get("drop", str) if "drop" in reader.value else None
    then = _stage(reader.sub("then")) if "then" in reader.value else None
    return Pattern(reader.get("regex", str), dialect=reader.get("dialect", str), then=then, drop=drop)


def _changes(recorded: str) -> str:
    """What changed between a Unicode version and ours, where the running Python has that version's data."""
    import unicodedata

    from ..pattern.unicode import category

    if unicodedata.unidata_version != recorded:
        return "This Python has no tables of that version, so the characters cannot be listed."
    changed: list[str] = []
    for major in "LNMPSZC":
        ours = category(major)
        changed += [
            f"U+{c:04X}" for c in range(0x110000) if (unicodedata.category(chr(c))[0] == major) and c not in ours
        ]
    shown = ", ".join(sorted(changed)[:20])
    return f"{len(changed)} code points have another general category, among them {shown}" if changed else ""


def record_to_bytes(record: TrainingRecord) -> bytes:
    return _dump(_record_to_json(record)).encode("ascii")


def record_of_bytes(data: bytes, vocabulary: Vocabulary) -> TrainingRecord:
    return _record(Reader(parse_json(data, "the record"), "the record", "the record"), vocabulary)


def _record(reader: Reader, vocabulary: Vocabulary) -> TrainingRecord:
    reader.only(
        {
            "convention",
            "min_freq",
            "pretokens",
            "distinct",
            "length_before",
            "stopped",
            "best_left",
            "columns",
            "steps",
            "corpus",
        }
    )
    rows = reader.get("steps", list)
    if reader.get("columns", list) != list(COLUMNS):
        raise reader.fail(f"the record's columns should be {list(COLUMNS)}")
    if len(rows) != len(vocabulary.merges):
        raise reader.fail(f"the record has {len(rows)} steps for {len(vocabulary.merges)} merges")
    steps = []
    for k, (row, merge) in enumerate(zip(rows, vocabulary.merges)):
        what = f"step {k} of the record"
        if not (isinstance(row, list) and len(row) == len(COLUMNS)):
            raise reader.fail(f"{what} should have {len(COLUMNS)} columns")
        count, tied, length, frequency = (reader.check(value, what, int) for value in row[:4])
        examples = tuple(
            foreign_json.latin(reader, reader.check(example, what, str), f"an example of {what}")
            for example in reader.check(row[4], what, list)
        )
        text = vocabulary.tokens[merge[2]]
        steps.append(MergeStep(k, *merge, text, count, tied, length, frequency, examples))
    best = reader.get("best_left", list, type(None))
    if best is not None and not (len(best) == 3 and all(isinstance(x, int) for x in best)):
        raise reader.fail("'best_left' of the record should be [left, right, count]")
    corpus = None
    if "corpus" in reader.value:
        corpus = []
        for k, row in enumerate(reader.get("corpus", list)):
            if not (isinstance(row, list) and len(row) == 2):
                raise reader.fail(f"word {k} of the record's corpus should be [ids, count]")
            count = reader.check(row[1], f"the count of word {k} of the record's corpus", int)
            corpus.append((tuple(reader.ints(row[0], f"word {k} of the record's corpus")), count))
    return TrainingRecord(
        steps=tuple(steps),
        length_before=reader.get("length_before", int),
        pretokens=reader.get("pretokens", int),
        distinct=reader.get("distinct", int),
        convention=reader.get("convention", str),
        min_freq=reader.get("min_freq", int),
        stopped=reader.get("stopped", str),
        best_left=None if best is None else ((best[0], best[1]), best[2]),
        corpus=None if corpus is None else tuple(corpus),
    )
