"""A larger tokenizer: more merges behind those that there are, all merges anew, more special tokens, more rows.

:class:`bytepair.Tokenizer` has a method for each function here. To extend, every distinct pretoken of the corpus is
encoded as the tokenizer does it, and training goes on from these tokens: what is learned is what training would have
learned next. Where the new tokens would not be made in just the places where they were learned, which only irregular
foreign vocabularies bring about, extending is refused.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, cast

from . import _engine
from ._check import brief, whole
from ._codec import engine_alphabet
from ._learning import CONVENTIONS
from ._resizing import natural_rows, with_added, with_rows, with_specials
from .corpus import WordCounts
from .corpus.rewritten import count_as_encoded
from .errors import SpecialTokenError, TrainingError, UnknownTokenError, VocabularyError
from .listed import Token, listed
from .progress import Progress, Report
from .record import MergeStep, TrainingRecord, excerpt
from .tokenizer import Tokenizer
from .training import SLICE, train
from .vocabulary import MARK, MAX_ID, Alphabet, Vocabulary, byte_order, check_specials, from_ranks

__all__ = ["GrowthReport", "RowsReport", "add_specials", "extend", "pad_to_multiple", "retrain"]


@dataclass(frozen=True)
class GrowthReport:
    """What :meth:`bytepair.Tokenizer.extend` or :meth:`~bytepair.Tokenizer.retrain` did.

    Attributes
    ----------
    added : int
        How many merges were learned.
    stopped : str
        Why there are no more.
    vocab_size_before, vocab_size_after : int
        Distinct ids.
    n_bytes : int
        Bytes in the corpus, as it is cut into pretokens.
    tokens_before, tokens_after : int
        Tokens in the corpus, with the tokenizer as it was and as it is; None where it could not encode it.
    record : TrainingRecord
        The merges that were learned.
    """

    added: int
    stopped: str
    vocab_size_before: int
    vocab_size_after: int
    n_bytes: int
    tokens_before: int | None
    tokens_after: int
    record: TrainingRecord

    @property
    def bytes_per_token_before(self) -> float | None:
        return None if self.tokens_before is None else self.n_bytes / max(self.tokens_before, 1)

    @property
    def bytes_per_token_after(self) -> float:
        return self.n_bytes / max(self.tokens_after, 1)

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            **{name: value for name, value in vars(self).items() if name != "record"},
            "bytes_per_token_before": self.bytes_per_token_before,
            "bytes_per_token_after": self.bytes_per_token_after,
            "merges": list(self.record.lines()),
        }

    def __str__(self) -> str:
        before = self.bytes_per_token_before
        was = "" if before is None else f"{before:.3f}, "
        became = "" if before is None else f" ({self.tokens_before} tokens became {self.tokens_after})"
        return (
            f"{self.added} merges learned; {self.vocab_size_before} ids became {self.vocab_size_after}\n"
            f"stopped: {self.stopped}\nbytes per token: {was}now {self.bytes_per_token_after:.3f}{became}"
        )


@dataclass(frozen=True)
class RowsReport:
    """What :meth:`bytepair.Tokenizer.add_specials` or :meth:`~bytepair.Tokenizer.pad_to_multiple` did.

    Attributes
    ----------
    ids : name -> id
        The special tokens that are new.
    n_rows_before, n_rows_after : int
        Rows that an embedding table needs.
    """

    ids: Mapping[str, int]
    n_rows_before: int
    n_rows_after: int

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"ids": dict(self.ids), "n_rows_before": self.n_rows_before, "n_rows_after": self.n_rows_after}

    def __str__(self) -> str:
        new = ", ".join(f"{name} {i}" for name, i in self.ids.items())
        rows = f"{self.n_rows_before} rows, now {self.n_rows_after}"
        return f"new: {new}; {rows}" if new else rows


# ---- more merges ----


def extend(
    tok: Tokenizer,
    corpus: Any,
    vocab_size: int,
    *,
    min_freq: int | None = None,
    convention: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> tuple[Tokenizer, GrowthReport]:
    """See :meth:`bytepair.Tokenizer.extend`."""
    v = tok._vocabulary
    min_freq, convention = _settings(tok, min_freq, convention)
    size = len({*v.tokens, *v.names})
    wanted = whole("vocab_size", vocab_size, 0, VocabularyError) - size
    if wanted < 0:
        raise VocabularyError(f"vocab_size={vocab_size} is under the {size} ids that there are; cut() makes it smaller")
    first = natural_rows(v)
    if first + wanted > MAX_ID + 1:
        raise VocabularyError(f"{first + wanted} ids are more than the {MAX_ID + 1} that a vocabulary can have")
    words = _counted(tok, corpus, threads, progress)
    tokens = _Tokens(tok, words)
    trainer = tokens.trainer(min_freq, convention)
    with Report.reporter("merge", "merges", wanted, progress) as report:
        done = 0
        while done < wanted and not trainer.exhausted:
            done = trainer.run(wanted, SLICE)
            report.update(done)
    columns = [column.tolist() for column in trainer.merges()]
    grown, merges = _with_merges(v, tokens.ids, list(zip(columns[0], columns[1])), first)
    larger = Tokenizer(grown, tok.pattern, None, tok._around, tok._codec.cache_bytes)
    record = tokens.record(trainer, columns, merges, grown, wanted, min_freq, convention)
    after = sum(count * len(_model_ids(larger, word)) for word, count in words.items())
    expected = tokens.total - record.length_before + record.length_after
    if after != expected:
        raise VocabularyError(
            f"this vocabulary is irregular: with the new merges the corpus has {after} tokens, and where they were "
            f"learned there were {expected}, so that they are made in other places too; retrain() learns all anew"
        )
    n_bytes = sum(count * len(word) for word, count in words.items())
    return larger, GrowthReport(
        len(merges), record.stopped, size, size + len(merges), n_bytes, tokens.total, after, record
    )


def _counted(tok: Tokenizer, corpus: Any, threads: int | None, progress: Progress) -> WordCounts:
    """The pretokens of the corpus, cut as the tokenizer cuts it.

    Raises
    ------
    TrainingError
        They were counted before, and are known to be cut in another way.
    """
    if not isinstance(corpus, WordCounts):
        return count_as_encoded(tok, corpus, threads, progress)
    if corpus.pattern is not None:
        for what, theirs, ours in (
            ("pattern", corpus.pattern, tok.pattern),
            ("normaliser", corpus.normaliser, tok._around.normaliser),
        ):
            if theirs != ours:
                raise TrainingError(
                    f"the words were counted with another {what} than the tokenizer's; count them with its own "
                    "(WordCounts.from_corpus(corpus, pattern=tok.pattern)), or give the corpus itself"
                )
    return corpus


def _settings(tok: Tokenizer, min_freq: int | None, convention: str | None) -> tuple[int, str]:
    """As given, or as the tokenizer was trained."""
    record = tok.record
    if min_freq is None:
        min_freq = 2 if record is None else record.min_freq
    if convention is None:
        convention = "first" if record is None else record.convention
    if convention not in CONVENTIONS:
        raise TrainingError(f"convention is {convention!r}; it can be {', '.join(map(repr, CONVENTIONS))}")
    return whole("min_freq", min_freq, 1, TrainingError), convention


def _model_ids(tok: Tokenizer, word: bytes) -> list[int]:
    """The ids of a pretoken, as merging leaves them."""
    ids: list[int] = tok._codec.encoder.encode_ends(word, array("q", [len(word)])).tolist()
    return ids


class _Tokens:
    """A corpus in tokens, as a trainer of merges takes it: each token in it is a character of an alphabet of its own.

    What never merges (unknown characters and the bytes that stand for them) cuts a pretoken in two.
    """

    def __init__(self, tok: Tokenizer, words: WordCounts) -> None:
        v = tok._vocabulary
        self.vocabulary = v
        self.words = words
        apart = {*v.fallback, *v.inert, -1 if v.unknown_id is None else v.unknown_id}
        rows: list[list[int]] = []
        self.counts: list[int] = []
        self.word_of: list[int] = []
        self.total = 0
        for k, (word, count) in enumerate(words.items()):
            ids = _model_ids(tok, word)
            self.total += count * len(ids)
            for run in _runs(ids, apart):
                rows.append(run)
                self.counts.append(count)
                self.word_of.append(k)
        self.ids = sorted(set(chain.from_iterable(rows)))
        """The id of each symbol of the trainer."""
        if len(self.ids) > 0x110000 - 0x800:
            raise TrainingError(f"the corpus uses {len(self.ids)} different tokens, and extending takes 1112064")
        points = [k if k < 0xD800 else k + 0x800 for k in range(len(self.ids))]
        letter = dict(zip(self.ids, map(chr, points)))
        self.points = points
        self.texts = ["".join(map(letter.__getitem__, row)).encode() for row in rows]

    def trainer(self, min_freq: int, convention: str) -> Any:
        import numpy as np

        offsets = np.zeros(len(self.texts) + 1, dtype=np.int64)
        np.cumsum([len(text) for text in self.texts], out=offsets[1:])
        numbers = range(len(self.ids))
        return _engine.Trainer(
            b"".join(self.texts),
            offsets,
            np.array(self.counts, dtype=np.int64),
            None,
            engine_alphabet(Alphabet("characters", points=tuple(self.points)), numbers, closed=True),
            len(self.ids),
            min_freq,
            **self._ties(convention),
        )

    def _ties(self, convention: str) -> dict[str, Any]:
        """What the trainer is told of ties: the convention's own numbers, the alphabet first and then merges by age."""
        if convention == "first":
            return {}
        v = self.vocabulary
        order = byte_order("gpt2" if convention == "huggingface" else "raw")
        place = {bytes([value]): k for k, value in enumerate(order)} if v.alphabet.kind == "bytes" else {}
        made = {new: step for step, (_, _, new) in reversed(list(enumerate(v.merges)))}

        def key(i: int) -> tuple[int, bool, bool, Any]:
            text, marked = v.tokens[i], i in v.marked
            if i in made or (v.rule == "ranks" and len(text) > 1):
                return 1, False, False, made.get(i, i)
            return 0, not text, marked, place.get(text, text.decode("utf-8", "surrogateescape"))

        numbers = [0] * len(self.ids)
        for at, k in enumerate(sorted(range(len(self.ids)), key=lambda k: key(self.ids[k]))):
            numbers[k] = at
        if convention in ("huggingface", "rustbpe"):
            return {"ties": "smallest", "numbers": numbers}
        texts = [v.tokens[i] + MARK.encode() * (i in v.marked) for i in self.ids]
        return {"ties": "greatest", "numbers": numbers, "texts": texts}

    def record(
        self,
        trainer: Any,
        columns: list[list[int]],
        merges: list[tuple[int, int, int]],
        grown: Vocabulary,
        wanted: int,
        min_freq: int,
        convention: str,
    ) -> TrainingRecord:
        """What was learned now, in ids."""
        _, _, counts, tied, lengths, examples = columns
        ids = [*self.ids, *(new for _, _, new in merges)]
        frequencies = trainer.frequencies().tolist()
        steps = []
        for k, (left, right, new) in enumerate(merges):
            text = grown.tokens[new]
            shown = dict.fromkeys(self.word_of[w] for w in examples[3 * k : 3 * k + 3] if w < len(self.word_of))
            words = tuple(excerpt(self.words.word(w), text) for w in shown)
            frequency = frequencies[len(self.ids) + k]
            steps.append(MergeStep(k, left, right, new, text, counts[k], tied[k], lengths[k], frequency, words))
        best = trainer.best_left()
        best_left = None if best is None else ((ids[best[0]], ids[best[1]]), best[2])
        if len(merges) == wanted:
            stopped = "the vocabulary is full"
        elif not self.words.total:
            stopped = "the corpus holds no text"
        elif best_left is None:
            stopped = "every pretoken is a single token"
        else:
            pair = " + ".join(brief(grown.tokens[i]) for i in best_left[0])
            stopped = f"no pair comes {min_freq} times any more; the best one left, {pair}, comes {best_left[1]}"
        return TrainingRecord(
            steps=tuple(steps),
            length_before=trainer.length_before,
            pretokens=self.words.total,
            distinct=len(self.words),
            convention=convention,
            min_freq=min_freq,
            stopped=stopped,
            best_left=best_left,
            corpus=None,
        )


