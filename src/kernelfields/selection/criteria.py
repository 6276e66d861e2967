"""Criteria by which candidates are judged."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import Array
from ..checks import Check, Checked, require_flag, whole
from .atoms import Atoms
from .orders import steepest
from .refit import gain_of
from .task import View


class Criterion(Checked, ABC):
    """Judges every candidate by a number; larger is better."""

    @abstractmethod
    def judge(self, view: View, name: str, functions: Atoms, threshold: float = 0.0) -> Array:
        """Judge functions of a pool, (c,), comparably between pools; 0 for those to be ignored."""


@dataclass(frozen=True)
class GapShare(Criterion):
    """|a ⟨∇R, h⟩| / 2λ where ∇R = … + a h + …: the share that h has in the certified gap.

    The shares of all functions add up to ‖∇R‖²/2λ, the bound on what the whole space of the kernel can still
    gain. a is a marginal minus what was observed, plus λ times the current coefficient. Where ∇R is steep,
    it is steep for similar functions too; a tells which of them causes that.
    """

    def judge(self, view: View, name: str, functions: Atoms, threshold: float = 0.0) -> Array:
        """Return coefficients times slopes."""
        slopes = np.abs(_steep(view, name, functions, threshold))
        return np.asarray(view.gradient_terms(name, functions) * slopes / (2 * view.task.pools[name].penalty))


@dataclass(frozen=True)
class FunctionalGradient(Criterion):
    """|⟨∇R, h⟩| / √λ, the initial slope of R along h: the papers' choice [altun2006, lafferty2004].

    Parameters
    ----------
    scaled : bool
        Whether slopes are divided by √λ, which makes no difference unless pools have different λ. Then it
        does not matter whether a kernel is small or its λ is large, as it does not for the fit. False is
        the papers' rule, whose ranking of vertices among edges changes with the scale of their kernels.
    """

    scaled: bool = True
    _checks: ClassVar[Mapping[str, Check]] = {"scaled": require_flag}

    def judge(self, view: View, name: str, functions: Atoms, threshold: float = 0.0) -> Array:
        """Return the absolute slopes, over √λ if they are scaled."""
        slopes = np.abs(_steep(view, name, functions, threshold))
        return slopes / np.sqrt(view.task.pools[name].penalty) if self.scaled else slopes


@dataclass(frozen=True)
class GainBound(Criterion):
    """⟨∇R, h⟩²/(2λ‖h_⊥‖²), a bound on the gain of h, all coefficients refitted [altun2006, Lemma 6].

    Parameters
    ----------
    shortlist : int
        Number of the steepest candidates that are judged. Each takes O(p²) operations.
    """

    shortlist: int = 100
    _checks: ClassVar[Mapping[str, Check]] = {"shortlist": whole()}

    def judge(self, view: View, name: str, functions: Atoms, threshold: float = 0.0) -> Array:
        """Return the bounds of the steepest candidates, and zero for the others."""
        slopes = _steep(view, name, functions, threshold)
        listed = np.sort(steepest(slopes, self.shortlist))
        result = np.zeros(len(slopes))
        bounds = view.gain_bounds(name, functions.take(listed), slopes[listed])
        result[listed] = np.where(np.isfinite(bounds), bounds, 0.0)
        return result


@dataclass(frozen=True)
class ExactGain(Criterion):
    """sup_a R(f) − R(f + a h), by an expensive search along each candidate [lafferty2004].

    Parameters
    ----------
    shortlist : int
        Number of the steepest candidates that are judged. Each takes about ten sweeps of forward-backward.
    """

    shortlist: int = 20
    _checks: ClassVar[Mapping[str, Check]] = {"shortlist": whole()}

    def judge(self, view: View, name: str, functions: Atoms, threshold: float = 0.0) -> Array:
        """Return the gains of the steepest candidates, and zero for the others."""
        slopes = _steep(view, name, functions, threshold)
        result = np.zeros(len(slopes))
        for j in np.sort(steepest(slopes, self.shortlist)):
            result[j] = max(0.0, gain_of(view.task, view.state, name, functions.take(np.array([j]))))
        return result


def _steep(view: View, name: str, functions: Atoms, threshold: float) -> Array:
    """Return ⟨∇R, h⟩, and 0 where its absolute value is not above the threshold."""
    slopes = view.slopes_of(name, functions)
    slopes[np.abs(slopes) <= threshold] = 0.0
    return slopes
