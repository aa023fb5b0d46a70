r"""CLIP's ``bpe_simple_vocab_16e6.txt.gz``: merges over bytes in letters, with the end-of-word mark fused to the last.

Ids are the 256 bytes, printable ones first; the same with ``</w>``; the first 48,894 merges; ``<|startoftext|>`` and
``<|endoftext|>``. The file has more merges than CLIP uses; those after that are passed over, as its owner does.

Before it cuts, CLIP's own program repairs broken characters (``ftfy``), opens HTML entities twice, makes one space of
white space, and takes small letters. The last two are part of the tokenizer here; the first two are not, since ids must
not depend on what is installed. Loading says so; :func:`bytepair.compat.clip.clean` does all of it.

Names of special tokens in a text are text unless ``special=`` says otherwise, while CLIP's pattern always takes them
for the tokens where it comes upon them.
"""

from __future__ import annotations

import gzip
from itertools import islice

from .._check import brief
from .._notices import notice
from ..errors import BytepairError, FormatError
from ..pattern import Pattern
from ..pipeline import output
from ..pipeline.around import Around
from ..pipeline.letters import from_letters, to_letters
from ..pipeline.normalise import FinalSigma, Lowercase, Normaliser, Replace
from ..pipeline.output import ByteLevel, Output
from ..tokenizer import Tokenizer
from ..vocabulary import Alphabet, assemble, byte_order
from .source import Options, Source, Written

NAME = "clip"
SPECIALS = ("<|startoftext|>", "<|endoftext|>")
MERGES = 49152 - 256 - 2
"""How many merges its owner takes: ``merges[1 : 49152 - 256 - 2 + 1]`` of the lines."""

_HEADER = '"bpe_simple_vocab_16e6.txt#version: 0.2'
_MARK = "</w>"


# The four separators are white space to the owner's `re`, which cleans, and not to its `regex`, which cuts. U+0345 is a
# letter where case is ignored and only there, so that the owner's pattern, which ignores it, never matches it.
AROUND = Around(
    normaliser=Normaliser(
        (
            *(Replace(character, " ") for character in "\x1c\x1d\x1e\x1f"),
            FinalSigma(),
            Lowercase(),
            Replace("\u0345", " "),
        )
    ),
    output=Output((ByteLevel(), output.Replace("</w>", None, " "))),
    letters=True,
)
PATTERN = Pattern(r"(?i:<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+)")
ALPHABET = Alphabet("bytes", "fused")


def recognises(source: Source) -> bool:
    return source.head.startswith(_HEADER.encode())


def read(source: Source, options: Options) -> Tokenizer:
    """CLIP's tokenizer, or one with fewer merges.

    Raises
    ------
    FormatError
        A line is wrong, or the merges make no vocabulary.
    """
    options.refuse(source)
    pairs = _pairs(source)
    last = 512 + len(pairs)
    try:
        vocabulary = assemble(
            ALPHABET,
            {name: last + k for k, name in enumerate(SPECIALS)},
            "bytes-first",
            "gpt2",
            {"bos": SPECIALS[0], "eos": SPECIALS[1], **(options.roles or {})},
            pairs=pairs,
        )
    except BytepairError as error:
        raise source.fail(f"{error}") from error
    notice(
        f"{source.name}: CLIP repairs broken characters (ftfy) and opens HTML entities before it encodes, and this "
        "tokenizer does not; bytepair.compat.clip.clean(text) does, where a text needs it",
        stacklevel=4,
    )
    return Tokenizer(vocabulary, PATTERN, None, AROUND)


def _pairs(source: Source) -> list[tuple[int, int]]:
    ids: dict[tuple[bytes, bool], int] = {}
    for k, byte in enumerate(byte_order("gpt2")):
        ids[bytes([byte]), False] = k
        ids[bytes([byte]), True] = 256 + k
    pairs: list[tuple[int, int]] = []
    for number, line in islice(source.text_lines(), 1, 1 + MERGES):
        parts = line.split()
        if len(parts) != 2:
            raise source.fail(f", line {number}: {brief(line)} should be two tokens with a space between")
        pair, made, marked = [], b"", False
        for part in parts:
            marked = part.endswith(_MARK) and part != _MARK
            data = from_letters(part.removesuffix(_MARK) if marked else part)
            if data is None:
                raise source.fail(f", line {number}: {brief(part)} is not written in letters for bytes")
            if (data, marked) not in ids:
                raise source.fail(
                    f", line {number}: {brief(part)} is neither a byte nor made by a line before; the file is damaged"
                )
            pair.append(ids[data, marked])
            made += data
        if (made, marked) in ids:
            raise source.fail(f", line {number}: {brief(''.join(parts))} is made by a line before; take one out")
        ids[made, marked] = 512 + len(pairs)
        pairs.append((pair[0], pair[1]))
    return pairs


def write(tokenizer: Tokenizer) -> Written:
    """The file, packed, of a tokenizer of CLIP's shape."""
    v = tokenizer._vocabulary
    n = len(v.merges)
    specials = {name: 512 + n + k for k, name in enumerate(SPECIALS)}
    alike = (
        (v.alphabet == ALPHABET, "its alphabet is not bytes with a fused end-of-word mark"),
        (v.layout == "bytes-first" and v.byte_order == "gpt2", "its ids do not begin with the bytes in GPT-2's order"),
        (dict(v.specials) == specials, f"its special tokens are not {SPECIALS[0]} and {SPECIALS[1]}, after the merges"),
        (tokenizer.pattern == PATTERN and tokenizer._around == AROUND, "it cuts or cleans a text in another way"),
        (n <= MERGES, f"it has {n} merges, and CLIP takes {MERGES}"),
    )
    for fits, reason in alike:
        if not fits:
            raise FormatError(f'cannot be saved with format="{NAME}": {reason}; save it with format="bytepair"')
    texts = {i: to_letters(text) + _MARK * (i in v.marked) for i, text in v.tokens.items()}
    lines = [f"{texts[left]} {texts[right]}" for left, right, _ in v.merges]
    # No line end after the last line: the owner would take what follows for a merge.
    return Written({"": gzip.compress("\n".join([_HEADER, *lines]).encode(), mtime=0)})
