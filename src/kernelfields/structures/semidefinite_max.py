"""The best labelling of small graphs by semidefinite programming."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import Array
from ..checks import Check, require_positive, whole
from ..errors import InputError
from ._base import Scores
from ._oracles import BoundedLabelling
from ._search_base import MaxSearch, bounded, improved
from .factor_tables import FactorTables
from .local_polytope import LocalPolytope
from .merged_cliques import MergedCliques
from .moment_matrix import MomentMatrix
from .moment_search import MomentSearch

MOST = 400
"""Rows of the largest moment matrix: its eigenvectors are computed in every iteration."""


@dataclass(frozen=True)
class SemidefiniteMax(MaxSearch):
    """max ⟨θ, p⟩ over moment matrices, a semidefinite relaxation with the local constraints.

    The relaxation, a matrix of second moments, is at least as tight as the linear program of
    `LinearProgramMax`, and tighter on graphs whose cycles cannot satisfy all their edges (frustrated ones),
    where the linear program is content with one half of everything. Solved by alternating directions
    [wen2010], an eigendecomposition in each iteration. Every 20 iterations the multipliers, whatever they
    are, prove a bound, by their least eigenvalue; and labellings are drawn: a Gaussian vector with the
    moments as covariance, as in [goemans1995], each vertex taking the label nearest to its part of it, and
    then better labels while there are any (ICM). The best bound and the best labelling of all are kept.

    For small graphs of vertices and pairs: n (L − 1) below 400. Seconds, where others take milliseconds; and
    stopped early, the bound holds but may be looser than that of the linear program: on sparse graphs, which
    are nearly trees, `TreeReweightedMax` is the better choice.

    Parameters
    ----------
    max_iter : int
        Most iterations.
    tol : float
        Stop once moments move, and violate what they should keep, by less than this (root mean square).
    draws : int
        Labellings drawn at every look, besides the likeliest labels.
    """

    max_iter: int = 1000
    tol: float = 1e-5
    draws: int = 10
    _checks: ClassVar[Mapping[str, Check]] = {
        "max_iter": whole(),
        "tol": require_positive,
        "draws": whole(0, 10_000),
    }

    def find(self, cliques: MergedCliques, scores: Scores) -> BoundedLabelling:
        """Solve one program for every instance."""
        graph, tables = cliques.graph, cliques.tables(scores)
        _require_pairs(cliques)
        S = graph.n_instances
        labels, bounds = np.zeros(graph.n_vertices, np.int32), np.zeros(S)
        done = np.ones(S, dtype=bool)
        for s, (a, b) in enumerate(zip(tables.offsets[:-1], tables.offsets[1:], strict=True)):
            if b > a:
                labels[a:b], bounds[s], done[s] = self._one(cliques, tables, scores, s)
        return bounded(cliques, scores, labels, bounds, done)

    def _one(
        self, cliques: MergedCliques, tables: FactorTables, scores: Scores, s: int
    ) -> tuple[Array, float, bool]:
        """Return the labels of one instance, a bound of the best score, and whether the search has ended."""
        a, b = (int(tables.offsets[k]) for k in (s, s + 1))
        polytope = LocalPolytope(tables, s)
        n, L = polytope.node.shape
        size = 1 + n * (L - 1)
        if size > MOST:
            name = cliques.graph.words.name(s)
            raise InputError(
                f"{name} has {n} vertices of {L} labels, a moment matrix of {size} rows; SemidefiniteMax "
                f"takes up to {MOST}: use TreeReweightedMax."
            )
        whole = np.zeros(len(tables.node), np.int32)
        alone, theta = cliques.graph.take([s]), cliques.graph.cut(scores, [s])
        if L == 1 or np.isneginf(polytope.node).all(axis=1).any():
            return whole[a:b], float(alone.score(theta, whole[a:b])[0]), True
        nothing = np.empty((0, 2), int), np.empty((0, L * L))
        pairs, values = polytope.groups[0] if polytope.groups else nothing
        moments = MomentMatrix(polytope.node, pairs, values.reshape(-1, L, L))

        def tried(guess: Array) -> tuple[Array, float]:
            whole[a:b] = guess
            better = improved(tables, whole)[a:b]
            return better, float(alone.score(theta, better)[0])

        search = MomentSearch(moments, tried, self.draws)
        return search.run(self.max_iter, self.tol)


def _require_pairs(cliques: MergedCliques) -> None:
    larger = [name for name, c in cliques.graph.cliques.items() if len(c.values) > 2 and c.count]
    if larger:
        size = len(cliques.graph.cliques[larger[0]].values)
        raise InputError(
            f"SemidefiniteMax is for vertices and pairs; {larger[0]!r} joins {size} vertices: use "
            "LinearProgramMax."
        )
