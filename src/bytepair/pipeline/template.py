"""From the ids of a text to the ids that a model takes: special tokens around them, length limits, padding.

:class:`Template` is the ``post_processor`` of a ``tokenizer.json``, :class:`Truncation` and :class:`Padding` are its
``truncation`` and ``padding``. The owner's order is truncate, :func:`trim` the offsets of each slice, wrap every slice,
pad. Nothing here knows texts or tokenizers: lengths and lists come in, lists go out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar

from .._check import brief, whole
from ..errors import FormatError
from .fields import ID_MOST, Fields, a_list, flat

__all__ = [
    "BertProcessing",
    "ByteLevel",
    "Padding",
    "Part",
    "Piece",
    "Processor",
    "RobertaProcessing",
    "Template",
    "TemplateProcessing",
    "Truncation",
    "Wrapped",
    "ranges",
    "sequence_of",
    "spread",
    "trim",
]

T = TypeVar("T")
Span = tuple[int, int]


class Piece(NamedTuple):
    """One piece of a template: a text, or special tokens.

    Attributes
    ----------
    kind : "sequence" or "special"
    id : "A" or "B", or tuple of int
        Which text, or the ids of the special tokens.
    type_id : int
    tokens : tuple of str
        The strings of the special tokens.
    """

    kind: Literal["sequence", "special"]
    id: str | tuple[int, ...]
    type_id: int
    tokens: tuple[str, ...] = ()


class Part(NamedTuple):
    """One piece of a template, filled in.

    Attributes
    ----------
    sequence : int or None
        Which text, 0 or 1; None is special tokens.
    slice : int
        Which slice of that text: 0 is what was kept, the others flow over.
    ids : tuple of int
        The special tokens.
    tokens : tuple of str
        Their strings.
    type_id : int
    encoding : int or None
        The encoding of the owner that it belongs to, where a later ByteLevel takes that for the number of a text.
    forgotten : bool
        Whether the owner does not know which text it is from: a single text, and what flows over, where there is no
        post-processor.
    """

    sequence: int | None
    slice: int
    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    type_id: int
    encoding: int | None
    forgotten: bool


class Wrapped(NamedTuple):
    """Ids as a model takes them, and three lists of the same length.

    Attributes
    ----------
    ids, type_ids : list of int
    special_mask : list of int
        1 for a special token that the template added.
    sequence_of : list of int or None
        Which text each id is from, as the owner's ``sequence_ids`` say it.
    """

    ids: list[int]
    type_ids: list[int]
    special_mask: list[int]
    sequence_of: list[int | None]


@dataclass(frozen=True)
class Processor:
    """One part of a post-processor; ``kind`` is its type in the file, its attributes are its fields there."""

    kind: ClassVar[str]
    adds: ClassVar[bool] = True

    @property
    def trims(self) -> bool | None:
        """The ``add_prefix_space`` of one that trims offsets, None of one that does not."""
        return None

    def pieces(self, is_pair: bool) -> tuple[Piece, ...]:
        """What stands around and between the texts."""
        return _BARE_PAIR if is_pair else _BARE

    def encodings(self, is_pair: bool) -> tuple[int, ...]:
        """Which of the owner's encodings, numbered from 0, each piece ends up in."""
        return tuple(range(len(self.pieces(is_pair))))

    def to_huggingface(self) -> dict[str, Any]:
        """The object as the file has it."""
        return {"type": self.kind, **vars(self)}

    def renumbered(self, number: Mapping[int, int]) -> Processor:
        """The same with other ids."""
        del number
        return self


_BARE = (Piece("sequence", "A", 0),)
_BARE_PAIR = (*_BARE, Piece("sequence", "B", 1))


