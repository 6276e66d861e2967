"""Structures: the shapes of outputs and exact inference over them."""

from ._base import Cliques, Scores, StructureBatch, require_feasible
from ._blocks_base import BlockOracle
from ._errors_base import ErrorCountOracle
from ._labelled_base import EdgeBatch, LabelledBatch, PairwiseBatch, SequenceBatch
from ._oracles import (
    CovarianceOracle,
    KBestOracle,
    Labelling,
    Labellings,
    Marginals,
    MaxOracle,
    SampleOracle,
    SumOracle,
)
from .blocks import Blocks
from .chain import ChainBatch
from .chain2 import SecondOrderChainBatch
from .graph import Factors, GraphBatch
from .settings import Chain, Structure, Tree
from .tree import TreeBatch
from .words import SEQUENCES, Words

__all__ = [
    "SEQUENCES",
    "BlockOracle",
    "Blocks",
    "Chain",
    "ChainBatch",
    "Cliques",
    "CovarianceOracle",
    "EdgeBatch",
    "ErrorCountOracle",
    "Factors",
    "GraphBatch",
    "KBestOracle",
    "LabelledBatch",
    "Labelling",
    "Labellings",
    "Marginals",
    "MaxOracle",
    "PairwiseBatch",
    "SampleOracle",
    "Scores",
    "SecondOrderChainBatch",
    "SequenceBatch",
    "Structure",
    "StructureBatch",
    "SumOracle",
    "Tree",
    "TreeBatch",
    "Words",
    "require_feasible",
]
