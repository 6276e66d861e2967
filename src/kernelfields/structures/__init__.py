"""Structures: the shapes of outputs, and inference over them, exact or visibly approximate."""

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from ._base import Cliques, Scores, StructureBatch, require_feasible
    from ._blocks_base import BlockOracle
    from ._errors_base import ErrorCountOracle
    from ._labelled_base import EdgeBatch, LabelledBatch, PairwiseBatch, SequenceBatch
    from ._oracles import (
        ApproximateMarginals,
        ApproximateMax,
        ApproximateSample,
        ApproximateSum,
        BoundedLabelling,
        Convergence,
        CovarianceOracle,
        KBestOracle,
        Labelling,
        Labellings,
        Marginals,
        MaxOracle,
        SampleOracle,
        SumOracle,
        bounded_argmax,
        require_max,
        warn_of_unsettled,
    )
    from ._pair_settings_base import PairStructure
    from ._pairs_base import PairBatch
    from ._search_base import MaxSearch
    from ._sum_base import SumBatch
    from .alignment import AlignmentBatch
    from .alignments import Alignment
    from .belief_propagation import BeliefPropagation, BeliefPropagationBatch
    from .bethe_matching import Bethe, BetheMatchingBatch
    from .blocks import BlockProduct, Blocks
    from .candidate_segments import CandidateSegments
    from .chain import ChainBatch
    from .chain2 import SecondOrderChainBatch
    from .constituency import ConstituencyBatch
    from .convex_free_energy import ConvexFreeEnergy, ConvexFreeEnergyBatch
    from .cut_moves import AlphaExpansion, LabelSwap
    from .dependency import DependencyBatch
    from .dual_decomposition import DualDecomposition
    from .exact import Exact, ExactGraphBatch
    from .gibbs import Gibbs, GibbsBatch
    from .grammar import Grammar, count_symbols, symbol_spans
    from .grammar_batch import GrammarBatch
    from .grammar_trees import GrammarTrees
    from .graph import Factors, GraphBatch
    from .graph_links import GraphInference, GraphLinks
    from .graphs import Graph
    from .grids import Grid
    from .hierarchy import Hierarchy
    from .linear_program_max import LinearProgramMax
    from .links import LinkBatch
    from .logic import AtMost, ExactlyOne, Implies, Logic
    from .matching import MatchingBatch
    from .matchings import Matching
    from .mean_field import MeanField, MeanFieldBatch
    from .merged_cliques import MergedCliques
    from .mixed_scores import MixedScores, changed, drawn_outputs, log_mean, marginal_parts
    from .multi_label import MultiLabel
    from .parses import Dependency
    from .phrase_structure import Constituency
    from .phrases import binary_spans, tree_of, with_leaves
    from .relaxed import Relaxed, relaxed_argmax
    from .reweighted_max import TreeReweightedMax
    from .searched_graph import SearchedGraphBatch
    from .segment_batch import SegmentBatch
    from .segments import Segments
    from .semidefinite_max import SemidefiniteMax
    from .settings import Chain, Structure, Tree
    from .sibling_parses import SiblingDependency
    from .siblings import SiblingDependencyBatch
    from .tree import TreeBatch
    from .tree_reweighted import TreeReweighted, TreeReweightedBatch
    from .words import SEQUENCES, Words
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "_base": "Cliques Scores StructureBatch require_feasible",
            "_blocks_base": "BlockOracle",
            "_errors_base": "ErrorCountOracle",
            "_labelled_base": "EdgeBatch LabelledBatch PairwiseBatch SequenceBatch",
            "_oracles": (
                "ApproximateMarginals ApproximateMax ApproximateSample ApproximateSum BoundedLabelling "
                "Convergence CovarianceOracle KBestOracle Labelling Labellings Marginals MaxOracle "
                "SampleOracle SumOracle bounded_argmax require_max warn_of_unsettled"
            ),
            "_pair_settings_base": "PairStructure",
            "_pairs_base": "PairBatch",
            "_search_base": "MaxSearch",
            "_sum_base": "SumBatch",
            "alignment": "AlignmentBatch",
            "alignments": "Alignment",
            "belief_propagation": "BeliefPropagation BeliefPropagationBatch",
            "bethe_matching": "Bethe BetheMatchingBatch",
            "blocks": "BlockProduct Blocks",
            "candidate_segments": "CandidateSegments",
            "chain": "ChainBatch",
            "chain2": "SecondOrderChainBatch",
            "constituency": "ConstituencyBatch",
            "convex_free_energy": "ConvexFreeEnergy ConvexFreeEnergyBatch",
            "cut_moves": "AlphaExpansion LabelSwap",
            "dependency": "DependencyBatch",
            "dual_decomposition": "DualDecomposition",
            "exact": "Exact ExactGraphBatch",
            "gibbs": "Gibbs GibbsBatch",
            "grammar": "Grammar count_symbols symbol_spans",
            "grammar_batch": "GrammarBatch",
            "grammar_trees": "GrammarTrees",
            "graph": "Factors GraphBatch",
            "graph_links": "GraphInference GraphLinks",
            "graphs": "Graph",
            "grids": "Grid",
            "hierarchy": "Hierarchy",
            "linear_program_max": "LinearProgramMax",
            "links": "LinkBatch",
            "logic": "AtMost ExactlyOne Implies Logic",
            "matching": "MatchingBatch",
            "matchings": "Matching",
            "mean_field": "MeanField MeanFieldBatch",
            "merged_cliques": "MergedCliques",
            "mixed_scores": "MixedScores changed drawn_outputs log_mean marginal_parts",
            "multi_label": "MultiLabel",
            "parses": "Dependency",
            "phrase_structure": "Constituency",
            "phrases": "binary_spans tree_of with_leaves",
            "relaxed": "Relaxed relaxed_argmax",
            "reweighted_max": "TreeReweightedMax",
            "searched_graph": "SearchedGraphBatch",
            "segment_batch": "SegmentBatch",
            "segments": "Segments",
            "semidefinite_max": "SemidefiniteMax",
            "settings": "Chain Structure Tree",
            "sibling_parses": "SiblingDependency",
            "siblings": "SiblingDependencyBatch",
            "tree": "TreeBatch",
            "tree_reweighted": "TreeReweighted TreeReweightedBatch",
            "words": "SEQUENCES Words",
        },
    )

