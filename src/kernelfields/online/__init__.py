"""Online learning of linear chains: weights that change after every sequence."""

from ._base import OnlineRule
from .descent import Descent, descend_first
from .examples import Examples
from .mistakes import ArowRule, PassiveAggressiveRule, PerceptronRule, Variant
from .sweep import Sweep

__all__ = [
    "ArowRule",
    "Descent",
    "Examples",
    "OnlineRule",
    "PassiveAggressiveRule",
    "PerceptronRule",
    "Sweep",
    "Variant",
    "descend_first",
]
