"""Function spaces that feed clique scores."""

from ._base import BoundScorer, BoundSpace, Euclidean
from .free import Bias, Boundary, FreeEdges, FreeTriples
from .linear import LinearEdges, LinearNodes
from .sparse import SparseNodes, WeightPairs

__all__ = [
    "Bias",
    "BoundScorer",
    "BoundSpace",
    "Boundary",
    "Euclidean",
    "FreeEdges",
    "FreeTriples",
    "LinearEdges",
    "LinearNodes",
    "SparseNodes",
    "WeightPairs",
]
