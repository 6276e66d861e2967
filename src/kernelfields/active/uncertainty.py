"""Strategies that ask where the model is least certain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import Array
from ..checks import Check, require_flag
from ._base import Strategy
from .view import PoolView


def entropies(marginals: Array) -> Array:
    """Return H(p) = −Σ p log p of every row."""
    logs = np.log(marginals, out=np.zeros_like(marginals), where=marginals > 0)
    return -np.sum(marginals * logs, axis=1)


@dataclass(frozen=True)
class TokenEntropy(Strategy):
    """Entropy of the marginals: H(y_t|x) of a position, Σ_t H(y_t|x) of a sequence [settles2008].

    What a position tells about the whole labelling is the entropy of its label, H(y) − E[H(y|y_t)] = H(y_t):
    no other single question lowers the entropy of the sequence more.

    Parameters
    ----------
    mean : bool
        Whether sequences count by the mean over their open positions rather than by the sum, which long
        sequences lead.
    """

    mean: bool = False
    _checks: ClassVar[Mapping[str, Check]] = {"mean": require_flag}

    def sequence_scores(self, view: PoolView) -> Array:
        """Return the sum, or mean, over open positions."""
        return summed(view, entropies(view.marginals), self.mean)

    def position_scores(self, view: PoolView) -> Array:
        """Return H(y_t|x)."""
        return entropies(view.marginals)


@dataclass(frozen=True)
class SequenceEntropy(Strategy):
    """Entropy of whole labellings, H(y|x) = −Σ_y p(y|x) log p(y|x), exact where sums are [mann2007].

    A position counts by what it takes from that on average, which is H(y_t|x), as in `TokenEntropy`.
    """

    def sequence_scores(self, view: PoolView) -> Array:
        """Return H(y|x)."""
        return view.entropy

    def position_scores(self, view: PoolView) -> Array:
        """Return H(y_t|x)."""
        return entropies(view.marginals)


@dataclass(frozen=True)
class LogProbability(Strategy):
    """Normalised log-probability of the best labelling (MNLP), −(1/T) max_y log p(y|x) [shen2018].

    T is the number of open positions. A position counts by −max_y log p(y_t|x).

    Parameters
    ----------
    mean : bool
        Whether to divide by T; without that long sequences come first (least confidence [culotta2005]).
    """

    mean: bool = True
    _checks: ClassVar[Mapping[str, Check]] = {"mean": require_flag}

    def sequence_scores(self, view: PoolView) -> Array:
        """Return −log p of the best labelling, per open position."""
        counts = open_counts(view) if self.mean else 1.0
        return -view.best_log_proba / counts

    def position_scores(self, view: PoolView) -> Array:
        """Return −log p of the best label."""
        return -np.log(view.marginals.max(axis=1))


@dataclass(frozen=True)
class Margin(Strategy):
    """How close the second best comes to the best, p(y²|x) − p(y¹|x) [scheffer2001].

    Of positions these are the two best labels. Of sequences they are the two best labellings, compared by
    log p(y²|x) − log p(y¹|x): probabilities of long labellings are all small, and so are their differences.
    """

    def sequence_scores(self, view: PoolView) -> Array:
        """Return the log-odds of the second best labelling against the best."""
        best = view.two_best
        return np.where(np.isfinite(best[:, 1]), best[:, 1] - best[:, 0], -np.inf)

    def position_scores(self, view: PoolView) -> Array:
        """Return p(second best label) − p(best label)."""
        two = np.partition(view.marginals, -2, axis=1)[:, -2:]
        return two[:, 0] - two[:, 1]


@dataclass(frozen=True)
class ExpectedError(Strategy):
    """Expected number of wrong labels, 1 − max_y p(y_t|x) of a position, their sum over a sequence.

    That is the error of decoding label by label, as the model itself expects it.

    Parameters
    ----------
    mean : bool
        Whether sequences count by the share rather than by the number of labels expected to be wrong.
    """

    mean: bool = False
    _checks: ClassVar[Mapping[str, Check]] = {"mean": require_flag}

    def sequence_scores(self, view: PoolView) -> Array:
        """Return the expected number, or share, of wrong labels."""
        return summed(view, self.position_scores(view), self.mean)

    def position_scores(self, view: PoolView) -> Array:
        """Return 1 − max_y p(y_t|x)."""
        return 1.0 - view.marginals.max(axis=1)


def summed(view: PoolView, values: Array, mean: bool) -> Array:
    """Return the sum over open positions of every item, or the mean."""
    total = view.pool.per_item(values)
    return total / open_counts(view) if mean else total


def open_counts(view: PoolView) -> Array:
    """Return the number of open positions of every item, at least 1."""
    return np.maximum(view.pool.per_item(np.ones(len(view.pool.open))), 1.0)
