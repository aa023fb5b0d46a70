"""Corpora that other libraries hold: pyarrow's arrays and tables, Hugging Face datasets; and what is no corpus.

Nothing here imports those libraries: an object brings its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import TextIOBase
from typing import TYPE_CHECKING, Any

from .._check import brief
from ..errors import TrainingError
from .tables import is_text, rows

if TYPE_CHECKING:
    from .document import Document
    from .options import How

_ROWS = 1000
"""Rows of a dataset that are held at a time."""


def why_not(value: Any) -> str | None:
    """Why something that seems to hold texts is no corpus, and what is one; None where nothing is known against it."""
    kind = type(value).__name__
    if isinstance(value, TextIOBase):
        return 'an open text file has changed line ends; open it in binary mode ("rb"), or give its Path'
    if kind in ("DatasetDict", "IterableDatasetDict") and isinstance(value, dict):
        return f"a {kind} holds several datasets ({', '.join(map(brief, value))}); choose one, as in dataset['train']"
    if kind in ("DataFrame", "LazyFrame", "DataFrameGroupBy"):
        return f"a {kind} is a table; give its column of texts, as in table['text']"
    if kind == "WordCounts":
        return "WordCounts are counted already; give them to train() itself, and not among documents"
    if isinstance(value, dict) and "text" in value:
        return f"a {kind} is no text; give the text in it, row['text'], and not the row"
    return None


def is_object(value: Any) -> bool:
    """Whether it is one of the objects that :func:`object_documents` reads."""
    return _is_dataset(value) or type(value).__module__.startswith("pyarrow.")


def object_documents(value: Any, how: How) -> Iterator[Document]:
    """A document for each text of a dataset, a pyarrow array, or a table's column ``text``.

    Raises
    ------
    TrainingError
        There is no such column, or it holds no texts.
    """
    if _is_dataset(value):
        return _dataset(value, how)
    if hasattr(value, "type") and hasattr(value, "null_count"):  # Array, ChunkedArray
        if not is_text(value.type):
            raise TrainingError(f"an array of {value.type} is no corpus; an array of strings is")
        return rows(getattr(value, "chunks", [value]), "the array", how)
    batches: Any = None
    if hasattr(value, "schema"):
        column = _column(value.schema, how, "the table")
        if hasattr(value, "to_batches"):  # Table, and Dataset, which reads only the column that is asked for
            batches = value.to_batches(**({"columns": [column]} if hasattr(value, "scanner") else {}))
        elif hasattr(value, "column"):  # RecordBatch
            batches = [value]
        elif isinstance(value, Iterable):  # RecordBatchReader
            batches = value
    if batches is None:
        raise TrainingError(f"a {type(value).__name__} of pyarrow is no corpus; an array of strings or a Table is")
    return rows((batch.column(batch.schema.get_field_index(column)) for batch in batches), "the table", how)


def _is_dataset(value: Any) -> bool:
    return type(value).__module__.startswith("datasets.") and type(value).__name__ in ("Dataset", "IterableDataset")


def _dataset(dataset: Any, how: How) -> Iterator[Document]:
    column = how.column or "text"
    names = dataset.column_names  # None where a stream does not know
    if names is not None and column not in names:
        raise TrainingError(f"the dataset has no column {column!r} (its columns: {_listed(names)}); {_cure}")
    if type(dataset).__name__ == "Dataset":
        chosen = dataset.select_columns([column]).with_format("arrow")
        _column(chosen.data.schema, how, "the dataset")
        return rows((c for table in chosen.iter(_ROWS) for c in table.column(column).chunks), "the dataset", how)
    return _streamed(dataset, column, how)


def _streamed(dataset: Any, column: str, how: How) -> Iterator[Document]:
    import pyarrow as pa

    def arrays() -> Iterator[Any]:
        for batch in dataset.iter(_ROWS):
            if column not in batch:
                raise TrainingError(f"the dataset has no column {column!r} (its columns: {_listed(batch)}); {_cure}")
            try:
                yield pa.array(batch[column])
            except (pa.ArrowException, TypeError) as error:
                raise TrainingError(f"the column {column!r} of the dataset holds no texts ({error})") from None

    for array in arrays():
        if not is_text(array.type) and array.null_count < len(array):
            raise TrainingError(f"the column {column!r} of the dataset holds {array.type}, no text")
    return rows(arrays(), "the dataset", how)


_cure = 'name one, as in files(dataset, column="content")'


def _column(schema: Any, how: How, what: str) -> str:
    column = how.column or "text"
    if schema.names.count(column) != 1:
        raise TrainingError(
            f"{what} has no column {column!r} of its own (its columns: {_listed(schema.names)}); "
            "name one, as in files(table, column=...)"
        )
    kind = schema.field(column).type
    if not is_text(kind):
        raise TrainingError(f"the column {column!r} of {what} holds {kind}, no text")
    return column


def _listed(names: Iterable[Any]) -> str:
    return ", ".join(map(brief, list(names)[:20])) or "none"
