"""Functions of kernels of few features, learnt as weights of these.

Both spaces hold the same functions with the same norm; m weights take m/N of the time and memory of N
coefficients.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import scipy
from scipy import sparse

from ...approximation import ObservationMap
from ...arrays import Array
from ...kernels import Kernel, Linear
from ...kernels.feature_map import features_of
from ...objective import Norm
from ...observations import in_precision
from ...spaces import LinearFeatures, SparseFeatures
from ..expansion_scorer import ExpansionScorer
from ..terms import answer_features
from .data import PartData
from .kernel import BoundKernel, Coefficients

SPAN = 1e-10
"""Share of the largest pivot below which features count as linearly dependent."""


class WeightMap(ObservationMap):
    """x ↦ φ(x): what weights are multiplied with."""

    def __init__(self, features: Callable[[Any], Any], size: int) -> None:
        self.features, self.size = features, size

    def columns(self, X: Any) -> Any:
        """Return the features."""
        return self.features(X)


@dataclass(frozen=True)
class BoundFeatures(BoundKernel):
    """A kernel ⟨φ(x), φ(x′)⟩ on a training set."""

    def space(self, data: PartData, dtype: Any) -> LinearFeatures | SparseFeatures:
        """Return the space of weights; those of other kernels than the linear one see distinct observations.

        Their features are computed in double: a search may do with less, the certificate and what is kept
        must not.
        """
        if type(self.kernel) is Linear:
            return answer_features(data.batch, in_precision(data.features, dtype), fast=True)
        return LinearFeatures(data.batch, self.on, self._features.astype(dtype, copy=False), self.rows)

    @property
    def map(self) -> WeightMap:
        """φ."""
        return self.shared.once(
            lambda: WeightMap(feature_map(self.kernel), width_of(self.kernel, self.observations)),
            "weights",
            self.kernel,
        )

    @property
    def _features(self) -> Array:
        """φ(x) of all observations, (n, m) in double."""
        return self.shared.once(
            lambda: np.asarray(
                self.map.columns(in_precision(self.observations, np.float64)), dtype=np.float64
            ),
            "features",
            self.kernel,
        )

    def coefficients(self, space: Any, element: Array) -> Array:
        """Return the weights, (m, number of labels)."""
        return np.asarray(space.table(element))

    def expansion(self, space: Any, element: Array) -> Coefficients:
        """Return an expansion over unit vectors, or over observations whose features span those of all.

        Σ_o k(x, x_o) α_o = ⟨φ(x), w⟩ for α with Φᵀα = w.
        """
        weights = self.coefficients(space, element)
        if type(self.kernel) is Linear:
            return Coefficients(self.shared.once(lambda: unit_vectors(self.observations), "units"), weights)
        chosen = self.shared.once(lambda: spanning_rows(self._features), "spanned", self.kernel)
        solved = scipy.linalg.lstsq(self._features[chosen].T, weights)[0]
        return Coefficients(self.observations[chosen], np.asarray(solved))

    def element(self, space: Any, scorer: ExpansionScorer) -> Array:
        """Return the weights of the function of a scorer."""
        basis = getattr(scorer.map, "basis", None)
        if type(basis) is not type(self.observations) or type(scorer.kernel) is not type(self.kernel):
            return np.zeros(space.size)
        flat = scorer.coef.reshape(len(scorer.coef), -1)
        return np.asarray(space.element(np.asarray(self.map.columns(basis).T @ flat)))


def as_weights(bound: BoundKernel, data: PartData, norm: Norm | None) -> BoundKernel:
    """Return the functions of a kernel as weights of its features, if these are fewer than observations."""
    kernel, observations = bound.kernel, bound.observations
    linear = type(kernel) is Linear
    if not (linear or features_of(kernel)) or observations.ndim != 2 or (norm is not None and not linear):
        return bound
    if bound.on != data.batch.answer or width_of(kernel, observations) >= observations.shape[0]:
        return bound
    return BoundFeatures(**{one.name: getattr(bound, one.name) for one in fields(bound)})


def feature_map(kernel: Kernel) -> Callable[[Any], Any]:
    """Return φ with k(x, x′) = ⟨φ(x), φ(x′)⟩."""
    known = features_of(kernel)
    return (lambda X: X) if known is None else known


def width_of(kernel: Kernel, observations: Any) -> int:
    """Return the number of features."""
    return int(feature_map(kernel)(observations[:1]).shape[1])


def unit_vectors(like: Any) -> Any:
    """Return one for each feature of some observations, stored as these are."""
    if sparse.issparse(like):
        return sparse.identity(like.shape[1], dtype=like.dtype, format="csr")
    return np.eye(like.shape[1], dtype=like.dtype)


def spanning_rows(features: Array) -> Array:
    """Choose observations by the pivots of a QR factorisation: each adds most to the span of the others."""
    triangle, pivots = scipy.linalg.qr(features.T, mode="r", pivoting=True, check_finite=False)
    sizes = np.abs(np.diagonal(triangle))
    return np.sort(pivots[: int((sizes > SPAN * sizes.max(initial=0.0)).sum())])
