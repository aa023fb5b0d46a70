"""What a comparison found: frozen, as text for a person and as JSON for a machine."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

__all__ = ["Certificate", "Compared", "Difference", "FileFacts", "Shown", "SideFacts"]

Kind = Literal["ids", "decoded text", "offsets"]


@dataclass(frozen=True)
class FileFacts:
    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class SideFacts:
    """One side: who ran what.

    ``policies`` are the ways in which names of special tokens were taken: ``text``, ``all``, and ``framed``, which is
    ``all`` with what the file's template puts around a text. ``kinds`` is what of it was compared. ``fingerprint`` is a
    bytepair tokenizer's.
    """

    name: str
    library: str
    version: str
    files: tuple[FileFacts, ...]
    policies: tuple[str, ...]
    kinds: tuple[Kind, ...]
    fingerprint: str | None = None


@dataclass(frozen=True)
class Compared:
    """How much of one source was compared: ``tokens`` as the first side has them, each text counted once."""

    source: str
    texts: int
    bytes: int
    tokens: int
    with_offsets: int


@dataclass(frozen=True)
class Shown:
    """What one side gave around a difference: the ids from number ``first`` on, and the tokens that they are."""

    side: str
    first: int
    ids: tuple[int | str, ...]
    tokens: tuple[str, ...]
    found: str

    def __str__(self) -> str:
        dots = "... " if self.first else ""
        ids = f"{dots}{' '.join(map(str, self.ids))}"
        parts = [self.found, ids and f"ids {ids}", " | ".join(map(repr, self.tokens))]
        return "; ".join(part for part in parts if part) or "nothing"


@dataclass(frozen=True)
class Difference:
    """The first difference of its kind between two sides, and in how many texts there is one."""

    kind: Kind
    source: str
    text: str
    policy: str
    character: int
    token: int
    line: int | None
    excerpt: str
    left: Shown
    right: Shown
    texts: int

    def __str__(self) -> str:
        where = f"line {self.line}, " if self.line is not None else ""
        place = f"{self.source}, {self.text}, {where}character {self.character} (token {self.token})"
        width = max(len(self.left.side), len(self.right.side))
        more = f"\n  and in {self.texts - 1:,} more of the texts" if self.texts > 1 else ""
        return (
            f"first difference in {self.kind}: {place}, with special names as {self.policy}, at {self.excerpt!r}\n"
            f"  {self.left.side:<{width}}  {self.left}\n"
            f"  {self.right.side:<{width}}  {self.right}{more}"
        )


@dataclass(frozen=True)
class Certificate:
    """What two sides, or more, were asked, and whether they said the same.

    Attributes
    ----------
    sides : SideFacts
        The first is the one that all the others were compared with.
    compared : Compared
        For each source of texts, how much of it.
    differences : Difference
        The first of each kind for each other side; none where all was equal.
    without_owner : str
        Why no library of a format's owner took part, or one was missing; "" where they did.
    notes : str
        What else a reader should know, such as what a file did not say itself.
    """

    sides: tuple[SideFacts, ...]
    compared: tuple[Compared, ...]
    corpus: tuple[FileFacts, ...]
    differences: tuple[Difference, ...]
    without_owner: str
    notes: tuple[str, ...]
    seed: int
    torture_sha256: str
    bytepair: str
    python: str
    date: str

    @property
    def equal(self) -> bool:
        """Whether no difference was found."""
        return not self.differences

    @property
    def with_owner(self) -> bool:
        """Whether the library of every format's owner took part that can."""
        return not self.without_owner

    def to_json(self) -> dict[str, Any]:
        """All of it as plain dicts and lists."""
        return {"equal": self.equal, "with_owner": self.with_owner, **asdict(self)}

    def __str__(self) -> str:
        lines = []
        if self.without_owner:
            lines.append(f"made without the owner's library: {self.without_owner}")
        sides = "the two sides" if len(self.sides) == 2 else f"all {len(self.sides)} sides"
        lines.append(
            f"equal: {sides} gave the same in every text" if self.equal else "different: the sides do not give the same"
        )
        lines += [str(difference) for difference in self.differences]
        lines += ["", *self._facts()]
        return "\n".join(lines)

    def _facts(self) -> list[str]:
        rows: list[tuple[str, str]] = []
        for number, side in enumerate(self.sides):
            rows.append(("sides" if not number else "", side.name))
            rows.append(("", f"  {', '.join(side.kinds)}; special names as {', '.join(side.policies)}"))
            rows += [("", f"  sha256 {file.sha256}  {file.name}") for file in side.files]
            if side.fingerprint is not None:
                rows.append(("", f"  fingerprint {side.fingerprint}"))
        for number, row in enumerate(self.compared):
            offsets = f"; offsets of {row.with_offsets:,}" if row.with_offsets else ""
            said = f"{row.source}: {row.texts:,} texts, {row.bytes:,} bytes, {row.tokens:,} tokens{offsets}"
            rows.append(("compared" if not number else "", said))
        for number, file in enumerate(self.corpus):
            rows.append(("corpus" if not number else "", f"sha256 {file.sha256}  {file.name}, {file.bytes:,} bytes"))
        rows.append(("torture", f"sha256 {self.torture_sha256}"))
        rows.append(("seed", str(self.seed)))
        rows.append(("made by", f"bytepair {self.bytepair}, Python {self.python}, {self.date}"))
        rows += [("note", note) for note in self.notes]
        return [f"{name:<9} {said}" for name, said in rows]
