"""Several kernels on vertices, each with coefficients of its own."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..kernels import Kernel
from .vertex_kernels import used_times


class SeparateKernels(NamedTuple):
    """f(x, y) = Σ_i Σ_o k_i(x, basis_o) coef_{o,y}, o in the part of the basis that belongs to k_i."""

    kernels: tuple[Kernel, ...]
    ends: tuple[int, ...]
    """Where the part of each ends."""

    def scores(self, observations: Any, basis: Any, coef: Array) -> Array:
        """F of every observation, (N, L)."""
        result, start = np.zeros((observations.shape[0], coef.shape[1])), 0
        for kernel, end in zip(self.kernels, self.ends, strict=True):
            if end > start:
                result += used_times(kernel, observations, basis[start:end], coef[start:end])
            start = end
        return result

    def by_label(self, classes: Array) -> dict[Hashable, Kernel]:
        """The kernels, by their numbers."""
        return dict(enumerate(self.kernels))
