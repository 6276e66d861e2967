"""What model files may hold: every estimator, and every class of object among settings and attributes.

A new kernel, solver, decoder, approximation, rule or estimator is one line here.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from .. import (
    approximation,
    constraints,
    decoders,
    emissions,
    graphs,
    guarantees,
    kernels,
    losses,
    objective,
    posterior,
    selection,
    solvers,
    structures,
)
from ..boosting.tree_arrays import TreeArrays
from ..boosting.trees import Forest
from ..data.base_measure import CliqueMeasures
from ..data.reading import Verbatim
from ..emissions.saved import SAVED as SAVED_EMISSIONS
from ..emissions.unknown import WordClass
from ..errors import ModelFormatError
from ..features.saved import SAVED as SAVED_FEATURES
from ..fields import Annealing, MarkovField, PersistentChains
from ..fields.layout import FieldLayout
from ..fitting.provenance import Provenance, versions
from ..incremental import AROW, PassiveAggressive, StochasticCRF, StructuredPerceptron
from ..kernels.saved import SAVED as SAVED_KERNELS
from ..models.averaging import Averaging
from ..models.calibration import Calibration
from ..models.changes import Changes
from ..models.clique_kernels import CliqueExpansion, CliqueKernel
from ..models.clique_types import Boundaries, Edges, FurtherKernel, InputEdges, SecondOrder
from ..models.graph_cliques import AllUnused, LabelPair, LabelPairs, UnusedCliques
from ..models.label_switching import SwitchingStep
from ..models.scaling import Scaling
from ..models.separate_kernels import SeparateKernels
from ..models.structure_search import Trial
from ..models.trail import Trail
from ..models.vertex_kernels import LabelGroup, VertexKernels
from ..objective import Certificate
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
from ..persistence.random_states import RANDOM_STATE
from ..persistence.savable import Savable
from ..transduction import LabelPropagation, LabelSpreading, PoissonLearning, TransductiveSVM
from .boosted_crf import BoostedCRF
from .cascade import Cascade
from .classifier_markov_model import ClassifierMarkovModel
from .crf import CRF
from .field_clustering import FieldClustering
from .gp_sequence_classifier import GPSequenceClassifier
from .hidden_states import HiddenStates
from .hidden_unit_crf import HiddenUnitCRF
from .hmm import HMM
from .kernel_crf import KernelCRF
from .kernel_logistic_regression import KernelLogisticRegression
from .kernel_perceptron import KernelPerceptron
from .memm import MEMM
from .self_training import SelfTraining
from .sequence_adaboost import SequenceAdaBoost
from .sequence_clustering import SequenceClustering
from .sequence_pipeline import SequencePipeline
from .structure_learner import StructureLearner
from .structured_svm import Round, StructuredSVM

RECIPES: Mapping[str, type[Savable]] = {
    "arow": AROW,
    "boosted-crf": BoostedCRF,
    "cascade": Cascade,
    "classifier-markov-model": ClassifierMarkovModel,
    "crf": CRF,
    "field-clustering": FieldClustering,
    "gp-sequence-classifier": GPSequenceClassifier,
    "hidden-states": HiddenStates,
    "hidden-unit-crf": HiddenUnitCRF,
    "hmm": HMM,
    "kernel-crf": KernelCRF,
    "kernel-logistic-regression": KernelLogisticRegression,
    "kernel-perceptron": KernelPerceptron,
    "label-propagation": LabelPropagation,
    "label-spreading": LabelSpreading,
    "markov-field": MarkovField,
    "memm": MEMM,
    "passive-aggressive": PassiveAggressive,
    "poisson-learning": PoissonLearning,
    "self-training": SelfTraining,
    "sequence-adaboost": SequenceAdaBoost,
    "sequence-clustering": SequenceClustering,
    "sequence-pipeline": SequencePipeline,
    "stochastic-crf": StochasticCRF,
    "structure-learner": StructureLearner,
    "structured-perceptron": StructuredPerceptron,
    "structured-svm": StructuredSVM,
    "transductive-svm": TransductiveSVM,
}
"""Estimators by their names in files, which never change."""
KERNELS = (
    kernels.AdditiveChiSquare,
    kernels.Columns,
    kernels.Constant,
    kernels.Cosine,
    kernels.Expected,
    kernels.ExponentialChiSquare,
    kernels.GaussianExpectation,
    kernels.GaussianProcessKernel,
    kernels.GraphKernel,
    kernels.Hamming,
    kernels.Jaccard,
    kernels.Laplacian,
    kernels.Linear,
    kernels.Matern,
    kernels.Normalized,
    kernels.Polynomial,
    kernels.Power,
    kernels.Precomputed,
    kernels.Product,
    kernels.RBF,
    kernels.Rescaled,
    kernels.Scaled,
    kernels.SpectralKernel,
    kernels.Spectrum,
    kernels.Standardized,
    kernels.Subsequence,
    kernels.Sum,
    kernels.Tanimoto,
    kernels.TreeFragments,
    kernels.WindowProduct,
    kernels.WindowSum,
)
GRAPHS = (
    graphs.Diffusion,
    graphs.InverseCosine,
    graphs.NeighborGraph,
    graphs.PrecomputedGraph,
    graphs.RandomWalk,
    graphs.Regularised,
    graphs.Truncated,
)
"""Graphs and transforms, which are their settings."""
RECORDS = (
    AllUnused,
    Annealing,
    Averaging,
    Boundaries,
    Calibration,
    Certificate,
    Changes,
    CliqueExpansion,
    CliqueKernel,
    CliqueMeasures,
    Edges,
    FieldLayout,
    FurtherKernel,
    InputEdges,
    LabelGroup,
    LabelPair,
    LabelPairs,
    PersistentChains,
    Provenance,
    Round,
    Scaling,
    SecondOrder,
    SeparateKernels,
    SwitchingStep,
    Trail,
    Trial,
    UnusedCliques,
    VertexKernels,
    WordClass,
    constraints.Constraints,
    constraints.Cyclic,
    constraints.Forbidden,
    constraints.LeftRight,
    constraints.OwnedRule,
    constraints.RunParts,
    constraints.TagScheme,
    decoders.Abstain,
    decoders.BayesRule,
    decoders.LinearProgram,
    decoders.SemidefiniteProgram,
    decoders.Viterbi,
    guarantees.JudgedAnswers,
    guarantees.Betting,
    guarantees.HoeffdingBentkus,
    guarantees.Missed,
    posterior.Laplace,
    posterior.SliceSampling,
    posterior.Variational,
    selection.AtRandom,
    selection.Atoms,
    selection.ExactGain,
    selection.FunctionalGradient,
    selection.GainBound,
    selection.GapShare,
    selection.GreedyCliques,
    selection.ImportVectors,
    selection.InTurn,
    approximation.IncompleteCholesky,
    approximation.KMeans,
    selection.LargestGradient,
    approximation.LeverageScores,
    approximation.Nystroem,
    approximation.RandomFourier,
    selection.RefitAll,
    selection.RefitNew,
    selection.SGPS,
    selection.SGSA,
    selection.SelectionStep,
    approximation.Uniform,
    selection.WholeSequences,
    objective.GroupNorm,
    objective.L1Norm,
    objective.SpaceNorm,
    losses.PairCost,
    losses.VariationalEM,
    losses.EntropyRegularised,
    losses.InformationMaximisation,
    losses.OwnedStates,
    structures.Alignment,
    structures.AlphaExpansion,
    structures.AtMost,
    structures.BeliefPropagation,
    structures.Bethe,
    structures.Chain,
    structures.Constituency,
    structures.ConvexFreeEnergy,
    structures.Dependency,
    structures.SiblingDependency,
    structures.DualDecomposition,
    structures.Exact,
    structures.ExactlyOne,
    structures.Gibbs,
    structures.Grammar,
    structures.GrammarTrees,
    structures.Graph,
    structures.Grid,
    structures.Hierarchy,
    structures.Implies,
    structures.LabelSwap,
    structures.LinearProgramMax,
    structures.Matching,
    structures.MeanField,
    structures.MultiLabel,
    structures.Segments,
    structures.SemidefiniteMax,
    structures.CandidateSegments,
    structures.Tree,
    structures.TreeReweighted,
    structures.TreeReweightedMax,
    solvers.BlockFrankWolfe,
    solvers.BlockJacobi,
    solvers.ConjugateGradients,
    solvers.CuttingPlane,
    solvers.DualAscent,
    solvers.ExponentiatedGradient,
    solvers.IterativeScaling,
    solvers.LBFGS,
    solvers.LinearProgramming,
    solvers.MetaDescent,
    solvers.NewtonCG,
    solvers.OWLQN,
    solvers.ProximalQuasiNewton,
    solvers.Subgradient,
    solvers.Subspace,
    solvers.WorkingSet,
)
"""Dataclasses and named tuples: their fields are their parts."""
FAMILIES = (
    emissions.Bernoulli,
    emissions.Categorical,
    emissions.DiagonalGaussian,
    emissions.FullGaussian,
    emissions.GaussianMixture,
    emissions.Multinomial,
    emissions.Poisson,
    emissions.SphericalGaussian,
    emissions.TiedGaussian,
    emissions.UnknownWords,
)
"""Like kernels, they are their settings."""
KINDS: Kinds = {
    "Approximation": approximation.Approximation,
    "Criterion": selection.Criterion,
    "CuttingPlane": solvers.CuttingPlane,
    "Emissions": emissions.Emissions,
    "Family": emissions.Family,
    "GaussianFamily": emissions.GaussianFamily,
    "MarginSolver": solvers.MarginSolver,
    "Order": selection.Order,
    "Refit": selection.Refit,
    "Selection": selection.Selection,
    "UnknownWords": emissions.UnknownWords,
    "Array": np.ndarray,
    "Decoder": decoders.Decoder,
    "Kernel": kernels.Kernel,
    "Landmarks": approximation.Landmarks,
    "None": type(None),
    "ObservationGraph": graphs.ObservationGraph,
    "Rule": constraints.Rule,
    "Solver": solvers.Solver,
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


def _fourier_map(parts: Parts, _: Check) -> Any:
    frequencies = parts["frequencies"]
    if not isinstance(frequencies, np.ndarray) or frequencies.ndim != 2:
        raise ModelFormatError("The frequencies of random Fourier features are no matrix.")
    return approximation.FourierMap(frequencies)


def _forest(parts: Parts, check: Check) -> Forest:
    arrays = TreeArrays(**check(TreeArrays, parts))
    arrays.require_sound()
    return Forest.of(arrays)


NAMES: Mapping[type, str] = {selection.SelectionStep: "Step"}
"""Names in files of classes that have been renamed since."""

REGISTRY = Registry(
    RECIPES,
    (
        *(stored_by_settings(cls, NAMES.get(cls, "")) for cls in (*KERNELS, *GRAPHS, *FAMILIES)),
        *(stored_by_fields(cls, NAMES.get(cls, "")) for cls in RECORDS),
        *SAVED_EMISSIONS,
        *SAVED_FEATURES,
        *SAVED_KERNELS,
        RANDOM_STATE,
        StoredClass("Forest", Forest, lambda found: found.arrays()._asdict(), _forest),
        StoredClass(
            "FourierMap",
            approximation.FourierMap,
            lambda found: {"frequencies": found.frequencies},
            _fourier_map,
        ),
        StoredClass("Posterior", decoders.Posterior, fields_of, _posterior),
        StoredClass("Verbatim", Verbatim, lambda _: {}, lambda _, __: Verbatim()),
    ),
    KINDS,
    versions,
)
