"""Tables of numbers: one row per position, a column that names the sequence, and optionally labels.

sequence,label,x,y
a,walk,0.1,2.5
a,,0.3,2.4
b,walk,0.2,2.2

An empty field is a missing number or an unobserved label.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import InputError, quoted
from .lines import LONGEST_TEXT, Source, TextLine, error_at, read_lines


class Frames(NamedTuple):
    """One sequence of a table."""

    name: str
    """The value of the sequence column."""
    numbers: Array
    """(T, D), the other columns; an empty field is NaN."""
    labels: list[str | None] | None
    """T labels, None where a field is empty or NaN; None if the table has no column of labels."""
    columns: tuple[str, ...]
    """Names of the D columns."""
    group: str | None = None
    """What the sequence belongs to, if a column says it."""
    aside: tuple[tuple[str, list[str]], ...] = ()
    """Names and fields of columns that are no features: the group, and those that were dropped."""
    headings: tuple[str, str] = ("sequence", "label")
    """Names of the columns of sequences and labels."""


DELIMITERS = (",", "\t", ";")
MISSING = ("", "nan", "NaN")
"""What pandas and others write for labels that were not observed."""


def read_csv(
    source: Source,
    *,
    sequence: str = "sequence",
    label: str = "label",
    group: str | None = None,
    drop: Collection[str] = (),
    required: Collection[str] | None = None,
) -> Iterator[Frames]:
    r"""Read sequences one by one; the rows of a sequence must be consecutive.

    Fields are separated by commas, tabs or semicolons: by the one that yields the sequence column in the
    header. Malformed input raises an `InputError` that names file, line and reason.

    Parameters
    ----------
    source : path, or file opened for reading
        UTF-8 with a header; a path that ends with .gz is decompressed.
    sequence, label : str
        Names of these columns; the column of labels is optional.
    group : str, optional
        Name of a column of texts that say what a sequence belongs to, a person say; the same in all its rows.
    drop : collection of str
        Names of columns that are no features, numbers or not.
    required : collection of str, optional
        Names that a table must have; those of ``drop`` if not given.

    Examples
    --------
    >>> from io import StringIO
    >>> [one] = read_csv(StringIO("sequence,label,x\na,A,0.5\na,B,1\n"))
    >>> one.numbers.tolist(), one.labels
    ([[0.5], [1.0]], ['A', 'B'])
    """
    lines = read_lines(source, "utf-8")
    first = next(lines, None)
    if first is None:
        raise InputError("The table is empty, but must have a header.")
    delimiter, header = _header(first, sequence)
    if len(set(header)) < len(header):
        raise first.error("two columns have the same name.")
    required = {*(drop if required is None else required), *([] if group is None else [group])}
    absent = sorted(name for name in required if name not in header)
    if absent:
        raise first.error(f"there is no column {absent[0]!r}; there are {_listed(header)}.")
    at_label, at_group = (header.index(name) if name in header else None for name in (label, group))
    dropped = tuple(c for c, name in enumerate(header) if name in drop)
    table = _Table(header, header.index(sequence), at_label, at_group, dropped)
    seen: set[str] = set()
    present: list[list[str]] = []
    for line in _joined(lines, delimiter):
        if not line.text.strip():
            continue
        row = _fields(line, delimiter)
        if len(row) != len(header):
            raise line.error(f"expected {len(header)} fields, as in the header, but found {len(row)}.")
        table.require_numbers(row, line.file, line.number)
        name = row[table.sequence]
        if present and name != present[-1][table.sequence]:
            yield table.frames(present)
            seen.add(present[-1][table.sequence])
            present = []
        if name in seen:
            raise line.error(f"sequence {quoted(name)} continues after another sequence; sort the rows.")
        if table.group is not None and present and row[table.group] != present[-1][table.group]:
            raise line.error(
                f"sequence {quoted(name)} belongs to two groups, {quoted(row[table.group])} too."
            )
        present.append(row)
    if present:
        yield table.frames(present)


def _joined(lines: Iterator[TextLine], delimiter: str) -> Iterator[TextLine]:
    """Yield rows, of which those with a line end between quotes are several lines."""
    for first in lines:
        text = first.text
        while '"' in text and _is_open(text, delimiter):
            more = next(lines, None)
            if more is None or len(text) > LONGEST_TEXT:
                raise first.error("a quotation mark is opened here, but not closed.")
            text = f"{text}\n{more.text}"
        yield first._replace(text=text)


def _is_open(text: str, delimiter: str) -> bool:
    """Return whether a text ends between quotes: a further line would then belong to its last field."""
    try:
        return len(list(csv.reader([f"{text}\n", "x"], delimiter=delimiter))) == 1
    except csv.Error:
        return False


def _header(line: TextLine, sequence: str) -> tuple[str, list[str]]:
    """Return the separator of fields, and the names of columns."""
    for delimiter in DELIMITERS:
        header = _fields(line, delimiter)
        if sequence in header:
            return delimiter, header
    header = max((_fields(line, delimiter) for delimiter in DELIMITERS), key=len)
    raise line.error(
        f"there is no column {sequence!r} that names the sequence; there are {_listed(header)}: "
        "--sequence-column chooses one."
    )


def _listed(header: list[str]) -> str:
    return quoted(", ".join(header))[1:-1]


def _fields(line: TextLine, delimiter: str) -> list[str]:
    """Split a line into fields, of which there may be none."""
    try:
        return next(csv.reader(io.StringIO(line.text, newline=""), delimiter=delimiter), [])
    except csv.Error as error:  # a field of more characters than a row of numbers needs
        raise line.error(f"{error}.") from None


class _Table(NamedTuple):
    """The places of the columns."""

    header: list[str]
    sequence: int
    label: int | None
    group: int | None
    dropped: tuple[int, ...]

    def others(self) -> list[int]:
        taken = (self.sequence, self.label, self.group, *self.dropped)
        return [c for c in range(len(self.header)) if c not in taken]

    def aside(self) -> list[int]:
        """Return the columns that are kept as they are."""
        named = (self.sequence, self.label)
        return [c for c in range(len(self.header)) if c not in (*self.others(), *named)]

    def require_numbers(self, row: list[str], file: str, number: int) -> None:
        for c in self.others():
            try:
                float(row[c] or "nan")
            except ValueError:
                reason = (
                    f"{quoted(row[c])} in column {quoted(self.header[c])} is not a number; --label-column "
                    "names the column of labels, and --drop those that are no features."
                )
                raise error_at(file, number, reason) from None

    def frames(self, rows: list[list[str]]) -> Frames:
        others = self.others()
        numbers = np.array([[float(row[c] or "nan") for c in others] for row in rows]).reshape(len(rows), -1)
        given = None if self.label is None else [row[self.label] for row in rows]
        labels = None if given is None else [None if name in MISSING else name for name in given]
        group = None if self.group is None else rows[0][self.group]
        names = tuple(self.header[c] for c in others)
        aside = tuple((self.header[c], [row[c] for row in rows]) for c in self.aside())
        label = "label" if self.label is None else self.header[self.label]
        headings = (self.header[self.sequence], label)
        return Frames(rows[0][self.sequence], numbers, labels, names, group, aside, headings)
