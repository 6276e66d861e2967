"""Graphs over observations: Laplacians, eigenpairs, labels that spread, and whether a graph knows of them."""

from ._base import ObservationGraph
from .diagnosis import Diagnosis, diagnose, warn_of_uninformative
from .eigenpairs import Eigenpairs, lowest_eigenpairs
from .harmonic import harmonic
from .laplacian import GraphLaplacian, laplacian
from .neighbor_graph import NeighborGraph
from .poisson import PoissonScores, poisson
from .precomputed_graph import PrecomputedGraph
from .sparse_graph import SparseGraph
from .spreading import Spread, spread
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
    "Diagnosis",
    "Diffusion",
    "Eigenpairs",
    "GraphLaplacian",
    "InverseCosine",
    "NeighborGraph",
    "ObservationGraph",
    "PoissonScores",
    "PrecomputedGraph",
    "RandomWalk",
    "Regularised",
    "SparseGraph",
    "SpectralTransform",
    "Spread",
    "Truncated",
    "diagnose",
    "harmonic",
    "laplacian",
    "lowest_eigenpairs",
    "poisson",
    "spread",
    "transformed",
    "warn_of_uninformative",
]
