"""Sentences in Parquet and Arrow files: a row each, with a list of labels and lists of strings as long."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import InputError, quoted
from .jsonl import Record
from .lines import LONGEST_TEXT, require_short
from .opening import opened_file

ENDINGS = (".parquet", ".pq", ".arrow", ".feather")
"""Of names of files in these formats."""
LABELS = "labels"
"""The usual name of the column of labels; all other lists are columns of tokens."""
TEXTS = ("string", "large_string", "string_view")
"""Names of types in Arrow."""


def read_parquet(
    path: str | os.PathLike[str],
    *,
    label: str = LABELS,
    drop: Collection[str] = (),
    required: Collection[str] | None = None,
) -> Iterator[Record]:
    """Read sentences one by one from a Parquet or Arrow (Feather) file, with the package pyarrow.

    A row is a sentence: the column of labels, if there is one, is a list of strings, null where a label was
    not observed, and one or more columns of tokens are lists of strings, in their order. Numbers that stand
    for names (ClassLabel of Hugging Face's datasets) become these names; -1 is a label that was not observed.
    Columns that are no lists are left out. Malformed input raises an `InputError` that names file, row,
    counted from 0, and reason.

    Parameters
    ----------
    path : path
        The first bytes of the file tell its format.
    label : str
        Name of the column of labels.
    drop : collection of str
        Names of lists that are left out.
    required : collection of str, optional
        Names that a file must have; those of ``drop`` if not given.
    """
    path, chosen = Path(path), _Chosen(label, tuple(drop))
    with open_table(path) as table:
        there = table.schema.names
        absent = next((one for one in (drop if required is None else required) if one not in there), None)
        if absent is not None:
            raise InputError(f"{path} has no column {absent!r}; its columns are {', '.join(there)}.")
        names = _names(path, table.schema, chosen)
        for tokens, labels in _sentences(path, table, names, label):
            one = tokens[0] if len(tokens) == 1 else [list(token) for token in zip(*tokens, strict=True)]
            yield Record(one, None if labels is None else [*labels])


@dataclass(frozen=True)
class ParquetSentences:
    """Sentences of Parquet and Arrow (Feather) files, as `read_parquet` has them: pairs of tokens and labels.

    Parameters
    ----------
    paths : tuple of paths
        Files with the same columns, that of labels among them, none of which is null.
    label : str
        Name of the column of labels.
    drop : tuple of str
        Names of lists that are left out.
    """

    paths: tuple[Path, ...]
    label: str = LABELS
    drop: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[tuple[list[tuple[str, ...]], list[str]]]:
        """Read one file after the other, some rows at a time."""
        first: list[str] = []
        for path in self.paths:
            with open_table(path) as table:
                names = _names(path, table.schema, _Chosen(self.label, self.drop))
                if self.label not in names:
                    raise InputError(
                        f"{path} has no column {self.label}; its columns are {', '.join(table.schema.names)}."
                    )
                first = first or names
                if names != first:
                    raise InputError(
                        f"{path} has the lists {', '.join(names)}, "
                        f"but {self.paths[0]} has {', '.join(first)}."
                    )
                for tokens, labels in _sentences(path, table, names, self.label, complete=True):
                    yield list(zip(*tokens, strict=True)), labels or []


class _TextLists(NamedTuple):
    """A column of some rows."""

    name: str
    texts: list[Any]
    """Strings of all rows, one after the other; None is a label that was not observed."""
    lengths: Array


class _Chosen(NamedTuple):
    """Which columns mean something."""

    label: str
    drop: tuple[str, ...]


def _names(path: Path, schema: Any, chosen: _Chosen) -> list[str]:
    """Return the names of columns of lists: tokens in their order, and labels at the end."""
    kept = [field for field in schema if field.name not in chosen.drop]
    names = [field.name for field in kept if _is_list(path, field, schema, chosen.label)]
    double = next((name for n, name in enumerate(names) if name in names[:n]), None)
    if double is not None:
        raise InputError(f"{path} has two columns {double}.")
    tokens = [name for name in names if name != chosen.label]
    if not tokens:
        raise InputError(f"{path} has no column of tokens, which are lists of strings.")
    return tokens + [chosen.label] * (chosen.label in names)


def _is_list(path: Path, field: Any, schema: Any, label: str) -> bool:
    """Return whether a column has lists of strings; refuse lists of anything else."""
    types = pyarrow_for(path).types
    lists = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    views = (types.is_list_view, types.is_large_list_view)
    if not any(is_kind(field.type) for is_kind in lists + views):
        if field.name == label:
            raise InputError(f"{path}: the column {label} is of {field.type}, not of lists of strings.")
        return False
    value = field.type.value_type
    if types.is_integer(value) and field.name in class_names(schema):
        return True
    if str(value.value_type if types.is_dictionary(value) else value) not in TEXTS:
        raise InputError(f"{path}: the column {field.name} has lists of {value}, not of strings.")
    return True


def class_names(schema: Any) -> dict[str, list[str]]:
    """Return the names that the numbers of columns stand for, as Hugging Face's datasets tells them."""
    try:
        told = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
    except (KeyError, TypeError, ValueError):
        return {}
    found = {}
    for name, feature in told.items() if isinstance(told, dict) else ():
        inner = feature.get("feature") if isinstance(feature, dict) else feature
        inner = inner[0] if isinstance(inner, list) and inner else inner
        names = inner.get("names") if isinstance(inner, dict) else None
        if isinstance(names, list) and all(isinstance(one, str) for one in names):
            found[name] = names
    return found


def _named(path: Path, name: str, numbers: list[Any], names: list[str]) -> list[str | None]:
    """Return names for numbers; -1 and null are labels that were not observed."""
    wrong = next((n for n in numbers if n is not None and not -1 <= n < len(names)), None)
    if wrong is not None:
        raise InputError(f"{path}: {name} has {wrong}, but there are names for 0 to {len(names) - 1}.")
    return [None if n is None or n < 0 else names[int(n)] for n in numbers]


def _sentences(
    path: Path, table: StoredTable, names: list[str], label: str, complete: bool = False
) -> Iterator[tuple[list[list[str]], list[Any] | None]]:
    """Yield the columns of tokens of every sentence, and its labels if there are any, ``complete`` ones."""
    row, labelled, known = 0, label in names, class_names(table.schema)
    for batch in table.rows(names):
        columns = [_lists(path, name, batch.column(name), row, known.get(name)) for name in names]
        for column in columns if complete else columns[: len(columns) - labelled]:
            _require_known(path, column, row)
        _require_equal(path, columns, row)
        ends = np.cumsum(columns[0].lengths).tolist()
        for a, b in zip([0, *ends], ends, strict=False):
            found = [column.texts[a:b] for column in columns]
            labels = found.pop() if labelled else None
            yield found, labels
        row += batch.num_rows


def _lists(path: Path, name: str, column: Any, row: int, names: list[str] | None = None) -> _TextLists:
    """Return the strings of a column whose first row has a number."""
    pyarrow = pyarrow_for(path)
    if column.null_count:
        place = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise InputError(f"{path}, row {row + place}: {name} is null.")
    lengths = pyarrow.compute.list_value_length(column).to_numpy()
    flat = column.flatten()
    if pyarrow.types.is_dictionary(flat.type):
        flat = flat.dictionary_decode()
    numbers = names is not None and pyarrow.types.is_integer(flat.type)
    texts = _named(path, name, flat.to_pylist(), names or []) if numbers else flat.to_pylist()
    found = _TextLists(name, texts, lengths)
    _require_short(path, found, row)
    return found


def _row(column: _TextLists, place: int) -> int:
    """Return the row that has one of all strings."""
    return int(np.searchsorted(np.cumsum(column.lengths), place, side="right"))


def _require_known(path: Path, column: _TextLists, row: int) -> None:
    """Refuse null, and -1 among the numbers of names."""
    if None in column.texts:
        place = row + _row(column, column.texts.index(None))
        raise InputError(f"{path}, row {place}: {column.name} has a null in its list.")


def _require_short(path: Path, column: _TextLists, row: int) -> None:
    """Refuse a string that is too long for a token or label."""
    if max((len(text) for text in column.texts if text is not None), default=0) > LONGEST_TEXT:
        place = next(
            n for n, text in enumerate(column.texts) if text is not None and len(text) > LONGEST_TEXT
        )
        require_short(
            column.texts[place], f"{path}, row {row + _row(column, place)}: a string of {column.name}"
        )


def _require_equal(path: Path, columns: list[_TextLists], row: int) -> None:
    """Refuse lists of different lengths in a row."""
    first, *others = columns
    for other in others:
        wrong = np.flatnonzero(other.lengths != first.lengths)
        if len(wrong):
            n = wrong[0]
            raise InputError(
                f"{path}, row {row + n}: {first.name} has {first.lengths[n]} entries, "
                f"but {other.name} has {other.lengths[n]}."
            )


ROWS = 1024
"""At a time."""
BUFFER = 2**20
"""Bytes of a column at a time; without it, Parquet reads as much as its writer had in memory."""
PARQUET, ARROW, STREAM = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"
"""What files begin with; Arrow has a format for files, which Feather uses, and one for streams."""

DAMAGED = (OSError, UnicodeDecodeError, MemoryError)
"""What a damaged file leads to, besides errors of Arrow: bad names of columns, or sizes beyond measure."""


class StoredTable(NamedTuple):
    """A table that is read as somebody goes through its rows."""

    schema: Any
    batches: Callable[[list[str]], Iterator[Any]]
    """Reads at least those columns."""

    def rows(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield a record batch of some rows after the other, of some columns."""
        for batch in self.batches(list(names)):
            kept = batch.select(list(names))
            kept.validate(full=True)  # a damaged file could lead outside of its memory
            for start in range(0, kept.num_rows, ROWS):
                yield kept.slice(start, ROWS)


@contextmanager
def open_table(path: Path) -> Iterator[StoredTable]:
    """Open a file; refuse one that pyarrow cannot read, also later while it is read."""
    with opened_file(path) as file:
        pyarrow = pyarrow_for(path)
        try:
            yield _table(pyarrow, path, file)
        except (pyarrow.ArrowException, *DAMAGED) as error:
            reason = quoted(str(error) or type(error).__name__)[1:-1].removesuffix(".")
            raise InputError(f"{path} cannot be read, it is damaged or unusual: {reason}.") from error


def pyarrow_for(path: Path) -> Any:
    """Return the package pyarrow, which a file needs."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError:
        raise InputError(
            f'{path} needs the package pyarrow, which is not installed: pip install "kernelfields[parquet]".'
        ) from None
    return pyarrow


def _table(pyarrow: Any, path: Path, file: IO[bytes]) -> StoredTable:
    """Return the table in a file, in the format that its first bytes say."""
    start = file.read(len(ARROW))
    file.seek(0)
    if start.startswith(PARQUET):
        table = pyarrow.parquet.ParquetFile(file, buffer_size=BUFFER, pre_buffer=False)
        return StoredTable(
            table.schema_arrow, lambda names: table.iter_batches(ROWS, columns=names, use_threads=False)
        )
    if start == ARROW:
        stored = pyarrow.ipc.open_file(file)
        count = stored.num_record_batches
        return StoredTable(stored.schema, lambda _: map(stored.get_batch, range(count)))
    if start.startswith(STREAM):
        stream = pyarrow.ipc.open_stream(file)
        return StoredTable(stream.schema, lambda _: iter(stream))
    raise InputError(f"{path} is neither a Parquet nor an Arrow file.")
