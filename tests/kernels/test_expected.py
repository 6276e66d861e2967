"""Expected kernels of observations with missing numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from kernelfields import CRF, GPSequenceClassifier, KernelCRF, KernelScores, Parts, Run, StructuredSVM, load
from kernelfields.approximation import KMeans, Nystroem
from kernelfields.errors import InputError
from kernelfields.incomplete import JointGaussian, complete_rows
from kernelfields.kernels import (
    RBF,
    Columns,
    Expected,
    GaussianExpectation,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Rescaled,
    Standardized,
)
from kernelfields.models.kernel_settings import KernelSettings
from kernelfields.selection import GreedyCliques

from ._tables import COVARIANCE, incomplete

MEAN = np.array([0.3, 1.0, -0.5])
FORMULAS: list[Kernel] = [
    Linear(),
    Polynomial(degree=1, gamma=0.4, offset=0.2),
    Polynomial(degree=2, gamma=0.4, offset=0.7),
    RBF(0.3),
    2.0 * RBF(0.2) + Linear() + 1.0,
    Columns(RBF(0.5), [0, 2]),
    Columns(Polynomial(), slice(1, None)),
    Rescaled(RBF(0.6), centre=[1.0, 0.0, 0.0], scale=[2.0, 1.0, 0.5]),
]


def draws(rows: np.ndarray, covariance: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Return completions of every row, (n, count, D), drawn from its distribution."""
    rng = np.random.default_rng(seed)
    done = complete_rows(rows, JointGaussian(MEAN, covariance))
    full = done.covariances if done.covariances.ndim == 3 else np.stack(list(map(np.diag, done.covariances)))
    return np.stack(
        [
            rng.multivariate_normal(mean, full[p], count, check_valid="ignore")
            for mean, p in zip(done.means, done.patterns, strict=True)
        ]
    )


@pytest.mark.parametrize("covariance", [COVARIANCE, np.array([1.0, 2.0, 0.5])], ids=["full", "diagonal"])
@pytest.mark.parametrize("kernel", FORMULAS, ids=repr)
class TestFormulas:
    def test_is_the_mean_over_completions(self, kernel: Kernel, covariance: np.ndarray) -> None:
        """Monte Carlo: 300 draws of each give 90,000 pairs; errors are compared with their own size."""
        rows = incomplete(np.random.default_rng(5), 5)
        got = GaussianExpectation(kernel, MEAN, covariance)(rows)
        left, right = (draws(rows, covariance, 300, seed) for seed in (1, 2))
        for i in range(5):
            for j in range(5):
                values = kernel(left[i], right[j])
                error = values.mean(axis=1).std() + values.mean(axis=0).std()
                assert abs(values.mean() - got[i, j]) < 5 * error / np.sqrt(300) + 1e-9

    def test_without_nan_it_is_the_kernel(self, kernel: Kernel, covariance: np.ndarray) -> None:
        rng = np.random.default_rng(0)
        X, Y = rng.normal(size=(6, 3)), rng.normal(size=(4, 3))
        expected = GaussianExpectation(kernel, MEAN, covariance)
        np.testing.assert_allclose(expected(X, Y), kernel(X, Y), rtol=1e-10)


