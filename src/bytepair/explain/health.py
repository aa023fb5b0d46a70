"""The health of a vocabulary: tokens that nothing makes, tokens that nothing uses, and what else bites later.

Each finding has its numbers and a way out. What needs a corpus is looked for only where one is given.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from .. import showing
from ..corpus.readers import Document, documents
from ..errors import BytepairError
from ..showing import html
from .merging import merges_of
from .reach import SURROUNDINGS, unreachable
from .scripts import scripts_of
from .trees import label

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..tokenizer import Tokenizer

Level = Literal["error", "warning", "note", "ok"]

_SHOWN = 12
_SHORTEST_NAME = 4
"""A special token's name of fewer characters is likely to be typed."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes
    ----------
    kind : str
    level : "error", "warning", "note" or "ok"
        An error is something broken; a warning costs or may surprise; a note is worth knowing.
    count : int
        How many tokens, names or documents it is about; 0 where all is well.
    says : str
        One sentence with the numbers.
    advice : str
        The way out; empty where none is needed.
    ids : tuple of int
        The tokens, all of them.
    names : tuple of str
        Special tokens or documents, where it is about those.
    values : mapping of str to number
        What else was measured.
    """

    kind: str
    level: Level
    count: int
    says: str
    advice: str = ""
    ids: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    values: Mapping[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "level": self.level,
            "count": self.count,
            "says": self.says,
            "advice": self.advice,
            "ids": list(self.ids),
            "names": list(self.names),
            "values": dict(self.values),
        }


@dataclass(frozen=True)
class Health:
    """What :meth:`~bytepair.tokenizer.Tokenizer.health` gives."""

    findings: tuple[Finding, ...]
    tokenizer: Tokenizer

    def __repr__(self) -> str:
        return f"<Health: {self.level}, {len(self.findings)} findings>"

    def __getitem__(self, kind: str) -> Finding:
        for finding in self.findings:
            if finding.kind == kind:
                return finding
        raise KeyError(f"{kind!r} was not looked for; there are {', '.join(f.kind for f in self.findings)}")

    @property
    def level(self) -> Level:
        """The worst level of all findings."""
        order: tuple[Level, ...] = ("error", "warning", "note")
        return next((level for level in order if any(f.level == level for f in self.findings)), "ok")

    def to_json(self) -> dict[str, Any]:
        return {"level": self.level, "findings": [finding.to_json() for finding in self.findings]}

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        for f in self.findings:
            yield f"{f.level:8} {f.kind:20} {showing.one_line(f.says)}"
            shown = [label(self.tokenizer, i, 24) for i in f.ids[:_SHOWN]] + [
                showing.one_line(name) for name in f.names[:_SHOWN]
            ]
            if shown:
                rest = len(f.ids) + len(f.names) - len(shown)
                yield " " * 30 + "  ".join(shown) + (f"  ... {rest} more" if rest else "")
            if f.advice and f.level in ("error", "warning"):
                yield " " * 30 + f"-> {f.advice}"

    def _repr_html_(self) -> str:
        rows = [
            [f.level, html.escaped(f.kind), html.escaped(f.says),
             html.escaped("  ".join([*(label(self.tokenizer, i, 24) for i in f.ids[:_SHOWN]), *f.names[:_SHOWN]])),
             html.escaped(f.advice)]
            for f in self.findings
        ]  # fmt: skip
        return html.fragment(html.table(["level", "kind", "found", "such as", "way out"], rows, left={0, 1, 2, 3, 4}))


def health(tok: Tokenizer, corpus: Any = None, *, against: Any = None) -> Health:
    """Looks at a vocabulary, and at what it does to a corpus; see :meth:`Tokenizer.health`."""
    found = [_unreachable(tok), _unreached(tok), _duplicates(tok), _not_utf8(tok), _digits(tok), _scripts(tok)]
    used = None if corpus is None else _Used(tok, corpus)
    found.append(_typed_specials(tok, used))
    if used is not None:
        found += [_unused(tok, used), _steps(tok, used), used.round_trip()]
    if against is not None:
        if used is None:
            raise BytepairError("against= compares two corpora; give corpus= as well")
        found.append(_drift(tok, used, _Used(tok, against)))
    return Health(tuple(found), tok)


# ---- the vocabulary alone ----


def _unreachable(tok: Tokenizer) -> Finding:
    ids, _ = _reach(tok)
    if not ids:
        return Finding("unreachable", "ok", 0, "merges can make every token")
    return Finding(
        "unreachable", "warning", len(ids), f"tokens that no text can have, for no merges make them: {len(ids):,}",
        "tok.prune(drop=...) takes their rows out of the embedding", tuple(ids),
    )  # fmt: skip


def _unreached(tok: Tokenizer) -> Finding:
    _, ids = _reach(tok)
    if not ids:
        return Finding("unreached", "ok", 0, "the pattern lets every token through")
    return Finding(
        "unreached", "warning", len(ids),
        f"tokens that merges make, but that stand in none of {SURROUNDINGS} surroundings, for the pattern or their "
        f"neighbours take them apart: {len(ids):,}",
        "the vocabulary was trained with another pattern, or on other text; drop them with tok.prune(drop=...)",
        tuple(ids),
    )  # fmt: skip


def _reach(tok: Tokenizer) -> tuple[list[int], list[int]]:
    kept = vars(tok)
    if "_unreachable" not in kept:
        kept["_unreachable"] = unreachable(tok)
    found: tuple[list[int], list[int]] = kept["_unreachable"]
    return found


def _duplicates(tok: Tokenizer) -> Finding:
    v = tok._vocabulary
    seen: dict[tuple[bytes, bool, bool, bool], int] = {}
    again = []
    for i, text in v.tokens.items():
        key = (text, i in v.marked, i in v.continued, i in v.fallback)
        if key in seen:
            again.append(i)
        seen.setdefault(key, i)
    if not again:
        return Finding("duplicates", "ok", 0, "no two tokens stand for the same bytes")
    return Finding(
        "duplicates", "warning", len(again), f"tokens that stand for the bytes of an earlier one: {len(again):,}",
        "only one of two can be learned by a model; drop the other with tok.prune(drop=...)", tuple(again),
    )  # fmt: skip


def _not_utf8(tok: Tokenizer) -> Finding:
    v = tok._vocabulary
    first = merges_of(tok).first
    ids = tuple(i for i, text in v.tokens.items() if i not in first and not _is_utf8(text))
    share = len(ids) / max(len(v.tokens), 1)
    return Finding(
        "not-utf8", "note" if ids else "ok", len(ids),
        f"merged tokens that are no whole characters on their own: {len(ids):,} ({share:.1%})",
        "a model that stops at one leaves half a character: decode with stream_decoder(), which waits for the rest",
        ids, values={"share": share},
    )  # fmt: skip


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _digits(tok: Tokenizer) -> Finding:
    ids = _texts_where(tok, lambda text: sum(c.isdecimal() for c in text) > 1)
    longest = max((sum(c.isdecimal() for c in tok._vocabulary.tokens[i].decode()) for i in ids), default=0)
    return Finding(
        "digits", "note" if ids else "ok", len(ids),
        f"tokens that join digits, up to {longest} of them: {len(ids):,}" if ids
        else "every digit is a token of its own",
        r"numbers then split unevenly; a pattern with \p{N} or \p{N}{1,3} keeps groups even when training", ids,
        values={"longest": longest},
    )  # fmt: skip


def _scripts(tok: Tokenizer) -> Finding:
    ids = _texts_where(tok, lambda text: len(scripts_of(text)) > 1)
    return Finding(
        "scripts", "note" if ids else "ok", len(ids),
        f"tokens that hold letters of several scripts: {len(ids):,}" if ids
        else "no token holds letters of several scripts",
        "often a sign of text that was mixed up in the training corpus", ids,
    )  # fmt: skip


def _texts_where(tok: Tokenizer, wanted: Callable[[str], bool]) -> tuple[int, ...]:
    tokens = tok._vocabulary.tokens.items()
    return tuple(i for i, text in tokens if len(text) > 1 and _is_utf8(text) and wanted(text.decode()))


# ---- with a corpus ----


class _Used:
    """What a corpus has of each token, of the specials' names, and which of its documents do not come back."""

    def __init__(self, tok: Tokenizer, corpus: Any) -> None:
        import numpy as np

        self.tok = tok
        self.counts = np.zeros(max(tok.n_rows, 1), dtype=np.int64)
        self.names = dict.fromkeys(tok.specials, 0)
        self.documents = self.bytes = 0
        self.changed: list[str] = []
        self.failed: list[str] = []
        for document in documents(corpus):
            self._read(document)

    def _read(self, document: Document) -> None:
        import numpy as np

        data = b"".join(document.open())
        self.documents += 1
        self.bytes += len(data)
        for name in self.names:
            self.names[name] += data.count(name.encode())
        try:
            ids = self.tok.encode_array(data)
        except BytepairError as error:
            self.failed.append(f"{document.name}: {error}")
            return
        self.counts += np.bincount(ids, minlength=len(self.counts))
        if self.tok.decode_bytes(ids) != data:
            self.changed.append(document.name)

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    def round_trip(self) -> Finding:
        bad = (*self.failed, *self.changed)
        if not bad:
            says = f"all comes back from its ids; documents: {self.documents:,}, bytes: {self.bytes:,}"
            return Finding("round-trip", "ok", 0, says)
        lossless = self.tok.lossless
        return Finding(
            "round-trip", "error" if lossless or self.failed else "note", len(bad),
            f"documents: {self.documents:,}; that come back changed: {len(self.changed):,}; that cannot be encoded: "
            f"{len(self.failed):,}",
            "please report this: a lossless tokenizer gives every byte back" if lossless
            else 'this tokenizer changes text by its nature (tok.lossless is False); unknown="bytes" or an alphabet of '
            "bytes loses nothing",
            names=bad,
        )  # fmt: skip


