"""Structured prediction with calibrated probabilities."""

from importlib.metadata import version

from . import distributed
from .errors import InfeasibleError, InputError, ModelFormatError, ScoreError
from .estimators import (
    AROW,
    CRF,
    HMM,
    MEMM,
    BoostedCRF,
    Cascade,
    ClassifierMarkovModel,
    CliqueKernel,
    CliqueMeasures,
    GPSequenceClassifier,
    KernelCRF,
    KernelLogisticRegression,
    KernelPerceptron,
    LabelPropagation,
    LabelSpreading,
    PassiveAggressive,
    PoissonLearning,
    SelfTraining,
    SequenceAdaBoost,
    StochasticCRF,
    StructuredPerceptron,
    StructuredSVM,
    StructureLearner,
    TransductiveSVM,
    load,
)

__version__ = version("kernelfields")

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
    "GPSequenceClassifier",
    "InfeasibleError",
    "InputError",
    "KernelCRF",
    "KernelLogisticRegression",
    "KernelPerceptron",
    "LabelPropagation",
    "LabelSpreading",
    "ModelFormatError",
    "PassiveAggressive",
    "PoissonLearning",
    "ScoreError",
    "SelfTraining",
    "SequenceAdaBoost",
    "StochasticCRF",
    "StructureLearner",
    "StructuredPerceptron",
    "StructuredSVM",
    "TransductiveSVM",
    "__version__",
    "distributed",
    "load",
]
