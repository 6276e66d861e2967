"""Function spaces that feed clique scores."""

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from ._base import (
        BoundScorer,
        BoundSpace,
        Counted,
        Curved,
        Euclidean,
        Grouped,
        Joint,
        RowMap,
        first_members,
        places_of,
    )
    from ._products import FeatureProducts, Products
    from .expansion import Expansion, LabelEmbedding
    from .factor import Factor, factor_of
    from .free import Boundary, Free
    from .functions import Functions, KernelRows
    from .linear import LinearFeatures
    from .lowrank import LowRank
    from .pooled import Pooled
    from .selected import Selected, SelectedCliques
    from .sparse import SparseFeatures, WeightPairs, as_floats, coefficient_scores
    from .views import View, concatenated, difference, mean, run_mean
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "_base": (
                "BoundScorer BoundSpace Counted Curved Euclidean Grouped Joint RowMap first_members places_of"
            ),
            "_products": "FeatureProducts Products",
            "expansion": "Expansion LabelEmbedding",
            "factor": "Factor factor_of",
            "free": "Boundary Free",
            "functions": "Functions KernelRows",
            "linear": "LinearFeatures",
            "lowrank": "LowRank",
            "pooled": "Pooled",
            "selected": "Selected SelectedCliques",
            "sparse": "SparseFeatures WeightPairs as_floats coefficient_scores",
            "views": "View concatenated difference mean run_mean",
        },
    )

__all__ = [
    "BoundScorer",
    "BoundSpace",
    "Boundary",
    "Counted",
    "Curved",
    "Euclidean",
    "Expansion",
    "Factor",
    "FeatureProducts",
    "Free",
    "Functions",
    "Grouped",
    "Joint",
    "KernelRows",
    "LabelEmbedding",
    "LinearFeatures",
    "LowRank",
    "Pooled",
    "Products",
    "RowMap",
    "Selected",
    "SelectedCliques",
    "SparseFeatures",
    "View",
    "WeightPairs",
    "as_floats",
    "coefficient_scores",
    "concatenated",
    "difference",
    "factor_of",
    "first_members",
    "mean",
    "places_of",
    "run_mean",
]
