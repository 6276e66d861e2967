"""Tables in Parquet and Arrow files, some rows at a time: pyarrow reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from ..errors import InputError, quoted
from .opening import opened_file

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