def _unused(tok: Tokenizer, used: _Used) -> Finding:
    first = merges_of(tok).first
    merged = [i for i in tok._vocabulary.tokens if i not in first]
    ids = tuple(i for i in merged if used.counts[i] == 0)
    share = len(ids) / max(len(merged), 1)
    return Finding(
        "unused", "note" if share < 0.5 else "warning", len(ids),
        f"merged tokens that never come in the corpus, so that a model trained on it alone never learns them: "
        f"{len(ids):,} ({share:.1%})",
        "tokens that training never shows behave at random (glitch tokens); tok.prune(keep=...) or a corpus that fits",
        ids, values={"share": share, "documents": used.documents, "bytes": used.bytes},
    )  # fmt: skip


def _steps(tok: Tokenizer, used: _Used) -> Finding:
    """Tokens that never come, while something made from them does."""
    v = tok._vocabulary
    merges = merges_of(tok)
    parts: set[int] = set()
    for i in v.tokens:
        if used.counts[i]:
            stack = [i]
            while stack:
                now = stack.pop()
                for part in merges.parts(now):
                    if part not in parts:
                        parts.add(part)
                        stack.append(part)
    ids = tuple(sorted(i for i in parts if used.counts[i] == 0 and i not in merges.first))
    return Finding(
        "steps", "note" if ids else "ok", len(ids),
        f"tokens that never come themselves, but others that do are merged from them: {len(ids):,}",
        "they cost a row of the embedding each; pruning keeps them, since their children need them", ids,
    )  # fmt: skip


