"""The one door to the core: the compiled ``_core`` where there is one, else ``_pure`` with the same results.

``BYTEPAIR_PURE=1`` in the environment chooses ``_pure`` when this module is first imported. Nothing else in the package
imports either of the two.
"""

from __future__ import annotations

import os
from typing import Any


def _forced() -> bool:
    return os.environ.get("BYTEPAIR_PURE", "") not in ("", "0")


NAME = "core"
"""``"core"`` or ``"pure"``: which of the two runs."""

_impl: Any
if not _forced():
    try:
        from . import _core

        _impl = _core
    except ImportError as error:
        import logging

        NAME = "pure"
        logging.getLogger("bytepair").warning(
            "bytepair runs in pure Python, with the same results but slower: its compiled core is missing (%s). "
            "With a C++20 compiler at hand, install it again from its sources: `pip install --force-reinstall .`",
            error,
        )
else:
    import logging

    NAME = "pure"
    logging.getLogger("bytepair").info("bytepair runs in pure Python, as BYTEPAIR_PURE asks")

if NAME == "pure":
    from . import _pure

    _impl = _pure

_level = os.environ.get("BYTEPAIR_SIMD", "")
if NAME == "core" and _level and _impl.simd_level() != _level:
    import logging

    logging.getLogger("bytepair").warning(
        "BYTEPAIR_SIMD=%s is no instruction set that this machine and this build have; it can be avx512, avx2, neon or "
        "plain, and %s is used",
        _level,
        _impl.simd_level(),
    )

Alphabet = _impl.Alphabet
ClassTable = _impl.ClassTable
Counter = _impl.Counter
Decoder = _impl.Decoder
Direct = _impl.Direct
DropoutEncoder = _impl.DropoutEncoder
Encoder = _impl.Encoder
PairTable = _impl.PairTable
Specials = _impl.Specials
Splitter = _impl.Splitter
Stream = _impl.Stream
TokenTable = _impl.TokenTable
Trainer = _impl.Trainer
checksum = _impl.checksum
direct_method = _impl.direct_method
lists = _impl.lists
collect_characters = _impl.collect_characters
gather_words = _impl.gather_words
