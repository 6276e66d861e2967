"""Settings and models tried on held-out data, within a time budget."""

from .clock import budget_seconds
from .comparing import Comparison, compare
from .tuning import Tuning, tune

__all__ = ["Comparison", "Tuning", "budget_seconds", "compare", "tune"]
