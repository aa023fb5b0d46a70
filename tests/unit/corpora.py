"""What the tests of readers share: the texts that come out of a corpus."""

from __future__ import annotations

import re
from typing import Any

from bytepair.corpus.readers import Reading


def texts(corpus: Any) -> list[bytes]:
    """Each document's text, read as it comes."""
    return [b"".join(document.open()) for document in Reading(corpus)]


def named(corpus: Any) -> list[tuple[str, bytes]]:
    """The same with the documents' names, without the folders in them."""
    return [(re.split(r"[/\\\\]", document.name)[-1], b"".join(document.open())) for document in Reading(corpus)]
