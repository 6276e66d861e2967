"""Classifiers that label what they are fitted to: labels travel along a graph of all observations."""

from ._base import LabelGraphClassifier
from .label_propagation import LabelPropagation
from .label_spreading import LabelSpreading

__all__ = ["LabelGraphClassifier", "LabelPropagation", "LabelSpreading"]