def _typed_specials(tok: Tokenizer, used: _Used | None) -> Finding:
    seen = {name: n for name, n in (used.names if used else {}).items() if n}
    short = [name for name in tok.specials if len(name) < _SHORTEST_NAME or name.isalnum()]
    names = tuple(dict.fromkeys([*seen, *short]))
    if not names:
        says = "no special token's name is likely to be typed" + (" or stands in the corpus" if used else "")
        return Finding("typed-specials", "ok", 0, says)
    told = ", ".join(f"{name} {n} times" for name, n in list(seen.items())[:_SHOWN])
    return Finding(
        "typed-specials", "warning", len(names),
        f"special tokens whose names stand in ordinary text: {told}" if seen
        else "special tokens with names that anybody may type",
        'never encode users\' text with special="all"; the default takes the names as text', names=names,
        values={name: float(n) for name, n in seen.items()},
    )  # fmt: skip


def _drift(tok: Tokenizer, used: _Used, other: _Used) -> Finding:
    """Tokens that begin with a space, as a share of all, in the two corpora; and those that differ most."""
    v = tok._vocabulary
    spaced = [i for i, text in v.tokens.items() if text[:1] == b" " or text[:3] == b"\xe2\x96\x81"]
    shares = [int(u.counts[spaced].sum()) / max(u.total, 1) for u in (used, other)]
    by_bytes = {text: i for i, text in v.tokens.items()}
    apart = []
    for i in spaced:
        text = v.tokens[i]
        bare = by_bytes.get(text[1:] if text[:1] == b" " else text[3:])
        if bare is None:
            continue
        here, there = (_spaced_share(u, i, bare) for u in (used, other))
        if here is not None and there is not None:
            apart.append((abs(here - there), i))
    apart.sort(reverse=True)
    drift = abs(shares[0] - shares[1])
    return Finding(
        "leading-space", "warning" if drift > 0.1 else "ok", len(spaced),
        f"{shares[0]:.1%} of the tokens begin with a space here, {shares[1]:.1%} in the other corpus",
        "prompts that end in a space, or words put at the beginning of a line, use the other form of a word",
        tuple(i for difference, i in apart[:_SHOWN] if difference > 0.25),
        values={"share": shares[0], "against": shares[1]},
    )  # fmt: skip


def _spaced_share(used: _Used, spaced: int, bare: int) -> float | None:
    """Of a word in both forms, the share of the one with the space; None where it is too rare to say."""
    total = int(used.counts[spaced] + used.counts[bare])
    return None if total < 20 else int(used.counts[spaced]) / total
