"""The weights of one term of a model that learns from one instance after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..native import OnlineFeaturesDouble, OnlineFeaturesFloat
from ..objective import Term
from ..spaces import LinearFeatures
from ..structures import StructureBatch

Scores = Mapping[str, Array]


class InstanceWeights(ABC):
    """Weights w, their mean over all steps, and their variances σ.

    `collect` keeps d, the features of a difference of outputs of one instance; the calls behind it are
    about that d.
    """

    @abstractmethod
    def add_scores(self, i: int, instance: StructureBatch, theta: dict[str, Array]) -> None:
        """Add the scores of instance i."""

    @abstractmethod
    def collect(self, i: int, instance: StructureBatch, difference: Scores) -> float:
        """Keep d, the derivative of ⟨difference, scores⟩; return ‖d‖²."""

    @abstractmethod
    def add(self, factor: float) -> None:
        """W ← w + factor · d."""

    @abstractmethod
    def spread(self) -> float:
        """Σ_k σ_k d_k²."""

    @abstractmethod
    def add_spread(self, alpha: float, gamma: float) -> None:
        """w_k ← w_k + α σ_k d_k, 1/σ_k ← 1/σ_k + d_k²/γ."""

    @abstractmethod
    def descend(
        self, i: int, instance: StructureBatch, gradient: Scores, step: float, decay: float, least: float
    ) -> None:
        """W ← (w − step · ∇) / (1 + step · decay); rows with nothing above ``least`` may be passed over."""

    @abstractmethod
    def tick(self) -> None:
        """End a step: the present weights are one of those that the mean is over."""

    @abstractmethod
    def begin_average(self) -> None:
        """Average the weights from here on, those of now included."""

    @abstractmethod
    def weights(self) -> Array:
        """Return w."""

    @abstractmethod
    def average(self) -> Array:
        """Return the mean since `begin_average`; else w."""

    @abstractmethod
    def variance(self) -> Array:
        """Return σ."""

    @abstractmethod
    def load(self, element: Array) -> None:
        """Go on from these weights; an average begun before is dropped."""

    @abstractmethod
    def load_variance(self, element: Array) -> None:
        """Go on with these variances."""


class DenseWeights(InstanceWeights):
    """Those of any space with orthonormal coordinates: a change takes time in proportion to their number."""

    def __init__(self, term: Term) -> None:
        self._space: Any = term.space
        self._spaces: dict[int, Any] = {}
        self._w = np.zeros(term.space.size)
        self._sigma = np.ones_like(self._w)
        self._d = np.zeros_like(self._w)
        self._late: Array | None = None
        """Σ_k k · (change k) since averaging began: the mean of m + 1 weights is w − late/(m + 1)."""
        self._steps = 0

    def _of(self, i: int, instance: StructureBatch) -> Any:
        if i not in self._spaces:
            # Weights are in double precision here; features of tokens may not be.
            self._spaces[i] = self._space.take(instance, [i]).precise()
        return self._spaces[i]

    def add_scores(self, i: int, instance: StructureBatch, theta: dict[str, Array]) -> None:
        """Add the scores of instance i."""
        space = self._of(i, instance)
        space.add_scores(self._w, theta[space.clique])

    def collect(self, i: int, instance: StructureBatch, difference: Scores) -> float:
        """Keep d; return its square."""
        space = self._of(i, instance)
        self._d = space.adjoint(difference[space.clique])
        return float(self._d @ self._d)

    def add(self, factor: float) -> None:
        """Add a multiple of d."""
        self._change(factor * self._d)

    def spread(self) -> float:
        """Σ_k σ_k d_k²."""
        return float(self._d @ (self._sigma * self._d))

    def add_spread(self, alpha: float, gamma: float) -> None:
        """Change what is uncertain most."""
        self._change(alpha * self._sigma * self._d)
        self._sigma = 1 / (1 / self._sigma + self._d * self._d / gamma)

    def descend(
        self, i: int, instance: StructureBatch, gradient: Scores, step: float, decay: float, least: float
    ) -> None:
        """Take a step along the gradient."""
        self.collect(i, instance, gradient)
        self._change((self._w - step * self._d) / (1 + step * decay) - self._w)

    def tick(self) -> None:
        """Count a step."""
        self._steps += 1

    def begin_average(self) -> None:
        """Average from here on."""
        self._late, self._steps = np.zeros_like(self._w), 0

    def weights(self) -> Array:
        """Return w."""
        return self._w.copy()

    def average(self) -> Array:
        """Return the mean."""
        return self._w.copy() if self._late is None else self._w - self._late / (self._steps + 1)

    def variance(self) -> Array:
        """Return σ."""
        return self._sigma.copy()

    def load(self, element: Array) -> None:
        """Go on from these weights."""
        self._w, self._late = np.array(element, dtype=np.float64), None

    def load_variance(self, element: Array) -> None:
        """Go on with these variances."""
        self._sigma = np.array(element, dtype=np.float64)

    def _change(self, change: Array) -> None:
        self._w = self._w + change
        if self._late is not None:
            self._late += (self._steps + 1) * change


class SparseWeights(InstanceWeights):
    """Those of sparse features of cliques: a change takes time in proportion to what it changes."""

    def __init__(self, term: Term, structure: StructureBatch) -> None:
        space: Any = term.space
        self._clique, self._width = space.clique, space.width
        self._offsets = structure.cliques[space.clique].offsets.tolist()
        matrix = space.features.matrix
        binary = matrix.dtype == bool or bool((matrix.data == 1).all())
        single = matrix.dtype in (np.float32, np.bool_)
        kind = OnlineFeaturesFloat if single else OnlineFeaturesDouble
        self._core = kind(
            matrix.indptr.astype(np.int64),
            matrix.indices.astype(np.int32, copy=False),
            None if binary else matrix.data,
            matrix.shape[1],
            space.width,
        )

    @staticmethod
    def suits(term: Term) -> bool:
        """Whether a term looks at sparse features."""
        return isinstance(term.space, LinearFeatures) and sparse.issparse(term.space.features.matrix)

    def _rows(self, i: int) -> tuple[int, int]:
        return self._offsets[i], self._offsets[i + 1]

    def _table(self, difference: Scores) -> Array:
        values = difference[self._clique]
        return np.ascontiguousarray(values.reshape(len(values), self._width), dtype=np.float64)

    def add_scores(self, i: int, instance: StructureBatch, theta: dict[str, Array]) -> None:
        """Add the scores of instance i."""
        into = theta[self._clique]
        into += self._core.scores(*self._rows(i)).reshape(into.shape)

    def collect(self, i: int, instance: StructureBatch, difference: Scores) -> float:
        """Keep d; return its square."""
        return self._core.collect(*self._rows(i), self._table(difference))

    def add(self, factor: float) -> None:
        """Add a multiple of d."""
        self._core.add_collected(factor)

    def spread(self) -> float:
        """Σ_k σ_k d_k²."""
        return self._core.spread()

    def add_spread(self, alpha: float, gamma: float) -> None:
        """Change what is uncertain most."""
        self._core.add_spread(alpha, gamma)

    def descend(
        self, i: int, instance: StructureBatch, gradient: Scores, step: float, decay: float, least: float
    ) -> None:
        """Take a step along the gradient."""
        self._core.shrink(1 + step * decay)
        self._core.add(*self._rows(i), self._table(gradient), -step / (1 + step * decay), least)

    def tick(self) -> None:
        """Count a step."""
        self._core.tick()

    def begin_average(self) -> None:
        """Average from here on."""
        self._core.begin_average()

    def weights(self) -> Array:
        """Return w."""
        return np.asarray(self._core.weights())

    def average(self) -> Array:
        """Return the mean."""
        return np.asarray(self._core.average())

    def variance(self) -> Array:
        """Return σ."""
        return np.asarray(self._core.variance())

    def load(self, element: Array) -> None:
        """Go on from these weights."""
        self._core.load(np.ascontiguousarray(element, dtype=np.float64))

    def load_variance(self, element: Array) -> None:
        """Go on with these variances."""
        self._core.load_variance(np.ascontiguousarray(element, dtype=np.float64))
