"""Function spaces that feed clique scores."""

from ._base import BoundScorer, BoundSpace, Euclidean
from .free import Bias, Boundary, FreeEdges
from .linear import LinearEdges, LinearNodes
from .sparse import SparseNodes, WeightPairs

__all__ = [
    "Bias",
    "BoundScorer",
    "BoundSpace",
    "Boundary",
    "Euclidean",
    "FreeEdges",
    "LinearEdges",
    "LinearNodes",
    "SparseNodes",
    "WeightPairs",
]
