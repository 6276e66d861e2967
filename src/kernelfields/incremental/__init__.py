"""Learners that change their weights after every sequence."""

from ._base import OnlineLabeller
from .arow import AROW
from .passive_aggressive import PassiveAggressive
from .perceptron import StructuredPerceptron
from .stochastic_crf import StochasticCRF

__all__ = ["AROW", "OnlineLabeller", "PassiveAggressive", "StochasticCRF", "StructuredPerceptron"]
