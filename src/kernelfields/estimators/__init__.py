"""Estimators: recipes of structure, space, loss, solver and decoder, with a scikit-learn face."""

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from ..data.base_measure import CliqueMeasures
    from ..fields import MarkovField
    from ..fitting.observers import Onlooker
    from ..incremental import AROW, PassiveAggressive, StochasticCRF, StructuredPerceptron
    from ..models.labeller import SequenceLabeller
    from ..persistence.files import load
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
    from .structured_svm import StructuredSVM
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            ".data.base_measure": "CliqueMeasures",
            ".fields": "MarkovField",
            ".fitting.observers": "Onlooker",
            ".incremental": "AROW PassiveAggressive StochasticCRF StructuredPerceptron",
            ".models.labeller": "SequenceLabeller",
            ".persistence.files": "load",
            ".transduction": "LabelPropagation LabelSpreading PoissonLearning TransductiveSVM",
            "boosted_crf": "BoostedCRF",
            "cascade": "Cascade",
            "classifier_markov_model": "ClassifierMarkovModel",
            "crf": "CRF",
            "field_clustering": "FieldClustering",
            "gp_sequence_classifier": "GPSequenceClassifier",
            "hidden_states": "HiddenStates",
            "hidden_unit_crf": "HiddenUnitCRF",
            "hmm": "HMM",
            "kernel_crf": "KernelCRF",
            "kernel_logistic_regression": "KernelLogisticRegression",
            "kernel_perceptron": "KernelPerceptron",
            "memm": "MEMM",
            "self_training": "SelfTraining",
            "sequence_adaboost": "SequenceAdaBoost",
            "sequence_clustering": "SequenceClustering",
            "sequence_pipeline": "SequencePipeline",
            "structure_learner": "StructureLearner",
            "structured_svm": "StructuredSVM",
        },
    )

__all__ = [
    "AROW",
    "CRF",
    "HMM",
    "MEMM",
    "BoostedCRF",
    "Cascade",
    "ClassifierMarkovModel",
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
