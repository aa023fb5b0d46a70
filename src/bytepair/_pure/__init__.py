"""The core's work in plain Python: the same classes, arguments, results and errors as ``_core``, only slower.

``_engine`` chooses it where there is no compiled core, or where ``BYTEPAIR_PURE=1`` asks for it; nothing else imports
it. What each class does, and why it is exact, is told in ``core/*.hpp``; here are the same methods with Python's own
dicts, lists and heaps. Arguments come checked, as for the core.
"""

from ._common import checksum
from .border import Direct, direct_method, lists
from .count import Counter, gather_words
from .cut import ClassTable, Specials, Splitter, Stream
from .decode import Decoder
from .dropout import DropoutEncoder
from .encode import Alphabet, Encoder, PairTable, TokenTable, collect_characters
from .train import Trainer

__all__ = [
    "Alphabet",
    "ClassTable",
    "Counter",
    "Decoder",
    "Direct",
    "DropoutEncoder",
    "Encoder",
    "PairTable",
    "Specials",
    "Splitter",
    "Stream",
    "TokenTable",
    "Trainer",
    "checksum",
    "collect_characters",
    "direct_method",
    "gather_words",
    "lists",
]
