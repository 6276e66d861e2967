"""Structured prediction with calibrated probabilities."""

from importlib.metadata import version

from .errors import InfeasibleError, InputError, ScoreError
from .estimators import CRF

__version__ = version("kernelfields")

__all__ = ["CRF", "InfeasibleError", "InputError", "ScoreError", "__version__"]
