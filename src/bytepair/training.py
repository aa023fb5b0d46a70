"""Training: from a corpus to a :class:`~bytepair.tokenizer.Tokenizer` and the record of how it came about.

The engine counts pretokens and merges pairs; what is here checks the options, numbers the ids and writes the record.
The algorithm in plain lines is ``reference``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from . import _engine
from ._check import brief, whole
from ._check import threads as check_threads
from ._codec import dropped_classes, engine_alphabet
from .corpus import WordCounts
from .errors import BytepairNotice, SpecialTokenError, TrainingError, VocabularyError
from .pattern import Pattern, resolve
from .pipeline.around import Around
from .progress import Progress, Report
from .record import SMALL_CORPUS, MergeStep, TrainingRecord, excerpt
from .tokenizer import Tokenizer
from .vocabulary import (
    AL1_SPECIALS,
    BYTE_ORDERS,
    LAYOUTS,
    MARK,
    MAX_ID,
    UNK,
    Alphabet,
    Vocabulary,
    assemble,
    check_choice,
    check_specials,
    floor,
)
from .vocabulary import byte_order as byte_order_values

if TYPE_CHECKING:
    from .pipeline.normalise import Normaliser

CONVENTIONS = ("first", "huggingface", "rustbpe", "cs336", "subword-nmt")
SLICE = 0.05
"""Seconds that the engine merges before Ctrl-C and the progress bar get their turn."""


def train(
    corpus: Any,
    *,
    vocab_size: int = 8192,
    num_merges: int | None = None,
    pattern: str | Pattern | None = None,
    alphabet: str = "bytes",
    end_of_word: str | None = None,
    unknown: str = "error",
    specials: Iterable[str] = AL1_SPECIALS,
    layout: str = "specials-first",
    byte_order: str = "raw",
    min_freq: int = 2,
    convention: str = "first",
    threads: int | None = None,
    progress: Progress = None,
    roles: Mapping[str, str] | None = None,
    max_token_length: int | None = None,
    normalizer: Any = None,
) -> Tokenizer:
    """Learns a byte-pair-encoding tokenizer.

    Counts each pretoken of the corpus, then merges the most frequent pair of neighbours, again and again, until the
    vocabulary is full or no pair comes ``min_freq`` times. The result never depends on threads.

    Parameters
    ----------
    corpus : str, bytes, Path, files(...), WordCounts, an open binary file, or a list or iterator
        A str or bytes is the text itself, a Path a file or a folder (read recursively, files in the order of their
        relative paths, links and hidden names skipped), ``bytepair.files("src/**/*.py")`` a glob. A list or iterator
        holds documents (str, bytes) or files (Path). Files are read as bytes.
    vocab_size : int
        Ids in all: specials, alphabet and merges.
    num_merges : int, optional
        Merges to learn; overrides ``vocab_size``.
    pattern : str or Pattern, optional
        What cuts text into pretokens: a preset's name or a regex. ``"gpt2"`` for bytes, ``"whitespace"`` for
        characters.
    alphabet : "bytes" or "characters"
    end_of_word : None, "separate" or "fused"
        The classic scheme: white space is dropped and each word ends with a mark, a symbol of its own or fused to the
        last character.
    unknown : "error", "bytes" or "<unk>"
        What a character is that training never saw (alphabet of characters only).
    specials : names
        Special tokens; ``()`` is none. Found in the corpus they cut it and are never learned from.
    layout : "specials-first" or "bytes-first"
        How ids are numbered. It never changes what is learned.
    byte_order : "raw" or "gpt2"
        The order of the 256 byte ids.
    min_freq : int
        The lowest count of a pair that is merged.
    convention : "first"
        Among pairs of equal count, the one whose first place in the corpus is earliest, looked up anew at each step.
    threads : int, optional
        All cores unless given.
    progress : callable or True, optional
        Called with a :class:`bytepair.progress.Report` now and then; True shows a bar on a terminal.
    roles : role -> name, optional
        Which special is ``bos``, ``eos``, ``pad`` or ``unk`` where their names do not say so.
    normalizer : "nfc", "nfd", "nfkc", "nfkd", "lower", "strip_accents", ("replace", old, new), or a list of these
        Changes each text, between its special tokens, before it is cut: here, and whenever the tokenizer encodes. Such
        a tokenizer is not :attr:`~Tokenizer.lossless`. None by default. A byte that is no UTF-8 passes as it is.

    Returns
    -------
    Tokenizer
        With its :attr:`~Tokenizer.record`.

    Raises
    ------
    VocabularyError
        ``vocab_size`` is under what exists before the first merge; the message names that floor.
    TrainingError
        An option or the corpus cannot be used.

    Notes
    -----
    Training that ends before the vocabulary is full says so in a :class:`bytepair.BytepairNotice` and in
    ``record.stopped``. The algorithm: Gage 1994; Sennrich, Haddow and Birch 2016; on bytes, Radford et al. 2019.

    Examples
    --------
    >>> tok = train("low low lower lowest", num_merges=4)
    >>> [tok.token_str(new) for new in tok.merges.values()]
    ['lo', 'low', ' low', ' lowe']
    >>> tok.encode("lowest")
    [263, 107, 121, 122]
    """
    scheme = _scheme(alphabet, end_of_word, unknown)
    if isinstance(specials, Mapping):
        raise SpecialTokenError("train() numbers the special tokens itself, as layout= says; give their names only")
    names = check_specials(specials)
    if unknown == UNK and UNK not in names:
        names.append(UNK)
    check_choice("layout", layout, LAYOUTS)
    check_choice("byte_order", byte_order, BYTE_ORDERS)
    if convention not in CONVENTIONS:
        raise TrainingError(f"convention is {convention!r}; it can be {', '.join(map(repr, CONVENTIONS))}")
    min_freq = whole("min_freq", min_freq, 1, TrainingError)
    vocab_size = whole("vocab_size", vocab_size, 0, TrainingError)
    if num_merges is not None:
        num_merges = whole("num_merges", num_merges, 0, TrainingError)
    if max_token_length is not None:
        max_token_length = whole("max_token_length", max_token_length, 2, TrainingError, (1 << 32) - 2)
    threads = check_threads(threads, TrainingError)
    if scheme.kind == "bytes":  # known before counting: refuse at once
        _wanted_merges(scheme, len(names), vocab_size, num_merges)
    cutter = resolve(pattern if pattern is not None else "gpt2" if alphabet == "bytes" else "whitespace")
    normaliser = None
    if normalizer is not None:
        from .pipeline.normalise import normaliser_of

        normaliser = normaliser_of(normalizer)
    if isinstance(corpus, WordCounts):
        words = corpus
        _check_normalised(words, normaliser)
    else:
        words = WordCounts.from_corpus(
            corpus, pattern=cutter, specials=names, threads=threads, progress=progress, normalizer=normaliser
        )

    dropped = dropped_classes(scheme, cutter)
    if scheme.kind == "characters":
        inner, last = (found.tolist() for found in _engine.collect_characters(words.text, words.offsets, dropped))
        if end_of_word == "fused":
            scheme = replace(scheme, points=tuple(inner), last_points=tuple(last))
        else:
            scheme = replace(scheme, points=tuple(sorted({*inner, *last})))
    wanted = _wanted_merges(scheme, len(names), vocab_size, num_merges)
    trainer = _engine.Trainer(
        words.text,
        words.offsets,
        words.counts,
        dropped,
        engine_alphabet(scheme, range(scheme.size), closed=True),
        scheme.size,
        min_freq,
        max_length=max_token_length,
        **tie_options(convention, scheme),
    )
    with Report.reporter("merge", "merges", wanted, progress) as report:
        done = 0
        while done < wanted and not trainer.exhausted:
            done = trainer.run(wanted, SLICE)
            report.update(done)

    left, right, *_ = columns = [column.tolist() for column in trainer.merges()]
    vocabulary = assemble(scheme, names, layout, byte_order, roles, symbol_pairs=list(zip(left, right)))
    record = _record(trainer, columns, vocabulary, words, dropped, convention, min_freq, wanted)
    if done < wanted:
        warnings.warn(
            f"training stopped after {done} of {wanted} merges: {record.stopped}", BytepairNotice, stacklevel=2
        )
    return Tokenizer(vocabulary, cutter, record, None if normaliser is None else Around(normaliser))


def _check_normalised(words: WordCounts, normaliser: Normaliser | None) -> None:
    """Counted words must be normalised already: where a raw text would have been cut is not known any more."""
    for word in () if normaliser is None else words:
        text = word.decode("utf-8", "surrogateescape")
        if normaliser is not None and normaliser.apply(text) != text:
            raise TrainingError(
                f"the counted word {brief(word)} is not normalised as normalizer= says; count the corpus with "
                "WordCounts.from_corpus(corpus, normalizer=...)"
            )


def _scheme(alphabet: str, end_of_word: str | None, unknown: str) -> Alphabet:
    check_choice("alphabet", alphabet, ("bytes", "characters"))
    check_choice("end_of_word", end_of_word, (None, "separate", "fused"))
    check_choice("unknown", unknown, ("error", "bytes", UNK))
    if alphabet == "bytes" and unknown != "error":
        raise VocabularyError(
            f'unknown={unknown!r} needs alphabet="characters": an alphabet of bytes has no unknown; leave it out'
        )
    return Alphabet(alphabet, end_of_word, unknown)  # type: ignore[arg-type]


def tie_options(convention: str, scheme: Alphabet) -> dict[str, Any]:
    """What the engine's ``Trainer`` is told of a convention, for the symbols of an alphabet and nothing merged yet."""
    if convention == "first":
        return {}
    symbols = scheme.symbols()
    order = byte_order_values("gpt2" if convention == "huggingface" else "raw")
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


