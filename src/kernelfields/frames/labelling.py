"""Frames labelled by a model."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from ..arrays import Array
from ..data.labels import index_of
from ..errors import InputError
from .positions import Positions, open_frame, read_positions
from .reading import column_names, cut_sequences, known_columns

LISTS = ("polars", "pyarrow")
"""Kinds of frames with lists as a type of their own."""


def label(
    model: Any,
    frame: Any,
    *,
    features: Sequence[str] | None = None,
    group: str | None = None,
    order: str | None = None,
    name: str = "label",
    probability: str | None = "probability",
    every: bool = False,
    **options: Any,
) -> Any:
    """Return a frame with columns of labels and their probabilities, of the same kind and in its order.

    Parameters
    ----------
    model : estimator
        Fitted.
    frame : pandas or polars frame, or pyarrow table
        A row per position, or a row per sequence with columns of lists: the new columns are then of lists.
    features : list of str, optional
        Columns to look at; if not given, those whose names the model was fitted to.
    group : str, optional
        The column that names the sequence of every row; if not given, rows are sequences.
    order : str, optional
        A column to sort the rows of a sequence by.
    name : str
        The new column of labels.
    probability : str or None
        The new column with p(y_t|x) of each label, missing where the model abstained; None for none.
    every : bool
        Whether to add p(y_t|x) of every label, in columns such as ``p(B-PER)``.
    options
        Of the model's `predict`: ``decoder``, ``abstain``, ``error_at_most``.
    """
    given = open_frame(frame)
    columns = column_names(_known(model) if features is None else features)
    found = read_positions(given, columns, group, order)
    X = cut_sequences(found, columns, None, model).X
    labels = list(chain.from_iterable(model.predict(X, **options)))
    new: dict[str, Any] = {name: labels}
    if probability is not None or every:
        marginals = _stacked(model, X)
        if probability is not None:
            new[probability] = _chosen(model, labels, marginals)
        if every:
            new |= {f"p({one})": marginals[:, k] for k, one in enumerate(model.classes_.tolist())}
    for column in new:
        if column in given.columns:
            raise InputError(f"The frame has a column {column!r} already: choose another name.")
    return given.with_columns(*(_series(given, found, *one) for one in new.items())).to_native()


def _known(model: Any) -> list[str]:
    names = known_columns(model)
    if names is None:
        raise InputError(f"This {type(model).__name__} knows no names of columns: give features=.")
    return names


def _stacked(model: Any, X: list[Any]) -> Array:
    if not hasattr(model, "predict_marginals"):
        raise InputError(f"{type(model).__name__} has no probabilities: give probability=None.")
    empty = np.zeros((0, len(model.classes_)))
    return np.concatenate([empty, *model.predict_marginals(X)])


def _chosen(model: Any, labels: list[Any], marginals: Array) -> list[float | None]:
    index = index_of(model.classes_)
    return [
        None if one is None else float(row[index[one]]) for one, row in zip(labels, marginals, strict=True)
    ]


def _series(frame: Any, found: Positions, name: str, values: Any) -> Any:
    """Return a column: values in the order of the rows, or a list for every row."""
    import narwhals as nw

    flat = values.tolist() if isinstance(values, np.ndarray) else values
    kind = nw.Float64() if isinstance(next((v for v in flat if v is not None), 0.0), float) else None
    backend = frame.implementation
    try:
        if found.order is None:
            if kind is None and not flat:
                kind = nw.Float64()
            listed = None if kind is None or str(backend.value) not in LISTS else nw.List(kind)
            return nw.new_series(name, found.cut(flat), dtype=listed, backend=backend)
        placed: list[Any] = [None] * len(flat)
        for row, value in zip(found.order.tolist(), flat, strict=True):
            placed[row] = value
        return nw.new_series(name, placed, dtype=kind, backend=backend)
    except (TypeError, ValueError) as error:
        raise InputError(f"The labels do not fit into a column of this frame: {error}.") from error
