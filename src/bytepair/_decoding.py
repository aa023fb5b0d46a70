"""Ids that come one by one, as text: what :meth:`Tokenizer.stream_decoder` makes."""

from __future__ import annotations

import codecs
from typing import Any

__all__ = ["StreamDecoder"]


class StreamDecoder:
    """Text of ids that come one after another, as soon as it is certain.

    What it gives, joined, is what :meth:`Tokenizer.decode` gives for all the ids.

    Examples
    --------
    >>> import bytepair
    >>> tok = bytepair.train("low low lower lowest", num_merges=4)
    >>> stream = tok.stream_decoder()
    >>> [stream.push(i) for i in tok.encode("\\u00e9 low")], stream.finish()
    (['', '\\xe9', ' low'], '')
    """

    def __init__(self, tok: Any, errors: str, skip_specials: bool) -> None:
        self._tok = tok
        self._skip = skip_specials
        self._errors = errors
        self._restart()

    def _restart(self) -> None:
        self._characters = codecs.getincrementaldecoder("utf-8")(self._errors)
        self._pending = False  # the last word ended: a space follows if another word does
        self._held = b""  # special tokens behind that word
        self._ids: list[int] = []
        self._given = ""  # the text of those of them that are out
        self._n_given = 0

    def push(self, id: int) -> str:
        """One more id; gives the text that is certain now.

        Raises
        ------
        UnknownTokenError
            The id does not exist.
        """
        tok = self._tok
        if not tok._joins_bytes:
            return self._push_whole(id)
        data = tok.decode_bytes([id], skip_specials=self._skip)
        if not tok._vocabulary.marked:
            return self._characters.decode(data)
        if id in tok._special_ids:
            if self._pending:
                self._held += data
                return ""
            return self._characters.decode(data)
        data = (b" " if self._pending else b"") + self._held + data
        self._held = b""
        self._pending = id in tok._vocabulary.marked
        return self._characters.decode(data)

    def _push_whole(self, id: int) -> str:
        """Where a file's own decoder makes the text: that of the last few ids, without what is out of it."""
        tok = self._tok
        self._ids.append(id)
        text = self._decoded()
        if len(text) <= len(self._given) or text.endswith("\ufffd"):
            return ""  # it may be the beginning of a character
        new = text[len(self._given) :]
        self._ids, self._n_given = self._ids[self._n_given :], len(self._ids) - self._n_given
        self._given = tok.decode(self._ids, errors=self._errors, skip_specials=self._skip)
        return new

    def _decoded(self) -> str:
        text: str = self._tok.decode(self._ids, errors=self._errors, skip_specials=self._skip)
        return text

    def finish(self) -> str:
        """The rest of the text; the decoder is as new then."""
        out = self._characters.decode(self._held, True)
        if self._ids:
            out += self._decoded()[len(self._given) :]
        self._restart()
        return out
