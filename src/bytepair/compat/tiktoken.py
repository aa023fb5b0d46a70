"""tiktoken's own interface, on this library's tokenizers and the vocabularies inside the package: no network.

``import bytepair.compat.tiktoken as tiktoken`` takes the place of ``import tiktoken`` (0.14): the same names,
arguments, defaults, ids and types of errors. What differs is for the better: encodings are there offline, and what
ends tiktoken's process or panics there is a ``ValueError``, ``TypeError`` or an ordinary result here.

Examples
--------
>>> import bytepair.compat.tiktoken as tiktoken
>>> enc = tiktoken.get_encoding("cl100k_base")
>>> enc.encode("hello world")
[15339, 1917]
>>> tiktoken.encoding_for_model("gpt-4o").name
'o200k_base'
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from .. import bundled
from ..errors import TextError, UnknownTokenError, VocabularyError
from ..pattern import Pattern
from ..tokenizer import Tokenizer
from ._arguments import (
    as_text,
    check_threads,
    finder,
    listed,
    number,
    one_id_each,
    raise_disallowed_special_token,
    repaired,
)
from ._unstable import completions, last_piece_length, merged

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = [
    "Encoding",
    "encoding_for_model",
    "encoding_name_for_model",
    "get_encoding",
    "list_encoding_names",
]

__version__ = "0.14.0"
"""The version of tiktoken whose behaviour this has."""

Allowed = Literal["all"] | Set[str]
Disallowed = Literal["all"] | Collection[str]


class Encoding:
    """An encoding: ranks, the pattern that cuts text into pieces, and special tokens.

    Parameters
    ----------
    name : str
    pat_str : str
        The pattern; what it leaves unmatched is dropped, as tiktoken drops it.
    mergeable_ranks : bytes -> rank
        Every single byte must have one.
    special_tokens : name -> token
        Names may share a token, and a token may be one of the ranks.
    explicit_n_vocab : int, optional
        How many tokens there must be.

    Examples
    --------
    >>> enc = Encoding("bytes", pat_str=r"(?s:.)", mergeable_ranks={bytes([b]): b for b in range(256)},
    ...                special_tokens={"<|end|>": 256})
    >>> enc.encode("hi<|end|>", allowed_special={"<|end|>"})
    [104, 105, 256]
    """

    def __init__(
        self,
        name: str,
        *,
        pat_str: str,
        mergeable_ranks: dict[bytes, int],
        special_tokens: dict[str, int],
        explicit_n_vocab: int | None = None,
    ) -> None:
        pattern = Pattern(pat_str)
        if pattern.name is None:
            pattern = Pattern(pat_str, drop="gaps")
        specials, real = one_id_each(special_tokens, mergeable_ranks)
        tokenizer = Tokenizer.from_ranks(mergeable_ranks, pattern=pattern, specials=specials)
        self._mergeable_ranks = mergeable_ranks
        self._fill(name, pat_str, special_tokens, tokenizer, real)
        if explicit_n_vocab:
            there = len(mergeable_ranks) + len(special_tokens)
            if there != explicit_n_vocab or self.max_token_value != explicit_n_vocab - 1:
                raise VocabularyError(
                    f"explicit_n_vocab={explicit_n_vocab}, but there are {there} tokens, the highest being "
                    f"{self.max_token_value}; give their number, or leave it out where tokens are missing between"
                )

    def _fill(
        self, name: str, pat_str: str, special_tokens: dict[str, int], tokenizer: Tokenizer, real: dict[int, int]
    ) -> None:
        self.name = name
        self._pat_str = pat_str
        self._special_tokens = special_tokens
        self._tokenizer = tokenizer
        self._real = real  # the ids that stand in for special tokens that share theirs -> the shared ones
        highest = max(tokenizer.ranks.values())
        self.max_token_value: int = max(highest, max(special_tokens.values(), default=0))
        self._special_values = frozenset(special_tokens.values())
        self._all_names = frozenset(special_tokens)

    @classmethod
    def _bundled(cls, name: str) -> Encoding:
        """The encoding of a bundled vocabulary. tiktoken runs all of them under the rank rule, GPT-2's too."""
        same = "r50k_base" if name == "gpt2" else name
        specials = bundled.specials(name)
        tokenizer = bundled.load(same)
        pat_str = tokenizer.pattern.regex
        if len(set(specials.values())) < len(specials):
            return cls(name, pat_str=pat_str, mergeable_ranks=bundled.ranks(name), special_tokens=specials)
        made = cls.__new__(cls)
        made._fill(name, pat_str, specials, tokenizer, {})
        return made

    @cached_property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        ranks: Any = self._tokenizer.ranks
        return dict(ranks)

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    # ---- text to tokens ----

    def encode_ordinary(self, text: str) -> list[int]:
        """The tokens of a text; names of special tokens are text like any other."""
        return self._ids(as_text(text), self._tokenizer.encode, frozenset())

    def encode(
        self, text: str, *, allowed_special: Allowed = frozenset(), disallowed_special: Disallowed = "all"
    ) -> list[int]:
        """The tokens of a text.

        Parameters
        ----------
        text : str
            Surrogate pairs become their character, lone surrogates U+FFFD.
        allowed_special : "all" or a set of names
            Which special tokens' names are those tokens.
        disallowed_special : "all" or names
            Which names are an error in the text: all that are not allowed, by default. With ``()`` there is no error,
            and names that are not allowed are text.

        Raises
        ------
        ValueError
            A disallowed name is in the text; the message says how to allow it.
        """
        allowed = self._allowed(as_text(text), allowed_special, disallowed_special)
        return self._ids(text, self._tokenizer.encode, allowed)

    def encode_to_numpy(
        self, text: str, *, allowed_special: Allowed = frozenset(), disallowed_special: Disallowed = "all"
    ) -> npt.NDArray[np.uint32]:
        """As :meth:`encode`, into a numpy array: uint32, shape (n_tokens,). Lone surrogates are an error."""
        import numpy as np

        allowed = self._allowed(as_text(text), allowed_special, disallowed_special)
        text.encode("utf-8")
        ids = self._tokenizer.encode_array(text, special=self._special(allowed))
        if self._real and allowed:
            return np.array([self._real.get(i, i) for i in ids.tolist()], dtype=np.uint32)
        return ids

    def encode_ordinary_batch(self, text: Iterable[str], *, num_threads: int = 8) -> list[list[int]]:
        """As :meth:`encode_ordinary`, for many texts on several threads."""
        return self._batch(list(map(as_text, text)), frozenset(), num_threads)

    def encode_batch(
        self,
        text: Iterable[str],
        *,
        num_threads: int = 8,
        allowed_special: Allowed = frozenset(),
        disallowed_special: Disallowed = "all",
    ) -> list[list[int]]:
        """As :meth:`encode`, for many texts on several threads."""
        texts = list(map(as_text, text))
        allowed = self._allowed("", allowed_special, disallowed_special)
        if not isinstance(disallowed_special, str):
            disallowed_special = frozenset(disallowed_special)
        for one in texts:
            self._allowed(one, allowed_special, disallowed_special)
        return self._batch(texts, allowed, num_threads)

    def encode_with_unstable(
        self, text: str, *, allowed_special: Allowed = frozenset(), disallowed_special: Disallowed = "all"
    ) -> tuple[list[int], list[list[int]]]:
        """The tokens of a text that stay whatever follows it, and all that the rest of it may become.

        The stable tokens and any of the completions decode to what starts with the text. The completions are sorted.
        """
        allowed = self._allowed(as_text(text), allowed_special, disallowed_special)
        text.encode("utf-8")
        tokens, n_last = self._with_last_piece(text, allowed)
        if not n_last:
            return tokens, []
        unstable = b"".join(map(self._token_bytes, tokens[-n_last:]))
        return tokens[:-n_last], completions(
            unstable, self._mergeable_ranks, self._ordered, self._token_bytes, self.encode_ordinary, self._merge_piece
        )

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """The token that a text or bytes are, special tokens included.

        Raises
        ------
        KeyError
            They are none.
        """
        token = text_or_bytes.encode("utf-8") if isinstance(text_or_bytes, str) else text_or_bytes
        if not isinstance(token, bytes):
            raise TypeError(f"a token is str or bytes, not {type(token).__name__}")
        found = self._mergeable_ranks.get(token)
        if found is None:
            found = self._special_tokens.get(token.decode("utf-8", "replace"))
        if found is None:
            raise KeyError(token)
        return found

    # ---- tokens to text ----

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """The bytes of tokens.

        Raises
        ------
        KeyError
            A token does not exist.
        OverflowError
            A token is negative or no uint32.
        """
        ids = listed(tokens)
        if self._real and not self._real.keys().isdisjoint(ids):
            self._refuse(ids)
        try:
            return self._tokenizer.decode_bytes(ids)
        except (UnknownTokenError, OverflowError, TypeError):
            numbers = [number(i) for i in ids]
            self._refuse(numbers)
            return self._tokenizer.decode_bytes(numbers)

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """The text of tokens; ``errors`` is what ``bytes.decode`` takes."""
        return self.decode_bytes(tokens).decode("utf-8", errors=errors)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """The bytes of one token, special tokens included; a ``KeyError`` where it does not exist."""
        return self._token_bytes(number(token))

    def decode_tokens_bytes(self, tokens: Sequence[int]) -> list[bytes]:
        """The bytes of each token."""
        return [self.decode_single_token_bytes(token) for token in tokens]

    def decode_with_offsets(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """The text of tokens, and for each token the place of the first character that has bytes of it.

        Raises
        ------
        UnicodeDecodeError
            The tokens are no UTF-8.
        """
        offsets = []
        characters = 0
        parts = self.decode_tokens_bytes(tokens)
        for part in parts:
            goes_on = 0x80 <= part[0] < 0xC0
            offsets.append(max(0, characters - goes_on))
            characters += sum(not 0x80 <= byte < 0xC0 for byte in part)
        return b"".join(parts).decode("utf-8"), offsets

    def decode_batch(
        self, batch: Iterable[Sequence[int]], *, errors: str = "replace", num_threads: int = 8
    ) -> list[str]:
        """The texts of many rows of tokens."""
        check_threads(num_threads)
        return [self.decode(tokens, errors) for tokens in batch]

    def decode_bytes_batch(self, batch: Iterable[Sequence[int]], *, num_threads: int = 8) -> list[bytes]:
        """The bytes of many rows of tokens."""
        check_threads(num_threads)
        return [self.decode_bytes(tokens) for tokens in batch]

    # ---- facts ----

    def token_byte_values(self) -> list[bytes]:
        """The bytes of all tokens that are no special ones, sorted."""
        return list(self._ordered)

    @property
    def eot_token(self) -> int:
        """The token of ``<|endoftext|>``."""
        return self._special_tokens["<|endoftext|>"]

    @cached_property
    def special_tokens_set(self) -> set[str]:
        """The names of all special tokens."""
        return set(self._special_tokens)

    def is_special_token(self, token: int) -> bool:
        """Whether a token is a special one."""
        if not isinstance(token, int):
            raise TypeError(f"a token is an int, not {type(token).__name__}")
        return token in self._special_values

    @property
    def n_vocab(self) -> int:
        """The highest token + 1."""
        return self.max_token_value + 1

    # ---- what tiktoken's own tests call ----

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        """The tokens of a text that the pattern does not cut."""
        piece = text_or_bytes.encode("utf-8") if isinstance(text_or_bytes, str) else text_or_bytes
        return self._uncut.encode(piece)

    def _encode_only_native_bpe(self, text: str) -> list[int]:
        """The tokens of a text, cut first and then encoded piece by piece."""
        return [i for piece in self._tokenizer.pretokens(text) for i in self._encode_single_piece(piece)]

    def _encode_bytes(self, text: bytes) -> list[int]:
        """The tokens of bytes; from the first that are no UTF-8 on, they and the piece before are not cut."""
        if not isinstance(text, bytes):
            raise TypeError(f"expected bytes, got {type(text).__name__}")
        try:
            return self.encode_ordinary(text.decode("utf-8"))
        except UnicodeDecodeError as error:
            valid = error.start
        tokens, n_last = self._with_last_piece(text[:valid].decode("utf-8"), frozenset())
        kept = len(tokens) - n_last
        rest = b"".join(map(self._token_bytes, tokens[kept:])) + text[valid:]
        return [*tokens[:kept], *self._encode_single_piece(rest)]

    # ---- keeping it ----

    def __getstate__(self) -> object:
        if self is _encodings.get(self.name):
            return self.name
        return {
            "name": self.name,
            "pat_str": self._pat_str,
            "mergeable_ranks": self._mergeable_ranks,
            "special_tokens": self._special_tokens,
        }

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, str):
            self.__dict__ = get_encoding(state).__dict__
        else:
            Encoding.__init__(self, **state)

    # ---- below the methods ----

    @cached_property
    def _ordered(self) -> list[bytes]:
        return sorted(self._mergeable_ranks)

    @cached_property
    def _uncut(self) -> Tokenizer:
        return Tokenizer.from_ranks(self._mergeable_ranks, pattern="none")

    def _merge_piece(self, piece: bytes) -> list[int]:
        """The tokens of a piece by merges alone: a piece that is a token need not be one that they reach."""
        return merged(piece, self._mergeable_ranks) if piece in self._mergeable_ranks else self._uncut.encode(piece)

    def _special(self, allowed: Set[str]) -> Any:
        return "all" if allowed and len(allowed) == len(self._all_names) else allowed or "text"

    def _ids(self, text: str, encode: Callable[..., list[int]], allowed: Set[str]) -> list[int]:
        special = self._special(allowed)
        try:
            ids = encode(text, special=special)
        except TextError:
            ids = encode(repaired(text), special=special)
        return [self._real.get(i, i) for i in ids] if self._real and allowed else ids

    def _batch(self, texts: list[str], allowed: Set[str], num_threads: int) -> list[list[int]]:
        special = self._special(allowed)
        check_threads(num_threads)
        try:
            rows = self._tokenizer.encode_batch(texts, special=special, threads=num_threads)
        except TextError:
            rows = self._tokenizer.encode_batch(map(repaired, texts), special=special, threads=num_threads)
        return [[self._real.get(i, i) for i in row] for row in rows] if self._real and allowed else rows

    def _allowed(self, text: str, allowed: Allowed, disallowed: Disallowed) -> frozenset[str]:
        """The allowed names that there are; an error if the text holds a disallowed one."""
        if isinstance(allowed, str) and allowed == "all":
            allowed = self._all_names
        elif not isinstance(allowed, Set):
            raise TypeError(f'allowed_special is a {type(allowed).__name__}; give a set of names, or "all"')
        if isinstance(disallowed, str) and disallowed == "all":
            disallowed = self._all_names - allowed if allowed else self._all_names
        if disallowed and (match := finder(frozenset(disallowed)).search(text)):
            raise_disallowed_special_token(match.group())
        return self._all_names & allowed if allowed else frozenset()

    def _with_last_piece(self, text: str, allowed: frozenset[str]) -> tuple[list[int], int]:
        """The tokens of a text, and how many of them its last piece has, in tiktoken's wide sense of it."""
        tokens = self.encode(text, allowed_special=allowed, disallowed_special=())
        plain = finder(allowed).split(text)[-1] if allowed else text
        pieces = self._tokenizer.pretokens(plain)
        n_last = len(self._encode_single_piece(pieces[-1])) if pieces else 0
        return tokens, last_piece_length(tokens, n_last, self._ordinary_bytes)

    def _ordinary_bytes(self, token: int) -> bytes:
        return b"<" if token in self._special_values else self._token_bytes(token)

    def _token_bytes(self, token: int) -> bytes:
        found = None if token in self._real else self._vocab.get(token)
        if found is None:
            raise _unknown(token)
        return found

    @cached_property
    def _vocab(self) -> Mapping[int, bytes]:
        return self._tokenizer.vocab

    def _refuse(self, ids: Iterable[int]) -> None:
        """The error for the first token that does not exist, if there is one."""
        for i in ids:
            if i in self._real or i not in self._vocab:
                raise _unknown(i)


