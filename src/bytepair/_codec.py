"""The engine's objects for one vocabulary and one pattern: text to ids and back.

``tokenizer`` owns one codec for each tokenizer and turns its options into the plain arguments here; ``training`` uses
:func:`engine_alphabet` and :func:`dropped_classes` to merge. Nothing here checks a user's arguments.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from . import _engine
from .errors import UnknownTokenError
from .pattern import Pattern, blanks, resolve

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .vocabulary import Alphabet, Vocabulary

NONE = 0xFFFFFFFF
"""What the engines take for "no id"."""

DEFAULT_CACHE_BYTES = 128 << 20


def dropped_classes(alphabet: Alphabet, pattern: Pattern) -> Any:
    """The white space that the classic scheme leaves out: what the pattern takes for it, else all there is."""
    return None if alphabet.end_of_word is None or alphabet.listed else blanks(only_spaces=pattern == resolve("spaces"))


def engine_alphabet(
    alphabet: Alphabet,
    base: tuple[int, ...] | range,
    fallback: tuple[int, ...] = (),
    unknown_id: int = NONE,
    closed: bool = False,
) -> Any:
    """The alphabet whose symbol k (in the order of ``alphabet.symbols()``) has the id ``base[k]``.

    ``closed``: nothing unknown will come, as in training.
    """
    if alphabet.listed:
        forms: list[dict[int, int]] = [{}, {}, {}, {}]
        for (point, form), i in zip(alphabet.units(), base):
            forms[form][point] = i
        return _engine.Alphabet.of_listed(
            alphabet.kind == "characters",
            [list(form) for form in forms],
            [list(form.values()) for form in forms],
            alphabet.end_of_word is not None,
            bool(alphabet.prefix),
            [NONE if i < 0 else i for i in fallback],
            unknown_id,
            alphabet.fuse_unknown,
        )
    mark = base[alphabet.size - 1] if alphabet.has_mark_symbol else NONE
    fused = alphabet.end_of_word == "fused"
    if alphabet.kind == "bytes":
        return _engine.Alphabet.of_bytes(list(base[:256]), list(base[256:512]) if fused else [], mark)
    ids = dict(zip(alphabet.character_symbols(), base))
    return _engine.Alphabet.of_characters(
        list(alphabet.points),
        [ids[c, False] for c in alphabet.points],
        list(alphabet.last_points),
        [ids[c, True] for c in alphabet.last_points],
        fused,
        mark,
        "error" if closed else alphabet.unknown,
        list(fallback),
        unknown_id,
    )


class Codec:
    def __init__(
        self, vocabulary: Vocabulary, pattern: Pattern, letters: bool = False, cache_bytes: int = DEFAULT_CACHE_BYTES
    ) -> None:
        self.vocabulary = vocabulary
        self.pattern = pattern
        self.letters = letters
        self.cache_bytes = cache_bytes

    @cached_property
    def splitter(self) -> Any:
        return self.pattern.splitter

    @property
    def is_direct(self) -> bool:
        """Whether ``encoder`` is the engine's own and takes a text as it comes."""
        return self.splitter is not None

    @cached_property
    def encoder(self) -> Any:
        v = self.vocabulary
        whole = None
        if v.rule == "ranks":
            # tiktoken's own rule: a pretoken that is a token is that token, before any merge.
            whole = self.whole
            pairs = self.rank_pairs
            vars(self).pop("rank_pairs")  # the encoder has its own
        else:
            if v.whole:
                whole = self.whole
            if v.flat is not None:
                columns = list(v.flat.merges)
            else:
                columns = [array("I", column) for column in zip(*v.merges)] or [array("I")] * 3
            pairs = _engine.PairTable.of_merges(*columns, None if v.ranks is None else array("I", v.ranks))
        return _engine.Encoder(
            alphabet=engine_alphabet(v.alphabet, v.base, v.fallback, NONE if v.unknown_id is None else v.unknown_id),
            pairs=pairs,
            whole_rank=v.rule == "merges" and v.order == "pair" and v.unordered_merge is not None,
            whole=whole,
            splitter=self.splitter,
            dropped=self.dropped,
            cache_bytes=self.cache_bytes,
        )

    @cached_property
    def whole(self) -> Any:
        """The tokens that a whole pretoken may be."""
        v = self.vocabulary
        if v.flat is not None:
            return _engine.TokenTable(*(v.flat.whole or v.flat[:3]), later=True)
        return _token_table(v.tokens if v.rule == "ranks" else written(v))

    @cached_property
    def rank_pairs(self) -> Any:
        """Of a vocabulary of ranks: which two tokens make a third."""
        flat = self.vocabulary.flat
        if flat is not None and flat.packed is not None:
            return _engine.PairTable.of_packed(flat.packed)
        return _engine.PairTable.of_ranks(self.whole)

    @cached_property
    def dropped(self) -> Any:
        return dropped_classes(self.vocabulary.alphabet, self.pattern)

    @cached_property
    def decoder(self) -> Any:
        from .pipeline.letters import from_letters

        v = self.vocabulary
        texts, flags = [b""] * v.rows, bytearray(v.rows)
        for i, text in v.tokens.items():
            texts[i] = text
            flags[i] = 1
        for i, name in v.names.items():
            texts[i] = (from_letters(name) if self.letters else None) or name.encode()
            flags[i] = 1
        for i in v.specials.values():
            flags[i] = 3
        if not v.alphabet.listed:
            for i in v.marked:
                flags[i] |= 4
        offsets = array("q", [0, *accumulate(map(len, texts))])
        return _engine.Decoder(b"".join(texts), offsets, bytes(flags))

    def names(self, ids: Mapping[str, int]) -> Any:
        """What the methods below take as ``specials``: the names to look for in one call."""
        return engine_names(ids) if ids else None

    # ---- text to ids; `data` is str or bytes, `specials` an engine's Specials or None ----

    def encode(self, data: str | bytes, specials: Any) -> list[int]:
        if self.splitter is not None:
            ids: list[int] = self.encoder.encode(data, specials)
            return ids
        listed: list[int] = self.encode_array(data, specials).tolist()
        return listed

    def encode_array(self, data: str | bytes, specials: Any) -> NDArray[np.uint32]:
        import numpy as np

        if self.splitter is not None:
            out: NDArray[np.uint32] = self.encoder.encode_array(data, specials)
            return out
        parts = []
        for run, special in segments(data, specials):
            if special is None:
                parts.append(self.encoder.encode_ends(*cut(self.pattern, run)))
            else:
                parts.append(np.array([special], dtype=np.uint32))
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.uint32)

    def encode_batch(
        self, texts: list[str | bytes], specials: Any, threads: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """All ids, and how many of them each text has."""
        import numpy as np

        if self.splitter is not None:
            ids, counts = self.encoder.encode_batch(texts, specials, threads)
            return ids, counts
        rows = [self.encode_array(text, specials) for text in texts]
        joined = np.concatenate(rows) if rows else np.empty(0, dtype=np.uint32)
        return joined, np.array([len(row) for row in rows], dtype=np.int64)

    def encode_rows(
        self, data: NDArray[np.uint8], offsets: NDArray[np.int64], specials: Any, threads: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """As :meth:`encode_batch`, of texts that lie one behind the other."""
        if self.splitter is not None:
            ids, counts = self.encoder.encode_rows(data, offsets, specials, threads)
            return ids, counts
        return self.encode_batch([data[a:b].tobytes() for a, b in pairwise(offsets.tolist())], specials, threads)

    def encode_run(self, run: bytes, at: int) -> list[int]:  # noqa: ARG002
        """A run of a text; that it begins at byte ``at`` matters where the place of a pretoken does: with dropout."""
        return self.encode(run, None)

    def encode_runs(
        self,
        runs: list[bytes],
        places: list[tuple[int, int]],  # noqa: ARG002
        threads: int,
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """As :meth:`encode_run` of runs of many texts; ``places`` are (number of the text, byte) for each run."""
        return self.encode_batch(list(runs), None, threads)

    def encode_iter(self, chunks: Iterable[bytes], specials: Any) -> Iterator[int]:
        if self.splitter is None:
            yield from self.encode(b"".join(chunks), specials)
            return
        stream = _engine.Stream()
        for chunk in chunks:
            yield from self.encoder.feed(stream, chunk, False, specials)
        yield from self.encoder.feed(stream, b"", True, specials)

    def count(self, data: str | bytes, specials: Any) -> int:
        if self.splitter is not None:
            n: int = self.encoder.count(data, specials)
            return n
        return len(self.encode_array(data, specials))

    def pretokens(self, data: bytes, specials: Any = None) -> list[bytes]:  # noqa: ARG002
        """Of a text in which no names are looked for."""
        return [data[start:end] for start, end in self.spans(data)]

    def spans(self, data: bytes) -> list[tuple[int, int]]:
        """Where the pretokens stand, without what the pattern or the classic scheme leaves out."""
        spans = self.pattern.spans(data)
        return spans if self.dropped is None else [(a, b) for a, b in spans if not self.dropped.covers(data[a:b], 1)]

    # ---- ids to bytes ----

    def decode(self, ids: Any, skip_specials: bool, errors: str | None = None) -> Any:
        """``ids`` is a list of int or an array of integers; an id that does not exist is an error that names it.

        The result is bytes, or with the name of an error handler str.
        """
        decode = self.decoder.decode if isinstance(ids, list) else self.decoder.decode_array
        try:
            return decode(ids, skip_specials, errors)
        except IndexError as error:
            raise self._unknown(error, lambda _, at: ids[at]) from None

    def decode_rows(
        self, ids: NDArray[np.uint32], offsets: NDArray[np.int64], skip_specials: bool, errors: str, threads: int
    ) -> list[str]:
        try:
            texts: list[str] = self.decoder.decode_rows(ids, offsets, skip_specials, errors, threads)
        except IndexError as error:
            raise self._unknown(error, lambda row, at: ids[offsets[row] + at], "row {}: ") from None
        return texts

    def decode_lists(self, rows: list[list[int]], skip_specials: bool, errors: str, threads: int) -> list[str]:
        try:
            texts: list[str] = self.decoder.decode_lists(rows, skip_specials, errors, threads)
        except IndexError as error:
            raise self._unknown(error, lambda row, at: rows[row][at], "row {}: ") from None
        return texts

    def decode_with_starts(self, ids: list[int]) -> tuple[str, list[int]] | None:
        """The text, and in which of its characters each id begins; None where that is more than the engine can tell."""
        try:
            found: tuple[str, list[int]] | None = self.decoder.starts(ids)
        except IndexError as error:
            raise self._unknown(error, lambda _, at: ids[at]) from None
        return found

    def _unknown(self, error: IndexError, id_at: Callable[[int, int], Any], where: str = "") -> UnknownTokenError:
        """The engine names the row and the place; a list may have changed since."""
        row, at = error.args
        try:
            shown = f"id {id_at(row, at)}"
        except IndexError:
            shown = "an id"
        return UnknownTokenError(
            f"{where.format(row)}{shown} at place {at} does not exist in this vocabulary; "
            f"its ids lie under {self.vocabulary.rows}"
        )


def engine_names(ids: Mapping[str, int]) -> Any:
    return _engine.Specials([name.encode() for name in ids], list(ids.values()))


def token_arrays(tokens: Mapping[int, bytes]) -> tuple[bytes, array[int], array[int]]:
    """Tokens as text, offsets and ids."""
    texts = tokens.values()
    return b"".join(texts), array("q", accumulate(map(len, texts), initial=0)), array("I", tokens)


def _token_table(tokens: Mapping[int, bytes]) -> Any:
    return _engine.TokenTable(*token_arrays(tokens))


def written(v: Vocabulary) -> dict[int, bytes]:
    """The tokens that a whole pretoken may be, as the pretoken is written; of two of one text the first."""
    prefix, suffix = v.alphabet.prefix.encode(), v.alphabet.suffix.encode()
    by_text: dict[bytes, int] = {}
    skipped = v.inert | frozenset(v.fallback)
    for i, text in v.tokens.items():
        if i not in skipped:
            whole = (prefix if i in v.continued else b"") + text + (suffix if i in v.marked else b"")
            by_text.setdefault(whole, i)
    return {i: text for text, i in by_text.items()}


def cut(pattern: Pattern, run: bytes) -> tuple[bytes, Any]:
    """The text of a run's pretokens, without what the pattern drops, and where each of them ends in it."""
    if not pattern.drops:
        return run, array("q", pattern.ends(run))
    pieces = [run[start:end] for start, end in pattern.spans(run)]
    return b"".join(pieces), array("q", accumulate(map(len, pieces)))


def segments(data: str | bytes, specials: Any) -> Iterator[tuple[bytes, int | None]]:
    """Runs of text between special tokens (bytes, None), and those tokens (their bytes, their id)."""
    text = data.encode() if isinstance(data, str) else data
    if not isinstance(text, bytes):
        raise TypeError("expected str or bytes")
    at = 0
    while at < len(text):
        start, length, special = (len(text), 0, -1) if specials is None else specials.find(text, at)
        if start > at:
            yield text[at:start], None
        if special >= 0:
            yield text[start : start + length], special
        at = start + length
