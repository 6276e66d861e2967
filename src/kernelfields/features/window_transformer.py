"""Windows as a transformer."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from ..arrays import Array
from ._transformer_base import SequenceTransformer
from .stacking import StackedRows
from .windows import stack_windows


class Windows(SequenceTransformer):
    """Every position together with its neighbours, for pipelines: `stack_windows` as a transformer.

    Parameters
    ----------
    width : int
        Number of positions in a window; odd.
    stride : int
        Distance between the positions of a window.
    padding : float or "edge"
        Values beyond the ends of a sequence: a number, NaN, or "edge" to repeat the first and the last row.
    weights : (width,) array, optional
        Factors of the positions of a window; 1 if not given.

    Attributes
    ----------
    n_features_in_, feature_names_in_ : int, array or None
        Columns that it takes, and their names if they came in frames.

    Examples
    --------
    >>> windows = Windows(3, padding="edge")
    >>> windows.fit_transform([np.array([[1.0], [2.0]])])[0].tolist()
    [[1.0, 1.0, 2.0], [1.0, 2.0, 2.0]]
    >>> windows.get_feature_names_out(["x"]).tolist()
    ['x[-1]', 'x', 'x[1]']
    """

    in_time: ClassVar[bool] = True

    def __init__(
        self, width: int = 3, *, stride: int = 1, padding: str | float = 0.0, weights: Any = None
    ) -> None:
        self.width = width
        self.stride = stride
        self.padding = padding
        self.weights = weights

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the settings, and keep what columns there are."""
        self._stacked([])
        self._read(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> list[Any]:
        """Fit, and transform the same sequences."""
        return self.fit(X).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return names such as x[-1], x and x[1], the windows' places in order."""
        names = self._names_in(input_features)
        steps = [self.stride * (k - self.width // 2) for k in range(self.width)]
        return np.array(
            [f"{name}[{step}]" if step else name for step in steps for name in names], dtype=object
        )

    def _transformed(self, given: StackedRows) -> list[Any]:
        return self._stacked(given.split(given.rows))

    def _stacked(self, sequences: list[Any]) -> list[Any]:
        how = {"stride": self.stride, "weights": self.weights, "padding": self.padding}
        return stack_windows(sequences, self.width, **how)
