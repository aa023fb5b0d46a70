"""subword-nmt's output: words cut into pieces, with ``@@`` after each piece that the word goes on after.

:class:`BPE` stands for ``subword_nmt.apply_bpe.BPE``, with the same results line by line; :func:`apply` is its short
form, :func:`restore` undoes either. Loading codes is :func:`bytepair.load`'s work; BPE-dropout is not here.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from .. import _engine
from ..errors import VocabularyError
from ..pattern import resolve
from ..vocabulary import MARK

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer

__all__ = ["BPE", "apply", "restore"]

_STRIPPED = "\r\n "
_END = b"\xfe"
_UNSEEN = b"\xff"
"""What no UTF-8 has stands for a mark that is a token of its own, and goes before each byte of an unseen character."""

_UNSEEN_BYTES = re.compile("(?:\udcff[\\x00-\\x7f])+")
MAX_CACHED = 1 << 17


class BPE:
    """Cuts lines as ``subword_nmt.apply_bpe.BPE`` does.

    Parameters
    ----------
    tokenizer : Tokenizer
        Of a codes file: over characters, with an end-of-word mark, the pattern ``spaces`` and unseen characters as
        bytes.
    separator : str
        What follows a piece that does not end its word.
    vocab : collection of str, or piece -> count, optional
        Pieces, with their separators, that may come out; others are taken apart again where their merges allow it.
    threshold : int, optional
        With counts: the least that a piece of ``vocab`` must have.
    glossaries : sequence of str, optional
        Regexes of Python's ``re``; what matches one stays whole and apart from what is beside it.

    Raises
    ------
    VocabularyError
        The tokenizer is not of that kind.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        separator: str = "@@",
        vocab: Collection[str] | Mapping[str, int] | None = None,
        threshold: int | None = None,
        glossaries: Sequence[str] | None = None,
    ) -> None:
        v = tokenizer._vocabulary
        alphabet = v.alphabet
        if alphabet.listed or alphabet.end_of_word is None or not alphabet.has_fallback_bytes:
            raise VocabularyError(
                "this tokenizer is not made of characters with an end-of-word mark and bytes for unseen ones; load a "
                'codes file of subword-nmt, or train with alphabet="characters", end_of_word="fused", unknown="bytes"'
            )
        if tokenizer.pattern != resolve("spaces") or tokenizer._around.rewrites:
            raise VocabularyError(
                "subword-nmt cuts words at spaces, and this tokenizer cuts or rewrites a text in another way; load the "
                'codes file without pattern=, or train with pattern="spaces"'
            )
        self.tokenizer = tokenizer
        self.separator = separator
        self.glossaries = list(glossaries or ())
        self._whole = re.compile(f"^({'|'.join(self.glossaries)})$") if self.glossaries else None
        if isinstance(vocab, Mapping):
            vocab = {piece for piece, count in vocab.items() if threshold is None or count >= threshold}
        self._allowed = frozenset(vocab or ())
        self._cache: dict[str, tuple[str, ...]] = {}
        # What each id puts into a line; bytes of unseen characters and marks alone are put right afterwards.
        goes_on = f"{separator} ".encode()
        texts, flags = [b""] * v.rows, bytearray(v.rows)
        for i, text in v.tokens.items():
            texts[i] = text + (b" " if i in v.marked else goes_on)
            flags[i] = 1
        for byte, i in enumerate(v.fallback):
            texts[i] = bytes([byte]) + goes_on if byte < 0x80 else _UNSEEN + bytes([byte & 0x7F])
        texts[v.base[alphabet.size - 1]] = _END
        self._joiner = _engine.Decoder(b"".join(texts), array("q", [0, *accumulate(map(len, texts))]), bytes(flags))
        self._shown = {i: tokenizer.token_str(i) for i in v.tokens}
        self._parts: dict[str, tuple[str, str]] = {}
        for left, right, new in v.merges:
            self._parts.setdefault(self._shown[new], (self._shown[left], self._shown[right]))

    def process_line(self, line: str) -> str:
        """A line with its words cut; white space at its ends stays, of spaces within it one."""
        text = line.lstrip(_STRIPPED)
        before = line[: len(line) - len(text)]
        text = text.rstrip(_STRIPPED)
        after = line[len(before) + len(text) :]
        return before + self.segment(text) + after

    def segment(self, sentence: str) -> str:
        """The words of a sentence, cut."""
        sentence = sentence.strip(_STRIPPED)
        if self._allowed or self.glossaries or "\n" in sentence:
            return " ".join(self.segment_tokens(sentence.split(" ")))
        return self._joined(self.tokenizer.encode(sentence))[:-1]

    def segment_tokens(self, tokens: Iterable[str]) -> list[str]:
        """The pieces of words."""
        out = []
        for word in tokens:
            pieces = [piece for segment in self._segments(word) for piece in self._pieces(segment)]
            if pieces:
                out += [piece + self.separator for piece in pieces[:-1]]
                out.append(pieces[-1])
        return out

    def _joined(self, ids: list[int]) -> str:
        """The pieces of words, a space after each."""
        data: bytes = self._joiner.decode(ids, False)
        try:
            return data.decode()
        except UnicodeDecodeError:
            separator = f"{self.separator} "
            line = data.decode("utf-8", "surrogateescape")
            line = _UNSEEN_BYTES.sub(lambda run: _decoded(run[0], separator), line)
            return line.replace(f"{separator}\udcfe", " ")

    def _segments(self, word: str) -> list[str]:
        segments = [word]
        for glossary in self.glossaries:
            segments = [part for segment in segments for part in _isolated(segment, glossary)]
        return [segment for segment in segments if segment]

    def _pieces(self, segment: str) -> tuple[str, ...]:
        if len(segment) == 1 or (self._whole is not None and self._whole.match(segment)):
            return (segment,)
        found = self._cache.get(segment)
        if found is None:
            found = tuple(self._encoded(segment))
            if self._allowed:
                found = tuple(self._checked(found))
            if len(self._cache) >= MAX_CACHED:
                self._cache.clear()
            self._cache[segment] = found
        return found

    def _encoded(self, segment: str) -> list[str]:
        if not segment.strip("\n"):
            return list(segment)  # the classic scheme leaves it out; no code has a line end
        data = segment.encode()
        ends = array("q", [len(data)])
        ids = self.tokenizer._codec.encoder.encode_ends(data, ends).tolist()
        return self._joined(ids)[:-1].split(f"{self.separator} ") if self.separator not in segment else self._slow(ids)

    def _slow(self, ids: list[int]) -> list[str]:
        """The pieces of a word that has the separator in it."""
        v = self.tokenizer._vocabulary
        fallback = frozenset(v.fallback)
        pieces: list[str] = []
        unseen = b""
        for i in ids:
            if i in fallback:
                unseen += v.tokens[i]
                continue
            pieces += unseen.decode()
            unseen = b""
            if v.tokens[i]:
                pieces.append(v.tokens[i].decode())
        return [*pieces, *unseen.decode()]

    def _checked(self, pieces: tuple[str, ...]) -> Iterator[str]:
        """The pieces, those that may not come out taken apart."""
        for piece in pieces[:-1]:
            yield from self._apart(piece, final=False)
        yield from self._apart(pieces[-1], final=True)

    def _apart(self, piece: str, final: bool) -> Iterator[str]:
        if (piece if final else piece + self.separator) in self._allowed:
            yield piece
            return
        parts = self._parts.get(piece + MARK if final else piece)
        if parts is None:
            yield piece
            return
        left, right = parts
        yield from self._apart(left, final=False)
        yield from self._apart(right[: -len(MARK)] if final else right, final)


