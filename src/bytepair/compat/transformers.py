"""Our tokenizers in Hugging Face's ``transformers``: as a tokenizer class, and as files that ``AutoTokenizer`` loads.

``BytepairTokenizer`` imports ``transformers`` when it is first used; :func:`export` needs nothing.
"""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import BytepairNotice, FormatError
from ..formats import huggingface_write, write_files

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer
    from ._pretrained import BytepairTokenizer

__all__ = ["BytepairTokenizer", "export"]


def __getattr__(name: str) -> Any:
    if name != "BytepairTokenizer":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from ._pretrained import BytepairTokenizer
    except ModuleNotFoundError as error:
        raise ImportError(
            f"BytepairTokenizer needs {error.name}, which is not installed; `pip install transformers` installs it"
        ) from error
    return BytepairTokenizer


def export(
    tokenizer: Tokenizer,
    folder: str | os.PathLike[str],
    *,
    chat_template: str | None = None,
    model_max_length: int | None = None,
    padding_side: str | None = None,
) -> None:
    """Write a model's folder that ``transformers.AutoTokenizer.from_pretrained`` loads with the same ids.

    Parameters
    ----------
    tokenizer : bytepair.Tokenizer
        Where it was loaded from such a folder, that folder's settings stay.
    folder : str or Path
        Made where it is not there.
    chat_template : str, optional
        A Jinja template for ``apply_chat_template``.
    model_max_length : int, optional
        How many ids the model takes.
    padding_side : "left" or "right", optional

    Raises
    ------
    FormatError
        The tokenizer cannot be written so, or the folder cannot be written.

    Examples
    --------
    >>> import bytepair, os, tempfile
    >>> tok = bytepair.train("low low lower lowest", num_merges=4)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export(tok, folder, model_max_length=512)
    ...     sorted(os.listdir(folder))
    ['tokenizer.json', 'tokenizer_config.json']
    """
    if padding_side not in (None, "left", "right"):
        raise FormatError(f"padding_side is {padding_side!r}; it can be 'left' or 'right'")
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise FormatError(f"{path} is a file; give the path of a folder")
    written = huggingface_write.write(tokenizer)
    files = dict(written.files)
    config = json.loads(files["tokenizer_config.json"])
    asked = {"chat_template": chat_template, "model_max_length": model_max_length, "padding_side": padding_side}
    config.update({name: value for name, value in asked.items() if value is not None})
    if chat_template is not None:
        files.pop("chat_template.jinja", None)  # which would count before the setting
        if (path / "chat_template.jinja").exists():
            files["chat_template.jinja"] = chat_template.encode()
    files["tokenizer_config.json"] = (json.dumps(config, ensure_ascii=False, indent=2) + "\n").encode()
    if written.losses:
        warnings.warn(f"{path}: {'; '.join(written.losses)}", BytepairNotice, stacklevel=2)
    write_files(path, files)
