"""How each library is called: one class a peer, with the same names for the same ways.

``worker.py`` makes one object in a fresh process. Its attributes are the ways that its library has; one that is missing
is None there. What is called is the library's own fast way, as far as it is public, with as little of ours around it as
can be. No adapter imports anything before it is made, so that a start can be timed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

Way = Callable[[Any], Any] | None


class Missing(Exception):  # noqa: N818  # it is no error
    """The library has no such vocabulary."""


class Peer:
    """A library with one vocabulary loaded.

    Attributes
    ----------
    list, array, count : str -> list of int, uint32 array, int
    list_bytes, array_bytes : the same from bytes, where the library takes them
    batch : list of str -> arrays
    huge : list of one str -> arrays, on several threads where the library can
    decode_str, decode_bytes : list of int -> str, bytes
    decode_array_str, decode_array_bytes : uint32 array -> str, bytes
    """

    package = ""
    list: Way = None
    array: Way = None
    count: Way = None
    list_bytes: Way = None
    array_bytes: Way = None
    batch: Way = None
    huge: Way = None
    decode_str: Way = None
    decode_bytes: Way = None
    decode_array_str: Way = None
    decode_array_bytes: Way = None

    def __init__(self, folder: Path, vocab: str, threads: int, *, starts: bool = False) -> None:
        """``starts``: loading is what is timed, so the library's own fastest form is what it reads."""
        self.folder, self.vocab, self.threads, self.starts = folder, vocab, threads, starts
        self.ranks = str(folder / f"{vocab}.tiktoken")
        self.json = str(folder / f"{vocab}.json")
        self.load()
        self.huge = self.huge or self.batch

    def load(self) -> None:
        raise NotImplementedError

    def only(self, *vocabularies: str) -> None:
        if self.vocab not in vocabularies:
            raise Missing(f"has only {', '.join(vocabularies)}")


class Bytepair(Peer):
    package = "bytepair"

    def load(self) -> None:
        import bytepair

        tok, threads = bytepair.load(str(self.folder / f"{self.vocab}.bytepair.json")), self.threads
        self.list = self.list_bytes = tok.encode
        self.array = self.array_bytes = tok.encode_array
        self.count = tok.count
        self.batch = lambda texts: tok.encode_batch_array(texts, threads=threads)
        self.decode_str = self.decode_array_str = tok.decode
        self.decode_bytes = self.decode_array_bytes = tok.decode_bytes


class Tiktoken(Peer):
    package = "tiktoken"

    def load(self) -> None:
        import tiktoken

        tok, threads = tiktoken.get_encoding(self.vocab), self.threads
        self.list = tok.encode_ordinary
        self.array = lambda text: tok.encode_to_numpy(text, disallowed_special=())
        self.batch = lambda texts: tok.encode_ordinary_batch(texts, num_threads=threads)
        self.decode_str, self.decode_bytes = tok.decode, tok.decode_bytes


class Tokenizers(Peer):
    package = "tokenizers"

    def load(self) -> None:
        import tokenizers

        tok = tokenizers.Tokenizer.from_file(self.json)
        self.list = lambda text: tok.encode(text, add_special_tokens=False).ids
        self.batch = lambda texts: [row.ids for row in tok.encode_batch_fast(texts, add_special_tokens=False)]
        self.decode_str = lambda ids: tok.decode(ids, skip_special_tokens=False)


class Gigatoken(Peer):
    package = "gigatoken"
    cutters: ClassVar = {"r50k_base": "gpt2", "cl100k_base": "gpt4", "o200k_base": "o200k"}

    def load(self) -> None:
        from gigatoken.gigatoken_rs import BPETokenizer

        tok, many = BPETokenizer.from_tiktoken(self.ranks, self.cutters[self.vocab], {}), self.threads > 1
        self.array = self.array_bytes = tok.encode
        # Its encode_batch_list is no faster on long texts and takes twice as long on short ones.
        self.list = self.list_bytes = lambda text: tok.encode(text).tolist()
        self.batch = lambda texts: tok.encode_batch(texts, parallel=many)
        self.decode_bytes = self.decode_array_bytes = tok.decode


