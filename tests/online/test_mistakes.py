"""Perceptron, passive-aggressive and AROW: against the textbook."""

import numpy as np
import pytest

from kernelfields.online import ArowRule, PassiveAggressiveRule, PerceptronRule, Variant
from kernelfields.testing.online import arow, passive_aggressive, perceptron
from tests.online._textbook import Tiny

ORDER = np.array([3, 0, 6, 1, 2, 5, 4, 0, 3, 3, 1, 6, 4, 5, 2, 0, 6, 3])
CASES = {
    "all pairs": {},
    "observed pairs": {"observed": True},
    "binary": {"binary": True, "observed": True},
    "bare": {"bias": False, "boundaries": False},
    "one label": {"n_labels": 1},
    "two labels": {"n_labels": 2},
    "single positions": {"lengths": [1] * 7},
    "forbidden": {"forbidden": np.array([[0, 1, 0], [0, 0, 0], [1, 0, 0]], bool)},
}
RULES = {
    "perceptron": (PerceptronRule(), perceptron),
    "PA": (PassiveAggressiveRule(Variant.HARD), lambda s, w: passive_aggressive(s, w, 0, 1.0, True)),
    "PA-I": (
        PassiveAggressiveRule(Variant.BOUNDED, 0.2),
        lambda s, w: passive_aggressive(s, w, 1, 0.2, True),
    ),
    "PA-I, one for any error": (
        PassiveAggressiveRule(Variant.BOUNDED, 0.5, error_sensitive=False),
        lambda s, w: passive_aggressive(s, w, 1, 0.5, False),
    ),
    "PA-II": (
        PassiveAggressiveRule(Variant.SQUARED, 0.3),
        lambda s, w: passive_aggressive(s, w, 2, 0.3, True),
    ),
    "AROW": (ArowRule(0.5, 2.0), lambda s, w: arow(s, w, 0.5, 2.0)),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-11), (np.float32, 1e-4)])
def test_weights_and_average_are_the_textbooks(rng, rule, case, dtype, tolerance):
    native, textbook = RULES[rule]
    tiny = Tiny(rng, dtype=dtype, **CASES[case])
    path = list(textbook([tiny.sequences[s] for s in ORDER], tiny.start))
    tiny.sweep.begin_average()
    for piece in np.array_split(ORDER, 3):
        tiny.sweep.learn(native, piece)
    np.testing.assert_allclose(tiny.sweep.element(), tiny.element(path[-1]), rtol=0, atol=tolerance)
    mean = np.mean([tiny.start, *path], axis=0)
    np.testing.assert_allclose(tiny.sweep.average(), tiny.element(mean), rtol=0, atol=tolerance)
    assert case == "one label" or np.abs(path[-1] - tiny.start).max() > 0.01


def test_the_cases_have_features_that_meet_themselves(rng):
    """A feature at two positions of one sequence counts twice or cancels: both must occur above."""
    tiny = Tiny(rng, binary=True)
    best = [sequence.features[:, :18] for sequence in tiny.sequences]
    assert max(features.max() for features in best) > 1


def test_nothing_changes_where_the_best_labelling_is_right(rng):
    for native, _ in RULES.values():
        tiny = Tiny(rng, lengths=[1, 1])
        element = np.zeros_like(tiny.sweep.element())
        element[-9 - 6 - 3 : -9 - 6] = np.where(np.arange(3) == tiny.labels[0], 9.0, 0.0)  # the bias
        tiny.sweep.load(element)
        assert tiny.sweep.learn(native, np.array([0])) == 0
        np.testing.assert_array_equal(tiny.sweep.element(), element)


def test_arow_grows_certain(rng):
    tiny = Tiny(rng)
    tiny.sweep.learn(ArowRule(0.5, 2.0), ORDER)
    variance = np.concatenate([part.ravel() for part in tiny.sweep.core.variance()])
    assert variance.max() <= 0.5
    assert variance.min() < 0.4


def test_arow_asks_for_variances_first(rng):
    tiny = Tiny(rng)
    with pytest.raises(ValueError, match="set_variance"):
        tiny.sweep.core.arow(ORDER, 1.0)
