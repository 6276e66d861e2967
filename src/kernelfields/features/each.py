"""scikit-learn's transformers of rows, for lists of arrays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any, Self

import numpy as np

from ..arrays import Array
from ..checks import as_list, require_flag, require_weights, shown
from ..errors import InputError
from ..missing import is_missing
from ._transformer_base import SequenceTransformer
from .stacking import StackedRows, len_of


class Each(SequenceTransformer):
    """A transformer of rows, such as a scaler or PCA, for the rows of every sequence.

    It is fitted to the rows of all sequences together, or to every sequence by itself: for signals whose
    level and range differ from recording to recording, and must not tell one recording from another. In the
    latter case nothing is carried over from training; a sequence to predict has to be complete.

    Parameters
    ----------
    transformer : transformer
        Any of scikit-learn's, or written like them, that returns one row for every row. A clone of it is
        fitted. Model files hold the scalers and decompositions that are listed in `SCALERS`.
    per_sequence : bool
        Whether every sequence is transformed by what was learnt from it alone.

    Attributes
    ----------
    transformer_ : transformer
        Fitted; of the first sequence with ``per_sequence``, of which only the names of columns are used.
    n_features_in_, feature_names_in_ : int, array or None
        Columns that it takes, and their names if they came in frames.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> X = [np.array([[0.0], [2.0]]), np.array([[10.0], [14.0]])]
    >>> [x.ravel().round(2).tolist() for x in each(StandardScaler()).fit_transform(X)]
    [[-1.14, -0.79], [0.61, 1.31]]
    >>> [x.ravel().tolist() for x in each(StandardScaler(), per_sequence=True).fit_transform(X)]
    [[-1.0, 1.0], [-1.0, 1.0]]
    """

    transformer_: Any

    def __init__(self, transformer: Any, *, per_sequence: bool = False) -> None:
        self.transformer = transformer
        self.per_sequence = per_sequence

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Learn from a list of (T, D) arrays.

        Parameters
        ----------
        X : list of (T, D) arrays, sparse matrices or frames
            Sequences.
        y : list of label sequences, optional
            For transformers that need labels, which learn from positions that have one; others do not see it.
        sample_weight : (S,) array, optional
            How many times each sequence counts, for transformers that take weights.
        """
        require_flag("per_sequence", self.per_sequence)
        _require_transformer(self.transformer)
        given = self._read(X)
        weights = require_weights(sample_weight, len(given.offsets) - 1)
        if self.per_sequence:
            if weights is not None:
                raise InputError("sample_weight is not for per_sequence: no sequence counts in another.")
            given = _first(given)
        labels = _labels(self.transformer, y, given)
        if weights is not None:
            weights = np.repeat(weights, np.diff(given.offsets))
        self.transformer_ = _fitted(self.transformer, given.rows, labels, weights)
        return self

    def fit_transform(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> list[Any]:
        """Fit, and transform the same sequences."""
        return self.fit(X, y, sample_weight=sample_weight).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names that the transformer gives its columns; y0, y1, … where it gives none."""
        names = self._names_in(input_features)
        own = getattr(self.transformer_, "get_feature_names_out", None)
        if own is not None:
            return np.asarray(own(names), dtype=object)
        width = self.transformer_.transform(np.zeros((1, len(names)))).shape[1]
        return np.array([f"y{d}" for d in range(width)], dtype=object)

    def _transformed(self, given: StackedRows) -> list[Any]:
        if self.per_sequence:
            return self._one_by_one(given.split(given.rows))
        if not given.rows.shape[0]:
            width = len(self.get_feature_names_out())
            return given.split(np.zeros((0, width)))
        with _named(self.transformer_):
            found = self.transformer_.transform(given.rows)
        if found.shape[0] != given.rows.shape[0]:
            name = type(self.transformer_).__name__
            raise InputError(f"{name} made {found.shape[0]} rows of {given.rows.shape[0]}; expected as many.")
        return given.split(found.tocsr() if hasattr(found, "tocsr") else np.asarray(found))

    def _one_by_one(self, sequences: list[Any]) -> list[Any]:
        """Return every sequence as a transformer of its own makes it; those without rows have none to fit."""
        width = len(self.get_feature_names_out())
        result = []
        for s, x in enumerate(sequences):
            found = np.zeros((0, width)) if not len_of(x) else _fitted(self.transformer, x).transform(x)
            if found.shape[1] != width:
                name = type(self.transformer).__name__
                raise InputError(
                    f"{name} makes {found.shape[1]} columns of sequence {s}, and {width} of the first."
                )
            result.append(found)
        return result


def each(transformer: Any, *, per_sequence: bool = False) -> Each:
    """Return a transformer of rows, such as ``StandardScaler()`` or ``PCA(8)``, for lists of arrays.

    Parameters
    ----------
    transformer : transformer
        Any of scikit-learn's that returns one row for every row.
    per_sequence : bool
        Whether to fit it to every sequence by itself, instead of to the rows of all.
    """
    return Each(transformer, per_sequence=per_sequence)


def _require_transformer(given: Any) -> None:
    if isinstance(given, type) or not all(hasattr(given, name) for name in ("fit", "transform")):
        raise InputError(f"each takes a transformer of rows, such as StandardScaler(), not {shown(given)}.")


def _first(given: StackedRows) -> StackedRows:
    """Return the first sequence that has rows."""
    s = int(np.flatnonzero(np.diff(given.offsets))[0])
    return given._replace(
        rows=given.split(given.rows)[s], offsets=given.offsets[[s, s + 1]] - given.offsets[s]
    )


def _fitted(transformer: Any, rows: Any, labels: Any = None, weights: Any = None) -> Any:
    from sklearn.base import clone

    known: Any = {} if weights is None else {"sample_weight": weights}
    if labels is not None:
        seen = np.flatnonzero([not is_missing(label) for label in labels])
        known = {name: values[seen] for name, values in known.items()}
        rows, known["y"] = rows[seen], [labels[n] for n in seen]
    with _named(transformer):
        return clone(transformer).fit(rows, **known)


@contextmanager
def _named(transformer: Any) -> Iterator[None]:
    """Say in one sentence whose complaint it is, if it is one about rows."""
    try:
        yield
    except (TypeError, ValueError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise InputError(f"{type(transformer).__name__} does not take these rows: {reason}.") from error


def _labels(transformer: Any, y: Any, given: StackedRows) -> list[Any] | None:
    """Return the labels of all rows for a transformer that learns from labels; None for others."""
    from sklearn.utils import get_tags

    needed = get_tags(transformer).target_tags.required
    if y is None or not (needed or hasattr(transformer, "score_func")):  # SelectKBest may do without
        return None
    labels = list(chain.from_iterable(as_list(y)))
    if len(labels) != given.rows.shape[0]:
        raise InputError(f"y has {len(labels)} labels for {given.rows.shape[0]} positions of X.")
    return labels
