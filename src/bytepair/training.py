"""Training: from a corpus to a :class:`~bytepair.tokenizer.Tokenizer` and the record of how it came about.

The engine counts pretokens and merges pairs; what is here checks the options, numbers the ids and writes the record.
The algorithm in plain lines is ``reference``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import _engine
from ._check import brief, whole
from ._check import threads as check_threads
from ._codec import DEFAULT_CACHE_BYTES, NONE, dropped_classes, engine_alphabet
from ._learning import CONVENTIONS, Kept, Learner
from ._resizing import with_added
from .corpus import WordCounts
from .errors import BytepairNotice, SpecialTokenError, TrainingError, VocabularyError
from .pattern import Pattern, resolve
from .pipeline.around import Around
from .progress import Progress, Report
from .record import SMALL_CORPUS, PendingRecord, examples_of
from .tokenizer import Tokenizer
from .vocabulary import (
    AL1_SPECIALS,
    BYTE_ORDERS,
    LAYOUTS,
    MAX_ID,
    UNK,
    Alphabet,
    Vocabulary,
    assemble,
    check_choice,
    check_specials,
    floor,
)

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
    max_memory: int | None = None,
    min_word_count: int = 1,
    max_token_length: int | None = None,
    initial_alphabet: Iterable[str] = (),
    limit_alphabet: int | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_every: int = 1000,
    resume: bool | str | Path = False,
    normalizer: Any = None,
    protected: Iterable[str] = (),
    cache_bytes: int = DEFAULT_CACHE_BYTES,
) -> Tokenizer:
    """Learns a byte-pair-encoding tokenizer.

    Counts each pretoken of the corpus, then merges the most frequent pair of neighbours, again and again, until the
    vocabulary is full or no pair comes ``min_freq`` times. The result never depends on threads.

    Parameters
    ----------
    corpus : str, bytes, Path, files(...), WordCounts, an open binary file, or a list or iterator
        A str or bytes is the text itself, a Path a file or a folder (read recursively, files in the order of their
        relative paths, links and hidden names skipped), ``bytepair.files("src/**/*.py")`` a glob. A list or iterator
        holds documents (str, bytes) or files (Path). Files are read as bytes; the texts in JSON lines, tables, archives
        and packed files are found by the rules of :func:`bytepair.files`, which also changes how files are read.
        Datasets of Hugging Face and pyarrow's arrays and tables are corpora too.
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
    convention : "first", "huggingface", "rustbpe", "cs336" or "subword-nmt"
        Which of equally frequent pairs is merged; see the notes.
    threads : int, optional
        All cores unless given.
    progress : callable or True, optional
        Called with a :class:`bytepair.progress.Report` now and then; True shows a bar on a terminal.
    roles : role -> name, optional
        Which special is ``bos``, ``eos``, ``pad`` or ``unk`` where their names do not say so.
    max_memory : int, optional
        Bytes that the counted words may take; above it they go to disk and come back (:meth:`WordCounts.from_corpus`).
        What is learned is the same. Merging takes memory of its own, about 30 bytes for each byte of distinct words.
    min_word_count : int
        Leave out pretokens that come fewer times in the whole corpus. How many is told in a notice.
    max_token_length : int, optional
        The longest token that is made, in first symbols: bytes, or characters with an alphabet of them (a mark that is
        a symbol of its own is one).
    initial_alphabet : iterable of str
        Characters to have in the alphabet though the corpus may lack them (alphabet of characters only); with a fused
        mark, plain and marked.
    limit_alphabet : int, optional
        Have only the so many most frequent characters, and those of ``initial_alphabet`` (alphabet of characters only);
        the others are unknown and no merge crosses them. Among equals the lowest code points stay.
    checkpoint : str or Path, optional
        A file that keeps the state of training, written anew every ``checkpoint_every`` merges, and beside it one with
        ``.words`` behind its name, which keeps the counted corpus. At any moment both are whole.
    checkpoint_every : int
        Merges between two writings.
    resume : bool, str or Path
        True goes on from the ``checkpoint``, or begins anew where there is none yet; a path goes on from that file. The
        result is that of an unbroken training. The corpus is counted again only where it cannot be told by its texts,
        or by the sizes and times of its files, that it is the same.
    normalizer : "nfc", "nfd", "nfkc", "nfkd", "lower", "strip_accents", ("replace", old, new), or a list of these
        Changes each text, between its special tokens, before it is cut: here, and whenever the tokenizer encodes. Such
        a tokenizer is not :attr:`~Tokenizer.lossless`. None by default. A byte that is no UTF-8 passes as it is.
    protected : names
        Texts that stay whole, such as names of functions or units: each is a token of its own and cuts the text as a
        special token does, here and whenever the tokenizer encodes, with ``special="text"`` too. They are the
        tokenizer's ``added`` tokens, numbered behind the special ones, and no specials: decoding never skips them.
    cache_bytes : int
        As for :func:`bytepair.load`: what the tokenizer may keep of the words that it has seen.

    Returns
    -------
    Tokenizer
        With its :attr:`~Tokenizer.record`.

    Raises
    ------
    VocabularyError
        ``vocab_size`` is under what exists before the first merge; the message names that floor.
    TrainingError
        An option or the corpus cannot be used, or the checkpoint is that of another training.
    FormatError
        A file of the corpus or the checkpoint is damaged, or a file has no text where it should have; the message names
        file and place.

    Notes
    -----
    Conventions. All take the pair with the highest count; among equal counts

    - ``first`` takes the one whose first place in the corpus is earliest, looked up anew at each step (the articles,
      minbpe, ``Counter.most_common``);
    - ``huggingface`` and ``rustbpe`` take the smallest (left, right), both numbered as these trainers do, whatever ids
      the tokens have here: bytes in GPT-2's order or by value, characters by code point, those with a mark behind the
      plain ones, then merges by age. bpeasy does as rustbpe;
    - ``cs336`` takes the lexicographically greatest (left bytes, right bytes);
    - ``subword-nmt`` the greatest (left text, right text); its scheme is an alphabet of characters with a fused mark
      and the pattern ``"spaces"``.

    Where those trainers do otherwise, we do not follow. ``tokenizers`` and rustbpe learn from the names of special
    tokens in the text; ours are cut out. ``tokenizers`` counts in 32 bits and wraps, and so does rustbpe from 2^31 on;
    ours are 64 bits. With ``end_of_word_suffix``, and among rare characters that ``limit_alphabet`` drops,
    ``tokenizers`` goes by the order of a hash table, which may differ from run to run; ours goes by code points. It
    also joins what stands on both sides of a dropped character. Its ``max_token_length=n`` allows n - 1 bytes (save for
    pairs of single bytes), ours n. rustbpe and bpeasy have no ``min_freq``: theirs is 1.

    Runs of digits, and anything else that shall not grow, are the pattern's business: ``\\p{N}{1,3}`` in it, as in
    ``"cl100k"``, makes groups of at most three digits.

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
    whole_texts = _protected(protected, names)
    names += whole_texts
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
    cache_bytes = whole("cache_bytes", cache_bytes, 0, TrainingError)
    if scheme.kind == "bytes":  # known before counting: refuse at once
        _wanted_merges(scheme, len(names), vocab_size, num_merges)
    initial = _initial_points(initial_alphabet)
    if limit_alphabet is not None:
        limit_alphabet = whole("limit_alphabet", limit_alphabet, 1, TrainingError)
    _check_alphabet_options(scheme, initial, limit_alphabet)
    min_word_count = whole("min_word_count", min_word_count, 1, TrainingError)
    normaliser = None
    if normalizer is not None:
        from .pipeline.normalise import normaliser_of

        normaliser = normaliser_of(normalizer)
    if isinstance(corpus, WordCounts):
        given = None if pattern is None else resolve(pattern)
        pattern, normaliser = corpus.for_training(given, names, normaliser)
    cutter = resolve(pattern if pattern is not None else "gpt2" if alphabet == "bytes" else "whitespace")
    if isinstance(corpus, WordCounts) and min_word_count > 1:
        corpus, left_out = corpus.filter(min_count=min_word_count)
        if left_out.words:
            warnings.warn(f"min_word_count={min_word_count}: {left_out}", BytepairNotice, stacklevel=2)
    settings = {
        "pattern": [list(stage) for stage in cutter.stages],
        "unicode": cutter.unicode_version,
        "alphabet": alphabet,
        "end_of_word": end_of_word,
        "unknown": unknown,
        "specials": sorted(names),
        "convention": convention,
        "min_freq": min_freq,
        "min_word_count": min_word_count,
        "max_token_length": max_token_length,
        "initial_alphabet": sorted(initial),
        "limit_alphabet": limit_alphabet,
        "protected": sorted(whole_texts),
        "normalizer": None if normaliser is None else normaliser.to_json(),
    }
    kept = Kept(checkpoint, checkpoint_every, resume, settings)
    words = kept.words(
        corpus,
        lambda: WordCounts.from_corpus(
            corpus,
            pattern=cutter,
            specials=names,
            threads=threads,
            progress=progress,
            max_memory=max_memory,
            min_word_count=min_word_count,
            normalizer=normaliser,
        ),
        (cutter, names, normaliser),
    )

    dropped = dropped_classes(scheme, cutter)
    if scheme.kind == "characters":
        scheme = _characters(scheme, words, dropped, initial, limit_alphabet)
    wanted = _wanted_merges(scheme, len(names), vocab_size, num_merges)
    learner = Learner(words, dropped, scheme, min_freq, convention, max_token_length, kept.columns(wanted))
    with Report.reporter("merge", "merges", wanted, progress) as report:
        kept.keep(learner)
        while learner.done < wanted and not learner.exhausted:
            learner.run(min(wanted, kept.next_stop(learner.done)), SLICE)
            kept.keep(learner)
            report.update(learner.done)
    kept.keep(learner, last=True)

    left, right, *_ = columns = learner.columns()
    vocabulary = assemble(
        scheme, names, layout, byte_order, None, symbol_pairs=list(zip(left.tolist(), right.tolist()))
    )
    vocabulary = with_added(vocabulary, whole_texts, roles)
    best = learner.best_left()
    limited = max_token_length is not None or limit_alphabet is not None
    stopped = _stopped(words, vocabulary, best, min_freq, learner.done == wanted, limited)
    record = PendingRecord(
        columns=columns,
        frequencies=learner.frequencies(),
        length_before=kept.length_before(learner),
        ids=[*vocabulary.base, *(new for _, _, new in vocabulary.merges)],
        texts=vocabulary.tokens,
        words=examples_of(columns[-1], words.text, words.offsets),
        totals=(words.total, len(words)),
        convention=convention,
        min_freq=min_freq,
        stopped=stopped,
        best_left=best,
        corpus=_small_corpus(vocabulary, words, dropped),
    )
    if learner.done < wanted:
        warnings.warn(
            f"training stopped after {learner.done} of {wanted} merges: {stopped}", BytepairNotice, stacklevel=2
        )
    around = None if normaliser is None else Around(normaliser)
    return Tokenizer(vocabulary, cutter, record, around, cache_bytes=cache_bytes)


