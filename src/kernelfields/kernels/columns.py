"""A kernel on some of the columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from ._base import Kernel, with_parts
from .observations import Observations, rows


class Columns(Kernel):
    """k(x, x′) = k₁(x_C, x′_C) for columns C, so that kernels for different features can be combined.

    Not universal, even if k₁ is: other columns do not count.

    Parameters
    ----------
    kernel : Kernel
        k₁.
    columns : slice, list of int, or mask
        C.

    Examples
    --------
    >>> from kernelfields.kernels import RBF, Tanimoto
    >>> profile, motifs = slice(0, 20), slice(20, None)
    >>> kernel = Columns(RBF(), profile) * Columns(Tanimoto(), motifs)
    """

    def __init__(self, kernel: Kernel, columns: Any) -> None:
        self.kernel = kernel
        self.columns = columns

    def on(self, observations: Observations) -> Kernel:
        """Return k₁ as it is on the columns."""
        return with_parts(self, {"kernel": self.kernel.on(self._cut(observations))})

    def block(self, X: Observations, Y: Observations) -> Array:
        """Return k₁ on the columns."""
        return self.kernel.block(self._cut(X), self._cut(Y))

    def diagonal(self, X: Observations) -> Array:
        """Return k₁ on the columns."""
        return self.kernel.diagonal(self._cut(X))

    def __repr__(self) -> str:
        """Return the expression that makes this kernel, k₁ written as an expression too."""
        return f"Columns({self.kernel!r}, {self.columns!r})"

    def _cut(self, X: Observations) -> Any:
        chosen = self.columns if isinstance(self.columns, slice) else np.asarray(self.columns)
        return rows(X)[:, chosen]
