"""Parts of the experiments with few labels: the galaxy and its Bayes error, choices, shares of labels."""

import numpy as np
import pytest
from scipy.stats import norm

from kernelfields.experiments.lib.few_labels import (
    cross_validated,
    resampled_shares,
    share_of_labels,
    wrong_labels,
)
from kernelfields.experiments.lib.galaxies import Galaxy
from kernelfields.metrics import token_error

SHAPE = {"core": 0.4, "core_width": 0.25, "inner": 0.6, "outer": 2.4, "turns": 1.25, "arm_width": 0.08}


@pytest.fixture(scope="module")
def galaxy():
    return Galaxy(**SHAPE, stay=0.9)


def test_arms_are_walked_at_one_speed(galaxy):
    steps = np.linalg.norm(np.diff(galaxy.arm(np.linspace(0, 1, 101)), axis=0), axis=1)
    np.testing.assert_allclose(steps, steps.mean(), rtol=2e-3)
    np.testing.assert_allclose(np.linalg.norm(galaxy.arm(np.array([0.0, 1.0])), axis=1), [0.6, 2.4])


def test_densities_are_those_of_the_draws(galaxy, rng):
    data = galaxy.draw(1000, 20, rng)
    points, states = np.concatenate(data.X), np.concatenate(data.y)
    for state in (0, 1):
        mine = points[states == state]
        for low, high in (((0.0, 0.0), (0.3, 0.2)), ((1.2, 0.0), (1.8, 1.0)), ((-1.8, -1.0), (-1.2, 0.0))):
            inside = np.mean(np.all((mine > low) & (mine < high), axis=1))
            axes = [
                np.linspace(a, b, 60, endpoint=False) + (b - a) / 120 for a, b in zip(low, high, strict=True)
            ]
            cells = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
            area = np.prod(np.subtract(high, low))
            expected = area * galaxy.densities(cells)[:, state].mean()
            assert inside == pytest.approx(expected, abs=4 * np.sqrt(expected / len(mine)) + 1e-4)


def test_bayes_error_is_that_of_the_rule(galaxy, rng):
    """Arms that overlap with each other and with the core, so that it is not just half of the core."""
    wide = Galaxy(core=0.2, core_width=0.5, inner=0.4, outer=1.5, turns=1.0, arm_width=0.2, stay=0.9)
    data = wide.draw(500, 20, rng)
    found = token_error(data.y, wide.guesses(data, chained=False))
    assert wide.bayes_error() == pytest.approx(found, abs=4 * np.sqrt(0.25 / 10000))
    assert wide.bayes_error() > 0.12
    assert galaxy.bayes_error() == pytest.approx(0.2, abs=1e-4)


@pytest.mark.parametrize(("radius", "width", "core"), [(1.0, 0.5, 0.0), (0.3, 0.4, 0.3)])
def test_bayes_error_of_two_round_clouds_is_known(radius, width, core):
    clouds = Galaxy(core, width, inner=radius, outer=radius, turns=1e-6, arm_width=width, stay=0.9)
    expected = core / 2 + (1 - core) * norm.sf(radius / width)
    assert clouds.bayes_error() == pytest.approx(expected, abs=1e-5)


def test_states_stay_as_often_as_they_should(galaxy, rng):
    states = np.array(galaxy.draw(4000, 10, rng).y)
    assert np.mean(states[:, 0]) == pytest.approx(0.5, abs=0.03)
    assert np.mean(states[:, 1:] == states[:, :-1]) == pytest.approx(0.9, abs=0.01)


def test_context_helps_who_knows_the_source(galaxy, rng):
    data = galaxy.draw(100, 20, rng)
    without, with_context = (token_error(data.y, galaxy.guesses(data, chained=c)) for c in (False, True))
    assert with_context < without - 0.1


def test_settings_with_fewest_errors_are_chosen_from_labelled_sequences_and_of_equals_the_first():
    y = [["b"] * 2, ["b"] * 2, ["a"] * 3, ["a"] * 3, ["c"], ["c"]]
    few, seen = np.array([0, 1, 2, 3]), []

    def label(length, known, others):
        assert not set(known) & set(others)
        seen.extend([*known, *others])
        return [["b" if len(y[i]) == length else "a"] * len(y[i]) for i in others]

    assert cross_validated([3, 2.0, 2], label, y, few, 3, 0) == 2.0
    assert isinstance(cross_validated([3, 2.0, 2], label, y, few, 9, 0), float)
    assert set(seen) == set(few)
    assert cross_validated(["only"], None, y, few, 3, 0) == "only"


def test_wrong_labels_are_counted():
    assert wrong_labels([["a", "b"], ["c"]], [["a", "c"], ["d"]]) == 2


def test_share_of_labels_is_read_off_the_curve():
    sizes = [10, 20, 40]
    mine, rival = np.array([[8.0, 4.0, 2.0]]), np.array([[9.0, 6.0, 3.0]])
    found = share_of_labels(sizes, mine, rival)
    np.testing.assert_allclose(found, [1.0, 10 * 2**0.5 / 20, 20 * 2**0.5 / 40])
    assert share_of_labels(sizes, mine, rival - 5).tolist() == pytest.approx([0.5 * 2 * 2, np.inf, np.inf])
    assert share_of_labels(sizes, mine, mine).tolist() == pytest.approx([1.0, 1.0, 1.0])


def test_shares_of_equal_trials_have_no_spread(rng):
    trials = np.tile([[8.0, 4.0, 2.0]], (5, 1))
    drawn = resampled_shares([10, 20, 40], trials, trials + 1.0, seed=0, times=10)
    assert np.ptp(drawn, axis=0).tolist() == [0.0, 0.0, 0.0]
