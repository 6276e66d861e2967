"""Poisson learning as a classifier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array
from ..data.types import Items
from ..fitting.run_settings import Run
from ..graphs import PoissonScores
from ..graphs.adjacency import Adjacency
from ..graphs.averages import Watch
from ..graphs.poisson import poisson_sources
from ..graphs.sources import Sources
from ..persistence.fields import Field, Numbers
from ._base import LabelGraphClassifier


@dataclass(eq=False, repr=False)
class PoissonLearning(LabelGraphClassifier):
    """Labels as sources and sinks of a flow along the graph of all observations [calder2020],

        (D − W) u_l = Σ_{i labelled} (y_il − ȳ_l) δ_i,        Σ_i d_i u_il = 0,

    with W the weights of the graph, D their sums, y the indicators of known labels and ȳ their mean in each
    component. The label with the largest u is predicted. Made for a handful of labels in a large graph, where
    the function of `LabelPropagation` is flat but for spikes at labels. u is a potential, not a probability:
    there is no ``predict_proba``.

    Parameters
    ----------
    graph : NeighborGraph, PrecomputedGraph, "precomputed" or None
        As in `LabelSpreading`; it must be undirected.
    tol : float
        Largest residual relative to what flows in, both in the norm of D.
    max_iter, verbose
        As in `LabelSpreading`.
    run : Run
        Heeds ``callback``, as in `LabelSpreading`.

    Attributes
    ----------
    classes_, transduction_, n_iter_, error_, graph_, vertices_, vertex_of_, scales_, missing_, offsets_, \
n_features_in_, feature_names_in_
        As in `LabelSpreading`; ``error_`` is the relative residual.
    vertex_scores_, vertex_labels_ : (V, L) arrays
        u of all vertices, and 1 for the labels that are in their component, else 0.

    Examples
    --------
    >>> from kernelfields import PoissonLearning
    >>> from kernelfields.graphs import NeighborGraph
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["low", None, None, "high"]
    >>> model = PoissonLearning(NeighborGraph(n_neighbors=1)).fit(X, y)
    >>> model.transduction_.tolist()
    ['low', 'low', 'high', 'high']
    >>> model.classes_.tolist(), model.decision_function([[1.0]]).round(2).tolist()
    (['high', 'low'], [0.5])
    """

    _learnt: ClassVar[Mapping[str, Field]] = {
        **LabelGraphClassifier._learnt,
        "vertex_scores_": Numbers("n L"),
        "vertex_labels_": Numbers("n L", kinds="i"),
    }
    _shortfall: ClassVar[str] = "the relative residual is"
    probabilistic: ClassVar[bool] = False

    graph: Any = None
    _: KW_ONLY
    tol: float = 1e-6
    max_iter: int = 10000
    run: Run = Run()
    verbose: int = 0

    def decision_function(self, X: Items) -> Any:
        """Return u of every row, (n, L), columns as in ``classes_``; a list of them for sequences.

        Of two labels, (n,): how much larger the second one's is. Rows as in `predict`. −inf for labels that
        are not in the component, NaN where no label arrives.
        """
        rows = self._read(X)
        values = self._values(rows.features)
        return rows.split(values[:, 1] - values[:, 0] if values.shape[1] == 2 else values)

    def _solve(self, graph: Adjacency, sources: Sources, n_labels: int, watch: Watch) -> PoissonScores:
        return poisson_sources(graph, sources, n_labels, watch)

    def _keep(self, found: PoissonScores) -> None:
        finite = np.isfinite(found.scores)
        self.vertex_scores_: Array = np.where(finite, found.scores, 0.0)
        self.vertex_labels_: Array = finite.astype(np.int8)

    def _vertex_values(self, vertices: Array) -> Array:
        return _marked(self.vertex_scores_[vertices], self.vertex_labels_[vertices] > 0)

    def _linked_values(self, weights: Any) -> Array:
        """Average over the neighbours whose component has the label."""
        totals = np.asarray(weights @ self.vertex_labels_.astype(np.float64))
        sums = np.asarray(weights @ self.vertex_scores_)
        known = totals > 0
        return _marked(np.divide(sums, totals, out=np.zeros_like(sums), where=known), known)


def _marked(scores: Array, known: Array) -> Array:
    """Return scores, −inf for labels that are not known, NaN where none is."""
    return np.where(known, scores, np.where(known.any(axis=1, keepdims=True), -np.inf, np.nan))
