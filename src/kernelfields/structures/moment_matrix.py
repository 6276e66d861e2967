"""The semidefinite relaxation of the best labelling of one graph."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..arrays import Array


class Multipliers(NamedTuple):
    """A point of the dual problem: whatever it is, it proves a bound."""

    matrix: Array
    """(d, d): of Y ⪰ 0; only its diagonal blocks are looked at, the rest follows from them."""
    tables: Array
    """Of probabilities p ≥ 0, of vertices and then of pairs; negative ones count as 0 where p is free."""


class MomentMatrix:
    """Second moments of labellings, a semidefinite relaxation of these [wainwright2008graphical, section 9].

    Labels are corners u_a of a simplex, ⟨u_a, u_b⟩ = 1 or −1/(L − 1), a labelling y is the vector
    z = (1, u_{y_1}, …, u_{y_n}), and Y = z zᵀ has all that scores of vertices and pairs look at. Relaxed:

        Y ⪰ 0,   Y_00 = 1,   Y_vv = Σ_a p_v(a) u_a u_aᵀ,   p_v(a) = 1/L + κ⟨u_a, Y_0v⟩ ≥ 0,
        p_uv(a, b) = 1/L² + (κ/L)(⟨u_a, Y_0u⟩ + ⟨u_b, Y_0v⟩) + κ² u_aᵀ Y_uv u_b ≥ 0  for scored pairs,

    with κ = (L − 1)/L. Free are t = (Y_0v of every vertex, Y_uv of every pair), all else is affine in them.
    p ≥ 0 is the local polytope: the best value is at most that of the linear program. With two labels and
    no scores of vertices, the rest is the relaxation of [goemans1995].

    Parameters
    ----------
    node : (n, L) array
        Scores of vertices; −inf for what is forbidden.
    pairs : (E, 2) integers
        Vertices u < v, each pair once.
    tables : (E, L, L) array
        Scores of pairs.
    """

    def __init__(self, node: Array, pairs: Array, tables: Array) -> None:
        self.n, self.labels = node.shape
        self.pairs = pairs
        L = self.labels
        self.corners = _corners(L)
        self.kappa = (L - 1) / L
        theta = np.concatenate([node.ravel(), tables.ravel()])
        self.forbidden = np.isneginf(theta)
        self.theta = np.where(self.forbidden, 0.0, theta)
        self.width = L - 1
        self.size = 1 + self.n * self.width
        self.constant = np.concatenate([np.full(node.size, 1 / L), np.full(tables.size, 1 / L**2)])
        """p at t = 0."""
        within = np.arange(self.width)
        self._rows = 1 + pairs[:, 0, None, None] * self.width + within[:, None]
        self._columns = 1 + pairs[:, 1, None, None] * self.width + within
        starts = 1 + np.arange(self.n)[:, None, None] * self.width
        self._blocks = starts + within[:, None], starts + within

    @cached_property
    def tables_of(self) -> sparse.csr_matrix:
        """The linear part of t ↦ p, t the means of vertices and then moments of scored pairs."""
        L, w, n, E = self.labels, self.width, self.n, len(self.pairs)
        k, U = self.kappa, self.corners
        vertices = sparse.kron(sparse.identity(n), k * U)
        ones = np.ones((L, 1))
        sides = [
            sparse.kron(_choice(self.pairs[:, 0], n), k / L * np.kron(U, ones)),
            sparse.kron(_choice(self.pairs[:, 1], n), k / L * np.kron(ones, U)),
        ]
        moments = sparse.kron(sparse.identity(E), k**2 * np.kron(U, U))
        top = sparse.hstack([vertices, sparse.csr_matrix((n * L, E * w * w))])
        below = sparse.hstack([sides[0] + sides[1], moments])
        return sparse.csr_matrix(sparse.vstack([top, below]))

    @cached_property
    def block_of(self) -> Array:
        """J, (w², w): the linear part of Y_0v ↦ Y_vv."""
        U = self.corners
        return self.kappa * np.einsum("ai,aj,ak->ijk", U, U, U).reshape(self.width**2, self.width)

    @cached_property
    def solve(self) -> Any:
        """The factor of H = (t ↦ (Y, p))ᵀ(t ↦ (Y, p)), for means and scored pairs; others have H = 2."""
        from scipy.sparse.linalg import splu  # with most of SciPy behind it

        means = 2 * np.eye(self.width) + self.block_of.T @ self.block_of
        rest = sparse.identity(len(self.pairs) * self.width**2)
        own = sparse.block_diag([sparse.kron(sparse.identity(self.n), means), 2 * rest])
        return splu(sparse.csc_matrix(own + self.tables_of.T @ self.tables_of))

    def split(self, t: Array) -> tuple[Array, Array]:
        """Return means (n, w) and moments of scored pairs (E, w, w)."""
        cut = self.n * self.width
        return t[:cut].reshape(self.n, self.width), t[cut:].reshape(-1, self.width, self.width)

    def probabilities(self, t: Array) -> Array:
        """Return p."""
        return np.asarray(self.tables_of @ t + self.constant)

    def filled(self, t: Array, rest: Array) -> Array:
        """Return Y at t, with moments of other pairs as in a matrix, whose other entries do not count."""
        means, moments = self.split(t)
        Y = rest.copy()
        self.put(Y, means, moments)
        Y[0, 0] = 1.0
        blocks = (means @ self.block_of.T).reshape(-1, self.width, self.width) + np.eye(
            self.width
        ) / self.width
        Y[self._blocks] = blocks
        return Y

    def put(self, Y: Array, means: Array, moments: Array) -> None:
        """Write what belongs to vertices and scored pairs into a matrix, on both sides of its diagonal."""
        Y[0, 1:] = Y[1:, 0] = means.ravel()
        Y[self._rows, self._columns] = Y[self._columns, self._rows] = moments

    def adjoint(self, Y: Array) -> Array:
        """Return ⟨Y, ·⟩ as a function of t, apart from a constant."""
        blocks = Y[self._blocks].reshape(self.n, -1)
        means = 2 * Y[0, 1:].reshape(self.n, self.width) + blocks @ self.block_of
        return np.concatenate([means.ravel(), 2 * Y[self._rows, self._columns].ravel()])

    def bound(self, dual: Multipliers) -> float:
        """Return what no labelling's score exceeds, whatever the multipliers are.

        For q ≥ 0 and any Z with ⟨θ, p(t)⟩ + ⟨q, p(t)⟩ + ⟨Z, Y(t)⟩ = c for all t, the score of a labelling is
        at most c − ⟨Z, Y⟩ ≤ c − λ_min(Z) (n + 1): the trace of Y is n + 1. Diagonal blocks of Z are free, and
        its other blocks are chosen such that the equation holds; Z need not be ⪰ 0. What rounding can have
        done to eigenvalues and sums is added.
        """
        q = np.where(self.forbidden, dual.tables, np.maximum(dual.tables, 0.0))
        scored = self.theta + q
        Z = np.zeros((self.size, self.size))
        Z[0, 0] = dual.matrix[0, 0]
        Z[self._blocks] = (dual.matrix + dual.matrix.T)[self._blocks] / 2
        linear = self.tables_of.T @ scored + self.adjoint(Z)
        means, moments = self.split(-np.asarray(linear) / 2)
        self.put(Z, means, moments)
        level = float(self.constant @ scored) + Z[0, 0] + float(np.trace(Z[1:, 1:])) / self.width
        eps = float(np.finfo(np.float64).eps)
        slack = 8 * eps * self.size * (self.n + 1) * float(np.linalg.norm(Z))
        slack += 8 * eps * len(scored) * float(np.abs(self.constant * scored).max(initial=0.0))
        return level - (self.n + 1) * float(np.linalg.eigvalsh(Z)[0]) + slack


def _corners(labels: int) -> Array:
    """Return the corners of a regular simplex, (L, L − 1), at distance 1 from its centre."""
    basis = np.linalg.qr(np.column_stack([np.ones(labels), np.eye(labels)[:, :-1]]))[0][:, 1:]
    return np.asarray(basis * np.sqrt(labels / (labels - 1)))


def _choice(ends: Array, count: int) -> sparse.csr_matrix:
    return sparse.csr_matrix((np.ones(len(ends)), (np.arange(len(ends)), ends)), shape=(len(ends), count))