def _protected(protected: Iterable[str], specials: list[str]) -> list[str]:
    if isinstance(protected, (str, bytes)) or not isinstance(protected, Iterable):
        raise TrainingError(f"protected is {brief(protected)}; give a sequence of texts, or () for none")
    found: dict[str, None] = {}
    for text in protected:
        if not isinstance(text, str) or not text:
            raise TrainingError(f"protected text {len(found)} is {brief(text)}; give a str that is not empty")
        if text in found or text in specials:
            other = "twice" if text in found else "as a special token too"
            raise TrainingError(f"protected text {text!r} is given {other}; leave one out")
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise TrainingError(f"protected text {text!r} holds a lone surrogate at {error.start}") from None
        found[text] = None
    return list(found)


def _scheme(alphabet: str, end_of_word: str | None, unknown: str) -> Alphabet:
    check_choice("alphabet", alphabet, ("bytes", "characters"))
    check_choice("end_of_word", end_of_word, (None, "separate", "fused"))
    check_choice("unknown", unknown, ("error", "bytes", UNK))
    if alphabet == "bytes" and unknown != "error":
        raise VocabularyError(
            f'unknown={unknown!r} needs alphabet="characters": an alphabet of bytes has no unknown; leave it out'
        )
    return Alphabet(alphabet, end_of_word, unknown)  # type: ignore[arg-type]


