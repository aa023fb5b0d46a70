"""Looking inside: why a text splits as it does, where a token comes from, and what ids mean.

:class:`~bytepair.tokenizer.Tokenizer` has each of these as a method, ``cli`` prints them, the page draws them.
``merging`` has the steps of one pretoken, ``text`` those of a whole text, ``ids`` starts from a model's output,
``token`` from a token (``why``), ``whynot`` from a string that is none, ``replay`` from the record of a
training; ``health`` looks at a whole vocabulary, ``compare`` at several on one text, and ``card`` is what a
notebook shows of a tokenizer.
"""

from .compare import Comparison, Split, Stretch, compare
from .health import Finding, Health, health
from .ids import Canonicity, ExplainedId, ExplainedIds, explain_ids, is_canonical
from .merging import Step, Tree
from .prefix import tokens_with_prefix
from .replay import EXAMPLES, Frame, Replay, example_corpus, replay
from .text import Explanation, Pretoken, explain
from .token import Origin, why
from .trees import picture
from .whynot import Absence, why_not

__all__ = [
    "EXAMPLES",
    "Absence",
    "Canonicity",
    "Comparison",
    "ExplainedId",
    "ExplainedIds",
    "Explanation",
    "Finding",
    "Frame",
    "Health",
    "Origin",
    "Pretoken",
    "Replay",
    "Split",
    "Step",
    "Stretch",
    "Tree",
    "compare",
    "example_corpus",
    "explain",
    "explain_ids",
    "health",
    "is_canonical",
    "picture",
    "replay",
    "tokens_with_prefix",
    "why",
    "why_not",
]