__all__ = [
    "SEQUENCES",
    "Alignment",
    "AlignmentBatch",
    "AlphaExpansion",
    "ApproximateMarginals",
    "ApproximateMax",
    "ApproximateSample",
    "ApproximateSum",
    "AtMost",
    "BeliefPropagation",
    "BeliefPropagationBatch",
    "Bethe",
    "BetheMatchingBatch",
    "BlockOracle",
    "BlockProduct",
    "Blocks",
    "BoundedLabelling",
    "CandidateSegments",
    "Chain",
    "ChainBatch",
    "Cliques",
    "Constituency",
    "ConstituencyBatch",
    "Convergence",
    "ConvexFreeEnergy",
    "ConvexFreeEnergyBatch",
    "CovarianceOracle",
    "Dependency",
    "DependencyBatch",
    "DualDecomposition",
    "EdgeBatch",
    "ErrorCountOracle",
    "Exact",
    "ExactGraphBatch",
    "ExactlyOne",
    "Factors",
    "Gibbs",
    "GibbsBatch",
    "Grammar",
    "GrammarBatch",
    "GrammarTrees",
    "Graph",
    "GraphBatch",
    "GraphInference",
    "GraphLinks",
    "Grid",
    "Hierarchy",
    "Implies",
    "KBestOracle",
    "LabelSwap",
    "LabelledBatch",
    "Labelling",
    "Labellings",
    "LinearProgramMax",
    "LinkBatch",
    "Logic",
    "Marginals",
    "Matching",
    "MatchingBatch",
    "MaxOracle",
    "MaxSearch",
    "MeanField",
    "MeanFieldBatch",
    "MergedCliques",
    "MixedScores",
    "MultiLabel",
    "PairBatch",
    "PairStructure",
    "PairwiseBatch",
    "Relaxed",
    "SampleOracle",
    "Scores",
    "SearchedGraphBatch",
    "SecondOrderChainBatch",
    "SegmentBatch",
    "Segments",
    "SemidefiniteMax",
    "SequenceBatch",
    "SiblingDependency",
    "SiblingDependencyBatch",
    "Structure",
    "StructureBatch",
    "SumBatch",
    "SumOracle",
    "Tree",
    "TreeBatch",
    "TreeReweighted",
    "TreeReweightedBatch",
    "TreeReweightedMax",
    "Words",
    "binary_spans",
    "bounded_argmax",
    "changed",
    "count_symbols",
    "drawn_outputs",
    "log_mean",
    "marginal_parts",
    "relaxed_argmax",
    "require_feasible",
    "require_max",
    "symbol_spans",
    "tree_of",
    "warn_of_unsettled",
    "with_leaves",
]