@dataclass(frozen=True)
class ByteLevel(Processor):
    """Adds nothing; white space of byte-level tokens may leave their offsets."""

    kind: ClassVar[str] = "ByteLevel"
    adds: ClassVar[bool] = False
    add_prefix_space: bool = True
    trim_offsets: bool = True
    use_regex: bool = True

    @classmethod
    def read(cls, fields: Fields) -> ByteLevel:
        space, trims = fields.boolean("add_prefix_space"), fields.boolean("trim_offsets")
        return cls(space, trims, fields.boolean("use_regex", True))

    @property
    def trims(self) -> bool | None:
        return self.add_prefix_space if self.trim_offsets else None


@dataclass(frozen=True)
class BertProcessing(Processor):
    """``[CLS] A [SEP]``, and for a pair ``[CLS] A [SEP] B [SEP]``."""

    kind: ClassVar[str] = "BertProcessing"
    sep: tuple[str, int]
    cls: tuple[str, int]

    @classmethod
    def read(cls, fields: Fields) -> BertProcessing:
        return cls(_token(fields, "sep"), _token(fields, "cls"))

    def pieces(self, is_pair: bool) -> tuple[Piece, ...]:
        single = (_special(self.cls), Piece("sequence", "A", 0), _special(self.sep))
        return (*single, Piece("sequence", "B", 1), _special(self.sep, 1)) if is_pair else single

    def encodings(self, is_pair: bool) -> tuple[int, ...]:
        return (0, 0, 0, 1, 1) if is_pair else (0, 0, 0)

    def to_huggingface(self) -> dict[str, Any]:
        return {**super().to_huggingface(), "sep": list(self.sep), "cls": list(self.cls)}

    def renumbered(self, number: Mapping[int, int]) -> Processor:
        return replace(self, sep=_numbered(self.sep, number), cls=_numbered(self.cls, number))


@dataclass(frozen=True)
class RobertaProcessing(Processor):
    """``<s> A </s>``, and for a pair ``<s> A </s></s> B </s>``; all type ids are 0."""

    kind: ClassVar[str] = "RobertaProcessing"
    sep: tuple[str, int]
    cls: tuple[str, int]
    trim_offsets: bool = True
    add_prefix_space: bool = True

    @classmethod
    def read(cls, fields: Fields) -> RobertaProcessing:
        sep, start = _token(fields, "sep"), _token(fields, "cls")
        return cls(sep, start, fields.boolean("trim_offsets"), fields.boolean("add_prefix_space"))

    @property
    def trims(self) -> bool | None:
        return self.add_prefix_space if self.trim_offsets else None

    def pieces(self, is_pair: bool) -> tuple[Piece, ...]:
        sep = _special(self.sep)
        single = (_special(self.cls), Piece("sequence", "A", 0), sep)
        return (*single, sep, Piece("sequence", "B", 0), sep) if is_pair else single

    def encodings(self, is_pair: bool) -> tuple[int, ...]:
        return (0, 0, 0, 1, 1, 1) if is_pair else (0, 0, 0)

    def to_huggingface(self) -> dict[str, Any]:
        return {**super().to_huggingface(), "sep": list(self.sep), "cls": list(self.cls)}

    def renumbered(self, number: Mapping[int, int]) -> Processor:
        return replace(self, sep=_numbered(self.sep, number), cls=_numbered(self.cls, number))


class _Slot(NamedTuple):
    """One entry of a template as the file has it; ``id`` is a text's letter or a name in ``special_tokens``."""

    kind: Literal["sequence", "special"]
    id: str
    type_id: int


class _SpecialToken(NamedTuple):
    name: str
    id: str
    ids: tuple[int, ...]
    tokens: tuple[str, ...]


