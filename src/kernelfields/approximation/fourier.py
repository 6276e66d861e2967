"""Random Fourier features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..checks import Check, shown, whole
from ..errors import InputError
from ..kernels import RBF, Kernel
from ..memory import require_memory
from ..spaces import factor_of
from ._base import Approximation, FactoredKernel, ObservationMap
from .columns import blocks, dtype_of
from .storage import Storage


class FourierMap(ObservationMap):
    """φ(x) = (cos ⟨ω_1, x⟩, …, sin ⟨ω_1, x⟩, …)/√h for h frequencies ω; m = 2h.

    Parameters
    ----------
    frequencies : (h, D) array
        ω.
    """

    def __init__(self, frequencies: Array) -> None:
        self.frequencies = frequencies
        self.size = 2 * len(frequencies)

    def columns(self, X: Any) -> Array:
        """Return φ(x_i)."""
        out = np.empty((X.shape[0], self.size), dtype=dtype_of(X))
        self.fill(X, out)
        return out

    def fill(self, X: Any, out: Array) -> None:
        """Write φ(x_i) to ``out``, (n, m), some rows at a time."""
        half = len(self.frequencies)
        omega = self.frequencies.T.astype(dtype_of(X))
        for rows in blocks(X.shape[0], self.size):
            angles = np.asarray(X[rows] @ omega)
            np.cos(angles, out=out[rows, :half])
            np.sin(angles, out=out[rows, half:])
            out[rows] /= np.sqrt(half).astype(out.dtype)


@dataclass(frozen=True)
class RandomFourier(Approximation):
    """Features whose inner products imitate a Gaussian kernel [rahimi2007].

    exp(−γ‖x − x′‖²) is the expectation of cos⟨ω, x − x′⟩ over ω ~ N(0, 2γI); the mean over h draws has a
    standard deviation of at most 1/√(2h) for each pair. The functions are not in k's space and there is no
    basis: the problem that is minimised is not the kernel's, but close to it. For many observations that
    would need many landmarks; `Nystroem` is more accurate at the same rank if the spectrum of K falls fast.
    The features take 2 N h D operations and 2 N h numbers.

    Parameters
    ----------
    rank : int
        m = 2h, an even number.
    scratch : path, optional
        Folder for the features if they exceed the memory limit, as in `Storage`.
    """

    rank: int = 500
    scratch: str | Path | None = None
    _checks: ClassVar[Mapping[str, Check]] = {"rank": whole(2)}

    def on(
        self, kernel: Kernel, X: Any, random: np.random.RandomState, memory_limit: int | None = None
    ) -> FactoredKernel:
        """Draw frequencies and compute features."""
        if not isinstance(kernel, RBF) or X.dtype == object:
            raise InputError(f"Random Fourier features need an RBF kernel, not {shown(kernel)}.")
        if self.rank % 2:
            raise InputError(f"The rank of RandomFourier is {self.rank}; it must be even.")
        require_memory(f"A rank of {self.rank}", 8 * self.rank * X.shape[1])
        draws = random.standard_normal((self.rank // 2, X.shape[1]))
        features = FourierMap(np.sqrt(2 * kernel.inverse_width) * draws)
        columns = Storage(memory_limit, self.scratch).empty((X.shape[0], self.rank), dtype_of(X))
        features.fill(X.tocsr() if sparse.issparse(X) else X, columns)
        return FactoredKernel(factor_of(columns), features, None, None)
