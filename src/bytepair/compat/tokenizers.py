"""Hugging Face's ``tokenizers`` over ours, for running a tokenizer.

``from bytepair.compat.tokenizers import Tokenizer`` stands for ``from tokenizers import Tokenizer``: names, arguments
and results are those of tokenizers 0.23. Training is :func:`bytepair.train`'s matter. Where the owner raises a plain
``Exception`` or panics, here it is one of :mod:`bytepair.errors` or a ``ValueError``.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..errors import BytepairNotice, FormatError, UnknownTokenError
from ..formats import huggingface, huggingface_write, load
from ..formats.source import Options, Source
from ..pipeline.output import Output
from ..pipeline.template import Padding, Part, Template, Truncation, ranges, trim
from ..tokenizer import Tokenizer as Ours
from ._encoding import AddedToken, Encoding, check_direction

if TYPE_CHECKING:
    from .._rewriter import Placed
    from .._text import Special
    from ..pipeline.normalise import Normaliser

__all__ = ["AddedToken", "DecodeStream", "Encoding", "Tokenizer"]

Span = tuple[int, int]
_STRATEGIES = ("longest_first", "only_first", "only_second")


class Tokenizer:
    """A tokenizer with the methods of the owner's.

    Unlike ours it changes: truncation, padding and added tokens are its own settings. A copy shares what does not.

    Parameters
    ----------
    tokenizer : bytepair.Tokenizer
        What it runs; the owner takes a model here.

    Examples
    --------
    >>> import bytepair
    >>> tok = Tokenizer(bytepair.train("low low lower lowest", num_merges=4))
    >>> tok.encode("low lower").tokens
    ['low', '\u0120lowe', 'r']
    """

    def __init__(self, tokenizer: Ours) -> None:
        if not isinstance(tokenizer, Ours):
            raise TypeError(
                f"Tokenizer takes a bytepair.Tokenizer, not a {type(tokenizer).__name__}; "
                "from_file and from_str read the owner's tokenizer.json"
            )
        self._encode_special_tokens = False
        self._truncation: Truncation | None
        self._padding: Padding | None
        self._template: Template
        self._take(tokenizer)
        self._truncation, self._padding = tokenizer._around.truncation, tokenizer._around.padding
        self._template = tokenizer._around.template or Template()

    def _take(self, tokenizer: Ours) -> None:
        v, around = tokenizer._vocabulary, tokenizer._around
        if v.alphabet.kind == "bytes" and not around.letters:  # which is how a tokenizer.json writes bytes
            tokenizer = Ours(v, tokenizer.pattern, tokenizer.record, replace(around, letters=True))
        self._tokenizer = tokenizer
        self.__dict__.pop("_vocabulary", None)

    # ---- making one ----

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Tokenizer:
        """From a file of any format that :func:`bytepair.load` reads."""
        return cls(load(Path(path)))

    @classmethod
    def from_str(cls, json: str) -> Tokenizer:
        """From the text of a ``tokenizer.json``."""
        return cls.from_buffer(json.encode("utf-8", "surrogatepass"))

    @classmethod
    def from_buffer(cls, buffer: bytes) -> Tokenizer:
        """From the bytes of a ``tokenizer.json``."""
        return cls(huggingface.read(Source.of(buffer), Options()))

    @classmethod
    def from_pretrained(cls, identifier: str, revision: str = "main", token: str | None = None) -> Tokenizer:
        """From a model's folder, or from what ``huggingface_hub`` has of a model in its cache.

        Nothing is downloaded, so ``token`` does nothing.

        Raises
        ------
        FormatError
            The cache does not have it; the message says how to fetch it.
        """
        del token
        if Path(identifier).is_dir():
            return cls(load(Path(identifier)))
        return cls(load(_cached(identifier, revision)))

    # ---- text to ids ----

    def encode(
        self, sequence: Any, pair: Any = None, is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> Encoding:
        """One text, or a pair of them; with ``is_pretokenized`` each is a list of words."""
        texts = [_Text(self, sequence, is_pretokenized)]
        if pair is not None:
            texts.append(_Text(self, pair, is_pretokenized))
        self._run(texts)
        return self._padded([self._wrapped(texts, add_special_tokens)])[0]

    def encode_batch(
        self, input: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """Many texts or pairs, on all cores; padding makes them the same length."""
        if isinstance(input, (str, bytes)) or not isinstance(input, Iterable):
            raise TypeError(f"encode_batch takes a list of texts, not a {type(input).__name__}")
        rows = [[_Text(self, text, is_pretokenized) for text in _texts(one, is_pretokenized)] for one in input]
        self._run([text for row in rows for text in row])
        return self._padded([self._wrapped(row, add_special_tokens) for row in rows])

    def encode_batch_fast(
        self, input: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """As :meth:`encode_batch`; the owner leaves out tokens and offsets, which here are made when asked for."""
        return self.encode_batch(input, is_pretokenized, add_special_tokens)

    @property
    def _special(self) -> Special:
        return "text" if self._encode_special_tokens else "all"

    def _run(self, texts: Sequence[_Text]) -> None:
        """Fill in the ids of texts."""
        special = self._special
        runs = [run for text in texts for run in text.runs]
        if len(runs) == 1:
            found = [self._tokenizer.encode(runs[0], special=special)]
        else:
            found = self._tokenizer.encode_batch(runs, special=special)
        at = 0
        for text in texts:
            rows = found[at : at + len(text.runs)]
            at += len(rows)
            text.ids = rows[0] if len(rows) == 1 else [i for row in rows for i in row]

    def _wrapped(self, texts: Sequence[_Side], special: bool) -> Encoding:
        """Truncated, and with special tokens."""
        is_pair = len(texts) == 2
        sizes = [len(text.ids) for text in texts]
        slices: list[list[Span]] = [[(0, size)] for size in sizes]
        if self._truncation is not None:
            added = self._template.added_tokens(is_pair) if special else 0
            first, second = self._truncation.cut(sizes[0], sizes[1] if is_pair else None, added)
            slices = [first] if second is None else [first, second]
        template = self._template
        cuts = [_Slices(text, places, template.trims_offsets) for text, places in zip(texts, slices, strict=True)]
        kept = _laid_out(_kept_layout(template, is_pair, special), cuts)
        if any(len(places) > 1 for places in slices):
            kept._overflowing = lambda: _overflowing(template, cuts, special)
        return kept

    def _padded(self, encodings: list[Encoding]) -> list[Encoding]:
        if self._padding is not None:
            length = self._padding.length([len(one) for one in encodings])
            for one in encodings:
                one._pad(length, self._padding)
        return encodings

    def post_process(
        self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True
    ) -> Encoding:
        """Truncate encodings that have no special tokens yet, add these, and pad."""
        texts = [_Done(one) for one in (encoding, pair) if one is not None]
        return self._padded([self._wrapped(texts, add_special_tokens)])[0]

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """How many special tokens come to one text, or to a pair."""
        return self._template.added_tokens(is_pair)

    # ---- ids to text ----

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """The text of ids; an id that does not exist is left out, as the owner does."""
        if isinstance(ids, str) or not isinstance(ids, Iterable):
            raise TypeError(f"decode takes a list of ids, not a {type(ids).__name__}")
        ids = ids if isinstance(ids, list) else [int(i) for i in ids]
        try:
            return self._tokenizer.decode(ids, skip_specials=skip_special_tokens)
        except UnknownTokenError:
            known = self._tokenizer.vocab
            if any(i < 0 for i in ids):
                raise
            return self._tokenizer.decode([i for i in ids if i in known], skip_specials=skip_special_tokens)

    def decode_batch(self, sequences: Sequence[Sequence[int]], skip_special_tokens: bool = True) -> list[str]:
        """The texts of many lists of ids."""
        return [self.decode(ids, skip_special_tokens) for ids in sequences]

    # ---- the vocabulary ----

    @cached_property
    def _vocabulary(self) -> dict[str, int]:
        """Token -> id; of two that are written the same the name counts, and the model's first."""
        tokenizer, v = self._tokenizer, self._tokenizer._vocabulary
        found: dict[str, int] = {}
        for i in v.tokens:
            found.setdefault(tokenizer._model_str(i), i)
        return {**found, **{name: i for i, name in v.names.items()}}

    def token_to_id(self, token: str) -> int | None:
        """The id of a token as the vocabulary writes it, or None."""
        return self._vocabulary.get(token)

    def id_to_token(self, id: int) -> str | None:
        """A token as the vocabulary writes it, or None where the id does not exist."""
        if id < 0:
            raise OverflowError(f"id {id} is below 0")
        return self._tokenizer.foreign_str(id) if id in self._tokenizer.vocab else None

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        """Token -> id; without added tokens only what the model has, some of them among it."""
        if with_added_tokens:
            return dict(self._vocabulary)
        outside = self._names_outside_model
        return {token: i for token, i in self._vocabulary.items() if token not in outside}

    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        """How many tokens there are."""
        size = len(self._vocabulary)
        return size if with_added_tokens else size - len(self._names_outside_model)

    @property
    def _names_outside_model(self) -> set[str]:
        return {name for _, name in huggingface_write.outside_model(self._tokenizer)}

    def get_added_tokens_decoder(self) -> dict[int, AddedToken]:
        """Id -> added token, special or not."""
        v = self._tokenizer._vocabulary
        found = {}
        for i, name in sorted(v.names.items()):
            asked = v.flags.get(name, frozenset())
            flags = {flag: flag in asked for flag in ("single_word", "lstrip", "rstrip", "normalized")}
            found[i] = AddedToken(name, **flags, special=name in v.specials)
        return found

    def add_tokens(self, tokens: Iterable[Any]) -> int:
        """Add names that are found in texts; gives how many are new. A name that the model has keeps its id."""
        return self._add([AddedToken.of(token) for token in tokens])

    def add_special_tokens(self, tokens: Iterable[Any]) -> int:
        """As :meth:`add_tokens`, and decoding can leave them out."""
        return self._add([AddedToken.of(token, special=True) for token in tokens])

    def _add(self, tokens: list[AddedToken]) -> int:
        """Of two tokens of one name the last counts, and what was special stays so."""
        there = {token.content: token for token in self.get_added_tokens_decoder().values()}
        known = dict(there)
        new = 0
        for token in tokens:
            old = known.get(token.content)
            if token.content and token != old:
                new += 1
                special = token.special or (old is not None and old.special)
                known[token.content] = AddedToken(**{**token.__getstate__(), "special": special})
        if known == there:
            return new
        document = self._document()
        vocab, rows = document["model"]["vocab"], document["added_tokens"]
        ids = {row["content"]: row["id"] for row in rows}
        following = len(vocab) + sum(name not in vocab for name in ids)
        document["added_tokens"] = []
        for name, token in known.items():
            if name not in ids:
                ids[name] = vocab.get(name, following)
                following += name not in vocab
            document["added_tokens"].append({"id": ids[name], **token.__getstate__()})
        v = self._tokenizer._vocabulary
        file = Source.of(json.dumps(document).encode("utf-8", "surrogatepass"))
        grown = huggingface.read(file, Options(roles={role: v.names[i] for role, i in v.roles.items()}))
        settings = {**dict(self._tokenizer._around.settings), **dict(grown._around.settings)}
        around = replace(self._tokenizer._around, settings=tuple(settings.items()))
        self._take(Ours(grown._vocabulary, grown.pattern, None, around))
        return new

    # ---- settings ----

    @property
    def encode_special_tokens(self) -> bool:
        """Whether the name of a special token in a text is text like any other."""
        return self._encode_special_tokens

    @encode_special_tokens.setter
    def encode_special_tokens(self, value: bool) -> None:
        self._encode_special_tokens = bool(value)

    @property
    def truncation(self) -> dict[str, Any] | None:
        """The arguments of :meth:`enable_truncation`, or None."""
        now = self._truncation
        names = ("max_length", "stride", "strategy", "direction")
        return None if now is None else {name: getattr(now, name) for name in names}

    def enable_truncation(
        self, max_length: int, stride: int = 0, strategy: str = "longest_first", direction: str = "right"
    ) -> None:
        """Cut texts to so many ids, special tokens included."""
        check_direction(direction)
        if strategy not in _STRATEGIES:
            names = "`longest_first`, `only_first`, or `only_second`"
            raise ValueError(f"Unknown `strategy`: `{strategy}`. Use one of {names}")
        if min(max_length, stride) < 0:
            raise OverflowError("max_length and stride cannot be below 0")
        added = self._template.added_tokens(False)
        if 0 <= max_length - added < stride:
            raise ValueError(
                f"tokenizer stride set to {stride}, which is greater than or equal to its effective max length of "
                f"{max_length - added} (= {max_length} original max length - {added} added special tokens)"
            )
        self._truncation = Truncation(max_length, stride, strategy, direction)

    def no_truncation(self) -> None:
        """Cut nothing."""
        self._truncation = None

    @property
    def padding(self) -> dict[str, Any] | None:
        """The arguments of :meth:`enable_padding`, or None."""
        now = self._padding
        names = ("pad_to_multiple_of", "pad_id", "pad_token", "pad_type_id", "direction")
        return None if now is None else {"length": now.fixed, **{name: getattr(now, name) for name in names}}

    def enable_padding(
        self,
        direction: str = "right",
        pad_id: int = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",  # noqa: S107 - no password
        length: int | None = None,
        pad_to_multiple_of: int | None = None,
    ) -> None:
        """Make all texts of a batch as long as its longest one, or ``length``."""
        check_direction(direction)
        self._padding = Padding(length, direction, pad_to_multiple_of, pad_id, pad_type_id, pad_token)

    def no_padding(self) -> None:
        """Pad nothing."""
        self._padding = None

    @property
    def post_processor(self) -> PostProcessor | None:
        """What puts special tokens around texts; one of the owner's can be set."""
        return PostProcessor(self._template) if self._template.processors else None

    @post_processor.setter
    def post_processor(self, value: Any) -> None:
        if isinstance(value, PostProcessor):
            self._template = value.template
        else:
            self._template = Template.from_huggingface(None if value is None else json.loads(value.__getstate__()))

    @property
    def normalizer(self) -> Normalizer | None:
        """What rewrites a text before it is cut."""
        normaliser = self._tokenizer._around.normaliser
        return None if normaliser is None else Normalizer(normaliser)

    @property
    def decoder(self) -> Decoder | None:
        """What makes text of tokens; None where they are joined with spaces."""
        value = huggingface_write.decoder(self._tokenizer)
        return None if value is None else Decoder(Output.from_huggingface(value))

    @property
    def model(self) -> BPE:
        """What the model says of itself."""
        v = self._tokenizer._vocabulary
        return BPE(
            None if v.unknown_id is None else self.id_to_token(v.unknown_id),
            v.alphabet.prefix or None,
            v.alphabet.suffix if v.alphabet.end_of_word else None,
            v.alphabet.fuse_unknown,
            bool(v.fallback),
            v.whole or v.rule == "ranks",
        )

    # ---- keeping it ----

    @property
    def tokenizer(self) -> Ours:
        """The tokenizer that this one runs, with its settings."""
        now = self._tokenizer._around
        template = self._template if self._template.processors else None
        around = replace(now, truncation=self._truncation, padding=self._padding, template=template)
        ours = self._tokenizer
        return ours if around == now else Ours(ours._vocabulary, ours.pattern, ours.record, around)

    def _document(self) -> dict[str, Any]:
        document, losses = huggingface_write.document(self.tokenizer)
        if losses:
            warnings.warn("; ".join(losses), BytepairNotice, stacklevel=3)
        return document

    def to_str(self, pretty: bool = False) -> str:
        """The text of a ``tokenizer.json``."""
        style: dict[str, Any] = {"indent": 2} if pretty else {"separators": (",", ":")}
        return json.dumps(self._document(), ensure_ascii=False, **style)

    def save(self, path: str | os.PathLike[str], pretty: bool = True) -> None:
        """Write a ``tokenizer.json``."""
        try:
            Path(path).write_bytes(self.to_str(pretty).encode("utf-8", "surrogatepass"))
        except OSError as error:
            raise FormatError(f"cannot write {path}: {error.strerror or error}; check the path") from error

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_vocabulary"}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tokenizer:
        copy = type(self).__new__(type(self))
        copy.__setstate__(self.__getstate__())  # nothing in it changes
        return copy

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.Tokenizer of {self._tokenizer!r}>"