class Fastokens(Peer):
    package = "fastokens"

    def load(self) -> None:
        import numpy as np
        from fastokens import Tokenizer

        if self.starts:
            tok = Tokenizer.from_tiktoken(self.ranks, encoding=self.vocab)
        else:
            tok = Tokenizer.from_file(self.json)
        self.list = lambda text: tok.encode_ordinary(text).ids
        self.array = lambda text: np.frombuffer(tok.encode_batch_flat([text])[0], np.uint32)
        self.batch = lambda texts: [np.frombuffer(part, np.uint32) for part in tok.encode_batch_flat(texts)]
        self.decode_str = tok.decode


class Snaptokens(Peer):
    package = "snaptokens"

    def load(self) -> None:
        import numpy as np
        from snaptokens import Tokenizer

        tok = Tokenizer.from_file(self.json, tkz_cache=self.starts)
        self.list = lambda text: tok.encode(text).ids
        self.array = lambda text: np.frombuffer(tok.encode_batch_flat([text])[0], np.uint32)
        self.batch = lambda texts: [np.frombuffer(part, np.uint32) for part in tok.encode_batch_flat(texts)]
        self.decode_str = tok.decode


class Toktok(Peer):
    package = "toktok-rs"

    def load(self) -> None:
        import toktok

        self.only("cl100k_base", "o200k_base")
        tok, threads = toktok._encoding(self.vocab), self.threads
        self.list, self.count = tok.encode_ordinary, tok.count
        self.array = lambda text: tok.encode_to_numpy(text, disallowed_special=())
        self.list_bytes = tok.encode_bytes
        self.batch = lambda texts: tok.encode_batch_to_numpy(texts, threads)
        self.decode_str, self.decode_bytes = tok.decode, tok.decode_bytes


class Quicktok(Peer):
    package = "quicktok-v1"

    def load(self) -> None:
        import quicktok

        self.only("cl100k_base", "o200k_base")
        tok, threads = quicktok.get_encoding(self.vocab), self.threads
        self.list, self.count = tok.encode_ordinary, tok.count
        self.array = lambda text: tok.encode_batch([text], 1)[0]
        self.batch = lambda texts: tok.encode_batch(texts, threads)
        self.decode_str, self.decode_bytes = tok.decode, tok.decode_bytes


class Tuetoken(Peer):
    package = "tuetoken"

    def load(self) -> None:
        import numpy as np
        from tuetoken import Tokenizer

        tok, threads = Tokenizer(self.json), self.threads
        self.list, self.count = tok.encode_ordinary, tok.count_tokens
        self.array = lambda text: np.frombuffer(tok.encode_to_bytes(text), np.uint32)
        self.batch = lambda texts: tok.encode_ordinary_to_buffer(texts, num_threads=threads)
        self.decode_str, self.decode_array_str = tok.decode, tok.decode_array


class Splintr(Peer):
    package = "splintr-rs"

    def load(self) -> None:
        import numpy as np
        import splintr

        if self.vocab == "r50k_base":
            tok = splintr.Tokenizer(self.ranks, splintr.GPT2_PATTERN, {})
        else:
            tok = splintr.Tokenizer.from_pretrained(self.vocab)
        self.list = tok.encode_ordinary
        self.array = lambda text: np.frombuffer(tok.encode_flat(text), np.uint32)
        self.batch = lambda texts: [np.frombuffer(part, np.uint32) for part in tok.encode_batch_flat(texts)]
        if self.threads > 1:
            self.huge = lambda texts: tok.encode_rayon(texts[0])
        self.decode_str, self.decode_bytes = tok.decode, tok.decode_bytes


class Tokie(Peer):
    package = "tokie"

    def load(self) -> None:
        import tokie

        own = self.folder / f"{self.vocab}.tokie.tkz"  # snaptokens too names its files so
        tok = tokie.Tokenizer.from_file(str(own)) if own.exists() else tokie.Tokenizer.from_json(self.json)
        if self.starts and not own.exists():
            tok.save(str(own))
        self.list = lambda text: tok.encode(text, add_special_tokens=False).ids
        self.list_bytes, self.count = tok.encode_bytes, tok.count_tokens
        self.batch = lambda texts: [row.ids for row in tok.encode_batch(texts, add_special_tokens=False)]
        self.decode_str, self.decode_bytes = tok.decode, tok.decode_bytes


class RsBpe(Peer):
    package = "rs-bpe"

    def load(self) -> None:
        from rs_bpe.bpe import openai

        self.only("cl100k_base", "o200k_base")
        tok = getattr(openai, self.vocab)()
        self.list, self.count, self.decode_str = tok.encode, tok.count, tok.decode
        self.batch = lambda texts: tok.encode_batch(texts)[0]


