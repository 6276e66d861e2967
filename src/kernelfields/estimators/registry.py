"""What model files may hold: every estimator, and every class of object among settings and attributes.

A new kernel, solver, decoder, approximation, rule or estimator is one line here: its module and its name.
Nothing is imported before a file needs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np

from .. import approximation, decoders
from ..emissions.saved import SAVED as SAVED_EMISSIONS
from ..errors import ModelFormatError
from ..features.saved import SAVED as SAVED_FEATURES
from ..fitting.provenance import versions
from ..kernels.saved import SAVED as SAVED_KERNELS
from ..persistence.objects import (
    Check,
    Kinds,
    Parts,
    Registry,
    StoredClass,
    fields_of,
    stored_by_fields,
    stored_by_settings,
)
from ..persistence.registered import RANDOM_STATE

if TYPE_CHECKING:
    from ..boosting.trees import Forest
    from ..data.reading import Verbatim
    from ..models.expansion_scorer import ExpansionScorer
    from ..models.parts import KernelScores
    from ..models.parts import Parts as ModelParts

RECIPES: Mapping[str, str] = {
    "arow": ".incremental.arow:AROW",
    "boosted-crf": ".estimators.boosted_crf:BoostedCRF",
    "cascade": ".estimators.cascade:Cascade",
    "classifier-markov-model": ".estimators.classifier_markov_model:ClassifierMarkovModel",
    "crf": ".estimators.crf:CRF",
    "field-clustering": ".estimators.field_clustering:FieldClustering",
    "gp-sequence-classifier": ".estimators.gp_sequence_classifier:GPSequenceClassifier",
    "hidden-states": ".estimators.hidden_states:HiddenStates",
    "hidden-unit-crf": ".estimators.hidden_unit_crf:HiddenUnitCRF",
    "hmm": ".estimators.hmm:HMM",
    "kernel-crf": ".estimators.kernel_crf:KernelCRF",
    "kernel-logistic-regression": ".estimators.kernel_logistic_regression:KernelLogisticRegression",
    "kernel-perceptron": ".estimators.kernel_perceptron:KernelPerceptron",
    "label-propagation": ".transduction.label_propagation:LabelPropagation",
    "label-spreading": ".transduction.label_spreading:LabelSpreading",
    "markov-field": ".fields.markov_field:MarkovField",
    "memm": ".estimators.memm:MEMM",
    "passive-aggressive": ".incremental.passive_aggressive:PassiveAggressive",
    "poisson-learning": ".transduction.poisson_learning:PoissonLearning",
    "self-training": ".estimators.self_training:SelfTraining",
    "sequence-adaboost": ".estimators.sequence_adaboost:SequenceAdaBoost",
    "sequence-clustering": ".estimators.sequence_clustering:SequenceClustering",
    "sequence-pipeline": ".estimators.sequence_pipeline:SequencePipeline",
    "stochastic-crf": ".incremental.stochastic_crf:StochasticCRF",
    "structure-learner": ".estimators.structure_learner:StructureLearner",
    "structured-perceptron": ".incremental.perceptron:StructuredPerceptron",
    "structured-svm": ".estimators.structured_svm:StructuredSVM",
    "transductive-svm": ".transduction.transductive_svm:TransductiveSVM",
}
"""Estimators by their names in files, which never change."""
KERNELS = (
    ".kernels.chi_square:AdditiveChiSquare",
    ".kernels.columns:Columns",
    ".kernels.constant:Constant",
    ".kernels.cosine:Cosine",
    ".kernels.expected:Expected",
    ".kernels.chi_square:ExponentialChiSquare",
    ".kernels.expected:GaussianExpectation",
    ".kernels.gaussian_process:GaussianProcessKernel",
    ".kernels.graph:GraphKernel",
    ".kernels.hamming:Hamming",
    ".kernels.jaccard:Jaccard",
    ".kernels.laplacian:Laplacian",
    ".kernels.linear:Linear",
    ".kernels.matern:Matern",
    ".kernels.normalized:Normalized",
    ".kernels.polynomial:Polynomial",
    ".kernels.power:Power",
    ".kernels.precomputed:Precomputed",
    ".kernels.product:Product",
    ".kernels.rbf:RBF",
    ".kernels.rescaled:Rescaled",
    ".kernels.scaled:Scaled",
    ".kernels.spectral:SpectralKernel",
    ".kernels.spectrum:Spectrum",
    ".kernels.standardized:Standardized",
    ".kernels.subsequence:Subsequence",
    ".kernels.sum:Sum",
    ".kernels.tanimoto:Tanimoto",
    ".kernels.tree_fragments:TreeFragments",
    ".kernels.window:WindowProduct",
    ".kernels.window:WindowSum",
)
GRAPHS = (
    ".graphs.transforms:Diffusion",
    ".graphs.transforms:InverseCosine",
    ".graphs.neighbor_graph:NeighborGraph",
    ".graphs.precomputed_graph:PrecomputedGraph",
    ".graphs.transforms:RandomWalk",
    ".graphs.transforms:Regularised",
    ".graphs.transforms:Truncated",
)
"""Graphs and transforms, which are their settings."""
RECORDS = (
    ".models.graph_cliques:AllUnused",
    ".fields.annealing:Annealing",
    ".models.averaging:Averaging",
    ".models.clique_types:Boundaries",
    ".models.calibration:Calibration",
    ".objective.certificate:Certificate",
    ".models.changes:Changes",
    ".data.base_measure:CliqueMeasures",
    ".models.clique_types:Edges",
    ".models.scorers:EndScorer",
    ".models.expansion_scorer:ExpansionScorer",
    ".models.parts.unlearnt:FixedScores",
    ".models.parts.free:FreeScores",
    ".models.parts.kernel:KernelScores",
    ".models.parts.linear:LinearScores",
    ".models.parts.unlearnt:TreeScores",
    ".models.scorers:TableScorer",
    ".models.scorers:WeightScorer",
    ".fields.layout:FieldLayout",
    ".models.clique_types:FurtherKernel",
    ".models.clique_types:InputEdges",
    ".models.vertex_kernels:LabelGroup",
    ".models.graph_cliques:LabelPair",
    ".models.graph_cliques:LabelPairs",
    ".fields.persistent_chains:PersistentChains",
    ".fitting.provenance:Provenance",
    ".models.fit.margin:Round",
    ".models.scaling:Scaling",
    ".models.clique_types:SecondOrder",
    ".models.separate_kernels:SeparateKernels",
    ".models.label_switching:SwitchingStep",
    ".models.trail:Trail",
    ".models.structure_search:Trial",
    ".models.graph_cliques:UnusedCliques",
    ".models.vertex_kernels:VertexKernels",
    ".emissions.unknown:WordClass",
    ".constraints.named:Constraints",
    ".constraints.topologies:Cyclic",
    ".constraints._base:Forbidden",
    ".constraints.topologies:LeftRight",
    ".constraints.owned:OwnedRule",
    ".constraints.runs:RunParts",
    ".constraints.tags:TagScheme",
    ".decoders.abstain:Abstain",
    ".decoders.cost:BayesRule",
    ".decoders.linear_program:LinearProgram",
    ".decoders.semidefinite:SemidefiniteProgram",
    ".decoders.map:Viterbi",
    ".guarantees.answers:JudgedAnswers",
    ".guarantees.betting:Betting",
    ".guarantees.hoeffding_bentkus:HoeffdingBentkus",
    ".guarantees.risk_control:Missed",
    ".posterior.laplace:Laplace",
    ".posterior.slice_sampling:SliceSampling",
    ".posterior.variational:Variational",
    ".kernels.weighted:Weighted",
    ".selection.orders:AtRandom",
    ".selection.atoms:Atoms",
    ".selection.criteria:ExactGain",
    ".selection.criteria:FunctionalGradient",
    ".selection.criteria:GainBound",
    ".selection.criteria:GapShare",
    ".selection.greedy_cliques:GreedyCliques",
    ".selection.import_vectors:ImportVectors",
    ".selection.orders:InTurn",
    ".approximation.incomplete_cholesky:IncompleteCholesky",
    ".approximation.landmarks:KMeans",
    ".selection.orders:LargestGradient",
    ".approximation.landmarks:LeverageScores",
    ".approximation.nystroem:Nystroem",
    ".approximation.fourier:RandomFourier",
    ".selection.refit:RefitAll",
    ".selection.refit:RefitNew",
    ".selection.sgps:SGPS",
    ".selection.sgsa:SGSA",
    ".selection.growth:SelectionStep",
    ".approximation.landmarks:Uniform",
    ".selection.whole_sequences:WholeSequences",
    ".objective.norms:GroupNorm",
    ".objective.norms:L1Norm",
    ".objective.norms:SpaceNorm",
    ".fitting.run_settings:Run",
    ".losses.costs:PairCost",
    ".losses.log_settings:Log",
    ".losses.marginal_log:MarginalLog",
    ".losses.piecewise:Piecewise",
    ".losses.pseudo:PseudoLikelihood",
    ".losses.variational_em:VariationalEM",
    ".losses.entropy:EntropyRegularised",
    ".losses.information:InformationMaximisation",
    ".losses.hidden_states:OwnedStates",
    ".structures.alignments:Alignment",
    ".structures.cut_moves:AlphaExpansion",
    ".structures.logic:AtMost",
    ".structures.belief_propagation:BeliefPropagation",
    ".structures.bethe_matching:Bethe",
    ".structures.settings:Chain",
    ".structures.phrase_structure:Constituency",
    ".structures.convex_free_energy:ConvexFreeEnergy",
    ".structures.parses:Dependency",
    ".structures.sibling_parses:SiblingDependency",
    ".structures.dual_decomposition:DualDecomposition",
    ".structures.exact:Exact",
    ".structures.logic:ExactlyOne",
    ".structures.gibbs:Gibbs",
    ".structures.grammar:Grammar",
    ".structures.grammar_trees:GrammarTrees",
    ".structures.graphs:Graph",
    ".structures.grids:Grid",
    ".structures.hierarchy:Hierarchy",
    ".structures.logic:Implies",
    ".structures.cut_moves:LabelSwap",
    ".structures.linear_program_max:LinearProgramMax",
    ".structures.matchings:Matching",
    ".structures.mean_field:MeanField",
    ".structures.multi_label:MultiLabel",
    ".structures.segments:Segments",
    ".structures.semidefinite_max:SemidefiniteMax",
    ".structures.candidate_segments:CandidateSegments",
    ".structures.settings:Tree",
    ".structures.tree_reweighted:TreeReweighted",
    ".structures.reweighted_max:TreeReweightedMax",
    ".solvers.frank_wolfe:BlockFrankWolfe",
    ".solvers.block_jacobi:BlockJacobi",
    ".solvers.conjugate:ConjugateGradients",
    ".solvers.cutting_plane:CuttingPlane",
    ".solvers.dual_ascent:DualAscent",
    ".solvers.exponentiated_gradient:ExponentiatedGradient",
    ".solvers.iterative_scaling:IterativeScaling",
    ".solvers.lbfgs:LBFGS",
    ".solvers.linear_programming:LinearProgramming",
    ".solvers.meta_descent:MetaDescent",
    ".solvers.newton_cg:NewtonCG",
    ".solvers.owlqn:OWLQN",
    ".solvers.proximal:ProximalQuasiNewton",
    ".solvers.subgradient:Subgradient",
    ".solvers.subspace:Subspace",
    ".solvers.working_set:WorkingSet",
)
"""Dataclasses and named tuples: their fields are their parts."""
FAMILIES = (
    ".emissions.bernoulli:Bernoulli",
    ".emissions.categorical:Categorical",
    ".emissions.gaussian:DiagonalGaussian",
    ".emissions.gaussian:FullGaussian",
    ".emissions.mixture:GaussianMixture",
    ".emissions.multinomial:Multinomial",
    ".emissions.poisson:Poisson",
    ".emissions.gaussian:SphericalGaussian",
    ".emissions.gaussian:TiedGaussian",
    ".emissions.unknown:UnknownWords",
)
"""Like kernels, they are their settings."""
KINDS: Kinds = {
    "Approximation": ".approximation._base:Approximation",
    "Criterion": ".selection.criteria:Criterion",
    "CuttingPlane": ".solvers.cutting_plane:CuttingPlane",
    "Emissions": ".emissions._base:Emissions",
    "Family": ".emissions._base:Family",
    "GaussianFamily": ".emissions._gaussian_base:GaussianFamily",
    "MarginSolver": ".solvers._margin_base:MarginSolver",
    "Order": ".selection.orders:Order",
    "Refit": ".selection.refit:Refit",
    "Selection": ".selection._growing_base:Selection",
    "UnknownWords": ".emissions.unknown:UnknownWords",
    "Array": np.ndarray,
    "Decoder": ".decoders._base:Decoder",
    "Kernel": ".kernels._base:Kernel",
    "Landmarks": ".approximation._base:Landmarks",
    "None": type(None),
    "ObservationGraph": ".graphs._base:ObservationGraph",
    "Rule": ".constraints._base:Rule",
    "Run": ".fitting.run_settings:Run",
    "Solver": ".solvers._base:Solver",
    "bool": (bool, np.bool_, int),
    "dict": dict,
    "float": Real,
    "int": Integral,
    "list": (list, tuple),
    "str": str,
    "tuple": tuple,
}
"""What annotations of settings stand for; others promise nothing."""


def _posterior(parts: Parts, check: Check) -> decoders.Posterior:
    """Return the decoder; in older files it may or may not respect rules, which it now always does."""
    parts.pop("respect", None)
    return decoders.Posterior(**check(decoders.Posterior, parts))


def _fourier_map(parts: Parts, _: Check) -> approximation.FourierMap:
    frequencies = parts["frequencies"]
    if not isinstance(frequencies, np.ndarray) or frequencies.ndim != 2:
        raise ModelFormatError("The frequencies of random Fourier features are no matrix.")
    return approximation.FourierMap(frequencies)


def _kernel_map(parts: Parts, _: Check) -> approximation.KernelMap:
    from ..kernels import Kernel

    kernel, basis = parts["kernel"], parts["basis"]
    if not isinstance(kernel, Kernel) or getattr(basis, "ndim", 0) not in (1, 2):
        raise ModelFormatError("An expansion has no kernel, or no basis.")
    return approximation.KernelMap(kernel, basis)


def _clique_expansion(parts: Parts, check: Check) -> ExpansionScorer:
    """Return the function of cliques of an older file as a part; `KernelModel` gives it its shape."""
    from ..models.expansion_scorer import ExpansionScorer

    found = _kernel_map(parts, check)
    return ExpansionScorer(parts["clique"], found, parts["coef"], parts["view"], found.basis.dtype)


def _forest(parts: Parts, check: Check) -> Forest:
    from ..boosting.tree_arrays import TreeArrays
    from ..boosting.trees import Forest

    arrays = TreeArrays(**check(TreeArrays, parts))
    arrays.require_sound()
    return Forest.of(arrays)


def _clique_kernel(parts: Parts, check: Check) -> KernelScores:
    """Return a further kernel of an older file as a part."""
    from ..models.parts import KernelScores

    given = {"clique": "edge", "kernel": "rbf", "view": "all", "penalty": 1.0, **parts}
    on = given.pop("clique")
    return KernelScores(**check(KernelScores, {**given, "on": on}))


def _model_parts(parts: Parts, _: Check) -> ModelParts:
    from ..models.parts import Parts as ModelParts

    return ModelParts(parts)


def _verbatim(_: Parts, __: Check) -> Verbatim:
    from ..data.reading import Verbatim

    return Verbatim()


NAMES: Mapping[str, str] = {".selection.growth:SelectionStep": "Step"}
"""Names in files of classes that have been renamed since."""

REGISTRY = Registry(
    RECIPES,
    (
        # Functions of cliques in files up to format 5; rows of the same classes below name them in new ones.
        StoredClass(
            "CliqueExpansion", ".models.expansion_scorer:ExpansionScorer", fields_of, _clique_expansion
        ),
        StoredClass("CliqueKernel", ".models.parts.kernel:KernelScores", fields_of, _clique_kernel),
        *(stored_by_settings(kind, NAMES.get(kind, "")) for kind in (*KERNELS, *GRAPHS, *FAMILIES)),
        *(stored_by_fields(kind, NAMES.get(kind, "")) for kind in RECORDS),
        *SAVED_EMISSIONS,
        *SAVED_FEATURES,
        *SAVED_KERNELS,
        RANDOM_STATE,
        StoredClass("Forest", ".boosting.trees:Forest", lambda found: found.arrays()._asdict(), _forest),
        StoredClass(
            "FourierMap",
            ".approximation.fourier:FourierMap",
            lambda found: {"frequencies": found.frequencies},
            _fourier_map,
        ),
        StoredClass(
            "KernelMap",
            ".approximation.maps:KernelMap",
            lambda found: {"kernel": found.kernel, "basis": found.basis},
            _kernel_map,
        ),
        StoredClass("Parts", ".models.parts.settings:Parts", dict, _model_parts),
        StoredClass("Posterior", ".decoders.posterior:Posterior", fields_of, _posterior),
        StoredClass("Verbatim", ".data.reading:Verbatim", lambda _: {}, _verbatim),
    ),
    KINDS,
    versions,
)
