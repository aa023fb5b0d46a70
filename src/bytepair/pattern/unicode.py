"""Unicode 16.0.0 properties as sets of code points.

One version is pinned for every engine, the one of the tiktoken and tokenizers releases we are held against; neither
``regex`` nor Python's own ``unicodedata`` is asked, since theirs differ. Sets are decoded from ``_unicode_tables.py``
when first used. ``syntax.py`` is the main caller; what ``\\s``, ``\\d`` and ``\\w`` mean to a dialect is in
``dialects.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from ..errors import PatternError
from . import _unicode_tables as tables
from .charsets import ALL, CharSet

__all__ = [
    "UNICODE_VERSION",
    "age",
    "category",
    "fold_closure",
    "property_set",
    "script",
    "scripts",
    "simple_fold",
    "white_space",
]

UNICODE_VERSION: str = tables.UNICODE_VERSION

_MAJOR = ("C", "L", "M", "N", "P", "S", "Z")
_LONG_CATEGORIES = {
    "other": "C", "control": "Cc", "cntrl": "Cc", "format": "Cf", "unassigned": "Cn", "privateuse": "Co",
    "surrogate": "Cs", "letter": "L", "casedletter": "LC", "l&": "LC", "lowercaseletter": "Ll", "modifierletter": "Lm",
    "otherletter": "Lo", "titlecaseletter": "Lt", "uppercaseletter": "Lu", "mark": "M", "combiningmark": "M",
    "spacingmark": "Mc", "enclosingmark": "Me", "nonspacingmark": "Mn", "number": "N", "decimalnumber": "Nd",
    "digit": "Nd", "letternumber": "Nl", "othernumber": "No", "punctuation": "P", "punct": "P",
    "connectorpunctuation": "Pc", "dashpunctuation": "Pd", "closepunctuation": "Pe", "finalpunctuation": "Pf",
    "initialpunctuation": "Pi", "otherpunctuation": "Po", "openpunctuation": "Ps", "symbol": "S",
    "currencysymbol": "Sc", "modifiersymbol": "Sk", "mathsymbol": "Sm", "othersymbol": "So", "separator": "Z",
    "lineseparator": "Zl", "paragraphseparator": "Zp", "spaceseparator": "Zs",
}  # fmt: skip


def _loose(name: str) -> str:
    """Unicode's loose matching: case, blanks, hyphens and underscores make no difference."""
    return name.lower().replace(" ", "").replace("_", "").replace("-", "")


@cache
def _category_names() -> dict[str, str]:
    names = {_loose(name): name for name in (*tables.CATEGORIES, *_MAJOR, "Cn", "LC")}
    return names | _LONG_CATEGORIES


@cache
def _script_names() -> dict[str, str]:
    names = {_loose(alias): name for alias, name in tables.SCRIPT_ALIASES.items()}
    return names | {_loose(name): name for name in (*tables.SCRIPTS, "Unknown")} | {"zzzz": "Unknown"}


def _decode(text: str) -> CharSet:
    borders: list[int] = []
    position = 0
    for number in text.split():
        position += int(number, 36)
        borders.append(position)
    # The first gap may be zero, but two ranges never touch: the pairs are borders as they stand.
    return CharSet.from_borders(borders)


@cache
def _category(name: str) -> CharSet:
    if name == "Cn":
        return ~CharSet.union(map(_category, tables.CATEGORIES))
    if name == "LC":
        return CharSet.union(map(_category, ("Lu", "Ll", "Lt")))
    if name == "C":
        return ~CharSet.union(_category(other) for other in tables.CATEGORIES if other[0] != "C")
    if name in _MAJOR:
        return CharSet.union(_category(minor) for minor in tables.CATEGORIES if minor[0] == name)
    return _decode(tables.CATEGORIES[name])


@cache
def _script(name: str) -> CharSet:
    if name == "Unknown":
        return ~CharSet.union(map(_script, tables.SCRIPTS))
    return _decode(tables.SCRIPTS[name])


@cache
def _other(name: str) -> CharSet:
    return _decode(tables.OTHER_PROPERTIES[name])


def category(name: str) -> CharSet:
    """The characters of a general category: ``"L"``, ``"Lu"``, ``"LC"`` (also ``"L&"``), ``"Cn"``, or a long name.

    Raises
    ------
    PatternError
        If there is no such category.

    Examples
    --------
    >>> len(category("L")), len(category("Nd"))
    (141028, 760)
    """
    known = _category_names().get(_loose(name))
    if known is None:
        raise PatternError(f"Unicode has no general category {name!r}; use one such as L, Lu, N, Nd, P or Zs")
    return _category(known)


