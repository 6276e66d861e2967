"""Estimators: recipes of structure, space, loss, solver and decoder, with a scikit-learn face."""

from ..data.base_measure import CliqueMeasures
from ..fields import MarkovField
from ..fitting.observers import Onlooker
from ..incremental import AROW, PassiveAggressive, StochasticCRF, StructuredPerceptron
from ..models.clique_kernels import CliqueKernel
from ..models.labeller import SequenceLabeller
from ..persistence.files import install, load
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
from .registry import REGISTRY
from .self_training import SelfTraining
from .sequence_adaboost import SequenceAdaBoost
from .sequence_clustering import SequenceClustering
from .sequence_pipeline import SequencePipeline
from .structure_learner import StructureLearner
from .structured_svm import StructuredSVM

__all__ = [
    "AROW",
    "CRF",
    "HMM",
    "MEMM",
    "BoostedCRF",
    "Cascade",
    "ClassifierMarkovModel",
    "CliqueKernel",
    "CliqueMeasures",
    "FieldClustering",
    "GPSequenceClassifier",
    "HiddenStates",
    "HiddenUnitCRF",
    "KernelCRF",
    "KernelLogisticRegression",
    "KernelPerceptron",
    "LabelPropagation",
    "LabelSpreading",
    "MarkovField",
    "Onlooker",
    "PassiveAggressive",
    "PoissonLearning",
    "SelfTraining",
    "SequenceAdaBoost",
    "SequenceClustering",
    "SequenceLabeller",
    "SequencePipeline",
    "StochasticCRF",
    "StructureLearner",
    "StructuredPerceptron",
    "StructuredSVM",
    "TransductiveSVM",
    "load",
]
install(REGISTRY)
