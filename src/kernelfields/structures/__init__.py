"""Structures: the shapes of outputs and exact inference over them."""

from ._base import (
    CovarianceOracle,
    KBestOracle,
    Labelling,
    Labellings,
    Marginals,
    MaxOracle,
    PairwiseStructure,
    SampleOracle,
    Scores,
    Structure,
    SumOracle,
)
from .chain import Chain
from .tree import Tree

__all__ = [
    "Chain",
    "CovarianceOracle",
    "KBestOracle",
    "Labelling",
    "Labellings",
    "Marginals",
    "MaxOracle",
    "PairwiseStructure",
    "SampleOracle",
    "Scores",
    "Structure",
    "SumOracle",
    "Tree",
]
