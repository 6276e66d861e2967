"""Structured prediction with calibrated probabilities."""

from importlib.metadata import version

from .errors import InfeasibleError, InputError, ModelFormatError, ScoreError
from .estimators import (
    AROW,
    CRF,
    HMM,
    MEMM,
    BoostedCRF,
    GPSequenceClassifier,
    KernelCRF,
    KernelLogisticRegression,
    KernelPerceptron,
    PassiveAggressive,
    StochasticCRF,
    StructuredPerceptron,
    StructureLearner,
    load,
    StructuredSVM,
)

__version__ = version("kernelfields")

__all__ = [
    "AROW",
    "CRF",
    "HMM",
    "MEMM",
    "BoostedCRF",
    "GPSequenceClassifier",
    "InfeasibleError",
    "InputError",
    "KernelCRF",
    "KernelLogisticRegression",
    "ModelFormatError",
    "KernelPerceptron",
    "PassiveAggressive",
    "ScoreError",
    "StructureLearner",
    "StochasticCRF",
    "StructuredPerceptron",
    "StructuredSVM",
    "__version__",
    "load",
]
