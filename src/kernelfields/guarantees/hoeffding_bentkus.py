"""A test of a mean by the inequalities of Hoeffding and Bentkus."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from ..arrays import Array
from ._base import Gains, MeanTest


@dataclass(frozen=True)
class HoeffdingBentkus(MeanTest):
    """The smaller of two tail bounds [angelopoulos2021ltt, Proposition 1].

    With R = (most − D) / (most − least) in [0, 1], E[D] ≤ 0 says that E[R] ≥ r = most / (most − least), and

        p = min(exp(−n h(min(R̄, r), r)),  e P(Binomial(n, r) ≤ ⌈n R̄⌉)),
        h(a, b) = a log(a/b) + (1 − a) log((1 − a)/(1 − b))

    Nothing but the mean counts. For numbers that are 0 or 1 it is within a factor e of the exact binomial
    test; where draws vary less than their interval allows, `Betting` is far sharper.
    """

    def p_values(self, gains: Gains, level: float, before: Array) -> Array:
        """Return p; neither the level nor earlier draws matter."""
        return np.exp(-self.evidence(gains, gains.values.shape[1]))

    def evidence(self, gains: Gains, n: int) -> Array:
        """Return −log p of n draws with the means of these."""
        if gains.values.shape[1] == 0:
            return np.zeros(len(gains.values))
        width = gains.most - gains.least
        rate = gains.most / width
        mean = np.clip((gains.most - gains.values).mean(axis=1) / width, 0.0, 1.0)
        a = np.minimum(mean, rate)
        xlogy = scipy.special.xlogy
        hoeffding = n * (xlogy(a, a / rate) + xlogy(1 - a, (1 - a) / (1 - rate)))
        # three wrong ones of ten must not become four by rounding
        tail = scipy.special.bdtr(np.ceil(n * mean - 1e-9), n, rate)
        return np.maximum(np.maximum(hoeffding, -1.0 - np.log(np.maximum(tail, 1e-300))), 0.0)
