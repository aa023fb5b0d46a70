"""From token strings to text: what Hugging Face calls a decoder.

:class:`Output` reads the ``decoder`` of a ``tokenizer.json`` and does what its owner does, step by step: every step
takes the pieces of the one before. Readers of such files hold it; turning ids into token strings is not its matter.
Where the owner panics (a Strip from both ends of a token that is nothing else) nothing of the token is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, ClassVar, NamedTuple

from .._check import brief
from .._text import starts_of, to_bytes
from ..errors import FormatError, PatternError
from ..pattern import Pattern
from .fields import Fields, flat
from .letters import from_letters

__all__ = [
    "CTC",
    "BPEDecoder",
    "ByteFallback",
    "ByteLevel",
    "Fuse",
    "Metaspace",
    "Output",
    "Replace",
    "Spaces",
    "Step",
    "Strip",
    "WordPiece",
]


# In the owner's order: each works on what the one before has left.
_CLEANUP = (
    *((" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"), (" 'm", "'m")),
    *((" do not", " don't"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re")),
)


def _clean(text: str) -> str:
    """Text without the spaces that English does not write."""
    for before, after in _CLEANUP:
        text = text.replace(before, after)
    return text


@dataclass(frozen=True)
class Step:
    """One step of an output; ``kind`` is its type in the file, its attributes are its fields there."""

    kind: ClassVar[str]

    def chain(self, tokens: Sequence[str]) -> list[str]:
        """The pieces that the step makes of the pieces before it."""
        raise NotImplementedError

    def exact(self, tokens: Sequence[str]) -> list[str]:
        """As :meth:`chain`, with bytes that are no UTF-8 kept as lone surrogates."""
        return self.chain(tokens)

    @classmethod
    def read(cls, fields: Fields) -> Step:
        """The step that an object of the file says."""
        del fields
        return cls()

    def to_huggingface(self) -> dict[str, Any]:
        """The object as the file has it."""
        return {"type": self.kind, **vars(self)}


@dataclass(frozen=True)
class Spaces(Step):
    """What the owner does without a decoder: it joins the tokens with spaces."""

    kind: ClassVar[str] = ""

    def chain(self, tokens: Sequence[str]) -> list[str]:
        return [" ".join(tokens)]


@dataclass(frozen=True)
class BPEDecoder(Step):
    """The mark of a word's end becomes a space, and nothing in the last token."""

    kind: ClassVar[str] = "BPEDecoder"
    suffix: str

    @classmethod
    def read(cls, fields: Fields) -> BPEDecoder:
        return cls(fields.text("suffix"))

    def chain(self, tokens: Sequence[str]) -> list[str]:
        last = [token.replace(self.suffix, "") for token in tokens[-1:]]
        return [token.replace(self.suffix, " ") for token in tokens[:-1]] + last


@dataclass(frozen=True)
class ByteLevel(Step):
    """Letters for bytes become the bytes, and these one text; a token with any other character is itself."""

    kind: ClassVar[str] = "ByteLevel"
    add_prefix_space: bool = True
    trim_offsets: bool = True
    use_regex: bool = True

    @classmethod
    def read(cls, fields: Fields) -> ByteLevel:
        space, trim = fields.boolean("add_prefix_space"), fields.boolean("trim_offsets")
        return cls(space, trim, fields.boolean("use_regex", True))

    def chain(self, tokens: Sequence[str]) -> list[str]:
        return [_bytes_of(tokens).decode("utf-8", "replace")]

    def exact(self, tokens: Sequence[str]) -> list[str]:
        return [_bytes_of(tokens).decode("utf-8", "surrogateescape")]


def _bytes_of(tokens: Sequence[str]) -> bytes:
    data = from_letters("".join(tokens))
    return b"".join(map(_token_to_bytes, tokens)) if data is None else data


def _token_to_bytes(token: str) -> bytes:
    data = from_letters(token)
    return to_bytes(token, "surrogateescape", f"token {brief(token)}: ") if data is None else data


