"""Adaptive regularisation of weights for linear chains."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from ..models.trail import Trail
from ..online import AnySweep, ArowRule, OnlineRule
from ._base import OnlineLabeller


@dataclass(eq=False, repr=False)
class AROW(OnlineLabeller):
    """Adaptive regularisation of weights [crammer2009adaptive].

    Every weight has a mean and a variance. After every sequence whose best labelling ŷ is not the right
    one, with d = Φ(x, y) − Φ(x, ŷ) and loss = number of wrong labels − ⟨w, d⟩,

        w_k ← w_k + loss / (Σ_j σ_j d_j² + γ) · σ_k d_k,        1/σ_k ← 1/σ_k + d_k² / γ:

    weights that have changed often become firm. What `predict_marginals` gives are no calibrated
    probabilities.

    Parameters
    ----------
    variance : float
        σ of all weights at the beginning.
    gamma : float
        γ: the larger, the more slowly weights change and become firm.
    max_iter, structure, features, parts, observed_only, classes, constraints, decoder
        As in `StructuredPerceptron`.
    shuffle, warm_start, random_state, run, verbose
        As in `StructuredPerceptron`.

    Attributes
    ----------
    classes_, coef_, intercept_, transitions_, start_, end_, losses_, n_iter_, stop_reason_
        As in `StructuredPerceptron`.

    Examples
    --------
    >>> from kernelfields import AROW
    >>> X = [[[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]
    >>> y = [["A", "B", "B"], ["B", "A"]]
    >>> AROW(random_state=0).fit(X, y).predict(X)
    [['A', 'B', 'B'], ['B', 'A']]
    """

    averaging = False

    probabilistic: ClassVar[bool] = False

    variance: float = 1.0
    _: KW_ONLY
    gamma: float = 1.0

    def _rule(self, sweep: AnySweep, trail: Trail | None) -> OnlineRule:
        return ArowRule(float(self.variance), float(self.gamma))
