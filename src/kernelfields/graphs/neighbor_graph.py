"""Graphs of nearest neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..checks import all_finite, one_of, require_positive, require_share, require_unmasked, require_whole
from ..errors import InputError
from ..observations import Observations, canonical, find_observations, unique_observations
from ._base import ObservationGraph
from .approximate_neighbors import nearly_nearest
from .neighbors import Neighbors, nearest, within
from .sparse_graph import SparseGraph

_WEIGHTS = one_of(("unit", "rbf", "local"))
_SYMMETRISE = one_of(("union", "mutual"))
_METRICS = one_of(("euclidean", "cosine"))
_METHODS = one_of(("exact", "approximate"))


class NeighborGraph(ObservationGraph):
    """Every observation is linked to its nearest neighbours, or to all within a radius [lafferty2004, 4.2].

    Equal observations are one vertex: `SparseGraph.inverse` tells which.

    Parameters
    ----------
    n_neighbors : int
        k, the neighbours that each vertex chooses; all others if there are fewer. Without effect if a
        radius is given.
    radius : float or None
        Link all vertices at most this far from each other, instead of the k nearest.
    weights : {"unit", "rbf", "local"}
        1; exp(−γ d²) for distances d; or exp(−d²/(σ_i σ_j)), σ being the distance to the farthest
        chosen neighbour of each side, for data of varying density [zelnik2004]. Weights that are zero in
        double precision are no edges.
    gamma : float or None
        γ of "rbf"; None: 1 over the mean squared distance of neighbours.
    symmetrise : {"union", "mutual"}
        Which of the choices of k neighbours are edges: those of either side, or those of both.
    metric : {"euclidean", "cosine"}
        Distance ‖x − x′‖, or that of x/‖x‖ and x′/‖x′‖, which orders pairs as their angles do.
    method : {"exact", "approximate"}
        Whether the k neighbours in the graph are the nearest, whose search takes time N² in many dimensions,
        or nearly: for large N, dense observations, with the package faiss (``kernelfields[neighbors]``).
        Neighbours of new observations are exact.
    recall : float
        Share of the nearest neighbours that "approximate" must find, measured on 256 vertices.

    Examples
    --------
    >>> graph = NeighborGraph(n_neighbors=1).on([[0.0], [1.0], [5.0], [5.5]])
    >>> graph
    <SparseGraph: 4 vertices, 2 edges, 2 components, 0 isolated vertices>
    >>> graph.components
    array([0, 0, 1, 1])
    """

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        radius: float | None = None,
        weights: str = "unit",
        gamma: float | None = None,
        symmetrise: str = "union",
        metric: str = "euclidean",
        method: str = "exact",
        recall: float = 0.95,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.weights = weights
        self.gamma = gamma
        self.symmetrise = symmetrise
        self.metric = metric
        self.method = method
        self.recall = recall

    def on(self, observations: Observations) -> SparseGraph:
        """Return the graph over these observations, labelled and unlabelled."""
        self._check()
        vertices, inverse = unique_observations(points_of(observations))
        chosen = self._chosen(vertices, None)
        gamma, scales = None, None
        if self.weights == "rbf":
            gamma = 1 / squared_width(chosen) if self.gamma is None else float(self.gamma)
        if self.weights == "local":
            scales = local_scales(chosen)
        adjacency = self._symmetric(
            chosen.matrix(self._weighted(chosen, gamma, scales, scales), len(chosen.first) - 1)
        )
        return SparseGraph(adjacency, vertices, inverse, gamma, scales)

    def found(self, observations: Observations, vertices: Any) -> Array:
        """Return the vertex that each observation equals, in the lower of their precisions; −1 if none."""
        points = self._points(observations, vertices)
        if getattr(observations, "dtype", None) == np.float32 and vertices.dtype != np.float32:
            # an estimator that works in single precision asks for the vertices of a kernel made in double
            points, vertices = points.astype(np.float32), vertices.astype(np.float32)
        if not vertices.shape[0]:
            return np.full(points.shape[0], -1)
        return find_observations(vertices, points)

    def links(self, observations: Observations, vertices: Any, scales: Array | None) -> Any:
        """Return the weights of the edges to the neighbours among the vertices, (n, V) CSR."""
        self._check()
        chosen = self._chosen(vertices, self._points(observations, vertices))
        if self.weights == "rbf" and self.gamma is None:
            raise InputError("gamma of NeighborGraph is None; new observations need that of the graph.")
        own = local_scales(chosen) if self.weights == "local" else None
        found = chosen.matrix(self._weighted(chosen, self.gamma, own, scales), vertices.shape[0])
        found.eliminate_zeros()
        return found

    def _check(self) -> None:
        if self.radius is None:
            require_whole("n_neighbors of NeighborGraph", self.n_neighbors, most=2**31 - 1)
        else:
            require_positive("radius of NeighborGraph", self.radius)
        _WEIGHTS("weights of NeighborGraph", self.weights)
        _SYMMETRISE("symmetrise of NeighborGraph", self.symmetrise)
        _METRICS("metric of NeighborGraph", self.metric)
        if self.gamma is not None:
            require_positive("gamma of NeighborGraph", self.gamma)
        _METHODS("method of NeighborGraph", self.method)
        require_share("recall of NeighborGraph", self.recall)
        if self.radius is not None and self.method == "approximate":
            raise InputError(
                'method of NeighborGraph is "approximate"; with a radius the search must be "exact".'
            )

    def _points(self, observations: Observations, vertices: Any) -> Any:
        points = points_of(observations, vertices.dtype)
        if points.shape[1] != vertices.shape[1]:
            raise InputError(
                f"Observations have {points.shape[1]} numbers; the graph is over rows of {vertices.shape[1]}."
            )
        if sparse.issparse(vertices) != sparse.issparse(points):
            points = sparse.csr_matrix(points) if sparse.issparse(vertices) else points.toarray()
        return points

    def _chosen(self, vertices: Any, points: Any | None) -> Neighbors:
        if self.metric == "cosine":
            vertices, points = unit_rows(vertices), None if points is None else unit_rows(points)
        if self.radius is not None:
            return within(vertices, points, self.radius)
        if points is None and self.method == "approximate":
            return nearly_nearest(vertices, self.n_neighbors, float(self.recall))
        return nearest(vertices, points, self.n_neighbors)

    def _weighted(
        self, links: Neighbors, gamma: float | None, own: Array | None, scales: Array | None
    ) -> Array:
        if self.weights == "rbf" and gamma is not None:
            return gaussian(links, gamma)
        if self.weights == "local" and own is not None and scales is not None:
            return locally_gaussian(links, own, scales)
        return np.ones(len(links.vertex))

    def _symmetric(self, chosen: Any) -> Any:
        mirrored = chosen.T.tocsr()
        found = chosen.maximum(mirrored) if self.symmetrise == "union" else chosen.minimum(mirrored)
        found = sparse.csr_array(found)
        found.eliminate_zeros()
        found.sort_indices()
        return found


def points_of(X: Observations, dtype: Any = None) -> Any:
    """Return observations as an (n, D) array or a canonical CSR matrix; float32 stays."""
    require_unmasked(X, "The array of observations")
    found = X if sparse.issparse(X) else np.asarray(X)
    if found.ndim != 2:
        raise InputError(f"A graph needs the rows of an (n, D) array, not an array of shape {found.shape}.")
    if found.dtype.kind not in "biuf":
        raise InputError(f"A graph needs rows of numbers, not of {found.dtype}.")
    kind = dtype or (np.float32 if found.dtype == np.float32 else np.float64)
    found = canonical(found, kind) if sparse.issparse(found) else np.ascontiguousarray(found, dtype=kind)
    _require_finite(found)
    return found


def unit_rows(X: Any) -> Any:
    """Return rows of length one, in double; rows of zeros stay."""
    if sparse.issparse(X):
        X = X.astype(np.float64)
        return sparse.diags_array(_inverse_norms(np.sqrt(X.multiply(X).sum(axis=1)))) @ X
    X = X.astype(np.float64)
    return X * _inverse_norms(np.linalg.norm(X, axis=1))[:, None]


def _inverse_norms(norms: Any) -> Array:
    found = np.asarray(norms, dtype=np.float64).ravel()
    return np.divide(1, found, out=np.zeros_like(found), where=found > 0)


def _require_finite(X: Any) -> None:
    values = X.data if sparse.issparse(X) else X
    if not values.size or all_finite(values):
        return
    entries = sparse.coo_array(X)
    bad = np.flatnonzero(~np.isfinite(entries.data))[0]
    raise InputError(
        f"Observation {entries.row[bad]} has the entry {entries.data[bad]}, not a finite number."
    )


def squared_width(links: Neighbors) -> float:
    """Return the mean of squared distances of neighbours; 1 if there are none at a distance."""
    mean = float(np.mean(links.distance**2)) if len(links.distance) else 0.0
    return mean if mean > 0 else 1.0


def local_scales(links: Neighbors) -> Array:
    """Return σ_i, the distance from point i to its farthest neighbour; 1 where that is 0 or there is none."""
    scales = np.zeros(len(links.first) - 1)
    np.maximum.at(scales, links.sources, links.distance)
    scales[scales == 0] = 1.0
    return scales


def gaussian(links: Neighbors, gamma: float) -> Array:
    """Return exp(−γ d²)."""
    return np.exp(-gamma * links.distance**2)


def locally_gaussian(links: Neighbors, sources: Array, vertices: Array) -> Array:
    """Return exp(−d²/(σ_i σ_j)) [zelnik2004] for the scales of sources and of vertices."""
    return np.exp(-(links.distance**2) / (sources[links.sources] * vertices[links.vertex]))
