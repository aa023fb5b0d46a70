"""What ``tokenizers`` calls an ``Encoding`` and an ``AddedToken``.

:class:`Encoding` makes its lists when they are asked for: most callers want ids alone, which encoding gives at once.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..pipeline.template import Padding, sequence_of
from ..vocabulary import FLAGS

__all__ = ["AddedToken", "Encoding"]

Span = tuple[int, int]

_LISTS = ("ids", "type_ids", "tokens", "words", "offsets", "special_tokens_mask", "attention_mask")
_SHOWN = "ids, type_ids, tokens, offsets, attention_mask, special_tokens_mask, overflowing"


class AddedToken:
    """A token that is found in a text by its name, and what it asks for there.

    ``normalized``, to be looked for in the normalised text, is the rule for what is not special.
    """

    def __init__(
        self,
        content: str = "",
        single_word: bool = False,
        lstrip: bool = False,
        rstrip: bool = False,
        normalized: bool | None = None,
        special: bool = False,
    ) -> None:
        self.content = content
        self.single_word, self.lstrip, self.rstrip = single_word, lstrip, rstrip
        self._normalized = normalized
        self.special = special

    @classmethod
    def of(cls, token: Any, special: bool = False) -> AddedToken:
        """A name, or an added token of ours or of the owner; ``special`` makes it special, as the owner does."""
        if isinstance(token, str):
            return cls(token, special=special)
        if special and hasattr(token, "special"):
            token.special = True
        try:
            return cls(**{name: getattr(token, name) for name in ("content", *FLAGS, "special")})
        except AttributeError:
            raise TypeError(f"an added token is a str or an AddedToken, not a {type(token).__name__}") from None

    @property
    def normalized(self) -> bool:
        return not self.special if self._normalized is None else self._normalized

    def __str__(self) -> str:
        return self.content

    def __repr__(self) -> str:
        asked = ("rstrip", "lstrip", "single_word", "normalized", "special")
        shown = ", ".join(f"{name}={getattr(self, name)}" for name in asked)
        return f'AddedToken("{self.content}", {shown})'

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AddedToken) and self.__getstate__() == other.__getstate__()

    def __hash__(self) -> int:
        return hash(self.content)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("content", *FLAGS, "special")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]


class Encoding:
    """One text or a pair as a model takes it, and lists of the same length that say where everything is from.

    Made by :class:`bytepair.compat.tokenizers.Tokenizer`. All lists are copies.
    """

    __slots__ = ("_lists", "_make", "_overflowing", "_ranges")

    def __init__(
        self,
        lists: dict[str, list[Any]] | None = None,
        ranges: dict[int, Span] | None = None,
        make: Callable[[str], list[Any]] | None = None,
        overflowing: list[Encoding] | Callable[[], list[Encoding]] | None = None,
    ) -> None:
        """``make`` gives a list that ``lists`` lacks, by its name; without ``lists`` it is an encoding of nothing."""
        self._lists = lists if lists is not None else {name: [] for name in _LISTS}
        self._make = make
        self._ranges = ranges or {}
        self._overflowing: list[Encoding] | Callable[[], list[Encoding]] = overflowing or []

    def _list(self, name: str) -> list[Any]:
        if name not in self._lists and self._make is not None:
            self._lists[name] = self._make(name)
        return self._lists[name]

    def _flows_over(self) -> list[Encoding]:
        if not isinstance(self._overflowing, list):
            self._overflowing = self._overflowing()
        return self._overflowing

    # ---- the lists ----

    @property
    def ids(self) -> list[int]:
        """What the model takes."""
        return self._list("ids")[:]

    @property
    def type_ids(self) -> list[int]:
        """Which of the two texts an id counts to, as the post-processor says."""
        return self._list("type_ids")[:]

    @property
    def tokens(self) -> list[str]:
        """The tokens as the vocabulary writes them; where a text named one, what was matched there."""
        return self._list("tokens")[:]

    @property
    def word_ids(self) -> list[int | None]:
        """The number of each token's word (a pretoken, or what ``is_pretokenized`` gave); None where there is none."""
        return self._list("words")[:]

    @property
    def words(self) -> list[int | None]:
        """The old name of :attr:`word_ids`."""
        warnings.warn(
            "Deprecated in 0.9.4: Encoding.words is deprecated, please use Encoding.word_ids instead.",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.word_ids

    @property
    def offsets(self) -> list[Span]:
        """Where each token is from, in characters of its text."""
        return self._list("offsets")[:]

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for what the post-processor or padding added."""
        return self._list("special_tokens_mask")[:]

    @property
    def attention_mask(self) -> list[int]:
        """0 for padding."""
        return self._list("attention_mask")[:]

    @property
    def overflowing(self) -> list[Encoding]:
        """What truncation cut off, each piece wrapped for itself."""
        return self._flows_over()[:]

    @property
    def sequence_ids(self) -> list[int | None]:
        """Which text each token is from; None for what was added."""
        return sequence_of(self._ranges, len(self))

    @property
    def n_sequences(self) -> int:
        """How many texts there are."""
        return len(self._ranges) or 1

    def __len__(self) -> int:
        return len(self._list("ids"))

    def __repr__(self) -> str:
        return f"Encoding(num_tokens={len(self)}, attributes=[{_SHOWN}])"

    # ---- from tokens to characters and words, and back ----

    def _range(self, sequence_index: int) -> range:
        return range(*self._ranges.get(sequence_index, (0, len(self))))

    def token_to_sequence(self, token_index: int) -> int | None:
        """Which text a token is from."""
        if not self._ranges:
            return 0 if 0 <= token_index <= len(self) else None
        return next((i for i, (start, end) in self._ranges.items() if start <= token_index < end), None)

    def token_to_chars(self, token_index: int) -> Span | None:
        """Where a token of a text is from."""
        known = 0 <= token_index < len(self) and self.token_to_sequence(token_index) is not None
        found: Span | None = self._list("offsets")[token_index] if known else None
        return found

    def token_to_word(self, token_index: int) -> int | None:
        """The word that a token of a text belongs to."""
        known = 0 <= token_index < len(self) and self.token_to_sequence(token_index) is not None
        found: int | None = self._list("words")[token_index] if known else None
        return found

    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> Span | None:
        """The tokens of a word: the first, and the one behind the last."""
        words = self._list("words")
        found = []
        for place in self._range(sequence_index):
            word = words[place]
            if word is not None and word > word_index:
                break
            if word == word_index:
                found.append(place)
        return (found[0], found[-1] + 1) if found else None

    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> Span | None:
        """Where a word is from."""
        tokens = self.word_to_tokens(word_index, sequence_index)
        if tokens is None:
            return None
        offsets = self._list("offsets")
        return offsets[tokens[0]][0], offsets[tokens[1] - 1][1]

    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """The first token that has a character of a text."""
        offsets = self._list("offsets")
        return next((i for i in self._range(sequence_index) if offsets[i][0] <= char_pos < offsets[i][1]), None)

    def char_to_word(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """The word that a character of a text belongs to."""
        token = self.char_to_token(char_pos, sequence_index)
        return None if token is None else self.token_to_word(token)

    # ---- changing it ----

    def set_sequence_id(self, sequence_id: int) -> None:
        """Say that all of it is the text of that number."""
        self._ranges[sequence_id] = (0, len(self))

    def pad(
        self,
        length: int,
        *,
        direction: str = "right",
        pad_id: int = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",  # noqa: S107 - no password
    ) -> None:
        """Add padding up to a length, here and in what flows over."""
        check_direction(direction)
        self._pad(length, Padding(None, direction, None, pad_id, pad_type_id, pad_token))

    def _pad(self, length: int, padding: Padding) -> None:
        if isinstance(self._overflowing, list):
            for one in self._overflowing:
                one._pad(length, padding)
        else:
            self._overflowing = _padded_later(self._overflowing, length, padding)
        missing = length - len(self)
        if missing <= 0:
            return
        fills: dict[str, Any] = {
            "ids": padding.pad_id,
            "type_ids": padding.pad_type_id,
            "tokens": padding.pad_token,
            "words": None,
            "offsets": (0, 0),
            "special_tokens_mask": 1,
            "attention_mask": 0,
        }
        make = self._make
        if make is not None:
            self._make = lambda name: padding.pad(make(name), length, fills[name])
        for name, values in self._lists.items():
            self._lists[name] = padding.pad(values, length, fills[name])
        if padding.direction == "left":
            self._ranges = {i: (start + missing, end + missing) for i, (start, end) in self._ranges.items()}

    def truncate(self, max_length: int, stride: int = 0, direction: str = "right") -> None:
        """Cut it off; the other slices are what flows over, and which text is where is forgotten."""
        if direction not in ("left", "right"):
            raise ValueError(f"Invalid truncation direction value : {direction}")
        size = len(self)
        if max_length >= size:
            return
        whole = self._whole()
        if max_length == 0:
            cut_off = Encoding(whole, self._ranges, None, self._flows_over())
            self._become({name: [] for name in _LISTS}, {}, [cut_off])
            return
        if stride >= max_length:
            raise ValueError(f"stride is {stride}, and should be less than max_length, which is {max_length}")
        step = max_length - stride
        slices = []
        for start in range(0, size, step):
            slices.append((start, min(start + max_length, size)))
            if slices[-1][1] == size:
                break
        if direction == "left":
            slices = [(size - end, size - start) for start, end in slices]
        parts = [{name: values[start:end] for name, values in whole.items()} for start, end in slices]
        self._become(parts[0], {}, [Encoding(part) for part in parts[1:]])

    @staticmethod
    def merge(encodings: Iterable[Encoding], growing_offsets: bool = True) -> Encoding:
        """One after the other; with ``growing_offsets`` as of one text that has them all."""
        merged = Encoding()
        for one in encodings:
            merged._append(one, growing_offsets)
        return merged

    def _append(self, other: Encoding, growing: bool) -> None:
        flows: list[Encoding] = []
        for mine in self._flows_over():
            for theirs in (other, *other._flows_over()):
                flows.append(mine._copy())
                flows[-1]._append(theirs, growing)
        for theirs in other._flows_over():
            flows.append(self._copy())
            flows[-1]._append(theirs, growing)
        size, whole, added = len(self), self._whole(), other._whole()
        shift = whole["offsets"][-1][1] if growing and size else 0
        joined = {name: whole[name] + added[name] for name in _LISTS}
        if shift:
            joined["offsets"][size:] = [(start + shift, end + shift) for start, end in added["offsets"]]
        places = {i: (size + start, size + end) for i, (start, end) in other._ranges.items()}
        self._become(joined, {**self._ranges, **places}, flows)

    def _whole(self) -> dict[str, list[Any]]:
        return {name: self._list(name) for name in _LISTS}

    def _become(self, lists: dict[str, list[Any]], ranges: dict[int, Span], overflowing: list[Encoding]) -> None:
        self._lists, self._ranges, self._make, self._overflowing = lists, ranges, None, overflowing

    def _copy(self) -> Encoding:
        return Encoding(self._whole(), dict(self._ranges), None, [one._copy() for one in self._flows_over()])

    def __getstate__(self) -> tuple[Any, ...]:
        return self._whole(), self._ranges, self._flows_over()

    def __setstate__(self, state: Sequence[Any]) -> None:
        self._become(*state)


def _padded_later(make: Callable[[], list[Encoding]], length: int, padding: Padding) -> Callable[[], list[Encoding]]:
    def padded() -> list[Encoding]:
        found = make()
        for one in found:
            one._pad(length, padding)
        return found

    return padded


def check_direction(direction: str) -> None:
    if direction not in ("left", "right"):
        raise ValueError(f"Unknown `direction`: `{direction}`. Use one of `left` or `right`")
