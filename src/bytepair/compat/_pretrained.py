"""The class behind :mod:`bytepair.compat.transformers`; importing this imports ``transformers``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import tokenizers
from transformers import PreTrainedTokenizerFast

from ..formats import huggingface_write
from ..tokenizer import Tokenizer as Ours
from .tokenizers import Tokenizer

__all__ = ["BytepairTokenizer"]

_NO_ARGUMENTS = ("tokenizer_class", "auto_map", "added_tokens_decoder", "add_bos_token", "add_eos_token")
"""What a ``tokenizer_config.json`` says that the base takes from ``tokenizer.json`` or does not take at all."""


class _Backend(Tokenizer):
    """Our face of ``tokenizers`` with the owner's own class for added tokens, which the base asks for."""

    def get_added_tokens_decoder(self) -> dict[int, Any]:
        found = super().get_added_tokens_decoder()
        return {i: tokenizers.AddedToken(**token.__getstate__()) for i, token in found.items()}

    def encode_without_names(self, text: str) -> list[int]:
        """The ids of a text in which no added token is looked for."""
        rewriter = self._tokenizer._rewriter
        return rewriter.encode(text, rewriter.names({}))


class BytepairTokenizer(PreTrainedTokenizerFast):  # type: ignore[misc]
    """A tokenizer of ours as ``transformers`` wants one: ``PreTrainedTokenizerFast``, with our engine below.

    Everything that the base does works as there, with the same ids: calls with padding, truncation, offsets and
    tensors, ``decode``, chat templates, ``save_pretrained`` and ``from_pretrained``. What it saves
    ``AutoTokenizer.from_pretrained`` loads without us.

    Parameters
    ----------
    tokenizer : bytepair.Tokenizer
        Its special tokens and, where it was loaded from a model's folder, that folder's settings become the defaults.
    **kwargs
        As for the base: ``pad_token``, ``model_max_length``, ``padding_side``, ``chat_template`` and so on.
    """

    def __init__(self, tokenizer: Any = None, **kwargs: Any) -> None:
        file = kwargs.pop("tokenizer_file", None)
        given = kwargs.pop("tokenizer_object", None)
        given = tokenizer if tokenizer is not None else given
        if isinstance(given, Ours):
            kwargs = {**self._defaults(given), **kwargs}
            given = _Backend(given)
        elif isinstance(given, tokenizers.Tokenizer):
            given = _Backend.from_str(given.to_str())
        elif isinstance(given, Tokenizer):
            given = _Backend(given.tokenizer)
        elif given is None and file is not None:
            given = _Backend.from_file(file)
        else:
            raise TypeError(
                f"BytepairTokenizer takes a bytepair.Tokenizer, not a {type(given).__name__}; "
                "from_pretrained takes a model's folder"
            )
        super().__init__(tokenizer_object=given, **kwargs)

    @classmethod
    def _defaults(cls, tokenizer: Ours) -> dict[str, Any]:
        """What ``from_pretrained`` would find beside the tokenizer in its folder."""
        found: dict[str, Any] = cls.convert_added_tokens(huggingface_write.config(tokenizer), save=False)
        return {name: value for name, value in found.items() if name not in _NO_ARGUMENTS}

    @classmethod
    def convert_to_native_format(cls, **kwargs: Any) -> dict[str, Any]:
        """What ``__init__`` takes, which reads the file itself."""
        kwargs.pop("trust_remote_code", None)
        return kwargs

    @classmethod
    def _patch_mistral_regex(cls, tokenizer: Any, *_: Any, **__: Any) -> Any:
        return tokenizer  # the pattern is the file's

    def _encode_without_added_tokens(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode_without_names(text)
        return ids

    def _save_pretrained(self, save_directory: Any, file_names: Any, *args: Any, **kwargs: Any) -> Any:
        written = super()._save_pretrained(save_directory, file_names, *args, **kwargs)
        for name in file_names:
            if str(name).endswith("tokenizer_config.json"):  # so that AutoTokenizer loads it, without us too
                config = json.loads(Path(name).read_text("utf-8"))
                config["tokenizer_class"] = "PreTrainedTokenizerFast"
                text = json.dumps(config, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
                Path(name).write_text(text, "utf-8")
        return written