@dataclass(frozen=True)
class WordPiece(Step):
    """Tokens stand apart by a space, but for those with the prefix of what goes on."""

    kind: ClassVar[str] = "WordPiece"
    prefix: str
    cleanup: bool

    @classmethod
    def read(cls, fields: Fields) -> WordPiece:
        return cls(fields.text("prefix"), fields.boolean("cleanup"))

    def chain(self, tokens: Sequence[str]) -> list[str]:
        later = (t[len(self.prefix) :] if t.startswith(self.prefix) else f" {t}" for t in tokens[1:])
        pieces = [*tokens[:1], *later]
        return [_clean(piece) for piece in pieces] if self.cleanup else pieces


@dataclass(frozen=True)
class Metaspace(Step):
    """The mark becomes a space; in the first token it goes, where encoding put it there."""

    kind: ClassVar[str] = "Metaspace"
    replacement: str
    prepend_scheme: str = "always"
    split: bool = True

    @classmethod
    def read(cls, fields: Fields) -> Metaspace:
        replacement = fields.character("replacement")
        scheme = fields.choice("prepend_scheme", ("first", "never", "always"), "always")
        # Files of old versions have add_prefix_space alone; the owner refuses what says both ways.
        old = fields.values.get("add_prefix_space")
        if old is not None and not isinstance(old, bool):
            raise fields.refuse(f"has add_prefix_space={brief(old)}; give true or false")
        if old is False and scheme != "never":
            raise fields.refuse(f'has add_prefix_space=False beside prepend_scheme={scheme!r}; make this "never"')
        return cls(replacement, scheme, fields.boolean("split", True))

    def chain(self, tokens: Sequence[str]) -> list[str]:
        first = " " if self.prepend_scheme == "never" else ""
        return [token.replace(self.replacement, " " if place else first) for place, token in enumerate(tokens)]


@dataclass(frozen=True)
class ByteFallback(Step):
    """A run of tokens ``<0xNN>`` becomes the text of its bytes, or one U+FFFD a byte where these are no UTF-8."""

    kind: ClassVar[str] = "ByteFallback"

    def chain(self, tokens: Sequence[str]) -> list[str]:
        pieces: list[str] = []
        for is_byte, run in groupby(tokens, lambda token: _byte(token) is not None):
            some = list(run)
            pieces += _text_of(some) if is_byte else some
        return pieces

    def exact(self, tokens: Sequence[str]) -> list[str]:
        pieces: list[str] = []
        for is_byte, run in groupby(tokens, lambda token: _byte(token) is not None):
            some = list(run)
            pieces += [_data_of(some).decode("utf-8", "surrogateescape")] if is_byte else some
        return pieces


def _byte(token: str) -> int | None:
    """The byte that a token names; "+" counts as a leading zero, as in the owner's reader of numbers."""
    if len(token) != 6 or not (token.startswith("<0x") and token.endswith(">")):
        return None
    digits = token[4:5] if token[3] == "+" else token[3:5]
    return int(digits, 16) if all(digit in "0123456789abcdefABCDEF" for digit in digits) else None


def _data_of(run: Iterable[str]) -> bytes:
    return bytes(byte for byte in map(_byte, run) if byte is not None)


def _text_of(run: Sequence[str]) -> list[str]:
    data = _data_of(run)
    try:
        return [data.decode("utf-8")]
    except UnicodeDecodeError:
        return ["\ufffd"] * len(data)


@dataclass(frozen=True)
class Fuse(Step):
    """All pieces become one, which matters to the steps after it."""

    kind: ClassVar[str] = "Fuse"

    def chain(self, tokens: Sequence[str]) -> list[str]:
        return ["".join(tokens)]


@dataclass(frozen=True)
class Strip(Step):
    """A character goes from both ends of every token: at most ``start`` and ``stop`` times."""

    kind: ClassVar[str] = "Strip"
    content: str
    start: int
    stop: int

    @classmethod
    def read(cls, fields: Fields) -> Strip:
        return cls(fields.character("content"), fields.whole("start"), fields.whole("stop"))

    def chain(self, tokens: Sequence[str]) -> list[str]:
        return [self._strip(token) for token in tokens]

    def _strip(self, token: str) -> str:
        start = min(self.start, len(token) - len(token.lstrip(self.content)))
        token = token[start:]
        return token[: len(token) - min(self.stop, len(token) - len(token.rstrip(self.content)))]