def _wanted_merges(scheme: Alphabet, n_specials: int, vocab_size: int, num_merges: int | None) -> int:
    least = floor(scheme, n_specials)
    wanted = vocab_size - least if num_merges is None else num_merges
    if wanted < 0:
        parts = f"{n_specials} specials + {256 * scheme.has_fallback_bytes + scheme.size} of the alphabet"
        raise VocabularyError(
            f"vocab_size={vocab_size} is under the floor {least} ({parts}); ask for {least} or more, or fewer specials"
        )
    if least + wanted > MAX_ID + 1:
        raise VocabularyError(f"{least + wanted} ids are more than the {MAX_ID + 1} that a vocabulary can have")
    return wanted


def _record(
    trainer: Any,
    columns: list[list[int]],
    vocabulary: Vocabulary,
    words: WordCounts,
    dropped: Any,
    convention: str,
    min_freq: int,
    wanted: int,
) -> TrainingRecord:
    left, _, counts, tied, lengths, examples = columns
    ids = [*vocabulary.base, *(new for _, _, new in vocabulary.merges)]
    frequencies = trainer.frequencies().tolist()
    n_base = len(vocabulary.base)
    steps = tuple(
        MergeStep(
            step=k,
            left=merge[0],
            right=merge[1],
            new_id=merge[2],
            bytes=vocabulary.tokens[merge[2]],
            count=counts[k],
            tied=tied[k],
            length_after=lengths[k],
            frequency=frequencies[n_base + k],
            examples=tuple(
                excerpt(words.word(w), vocabulary.tokens[merge[2]])
                for w in examples[3 * k : 3 * k + 3]
                if w < len(words)
            ),
        )
        for k, merge in enumerate(vocabulary.merges)
    )
    best = trainer.best_left()
    best_left = None if best is None else ((ids[best[0]], ids[best[1]]), best[2])
    if len(left) == wanted:
        stopped = "the vocabulary is full"
    elif not words.total:
        stopped = "the corpus holds no text"
    elif best_left is None:
        stopped = "every pretoken is a single token"
    else:
        pair = " + ".join(brief(vocabulary.tokens[i]) for i in best_left[0])
        stopped = f"no pair comes {min_freq} times any more; the best one left, {pair}, comes {best_left[1]}"
    return TrainingRecord(
        steps=steps,
        length_before=trainer.length_before,
        pretokens=words.total,
        distinct=len(words),
        convention=convention,
        min_freq=min_freq,
        stopped=stopped,
        best_left=best_left,
        corpus=_small_corpus(vocabulary, words, dropped),
    )


def _small_corpus(
    vocabulary: Vocabulary, words: WordCounts, dropped: Any
) -> tuple[tuple[tuple[int, ...], int], ...] | None:
    if len(words.text) + len(words) > SMALL_CORPUS:
        return None
    alphabet = engine_alphabet(vocabulary.alphabet, vocabulary.base, closed=True)
    corpus = ((tuple(alphabet.symbols(word, dropped)), count) for word, count in words.items())
    return tuple((symbols, count) for symbols, count in corpus if symbols)
