"""Label propagation as a classifier."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from ..fitting.run_settings import Run
from ..graphs import Spread
from ..graphs.adjacency import Adjacency
from ..graphs.averages import Watch
from ..graphs.harmonic import harmonic_sources
from ..graphs.sources import Sources
from ._distributions_base import LabelDistributionClassifier


@dataclass(eq=False, repr=False)
class LabelPropagation(LabelDistributionClassifier):
    """The harmonic solution [zhu2003]: known labels stay, all else is the average of its neighbours,

        f_i = Σ_j w_ij f_j / Σ_j w_ij.

    p(l|x_i) = f_il is the probability that a random walk from i meets label l first. scikit-learn's class of
    the same name iterates towards it; here it is solved by conjugate gradients, with a bound of the error.
    With very few labels in a large graph f is nearly constant, and the most frequent label wins: use
    `LabelSpreading` or `PoissonLearning` there.

    Parameters
    ----------
    graph : NeighborGraph, PrecomputedGraph, "precomputed" or None
        As in `LabelSpreading`.
    tol, max_iter, verbose
        As in `LabelSpreading`.
    run : Run
        Heeds ``callback``, as in `LabelSpreading`.

    Attributes
    ----------
    classes_, label_distributions_, transduction_, n_iter_, error_, graph_, vertices_, vertex_of_, \
vertex_distributions_, scales_, missing_, offsets_, n_features_in_, feature_names_in_
        As in `LabelSpreading`.

    Examples
    --------
    >>> from kernelfields import LabelPropagation
    >>> from kernelfields.graphs import NeighborGraph
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, -1, -1, 1]
    >>> model = LabelPropagation(NeighborGraph(n_neighbors=1), tol=1e-6).fit(X, y)
    >>> model.label_distributions_.round(2).tolist()
    [[1.0, 0.0], [0.67, 0.33], [0.33, 0.67], [0.0, 1.0]]
    """

    graph: Any = None
    _: KW_ONLY
    tol: float = 1e-3
    max_iter: int = 10000
    run: Run = Run()
    verbose: int = 0

    def _solve(self, graph: Adjacency, sources: Sources, n_labels: int, watch: Watch) -> Spread:
        return harmonic_sources(graph, sources, n_labels, watch)
