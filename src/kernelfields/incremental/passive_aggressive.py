"""Passive-aggressive learning of linear chains."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from ..models.linear import FREE
from ..models.parts import Penalties
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
    max_iter : int
        How many times to go through the training set, at most.
    structure : "chain", "chain2", "segments", "tree", "graph" or Structure
        What labels depend on, as in `CRF`.
    features : str, Templates, TemplateFeatures or DictFeatures, optional
        What to look at where X holds tokens instead of arrays, as for `CRF`.
    fit_intercept, boundaries : bool
        Whether there are scores per label, and for the first and last label.
    observed_only : bool
        Whether only pairs of feature and label, and of neighbouring labels, that occur in the
        training set have weights: for sparse features.
    classes : list, optional
        All labels that there are, as in `CRF`.
    constraints : "iob2", "iobes", "bilou", "bmes", OnlineRule or None
        Label pairs, starts and ends that cannot occur, in training and in prediction.
    decoder : "viterbi", "posterior" or Decoder
        How `predict` decides.
    shuffle : bool
        Whether every epoch has an order of its own.
    patience : int
        With held-out data: epochs without improvement there after which to stop.
    warm_start : bool
        Whether `fit` starts from the weights of the last one, if labels and features are the same.
    random_state : int, RandomState or None
        Seed of the shuffling, and of `sample`.
    callback : callable, optional
        Called with a `Progress` record after every epoch; its value is the loss of the epoch.
    verbose : int
        1 shows a line of progress.

    Attributes
    ----------
    classes_, coef_, intercept_, transitions_, start_, end_
        Labels and weights, as in `CRF`.
    losses_ : list of float
        Loss of every epoch, each sequence's taken before it was learnt from.
    n_iter_, stop_reason_ : int, str
        How many epochs there were, and why no more.

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

    def _penalties(self) -> Penalties:
        return FREE

    def _rule(self, sweep: AnySweep, trail: Trail | None) -> OnlineRule:
        variant = choose(VARIANTS, self.variant, "variant")
        return PassiveAggressiveRule(variant, float(self.aggressiveness), self.error_sensitive)
