"""Kernels made of eigenvectors of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..graphs import ObservationGraph
from .feature_map import FeatureMapKernel
from .observations import Observations, precision, take

LEAST = 0.1
"""What the denominator of an extension is at least, as a share of the degree: values of new observations are
at most ten times those of their neighbours."""


class SpectralKernel(FeatureMapKernel):
    """k(x, x′) = Σ_i ρ(e_i) v_i(x) v_i(x′), what `GraphKernel` becomes on observations.

    An observation that is a vertex has the values of its vertex. At a new one, with weights w_j to its
    neighbours and their sum d,

        v_i(x) = Σ_j w_j v_i(j) / (d − s_i),   or   Σ_j w_j/√(d d_j) v_i(j) / (1 − s_i)

    for plain and normalised Laplacians: with s_i = e_i the equation that the eigenvector satisfies at every
    vertex (Nyström); with s_i = −ε the function that minimises the energy of the regularised Laplacian
    (harmonic). Denominators are at least a tenth of d, or of 1. An observation without neighbours has
    features of zero.

    Parameters
    ----------
    graph : ObservationGraph
        How new observations are linked to vertices.
    vertices : array or sparse matrix, or None
        The observations of the graph, none twice; None if observations are numbers of vertices.
    basis : (V, m) array
        √ρ(e_i) v_i, in columns.
    shifts : (m,) array
        s_i.
    roots : (V,) array
        √d_j if the Laplacian is normalised, else 1.
    normalised : bool
        Whether it is.
    scales : (V,) array or None
        The local widths of vertices, where weights have such.
    """

    def __init__(
        self,
        graph: ObservationGraph,
        vertices: Any,
        basis: Array,
        shifts: Array,
        roots: Array,
        normalised: bool = True,
        scales: Array | None = None,
    ) -> None:
        self.graph = graph
        self.vertices = vertices
        self.basis = basis
        self.shifts = shifts
        self.roots = roots
        self.normalised = normalised
        self.scales = scales

    def features(self, X: Observations) -> Array:
        """Return √ρ(e_i) v_i(x), (n, m)."""
        if np.ndim(self.basis) != 2 or np.shape(self.roots) != np.shape(self.basis)[:1]:
            shapes = f"{np.shape(self.basis)} and {np.shape(self.roots)}"
            raise InputError(
                f"basis and roots of a SpectralKernel have shapes {shapes}, not (V, m) and (V,)."
            )
        found = self.graph.found(X, self.vertices)
        result = np.asarray(self.basis)[found]
        new = np.flatnonzero(found < 0)
        if len(new):
            result[new] = self._extended(take(X if hasattr(X, "shape") else np.asarray(X), new))
        return result.astype(precision(X), copy=False)

    def _extended(self, X: Observations) -> Array:
        links = self.graph.links(X, self.vertices, self.scales)
        degrees = np.asarray(links.sum(axis=1)).ravel()
        means = links @ (np.asarray(self.basis) / np.asarray(self.roots)[:, None])
        linked = degrees > 0
        sizes = np.where(linked, degrees, 1.0)
        if self.normalised:
            means /= np.sqrt(sizes)[:, None]
            sizes = np.ones(len(sizes))
        denominators = np.maximum(sizes[:, None] - np.asarray(self.shifts), LEAST * sizes[:, None])
        return np.where(linked[:, None], means / denominators, 0.0)

    def __repr__(self) -> str:
        """Say how large it is: its arrays would fill pages."""
        size, number = np.shape(self.basis)
        return f"<SpectralKernel: {number} eigenvectors of {size} vertices>"

    def __sklearn_clone__(self) -> SpectralKernel:
        return SpectralKernel(**self.get_params(deep=False))
