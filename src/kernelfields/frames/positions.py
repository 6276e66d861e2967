"""The columns of a frame, position by position, whichever way it is laid out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array, offsets_of
from ..checks import require_unmasked, shown
from ..errors import InputError
from ..missing import is_missing

MISSING_PACKAGE = "Frames need the package narwhals: pip install 'kernelfields[frames]'."


class Positions(NamedTuple):
    """Columns of all positions, sequence by sequence."""

    columns: dict[str, Any]
    """(N,) or (N, d) float arrays of numbers; lists of other values."""
    offsets: Array
    ids: list[Any]
    """What the frame calls its sequences: values of the group column, or numbers of rows."""
    order: Array | None
    """The row of every position; None if rows are sequences."""

    def cut(self, values: Any) -> list[Any]:
        """Return values of all positions as a list of sequences."""
        return [values[a:b] for a, b in pairwise(self.offsets.tolist())]


def open_frame(frame: Any) -> Any:
    """Return a frame as narwhals sees it."""
    try:
        import narwhals as nw
    except ImportError as error:
        raise InputError(MISSING_PACKAGE) from error
    try:
        return nw.from_native(frame, eager_only=True)
    except TypeError as error:
        kind = type(frame).__name__
        hint = " Collect it first." if "Lazy" in kind else ""
        raise InputError(
            f"frame is a {kind}; it must be a pandas or polars frame, or a pyarrow table.{hint}"
        ) from error


def read_positions(
    frame: Any, features: Sequence[str], group: str | None, order: str | None, label: str | None = None
) -> Positions:
    """Return the columns of a frame that `open_frame` returned; refuse those that are not there."""
    names = [*features, *([] if label is None else [label])]
    for name in [*names, *(one for one in (group, order) if one is not None)]:
        if name not in frame.columns:
            raise InputError(f"The frame has no column {name!r}.")
    if group is None and order is not None:
        raise InputError("order is for frames with a row per position; give group, too.")
    layout = _rows_of_lists(frame, names) if group is None else _grouped(frame, names, group, order)
    for name in features:
        layout.columns[name] = _values(name, layout.columns[name], layout)
    return layout


def _grouped(frame: Any, names: Sequence[str], group: str, order: str | None) -> Positions:
    """Return rows of one group together, in the order of the frame or of a column."""
    given = frame[group].to_list()
    for row, value in enumerate(given):
        if is_missing(value):
            raise InputError(f"Column {group!r} has no value in row {row}.")
    number: dict[Any, int] = {}
    codes = np.array([number.setdefault(value, len(number)) for value in given], dtype=np.int64)
    rows = np.arange(len(codes)) if order is None else _sorted_by(frame, order)
    rows = rows[np.argsort(codes[rows], kind="stable")]
    offsets = offsets_of(np.bincount(codes, minlength=len(number)))
    columns = {name: _taken(frame[name], rows) for name in names}
    return Positions(columns, offsets, list(number), rows)


def _sorted_by(frame: Any, order: str) -> Array:
    values = frame[order]
    if values.is_null().any():
        raise InputError(f"Column {order!r} has no value in row {values.is_null().to_list().index(True)}.")
    return np.argsort(values.to_numpy(), kind="stable")


def _taken(series: Any, rows: Array) -> Any:
    if series.dtype.is_numeric():
        return _floats(series)[rows]
    values = series.to_list()
    return [values[row] for row in rows.tolist()]


def _floats(series: Any) -> Array:
    import narwhals as nw

    if series.dtype == nw.Float32:
        single: Array = series.to_numpy().astype(np.float32, copy=False)
        return single
    result: Array = series.cast(nw.Float64).to_numpy().astype(np.float64, copy=False)
    return result


def _rows_of_lists(frame: Any, names: Sequence[str]) -> Positions:
    """Return the lists of all rows, one behind the other; those of one row have one length."""
    lists = {
        name: [_list(value, name, row) for row, value in enumerate(frame[name].to_list())] for name in names
    }
    lengths: list[int] = []
    for row in range(len(frame)):
        found = {name: len(values[row]) for name, values in lists.items()}
        if len(set(found.values())) > 1:
            first, other = next(iter(found)), next(n for n in found if found[n] != next(iter(found.values())))
            raise InputError(
                f"Row {row} has {found[first]} values in {first!r}, but {found[other]} in {other!r}."
            )
        lengths.append(next(iter(found.values()), 0))
    columns = {name: list(chain.from_iterable(values)) for name, values in lists.items()}
    return Positions(columns, offsets_of(lengths), list(range(len(frame))), None)


def _list(value: Any, name: str, row: int) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist() if value.dtype != object else list(value)
    if not isinstance(value, list | tuple):
        hint = "; give group= if every row is a position"
        raise InputError(f"Column {name!r} has {shown(value)} in row {row}, expected a list{hint}.")
    return value


def _values(name: str, values: Any, layout: Positions) -> Any:
    """Return numbers as an array, vectors as a matrix, and texts as they are."""
    if isinstance(values, np.ndarray):
        return values
    first = next((value for value in values if value is not None), None)
    if isinstance(first, str):
        return _texts(name, values, layout)
    if isinstance(first, Real | np.bool_) or first is None:
        return _numbers(name, values, layout)
    if isinstance(first, list | tuple | np.ndarray):
        return _vectors(name, values, layout)
    kind = type(first).__name__
    raise InputError(f"Column {name!r} holds {kind} values; features are numbers, texts or lists of numbers.")


def _texts(name: str, values: list[Any], layout: Positions) -> list[str]:
    for n, value in enumerate(values):
        if not isinstance(value, str):
            what = "no value" if is_missing(value) else f"{shown(value)}, which is no text,"
            raise InputError(f"Column {name!r} has {what} {_place(layout, n)}.")
    return values


def _numbers(name: str, values: list[Any], layout: Positions) -> Array:
    for n, value in enumerate(values):
        if not isinstance(value, Real | np.bool_) and not is_missing(value):
            raise InputError(f"Column {name!r} has {shown(value)}, which is no number, {_place(layout, n)}.")
    return np.array([np.nan if is_missing(value) else float(value) for value in values], dtype=np.float64)


def _vectors(name: str, values: list[Any], layout: Positions) -> Array:
    require_unmasked(values, f"Column {name!r}")
    width = len(next(value for value in values if value is not None))
    for n, value in enumerate(values):
        if value is None or np.ndim(value) != 1 or len(value) != width:
            raise InputError(f"Column {name!r} has no {width} numbers {_place(layout, n)}.")
    try:
        return np.array(values, dtype=np.float64).reshape(len(values), width)
    except (TypeError, ValueError) as error:
        raise InputError(f"Column {name!r} has lists that are not made of numbers: {error}.") from error


def _place(layout: Positions, n: int) -> str:
    if layout.order is not None:
        return f"in row {layout.order[n]}"
    row = int(np.searchsorted(layout.offsets, n, side="right")) - 1
    return f"in row {row} at position {n - layout.offsets[row]}"
