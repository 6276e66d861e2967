"""Which of the models that chance may have ranked ``kf train --model auto`` takes."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from kernelfields.trials.clock import BudgetClock
from kernelfields.trials.comparing import best_model
from kernelfields.trials.model_race import Contestant
from kernelfields.trials.splits import Split, TrialSequences


class Guess(BaseEstimator):
    """Labels sequences as their observations say, but for those that it gets wrong."""

    def __init__(self, wrong, probabilistic):
        self.wrong, self.probabilistic = wrong, probabilistic

    def fit(self, X, y):
        return self

    def predict(self, X):
        return [[1 - v for v in x] if x[0] in self.wrong else list(x) for x in X]


def chosen(**models):
    X = [[s, s] for s in range(40)]
    y = [list(x) for x in X]
    split = Split(np.arange(20), np.arange(20, 40))
    contestants = [Contestant(name, Guess(*each), X) for name, each in models.items()]
    found = best_model(contestants, TrialSequences(X, y, 20), split, BudgetClock(60.0), 1, 0)
    return found.name, found.instead_of, found.fitted.wrong


@pytest.mark.parametrize(
    ("wrong", "taken"),
    [
        ((20, 21), True),  # the same errors
        ((20, 22), True),  # as many others
        ((20, 21, 22), True),  # one sequence more, which is just its standard error
        ((20, 21, 22, 23), False),  # two more
        ((22, 23, 24, 25), True),  # two more, of six that differ: the standard error is 2.5
        ((22, 23, 24, 25, 26, 27), False),
    ],
)
def test_probabilities_decide_where_chance_may_have(wrong, taken):
    found = chosen(margin=((20, 21), False), likely=(wrong, True))
    assert found == (("likely", "margin", wrong) if taken else ("margin", None, (20, 21)))


def test_the_best_of_several_with_probabilities_is_taken():
    models = {"worse": ((20, 21, 22, 23), True), "margin": ((20, 21), False), "likely": ((20, 22), True)}
    assert chosen(**models)[:2] == ("likely", "margin")


def test_a_best_with_probabilities_stays():
    assert chosen(margin=((20, 21, 22), False), likely=((20, 21), True))[:2] == ("likely", None)
    assert chosen(margin=((20,), False), other=((20, 21), False))[:2] == ("margin", None)