class BpeOpenai(Peer):
    package = "bpe-openai"

    def load(self) -> None:
        import bpe_openai

        self.only("cl100k_base", "o200k_base")
        tok, threads = bpe_openai.get_encoding(self.vocab), self.threads
        self.list, self.decode_str, self.decode_bytes = tok.encode_ordinary, tok.decode, tok.decode_bytes
        self.array = lambda text: tok.encode_to_numpy(text, disallowed_special=())
        self.batch = lambda texts: tok.encode_ordinary_batch(texts, num_threads=threads)


class Kitoken(Peer):
    package = "kitoken"

    def load(self) -> None:
        from kitoken import Kitoken as Tokenizer

        tok = Tokenizer.from_tokenizers_file(self.json)
        self.list = lambda text: tok.encode(text, False)
        self.batch = lambda texts: tok.encode_all(texts, False)
        self.decode_bytes = tok.decode


class Wordchipper(Peer):
    package = "wordchipper"

    def load(self) -> None:
        from wordchipper.compat import tiktoken

        tok = tiktoken.get_encoding(self.vocab)
        self.list, self.decode_str, self.decode_bytes = tok.encode_ordinary, tok.decode, tok.decode_bytes
        self.array = lambda text: tok.encode_to_numpy(text, disallowed_special=())
        self.batch = tok.encode_ordinary_batch


class Riptoken(Peer):
    package = "riptoken"

    def load(self) -> None:
        import riptoken

        tok = riptoken.get_encoding(self.vocab)
        self.list, self.decode_str, self.decode_bytes = tok.encode_ordinary, tok.decode, tok.decode_bytes
        self.batch = tok.encode_ordinary_batch


OURS = "bytepair"
REFERENCE = "tiktoken"
ALWAYS = ("gigatoken", "fastokens")
"""A row without these two does not count."""
PEERS: dict[str, type[Peer]] = {
    peer.package: peer
    for peer in (
        *(Bytepair, Tiktoken, Tokenizers, Gigatoken, Fastokens, Snaptokens, Toktok, Quicktok, Tuetoken, Splintr),
        *(Tokie, RsBpe, BpeOpenai, Kitoken, Wordchipper, Riptoken),
    )
}


def environment(folder: Path, threads: int) -> dict[str, str]:
    """The environment of a peer's process: as many threads, and its files in ``folder``, byte code among them: what is
    installed has its own, and ours may run from its sources."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {
        **inherited,
        "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
        "RAYON_NUM_THREADS": str(threads),
        "TOKENIZERS_PARALLELISM": "true" if threads > 1 else "false",
        "OMP_NUM_THREADS": str(threads),
        "TIKTOKEN_CACHE_DIR": str(folder / "tiktoken"),
        "WORDCHIPPER_CACHE_DIR": str(folder / "wordchipper"),
        "WORDCHIPPER_DATA_DIR": str(folder / "wordchipper"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "HF_HUB_OFFLINE": "1",
    }


def as_ids(result: Any) -> Any:
    """What any of the ways gives, one text's or a batch's, as one uint32 array."""
    import numpy as np

    if isinstance(result, dict):
        result = result["data"]
    elif hasattr(result, "offsets") and hasattr(result, "ids"):
        result = result.ids
    elif type(result).__module__.startswith("awkward"):
        import awkward

        result = awkward.flatten(result)
    elif isinstance(result, (tuple, list)) and len(result) and not isinstance(result[0], int):
        # A flat batch is ids and offsets; else a row for each text.
        flat = len(result) == 2 and isinstance(result[0], np.ndarray) and _are_offsets(*result)
        result = result[0] if flat else np.concatenate([np.asarray(row, dtype=np.uint32) for row in result])
    return np.asarray(result, dtype=np.uint32)


def _are_offsets(ids: Any, offsets: Any) -> bool:
    import numpy as np

    if offsets.dtype == np.uint32:  # read from a buffer of bytes: 64-bit numbers, low halves first
        offsets = offsets.view(np.uint64) if len(offsets) % 2 == 0 else offsets
    return len(offsets) > 1 and int(offsets[0]) == 0 and int(offsets[-1]) == len(ids)
