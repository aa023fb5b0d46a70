"""Merges, learned by the engine from counted words: anew, or from where another training stopped.

``training`` checks the options and makes a tokenizer of what comes out of here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _engine
from ._check import brief, whole
from ._checkpoint import Checkpoint, State, checksum
from ._codec import engine_alphabet
from .corpus import WordCounts
from .corpus.sources import Files, path_sources
from .corpus.streams import Source
from .errors import TrainingError
from .vocabulary import MARK, Alphabet, byte_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .pattern import Pattern
    from .pipeline.normalise import Normaliser

CONVENTIONS = ("first", "huggingface", "rustbpe", "cs336", "subword-nmt")


def tie_options(convention: str, scheme: Alphabet) -> dict[str, Any]:
    """What the engine's ``Trainer`` is told of a convention, for the symbols of an alphabet and nothing merged yet.

    A symbol that is merged later gets the next number, and the texts of its parts.
    """
    if convention == "first":
        return {}
    symbols = scheme.symbols()
    order = byte_order("gpt2" if convention == "huggingface" else "raw")
    place = {bytes([value]): k for k, value in enumerate(order)} if scheme.kind == "bytes" else {}

    def number(k: int) -> tuple[bool, bool, int]:
        text, marked = symbols[k]
        return not text, marked, place.get(text, k)  # characters are in the order of code points already

    numbers = [0] * len(symbols)
    for at, k in enumerate(sorted(range(len(symbols)), key=number)):
        numbers[k] = at
    if convention in ("huggingface", "rustbpe"):
        return {"ties": "smallest", "numbers": numbers}
    texts = [text + MARK.encode() * marked for text, marked in symbols]
    return {"ties": "greatest", "numbers": numbers, "texts": texts}


class Learner:
    """The engine's trainer over the symbols of an alphabet, and before its merges those of ``before``.

    ``before`` are columns as the engine gives them; they are merged at once, and their numbers go on in what follows.
    """

    def __init__(
        self,
        words: WordCounts,
        dropped: Any,
        scheme: Alphabet,
        min_freq: int,
        convention: str,
        max_length: int | None = None,
        before: list[NDArray[Any]] | None = None,
    ) -> None:
        self.words = words
        self._before = before
        n = scheme.size
        options = tie_options(convention, scheme)
        if before is not None and len(before[0]):
            options.update(self._given(before, n, options))
            n += len(before[0])
        # What the alphabet lacks is no symbol: number n, which no merge crosses.
        fallback = (n,) * 256 if scheme.has_fallback_bytes else ()
        alphabet = engine_alphabet(scheme, range(scheme.size), fallback, n)
        self._trainer = _engine.Trainer(
            words.text, words.offsets, words.counts, dropped, alphabet, n, min_freq, max_length=max_length, **options
        )
        self.done = len(before[0]) if before is not None else 0

    @staticmethod
    def _given(before: list[NDArray[Any]], n: int, options: dict[str, Any]) -> dict[str, Any]:
        import numpy as np

        left, right = before[0].tolist(), before[1].tolist()
        if any(max(pair) >= n + k for k, pair in enumerate(zip(left, right))):
            raise TrainingError("the checkpoint has a merge of tokens that were not there yet; delete it to begin anew")
        ids = np.arange(n, n + len(left), dtype=np.uint32)
        lengths, texts = [1] * n, list(options.get("texts", ()))
        for a, b in zip(left, right):
            lengths.append(lengths[a] + lengths[b])
            if texts:
                texts.append(texts[a] + texts[b])
        found: dict[str, Any] = {"given": _engine.PairTable.of_merges(before[0], before[1], ids), "lengths": lengths}
        if "numbers" in options:
            found["numbers"] = [*options["numbers"], *ids.tolist()]
        if texts:
            found["texts"] = texts
        return found

    def run(self, wanted: int, seconds: float) -> None:
        """Learns until there are ``wanted`` merges in all, or the time is over."""
        given = len(self._before[0]) if self._before is not None else 0
        self.done = given + self._trainer.run(wanted - given, seconds)

    @property
    def exhausted(self) -> bool:
        return bool(self._trainer.exhausted)

    @property
    def length_before(self) -> int:
        """Tokens in the corpus before the first merge that was learned here."""
        return int(self._trainer.length_before)

    def columns(self) -> list[NDArray[Any]]:
        """left, right, counts, tied, lengths and examples of all merges, as ``_checkpoint.COLUMNS`` has them."""
        import numpy as np

        learned = list(self._trainer.merges())
        if self._before is None:
            return learned
        return [np.concatenate(both) for both in zip(self._before, learned)]

    def frequencies(self) -> NDArray[Any]:
        found: NDArray[Any] = self._trainer.frequencies()
        return found

    def best_left(self) -> tuple[int, int, int] | None:
        found: tuple[int, int, int] | None = self._trainer.best_left()
        return found


class Kept:
    """The state of one training on the disk, where it is wanted: what ``checkpoint`` and ``resume`` say."""

    def __init__(self, checkpoint: Any, every: Any, resume: Any, settings: Mapping[str, Any]) -> None:
        self._every = whole("checkpoint_every", every, 1, TrainingError)
        self._settings = settings
        for what, value in (("checkpoint", checkpoint), ("resume", resume)):
            if value is not None and not isinstance(value, (bool, str, os.PathLike)):
                raise TrainingError(f"{what} is {brief(value)}; it must be the path of a file")
        named = not isinstance(resume, bool)
        if resume is True and checkpoint is None:
            raise TrainingError("resume=True goes on from the checkpoint; name its file with checkpoint=")
        self._to = Checkpoint(Path(checkpoint)) if checkpoint is not None else None
        self._from = Checkpoint(Path(resume)) if named else self._to if resume else None
        if self._to is not None and not self._to.path.parent.is_dir():
            raise TrainingError(f"there is no folder {self._to.path.parent} for the checkpoint; make it first")
        self._state: State | None = self._from.read(settings) if self._from is not None else None
        if named and self._state is None:
            raise TrainingError(
                f"there is no checkpoint {resume} to resume from; name another file, or leave resume out"
            )
        self._words = ""
        self._kept = -1

    def words(
        self,
        corpus: Any,
        count: Callable[[], WordCounts],
        cut: tuple[Pattern, Iterable[str], Normaliser | None],
    ) -> WordCounts:
        """The counted words: those on the disk if they are of this corpus, else counted now; ``cut`` by that."""
        if self._to is None and self._state is None:
            return corpus if isinstance(corpus, WordCounts) else count()
        about = described(corpus)
        words: WordCounts | None = corpus if isinstance(corpus, WordCounts) else None
        if words is None and self._state is not None and self._from is not None and about is not None:
            stored = self._from.read_words()
            if stored is not None and stored[0] == about and stored[1] == self._state.words:
                words = WordCounts.of_table(stored[2], *cut[:2], normaliser=cut[2])
        if words is None:
            words = count()
        self._words = checksum(words.text, words.offsets, words.counts)
        if self._state is not None and self._state.words != self._words:
            raise TrainingError(
                f"{self._from.path if self._from else ''} is the state of a training on another corpus: its words have "
                f"the checksum {self._state.words[:12]}, those of this corpus {self._words[:12]}; train on the same "
                "corpus, or name another checkpoint"
            )
        if self._to is not None and (self._state is None or self._to != self._from or not self._to.words_path.exists()):
            self._to.write_words(about, words.table)
        return words

    def columns(self, wanted: int) -> list[NDArray[Any]] | None:
        """The merges that are there already, at most ``wanted``."""
        if self._state is None:
            return None
        examples = 3 * wanted
        *columns, last = self._state.columns
        self._kept = min(wanted, len(columns[0]))
        return [*(column[:wanted] for column in columns), last[:examples]]

    def length_before(self, learner: Learner) -> int:
        return learner.length_before if self._state is None else self._state.length_before

    def next_stop(self, done: int) -> int:
        """How many merges there are when the state is to be written next."""
        return done + self._every - max(done - self._kept, 0) if self._to is not None else 1 << 62

    def keep(self, learner: Learner, last: bool = False) -> None:
        """Writes the state, if it is time to."""
        if self._to is None or (self._kept >= 0 and learner.done - self._kept < (1 if last else self._every)):
            return
        self._to.write(self._settings, self._words, self.length_before(learner), learner.columns())
        self._kept = learner.done


def described(corpus: Any) -> Any:
    """What a corpus can be known by without counting it, as JSON has it; None where there is no such thing."""
    import hashlib

    items = list(corpus) if isinstance(corpus, (list, tuple)) else [corpus]
    if items and all(isinstance(item, (os.PathLike, Files)) for item in items):
        found: list[Any] = []
        for item in items:
            # How files are read decides what they hold.
            found.append(repr(item.how) if isinstance(item, Files) else "")
            for part in item.parts() if isinstance(item, Files) else path_sources(Path(item)):
                if not isinstance(part, Source) or part.given or not os.path.isfile(part.name):
                    return None
                about = os.stat(part.name)
                found.append([os.path.abspath(part.name), about.st_size, about.st_mtime_ns])
        return found
    if all(isinstance(item, (str, bytes)) for item in items):
        digest = hashlib.sha256()
        for item in items:
            data = item.encode("utf-8", "surrogatepass") if isinstance(item, str) else item
            digest.update(len(data).to_bytes(8, "little"))
            digest.update(data)
        return digest.hexdigest()
    return None
