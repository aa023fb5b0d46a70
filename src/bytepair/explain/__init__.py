"""Looking inside: why a text splits as it does, where a token comes from, and what ids mean.

:class:`~bytepair.tokenizer.Tokenizer` has each of these as a method, ``cli`` prints them, the page draws them.
``merging`` has the steps of one pretoken, ``text`` those of a whole text, ``ids`` starts from a model's output,
``token`` from a token (``why``), ``whynot`` from a string that is none.
"""

from .ids import Canonicity, ExplainedId, ExplainedIds, explain_ids, is_canonical
from .merging import Step, Tree
from .prefix import tokens_with_prefix
from .text import Explanation, Pretoken, explain
from .token import Origin, why
from .trees import picture
from .whynot import Absence, why_not

__all__ = [
    "Absence",
    "Canonicity",
    "ExplainedId",
    "ExplainedIds",
    "Explanation",
    "Origin",
    "Pretoken",
    "Step",
    "Tree",
    "explain",
    "explain_ids",
    "is_canonical",
    "picture",
    "tokens_with_prefix",
    "why",
    "why_not",
]
