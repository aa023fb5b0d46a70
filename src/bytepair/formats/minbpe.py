r"""minbpe's ``.model`` files: a line with the version, the pattern, the special tokens, then merges as pairs of ids.

Ids are bytes by value, then merges in order; special tokens have the ids that the file gives them. An empty pattern is
minbpe's BasicTokenizer, where merges may cross anything. The pattern is a regex of Python's ``regex`` module, and what
it leaves unmatched is left out, as the owner does.

minbpe's own ``RegexTokenizer.load`` keeps the pattern it was made with, whatever the file says: make it with the
file's, ``RegexTokenizer(pattern)``.
"""

from __future__ import annotations

import re
from itertools import islice

from .._check import brief
from ..errors import BytepairError, FormatError
from ..pattern import Pattern, resolve
from ..pattern.charsets import ALL, CharSet
from ..pattern.nodes import Alternation, Atomic, Concat, Group, Node, Repeat, one_set
from ..pattern.syntax import parse
from ..tokenizer import Tokenizer
from ..vocabulary import Alphabet, assemble
from ._rules import lost_roles, merges_of, not_plain_bytes, unreached
from .source import Options, Source, Written

NAME = "minbpe"
_MAGIC = b"minbpe v"
_FIRST = "minbpe v1"

Merge = tuple[int, int, int]


def recognises(source: Source) -> bool:
    return source.head.startswith(_MAGIC)


# ---- reading ----


def read(source: Source, options: Options) -> Tokenizer:
    """The tokenizer in a file.

    Raises
    ------
    FormatError
        A line is wrong, or the pattern means something that we do not have.
    """
    options.refuse(source)
    lines = source.text_lines()
    head = [line.strip() for _, line in islice(lines, 3)]
    if head[0] != _FIRST:
        raise source.fail(f", line 1: the version is {brief(head[0])}, and {_FIRST!r} is what can be read")
    if len(head) < 3:
        raise source.fail(f", line {len(head)}: the file ends before the number of special tokens; it is cut off")
    n = _number(source, 3, head[2], "the number of special tokens")
    specials: dict[str, int] = {}
    for number, line in islice(lines, n):
        parts = line.split()
        if len(parts) != 2:
            raise source.fail(f", line {number}: {brief(line)} should be a special token, a space and its id")
        if parts[0] in specials:
            raise source.fail(f", line {number}: the special token {brief(parts[0])} is there already; take one out")
        specials[parts[0]] = _number(source, number, parts[1], "the id of a special token")
    if len(specials) < n:
        raise source.fail(f", line {3 + len(specials)}: the file ends before its {n} special tokens do; it is cut off")
    pairs: dict[tuple[int, int], int] = {}
    for number, line in lines:
        parts = line.split()
        if len(parts) != 2:
            raise source.fail(f", line {number}: {brief(line)} should be two ids with a space between")
        left, right = (_number(source, number, part, "an id") for part in parts)
        new = 256 + len(pairs)
        if max(left, right) >= new:
            raise source.fail(
                f", line {number}: the id {max(left, right)} is not there yet; merges so far end at {new - 1}"
            )
        if (left, right) in pairs:
            raise source.fail(
                f", line {number}: the merge {line} is on line {pairs[left, right]} already; take one out"
            )
        pairs[left, right] = number
    try:
        vocabulary = assemble(Alphabet(), specials, "bytes-first", "raw", options.roles, pairs=pairs)
        pattern = _pattern(head[1])
    except BytepairError as error:
        raise source.fail(f"{error}") from error
    return Tokenizer(vocabulary, pattern)


def _number(source: Source, line: int, text: str, what: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 8):
        raise source.fail(
            f", line {line}: {what} is {brief(text)}, and should be a whole number; the file may be damaged"
        )
    return int(text)


_ESCAPE = re.compile(
    r"\\(?:[sSdDwWbBAnrtfv0]|[pP](?:\{|[A-Z])|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[^A-Za-z0-9])"
)


