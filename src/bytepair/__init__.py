"""bytepair: own the path from text to ids.

Trains, runs, explains and ships byte-pair-encoding (BPE) tokenizers. Start with :func:`train`, :func:`load` and
:class:`Tokenizer`; the whole algorithm in plain lines is ``bytepair.reference``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import (
    BytepairError,
    BytepairNotice,
    FormatError,
    PatternError,
    SpecialTokenError,
    TextError,
    TrainingError,
    UnknownTokenError,
    VocabularyError,
)

if TYPE_CHECKING:
    from . import evaluate, gage, reference
    from .corpus import WordCounts, files
    from .formats import load
    from .pattern import Pattern
    from .ragged import Ragged
    from .record import MergeStep, TrainingRecord
    from .tokenizer import Tokenizer
    from .training import train
    from .vocabulary import AL1_SPECIALS

__version__ = "0.1.0"

__all__ = [
    "AL1_SPECIALS",
    "BytepairError",
    "BytepairNotice",
    "FormatError",
    "MergeStep",
    "Pattern",
    "PatternError",
    "Ragged",
    "SpecialTokenError",
    "TextError",
    "Tokenizer",
    "TrainingError",
    "TrainingRecord",
    "UnknownTokenError",
    "VocabularyError",
    "WordCounts",
    "evaluate",
    "files",
    "gage",
    "load",
    "reference",
    "train",
]

# Where each name lives; it is imported when it is first used, so that `import bytepair` costs next to nothing.
_HOMES = {
    "AL1_SPECIALS": "vocabulary",
    "MergeStep": "record",
    "Pattern": "pattern",
    "Ragged": "ragged",
    "Tokenizer": "tokenizer",
    "TrainingRecord": "record",
    "WordCounts": "corpus",
    "files": "corpus",
    "load": "formats",
    "train": "training",
}
_MODULES = ("evaluate", "gage", "reference")


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _HOMES:
        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    elif name in _MODULES:
        value = import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
