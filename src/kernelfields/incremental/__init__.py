"""Learners that change their weights after every sequence."""

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from ._base import OnlineLabeller
    from .arow import AROW
    from .passive_aggressive import PassiveAggressive
    from .perceptron import StructuredPerceptron
    from .stochastic_crf import StochasticCRF
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "_base": "OnlineLabeller",
            "arow": "AROW",
            "passive_aggressive": "PassiveAggressive",
            "perceptron": "StructuredPerceptron",
            "stochastic_crf": "StochasticCRF",
        },
    )

__all__ = ["AROW", "OnlineLabeller", "PassiveAggressive", "StochasticCRF", "StructuredPerceptron"]