def _decoded(run: str, separator: str) -> str:
    text = bytes(ord(byte) | 0x80 for byte in run[1::2]).decode()
    return "".join(character + separator for character in text)


def _isolated(word: str, glossary: str) -> list[str]:
    if re.match(f"^{glossary}$", word) or not re.search(glossary, word):
        return [word]
    *segments, ending = re.split(f"({glossary})", word)
    segments = [segment for segment in segments if segment]
    return [*segments, ending.strip(_STRIPPED)] if ending else segments


@lru_cache(maxsize=8)
def _bpe(tokenizer: Tokenizer, separator: str) -> BPE:
    return BPE(tokenizer, separator)


def apply(
    tokenizer: Tokenizer,
    line: str,
    separator: str = "@@",
    glossaries: Sequence[str] | None = None,
    vocab: Collection[str] | Mapping[str, int] | None = None,
    threshold: int | None = None,
) -> str:
    """One line, cut; see :class:`BPE`, which is faster for many lines with glossaries or a vocabulary.

    Examples
    --------
    >>> import bytepair
    >>> tok = bytepair.load(b"#version: 0.2\\nl o\\nlo w</w>\\n")
    >>> apply(tok, "low lower")
    'low lo@@ w@@ e@@ r'
    """
    if glossaries or vocab:
        return BPE(tokenizer, separator, vocab, threshold, glossaries).process_line(line)
    return _bpe(tokenizer, separator).process_line(line)


def restore(line: str, separator: str = "@@") -> str:
    """The line before it was cut, as ``sed -r 's/(@@ )|(@@ ?$)//g'`` gives it.

    Examples
    --------
    >>> restore("low lo@@ w@@ e@@ r")
    'low lower'
    """
    mark = re.escape(separator)
    return re.sub(f"{mark} |{mark} ?$", "", line)
