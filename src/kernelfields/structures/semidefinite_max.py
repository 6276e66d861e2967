"""The best labelling of small graphs by semidefinite programming."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from .moment_matrix import MomentMatrix, Multipliers

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


LOOK = 20
"""Iterations between two looks at bound and labels."""


class MomentSearch:
    """max ⟨θ, p(t)⟩ with Y(t) = W ⪰ 0 and p(t) = P ≥ 0, by alternating directions [wen2010].

    t is the solution of a linear system whose matrix stays; W and P are projections, of eigenvalues and of
    single numbers. Multipliers U and R of both equations are in units of the step ρ.

    Parameters
    ----------
    moments : MomentMatrix
        The relaxation.
    tried : callable
        Takes a labelling, returns one that is at least as good, and its score.
    draws : int
        How many labellings to draw at every look.
    """

    def __init__(
        self, moments: MomentMatrix, tried: Callable[[Array], tuple[Array, float]], draws: int
    ) -> None:
        self.moments, self.tried, self.draws = moments, tried, draws
        self.random = np.random.RandomState(0)  # the same labelling for the same scores
        theta = moments.theta
        self.scale = float(np.abs(theta).max(initial=0.0)) or 1.0
        self.cost = np.asarray(moments.tables_of.T @ (theta / self.scale))
        d = moments.size
        self.W, self.U = np.eye(d), np.zeros((d, d))
        self.P, self.R = moments.constant.copy(), np.zeros(len(theta))
        self.rho = 1.0
        self.labels = np.zeros(moments.n, np.int32)
        self.value, self.bound = -np.inf, np.inf

    def run(self, max_iter: int, tol: float) -> tuple[Array, float, bool]:
        """Return the best labels, the best bound, and whether these met, or nothing moves any more."""
        still = False
        for iteration in range(1, max_iter + 1):
            moved, apart = self._iterate()
            still = max(moved, apart) < tol
            if iteration % LOOK and iteration < max_iter and not still:
                continue
            self._look()
            if still or self.bound - self.value <= 1e-9 * max(1.0, abs(self.bound)):
                return self.labels, self.bound, True
            if moved > 5 * apart:  # steps are too stiff, or too soft
                self._rescale(0.5)
            elif apart > 5 * moved:
                self._rescale(2.0)
        return self.labels, self.bound, still

    def _iterate(self) -> tuple[float, float]:
        """Update t, W, P and the multipliers; return how far they moved, and how far apart they are."""
        m = self.moments
        target = self.W - self.U
        constant = m.filled(np.zeros(len(self.cost)), np.zeros_like(target))
        right = m.adjoint(target - constant) + m.tables_of.T @ (self.P - self.R - m.constant)
        t = m.solve.solve(np.asarray(right) + self.cost / self.rho)
        Y = m.filled(t, target)  # moments of pairs without scores are as W wants them
        p = m.probabilities(t)
        W, P = _positive(Y + self.U), np.maximum(p + self.R, 0.0)
        P[m.forbidden] = 0.0
        moved = self.rho * np.sqrt(np.mean((W - self.W) ** 2) + np.mean((P - self.P) ** 2))
        self.W, self.P = W, P
        self.U, self.R = self.U + Y - W, self.R + p - P
        return float(moved), float(np.sqrt(np.mean((Y - W) ** 2) + np.mean((p - P) ** 2)))

    def _rescale(self, factor: float) -> None:
        self.rho *= factor
        self.U /= factor
        self.R /= factor

    def _look(self) -> None:
        """Take the bound of the multipliers, and labellings near the moments, if they are better."""
        m = self.moments
        dual = Multipliers(-self.rho * self.scale * self.U, -self.rho * self.scale * self.R)
        self.bound = min(self.bound, m.bound(dual))
        for guess in self._guesses():
            labels, value = self.tried(guess)
            if value > self.value:
                self.labels, self.value = labels.copy(), value

    def _guesses(self) -> list[Array]:
        """Return the likeliest label of every vertex, and corners nearest to Gaussian vectors."""
        m = self.moments
        allowed = ~m.forbidden[: m.n * m.labels].reshape(m.n, m.labels)
        likely = self.P[: m.n * m.labels].reshape(m.n, m.labels)
        values, vectors = np.linalg.eigh(self.W)
        roots = vectors * np.sqrt(np.maximum(values, 0.0))
        drawn = roots @ self.random.normal(size=(m.size, self.draws))
        drawn = drawn[1:] * np.where(drawn[0] < 0, -1.0, 1.0)
        each = np.einsum("nwk,aw->kna", drawn.reshape(m.n, m.width, self.draws), m.corners)
        return [np.where(allowed, one, -np.inf).argmax(axis=1).astype(np.int32) for one in (likely, *each)]


def _positive(matrix: Array) -> Array:
    """Return the nearest matrix without negative eigenvalues."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    kept = values > 0
    return np.asarray((vectors[:, kept] * values[kept]) @ vectors[:, kept].T)
