"""Encoding where a text is rewritten before it is cut: normalised, marked, or searched for names with flags.

:class:`Rewriter` does for such tokenizers what :class:`~bytepair._codec.Codec` does alone for the others, with the same
methods; ``tokenizer`` takes the one or the other. Also here: which bytes of a text each token stands for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from .pipeline.names import Names

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ._codec import Codec
    from .pipeline.around import Around
    from .vocabulary import Alphabet

__all__ = ["Active", "Placed", "Rewriter", "Span", "spans"]

Span = tuple[int, int]


class Active(NamedTuple):
    """The names that are looked for in one call: in the text as it comes, and in the normalised text."""

    raw: Names
    normal: Names


class Placed(NamedTuple):
    """A token of a text, and where it comes from.

    ``place`` is in characters of the text, ``shown`` what was matched where the text named the token, and ``word`` the
    number of its pretoken, where a named token counts as one.
    """

    id: int
    place: Span
    shown: str | None
    word: int


class Rewriter:
    def __init__(self, codec: Codec, around: Around) -> None:
        self.codec = codec
        self.around = around

    def names(self, ids: Mapping[str, int]) -> Active:
        """What :meth:`encode` and the others look for."""
        flags = self.codec.vocabulary.flags
        raw = {name: i for name, i in ids.items() if "normalized" not in flags.get(name, ())}
        normal = {name: i for name, i in ids.items() if name not in raw}
        normaliser = self.around.normaliser
        # The names are looked for as the normaliser leaves them, but for SentencePiece, which would put a space there.
        if normaliser is not None and not self.around.is_sentencepiece:
            written = {name: normaliser.apply(name) for name in normal}
            flags = {**flags, **{written[name]: flags[name] for name in normal}}
            normal = {written[name]: i for name, i in normal.items() if written[name]}
        return Active(Names(raw, flags), Names(normal, flags))

    def runs(self, data: str | bytes, active: Active) -> list[bytes | int]:
        text = data.encode() if isinstance(data, str) else data
        if self.around.mark is not None or active.raw or active.normal:
            return self.around.runs(text, *active)
        if self.around.normaliser is not None:
            given = data if isinstance(data, str) else data.decode("utf-8", "surrogateescape")
            text = self.around.normaliser.apply(given).encode("utf-8", "surrogateescape")
        return [text] if text else []

    def encode(self, data: str | bytes, active: Active) -> list[int]:
        out: list[int] = []
        at = 0
        for run in self.runs(data, active):
            if isinstance(run, int):
                out.append(run)
            else:
                out += self.around.after(self.codec.encode_run(run, at))
                at += len(run)
        return out

    def placed(self, data: bytes, active: Active) -> Iterator[Placed]:
        """As :meth:`encode`, with the place of every token."""
        word = before = 0
        for run in self.around.aligned_runs(data, *active):
            if run.id is not None:
                yield Placed(run.id, (run.start, run.stop), run.data.decode("utf-8", "surrogateescape"), word)
                word += 1
                continue
            ids = self.around.after(self.codec.encode_run(run.data, before))
            before += len(run.data)
            words = self.codec.spans(run.data)
            inner = spans(self.codec, words, run.data, ids)
            at = 0
            for i, (start, stop), place in zip(
                ids, inner, run.places(inner, self.around.is_sentencepiece), strict=True
            ):
                while start < stop and words[at][1] <= start:
                    at += 1
                yield Placed(i, place, None, word + at)
            word += len(words)

    def encode_array(self, data: str | bytes, active: Active) -> NDArray[np.uint32]:
        ids, _ = self.encode_batch([data], active, 1)
        return ids

    def encode_batch(
        self, texts: list[str | bytes], active: Active, threads: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """All ids, and how many of them each text has."""
        import numpy as np

        runs: list[bytes | int] = []
        ends = []
        places: list[tuple[int, int]] = []
        for document, text in enumerate(texts):
            at = 0
            for run in self.runs(text, active):
                runs.append(run)
                if not isinstance(run, int):
                    places.append((document, at))
                    at += len(run)
            ends.append(len(runs))
        is_text = np.array([not isinstance(run, int) for run in runs], dtype=bool)
        found, sizes = self.codec.encode_runs([run for run in runs if not isinstance(run, int)], places, threads)
        if self.around.splits:
            rows = [self.around.after(row.tolist()) for row in np.split(found, np.cumsum(sizes)[:-1])]
            found = np.array([i for row in rows for i in row], dtype=np.uint32)
            sizes = np.array([len(row) for row in rows], dtype=np.int64)
        counts = np.ones(len(runs), dtype=np.int64)
        counts[is_text] = sizes
        after = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
        if is_text.all():
            ids = found
        else:
            ids = np.empty(int(after[-1]), dtype=np.uint32)
            inner = np.ones(len(ids), dtype=bool)
            inner[after[:-1][~is_text]] = False
            ids[inner] = found
            ids[~inner] = [run for run in runs if isinstance(run, int)]
        return ids, np.diff(after[[0, *ends]])

    def encode_rows(
        self, data: NDArray[np.uint8], offsets: NDArray[np.int64], active: Active, threads: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """As :meth:`encode_batch`, of texts that lie one behind the other."""
        return self.encode_batch([data[a:b].tobytes() for a, b in pairwise(offsets.tolist())], active, threads)

    def encode_iter(self, chunks: Iterable[bytes], active: Active) -> Iterator[int]:
        """The text must be there whole: what comes may change what was."""
        yield from self.encode(b"".join(chunks), active)

    def count(self, data: str | bytes, active: Active) -> int:
        return len(self.encode_array(data, active))

    def pretokens(self, data: bytes, active: Active) -> list[bytes]:
        runs = self.runs(data, active)
        return [piece for run in runs if not isinstance(run, int) for piece in self.codec.pretokens(run)]


def spans(codec: Codec, pretokens: Iterable[Span], data: bytes, ids: Iterable[int]) -> list[Span]:
    """Which bytes of a run of text each of its tokens stands for; an end-of-word mark stands for none."""
    v = codec.vocabulary
    out: list[Span] = []
    words = iter(pretokens)
    start = at = stop = 0  # the word that the tokens are in, and how far they came
    for i in ids:
        unknown = i == v.unknown_id
        length = 0 if unknown else len(v.tokens[i])
        if at == stop and (unknown or length):
            start, stop = next(words)
            at = start
        if unknown:
            length = _unknown_length(v.alphabet, bool(v.fallback), data[start:stop], at - start)
        out.append((at, at + length))
        at += length
    return out


def _unknown_length(alphabet: Alphabet, falls_back: bool, word: bytes, at: int) -> int:
    """How many bytes of a word, from ``at`` on, are one unknown token."""
    begin = at
    while at < len(word):
        unit = word[at : at + 1]
        if alphabet.kind == "characters":
            unit = word[at : at + 4].decode("utf-8", "surrogateescape")[0].encode("utf-8", "surrogateescape")
        if at > begin and not (alphabet.fuse_unknown and _is_unknown(alphabet, falls_back, word, at, unit)):
            break
        at += len(unit)
    return at - begin


def _is_unknown(alphabet: Alphabet, falls_back: bool, word: bytes, at: int, unit: bytes) -> bool:
    last = alphabet.end_of_word == "fused" and at + len(unit) == len(word)
    inner = bool(alphabet.prefix) and at > 0
    forms = (alphabet.points, alphabet.last_points, alphabet.inner_points, alphabet.inner_last_points)
    point = unit[0] if alphabet.kind == "bytes" else ord(unit.decode("utf-8", "surrogateescape"))
    return point not in forms[last + 2 * inner] and not falls_back
