"""Other tokenizers from one: the half of :class:`~bytepair.tokenizer.Tokenizer` that grows and shrinks it.

The work is done in ``growing`` and ``pruning``, which are imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ._inside import Inside

if TYPE_CHECKING:
    from .growing import GrowthReport, RowsReport
    from .progress import Progress
    from .pruning import PruneReport

__all__ = ["Changing"]

T = TypeVar("T", bound="Changing")


def _whole(tok: Changing) -> Any:
    """The tokenizer, which lies above this module."""
    return tok


class Changing(Inside):
    __slots__ = ()

    def extend(
        self: T,
        corpus: Any,
        vocab_size: int,
        *,
        min_freq: int | None = None,
        convention: str | None = None,
        threads: int | None = None,
        progress: Progress = None,
    ) -> tuple[T, GrowthReport]:
        """The tokenizer with more merges, learned from a corpus behind those that there are; every id stays.

        The corpus is encoded with the merges there are, and training goes on from there: a tokenizer that was trained
        and then extended on the same corpus is the larger one that training would have made. New ids are behind all
        others, special tokens included. Under the rank rule the new tokens have the highest ranks.

        Parameters
        ----------
        corpus : as for :func:`bytepair.train`
            The names of special and added tokens cut it and are never learned from.
        vocab_size : int
            Distinct ids in all.
        min_freq, convention : optional
            As for :func:`bytepair.train`; unless given, what the record says of the training before, else 2 and
            "first".
        threads, progress : optional
            As for :func:`bytepair.train`.

        Returns
        -------
        Tokenizer, GrowthReport
            The report says how many merges were ``added``, why there are no more (``stopped``), the bytes per token of
            the corpus before and after, and has the ``record`` of the new merges. The tokenizer has none.

        Raises
        ------
        VocabularyError
            There are more ids already, or the vocabulary is irregular, so that new merges would not only be made where
            they were learned.

        Examples
        --------
        >>> import bytepair
        >>> tok = bytepair.train("low low lower lowest", num_merges=2)
        >>> larger, report = tok.extend("low low lower lowest", 266)
        >>> larger == bytepair.train("low low lower lowest", num_merges=4), report.added
        (True, 2)
        """
        from .growing import extend

        made = extend(
            _whole(self),
            corpus,
            vocab_size,
            min_freq=min_freq,
            convention=convention,
            threads=threads,
            progress=progress,
        )
        return cast("tuple[T, GrowthReport]", made)

    def retrain(
        self: T,
        corpus: Any,
        vocab_size: int | None = None,
        *,
        min_freq: int | None = None,
        convention: str | None = None,
        threads: int | None = None,
        progress: Progress = None,
    ) -> tuple[T, GrowthReport]:
        """A tokenizer with the same pattern, special tokens and settings, all of whose merges are new.

        Parameters
        ----------
        corpus, min_freq, convention, threads, progress
            As for :meth:`extend`.
        vocab_size : int, optional
            Distinct ids in all; as many as now unless given.

        Returns
        -------
        Tokenizer, GrowthReport
            As for :meth:`extend`; special tokens that come last get other ids where the size is another.

        Raises
        ------
        TrainingError
            It is a foreign tokenizer of characters.

        Examples
        --------
        >>> import bytepair
        >>> tok = bytepair.train("low low lower lowest", num_merges=2, pattern="al1")
        >>> other, report = tok.retrain("wide wider widest")
        >>> [other.token_str(i) for i in other.merges.values()], report.tokens_before, report.tokens_after
        (['wi', 'wid'], 17, 11)
        """
        from .growing import retrain

        made = retrain(
            _whole(self),
            corpus,
            vocab_size,
            min_freq=min_freq,
            convention=convention,
            threads=threads,
            progress=progress,
        )
        return cast("tuple[T, GrowthReport]", made)

    def add_specials(self: T, names: Iterable[str], *, roles: Mapping[str, str] | None = None) -> tuple[T, RowsReport]:
        """The tokenizer with more special tokens, whose ids are behind all others.

        Parameters
        ----------
        names : names
        roles : role -> name, optional
            Which special is ``bos``, ``eos``, ``pad`` or ``unk``, where that is not as before and the names do not say
            so.

        Returns
        -------
        Tokenizer, RowsReport
            The report has the new ``ids`` and the rows before and after.

        Raises
        ------
        SpecialTokenError
            A name is there already, empty or given twice.

        Examples
        --------
        >>> import bytepair
        >>> tok, report = bytepair.train("low low", num_merges=1).add_specials(["<user>", "<end>"])
        >>> report.ids
        {'<user>': 263, '<end>': 264}
        """
        from .growing import add_specials

        return cast("tuple[T, RowsReport]", add_specials(_whole(self), names, roles))

    def pad_to_multiple(self: T, n: int) -> tuple[T, RowsReport]:
        """The tokenizer with a number of rows that ``n`` divides, as embedding tables like it; ids do not change.

        :attr:`n_rows` is what grows. Ids behind the highest have no token; ids that are added later come there. Our own
        format keeps it, others say that they do not.

        Examples
        --------
        >>> import bytepair
        >>> tok, report = bytepair.train("low low", num_merges=1).pad_to_multiple(64)
        >>> tok.n_rows, tok.vocab_size
        (320, 263)
        """
        from .growing import pad_to_multiple

        return cast("tuple[T, RowsReport]", pad_to_multiple(_whole(self), n))

    def prune(
        self: T,
        keep: Iterable[int | bytes | str] | None = None,
        drop: Iterable[int | bytes | str] | None = None,
        *,
        renumber: bool = False,
        children: bool = False,
        corpus: Any = None,
    ) -> tuple[T, PruneReport]:
        """A tokenizer with fewer tokens, chosen one by one.

        Parameters
        ----------
        keep : ids, or tokens as bytes or str
            What stays, with all tokens that are needed to make it: ``numpy.unique(tok.encode_array(text))`` keeps what
            a text uses.
        drop : ids, or tokens as bytes or str
            What goes instead. A token that another one is made of goes only with that one.
        renumber : bool
            Number what stays from 0 without gaps; else every id keeps its number.
        children : bool
            Let all go that is made of what is dropped.
        corpus : as for :func:`bytepair.train`, optional
            What to look through for pretokens that are split otherwise.

        Returns
        -------
        Tokenizer, PruneReport
            The report has the old ids' new ones (``ids``), what went (``dropped``), how it is split now (``split``) and
            what changed in the corpus (``changed``). Alphabet, special and added tokens always stay.

        Raises
        ------
        VocabularyError
            Neither or both are given, a token of the alphabet or a special one is to go, or one without what is made
            of it.
        UnknownTokenError
            There is no such token.

        Examples
        --------
        >>> import bytepair
        >>> tok = bytepair.train("low low lower lowest", num_merges=4)
        >>> small, report = tok.prune(keep=[b" low"])
        >>> [small.token_str(i) for i in small.merges.values()], len(report.dropped)
        (['lo', 'low', ' low'], 1)
        """
        from .pruning import prune

        made = prune(_whole(self), keep, drop, bool(renumber), bool(children), corpus)
        return cast("tuple[T, PruneReport]", made)
