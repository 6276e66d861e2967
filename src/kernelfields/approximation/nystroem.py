"""The Nyström approximation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..checks import Check, require_not_negative, whole
from ..kernels import Kernel
from ._base import Approximation, FactoredKernel, Landmarks
from ._basis import independent, with_basis
from .landmarks import Uniform
from .storage import Storage


@dataclass(frozen=True)
class Nystroem(Approximation):
    """K ≈ K_XB K_BB⁻¹ K_BX: functions are expansions over m landmarks B [williams2001].

    The minimiser is sought in the span of k(b, ·), b ∈ B, with the norm of the space of k. With all
    observations as landmarks this is the whole problem. K_XB takes 2 N m D operations, by BLAS, and N m
    numbers; an iteration of a solver takes 4 N m L operations. K_XB is never multiplied by K_BB^(−1/2), which
    would take another 2 N m²; whitening the weights instead takes about 30 m³.

    Parameters
    ----------
    rank : int
        m, at most.
    landmarks : Landmarks
        How B is chosen: `Uniform`, `KMeans`, `LeverageScores`.
    tol : float
        Landmarks whose squared distance from the span of the others is below this share of the largest
        k(x, x) are dropped.
    scratch : path, optional
        Folder for K_XB if it exceeds the memory limit, as in `Storage`.
    """

    rank: int = 500
    landmarks: Landmarks = field(default_factory=Uniform)
    tol: float = 1e-6
    scratch: str | Path | None = None
    _checks: ClassVar[Mapping[str, Check]] = {"rank": whole(), "tol": require_not_negative}

    def on(
        self, kernel: Kernel, X: Any, random: np.random.RandomState, memory_limit: int | None = None
    ) -> FactoredKernel:
        """Choose landmarks and compute kernel values with them."""
        chosen = self.landmarks.choose(kernel, X, min(self.rank, X.shape[0]), random)
        storage = Storage(memory_limit, self.scratch)
        return with_basis(kernel, X, *independent(kernel, chosen, self.tol), storage)
