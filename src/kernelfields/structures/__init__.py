"""Structures: the shapes of outputs and exact inference over them."""

from ._base import Cliques, Scores, StructureBatch, require_feasible
from ._blocks_base import BlockOracle
from ._errors_base import ErrorCountOracle
from ._labelled_base import EdgeBatch, LabelledBatch, PairwiseBatch, SequenceBatch
from ._oracles import (
    ApproximateMax,
    BoundedLabelling,
    CovarianceOracle,
    KBestOracle,
    Labelling,
    Labellings,
    Marginals,
    MaxOracle,
    SampleOracle,
    SumOracle,
)
from ._search_base import MaxSearch
from .blocks import BlockProduct, Blocks
from .chain import ChainBatch
from .chain2 import SecondOrderChainBatch
from .cut_moves import AlphaExpansion, LabelSwap
from .dual_decomposition import DualDecomposition
from .exact import Exact, ExactGraphBatch
from .graph import Factors, GraphBatch
from .linear_program_max import LinearProgramMax
from .logic import AtMost, ExactlyOne, Implies, Logic
from .merged_cliques import MergedCliques
from .reweighted_max import TreeReweightedMax
from .searched_graph import SearchedGraphBatch
from .settings import Chain, Structure, Tree
from .tree import TreeBatch
from .words import SEQUENCES, Words

__all__ = [
    "SEQUENCES",
    "AlphaExpansion",
    "ApproximateMax",
    "AtMost",
    "BlockOracle",
    "BlockProduct",
    "Blocks",
    "BoundedLabelling",
    "Chain",
    "ChainBatch",
    "Cliques",
    "CovarianceOracle",
    "DualDecomposition",
    "EdgeBatch",
    "ErrorCountOracle",
    "Exact",
    "ExactGraphBatch",
    "ExactlyOne",
    "Factors",
    "GraphBatch",
    "Implies",
    "KBestOracle",
    "LabelSwap",
    "LabelledBatch",
    "Labelling",
    "Labellings",
    "LinearProgramMax",
    "Logic",
    "Marginals",
    "MaxOracle",
    "MaxSearch",
    "MergedCliques",
    "PairwiseBatch",
    "SampleOracle",
    "Scores",
    "SearchedGraphBatch",
    "SecondOrderChainBatch",
    "SequenceBatch",
    "Structure",
    "StructureBatch",
    "SumOracle",
    "Tree",
    "TreeBatch",
    "TreeReweightedMax",
    "Words",
    "require_feasible",
]
