"""The :class:`Tokenizer`: the only class that most people need.

It checks options and turns them into the engine's plain work (``_codec``). It learns nothing (``training`` does) and
knows no file format (``formats`` does).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from . import _engine
from ._codec import Codec
from ._text import as_data, character_offset, to_bytes
from .errors import SpecialTokenError, UnknownTokenError, VocabularyError
from .pattern import Pattern, resolve
from .ragged import Ragged
from .vocabulary import MARK, UNK, Alphabet, Vocabulary, assemble, check_choice, from_ranks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .record import TrainingRecord

Text = str | bytes
Special = Literal["text", "all", "error"] | Collection[str]
Errors = Literal["strict", "surrogateescape", "replace"]


class Tokenizer:
    """A byte-pair-encoding tokenizer. It never changes; options belong to each call.

    Made by :func:`bytepair.train`, :func:`bytepair.load`, :meth:`from_merges` or :meth:`from_ranks`. It can be pickled
    and shared between threads and processes. Two tokenizers are equal when they give the same ids and the same text
    for every input, by construction: same vocabulary, merges, rule, pattern, specials and roles.

    Examples
    --------
    >>> import bytepair
    >>> tok = bytepair.train("low low lower lowest", num_merges=4)
    >>> tok.encode(" lower")
    [265, 120]
    >>> tok.decode([265, 120])
    ' lower'
    """

    __slots__ = ("__dict__", "_codec", "_pattern", "_record", "_vocabulary")

    def __init__(self, vocabulary: Vocabulary, pattern: Pattern, record: TrainingRecord | None = None) -> None:
        self._vocabulary = vocabulary
        self._pattern = pattern
        self._record = record
        self._codec = Codec(vocabulary, pattern)

    # ---- making one ----

    @classmethod
    def from_merges(
        cls,
        merges: Iterable[tuple[int, int]] | Iterable[tuple[bytes, bytes]],
        *,
        specials: Iterable[str] | Mapping[str, int] = (),
        pattern: str | Pattern = "gpt2",
        layout: str = "specials-first",
        byte_order: str = "raw",
        alphabet: str | Alphabet = "bytes",
        roles: Mapping[str, str] | None = None,
    ) -> Tokenizer:
        """A tokenizer under the merge rule, from its merges in order.

        Parameters
        ----------
        merges : pairs of ids, or pairs of bytes
            Pairs of ids use the ids that ``layout`` and ``byte_order`` give; the n-th merge makes the n-th id after
            the alphabet.
        specials : names, or name -> id
        pattern : str or Pattern
            A preset's name or a regex.
        layout : "specials-first" or "bytes-first"
        byte_order : "raw" or "gpt2"
        alphabet : "bytes" or "characters"
            With characters the alphabet is what the pairs of bytes are made of.
        roles : role -> name, optional
            Which special is ``bos``, ``eos``, ``pad`` or ``unk`` where their names do not say so.

        Raises
        ------
        VocabularyError
            A merge uses what does not exist, comes twice, or makes a token that there is already.
        SpecialTokenError
            A name is empty or comes twice, or an id is taken.

        Examples
        --------
        >>> tok = Tokenizer.from_merges([(b"a", b"b"), (b"b", b"c")])
        >>> tok.pieces("abc")
        [b'ab', b'c']
        """
        listed: list[Any] = [tuple(pair) for pair in merges]
        named = bool(listed) and not isinstance(listed[0][0], int)
        if isinstance(alphabet, str):
            check_choice("alphabet", alphabet, ("bytes", "characters"))
            alphabet = _alphabet_of(listed) if alphabet == "characters" else Alphabet()
        vocabulary = assemble(
            alphabet,
            specials,
            layout,
            byte_order,
            roles,
            pairs=None if named else listed,
            bytes_pairs=listed if named else None,
        )
        return cls(vocabulary, resolve(pattern))

    @classmethod
    def from_ranks(
        cls,
        ranks: Mapping[bytes, int],
        *,
        pattern: str | Pattern,
        specials: Iterable[str] | Mapping[str, int] = (),
        roles: Mapping[str, str] | None = None,
    ) -> Tokenizer:
        """A tokenizer under the rank rule (tiktoken's), from bytes -> rank; a token's rank is its id.

        Any two neighbours whose concatenation is a token merge, the lowest rank first. Special names without ids come
        after the highest rank.

        Raises
        ------
        VocabularyError
            A single byte has no rank, or two tokens share one.
        SpecialTokenError
            As for :meth:`from_merges`.

        Examples
        --------
        >>> ranks = {bytes([b]): b for b in range(256)} | {b"bc": 256, b"ab": 257, b"abc": 258}
        >>> Tokenizer.from_ranks(ranks, pattern="gpt2").encode("abc")
        [258]
        """
        return cls(from_ranks(ranks, specials, roles), resolve(pattern))

    # ---- text to ids ----

    def encode(
        self,
        text: Text,
        *,
        add_bos: bool = False,
        add_eos: bool = False,
        special: Special = "text",
        errors: Errors = "strict",
    ) -> list[int]:
        """The ids of a text.

        Parameters
        ----------
        text : str or bytes
        add_bos, add_eos : bool
            Put the begin-of-sequence or end-of-sequence token around it.
        special : "text", "all", "error" or a set of names
            What a special token's name in the text is: text like any other (the default), that token, or an error;
            with a set of names only those are tokens and the others stay text.
        errors : "strict", "surrogateescape" or "replace"
            What a lone surrogate in a str is: an error with its offset, the byte it stands for (U+DC80 to U+DCFF), or
            U+FFFD.

        Returns
        -------
        list of int

        Raises
        ------
        TextError
            Lone surrogates, under ``errors="strict"``.
        SpecialTokenError
            A special token's name under ``special="error"``, an unknown name in the set, or no BOS or EOS to add.
        UnknownTokenError
            A character that an alphabet of characters does not have, under ``unknown="error"``.

        Examples
        --------
        >>> import bytepair
        >>> tok = bytepair.train("low low lower lowest", num_merges=4)
        >>> tok.encode("lowest", add_bos=True, add_eos=True)
        [1, 263, 107, 121, 122, 2]
        >>> tok.encode("low<eos>", special="all")
        [263, 2]
        """
        matcher = None if special == "text" else self._matcher(special, text, errors)
        ids: list[int] = _run(self._codec.encode, text, matcher, errors)
        if add_bos or add_eos:
            return [*self._around("bos", add_bos), *ids, *self._around("eos", add_eos)]
        return ids

    def encode_array(
        self,
        text: Text,
        *,
        add_bos: bool = False,
        add_eos: bool = False,
        special: Special = "text",
        errors: Errors = "strict",
    ) -> NDArray[np.uint32]:
        """As :meth:`encode`, into a numpy array: uint32, shape (n_tokens,)."""
        import numpy as np

        matcher = None if special == "text" else self._matcher(special, text, errors)
        ids: NDArray[np.uint32] = _run(self._codec.encode_array, text, matcher, errors)
        if add_bos or add_eos:
            around = self._around("bos", add_bos), self._around("eos", add_eos)
            return np.concatenate([np.array(a, dtype=np.uint32) for a in (around[0], ids, around[1])])
        return ids

    def encode_batch(
        self,
        texts: Iterable[Text],
        *,
        threads: int | None = None,
        add_bos: bool = False,
        add_eos: bool = False,
        special: Special = "text",
        errors: Errors = "strict",
    ) -> list[list[int]]:
        """The ids of many texts, on all cores unless ``threads`` says how many; as a list for each text."""
        rows = self.encode_batch_array(
            texts, threads=threads, add_bos=add_bos, add_eos=add_eos, special=special, errors=errors
        )
        return rows.to_lists()

    def encode_batch_array(
        self,
        texts: Iterable[Text],
        *,
        threads: int | None = None,
        add_bos: bool = False,
        add_eos: bool = False,
        special: Special = "text",
        errors: Errors = "strict",
    ) -> Ragged:
        """As :meth:`encode_batch`, into two flat arrays: a :class:`Ragged` of uint32 ids and int64 offsets."""
        import numpy as np

        if isinstance(texts, (str, bytes)):
            raise TypeError("encode_batch takes many texts; for a single one call encode, or give [text]")
        data = [as_data(text, errors, f"text {i}: ") for i, text in enumerate(texts)]
        matcher = None
        if special != "text":
            for i, text in enumerate(data):
                matcher = self._matcher(special, text, errors, f"text {i}: ")
        if threads is not None and threads < 1:
            raise ValueError(f"threads is {threads}; it must be 1 or more, or None for all cores")
        ids, counts = self._codec.encode_batch(data, matcher, threads or os.cpu_count() or 1)
        bos, eos = self._around("bos", add_bos), self._around("eos", add_eos)
        offsets = np.concatenate([[0], np.cumsum(counts + len(bos) + len(eos))]).astype(np.int64)
        if bos or eos:
            wide = np.empty(int(offsets[-1]), dtype=np.uint32)
            inner = np.ones(len(wide), dtype=bool)
            if bos:
                wide[offsets[:-1]] = bos[0]
                inner[offsets[:-1]] = False
            if eos:
                wide[offsets[1:] - 1] = eos[0]
                inner[offsets[1:] - 1] = False
            wide[inner] = ids
            ids = wide
        return Ragged(ids, offsets, self.pad_id)

    def encode_iter(
        self, chunks: Iterable[Text], *, special: Special = "text", errors: Errors = "strict"
    ) -> Iterator[int]:
        """The ids of a text that comes in chunks, as if they were joined.

        A chunk may end anywhere, within a word, a special token or (bytes) a character. An id comes out as soon as
        no text that may follow can change it. A pattern that runs on the ``regex`` module (``pattern.splitter`` is
        None) needs the text whole: then all ids come at the end.

        Examples
        --------
        >>> import bytepair
        >>> tok = bytepair.train("low low lower lowest", num_merges=4)
        >>> list(tok.encode_iter(["lo", "w lo", "wer"])) == tok.encode("low lower")
        True
        """
        if isinstance(chunks, (str, bytes)):
            raise TypeError("encode_iter takes chunks of text; for a single text call encode, or give [text]")
        if isinstance(special, str) and special == "error":
            # A name may lie across chunks: it is looked for in the ids, as a token.
            return self._refusing(self.encode_iter(chunks, special="all", errors=errors))
        matcher = self._matcher(special, b"", errors)
        data = (to_bytes(chunk, errors, f"chunk {i}: ") for i, chunk in enumerate(chunks))
        return self._codec.encode_iter(data, matcher)

    def _refusing(self, ids: Iterator[int]) -> Iterator[int]:
        for i in ids:
            if i in self._special_ids:
                raise SpecialTokenError(
                    f"the chunks hold the special token {self.token_str(i)!r}; "
                    'pass special="all" to encode it as that token, or special="text" to encode it as text'
                )
            yield i

    def count(self, text: Text, *, special: Special = "text", errors: Errors = "strict") -> int:
        """How many tokens :meth:`encode` would give, without making them."""
        matcher = None if special == "text" else self._matcher(special, text, errors)
        n: int = _run(self._codec.count, text, matcher, errors)
        return n

    def count_batch(
        self, texts: Iterable[Text], *, special: Special = "text", errors: Errors = "strict", threads: int | None = None
    ) -> list[int]:
        """How many tokens each text has."""
        import numpy as np

        rows = self.encode_batch_array(texts, threads=threads, special=special, errors=errors)
        counts: list[int] = np.diff(rows.offsets).tolist()
        return counts

    def pretokens(self, text: Text, *, errors: Errors = "strict") -> list[bytes]:
        """The pieces that the pattern cuts the text into; no merge crosses their borders.

        Joined they are the text, except in the classic scheme, which drops white space.
        """
        return self._codec.pretokens(to_bytes(text, errors))

    def pieces(self, text: Text, *, special: Special = "text", errors: Errors = "strict") -> list[bytes]:
        """The bytes of each token of the text."""
        vocab = self.vocab
        return [vocab[i] for i in self.encode(text, special=special, errors=errors)]

    # ---- ids to text ----

    def decode(
        self,
        ids: Sequence[int] | NDArray[np.integer[Any]],
        *,
        errors: Literal["strict", "replace", "ignore", "surrogateescape", "backslashreplace"] = "replace",
        skip_specials: bool = False,
    ) -> str:
        """The text of ids; bytes that are no UTF-8 become U+FFFD unless ``errors`` says otherwise.

        Raises
        ------
        UnknownTokenError
            An id does not exist; the message names it and its place.
        """
        return self.decode_bytes(ids, skip_specials=skip_specials).decode("utf-8", errors)

    def decode_bytes(self, ids: Sequence[int] | NDArray[np.integer[Any]], *, skip_specials: bool = False) -> bytes:
        """The exact bytes of ids. ``decode_bytes(encode(x)) == x`` wherever :attr:`lossless` is true."""
        if isinstance(ids, list):
            return self._codec.decode(ids, skip_specials)
        if hasattr(ids, "dtype"):
            import numpy as np

            array = np.asarray(ids)
            if array.ndim != 1 or array.dtype.kind not in "iu":
                raise TypeError(f"ids is an array of {array.dtype}, shape {array.shape}; give whole numbers in one row")
            if array.dtype != np.uint32:
                return self._codec.decode(array.tolist(), skip_specials)
            return self._codec.decode(np.ascontiguousarray(array), skip_specials)
        if isinstance(ids, int):
            raise TypeError(f"ids is {ids}, a single id; give [{ids}]")
        return self._codec.decode(list(ids), skip_specials)

    def decode_batch(
        self,
        batch: Iterable[Sequence[int]] | Ragged,
        *,
        errors: Literal["strict", "replace", "ignore", "surrogateescape", "backslashreplace"] = "replace",
        skip_specials: bool = False,
    ) -> list[str]:
        """The texts of many rows of ids."""
        return [self.decode(ids, errors=errors, skip_specials=skip_specials) for ids in batch]

    # ---- what it knows ----

    @property
    def rule(self) -> Literal["merges", "ranks"]:
        """``"merges"``: only learned pairs merge; ``"ranks"``: any neighbours that make a token, lowest rank first."""
        return self._vocabulary.rule

    @cached_property
    def vocab(self) -> Mapping[int, bytes]:
        """id -> bytes, ascending by id; a special token's bytes are its name, the end-of-word mark has none."""
        v = self._vocabulary
        everything = {**v.tokens, **{i: name.encode() for name, i in v.specials.items()}}
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
        return MappingProxyType({(m[0], m[1]): rank for rank, m in enumerate(self._vocabulary.merges)})

    @property
    def specials(self) -> Mapping[str, int]:
        """Name -> id of the special tokens."""
        return MappingProxyType(dict(self._vocabulary.specials))

    @property
    def byte_base(self) -> int | None:
        """The id of byte 0 where the 256 bytes have ids in their own order; else None."""
        base = self._vocabulary.base[:256]
        plain = self.alphabet == "bytes" and base == tuple(range(base[0], base[0] + 256))
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
        """Whether decoding gives back every text exactly: not in the classic scheme, nor with ``<unk>``."""
        return self._vocabulary.alphabet.end_of_word is None and self._vocabulary.alphabet.unknown != UNK

    @property
    def record(self) -> TrainingRecord | None:
        """What training did, merge by merge; None where we did not train it."""
        return self._record

    @property
    def vocab_size(self) -> int:
        """How many ids there are, specials included."""
        return len(self._vocabulary.tokens) + len(self._vocabulary.specials)

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
        skipped = v.marked | frozenset(v.fallback)
        return {text: i for i, text in v.tokens.items() if i not in skipped}

    @cached_property
    def _by_marked_bytes(self) -> dict[bytes, int]:
        v = self._vocabulary
        return {v.tokens[i]: i for i in v.marked}

    def __contains__(self, token: object) -> bool:
        """Whether the bytes are a token, or the str names one (see :meth:`token_to_id`)."""
        return isinstance(token, (bytes, str)) and self._find(token) is not None

    def _find(self, token: Text) -> int | None:
        if isinstance(token, str):
            if token in self._vocabulary.specials:
                return self._vocabulary.specials[token]
            if token.endswith(MARK) and self._vocabulary.marked:
                return self._by_marked_bytes.get(to_bytes(token[: -len(MARK)], "surrogateescape"))
            token = to_bytes(token, "surrogateescape")
        return self._by_bytes.get(token)

    def token_to_id(self, token: Text) -> int:
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
        if id not in self.vocab:
            raise UnknownTokenError(f"id {id} does not exist in this vocabulary; its ids lie under {self.n_rows}")
        return self.vocab[id]

    def token_str(self, id: int) -> str:
        """An id as a person reads it: its text, bytes that are no UTF-8 as ``\\xNN``, the mark as ``</w>``."""
        text = self.id_to_bytes(id)
        if id in self._fallback:
            return f"<0x{text[0]:02X}>"
        shown = text.decode("utf-8", "backslashreplace")
        return shown + MARK if id in self._vocabulary.marked else shown

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

    # ---- a smaller one ----

    def cut(self, vocab_size: int, *, renumber: bool = False) -> Any:
        """The tokenizer with only the first merges, as if training had stopped earlier.

        Every id that stays keeps its number. Under the rank rule the highest ranks go.

        Parameters
        ----------
        vocab_size : int
            Distinct ids to keep, specials included.
        renumber : bool
            Close the gap that is left below specials that come last, and return (tokenizer, old id -> new id).

        Raises
        ------
        VocabularyError
            The size is below what exists before the first merge, or above what there is.
        """
        v = self._vocabulary
        least = len(v.specials) + len(v.fallback) + len(v.base)
        if not least <= vocab_size <= self.vocab_size:
            raise VocabularyError(
                f"cannot cut to vocab_size={vocab_size}: there are {self.vocab_size} ids, {least} of them no merges"
            )
        drop = self.vocab_size - vocab_size
        if v.rule == "ranks":
            multi = sorted((i for i, text in v.tokens.items() if len(text) > 1), reverse=True)
            gone = set(multi[:drop])
        else:
            gone = {new for _, _, new in v.merges[len(v.merges) - drop :]}
        kept = [i for i in self.vocab if i not in gone]
        number = {old: new if renumber else old for new, old in enumerate(kept)}
        if v.rule == "ranks":
            tokens = {text: number[i] for i, text in v.tokens.items() if i not in gone}
            made = from_ranks(tokens, {name: number[i] for name, i in v.specials.items()}, None)
        else:
            made = _cut_merges(v, gone, number)
        roles = {role: number[i] for role, i in v.roles.items()}
        record = None if self._record is None else self._record.cut(len(made.merges))
        smaller = Tokenizer(_with_roles(made, roles), self._pattern, record)
        return (smaller, number) if renumber else smaller

    # ---- keeping it ----

    def save(self, path: str | os.PathLike[str], *, format: str = "bytepair") -> None:
        """Writes the tokenizer to a file; ``format="bytepair"`` is one JSON file that a person can read.

        Raises
        ------
        FormatError
            The format does not exist.
        """
        from .formats import save

        save(self, Path(path), format)

    @cached_property
    def fingerprint(self) -> str:
        """sha256, in hex, over all that decides ids and decoding; the same in every process and on every machine."""
        v = self._vocabulary
        digest = hashlib.sha256(b"bytepair fingerprint 1\n")
        facts = {
            "rule": v.rule,
            "alphabet": [v.alphabet.kind, v.alphabet.end_of_word, v.alphabet.unknown],
            "base": v.base,
            "fallback": v.fallback,
            "specials": sorted(v.specials.items()),
            "roles": sorted(v.roles.items()),
            "pattern": [self._pattern.stages, self._pattern.unicode_version],
            "merges": v.merges,
            "marked": sorted(v.marked),
            "tokens": [[i, text.decode("latin-1")] for i, text in sorted(v.tokens.items())],
        }
        digest.update(json.dumps(facts, sort_keys=True, separators=(",", ":")).encode())
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tokenizer) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __reduce__(self) -> tuple[Any, ...]:
        return Tokenizer, (self._vocabulary, self._pattern, self._record)

    def __repr__(self) -> str:
        name = self._pattern.name or self._pattern.regex
        return (
            f"<Tokenizer {self.vocab_size} ids, {self.n_mergeable} mergeable, "
            f"{len(self._vocabulary.specials)} special, {self.alphabet}, rule {self.rule!r}, pattern {name!r}>"
        )

    # ---- specials in a text ----

    @cached_property
    def _all_specials(self) -> Any:
        return _matcher_of(self._vocabulary.specials)

    def _matcher(self, special: Special, text: Text, errors: Errors, where: str = "") -> Any:
        """The engine's matcher for one call, or None where names are text."""
        if isinstance(special, str):
            if special == "all":
                return self._all_specials
            if special == "error":
                self._refuse_specials(to_bytes(text, errors), where)
                return None
            if special == "text":
                return None
            raise SpecialTokenError(f'special is {special!r}; it can be "text", "all", "error" or a set of names')
        known = self._vocabulary.specials
        for name in special:
            if name not in known:
                raise SpecialTokenError(f"{name!r} is no special token here; there are: {', '.join(known) or 'none'}")
        return _matcher_of({name: known[name] for name in special})

    def _refuse_specials(self, data: bytes, where: str) -> None:
        start, length, found = self._all_specials.find(data, 0)
        if found >= 0:
            name = data[start : start + length].decode()
            raise SpecialTokenError(
                f"{where}the text has the special token {name!r} at character {character_offset(data, start)}; "
                'pass special="all" to encode it as that token, or special="text" to encode it as text'
            )

    def _around(self, role: str, wanted: bool) -> list[int]:
        if not wanted:
            return []
        if role not in self._vocabulary.roles:
            there = ", ".join(self._vocabulary.specials) or "none"
            raise SpecialTokenError(
                f"add_{role} needs a token for {role.upper()}, and this tokenizer has none (special tokens: {there}); "
                f"name one when making it, roles={{{role!r}: name}}"
            )
        return [self._vocabulary.roles[role]]


