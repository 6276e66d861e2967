"""Graphs over observations, labelled and unlabelled, their Laplacians and lowest eigenpairs."""

from ._base import ObservationGraph
from .eigenpairs import Eigenpairs, lowest_eigenpairs
from .laplacian import GraphLaplacian, laplacian
from .neighbor_graph import NeighborGraph
from .precomputed_graph import PrecomputedGraph
from .sparse_graph import SparseGraph
from .transforms import (
    Diffusion,
    InverseCosine,
    RandomWalk,
    Regularised,
    SpectralTransform,
    Truncated,
    transformed,
)

__all__ = [
    "Diffusion",
    "Eigenpairs",
    "GraphLaplacian",
    "InverseCosine",
    "NeighborGraph",
    "ObservationGraph",
    "PrecomputedGraph",
    "RandomWalk",
    "Regularised",
    "SparseGraph",
    "SpectralTransform",
    "Truncated",
    "laplacian",
    "lowest_eigenpairs",
    "transformed",
]
