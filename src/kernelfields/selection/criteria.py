"""By what candidates are judged."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from ..structures._base import Array
from .atoms import Atoms
from .orders import steepest
from .refit import gain_of
from .task import View


class Criterion(ABC):
    """Gives every candidate a number: the larger, the better."""

    @abstractmethod
    def judge(self, view: View, name: str, functions: Atoms, slopes: Array) -> Array:
        """Judge functions of a pool, (c,), given ⟨∇R, h⟩; comparable between pools."""


@dataclass(frozen=True)
class FunctionalGradient(Criterion):
    """|⟨∇R, h⟩| over √λ: how fast R falls along h at first [lafferty2004]."""

    def judge(self, view: View, name: str, functions: Atoms, slopes: Array) -> Array:
        """No more than the slopes."""
        return np.abs(slopes) / np.sqrt(view.task.pools[name].penalty)


@dataclass(frozen=True)
class GainBound(Criterion):
    """⟨∇R, h⟩²/(2λ‖h_⊥‖²): what h can gain at most, all coefficients refitted [altun2006, Lemma 6].

    Parameters
    ----------
    shortlist : int
        Candidates that are judged: the steepest. Each takes O(p²) operations.
    """

    shortlist: int = 100

    def judge(self, view: View, name: str, functions: Atoms, slopes: Array) -> Array:
        """Bounds of the steepest; zero for the others."""
        listed = np.sort(steepest(slopes, self.shortlist))
        result = np.zeros(len(slopes))
        bounds = view.gain_bounds(name, functions.take(listed), slopes[listed])
        result[listed] = np.where(np.isfinite(bounds), bounds, 0.0)
        return result


@dataclass(frozen=True)
class ExactGain(Criterion):
    """sup_a R(f) − R(f + a h), by a search along each candidate [lafferty2004]: dear.

    Parameters
    ----------
    shortlist : int
        Candidates that are judged: the steepest. Each takes about ten sweeps of forward-backward.
    """

    shortlist: int = 20

    def judge(self, view: View, name: str, functions: Atoms, slopes: Array) -> Array:
        """Gains of the steepest; zero for the others."""
        result = np.zeros(len(slopes))
        for j in np.sort(steepest(slopes, self.shortlist)):
            result[j] = max(0.0, gain_of(view.task, view.state, name, functions.take(np.array([j]))))
        return result
