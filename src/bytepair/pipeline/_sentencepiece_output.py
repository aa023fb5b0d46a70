"""From pieces to text as SentencePiece does it: another kind of :class:`~bytepair.pipeline.output.Output`.

Readers of SentencePiece models hold it in an ``Around``; ``output`` itself knows Hugging Face's decoders only.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from .._check import brief
from ..errors import FormatError
from ._sentencepiece import SentencePiece
from .fields import Fields, a_list
from .output import Output

__all__ = ["SentencePieceOutput"]

SPACE = "\u2581"
UNKNOWN_SURFACE = " \u2047 "
_BYTE = re.compile("<0x([0-9A-F]{2})>")
_NO_UTF8 = re.compile("[\udc80-\udcff]")


@dataclass(frozen=True)
class SentencePieceOutput(Output):
    """What SentencePiece makes of pieces; immutable, hashable and picklable.

    Parameters
    ----------
    control
        The pieces that become nothing.
    unknown, surface
        The piece of what is unknown, and what it becomes.
    falls_back
        Whether pieces ``<0xNN>`` are bytes. Those that are no UTF-8 become U+FFFD each.
    strips, strips_all
        Whether a space at the text's beginning goes, as many pieces as have one there.
    denormaliser
        What the text goes through in the end.

    Examples
    --------
    >>> SentencePieceOutput(control=("<s>",)).decode(["<s>", "\u2581low", "\u2581er"])
    'low er'
    """

    steps: tuple[Any, ...] = ()
    control: tuple[str, ...] = ()
    unknown: str | None = None
    surface: str = UNKNOWN_SURFACE
    falls_back: bool = False
    strips: bool = True
    strips_all: bool = False
    denormaliser: SentencePiece | None = None

    def chain(self, tokens: Sequence[str], exact: bool = False) -> list[str]:
        """What each piece becomes; of the bytes of one character only the last becomes something."""
        control = frozenset(self.control)
        out: list[str] = []
        pending = bytearray()
        at_start, seen_space = True, False  # a space may go, the piece before had one that went
        filled = False
        for token in tokens:
            byte = _BYTE.fullmatch(token) if self.falls_back else None
            if byte is not None:
                pending.append(int(byte[1], 16))
                continue
            out += _characters(pending, exact)
            filled = filled or bool(pending)
            pending.clear()
            if seen_space or filled:
                at_start = False
            seen_space = False
            if token in control:
                text = ""
            elif token == self.unknown:
                text = self.surface
            else:
                text = token
                if at_start and self.strips and text.startswith(SPACE):
                    text = text[1:]
                    seen_space = not self.strips_all
                text = text.replace(SPACE, " ")
            filled = filled or bool(text)
            out.append(text)
        return [*out, *_characters(pending, exact)]

    def decode(self, tokens: Sequence[str], exact: bool = False) -> str:
        """The text of the pieces; ``exact`` keeps bytes that are no UTF-8, as ``surrogateescape`` has them."""
        text = "".join(self.chain(tokens, exact))
        return text if self.denormaliser is None else self.denormaliser.apply(text)

    def starts(self, tokens: Sequence[str]) -> list[int]:
        """The character of the text in which each piece begins."""
        pieces = self.chain(tokens)
        starts = list(accumulate(map(len, pieces), initial=0))[:-1]
        if self.denormaliser is None:
            return starts
        _, sources = self.denormaliser.sources("".join(pieces))
        return [bisect_left(sources, start) for start in starts]

    def to_huggingface(self) -> dict[str, Any] | None:
        raise FormatError(
            "what SentencePiece makes of pieces has no name in a tokenizer.json; "
            "save the tokenizer in its own format or as a SentencePiece model"
        )

    def to_json(self) -> dict[str, Any]:
        """The fields as an object of our own format."""
        denormaliser = None if self.denormaliser is None else self.denormaliser.to_json()
        fields = {name: value for name, value in vars(self).items() if name != "steps"}
        return {"type": "SentencePiece", **fields, "control": list(self.control), "denormaliser": denormaliser}

    @classmethod
    def from_json(cls, value: object, place: str) -> SentencePieceOutput:
        """Read what :meth:`to_json` gave.

        Raises
        ------
        FormatError
            If it is wrong; the message begins with the place.
        """
        fields = Fields.of(value, place, "give what SentencePiece makes of pieces")
        control = fields.get("control", "give a list of pieces")
        if not a_list(control) or not all(isinstance(piece, str) for piece in control):
            raise fields.refuse(f"has control={brief(control)}; give a list of pieces")
        unknown = fields.get("unknown", "give a piece or null")
        inner = fields.get("denormaliser", "give an object or null")
        return cls(
            control=tuple(control),
            unknown=None if unknown is None else fields.text("unknown"),
            surface=fields.text("surface"),
            falls_back=fields.boolean("falls_back"),
            strips=fields.boolean("strips"),
            strips_all=fields.boolean("strips_all"),
            denormaliser=None
            if inner is None
            else SentencePiece.read(Fields.of(inner, f"{place}.denormaliser", "give an object")),
        )


def _characters(data: bytearray, exact: bool) -> list[str]:
    """For each byte what it becomes: a character at its last byte, U+FFFD for one that is no UTF-8."""
    out: list[str] = []
    for character in bytes(data).decode("utf-8", "surrogateescape"):
        length = len(character.encode("utf-8", "surrogateescape"))
        out += [""] * (length - 1)
        out.append("\ufffd" if not exact and _NO_UTF8.match(character) else character)
    return out