def test_rbf_against_quadrature() -> None:
    """One missing number of each: a double integral by Gauss and Hermite."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    x, y = np.array([np.nan, 0.4]), np.array([1.3, np.nan])
    S = np.array([[1.5, 0.8], [0.8, 1.0]])
    means = [0.8 * (0.4 - 1.0), 1.0 + 0.8 / 1.5 * 1.3]
    deviations = [np.sqrt(1.5 - 0.64), np.sqrt(1.0 - 0.64 / 1.5)]
    left = np.column_stack([means[0] + deviations[0] * nodes, np.full(60, 0.4)])
    right = np.column_stack([np.full(60, 1.3), means[1] + deviations[1] * nodes])
    wanted = weights @ RBF(0.7)(left, right) @ weights
    got = GaussianExpectation(RBF(0.7), [0.0, 1.0], S)(x[None], y[None])
    np.testing.assert_allclose(got, wanted, rtol=1e-10)


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
@pytest.mark.parametrize("kernel", FORMULAS, ids=repr)
def test_gram_matrices_are_positive_semi_definite(kernel: Kernel, covariance: str) -> None:
    X = incomplete(np.random.default_rng(3), 60)
    values = np.linalg.eigvalsh(Expected(kernel, covariance).on(X)(X))
    assert values[0] > -1e-10 * values[-1]


def test_what_is_unsure_is_less_like_itself() -> None:
    kernel = GaussianExpectation(RBF(0.5), [0.0], [1.0])
    assert kernel.diagonal([[0.0], [np.nan]]).tolist() == pytest.approx([1.0, 1 / np.sqrt(3)])


def test_kernels_that_look_first_see_means_filled_in() -> None:
    X = incomplete(np.random.default_rng(3), 30)
    found = Expected(Standardized(RBF("scale"))).on(X)
    filled = complete_rows(X, JointGaussian(found.mean, found.covariance)).means
    np.testing.assert_allclose(found.kernel.centre, filled.mean(axis=0))
    assert found.kernel.kernel.gamma == pytest.approx(1 / 3)


def test_refusals() -> None:
    X = incomplete(np.random.default_rng(3), 9)
    with pytest.raises(InputError, match=r"no formula for Laplacian\(\)"):
        Expected(Laplacian()).on(X)
    with pytest.raises(InputError, match="no formula for Polynomial"):
        Expected(Polynomial(degree=3)).on(X)
    with pytest.raises(InputError, match="covariance of Expected is 'tied'"):
        Expected(RBF(), covariance="tied").on(X)
    with pytest.raises(InputError, match="has to look at observations first"):
        Expected(RBF())(X)
    with pytest.raises(InputError, match=r"shape \(2,\), expected \(3,\)"):
        GaussianExpectation(RBF(), [0.0] * 3, [1.0] * 2)(X)


def test_who_takes_missing_numbers() -> None:
    missing = Expected(RBF())
    assert all(one.takes_missing for one in (missing, missing + 1.0, 2.0 * missing, missing * missing))
    assert not any(
        one.takes_missing for one in (RBF(), missing + RBF(), Standardized(missing), Linear() + 1.0)
    )
    assert not KernelSettings(missing, 1.0, parts=Parts(edge_kernel=KernelScores("rbf"))).takes_missing


def sequences(share: float = 0.2) -> tuple[list[np.ndarray], list[list[str]]]:
    rng = np.random.default_rng(8)
    y = [rng.choice(["A", "B"], size).tolist() for size in rng.integers(3, 9, 12)]
    X = []
    for labels in y:
        x = rng.normal(size=(len(labels), 3)) + 2.0 * (np.array(labels) == "A")[:, None]
        x[rng.random(x.shape) < share] = np.nan
        X.append(x)
    return X, y


@pytest.mark.parametrize(
    "model",
    [
        KernelCRF(Expected(RBF("scale"))),
        KernelCRF(
            Expected(RBF("scale"), "diagonal"),
            run=Run(dtype="float64"),
            parts=Parts(edge_kernel=KernelScores()),
        ),
        KernelCRF(Expected(RBF(0.2)), basis=Nystroem(10), random_state=0),
        KernelCRF(Expected(RBF(0.2)), basis=GreedyCliques(8)),
        KernelCRF([Expected(RBF(0.2)), Expected(Linear())], penalty=[1.0, 2.0]),
        GPSequenceClassifier(Expected(RBF(0.2))),
        StructuredSVM(Expected(RBF(0.2))),
    ],
    ids=range(7),
)
def test_estimators_take_nan(model: Any, tmp_path: Any) -> None:
    X, y = sequences()
    fitted = clone(model).fit(X, y, **({} if isinstance(model, StructuredSVM) else {"X_dev": X, "y_dev": y}))
    assert fitted.score(X, y) > 0.85
    fitted.save(tmp_path / "model.kf")
    again = load(tmp_path / "model.kf")
    assert again.predict(X) == fitted.predict(X)
    assert all(np.isfinite(one).all() for one in again.predict_marginals(X))
    with pytest.raises(InputError, match="holds infinity at position 0"):
        again.predict([[[np.inf, 0.0, 0.0]]])


def test_nothing_missing_is_the_plain_kernel() -> None:
    X, y = sequences(share=0.0)
    plain = KernelCRF(RBF(0.2), run=Run(dtype="float64")).fit(X, y).predict_marginals(X)
    expected = KernelCRF(Expected(RBF(0.2)), run=Run(dtype="float64")).fit(X, y).predict_marginals(X)
    for one, other in zip(plain, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_equal_rows_with_nan_are_one_observation() -> None:
    X = [np.array([[np.nan, 1.0], [0.0, 2.0], [np.nan, 1.0]]), np.array([[0.0, 2.0], [3.0, np.nan]])]
    model = KernelCRF(Expected(RBF(0.2))).fit(X, [["A", "B", "A"], ["B", "A"]])
    assert len(model.basis_) == 3
    assert model.basis_origin_.tolist() == [[0, 0], [0, 1], [1, 1]]


def test_others_refuse_nan() -> None:
    X, y = sequences()
    for model in (KernelCRF(RBF()), KernelCRF(Expected(RBF()) + RBF()), CRF()):
        with pytest.raises(InputError, match="holds NaN or infinity"):
            model.fit(X, y)
    landmarks = KernelCRF(Expected(RBF()), basis=Nystroem(5, KMeans()), random_state=0)
    with pytest.raises(InputError, match="KMeans needs complete observations"):
        landmarks.fit(X, y)
