"""A test of a mean by betting against it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy

from ..arrays import Array
from ..checks import proper_share, require_whole
from ._base import Gains, MeanTest

BETS = (0.02, 0.06, 0.2, 0.5, 0.9)
"""Bets of forecasts, as shares of the capital that one draw can cost."""


@dataclass(frozen=True)
class Betting(MeanTest):
    """The capital of a gambler who bets that the mean is positive [waudbysmith2024].

    Beginning with 1, the capital after draw i is K_i = K_{i−1} (1 + ν_i D_i), where the bet ν_i depends on
    earlier draws only and never risks more than there is: 0 ≤ ν_i ≤ ``risk`` / |least|. If E[D] ≤ 0, the
    capital is a nonnegative supermartingale, so that by Ville's inequality P(max_i K_i ≥ 1/u) ≤ u: the
    p-value is 1 / max_i K_i, whatever the bets. They are those of somebody who wants to have 1/u after n
    draws and nothing more [kulldorff1993]: if w = u K_i of that is there and n − i draws are to come,

        ν_{i+1} = φ(z) / (w √(v (n − i))),    w = Φ(z),

    with v the second moment of the draws so far. They adapt to the variance, not to the interval, and have
    nearly the power of the test by a normal distribution, without its assumption. Bets change after a block
    of draws. Draws of before count in v; if there are none, one draw of half the interval stands for them.

    Parameters
    ----------
    risk : float
        The largest share of the capital that one draw may cost, above 0 and at most 1.
    blocks : int
        How often bets change.
    """

    risk: float = 0.98
    blocks: int = 100

    def __post_init__(self) -> None:
        """Refuse settings that are none."""
        proper_share("risk", self.risk)
        require_whole("blocks", self.blocks)

    def p_values(self, gains: Gains, level: float, before: Array) -> Array:
        """Return 1 / max_i K_i, at most 1."""
        draws, n = gains.values, gains.values.shape[1]
        known = before if before.shape[1] else np.full((len(draws), 1), 0.5 * (gains.most - gains.least))
        squares, seen = (known**2).sum(axis=1), known.shape[1]
        capital, highest = np.zeros(len(draws)), np.zeros(len(draws))  # logarithms
        ends = np.unique(np.linspace(0, n, min(self.blocks, n) + 1).round().astype(int))
        for a, b in pairwise(ends.tolist()):
            bets = _bets(capital, highest, level, squares / seen * (n - a), self.risk / -gains.least)
            path = capital[:, None] + np.cumsum(np.log1p(bets[:, None] * draws[:, a:b]), axis=1)
            capital, highest = path[:, -1], np.maximum(highest, path.max(axis=1))
            squares, seen = squares + (draws[:, a:b] ** 2).sum(axis=1), seen + b - a
        return np.exp(-highest)

    def evidence(self, gains: Gains, n: int) -> Array:
        """Return n max_ν mean log(1 + ν D)."""
        bets = np.array(BETS) / -gains.least
        logs = [np.log1p(bet * gains.values).mean(axis=1) for bet in bets]
        result: Array = n * np.max(logs, axis=0)
        return result


def _bets(capital: Array, highest: Array, level: float, variance: Array, most: float) -> Array:
    """Return ν; nothing where the aim has been reached.

    With less than a thousandth of the aim, bets are those for a thousandth: the others would be wild.
    """
    share = np.clip(level * np.exp(capital), 1e-3, 1.0)
    z = scipy.special.ndtri(share)
    density = np.where(share < 1, np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi), 0.0)
    bets = density / (share * np.sqrt(np.maximum(variance, 1e-300)))
    return np.where(highest >= -np.log(level), 0.0, np.minimum(bets, most))
