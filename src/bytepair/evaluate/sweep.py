"""How large a vocabulary? One training for each pattern and amount of text, every size measured on held-out text.

A tokenizer with the first v merges encodes as the whole one does with the later merges left undone. So the merges of
the held-out words, done once, give the number of tokens at every size.
"""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import showing
from .._check import whole
from ..corpus import WordCounts
from ..errors import BytepairError, BytepairNotice
from ..explain.merging import merges_of
from ..showing import html
from ..training import train
from .measures import renyi_efficiency
from .subjects import Ours, held

if TYPE_CHECKING:
    from os import PathLike

    from ..tokenizer import Tokenizer

SIZES = (512, 1024, 2048, 4096, 8192, 16384, 32768)
_EVERY = 10


@dataclass(frozen=True)
class Point:
    """One size of vocabulary, measured.

    Attributes
    ----------
    pattern : str
    share : float
        Of the training text.
    training_bytes : int
    vocab_size : int
    tokens, bytes : int
        Of the held-out text.
    bytes_per_token : float
    used_share : float
        The share of the vocabulary that comes in the held-out text.
    renyi : float
        Rényi efficiency of order 2.5.
    untied, tied : int
        Parameters of input embedding and output together: 2 · V · width, or V · width where both are the same.
    sequence : float
        Tokens for each 1,000 bytes of text.
    bytes_in_context : float
        Text that a context holds.
    attention : float
        Floating-point operations of the attention scores and sums, one layer, for each 1,000 bytes of text in full
        contexts: 4 · context · width for each token.
    """

    pattern: str
    share: float
    training_bytes: int
    vocab_size: int
    tokens: int
    bytes: int
    bytes_per_token: float
    used_share: float
    renyi: float
    untied: int
    tied: int
    sequence: float
    bytes_in_context: float
    attention: float


@dataclass(frozen=True)
class Curve:
    """Tokens of the held-out text at every size, from no merge to all: ``tokens[k]`` with the first k merges."""

    pattern: str
    share: float
    first_size: int
    tokens: tuple[int, ...]
    stopped: str


