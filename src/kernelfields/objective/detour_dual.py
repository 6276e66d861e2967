"""The dual of a max-margin chain or tree in shares of detours, kept and climbed by the core."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .. import native
from ..arrays import Array
from ..gram import memory_budget
from ..losses import MarginHinge
from ..spaces import Expansion, LinearFeatures
from ..structures import ChainBatch, TreeBatch
from .block_dual import MarginPoint
from .certificate import Dual
from .chain_terms import ChainTerms
from .problem import Problem

CHUNK = 2**17
"""Positions after which a pass may be interrupted."""


class Detours(NamedTuple):
    """Those that have a share."""

    places: Array
    """(n, 3): instance, first vertex, which is the top one in a tree, number of vertices."""
    labels: Array
    """Of all of them, one behind the other."""
    shares: Array
    """(n,), times the weight of the instance."""
    vertices: Array = np.zeros(0, dtype=np.int32)
    """Of all of them on trees, as labels are; empty on chains, where they are runs."""


class DetourDual:
    """max Σ_d s_d Δ_d − ½‖f‖²,  f = −Σ_d s_d r(parts_d),  Σ_{d touches e} s_d ≤ weight_i at every edge,

    the dual of Σ_i weight_i max_ŷ [Δ(y, ŷ) + score(ŷ) − score(y)] + Σ_τ (λ_τ/2)‖f_τ‖² on chains and trees. A
    detour is a connected set of wrong labels: a run between right ones, a patch of a tree. Those of one
    labelling share no vertex and no edge, so that parts and costs are sums over them; and shares s are the
    expectations of a distribution over labellings just if they can be packed into the edges, since the graph
    of which subtrees of a tree meet is chordal [gavril1974], hence perfect. It is the problem of `BlockDual`,
    whose variables are whole labellings, in variables that move by themselves: two uncertain places of an
    instance have a share each, where labellings would have to be mixed.

    Parameters
    ----------
    problem : Problem
        One that `suits`.
    dtype : dtype
        Precision of the search; points and bounds are computed in double, from the shares alone.
    """

    def __init__(self, problem: Problem, dtype: npt.DTypeLike = np.float64) -> None:
        self.problem = problem
        loss, batch = problem.loss, problem.structure
        assert isinstance(loss, MarginHinge)
        assert isinstance(batch, ChainBatch | TreeBatch)
        self.size = batch.n_instances
        self.fixed, self.edge_fixed = _fixed(problem, loss, batch)
        self._instances = (
            np.ascontiguousarray(batch.offsets, dtype=np.int64),
            loss.outputs,
            None if loss.weights is None else np.ascontiguousarray(loss.weights, dtype=np.float64),
        )
        self.dtype = np.dtype(dtype)
        self.core: Any = self._made()
        terms = ChainTerms.of(problem)
        self.thorough = terms is not None and isinstance(terms.inputs.space, Expansion)

    @staticmethod
    def suits(problem: Problem, memory_limit: int | None = None) -> bool:
        """Whether a problem is one of margin rescaling on chains or trees with scores that the core knows.

        These are linear functions of features or of one kernel, and scores of labels.
        Costs are those of single labels, fixed scores of pairs are alike at every edge. A Gram matrix has
        to fit into memory a second time, with both halves.
        """
        loss, batch = problem.loss, problem.structure
        if not (
            isinstance(batch, ChainBatch | TreeBatch) and batch.shared_edges and type(loss) is MarginHinge
        ):
            return False
        terms = ChainTerms.of(problem)
        if terms is None or loss.cost.keys() - {"node"}:
            return False
        space = terms.inputs.space
        return not isinstance(space, Expansion) or 8 * space.gram.size**2 <= memory_budget(memory_limit)

    def visit(self, order: Array) -> tuple[float, float, float]:
        """Search some instances and improve their shares.

        Return the sums of losses and of duality gaps, each as it was before its visit, and by how much the
        dual has risen.
        """
        total = np.zeros(3)
        for part in self._parts(order):
            total += self.core.visit(part)
        return float(total[0]), float(total[1]), float(total[2])

    def improve(self, order: Array) -> float:
        """Improve shares of detours that are known; return by how much the dual has risen."""
        return sum(self.core.improve(part) for part in self._parts(order))

    def loss(self, scale: float = 1.0) -> tuple[float, float]:
        """Σ_i loss_i at a multiple of f, and its derivative in the factor."""
        value, slope = self.core.loss(scale)
        return float(value), float(slope)

    @property
    def penalty(self) -> float:
        """½‖f‖²."""
        return 0.5 * float(self.core.square())

    @property
    def bound(self) -> float:
        """The value of the dual."""
        return float(self.core.level()) - self.penalty

    @property
    def count(self) -> int:
        """Detours that are kept."""
        return int(self.core.count())

    def forget(self, patience: int) -> None:
        """Let detours go that have had no share for some passes."""
        self.core.forget(patience)

    def refine(self) -> bool:
        """Go on in double; whether that is a change."""
        if self.dtype == np.float64:
            return False
        detours, self.dtype = self.detours(), np.dtype(np.float64)
        self.core = self._made()
        self.restart(detours)
        return True

    def detours(self) -> Detours:
        """Return what there is to start from, with any penalties."""
        return Detours(*self.core.detours())

    def restart(self, detours: Detours) -> None:
        """Start from there."""
        self.core.restart(*detours)

    def element(self) -> Array:
        """Return f, from the shares, in double."""
        node, edge = self.core.mixture()
        return -self.problem.representer({"node": node, "edge": edge})

    def reached(self, scale: float = 1.0) -> MarginPoint:
        """Return a multiple of f with the dual point behind f, both computed anew."""
        node, edge = self.core.mixture()
        mismatch = self.problem.representer({"node": node, "edge": edge})
        dual = Dual(_product(node, self.fixed) + _product(edge, self.edge_fixed), mismatch)
        point = self.problem.at(-scale * mismatch)
        return MarginPoint(point, dual, dual.bound(self.problem), self.count, np.inf)

    def _parts(self, order: Array) -> list[Array]:
        """An order in pieces, between which Ctrl-C is heard."""
        pieces = 1 + self.problem.structure.n_vertices // CHUNK
        return np.array_split(np.ascontiguousarray(order, dtype=np.int64), pieces)

    def _made(self) -> Any:
        terms = ChainTerms.of(self.problem)
        assert terms is not None
        penalties = terms.penalties
        fixed = (_as(self.fixed, self.dtype), _as(self.edge_fixed, self.dtype))
        space: Any = terms.inputs.space
        if isinstance(space, Expansion):
            inputs: tuple[Any, ...] = (
                space.gram.whole(self.dtype),
                np.ascontiguousarray(space.rows, dtype=np.int64),
            )
        else:
            inputs = _rows(space, self.dtype)
        batch = self.problem.structure
        links = (batch.parents,) if isinstance(batch, TreeBatch) else ()
        single = self.dtype == np.float32
        made = _core_of(isinstance(batch, TreeBatch), isinstance(space, Expansion), single)
        return made(*inputs, *self._instances, *fixed, penalties, *links)


def _core_of(tree: bool, kernel: bool, single: bool) -> Any:
    """Return the class of the core for a structure, a space and a precision."""
    cores: dict[tuple[bool, bool], tuple[Any, Any]] = {
        (False, False): (native.DetourFeaturesDouble, native.DetourFeaturesFloat),
        (False, True): (native.DetourExpansionDouble, native.DetourExpansionFloat),
        (True, False): (native.ForestFeaturesDouble, native.ForestFeaturesFloat),
        (True, True): (native.ForestExpansionDouble, native.ForestExpansionFloat),
    }
    return cores[tree, kernel][single]


def _fixed(problem: Problem, loss: MarginHinge, batch: ChainBatch | TreeBatch) -> tuple[Array, Array]:
    """Return cost plus fixed scores of labels, less those of the right one, and fixed scores of pairs."""
    L = batch.n_labels
    node, edge = np.zeros((batch.n_vertices, L)), np.zeros((L, L))
    if "node" in loss.cost:
        node += loss.cost["node"]
    if problem.arrays.offset is not None:
        loss.planes(problem.arrays.offset)  # refuses right labels that are forbidden
        node += problem.arrays.offset["node"]
        edge += problem.arrays.offset["edge"]
    node -= node[np.arange(len(node)), loss.outputs][:, None]
    return node, edge


def _as(array: Array, dtype: npt.DTypeLike) -> Array:
    return np.ascontiguousarray(array, dtype=dtype)


def _rows(space: LinearFeatures, dtype: npt.DTypeLike) -> tuple[Array, Array, Array | None, int]:
    """Return features as the core takes them: offsets, columns, values unless all are one, their number."""
    matrix = sparse.csr_matrix(space.features.matrix)
    values = None if (matrix.data == 1).all() else _as(matrix.data, dtype)
    return _as(matrix.indptr, np.int64), _as(matrix.indices, np.int32), values, matrix.shape[1]


def _product(mixture: Array, fixed: Array) -> float:
    """⟨mixture, fixed⟩, nothing times what is forbidden being nothing."""
    return float((mixture * np.where(mixture == 0, 0.0, fixed)).sum())
