"""Passive-aggressive learning of linear chains."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from ..models.trail import Trail
from ..online import AnySweep, OnlineRule, PassiveAggressiveRule, Variant
from ..tables import VARIANTS, choose
from ._base import OnlineLabeller


@dataclass(eq=False, repr=False)
class PassiveAggressive(OnlineLabeller):
    """Passive-aggressive learning [crammer2006online].

    After every sequence whose best labelling ŷ is not the right one, w changes by as little as makes
    the right one win by the cost of the error,

        w ← w + τ d,        d = Φ(x, y) − Φ(x, ŷ),        loss = cost − ⟨w, d⟩,

    with τ = loss/‖d‖² (PA), min(C, loss/‖d‖²) (PA-I) or loss/(‖d‖² + 1/(2C)) (PA-II). What
    `predict_marginals` gives are no calibrated probabilities.

    Parameters
    ----------
    variant : "PA", "PA-I" or "PA-II"
        How to treat sequences that cannot be made right.
    aggressiveness : float
        C: the smaller, the less a single sequence can change.
    error_sensitive : bool
        Whether the cost is the root of the number of wrong labels; else it is 1.
    averaging : bool
        Whether the model is the mean of all weights on the way instead of the last ones.
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
    >>> from kernelfields import PassiveAggressive
    >>> X = [[[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]
    >>> y = [["A", "B", "B"], ["B", "A"]]
    >>> PassiveAggressive(random_state=0).fit(X, y).predict(X)
    [['A', 'B', 'B'], ['B', 'A']]
    """

    probabilistic: ClassVar[bool] = False

    variant: str | Variant = "PA-I"
    _: KW_ONLY
    aggressiveness: float = 1.0
    error_sensitive: bool = True
    averaging: bool = True

    def _rule(self, sweep: AnySweep, trail: Trail | None) -> OnlineRule:
        variant = choose(VARIANTS, self.variant, "variant")
        return PassiveAggressiveRule(variant, float(self.aggressiveness), self.error_sensitive)
