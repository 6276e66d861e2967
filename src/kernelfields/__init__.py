"""Structured prediction with calibrated probabilities."""

from importlib.metadata import version

from .errors import InfeasibleError, InputError, ScoreError
from .estimators import AROW, CRF, KernelCRF, MEMM, PassiveAggressive, StructuredPerceptron

__version__ = version("kernelfields")

__all__ = ["AROW", "CRF", "MEMM", "PassiveAggressive", "StructuredPerceptron", "KernelCRF", "InfeasibleError", "InputError", "ScoreError", "__version__"]
