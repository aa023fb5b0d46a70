"""Ids, bytes, merges, specials and alphabet of a tokenizer: validated once, then frozen.

A :class:`Vocabulary` knows which ids there are, what each stands for and how they came about. It neither encodes nor
decodes (``_codec`` does) and reads no files (``formats`` does). ``tokenizer`` and ``training`` build it, through
:func:`from_merges` and :func:`from_ranks`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar, Literal, NamedTuple

from ._check import brief, whole
from ._text import to_bytes
from .errors import SpecialTokenError, VocabularyError

AL1_SPECIALS = ("<pad>", "<bos>", "<eos>", "<tool_call>", "</tool_call>", "<tool_result>")
"""The six special tokens that a tokenizer has unless told otherwise."""

MARK = "</w>"
"""How the end-of-word mark is shown. It is a symbol of its own, never these four characters."""

UNK = "<unk>"
MAX_ID = (1 << 21) - 1
"""The highest id a vocabulary may have. Tables have a row for each id below the highest, so that a file which names an
absurd one would fill the memory; the engines could go up to 2^24."""

MAX_TOKEN_BYTES = 1 << 26
"""How many bytes all tokens together may have: sixty merges of a token with itself would fill any memory."""

ROLES = ("bos", "eos", "pad", "unk")
LAYOUTS = ("specials-first", "bytes-first")
MARKED, CONTINUED = 1, 2
"""The bits of a token's form: it ends a pretoken; it does not begin one."""

FLAGS = ("lstrip", "rstrip", "single_word", "normalized")
"""What an added token may ask for: to take the white space on its left or right with it, to stand alone as a word, to
be looked for in the normalised text."""
BYTE_ORDERS = ("raw", "gpt2")


def byte_order(name: str) -> tuple[int, ...]:
    """The 256 byte values in the order in which they are numbered: ``raw`` by value, ``gpt2`` printable ones first."""
    if name == "raw":
        return tuple(range(256))
    printable = dict.fromkeys([*range(33, 127), *range(161, 173), *range(174, 256)])
    return (*printable, *(b for b in range(256) if b not in printable))


@dataclass(frozen=True)
class Alphabet:
    """What a pretoken is made of before any merge.

    ``points`` are the code points of a character alphabet, ascending, and ``last_points`` those that also exist with
    the end-of-word mark fused to them; a byte that is no UTF-8 counts as the code point ``0xDC00 | byte``.

    A ``listed`` alphabet is a foreign file's: its symbols are the units that the file has as tokens, code points or
    (``kind="bytes"``) bytes, some of which may be missing. There a unit that does not begin a pretoken may have symbols
    of its own, shown with ``prefix``; ``suffix`` is how a marked one is shown.
    """

    kind: Literal["bytes", "characters"] = "bytes"
    end_of_word: Literal["separate", "fused"] | None = None
    unknown: Literal["error", "bytes", "<unk>"] = "error"
    points: tuple[int, ...] = ()
    last_points: tuple[int, ...] = ()
    listed: bool = False
    inner_points: tuple[int, ...] = ()
    inner_last_points: tuple[int, ...] = ()
    prefix: str = ""
    suffix: str = MARK
    fuse_unknown: bool = False

    @property
    def has_mark_symbol(self) -> bool:
        """Whether the mark is a symbol: always where it is separate; where it is fused, only to end an unseen
        character that falls back to bytes."""
        if self.listed:
            return False
        return self.end_of_word == "separate" or (self.end_of_word == "fused" and self.unknown == "bytes")

    @property
    def has_fallback_bytes(self) -> bool:
        return self.kind == "characters" and self.unknown == "bytes"

    def symbols(self) -> list[tuple[bytes, bool]]:
        """The first symbols in the order of their numbers: (bytes, whether marked)."""
        if self.listed:
            return [(self.unit_bytes(point), bool(form & MARKED)) for point, form in self.units()]
        if self.kind == "bytes":
            out = [(bytes([b]), False) for b in range(256)]
            if self.end_of_word == "fused":
                out += [(bytes([b]), True) for b in range(256)]
        else:
            out = [(point_bytes(c), marked) for c, marked in self.character_symbols()]
        return [*out, (b"", True)] if self.has_mark_symbol else out

    def units(self) -> list[tuple[int, int]]:
        """A listed alphabet's symbols, by code point or byte value, then by form."""
        forms = (self.points, self.last_points, self.inner_points, self.inner_last_points)
        return sorted((point, form) for form, points in enumerate(forms) for point in points)

    def unit_bytes(self, point: int) -> bytes:
        return bytes([point]) if self.kind == "bytes" else point_bytes(point)

    def character_symbols(self) -> list[tuple[int, bool]]:
        """The characters by code point, each plain before marked."""
        return sorted([(c, False) for c in self.points] + [(c, True) for c in self.last_points])

    @property
    def size(self) -> int:
        if self.listed:
            return len(self.units())
        base = (512 if self.end_of_word == "fused" else 256) if self.kind == "bytes" else 0
        return base + len(self.points) + len(self.last_points) + self.has_mark_symbol