def _run(work: Callable[..., Any], text: Any, matcher: Any, errors: str) -> Any:
    """Lets the engine try the text as it is, and only looks for lone surrogates when it says that there are some."""
    if errors == "strict":
        try:
            return work(text, matcher)
        except (UnicodeEncodeError, TypeError):
            pass  # as_data says what is wrong, or makes bytes of what holds some
    return work(as_data(text, errors), matcher)


def _matcher_of(specials: Mapping[str, int]) -> Any:
    return _engine.Specials([name.encode() for name in specials], list(specials.values()))


def _alphabet_of(pairs: list[Any]) -> Alphabet:
    points = {ord(c) for pair in pairs for part in pair for c in _part_text(part)}
    return Alphabet("characters", points=tuple(sorted(points)))


def _part_text(part: Any) -> str:
    if isinstance(part, int):
        raise VocabularyError('alphabet="characters" takes pairs of bytes or str, since ids follow from the alphabet')
    return part if isinstance(part, str) else bytes(part).decode("utf-8", "surrogateescape")


def _cut_merges(v: Vocabulary, gone: set[int], number: Mapping[int, int]) -> Vocabulary:
    tokens = {number[i]: text for i, text in v.tokens.items() if i not in gone}
    specials = {name: number[i] for name, i in v.specials.items()}
    return replace(
        v,
        tokens=tokens,
        marked=frozenset(number[i] for i in v.marked if i not in gone),
        base=tuple(number[i] for i in v.base),
        fallback=tuple(number[i] for i in v.fallback),
        merges=tuple((number[a], number[b], number[n]) for a, b, n in v.merges if n not in gone),
        specials=specials,
        rows=max([*tokens, *specials.values()], default=-1) + 1,
    )


def _with_roles(v: Vocabulary, roles: dict[str, int]) -> Vocabulary:
    return replace(v, roles=roles)
