"""Alternating directions for the semidefinite relaxation of one graph, bounds and labellings on the way."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..arrays import Array
from .moment_matrix import MomentMatrix, Multipliers

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
