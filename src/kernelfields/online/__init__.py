"""Online learning of linear chains: weights that change after every sequence."""

from ._base import Rule
from .descent import Descent, descend_first
from .examples import Examples
from .mistakes import Arow, PassiveAggressive, Perceptron, Variant
from .sweep import Sweep

__all__ = [
    "Arow",
    "Descent",
    "Examples",
    "PassiveAggressive",
    "Perceptron",
    "Rule",
    "Sweep",
    "Variant",
    "descend_first",
]
