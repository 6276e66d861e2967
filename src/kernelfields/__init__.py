"""Structured prediction with calibrated probabilities."""

from importlib.metadata import version

from .errors import InfeasibleError, InputError, ScoreError
from .estimators import (
    AROW,
    CRF,
    MEMM,
    GPSequenceClassifier,
    KernelCRF,
    KernelLogisticRegression,
    PassiveAggressive,
    StructuredPerceptron,
    StructureLearner,
)

__version__ = version("kernelfields")

__all__ = [
    "AROW",
    "CRF",
    "MEMM",
    "GPSequenceClassifier",
    "InfeasibleError",
    "InputError",
    "KernelCRF",
    "KernelLogisticRegression",
    "PassiveAggressive",
    "ScoreError",
    "StructureLearner",
    "StructuredPerceptron",
    "__version__",
]
