"""sklearn-crfsuite's face: ``from kernelfields.compat import sklearn_crfsuite``."""

from .estimator import CRF

__all__ = ["CRF"]