def _pattern(regex: str) -> Pattern:
    """The pattern that the ``regex`` module takes a text for: our tiktoken dialect, but for what is rewritten here."""
    if not regex:
        return resolve("none")
    pattern = Pattern(_translated(regex, end=r"(?=\n?\z)", last=r"\z"))
    # Our pretokens have the gaps too, minbpe's have not; most patterns have none.
    return pattern if _leaves_no_gap(pattern) else Pattern(pattern.regex, drop="gaps")


def _translated(regex: str, end: str, last: str) -> str:
    """A regex with ``$`` outside of classes as ``end``, ``\\Z`` as ``last``, and literals in classes escaped."""
    if re.search(r"\(\?[a-zA-Z]*[mLVx]", regex) or re.search(r"(?<!\\)\((?!\?)", regex) or "(?P" in regex:
        raise FormatError(
            f"the pattern {brief(regex)} has a capturing group, or a flag such as (?m), (?x) or (?V1), with which "
            "minbpe cuts in ways of its own; write groups as (?:...)"
        )
    out = []
    at, in_class = 0, 0
    while at < len(regex):
        c = regex[at]
        if c == "\\":
            if regex[at : at + 2] == r"\Z" and not in_class:
                out.append(last)
                at += 2
                continue
            found = _ESCAPE.match(regex, at)
            if found is None:
                raise FormatError(f"the pattern has {regex[at : at + 2]!r} at {at}, which is not supported here")
            out.append(found[0])
            at = found.end()
            continue
        if not in_class and c == "[":
            in_class = at + 1 + (regex[at + 1 : at + 2] == "^")
            out.append(regex[at:in_class])
            at = in_class
            continue
        if in_class and c == "]" and at > in_class:
            in_class = 0
        elif in_class and c == "[" and regex[at + 1 : at + 2] == ":":
            raise FormatError(f"the pattern has a POSIX class at {at}, which is not supported here; use \\p{{..}}")
        elif in_class and (c in "[]" or regex[at : at + 2] in ("&&", "~~", "--")):
            out.append("\\")  # a literal here, an operator there
        elif c == "$" and not in_class:
            c = end
        out.append(c)
        at += 1
    return "".join(out)


def _leaves_no_gap(pattern: Pattern) -> bool:
    """Whether some option matches at any character, whatever is around it; False where that is not plain to see."""
    if pattern.name is not None:
        return True
    tree = parse(pattern.regex, pattern.dialect)
    options = tree.options if isinstance(tree, Alternation) else (tree,)
    return not ~CharSet.union([_begins(option) for option in options]) & ALL


def _begins(node: Node) -> CharSet:
    """Characters at which a node surely matches, whatever follows; not all of them."""
    if (one := one_set(node)) is not None:
        return one
    if isinstance(node, (Group, Atomic)):
        return _begins(node.body)
    if isinstance(node, Alternation):
        return CharSet.union([_begins(option) for option in node.options])
    if isinstance(node, Repeat):
        return _begins(node.body) if node.low == 1 else CharSet()
    if isinstance(node, Concat) and node.items:
        # Of `a? b c*` what begins b: if `a` takes a character, it can give it back or does not want it.
        *before, last = _required(node)
        if before or last is None:
            return CharSet()
        place = node.items.index(last)
        found = _begins(last)
        for item in node.items[:place]:
            taken = one_set(item.body) if isinstance(item, Repeat) else None
            if taken is None:
                return CharSet()
            if isinstance(item, Repeat) and item.mode == "possessive":
                found = found & ~taken
        return found
    return CharSet()


def _required(node: Concat) -> list[Node | None]:
    """The items that are not optional."""
    found: list[Node | None] = [item for item in node.items if not (isinstance(item, Repeat) and item.low == 0)]
    return found or [None]


# ---- writing ----