class _Side(Protocol):
    """One text of an encoding: its ids, and its other lists by name."""

    ids: list[int]

    def values(self, name: str) -> list[Any]: ...


class _Text:
    """A text that was given: ``ids`` are filled in, everything else is made when asked for."""

    def __init__(self, face: Tokenizer, given: Any, is_pretokenized: bool) -> None:
        if is_pretokenized:
            if not isinstance(given, (list, tuple)) or not all(isinstance(word, str) for word in given):
                raise TypeError("PreTokenizedInputSequence must be Union[List[str], Tuple[str]]")
            self.runs = list(given)
        elif isinstance(given, str):
            self.runs = [given]
        else:
            raise TypeError(f"TextInputSequence must be str, not {type(given).__name__}")
        self.ids: list[int] = []
        self._is_pretokenized = is_pretokenized
        self._tokenizer, self._special = face._tokenizer, face._special

    @cached_property
    def _placed(self) -> list[list[Placed]]:
        return [self._tokenizer._placed(run.encode(), self._special) for run in self.runs]

    def values(self, name: str) -> list[Any]:
        if name == "ids":
            return self.ids
        placed = [token for run in self._placed for token in run]
        if name == "tokens":
            return [self._tokenizer._shown_in_text(token) for token in placed]
        if name == "offsets":
            return [token.place for token in placed]
        if self._is_pretokenized:
            return [number for number, run in enumerate(self._placed) for _ in run]
        return [token.word for token in placed]


