"""What classifiers along a graph share: a graph over all observations, and labels at some of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from scipy import sparse

from ..arrays import Array, label_array
from ..checks import Check, require_positive, require_settings, require_unmasked, shown, whole
from ..data.labels import UNOBSERVED, encode
from ..data.rows import Rows, read_partial_labels, read_rows
from ..data.types import Items, Outputs
from ..errors import InputError, warn_user
from ..fitting.provenance import Provenance, provenance_of_rows
from ..fitting.run import Routed, open_observer, starts_afresh
from ..fitting.run_settings import Run
from ..graphs import NeighborGraph, ObservationGraph
from ..graphs.adjacency import Adjacency, read_adjacency
from ..graphs.averages import Watch
from ..graphs.sources import Sources, sources_of
from ..graphs.spreading import require_alpha
from ..persistence.fields import Field, Kind, Numbers, Observations
from ..persistence.savable import Savable, require_fitted
from ..structures import Chain

PRECOMPUTED = "precomputed"

CHECKS: Mapping[str, Check] = {"alpha": require_alpha, "tol": require_positive, "max_iter": whole(0)}


class GraphSolution(Protocol):
    """What a method found on the graph; how values are kept is its own affair."""

    @property
    def iterations(self) -> int:
        """How many there were."""
        ...

    @property
    def error(self) -> float:
        """What ``tol`` is compared with."""
        ...

    @property
    def converged(self) -> bool:
        """Whether it is at most ``tol``."""
        ...


class LabelGraphClassifier(Routed, Savable, ABC):
    """A classifier of rows, or of all positions of sequences, by labels that travel along a graph.

    The graph is over everything that `fit` sees, labelled or not; nothing else is learnt. Observations from
    which no path leads to a label have no values (NaN), and no prediction: None, or −1 where that is how
    missing labels were written.
    """

    _learnt: ClassVar[Mapping[str, Field]] = {
        "graph_": Kind((ObservationGraph, str), large=True),
        "vertices_": Observations(needed=False),
        "vertex_of_": Numbers("N", kinds="i"),
        "scales_": Numbers("n", needed=False),
        "missing_": Kind(int, needed=False),
        "offsets_": Numbers("S", kinds="i", needed=False),
        "n_iter_": Kind(int),
        "error_": Kind(float),
        "provenance_": Kind(Provenance),
        "n_features_in_": Kind(int),
        "feature_names_in_": Numbers("D", kinds="OU", needed=False),
    }
    _lacks: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(["sample_weight", "class_weight"], "a label is at its vertex or is not"),
        **dict.fromkeys(["X_dev", "y_dev"], "it has no weights to be stopped early"),
        **dict.fromkeys(["warm_start", "checkpoint"], "a fit takes seconds"),
        "structure": "labels do not depend on each other but through the graph",
    }
    _heeds: ClassVar[frozenset[str]] = frozenset({"callback"})
    structure: ClassVar[Any] = Chain()
    structure_: ClassVar[Any] = Chain()
    _shortfall: ClassVar[str]
    """What is said of an error that is larger than ``tol``."""
    graph: Any
    tol: float
    max_iter: int
    run: Run
    verbose: int
    graph_: ObservationGraph | str
    vertices_: Any
    vertex_of_: Array
    scales_: Array | None
    missing_: int | None
    offsets_: Array | None
    n_iter_: int
    error_: float
    n_features_in_: int

    @abstractmethod
    def _solve(self, graph: Adjacency, sources: Sources, n_labels: int, watch: Watch) -> GraphSolution:
        """Return what the labels say of all vertices."""

    @abstractmethod
    def _keep(self, found: Any) -> None:
        """Take over the values of all vertices; model files hold no NaN."""

    @abstractmethod
    def _vertex_values(self, vertices: Array) -> Array:
        """Return how well each label fits some vertices, (n, L); NaN where no label arrives."""

    @abstractmethod
    def _linked_values(self, weights: Any) -> Array:
        """Return averages over vertices, (n, L), by (n, V) weights; NaN where none has values."""

    @starts_afresh
    def fit(self, X: Items, y: Outputs, *, X_unlabelled: Items | None = None) -> Self:
        """Build the graph, and let labels travel.

        Parameters
        ----------
        X : (N, D) array, scipy-sparse matrix or data frame, or a list of them
            Observations; of a list, each entry is a sequence. With ``graph="precomputed"`` the (N, N) weights
            of the graph, sparse or dense.
        y : (N,) labels, or a list of label sequences
            None, NaN or the whole number −1 marks one that is not known; a sequence may be None or −1 as a
            whole.
        X_unlabelled : as X, optional
            More observations without labels.
        """
        require_settings(vars(self), CHECKS)
        seen = self._read_training(X, X_unlabelled)
        labels, self.missing_ = read_partial_labels(y, seen.rows)
        encoded = encode([labels])
        codes = np.concatenate([encoded.labels, np.full(seen.n_more, UNOBSERVED, np.int32)])
        adjacency = self._build(seen.features)
        sources = sources_of(codes, self.vertex_of_)
        with open_observer(self) as observer:
            watch = Watch(float(self.tol), int(self.max_iter), lambda progress: observer(progress, None))
            found = self._solve(adjacency, sources, len(encoded.classes), watch)
        self.classes_, self.offsets_ = encoded.classes, seen.rows.offsets
        self._keep(found)
        self.n_iter_, self.error_ = found.iterations, float(found.error)
        every = seen.features.matrix if isinstance(seen.features, Adjacency) else seen.features
        self.provenance_ = provenance_of_rows(every, seen.rows.offsets, encoded)
        if not found.converged:
            self._warn_of(found)
        return self

    @property
    def transduction_(self) -> Any:
        """Labels of all observations of `fit`; a list of lists if X was one, but for X_unlabelled."""
        require_fitted(self)
        labels = self._named(self._vertex_values(self.vertex_of_))
        if self.offsets_ is None:
            return labels
        return Rows(None, self.offsets_).split(labels[: self.offsets_[-1]].tolist())

    def predict(self, X: Items) -> Any:
        """Return the best label of every row, (n,); a list of lists for sequences.

        What was in the graph has the values of its vertex. Others have the average of the neighbours that
        they would have in the graph, by weight [delalleau2005]. With ``graph="precomputed"``, X has the
        weights of the edges to all N vertices, (n, N). None, or −1 if missing labels were written so, where
        no label arrives.
        """
        rows = self._read(X)
        labels = self._named(self._values(rows.features))
        return labels if rows.offsets is None else rows.split(labels.tolist())

    def score(self, X: Items, y: Outputs) -> float:
        """Return the share of rows labelled right; those whose label is missing are skipped.

        No prediction is a wrong one.
        """
        rows = self._read(X)
        truth, _ = read_partial_labels(y, rows)
        kept = [n for n, label in enumerate(truth) if label is not None]
        if not kept:
            raise InputError(f"There is nothing to score: none of the {len(truth)} labels of y is observed.")
        labels = self._named(self._values(rows.features)).tolist()
        return float(np.mean([labels[n] == truth[n] for n in kept]))

    def _read_training(self, X: Items, more: Items | None) -> _Seen:
        if _is_precomputed(self.graph):
            if more is not None:
                raise InputError('X_unlabelled cannot be had with graph="precomputed": X has all vertices.')
            weights = read_adjacency(X)
            self.n_features_in_ = weights.n_vertices
            return _Seen(Rows(weights.matrix, None), weights, 0)
        rows = read_rows(self, X, fitting=True)
        if more is None:
            return _Seen(rows, rows.features, 0)
        other = read_rows(self, more, fitting=False).features
        stack = sparse.vstack if sparse.issparse(rows.features) or sparse.issparse(other) else np.concatenate
        return _Seen(rows, stack([rows.features, other]), other.shape[0])

    def _build(self, features: Any) -> Adjacency:
        """Return the weights of the graph over all observations; keep what makes edges to others."""
        if isinstance(features, Adjacency):
            self.graph_, self.vertices_, self.scales_ = PRECOMPUTED, None, None
            self.vertex_of_ = np.arange(features.n_vertices)
            return features
        settings = NeighborGraph() if self.graph is None else self.graph
        if not isinstance(settings, ObservationGraph):
            raise InputError(
                f"graph is {shown(settings)}; it must be a NeighborGraph, a PrecomputedGraph "
                'or "precomputed".'
            )
        graph = settings.on(features)
        self.vertices_, self.vertex_of_, self.scales_ = graph.vertices, graph.inverse, graph.scales
        self.graph_ = type(settings)(**settings.get_params(deep=False))
        if graph.gamma is not None:
            self.graph_.set_params(gamma=graph.gamma)
        return Adjacency.undirected(graph.adjacency)

    def _read(self, X: Any) -> Rows:
        require_fitted(self)
        if not _is_precomputed(self.graph_):
            return read_rows(self, X, fitting=False)
        require_unmasked(X, "X", "write 0 for edges that there are not")
        weights = X.tocsr() if sparse.issparse(X) else sparse.csr_matrix(np.atleast_2d(np.asarray(X, float)))
        n, values = self.n_features_in_, weights.data
        if weights.shape[1] != n or not np.isfinite(values).all() or (values < 0).any():
            raise InputError(
                f"X has shape {weights.shape}; it must have weights to {n} vertices, finite and not negative."
            )
        return Rows(weights, None)

    def _values(self, features: Any) -> Array:
        """Values of all rows: those of vertices, and averages over neighbours of what is none."""
        if isinstance(self.graph_, str):
            return self._linked_values(features)
        vertex = self.graph_.found(features, self.vertices_)
        result = self._vertex_values(vertex)
        new = np.flatnonzero(vertex < 0)
        if len(new):
            links = self.graph_.links(features[new], self.vertices_, self.scales_)
            result[new] = self._linked_values(links)
        return result

    def _named(self, values: Array) -> Array:
        """Labels of rows; missing where there are no values."""
        unknown: Array = np.isnan(values[:, 0])
        best = np.where(unknown[:, None], 0.0, values).argmax(axis=1)
        if not unknown.any():
            return np.asarray(self.classes_[best])
        names = self.classes_.tolist()
        return label_array([self.missing_ if u else names[k] for u, k in zip(unknown, best, strict=True)])

    def _warn_of(self, found: GraphSolution) -> None:
        from sklearn.exceptions import ConvergenceWarning

        warn_user(
            f"After {found.iterations} iterations {self._shortfall} {found.error:.1e}, more than "
            f"tol={self.tol}. Raise max_iter or tol.",
            ConvergenceWarning,
        )

    def _rehearse(self) -> None:
        """Predict for an observation of the graph, or for one with no links to its vertices."""
        self._named(self._vertex_values(self.vertex_of_[:1]))
        if _is_precomputed(self.graph_):
            self._values(sparse.csr_matrix((1, self.n_features_in_)))
        else:
            self._values(np.zeros((1, 1)) if self.vertices_ is None else self.vertices_[:1])

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn's tools ask: that this is a classifier, whose folds they balance."""
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        tags.classifier_tags = ClassifierTags()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = _is_precomputed(self.graph)
        return tags


class _Seen(NamedTuple):
    """What a fit is given."""

    rows: Rows
    """Of X."""
    features: Any
    """All observations, or an `Adjacency`."""
    n_more: int
    """How many have no place in y."""


def _is_precomputed(graph: Any) -> bool:
    return isinstance(graph, str) and graph == PRECOMPUTED
