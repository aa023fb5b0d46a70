"""A corpus, counted: each distinct pretoken, how often it comes, in the order in which they come first.

:class:`WordCounts` is what ``training`` learns from, and a value of its own: it is saved, loaded, merged and cut.
``counting`` is the run that makes one of a corpus, ``count_files`` its files.
"""

from __future__ import annotations

import builtins
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _engine
from .._check import brief, whole
from .._check import threads as check_threads
from .._text import to_bytes
from ..errors import BytepairNotice, TextError, TrainingError
from ..pattern import UNICODE_VERSION, Pattern, resolve
from ..vocabulary import check_specials
from .counting import LEAST_MEMORY, PART, Counting
from .runs import select

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..pipeline.normalise import Normaliser
    from ..progress import Reporter
    from .runs import Table

MOST_DOCUMENT = (1 << 62) - 1


@dataclass(frozen=True)
class LeftOut:
    """What :meth:`WordCounts.filter` left out.

    Attributes
    ----------
    words, pretokens, bytes : int
        Distinct pretokens, how often they came together, and the bytes of that text.
    share : float
        The part of all pretokens that went, from 0 to 1.
    """

    words: int
    pretokens: int
    bytes: int
    share: float

    def __str__(self) -> str:
        return f"{self.words} distinct pretokens left out, {self.share:.2%} of the text's pretokens"


