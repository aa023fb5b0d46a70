"""Timing: what one tokenizer does in a second, and the texts and clocks for comparing it with others.

:func:`measure` is what ``bytepair bench`` shows. The project's own ``bench/`` takes ``texts`` and ``times`` from here.
It knows no file format; callers load the tokenizer.
"""

from __future__ import annotations

from .own import Result, Row, check, measure

__all__ = ["Result", "Row", "check", "measure"]
