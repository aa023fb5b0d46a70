"""A vocabulary whose ids a foreign file lists one by one, checked and put together.

:func:`listed` is what the readers in ``formats`` call once they know what each token of a file is made of. Our own
vocabularies, numbered by a layout, come from ``vocabulary``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from ._check import brief
from ._notices import notice
from .errors import BytepairError, SpecialTokenError, VocabularyError
from .vocabulary import (
    CONTINUED,
    FLAGS,
    MARK,
    MARKED,
    MAX_ID,
    MAX_TOKEN_BYTES,
    Alphabet,
    Vocabulary,
    assemble,
    check_specials,
    resolve_roles,
)


class Token(NamedTuple):
    """What a token is made of: its bytes, and whether it is marked or continued (bits of ``form``)."""

    text: bytes
    form: int = 0


def listed(
    *,
    kind: Literal["bytes", "characters"],
    tokens: Mapping[int, Token],
    merges: Iterable[tuple[int, int, int]],
    ranks: Sequence[int] | None = None,
    inert: Iterable[int] = (),
    specials: Mapping[str, int] | None = None,
    added: Mapping[str, int] | None = None,
    flags: Mapping[str, Iterable[str]] | None = None,
    roles: Mapping[str, str] | None = None,
    fallback: Mapping[int, int] | None = None,
    unknown_id: int | None = None,
    fuse_unknown: bool = False,
    prefix: str = "",
    suffix: str | None = None,
    whole: bool = False,
    order: Literal["pair", "place"] = "place",
) -> Vocabulary:
    """A vocabulary under the merge rule with ids in any order.

    Parameters
    ----------
    kind
        What a pretoken is made of before any merge.
    tokens
        id -> what it is made of. Those of one unit (a byte or a character) are the alphabet.
    merges
        (left, right, new) ids, the lowest rank first; several may make one token.
    ranks
        A rank for each merge where several share one.
    inert
        The ids of tokens that no encoding makes, whatever their bytes.
    specials, added, flags, roles
        Names -> ids, ids that ``tokens`` may have too; what the names ask for; role -> special name.
    fallback
        byte value -> id of the bytes that stand for an unknown character.
    unknown_id
        The id of an unknown unit; None makes it an error.
    fuse_unknown
        Whether a run of unknown units is one token.
    prefix, suffix
        How tokens that are continued or marked are shown; suffix None is an alphabet without marks.
    whole, order
        See :class:`~bytepair.vocabulary.Vocabulary`.

    Raises
    ------
    VocabularyError
        An id is out of range, or a merge does not make what it says.
    SpecialTokenError
        A name is empty, or two names share an id.
    """
    inert = frozenset(inert)
    specials, added, fallback = dict(specials or {}), dict(added or {}), dict(fallback or {})
    _check_tokens(tokens)
    text_of = dict(sorted((i, token.text) for i, token in tokens.items()))
    steps = _checked(list(merges), tokens)
    if ranks is not None and len(ranks) != len(steps):
        raise VocabularyError(f"there are {len(ranks)} ranks for {len(steps)} merges")
    if ranks is not None and order == "pair":
        raise VocabularyError('merges that share ranks go place by place; give order="place"')
    _check_names(specials, added, flags or {})
    skipped = inert | frozenset(fallback.values())
    forms: list[dict[int, int]] = [{}, {}, {}, {}]
    for i, (text, form) in tokens.items():
        unit = None if i in skipped else _unit(kind, text)
        if unit is not None and forms[form].setdefault(unit, i) != i:
            raise VocabularyError(f"ids {forms[form][unit]} and {i} are both {text!r}; take one out")
    if unknown_id is not None and unknown_id not in tokens and unknown_id not in {*specials.values(), *added.values()}:
        raise VocabularyError(f"the unknown token has the id {unknown_id}, which does not exist")
    alphabet = Alphabet(
        kind,
        None if suffix is None else "fused",
        "bytes" if fallback else "error" if unknown_id is None else "<unk>",
        tuple(sorted(forms[0])),
        tuple(sorted(forms[MARKED])),
        listed=True,
        inner_points=tuple(sorted(forms[CONTINUED])),
        inner_last_points=tuple(sorted(forms[CONTINUED | MARKED])),
        prefix=prefix,
        suffix=MARK if suffix is None else suffix,
        fuse_unknown=fuse_unknown,
    )
    vocabulary = Vocabulary(
        "merges",
        alphabet,
        "listed",
        "raw",
        text_of,
        frozenset(i for i, token in tokens.items() if token.form & MARKED),
        tuple(forms[form][point] for point, form in alphabet.units()),
        tuple(fallback.get(b, -1) for b in range(256)) if fallback else (),
        tuple(steps),
        specials,
        {},
        max([*text_of, *specials.values(), *added.values()], default=-1) + 1,
        continued=frozenset(i for i, token in tokens.items() if token.form & CONTINUED),
        inert=inert,
        ranks=None if ranks is None else tuple(ranks),
        added=added,
        flags={name: frozenset(asked) for name, asked in (flags or {}).items() if asked},
        unknown_id=unknown_id,
        whole=whole,
        order=order,
    )
    vocabulary = replace(vocabulary, roles=resolve_roles(specials, roles))
    return _by_layout(vocabulary) or vocabulary


def _by_layout(v: Vocabulary) -> Vocabulary | None:
    """The same vocabulary in one of our own layouts where its ids follow one, so that equal ones are equal."""
    plain = not (v.added or v.flags or v.inert or v.marked or v.continued or v.whole or v.fallback or v.ranks)
    if not plain or v.alphabet.kind != "bytes" or v.unknown_id is not None or len(v.base) != 256:
        return None
    if v.unordered_merge is not None:
        return None
    layout = "specials-first" if v.base[0x21] >= len(v.specials) and 0 in v.specials.values() else "bytes-first"
    if not v.specials:
        layout = "specials-first"
    order = "raw" if v.base[1] == v.base[0] + 1 else "gpt2"
    roles = {role: v.names[i] for role, i in v.roles.items()}
    try:
        ours = assemble(Alphabet(), v.specials, layout, order, roles, pairs=[merge[:2] for merge in v.merges])
    except BytepairError:
        return None
    same = ours.tokens == v.tokens and ours.merges == v.merges and ours.specials == v.specials
    return ours if same else None


def _unit(kind: str, text: bytes) -> int | None:
    """The byte or the code point that a text is, or None where it is none or several."""
    if kind == "bytes":
        return text[0] if len(text) == 1 else None
    if not 1 <= len(text) <= 4:
        return None
    character = text.decode("utf-8", "surrogateescape")
    return ord(character) if len(character) == 1 else None


def _check_tokens(tokens: Mapping[int, Token]) -> None:
    total = 0
    for i, token in tokens.items():
        if not 0 <= i <= MAX_ID:
            raise VocabularyError(f"token {brief(token.text)} has the id {i}; ids are whole numbers from 0 to {MAX_ID}")
        total += len(token.text)
    if total > MAX_TOKEN_BYTES:
        raise VocabularyError(f"the tokens have {total} bytes together; there may be {MAX_TOKEN_BYTES}")


def _checked(merges: list[tuple[int, int, int]], tokens: Mapping[int, Token]) -> list[tuple[int, int, int]]:
    """The merges, each once: of a pair that is listed twice its owners see the last line only."""
    last: dict[tuple[int, int], int] = {}
    for step, (left, right, new) in enumerate(merges):
        try:
            a, b, made = tokens[left], tokens[right], tokens[new]
        except KeyError as error:
            raise VocabularyError(f"merge {step} uses id {error.args[0]}, which does not exist") from None
        if a[1] | b[1] | made[1] == 0 and made[0] == a[0] + b[0]:  # as it is nearly always
            last[left, right] = step
            continue
        if made.text != a.text + b.text or made.form != (a.form & CONTINUED) | (b.form & MARKED):
            raise VocabularyError(
                f"merge {step} of {brief(a.text)} and {brief(b.text)} cannot make id {new}, {brief(made.text)}"
            )
        if a.form & MARKED:
            raise VocabularyError(f"merge {step} ({left}, {right}) goes on after an end-of-word mark")
        last[left, right] = step
    if len(last) == len(merges):
        return merges
    step, pair = next((k, m[:2]) for k, m in enumerate(merges) if last[m[0], m[1]] != k)
    notice(
        f"{len(merges) - len(last)} merges are listed again further down, the first is merge {step} {pair}: only the "
        "last place counts, as for the format's owner",
        stacklevel=4,
    )
    return [merge for step, merge in enumerate(merges) if last[merge[0], merge[1]] == step]


def _check_names(specials: dict[str, int], added: dict[str, int], flags: Mapping[str, Iterable[str]]) -> None:
    check_specials([*specials, *added])
    by_id: dict[int, str] = {}
    for name, i in (*specials.items(), *added.items()):
        if isinstance(i, bool) or not isinstance(i, int) or not 0 <= i <= MAX_ID:
            raise SpecialTokenError(f"token {name!r} has the id {i!r}; ids are whole numbers from 0 to {MAX_ID}")
        if i in by_id:
            raise SpecialTokenError(f"tokens {by_id[i]!r} and {name!r} share the id {i}; give each its own")
        by_id[i] = name
    for name, asked in flags.items():
        if (name not in specials and name not in added) or not set(asked) <= set(FLAGS):
            raise SpecialTokenError(f"the flags of {name!r} are {sorted(asked)}; there are {', '.join(FLAGS)}")
