"""Rows without order, or sequences of them, as a classifier of rows reads them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..arrays import Array, listed_labels
from ..checks import as_list, require_unmasked, shown
from ..data.sample_weights import read_weights
from ..errors import InputError, UnsupportedError
from ..missing import is_missing
from ..structures import SEQUENCES, Structure, Words
from ..tables import structure_of
from .inputs import FILLED, Inputs, read_inputs, sparse_rows
from .labels import (
    UNOBSERVED,
    Encoded,
    encode,
    plain,
    read_labels,
    require_sequences,
    require_unmasked_outputs,
)
from .reading import linked, read_to_predict
from .types import Items, Outputs

PLAIN = {int, str, bool}
"""Types of labels that are neither missing nor fractions."""


class Rows(NamedTuple):
    """All rows, one below the other."""

    features: Any
    """(N, D) array or CSR matrix."""
    offsets: Array | None
    """(S + 1,) where each sequence begins; None if there are only rows."""
    words: Words = SEQUENCES
    """What messages call sequences."""

    def spread(self, values: Array) -> Array:
        """Give every row the value of its sequence."""
        return values if self.offsets is None else np.repeat(values, np.diff(self.offsets))

    def split(self, values: Any) -> Any:
        """Cut values of all rows into those of sequences, if there are any."""
        return values if self.offsets is None else [values[a:b] for a, b in pairwise(self.offsets)]

    def places(self, rows: Array) -> Array:
        """Return sequence and position of rows, (n, 2); of rows alone their number and 0."""
        if self.offsets is None:
            return np.column_stack([rows, np.zeros_like(rows)])
        sequence = np.searchsorted(self.offsets, rows, side="right") - 1
        return np.column_stack([sequence, rows - self.offsets[sequence]])


def read_rows(model: Any, X: Items, *, fitting: bool) -> Rows:
    """Read X, one matrix or a list of them, as scikit-learn does.

    ``model`` gets ``n_features_in_`` and ``feature_names_in_`` if it is being fitted, and is asked for them
    if it was.
    """
    structure = structure_of(model.structure) if fitting else model.structure_
    X = as_list(X)
    if structure.linked or _are_sequences(X):
        inputs = _read_sequences(model, structure, X, fitting)
        return Rows(inputs.features, inputs.offsets, structure.words)
    require_unmasked(X, "X", FILLED)
    from sklearn.utils.validation import validate_data

    wanted = {"accept_sparse": "csr", "dtype": (np.float64, np.float32), "ensure_min_samples": int(fitting)}
    try:
        found = validate_data(model, X, reset=fitting, **wanted)
    except TypeError as error:
        raise UnsupportedError(f"X is not an array of numbers: {error}.") from error
    except ValueError as error:
        raise InputError(str(error)) from error
    return Rows(sparse_rows(found, "X") if sparse.issparse(found) else found, None)


def _read_sequences(model: Any, structure: Structure, X: Items, fitting: bool) -> Inputs:
    if not fitting:
        width = model.n_features_in_  # models from large files read the rest now
        return read_to_predict(structure, None, X, None, width, vars(model).get("feature_names_in_"))
    require_sequences(structure, type(model).__name__)
    X, parts = structure.split(X)
    inputs = linked(structure, read_inputs(X, words=structure.words), parts)
    model.n_features_in_ = inputs.features.shape[1]
    if inputs.names is not None:
        model.feature_names_in_ = inputs.names
    return inputs


def _are_sequences(X: Items) -> bool:
    """Whether X is a list of matrices rather than one of rows."""
    if isinstance(X, np.ndarray):
        return X.ndim == 3
    if not isinstance(X, Sequence) or isinstance(X, str):
        return False
    return len(X) == 0 or sparse.issparse(X[0]) or _is_matrix(X[0])


def _is_matrix(item: Any) -> bool:
    """Whether it has rows and columns, or was meant to: what NumPy cannot read is refused by its number."""
    try:
        return np.ndim(item) == 2
    except ValueError:
        return True


def read_row_labels(y: Outputs, rows: Rows) -> list[Hashable]:
    """Return the label of every row; None where it is missing."""
    if y is None:
        raise InputError("A classifier requires y to be passed, but the target y is None.")
    if rows.offsets is not None:
        return list(chain.from_iterable(read_labels(y, np.diff(rows.offsets), words=rows.words)))
    require_unmasked_outputs(y, words=rows.words)
    labels = _column(y)
    usual = set(map(type, labels)) <= PLAIN
    if not usual:
        labels = [None if is_missing(label) else label for label in labels]
    if len(labels) != rows.features.shape[0]:
        raise InputError(f"X has {rows.features.shape[0]} rows, but y has {len(labels)} labels.")
    for n, label in enumerate([] if usual else labels):
        if isinstance(label, float) and not label.is_integer():
            raise InputError(
                f"Unknown label type: continuous. Row {n} of y is {label}; labels are names or whole numbers."
            )
    return labels


def encode_row_labels(labels: list[Hashable]) -> Encoded:
    """Encode observed labels; refuse fewer than two classes in scikit-learn's words."""
    count = len(set(labels))
    if count < 2:
        found = "1 class" if count else "no observed label"
        raise InputError(f"Training needs at least two classes; y has {found} in {len(labels)} rows.")
    return encode([labels])


def _column(y: Outputs) -> list[Any]:
    """Labels of rows; an array of one column is one, with a warning."""
    from sklearn.utils import column_or_1d

    if isinstance(y, list | tuple):  # labels may be tuples, or of several kinds: no array of them
        labels = [plain(label) for label in y]
        for n, label in enumerate(labels):
            if not isinstance(label, Hashable):
                raise InputError(f"Row {n} of y is {shown(label)}, not a label.")
        return labels
    try:
        labels = listed_labels(column_or_1d(np.asarray(y), warn=True))
    except ValueError as error:
        raise InputError(str(error)) from error
    return labels


def read_row_weights(weights: Any, rows: Rows) -> Array:
    """Return a weight for every row, of those given for rows or for sequences."""
    count = rows.features.shape[0] if rows.offsets is None else len(rows.offsets) - 1
    return rows.spread(read_weights(weights, count, rows.words))


def read_partial_labels(y: Outputs, rows: Rows) -> tuple[list[Hashable], int | None]:
    """Return the labels of all rows, None where they are missing, and how that was written: None or −1.

    A sequence may be None or −1 as a whole.
    """
    if rows.offsets is not None and isinstance(y, list | tuple) and len(y) == len(rows.offsets) - 1:
        lengths = np.diff(rows.offsets).tolist()
        y = [[one] * n if _is_missing(one) else one for one, n in zip(y, lengths, strict=True)]
    labels = read_row_labels(y, rows)
    minus = [
        n for n, label in enumerate(labels) if label == -1 and (type(label) is int or _is_minus_one(label))
    ]
    if not minus:
        return labels, None
    if None in labels:
        raise InputError("y has None and −1; only one of them can stand for labels that are missing.")
    for n in minus:
        labels[n] = None
    if len(set(labels) - {None}) < 2:
        raise InputError("Training needs at least two labels, and −1 stands for one that is missing.")
    return labels, UNOBSERVED


def _is_missing(sequence: Any) -> bool:
    return sequence is None or _is_minus_one(sequence)


def _is_minus_one(label: Any) -> bool:
    return isinstance(label, int | float | np.number) and not isinstance(label, bool) and bool(label == -1)
