"""Do two sides give the same? :func:`verify` puts the same texts through both, and says so or shows where they differ.

A side is a tokenizer of this package or the library of a format's owner on the same file. ``bytepair verify`` and
``bytepair convert`` call it.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import FormatError
from .certificate import Certificate, Compared, Difference, FileFacts, Shown, SideFacts
from .comparison import Comparison
from .given import Given, Named, Sides, read_again, version
from .sides import Ours, Side
from .texts import corpus as corpus_texts
from .texts import corpus_sha256, random_texts, torture, torture_sha256

if TYPE_CHECKING:
    from ..pattern import Pattern
    from ..progress import Progress

__all__ = [
    "Certificate", "Compared", "Difference", "FileFacts", "Ours", "Shown", "Side", "SideFacts", "read_again", "verify",
]  # fmt: skip


OFFSETS = 1 << 20
"""Bytes at the beginning of the corpus of which offsets are compared: they take far longer than ids."""


def verify(
    a: Named,
    b: Named | Side | None = None,
    *,
    corpus: Iterable[str | os.PathLike[str]] = (),
    seed: int = 0,
    random: int = 2000,
    tokens: bool = True,
    owners: bool = True,
    pattern: str | Pattern | None = None,
    specials: Iterable[str] | Mapping[str, int] | None = None,
    vocab: str | os.PathLike[str] | None = None,
    policies: Iterable[str] = ("text", "all", "framed"),
    progress: Progress = None,
) -> Certificate:
    """Compare ids, decoded text and offsets of two tokenizers, and of their owners' libraries where installed.

    Both are run on a built-in torture text, the corpus, every token of the vocabulary (its text encoded, its id
    decoded) and random strings.

    Parameters
    ----------
    a : name, path, bytes or Tokenizer
        What :func:`bytepair.load` takes. All other sides are compared with what this package makes of it.
    b : the same, or a Side, optional
        Without it ``a`` is compared with its owner, and where there is none, with itself written as our JSON and read.
    corpus : paths
        Files of text, read as bytes.
    seed, random : int
        For so many random strings.
    tokens : bool
        Whether each token of the vocabulary is tried.
    owners : bool
        Whether the owners' libraries are asked.
    pattern, specials, vocab
        For files that do not say them, as for :func:`bytepair.load`. A ``b`` that lacks them has those of ``a``.
    policies : str
        How names of special tokens in a text are taken: ``"text"``, ``"all"``, ``"framed"`` (all, and what the file's
        template puts around a text).
    progress : callable, bool or None
        Called with a :class:`bytepair.progress.Report`; True shows a bar on a terminal.

    Returns
    -------
    Certificate

    Raises
    ------
    FormatError
        A file cannot be read, by us or by its owner.

    Examples
    --------
    >>> import bytepair
    >>> ab = bytepair.Tokenizer.from_merges([(b"a", b"b"), (b"b", b"c")])
    >>> bc = bytepair.Tokenizer.from_merges([(b"b", b"c"), (b"a", b"b")])
    >>> found = verify(ab, bc, owners=False, random=0)
    >>> found.equal, [difference.kind for difference in found.differences]
    (False, ['ids', 'decoded text'])
    """
    first = Given.of(a, "the first", {"pattern": pattern, "specials": specials, "vocab": vocab})
    sides = Sides(first)
    took = first.took_options
    if isinstance(b, Side):
        sides.add(b)
        sides.owners += 1
    else:
        if owners:
            sides.add_owner(first)
        if b is not None:
            second = Given.of(b, "the second", {"pattern": pattern, "specials": specials}, lender=first)
            took = took or second.took_options
            sides.add_ours(second)
            if owners:
                sides.add_owner(second)
        elif not sides.others:
            sides.add_itself(first)
    if (pattern is not None or specials is not None) and not took:
        raise FormatError(f"{first.name} says its own pattern and special tokens; leave pattern= and specials= out")
    return _compare(sides, first, list(map(Path, corpus)), seed, random, tokens, tuple(policies), progress)


def _compare(
    sides: Sides,
    first: Given,
    corpus: list[Path],
    seed: int,
    random: int,
    tokens: bool,
    policies: tuple[str, ...],
    progress: Progress,
) -> Certificate:
    everyone = [sides.base, *sides.others]
    hashes = tuple(FileFacts(str(path), size, digest) for path, size, digest in _hashed(corpus))
    names = list(dict.fromkeys(name for side in everyone if isinstance(side, Ours) for name in side.names()))
    plain = tuple(policy for policy in policies if policy != "framed")
    comparison = Comparison(sides.base, sides.others, policies, progress)
    comparison.texts("torture text", torture(names), policies, offsets=None)
    if tokens:
        comparison.vocabulary(plain)
    if random:
        vocabulary = list(filter(None, map(_as_text, first.tokenizer._vocabulary.tokens.values())))
        comparison.texts("random", random_texts(seed, random, names, vocabulary), plain, offsets=None, total=random)
    for facts, path in zip(hashes, corpus):
        comparison.texts("corpus", corpus_texts(path), plain, offsets=OFFSETS, total=facts.bytes)
    return Certificate(
        sides=tuple(_facts(side, comparison, sides) for side in everyone),
        compared=comparison.compared(),
        corpus=hashes,
        differences=comparison.differences(),
        without_owner=sides.without_owner(),
        notes=tuple(sides.notes),
        seed=seed,
        torture_sha256=torture_sha256(),
        bytepair=version(),
        python=platform.python_version(),
        date=datetime.now(timezone.utc).isoformat(timespec="seconds"),
    )


def _facts(side: Side, comparison: Comparison, sides: Sides) -> SideFacts:
    fingerprint = side.tokenizer.fingerprint if isinstance(side, Ours) else None
    files, policies = sides.files[id(side)], comparison.policies_of(side)
    kinds = comparison.kinds_of(side)
    return SideFacts(side.name, side.library, side.version, files, policies, kinds, fingerprint)


def _as_text(data: bytes) -> str:
    """Its text; "" where it is none."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return ""


def _hashed(paths: list[Path]) -> Iterable[tuple[Path, int, str]]:
    try:
        yield from corpus_sha256(paths)
    except OSError as error:
        raise FormatError(f"cannot read {error.filename}: {error.strerror or error}; check the path") from error
