"""Parts of the experiments with sparse models: the source of Gaussian mixtures, sizes, systems."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from kernelfields import KernelCRF
from kernelfields.errors import InputError
from kernelfields.experiments.lib.mixtures import MixtureHMM, StateSequences
from kernelfields.experiments.lib.ner_sparse import (
    SPARSE,
    WHOLE,
    Size,
    SparseSettings,
    columns,
    sparse_claims,
)
from kernelfields.experiments.lib.nested import FoldResult as Found
from kernelfields.experiments.lib.nested import NestedValidation
from kernelfields.experiments.ner_table1 import DEGREE1, DEGREE2, WITH, _require_known
from kernelfields.kernels import RBF
from kernelfields.objective import Certificate
from kernelfields.selection import SGPS, WholeSequences


@pytest.fixture
def source():
    return MixtureHMM.drawn(2, 1.0, 0.8, np.random.default_rng(3))


def densities(source, X):
    """p(x|state) by scipy, (T, L)."""
    one = [
        [multivariate_normal(m, a @ a.T).pdf(X) for m, a in zip(means, factors, strict=True)]
        for means, factors in zip(source.means, source.factors, strict=True)
    ]
    return np.mean(one, axis=1).T


def test_densities_of_the_source_are_those_of_scipy(source, rng):
    X = rng.normal(size=(7, 2))
    apart = source.log_density(X) - np.log(densities(source, X))
    np.testing.assert_allclose(apart, apart[0, 0], atol=1e-9)


def test_sequences_stay_and_scatter_as_the_source_says(source):
    drawn = source.draw(400, 25, np.random.default_rng(0))
    assert drawn.size == 10_000
    y = np.array(drawn.y)
    stays = (y[:, 1:] == y[:, :-1]).mean()
    assert abs(stays - 0.8) < 5 * np.sqrt(0.8 * 0.2 / 9600)
    np.testing.assert_allclose(source.transitions.sum(axis=1), 1.0)
    X = np.concatenate(drawn.X)
    for label in range(3):
        mine = X[y.ravel() == label]
        spread = mine.std(axis=0) / np.sqrt(len(mine))
        assert (np.abs(mine.mean(axis=0) - source.means[label].mean(axis=0)) < 5 * spread).all()
        second = np.mean([a @ a.T for a in source.factors[label]], axis=0) + np.cov(
            source.means[label].T, bias=True
        )
        np.testing.assert_allclose(np.cov(mine.T), second, atol=0.06 * np.trace(second))


@pytest.mark.parametrize("chained", [True, False])
def test_error_of_the_source_is_that_of_the_posterior_by_enumeration(source, chained):
    drawn = source.draw(6, 4, np.random.default_rng(1))
    wrong = 0
    for X, y in zip(*drawn, strict=True):
        p = densities(source, X)
        posterior = np.zeros((4, 3))
        for states in product(range(3), repeat=4):
            joint = np.prod([p[t, s] for t, s in enumerate(states)])
            if chained:
                joint *= np.prod([source.transitions[a, b] for a, b in pairwise(states)])
            posterior[range(4), states] += joint
        wrong += (posterior.argmax(axis=1) != y).sum()
    assert source.best_error(drawn, chained=chained) == pytest.approx(wrong / 24)


def test_sizes_are_counted_by_positions_labellings_and_observations(source):
    train = source.draw(4, 6, np.random.default_rng(2))
    model = KernelCRF(RBF(1.0), selection=SGPS(7), random_state=0).fit(*train)
    size = Size.of(model, 24)
    kept = np.abs(model.dual_coef_).max(axis=1) > 0
    assert size == pytest.approx((7 / 24, 7 / 72, kept.sum() / 24))
    assert columns([size, Size(0.0, 0.0, 0.0)])["p/N"] == pytest.approx(7 / 48)


def test_systems_are_known_and_bring_what_they_need():
    _require_known([DEGREE2, SPARSE])
    with pytest.raises(InputError, match="no system 'magic'"):
        _require_known(["magic"])
    with pytest.raises(InputError, match=f"'{SPARSE}' needs '{DEGREE2}'"):
        _require_known([SPARSE])
    with pytest.raises(InputError, match=f"'{DEGREE1}' needs '{WITH}'"):
        _require_known([DEGREE1, DEGREE2])


def test_each_sparse_system_has_its_selection():
    settings = SparseSettings(0.25, 600, 160, 20, 0.02, 60, 1e-2)
    sparse, whole = settings.selection(SPARSE), settings.selection(WHOLE)
    assert isinstance(sparse, SGPS)
    assert isinstance(whole, WholeSequences)
    assert (sparse.size, sparse.step, sparse.order.batch, sparse.refit.iterations) == (0.25, 600, 160, 20)
    assert (whole.size, whole.step) == (0.02, 60)


def found_with(error):
    return Found(0.1, error, Certificate(1.0, 1.0), 0.0, [], [], np.array([]))


def test_claims_compare_fold_by_fold():
    found = {
        DEGREE2: [found_with(0.040), found_with(0.060)],
        SPARSE: [found_with(0.041), found_with(0.063)],
        WHOLE: [found_with(0.070), found_with(0.080)],
    }
    claims = {claim.name: claim for claim in sparse_claims(found, DEGREE2)}
    assert claims["sgps_above_dense_points"].value == pytest.approx(0.2)
    assert not claims["sgps_above_dense_points"].holds
    low = claims["sgps_above_dense_points_lower_end_of_interval"]
    assert low.value == pytest.approx(0.2 - 12.7062 * 0.1, abs=1e-3)
    assert low.holds
    assert claims["whole_sequences_above_sgps_points"].value == pytest.approx(2.3)
    assert sparse_claims({DEGREE2: found[DEGREE2]}, DEGREE2) == []


def test_every_tested_model_is_shown_with_the_size_of_its_training_part(source):
    seen = []
    train = source.draw(6, 5, np.random.default_rng(5))
    nested = NestedValidation(train.y, n_folds=3, n_inner=2, tol=1e-2, inner_tol=1e-1, seed=0)
    make = lambda penalty, tol: KernelCRF(RBF(1.0), penalty=penalty, tol=tol)  # noqa: E731
    nested.run("x", make, train.X, [[1.0]] * 3, lambda line: None, lambda *what: seen.append(what))
    assert [n for _, n in seen] == [20, 20, 20]
    assert all(model.certificate_ is not None for model, _ in seen)


def test_sequences_count_their_positions():
    assert StateSequences([], [[0, 1], [2]]).size == 3
