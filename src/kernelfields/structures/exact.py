"""Labelled graphs with exact inference by junction trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from .. import native
from ..arrays import Array
from ..checks import Check, Checked, require_weights, whole
from ..errors import InputError
from ..memory import require_memory
from ._base import Scores, require_feasible
from ._blocks_base import BlockOracle, repeated
from ._labelled_base import require_best, require_draws, score_array
from ._oracles import (
    CovarianceOracle,
    KBestOracle,
    Labelling,
    Labellings,
    Marginals,
    MaxOracle,
    SampleOracle,
)
from .blocks import Blocks
from .graph import Factors, GraphBatch


@dataclass(frozen=True)
class Exact(Checked):
    """Exact inference on graphs, by junction trees.

    Parameters
    ----------
    max_table : int
        Scores that the largest table may have: the product of the numbers of labels of up to treewidth + 1
        vertices. Graphs that need more are refused.
    """

    max_table: int = 2**24
    _checks: ClassVar[Mapping[str, Check]] = {"max_table": whole(1, 2**30)}

    def on(
        self, offsets: npt.ArrayLike, edges: npt.ArrayLike, n_labels: int, **shape: Any
    ) -> ExactGraphBatch:
        """Return the batch with these settings."""
        return ExactGraphBatch(offsets, edges, n_labels, exact=self, **shape)


class ExactGraphBatch(GraphBatch, BlockOracle, MaxOracle, CovarianceOracle, SampleOracle, KBestOracle):
    """A batch of labelled graphs with exact inference.

    Vertices are eliminated one after the other in an order that keeps tables small (minimum fill, weighted
    by the numbers of labels, or a sweep across the graph); graphs of one shape share it. Time and memory
    grow with the number of labels to the power of the treewidth, so that it is for graphs that are small,
    or narrow: beyond ``max_table`` they are refused when the batch is made. Sums are scaled, or in logarithms
    where scores range too far for these; batches run on all cores. Ties of `argmax` go to the lower label of
    the vertex that is eliminated last, then to that of the one before it, and so on.

    Parameters
    ----------
    offsets, edges, n_labels, shared_edges, factors, label_sets
        As for `GraphBatch`.
    exact : Exact
        The largest table that is allowed.

    Examples
    --------
    >>> import numpy as np
    >>> triangle = ExactGraphBatch([0, 3], [[0, 1], [1, 2], [2, 0]], n_labels=2)
    >>> scores = {"node": np.zeros((3, 2)), "edge": np.array([[0.0, 0.0], [0.0, -np.inf]])}
    >>> round(float(np.exp(triangle.log_partition(scores)[0])))  # no two neighbours have label 1
    4
    """

    def __init__(
        self,
        offsets: npt.ArrayLike,
        edges: npt.ArrayLike,
        n_labels: int,
        *,
        shared_edges: bool = True,
        factors: Mapping[str, Factors] | None = None,
        label_sets: npt.ArrayLike | None = None,
        exact: Exact | None = None,
    ) -> None:
        super().__init__(
            offsets, edges, n_labels, shared_edges=shared_edges, factors=factors, label_sets=label_sets
        )
        self.exact = exact or Exact()
        self._shape = self._analysed()

    @property
    def treewidths(self) -> Array:
        """The treewidth of every instance, in the order of elimination that was found."""
        return np.asarray(self._shape.widths())

    def argmax(self, scores: Scores) -> Labelling:
        """Best scores of what is eliminated, then labels on the way back."""
        labels, value = native.graph_argmax(self._tables(scores), self._shape)
        require_feasible(value, self.words)
        return Labelling(labels, self.score(scores, labels))

    def log_partition(self, scores: Scores) -> Array:
        """g(θ), by messages from clique to clique."""
        value = np.asarray(native.graph_log_partition(self._tables(scores), self._shape))
        require_feasible(value, self.words)
        return value

    def marginals(self, scores: Scores, weights: Array | None = None) -> Marginals:
        """Messages to the last clique, marginals on the way back."""
        value, parts = native.graph_marginals(
            self._tables(scores), self._shape, require_weights(weights, self.n_instances)
        )
        require_feasible(value, self.words)
        return Marginals(value, dict(zip(self.cliques, parts, strict=True)))

    def entropy(self, scores: Scores) -> Array:
        """H(p) as a sum of entropies of vertices given what is eliminated after them."""
        value = np.asarray(native.graph_entropy(self._tables(scores), self._shape))
        require_feasible(value, self.words)
        return value

    def covariance(self, scores: Scores, direction: Scores, weights: Array | None = None) -> dict[str, Array]:
        """∇²g(θ)·d by differentiating messages and marginals."""
        tables = self._tables(scores)
        along = [score_array(direction, name, shape, tables[0].dtype) for name, shape in self.shapes.items()]
        value, parts = native.graph_covariance(
            tables, self._shape, along, require_weights(weights, self.n_instances)
        )
        require_feasible(value, self.words)
        return dict(zip(self.cliques, parts, strict=True))

    def sample(self, scores: Scores, count: int, seed: int) -> Array:
        """Messages to the last clique, then draws on the way back."""
        draws = require_draws(count, seed, self.n_vertices)
        labels, value = native.graph_sample(self._tables(scores), self._shape, *draws)
        require_feasible(value, self.words)
        return np.asarray(labels)

    def kbest(self, scores: Scores, k: int) -> Labellings:
        """Best scores of what is eliminated, then labellings in the order of what their labels lose."""
        longest = int(np.diff(self._offsets).max(initial=0))
        k = require_best(k, self.n_vertices, self.n_instances, 4 + longest // 4)
        labels, value = native.graph_kbest(self._tables(scores), self._shape, k)
        require_feasible(value[:, 0], self.words)
        return Labellings(labels, value)

    def blocks(self, scores: Scores, weights: Array | None = None) -> dict[str, Blocks]:
        """Return the covariances inside every clique; takes as many numbers as untied scores."""
        each = self.untied(self.cliques)
        parts = each.marginals(each.spread(scores)).parts
        return {
            name: Blocks(parts[name], repeated(weights, cliques.offsets), cliques.shared)
            for name, cliques in self.cliques.items()
        }

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_shape"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._shape = self._analysed()

    def _like(self, offsets: Array, edges: Array, **shape: Any) -> Self:
        return type(self)(offsets, edges, self.n_labels, **shape, exact=self.exact)

    def _analysed(self) -> native.GraphShape:
        """Find orders of elimination; graphs that need too large a table are refused before any is taken."""
        members = [self.edges, *(factor.members for factor in self.factors.values())]
        shape = native.GraphShape(
            self._offsets, members, self.n_labels, self.label_sets, float(self.exact.max_table)
        )
        refusal = shape.refusal()
        if refusal is not None:
            s, width, entries = refusal
            raise InputError(
                f"Graph {s} has a treewidth of about {width} or more: exact inference would take a table of "
                f"{entries:.3g} numbers, more than max_table={self.exact.max_table}; use belief propagation, "
                f"tree-reweighted sums or pseudo-likelihood instead."
            )
        require_memory("The messages of the largest graph", int(8 * shape.messages()))
        return shape
