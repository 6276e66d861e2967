"""What free scores share."""

from __future__ import annotations

from ..structures._base import Array
from ._base import Curved, Euclidean


class Free(Euclidean, Curved):
    """A space whose features are 0 or 1, hence equal to their squares."""

    def curvatures(self, expected: Array) -> Array:
        """Give how often each feature is expected."""
        return self.adjoint(expected)
