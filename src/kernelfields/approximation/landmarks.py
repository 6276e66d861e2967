"""Ways to choose landmarks."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy
from scipy import sparse

from ..arrays import Array
from ..checks import Check, optional, require_positive, whole
from ..errors import InputError
from ..kernels import Kernel
from ._base import LandmarkBasis, Landmarks
from .columns import blocks, widened


@dataclass(frozen=True)
class Uniform(Landmarks):
    """Observations at random, all equally likely: the cheapest choice, and often good enough."""

    def choose(self, kernel: Kernel, X: Any, rank: int, random: np.random.RandomState) -> LandmarkBasis:
        """Draw observations without replacement, in the order of X."""
        indices = np.sort(random.choice(X.shape[0], rank, replace=False))
        return LandmarkBasis(X[indices], indices)


@dataclass(frozen=True)
class KMeans(Landmarks):
    """Centres of clusters [zhang2008], which are not observations but close to many.

    For observations that are rows of numbers, and kernels that are smooth in them. The clusters come
    from scikit-learn's MiniBatchKMeans.

    Parameters
    ----------
    batch_size : int
        Observations per step.
    max_iter : int
        Limit of passes through the observations.
    """

    batch_size: int = 4096
    max_iter: int = 10
    _checks: ClassVar[Mapping[str, Check]] = {"batch_size": whole(), "max_iter": whole()}

    def choose(self, kernel: Kernel, X: Any, rank: int, random: np.random.RandomState) -> LandmarkBasis:
        """Return the centres of clusters."""
        if X.dtype == object:
            raise InputError("KMeans needs observations that are rows of numbers.")
        if kernel.takes_missing and not sparse.issparse(X) and np.isnan(X).any():
            raise InputError(
                "KMeans needs complete observations, X has NaN: Uniform() takes some as they are."
            )
        from sklearn.cluster import MiniBatchKMeans
        from sklearn.exceptions import ConvergenceWarning

        clusters = MiniBatchKMeans(
            rank, batch_size=self.batch_size, max_iter=self.max_iter, n_init=1, random_state=random
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct observations than clusters
            clusters.fit(X)
        return LandmarkBasis(np.ascontiguousarray(clusters.cluster_centers_, dtype=X.dtype), None)


@dataclass(frozen=True)
class LeverageScores(Landmarks):
    """Observations at random, more likely those unlike others [alaoui2015].

    The ridge leverage score of x is l(x) = (K (K + δI)⁻¹)_xx, estimated from a uniform sketch S of s
    observations as l(x) ≈ (k(x, x) − k_xS (K_SS + (s/N) δ I)⁻¹ k_Sx)/δ, in time 2 N s (D + s).

    Parameters
    ----------
    sketch : int, optional
        s; the number of landmarks if not given.
    ridge : float, optional
        δ; if not given, tr K over the number of landmarks, so that the leverage scores add up to at most
        that number.
    """

    sketch: int | None = None
    ridge: float | None = None
    _checks: ClassVar[Mapping[str, Check]] = {
        "sketch": optional(whole()),
        "ridge": optional(require_positive),
    }

    def choose(self, kernel: Kernel, X: Any, rank: int, random: np.random.RandomState) -> LandmarkBasis:
        """Draw observations without replacement, in proportion to their scores, in the order of X."""
        scores = self.scores(kernel, X, rank, random)
        # Rounding may leave zeros, and fewer than ``rank`` others.
        scores = np.maximum(scores, 1e-9 * scores.max())
        indices = random.choice(X.shape[0], rank, replace=False, p=scores / scores.sum())
        indices.sort()
        return LandmarkBasis(X[indices], indices)

    def scores(self, kernel: Kernel, X: Any, rank: int, random: np.random.RandomState) -> Array:
        """Return the leverage scores l(x), (N,)."""
        n = X.shape[0]
        size = min(n, rank if self.sketch is None else self.sketch)
        diagonal = np.asarray(kernel.diagonal(X), dtype=np.float64)
        ridge = diagonal.sum() / rank if self.ridge is None else self.ridge
        if not (size > 0 and ridge > 0):
            raise InputError("The sketch and the ridge of LeverageScores must be positive.")
        sketch = widened(X[np.sort(random.choice(n, size, replace=False))])
        gram = np.asarray(kernel.block(sketch, sketch))
        system = scipy.linalg.cho_factor(gram + (size / n) * ridge * np.eye(size), lower=True)
        explained = np.empty(n)
        for rows in blocks(n, size):
            cross = kernel.block(widened(X[rows]), sketch)
            explained[rows] = np.einsum("is,si->i", cross, scipy.linalg.cho_solve(system, cross.T))
        return np.clip((diagonal - explained) / ridge, 0, 1)
