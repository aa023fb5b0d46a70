"""What can be measured: a tokenizer of ours, and three baselines that need no merges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import BytepairError, UnknownTokenError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..tokenizer import Tokenizer

BASELINES = ("bytes", "characters", "words")


class Subject:
    """One of the things that are compared.

    Attributes
    ----------
    name : str
    vocab_size : int
    n_rows : int
        The highest id + 1.
    """

    name: str
    vocab_size: int
    n_rows: int

    def counts(self, documents: Sequence[bytes]) -> NDArray[np.int64]:
        """How often each id comes, shape (n_rows,)."""
        raise NotImplementedError

    def ordinary(self) -> list[int] | slice:
        """The ids that are no specials, as an index of ``counts``."""
        return slice(None)

    def single_bytes(self, counts: NDArray[np.int64]) -> int:
        """How many of the tokens are one byte."""
        raise NotImplementedError

    def whole(self, words: Sequence[str]) -> list[bool]:
        """Whether each word is one token, as it stands in a text."""
        raise NotImplementedError

    def unknown(self, words: Sequence[str]) -> list[bool] | None:  # noqa: ARG002
        """Whether each word is unknown; None where nothing can be."""
        return None


class Ours(Subject):
    def __init__(self, tokenizer: Tokenizer, name: str) -> None:
        self.tokenizer, self.name = tokenizer, name
        self.vocab_size, self.n_rows = tokenizer.vocab_size, max(tokenizer.n_rows, 1)

    def ordinary(self) -> list[int] | slice:
        return list(self.tokenizer._vocabulary.tokens)

    def counts(self, documents: Sequence[bytes]) -> NDArray[np.int64]:
        import numpy as np

        counts = np.zeros(self.n_rows, dtype=np.int64)
        for start in range(0, len(documents), 1024):
            rows = self.tokenizer.encode_batch_array(documents[start : start + 1024])
            counts += np.bincount(rows.ids, minlength=self.n_rows)
        return counts

    def single_bytes(self, counts: NDArray[np.int64]) -> int:
        one = [i for i, text in self.tokenizer._vocabulary.tokens.items() if len(text) == 1]
        return int(counts[one].sum())

    def whole(self, words: Sequence[str]) -> list[bool]:
        import numpy as np

        space = "" if not words or self._begins_words(words[0]) else " "
        rows = self.tokenizer.encode_batch_array([space + word for word in words], errors="surrogateescape")
        sizes = np.diff(rows.offsets)
        found: list[bool] = (sizes == 1).tolist()
        return found

    def _begins_words(self, word: str) -> bool:
        """Whether a word needs no space before it to be what it is within a text.

        In the classic scheme white space is no part of any token; SentencePiece puts a space before a text itself.
        """
        tok = self.tokenizer
        if tok._vocabulary.alphabet.end_of_word is not None:
            return True
        try:
            pretokens = tok.explain(word, errors="surrogateescape").pretokens
        except UnknownTokenError:
            return False
        return bool(pretokens) and pretokens[0].data.startswith((b" ", b"\xe2\x96\x81"))


class Bytes(Subject):
    """A token for each byte."""

    name, vocab_size, n_rows = "bytes", 256, 256

    def counts(self, documents: Sequence[bytes]) -> NDArray[np.int64]:
        import numpy as np

        counts = np.zeros(256, dtype=np.int64)
        for document in documents:
            counts += np.bincount(np.frombuffer(document, dtype=np.uint8), minlength=256)
        return counts

    def single_bytes(self, counts: NDArray[np.int64]) -> int:
        return int(counts.sum())

    def whole(self, words: Sequence[str]) -> list[bool]:
        return [len(word.encode("utf-8", "surrogateescape")) == 1 for word in words]


class Listed(Subject):
    """A baseline whose ids are a list of strings, and one more for what is not in it."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        self.name = name
        self.ids = {text: i for i, text in enumerate(dict.fromkeys(known))}
        self.n_rows = self.vocab_size = len(self.ids) + 1

    def pieces(self, document: str) -> Iterable[str]:
        raise NotImplementedError

    def counts(self, documents: Sequence[bytes]) -> NDArray[np.int64]:
        import numpy as np

        counts = np.zeros(self.n_rows, dtype=np.int64)
        unknown = self.n_rows - 1
        for document in documents:
            for piece, times in Counter(self.pieces(_text(document))).items():
                counts[self.ids.get(piece, unknown)] += times
        return counts

    def single_bytes(self, counts: NDArray[np.int64]) -> int:
        return int(sum(counts[i] for text, i in self.ids.items() if len(text.encode("utf-8", "surrogateescape")) == 1))


class Characters(Listed):
    """A token for each character of the text that it was made from."""

    def __init__(self, documents: Iterable[bytes]) -> None:
        super().__init__("characters", sorted({c for document in documents for c in _text(document)}))

    def pieces(self, document: str) -> Iterable[str]:
        return document

    def whole(self, words: Sequence[str]) -> list[bool]:
        return [len(word) == 1 and word in self.ids for word in words]


class Words(Listed):
    """A token for each of the most frequent words of the text that it was made from; white space is dropped."""

    def __init__(self, documents: Iterable[bytes], limit: int | None) -> None:
        counts: Counter[str] = Counter()
        for document in documents:
            counts.update(_text(document).split())
        ordered = sorted(counts, key=lambda word: (-counts[word], word))
        super().__init__("words", ordered if limit is None else ordered[: limit - 1])

    def pieces(self, document: str) -> Iterable[str]:
        return document.split()

    def whole(self, words: Sequence[str]) -> list[bool]:
        return [word in self.ids for word in words]

    def unknown(self, words: Sequence[str]) -> list[bool]:
        return [word not in self.ids for word in words]


def baseline(name: str, documents: Sequence[bytes], limit: int | None) -> Subject:
    """A baseline that is made from some documents; ``limit`` ids at most for ``words``."""
    if name == "bytes":
        return Bytes()
    if name == "characters":
        return Characters(documents)
    if name == "words":
        return Words(documents, limit)
    raise BytepairError(f"there is no baseline {name!r}; there are {', '.join(BASELINES)}")


def _text(document: bytes) -> str:
    return document.decode("utf-8", "surrogateescape")


def words_of(documents: Iterable[bytes]) -> Counter[str]:
    """The words of some documents and how often each comes."""
    found: Counter[str] = Counter()
    for document in documents:
        found.update(_text(document).split())
    return found


def characters_in(documents: Iterable[bytes]) -> int:
    return sum(len(_text(document)) for document in documents)


def held(corpus: Any) -> list[bytes]:
    """All documents of a corpus: they are read once, and looked at by each subject."""
    from ..corpus.readers import documents

    return [b"".join(document.open()) for document in documents(corpus)]
