"""The lowest multiple of a point: a fine grid as the oracle."""

import numpy as np
import pytest

from kernelfields.solvers.dual_ascent import MOST, SPAN, lowest_on_ray


def hinges(rng, size=50):
    """A sum of hinges in c, with its derivative, and a list of where it was looked at."""
    levels, slopes, looks = 1 + rng.random(size), -rng.random(size) - 0.8, []

    def loss(scale):
        looks.append(scale)
        parts = levels + slopes * scale
        return float(np.maximum(parts, 0).sum()), float(slopes[parts > 0].sum())

    return loss, looks


@pytest.mark.parametrize("penalty", [0.5, 3.0, 20.0])
def test_it_is_that_of_a_grid(penalty, rng):
    loss, _ = hinges(rng)
    grid = np.linspace(1 / SPAN, SPAN, 3001)
    values = [loss(c)[0] + c * c * penalty for c in grid]
    least = min(values)
    start = loss(1.0)[0] + penalty
    value, scale = lowest_on_ray(loss, penalty, enough=least)
    np.testing.assert_allclose(value, loss(scale)[0] + scale**2 * penalty)
    assert least - 1e-6 <= value <= least + 0.2 * (start - least)


def test_what_is_enough_is_enough(rng):
    loss, looks = hinges(rng)
    value, scale = lowest_on_ray(loss, 3.0, enough=loss(1.0)[0] + 4.0)
    assert (len(looks), scale) == (2, 1.0)  # the first is that of this test
    np.testing.assert_allclose(value, loss(1.0)[0] + 3.0)


def test_what_is_out_of_reach_is_not_looked_for(rng):
    loss, looks = hinges(rng)
    lowest_on_ray(loss, 1000.0, enough=1.0)
    assert len(looks) == 1
    lowest_on_ray(loss, 1.0, enough=-np.inf)
    assert len(looks) <= 1 + MOST


def test_what_is_not_finite_is_not_taken():
    value, scale = lowest_on_ray(lambda _: (np.nan, np.nan), 1.0, enough=1.0)
    assert np.isnan(value)
    assert scale == 1.0
