"""What experiments compute, against the same computed otherwise."""

from itertools import product

import numpy as np
import pytest

from experiments.explicit import degree2_features, windowed
from experiments.lib.gram import degree_kernel, precomputed, row_numbers, sequences_of
from experiments.lib.intervals import paired_interval
from experiments.lib.protein_fields import boundary_rule
from experiments.pitch_accent import decrease
from kernelfields.kernels import Precomputed
from kernelfields.structures import ChainBatch


def test_written_out_features_have_the_products_of_the_kernel(rng):
    X = rng.normal(size=(6, 5)) * (rng.random((6, 5)) < 0.7)
    features = degree2_features(X, np.float64)
    assert features.shape == (6, 1 + 5 + 15)
    assert features.has_canonical_format
    np.testing.assert_allclose((features @ features.T).toarray(), (X @ X.T + 1) ** 2)


def test_windows_take_neighbours_and_zeros_beyond_the_ends():
    x = np.arange(1.0, 7.0).reshape(3, 2)
    (found,) = windowed([x], 3)
    assert found.tolist() == [[0, 0, 1, 2, 3, 4], [1, 2, 3, 4, 5, 6], [3, 4, 5, 6, 0, 0]]
    np.testing.assert_array_equal(windowed([x], 1)[0], x)


def test_degrees_have_one_scale(rng):
    X = np.sign(rng.normal(size=(8, 12)))  # ⟨x, x⟩ = 12 for all
    np.testing.assert_allclose(degree_kernel(1, 12.0)(X), X @ X.T)
    for degree in (2, 3):
        K = degree_kernel(degree, 12.0)(X)
        np.testing.assert_allclose(K.diagonal(), 12.0)
        np.testing.assert_allclose(K, 12 * ((X @ X.T / 12 + 1) / 2) ** degree)


def test_precomputed_matrix_is_that_of_the_kernel(rng, monkeypatch):
    monkeypatch.setattr("experiments.lib.gram.ROWS", 3)
    X = rng.normal(size=(10, 4)).astype(np.float32)
    kernel = precomputed(degree_kernel(2, 4.0), X)
    assert isinstance(kernel, Precomputed)
    assert kernel.matrix.dtype == np.float32
    np.testing.assert_allclose(kernel.matrix, degree_kernel(2, 4.0)(X), rtol=1e-5)


def test_sequences_and_their_row_numbers_agree(rng):
    X = rng.normal(size=(6, 2))
    rows = row_numbers([2, 0, 4])
    assert [row.shape for row in rows] == [(2, 1), (0, 1), (4, 1)]
    for row, some in zip(rows, sequences_of(X, [2, 0, 4]), strict=True):
        np.testing.assert_array_equal(X[row[:, 0]], some)


def test_error_falls_by_percent_of_itself():
    curve = {"answered": [1.0, 0.8, 0.6], "error": [20.0, 15.0, 10.0]}
    assert decrease(curve, 0.8) == pytest.approx(25.0)
    assert decrease(curve, 0.9) == pytest.approx(12.5)


def test_intervals_of_differences_are_those_of_scipy(rng):
    from scipy.stats import ttest_1samp

    values = rng.normal(size=7)
    expected = ttest_1samp(values, 0).confidence_interval(0.9)
    np.testing.assert_allclose(paired_interval(values, 0.9), expected)
    assert paired_interval([0.3]) == (0.3, 0.3)


@pytest.mark.parametrize("weight", [0.0, 1.5])
def test_the_rule_for_boundaries_has_the_lowest_expected_cost_of_all_labellings(weight, rng):
    chain = ChainBatch([0, 4], 2)
    scores = {"node": rng.normal(size=(4, 2)), "edge": rng.normal(size=(2, 2))}
    every = list(product(range(2), repeat=4))
    proba = np.array([chain.score(scores, np.array(y, dtype=np.int32))[0] for y in every])
    proba = np.exp(proba - chain.log_partition(scores)[0])

    def cost(true, guess):
        wrong = sum(a != b for a, b in zip(true, guess, strict=True))
        missed = [true[t] != true[t + 1] and true[t : t + 2] != guess[t : t + 2] for t in range(3)]
        return wrong + weight * sum(missed)

    risk = [sum(p * cost(true, guess) for p, true in zip(proba, every, strict=True)) for guess in every]
    assert tuple(boundary_rule(2, weight).decode(chain, scores)) == every[int(np.argmin(risk))]