@dataclass(frozen=True)
class TemplateProcessing(Processor):
    """Any order of texts and special tokens, written out.

    Attributes
    ----------
    single, pair : tuple of (kind, id, type_id)
    special_tokens : tuple of (name, id, ids, tokens)
        By name, rising.
    """

    kind: ClassVar[str] = "TemplateProcessing"
    single: tuple[_Slot, ...]
    pair: tuple[_Slot, ...]
    special_tokens: tuple[_SpecialToken, ...]

    @classmethod
    def read(cls, fields: Fields) -> TemplateProcessing:
        special_tokens = _special_tokens(fields)
        names = [token.name for token in special_tokens]
        return cls(_slots(fields, "single", "A", names), _slots(fields, "pair", "AB", names), special_tokens)

    def pieces(self, is_pair: bool) -> tuple[Piece, ...]:
        known = {token.name: token for token in self.special_tokens}
        return tuple(
            Piece("sequence", slot.id, slot.type_id)
            if slot.kind == "sequence"
            else Piece("special", known[slot.id].ids, slot.type_id, known[slot.id].tokens)
            for slot in (self.pair if is_pair else self.single)
        )

    def to_huggingface(self) -> dict[str, Any]:
        names = {"sequence": "Sequence", "special": "SpecialToken"}
        single, pair = (
            [{names[slot.kind]: {"id": slot.id, "type_id": slot.type_id}} for slot in slots]
            for slots in (self.single, self.pair)
        )
        tokens = {t.name: {"id": t.id, "ids": list(t.ids), "tokens": list(t.tokens)} for t in self.special_tokens}
        return {"type": self.kind, "single": single, "pair": pair, "special_tokens": tokens}

    def renumbered(self, number: Mapping[int, int]) -> Processor:
        special = [token._replace(ids=tuple(number.get(i, i) for i in token.ids)) for token in self.special_tokens]
        return replace(self, special_tokens=tuple(special))


def _numbered(token: tuple[str, int], number: Mapping[int, int]) -> tuple[str, int]:
    return token[0], number.get(token[1], token[1])


def _special(token: tuple[str, int], type_id: int = 0) -> Piece:
    return Piece("special", (token[1],), type_id, (token[0],))


def _token(fields: Fields, name: str) -> tuple[str, int]:
    """A special token as Bert and Roberta have it."""
    cure = "give [token, id]"
    value = fields.get(name, cure)
    if not a_list(value) or len(value) != 2 or not isinstance(value[0], str):
        raise fields.refuse(f"has {name}={brief(value)}; {cure}")
    return value[0], whole(f"{fields.label} {name}[1]", value[1], 0, FormatError, ID_MOST)


def _special_tokens(fields: Fields) -> tuple[_SpecialToken, ...]:
    cure = 'give an object such as {"[CLS]": {"id": "[CLS]", "ids": [1], "tokens": ["[CLS]"]}}'
    value = fields.get("special_tokens", cure)
    if not isinstance(value, Mapping):
        raise fields.refuse(f"has special_tokens={brief(value)}; {cure}")
    found = []
    for name in sorted(value):
        place = f"{fields.place}.special_tokens[{name!r}]"
        token = Fields.of(value[name], place, "give its id, ids and tokens")
        ids, tokens = token.get("ids", "give a list of ids"), token.get("tokens", "give a list of strings")
        if not a_list(ids):
            raise token.refuse(f"has ids={brief(ids)}; give a list of ids")
        if not a_list(tokens) or not all(isinstance(one, str) for one in tokens):
            raise token.refuse(f"has tokens={brief(tokens)}; give a list of strings")
        if len(ids) != len(tokens):
            raise token.refuse(f"has {len(ids)} ids and {len(tokens)} tokens; give one token for each id")
        numbers = [whole(f"{place} ids[{i}]", one, 0, FormatError, ID_MOST) for i, one in enumerate(ids)]
        found.append(_SpecialToken(name, token.text("id"), tuple(numbers), tuple(tokens)))
    return tuple(found)


