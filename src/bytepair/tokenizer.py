"""The :class:`Tokenizer`: the only class that most people need.

It checks options and turns them into the engine's plain work (``_codec``). It learns nothing (``training`` does) and
knows no file format (``formats`` does).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from . import _engine
from ._changing import Changing
from ._check import brief, whole
from ._check import threads as check_threads
from ._codec import DEFAULT_CACHE_BYTES, Codec, engine_names
from ._decoding import Decoding
from ._notices import notice
from ._text import Errors, Special, Text, as_data, byte_offsets, character_offset, to_bytes
from .errors import BytepairError, SpecialTokenError, VocabularyError
from .pattern import Pattern, resolve
from .pipeline.around import NOTHING_AROUND
from .vocabulary import Alphabet, alphabet_of, assemble, check_choice, cut, from_ranks, point_bytes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ._fitting import Appender
    from ._rewriter import Placed, Rewriter
    from .ragged import Ragged


_Method = TypeVar("_Method", bound=Callable[..., Any])


def _direct(way: str) -> Callable[[_Method], _Method]:
    """A method whose call with nothing but a text is the engine's own; all other calls are the function's."""
    return lambda function: _engine.direct_method(function, Decoding._direct, way)


class Tokenizer(Changing):
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

    __slots__ = ()

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
        cache_bytes: int = DEFAULT_CACHE_BYTES,
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
        cache_bytes : int
            As for :func:`bytepair.load`.

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
        cache_bytes = whole("cache_bytes", cache_bytes, 0, VocabularyError)
        listed: list[Any] = [_pair(step, pair) for step, pair in enumerate(merges)]
        named = bool(listed) and not isinstance(listed[0][0], int)
        if isinstance(alphabet, str):
            check_choice("alphabet", alphabet, ("bytes", "characters"))
            alphabet = alphabet_of(listed) if alphabet == "characters" else Alphabet()
        vocabulary = assemble(
            alphabet,
            specials,
            layout,
            byte_order,
            roles,
            pairs=None if named else listed,
            bytes_pairs=listed if named else None,
        )
        if (step := vocabulary.unordered_merge) is not None:
            left, right, _ = vocabulary.merges[step]
            pair = " + ".join(brief(vocabulary.tokens[part]) for part in (left, right))
            notice(
                f"merge {step} ({pair}) uses a token that a later merge makes: the list is unordered. It is kept as it "
                "is, and encoding merges the lowest rank present first, all its places from left to right",
                stacklevel=2,
            )
        return cls(vocabulary, resolve(pattern), cache_bytes=cache_bytes)

    @classmethod
    def from_ranks(
        cls,
        ranks: Mapping[bytes, int],
        *,
        pattern: str | Pattern,
        specials: Iterable[str] | Mapping[str, int] = (),
        roles: Mapping[str, str] | None = None,
        cache_bytes: int = DEFAULT_CACHE_BYTES,
    ) -> Tokenizer:
        """A tokenizer under the rank rule (tiktoken's), from bytes -> rank; a token's rank is its id.

        Any two neighbours whose concatenation is a token merge, the lowest rank first. Special names without ids come
        after the highest rank. ``cache_bytes`` is as for :func:`bytepair.load`.

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
        cache_bytes = whole("cache_bytes", cache_bytes, 0, VocabularyError)
        return cls(from_ranks(ranks, specials, roles), resolve(pattern), cache_bytes=cache_bytes)

    # ---- text to ids ----

    @_direct("encode")
    def encode(
        self,
        text: Text,
        *,
        add_bos: bool = False,
        add_eos: bool = False,
        special: Special = "text",
        errors: Errors = "strict",
        dropout: float = 0.0,
        seed: int | None = None,
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
        dropout : float from 0 to 1
            BPE-dropout: the probability with which a place to merge is left out in each step, as when a model trains
            on more than one way to split a word. 1 leaves the bytes (or characters). Decoding is not touched by it.
        seed : int from 0 to 2**64 - 1, optional
            Decides what dropout leaves out: the same seed gives the same ids, in every method and for any number of
            threads. Text i of a batch has the seed ``seed + i``. A new one for each call unless given.

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
        >>> tok.encode("lowest", dropout=0.5, seed=1)
        [114, 117, 125, 107, 121, 122]
        """
        if dropout:
            return self._dropping(dropout, seed).encode(
                text, add_bos=add_bos, add_eos=add_eos, special=special, errors=errors
            )
        if special == "text" and errors == "strict":
            matcher = self._always
            try:
                ids: list[int] = self._encode(text, matcher)
            except (UnicodeEncodeError, TypeError):
                ids = _run(self._encode, text, matcher, errors)  # which says what is wrong
        else:
            ids = _run(self._encode, text, self._matcher(special, text, errors), errors)
        if add_bos or add_eos:
            return [*self._put("bos", add_bos), *ids, *self._put("eos", add_eos)]
        return ids

    def encode_array(
        self,
        text: Text,
        *,
        add_bos: bool = False,
        add_eos: bool = False,
        special: Special = "text",
        errors: Errors = "strict",
        dropout: float = 0.0,
        seed: int | None = None,
    ) -> NDArray[np.uint32]:
        """As :meth:`encode`, into a numpy array: uint32, shape (n_tokens,)."""
        import numpy as np

        if dropout:
            return self._dropping(dropout, seed).encode_array(
                text, add_bos=add_bos, add_eos=add_eos, special=special, errors=errors
            )
        matcher = self._always if special == "text" else self._matcher(special, text, errors)
        ids: NDArray[np.uint32] = _run(self._front.encode_array, text, matcher, errors)
        if add_bos or add_eos:
            bos, eos = self._put("bos", add_bos), self._put("eos", add_eos)
            return np.concatenate([np.array(part, dtype=np.uint32) for part in (bos, ids, eos)])
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
        dropout: float = 0.0,
        seed: int | None = None,
    ) -> list[list[int]]:
        """The ids of many texts, on all cores unless ``threads`` says how many; as a list for each text."""
        rows = self.encode_batch_array(
            texts,
            threads=threads,
            add_bos=add_bos,
            add_eos=add_eos,
            special=special,
            errors=errors,
            dropout=dropout,
            seed=seed,
        )
        listed: list[list[int]] = _engine.lists(rows.ids, rows.offsets)
        return listed

    def encode_batch_array(
        self,
        texts: Iterable[Text],
        *,
        threads: int | None = None,
        add_bos: bool = False,
        add_eos: bool = False,
        special: Special = "text",
        errors: Errors = "strict",
        dropout: float = 0.0,
        seed: int | None = None,
    ) -> Ragged:
        """As :meth:`encode_batch`, into two flat arrays: a :class:`Ragged` of uint32 ids and int64 offsets.

        A pyarrow array of strings is read where it lies, without a Python object for each text.
        """
        from . import _arrow as arrow

        if isinstance(texts, (str, bytes)):
            raise TypeError("encode_batch takes many texts; for a single one call encode, or give [text]")
        if dropout:
            return self._dropping(dropout, seed).encode_batch_array(
                arrow.listed(texts) if arrow.is_array(texts) else texts,  # rows of one array would be numbered anew
                threads=threads,
                add_bos=add_bos,
                add_eos=add_eos,
                special=special,
                errors=errors,
            )
        number = check_threads(threads, BytepairError)
        if arrow.is_array(texts):
            if not (isinstance(special, str) and special == "error"):
                return self._arrow_rows(texts, number, self._matcher(special, "", errors), add_bos, add_eos)
            texts = arrow.listed(texts)
        given = list(texts)
        cores = number or os.cpu_count() or 1
        if special == "text" and errors == "strict" and isinstance(self._front, Codec):
            try:
                return self._rows(*self._front.encode_batch(given, self._always, cores), add_bos, add_eos)
            except (UnicodeEncodeError, TypeError):
                pass  # as_data says what is wrong, and where, or makes bytes of what holds some
        data = [as_data(text, errors, f"text {i}: ") for i, text in enumerate(given)]
        matcher = self._always
        if special != "text":
            for i, text in enumerate(data):
                matcher = self._matcher(special, text, errors, f"text {i}: ")
        return self._rows(*self._front.encode_batch(data, matcher, cores), add_bos, add_eos)

    def _arrow_rows(self, texts: Any, threads: int | None, matcher: Any, add_bos: bool, add_eos: bool) -> Ragged:
        import numpy as np

        from . import _arrow as arrow

        parts = [
            self._front.encode_rows(data, offsets, matcher, threads or os.cpu_count() or 1)
            for data, offsets in arrow.texts(texts)
        ]
        ids = np.concatenate([ids for ids, _ in parts]) if parts else np.empty(0, dtype=np.uint32)
        counts = np.concatenate([counts for _, counts in parts]) if parts else np.empty(0, dtype=np.int64)
        return self._rows(ids, counts, add_bos, add_eos)

    def _rows(self, ids: NDArray[np.uint32], counts: NDArray[np.int64], add_bos: bool, add_eos: bool) -> Ragged:
        """The rows, with what is put around each."""
        import numpy as np

        from .ragged import Ragged

        bos, eos = self._put("bos", add_bos), self._put("eos", add_eos)
        offsets = np.concatenate([[0], np.cumsum(counts + len(bos) + len(eos))]).astype(np.int64)
        if bos or eos:
            wide = np.empty(int(offsets[-1]), dtype=np.uint32)
            inner = np.ones(len(wide), dtype=bool)
            for k, i in enumerate(bos):
                wide[offsets[:-1] + k] = i
                inner[offsets[:-1] + k] = False
            for k, i in enumerate(reversed(eos)):
                wide[offsets[1:] - 1 - k] = i
                inner[offsets[1:] - 1 - k] = False
            wide[inner] = ids
            ids = wide
        return Ragged(ids, offsets, self.pad_id)

    def encode_with_offsets(
        self,
        text: Text,
        *,
        unit: Literal["characters", "bytes"] = "characters",
        add_bos: bool = False,
        add_eos: bool = False,
        special: Special = "text",
        errors: Errors = "strict",
        dropout: float = 0.0,
        seed: int | None = None,
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """The ids of a text, and where in it each of them comes from.

        Parameters
        ----------
        text : str or bytes
        unit : "characters" or "bytes"
            What the places are counted in; a byte that is no UTF-8 is one character.
        add_bos, add_eos, special, errors, dropout, seed
            As for :meth:`encode`; what is put around the text has the place (0, 0).

        Returns
        -------
        list of int, list of (start, end)
            Tokens within one character all have that character's place; with SentencePiece's files it is the last
            one's alone, and the others are empty before it, as for their owner.

        Examples
        --------
        >>> import bytepair
        >>> tok = bytepair.train("low low lower lowest", num_merges=4)
        >>> tok.encode_with_offsets("low \u00e9")
        ([263, 38, 201, 175], [(0, 3), (3, 4), (4, 5), (4, 5)])
        """
        if dropout:
            return self._dropping(dropout, seed).encode_with_offsets(
                text, unit=unit, add_bos=add_bos, add_eos=add_eos, special=special, errors=errors
            )
        check_choice("unit", unit, ("characters", "bytes"))
        data = to_bytes(text, errors)
        matcher = self._matcher(special, data, errors)  # refuses what special="error" refuses
        if self._is_spelled_out:
            import numpy as np

            found: list[int] = self._encode(data, matcher)
            spelled = self._codec.decoder.places(np.array(found, dtype=np.uint32), data, unit == "characters")
            bos, eos = self._put("bos", add_bos), self._put("eos", add_eos)
            if bos or eos:
                return [*bos, *found, *eos], [*[(0, 0)] * len(bos), *spelled, *[(0, 0)] * len(eos)]
            return found, spelled
        placed = self._placed(data, special)
        ids, places = [one.id for one in placed], [one.place for one in placed]
        trimmed = None if self._around.template is None else self._around.template.trims_offsets
        if trimmed is not None:
            from .pipeline.template import trim

            places = trim(places, [self._shown_in_text(one) for one in placed], trimmed)
        if unit == "bytes":
            at = byte_offsets(data)
            places = [(at[start], at[stop]) for start, stop in places]
        bos, eos = self._put("bos", add_bos), self._put("eos", add_eos)
        return [*bos, *ids, *eos], [*[(0, 0)] * len(bos), *places, *[(0, 0)] * len(eos)]

    def _placed(self, data: bytes, special: Special) -> list[Placed]:
        """The tokens of a text with their places; :meth:`_matcher` has checked ``special``."""
        return list(self._rewriter.placed(data, self._rewriter.names(self._named(special))))

    def _shown_in_text(self, token: Placed) -> str:
        """A token as the owner of the format writes it: where the text named it, what was matched there."""
        if token.shown is not None:
            return token.shown
        shown = self._model_strs.get(token.id)
        if shown is None:
            shown = self._model_strs[token.id] = self._model_str(token.id)
        return shown

    @cached_property
    def _model_strs(self) -> dict[int, str]:
        """What :meth:`_model_str` gave."""
        return {}

    @cached_property
    def _rewriter(self) -> Rewriter:
        from ._rewriter import Rewriter

        return Rewriter(self._codec, self._around)

    def _named(self, special: Special) -> dict[str, int]:
        """The names that are looked for."""
        v = self._vocabulary
        if special == "all":
            return {**v.added, **v.specials}
        if isinstance(special, str):
            return dict(v.added)
        return {**v.added, **{name: v.specials[name] for name in special}}

    def encode_iter(
        self,
        chunks: Iterable[Text],
        *,
        special: Special = "text",
        errors: Errors = "strict",
        dropout: float = 0.0,
        seed: int | None = None,
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
        if dropout:
            return self._dropping(dropout, seed).encode_iter(chunks, special=special, errors=errors)
        if isinstance(chunks, (str, bytes)):
            raise TypeError("encode_iter takes chunks of text; for a single text call encode, or give [text]")
        if isinstance(special, str) and special == "error":
            # A name may lie across chunks: it is looked for in the ids, as a token.
            return self._refusing(self.encode_iter(chunks, special="all", errors=errors))
        matcher = self._matcher(special, b"", errors)
        data = (to_bytes(chunk, errors, f"chunk {i}: ") for i, chunk in enumerate(chunks))
        return self._front.encode_iter(data, matcher)

    def _refusing(self, ids: Iterator[int]) -> Iterator[int]:
        for i in ids:
            if i in self._special_ids:
                raise SpecialTokenError(
                    f"the chunks hold the special token {self.token_str(i)!r}; "
                    'pass special="all" to encode it as that token, or special="text" to encode it as text'
                )
            yield i

    @_direct("count")
    def count(
        self,
        text: Text,
        *,
        special: Special = "text",
        errors: Errors = "strict",
        dropout: float = 0.0,
        seed: int | None = None,
    ) -> int:
        """How many tokens :meth:`encode` would give, without making them."""
        if dropout:
            return self._dropping(dropout, seed).count(text, special=special, errors=errors)
        self._encode  # noqa: B018  # from now on a count is direct too
        matcher = self._always if special == "text" else self._matcher(special, text, errors)
        n: int = _run(self._front.count, text, matcher, errors)
        return n

    def count_batch(
        self,
        texts: Iterable[Text],
        *,
        special: Special = "text",
        errors: Errors = "strict",
        threads: int | None = None,
        dropout: float = 0.0,
        seed: int | None = None,
    ) -> list[int]:
        """How many tokens each text has."""
        import numpy as np

        rows = self.encode_batch_array(
            texts, threads=threads, special=special, errors=errors, dropout=dropout, seed=seed
        )
        counts: list[int] = np.diff(rows.offsets).tolist()
        return counts

    def pretokens(self, text: Text, *, errors: Errors = "strict") -> list[bytes]:
        """The pieces that the pattern cuts the text into; no merge crosses their borders.

        Joined they are the text, except in the classic scheme, which drops white space, and where the pattern drops
        something itself.
        """
        return self._front.pretokens(to_bytes(text, errors), self._always)

    def pieces(
        self,
        text: Text,
        *,
        special: Special = "text",
        errors: Errors = "strict",
        dropout: float = 0.0,
        seed: int | None = None,
    ) -> list[bytes]:
        """The bytes of each token of the text; a character that the alphabet does not have is one piece."""
        vocab = self.vocab
        ids = self.encode(text, special=special, errors=errors, dropout=dropout, seed=seed)
        alphabet = self._vocabulary.alphabet
        if alphabet.listed or not alphabet.has_fallback_bytes:
            return [vocab[i] for i in ids]
        from itertools import groupby

        out: list[bytes] = []
        for unseen, run in groupby(ids, self._fallback.__contains__):
            found = [vocab[i] for i in run]
            out += map(point_bytes, map(ord, b"".join(found).decode("utf-8", "surrogateescape"))) if unseen else found
        return out

    # ---- text that must fit ----

    def truncate(self, text: str | bytes, max_tokens: int, *, side: str = "right", **options: Any) -> Any:
        """The longest beginning of a text that fits a number of tokens, or with ``side="left"`` its longest end.

        Parameters
        ----------
        text : str or bytes
        max_tokens : int
            What ``add_bos`` and ``add_eos`` put around the text counts too.
        side : "right" or "left"
            The side that is cut off.
        **options
            As for :meth:`encode`: add_bos, add_eos, special, errors, dropout, seed.

        Returns
        -------
        str or bytes, as ``text`` is
            It ends (or begins) where a character does, lies within the first (or last) ``max_tokens`` tokens of the
            whole text, and has at most so many tokens on its own, which a longer text may have as well: counts are not
            monotone.

        Examples
        --------
        >>> import bytepair
        >>> tok = bytepair.train("low low lower lowest", num_merges=4)
        >>> tok.truncate("lowest low", 3), tok.truncate("lowest low", 3, side="left")
        ('lowes', 'st low')
        """
        from ._fitting import truncate

        tok, known = self._fitting_with(options)
        return truncate(tok, text, max_tokens, side, known)

    def chunks(
        self, text: str | bytes, max_tokens: int, overlap: int = 0, **options: Any
    ) -> Iterator[tuple[Any, int, int]]:
        """Cuts a text into chunks that fit a number of tokens each.

        Parameters
        ----------
        text : str or bytes
        max_tokens : int
            What each chunk may have when it is encoded alone.
        overlap : int
            How many tokens, at most, a chunk repeats from the end of the one before it.
        **options
            As for :meth:`encode`: add_bos, add_eos, special, errors, dropout, seed.

        Yields
        ------
        (chunk, start, end)
            ``text[start:end]`` is the chunk.

        Raises
        ------
        BytepairError
            The overlap leaves no room, or a single character has more tokens than a chunk may have.

        Examples
        --------
        >>> import bytepair
        >>> tok = bytepair.train("low low lower lowest", num_merges=4)
        >>> list(tok.chunks("lowest low", 3))
        [('lowes', 0, 5), ('t low', 5, 10)]
        """
        from ._fitting import chunks

        tok, known = self._fitting_with(options)
        return chunks(tok, text, max_tokens, overlap, known)

    def _fitting_with(self, options: dict[str, Any]) -> tuple[Tokenizer, dict[str, Any]]:
        """The tokenizer that counts, and what else was asked for."""
        known = dict(_known(options, ("add_bos", "add_eos", "special", "errors", "dropout", "seed")))
        dropout, seed = known.pop("dropout", 0.0), known.pop("seed", None)
        return self._dropping(dropout, seed) if dropout else self, known

    def appender(self, *, special: Special = "text", errors: Errors = "strict") -> Appender:
        """For a text that grows: ``append(text)`` gives the number of tokens so far, ``undo()`` takes one back.

        Examples
        --------
        >>> import bytepair
        >>> tok = bytepair.train("low low lower lowest", num_merges=4)
        >>> text = tok.appender()
        >>> text.append("lo"), text.append("w"), text.undo(), text.ids()
        (1, 1, 1, [262])
        """
        from ._fitting import Appender

        self._matcher(special, b"", errors)
        return Appender(self, special, errors)

    def _names_of(self, special: Special) -> dict[str, int]:
        return self._named(special) if special != "error" else dict(self._vocabulary.added)

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
        vocabulary, number = cut(self._vocabulary, vocab_size, renumber)
        record = None if self.record is None else self.record.cut(len(vocabulary.merges))
        smaller = Tokenizer(vocabulary, self._pattern, record, self._around.renumbered(number), self._codec.cache_bytes)
        return (smaller, number) if renumber else smaller

    # ---- keeping it ----

    def save(self, path: str | os.PathLike[str], *, format: str = "bytepair") -> None:
        """Writes the tokenizer to a file; ``format="bytepair"`` is one JSON file that a person can read.

        Raises
        ------
        FormatError
            The format does not exist.
        """
        from pathlib import Path

        from .formats import save

        save(self, Path(path), format)

    @cached_property
    def fingerprint(self) -> str:
        """sha256, in hex, over all that decides ids and decoding; the same in every process and on every machine."""
        import hashlib
        import json

        v = self._vocabulary
        digest = hashlib.sha256(b"bytepair fingerprint 1\n")
        facts: dict[str, Any] = {
            "rule": v.rule,
            "alphabet": [v.alphabet.kind, v.alphabet.end_of_word, v.alphabet.unknown],
            "base": v.base,
            "fallback": v.fallback,
            "specials": sorted(v.specials.items()),
            "roles": sorted(v.roles.items()),
            "pattern": [self._pattern.stages, self._pattern.drops, self._pattern.unicode_version],
            "merges": v.merges,
            "marked": sorted(v.marked),
            "tokens": [[i, text.decode("latin-1")] for i, text in sorted(v.tokens.items())],
        }
        around = self._around.deciding(v.names.values())
        if v.layout == "listed" or around != NOTHING_AROUND:
            facts["foreign"] = repr(
                (v.alphabet, sorted(v.continued), sorted(v.inert), v.ranks, sorted(v.added.items()),
                 sorted((name, sorted(flags)) for name, flags in v.flags.items()), v.unknown_id, v.whole, v.order,
                 around)
            )  # fmt: skip
        digest.update(json.dumps(facts, sort_keys=True, separators=(",", ":")).encode())
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tokenizer) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __reduce__(self) -> tuple[Any, ...]:
        return Tokenizer, (self._vocabulary, self._pattern, self.record, self._around, self._codec.cache_bytes)

    def _with_cache(self, cache_bytes: int) -> Tokenizer:
        """The same tokenizer with another budget for the words that it has seen."""
        if cache_bytes == self._codec.cache_bytes:
            return self
        return Tokenizer(self._vocabulary, self._pattern, self._record, self._around, cache_bytes)

    def __repr__(self) -> str:
        name = self._pattern.name or self._pattern.regex
        return (
            f"<Tokenizer {self.vocab_size} ids, {self.n_mergeable} mergeable, "
            f"{len(self._vocabulary.specials)} special, {self.alphabet}, rule {self.rule!r}, pattern {name!r}>"
        )

    # ---- dropout ----

    def _dropping(self, dropout: float, seed: int | None) -> Tokenizer:
        """This tokenizer for one call with dropout: only its codec is another."""
        from ._dropout import DroppingCodec, check_dropout, check_seed

        codec = DroppingCodec(self._codec, self._dropout_encoder, check_dropout(dropout), check_seed(seed))
        made = Tokenizer(self._vocabulary, self._pattern, None, self._around)
        object.__setattr__(made, "_codec", codec)
        for name in ("vocab", "_always", "_names"):  # which are the same for both, and take time
            vars(made)[name] = getattr(self, name)
        return made

    @cached_property
    def _dropout_encoder(self) -> Any:
        from ._dropout import engine_encoder

        return engine_encoder(self._codec)

    # ---- specials in a text ----

    @cached_property
    def _front(self) -> Codec | Rewriter:
        """What encodes a text: the codec alone where nothing rewrites it and no name asks for more than to be found."""
        flags = self._vocabulary.flags.values()
        plain = not self._around.rewrites and not any(asked - {"normalized"} for asked in flags)
        return self._codec if plain else self._rewriter

    @cached_property
    def _encode(self) -> Callable[..., list[int]]:
        """The shortest way from a text to a list of ids."""
        front = self._front
        if not isinstance(front, Codec) or not front.is_direct:
            return front.encode
        # Set once, and kept by the dict of the object as well: the engine reads the slot without holding what is in it.
        kept = vars(self).setdefault("_direct_kept", _engine.Direct(front.encoder, self._always))
        object.__setattr__(self, "_direct", kept)
        encode: Callable[..., list[int]] = front.encoder.encode
        return encode

    @cached_property
    def _is_spelled_out(self) -> bool:
        """Whether the bytes of the tokens, joined, are the text, and places are nothing but theirs."""
        template = self._around.template
        # In a byte-level file a name beyond ASCII is decoded as letters, which are other bytes.
        plain = not self._around.letters or all(name.isascii() for name in self._names.values())
        return plain and not self._changes_text and (template is None or template.trims_offsets is None)

    @property
    def _changes_text_before(self) -> bool:
        """Whether what is cut may be another text than what came, or names ask for more than to be found."""
        return not isinstance(self._front, Codec)

    @property
    def _changes_text(self) -> bool:
        """Whether tokens may stand for other bytes than they have: a text is rewritten, or parts of it are left out."""
        v = self._vocabulary
        plain = isinstance(self._front, Codec) and not self._pattern.drops
        return not plain or v.alphabet.end_of_word is not None or v.unknown_id is not None

    @cached_property
    def _always(self) -> Any:
        """What is looked for under ``special="text"``: a foreign file's added tokens that are no specials."""
        return self._front.names(self._vocabulary.added)

    @cached_property
    def _all(self) -> Any:
        return self._front.names(self._named("all"))

    @cached_property
    def _specials_alone(self) -> Any:
        return engine_names(self._vocabulary.specials)

    def _matcher(self, special: Special, text: Text, errors: Errors, where: str = "") -> Any:
        """The names that one call looks for, as the codec or the rewriter takes them."""
        if isinstance(special, str):
            if special == "all":
                return self._all
            if special == "error":
                self._refuse_specials(to_bytes(text, errors), where)
                return self._always
            if special == "text":
                return self._always
            raise SpecialTokenError(f'special is {special!r}; it can be "text", "all", "error" or a set of names')
        known = self._vocabulary.specials
        if not isinstance(special, Iterable):
            raise SpecialTokenError(f'special is {brief(special)}; it can be "text", "all", "error" or a set of names')
        special = list(special)
        for name in special:
            if not isinstance(name, str) or name not in known:
                raise SpecialTokenError(f"{name!r} is no special token here; there are: {', '.join(known) or 'none'}")
        return self._front.names(self._named(special))

    def _refuse_specials(self, data: bytes, where: str) -> None:
        start, length, found = self._specials_alone.find(data, 0)
        if found >= 0:
            name = data[start : start + length].decode()
            raise SpecialTokenError(
                f"{where}the text has the special token {name!r} at character {character_offset(data, start)}; "
                'pass special="all" to encode it as that token, or special="text" to encode it as text'
            )

    def _put(self, role: str, wanted: bool) -> list[int]:
        """The ids that ``add_bos`` or ``add_eos`` puts beside a text: what the file's own template says, else one."""
        if not wanted:
            return []
        template = self._around.template
        own = () if template is None else template.prefix if role == "bos" else template.suffix
        if own:
            return list(own)
        if role not in self._vocabulary.roles:
            there = ", ".join(self._vocabulary.specials) or "none"
            raise SpecialTokenError(
                f"add_{role} needs a token for {role.upper()}, and this tokenizer has none (special tokens: {there}); "
                f"name one when making it, roles={{{role!r}: name}}"
            )
        return [self._vocabulary.roles[role]]


def _pair(step: int, pair: Any) -> tuple[Any, Any]:
    """A merge as two ids (plain ints) or two texts."""
    parts = tuple(pair) if isinstance(pair, Iterable) and not isinstance(pair, (str, bytes)) else ()
    if len(parts) != 2:
        raise VocabularyError(f"merge {step} is {brief(pair)}; a merge is a pair of ids or a pair of bytes")
    left, right = (part.__index__() if hasattr(part, "__index__") else part for part in parts)
    return left, right


def _known(options: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    for name in options:
        if name not in names:
            raise TypeError(f"there is no option {name!r} here; there are {', '.join(names)}")
    return options


def _run(work: Callable[..., Any], text: Any, matcher: Any, errors: str) -> Any:
    """Lets the engine try the text as it is, and only looks for lone surrogates when it says that there are some."""
    if errors == "strict":
        try:
            return work(text, matcher)
        except (UnicodeEncodeError, TypeError):
            pass  # as_data says what is wrong, or makes bytes of what holds some
    return work(as_data(text, errors), matcher)
