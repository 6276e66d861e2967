"""Classifiers that label what they are fitted to: along a graph of all observations, or by wide margins."""

from ._base import LabelGraphClassifier
from .label_propagation import LabelPropagation
from .label_spreading import LabelSpreading
from .poisson_learning import PoissonLearning
from .transductive_svm import TransductiveSVM

__all__ = ["LabelGraphClassifier", "LabelPropagation", "LabelSpreading", "PoissonLearning", "TransductiveSVM"]