def _slots(fields: Fields, name: str, letters: str, names: Sequence[str]) -> tuple[_Slot, ...]:
    cure = 'give a list of {"Sequence": {"id": "A", "type_id": 0}} and {"SpecialToken": {"id": ..., "type_id": 0}}'
    value = fields.get(name, cure)
    if not a_list(value):
        raise fields.refuse(f"has {name}={brief(value)}; {cure}")
    slots = []
    for number, one in enumerate(value):
        place = f"{fields.place}.{name}[{number}]"
        if not isinstance(one, Mapping) or len(one) != 1 or not {"Sequence", "SpecialToken"} >= one.keys():
            raise FormatError(f"{place} is {brief(one)}; {cure}")
        ((form, inner),) = one.items()
        slot = Fields(Fields.of(inner, place, "give its id and type_id").values, place, form)
        type_id = slot.whole("type_id", ID_MOST)
        if form == "Sequence":
            slots.append(_Slot("sequence", slot.choice("id", tuple(letters)), type_id))
        elif (token := slot.text("id")) in names:
            slots.append(_Slot("special", token, type_id))
        else:
            raise slot.refuse(f"has id={token!r}, which special_tokens do not have; add it there")
    return tuple(slots)


_PROCESSORS: dict[str, Callable[[Fields], Processor]] = {
    processor.kind: processor.read for processor in (BertProcessing, ByteLevel, RobertaProcessing, TemplateProcessing)
}


