"""Labelled graphs with exact inference by junction trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..checks import Check, Checked, require_weights, whole
from ..memory import require_memory
from ._base import Scores
from ._blocks_base import BlockOracle, repeated
from ._errors_base import LabelErrors
from ._labelled_base import EdgeBatch, require_best, require_draws
from ._oracles import CovarianceOracle, KBestOracle, Labelling, Labellings, Marginals, MaxOracle, SampleOracle
from .blocks import Blocks
from .chain2 import SecondOrderChainBatch
from .graph import Factors, GraphBatch
from .graph_forest import GraphForest, forest_of
from .junction_trees import JunctionTrees
from .words import SEQUENCES, Words


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


class ExactGraphBatch(
    GraphBatch, LabelErrors, BlockOracle, MaxOracle, CovarianceOracle, SampleOracle, KBestOracle
):
    """A batch of labelled graphs with exact inference.

    Vertices are eliminated one after the other in an order that keeps tables small (minimum fill, weighted
    by the numbers of labels, or a sweep across the graph); graphs of one shape share it. Time and memory
    grow with the number of labels to the power of the treewidth, so that it is for graphs that are small,
    or narrow: beyond ``max_table`` they are refused when the batch is made. Sums are scaled, or in logarithms
    where scores range too far for these; batches run on all cores. Ties of `argmax` go to the lower label of
    the vertex that is eliminated last, then to that of the one before it, and so on. Graphs without cycles
    have the recursions of trees.

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
        self._engine = self._chosen()

    @property
    def treewidths(self) -> Array:
        """The treewidth of every instance, in the order of elimination that was found."""
        return self._engine.treewidths

    def argmax(self, scores: Scores) -> Labelling:
        """Best scores of what is eliminated, then labels on the way back."""
        return self._engine.argmax(scores)

    def log_partition(self, scores: Scores) -> Array:
        """g(θ), by messages from clique to clique."""
        return self._engine.log_partition(scores)

    def marginals(self, scores: Scores, weights: Array | None = None) -> Marginals:
        """Messages to the last clique, marginals on the way back."""
        return self._engine.marginals(scores, require_weights(weights, self.n_instances))

    def entropy(self, scores: Scores) -> Array:
        """H(p) as a sum of entropies of vertices given what is eliminated after them."""
        return self._engine.entropy(scores)

    def covariance(self, scores: Scores, direction: Scores, weights: Array | None = None) -> dict[str, Array]:
        """∇²g(θ)·d by differentiating messages and marginals."""
        return self._engine.covariance(scores, direction, require_weights(weights, self.n_instances))

    def sample(self, scores: Scores, count: int, seed: int) -> Array:
        """Messages to the last clique, then draws on the way back."""
        return self._engine.sample(scores, *require_draws(count, seed, self.n_vertices))

    def kbest(self, scores: Scores, k: int) -> Labellings:
        """Best scores of what is eliminated, then labellings in the order of what their labels lose."""
        longest = int(np.diff(self._offsets).max(initial=0))
        k = require_best(k, self.n_vertices, self.n_instances, 4 + longest // 4)
        return self._engine.kbest(scores, k)

    def best_by_errors(self, scores: Scores, errors: Array) -> Array:
        """Best scores for every number of errors, as vertices are eliminated.

        Tables grow with the number of errors, and the time with its square; more than 2²⁷ numbers for
        one graph are refused.
        """
        counted = self._counted(errors)
        levels = self._most(counted) + 1
        require_memory("The tables of errors", 8 * levels * self.n_instances)
        return self._engine.best_by_errors(scores, counted, levels)

    def argmax_at_errors(self, scores: Scores, errors: Array, counts: npt.ArrayLike) -> Labelling:
        """Best scores for up to so many errors, then labels on the way back."""
        return self._engine.argmax_at_errors(scores, self._counted(errors), self._levels(counts))

    def blocks(self, scores: Scores, weights: Array | None = None) -> dict[str, Blocks]:
        """Return the covariances inside every clique; takes as many numbers as untied scores."""
        each = self.untied(self.cliques)
        parts = each.marginals(each.spread(scores)).parts
        return {
            name: Blocks(parts[name], repeated(weights, cliques.offsets), cliques.shared)
            for name, cliques in self.cliques.items()
        }

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_engine"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._engine = self._chosen()

    def _like(self, offsets: Array, edges: Array, **shape: Any) -> Self:
        return type(self)(offsets, edges, self.n_labels, **shape, exact=self.exact)

    def _chosen(self) -> JunctionTrees | GraphForest:
        """Return what fits these graphs: the recursions of trees where there are no cycles."""
        forest = forest_of(self) if self.n_labels**2 <= self.exact.max_table else None
        return forest or JunctionTrees(self, self.exact.max_table)


class OwnTripleBatch(ExactGraphBatch):
    """A batch of chains of order two,

        score(y) = Σ_t node[t, y_t] + Σ_t edge[t, y_t, y_{t+1}] + Σ_t triple[t, y_{t−1}, y_t, y_{t+1}].

    These are graphs of treewidth two: positions are eliminated one by one, O(T L³), which takes about twelve
    times as long as the recursions of `SecondOrderChainBatch`.
    """

    words: Words = SEQUENCES
    has_ends: ClassVar[bool] = True
    named_cliques = ()
    sources, sinks = EdgeBatch.sources, EdgeBatch.sinks


def untie_triples(chains: SecondOrderChainBatch) -> OwnTripleBatch:
    """Return the same sequences with scores for each triple."""
    edges = np.stack([chains.edge_tails, chains.edge_heads], axis=1)
    triples = Factors(chains.cliques["triple"].members, shared=False)
    shared = chains.shared_edges
    return OwnTripleBatch(
        chains.offsets, edges, chains.n_labels, shared_edges=shared, factors={"triple": triples}
    )
