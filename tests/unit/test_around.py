"""Which character a byte belongs to, in every kind of bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bytepair.pipeline.around import _character_of_byte

_pieces = st.sampled_from([b"a", "é".encode(), "你".encode(), "🧠".encode(), b"\xff", b"\xe4\xbd", b"\x80"])


@given(st.lists(_pieces, max_size=8).map(b"".join))
def test_character_of_byte(data: bytes) -> None:
    expected: list[int] = []
    for place, character in enumerate(data.decode("utf-8", "surrogateescape")):
        expected += [place] * len(character.encode("utf-8", "surrogateescape"))
    assert list(_character_of_byte(data)) == expected