@dataclass(frozen=True)
class Template:
    """What goes around the ids of one text or of two; immutable, hashable and picklable.

    Attributes
    ----------
    processors : tuple of Processor
        In order, the Sequences of the file opened; at most one of them adds tokens, and one trims offsets. None of
        them is no post-processor.

    Examples
    --------
    >>> bert = Template.from_huggingface({"type": "BertProcessing", "sep": ["[SEP]", 102], "cls": ["[CLS]", 101]})
    >>> bert.wrap([7, 8]).ids
    [101, 7, 8, 102]
    >>> bert.wrap([7, 8], [9]).type_ids
    [0, 0, 0, 0, 1, 1]
    """

    processors: tuple[Processor, ...] = ()

    @classmethod
    def from_huggingface(cls, value: Mapping[str, Any] | None, place: str = "post_processor") -> Template:
        """Read a post-processor.

        Parameters
        ----------
        value
            The object as ``tokenizer.json`` has it; None adds nothing.
        place
            Where it stands, for errors.

        Raises
        ------
        FormatError
            If it is no post-processor, has a field that is missing or wrong, or names a special token that it does
            not have; if two of a Sequence add tokens or trim offsets, which the owner does in an order that no model
            was trained with.
        """
        if value is None:
            return cls()
        processors: list[Processor] = []
        for fields in flat(value, place, "processors", "TemplateProcessing"):
            if fields.kind not in _PROCESSORS:
                raise fields.refuse(f"is no post-processor; there are {', '.join(_PROCESSORS)} and Sequence")
            processor = _PROCESSORS[fields.kind](fields)
            if processor.adds and any(one.adds for one in processors):
                raise fields.refuse("adds special tokens to those of another one; write both as one TemplateProcessing")
            if processor.trims is not None and any(one.trims is not None for one in processors):
                raise fields.refuse("trims offsets that another one has trimmed; set its trim_offsets to false")
            processors.append(processor)
        # An empty Sequence does what a ByteLevel does that trims nothing, which is not quite what no processor does.
        return cls(tuple(processors) or (ByteLevel(False, False),))

    def to_huggingface(self) -> dict[str, Any] | None:
        """The object as ``tokenizer.json`` has it; a Sequence where there are several processors."""
        parts = [processor.to_huggingface() for processor in self.processors]
        if not parts:
            return None
        return parts[0] if len(parts) == 1 else {"type": "Sequence", "processors": parts}

    def renumbered(self, number: Mapping[int, int]) -> Template:
        """The same with other ids, by old ones; what is not there stays."""
        return Template(tuple(processor.renumbered(number) for processor in self.processors))

    @cached_property
    def single(self) -> tuple[Piece, ...]:
        """The pieces around one text."""
        return self._adding.pieces(False)

    @cached_property
    def pair(self) -> tuple[Piece, ...]:
        """The pieces around two texts."""
        return self._adding.pieces(True)

    @property
    def _adding(self) -> Processor:
        """The one that adds special tokens, or one that adds none."""
        return next((one for one in self.processors if one.adds), Processor())

    @property
    def _numbers_anew(self) -> bool:
        """Whether a ByteLevel stands behind what adds special tokens: it numbers the owner's encodings anew."""
        places = [place for place, one in enumerate(self.processors) if one.adds]
        return bool(places) and places[0] < len(self.processors) - 1

    @property
    def trims_offsets(self) -> bool | None:
        """The ``add_prefix_space`` that :func:`trim` takes, or None where offsets stay as they are."""
        return next((one.trims for one in self.processors if one.trims is not None), None)

    @cached_property
    def prefix(self) -> tuple[int, ...]:
        """The ids before a single text."""
        return self._ids(self.single[: self._places[0]])

    @cached_property
    def suffix(self) -> tuple[int, ...]:
        """The ids behind a single text."""
        return self._ids(self.single[self._places[-1] :])

    @property
    def _places(self) -> list[int]:
        """Where the text stands among the pieces around one text; the end where it stands nowhere."""
        return [i for i, piece in enumerate(self.single) if piece.kind == "sequence"] or [len(self.single)]

    @staticmethod
    def _ids(pieces: Sequence[Piece]) -> tuple[int, ...]:
        return tuple(one for piece in pieces if not isinstance(piece.id, str) for one in piece.id)

    def added_tokens(self, is_pair: bool) -> int:
        """How many special tokens one text, or a pair, gets."""
        return len(self._ids(self.pair if is_pair else self.single))

    def wrap(self, ids_a: Sequence[int], ids_b: Sequence[int] | None = None, *, special: bool = True) -> Wrapped:
        """Put the pieces around one text or two; without ``special`` only the texts, in the template's order."""
        return self.wrap_slices([ids_a], None if ids_b is None else [ids_b], special=special)[0]

    def wrap_slices(
        self,
        slices_a: Sequence[Sequence[int]],
        slices_b: Sequence[Sequence[int]] | None = None,
        *,
        special: bool = True,
    ) -> list[Wrapped]:
        """Put the pieces around what truncation left.

        Parameters
        ----------
        slices_a, slices_b
            The slices of each text; the first is what was kept.
        special
            False leaves out special tokens.

        Returns
        -------
        list of Wrapped
            First of what was kept, then what flows over, in the owner's order.
        """
        layouts = self.layouts(len(slices_a), None if slices_b is None else len(slices_b), special=special)
        return [_wrapped(layout, slices_a, slices_b or ()) for layout in layouts]

    def layouts(self, slices_a: int, slices_b: int | None = None, *, special: bool = True) -> list[tuple[Part, ...]]:
        """Say what stands where, for that many slices of each text; :func:`spread` lays out any list along it."""
        is_pair = slices_b is not None
        homes = zip(self.pair if is_pair else self.single, self._adding.encodings(is_pair))
        homes_left = [(piece, home) for piece, home in homes if special or piece.kind == "sequence"]
        number = {home: place for place, home in enumerate(dict.fromkeys(home for _, home in homes_left))}
        pieces, encodings = [piece for piece, _ in homes_left], [number[home] for _, home in homes_left]
        counts = [{"A": slices_a, "B": slices_b or 0}.get(str(piece.id), 1) for piece in pieces]
        every = [(0,) * len(pieces), *_overflowing(counts)]
        return [self._layout(pieces, encodings, choices, special, is_pair) for choices in every]

    def _layout(
        self, pieces: Sequence[Piece], encodings: Sequence[int], choices: Sequence[int], special: bool, is_pair: bool
    ) -> tuple[Part, ...]:
        """The pieces filled in with these slices."""
        all_zero = special and isinstance(self._adding, RobertaProcessing)
        # What flows over is not numbered anew.
        numbered = set(encodings) if self._numbers_anew else set()
        numbered -= {encoding for encoding, choice in zip(encodings, choices) if choice}
        parts = []
        for piece, home, choice in zip(pieces, encodings, choices):
            encoding = home if home in numbered else None
            if isinstance(piece.id, str):
                sequence = "AB".index(piece.id)
                # The owner gives a template's type ids to what was kept alone.
                type_id = piece.type_id if choice == 0 else 0 if all_zero else sequence
                forgotten = not self.processors and (choice > 0 or not is_pair)
                parts.append(Part(sequence, choice, (), (), type_id, encoding, forgotten))
            else:
                parts.append(Part(None, 0, piece.id, piece.tokens, piece.type_id, encoding, False))
        return tuple(parts)


