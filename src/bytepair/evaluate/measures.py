"""What is measured of one tokenizer on one group of documents."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ALPHA = 2.5
"""The order of the Rényi entropy whose efficiency goes best with translation quality (Zouhar et al. 2023)."""


def renyi_efficiency(counts: NDArray[np.int64] | Iterable[int], vocab_size: int, alpha: float = ALPHA) -> float:
    """How evenly tokens are used: the Rényi entropy of their distribution over the most that so many ids allow.

    Parameters
    ----------
    counts : int array, shape (n,)
        How often each token comes; zeros are left out.
    vocab_size : int
    alpha : float
        The order; 1 is Shannon's entropy.

    Returns
    -------
    float
        From 0 (one token alone) to 1 (all alike); 0 where there is nothing to tell.

    Notes
    -----
    H = log2(sum p^alpha) / (1 - alpha), divided by log2(vocab_size). Zouhar, Meister, Gastaldi, Du, Sachan and
    Cotterell: Tokenization and the Noiseless Channel, ACL 2023.

    Examples
    --------
    >>> renyi_efficiency([5, 5, 5, 5], 4), renyi_efficiency([9], 4)
    (1.0, 0.0)
    """
    import numpy as np

    seen = np.asarray(list(counts) if not hasattr(counts, "dtype") else counts, dtype=np.float64)
    seen = seen[seen > 0]
    if len(seen) == 0 or vocab_size < 2:
        return 0.0
    p = seen / seen.sum()
    if alpha == 1:
        entropy = float(-(p * np.log2(p)).sum())
    else:
        entropy = math.log2(float((p**alpha).sum())) / (1 - alpha)
    return entropy / math.log2(vocab_size) + 0.0  # no minus before a zero


@dataclass(frozen=True)
class Measures:
    """One row of a report.

    Attributes
    ----------
    tokenizer, group : str
    vocab_size : int
    documents, bytes, characters : int
        A byte that is no UTF-8 is one character.
    words : int
        Stretches without white space, as ``str.split()`` gives them.
    tokens : int
    single_bytes : int
        Tokens of one byte.
    used : int
        Different ids that come at least once.
    rare : int
        Ids, specials left out, that come fewer than ``rare_under`` times, those that never come included.
    rare_under : int
    whole_words : int
        Words that are one token, with the space before them or without; those with spaces within a token are not.
    renyi : float
        Rényi efficiency of order 2.5.
    unknown_words : int or None
        Words that the baseline ``words`` does not have; None for all others.
    parity : float or None
        Tokens per tokens of the first group, where the groups are translations of each other.
    """

    tokenizer: str
    group: str
    vocab_size: int
    documents: int
    bytes: int
    characters: int
    words: int
    tokens: int
    single_bytes: int
    used: int
    rare: int
    rare_under: int
    whole_words: int
    renyi: float
    unknown_words: int | None = None
    parity: float | None = None

    @property
    def bytes_per_token(self) -> float:
        """Compression: higher is shorter."""
        return self.bytes / self.tokens if self.tokens else 0.0

    @property
    def characters_per_token(self) -> float:
        return self.characters / self.tokens if self.tokens else 0.0

    @property
    def fertility(self) -> float:
        """Tokens per word; of little use for languages that put no spaces between words."""
        return self.tokens / self.words if self.words else 0.0

    @property
    def whole_share(self) -> float:
        """The share of words that are one token."""
        return self.whole_words / self.words if self.words else 0.0

    @property
    def single_byte_share(self) -> float:
        """The share of tokens that are one byte."""
        return self.single_bytes / self.tokens if self.tokens else 0.0

    @property
    def used_share(self) -> float:
        """The share of the vocabulary that comes at all."""
        return self.used / self.vocab_size if self.vocab_size else 0.0

    @property
    def unknown_rate(self) -> float | None:
        """Out-of-vocabulary rate: the share of words that are unknown; None where nothing can be."""
        if self.unknown_words is None:
            return None
        return self.unknown_words / self.words if self.words else 0.0

    @property
    def bits_factor(self) -> float:
        """What turns a model's loss, in nats per token, into bits per byte: tokens / bytes / ln 2.

        Losses per token of models with different tokenizers cannot be compared; bits per byte can.
        """
        return self.tokens / self.bytes / math.log(2) if self.bytes else 0.0

    def to_json(self) -> dict[str, Any]:
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**given, **{name: getattr(self, name) for name in DERIVED}}


DERIVED = (
    "bytes_per_token", "characters_per_token", "fertility", "whole_share", "single_byte_share", "used_share",
    "unknown_rate", "bits_factor",
)  # fmt: skip
