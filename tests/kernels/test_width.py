"""The width of a Gaussian kernel, where the data decide about it."""

import numpy as np
import pytest
from scipy import sparse

from kernelfields import (
    GPSequenceClassifier,
    KernelCRF,
    KernelLogisticRegression,
    KernelPerceptron,
    Run,
    tune,
)
from kernelfields.errors import InputError
from kernelfields.kernels import RBF, as_kernel


def labelled(seed=0, columns=5):
    random = np.random.default_rng(seed)
    X = [random.normal(size=(6, columns)) for _ in range(12)]
    return X, [["ab"[int(row[0] > 0)] for row in x] for x in X]


@pytest.mark.parametrize("estimator", [KernelCRF, GPSequenceClassifier, KernelPerceptron])
@pytest.mark.parametrize("unit", [2.0**-10, 2.0**10])
def test_units_change_no_prediction(estimator, unit):
    X, y = labelled()
    new = [x + 0.1 for x in X]
    settings = {} if estimator is GPSequenceClassifier else {"random_state": 0}
    plain = estimator(**settings).fit(X, y)
    other = estimator(**settings).fit([unit * x for x in X], y)
    assert other.predict([unit * x for x in new]) == plain.predict(new)
    assert other.kernel_.gamma == pytest.approx(plain.kernel_.gamma / unit**2, rel=1e-5)


def test_a_model_without_settings_learns_wide_columns():
    random = np.random.default_rng(0)
    centres = random.normal(0, 5.0, (3, 40))
    y = [random.integers(3, size=20).tolist() for _ in range(20)]
    X = [centres[labels] + random.normal(0, 5.0, (20, 40)) for labels in y]
    assert KernelCRF().fit(X[:10], y[:10]).score(X[10:], y[10:]) > 0.9


def test_offsets_and_outliers_do_not_count():
    X = np.concatenate(labelled()[0])
    width = as_kernel("rbf").on(X).gamma
    assert as_kernel("rbf").on(X + np.array([0, 1e3, -1e3, 50, 0])).gamma == pytest.approx(width, rel=1e-4)
    assert as_kernel("rbf").on(np.concatenate([X, [[1e6] * 5]])).gamma == pytest.approx(width, rel=0.1)


@pytest.mark.parametrize(
    ("X", "gamma"),
    [
        (np.ones((5, 3)), 1.0),
        (np.ones((1, 3)), 1.0),
        (np.zeros((0, 3)), 1.0),
        (np.array([[0.0, 7.0], [2.0, 7.0]]), 0.25),
        (np.eye(4), 0.5),
        (np.repeat(np.eye(2), [50, 2], axis=0), 0.5),
        (sparse.csr_matrix(np.eye(4)), 0.5),
    ],
)
def test_odd_observations(X, gamma):
    assert as_kernel("rbf").on(X).gamma == pytest.approx(gamma)


def test_equal_rows_and_weights_mean_the_same():
    X, y = labelled()
    twice = KernelLogisticRegression(penalty=0.1).fit(X[0].repeat(2, axis=0), np.repeat(y[0], 2))
    weighed = KernelLogisticRegression(penalty=0.1).fit(
        np.concatenate(X[:2]), y[0] + y[1], sample_weight=[2] * 6 + [0] * 6
    )
    assert weighed.kernel_.gamma == pytest.approx(twice.kernel_.gamma)


def test_factors_and_unknown_rules():
    X = np.array([[0.0], [2.0]])
    assert RBF("median", factor=4.0).on(X).gamma == 1.0
    np.testing.assert_allclose(RBF(0.5, factor=2.0)(X), RBF(1.0)(X))
    with pytest.raises(InputError, match="gamma='medain' is not known; did you mean 'median'"):
        RBF("medain").on(X)


@pytest.mark.parametrize("kernel", ["rbf", RBF("scale"), RBF(0.1)])
def test_tune_tries_several_widths(kernel):
    X, y = labelled()
    found = tune(KernelCRF(kernel), X, y, folds=2, budget="10m", refit=False)
    kernels = {repr(one.settings["kernel"]) for one in found.tried}
    assert len(kernels) == 3


def test_a_dense_fit_says_what_it_takes(monkeypatch, capsys):
    from kernelfields.errors import LargeFitWarning
    from kernelfields.models import dense_cost, kernel_problem

    X, y = labelled()
    monkeypatch.setattr(dense_cost, "LARGE", 50)
    monkeypatch.setattr(kernel_problem, "NOTABLE", 10)
    with pytest.warns(LargeFitWarning, match=r"of 72 observations has .* GB; .* about .*nystroem"):
        KernelCRF(verbose=1).fit(X, y)
    assert capsys.readouterr().err.startswith("The Gram matrix of 72 observations")
    with pytest.warns(LargeFitWarning, match="computes it anew"):
        KernelCRF(run=Run(memory_limit=0)).fit(X, y)