class _Done:
    """An encoding that was given as a text's."""

    def __init__(self, encoding: Encoding) -> None:
        self.ids = encoding.ids
        self._encoding = encoding

    def values(self, name: str) -> list[Any]:
        return self._encoding._list(name)


class _Slices:
    """What truncation makes of one text."""

    def __init__(self, text: _Side, places: list[Span], trims: bool | None) -> None:
        self.text, self.places, self.trims = text, places, trims

    def values(self, name: str, number: int) -> list[Any]:
        start, end = self.places[number]
        found = self.text.values(name)[start:end]
        if name == "offsets" and self.trims is not None:
            return list(trim(found, self.values("tokens", number), self.trims))
        return found


@lru_cache(maxsize=64)
def _kept_layout(template: Template, is_pair: bool, special: bool) -> tuple[Part, ...]:
    """The layout of what truncation keeps."""
    return template.layouts(1, 1 if is_pair else None, special=special)[0]


def _laid_out(layout: tuple[Part, ...], cuts: Sequence[_Slices]) -> Encoding:
    """The encoding whose parts are those of a layout."""

    def make(name: str) -> list[Any]:
        out: list[Any] = []
        for part in layout:
            if part.sequence is None:
                size = len(part.ids)
                own: Any = {"ids": part.ids, "tokens": part.tokens}.get(name)
                out += own if own is not None else [_ADDED.get(name, part.type_id)] * size
            elif name in _GIVEN:
                out += cuts[part.sequence].values(name, part.slice)
            else:
                start, end = cuts[part.sequence].places[part.slice]
                out += [_OF_TEXT.get(name, part.type_id)] * (end - start)
        return out

    sizes = [[end - start for start, end in cut.places] for cut in cuts]
    return Encoding({"ids": make("ids")}, ranges(layout, sizes[0], sizes[-1]), make)