def _initial_points(characters: Iterable[str]) -> set[int]:
    if not isinstance(characters, Iterable):
        raise TrainingError(
            f"initial_alphabet is {brief(characters)}; give characters, such as 'abc' or ['a', 'b', 'c']"
        )
    points = set()
    for character in characters:
        if not isinstance(character, str) or len(character) != 1 or 0xD800 <= ord(character) < 0xE000:
            raise TrainingError(f"initial_alphabet holds {brief(character)}, which is no single character")
        points.add(ord(character))
    return points


def _check_alphabet_options(scheme: Alphabet, initial: set[int], limit: int | None) -> None:
    if scheme.kind == "bytes" and (initial or limit is not None):
        option = "initial_alphabet" if initial else "limit_alphabet"
        raise TrainingError(
            f'{option} needs alphabet="characters": an alphabet of bytes always has all 256; leave it out'
        )
    if limit is not None and scheme.unknown == "error":
        raise TrainingError(
            f"limit_alphabet={limit} leaves out characters of the corpus, and unknown='error' has no tokens for them; "
            f'choose unknown="bytes" or unknown="{UNK}"'
        )


def _characters(scheme: Alphabet, words: WordCounts, dropped: Any, initial: set[int], limit: int | None) -> Alphabet:
    """The alphabet with the characters that the words have, and what the options say of them."""
    found = _engine.collect_characters(words.text, words.offsets, dropped)
    inner, last = ({*points.tolist()} for points in found)
    if limit is not None:
        kept = {*_most_frequent(words, inner | last, limit), *initial}
        inner, last = inner & kept, last & kept
    if scheme.end_of_word == "fused":
        return replace(scheme, points=tuple(sorted(inner | initial)), last_points=tuple(sorted(last | initial)))
    return replace(scheme, points=tuple(sorted(inner | last | initial)))


