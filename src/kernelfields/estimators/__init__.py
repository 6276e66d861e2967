"""Estimators: recipes of structure, space, loss, solver and decoder, with a scikit-learn face."""

from ._base import SequenceLabeller
from .crf import CRF

__all__ = ["CRF", "SequenceLabeller"]