@dataclass(frozen=True)
class Sweep(Sequence[Point]):
    """What :func:`sweep` gives: points to look at, and a curve through every size for each training."""

    points: tuple[Point, ...]
    curves: tuple[Curve, ...]
    width: int
    context: int

    def __repr__(self) -> str:
        return f"<Sweep of {len(self.points)} points on {len(self.curves)} curves>"

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, i: Any) -> Any:
        return self.points[i]

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)

    def to_json(self) -> dict[str, Any]:
        return {
            "width": self.width,
            "context": self.context,
            "points": [asdict(point) for point in self.points],
            "curves": [asdict(curve) for curve in self.curves],
        }

    def to_csv(self) -> str:
        """The points, a line for each, with a line of names before them."""
        out = io.StringIO()
        writer = csv.DictWriter(out, list(Point.__dataclass_fields__), lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(point) for point in self.points)
        return out.getvalue()

    _HEADER = (
        "pattern", "text", "ids", "tokens", "bytes/token", "used", "Rényi", "untied 2Vd", "tied Vd", "tokens/kB",
        "bytes/context", "attention/kB",
    )  # fmt: skip

    def _rows(self) -> Iterator[list[str]]:
        for p in self.points:
            yield [
                showing.one_line(p.pattern), f"{p.share:.0%}", f"{p.vocab_size:,}", f"{p.tokens:,}",
                f"{p.bytes_per_token:.3f}", f"{p.used_share:.1%}", f"{p.renyi:.3f}", f"{p.untied:,}", f"{p.tied:,}",
                f"{p.sequence:.0f}", f"{p.bytes_in_context:,.0f}", f"{p.attention:.3g}",
            ]  # fmt: skip

    def __str__(self) -> str:
        lines = list(showing.table(list(self._HEADER), list(self._rows()), left={0}))
        lines.append(f"width {self.width:,}, context {self.context:,}; attention is of one layer")
        for c in self.curves:
            if not c.stopped.startswith("the vocabulary is full"):
                reached = c.first_size + len(c.tokens) - 1
                lines.append(f"{showing.one_line(c.pattern)}, {c.share:.0%}: {reached:,} ids is all: {c.stopped}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = ([html.escaped(cell) for cell in row] for row in self._rows())
        return html.fragment(html.table(list(self._HEADER), rows, left={0}))

    def plot(self, path: str | PathLike[str]) -> None:
        """Writes the curves as a picture (PNG, SVG or PDF, by the name)."""
        from .plots import curves

        curves(self, Path(path))


def sweep(
    corpus: Any,
    *,
    held_out: Any = None,
    vocab_sizes: Iterable[int] = SIZES,
    patterns: Iterable[str] = ("gpt2",),
    shares: Iterable[float] = (1.0,),
    width: int = 768,
    context: int = 1024,
    **options: Any,
) -> Sweep:
    """Trains once for each pattern and amount of text, and measures every size of vocabulary on held-out text.

    Parameters
    ----------
    corpus : as for :func:`bytepair.train`
    held_out : corpus, optional
        Every tenth document of ``corpus`` is held out where it is not given.
    vocab_sizes : numbers
        The sizes that get a :class:`Point`; those that training does not reach are left out.
    patterns : names or patterns
    shares : numbers above 0, up to 1
        How much of the training text is used, from its beginning.
    width, context : int
        Of the model, for what embeddings and attention cost.
    **options
        For :func:`bytepair.train`: specials, min_freq, convention, threads ...

    Raises
    ------
    BytepairError
        No document is left to train or to measure on, or a number makes no sense.

    Examples
    --------
    >>> found = sweep("low lower lowest " * 40, held_out="slow lowest", vocab_sizes=[256, 260], specials=())
    >>> [(p.vocab_size, p.tokens) for p in found]
    [(256, 11), (260, 5)]
    """
    width = whole("width", width, 1, BytepairError)
    context = whole("context", context, 1, BytepairError)
    sizes = sorted({whole("a vocabulary size", size, 1, BytepairError) for size in vocab_sizes})
    if not sizes:
        raise BytepairError("give at least one vocabulary size")
    for name in ("vocab_size", "num_merges", "pattern"):
        if name in options:
            raise BytepairError(f"{name}= is what a sweep tries; give vocab_sizes= and patterns=")
    training, measured = _parts(corpus, held_out)
    points: list[Point] = []
    curves: list[Curve] = []
    for pattern in patterns:
        for share in shares:
            some = portion(training, share)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", BytepairNotice)  # the curve says where training stopped
                tok = train(some, vocab_size=sizes[-1], pattern=pattern, **options)
            name = tok.pattern.name or tok.pattern.regex
            curve = _curve(tok, measured, name, share)
            curves.append(curve)
            n = sum(map(len, some))
            points += (_point(tok, curve, size, measured, n, width, context) for size in _reached(tok, sizes))
    return Sweep(tuple(points), tuple(curves), width, context)


def _reached(tok: Tokenizer, sizes: list[int]) -> list[int]:
    least = tok.vocab_size - len(tok.merges or ())
    return [size for size in sizes if least <= size <= tok.vocab_size]


def _parts(corpus: Any, held_out: Any) -> tuple[list[bytes], list[bytes]]:
    documents = held(corpus)
    if held_out is not None:
        measured = held(held_out)
        training = documents
    else:
        measured = documents[_EVERY - 1 :: _EVERY]
        training = [document for k, document in enumerate(documents, 1) if k % _EVERY]
        if not measured:
            raise BytepairError(
                f"the corpus has {len(documents)} documents, and every tenth is held out; give held_out= "
                "(--held-out), some text that training does not see"
            )
    if not any(training) or not any(measured):
        raise BytepairError("there is no text to train on, or none to measure on")
    return training, measured


def portion(documents: Sequence[bytes], share: float) -> list[bytes]:
    """The first documents with a share of all bytes; the last of them is cut behind a line, where it has one."""
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share <= 1:
        raise BytepairError(f"a share of the text is {share!r}; it must be above 0 and at most 1")
    left = max(round(share * sum(map(len, documents))), 1)
    out: list[bytes] = []
    for document in documents:
        if left <= 0:
            break
        if len(document) > left:
            end = document.find(b"\n", left)
            document = document[: left if end < 0 else end + 1]
        out.append(document)
        left -= len(document)
    return out


def _curve(tok: Tokenizer, documents: list[bytes], pattern: str, share: float) -> Curve:
    words = WordCounts.from_corpus(documents, pattern=tok.pattern, specials=())  # names are text, as for encode
    merges = merges_of(tok)
    n = len(tok.merges or ())
    done = [0] * n
    length = 0
    for word, times in words.items():
        merging = merges.of(word)
        if merging is None:
            continue
        length += times * len(merging.symbols)
        for step in merging.steps:
            done[step.rank] += times
    tokens = tuple(accumulate(done, lambda left, gone: left - gone, initial=length))
    stopped = "" if tok.record is None else tok.record.stopped
    return Curve(pattern, float(share), tok.vocab_size - n, tokens, stopped)


def _point(
    tok: Tokenizer, curve: Curve, size: int, documents: list[bytes], training_bytes: int, width: int, context: int
) -> Point:
    smaller = tok.cut(size)
    counts = Ours(smaller, "").counts(documents)
    tokens, n = int(counts.sum()), sum(map(len, documents))
    return Point(
        pattern=curve.pattern,
        share=curve.share,
        training_bytes=training_bytes,
        vocab_size=size,
        tokens=tokens,
        bytes=n,
        bytes_per_token=n / tokens if tokens else 0.0,
        used_share=int((counts > 0).sum()) / size,
        renyi=renyi_efficiency(counts, size),
        untied=2 * size * width,
        tied=size * width,
        sequence=1000 * tokens / n,
        bytes_in_context=context * n / tokens if tokens else 0.0,
        attention=4 * context * width * 1000 * tokens / n,
    )
