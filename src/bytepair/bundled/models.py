"""Which vocabulary a model of OpenAI's uses: the public mapping, names and beginnings of names."""

from __future__ import annotations

MODELS: dict[str, tuple[str, ...]] = {
    "o200k_base": ("o1", "o3", "o4-mini", "gpt-5", "gpt-4.1", "gpt-4o"),
    "cl100k_base": (
        "gpt-4",
        "gpt-3.5-turbo",
        "gpt-3.5",
        "gpt-35-turbo",
        "davinci-002",
        "babbage-002",
        "text-embedding-ada-002",
        "text-embedding-3-small",
        "text-embedding-3-large",
    ),
    "p50k_base": (
        "text-davinci-003",
        "text-davinci-002",
        "code-davinci-002",
        "code-davinci-001",
        "code-cushman-002",
        "code-cushman-001",
        "davinci-codex",
        "cushman-codex",
    ),
    "p50k_edit": ("text-davinci-edit-001", "code-davinci-edit-001"),
    "r50k_base": (
        "text-davinci-001",
        "text-curie-001",
        "text-babbage-001",
        "text-ada-001",
        "davinci",
        "curie",
        "babbage",
        "ada",
        "text-similarity-davinci-001",
        "text-similarity-curie-001",
        "text-similarity-babbage-001",
        "text-similarity-ada-001",
        "text-search-davinci-doc-001",
        "text-search-curie-doc-001",
        "text-search-babbage-doc-001",
        "text-search-ada-doc-001",
        "code-search-babbage-code-001",
        "code-search-ada-code-001",
    ),
    "gpt2": ("gpt2", "gpt-2"),
}

BEGINNINGS: dict[str, tuple[str, ...]] = {
    "o200k_base": ("o1-", "o3-", "o4-mini-", "gpt-5", "gpt-4.5-", "gpt-4.1-", "chatgpt-4o-", "gpt-4o-", "ft:gpt-4o"),
    "o200k_harmony": ("gpt-oss-",),
    "cl100k_base": (
        "gpt-4-",
        "gpt-3.5-turbo-",
        "gpt-35-turbo-",
        "ft:gpt-4",
        "ft:gpt-3.5-turbo",
        "ft:davinci-002",
        "ft:babbage-002",
    ),
}

BY_MODEL = {model: name for name, models in MODELS.items() for model in models}
# The longest beginning wins: "ft:gpt-4o" before "ft:gpt-4".
BY_BEGINNING = dict(
    sorted(((start, name) for name, starts in BEGINNINGS.items() for start in starts), key=lambda row: -len(row[0]))
)


def for_model(model: str) -> str | None:
    """The name of a model's vocabulary, or None where the model is not known.

    Examples
    --------
    >>> for_model("gpt-4o-2024-05-13"), for_model("text-davinci-003"), for_model("gpt-1")
    ('o200k_base', 'p50k_base', None)
    """
    if model in BY_MODEL:
        return BY_MODEL[model]
    return next((name for start, name in BY_BEGINNING.items() if model.startswith(start)), None)
