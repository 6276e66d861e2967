"""Maps from observations to kernel values with a basis."""

from __future__ import annotations

from typing import Any

from ..arrays import Array
from ..kernels import Kernel
from ._base import ObservationMap


class KernelMap(ObservationMap):
    """x ↦ (k(x, basis_1), …, k(x, basis_m)).

    Parameters
    ----------
    kernel : Kernel
        k.
    basis : observations
        m observations.
    """

    def __init__(self, kernel: Kernel, basis: Any) -> None:
        self.kernel = kernel
        self.basis = basis
        self.size = int(basis.shape[0])

    def columns(self, X: Any) -> Array:
        """Return k(x_i, basis_o)."""
        return self.kernel.block(X, self.basis)