_GIVEN = ("ids", "tokens", "offsets", "words")
_ADDED: dict[str, Any] = {"words": None, "offsets": (0, 0), "special_tokens_mask": 1, "attention_mask": 1}
_OF_TEXT = {"special_tokens_mask": 0, "attention_mask": 1}


class _Tree(NamedTuple):
    """Which slice of every text an encoding has, and those that flow over from it, which have some of their own."""

    choices: tuple[int, ...]
    over: list[_Tree]

    def joined(self, other: _Tree) -> _Tree:
        """As the owner joins two encodings."""
        over = [mine.joined(theirs) for mine in self.over for theirs in (other, *other.over)]
        over += [self.joined(theirs) for theirs in other.over]
        return _Tree(self.choices + other.choices, over)

    def encoding(self, make: Callable[[tuple[int, ...]], Encoding]) -> Encoding:
        found = make(self.choices)
        if self.over:
            found._overflowing = lambda: [one.encoding(make) for one in self.over]
        return found


def _overflowing(template: Template, cuts: Sequence[_Slices], special: bool) -> list[Encoding]:
    counts = [len(cut.places) for cut in cuts]
    layouts = template.layouts(counts[0], counts[1] if len(counts) > 1 else None, special=special)
    by_choices = {tuple(part.slice for part in one if part.sequence is not None): one for one in layouts}
    tree = _Tree((), [])
    for part in layouts[0]:
        if part.sequence is not None:
            tree = tree.joined(_Tree((0,), [_Tree((k,), []) for k in range(1, counts[part.sequence])]))
    return [one.encoding(lambda choices: _laid_out(by_choices[choices], cuts)) for one in tree.over]


