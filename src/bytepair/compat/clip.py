"""What CLIP's own program does to a text before it encodes it."""

from __future__ import annotations

import html
import re

__all__ = ["clean"]


def clean(text: str) -> str:
    """Repair broken characters, open HTML entities twice, make one space of white space, take small letters.

    For :func:`bytepair.load` of CLIP's file, whose tokenizer does the last two itself.

    Raises
    ------
    ModuleNotFoundError
        ``ftfy`` is not installed.
    """
    try:
        import ftfy
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "CLIP's cleaning needs ftfy, which is not installed: pip install ftfy; or encode the text without it where "
            "it has no broken characters",
            name="ftfy",
        ) from None
    text = html.unescape(html.unescape(ftfy.fix_text(text))).strip()
    return re.sub(r"\s+", " ", text).strip().lower()
