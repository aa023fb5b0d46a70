"""llama.cpp's names for the ways to cut text before byte-pair encoding (``tokenizer.ggml.pre``).

The regexes are llama.cpp's own (``src/llama-vocab.cpp``), which for some models are not the ones of the model's owner.
``((?=[\\p{L}])([^a-z]))`` there is ``[^\\P{L}a-z]`` here. Each stage cuts the pieces of the one before.
"""

from __future__ import annotations

from ..pattern import Pattern, resolve

__all__ = ["IGNORES_MERGES", "NAMES", "pattern"]

_ENDINGS = "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_WORD = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_MARKS = r" ?[^\s\p{L}\p{N}]+[\r\n]*"
_LINES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_LLAMA3 = rf"{_ENDINGS}|{_WORD}|\p{{N}}{{1,3}}|{_MARKS}|{_LINES}"
_QWEN2 = rf"{_ENDINGS}|{_WORD}|\p{{N}}|{_MARKS}|{_LINES}"
_UPPER, _LOWER = r"[^\P{L}a-z]", r"[^\P{L}A-Z]"
_CASED = (rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+", rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*")
_CASED_LINES = rf" ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_LINES}"
_SYMBOL_WORD = r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"""
_LETTERS = r"[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
_SENTENCES = r" ?[^(\s|.,!?…。，、।۔،)]+"

_STAGES: dict[tuple[str, ...], tuple[str, ...]] = {
    (
        *("gpt-2", "phi-2", "gigachat", "a.x-4.0", "mellum", "mpt", "olmo", "jais", "trillion", "granite-docling"),
        *("exaone4", "roberta-bpe"),
    ): (_GPT2,),
    ("starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b", "mellum2"): (r"\p{N}", _GPT2),
    (
        *("llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "dbrx"),
        *("smaug-bpe", "glm4", "chatglm-bpe"),
    ): (_LLAMA3,),
    (*("qwen2", "deepseek-r1-qwen", "kormo", "f2llmv2", "stablelm2", "hunyuan", "megrez", "grok-2", "solar-open"),): (
        _QWEN2,
    ),
    ("qwen35",): (
        rf"{_ENDINGS}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{_LINES}",
    ),
    ("ufakzeka",): (rf"{_WORD}|\p{{N}}|{_MARKS}|{_LINES}",),
    ("seed-coder",): (rf"{_ENDINGS}|{_WORD}|\p{{N}}| ?[^\s\p{{L}}\p{{N}}\r\n]+|{_LINES}",),
    ("bailingmoe", "bailingmoe2", "llada-moe"): (
        rf"'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|{_WORD}|\p{{N}}|{_MARKS}|\s*[\r\n]|\s+(?!\S)|\s+",
    ),
    ("minicpm5",): (r"\p{N}{1,3}", rf"{_ENDINGS}|{_WORD}|\p{{N}}+|{_MARKS}|{_LINES}"),
    ("laguna",): (r"[^\n]+|[\n]+", _QWEN2),
    ("tekken",): (rf"{'|'.join(_CASED)}|\p{{N}}|{_CASED_LINES}",),
    ("gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"): (
        rf"{_CASED[0]}{_ENDINGS}?|{_CASED[1]}{_ENDINGS}?|\p{{N}}{{1,3}}|{_CASED_LINES}",
    ),
    ("deepseek-coder",): (
        r"[\r\n]",
        r"\s?\p{L}+",
        r"\s?\p{P}+",
        "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+",
        r"\p{N}",
    ),
    ("deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"): (
        r"\p{N}{1,3}",
        "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
        rf"{_SYMBOL_WORD}|{_LETTERS}| ?[\p{{P}}\p{{S}}]+[\r\n]*|{_LINES}",
    ),
    ("bloom", "poro-chat", "gpt3-finnish"): (_SENTENCES,),
    ("viking",): (_SENTENCES, r"\p{N}"),
    ("falcon",): (r"[\p{P}\$\+<=>\^~\|`]+", _GPT2, "[0-9][0-9][0-9]"),
    ("default",): (r"[\p{P}\$\+<=>\^~\|]+", _GPT2, r"\p{N}+", "[0-9][0-9][0-9]"),
}

NAMES: dict[str, tuple[str, ...]] = {name: stages for names, stages in _STAGES.items() for name in names}

IGNORES_MERGES = frozenset(
    (
        *("llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"),
        *("minicpm5", "tekken"),
    )
)
"""Where a pretoken that is a token is that token, before any merge."""


def pattern(name: str) -> Pattern:
    """The pattern of a name that is in :data:`NAMES`."""
    if NAMES[name] == (_GPT2,):
        return resolve("gpt2")
    *first, last = NAMES[name]
    made = Pattern(last, dialect="tiktoken")
    for regex in reversed(first):
        made = Pattern(regex, dialect="tiktoken", then=made)
    return made
