"""From ids to text: the half of :class:`~bytepair.tokenizer.Tokenizer` that decodes, and ids that come one by one."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, Literal

from ._check import threads as check_threads
from ._facts import Facts
from ._text import starts_of
from .errors import BytepairError
from .vocabulary import check_choice

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .ragged import Ragged

__all__ = ["Decoding", "StreamDecoder"]

DecodeErrors = Literal["strict", "replace", "ignore", "surrogateescape", "backslashreplace"]
DECODE_ERRORS = ("replace", "strict", "ignore", "surrogateescape", "backslashreplace")


class Decoding(Facts):
    __slots__ = ()

    def decode(
        self,
        ids: Sequence[int] | NDArray[np.integer[Any]],
        *,
        errors: DecodeErrors = "replace",
        skip_specials: bool = False,
    ) -> str:
        """The text of ids; bytes that are no UTF-8 become U+FFFD unless ``errors`` says otherwise.

        Parameters
        ----------
        ids : sequence of int, or array of any integer dtype, shape (n_tokens,)
        errors : "replace", "strict", "ignore", "surrogateescape" or "backslashreplace"
            What becomes of bytes that are no UTF-8, as for ``bytes.decode``.
        skip_specials : bool
            Leave special tokens out.

        Raises
        ------
        UnknownTokenError
            An id does not exist; the message names it and its place.
        UnicodeDecodeError
            Bytes that are no UTF-8, under ``errors="strict"``.

        Examples
        --------
        >>> import bytepair
        >>> tok = bytepair.train("low low lower lowest", num_merges=4)
        >>> tok.decode([1, 263, 107], skip_specials=True)
        'lowe'
        """
        if errors != "replace":
            check_choice("errors", errors, DECODE_ERRORS)
        given = ids if type(ids) is list else _checked_ids(ids)
        if self._joins_bytes:
            text: str = self._codec.decode(given, bool(skip_specials), errors)
            return text
        if errors == "replace":
            return self._put_out(given, bool(skip_specials))
        return self.decode_bytes(given, skip_specials=skip_specials).decode("utf-8", errors)

    def decode_bytes(self, ids: Sequence[int] | NDArray[np.integer[Any]], *, skip_specials: bool = False) -> bytes:
        """The exact bytes of ids. ``decode_bytes(encode(x)) == x`` wherever :attr:`lossless` is true."""
        given = ids if type(ids) is list else _checked_ids(ids)
        if self._joins_bytes:
            data: bytes = self._codec.decode(given, bool(skip_specials))
            return data
        return self._put_out(given, bool(skip_specials), exact=True).encode("utf-8", "surrogateescape")

    def _put_out(self, ids: Any, skip_specials: bool, exact: bool = False) -> str:
        """The text of ids as a foreign file's own decoder puts it together; ``exact`` keeps bytes that are no UTF-8."""
        listed: list[int] = ids if isinstance(ids, list) else ids.tolist()
        self._codec.decode(listed, False)  # names an id that does not exist
        skipped = self._special_ids - self._shown_despite_special if skip_specials else ()
        strings = [self.foreign_str(i) for i in listed if i not in skipped]
        return self._around.decoder.decode(strings, exact=exact)

    def decode_with_offsets(self, ids: Sequence[int] | NDArray[np.integer[Any]]) -> tuple[str, list[int]]:
        """The text of ids, and for each id the character of the text in which it begins.

        An id that begins within a character begins where that character does.

        Examples
        --------
        >>> import bytepair
        >>> tok = bytepair.train("low low lower lowest", num_merges=4)
        >>> tok.decode_with_offsets(tok.encode("low \u00e9"))
        ('low \xe9', [0, 3, 4, 4])
        """
        given = _checked_ids(ids)
        listed: list[int] = given if isinstance(given, list) else given.tolist()
        if not self._joins_bytes:
            return self._put_out(listed, False), self._around.decoder.starts([self.foreign_str(i) for i in listed])
        found = self._codec.decode_with_starts(listed)
        if found is None:
            text = self.decode(listed)
            return text, starts_of([self._codec.decode([i], False) for i in listed], text)
        return found

    def decode_batch(
        self,
        batch: Iterable[Sequence[int] | NDArray[np.integer[Any]]] | Ragged,
        *,
        threads: int | None = None,
        errors: DecodeErrors = "replace",
        skip_specials: bool = False,
    ) -> list[str]:
        """The texts of many rows of ids, on all cores unless ``threads`` says how many.

        Parameters
        ----------
        batch : Ragged, or rows as for :meth:`decode`
            A :class:`Ragged` and lists are the fastest.
        threads : int, optional
        errors, skip_specials
            As for :meth:`decode`.

        Raises
        ------
        UnknownTokenError
            An id does not exist; the message names it, its row and its place there.

        Examples
        --------
        >>> import bytepair
        >>> tok = bytepair.train("low low lower lowest", num_merges=4)
        >>> tok.decode_batch(tok.encode_batch_array(["low", "lower"]))
        ['low', 'lower']
        """
        from .ragged import Ragged

        check_choice("errors", errors, DECODE_ERRORS)
        number = check_threads(threads, BytepairError) or os.cpu_count() or 1
        if isinstance(batch, Ragged) and self._joins_bytes:
            return self._codec.decode_rows(batch.ids, batch.offsets, bool(skip_specials), errors, number)
        rows = [_checked_ids(ids, f"row {i}: ") for i, ids in enumerate(batch)]
        if self._joins_bytes:
            lists = [row if isinstance(row, list) else row.tolist() for row in rows]
            return self._codec.decode_lists(lists, bool(skip_specials), errors, number)
        return [self.decode(row, errors=errors, skip_specials=skip_specials) for row in rows]

    def stream_decoder(self, *, errors: DecodeErrors = "replace", skip_specials: bool = False) -> StreamDecoder:
        """For ids that come one by one: ``push(id)`` gives the text that is certain, ``finish()`` the rest."""
        check_choice("errors", errors, DECODE_ERRORS)
        return StreamDecoder(self, errors, bool(skip_specials))


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


def _checked_ids(ids: Any, where: str = "") -> Any:
    """A list, or an array of integers in one row, one behind the other and in the machine's byte order."""
    if isinstance(ids, list):
        return ids
    if hasattr(ids, "dtype"):
        import numpy as np

        array = np.asarray(ids)
        if array.shape == (0,):
            return []
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise TypeError(
                f"{where}ids is an array of {array.dtype}, shape {array.shape}; give whole numbers in one row"
            )
        return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
    if isinstance(ids, (int, str, bytes, bytearray, Set, Mapping)) or not isinstance(ids, Iterable):
        raise TypeError(f"{where}ids is a {type(ids).__name__}; give a list or an array of ids")
    return list(ids)
