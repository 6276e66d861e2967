"""Missing numbers in sequences, filled in and marked."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Self

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..checks import one_of, require_flag, require_not_negative
from ..errors import InputError
from ..incomplete import JointGaussian, complete_rows, fit_gaussian
from ..parameters import Parameterised
from ._output_base import FrameOutput
from .stacking import stack_rows

METHODS = ("mean", "interpolate", "gaussian")


class MissingValues(Parameterised, FrameOutput):
    """NaN in sequences of numbers, filled in, if wanted with columns of 0 and 1 that say where.

    Estimators that take ``features=`` take it as that: it is then learnt in every fit, and saved in the
    model's file. It is a transformer of lists of arrays for scikit-learn's pipelines, too.

    What is filled in is a guess that a linear model cannot tell from an observation. With indicators it can:
    missing numbers then have a score of their own. That pays where it depends on the label whether a number
    is missing; where numbers are missing at random, it is noise (``python -m experiments missing``).

    Parameters
    ----------
    method : "gaussian", "interpolate" or "mean"
        What is filled in: E[x_m | x_o], the mean given what was observed at the same position, under a joint
        Gaussian of the columns, fitted to all positions by `fit_gaussian`; numbers on the line from the last
        to the next one observed of the same column and sequence, the nearest beyond the first and the last,
        the mean of the column where the sequence has none (for sequences in time, not for trees and
        graphs); or the mean of the column over all positions.
    indicators : bool
        Whether to add a column for every one that lacks numbers in the training set: 1 where one is missing,
        else 0.
    prior : float
        Of the joint Gaussian: how many positions the prior, independent columns, counts for.

    Attributes
    ----------
    mean_ : (D,) array
        Means; ``covariance_`` (D, D) with "gaussian", else None.
    indicated_ : (I,) array
        Columns that have indicators.
    n_features_in_, feature_names_in_ : int, array or None
        Columns that it takes, and their names if they came in frames.

    Examples
    --------
    >>> nan = float("nan")
    >>> fill = MissingValues("interpolate", indicators=True)
    >>> fill.fit_transform([[[1.0, 5.0], [nan, 7.0], [2.0, 6.0]]])[0].tolist()
    [[1.0, 5.0, 0.0], [1.5, 7.0, 1.0], [2.0, 6.0, 0.0]]
    """

    mean_: Array
    covariance_: Array | None
    indicated_: Array
    n_features_in_: int
    feature_names_in_: Array | None

    def __init__(self, method: str = "gaussian", *, indicators: bool = False, prior: float = 1.0) -> None:
        self.method = method
        self.indicators = indicators
        self.prior = prior

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn means, covariances, and which columns lack numbers, from a list of (T, D) arrays."""
        given = stack_rows(X, "MissingValues")
        return self.fit_rows(given.rows, given.names)

    def transform(self, X: Any) -> list[Any]:
        """Return the sequences, filled in, each with its indicators behind its columns."""
        given = stack_rows(X, "MissingValues", self.fitted_names)
        return self._contained(given.split(self.fill(given.rows, given.offsets)))

    def fit_transform(self, X: Any, y: Any = None) -> list[Any]:
        """Fit, and transform the same sequences."""
        return self.fit(X).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of columns, ``missing(name)`` of indicators; x0, x1, … where there are none."""
        self._require_fitted()
        given = self.feature_names_in_ if input_features is None else input_features
        names = [f"x{j}" for j in range(self.n_features_in_)] if given is None else list(given)
        return np.array([*names, *(f"missing({names[j]})" for j in self.indicated_)], dtype=object)

    @property
    def fitted_names(self) -> Array | None:
        """The names of the columns that it was fitted to; None if they had none, or it was not fitted."""
        return vars(self).get("feature_names_in_")

    def fit_rows(self, rows: Any, names: Array | None = None) -> Self:
        """Learn from positions, one below the other, whatever sequence they are of."""
        one_of(METHODS)("method", self.method)
        require_flag("indicators", self.indicators)
        prior = require_not_negative("prior", self.prior)
        rows = _dense(rows)
        if not len(rows):
            raise InputError("MissingValues needs at least one position to learn from; X has none.")
        gaussian = fit_gaussian(rows, full=self.method == "gaussian", prior=prior)
        self.mean_ = gaussian.mean
        self.covariance_ = gaussian.covariance if self.method == "gaussian" else None
        lacking = np.isnan(rows).any(axis=0)
        self.indicated_ = np.flatnonzero(lacking) if self.indicators else np.zeros(0, dtype=np.int64)
        self.n_features_in_, self.feature_names_in_ = rows.shape[1], names
        return self

    def fill(self, rows: Any, offsets: Array) -> Array:
        """Return rows of sequences that begin at the offsets, filled in, in their precision."""
        self._require_fitted()
        rows = _dense(rows)
        if rows.shape[1] != self.n_features_in_:
            raise InputError(f"X has {rows.shape[1]} features, MissingValues expects {self.n_features_in_}.")
        missing = np.isnan(rows)
        filled = rows if not missing.any() else self._filled(rows, offsets).astype(rows.dtype)
        indicators = missing[:, self.indicated_].astype(rows.dtype)
        return np.concatenate([filled, indicators], axis=1)

    def _filled(self, rows: Array, offsets: Array) -> Array:
        if self.covariance_ is not None:
            return complete_rows(rows, JointGaussian(self.mean_, self.covariance_)).means
        result = np.array(rows, dtype=np.float64)
        if self.method == "interpolate":
            for a, b in pairwise(offsets):
                _interpolate(result[a:b])
        return np.where(np.isnan(result), self.mean_, result)

    def _require_fitted(self) -> None:
        if "mean_" not in vars(self):
            raise InputError("This MissingValues is not fitted yet; call fit first.")


def _interpolate(rows: Array) -> None:
    """Fill in, column by column, between and beyond what was observed; not where nothing was."""
    for column in rows.T:
        seen = ~np.isnan(column)
        if seen.any() and not seen.all():
            places = np.arange(len(column))
            column[~seen] = np.interp(places[~seen], places[seen], column[seen])


def _dense(rows: Any) -> Array:
    if sparse.issparse(rows):
        raise InputError("MissingValues takes dense arrays: what a sparse matrix does not hold is 0.")
    return np.asarray(rows)
