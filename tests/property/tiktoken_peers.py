"""tiktoken's own encodings without a network: its definitions, with the ranks that come with this package."""

from __future__ import annotations

from functools import cache
from typing import Any
from unittest import mock

import pytest

from bytepair import bundled

#: Many scripts, marks, joiners, directions, digits, white space and lengths of words, code and broken habits.
TORTURE = (
    "The quick brown fox can't jump—it's 1,234,567.89 metres! DON'T SHOUT, I'Ll ſay 'ſ\n"
    "Größe, naïve café (e\u0301 und é), Ångström, ﬁne; İstanbul ıssız; Straße STRASSE ẞ\r\n"
    "Ελληνικά: πᾶσαι αἱ ψυχαί. Русский текст, съёмка; українська їжа 1980-х.\n\n\n"
    "العربية: مَرْحَبًا ٣٤٥؛ עברית: שָׁלוֹם עֲלֵיכֶם; فارسی\u200cنویسی\n"
    "हिन्दी: क्षत्रिय ज्ञान १२३; தமிழ்: வணக்கம்; ไทย: สวัสดีชาวโลก; မြန်မာ\n"
    "中文：你好，世界！１２３ 漢字かな交じり文。カタカナ・ﾊﾝｶｸ 한국어 띄어쓰기 ᄒᆞᆫ글\u3000全角\n"
    "👩\u200d👩\u200d👧\u200d👦 🇩🇪🏴󠁧󠁢󠁷󠁬󠁳󠁿 👍🏽 ❤️ 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𓀀 𐍈 \U0010ffff \ue000 \ufffd \ufeff "
    "\x00\x01\x7f\x85\xa0\u2028\u2029\u200b\n"
    '\tdef f(x):  # tabs\n        return {\'a\': [1, 2.5e-10, 0xFF], "b": f"{x!r:>10}"}\n\r\n\r\r \n  \n   x   \n'
    "https://example.org/a%20b?q=1&r=2#frag user@example.com C:\\Users\\x <b>&amp;</b> $$E=mc^2$$ ½ Ⅷ ² ①\n"
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaa 0000000000000 ............ ======== !!!??? \u0301\u0301\u0301 ''''  \t \t  end  "
)


@cache
def definition(name: str) -> dict[str, Any]:
    """What tiktoken itself says of an encoding, without the ranks, which it would fetch."""
    public = pytest.importorskip("tiktoken_ext.openai_public", reason="this tiktoken has no public encodings")
    if name not in public.ENCODING_CONSTRUCTORS:
        pytest.skip(f"the installed tiktoken does not know {name}")
    with (
        mock.patch.object(public, "load_tiktoken_bpe", return_value={}),
        mock.patch.object(public, "data_gym_to_mergeable_bpe_ranks", return_value={}),
    ):
        found: dict[str, Any] = public.ENCODING_CONSTRUCTORS[name]()
    return found


@cache
def peer(name: str) -> Any:
    """tiktoken's own encoding of a bundled vocabulary."""
    tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    if name == "qwen2":  # which tiktoken does not define; Qwen's own code runs this regex in it
        from bytepair.pattern import resolve

        told = {"name": name, "pat_str": resolve("qwen2").regex, "special_tokens": bundled.specials(name)}
    else:
        told = definition(name)
    return tiktoken.Encoding(**{**told, "mergeable_ranks": bundled.ranks(name)})
