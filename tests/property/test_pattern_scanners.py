"""The plain scanners against the ``regex`` module with the same pattern: any bytes, any preset that has a scanner."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pattern_peers import TRICKY

from bytepair.pattern import resolve
from bytepair.pattern.fallback import regex_ends

texts = st.one_of(
    st.text(alphabet=TRICKY, max_size=30).map(str.encode),
    st.text(max_size=20).map(lambda text: text.encode("utf-8", "replace")),
    st.binary(max_size=20),
    st.lists(st.sampled_from([b"'", b"s", b"re", b"'ll", b" ", b"\n", b"\xff", b"\xe2\x82", "é".encode()])).map(
        b"".join
    ),
)


@pytest.mark.parametrize("name", ["gpt2", "r50k", "al1", "whitespace", "spaces", "none"])
@given(texts)
def test_scanner_cuts_like_the_regex(name: str, data: bytes) -> None:
    pattern = resolve(name)
    assert pattern.scanner is not None
    assert pattern.ends(data) == regex_ends(data, pattern.regex, pattern.dialect, 60)


@given(texts)
def test_both_spellings_of_gpt2_cut_alike(data: bytes) -> None:
    gpt2, r50k = resolve("gpt2"), resolve("r50k")
    assert regex_ends(data, gpt2.regex, gpt2.dialect, 60) == regex_ends(data, r50k.regex, r50k.dialect, 60)
