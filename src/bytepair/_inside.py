"""Looking inside: the half of :class:`~bytepair.tokenizer.Tokenizer` that answers questions about itself.

The answers are made in ``explain``, which is imported when a question is asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ._decoding import Decoding

if TYPE_CHECKING:
    from ._text import Errors, Special, Text
    from .explain import Absence, Canonicity, ExplainedIds, Explanation, Health, Origin

__all__ = ["Inside"]


def _whole(tok: Inside) -> Any:
    """The tokenizer, which lies above this module."""
    return tok


class Inside(Decoding):
    __slots__ = ()

    def explain(self, text: Text, *, special: Special = "text", errors: Errors = "strict") -> Explanation:
        """Every merge of a text, pretoken by pretoken: pair, rank, new token, and where.

        Printed it is a table, in a notebook a picture; ``to_json()`` gives plain values.

        Parameters
        ----------
        text, special, errors
            As for :meth:`encode`.

        Examples
        --------
        >>> import bytepair
        >>> tok = bytepair.train("low low lower lowest", num_merges=4)
        >>> print(tok.explain("lowest"))
        low│e│s│t  = 263 107 121 122
          step  rank  pair    token   id  bytes
             1     0  l + o   lo     262    0-2
             2     1  lo + w  low    263    0-3
        """
        from .explain import explain

        return explain(_whole(self), text, special=special, errors=errors)

    def explain_ids(self, ids: Iterable[int]) -> ExplainedIds:
        """Ids of a model's output, one by one: bytes, characters that become complete, and whether they are canonical.

        Raises
        ------
        UnknownTokenError
            An id does not exist.

        Examples
        --------
        >>> import bytepair
        >>> tok = bytepair.train("low low lower lowest", num_merges=4)
        >>> print(tok.explain_ids([262, 125, 201]))
        place   id  token  bytes  kind    characters  note
            0  262  lo     6c 6f  token   lo
            1  125  w      77     symbol  w
            2  201  ⟨C3⟩   c3     symbol              waits for more: c3
        not canonical from id 0 on: [262, 125] where encoding gives [263]
        """
        from .explain import explain_ids

        return explain_ids(_whole(self), ids)

    def is_canonical(self, ids: Iterable[int]) -> Canonicity:
        """Whether encoding the decoded text gives the same ids; true or false as a condition, with the first place.

        A special token among them is taken as such.

        Examples
        --------
        >>> import bytepair
        >>> tok = bytepair.train("low low lower lowest", num_merges=4)
        >>> bool(tok.is_canonical([263, 2])), tok.is_canonical([263, 262, 125]).place
        (True, 1)
        """
        from .explain import is_canonical

        return is_canonical(_whole(self), ids)

    def why(self, token: str | bytes | int) -> Origin:
        """Where a token comes from: its merge tree, its count in training, the words that it came from.

        Parameters
        ----------
        token : bytes, str or int
            As for :meth:`token_to_id`, or an id.

        Raises
        ------
        UnknownTokenError
            There is no such token; :meth:`why_not` says why.

        Examples
        --------
        >>> import bytepair
        >>> tok = bytepair.train("low low lower lowest", num_merges=4)
        >>> print(tok.why(" low"))
        ␣low  id 264, bytes 20 6c 6f 77
        merge of ␣ + low, rank 2
        the pair came 3 times when it won; the token stands 1 times at the end
        first words that it was merged in: ␣low  ␣lower  ␣lowest
        merged on into: ␣lowe
        ␣low  264  rank 2
        ├ ␣  38
        └ low  263  rank 1
          ├ lo  262  rank 0
          │ ├ l  114
          │ └ o  117
          └ w  125
        """
        from .explain import why

        return why(_whole(self), token)

    def why_not(self, data: bytes | str) -> Absence:
        """Why a string is not one token: a border, a merge that takes its pieces, or that it was too rare.

        Examples
        --------
        >>> import bytepair
        >>> tok = bytepair.train("low low lower lowest", num_merges=4)
        >>> print(tok.why_not("lowe"))
        lowe: merges with what stood around it took its pieces
        it encodes as low (263) e (107)
        in the corpus: 2 times; a pair was merged from 2 times on
        places that no merge took a piece of: 0
        taken by rank 2: ␣ + low = ␣low, in 2 places
        """
        from .explain import why_not

        return why_not(_whole(self), data)

    def tokens_with_prefix(self, prefix: bytes | str) -> list[int]:
        """The ids of all tokens that begin with these bytes, in the order of their bytes; specials are left out.

        Examples
        --------
        >>> import bytepair
        >>> tok = bytepair.train("low low lower lowest", num_merges=4)
        >>> tok.tokens_with_prefix(b" l")
        [264, 265]
        """
        from .explain import tokens_with_prefix

        return tokens_with_prefix(_whole(self), prefix)

    def health(self, corpus: Any = None, *, against: Any = None) -> Health:
        """What may bite later: tokens that no text has, duplicates, joined digits, names that users may type.

        Parameters
        ----------
        corpus : as for :func:`bytepair.train`, optional
            Looks also for tokens that it never uses, and encodes and decodes it, document by document.
        against : as ``corpus``, optional
            Another corpus: how far the share of tokens that begin with a space drifts from the one to the other.

        Returns
        -------
        Health
            Findings with numbers and ways out; ``health["unreachable"].ids`` are such tokens.

        Examples
        --------
        >>> import bytepair
        >>> tok = bytepair.train("low low lower lowest", num_merges=4)
        >>> found = tok.health("low lower")
        >>> found.level, found["round-trip"].says
        ('warning', 'all comes back from its ids; documents: 1, bytes: 9')
        """
        from .explain import health

        return health(_whole(self), corpus, against=against)

    def _repr_html_(self) -> str:
        from .explain.card import card

        return card(_whole(self))
