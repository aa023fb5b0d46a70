"""Ids, explained: what a model's output says, where it breaks a character, and whether encoding would have given it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from .. import showing
from .._check import whole
from .._codec import Codec
from ..errors import BytepairError
from ..showing import html
from .merging import merges_of
from .trees import label

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer


SHOWN = 2_000
"""Ids that ``str`` and a notebook show."""


@dataclass(frozen=True)
class ExplainedId:
    """One id of a sequence.

    Attributes
    ----------
    id : int
    data : bytes
        What it stands for.
    kind : str
        ``"special"``, ``"added"``, ``"symbol"`` (of the alphabet: a byte or a character) or ``"token"``.
    characters : str
        The characters that are complete with this id and were not before, as ``decode(errors="replace")`` has them,
        without the spaces that the classic scheme puts between words.
    waiting : bytes
        Bytes of a character that is not complete after this id.
    broken : bool
        Whether bytes that are no UTF-8 became certain with it: ``characters`` has U+FFFD for them.
    """

    id: int
    data: bytes
    kind: str
    characters: str
    waiting: bytes
    broken: bool


@dataclass(frozen=True)
class Canonicity:
    """Whether ids are what encoding gives; true or false as a condition.

    Attributes
    ----------
    canonical : bool
    place : int or None
        The first id that encoding the decoded text would not have given.
    given, expected : tuple of int
        From there on, up to where both agree again (the same bytes): the ids as they are, and those of the encoder.
    """

    canonical: bool
    place: int | None = None
    given: tuple[int, ...] = ()
    expected: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return self.canonical

    def to_json(self) -> dict[str, Any]:
        return {
            "canonical": self.canonical,
            "place": self.place,
            "given": list(self.given),
            "expected": list(self.expected),
        }

    def __str__(self) -> str:
        if self.canonical:
            return "canonical: encoding the decoded text gives these ids"
        given, expected = (f"{list(ids[:20])}{' ...' * (len(ids) > 20)}" for ids in (self.given, self.expected))
        return f"not canonical from id {self.place} on: {given} where encoding gives {expected}"

    def _repr_html_(self) -> str:
        return html.fragment(f"<p>{html.escaped(str(self))}</p>")


@dataclass(frozen=True)
class ExplainedIds:
    """What :meth:`~bytepair.tokenizer.Tokenizer.explain_ids` gives: every id, and whether they are canonical."""

    ids: tuple[ExplainedId, ...]
    canonical: Canonicity
    tokenizer: Tokenizer

    def __repr__(self) -> str:
        return f"<ExplainedIds of {len(self.ids):,} ids, {'' if self.canonical else 'not '}canonical>"

    def to_json(self) -> dict[str, Any]:
        """Plain values; bytes are text with one character for each byte (Latin-1)."""
        return {
            "ids": [
                {
                    "id": one.id,
                    "bytes": one.data.decode("latin-1"),
                    "token": self.tokenizer.token_str(one.id),
                    "kind": one.kind,
                    "characters": one.characters,
                    "waiting": one.waiting.decode("latin-1"),
                    "broken": one.broken,
                }
                for one in self.ids
            ],
            "canonical": self.canonical.to_json(),
        }

    def _rows(self, limit: int | None) -> Iterator[list[str]]:
        for place, one in enumerate(self.ids[:limit]):
            hexed = one.data[:8].hex(" ") + (" ..." if len(one.data) > 8 else "")
            shown = "".join(part.text for part in showing.parts(one.characters.encode()))
            note = "no UTF-8" if one.broken else f"waits for more: {one.waiting.hex(' ')}" if one.waiting else ""
            yield [str(place), str(one.id), label(self.tokenizer, one.id), hexed, one.kind, shown, note]

    _HEADER = ("place", "id", "token", "bytes", "kind", "characters", "note")

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, limit: int | None = SHOWN) -> Iterator[str]:
        """A table with a line for each id, ``limit`` of them, and whether they are canonical."""
        yield from showing.table(list(self._HEADER), list(self._rows(limit)), left={2, 3, 4, 5, 6})
        yield from self._rest(limit)
        yield str(self.canonical)

    def _rest(self, limit: int | None) -> list[str]:
        more = 0 if limit is None else len(self.ids) - limit
        return [f"... and {more} more ids"] if more > 0 else []

    def _repr_html_(self) -> str:
        rows = ([html.escaped(cell) for cell in row] for row in self._rows(SHOWN))
        table = html.table(list(self._HEADER), rows, left={2, 3, 4, 5, 6})
        told = "".join(f"<p>{html.escaped(line)}</p>" for line in (*self._rest(SHOWN), str(self.canonical)))
        return html.fragment(table + told)


def explain_ids(tok: Tokenizer, ids: Iterable[int]) -> ExplainedIds:
    """Every id of a sequence; see :meth:`Tokenizer.explain_ids`."""
    import codecs

    given = _listed(tok, ids)
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    stream = None if tok._joins_bytes else tok.stream_decoder()
    out: list[ExplainedId] = []
    for i in given:
        data = tok.vocab[i]
        waiting = decoder.getstate()[0]
        characters = decoder.decode(data)
        broken = characters.count("\ufffd") > (waiting + data).count(b"\xef\xbf\xbd")
        if stream is not None:
            characters = stream.push(i)
        out.append(ExplainedId(i, data, _kind(tok, i), characters, decoder.getstate()[0], broken))
    if stream is not None and out and not out[-1].waiting:
        out[-1] = replace(out[-1], characters=out[-1].characters + stream.finish())
    return ExplainedIds(tuple(out), is_canonical(tok, given), tok)


def is_canonical(tok: Tokenizer, ids: Iterable[int]) -> Canonicity:
    """Whether encoding gives these ids; see :meth:`Tokenizer.is_canonical`."""
    given = _listed(tok, ids)
    expected = next((found for found in _encodings(tok, given) if found == given), None)
    if expected is None:
        expected = next(_encodings(tok, given))
    if expected == given:
        return Canonicity(True)
    place = next((k for k, (a, b) in enumerate(zip(given, expected)) if a != b), min(len(given), len(expected)))
    end, other = _rejoined(tok, given, expected, place)
    return Canonicity(False, place, tuple(given[place:end]), tuple(expected[place:other]))


def _encodings(tok: Tokenizer, given: list[int]) -> Iterator[list[int]]:
    """What encoding gives for the text that the ids stand for: one reading, or several where they allow more."""
    named = tok._names.keys() - {tok.unk_id}
    if tok._joins_bytes and isinstance(tok._front, Codec):
        # Each run between named tokens is a text of its own: a name that is spelled in ordinary tokens stays text.
        out: list[int] = []
        for is_named, run in groupby(given, named.__contains__):
            part = list(run)
            out += part if is_named else tok.encode(_text_of(tok, part), special=())
        yield out
        return
    # What the text becomes depends on what stands around it, so that it is encoded as a whole. Only those names count
    # that the ids have. Some decoders drop their text, which is put back then.
    texts = {i: name for name, i in {**tok.added, **tok.specials}.items() if i in named}
    present = {texts[i] for i in {*given} & texts.keys() if texts[i] in tok.specials}
    parts = []
    for is_named, run in groupby(given, texts.__contains__):
        part = list(run)
        parts.append("".join(texts[i] for i in part) if is_named else tok.decode(part, errors="surrogateescape"))
    for text in dict.fromkeys((tok.decode(given, errors="surrogateescape"), "".join(parts))):
        yield tok.encode(text, special=present, errors="surrogateescape")


def _text_of(tok: Tokenizer, ids: list[int]) -> bytes:
    """The text of a run; a character that the alphabet lacks stands for each unknown one."""
    if tok.unk_id is None or tok.unk_id not in ids:
        return tok.decode_bytes(ids)
    v = tok._vocabulary
    known = {*v.tokens.values()}
    lacking = next(c for c in (chr(p).encode() for p in range(0xE000, 0xF900)) if c not in known)
    words = (b"".join((lacking if i == tok.unk_id else v.tokens[i], b" " * (i in v.marked))) for i in ids)
    return b"".join(words).removesuffix(b" " * (ids[-1] in v.marked))


def _rejoined(tok: Tokenizer, given: list[int], expected: list[int], place: int) -> tuple[int, int]:
    """Where both have the same bytes behind them again, counted in ids of each."""
    a = b = place
    sizes = [0, 0]
    while a < len(given) or b < len(expected):
        if sizes[0] <= sizes[1] and a < len(given):
            sizes[0] += len(tok.vocab[given[a]])
            a += 1
        elif b < len(expected):
            sizes[1] += len(tok.vocab[expected[b]])
            b += 1
        else:
            return len(given), len(expected)
        if sizes[0] == sizes[1] and a > place and b > place:
            break
    return a, b


def _listed(tok: Tokenizer, ids: Iterable[int]) -> list[int]:
    if isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable):
        raise TypeError(f"ids is a {type(ids).__name__}; give a list or an array of ids")
    given = [whole("an id", i, 0, BytepairError) for i in (ids.tolist() if hasattr(ids, "tolist") else ids)]
    for i in set(given):
        tok.id_to_bytes(i)
    return given


def _kind(tok: Tokenizer, id: int) -> str:
    v = tok._vocabulary
    if id in tok._special_ids:
        return "special"
    if id in tok._names and id not in v.tokens:
        return "added"
    return "symbol" if id in merges_of(tok).first else "token"
