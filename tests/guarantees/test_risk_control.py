"""Conformal risk control: against the split conformal quantile, by definition, and by simulation."""

import numpy as np
import pytest

from kernelfields import InputError
from kernelfields.guarantees import Missed, control_misses, label_sets


def loss(missed, least):
    sizes = np.diff(missed.offsets)
    shares = [
        np.mean(missed.probability[a:b] < least)
        for a, b in zip(missed.offsets[:-1], missed.offsets[1:], strict=True)
        if b > a
    ]
    return np.array(shares), int((sizes > 0).sum())


def drawn(rng, n):
    sizes = rng.integers(0, 6, n)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    easy = np.repeat(rng.uniform(size=n), sizes)
    return Missed(np.round(easy * rng.uniform(size=offsets[-1]), 2), offsets)  # with ties


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.3])
def test_one_position_per_sequence_is_split_conformal_prediction(rng, alpha):
    p = rng.uniform(size=137)
    rank = int(np.floor(alpha * (len(p) + 1)))  # of the smallest ones
    found = control_misses(Missed(p, np.arange(len(p) + 1)), alpha)
    assert found.least == np.sort(p)[rank - 1]


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_the_largest_threshold_by_definition(rng, alpha):
    missed = drawn(rng, 80)
    found = control_misses(missed, alpha)
    fits = []
    for least in np.unique(missed.probability):
        shares, n = loss(missed, least)
        if (shares.sum() + 1) / (n + 1) <= alpha + 1e-12:
            fits.append(least)
    assert found.least == fits[-1]
    assert found.missed == pytest.approx(loss(missed, found.least)[0].mean())


def test_the_mean_share_missed_is_as_promised(rng):
    # 600 calibration sets of 60 and one further sequence each; 4 standard errors
    alpha, repeats, found = 0.15, 600, []
    for _ in range(repeats):
        missed = drawn(rng, 400)
        sizes = np.diff(missed.offsets)
        some = np.flatnonzero(sizes > 0)
        known, new = some[:60], some[60]
        probability = np.concatenate(
            [missed.probability[missed.offsets[s] : missed.offsets[s + 1]] for s in known]
        )
        least = control_misses(
            Missed(probability, np.concatenate([[0], np.cumsum(sizes[known])])), alpha
        ).least
        found.append(np.mean(missed.probability[missed.offsets[new] : missed.offsets[new + 1]] < least))
    assert np.mean(found) <= alpha + 4 * np.std(found) / np.sqrt(repeats)
    assert np.mean(found) >= alpha - 1 / 61 - 4 * np.std(found) / np.sqrt(repeats)


def test_too_few_sequences_leave_every_label():
    found = control_misses(Missed(np.array([0.9, 0.8]), np.arange(3)), 0.1)
    assert found.least == 0.0
    assert found.n_sequences == 2
    assert control_misses(Missed(np.zeros(0), np.zeros(1, int)), 0.1).least == 0.0


def test_sets_always_have_the_most_probable_label():
    sets = label_sets(np.array([[0.2, 0.5, 0.3], [0.9, 0.05, 0.05]]), 0.6)
    assert sets.tolist() == [[False, True, False], [True, False, False]]


@pytest.mark.parametrize("value", [0, 1, "few", None])
def test_odd_shares_are_refused(value):
    with pytest.raises(InputError, match="miss_at_most"):
        control_misses(Missed(np.array([0.5]), np.arange(2)), value)
