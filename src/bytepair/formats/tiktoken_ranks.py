"""tiktoken's rank files: on each line a token in base64, a space and its rank, which is its id.

Such a file has neither the pattern nor the special tokens; those stand in its owner's program. So they are the
caller's to give, unless the file's hash is one we know.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING

from .._check import brief
from ..errors import BytepairError, FormatError
from ..tokenizer import Tokenizer
from ..vocabulary import MAX_ID
from ._known import known
from ._rules import lost_roles, not_plain_bytes, ranks_of
from .source import Options, Source, Written

if TYPE_CHECKING:
    from ..pattern import Pattern

NAME = "tiktoken"

_LINE = re.compile(rb"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4}) [0-9]+\r?")


def recognises(source: Source) -> bool:
    """Most of the first lines are base64 and a number; one of them may be damaged."""
    if source.is_json:
        return False
    lines = [line for line in source.head.split(b"\n")[:20] if line.strip()]
    if len(source.head) < len(source.data) and len(lines) > 1:
        lines = lines[:-1]  # it may be cut
    return sum(_LINE.fullmatch(line) is not None for line in lines) * 2 > len(lines)


def read(source: Source, options: Options) -> Tokenizer:
    """The tokenizer of a rank file.

    Raises
    ------
    FormatError
        The pattern is missing, a line is wrong, or a single byte has no rank.
    """
    if (whole := known(source, options)) is not None:
        return whole
    ranks = _ranks(source)
    if options.pattern is None:
        raise source.fail(
            "a rank file does not say how text is cut, nor which special tokens there are, and its content is none "
            'that is known; give pattern= (such as pattern="cl100k", or the regex of its owner) and specials= (name -> '
            "id, or () for none)"
        )
    try:
        return Tokenizer.from_ranks(
            ranks,
            pattern=options.pattern,
            specials=() if options.specials is None else options.specials,
            roles=options.roles,
        )
    except BytepairError as error:
        raise source.fail(f"{error}") from error


def _ranks(source: Source) -> dict[bytes, int]:
    ranks: dict[bytes, int] = {}
    lines: dict[int, int] = {}  # rank -> the line that has it
    for number, line in source.lines():
        if not line:
            continue
        token, _, rank = line.partition(b" ")
        if not rank.isdigit() or len(rank) > 9 or int(rank) > MAX_ID:
            raise source.fail(
                f", line {number}: {brief(line)} should be a token in base64, a space and its rank, a whole number up "
                f"to {MAX_ID}; the file may be cut off"
            )
        try:
            text = base64.b64decode(token, validate=True)
        except binascii.Error as error:
            raise source.fail(
                f", line {number}: {brief(token)} is no base64 ({error}); the file may be damaged"
            ) from None
        i = int(rank)
        if not text:
            raise source.fail(f", line {number}: the token of rank {i} is empty; take the line out")
        if text in ranks:
            raise source.fail(
                f", line {number}: the token {brief(text)} is on line {lines[ranks[text]]} already; take one out"
            )
        if i in lines:
            raise source.fail(f", line {number}: the rank {i} is on line {lines[i]} already; ranks are unique")
        ranks[text] = i
        lines[i] = number
    return ranks


def write(tokenizer: Tokenizer) -> Written:
    """The ranks of a tokenizer under the rank rule, or under the merge rule where both give the same ids."""
    if (reason := not_plain_bytes(tokenizer)) is not None:
        raise FormatError(f'cannot be saved with format="{NAME}": {reason}; save it with format="bytepair"')
    try:
        ranks = ranks_of(tokenizer)
    except FormatError as error:
        raise FormatError(f'cannot be saved with format="{NAME}": {error}; save it with format="bytepair"') from None
    rows = sorted((i, text) for text, i in ranks.items())
    data = b"".join(b"%s %d\n" % (base64.b64encode(text), i) for i, text in rows)
    return Written({"": data}, tuple(_losses(tokenizer)))


def _losses(tokenizer: Tokenizer) -> list[str]:
    v, around, pattern = tokenizer._vocabulary, tokenizer._around, tokenizer.pattern
    losses = [f"the pattern is not in the file; give tiktoken pat_str={pattern.regex!r}"]
    if pattern.then is not None or pattern.drops:
        losses[0] = (
            f"the pattern is not in the file, and tiktoken has none like it (it cuts in {len(pattern.stages)} stages"
            f"{', and leaves out text' if pattern.drops else ''}): {_told(pattern)}"
        )
    elif pattern.dialect != "tiktoken":
        losses[0] += f", which is written for another engine ({pattern.dialect})"
    named = dict(sorted({**v.added, **v.specials}.items(), key=lambda item: item[1]))
    if named:
        losses.append(f"the special tokens are not in the file; give tiktoken special_tokens={named!r}")
    if v.added:
        losses.append(f"that {', '.join(map(repr, v.added))} are always matched is not in the file")
    if flags := sorted(name for name, asked in v.flags.items() if asked - {"normalized"}):
        losses.append(f"what {', '.join(map(repr, flags))} ask for beside them is not in the file")
    losses += lost_roles(tokenizer)
    if around.template is not None or around.padding is not None or around.truncation is not None:
        losses.append("template, padding and truncation are not in the file")
    if not around.joins_bytes:
        losses.append("its own way to put tokens together is not in the file")
    return losses


def _told(pattern: Pattern) -> str:
    return ", then ".join(repr(regex) for regex, _ in pattern.stages)