def _texts(given: Any, is_pretokenized: bool) -> tuple[Any, ...]:
    """One entry of a batch: a text, or a pair of them."""
    is_text = all(isinstance(word, str) for word in given) if is_pretokenized else isinstance(given, str)
    if not is_text and isinstance(given, (list, tuple)) and len(given) == 2:
        return tuple(given)
    return (given,)


def _cached(identifier: str, revision: str) -> str:
    """The ``tokenizer.json`` of a model in the cache of ``huggingface_hub``."""
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError:
        raise FormatError(
            f"{identifier!r} is no folder here, and huggingface_hub, whose cache may have it, is not installed; "
            "`pip install huggingface_hub`, or give a folder"
        ) from None
    found = try_to_load_from_cache(identifier, "tokenizer.json", revision=revision)
    if not isinstance(found, str):
        raise FormatError(
            f"huggingface_hub has no tokenizer.json of {identifier!r} ({revision}) in its cache, and nothing is "
            f"downloaded here; `hf download {identifier} tokenizer.json tokenizer_config.json` fetches it"
        )
    return found


class PostProcessor:
    """What puts special tokens around texts."""

    def __init__(self, template: Template) -> None:
        self.template = template

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """How many special tokens come to one text, or to a pair."""
        return self.template.added_tokens(is_pair)


