"""What a tokenizer knows: its ids, tokens, merges and specials, as read-only properties and look-ups.

:class:`~bytepair.tokenizer.Tokenizer` adds encoding, decoding and keeping to it; nothing else uses this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, cast

from ._codec import DEFAULT_CACHE_BYTES, Codec
from ._text import to_bytes
from .errors import UnknownTokenError
from .pipeline.around import NOTHING_AROUND, Around

if TYPE_CHECKING:
    from .pattern import Pattern
    from .record import TrainingRecord
    from .vocabulary import Vocabulary


class Facts:
    __slots__ = ("__dict__", "_around", "_codec", "_direct", "_pattern", "_record", "_vocabulary")
    _around: Around
    _codec: Codec
    _direct: Any
    """What the engine encodes a plain text with, once needed; unset where more has to be done."""
    _pattern: Pattern
    _record: TrainingRecord | Callable[[], TrainingRecord] | None
    _vocabulary: Vocabulary

    def __init__(
        self,
        vocabulary: Vocabulary,
        pattern: Pattern,
        record: TrainingRecord | Callable[[], TrainingRecord] | None = None,
        around: Around | None = None,
        cache_bytes: int = DEFAULT_CACHE_BYTES,
    ) -> None:
        around = around or NOTHING_AROUND
        for name, value in (
            ("_vocabulary", vocabulary),
            ("_pattern", pattern),
            ("_record", record),
            ("_around", around),
            ("_codec", Codec(vocabulary, pattern, around.letters, cache_bytes)),
        ):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Tokenizer never changes; {name!r} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Tokenizer never changes; {name!r} cannot be deleted")

    @property
    def rule(self) -> Literal["merges", "ranks"]:
        """``"merges"``: only learned pairs merge; ``"ranks"``: any neighbours that make a token, lowest rank first."""
        return self._vocabulary.rule

    @cached_property
    def vocab(self) -> Mapping[int, bytes]:
        """id -> bytes, ascending by id; a special token's bytes are its name, the end-of-word mark has none."""
        v = self._vocabulary
        everything = {**v.tokens, **{i: name.encode() for i, name in v.names.items()}}
        return MappingProxyType(dict(sorted(everything.items())))

    @cached_property
    def merges(self) -> Mapping[tuple[int, int], int] | None:
        """(left id, right id) -> new id in the order of learning; None under the rank rule."""
        if self.rule == "ranks":
            return None
        return MappingProxyType({(left, right): new for left, right, new in self._vocabulary.merges})

    @cached_property
    def ranks(self) -> Mapping[tuple[int, int], int] | Mapping[bytes, int]:
        """The merges' pairs -> 0, 1, 2 ...; under the rank rule bytes -> rank."""
        if self.rule == "ranks":
            return MappingProxyType({text: i for i, text in self._vocabulary.tokens.items()})
        merges, ranks = self._vocabulary.merges, self._vocabulary.ranks
        return MappingProxyType({(m[0], m[1]): rank for m, rank in zip(merges, ranks or range(len(merges)))})

    @property
    def specials(self) -> Mapping[str, int]:
        """Name -> id of the special tokens."""
        return MappingProxyType(dict(self._vocabulary.specials))

    @property
    def added(self) -> Mapping[str, int]:
        """Name -> id of a foreign file's added tokens that are no specials: they are always matched."""
        return MappingProxyType(dict(self._vocabulary.added))

    @property
    def byte_base(self) -> int | None:
        """The id of byte 0 where the 256 bytes have ids in their own order; else None."""
        base = self._vocabulary.base[:256]
        whole = self.alphabet == "bytes" and len(base) == 256 and not self._vocabulary.alphabet.inner_points
        plain = whole and base == tuple(range(base[0], base[0] + 256))
        return base[0] if plain else None

    @property
    def bos_id(self) -> int | None:
        """The id of the begin-of-sequence token, or None."""
        return self._vocabulary.roles.get("bos")

    @property
    def eos_id(self) -> int | None:
        """The id of the end-of-sequence token, or None."""
        return self._vocabulary.roles.get("eos")

    @property
    def pad_id(self) -> int | None:
        """The id of the padding token, or None."""
        return self._vocabulary.roles.get("pad")

    @property
    def unk_id(self) -> int | None:
        """The id of the token for unknown characters, or None."""
        return self._vocabulary.roles.get("unk")

    @property
    def pattern(self) -> Pattern:
        """What cuts text into pretokens."""
        return self._pattern

    @property
    def alphabet(self) -> str:
        """``"bytes"`` or ``"characters"``."""
        return self._vocabulary.alphabet.kind

    @property
    def lossless(self) -> bool:
        """Whether decoding gives back every text exactly.

        Not in the classic scheme, with ``<unk>``, where the pattern drops something, or where a foreign file changes a
        text before it is encoded or after it is decoded.
        """
        v, around = self._vocabulary, self._around
        plain = v.alphabet.end_of_word is None and v.unknown_id is None and not self._pattern.drops
        stripping = any(flags & {"lstrip", "rstrip"} for flags in v.flags.values())
        return plain and not around.rewrites and self._joins_bytes and not stripping

    @cached_property
    def _joins_bytes(self) -> bool:
        """Whether decoding joins the bytes of the tokens and nothing else."""
        v = self._vocabulary
        if self._around.output is None:
            return True
        shown = v.layout == "listed" and bool(v.marked or v.continued)
        return self._around.joins_bytes and not shown and self._foreign_names == self._names

    @property
    def record(self) -> TrainingRecord | None:
        """What training did, merge by merge; None where we did not train it."""
        if callable(self._record):  # it is in the cache, and read from there when it is asked for
            object.__setattr__(self, "_record", self._record())
        found: Any = self._record
        return cast("TrainingRecord | None", found)

    @property
    def vocab_size(self) -> int:
        """How many ids there are, specials included."""
        return len(self.vocab)

    @property
    def n_mergeable(self) -> int:
        """How many tokens there are that are no specials."""
        return len(self._vocabulary.tokens)

    @property
    def n_rows(self) -> int:
        """The highest id + 1: the rows that an embedding table needs."""
        return self._vocabulary.rows

    def __len__(self) -> int:
        return self.vocab_size

    @cached_property
    def _by_bytes(self) -> dict[bytes, int]:
        v = self._vocabulary
        skipped = v.marked | v.continued | v.inert | frozenset(v.fallback)
        return {text: i for i, text in v.tokens.items() if i not in skipped}

    @cached_property
    def _by_shown(self) -> dict[str, int]:
        """The tokens that bytes alone cannot name, as they are shown."""
        v = self._vocabulary
        return {self._shown(i, v.tokens[i].decode("utf-8", "surrogateescape")): i for i in v.marked | v.continued}

    def _shown(self, id: int, text: str) -> str:
        v = self._vocabulary
        before = v.alphabet.prefix if id in v.continued else ""
        return before + text + (v.alphabet.suffix if id in v.marked else "")

    def __contains__(self, token: object) -> bool:
        """Whether the bytes are a token, or the str names one (see :meth:`token_to_id`)."""
        return isinstance(token, (bytes, str)) and self._find(token) is not None

    def _find(self, token: str | bytes) -> int | None:
        if isinstance(token, str):
            for named in (self._vocabulary.specials, self._vocabulary.added, self._by_shown):
                if token in named:
                    return named[token]
            token = to_bytes(token, "surrogateescape")
        return self._by_bytes.get(token)

    def token_to_id(self, token: str | bytes) -> int:
        """The id of a token.

        Parameters
        ----------
        token : bytes or str
            Bytes name an ordinary token without mark. A str names a special token, a marked token such as ``er</w>``
            where there are any, or else the token of its UTF-8 bytes.

        Raises
        ------
        UnknownTokenError
            There is no such token.
        """
        found = self._find(token)
        if found is None:
            raise UnknownTokenError(
                f"{token!r} is no token of this vocabulary; `token in tok` asks, tok.encode(...) splits it into tokens"
            )
        return found

    def id_to_bytes(self, id: int) -> bytes:
        """The bytes of an id.

        Raises
        ------
        UnknownTokenError
            The id does not exist.
        """
        if isinstance(id, bool) or not hasattr(id, "__index__"):
            raise TypeError(f"an id is a whole number, not a {type(id).__name__}")
        if id not in self.vocab:
            raise UnknownTokenError(f"id {id} does not exist in this vocabulary; its ids lie under {self.n_rows}")
        return self.vocab[id]

    def token_str(self, id: int) -> str:
        """An id as a person reads it: its text, bytes that are no UTF-8 as ``\\xNN``, the mark as ``</w>``."""
        text = self.id_to_bytes(id)
        if id in self._fallback:
            return f"<0x{text[0]:02X}>"
        return self._shown(id, text.decode("utf-8", "backslashreplace"))

    def foreign_str(self, id: int) -> str:
        """An id as the owner of the format writes it: bytes as letters in a byte-level file, else as :meth:`token_str`.

        Raises
        ------
        UnknownTokenError
            The id does not exist.
        """
        self.id_to_bytes(id)
        return self._foreign_names[id] if id in self._names else self._model_str(id)

    def _model_str(self, id: int) -> str:
        """As :meth:`foreign_str`, of a token that the model made, even where the id has a name as well."""
        v = self._vocabulary
        text = v.tokens.get(id)
        if text is None:
            return v.names[id]
        if id in self._fallback:
            return f"<0x{text[0]:02X}>"
        from .pipeline.letters import to_letters

        plain = not self._around.letters or id in v.inert
        return self._shown(id, text.decode("utf-8", "backslashreplace") if plain else to_letters(text))

    @cached_property
    def _foreign_names(self) -> dict[int, str]:
        """Names as their owner shows them: those that are looked for in the normalised text are normalised too."""
        v, normaliser = self._vocabulary, self._around.normaliser
        if normaliser is None or self._around.is_sentencepiece:  # which would put a space before each
            return self._names
        asked = {i: "normalized" in v.flags.get(name, ()) for i, name in self._names.items()}
        return {i: normaliser.apply(name) if asked[i] else name for i, name in self._names.items()}

    @cached_property
    def _shown_despite_special(self) -> frozenset[int]:
        """Specials that leaving out specials leaves in: the owner knows them by how they are shown, normalised."""
        v = self._vocabulary
        return frozenset(i for i in self._special_ids if self._foreign_names[i] not in v.specials)

    @cached_property
    def _names(self) -> dict[int, str]:
        return self._vocabulary.names

    @cached_property
    def _fallback(self) -> frozenset[int]:
        return frozenset(self._vocabulary.fallback)

    def is_special(self, id: int) -> bool:
        """Whether the id is a special token.

        Raises
        ------
        UnknownTokenError
            The id does not exist.
        """
        self.id_to_bytes(id)
        return id in self._special_ids

    @cached_property
    def _special_ids(self) -> frozenset[int]:
        return frozenset(self._vocabulary.specials.values())