def _runs(ids: list[int], apart: set[int]) -> Iterator[list[int]]:
    """The ids between those that never merge."""
    if apart.isdisjoint(ids):
        if ids:
            yield ids
        return
    run: list[int] = []
    for i in ids:
        if i not in apart:
            run.append(i)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _with_merges(
    v: Vocabulary, ids: list[int], pairs: list[tuple[int, int]], first: int
) -> tuple[Vocabulary, list[tuple[int, int, int]]]:
    """The vocabulary with merges behind its own, and these in ids; ``pairs`` number ``ids`` and then each other."""
    ids = [*ids, *range(first, first + len(pairs))]
    tokens, marked, continued = dict(v.tokens), set(v.marked), set(v.continued)
    apart = {*v.fallback, *v.inert}
    there = {(text, i in marked, i in continued): i for i, text in tokens.items() if i not in apart}
    merges = []
    for step, pair in enumerate(pairs):
        left, right = ids[pair[0]], ids[pair[1]]
        new = first + step
        text = tokens[left] + tokens[right]
        form = (text, right in marked, left in continued)
        if form in there:
            raise VocabularyError(
                f"this vocabulary is irregular: {brief(tokens[left])} + {brief(tokens[right])}, which would be merged "
                f"next, is the token {there[form]} already, which these two do not make; retrain() learns all anew"
            )
        there[form] = new
        tokens[new] = text
        if form[1]:
            marked.add(new)
        if form[2]:
            continued.add(new)
        merges.append((left, right, new))
    shared = v.ranks
    if shared is not None:
        behind = max(shared, default=-1) + 1
        shared = (*shared, *range(behind, behind + len(merges)))
    grown = replace(
        v,
        tokens=tokens,
        marked=frozenset(marked),
        continued=frozenset(continued),
        merges=() if v.rule == "ranks" else (*v.merges, *merges),
        ranks=shared,
        rows=max(v.rows, first + len(merges)),
    )
    return grown, merges


