"""Ways to cluster the points of sequences without labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from kernelfields.arrays import Array
from kernelfields.estimators import HMM, FieldClustering
from kernelfields.graphs import NeighborGraph, Regularised
from kernelfields.kernels import RBF, GraphKernel

METHODS = (
    "k-means",
    "spectral clustering",
    "Gaussian HMM",
    "field, graph kernel, no context",
    "field, RBF",
    "field, graph kernel",
)
N_CLUSTERS = 2


def clustered(name: str, X: Sequence[Array], settings: Mapping[str, Any], seed: int) -> Array:
    """Return the cluster of every point by one of the methods."""
    points = np.concatenate(X)
    neighbors = settings["n_neighbors"]
    if name == "k-means":
        from sklearn.cluster import KMeans

        return np.asarray(KMeans(N_CLUSTERS, n_init=10, random_state=seed).fit_predict(points))
    if name == "spectral clustering":
        from sklearn.cluster import SpectralClustering

        spectral = SpectralClustering(
            N_CLUSTERS, affinity="nearest_neighbors", n_neighbors=neighbors, random_state=seed
        )
        return np.asarray(spectral.fit_predict(points))
    if name == "Gaussian HMM":
        hmm = HMM("gaussian-full", n_states=N_CLUSTERS, n_init=settings["n_init"], random_state=seed)
        return np.concatenate([np.asarray(one) for one in hmm.fit(list(X)).predict(list(X))])
    graph = GraphKernel(NeighborGraph(neighbors), Regularised(settings["epsilon"]), settings["n_eigenpairs"])
    model = FieldClustering(
        N_CLUSTERS,
        kernel=RBF(settings["gamma"]) if name == "field, RBF" else graph,
        penalty=settings["penalty"],
        stay=1 / N_CLUSTERS if name.endswith("no context") else settings["stay"],
        n_init=settings["n_init"],
        random_state=seed,
    )
    return np.concatenate([np.asarray(one) for one in model.fit(list(X)).labels_])


def right_share(truth: Array, labels: Array) -> float:
    """Return the share of points that are right, clusters being named in the best way."""
    classes, names = np.unique(truth, return_inverse=True)
    clusters, numbers = np.unique(labels, return_inverse=True)
    table = np.zeros((len(classes), len(clusters)))
    np.add.at(table, (names, numbers), 1)
    rows, columns = linear_sum_assignment(-table)
    return float(table[rows, columns].sum() / len(truth))
