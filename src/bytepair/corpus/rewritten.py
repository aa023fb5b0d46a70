"""A corpus as the model sees it: cut at names, normalised and marked as encoding does it.

``training`` and ``growing`` count what comes out of :func:`rewritten`, where something stands around the model. Each
run of a text between names is a document of its own, since no pretoken crosses a name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .._rewriter import Active
from ..pipeline.around import Around
from ..pipeline.names import Names
from ..pipeline.normalise import NFC, NFD, NFKC, NFKD, Lowercase, Normaliser, Replace
from .document import Document
from .readers import documents
from .words import WordCounts

__all__ = ["count_as_encoded", "normalised", "rewritten"]

LEAST = 1 << 20
"""Bytes of a text that are normalised at a time, at least."""


def normalised(corpus: Any, normaliser: Normaliser | None, specials: Iterable[str]) -> Any:
    """The corpus between its special tokens, normalised; itself where nothing changes it."""
    if normaliser is None:
        return corpus
    names = Names({name: i for i, name in enumerate(specials)}, {})
    return rewritten(corpus, Around(normaliser), Active(names, Names({}, {})))


def count_as_encoded(tok: Any, corpus: Any, threads: int | None = None, progress: Any = None) -> WordCounts:
    """The pretokens of a corpus as a tokenizer cuts it; the names of its special and added tokens cut it too."""
    names = tok._named("all")
    if tok._changes_text_before:
        corpus, names = rewritten(corpus, tok._around, tok._rewriter.names(names)), ()
    return WordCounts.from_corpus(corpus, pattern=tok.pattern, specials=names, threads=threads, progress=progress)


def rewritten(corpus: Any, around: Around, active: Active) -> Iterator[Document]:
    """The runs of a corpus, to be read one after the other; names are left out.

    A text is held whole, but where its lines can be rewritten one by one only some of them are.
    """
    by_lines = around.normaliser if _goes_by_lines(around, active) else None
    for document in documents(corpus):
        if by_lines is not None:
            yield from _Lines(document, by_lines, active.raw).runs()
        else:
            for run in around.runs(b"".join(document.open()), *active):
                if isinstance(run, bytes):
                    yield Document(document.name, len(run), run)


def _goes_by_lines(around: Around, active: Active) -> bool:
    """Whether what becomes of a text is, joined, what becomes of its lines.

    Nothing composes with a newline or is ordered across one; small letters are a matter of each character; a
    replacement must not touch newlines.
    """
    if around.mark is not None or active.normal or active.raw.has_flags or around.normaliser is None:
        return False
    return all(
        isinstance(step, (NFC, NFD, NFKC, NFKD, Lowercase))
        or (isinstance(step, Replace) and not step.regex and step.pattern and "\n" not in step.pattern)
        for step in around.normaliser.steps
    )


class _Lines:
    """A document that is rewritten some lines at a time."""

    def __init__(self, document: Document, normaliser: Normaliser, names: Names) -> None:
        self._name = document.name
        self._pieces = document.open()
        self._normaliser = normaliser
        self._names = names
        self._held = b""
        self._searched = 0  # up to where there is neither a name nor the end of a line
        self._within = self._ended = False

    def runs(self) -> Iterator[Document]:
        while not self._ended or self._held:
            self._within = True
            yield Document(self._name, None, self._pieces_of_run)
            for _ in self._pieces_of_run():  # whoever took it may not have read all
                pass

    def _pieces_of_run(self) -> Iterator[bytes]:
        while piece := self._next_piece():
            yield piece

    def _next_piece(self) -> bytes:
        """More of the run; nothing at its end."""
        while self._within:
            text = self._rewritten(self._raw())
            if text:
                return text
        return b""

    def _rewritten(self, data: bytes) -> bytes:
        text = self._normaliser.apply(data.decode("utf-8", "surrogateescape"))
        return text.encode("utf-8", "surrogateescape")

    def _raw(self) -> bytes:
        """Raw text up to the end of the run, or of a line."""
        longest = self._names.longest
        while True:
            start, length = self._names.find(self._held, self._searched)
            if length and (self._ended or start + longest <= len(self._held)):
                self._within = False
                return self._take(start, length)
            if self._ended:
                self._within = False
                return self._take(len(self._held), 0)
            sure = min(start, max(len(self._held) - longest, 0))
            end = self._held.rfind(b"\n", self._searched, sure) + 1
            if end:
                return self._take(end, 0)
            self._searched = sure
            self._read()

    def _take(self, size: int, more: int) -> bytes:
        """Text off what is held, and ``more`` behind it that goes."""
        data, self._held, self._searched = self._held[:size], self._held[size + more :], 0
        return data

    def _read(self) -> None:
        """As much again as is held: a long line is not gone through for every piece."""
        parts, size, wanted = [self._held], 0, max(LEAST, len(self._held))
        for piece in self._pieces:
            parts.append(piece)
            size += len(piece)
            if size >= wanted:
                break
        else:
            self._ended = True
        self._held = b"".join(parts)
