"""Conditional random fields by averaged stochastic gradient descent."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from ..data.seeds import random_state
from ..errors import InputError
from ..models.parts import Penalties
from ..models.trail import Trail
from ..online import AnySweep, Descent, OnlineRule
from ..online.descent import calibrated_step
from ._base import OnlineLabeller


@dataclass(eq=False, repr=False)
class StochasticCRF(OnlineLabeller):
    """Linear-chain conditional random field by averaged stochastic gradient descent [bottou2010large].

    The model and the objective are those of `CRF`; after every sequence

        w ← (w − η_t ∇loss_i(w)) / (1 + η_t λ/S),        η_t = η / (1 + η (λ/S) t),

    S the number of sequences and t that of sequences seen before; the model is the mean of w over the last
    epoch. With `partial_fit`, S and t go on from those before, and η stays. For training sets that come
    piece by piece, or that are so large that few passes must do: `CRF` starts from some such passes, goes
    on to the optimum, and says how near it is.

    Parameters
    ----------
    penalty : float
        λ, above 0.
    edge_penalty : float, optional
        λ_e of label pairs; λ if not given.
    learning_rate : float, optional
        η; found by trials on a sample of the sequences if not given.
    averaging : bool
        Whether the model is a mean of weights instead of the last ones.
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
        Seed of the shuffling, of the search for a step, and of `sample`.
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
    >>> from kernelfields import StochasticCRF
    >>> X = [[[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]
    >>> y = [["A", "B", "B"], ["B", "A"]]
    >>> StochasticCRF(penalty=0.1, random_state=0).fit(X, y).predict(X)
    [['A', 'B', 'B'], ['B', 'A']]
    """

    penalty: float = 1.0
    _: KW_ONLY
    edge_penalty: float | None = None
    learning_rate: float | None = None
    averaging: bool = True

    def _penalties(self) -> Penalties:
        found = Penalties.of(self.penalty, self.edge_penalty)
        if min(found) == 0:
            name = "penalty" if self.penalty == 0 else "edge_penalty"
            raise InputError(f"{name} is 0; StochasticCRF needs penalties above 0.")
        return found

    def _rule(self, sweep: AnySweep, trail: Trail | None) -> OnlineRule:
        if self.learning_rate is None and trail is not None and trail.step is not None:
            return Descent(trail.step)
        if self.learning_rate is None:
            seed = int(random_state(self.random_state).randint(2**31 - 1))
            return Descent(calibrated_step(sweep, np.random.default_rng(seed)))
        return Descent(float(self.learning_rate))
