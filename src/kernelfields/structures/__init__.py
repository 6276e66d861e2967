"""Structures: the shapes of outputs and exact inference over them."""

from ._base import (
    CovarianceOracle,
    EdgeStructure,
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
from ._blocks_base import BlockOracle
from ._errors_base import ErrorCountOracle
from ._sequence_base import SequenceStructure
from .blocks import Blocks
from .chain import Chain
from .chain2 import SecondOrderChain
from .tree import Tree

__all__ = [
    "BlockOracle",
    "Blocks",
    "Chain",
    "CovarianceOracle",
    "EdgeStructure",
    "ErrorCountOracle",
    "KBestOracle",
    "Labelling",
    "Labellings",
    "Marginals",
    "MaxOracle",
    "PairwiseStructure",
    "SampleOracle",
    "Scores",
    "SecondOrderChain",
    "SequenceStructure",
    "Structure",
    "SumOracle",
    "Tree",
]
