"""Classifiers that label what they are fitted to: along a graph of all observations, or by wide margins."""

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from ._base import LabelGraphClassifier
    from .label_propagation import LabelPropagation
    from .label_spreading import LabelSpreading
    from .poisson_learning import PoissonLearning
    from .transductive_svm import TransductiveSVM
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "_base": "LabelGraphClassifier",
            "label_propagation": "LabelPropagation",
            "label_spreading": "LabelSpreading",
            "poisson_learning": "PoissonLearning",
            "transductive_svm": "TransductiveSVM",
        },
    )

__all__ = ["LabelGraphClassifier", "LabelPropagation", "LabelSpreading", "PoissonLearning", "TransductiveSVM"]
