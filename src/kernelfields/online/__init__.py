"""Online learning of linear chains: weights that change after every sequence."""

from ._base import Rule
from .descent import Descent, descend_first
from .examples import Examples
from .sweep import Sweep

__all__ = ["Descent", "Examples", "Rule", "Sweep", "descend_first"]
