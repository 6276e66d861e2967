"""Label spreading as a classifier."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from ..fitting.run_settings import Run
from ..graphs import Spread
from ..graphs.adjacency import Adjacency
from ..graphs.averages import Watch
from ..graphs.sources import Sources
from ..graphs.spreading import spread_sources
from ._distributions_base import LabelDistributionClassifier


@dataclass(eq=False, repr=False)
class LabelSpreading(LabelDistributionClassifier):
    """Labels that spread along a graph of all observations [zhou2004],

        f = α S f + (1 − α) y,        S = D^−½ W D^−½,        p(l|x_i) = f_il / Σ_m f_im,

    with W the weights of the graph, D their sums, and y the indicators of known labels. These are soft: a
    label that contradicts its neighbours may be outvoted. Use `LabelPropagation` where labels are certain.

    It is scikit-learn's class of the same name on any sparse graph, with memory for its edges instead of N²
    numbers, probabilities with a bound of their error, and none where no label arrives.

    Parameters
    ----------
    graph : NeighborGraph, PrecomputedGraph, "precomputed" or None
        The graph; None is ``NeighborGraph()``. With "precomputed", X is its weights, directed or not.
    alpha : float
        Between 0 and 1: how much more neighbours count than labels. scikit-learn's default is 0.2; the
        paper, with few labels, uses 0.99.
    tol : float
        How far probabilities may be off, summed over the labels of an observation.
    max_iter : int
        Limit of iterations.
    run : Run
        Heeds ``callback``, called after every iteration; its value is the error.
    verbose : int
        Whether to show progress.

    Attributes
    ----------
    classes_ : (L,) array
        Labels, in the order of all arrays over labels.
    label_distributions_, transduction_ : (N, L) and (N,) arrays
        Probabilities and labels of all observations of `fit`, as in scikit-learn; NaN, and None or −1, where
        there is no path to a label.
    n_iter_, error_ : int, float
        Iterations, and how far probabilities may be off.
    graph_ : NeighborGraph, PrecomputedGraph or "precomputed"
        The graph's settings, as they are for new observations.
    vertices_, vertex_of_, vertex_distributions_, scales_
        The distinct observations, which of them each observation is, their probabilities, their local scales.
    missing_ : None or −1
        What stands for no label.
    offsets_ : (S + 1,) array or None
        Where sequences begin, if X had some.
    n_features_in_, feature_names_in_ : int, array
        As in scikit-learn.

    Examples
    --------
    >>> from kernelfields import LabelSpreading
    >>> from kernelfields.graphs import NeighborGraph
    >>> X, y = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]], ["low", None, None, None, None, "high"]
    >>> model = LabelSpreading(NeighborGraph(n_neighbors=2), alpha=0.9).fit(X, y)
    >>> model.transduction_.tolist()
    ['low', 'low', 'low', 'high', 'high', 'high']
    >>> model.predict([[3.0]]).tolist()
    ['low']
    """

    graph: Any = None
    _: KW_ONLY
    alpha: float = 0.2
    tol: float = 1e-3
    max_iter: int = 1000
    run: Run = Run()
    verbose: int = 0

    def _solve(self, graph: Adjacency, sources: Sources, n_labels: int, watch: Watch) -> Spread:
        return spread_sources(graph, sources, n_labels, self.alpha, watch)
