"""The structured perceptron."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..models.trail import Trail
from ..online import AnySweep, OnlineRule, PerceptronRule
from ._base import OnlineLabeller


@dataclass(eq=False, repr=False)
class StructuredPerceptron(OnlineLabeller):
    """The structured perceptron [collins2002discriminative].

    After every sequence whose best labelling ŷ is not the right one,

        w ← w + Φ(x, y) − Φ(x, ŷ),

    Φ(x, y) the features of a labelling; the model is the mean of w over all steps. Fast, without any
    setting to tune but the number of epochs, and close to a CRF in accuracy. It minimises no
    likelihood: what `predict_marginals` gives are no calibrated probabilities.

    Parameters
    ----------
    averaging : bool
        Whether the model is the mean of all weights on the way instead of the last ones: much better.
    max_iter : int
        How many times to go through the training set, at most.
    structure : "chain", "chain2", "segments", "tree", "graph" or Structure
        What labels depend on, as in `CRF`.
    features : str, Templates, TemplateFeatures or DictFeatures, optional
        What to look at where X holds tokens instead of arrays, as for `CRF`.
    parts : Parts
        What differs from the default parts, as in `CRF`: ``Parts(bias=None, boundaries=None)`` leaves out the
        scores of single labels, and those of first and last ones.
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
    warm_start : bool
        Whether `fit` starts from the weights of the last one, if labels and features are the same.
    random_state : int, RandomState or None
        Seed of the shuffling, and of `sample`.
    run : Run
        Heeds ``patience`` and ``callback``, both of epochs; its value is the loss of the epoch.
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
    >>> from kernelfields import StructuredPerceptron
    >>> X = [[[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]
    >>> y = [["A", "B", "B"], ["B", "A"]]
    >>> StructuredPerceptron(random_state=0).fit(X, y).predict(X)
    [['A', 'B', 'B'], ['B', 'A']]
    """

    probabilistic: ClassVar[bool] = False

    averaging: bool = True

    def _rule(self, sweep: AnySweep, trail: Trail | None) -> OnlineRule:
        return PerceptronRule()
