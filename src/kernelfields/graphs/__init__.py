"""Graphs over observations: Laplacians, eigenpairs, labels that spread, and whether a graph knows of them."""

from typing import TYPE_CHECKING

from ..lazy import lazily
from .harmonic import harmonic
from .laplacian import GraphLaplacian, laplacian
from .poisson import PoissonScores, poisson

if TYPE_CHECKING:
    from ._base import ObservationGraph
    from .diagnosis import Diagnosis, diagnose, warn_of_uninformative
    from .eigenpairs import Eigenpairs, lowest_eigenpairs
    from .neighbor_graph import NeighborGraph
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
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "_base": "ObservationGraph",
            "diagnosis": "Diagnosis diagnose warn_of_uninformative",
            "eigenpairs": "Eigenpairs lowest_eigenpairs",
            "neighbor_graph": "NeighborGraph",
            "precomputed_graph": "PrecomputedGraph",
            "sparse_graph": "SparseGraph",
            "spreading": "Spread spread",
            "transforms": (
                "Diffusion InverseCosine RandomWalk Regularised SpectralTransform Truncated transformed"
            ),
        },
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
