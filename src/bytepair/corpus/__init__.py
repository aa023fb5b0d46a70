"""Corpora: where text to train on comes from, and what is left of it when it has been counted."""

from .sources import Files, files
from .words import LeftOut, WordCounts

__all__ = ["Files", "LeftOut", "WordCounts", "files"]