def point_bytes(code_point: int) -> bytes:
    return chr(code_point).encode("utf-8", "surrogateescape")


class Flat(NamedTuple):
    """A vocabulary's tokens and merges as flat arrays, as a file in the cache has them.

    ``packed`` are the pairs of the rank rule as the engine packs them, ``whole`` text, offsets and ids of the tokens
    that a whole pretoken may be, where these are others than all.
    """

    text: bytes
    offsets: Any
    ids: Any
    merges: tuple[Any, Any, Any]
    packed: Any = None
    whole: tuple[bytes, Any, Any] | None = None

    def tokens(self) -> dict[int, bytes]:
        text, offsets = self.text, self.offsets.tolist()
        return {i: text[a:b] for i, a, b in zip(self.ids.tolist(), offsets, offsets[1:])}


@dataclass(frozen=True)
class Vocabulary:
    """Everything that decides ids, except the pattern.

    ``tokens`` maps each id that is no special to its bytes, ``marked`` holds the ids that end with the end-of-word
    mark, ``base`` the ids of the alphabet's symbols in the order of :meth:`Alphabet.symbols`, ``fallback`` the 256 ids
    of bytes that stand for unseen characters. Under the rule *merges*, ``merges`` lists (left, right, new id) in the
    order of learning; under *ranks* it is empty and a token's id is its rank.

    What only foreign vocabularies have: ``layout="listed"``, ids in any order; ``continued``, the ids that do not begin
    a pretoken; ``inert``, tokens that no encoding makes; ``ranks``, a rank for each merge where several share one;
    ``added``, names that are always matched but are no specials; ``flags`` of a special or added name; ``whole``, a
    pretoken that is a token is that token; ``order``, whether the lowest pair merges at all its places at once or at
    the first and then looks again, which matters in unordered lists only.
    """

    rule: Literal["merges", "ranks"]
    alphabet: Alphabet
    layout: str
    byte_order: str
    tokens: Mapping[int, bytes]
    marked: frozenset[int]
    base: tuple[int, ...]
    fallback: tuple[int, ...]
    merges: tuple[tuple[int, int, int], ...]
    specials: Mapping[str, int]
    roles: Mapping[str, int]
    rows: int = field(default=0)
    continued: frozenset[int] = frozenset()
    inert: frozenset[int] = frozenset()
    ranks: tuple[int, ...] | None = None
    added: Mapping[str, int] = field(default_factory=dict)
    flags: Mapping[str, frozenset[str]] = field(default_factory=dict)
    unknown_id: int | None = None
    whole: bool = False
    order: Literal["pair", "place"] = "pair"
    flat: ClassVar[Flat | None] = None
    """Where it is there, ``tokens`` and ``merges`` are made of it when they are first asked for."""

    @classmethod
    def of_flat(cls, flat: Flat, unordered_merge: int | None, **fields: Any) -> Vocabulary:
        """A vocabulary that was checked when its arrays were made."""
        made = cls.__new__(cls)
        vars(made).update(fields, flat=flat, unordered_merge=unordered_merge)
        return made

    def __getattr__(self, name: str) -> Any:
        if self.flat is None or name not in ("tokens", "merges"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        columns = (column.tolist() for column in self.flat.merges)
        value = self.flat.tokens() if name == "tokens" else tuple(zip(*columns))
        vars(self)[name] = value
        return value

    def __getstate__(self) -> dict[str, Any]:
        state = {**vars(self), "tokens": self.tokens, "merges": self.merges}
        state.pop("flat", None)
        return state

    @property
    def names(self) -> dict[int, str]:
        """id -> name of the specials and the added tokens."""
        return {i: name for named in (self.added, self.specials) for name, i in named.items()}

    @cached_property
    def unordered_merge(self) -> int | None:
        """The first merge that uses a token before a merge that makes it, or None."""
        made: dict[int, int] = {}
        for step, (_, _, new) in enumerate(self.merges):
            made[new] = step
        for step, (left, right, _) in enumerate(self.merges):
            if made.get(left, -1) >= step or made.get(right, -1) >= step:
                return step
        return None


def check_specials(names: Iterable[str] | Mapping[str, int]) -> list[str]:
    if not isinstance(names, Iterable):
        raise SpecialTokenError(f"specials is {brief(names)}; give a sequence of names, or () for none")
    if isinstance(names, (str, bytes)):
        raise SpecialTokenError(
            f"specials is {names!r}, a single text; give a sequence of names, such as ({names!r},), or () for none"
        )
    checked: dict[str, None] = {}
    for name in names:
        if not isinstance(name, str):
            raise SpecialTokenError(f"special token {len(checked)} is {name!r}; names are str")
        if not name:
            raise SpecialTokenError(f"special token {len(checked)} has an empty name; give it one or leave it out")
        if name in checked:
            raise SpecialTokenError(f"special token {name!r} is named twice; each name can stand for one id only")
        try:
            name.encode("utf-8")
        except UnicodeEncodeError as error:
            raise SpecialTokenError(f"special token {name!r} holds a lone surrogate at {error.start}") from None
        checked[name] = None
    return list(checked)


def resolve_roles(specials: Mapping[str, int], roles: Mapping[str, str] | None) -> dict[str, int]:
    """Role -> id: by name (``<bos>`` ...), or as ``roles`` says."""
    found = {role: specials[f"<{role}>"] for role in ROLES if f"<{role}>" in specials}
    if not (roles is None or isinstance(roles, Mapping)):
        raise SpecialTokenError(f"roles is {brief(roles)}; it maps a role to a name, such as {{'eos': '<end>'}}")
    for role, name in (roles or {}).items():
        if role not in ROLES:
            raise SpecialTokenError(f"{role!r} is no role; roles are {', '.join(ROLES)}")
        if not isinstance(name, str) or name not in specials:
            known = ", ".join(specials) or "none"
            raise SpecialTokenError(f"the role {role!r} names {name!r}, which is no special token here ({known})")
        found[role] = specials[name]
    return found


def check_choice(what: str, value: object, allowed: Sequence[object]) -> None:
    if value not in allowed:
        raise VocabularyError(f"{what} is {value!r}; it can be {' or '.join(repr(a) for a in allowed)}")


def floor(alphabet: Alphabet, n_specials: int) -> int:
    """How many ids there are before the first merge."""
    return n_specials + 256 * alphabet.has_fallback_bytes + alphabet.size


def number_base(
    alphabet: Alphabet, specials: Iterable[str] | Mapping[str, int], layout: str, order: str
) -> tuple[dict[str, int] | list[str], tuple[int, ...], tuple[int, ...], int]:
    """Numbers what exists before the merges.

    Returns the specials (their ids, or their names where they come last), the ids of the alphabet's symbols, those of
    the fallback bytes, and the id of the first merge.
    """
    check_choice("layout", layout, LAYOUTS)
    check_choice("byte_order", order, BYTE_ORDERS)
    names = check_specials(specials)
    given = dict(specials) if isinstance(specials, Mapping) else None
    first = len(names) if layout == "specials-first" else 0
    if given is not None and layout == "specials-first" and sorted(given.values()) != list(range(len(names))):
        raise SpecialTokenError(
            f'with layout="specials-first" the {len(names)} special tokens take the ids 0 to {len(names) - 1}; '
            'give names only, or layout="bytes-first"'
        )
    by_number = byte_order(order)
    number_of_byte = {b: k for k, b in enumerate(by_number)}
    fallback: tuple[int, ...] = ()
    if alphabet.has_fallback_bytes:
        fallback = tuple(first + number_of_byte[b] for b in range(256))
        first += 256
    if alphabet.kind == "bytes":
        plain = [first + number_of_byte[b] for b in range(256)]
        rest = range(first + 256, first + alphabet.size)
        if alphabet.end_of_word == "fused":
            fused = [first + 256 + number_of_byte[b] for b in range(256)]
            rest = range(first + 512, first + alphabet.size)
            plain += fused
        base = (*plain, *rest)
    else:
        base = tuple(range(first, first + alphabet.size))
    if given is not None:
        return given, base, fallback, first + alphabet.size
    if layout == "specials-first":
        return {name: k for k, name in enumerate(names)}, base, fallback, first + alphabet.size
    return names, base, fallback, first + alphabet.size


def assemble(
    alphabet: Alphabet,
    specials: Iterable[str] | Mapping[str, int],
    layout: str,
    order: str,
    roles: Mapping[str, str] | None,
    pairs: Iterable[tuple[int, int]] | None = None,
    symbol_pairs: Sequence[tuple[int, int]] | None = None,
    bytes_pairs: Iterable[tuple[bytes, bytes]] | None = None,
) -> Vocabulary:
    """A vocabulary under the merge rule, its merges given in one of three ways.

    ``pairs`` are ids; ``symbol_pairs`` number the alphabet's symbols from 0 and go on with the merges, as training
    does; ``bytes_pairs`` are the bytes of both parts (marked tokens cannot be named so).
    """
    specials_or_names, base, fallback, first_merge = number_base(alphabet, specials, layout, order)
    symbols = alphabet.symbols()
    tokens: dict[int, bytes] = {i: bytes([b]) for b, i in enumerate(fallback)}
    marked: set[int] = set()
    for i, (text, is_marked) in zip(base, symbols):
        tokens[i] = text
        if is_marked:
            marked.add(i)
    merges: list[tuple[int, int, int]] = []
    if symbol_pairs is not None:
        ids = [*base, *range(first_merge, first_merge + len(symbol_pairs))]
        pairs = [(ids[a], ids[b]) for a, b in symbol_pairs]
    if bytes_pairs is not None:
        pairs = _ids_of_bytes(list(bytes_pairs), tokens, marked, set(fallback), first_merge)
    _add_merges(list(pairs or ()), tokens, marked, merges, first_merge, frozenset(fallback))
    highest = max(tokens, default=-1)
    if isinstance(specials_or_names, dict):
        named = specials_or_names
    else:
        named = {name: highest + 1 + k for k, name in enumerate(specials_or_names)}
    return _finish("merges", alphabet, layout, order, tokens, marked, base, fallback, merges, named, roles)


def _ids_of_bytes(
    pairs: list[tuple[bytes, bytes]], tokens: dict[int, bytes], marked: set[int], fallback: set[int], first_merge: int
) -> list[tuple[int, int]]:
    """Parts named by their bytes, as ids. A merge list need not be ordered: a part may be made further down."""
    by_bytes = {text: i for i, text in tokens.items() if i not in marked and i not in fallback}
    wholes = dict(by_bytes)
    for step, pair in enumerate(pairs):
        if len(pair) != 2 or not all(isinstance(part, (bytes, str)) for part in pair):
            raise VocabularyError(f"merge {step} is {pair!r}; a merge is a pair of ids or a pair of bytes")
        whole = b"".join(to_bytes(part, "strict", f"merge {step}: ") for part in pair)
        if not all(pair):
            raise VocabularyError(f"merge {step} {pair!r} has an empty part")
        if whole in wholes:
            raise VocabularyError(f"merge {step} {pair!r} makes {whole!r}, which is a token already; take it out")
        wholes[whole] = first_merge + step
    out = []
    for step, pair in enumerate(pairs):
        ids = []
        for part in pair:
            text = to_bytes(part, "strict")
            if text not in wholes:
                raise VocabularyError(
                    f"merge {step} {pair!r} uses {text!r}, which is neither in the alphabet nor made by any merge"
                )
            ids.append(wholes[text])
        out.append((ids[0], ids[1]))
    return out


def _add_merges(
    pairs: list[tuple[int, int]],
    tokens: dict[int, bytes],
    marked: set[int],
    merges: list[tuple[int, int, int]],
    first_merge: int,
    fallback: frozenset[int],
) -> None:
    """Gives each pair its new id and bytes. A part may be made further down; then its users wait for it."""
    last = first_merge + len(pairs) - 1
    if last > MAX_ID:
        raise VocabularyError(f"merge {len(pairs) - 1} would have the id {last}; ids end at {MAX_ID}")
    if not marked and not fallback and (texts := _plainly_made(pairs, tokens, first_merge)) is not None:
        tokens.update(texts)
        merges.extend((left, right, new) for new, (left, right) in enumerate(pairs, first_merge))
        return
    seen: dict[tuple[int, int], int] = {}
    made = {(text, i in marked): i for i, text in tokens.items() if i not in fallback}
    waiting: dict[int, list[int]] = {}
    total = 0
    for step, pair in enumerate(pairs):
        if len(pair) != 2 or not all(isinstance(part, int) for part in pair):
            raise VocabularyError(f"merge {step} is {pair!r}; a merge is a pair of ids or a pair of bytes")
        left, right = pair
        for part in (left, right):
            if part not in tokens and not first_merge <= part <= last:
                raise VocabularyError(
                    f"merge {step} ({left}, {right}) uses id {part}, "
                    "which is neither in the alphabet nor made by any merge"
                )
            if part in fallback:
                raise VocabularyError(f"merge {step} ({left}, {right}) uses id {part}, a byte of unseen characters")
        if (left, right) in seen:
            raise VocabularyError(f"merge {step} ({left}, {right}) is merge {seen[left, right]} again; take one out")
        seen[left, right] = step
        merges.append((left, right, first_merge + step))
        ready = [step]
        while ready:
            now = ready.pop()
            left, right, new = merges[now]
            absent = left if left not in tokens else right if right not in tokens else None
            if absent is not None:
                waiting.setdefault(absent, []).append(now)
                continue
            if left in marked:
                raise VocabularyError(f"merge {now} ({left}, {right}) goes on after an end-of-word mark")
            total += len(tokens[left]) + len(tokens[right])
            if total > MAX_TOKEN_BYTES:
                raise VocabularyError(f"the tokens up to merge {now} have more than {MAX_TOKEN_BYTES} bytes together")
            text, mark = tokens[left] + tokens[right], right in marked
            if made.setdefault((text, mark), new) != new:
                raise VocabularyError(
                    f"merge {now} ({left}, {right}) makes {text!r}, which id {made[text, mark]} is already; take it out"
                )
            tokens[new] = text
            if mark:
                marked.add(new)
            ready += waiting.pop(new, ())
    if waiting:
        now = min(step for steps in waiting.values() for step in steps)
        raise VocabularyError(f"merge {now} {merges[now][:2]} needs, over other merges, its own result")
    for _, _, new in merges:  # in the order of ids, however they became known
        tokens[new] = tokens.pop(new)


def _plainly_made(
    pairs: list[tuple[int, int]], tokens: Mapping[int, bytes], first_merge: int
) -> dict[int, bytes] | None:
    """The bytes of each new id where every merge is of what is there before it and makes what is not; else None."""
    sound = set(map(type, pairs)) == {tuple} and set(map(len, pairs)) == {2} and len(set(pairs)) == len(pairs)
    if not sound or set(map(type, chain.from_iterable(pairs))) != {int}:
        return None
    texts, total = dict(tokens), 0
    for new, (left, right) in enumerate(pairs, first_merge):
        if left not in texts or right not in texts:
            return None
        texts[new] = text = texts[left] + texts[right]
        total += len(text)
        if total > MAX_TOKEN_BYTES:
            return None
    return texts if len(set(texts.values())) == len(texts) else None


def from_ranks(
    ranks: Mapping[bytes, int], specials: Iterable[str] | Mapping[str, int], roles: Mapping[str, str] | None
) -> Vocabulary:
    """A vocabulary under the rank rule: bytes -> rank, the rank being the id."""
    if not isinstance(ranks, Mapping):
        raise VocabularyError(f"ranks is a {type(ranks).__name__}; it maps bytes to ranks")
    tokens: dict[int, bytes] = {}
    sound = set(map(type, ranks)) == {bytes} and b"" not in ranks and set(map(type, ranks.values())) == {int}
    if sound and min(ranks.values()) >= 0 and max(ranks.values()) <= MAX_ID:
        tokens = dict(zip(ranks.values(), ranks))
    if len(tokens) < len(ranks):  # what is wrong must be found
        tokens = {}
    for text, rank in () if tokens else ranks.items():
        if not isinstance(text, bytes) or not text:
            raise VocabularyError(f"rank {rank} belongs to {text!r}; ranks belong to bytes, one at least")
        if type(rank) is not int or not 0 <= rank <= MAX_ID:
            rank = whole(f"the rank of {text!r}", rank, 0, VocabularyError, MAX_ID)
        if rank in tokens:
            raise VocabularyError(f"rank {rank} is given to {tokens[rank]!r} and to {text!r}; ranks are unique")
        tokens[rank] = text
    missing = [b for b in range(256) if bytes([b]) not in ranks]
    if missing:
        some = ", ".join(f"0x{b:02X}" for b in missing[:8]) + (" ..." if len(missing) > 8 else "")
        raise VocabularyError(f"{len(missing)} of the 256 single bytes have no rank ({some}); each needs one")
    in_order = sorted(tokens)
    if in_order != list(tokens):
        tokens = {i: tokens[i] for i in in_order}
    names = check_specials(specials)
    highest = max(tokens)
    named = dict(specials) if isinstance(specials, Mapping) else {n: highest + 1 + k for k, n in enumerate(names)}
    base = tuple(ranks[bytes([b])] for b in range(256))
    return _finish("ranks", Alphabet(), "bytes-first", "raw", tokens, set(), base, (), [], named, roles)


def _finish(
    rule: Literal["merges", "ranks"],
    alphabet: Alphabet,
    layout: str,
    order: str,
    tokens: dict[int, bytes],
    marked: set[int],
    base: tuple[int, ...],
    fallback: tuple[int, ...],
    merges: list[tuple[int, int, int]],
    specials: dict[str, int],
    roles: Mapping[str, str] | None,
) -> Vocabulary:
    by_id: dict[int, str] = {}
    for name, i in specials.items():
        if isinstance(i, bool) or not isinstance(i, int) or not 0 <= i <= MAX_ID:
            raise SpecialTokenError(
                f"special token {name!r} has the id {i!r}; ids are whole numbers from 0 to {MAX_ID}"
            )
        if i in by_id:
            raise SpecialTokenError(f"special tokens {by_id[i]!r} and {name!r} share the id {i}; give each its own")
        if i in tokens:
            raise SpecialTokenError(f"special token {name!r} has the id {i}, which is the token {tokens[i]!r} already")
        by_id[i] = name
    rows = max([*tokens, *by_id], default=-1) + 1
    return Vocabulary(
        rule,
        alphabet,
        layout,
        order,
        tokens,
        frozenset(marked),
        base,
        fallback,
        tuple(merges),
        specials,
        resolve_roles(specials, roles),
        rows,
        unknown_id=specials.get(UNK) if alphabet.unknown == UNK else None,
    )


def alphabet_of(pairs: Sequence[tuple[Any, Any]]) -> Alphabet:
    """The characters that pairs of bytes or str are made of."""
    points: set[int] = set()
    for step, pair in enumerate(pairs):
        for part in pair:
            if isinstance(part, int):
                raise VocabularyError(
                    f'merge {step} is {pair!r}: alphabet="characters" takes pairs of bytes or str, since ids follow '
                    "from the alphabet"
                )
            points.update(map(ord, to_bytes(part, "strict").decode("utf-8", "surrogateescape")))
    return Alphabet("characters", points=tuple(sorted(points)))


def cut(v: Vocabulary, vocab_size: int, renumber: bool) -> tuple[Vocabulary, dict[int, int]]:
    """A vocabulary without its last merges, or highest ranks, and old id -> new id of all that stay."""
    names = {*v.specials.values(), *v.added.values()}
    size = len({*v.tokens, *names})
    vocab_size = whole("vocab_size", vocab_size, 0, VocabularyError)
    if v.rule == "ranks":
        last_first = sorted((i for i, text in v.tokens.items() if len(text) > 1), reverse=True)
    else:
        made = dict.fromkeys(new for _, _, new in v.merges)
        last_first = [i for i in reversed(made) if i not in names]
    least = size - len(last_first)
    if not least <= vocab_size <= size:
        raise VocabularyError(f"cannot cut to vocab_size={vocab_size}: there are {size} ids, {least} of them no merges")
    gone = set(last_first[: size - vocab_size])
    kept = sorted({*v.tokens, *names} - gone)
    number = {old: new if renumber else old for new, old in enumerate(kept)}
    return without(v, gone, number), number


def without(v: Vocabulary, gone: Set[int], number: Mapping[int, int]) -> Vocabulary:
    """A vocabulary without some tokens that are no names, and their merges; ``number`` has the ids of the rest."""
    number_or_none = {**number, -1: -1}
    left = [k for k, merge in enumerate(v.merges) if gone.isdisjoint(merge)]
    return replace(
        v,
        tokens=dict(sorted((number[i], text) for i, text in v.tokens.items() if i not in gone)),
        marked=frozenset(number[i] for i in v.marked if i not in gone),
        continued=frozenset(number[i] for i in v.continued if i not in gone),
        inert=frozenset(number[i] for i in v.inert if i not in gone),
        base=tuple(number[i] for i in v.base),
        fallback=tuple(number_or_none[i] for i in v.fallback),
        merges=tuple((number[a], number[b], number[n]) for a, b, n in (v.merges[k] for k in left)),
        ranks=None if v.ranks is None else tuple(v.ranks[k] for k in left),
        specials={name: number[i] for name, i in v.specials.items()},
        added={name: number[i] for name, i in v.added.items()},
        roles={role: number[i] for role, i in v.roles.items()},
        unknown_id=None if v.unknown_id is None else number[v.unknown_id],
        rows=max(number.values(), default=-1) + 1,
    )
