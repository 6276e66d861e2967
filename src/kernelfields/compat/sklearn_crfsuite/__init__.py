"""sklearn-crfsuite's face: ``from kernelfields.compat import sklearn_crfsuite``."""

from . import metrics, scorers
from .estimator import CRF

__all__ = ["CRF", "metrics", "scorers"]
