"""Texts in a column: Parquet, Arrow IPC (Feather) and comma-separated files, read batch by batch through pyarrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from .._arrow import texts
from .._check import brief
from ..errors import FormatError, TrainingError
from .document import Document, Tally
from .encodings import row_to_utf8, to_utf8
from .rows import BadRows
from .streams import ByteStream, Counted, Source

if TYPE_CHECKING:
    from .options import How

INSTALL = "pip install 'bytepair[data]', or pyarrow alone"

_ROWS = 256
"""Rows of a Parquet file that are held at a time."""
_CSV_BLOCK = 16 << 20
"""Bytes of a comma-separated file that are held at a time; no row can be longer."""
_PLAIN = ("string", "binary", "large_string", "large_binary")
_VIEWS = ("string_view", "binary_view")


def parquet_documents(source: Source, how: How, tally: Tally) -> Iterator[Document]:
    """A document for each row of a Parquet file, whose row groups are read page by page.

    Raises
    ------
    FormatError
        The file is damaged, has no such column of texts, or a row's text is null and is not to be left out.
    """
    pyarrow("parquet", source.name)
    import pyarrow.parquet as pq

    with _seekable(source, tally) as file, _damage(source.name, "Parquet"):
        # Read page by page: a row group can be gigabytes of other columns and of texts.
        table = pq.ParquetFile(file, pre_buffer=False, buffer_size=1 << 20)
        column = _column(source.name, table.schema_arrow, how)
        batches = table.iter_batches(batch_size=_ROWS, columns=[column], use_threads=False)
        yield from rows((_of_batch(batch, column) for batch in batches), source.name, how)


def arrow_documents(source: Source, how: How, tally: Tally) -> Iterator[Document]:
    """A document for each row of an Arrow IPC file (Feather) or stream.

    Raises
    ------
    FormatError
        As for :func:`parquet_documents`.
    """
    pyarrow("arrow", source.name)
    from pyarrow import ipc

    with _seekable(source, tally) as file, _damage(source.name, "Arrow"):
        head = file.read(8)
        file.seek(0)
        if head.startswith(b"FEA1"):
            raise FormatError(
                f"{source.name}: this is the first version of Feather; write it anew with a newer library"
            )
        if head.startswith(b"ARROW1"):
            reader = ipc.open_file(file)
            batches: Iterable[Any] = map(reader.get_batch, range(reader.num_record_batches))
        else:
            reader = batches = ipc.open_stream(file)
        column = _column(source.name, reader.schema, how)
        yield from rows((_of_batch(batch, column) for batch in batches), source.name, how)


def csv_documents(stream: ByteStream, how: How, delimiter: str) -> Iterator[Document]:
    """A document for each row of a comma-separated file whose first row names the columns.

    Raises
    ------
    FormatError
        A row has more or fewer fields than the first, or there is no such column.
    """
    pyarrow("csv", stream.name)
    import pyarrow as pa
    from pyarrow import csv

    wanted = how.column or "text"
    bad = BadRows(stream.name, "row", how)

    def invalid(row: Any) -> str:
        bad.seen += 1
        bad.add(f"{stream.name}, row {row.number}", f"{row.actual_columns} fields in place of {row.expected_columns}")
        return "skip"

    with _damage(stream.name, "comma-separated"):
        reader = csv.open_csv(
            _File(to_utf8(stream.pieces(), how, stream.name)),
            read_options=csv.ReadOptions(use_threads=False, block_size=_CSV_BLOCK),
            parse_options=csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, invalid_row_handler=invalid if how.skips else None
            ),
            convert_options=csv.ConvertOptions(
                column_types={wanted: pa.large_binary()}, check_utf8=False, strings_can_be_null=False
            ),
        )
        column = _column(stream.name, reader.schema, how)
        converted = replace(how, encoding=None, errors=None)  # the whole file was, before it was cut into rows
        yield from rows((_of_batch(batch, column) for batch in reader), stream.name, converted, bad)


def rows(arrays: Iterable[Any], name: str, how: How, bad: BadRows | None = None) -> Iterator[Document]:
    """A document for each text of some pyarrow arrays.

    Raises
    ------
    FormatError
        A row is null, and is not to be left out.
    """
    bad = bad or BadRows(name, "row", how)
    by_line = how.by == "line"
    convert = not how.is_plain
    row = 0
    for array in arrays:
        array = _plain(array)
        bad.seen += len(array)
        numbers: Iterable[int] = range(row, row + len(array))
        row += len(array)
        if array.null_count:
            is_null = array.is_null().to_pylist()
            nulls = [number for number, null in zip(numbers, is_null) if null]
            bad.add(f"{name}, row {nulls[0]}", "there is no text (it is null)", len(nulls))
            numbers = [number for number, null in zip(numbers, is_null) if not null]
            array = array.drop_null()
        numbers = iter(numbers)
        for data, offsets in texts(array):
            view = memoryview(data)  # type: ignore[arg-type]
            for (start, end), number in zip(pairwise(offsets.tolist()), numbers):
                text = bytes(view[start:end])
                where = f"{name}#{number}"
                if convert:
                    text = row_to_utf8(text, how, where)
                yield Document(where, len(text), text, by_line)
    bad.tell()


def is_text(kind: Any) -> bool:
    """Whether a pyarrow type is one of texts."""
    if str(kind).startswith("dictionary<"):
        kind = kind.value_type
    return str(kind) in (*_PLAIN, *_VIEWS)


def _plain(array: Any) -> Any:
    """The array with each text once in one buffer, and looked through: what a file says of itself may be wrong."""
    import pyarrow as pa

    try:
        array.validate()
        kind = str(array.type)
        if kind in ("string", "large_string"):
            array.view(pa.binary() if kind == "string" else pa.large_binary()).validate(full=True)
        else:
            array.validate(full=True)
    except pa.ArrowInvalid as error:
        raise FormatError(f"the data is damaged: {error}") from None
    if kind.startswith("dictionary<"):
        return _plain(array.dictionary_decode())
    if kind in _VIEWS:
        return array.cast(pa.large_binary())
    return array


def _of_batch(batch: Any, column: str) -> Any:
    return batch.column(batch.schema.get_field_index(column))


def _column(name: str, schema: Any, how: How) -> str:
    wanted = how.column or "text"
    if schema.names.count(wanted) != 1:
        has = ", ".join(brief(field.name) for field in list(schema)[:20]) or "none"
        many = "is more than one" if wanted in schema.names else "is no"
        raise FormatError(
            f"{name}: there {many} column {wanted!r} (its columns: {has}); name it with column= (--column)"
        )
    kind = schema.field(wanted).type
    if not is_text(kind):
        of_text = ", ".join(brief(field.name) for field in list(schema)[:20] if is_text(field.type)) or "none"
        raise FormatError(f"{name}: the column {wanted!r} holds {kind}, no text (columns of text: {of_text})")
    return wanted


def pyarrow(kind: str, name: str) -> None:
    """Sees to it that pyarrow is there.

    Raises
    ------
    FormatError
        It is not; the message says how to install it.
    """
    try:
        __import__(f"pyarrow.{'ipc' if kind == 'arrow' else kind}")
    except ImportError:
        raise FormatError(f"{name}: reading it ({kind}) needs the pyarrow library: {INSTALL}") from None


@contextmanager
def _seekable(source: Source, tally: Tally) -> Iterator[Counted]:
    with Counted(source, tally) as file:
        if not file.seekable():
            raise TrainingError(
                f"{source.name}: such a file cannot be read from a pipe or a stream, its end comes first; give its path"
            )
        yield file


@contextmanager
def _damage(name: str, kind: str) -> Iterator[None]:
    """What pyarrow finds wrong with a file, as an error that names it."""
    import pyarrow as pa

    try:
        yield
    except FormatError as error:
        if str(error).startswith(name):
            raise
        raise FormatError(f"{name}: {error}") from None
    except (pa.ArrowException, EOFError) as error:
        raise FormatError(f"{name}: this is no {kind} file, or it is damaged ({_first_line(error)})") from None
    except OSError as error:
        raise FormatError(f"{name}: the {kind} data is damaged ({_first_line(error)})") from None


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0][:300]


class _File:
    """Pieces of bytes as pyarrow reads a file."""

    closed = False

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._held = pieces, b""

    def read(self, size: int = -1) -> bytes:
        while not self._held and (piece := next(self._pieces, None)) is not None:
            self._held = piece
        out, self._held = (self._held, b"") if size < 0 else (self._held[:size], self._held[size:])
        return out

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def close(self) -> None:
        self.closed = True
