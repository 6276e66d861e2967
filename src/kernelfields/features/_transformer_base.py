"""Transformers of lists of arrays, for scikit-learn's pipelines and for `SequencePipeline`."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from ..arrays import Array
from ..errors import InputError
from ..parameters import Parameterised
from ..routing import MetadataRequests
from ._output_base import FrameOutput
from .stacking import StackedRows, stack_rows


class SequenceTransformer(Parameterised, MetadataRequests, FrameOutput):
    """Takes a list of (T, D) arrays, sparse matrices or frames, and returns one of as many rows each.

    Labels of positions therefore stay as they are.
    """

    n_features_in_: int
    feature_names_in_: Array | None
    in_time: ClassVar[bool] = False
    """Whether it looks at neighbours in a sequence, which trees and graphs do not have."""

    @abstractmethod
    def _transformed(self, given: StackedRows) -> list[Any]:
        """Return the sequences, transformed."""

    def transform(self, X: Any) -> list[Any]:
        """Return the sequences, transformed: a list of arrays, or of frames after `set_output`."""
        self._require_fitted()
        given = stack_rows(X, type(self).__name__, self.feature_names_in_, sparsely=True)
        if given.rows.shape[0]:
            self._require_width(given.rows.shape[1])
        return self._contained(self._transformed(given))

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` was called."""
        return "n_features_in_" in vars(self)

    def _read(self, X: Any) -> StackedRows:
        """Return rows to learn from, and keep what their columns are."""
        given = stack_rows(X, type(self).__name__, sparsely=True)
        if not given.rows.shape[0]:
            raise InputError(f"{type(self).__name__} needs at least one position to learn from; X has none.")
        self.n_features_in_, self.feature_names_in_ = int(given.rows.shape[1]), given.names
        return given

    def _names_in(self, given: Any) -> list[str]:
        """Return the names of the columns that it takes; x0, x1, … where there are none."""
        self._require_fitted()
        names = self.feature_names_in_ if given is None else given
        return [f"x{d}" for d in range(self.n_features_in_)] if names is None else [str(n) for n in names]

    def _require_fitted(self) -> None:
        if "n_features_in_" not in vars(self):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(f"This {type(self).__name__} is not fitted yet; call fit first.")

    def _require_width(self, width: int) -> None:
        if width != self.n_features_in_:
            who = type(self).__name__
            known = self.n_features_in_
            raise InputError(f"X has {width} features per position, expected {known}, which {who} knows.")
