"""What free scores share."""

from __future__ import annotations

from ..arrays import Array
from ._base import Counted, Curved, Euclidean


class Indicators(Euclidean, Curved, Counted):
    """A space whose features are 0 or 1, hence equal to their squares."""

    def curvatures(self, expected: Array) -> Array:
        """Return how often each feature is expected."""
        return self.adjoint(expected)

    @property
    def least(self) -> float:
        """0."""
        return 0.0