def _most_frequent(words: WordCounts, points: set[int], limit: int) -> list[int]:
    counts = dict.fromkeys(points, 0)
    for word, count in words.items():
        for character in word.decode("utf-8", "surrogateescape"):
            point = ord(character)
            if point >= 0xDC80 and point <= 0xDCFF:
                point = 0xDC00 | point & 0xFF  # a byte that is no UTF-8
            if point in counts:
                counts[point] += count
    return sorted(counts, key=lambda point: (-counts[point], point))[:limit]


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


def _stopped(
    words: WordCounts,
    vocabulary: Vocabulary,
    best: tuple[int, int, int] | None,
    min_freq: int,
    full: bool,
    limited: bool,
) -> str:
    if full:
        return "the vocabulary is full"
    if not words.total:
        return "the corpus holds no text"
    if best is None:
        return "every pretoken is a single token" if not limited else "no two neighbours are left that may merge"
    ids = [*vocabulary.base, *(new for _, _, new in vocabulary.merges)]
    pair = " + ".join(brief(vocabulary.tokens[ids[symbol]]) for symbol in best[:2])
    return f"no pair comes {min_freq} times any more; the best one left, {pair}, comes {best[2]}"


def _small_corpus(
    vocabulary: Vocabulary, words: WordCounts, dropped: Any
) -> tuple[tuple[tuple[int, ...], int], ...] | None:
    if len(words.text) + len(words) > SMALL_CORPUS:
        return None
    unknown = vocabulary.specials.get(UNK, NONE)
    alphabet = engine_alphabet(vocabulary.alphabet, vocabulary.base, vocabulary.fallback, unknown)
    corpus = ((tuple(alphabet.symbols(word, dropped)), count) for word, count in words.items())
    return tuple((symbols, count) for symbols, count in corpus if symbols)
