"""The linear kernel."""

from __future__ import annotations

from ._base import Array, ProductKernel


class Linear(ProductKernel):
    """k(x, x′) = ⟨x, x′⟩: the linear model in other coordinates."""

    def apply(self, products: Array, left: Array, right: Array) -> None:
        """Nothing to do."""
