"""Ids, explained: what a model's output says, where it breaks a character, and whether encoding would have given it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from .. import showing
from .._check import whole
from ..errors import BytepairError
from ..showing import html
from .merging import merges_of
from .trees import label

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer


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
        The characters that are complete with this id and were not before, as ``decode(errors="replace")`` has them.
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
        return f"not canonical from id {self.place} on: {list(self.given)} where encoding gives {list(self.expected)}"

    def _repr_html_(self) -> str:
        return html.fragment(f"<p>{html.escaped(str(self))}</p>")


@dataclass(frozen=True)
class ExplainedIds:
    """What :meth:`~bytepair.tokenizer.Tokenizer.explain_ids` gives: every id, and whether they are canonical."""

    ids: tuple[ExplainedId, ...]
    canonical: Canonicity
    tokenizer: Tokenizer

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

    def _rows(self) -> Iterator[list[str]]:
        for place, one in enumerate(self.ids):
            hexed = one.data[:8].hex(" ") + (" ..." if len(one.data) > 8 else "")
            shown = "".join(part.text for part in showing.parts(one.characters.encode()))
            note = "no UTF-8" if one.broken else f"waits for more: {one.waiting.hex(' ')}" if one.waiting else ""
            yield [str(place), str(one.id), label(self.tokenizer, one.id), hexed, one.kind, shown, note]

    _HEADER = ("place", "id", "token", "bytes", "kind", "characters", "note")

    def __str__(self) -> str:
        table = showing.table(list(self._HEADER), list(self._rows()), left={2, 3, 4, 5, 6})
        return "\n".join([*table, str(self.canonical)])

    def _repr_html_(self) -> str:
        rows = ([html.escaped(cell) for cell in row] for row in self._rows())
        table = html.table(list(self._HEADER), rows, left={2, 3, 4, 5, 6})
        return html.fragment(f"{table}<p>{html.escaped(str(self.canonical))}</p>")


def explain_ids(tok: Tokenizer, ids: Iterable[int]) -> ExplainedIds:
    """Every id of a sequence; see :meth:`Tokenizer.explain_ids`."""
    import codecs

    given = _listed(tok, ids)
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    out: list[ExplainedId] = []
    for i in given:
        data = tok.vocab[i]
        waiting = decoder.getstate()[0]
        characters = decoder.decode(data)
        broken = characters.count("\ufffd") > (waiting + data).count(b"\xef\xbf\xbd")
        out.append(ExplainedId(i, data, _kind(tok, i), characters, decoder.getstate()[0], broken))
    return ExplainedIds(tuple(out), is_canonical(tok, given), tok)


def is_canonical(tok: Tokenizer, ids: Iterable[int]) -> Canonicity:
    """Whether encoding gives these ids; see :meth:`Tokenizer.is_canonical`."""
    given = _listed(tok, ids)
    if tok._joins_bytes and not tok._changes_text:
        # Each run between named tokens is a text of its own: a name that is spelled in ordinary tokens stays text.
        expected: list[int] = []
        named = tok._names
        for is_named, run in groupby(given, named.__contains__):
            part = list(run)
            expected += part if is_named else tok.encode(tok.decode_bytes(part), special=())
    else:
        # What the text becomes depends on what stands around it.
        text = tok.decode(given, errors="surrogateescape")
        expected = tok.encode(text, special="all", errors="surrogateescape")
    if expected == given:
        return Canonicity(True)
    place = next((k for k, (a, b) in enumerate(zip(given, expected)) if a != b), min(len(given), len(expected)))
    end, other = _rejoined(tok, given, expected, place)
    return Canonicity(False, place, tuple(given[place:end]), tuple(expected[place:other]))


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