def _overflowing(counts: Sequence[int]) -> list[tuple[int, ...]]:
    """The combinations of slices that flow over, as the owner finds them: merging one piece after another."""
    found: list[tuple[int, ...]] = []
    kept: tuple[int, ...] = ()
    for count in counts:
        found = [
            *((*one, choice) for one in found for choice in range(count)),
            *((*kept, choice) for choice in range(1, count)),
        ]
        kept = (*kept, 0)
    return found


def spread(
    layout: Sequence[Part], values_a: Sequence[Sequence[T]], values_b: Sequence[Sequence[T]], fill: T
) -> list[T]:
    """Lay out values along a layout: those of the slices of each text, and ``fill`` for every special token."""
    found: list[T] = []
    for part in layout:
        if part.sequence is None:
            found += [fill] * len(part.ids)
        else:
            found += (values_b if part.sequence else values_a)[part.slice]
    return found


def ranges(layout: Sequence[Part], sizes_a: Sequence[int], sizes_b: Sequence[int]) -> dict[int, Span]:
    """Say where each text stands, as the owner knows it; the sizes are those of the slices of each text.

    The owner counts its texts, so that of B alone it takes all for A; of a text that stands twice the last counts.
    """
    found: dict[int, Span] = {}
    starts: dict[int, int] = {}
    start = 0
    for part in layout:
        size = len(part.ids) if part.sequence is None else (sizes_b if part.sequence else sizes_a)[part.slice]
        if part.sequence is not None and not part.forgotten:
            found[part.sequence] = (start, start + size)
        if part.encoding is not None:
            found[part.encoding] = (starts.setdefault(part.encoding, start), start + size)
        start += size
    return found


def sequence_of(ranges: Mapping[int, Span], length: int) -> list[int | None]:
    """Which text each of so many ids is from, by where the texts stand."""
    found: list[int | None] = [None] * length
    for sequence in range(len(ranges) or 1):
        start, end = ranges.get(sequence, (0, length))
        found[start:end] = [sequence] * (end - start)
    return found


def _wrapped(layout: Sequence[Part], a: Sequence[Sequence[int]], b: Sequence[Sequence[int]]) -> Wrapped:
    ids: list[int] = []
    type_ids: list[int] = []
    mask: list[int] = []
    for part in layout:
        values = part.ids if part.sequence is None else (b if part.sequence else a)[part.slice]
        ids += values
        type_ids += [part.type_id] * len(values)
        mask += [int(part.sequence is None)] * len(values)
    places = ranges(layout, [len(one) for one in a], [len(one) for one in b])
    return Wrapped(ids, type_ids, mask, sequence_of(places, len(ids)))


# Unicode's White_Space, and the byte-level letter of a space.
_WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029"
    "\u202f\u205f\u3000\u0120"
)


def trim(spans: Sequence[Span], tokens: Sequence[str], add_prefix_space: bool) -> list[Span]:
    """Take white space at both ends of byte-level tokens out of their spans, as ByteLevel's ``trim_offsets`` does.

    Parameters
    ----------
    spans
        Start and end of each token, in characters of its text: all of one slice, before special tokens are added.
    tokens
        The tokens as the vocabulary has them, in letters for bytes.
    add_prefix_space
        Whether one space at the start of the first token, or of one whose span starts at 0, is taken for added by
        encoding: it then has no character in the span.

    Examples
    --------
    >>> trim([(0, 3), (3, 9)], ["Ġmy", "Ġdog's"], add_prefix_space=False)
    [(1, 3), (4, 9)]
    """
    found = []
    for place, ((start, end), token) in enumerate(zip(spans, tokens)):
        leading = len(token) - len(token.lstrip(_WHITE_SPACE))
        trailing = len(token) - len(token.rstrip(_WHITE_SPACE))
        if leading == 1 and add_prefix_space and (place == 0 or start == 0):
            leading = 0
        start = min(start + leading, end)
        if end >= trailing:
            end = max(end - trailing, start)
        found.append((start, end))
    return found


