"""Text that must fit a number of tokens: a prefix or suffix that does, chunks, and a text that grows.

:class:`~bytepair.tokenizer.Tokenizer` calls these with itself; nothing else does. Counts are not monotone: a longer
text may have fewer tokens. So what is given out is always counted on its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from ._check import whole
from ._text import to_bytes
from .errors import BytepairError

__all__ = ["Appender", "chunks", "truncate"]

_PIECE = 1 << 14
"""How many characters, or bytes, of a long text are looked at in one go."""


def _limit(name: str, value: Any, least: int) -> int:
    return whole(name, value, least, BytepairError)


def truncate(tok: Any, text: str | bytes, max_tokens: Any, side: Any, options: dict[str, Any]) -> str | bytes:
    """See :meth:`Tokenizer.truncate`."""
    max_tokens = _limit("max_tokens", max_tokens, 0)
    if side not in ("right", "left"):
        raise BytepairError(f'side is {side!r}; it can be "right" or "left"')
    around = _around(tok, options)
    if max_tokens < around:
        raise BytepairError(f"max_tokens={max_tokens} has no room for the {around} tokens put around the text")
    fit = _Fit(tok, options, max_tokens - around)
    return fit.suffix(text) if side == "left" else text[: fit.prefix_end(text, 0)]


def chunks(
    tok: Any, text: str | bytes, max_tokens: Any, overlap: Any, options: dict[str, Any]
) -> Iterator[tuple[str | bytes, int, int]]:
    """See :meth:`Tokenizer.chunks`."""
    max_tokens = _limit("max_tokens", max_tokens, 1)
    overlap = _limit("overlap", overlap, 0)
    around = _around(tok, options)
    if max_tokens - around <= overlap:
        raise BytepairError(
            f"overlap={overlap} leaves nothing new in chunks of max_tokens={max_tokens}"
            + (f", {around} of which are put around the text" if around else "")
            + "; make it smaller"
        )
    return _chunks(tok, text, _Fit(tok, options, max_tokens - around), _Fit(tok, options, overlap), overlap)


def _chunks(tok: Any, text: str | bytes, fit: _Fit, back: _Fit, overlap: int) -> Iterator[tuple[str | bytes, int, int]]:
    del tok
    start = 0
    while start < len(text):
        end = fit.prefix_end(text, start)
        if end == start:
            raise BytepairError(
                f"the character at {start} has more tokens alone than a chunk may have ({fit.most}); "
                "make max_tokens larger"
            )
        yield text[start:end], start, end
        if end == len(text):
            return
        # The overlap goes as far back as it may, but every chunk begins behind the one before.
        again = end - len(back.suffix(text[start:end])) if overlap else end
        start = max(again, start + 1)
        if isinstance(text, bytes):
            start = _character_start(text, start, end)


def _around(tok: Any, options: dict[str, Any]) -> int:
    """How many tokens ``add_bos`` and ``add_eos`` put beside a text."""
    return len(tok.encode("", **{key: options[key] for key in ("add_bos", "add_eos") if key in options}))


def _character_start(data: bytes, at: int, most: int) -> int:
    """The first place from ``at`` on where a character begins, as ``surrogateescape`` reads bytes that are no UTF-8."""
    for place in range(at, min(at + 4, most)):
        if not 0x80 <= data[place] < 0xC0 or _is_whole(data, place):
            return place
    return most if most - at < 4 else at


def _is_whole(data: bytes, place: int) -> bool:
    """Whether a continuation byte stands alone: what comes before it is no beginning of its character."""
    for back in range(1, 4):
        lead = place - back
        if lead < 0 or data[lead] < 0x80:
            return True
        if data[lead] >= 0xC0:
            text = data[lead : lead + 4].decode("utf-8", "surrogateescape")
            return len(text[0].encode("utf-8", "surrogateescape")) <= back
    return True


class _Fit:
    """How much of a text fits ``most`` tokens, counted with the options of one call."""

    def __init__(self, tok: Any, options: dict[str, Any], most: int) -> None:
        self.tok = tok
        self.most = most
        self.special = options.get("special", "text")
        self.errors = options.get("errors", "strict")

    def count(self, text: str | bytes) -> int:
        n: int = self.tok.count(text, special=self.special, errors=self.errors)
        return n

    def _has_none(self, text: str | bytes) -> bool:
        """Whether a text has no tokens: white space in the classic scheme has none."""
        return not text or (self.tok._changes_text and self.count(text) == 0)

    def prefix_end(self, text: str | bytes, start: int) -> int:
        """Where the longest prefix of ``text[start:]`` ends that the first tokens cover and that fits on its own."""
        end = self._covered(text, start)
        while end > start:
            piece = text[start:end]
            if self.count(piece) <= self.most:
                return end
            shorter = start + self._covered(piece, 0)
            end = shorter if shorter < end else self._before(text, start, end)
        return end

    def _before(self, text: str | bytes, start: int, end: int) -> int:
        """One character less."""
        if isinstance(text, str):
            return end - 1
        last = text[max(start, end - 4) : end].decode("utf-8", "surrogateescape")[-1]
        return end - len(last.encode("utf-8", "surrogateescape"))

    def _covered(self, text: str | bytes, start: int) -> int:
        """How far the first ``most`` tokens of ``text[start:]`` reach, down to a whole character."""
        if self.most == 0:
            return len(text) if self._has_none(text[start:]) else start
        tok = self.tok
        if tok._changes_text:
            unit = "bytes" if isinstance(text, bytes) else "characters"
            options = {"special": self.special, "errors": self.errors}
            ids, places = tok.encode_with_offsets(text[start:], unit=unit, **options)
            if len(ids) <= self.most:
                return len(text)
            return start + max(int(end) for _, end in places[: self.most])
        pieces = (text[at : at + _PIECE] for at in range(start, len(text), _PIECE))
        ids = list(islice(tok.encode_iter(pieces, special=self.special, errors=self.errors), self.most + 1))
        if len(ids) <= self.most:
            return len(text)
        size = sum(map(len, map(tok.vocab.__getitem__, ids[: self.most])))
        if isinstance(text, bytes):
            return self._whole_characters(text, start, start + size)
        # As many characters as the bytes hold whole.
        data = to_bytes(text[start : start + size], self.errors)[:size]
        return start + len(data.decode("utf-8", "ignore" if self.errors != "surrogateescape" else "surrogateescape"))

    @staticmethod
    def _whole_characters(data: bytes, start: int, end: int) -> int:
        """``end``, or before the character that it would cut in two."""
        for back in range(1, 4):
            lead = end - back
            if lead < start or data[lead] < 0x80:
                return end
            if data[lead] >= 0xC0:
                text = data[lead : lead + 4].decode("utf-8", "surrogateescape")
                whole_one = len(text[0].encode("utf-8", "surrogateescape"))
                return lead if whole_one > back else end
        return end

    def suffix(self, text: str | bytes) -> str | bytes:
        """The longest suffix that the last tokens cover and that fits on its own."""
        start = self._left(text)
        while start < len(text):
            piece = text[start:]
            if self.count(piece) <= self.most:
                return piece
            further = start + self._left(piece)
            start = further if further > start else start + 1
            if isinstance(text, bytes):
                start = _character_start(text, start, len(text))
        return text[:0]

    def _left(self, text: str | bytes) -> int:
        """Where the last ``most`` tokens of a text begin, up to a whole character."""
        if self.most == 0:
            return 0 if self._has_none(text) else len(text)
        unit = "bytes" if isinstance(text, bytes) else "characters"
        tok, options = self.tok, {"special": self.special, "errors": self.errors}
        if tok._changes_text:
            ids, places = tok.encode_with_offsets(text, unit=unit, **options)
            if len(ids) <= self.most:
                return 0
            first = len(ids) - self.most
            start = min(begin for begin, _ in places[first:])
            # A character that an earlier token has a part of is not whole.
            return max([int(start), *(int(end) for _, end in places[:first])])
        ids = tok.encode(text, **options)
        if len(ids) <= self.most:
            return 0
        size = sum(map(len, map(tok.vocab.__getitem__, ids[len(ids) - self.most :])))
        data = to_bytes(text, self.errors)
        start = _character_start(data, len(data) - size, len(data))
        if isinstance(text, bytes):
            return start
        return len(text) - len(data[start:].decode("utf-8", "surrogateescape"))


class Appender:
    """A text that grows, and how many tokens it has; made by :meth:`Tokenizer.appender`.

    Only what may still change is counted again: the text since the last place where it is sure to be cut.
    """

    _SMALL = 1024

    def __init__(self, tok: Any, special: Any, errors: Any) -> None:
        self._tok = tok
        self._special = special
        self._errors = errors
        self._names = tok._names_of(special)
        self._longest = max((len(name.encode()) for name in self._names), default=0)
        self._splitter = None if tok._changes_text else tok.pattern.splitter
        self._matcher = tok._front.names(self._names) if self._splitter is not None else None
        # Text that is certain, its tokens, and the rest; one of each before every append.
        self._states: list[tuple[tuple[bytes, ...], int, bytes, int]] = [((), 0, b"", 0)]

    @property
    def count(self) -> int:
        """How many tokens the text has now."""
        return self._states[-1][3]

    def append(self, text: str | bytes) -> int:
        """Add text; gives the number of tokens of all of it."""
        done, before, rest, _ = self._states[-1]
        rest += to_bytes(text, self._errors)
        while self._splitter is not None and len(rest) > self._SMALL + 2 * self._longest:
            # A name that is not complete yet must not be cut in two.
            at = self._splitter.safe_cut(rest, len(rest) // 2, self._matcher)
            if at + self._longest >= len(rest):
                break
            before += self._count(rest[:at])
            done, rest = (*done, rest[:at]), rest[at:]
        self._states.append((done, before, rest, before + self._count(rest)))
        return self.count

    def undo(self) -> int:
        """Take the last append back; gives the number of tokens that are left.

        Raises
        ------
        BytepairError
            Nothing was appended.
        """
        if len(self._states) == 1:
            raise BytepairError("there is nothing to undo: no text was appended, or all of it was taken back")
        self._states.pop()
        return self.count

    def ids(self) -> list[int]:
        """The ids of the text so far, as :meth:`Tokenizer.encode` gives them."""
        found: list[int] = self._tok.encode(self.text(), special=self._special, errors="surrogateescape")
        return found

    def text(self) -> bytes:
        """The text so far."""
        done, _, rest, _ = self._states[-1]
        return b"".join(done) + rest

    def _count(self, data: bytes) -> int:
        n: int = self._tok.count(data, special=self._special)
        return n
