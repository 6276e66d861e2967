"""Scores of a fitted model's vertices and edges as ONNX nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...approximation import FourierMap
from ...arrays import Array
from ...emissions import GaussianEmissions
from ...errors import InputError
from ...estimators.hmm import EmissionScorer
from ...kernels import RBF, Columns, Kernel, Linear, Polynomial, Product, Scaled, Sum
from ...models.kernel_scorers import EdgeKernelScorer, FourierScorer, KernelScorer
from ...models.model import LabelScorer, Model, dense
from ...models.scorers import WeightScorer
from ...models.vertex_kernels import VertexKernels
from .builder import GraphBuilder
from .chain_recursions import ChainScores

NEVER = -1e30
"""The score of what is forbidden: differences of −inf are no numbers."""


class ScoreGraph:
    """Adds up what the scorers of a model say of a sequence."""

    def __init__(self, graph: GraphBuilder, rows: str, n_labels: int) -> None:
        self.graph, self.rows, self.n_labels = graph, rows, n_labels
        self._node: list[str] = []
        self._table = np.zeros((n_labels, n_labels))
        self._edge: list[str] = []
        self._first, self._last = np.zeros(n_labels), np.zeros(n_labels)

    def of(self, model: Model) -> ChainScores:
        """Return the scores of all cliques."""
        for scorer in model.scorers:
            self._add(scorer)
        if model.forbidden is not None:
            self._table = np.where(model.forbidden.pairs, NEVER, self._table)
            self._first = np.where(model.forbidden.starts, NEVER, self._first)
            self._last = np.where(model.forbidden.ends, NEVER, self._last)
        node, edge = self._nodes(), self._edges()
        if model.scaling is not None:
            inverse = self.graph.floats(1 / model.scaling.temperature)
            node, edge = self.graph("Mul", node, inverse), self.graph("Mul", edge, inverse)
            if model.scaling.bias is not None:
                node = self.graph("Add", node, self.graph.floats(model.scaling.bias))
        return ChainScores(node, edge, self.n_labels, bool(self._edge))

    def _add(self, scorer: Any) -> None:
        if isinstance(scorer, WeightScorer) and scorer.on is None and scorer.view in (None, "first"):
            self._node.append(self._times(dense(scorer.coef).T))
        elif isinstance(scorer, KernelScorer):
            self._node += self._expansions(scorer)
        elif isinstance(scorer, FourierScorer):
            self._node.append(self._fourier(scorer.fourier, scorer.coef, self.rows))
        elif isinstance(scorer, EmissionScorer):
            self._add_hidden(scorer)
        elif isinstance(scorer, WeightScorer) and scorer.on == "edge" and scorer.view in (None, "first"):
            L = self.n_labels
            self._edge.append(self._times(scorer.coef.transpose(2, 0, 1).reshape(-1, L * L), self._before()))
        elif isinstance(scorer, EdgeKernelScorer):
            self._edge.append(self._edge_expansion(scorer))
        elif isinstance(scorer, LabelScorer):
            self._add_labels(scorer)
        else:
            raise InputError(f"ONNX export does not know scores of the kind {type(scorer).__name__}.")

    def _add_labels(self, scorer: LabelScorer) -> None:
        if scorer.tables.keys() - {"edge"}:
            raise InputError("ONNX export knows scores of labels and label pairs, not of triples or runs.")
        self._node.append(self.graph.floats(scorer.every))
        self._first += scorer.first
        self._last += scorer.last
        self._table += scorer.tables.get("edge", 0.0)

    def _add_hidden(self, scorer: EmissionScorer) -> None:
        """Logarithms of probabilities; what has none is forbidden."""
        self._node.append(self._gaussians(scorer.hidden.emissions))
        self._first += np.maximum(scorer.hidden.markov.start, NEVER)
        self._table += np.maximum(scorer.hidden.markov.transitions, NEVER)

    def _nodes(self) -> str:
        """Return (T, L) scores: everywhere, and at both ends."""
        g = self.graph
        total = self._node[0]
        for other in self._node[1:]:
            total = g("Add", total, other)
        length = g("Squeeze", g("Shape", self.rows, start=0, end=1), g.whole([0]))
        place = g("Unsqueeze", g("Range", g.whole(0), length, g.whole(1)), g.whole([1]))
        for wanted, values in ((g.whole(0), self._first), (g("Sub", length, g.whole(1)), self._last)):
            total = g("Add", total, g("Where", g("Equal", place, wanted), g.floats(values), g.floats(0.0)))
        return total

    def _edges(self) -> str:
        g, L = self.graph, self.n_labels
        total = g.floats(self._table)
        for other in self._edge:
            total = g("Add", total, g("Reshape", other, g.whole([-1, L, L])))
        return total

    def _before(self) -> str:
        """Return the row of the position before each, which is what an edge sees; the first its own."""
        g = self.graph
        length = g("Squeeze", g("Shape", self.rows, start=0, end=1), g.whole([0]))
        place = g("Sub", g("Range", g.whole(0), length, g.whole(1)), g.whole(1))
        return g("Gather", self.rows, g("Max", place, g.whole(0)), axis=0)

    def _times(self, weights: Any, rows: str | None = None) -> str:
        return self.graph("MatMul", self.rows if rows is None else rows, self.graph.floats(weights))

    def _expansions(self, scorer: KernelScorer) -> list[str]:
        """Return Σ_o k_y(x, b_o) coef_oy; kernels of some labels leave those of others at 0."""
        if not isinstance(scorer.kernels, VertexKernels):
            raise InputError("ONNX export does not know kernels whose penalties differ.")
        basis, result = _matrix(scorer.basis), []
        for kernel, labels in scorer.kernels.groups:
            coef = np.zeros_like(scorer.coef, dtype=np.float64)
            chosen = slice(None) if labels is None else labels
            coef[:, chosen] = scorer.coef[:, chosen]
            used = coef.any(axis=1)
            block = kernel_block(self.graph, kernel, self.rows, basis[used])
            result.append(self.graph("MatMul", block, self.graph.floats(coef[used])))
        return result

    def _edge_expansion(self, scorer: EdgeKernelScorer) -> str:
        flat = scorer.coef.reshape(-1, self.n_labels**2)
        if isinstance(scorer.kernel, FourierMap):
            return self._fourier(scorer.kernel, flat, self._before())
        used = flat.any(axis=1)
        block = kernel_block(self.graph, scorer.kernel, self._before(), _matrix(scorer.basis)[used])
        return self.graph("MatMul", block, self.graph.floats(flat[used]))

    def _fourier(self, fourier: FourierMap, coef: Array, rows: str) -> str:
        """⟨coef, (cos ωx, sin ωx)⟩/√h; the cosine is a sine a quarter turn on."""
        g, half = self.graph, len(fourier.frequencies)
        angles = self._times(fourier.frequencies.T, rows)
        cosines = g("Sin", g("Add", angles, g.floats(np.pi / 2)))
        features = g("Concat", cosines, g("Sin", angles), axis=1)
        return g("MatMul", features, g.floats(coef / np.sqrt(half)))

    def _gaussians(self, emissions: Any) -> str:
        """Return log p(x_t|k) from whitened differences, (T, L)."""
        if not isinstance(emissions, GaussianEmissions):
            name = type(emissions).__name__
            raise InputError(f"ONNX export knows hidden Markov models with Gaussian emissions, not {name}.")
        g, covariances = self.graph, emissions.covariances
        if covariances.ndim == 2:
            covariances = covariances[:, :, None] * np.eye(covariances.shape[1])
        roots = np.linalg.cholesky(covariances)
        whitening = np.linalg.inv(roots).transpose(0, 2, 1)
        D, spread = emissions.means.shape[1], np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
        apart = g("Sub", g("Unsqueeze", self.rows, g.whole([0])), g.floats(emissions.means[:, None]))
        white = g("MatMul", apart, g.floats(whitening))
        squares = g("ReduceSum", g("Mul", white, white), g.whole([2]), keepdims=0)
        scaled = g("Mul", g("Transpose", squares, perm=[1, 0]), g.floats(-0.5))
        return g("Add", scaled, g.floats(-spread - 0.5 * D * np.log(2 * np.pi)))


def _matrix(basis: Any) -> Array:
    found = np.asarray(dense(basis))
    if found.dtype == object:
        raise InputError("ONNX export takes models of numbers; the basis of this one is made of objects.")
    return found.astype(np.float64)


def kernel_block(graph: GraphBuilder, kernel: Kernel, rows: str, basis: Array) -> str:
    """Return k(x_t, b_o), (T, n), for the rows of a sequence and a fixed basis."""
    if isinstance(kernel, Columns):
        chosen = np.arange(basis.shape[1])[_columns(kernel.columns)]
        return kernel_block(
            graph, kernel.kernel, graph("Gather", rows, graph.whole(chosen), axis=1), basis[:, chosen]
        )
    if isinstance(kernel, Scaled):
        inner = kernel_block(graph, kernel.kernel, rows, basis)
        return graph("Mul", inner, graph.floats(kernel.factor))
    if isinstance(kernel, Sum | Product):
        operator = "Add" if isinstance(kernel, Sum) else "Mul"
        first, *others = (kernel_block(graph, one, rows, basis) for one in kernel.parts)
        for other in others:
            first = graph(operator, first, other)
        return first
    products = graph("MatMul", rows, graph.floats(basis.T))
    if isinstance(kernel, Linear):
        return products
    if isinstance(kernel, Polynomial):
        inner = graph("Add", graph("Mul", products, graph.floats(kernel.gamma)), graph.floats(kernel.offset))
        return graph("Pow", inner, graph.floats(kernel.degree))
    if isinstance(kernel, RBF):
        return _gaussian(graph, kernel, rows, basis, products)
    raise InputError(
        f"ONNX export knows linear, polynomial and RBF kernels, their sums, products, multiples and columns, "
        f"not {type(kernel).__name__}."
    )


def _columns(columns: Any) -> Any:
    return columns if isinstance(columns, slice) else np.asarray(columns)


def _gaussian(graph: GraphBuilder, kernel: RBF, rows: str, basis: Array, products: str) -> str:
    """exp(−γ(‖x‖² + ‖b‖² − 2⟨x, b⟩)); rounding may not make distances negative."""
    own = graph("ReduceSum", graph("Mul", rows, rows), graph.whole([1]), keepdims=1)
    norms = graph.floats((np.asarray(basis, dtype=np.float64) ** 2).sum(axis=1))
    far = graph("Sub", graph("Add", own, norms), graph("Mul", products, graph.floats(2.0)))
    far = graph("Max", far, graph.floats(0.0))
    return graph("Exp", graph("Mul", far, graph.floats(-kernel.inverse_width)))