@dataclass(frozen=True)
class Normalizer:
    """What rewrites a text before it is cut."""

    normaliser: Normaliser

    def normalize_str(self, sequence: str) -> str:
        """The text as the model gets it."""
        return self.normaliser.apply(sequence)


@dataclass(frozen=True)
class Decoder:
    """What makes text of tokens."""

    output: Output

    def decode(self, tokens: Sequence[str]) -> str:
        """The text of tokens as the vocabulary writes them."""
        return self.output.decode(tokens)


@dataclass(frozen=True)
class BPE:
    """What the model says of itself."""

    unk_token: str | None
    continuing_subword_prefix: str | None
    end_of_word_suffix: str | None
    fuse_unk: bool
    byte_fallback: bool
    ignore_merges: bool
    dropout: float | None = None


class DecodeStream:
    """Text from ids that come one by one: each step gives what is sure, or None.

    Examples
    --------
    >>> import bytepair
    >>> tok = Tokenizer(bytepair.train("low low lower lowest", num_merges=4))
    >>> stream = DecodeStream()
    >>> [stream.step(tok, i) for i in tok.encode("low é").ids]
    ['low', ' ', None, 'é']
    """

    def __init__(self, ids: Sequence[int] | None = None, skip_special_tokens: bool = False) -> None:
        self._ids = list(ids or ())
        self._skip = skip_special_tokens
        self._prefix, self._told = "", 0

    def step(self, tokenizer: Tokenizer, id: int | Sequence[int]) -> str | None:
        """Take one id, or several."""
        if not self._prefix and self._ids:
            prefix = tokenizer.decode(self._ids, self._skip)
            if not prefix.endswith("\ufffd"):
                self._prefix, self._told = prefix, len(self._ids)
        self._ids += [id] if isinstance(id, int) else id
        text = tokenizer.decode(self._ids, self._skip)
        if len(text.encode()) <= len(self._prefix.encode()) or text.endswith("\ufffd"):
            return None
        if not text.startswith(self._prefix):
            raise ValueError(f"the text {text[-60:]!r} does not go on from what was given out, {self._prefix[-60:]!r}")
        new = text[len(self._prefix) :]
        left = len(self._ids) - self._told
        self._ids = self._ids[self._told :]
        self._prefix, self._told = tokenizer.decode(self._ids, self._skip), left
        return new
