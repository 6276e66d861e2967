"""The dual of the log loss on chains with a kernel: a distribution for each sequence, kept by the core."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import native
from ..arrays import Array
from ..gram import TiledGram, memory_budget
from ..losses import LogLoss
from ..spaces import Expansion
from ..structures import ChainBatch
from .certificate import Dual
from .chain_terms import ChainTerms
from .problem import Point, Problem

CHUNK = 2**27
"""Entries of the Gram matrix after which a pass may be interrupted."""


class ExpectedParts(NamedTuple):
    """A point of the dual problem by the expectations of its distributions, in double."""

    node: Array
    """Σ_i weight_i (μ_i − parts(y^i)), (N, L)."""
    edge: Array
    """The same of label pairs, (L, L)."""
    level: float
    """Σ_i weight_i (log Z(θ_i + offset) − ⟨θ_i, μ_i⟩ − ⟨offset, parts(y^i)⟩), θ_i the scores behind μ_i."""
    size: float
    """Sum over cliques of the largest score: what the rounding of ``level`` is a share of."""

    def element(self, problem: Problem) -> Array:
        """Return the point f that belongs to it: observed less expected features, over λ."""
        return -problem.representer({"node": self.node, "edge": self.edge})

    def at(self, point: Point) -> Dual:
        """Return the dual point behind f; in double less what rounding may have added to its level."""
        certain = point.problem.certain
        off = 0.0 if certain is None else certain.error * (certain.fixed + self.size)
        return Dual(self.level - off, -point.element)


class EntropyDual:
    """max Σ_i weight_i (H(p_i) + E_{p_i}[q] − q(y^i)) − ½‖f‖²,  f = Σ_i weight_i r(parts(y^i) − μ_i),

    the dual of Σ_i weight_i (−log p(y^i|x^i)) + Σ_τ (λ_τ/2)‖f_τ‖² [altun2004exp, Lemma 9; collins2008]: p_i a
    distribution over the labellings of sequence i with marginals μ_i, q the fixed scores, r and ‖·‖ those of
    the λ-weighted inner product. Every p_i is that of a chain with scores θ_i of its own, at the optimum
    those of f; where a search has not been yet, p_i has all its mass on y^i, and no part in f.

    Parameters
    ----------
    problem : Problem
        One that `suits`.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        loss, chain = problem.loss, problem.structure
        assert isinstance(loss, LogLoss)
        assert isinstance(chain, ChainBatch)
        self.size = chain.n_instances
        terms = ChainTerms.of(problem)
        assert terms is not None
        space: Any = terms.inputs.space
        dtype = space.gram.dtype
        self._parts = 1 + chain.n_vertices * space.gram.size // CHUNK
        made = native.ExponentiatedAscentFloat if dtype == np.float32 else native.ExponentiatedAscentDouble
        self._dtype = dtype
        node, edge = _fixed(problem, chain)
        self._core = made(
            space.gram.whole(),
            np.ascontiguousarray(space.rows, dtype=np.int64),
            np.ascontiguousarray(chain.offsets, dtype=np.int64),
            loss.outputs,
            None if loss.weights is None else np.ascontiguousarray(loss.weights, dtype=np.float64),
            np.ascontiguousarray(node, dtype=dtype),
            np.ascontiguousarray(edge, dtype=dtype),
            terms.penalties,
        )

    @staticmethod
    def suits(problem: Problem, memory_limit: int | None = None) -> bool:
        """Whether a problem is the log loss of chains, with one kernel on labels and scores of labels alone.

        Everything has a squared penalty, fixed scores of pairs are alike at every edge, and the Gram matrix
        fits into memory a second time, with both halves, as do scores of label pairs for every sequence.
        """
        loss, chain = problem.loss, problem.structure
        if not (
            type(loss) is LogLoss and type(chain) is ChainBatch and chain.shared_edges and loss.cost is None
        ):
            return False
        terms = ChainTerms.of(problem)
        if terms is None or not isinstance(terms.inputs.space, Expansion):
            return False
        gram = terms.inputs.space.gram
        pairs = 2 * chain.n_instances * chain.n_labels**2 if "edges" in terms.kinds else 0
        needed = gram.dtype.itemsize * (gram.size**2 + pairs)
        return not isinstance(gram, TiledGram) and needed <= memory_budget(memory_limit)

    def begin(self, point: Point) -> None:
        """Start from the distributions of a point."""
        theta = point.theta
        node, edge = (np.ascontiguousarray(theta[clique], dtype=self._dtype) for clique in ("node", "edge"))
        self._core.begin(node, edge)

    def visit(self, order: Array, sweeps: int) -> tuple[float, float]:
        """Move the distributions of sequences, in panels that are gone over up to some times.

        Return about the sum of their duality gaps, each as it was before its visit, inf if one was never
        visited; and by how much the dual has risen.
        """
        total = np.zeros(2)
        for part in np.array_split(np.ascontiguousarray(order, dtype=np.int64), self._parts):
            total += self._core.visit(part, sweeps)
        return float(total[0]), float(total[1])

    def expectations(self) -> ExpectedParts:
        """Return where it is."""
        return ExpectedParts(*self._core.mismatch())


def _fixed(problem: Problem, chain: ChainBatch) -> tuple[Array, Array]:
    """Return fixed scores of labels and of label pairs."""
    offset = problem.arrays.offset
    if offset is None:
        return np.zeros((chain.n_vertices, chain.n_labels)), np.zeros((chain.n_labels, chain.n_labels))
    return offset["node"], offset["edge"]