# ---- all merges anew ----


def retrain(
    tok: Tokenizer,
    corpus: Any,
    vocab_size: int | None = None,
    *,
    min_freq: int | None = None,
    convention: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> tuple[Tokenizer, GrowthReport]:
    """See :meth:`bytepair.Tokenizer.retrain`."""
    v = tok._vocabulary
    min_freq, convention = _settings(tok, min_freq, convention)
    foreign = v.layout == "listed"
    if foreign and (v.alphabet.kind != "bytes" or v.alphabet.end_of_word or v.alphabet.prefix or v.fallback):
        raise TrainingError(
            "this tokenizer's file lists characters, and which of them there are is not for a corpus to say; train() "
            "makes one with the same pattern"
        )
    size = len({*v.tokens, *v.names})
    words = _counted(tok, corpus, threads, progress)
    names = [name for _, name in sorted(v.names.items())]
    gpt2 = len(v.base) >= 256 and v.base[:256] != tuple(range(v.base[0], v.base[0] + 256))
    first = not names or 0 in v.names
    trained = train(
        words,
        vocab_size=size if vocab_size is None else vocab_size,
        pattern=tok.pattern,
        alphabet=v.alphabet.kind,
        end_of_word=v.alphabet.end_of_word,
        unknown="error" if foreign else v.alphabet.unknown,
        specials=names,
        layout=("specials-first" if first else "bytes-first") if foreign or v.rule == "ranks" else v.layout,
        byte_order=("gpt2" if gpt2 else "raw") if foreign or v.rule == "ranks" else v.byte_order,
        min_freq=min_freq,
        convention=convention,
        threads=threads,
        progress=progress,
        roles={role: v.names[i] for role, i in v.roles.items()},
    )
    new = trained._vocabulary
    number = {i: new.specials[name] for name, i in {**v.added, **v.specials}.items()}
    record = cast("TrainingRecord", trained.record)
    kept = None if v.rule == "ranks" else record  # there are no merges that it could be about
    around = tok._around.renumbered(number)
    made = Tokenizer(_as_before(v, new), tok.pattern, kept, around, tok._codec.cache_bytes)
    try:
        before = sum(count * len(_model_ids(tok, word)) for word, count in words.items())
    except UnknownTokenError:  # a character that only the new alphabet has
        before = None
    n_bytes = sum(count * len(word) for word, count in words.items())
    return made, GrowthReport(
        len(record), record.stopped, size, made.vocab_size, n_bytes, before, record.length_after, record
    )


def _as_before(v: Vocabulary, new: Vocabulary) -> Vocabulary:
    """What was trained, with the rule, the added tokens and the flags of the vocabulary before."""
    specials = {name: new.specials[name] for name in v.specials}
    roles = {role: v.names[i] for role, i in v.roles.items()}
    if v.rule == "ranks":
        return from_ranks({text: i for i, text in new.tokens.items()}, specials, roles)
    if v.layout != "listed":
        return with_added(new, v.added, roles)
    return listed(
        kind="bytes",
        tokens={i: Token(text) for i, text in new.tokens.items()},
        merges=new.merges,
        specials=specials,
        added={name: new.specials[name] for name in v.added},
        flags=v.flags,
        roles=roles,
        unknown_id=None if v.unknown_id is None else new.specials.get(v.names.get(v.unknown_id, "")),
        whole=v.whole,
        order=v.order,
    )


# ---- more special tokens, more rows ----


def add_specials(
    tok: Tokenizer, names: Iterable[str], roles: Mapping[str, str] | None = None
) -> tuple[Tokenizer, RowsReport]:
    """See :meth:`bytepair.Tokenizer.add_specials`."""
    v = tok._vocabulary
    if isinstance(names, Mapping):
        raise SpecialTokenError(
            "add_specials() numbers the special tokens itself, behind all ids; give their names only"
        )
    first = natural_rows(v)
    new = {name: first + k for k, name in enumerate(check_specials(names))}
    known = {role: v.names[i] for role, i in v.roles.items()}
    named = with_specials(v, new, {**known, **(roles or {})})
    larger = Tokenizer(named, tok.pattern, tok._record, tok._around, tok._codec.cache_bytes)
    return larger, RowsReport(new, v.rows, larger.n_rows)


def pad_to_multiple(tok: Tokenizer, n: int) -> tuple[Tokenizer, RowsReport]:
    """See :meth:`bytepair.Tokenizer.pad_to_multiple`."""
    v = tok._vocabulary
    n = whole("n", n, 1, VocabularyError, MAX_ID + 1)
    padded = with_rows(v, -(-natural_rows(v) // n) * n)
    wider = Tokenizer(padded, tok.pattern, tok._record, tok._around, tok._codec.cache_bytes)
    return wider, RowsReport({}, v.rows, padded.rows)