def write(tokenizer: Tokenizer) -> Written:
    """The file of a tokenizer whose ids are bytes by value and then merges."""
    try:
        merges, pattern = _merges(tokenizer), _written(tokenizer.pattern)
    except FormatError as error:
        raise FormatError(f'cannot be saved with format="{NAME}": {error}; save it with format="bytepair"') from None
    v = tokenizer._vocabulary
    lines = [_FIRST, pattern, str(len(v.specials))]
    for name, i in v.specials.items():
        if name.split() != [name]:
            raise FormatError(
                f'cannot be saved with format="{NAME}": the special token {name!r} has white space, at which minbpe '
                'splits its lines; save it with format="bytepair"'
            )
        lines.append(f"{name} {i}")
    lines += [f"{left} {right}" for left, right, _ in merges]
    losses = lost_roles(tokenizer)
    return Written({"": ("\n".join(lines) + "\n").encode()}, tuple(losses))


def _merges(tokenizer: Tokenizer) -> list[Merge]:
    v, around = tokenizer._vocabulary, tokenizer._around
    if (reason := not_plain_bytes(tokenizer)) is not None:
        raise FormatError(reason)
    if v.added or around.template is not None or not around.joins_bytes or any(v.flags.values()):
        raise FormatError("it has added tokens, a template or a decoder of its own, which the format has no word for")
    raw = {v.tokens[i][0]: i for i in v.base}
    if (wrong := next((b for b in range(256) if raw[b] != b), None)) is not None:
        raise FormatError(f"the byte 0x{wrong:02X} has the id {raw[wrong]}, and in minbpe each byte is its own id")
    merges = merges_of(v.tokens) if v.rule == "ranks" else list(v.merges)
    if len(v.tokens) != 256 + len(merges):
        raise FormatError("some of its tokens are made by no merge or by several, and minbpe has one merge for each")
    for step, (left, right, new) in enumerate(merges):
        if new != 256 + step or max(left, right) >= new:
            raise FormatError(
                f"merge {step} ({left}, {right}) makes id {new}, and in minbpe it makes {256 + step} of ids below it"
            )
    if v.ranks is not None or (v.whole and unreached(tokenizer) is not None):
        raise FormatError("its merges share ranks, or whole pretokens are tokens, which minbpe does not have")
    return merges


def _written(pattern: Pattern) -> str:
    """The pattern as a regex of the ``regex`` module that cuts the same."""
    if pattern == resolve("none"):
        return ""
    if pattern.then is not None or pattern.drop == "matches":
        raise FormatError("its pattern cuts in several stages or leaves out what it matches, and minbpe's is one regex")
    regex = pattern.regex
    dubious = {
        "tiktoken": r"\\[hZGKRXNO]|\[:|(?<!\\)(?:&&|--|~~)",
        "oniguruma": r"\\[hwWbBZGKRXNO]|[$^](?<!\[\^)|\(\?[a-zA-Z]*m|\(\?i[^)]*\[|\[:|&&|[0-9,]\}[+?]|[+*?]{2}",
        "python": r"\\[sSwWbB]",
        "pcre": r"\\[shwWbBSHvVZGKRXNO]|\$|\[:",
    }[pattern.dialect]
    if (found := re.search(dubious, regex)) is not None:
        raise FormatError(
            f"its pattern, written for another engine ({pattern.dialect}), has {found[0]!r}, which means something "
            "else in the regex module that minbpe uses"
        )
    if pattern.dialect == "tiktoken":
        regex = regex.replace(r"\z", r"\Z")
        regex = _translated(regex, end=r"\Z", last=r"\Z")
    if "\n" in regex or "\r" in regex:
        raise FormatError("its pattern has a line end in it, and minbpe's file has it on one line; write it as \\n")
    if pattern.drop is None and not _leaves_no_gap(pattern):
        regex = rf"{regex}|(?:(?!{regex})(?s:.))+"
    # The owner strips the line.
    return regex if regex.strip() == regex else f"(?:{regex})"