def _unknown(token: int) -> KeyError:
    return KeyError(f"Invalid token for decoding: {token}")


# ---- encodings by name ----

_encodings: dict[str, Encoding] = {}
_lock = threading.RLock()


def list_encoding_names() -> list[str]:
    """The names of all encodings: tiktoken's own."""
    return [name for name in bundled.names() if name != "qwen2"]


def get_encoding(encoding_name: str) -> Encoding:
    """The encoding of a name, always the same object.

    Raises
    ------
    ValueError
        There is none.
    """
    if not isinstance(encoding_name, str):
        raise ValueError(f"the name of an encoding is a str, not {type(encoding_name).__name__}")
    with _lock:
        if encoding_name not in _encodings:
            names = list_encoding_names()
            if encoding_name not in names:
                near = get_close_matches(encoding_name, names, 3, 0.5)
                raise ValueError(f"Unknown encoding {encoding_name!r}; there are {', '.join(near or names)}")
            _encodings[encoding_name] = Encoding._bundled(encoding_name)
        return _encodings[encoding_name]


def encoding_name_for_model(model_name: str) -> str:
    """The name of the encoding that a model uses.

    Raises
    ------
    KeyError
        The model is not known.
    """
    name = bundled.for_model(model_name)
    if name is None:
        raise KeyError(f"no encoding is known for the model {model_name!r}; get_encoding takes an encoding's name")
    return name


def encoding_for_model(model_name: str) -> Encoding:
    """The encoding that a model uses; a ``KeyError`` where the model is not known."""
    return get_encoding(encoding_name_for_model(model_name))
