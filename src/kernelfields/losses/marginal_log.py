"""The log loss of every label by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..arrays import Array, rows_of
from ..errors import InfeasibleError, UnsupportedError
from ..structures import CovarianceOracle, Marginals, Scores, StructureBatch
from ._base import Loss, LossValue
from ._differences import derivative_along
from ._settings_base import ClassWeighted
from .class_weights import vertex_weights

RARE = 1e-5
"""Labels less likely than this are clamped: the error of a covariance product grows with its direction,
which is the reciprocal of a probability."""

CHUNK = 256
"""Vertices that are clamped in one call: each needs a copy of its instance."""


@dataclass(frozen=True)
class MarginalLog(ClassWeighted):
    """``loss="marginal-log"``: Σ_t −log p(y_t|x), the log loss of every label by itself.

    Parameters
    ----------
    class_weight : dict or "balanced", optional
        Factor of the loss of each position, by its label; "balanced" means inverse frequencies.
    """

    def bind(
        self, batch: StructureBatch, outputs: Array, *, classes: Array, weights: Array | None
    ) -> MarginalLogLoss:
        """Return the loss of a training set."""
        kappa = vertex_weights(self.class_weight, outputs, classes)
        return MarginalLogLoss(batch, outputs, weights, kappa)


class MarginalLogLoss(Loss):
    """The negative log of the marginal of every observed label,

        −Σ_v κ_v log μ_v(y_v),      gradient  −Cov(θ)·d = Σ_v κ_v (μ − μ given y_v),

    d = κ_v / μ_v(y_v) at (v, y_v) and 0 elsewhere. It asks that each label be probable, not the
    labelling as a whole: the loss that fits posterior decoding and the Hamming cost. Weights of
    vertices have a clear meaning here. **Not convex**: no certificate, and curvature may be negative.
    Vertices whose label was not observed are left out. Without edges it is the log loss.

    The covariance product serves all vertices in one sweep. Where μ_v(y_v) is so small that digits are
    lost, or that it underflows, the second form takes over: a copy of the instance with the vertex
    clamped to its label. All in double precision, whatever that of the scores.

    Parameters
    ----------
    structure : CovarianceOracle
        The batch.
    labels : (N,) integers
        The label of every vertex, −1 where none was observed.
    weights : (S,) array, optional
        How many times each instance counts.
    vertex_weights : (N,) array, optional
        κ, how many times each vertex counts; 1 if not given.
    """

    convex = False

    def __init__(
        self,
        structure: StructureBatch,
        labels: Array,
        weights: Array | None = None,
        vertex_weights: Array | None = None,
    ) -> None:
        if not isinstance(structure, CovarianceOracle) or structure.answer != "node":
            raise UnsupportedError(
                "The marginal log loss needs labelled vertices and derivatives of marginals, which "
                f"{type(structure).__name__} does not give."
            )
        self.structure: CovarianceOracle = structure
        self.labels = np.ascontiguousarray(labels, dtype=np.int32)
        self.weights = weights
        self.vertex_weights = vertex_weights
        self._seen = self._observed()

    def at(self, scores: Scores) -> LossValue:
        """Value and gradient, by a sweep of marginals and a covariance product."""
        seen, precision = self._seen, scores["node"].dtype
        scores = {clique: values.astype(np.float64, copy=False) for clique, values in scores.items()}
        free = self.structure.marginals(scores)
        likely = free.parts["node"][seen.vertices, seen.labels]
        rare = likely < RARE
        logs = np.log(np.where(rare, 1.0, likely))
        gradient = self._product(scores, np.where(rare, np.inf, likely))
        if rare.any():
            logs[rare] = self._clamped(scores, seen.cut(rare), free.log_partition, gradient)
        values = np.bincount(seen.instances, -seen.kappa * logs, self.structure.n_instances)
        total = values.sum() if self.weights is None else np.dot(values, self.weights)
        rounded = {clique: parts.astype(precision, copy=False) for clique, parts in gradient.items()}
        return LossValue(values, float(total), rounded)

    def curvature(self, scores: Scores, direction: Scores) -> dict[str, Array]:
        """Return the derivative of the gradient along a direction, by a central difference.

        Exact up to about 10⁻⁷. The formula Σ_v κ_v (Cov − Cov given y_v)·e is exact but costs a sweep
        for every vertex; this costs four.
        """
        return derivative_along(lambda theta: self.at(theta).gradient, scores, direction)

    def take(self, ids: npt.ArrayLike) -> MarginalLogLoss:
        """Return the loss of some instances only."""
        ids = np.asarray(ids, dtype=np.int64)
        rows = rows_of(self.structure.offsets, ids)
        weights = None if self.weights is None else self.weights[ids]
        kappa = None if self.vertex_weights is None else self.vertex_weights[rows]
        return MarginalLogLoss(self.structure.take(ids), self.labels[rows], weights, kappa)

    def _observed(self) -> _Observed:
        offsets = self.structure.offsets
        vertices = np.flatnonzero(self.labels >= 0)
        instances = np.repeat(np.arange(self.structure.n_instances), np.diff(offsets))[vertices]
        kappa = np.ones(len(vertices))
        if self.vertex_weights is not None:
            kappa = np.asarray(self.vertex_weights, dtype=np.float64)[vertices]
        counted = kappa if self.weights is None else kappa * self.weights[instances]
        return _Observed(vertices, self.labels[vertices], instances, kappa, counted)

    def _product(self, scores: Scores, likely: Array) -> dict[str, Array]:
        """−Cov(θ)·d."""
        seen, shapes = self._seen, self.structure.shapes
        direction = {clique: np.zeros(shape) for clique, shape in shapes.items()}
        direction["node"][seen.vertices, seen.labels] = -seen.counted / likely
        return self.structure.covariance(scores, direction)

    def _clamped(self, scores: Scores, rare: _Observed, free: Array, gradient: dict[str, Array]) -> Array:
        """Add κ_v (μ − μ given y_v) of some vertices to the gradient; give log μ_v(y_v)."""
        share = np.bincount(rare.instances, rare.counted, self.structure.n_instances)
        for clique, parts in self.structure.marginals(scores, share).parts.items():
            gradient[clique] += parts
        logs = []
        for start in range(0, len(rare.vertices), CHUNK):
            chunk = rare.cut(slice(start, start + CHUNK))
            logs.append(self._subtract_given(scores, chunk, gradient) - free[chunk.instances])
        return np.concatenate(logs)

    def _subtract_given(self, scores: Scores, rare: _Observed, gradient: dict[str, Array]) -> Array:
        """Subtract κ_v (μ given y_v) from the gradient; return the log-partitions given y_v."""
        try:
            given = self._given(scores, rare)
        except InfeasibleError:
            raise self._refusal(scores, rare) from None
        for clique, places in self.structure.cut(_places(self.structure), rare.instances).items():
            total = np.bincount(places.ravel(), given.parts[clique].ravel(), gradient[clique].size)
            gradient[clique] -= total.reshape(gradient[clique].shape)
        return given.log_partition

    def _given(self, scores: Scores, rare: _Observed) -> Marginals:
        """κ_v (μ given y_v), each vertex in a copy of its instance of its own."""
        structure, ids = self.structure, rare.instances
        copies = structure.take(ids)
        assert isinstance(copies, CovarianceOracle)
        theta = structure.cut(scores, ids)
        node = theta["node"] = theta["node"].copy()
        rows = copies.offsets[:-1] + rare.vertices - structure.offsets[ids]
        kept = node[rows, rare.labels]
        node[rows] = -np.inf
        node[rows, rare.labels] = kept
        return copies.marginals(theta, rare.counted)

    def _refusal(self, scores: Scores, rare: _Observed) -> InfeasibleError:
        """Name the first vertex whose label no labelling has."""
        for k in range(len(rare.vertices)):
            try:
                self._given(scores, rare.cut(slice(k, k + 1)))
            except InfeasibleError:
                break
        s = rare.instances[k]
        place = rare.vertices[k] - self.structure.offsets[s]
        words = self.structure.words
        return InfeasibleError(
            f"The label of {words.place} {place} of {words.item} {s} is forbidden by the constraints."
        )


class _Observed(NamedTuple):
    """Vertices with a label."""

    vertices: Array
    labels: Array
    instances: Array
    kappa: Array
    counted: Array
    """κ times the weight of the instance."""

    def cut(self, some: Array | slice) -> _Observed:
        return _Observed(*(column[some] for column in self))


def _places(structure: StructureBatch) -> dict[str, Array]:
    """Number the scores of each clique type: cut like scores, these say where a cut score came from."""
    return {
        clique: np.arange(int(np.prod(shape))).reshape(shape) for clique, shape in structure.shapes.items()
    }
