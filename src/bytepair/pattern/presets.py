"""The named patterns, each with the dialect its owner runs it in.

Only texts are here. Which of them the core cuts by blocks is in ``families.py``.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["DIALECT_NAMES", "PRESETS", "UNICODE_VERSION", "Preset"]

DIALECT_NAMES = ("tiktoken", "oniguruma", "python", "pcre")
"""The dialects of ``dialects.py``."""

UNICODE_VERSION = "16.0.0"
"""The version of ``_unicode_tables.py``, which need not be read to know it."""


class Preset(NamedTuple):
    """A pattern as text, the dialect that gives it its meaning, and what cuts its pieces again, if anything does."""

    regex: str
    dialect: str
    then: Preset | None = None

    @property
    def stages(self) -> tuple[tuple[str, str], ...]:
        """Regex and dialect of this pattern and of all that follow it."""
        return ((self.regex, self.dialect), *(self.then.stages if self.then else ()))


_R50K = Preset(
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
    "tiktoken",
)

_CAPITALS = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_SMALLS = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_PREFIX = r"[^\r\n\p{L}\p{N}]?"
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"

PRESETS: dict[str, Preset] = {
    # Hugging Face's spelling, and tiktoken's of the same cuts.
    "gpt2": Preset(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", "oniguruma"),
    "r50k": _R50K,
    "p50k": _R50K,
    # Python's \d is Nd only and its \w has all numbers and the underscore: x² and foo_bar are one pretoken each.
    "al1": Preset(r"'s|'t|'re|'ve|'m|'ll|'d| ?[^\W\d]+| ?\d+| ?[^\s\w]+|\s+(?!\S)|\s+", "python"),
    # Not the same cuts as Hugging Face's spelling (which llama3 has): \s++$ comes before the line rule.
    "cl100k": Preset(
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
        "tiktoken",
    ),
    "o200k": Preset(
        "|".join(
            (
                rf"{_PREFIX}{_CAPITALS}*{_SMALLS}+{_CONTRACTION}?",
                rf"{_PREFIX}{_CAPITALS}+{_SMALLS}*{_CONTRACTION}?",
                r"\p{N}{1,3}",
                r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
                r"\s*[\r\n]+",
                r"\s+(?!\S)",
                r"\s+",
            )
        ),
        "tiktoken",
    ),
    "llama3": Preset(
        rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+",
        "oniguruma",
    ),
    "qwen2": Preset(
        rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+",
        "oniguruma",
    ),
    "tekken": Preset(
        "|".join(
            (
                rf"{_PREFIX}{_CAPITALS}*{_SMALLS}+",
                rf"{_PREFIX}{_CAPITALS}+{_SMALLS}*",
                r"\p{N}",
                r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
                r"\s*[\r\n]+",
                r"\s+(?!\S)",
                r"\s+",
            )
        ),
        "tiktoken",
    ),
    # Three stages: numbers, then Chinese and Japanese, then words.
    "deepseek-v3": Preset(
        r"\p{N}{1,3}",
        "oniguruma",
        Preset(
            "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
            "oniguruma",
            Preset(
                "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
                "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
                "oniguruma",
            ),
        ),
    ),
    # Words and white space as str.split() sees them.
    "whitespace": Preset(r"\s+|\S+", "python"),
    # Words as subword-nmt sees them: blanks are U+0020, lines end at U+000A.
    "spaces": Preset(r"[ \n]+|[^ \n]+", "python"),
    "none": Preset(r"(?s:.+)", "tiktoken"),
}