_STRATEGIES = {"LongestFirst": "longest_first", "OnlyFirst": "only_first", "OnlySecond": "only_second"}
_DIRECTIONS = ("Left", "Right")


@dataclass(frozen=True)
class Truncation:
    """The most ids that a text, or a pair, may have; immutable, hashable and picklable.

    Attributes
    ----------
    max_length : int
        Special tokens included.
    stride : int
        How many ids of a slice stand in the next one again.
    strategy : "longest_first", "only_first" or "only_second"
    direction : "left" or "right"
        Which end is cut off.

    Examples
    --------
    >>> Truncation(max_length=4, stride=1).cut(6)
    ([(0, 4), (3, 6)], None)
    """

    max_length: int = 512
    stride: int = 0
    strategy: str = "longest_first"
    direction: str = "right"

    @classmethod
    def from_huggingface(cls, value: Mapping[str, Any] | None, place: str = "truncation") -> Truncation | None:
        """Read it as ``tokenizer.json`` has it; None is no truncation."""
        if value is None:
            return None
        fields = Fields.of(value, place, "give max_length, stride, strategy and direction, or null")
        strategy = _STRATEGIES[fields.choice("strategy", tuple(_STRATEGIES))]
        direction = fields.choice("direction", _DIRECTIONS, "Right").lower()
        return cls(fields.whole("max_length"), fields.whole("stride"), strategy, direction)

    def to_huggingface(self) -> dict[str, Any]:
        """The object as ``tokenizer.json`` has it."""
        strategy = next(name for name, ours in _STRATEGIES.items() if ours == self.strategy)
        return {
            "direction": self.direction.capitalize(),
            "max_length": self.max_length,
            "strategy": strategy,
            "stride": self.stride,
        }

    def cut(self, length_a: int, length_b: int | None = None, added: int = 0) -> tuple[list[Span], list[Span] | None]:
        """Say which slices a text, or a pair, is cut into.

        Parameters
        ----------
        length_a, length_b
            How many ids the texts have; None is no second one.
        added
            How many special tokens come to them.

        Returns
        -------
        tuple of (list of (start, end), the same or None)
            For each text the slice that is kept, and then those that flow over.

        Raises
        ------
        FormatError
            If the special tokens alone are too long, where the owner cuts nothing; if the stride leaves nothing new
            for a slice, where the owner panics; if the one text that may be cut is too short, or is not there.
        """
        room = self.max_length - added
        if room < 0:
            raise FormatError(
                f"truncation has max_length={self.max_length}, but there are {added} special tokens; "
                f"give a max_length of {added} or more, or leave out special tokens"
            )
        total = length_a + (length_b or 0)
        new_a, new_b = length_a, length_b
        if room == 0:
            new_a, new_b = 0, 0
        elif total <= room:
            pass
        elif self.strategy == "longest_first":
            new_a, new_b = (room, None) if length_b is None else _longest_first(length_a, length_b, room)
        elif self.strategy == "only_first":
            new_a = self._one(length_a, total - room, "first")
        elif length_b is None:
            raise FormatError('truncation has strategy="OnlySecond", but there is no second text; give a pair')
        else:
            new_b = self._one(length_b, total - room, "second")
        slices_b = None if length_b is None else self._slices(length_b, new_b or 0)
        return self._slices(length_a, new_a), slices_b

    @staticmethod
    def _one(length: int, too_many: int, which: str) -> int:
        if length <= too_many:
            raise FormatError(
                f"truncation must take {too_many} ids off the {which} text, which has {length}; "
                'give a greater max_length, or strategy="LongestFirst"'
            )
        return length - too_many

    def _slices(self, length: int, new: int) -> list[Span]:
        """The slices of ``new`` ids that cover ``length`` ones, from the end that stays."""
        if new >= length:
            return [(0, length)]
        if new == 0:
            return [(0, 0), (0, length)]
        if self.stride >= new:
            raise FormatError(
                f"truncation has stride={self.stride}, but slices have only {new} ids besides special tokens; "
                f"give a stride below {new}, or a greater max_length"
            )
        slices = [(start, min(start + new, length)) for start in range(0, length - self.stride, new - self.stride)]
        return slices if self.direction == "right" else [(length - end, length - start) for start, end in slices]