@dataclass(frozen=True)
class Replace(Step):
    """Every match in a token becomes the content; a "$1" there means itself.

    Attributes
    ----------
    string, regex : str or None
        What is replaced; one of them is None. A regex is one of Oniguruma's.
    content : str
    """

    kind: ClassVar[str] = "Replace"
    string: str | None
    regex: Pattern | None
    content: str

    @classmethod
    def read(cls, fields: Fields) -> Replace:
        cure = 'give {"String": ...} or {"Regex": ...}'
        pattern = fields.get("pattern", cure)
        if not isinstance(pattern, Mapping) or len(pattern) != 1 or not {"String", "Regex"} >= pattern.keys():
            raise fields.refuse(f"has pattern={brief(pattern)}; {cure}")
        ((form, text),) = pattern.items()
        if not isinstance(text, str):
            raise fields.refuse(f"has {form}={brief(text)}; give a string")
        content = fields.text("content")
        if form == "String":
            return cls(text, None, content)
        try:
            return cls(None, Pattern(text, dialect="oniguruma", drop="gaps"), content)
        except PatternError as error:
            raise fields.refuse(f"has a pattern that cannot be used: {error}") from error

    def to_huggingface(self) -> dict[str, Any]:
        pattern = {"String": self.string} if self.regex is None else {"Regex": self.regex.regex}
        return {"type": self.kind, "pattern": pattern, "content": self.content}

    def chain(self, tokens: Sequence[str]) -> list[str]:
        if self.regex is None:
            # Nothing stands in an empty token, not even the empty string.
            return [token and token.replace(self.string or "", self.content) for token in tokens]
        return [self._matches_replaced(self.regex, token) for token in tokens]

    def _matches_replaced(self, regex: Pattern, token: str) -> str:
        data = to_bytes(token, "surrogateescape", f"token {brief(token)}: ")
        pieces, place = [], 0
        for start, end in regex.spans(data):
            pieces.append(data[place:start].decode("utf-8", "surrogateescape"))
            place = end
        pieces.append(data[place:].decode("utf-8", "surrogateescape"))
        return self.content.join(pieces)


@dataclass(frozen=True)
class CTC(Step):
    """Repeated tokens become one, pads go, and with ``cleanup`` the word delimiter becomes a space."""

    kind: ClassVar[str] = "CTC"
    pad_token: str
    word_delimiter_token: str
    cleanup: bool

    @classmethod
    def read(cls, fields: Fields) -> CTC:
        return cls(fields.text("pad_token"), fields.text("word_delimiter_token"), fields.boolean("cleanup"))

    def chain(self, tokens: Sequence[str]) -> list[str]:
        pieces = [token.replace(self.pad_token, "") for token, _ in groupby(tokens)]
        if self.cleanup:
            pieces = [_clean(piece).replace(self.word_delimiter_token, " ") for piece in pieces]
        return [piece for piece in pieces if piece]


_STEPS: dict[str, Callable[[Fields], Step]] = {
    step.kind: step.read
    for step in (BPEDecoder, ByteFallback, ByteLevel, CTC, Fuse, Metaspace, Replace, Strip, WordPiece)
}