def script(name: str) -> CharSet:
    """The characters of a script, by its long or short name: ``"Han"``, ``"Hani"``, ``"Latin"``.

    Raises
    ------
    PatternError
        If there is no such script.

    Examples
    --------
    >>> 0x6F22 in script("Han")
    True
    """
    known = _script_names().get(_loose(name))
    if known is None:
        raise PatternError(f"Unicode {UNICODE_VERSION} has no script {name!r}; use one such as Latin, Han or Cyrillic")
    return _script(known)


def scripts() -> tuple[str, ...]:
    """The long names of all scripts; Unknown is none of them."""
    return tuple(tables.SCRIPTS)


@cache
def age(version: str) -> CharSet:
    """The characters that a version of Unicode has, new or from earlier ones: ``"9.0"``. Noncharacters have ages too.

    Raises
    ------
    PatternError
        If there is no such version.

    Examples
    --------
    >>> len(age("9.0")), len(age("16.0"))
    (267819, 294645)
    """
    if version not in tables.AGES:
        raise PatternError(f"Unicode {UNICODE_VERSION} has no age {version!r}; use a version such as 9.0")
    return CharSet.union(_decode(text) for new, text in tables.AGES.items() if _number(new) <= _number(version))


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


@cache
def white_space() -> CharSet:
    """The property White_Space: the separators, U+0009 to U+000D and U+0085."""
    return category("Z") | CharSet([(0x09, 0x0D), (0x85, 0x85)])


@cache
def property_set(name: str) -> CharSet:
    """The set of a property as regexes name it: ``L``, ``Script=Han``, ``Han``, ``IsHan``, ``Age=9.0``, ``Any``.

    General categories, scripts, ages, and the properties Any, ASCII, Assigned, White_Space, Alphabetic, Uppercase and
    Lowercase are known; script extensions are not.

    Raises
    ------
    PatternError
        If the name is none of these.
    """
    key, equals, value = name.partition("=")
    if equals:
        if _loose(key) in ("generalcategory", "gc", "category"):
            return category(value)
        if _loose(key) in ("script", "sc"):
            return script(value)
        if _loose(key) == "age":
            return age(value.strip())
        raise PatternError(
            f"the property {name!r} is not supported; use a general category, a script or explicit ranges"
        )
    loose = _loose(name)
    for candidate in (loose, loose.removeprefix("is")):
        if candidate in _category_names():
            return _category(_category_names()[candidate])
        if candidate in _script_names():
            return _script(_script_names()[candidate])
        if candidate in _BINARY:
            return _BINARY[candidate]()
    raise PatternError(f"the property {name!r} is not supported; use a general category, a script or explicit ranges")


_BINARY: dict[str, Callable[[], CharSet]] = {
    "any": lambda: ALL,
    "ascii": lambda: CharSet([(0, 0x7F)]),
    "assigned": lambda: ~_category("Cn"),
    "whitespace": white_space,
    "space": white_space,
    "wspace": white_space,
    "alphabetic": lambda: CharSet.union((category("L"), category("Nl"), _other("Alphabetic"))),
    "alpha": lambda: CharSet.union((category("L"), category("Nl"), _other("Alphabetic"))),
    "uppercase": lambda: category("Lu") | _other("Uppercase"),
    "upper": lambda: category("Lu") | _other("Uppercase"),
    "lowercase": lambda: category("Ll") | _other("Lowercase"),
    "lower": lambda: category("Ll") | _other("Lowercase"),
}


@cache
def _folding() -> dict[int, int]:
    """Code point to its simple case folding, where it is another one."""
    numbers = [int(number, 36) for number in tables.FOLDING.split()]
    folding = {}
    for first, count, step, difference in zip(*[iter(numbers)] * 4, strict=True):
        for point in range(first, first + count * step, step):
            folding[point] = point + difference
    return folding


@cache
def _fold_groups() -> dict[int, tuple[int, ...]]:
    """Code point to all that share its folding, for every code point that shares it with another one."""
    groups: dict[int, list[int]] = {}
    for point, folded in _folding().items():
        groups.setdefault(folded, [folded]).append(point)
    return {point: tuple(group) for group in groups.values() for point in group}


@cache
def _cased() -> CharSet:
    return CharSet((point, point) for point in _fold_groups())


def simple_fold(code_point: int) -> int:
    """The simple case folding of a code point (CaseFolding.txt, statuses C and S); itself where it has none.

    Examples
    --------
    >>> chr(simple_fold(ord("K"))), chr(simple_fold(0x17F))
    ('k', 's')
    """
    return _folding().get(code_point, code_point)


def fold_closure(characters: CharSet) -> CharSet:
    """All characters whose simple folding is that of a character in the set: what ``(?i:...)`` matches.

    Examples
    --------
    >>> [hex(point) for point in fold_closure(CharSet.of("s"))]
    ['0x53', '0x73', '0x17f']
    """
    groups = _fold_groups()
    if len(characters) < 64:
        touched = [point for point in characters if point in groups]
    else:
        touched = list(characters & _cased())
    return characters | CharSet((other, other) for point in touched for other in groups[point])
