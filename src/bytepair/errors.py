"""Every error and notice that bytepair raises.

The hierarchy, below all other modules::

    ValueError
      BytepairError
        VocabularyError      ids, bytes, merges or layout that cannot make a tokenizer
        PatternError         a pattern that cannot be read, can match nothing, or took too long
        SpecialTokenError    special tokens: names, ids, roles, or a name found in a text
        UnknownTokenError    an id, a token or a character that the vocabulary does not have (also LookupError)
        TextError            text that cannot become bytes: lone surrogates
        FormatError          a file that cannot be read or written, with its place
        TrainingError        training options or a corpus that cannot be trained on

    UserWarning
      BytepairNotice         something worth knowing that is no error

Each message says what was wrong, where, and how to mend it.
"""

from __future__ import annotations

__all__ = [
    "BytepairError",
    "BytepairNotice",
    "FormatError",
    "PatternError",
    "SpecialTokenError",
    "TextError",
    "TrainingError",
    "UnknownTokenError",
    "VocabularyError",
]


class BytepairError(ValueError):
    """Base of all errors of this package; also a ``ValueError``."""


class VocabularyError(BytepairError):
    """Ids, bytes, merges or a layout that cannot make a tokenizer."""


class PatternError(BytepairError):
    """A pattern that cannot be read, can match nothing, or took too long."""


class SpecialTokenError(BytepairError):
    """Special tokens: wrong names, ids or roles, or a name found where it was not allowed."""


class UnknownTokenError(BytepairError, LookupError):
    """An id, a token or a character that the vocabulary does not have."""


class TextError(BytepairError):
    """Text that cannot become bytes: it holds lone surrogates."""

    def __init__(self, what: str, cure: str = "") -> None:
        super().__init__(f"{what}; {cure}" if cure else what)
        self.what = what


class FormatError(BytepairError):
    """A file that cannot be read or written; the message names file, place and cure."""


class TrainingError(BytepairError):
    """Training options, or a corpus, that cannot be trained on."""


class BytepairNotice(UserWarning):
    """Something worth knowing that is no error, such as training that stopped early."""


def unknown_character(code_point: int, offset: int, document: int | None = None) -> UnknownTokenError:
    """The error for a character that the alphabet does not have; both engines raise it."""
    if 0xDC80 <= code_point <= 0xDCFF:
        what = f"byte 0x{code_point & 0xFF:02X}, which is no UTF-8,"
    else:
        what = f"character {chr(code_point)!r} (U+{code_point:04X})"
    where = f"at byte offset {offset}" + ("" if document is None else f" of text {document}")
    return UnknownTokenError(
        f"{what} {where} was never seen in training; "
        'train with unknown="bytes" or unknown="<unk>" to encode it, or with a corpus that has it'
    )
