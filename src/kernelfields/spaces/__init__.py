"""Function spaces that feed clique scores."""

from ._base import BoundScorer, BoundSpace, Counted, Curved, Euclidean, Grouped, Joint, places_of
from ._looks import Looks
from ._lowrank_base import Factor, factor_of
from ._products import Products
from ._selected_base import Functions, KernelRows
from .free import Bias, Boundary, FreeEdges, FreeTriples
from .kernel import KernelNodes
from .kernel_edges import KernelEdges
from .label_embedding import LabelEmbedding
from .linear import LinearEdges, LinearNodes
from .lowrank import LowRankEdges, LowRankNodes
from .selected import SelectedCliques, SelectedEdges, SelectedNodes
from .sparse import SparseNodes, WeightPairs, as_floats, coefficient_scores

__all__ = [
    "Bias",
    "BoundScorer",
    "BoundSpace",
    "Boundary",
    "Counted",
    "Curved",
    "Euclidean",
    "Factor",
    "FreeEdges",
    "FreeTriples",
    "Functions",
    "Grouped",
    "Joint",
    "KernelEdges",
    "KernelNodes",
    "KernelRows",
    "LabelEmbedding",
    "LinearEdges",
    "LinearNodes",
    "Looks",
    "LowRankEdges",
    "LowRankNodes",
    "Products",
    "SelectedCliques",
    "SelectedEdges",
    "SelectedNodes",
    "SparseNodes",
    "WeightPairs",
    "as_floats",
    "coefficient_scores",
    "factor_of",
    "places_of",
]
