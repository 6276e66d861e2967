"""Blocked Gibbs sampling against enumeration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from kernelfields.errors import InfeasibleError, ScoreError
from kernelfields.structures import ApproximateSample, Gibbs, SampleOracle
from kernelfields.testing.brute import Enumerated

from ._graphs import draw_graphs, draw_scores, within_sets

DRAWS = 3000
APART = Gibbs(burn_in=50, thin=15)
"""So far apart that draws from such small graphs hardly depend on each other."""


def p_value(found: Any, probabilities: Any) -> float:
    """χ² over outputs, those that are rarely expected put together."""
    often = probabilities * DRAWS >= 5
    counts = np.append(found[often], found[~often].sum())
    expected = np.append(probabilities[often], probabilities[~often].sum()) * DRAWS
    if expected[-1] < 5:
        counts, expected = counts[:-1], expected[:-1]
    return (
        float(chisquare(counts, expected * counts.sum() / expected.sum()).pvalue) if len(counts) > 1 else 1.0
    )


@pytest.mark.parametrize("seed", range(8))
def test_frequencies_are_probabilities(seed: int) -> None:
    rng = np.random.default_rng(seed)
    batch = draw_graphs(rng).under(APART)
    scores = draw_scores(rng, batch, 0.7)
    draws, brute = (
        batch.approximate_sample(scores, DRAWS, seed=3),
        Enumerated(batch, within_sets(batch, scores)),
    )
    for s in range(batch.n_instances):
        own = draws[:, batch.offsets[s] : batch.offsets[s + 1]]
        number = {tuple(y): k for k, y in enumerate(brute.outputs(s).tolist())}
        found = np.bincount([number[tuple(y)] for y in own.tolist()], minlength=len(number))
        assert p_value(found, brute.probabilities(s)) > 1e-6
        assert (found[brute.probabilities(s) == 0] == 0).all()


def test_the_same_seed_draws_the_same() -> None:
    batch = Gibbs().on([0, 3, 5], [[0, 1], [1, 2], [2, 0], [3, 4]], 3)
    scores = draw_scores(np.random.default_rng(0), batch, 1.0)
    first = batch.approximate_sample(scores, 50, seed=1)
    np.testing.assert_array_equal(first, batch.approximate_sample(scores, 50, seed=1))
    assert (first != batch.approximate_sample(scores, 50, seed=2)).any()


def test_forbidden_labellings_are_never_drawn() -> None:
    batch = Gibbs(burn_in=5, thin=1).on([0, 4], [[0, 1], [1, 2], [2, 3], [3, 0]], 3)
    scores = draw_scores(np.random.default_rng(1), batch, 1.0)
    scores["edge"][0, 0] = scores["edge"][1, 1] = scores["edge"][2, 2] = -np.inf  # colours
    draws = batch.approximate_sample(scores, 300, seed=0)
    assert all(np.isfinite(batch.score(scores, y)[0]) for y in draws)


def test_samples_are_visibly_approximate() -> None:
    batch = Gibbs().on([0, 2], [[0, 1]], 2)
    assert isinstance(batch, ApproximateSample)
    assert not isinstance(batch, SampleOracle)
    assert "Gibbs(burn_in=100" in repr(batch.take([0]))


def test_what_cannot_be_is_refused() -> None:
    batch = Gibbs().on([0, 2], [[0, 1]], 2)
    nothing = {"node": np.zeros((2, 2)), "edge": np.full((2, 2), -np.inf)}
    with pytest.raises(InfeasibleError, match="Graph 0 has no allowed labelling that a search could find"):
        batch.approximate_sample(nothing, 1, 0)
    with pytest.raises(ScoreError, match="NaN"):
        batch.approximate_sample({**nothing, "edge": np.full((2, 2), np.nan)}, 1, 0)
