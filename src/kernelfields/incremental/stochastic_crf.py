"""Conditional random fields by averaged stochastic gradient descent."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from ..data.seeds import random_state
from ..data.training import LabelledSet
from ..errors import InputError
from ..models.parts import BoundParts
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
        λ, above 0, of all parts without one of their own.
    learning_rate : float, optional
        η; found by trials on a sample of the sequences if not given.
    averaging : bool
        Whether the model is a mean of weights instead of the last ones.
    random_state : int, RandomState or None
        Seed of the shuffling, of the search for a step, and of `sample`.
    max_iter, structure, features, parts, observed_only, classes, constraints, decoder
        As in `StructuredPerceptron`.
    shuffle, warm_start, run, verbose
        As in `StructuredPerceptron`.

    Attributes
    ----------
    classes_, coef_, intercept_, transitions_, start_, end_, losses_, n_iter_, stop_reason_
        As in `StructuredPerceptron`.

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
    learning_rate: float | None = None
    averaging: bool = True

    def _bound(self, data: LabelledSet) -> BoundParts:
        bound = super()._bound(data)
        for name, part in bound.parts.items():
            if part.penalty == 0:
                raise InputError(f"The penalty of the part {name!r} is 0; StochasticCRF needs one above 0.")
        return bound

    def _rule(self, sweep: AnySweep, trail: Trail | None) -> OnlineRule:
        if self.learning_rate is None and trail is not None and trail.step is not None:
            return Descent(trail.step)
        if self.learning_rate is None:
            seed = int(random_state(self.random_state).randint(2**31 - 1))
            return Descent(calibrated_step(sweep, np.random.default_rng(seed)))
        return Descent(float(self.learning_rate))
