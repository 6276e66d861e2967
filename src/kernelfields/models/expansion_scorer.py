"""Scorers of learnt functions of a kernel's space."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..approximation import KernelMap, ObservationMap
from ..arrays import Array
from ..errors import InputError
from ..observations import in_precision
from ..structures import StructureBatch
from .model import add, matrix_of
from .scorers import LearntScorer, padded
from .vertex_kernels import used_times
from .views import observations_of, view_of


@dataclass(frozen=True, slots=True)
class ExpansionScorer(LearntScorer):
    """Σ_o k(x_c, basis_o) coef_{o, y_c} for every clique, or weights of random features."""

    on: str | None
    map: ObservationMap
    """x ↦ (k(x, basis_o))_o, or x ↦ φ(x)."""
    coef: Array
    """(n, …), the other axes those of the scores of one clique."""
    view: str | None = None
    dtype: Any = None
    """Precision of observations in the fit."""

    @property
    def own(self) -> frozenset[str]:  # type: ignore[override]  # it depends on the clique type
        """Every clique has observations, hence scores."""
        return frozenset() if self.on is None else frozenset([self.on])

    @property
    def kernel(self) -> Any:
        """Return k."""
        assert isinstance(self.map, KernelMap)
        return self.map.kernel

    @property
    def basis(self) -> Any:
        """Return the observations that it is an expansion over."""
        assert isinstance(self.map, KernelMap)
        return self.map.basis

    @property
    def numbers(self) -> Array:
        """The coefficients."""
        return self.coef

    def with_numbers(self, numbers: Array) -> ExpansionScorer:
        """Return the same with other coefficients."""
        return replace(self, coef=numbers)

    def widened(self, values: tuple[int, ...]) -> ExpansionScorer:
        """Return the same with zeros for new labels."""
        return replace(self, coef=padded(self.coef, (len(self.coef), *values)))

    def reshaped(self, n_labels: int) -> ExpansionScorer:
        """Return the same with an axis for every label of a clique, where there is one for all of them."""
        size = self.coef.size // max(len(self.coef), 1)
        axes = 2 if self.on == "edge" and size == n_labels**2 else 1
        shape = (n_labels,) * axes if size == n_labels**axes else (size,)
        return replace(self, coef=self.coef.reshape(len(self.coef), *shape))

    def pruned(self) -> ExpansionScorer:
        """Return the same without observations that have no coefficient."""
        used = self.coef.any(axis=tuple(range(1, self.coef.ndim)))
        if used.all() or not isinstance(self.map, KernelMap):
            return self
        return replace(self, map=KernelMap(self.map.kernel, self.map.basis[used]), coef=self.coef[used])

    def add_scores(self, batch: StructureBatch, features: Any, into: dict[str, Array]) -> None:
        """Sum over the basis, in the precision that observations had in the fit."""
        on = batch.answer if self.on is None else self.on
        shape, values = batch.shapes[on], batch.cliques[on].values
        found, expected = math.prod(self.coef.shape[1:]), math.prod(values)
        if found != expected:
            raise InputError(f"A function on {on!r} has {found} coefficients, expected {expected}.")
        if not batch.cliques[on].count:
            into.setdefault(on, np.zeros(shape))
            return
        observations = in_precision(matrix_of(features), self.dtype)
        seen, rows = observations_of(batch, on, view_of(batch, on, self.view), observations)
        flat = self.coef.reshape(len(self.coef), found)
        if isinstance(self.map, KernelMap):
            scores = used_times(self.map.kernel, seen, self.map.basis, flat)
        else:
            scores = self.map.times(seen, flat)
        add(into, on, np.asarray(scores if rows is None else scores[rows], dtype=np.float64).reshape(shape))