def _longest_first(a: int, b: int, room: int) -> tuple[int, int]:
    """How long two texts may be: the shorter one stays whole where it takes up at most half the room."""
    short = min(a, b)
    long = short if short > room else max(short, room - short)
    if short + long > room:
        short, long = room // 2, room - room // 2
    return (long, short) if a > b else (short, long)


@dataclass(frozen=True)
class Padding:
    """What makes all texts of a batch the same length; immutable, hashable and picklable.

    Attributes
    ----------
    fixed : int or None
        The length to pad to; None is that of the longest text of the batch.
    direction : "left" or "right"
        At which end.
    pad_to_multiple_of : int or None
    pad_id, pad_type_id : int
    pad_token : str

    Examples
    --------
    >>> padding = Padding(pad_to_multiple_of=4)
    >>> padding.length([3, 5])
    8
    >>> padding.pad([1, 2, 3], 5, 0)
    [1, 2, 3, 0, 0]
    """

    fixed: int | None = None
    direction: str = "right"
    pad_to_multiple_of: int | None = None
    pad_id: int = 0
    pad_type_id: int = 0
    pad_token: str = "[PAD]"  # noqa: S105 - no password

    @classmethod
    def from_huggingface(cls, value: Mapping[str, Any] | None, place: str = "padding") -> Padding | None:
        """Read it as ``tokenizer.json`` has it; None is no padding."""
        if value is None:
            return None
        fields = Fields.of(value, place, "give strategy, direction, pad_id, pad_type_id and pad_token, or null")
        cure = 'give "BatchLongest" or {"Fixed": length}'
        strategy = fields.get("strategy", cure)
        fixed = None
        if isinstance(strategy, Mapping) and list(strategy) == ["Fixed"]:
            fixed = Fields(strategy, f"{place}.strategy").whole("Fixed")
        elif strategy != "BatchLongest":
            raise fields.refuse(f"has strategy={brief(strategy)}; {cure}")
        multiple = None if fields.values.get("pad_to_multiple_of") is None else fields.whole("pad_to_multiple_of")
        direction = fields.choice("direction", _DIRECTIONS).lower()
        pad_id, pad_type_id = fields.whole("pad_id", ID_MOST), fields.whole("pad_type_id", ID_MOST)
        return cls(fixed, direction, multiple, pad_id, pad_type_id, fields.text("pad_token"))

    def to_huggingface(self) -> dict[str, Any]:
        """The object as ``tokenizer.json`` has it."""
        return {
            "strategy": "BatchLongest" if self.fixed is None else {"Fixed": self.fixed},
            "direction": self.direction.capitalize(),
            "pad_to_multiple_of": self.pad_to_multiple_of,
            "pad_id": self.pad_id,
            "pad_type_id": self.pad_type_id,
            "pad_token": self.pad_token,
        }

    def length(self, lengths: Sequence[int]) -> int:
        """The length to pad a batch to; a text that is longer stays as it is, and what flows over does not count."""
        length = max(lengths, default=0) if self.fixed is None else self.fixed
        multiple = self.pad_to_multiple_of or 1
        return -(-length // multiple) * multiple

    def pad(self, values: Sequence[T], length: int, fill: T) -> list[T]:
        """The values with ``fill`` at the end that ``direction`` says, up to a length."""
        missing = [fill] * (length - len(values))
        return [*missing, *values] if self.direction == "left" else [*values, *missing]
