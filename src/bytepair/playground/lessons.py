"""Training on a small corpus, to be watched: what the page may ask for, and the two classic examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .._learning import CONVENTIONS
from ..errors import TrainingError
from ..explain import EXAMPLES
from ..pattern import presets
from ..training import train
from ..vocabulary import AL1_SPECIALS

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer

LARGEST = 20_000
"""Characters of a corpus."""

MOST_MERGES = 200

TITLES = {
    "bytes": "low low lower lowest: bytes, six special tokens",
    "classic": "low, lower, newer, wider: characters, with an end-of-word mark",
}


def examples() -> list[dict[str, Any]]:
    """The classic examples, as the form has them."""
    out = []
    for name, (corpus, options) in EXAMPLES.items():
        floor = 256 + len(AL1_SPECIALS)
        out.append(
            {
                "title": TITLES.get(name, name),
                "corpus": corpus,
                "alphabet": options.get("alphabet", "bytes"),
                "merges": options.get("num_merges", options.get("vocab_size", floor) - floor),
                "pattern": options.get("pattern", "gpt2"),
                "min_freq": options.get("min_freq", 2),
                "convention": options.get("convention", "first"),
            }
        )
    return out


def choices() -> dict[str, Any]:
    """What can be chosen, for the form."""
    return {
        "patterns": list(presets()),
        "conventions": list(CONVENTIONS),
        "examples": examples(),
        "largest": LARGEST,
        "most_merges": MOST_MERGES,
    }


def trained(asked: Mapping[str, Any]) -> Tokenizer:
    """Train as the form says.

    Raises
    ------
    TrainingError
        A value is missing or beyond what is small.
    """
    corpus, alphabet = asked.get("corpus"), asked.get("alphabet", "bytes")
    if not isinstance(corpus, str) or not corpus:
        raise TrainingError("there is nothing to train on; type a corpus")
    if len(corpus) > LARGEST:
        raise TrainingError(f"{len(corpus):,} characters are too many to watch; give up to {LARGEST:,}")
    merges = _number(asked, "merges", 0, MOST_MERGES)
    chosen: dict[str, Any] = {
        "num_merges": merges,
        "min_freq": _number(asked, "min_freq", 1, LARGEST),
        "convention": _name(asked, "convention", CONVENTIONS),
    }
    if _name(asked, "alphabet", ("bytes", "characters")) == "characters":
        return train(corpus, alphabet=alphabet, end_of_word="separate", specials=(), **chosen)
    return train(corpus, pattern=_name(asked, "pattern", presets()), **chosen)


def _number(asked: Mapping[str, Any], name: str, least: int, most: int) -> int:
    value = asked.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise TrainingError(f"{name.replace('_', ' ')} should be a whole number from {least} to {most:,}")
    return value


def _name(asked: Mapping[str, Any], name: str, known: tuple[str, ...]) -> str:
    value = asked.get(name, known[0])
    if not isinstance(value, str) or value not in known:
        raise TrainingError(f"{name} should be one of {', '.join(known)}")
    return value
