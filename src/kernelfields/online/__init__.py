"""Online learning of linear chains: weights that change after every sequence."""

from ._base import OnlineRule
from .descent import Descent, descend_first
from .examples import Examples
from .instances import InstanceSweep
from .mistakes import ArowRule, PassiveAggressiveRule, PerceptronRule, Variant
from .sweep import Sweep

AnySweep = Sweep | InstanceSweep

__all__ = [
    "AnySweep",
    "ArowRule",
    "Descent",
    "Examples",
    "InstanceSweep",
    "OnlineRule",
    "PassiveAggressiveRule",
    "PerceptronRule",
    "Sweep",
    "Variant",
    "descend_first",
]
