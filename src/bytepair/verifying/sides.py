"""A side of a comparison: one way to run a tokenizer. Ours is here, those of the formats' owners are in ``owners``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer

__all__ = ["Ours", "Side"]

Text = str | bytes
Ids = list[Any]
"""Ids, or (``speaks_ids`` False) tokens as strings."""


class Side:
    """What a comparison asks of a side. What a side cannot tell it answers with None, and is not compared.

    Attributes
    ----------
    name : str
        What reports call it.
    library, version : str
    way : str
        How the library is used where that is not by its one usual call.
    policies : tuple of str
        The ways it can take the names of special tokens in a text: ``"text"``, ``"all"``, ``"framed"`` (``"all"`` and
        what the file's template puts around a text).
    takes_bytes : bool
        Whether it encodes bytes that are no UTF-8; else they are U+FFFD for it.
    speaks_ids : bool
        False where its library gives no ids but strings.
    hides : frozenset of int
        Ids that its ``decode`` leaves out.
    """

    name: str = "a side"
    library: str = ""
    version: str = ""
    way: str = ""
    policies: tuple[str, ...] = ("text", "all")
    takes_bytes: bool = False
    speaks_ids: bool = True
    hides: frozenset[int] = frozenset()

    def encode(self, texts: Sequence[Text], policy: str) -> list[Ids]:
        """The ids of each text."""
        raise NotImplementedError

    def decode(self, ids: Ids) -> str | None:  # noqa: ARG002
        """The text of ids."""
        return None

    def decode_bytes(self, ids: Ids) -> bytes | None:  # noqa: ARG002
        """The exact bytes of ids, where a side knows them."""
        return None

    def spans(self, text: Text, policy: str) -> list[tuple[int, int]] | None:  # noqa: ARG002
        """Where each token lies in the text: (start, end) in characters."""
        return None

    def starts(self, ids: Ids) -> list[int] | None:  # noqa: ARG002
        """In which character of their text ids begin."""
        return None

    def token(self, id: Any) -> str:
        """An id for a person to read."""
        return self.decode([id]) or ""


class Ours(Side):
    """A tokenizer of this package."""

    takes_bytes = True

    def __init__(self, tokenizer: Tokenizer, name: str, version: str, framed: bool = False) -> None:
        self.tokenizer = tokenizer
        self.name, self.library, self.version = name, "bytepair", version
        template = tokenizer._around.template
        self.frame = {
            "add_bos": template is not None and bool(template.prefix),
            "add_eos": template is not None and bool(template.suffix),
        }
        if framed or any(self.frame.values()):
            self.policies = ("text", "all", "framed")

    def _options(self, policy: str) -> dict[str, Any]:
        options: dict[str, Any] = {"special": "text" if policy == "text" else "all"}
        return {**options, **self.frame} if policy == "framed" else options

    def encode(self, texts: Sequence[Text], policy: str) -> list[Ids]:
        return self.tokenizer.encode_batch(texts, **self._options(policy))

    def decode(self, ids: Ids) -> str:
        return self.tokenizer.decode(ids)

    def decode_bytes(self, ids: Ids) -> bytes:
        return self.tokenizer.decode_bytes(ids)

    def spans(self, text: Text, policy: str) -> list[tuple[int, int]]:
        return self.tokenizer.encode_with_offsets(text, **self._options(policy))[1]

    def starts(self, ids: Ids) -> list[int]:
        return self.tokenizer.decode_with_offsets(ids)[1]

    def token(self, id: Any) -> str:
        return self.tokenizer.token_str(id)

    def names(self) -> list[str]:
        """The names of special and added tokens, by id."""
        v = self.tokenizer._vocabulary
        return [name for name, _ in sorted({**v.added, **v.specials}.items(), key=lambda item: item[1])]

    def strings(self, ids: Ids, separator: str) -> list[str]:
        """Tokens as a library that has no ids writes them: one that ends no word has ``separator`` behind it.

        A character that is bytes here, since training never saw it, is one token there.
        """
        v = self.tokenizer._vocabulary
        out: list[str] = []
        unseen = b""
        for i in ids:
            text = v.tokens[i]
            if i in v.fallback:
                unseen += text
                continue
            out += [character + separator for character in unseen.decode("utf-8", "replace")]
            unseen = b""
            if i not in v.marked:
                out.append(text.decode("utf-8") + separator)
            elif text:
                out.append(text.decode("utf-8"))
            elif out:  # the mark alone ends the word
                out[-1] = out[-1].removesuffix(separator)
        return [*out, *(character + separator for character in unseen.decode("utf-8", "replace"))]
