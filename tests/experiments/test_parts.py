"""What experiments compute, against the same computed otherwise."""

from itertools import product
from typing import ClassVar

import numpy as np
import pytest

from kernelfields.experiments.explicit import degree2_features, windowed
from kernelfields.experiments.lib.folds import folds_of
from kernelfields.experiments.lib.gram import degree_kernel, precomputed, row_numbers, sequences_of
from kernelfields.experiments.lib.intervals import paired_interval
from kernelfields.experiments.lib.nested import NestedValidation
from kernelfields.experiments.lib.protein_fields import boundary_rule
from kernelfields.experiments.pitch_accent import decrease
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
    monkeypatch.setattr("kernelfields.experiments.lib.gram.ROWS", 3)
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


class Stub:
    """Gets the first ``wrong`` labels of all sequences wrong; notes what it was trained on."""

    seen: ClassVar[list] = []

    def __init__(self, wrong, tol):
        self.wrong, self.tol = wrong, tol
        self.certificate_, self.classes_ = None, np.array(["a", "b"])

    def fit(self, X, y):
        self.seen.append((self.wrong, self.tol, sorted(X)))

    def predict(self, X):
        labels = ["b"] * 4
        return [["a" if t < self.wrong else "b" for t in range(len(labels))] for _ in X]

    def predict_marginals(self, X):
        return [np.full((4, 2), 0.5) for _ in X]


def test_penalty_is_chosen_inside_the_training_part():
    Stub.seen = []
    nested = NestedValidation([["b"] * 4] * 12, n_folds=3, n_inner=2, tol=1e-3, inner_tol=1e-1, seed=0)
    X = list(range(12))
    tests = nested.run("stub", Stub, X, [[3, 1, 2]] * 3, lambda line: None)
    assert [tested.penalty for tested in tests] == [1, 1, 1]
    assert [tested.error for tested in tests] == [0.25] * 3
    folds = folds_of(12, 3, 0)
    per_fold = len(Stub.seen) // 3
    assert per_fold == 3 * 2 + 1
    for number, fold in enumerate(folds):
        *inner, (chosen, tol, trained) = Stub.seen[number * per_fold : (number + 1) * per_fold]
        assert (chosen, tol, trained) == (1, 1e-3, fold.train.tolist())
        for _, inner_tol, some in inner:
            assert inner_tol == 1e-1
            assert set(some) < set(fold.train.tolist())


def test_known_penalty_is_not_chosen_again():
    Stub.seen = []
    nested = NestedValidation([["b"] * 4] * 4, n_folds=2, n_inner=2, tol=1e-3, inner_tol=1e-1, seed=0)
    tests = nested.run("stub", Stub, list(range(4)), [[2], [0]], lambda line: None)
    assert [tested.penalty for tested in tests] == [2, 0]
    assert [tested.error for tested in tests] == [0.5, 0.0]
    assert len(Stub.seen) == 2


def test_of_equal_penalties_the_largest_is_chosen():
    nested = NestedValidation([["b"] * 4] * 4, n_folds=2, n_inner=2, tol=1e-3, inner_tol=1e-1, seed=0)
    make = lambda penalty, tol: Stub(0, tol)  # noqa: E731
    assert [t.penalty for t in nested.run("stub", make, [0, 1, 2, 3], [[1, 5, 3]] * 2, print)] == [5, 5]


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
