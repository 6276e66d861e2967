"""The best labelling by linear programming."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..errors import InfeasibleError, UnsupportedError
from ..structures import PairwiseBatch, Scores, StructureBatch
from ._base import Decoder


class Relaxation(NamedTuple):
    """The best point of the local polytope, for a whole batch."""

    value: float
    """max ⟨θ, μ⟩: at least the score of the best labelling, and equal to it where μ is whole."""
    node: Array
    """(N, L): μ of the vertices."""
    edge: Array
    """(E, L, L): μ of the edges."""

    @property
    def whole(self) -> bool:
        """Whether μ is the indicator of a labelling: then it is the best one."""
        return bool((np.abs(self.node - self.node.round()) < 1e-6).all())


@dataclass(frozen=True)
class LinearProgram(Decoder):
    """max ⟨θ, μ⟩ over the local polytope, by HiGHS [wainwright2008graphical, section 8].

    μ_v(·) is a distribution over the labels of every vertex, μ_e(·,·) one over the label pairs of every edge,
    and Σ_b μ_e(a, b) = μ_tail(a), Σ_a μ_e(a, b) = μ_head(b). On chains and trees every corner is a
    labelling, and the best one is Viterbi's: an exact second opinion that shares nothing with it. With
    cycles it gives an upper bound, and refuses to decode where μ is not whole. Thousands of times slower than
    a recursion.
    """

    chooses_allowed: ClassVar[bool] = True

    def choose(self, structure: StructureBatch, scores: Scores) -> Array:
        """Return the labels of the best labelling."""
        found = self.relax(structure, scores)
        if not found.whole:
            raise InfeasibleError("The best point of the local polytope is no labelling.")
        return np.asarray(found.node.argmax(axis=1), dtype=np.int32)

    def relax(self, structure: StructureBatch, scores: Scores) -> Relaxation:
        """Return the best point and its value."""
        if not isinstance(structure, PairwiseBatch):
            raise UnsupportedError(
                f"LinearProgram needs vertices and edges, which {type(structure).__name__} has not."
            )
        from scipy.optimize import linprog  # 15 MB that no other decoder needs

        L, N, E = structure.n_labels, structure.n_vertices, structure.n_edges
        edge = np.broadcast_to(scores["edge"], (E, L, L))
        theta = np.concatenate([scores["node"].ravel(), edge.ravel()]).astype(np.float64)
        allowed = theta > -np.inf
        rows, right = _local_polytope(structure)
        found = linprog(
            -np.where(allowed, theta, 0.0),
            A_eq=rows,
            b_eq=right,
            bounds=np.stack([np.zeros(len(theta)), allowed.astype(float)], axis=1),
            method="highs",
        )
        if found.x is None:
            raise InfeasibleError(f"The linear program has no solution: {found.message}")
        mu = found.x
        return Relaxation(-float(found.fun), mu[: N * L].reshape(N, L), mu[N * L :].reshape(E, L, L))


def _local_polytope(structure: PairwiseBatch) -> tuple[sparse.csr_matrix, Array]:
    """The equations: Σ_a μ_v(a) = 1, and the margins of every edge."""
    L, N, E = structure.n_labels, structure.n_vertices, structure.n_edges
    one, unit = np.ones((1, L)), sparse.identity(L)
    sums = sparse.hstack([sparse.kron(sparse.identity(N), one), sparse.csr_matrix((N, E * L * L))])
    blocks = [sums]
    for ends, margin in (
        (structure.edge_tails, sparse.kron(unit, one)),
        (structure.edge_heads, sparse.kron(one, unit)),
    ):
        choice = sparse.csr_matrix((np.ones(E), (np.arange(E), ends)), shape=(E, N))
        blocks.append(sparse.hstack([sparse.kron(choice, -unit), sparse.kron(sparse.identity(E), margin)]))
    right = np.concatenate([np.ones(N), np.zeros(2 * E * L)])
    return sparse.csr_matrix(sparse.vstack(blocks)), right
