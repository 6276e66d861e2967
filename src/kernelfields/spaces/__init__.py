"""Function spaces that feed clique scores."""

from ._base import BoundScorer, BoundSpace, Euclidean
from .free import Bias, Boundary, FreeEdges, FreeTriples
from .kernel import KernelNodes
from .kernel_edges import KernelEdges
from .label_embedding import LabelEmbedding
from .linear import LinearEdges, LinearNodes
from .sparse import SparseNodes, WeightPairs, add_paired_scores, as_floats

__all__ = [
    "Bias",
    "BoundScorer",
    "BoundSpace",
    "Boundary",
    "Euclidean",
    "FreeEdges",
    "FreeTriples",
    "KernelEdges",
    "KernelNodes",
    "LabelEmbedding",
    "LinearEdges",
    "LinearNodes",
    "SparseNodes",
    "WeightPairs",
    "add_paired_scores",
    "as_floats",
]
