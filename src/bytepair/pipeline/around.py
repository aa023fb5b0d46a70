"""What stands around the model: a text's way to the runs that are cut and merged, and where each of them came from.

:class:`Around` holds what a foreign file says beside its vocabulary and its pattern. ``tokenizer`` encodes the runs
that :meth:`Around.runs` gives and maps their tokens back with what :meth:`Around.aligned_runs` gives.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, chain, islice, repeat
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from .names import Names
    from .normalise import Normaliser
    from .output import Output
    from .template import Padding, Template, Truncation

__all__ = ["Around", "Run", "SpaceMark"]


@dataclass(frozen=True)
class SpaceMark:
    """A character that stands for a space before words.

    Spaces become ``replacement``, and one more comes before a run that does not begin with it: ``"always"``, only at
    the text's very beginning (``"first"``), or ``"never"``.
    """

    replacement: str
    scheme: Literal["always", "first", "never"]


class Run(NamedTuple):
    """A stretch of a text on its way to the model, or (``id`` given) a token that ``data`` named.

    ``data`` of a named token is what was matched, with the white space that it took with it. ``start`` and ``stop`` are
    characters of the text as it came; ``starts`` and ``ends`` say the same for every character of a run's ``data``.
    """

    data: bytes
    id: int | None
    start: int
    stop: int
    starts: list[int]
    ends: list[int]

    def places(self, spans: list[tuple[int, int]], last_has_all: bool = False) -> list[tuple[int, int]]:
        """Where in the text the given bytes of the run came from; no bytes are the end of what came before.

        ``last_has_all``: of the bytes of one character the last has its place, and the others are empty before it.
        """
        out: list[tuple[int, int]] = []
        character_of = _character_of_byte(self.data)
        for start, stop in spans:
            if last_has_all and start < stop < len(self.data) and character_of[stop - 1] == character_of[stop]:
                begin = self.starts[character_of[start]]
                out.append((begin, begin))
            elif start < stop:
                out.append((self.starts[character_of[start]], self.ends[character_of[stop - 1]]))
            else:
                end = out[-1][1] if out else self.start
                out.append((end, end))
        return out


@dataclass(frozen=True)
class Around:
    """Immutable, hashable and picklable.

    ``letters``: the owner writes bytes as letters (byte level). ``output`` None joins the bytes of tokens.
    ``splits``: tokens that take part in merging, and what each becomes when all is merged.
    ``settings`` is what else belongs to the tokenizer's files, as (name, JSON text) pairs, kept for saving.
    """

    normaliser: Normaliser | None = None
    mark: SpaceMark | None = None
    output: Output | None = None
    letters: bool = False
    template: Template | None = None
    truncation: Truncation | None = None
    padding: Padding | None = None
    splits: tuple[tuple[int, tuple[int, ...]], ...] = ()
    settings: tuple[tuple[str, str], ...] = ()

    @property
    def rewrites(self) -> bool:
        """Whether a text may come to the model as another one."""
        return self.normaliser is not None or self.mark is not None or bool(self.splits)

    @property
    def is_sentencepiece(self) -> bool:
        """Whether texts are rewritten as SentencePiece does it, which differs in small things from all others."""
        if self.normaliser is None:
            return False
        from .normalise import SentencePiece

        return any(isinstance(step, SentencePiece) for step in self.normaliser.steps)

    def after(self, ids: list[int]) -> list[int]:
        """The ids of a run once it is merged, with those split again that take part in merging only."""
        splits = self._splits
        return [part for i in ids for part in splits.get(i, (i,))] if splits else ids

    @cached_property
    def _splits(self) -> dict[int, tuple[int, ...]]:
        return dict(self.splits)

    @property
    def decoder(self) -> Output:
        """What makes a text of token strings; one that says nothing joins them."""
        from .output import Output

        return self.output or Output(())

    @cached_property
    def joins_bytes(self) -> bool:
        """Whether decoding joins the bytes of the tokens and nothing else."""
        if self.output is None:
            return True
        from .output import ByteLevel

        return self.letters and {type(step) for step in self.output.steps} == {ByteLevel}

    def deciding(self, names: Iterable[str]) -> Around:
        """Only what decides ids, offsets or decoding, so that what says the same is the same."""
        template = self.template
        if template is not None and not template.prefix and not template.suffix and template.trims_offsets is None:
            template = None
        # Letters matter in decoding names only, and there beyond ASCII.
        plain = self.joins_bytes and all(name.isascii() for name in names)
        return replace(
            self,
            output=None if self.joins_bytes else self.output,
            letters=self.letters and not plain,
            template=template,
            truncation=None,
            padding=None,
            settings=(),
        )

    def renumbered(self, number: Mapping[int, int]) -> Around:
        """The same where ids are others, by old ones."""
        splits = tuple(
            (number[i], tuple(number[part] for part in parts))
            for i, parts in self.splits
            if i in number and all(part in number for part in parts)
        )
        padding = self.padding
        if padding is not None:
            padding = replace(padding, pad_id=number.get(padding.pad_id, padding.pad_id))
        return replace(
            self,
            splits=splits,
            template=None if self.template is None else self.template.renumbered(number),
            padding=padding,
            settings=self.settings if all(i == new for i, new in number.items()) else _without_ids(self.settings),
        )

    def runs(self, data: bytes, raw: Names, normal: Names) -> list[bytes | int]:
        """The runs of text for the model, and the ids of tokens named between them.

        ``raw`` names are looked for in the text as it comes, ``normal`` ones in the normalised text.
        """
        out: list[bytes | int] = []
        for found in raw.split(data):
            if found.id is not None:
                out.append(found.id)
                continue
            run = data[found.start : found.stop]
            before = run
            if self.normaliser is not None:
                run = self.normaliser.apply(_text(run)).encode("utf-8", "surrogateescape")
            for inner in normal.split(run):
                if inner.id is not None:
                    out.append(inner.id)
                elif self.mark is None:
                    out.append(run[inner.start : inner.stop])
                else:
                    first = found.start == inner.start == 0 and (run[:1] == before[:1] or self._starts_at_zero(before))
                    marked = _marked(_text(run[inner.start : inner.stop]), self.mark, first)
                    out.append(marked.encode("utf-8", "surrogateescape"))
        return out

    def _starts_at_zero(self, run: bytes) -> bool:
        """Whether what the normaliser makes of a run begins with what came of its first character."""
        if self.normaliser is None:
            return True
        _, starts, _ = self.normaliser.align(_text(run))
        return not starts or starts[0] == 0

    def aligned_runs(self, data: bytes, raw: Names, normal: Names) -> Iterator[Run]:
        """As :meth:`runs`, with the places in the text that everything came from, in characters."""
        at, passed = 0, 0  # the same place in characters and in bytes
        for found in raw.split(data):
            at += len(_text(data[passed : found.start]))
            passed = found.start
            text = _text(data[found.start : found.stop])
            if found.id is not None:
                yield Run(data[found.start : found.stop], found.id, at, at + len(text), [], [])
                continue
            places = range(at, at + len(text) + 1)
            if self.normaliser is None:
                starts, ends = list(places[:-1]), list(places[1:])
            else:
                text, starts, ends = self.normaliser.align(text)
                starts, ends = [at + place for place in starts], [at + place for place in ends]
            yield from self._inner(text, starts, ends, normal)

    def _inner(self, text: str, starts: list[int], ends: list[int], normal: Names) -> Iterator[Run]:
        run = text.encode("utf-8", "surrogateescape")
        at, passed = 0, 0
        for inner in normal.split(run):
            at += len(_text(run[passed : inner.start]))
            passed = inner.start
            part = _text(run[inner.start : inner.stop])
            froms, tos = starts[at : at + len(part)], ends[at : at + len(part)]
            if inner.id is not None:
                yield Run(part.encode("utf-8", "surrogateescape"), inner.id, froms[0], tos[-1], [], [])
                continue
            if self.mark is not None:
                marked = _marked(part, self.mark, first=froms[0] == 0)
                if len(marked) > len(part):  # the mark before the text counts as its first character
                    froms, tos = [froms[0], *froms], [tos[0], *tos]
                part = marked
            yield Run(part.encode("utf-8", "surrogateescape"), None, froms[0], tos[-1], froms, tos)


NOTHING_AROUND = Around()


def _without_ids(settings: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """The settings without the list of ids that a ``tokenizer_config.json`` has, which its owner would believe."""
    out = []
    for name, text in settings:
        if name == "tokenizer_config.json":
            found = json.loads(text)
            found.pop("added_tokens_decoder", None)
            text = json.dumps(found)
        out.append((name, text))
    return tuple(out)


def _marked(text: str, mark: SpaceMark, first: bool) -> str:
    text = text.replace(" ", mark.replacement)
    wanted = mark.scheme == "always" or (mark.scheme == "first" and first)
    return mark.replacement + text if wanted and not text.startswith(mark.replacement) else text


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


# 1 for a byte that begins a character.
_BEGINS = bytes(int(byte & 0xC0 != 0x80) for byte in range(256))


def _character_of_byte(data: bytes) -> Sequence[int]:
    """For every byte of a text, which character it belongs to."""
    if data.isascii():
        return range(len(data))
    try:
        data.decode()
    except UnicodeDecodeError:  # every byte that is no UTF-8 is a character
        sizes = (len(character.encode("utf-8", "surrogateescape")) for character in _text(data))
        return array("q", chain.from_iterable(repeat(place, size) for place, size in enumerate(sizes)))
    return array("q", islice(accumulate(data.translate(_BEGINS), initial=-1), 1, None))
