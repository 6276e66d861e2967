"""P-values of means: valid under the hypothesis, by enumeration, by simulation and by another library."""

import itertools

import numpy as np
import pytest
from scipy.stats import binom

from kernelfields import InputError
from kernelfields.guarantees import Betting, HoeffdingBentkus, mean_gains

TESTS = [Betting(), Betting(risk=0.5, blocks=3), HoeffdingBentkus()]
NOTHING = np.zeros((1, 0))


def p_values(test, rows, least, most, level=0.1):
    rows = np.atleast_2d(rows)
    return test.p_values(mean_gains(rows, least, most), level, np.zeros((len(rows), 0)))


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("rate", [0.1, 0.3])
@pytest.mark.parametrize("level", [0.05, 0.2])
def test_all_outcomes_of_bernoulli_draws_keep_every_level(test, rate, level):
    # E[D] = 0 at the border of the hypothesis; every outcome with its probability
    outcomes = np.array(list(itertools.product([0, 1], repeat=11)))
    chance = (rate**outcomes * (1 - rate) ** (1 - outcomes)).prod(axis=1)
    found = p_values(test, rate - outcomes, rate - 1, rate, level)
    for u in np.unique(found):
        assert chance[found <= u + 1e-12].sum() <= u + 1e-9
    if rate == 0.3 and level == 0.2:  # it is not a test that never rejects
        assert chance[found <= level].sum() > 0.01


def test_hoeffding_bentkus_is_within_e_of_the_exact_binomial_tail():
    n, rate = 200, 0.1
    for wrong in range(0, 40, 3):
        draws = rate - (np.arange(n) < wrong)
        found = p_values(HoeffdingBentkus(), draws, rate - 1, rate)[0]
        exact = binom.cdf(wrong, n, rate)
        assert exact - 1e-12 <= found <= min(1.0, np.e * exact) + 1e-12


def test_hoeffding_bentkus_equals_that_of_mapie():
    methods = pytest.importorskip("mapie.risk_control.methods")
    n, rate = 300, 0.1
    counts = np.arange(0, 60, 4)
    rows = rate - (np.arange(n)[None, :] < counts[:, None])
    found = p_values(HoeffdingBentkus(), rows, rate - 1, rate)
    theirs = methods.compute_hoeffding_bentkus_p_value(counts / n, n, rate)[:, 0]
    assert np.allclose(found, np.minimum(theirs, 1.0), rtol=1e-9)


def sequences(rng, n, rate):
    """Answers and errors of sequences whose errors come together, with E[rate · answers − errors] = 0."""
    answers = rng.integers(0, 7, size=n)
    bad = rng.uniform(size=n) < 0.25
    wrong = rng.binomial(answers, np.where(bad, 3.0 * rate, rate / 3.0))
    return rate * answers - wrong


@pytest.mark.parametrize("test", TESTS)
def test_simulated_sequences_are_rejected_as_seldom_as_promised(test, rng):
    # 2,000 data sets; by the normal approximation 0.1 + 4 standard errors is exceeded with probability 3e-5
    rate, repeats = 0.2, 2000
    rows = np.array([sequences(rng, 150, rate) for _ in range(repeats)])
    assert abs(rows.mean()) < 0.02
    share = np.mean(p_values(test, rows, -(1 - rate) * 6, rate * 6) <= 0.1)
    assert share <= 0.1 + 4 * np.sqrt(0.09 / repeats)


def test_betting_has_nearly_the_power_of_the_normal_test(rng):
    # draws that vary far less than their interval: the mean is 2.5 standard errors above 0
    n, repeats = 400, 400
    rows = np.clip(rng.normal(2.5 / np.sqrt(n), 1.0, size=(repeats, n)), -8, 8)
    power = np.mean(p_values(Betting(), rows, -8.0, 8.0) <= 0.1)
    normal = np.mean(rows.mean(axis=1) / rows.std(axis=1) * np.sqrt(n) > 1.2816)
    assert power > 0.7 * normal
    assert np.mean(p_values(HoeffdingBentkus(), rows, -8.0, 8.0) <= 0.1) == 0


def test_draws_of_before_may_change_bets_but_not_validity(rng):
    rate, repeats = 0.2, 2000
    rows = np.array([sequences(rng, 100, rate) for _ in range(repeats)])
    gains = mean_gains(rows, -(1 - rate) * 6, rate * 6)
    before = np.full((repeats, 50), 1e-9)  # bets as bold as they can be
    share = np.mean(Betting().p_values(gains, 0.1, before) <= 0.1)
    assert share <= 0.1 + 4 * np.sqrt(0.09 / repeats)


def test_no_draw_proves_nothing():
    for test in TESTS:
        assert test.p_values(mean_gains(np.zeros((1, 0)), -1.0, 1.0), 0.1, NOTHING) == 1.0


@pytest.mark.parametrize(
    ("values", "least", "most", "said"),
    [
        ([0.1, np.nan], -1.0, 1.0, "finite"),
        ([0.1, 2.0], -1.0, 1.0, "beyond"),
        ([0.1], 0.5, 1.0, "0 must be between"),
    ],
)
def test_odd_draws_are_refused(values, least, most, said):
    with pytest.raises(InputError, match=said):
        mean_gains(values, least, most)


@pytest.mark.parametrize("settings", [{"risk": 0}, {"risk": 1.5}, {"blocks": 0}])
def test_odd_bets_are_refused(settings):
    with pytest.raises(InputError, match=next(iter(settings))):
        Betting(**settings)