@dataclass(frozen=True)
class Output:
    """How token strings become text; immutable, hashable and picklable.

    Attributes
    ----------
    steps : tuple of Step
        What is done, in order. Sequences of the file are opened, so that one of a single step is that step.

    Examples
    --------
    >>> words = Output.from_huggingface({"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True})
    >>> words.decode(["Hello", "Ġworld"])
    'Hello world'
    >>> Output.from_huggingface(None).decode(["Hello", "world"])
    'Hello world'
    """

    steps: tuple[Step, ...]

    @classmethod
    def from_huggingface(cls, value: Mapping[str, Any] | None, place: str = "decoder") -> Output:
        """Read a decoder.

        Parameters
        ----------
        value
            The object as ``tokenizer.json`` has it; None is no decoder: the tokens are joined with spaces.
        place
            Where it stands, for errors.

        Raises
        ------
        FormatError
            If it is no decoder, or has a field that is missing or wrong.
        """
        if value is None:
            return cls((Spaces(),))
        return cls(tuple(_step(fields) for fields in flat(value, place, "decoders", "ByteLevel")))

    def to_huggingface(self) -> dict[str, Any] | None:
        """The object as ``tokenizer.json`` has it."""
        if self.steps == (Spaces(),):
            return None
        if any(isinstance(step, Spaces) for step in self.steps):
            raise FormatError("Spaces is what a file without a decoder means, so no other step can stand beside it")
        steps = [step.to_huggingface() for step in self.steps]
        return steps[0] if len(steps) == 1 else {"type": "Sequence", "decoders": steps}

    def chain(self, tokens: Sequence[str]) -> list[str]:
        """The pieces that are left of the tokens, one str each."""
        pieces = list(tokens)
        for step in self.steps:
            pieces = step.chain(pieces)
        return pieces

    def decode(self, tokens: Sequence[str], exact: bool = False) -> str:
        """The text of the tokens; ``exact`` keeps bytes that are no UTF-8 as ``surrogateescape`` does."""
        pieces = list(tokens)
        for step in self.steps:
            pieces = step.exact(pieces) if exact else step.chain(pieces)
        return "".join(pieces)

    def starts(self, tokens: Sequence[str]) -> list[int]:
        """In which character of the text each token begins.

        A step that does more to a joined text than take characters from its beginning leaves the places where they
        were, or at the text's end.
        """
        pieces = [_Piece(token, [0]) for token in tokens]
        for step in self.steps:
            pieces = _followed(step, pieces)
        out: list[int] = []
        at = 0
        for piece in pieces:
            out += [at + min(start, len(piece.text)) for start in piece.starts]
            at += len(piece.text)
        return out


class _Piece(NamedTuple):
    """A piece on its way to the text, and where in it the tokens begin that it was made of."""

    text: str
    starts: list[int]


def _joined(pieces: Sequence[_Piece], text: str) -> _Piece:
    starts: list[int] = []
    at = 0
    for piece in pieces:
        starts += [at + start for start in piece.starts]
        at += len(piece.text)
    return _Piece(text, starts)


def _followed(step: Step, pieces: Sequence[_Piece]) -> list[_Piece]:
    """What a step makes of pieces, with the places of the tokens."""
    if isinstance(step, ByteLevel) and all(len(piece.starts) == 1 for piece in pieces):
        texts = [piece.text for piece in pieces]
        text = "".join(step.chain(texts))
        return [_Piece(text, starts_of([_token_to_bytes(token) for token in texts], text))]
    if isinstance(step, ByteFallback):
        out: list[_Piece] = []
        for is_byte, run in groupby(pieces, lambda piece: _byte(piece.text) is not None):
            some = list(run)
            if is_byte:
                text = "".join(_text_of([piece.text for piece in some]))
                data = [bytes([_byte(piece.text) or 0]) for piece in some]
                valid = len(text) < len(data) or text.isascii()
                some = [_Piece(text, starts_of(data, text) if valid else list(range(len(data))))]
            out += some
        return out
    made = step.chain([piece.text for piece in pieces])
    if len(made) != len(pieces) or isinstance(step, Fuse):
        return [_joined(pieces, "".join(made))]
    followed = []
    for piece, text in zip(pieces, made, strict=True):
        gone = len(piece.text) - len(text) if piece.text.endswith(text) else 0
        followed.append(_Piece(text, [max(start - gone, 0) for start in piece.starts]))
    return followed


def _step(fields: Fields) -> Step:
    if fields.kind not in _STEPS:
        raise fields.refuse(f"is no decoder; there are {', '.join(_STEPS)} and Sequence")
    return _STEPS[fields.kind](fields)
