"""Convex free energies: counting numbers that are not negative."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..checks import Check, optional, require_not_negative, require_positive
from ._approximate_base import ApproximateGraphBatch, Beliefs
from ._base import Scores
from ._oracles import Convergence
from ._propagation_base import Propagation, propagate
from .factor_tables import Layout
from .tree_reweighted import surrogate_convergence


@dataclass(frozen=True)
class ConvexFreeEnergy(Propagation):
    """Sums over labelled graphs by a convex free energy with counting numbers [hazan2010].

    Messages in sweeps without damping are block-coordinate steps on the dual: its value, an upper bound of
    the surrogate, falls with every step. Looser than `TreeReweighted`, also on trees, but sure to converge.

    Parameters
    ----------
    schedule, damping, max_iter, tol, search
        As in `BeliefPropagation`.
    clique, vertex : float, optional
        Counting numbers of every clique, above 0, and of every vertex, not negative. If neither is given, a
        clique has 1 over the largest number of cliques at one of its vertices, and a vertex what it lacks
        to 1. An isolated vertex has 1. Where those of a vertex and its cliques add up to less than 1, the
        surrogate is no bound of the exact log-partition.
    """

    clique: float | None = field(default=None, kw_only=True)
    vertex: float | None = field(default=None, kw_only=True)
    _checks: ClassVar[Mapping[str, Check]] = {
        "clique": optional(require_positive),
        "vertex": optional(require_not_negative),
        **Propagation._checks,
    }

    def on(
        self, offsets: npt.ArrayLike, edges: npt.ArrayLike, n_labels: int, **shape: Any
    ) -> ConvexFreeEnergyBatch:
        """Return the batch with these settings."""
        return ConvexFreeEnergyBatch(offsets, edges, n_labels, inference=self, **shape)


class ConvexFreeEnergyBatch(ApproximateGraphBatch):
    """A batch of labelled graphs with sums by a convex free energy; see `GraphBatch` for their shape.

    What stands for g(θ) is max_b ⟨θ, b⟩ + Σ_i c_i H(b_i) + Σ_c c_c H(b_c) over beliefs that agree with each
    other: convex in θ since no counting number is negative, and at least g(θ) where every vertex is covered,
    c_i + Σ_{c∋i} c_c ≥ 1, by Shearer's inequality.

    Parameters
    ----------
    offsets, edges, n_labels, shared_edges, factors, label_sets
        As in `GraphBatch`.
    inference : ConvexFreeEnergy
        Counting numbers, schedule, limits.

    Examples
    --------
    >>> import numpy as np
    >>> ring = ConvexFreeEnergy().on([0, 3], [[0, 1], [1, 2], [2, 0]], 2)
    >>> scores = {"node": np.zeros((3, 2)), "edge": np.array([[1.0, 0.0], [0.0, 1.0]])}
    >>> exact = np.log(2 * np.exp(3) + 6 * np.exp(1))
    >>> bool(ring.marginals(scores).convergence.upper[0] > exact)
    True
    """

    convex = True
    inference: ConvexFreeEnergy

    @cached_property
    def counting(self) -> tuple[Array, Array]:
        """Counting numbers of all factors and all vertices."""
        merged, settings = self._merged, self.inference
        members, factor = merged.members, np.repeat(np.arange(merged.n_factors), merged.arity)
        degree = np.bincount(members, minlength=self.n_vertices)
        if settings.clique is None:
            most = np.ones(merged.n_factors)
            np.maximum.at(most, factor, degree[members])
            cliques = 1 / most
        else:
            cliques = np.full(merged.n_factors, float(settings.clique))
        covered = np.bincount(members, cliques[factor], self.n_vertices)
        if settings.vertex is None:
            vertices = np.maximum(1 - covered, 0.0)
        else:
            vertices = np.where(degree == 0, 1.0, settings.vertex)
        return cliques, vertices

    @cached_property
    def _total(self) -> Array:
        """Counting numbers of vertices and their cliques."""
        cliques, vertices = self.counting
        merged = self._merged
        each = np.repeat(cliques, merged.arity)
        return np.asarray(vertices + np.bincount(merged.members, each, self.n_vertices))

    @cached_property
    def _layout(self) -> Layout:
        return self._merged.layout_for(self.counting[0])

    def _beliefs(self, scores: Scores, with_factors: bool) -> Beliefs:
        weights = self.counting[0]
        return propagate(self, scores, weights, self._layout, with_factors=with_factors, total=self._total)

    def _convergence(self, beliefs: Beliefs) -> Convergence:
        found = surrogate_convergence(beliefs, self.inference.tol)
        owner = np.repeat(np.arange(self.n_instances), np.diff(self.offsets))
        open_ = np.bincount(owner, self._total < 1 - 1e-12, self.n_instances) > 0
        return found._replace(upper=np.where(open_, np.inf, found.upper))