class WordCounts:
    """Distinct pretokens and their counts, in order of first places. It never changes.

    Parameters
    ----------
    words : mapping of str or bytes to int
        Pretokens that are counted already; the mapping's order is the order of their first places.
        :meth:`from_corpus` counts a text.
    pattern : str or Pattern, optional
        What cut the pretokens, where that is known.
    specials : names, optional
        The special tokens that were cut out of the text, where that is known.
    first_document : int
        The document that the words stand in; it matters only where counts are merged.

    Raises
    ------
    TrainingError
        A pretoken is empty or comes twice (as str and as bytes), or a count is no whole number from 1 to 2^63 - 1.

    Attributes
    ----------
    text : bytes
        The pretokens, one after the other.
    offsets : int64 array, shape (n + 1,)
        Pretoken ``i`` is ``text[offsets[i]:offsets[i + 1]]``.
    counts : int64 array, shape (n,)
    documents, places : int64 arrays, shape (n,)
        Where each pretoken stands first: the number of its document, and its offset there in bytes. A file that is cut
        by line is one document: its lines are in order by where they begin.
    pattern : Pattern or None
    specials : tuple of names, sorted, or None
    normaliser : Normaliser or None
        What changed the text before it was cut.

    Examples
    --------
    >>> words = WordCounts.from_corpus("low low lower")
    >>> list(words.items())
    [(b'low', 1), (b' low', 1), (b' lower', 1)]
    >>> WordCounts({"low": 5, "lower": 2}).total
    7

    Parts of a corpus, counted apart and merged in any order, are what the whole corpus is:

    >>> first = WordCounts.from_corpus(["low", "lower"])
    >>> second = WordCounts.from_corpus(["lowest", "low"], first_document=2)
    >>> second + first == WordCounts.from_corpus(["low", "lower", "lowest", "low"])
    True
    """

    def __init__(
        self,
        words: Mapping[str, int] | Mapping[bytes, int],
        *,
        pattern: str | Pattern | None = None,
        specials: Iterable[str] | None = None,
        first_document: int = 0,
    ) -> None:
        import numpy as np

        if not isinstance(words, Mapping):
            raise TrainingError(
                f"a {type(words).__name__} maps no pretokens to counts; to count a text use WordCounts.from_corpus(...)"
            )
        texts: dict[bytes, int] = {}
        for word, count in words.items():
            try:
                text = to_bytes(word, "strict")
            except TextError as error:
                raise TextError(f"word {len(texts)}: {error.what}", "give it as bytes") from None
            if not text:
                raise TrainingError(f"word {len(texts)} is empty; leave it out")
            if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or not 0 < count < 1 << 63:
                raise TrainingError(f"the count of {word!r} is {count!r}; counts are whole numbers from 1 to 2^63 - 1")
            if text in texts:
                raise TrainingError(f"{word!r} comes twice, as str and as bytes; add its counts up")
            texts[text] = int(count)
        first_document = whole("first_document", first_document, 0, TrainingError, MOST_DOCUMENT)
        offsets = np.zeros(len(texts) + 1, dtype=np.int64)
        np.cumsum([len(text) for text in texts], out=offsets[1:])
        self.text = b"".join(texts)
        self.offsets: NDArray[np.int64] = offsets
        self.counts: NDArray[np.int64] = np.array(list(texts.values()), dtype=np.int64)
        self.documents: NDArray[np.int64] = np.full(len(texts), first_document, dtype=np.int64)
        self.places: NDArray[np.int64] = offsets[:-1]
        self._set_cut(
            None if pattern is None else resolve(pattern), None if specials is None else check_specials(specials)
        )

    def _set_cut(
        self,
        pattern: Pattern | None,
        specials: Iterable[str] | None,
        unicode_version: str = UNICODE_VERSION,
        normaliser: Normaliser | None = None,
    ) -> None:
        self.pattern = pattern
        self.specials = None if specials is None else tuple(sorted(specials))
        self.unicode_version = unicode_version
        self.normaliser = normaliser
        for column in (self.offsets, self.counts, self.documents, self.places):
            column.flags.writeable = False

    @classmethod
    def of_table(
        cls,
        table: Table,
        pattern: Pattern | None,
        specials: Iterable[str] | None,
        unicode_version: str = UNICODE_VERSION,
        normaliser: Normaliser | None = None,
    ) -> WordCounts:
        """Of columns that are known to be sound: text, offsets, counts, documents, places, by first places."""
        made = cls.__new__(cls)
        made.text, made.offsets, made.counts, made.documents, made.places = table
        made._set_cut(pattern, specials, unicode_version, normaliser)
        return made

    def _like_this(self, table: Table) -> WordCounts:
        return self.of_table(table, self.pattern, self.specials, self.unicode_version, self.normaliser)

    @property
    def table(self) -> Table:
        """The columns: text, offsets, counts, documents, places."""
        return self.text, self.offsets, self.counts, self.documents, self.places

    # ---- where they come from ----

    @classmethod
    def from_corpus(
        cls,
        corpus: Any,
        *,
        pattern: str | Pattern = "gpt2",
        specials: Iterable[str] = (),
        threads: int | None = None,
        progress: Reporter | bool | None = None,
        max_memory: int | None = None,
        min_word_count: int = 1,
        first_document: int = 0,
        normalizer: Any = None,
    ) -> WordCounts:
        """Counts the pretokens of a corpus.

        Parameters
        ----------
        corpus : as for :func:`bytepair.train`
        pattern : str or Pattern
        specials : names
            Special tokens found in the text cut it and are not counted.
        threads : int, optional
            All cores unless given. The result is the same for any number.
        progress : callable or True, optional
            Called now and then with a :class:`bytepair.progress.Report`; True shows it where it runs.
        max_memory : int, optional
            Bytes that the counted words may take, at least 65,536 for each thread. Above it they go to sorted runs in a
            temporary folder, and come back by an exact merge. The text in hand, some 8 MiB for each thread, comes on
            top. The result is the same for any budget.
        min_word_count : int
            Pretokens that come fewer times in the whole corpus are left out at the end; how many is told in a
            :class:`bytepair.BytepairNotice`. Merges may then differ from those of the whole corpus.
        first_document : int
            The number of the first document. Only the order of numbers matters: where parts of a corpus are counted
            apart to be merged, let the numbers of each part follow those of the part before, such as
            ``first_document=part << 32``.
        normalizer : as for :func:`bytepair.train`
            What changes the text between special tokens before it is cut.

        Raises
        ------
        TrainingError
            A file or folder cannot be read, a document is no text, or the distinct pretokens alone are more than
            ``max_memory``: then the message says how much they take, and which ``min_word_count`` would do.
        FormatError
            A file is damaged, or has no text where it should have.
        """
        import numpy  # noqa: F401  (now, not within the engine: Ctrl-C in its first import would be lost there)

        number = check_threads(threads, TrainingError) or os.cpu_count() or 1
        cutter = resolve(pattern)
        names = check_specials(specials)
        min_word_count = whole("min_word_count", min_word_count, 1, TrainingError)
        first_document = whole("first_document", first_document, 0, TrainingError, MOST_DOCUMENT)
        normaliser = None
        looked_for = names
        if normalizer is not None:
            from ..pipeline.normalise import normaliser_of
            from .rewritten import normalised

            normaliser = normaliser_of(normalizer)
            if normaliser is not None:  # what comes out of it has been cut at the names already
                corpus, looked_for = normalised(corpus, normaliser, names), []
        # Pure Python has one lock for all threads, and so have patterns without a splitter, whose threads Ctrl-C could
        # not stop; a small text is counted before they have started.
        several = (
            _engine.NAME == "core"
            and cutter.splitter is not None
            and not (isinstance(corpus, (str, bytes)) and len(corpus) < 2 * PART)
        )
        number = number if several else 1
        if max_memory is not None:
            max_memory = whole("max_memory", max_memory, LEAST_MEMORY, TrainingError)
            number = min(number, max_memory // LEAST_MEMORY)
        counting = Counting(cutter, looked_for, corpus, progress, first_document, max_memory, min_word_count)
        made = cls.of_table(counting.run(number), cutter, names, normaliser=normaliser)
        words, pretokens = counting.left_out
        if words:
            warnings.warn(
                f"min_word_count={min_word_count} left out {words} of {words + len(made)} distinct pretokens, "
                f"{pretokens / (pretokens + made.total):.2%} of the text's pretokens",
                BytepairNotice,
                stacklevel=2,
            )
        return made

    @classmethod
    def from_table(
        cls,
        path: str | os.PathLike[str],
        *,
        pattern: str | Pattern | None = None,
        specials: Iterable[str] | None = None,
    ) -> WordCounts:
        """Reads a table of words and counts, as subword-nmt's ``get-vocab`` writes them.

        Each line is a word, a tab or a space, and its count; the order of the lines is the order of first places. In a
        line with a tab the word is all before the last tab, else all before the last space.

        Raises
        ------
        TrainingError
            A line is no word and count, or a word comes twice; the message names the line.
        """
        from .count_files import read_text

        return cls(read_text(Path(path)), pattern=pattern, specials=specials)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> WordCounts:
        """Reads what :meth:`save` wrote; needs pyarrow. Nothing in the file is believed unchecked.

        Raises
        ------
        FormatError
            The file is no such file, or something in it is wrong; the message says what, and in which row.
        BytepairError
            pyarrow is not installed.
        """
        from .count_files import load

        return cls.of_table(*load(Path(path)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes an Arrow IPC file; needs pyarrow (``pip install "bytepair[data]"``).

        Its columns are ``word`` (binary), ``count``, ``document`` and ``offset`` (int64), in order of first places; its
        metadata say what cut the words. The file appears whole or not at all.

        Raises
        ------
        FormatError
            The file cannot be written.
        BytepairError
            pyarrow is not installed.
        """
        from .count_files import save

        save(self, Path(path))

    # ---- what it holds ----

    def __len__(self) -> int:
        return len(self.counts)

    def __iter__(self) -> Iterator[bytes]:
        offsets = self.offsets.tolist()
        return (self.text[start:end] for start, end in zip(offsets, offsets[1:]))

    def items(self) -> Iterator[tuple[bytes, int]]:
        """(pretoken, count) in order of first places."""
        return zip(self, self.counts.tolist())

    def word(self, i: int) -> bytes:
        """The pretoken at place ``i`` in the order."""
        return self.text[int(self.offsets[i]) : int(self.offsets[i + 1])]

    @cached_property
    def total(self) -> int:
        """How many pretokens were counted."""
        return _sum_of_products(self.counts, None)

    @cached_property
    def bytes(self) -> int:
        """How many bytes the counted pretokens have, each as often as it came."""
        import numpy as np

        return _sum_of_products(self.counts, np.diff(self.offsets))

    def __eq__(self, other: object) -> bool:
        """The same words in the same order, with the same counts, cut in the same way.

        Where the words stand first matters only as their order.
        """
        import numpy as np

        return isinstance(other, WordCounts) and (
            self.text == other.text
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.counts, other.counts)
            and self._cut == other._cut
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<WordCounts {self.total} pretokens, {len(self)} distinct>"

    @property
    def _cut(self) -> tuple[Any, ...]:
        return self.pattern, self.specials, self.unicode_version, self.normaliser

    # ---- what can be made of it ----

    def merge(self, *others: WordCounts) -> WordCounts:
        """The counts of this and others together: counts are summed, and the earliest first place stays.

        The order of merging changes nothing. Where words of two parts stand at the same place, since both parts were
        numbered from the same document, they come in the order of their bytes; see ``first_document`` in
        :meth:`from_corpus` to keep the parts' order.

        Raises
        ------
        TrainingError
            They were cut by different patterns or at different special tokens, or a count is over 2^63 - 1.
        """
        for i, other in enumerate(others):
            if not isinstance(other, WordCounts):
                raise TrainingError(f"argument {i} of merge is {brief(other)}; it must be WordCounts")
            self._check_same_cut(other)
        counter = _engine.Counter(None, None)
        for words in (self, *others):
            counter.add_words(*words.table)
        return self._like_this(counter.table())

    def __add__(self, other: WordCounts) -> WordCounts:
        return self.merge(other) if isinstance(other, WordCounts) else NotImplemented

    def _check_same_cut(self, other: WordCounts) -> None:
        for what, mine, theirs in (
            ("pattern", self.pattern, other.pattern),
            ("specials", self.specials, other.specials),
            ("Unicode version", self.unicode_version, other.unicode_version),
            ("normaliser", self.normaliser, other.normaliser),
        ):
            if mine != theirs:
                raise TrainingError(
                    f"counts of different texts' pretokens cannot be merged: their {what} differ, {_named(mine)} and "
                    f"{_named(theirs)}; count again with the same one, or state it where it is not known "
                    "(WordCounts(words, pattern=, specials=))"
                )

    def filter(
        self, predicate: Callable[[builtins.bytes, int], bool] | None = None, *, min_count: int = 1
    ) -> tuple[WordCounts, LeftOut]:
        """The words that come ``min_count`` times or more and for which ``predicate(word, count)`` is true.

        Returns
        -------
        words : WordCounts
        left_out : LeftOut
            What is not in them.

        Examples
        --------
        >>> words, left_out = WordCounts({"low": 5, "lower": 2, "x": 1}).filter(min_count=2)
        >>> list(words), str(left_out)
        ([b'low', b'lower'], "1 distinct pretokens left out, 12.50% of the text's pretokens")
        """
        import numpy as np

        min_count = whole("min_count", min_count, 1, TrainingError)
        keep = self.counts >= min_count
        if predicate is not None:
            if not callable(predicate):
                raise TrainingError(f"filter's predicate is {brief(predicate)}; give a function of word and count")
            fits = (bool(predicate(word, count)) for word, count in self.items())
            keep &= np.fromiter(fits, dtype=bool, count=len(self))
        made = self._like_this(select(self.table, np.flatnonzero(keep)))
        pretokens = self.total - made.total
        return made, LeftOut(
            len(self) - len(made), pretokens, self.bytes - made.bytes, pretokens / self.total if self.total else 0.0
        )

    def sample(self, fraction: float, seed: int = 0) -> WordCounts:
        """Each counted pretoken kept by chance, as if the corpus had been thinned: for quick trials of options.

        A word of which none is left goes; the others keep their order.

        Parameters
        ----------
        fraction : float
            The chance of each pretoken to stay, over 0 and up to 1.
        seed : int
            The same seed gives the same sample (with the same version of numpy).

        Raises
        ------
        TrainingError
            ``fraction`` or ``seed`` is no such number.
        """
        import numpy as np

        if isinstance(fraction, bool) or not isinstance(fraction, (int, float)) or not 0 < fraction <= 1:
            raise TrainingError(f"fraction is {brief(fraction)}; it must be a number over 0 and up to 1")
        random = np.random.Generator(np.random.PCG64(whole("seed", seed, 0, TrainingError)))
        drawn = random.binomial(self.counts, fraction).astype(np.int64, copy=False)
        kept = np.flatnonzero(drawn)
        text, offsets, _, documents, places = select(self.table, kept)
        return self._like_this((text, offsets, drawn[kept], documents, places))

    def for_training(
        self, pattern: Pattern | None, specials: Iterable[str], normaliser: Normaliser | None = None
    ) -> tuple[Pattern | None, Normaliser | None]:
        """The pattern and the normaliser to train with: those given, or those that the words were counted with.

        Raises
        ------
        TrainingError
            The words were counted with others. Of words that were not counted from a text it is known only whether the
            normaliser would change them.
        """
        if self.pattern is not None and pattern is not None and pattern != self.pattern:
            raise TrainingError(
                f"the words were cut by {_named(self.pattern)}, and pattern= is {_named(pattern)}; leave pattern= out, "
                "or count again with it"
            )
        if self.pattern is not None and normaliser is not None and normaliser != self.normaliser:
            raise TrainingError(
                f"the words were counted with {_named(self.normaliser, 'no normaliser')}, and normalizer= is "
                f"{_named(normaliser)}; leave normalizer= out, or count again with it"
            )
        for word in self if self.pattern is None and normaliser is not None else ():
            text = word.decode("utf-8", "surrogateescape")
            if normaliser is not None and normaliser.apply(text) != text:
                raise TrainingError(
                    f"the counted word {brief(word)} is not normalised as normalizer= says; count the corpus with "
                    "WordCounts.from_corpus(corpus, normalizer=...)"
                )
        unseen = [name for name in specials if self.specials is not None and name not in self.specials]
        if unseen and len(self):
            warnings.warn(
                f"the words were counted without looking for the special tokens {', '.join(unseen)}: where these names "
                "stand in the text they were counted as text; count with specials= to leave them out",
                BytepairNotice,
                stacklevel=3,
            )
        return pattern or self.pattern, normaliser or self.normaliser


def _named(value: Any, none: str = "one that is not known") -> str:
    if value is None:
        return none
    if isinstance(value, Pattern):
        return value.name or brief(value.regex)
    return brief(value)


def _sum_of_products(counts: NDArray[np.int64], factors: NDArray[np.int64] | None) -> int:
    """Exact however large: numpy's int64 would wrap."""
    import numpy as np

    as_floats = counts.astype(np.float64) if factors is None else counts.astype(np.float64) * factors
    if as_floats.sum() < 1 << 62:
        return int(counts.sum() if factors is None else counts @ factors)
    return sum(counts.tolist() if factors is None else (a * b for a, b in zip(counts.tolist(), factors.tolist())))
