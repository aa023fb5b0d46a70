"""What happens to a text before it is cut: the normalizer of a ``tokenizer.json`` or of a SentencePiece model.

:class:`Normaliser` is steps in a row. The steps are in ``_steps`` and ``_sentencepiece``; ``_forms``, ``_graphemes``,
``_charsmap`` and ``_matches`` are what they work with. Results and sources are those of tokenizers 0.23 and
sentencepiece 0.2 on every Python, whatever its Unicode is. It reads no file: readers of files call it, and tokenizers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._check import brief
from ..errors import FormatError, TrainingError
from ._sentencepiece import SentencePiece
from ._steps import (
    NFC,
    NFD,
    NFKC,
    NFKD,
    BertNormalizer,
    ByteLevel,
    FinalSigma,
    Lowercase,
    Nmt,
    Precompiled,
    Prepend,
    Replace,
    Step,
    Strip,
    StripAccents,
)
from .fields import Fields, a_list, flat

__all__ = [
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "BertNormalizer",
    "ByteLevel",
    "FinalSigma",
    "Lowercase",
    "Nmt",
    "Normaliser",
    "Precompiled",
    "Prepend",
    "Replace",
    "SentencePiece",
    "Step",
    "Strip",
    "StripAccents",
    "normaliser_of",
]

_HUGGINGFACE: dict[str, type[Step]] = {
    step.kind: step
    for step in (
        *(BertNormalizer, ByteLevel, Lowercase, NFC, NFD, NFKC, NFKD, Nmt, Precompiled, Prepend, Replace, Strip),
        StripAccents,
    )
}
_EVERY = _HUGGINGFACE | {step.kind: step for step in (FinalSigma, SentencePiece)}
_EXAMPLE = '{"type": "NFC"}'


@dataclass(frozen=True)
class Normaliser:
    """Steps that a text goes through, one after the other; immutable, hashable and picklable.

    Examples
    --------
    >>> normaliser = Normaliser((NFD(), StripAccents(), Lowercase()))
    >>> normaliser.apply("Crème Brûlée")
    'creme brulee'
    >>> normaliser.align("Né")
    ('ne', [0, 1], [1, 2])
    """

    steps: tuple[Step, ...]

    @classmethod
    def from_huggingface(cls, value: Mapping[str, Any] | None, place: str = "normalizer") -> Normaliser | None:
        """Read the ``normalizer`` of a ``tokenizer.json``; None where it does nothing.

        Raises
        ------
        FormatError
            If it is wrong; the message begins with the place of the step.
        """
        if value is None:
            return None
        steps = [_read(fields, _HUGGINGFACE) for fields in flat(value, place, "normalizers", _EXAMPLE)]
        return cls(tuple(steps)) if steps else None

    def to_huggingface(self) -> dict[str, Any]:
        """The object of a ``tokenizer.json``, a Sequence unless it is one step.

        Raises
        ------
        FormatError
            If a step is SentencePiece's own, for which Hugging Face has no word.
        """
        for number, step in enumerate(self.steps):
            if step.kind not in _HUGGINGFACE:
                raise FormatError(
                    f"step {number} of the normaliser is {step.kind}'s own, and a tokenizer.json has no word for it; "
                    "save the tokenizer in its own format or as a SentencePiece model"
                )
        steps = self.to_json()
        return steps[0] if len(steps) == 1 else {"type": "Sequence", "normalizers": steps}

    @classmethod
    def from_json(cls, value: object, place: str) -> Normaliser:
        """Read what :meth:`to_json` gave.

        Raises
        ------
        FormatError
            If it is wrong; the message begins with the place of the step.
        """
        if not isinstance(value, Sequence) or not a_list(value):
            raise FormatError(f"{place} is {brief(value)}; give a list of steps, each an object with a type")
        steps = []
        for number, one in enumerate(value):
            fields = Fields.of(one, f"{place}[{number}]", f"give one such as {_EXAMPLE}")
            steps.append(_read(Fields(fields.values, fields.place, fields.text("type")), _EVERY))
        return cls(tuple(steps))

    def to_json(self) -> list[dict[str, Any]]:
        """The steps as objects of our own format, which are Hugging Face's where it has them."""
        return [step.to_json() for step in self.steps]

    def apply(self, text: str) -> str:
        """Normalise a text. A byte that is no UTF-8 is U+DC80 to U+DCFF, as ``surrogateescape`` has it.

        Raises
        ------
        PatternError
            If the regex of a Replace takes too long.
        """
        for step in self.steps:
            text = step.apply(text)
        return text

    def align(self, text: str) -> tuple[str, list[int], list[int]]:
        """Normalise a text, and tell where each character of the result is from.

        Returns
        -------
        (str, list of int, list of int)
            The result, and for each of its characters the start and the end in characters of the text. They are the
            owner's, which for marks that change their order are places in the text and not the marks' own.
        """
        starts, ends = list(range(len(text))), list(range(1, len(text) + 1))
        for step in self.steps:
            text, starts, ends = step.align(text, starts, ends)
        return text, starts, ends


_NAMED: dict[str, Step] = {
    "nfc": NFC(),
    "nfd": NFD(),
    "nfkc": NFKC(),
    "nfkd": NFKD(),
    "lower": Lowercase(),
    "strip_accents": StripAccents(),
}


def normaliser_of(value: Any) -> Normaliser | None:
    """The normaliser that ``train(normalizer=...)`` names; None where it is none.

    Parameters
    ----------
    value : None, str, ("replace", old, new), Normaliser, or a list of these
        A str is "nfc", "nfd", "nfkc", "nfkd", "lower" or "strip_accents". Steps go in the order of the list.

    Raises
    ------
    TrainingError
        It is something else.

    Examples
    --------
    >>> normaliser_of(["nfkc", "lower", ("replace", "\u201c", '"')]).apply("\u201cﬁsh")
    '"fish'
    """
    if value is None:
        return None
    if isinstance(value, Normaliser):
        return value if value.steps else None
    if isinstance(value, Step):
        return Normaliser((value,))
    if isinstance(value, str) and value.lower() in _NAMED:
        return Normaliser((_NAMED[value.lower()],))
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        if len(value) == 3 and value[0] == "replace" and all(isinstance(part, str) for part in value):
            return Normaliser((_replacement(value[1], value[2]),))
        parts = [normaliser_of(part) for part in value]
        steps = tuple(step for part in parts if part is not None for step in part.steps)
        return Normaliser(steps) if steps else None
    raise TrainingError(
        f'normalizer is {brief(value)}; it can be {", ".join(map(repr, _NAMED))}, ("replace", old, new), or a list of '
        "these"
    )


def _replacement(old: str, new: str) -> Replace:
    if not old:
        raise TrainingError("normalizer: the text to replace is empty; give what is to be replaced")
    for text in (old, new):
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise TrainingError(
                f"normalizer: {text!r} holds a lone surrogate at {error.start}; give characters"
            ) from None
    return Replace(old, new)


def _read(fields: Fields, kinds: Mapping[str, type[Step]]) -> Step:
    if fields.kind not in kinds:
        raise fields.refuse(f"is not supported; there are {', '.join(sorted(kinds))}")
    try:
        return kinds[fields.kind].read(fields)
    except FormatError as error:
        if str(error).startswith(fields.place):
            raise
        raise fields.refuse(f"is wrong: {error}") from error
