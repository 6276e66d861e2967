"""Rules that look at the best labelling ŷ of a sequence and learn from its mistakes.

Nothing changes where ŷ is right. Elsewhere d = Φ(x, y) − Φ(x, ŷ) is the difference of the features of the
right and of the best labelling, the margin ⟨w, Φ(x, ŷ) − Φ(x, y)⟩ says by how much the wrong one won.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar

from ..arrays import Array
from ..checks import Check, require_flag, require_positive
from ._base import OnlineRule
from .sweep import Sweep


@dataclass(frozen=True)
class PerceptronRule(OnlineRule):
    """w ← w + d [collins2002discriminative, Figure 1]; the loss is the margin."""

    def learn(self, sweep: Sweep, order: Array) -> float:
        """Learn from mistakes."""
        return sweep.core.perceptron(order)


class Variant(IntEnum):
    """How passive-aggressive learning treats a sequence that cannot be made right."""

    HARD = 0
    """PA: τ = loss / ‖d‖², whatever it takes."""
    BOUNDED = 1
    """PA-I: the same, at most C."""
    SQUARED = 2
    """PA-II: τ = loss / (‖d‖² + 1/(2C))."""


@dataclass(frozen=True)
class PassiveAggressiveRule(OnlineRule):
    """w ← w + τ d, the smallest change that makes the right labelling win by its cost.

    The loss is the margin plus √(number of wrong labels), or plus one if not ``error_sensitive``
    [crammer2006online, section 10, with ŷ the best labelling]; `Variant` says what τ is.
    """

    variant: Variant = Variant.BOUNDED
    aggressiveness: float = 1.0
    error_sensitive: bool = True
    _checks: ClassVar[Mapping[str, Check]] = {
        "aggressiveness": require_positive,
        "error_sensitive": require_flag,
    }

    def learn(self, sweep: Sweep, order: Array) -> float:
        """Learn from mistakes."""
        return sweep.core.passive_aggressive(order, self.variant, self.aggressiveness, self.error_sensitive)


@dataclass(frozen=True)
class ArowRule(OnlineRule):
    """Every weight has a mean and a variance: what is uncertain changes most.

        w_k ← w_k + α σ_k d_k,        1/σ_k ← 1/σ_k + d_k² / γ,        α = loss / (Σ_k σ_k d_k² + γ)

    The loss is the margin plus the number of wrong labels [crammer2009adaptive, Figure 1, the diagonal of
    the covariance kept]. All variances begin at ``variance``, unless there are some.
    """

    variance: float = 1.0
    gamma: float = 1.0
    _checks: ClassVar[Mapping[str, Check]] = {"variance": require_positive, "gamma": require_positive}

    def learn(self, sweep: Sweep, order: Array) -> float:
        """Learn from mistakes."""
        if not sweep.uncertain:
            sweep.set_variance(self.variance)
        return sweep.core.arow(order, self.gamma)
