"""Puts texts through the first side and the others, and keeps the first difference of each kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..progress import Report
from .certificate import Compared, Difference, Kind, Shown
from .texts import Item

if TYPE_CHECKING:
    from ..progress import Progress
    from .sides import Ids, Ours, Side, Text

__all__ = ["Comparison"]

BATCH_TEXTS = 256
BATCH_BYTES = 1 << 20
BEFORE, AFTER = 3, 6
"""Tokens shown before and from a difference on."""
EXCERPT = 24


@dataclass(frozen=True)
class Refused:
    """What a side gives that raises: two that raise are equal, whatever they say."""

    why: str = field(compare=False)


@dataclass
class _Count:
    texts: int = 0
    bytes: int = 0
    tokens: int = 0
    with_offsets: int = 0


class Comparison:
    def __init__(self, base: Ours, others: Sequence[Side], policies: Sequence[str], progress: Progress = None) -> None:
        self.base, self.others, self.progress = base, others, progress
        self.asked = [policy for policy in policies if policy in base.policies]
        self.counts: dict[str, _Count] = {}
        self.first: dict[tuple[int, Kind], Difference] = {}
        self.differing: dict[tuple[int, Kind], set[tuple[str, int]]] = {}
        self.kinds: dict[int, set[Kind]] = {}

    def policies_of(self, side: Side) -> tuple[str, ...]:
        """The policies under which a side was compared."""
        return tuple(policy for policy in self.asked if policy in side.policies)

    def kinds_of(self, side: Side) -> tuple[Kind, ...]:
        """What of a side was compared; not every library gives offsets, or text."""
        seen = set().union(*self.kinds.values()) if side is self.base else self.kinds.get(id(side), set())
        kinds: tuple[Kind, ...] = ("ids", "decoded text", "offsets")
        return tuple(kind for kind in kinds if kind in seen)

    def compared(self) -> tuple[Compared, ...]:
        return tuple(
            Compared(source, count.texts, count.bytes, count.tokens, count.with_offsets)
            for source, count in self.counts.items()
        )

    def differences(self) -> tuple[Difference, ...]:
        return tuple(replace(found, texts=len(self.differing[key])) for key, found in self.first.items())

    # ---- texts ----

    def texts(
        self,
        source: str,
        items: Iterable[Item],
        policies: Iterable[str],
        *,
        offsets: int | None,
        total: int | None = None,
    ) -> None:
        """Compare some texts: ids, their decoded text, and offsets, those in the first ``offsets`` bytes only."""
        count = self.counts.setdefault(source, _Count())
        unit = "bytes" if source == "corpus" else "texts"
        done = 0
        with Report.reporter(source.split(maxsplit=1)[0], unit, total, self.progress) as report:
            for batch in _batches(items):
                some = [item.text for item in batch]
                sizes = [len(_bytes(text)) for text in some]
                with_offsets = offsets is None or count.bytes < offsets
                for policy in policies:
                    if policy in self.asked:
                        ids = self._batch(source, batch, policy, with_offsets, count.texts)
                        if policy == "text":
                            count.tokens += sum(len(row) for row in ids if not isinstance(row, Refused))
                count.texts += len(batch)
                count.bytes += sum(sizes)
                if with_offsets and any("offsets" in kinds for kinds in self.kinds.values()):
                    count.with_offsets += len(batch)
                done += sum(sizes) if unit == "bytes" else len(batch)
                report.update(done)

    def _batch(self, source: str, batch: list[Item], policy: str, with_offsets: bool, number: int) -> list[Any]:
        """One batch under one policy; what the first side gave."""
        texts = [item.text for item in batch]
        base = _encode(self.base, texts, policy)
        clean = [text if isinstance(text, str) else text.decode("utf-8", "replace") for text in texts]
        base_clean = base if clean == texts else _encode(self.base, clean, policy)
        decoded: dict[tuple[bool, int, str], Any] = {}

        def once(raw: bool, k: int, what: str, work: Callable[[], Any]) -> Any:
            """What the first side gives is the same for every other side."""
            if (raw, k, what) not in decoded:
                decoded[raw, k, what] = _attempt(work)
            return decoded[raw, k, what]

        for place, other in enumerate(self.others):
            if policy not in other.policies:
                continue
            self.kinds.setdefault(id(other), set()).add("ids")
            raw = other.takes_bytes
            given: list[Text] = texts if raw else list(clean)
            found = _encode(other, given, policy)
            for k, (item, text) in enumerate(zip(batch, given)):
                at = _Place(self, source, number + k, item, text, policy, place, other)
                ids: Any = (base if raw else base_clean)[k]
                if not other.speaks_ids and isinstance(ids, list):
                    ids = self.base.strings(ids, getattr(other, "separator", ""))
                if ids != found[k]:
                    at.ids(ids, found[k])
                    continue
                if isinstance(ids, Refused) or not other.speaks_ids:
                    continue
                self._decoded(at, ids, partial(once, raw, k))
                if with_offsets:
                    self._offsets(at, ids, partial(once, raw, k))
        return base

    def _decoded(self, at: _Place, ids: Ids, once: Callable[[str, Callable[[], Any]], Any]) -> None:
        other = at.other
        theirs = _attempt(lambda: other.decode_bytes(ids))
        if theirs is not None:
            ours = once("bytes", lambda: self.base.decode_bytes(ids))
        else:
            theirs = _attempt(lambda: other.decode(ids))
            if theirs is None:
                return
            ours = once("text", lambda: self.base.decode(ids))
        self.kinds.setdefault(id(other), set()).add("decoded text")
        if ours != theirs:
            at.decoded(ids, ours, theirs)

    def _offsets(self, at: _Place, ids: Ids, once: Callable[[str, Callable[[], Any]], Any]) -> None:
        other, text, policy = at.other, at.text, at.policy
        for what, asked, work in (
            ("spans", partial(other.spans, text, policy), partial(self.base.spans, text, policy)),
            ("starts", partial(other.starts, ids), partial(self.base.starts, ids)),
        ):
            theirs = _attempt(asked)
            if theirs is None:
                continue
            self.kinds[id(other)].add("offsets")
            ours = once(what, work)
            if ours != theirs:
                at.offsets(ids, ours, theirs)

    # ---- the vocabulary ----

    def vocabulary(self, policies: Iterable[str]) -> None:
        """Compare each token: its text encoded, where it is text, and its id decoded."""
        vocab = self.base.tokenizer.vocab
        texts = (Item(f"the text of id {i}", text) for i, data in vocab.items() if (text := _text(data)) is not None)
        self.texts("tokens", texts, policies, offsets=0, total=len(vocab))
        for place, other in enumerate(self.others):
            if not other.speaks_ids:
                continue
            for number, i in enumerate(vocab):
                if i in other.hides:
                    continue
                item = Item(f"id {i}", "")
                at = _Place(self, "ids decoded", number, item, "", self.asked[0], place, other)
                self._decoded(at, [i], lambda _what, work: _attempt(work))
        self.counts["ids decoded"] = _Count(len(vocab), sum(map(len, vocab.values())), len(vocab))

    def add(self, place: int, number: int, found: Difference) -> None:
        key = (place, found.kind)
        self.first.setdefault(key, found)
        self.differing.setdefault(key, set()).add((found.source, number))


@dataclass
class _Place:
    """A text in which a difference may lie; each method tells one kind of it."""

    comparison: Comparison
    source: str
    number: int
    item: Item
    text: Text
    policy: str
    place: int
    other: Side

    def ids(self, left: Any, right: Any) -> None:
        k = _first(left, right)
        character = 0
        if isinstance(left, list) and self._is_new("ids") and self.other.speaks_ids:
            spans = _attempt(lambda: self.comparison.base.spans(self.text, self.policy))
            if isinstance(spans, list) and spans:
                character = spans[k][0] if k < len(spans) else spans[-1][1]
        self._tell("ids", k, character, self._characters(), left, right, "", "")

    def decoded(self, ids: Ids, left: Any, right: Any) -> None:
        at = _first(left, right)
        before = left[:at] if isinstance(left, (str, bytes)) else ""
        characters = before if isinstance(before, str) else before.decode("utf-8", "surrogateescape")
        starts = _attempt(lambda: self.comparison.base.starts(ids)) if self._is_new("decoded text") else []
        k = max((k for k, start in enumerate(starts) if start <= len(characters)), default=0) if _is_list(starts) else 0
        shown = left if isinstance(left, str) else left.decode("utf-8", "surrogateescape") if _is_bytes(left) else ""
        self._tell("decoded text", k, len(characters), shown, ids, ids, _around(left, at), _around(right, at))

    def offsets(self, ids: Ids, left: Any, right: Any) -> None:
        k = _first(left, right)
        place = left[k] if _is_list(left) and k < len(left) else 0
        character = place if isinstance(place, int) else place[0]
        self._tell("offsets", k, character, self._characters(), ids, ids, _one(left, k), _one(right, k))

    def _characters(self) -> str:
        return self.text if isinstance(self.text, str) else self.text.decode("utf-8", "surrogateescape")

    def _is_new(self, kind: Kind) -> bool:
        return (self.place, kind) not in self.comparison.first

    def _tell(
        self, kind: Kind, k: int, character: int, text: str, left: Any, right: Any, found_left: str, found_right: str
    ) -> None:
        line = None if self.item.line is None else self.item.line + text.count("\n", 0, character)
        base = self.comparison.base
        speaker = base if self.other.speaks_ids else self.other
        self.comparison.add(
            self.place,
            self.number,
            Difference(
                kind=kind,
                source=self.source,
                text=self.item.name,
                policy=self.policy,
                character=self.item.start + character,
                token=k,
                line=line,
                excerpt=text[max(0, character - EXCERPT) : character + EXCERPT],
                left=_shown(base.name, speaker, left, k, found_left) if self._is_new(kind) else _NOTHING,
                right=_shown(self.other.name, self.other, right, k, found_right) if self._is_new(kind) else _NOTHING,
                texts=1,
            ),
        )


_NOTHING = Shown("", 0, (), (), "")


def _shown(name: str, side: Side, ids: Any, k: int, found: str) -> Shown:
    if isinstance(ids, Refused):
        return Shown(name, 0, (), (), f"raises {ids.why}")
    start = max(0, k - BEFORE)
    some = ids[start : k + AFTER]
    tokens = tuple(str(_attempt(partial(side.token, i))) for i in some)
    return Shown(name, start, tuple(some), tokens, found)


def _around(value: Any, at: int) -> str:
    return f"raises {value.why}" if isinstance(value, Refused) else repr(value[max(0, at - EXCERPT) : at + EXCERPT])


def _one(value: Any, k: int) -> str:
    if isinstance(value, Refused):
        return f"raises {value.why}"
    return f"token {k} at {value[k]}" if k < len(value) else f"no token {k}"


def _first(left: Any, right: Any) -> int:
    """The first place where two sequences differ."""
    if isinstance(left, Refused) or isinstance(right, Refused) or type(left) is not type(right):
        return 0
    return next((k for k, (a, b) in enumerate(zip(left, right)) if a != b), min(len(left), len(right)))


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_bytes(value: Any) -> bool:
    return isinstance(value, bytes)


def _attempt(work: Callable[[], Any]) -> Any:
    """What the work gives, or how it was refused: libraries of others raise what they like, and Rust's panics too."""
    try:
        return work()
    except Exception as error:  # noqa: BLE001
        return Refused(f"{type(error).__name__}: {error}")
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return Refused(f"a panic: {error}")


def _encode(side: Side, texts: Sequence[Text], policy: str) -> list[Any]:
    """The ids of each text; where some text is refused, each is tried alone."""
    rows = _attempt(lambda: side.encode(texts, policy))
    if isinstance(rows, Refused):
        return [_only(_attempt(partial(side.encode, [text], policy))) for text in texts]
    return list(rows)


def _only(rows: Any) -> Any:
    return rows if isinstance(rows, Refused) else rows[0]


def _batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    batch: list[Item] = []
    size = 0
    for item in items:
        batch.append(item)
        size += len(item.text)
        if size >= BATCH_BYTES or len(batch) >= BATCH_TEXTS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _bytes(text: Text) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8")


def _text(data: bytes) -> str | None:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None
