"""Kernels on graphs over labelled and unlabelled observations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import Array
from ..checks import one_of, require_flag, shown
from ..errors import InputError, warn_user
from ..graphs import (
    NeighborGraph,
    ObservationGraph,
    Regularised,
    SparseGraph,
    SpectralTransform,
    laplacian,
    lowest_eigenpairs,
    transformed,
)
from .data_kernel import DataKernel
from .observations import Observations
from .spectral import SpectralKernel

_EXTENSIONS = one_of(("auto", "nystroem", "harmonic"))


class GraphKernel(DataKernel):
    """K = Σ_i ρ(e_i) v_i v_iᵀ over the lowest eigenpairs of a graph's Laplacian [lafferty2004; smola2003].

    The graph links observations, labelled and unlabelled; ρ falls, so that functions vary slowly along its
    edges. It has nothing to do with the graph of label dependencies. `on` computes the graph and its
    eigenpairs; estimators call it with all observations that they are given. Costs are those of m features.

    Parameters
    ----------
    graph : NeighborGraph, PrecomputedGraph, or None
        How observations are linked; None: ``NeighborGraph()``, unweighted edges to the ten nearest.
    transform : SpectralTransform, callable, or None
        ρ; None: ``Regularised()``. Refused if it increases on the eigenvalues, or is negative.
    n_eigenpairs : int
        m, how many of the lowest eigenpairs count; all if there are fewer.
    normalised : bool
        Whether the Laplacian is I − D^−½ W D^−½ rather than D − W.
    scaled : bool
        Divide K by the mean of its diagonal over the vertices, so that kernels of graphs of any size
        combine with others, and penalties mean the same.
    extension : {"auto", "nystroem", "harmonic"}
        Values at observations that are not vertices, see `SpectralKernel`: "auto" is harmonic for
        `Regularised`, where it is exact but for the new vertex itself, and Nyström otherwise.
    tolerance : float
        Largest residual ‖𝓛v − e v‖ of an eigenpair, as a share of the largest eigenvalue there could be.

    Examples
    --------
    >>> from kernelfields.graphs import Diffusion
    >>> X = [[0.0], [0.1], [5.0], [5.1]]
    >>> kernel = GraphKernel(NeighborGraph(1), Diffusion(4.0)).on(X)
    >>> kernel(X).round(2)
    array([[1.  , 0.96, 0.  , 0.  ],
           [0.96, 1.  , 0.  , 0.  ],
           [0.  , 0.  , 1.  , 0.96],
           [0.  , 0.  , 0.96, 1.  ]])
    """

    def __init__(
        self,
        graph: ObservationGraph | None = None,
        transform: SpectralTransform | Callable[[Array], Array] | None = None,
        n_eigenpairs: int = 200,
        *,
        normalised: bool = True,
        scaled: bool = True,
        extension: str = "auto",
        tolerance: float = 1e-6,
    ) -> None:
        self.graph = NeighborGraph() if graph is None else graph
        self.transform = Regularised() if transform is None else transform
        self.n_eigenpairs = n_eigenpairs
        self.normalised = normalised
        self.scaled = scaled
        self.extension = extension
        self.tolerance = tolerance

    def on(self, observations: Observations) -> SpectralKernel:
        """Return the kernel on the graph over these observations."""
        self._check()
        return self.of_graph(self.graph.on(observations))

    def of_graph(self, graph: SparseGraph) -> SpectralKernel:
        """Return the kernel on a graph that ``graph.on`` made."""
        self._check()
        matrix = laplacian(graph, self.normalised)
        pairs = lowest_eigenpairs(matrix, self.n_eigenpairs, self.tolerance)
        if graph.n_components > len(pairs.values):
            warn_user(
                f"The graph has {graph.n_components} components and {len(pairs.values)} eigenpairs: "
                "only the largest components have functions other than zero.",
                UserWarning,
            )
        values = transformed(self.transform, pairs.values)
        kept = values > 0
        shifts = self._shifts(pairs.values)[kept]
        basis = pairs.vectors[:, kept] * np.sqrt(values[kept])
        if self.scaled and basis.any():
            basis /= np.sqrt(np.square(basis).sum() / graph.size)
        settled = self._graph_of(graph)
        return SpectralKernel(
            settled, graph.vertices, basis, shifts, matrix.flat, self.normalised, graph.scales
        )

    def _check(self) -> None:
        if not isinstance(self.graph, ObservationGraph):
            raise InputError(f"graph of GraphKernel is {shown(self.graph)}; it must be a NeighborGraph.")
        require_flag("normalised of GraphKernel", self.normalised)
        require_flag("scaled of GraphKernel", self.scaled)
        _EXTENSIONS("extension of GraphKernel", self.extension)

    def _shifts(self, values: Array) -> Array:
        regularised = isinstance(self.transform, Regularised)
        if self.extension == "nystroem" or (self.extension == "auto" and not regularised):
            return values
        epsilon: Any = getattr(self.transform, "epsilon", 0.0) if regularised else 0.0
        return np.full(len(values), -float(epsilon))

    def _graph_of(self, graph: SparseGraph) -> ObservationGraph:
        """Return the rule of the graph with the γ that the graph was made with."""
        if not isinstance(self.graph, NeighborGraph) or graph.gamma is None:
            return self.graph
        return NeighborGraph(**{**self.graph.get_params(deep=False), "gamma": graph.gamma})
