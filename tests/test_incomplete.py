"""Gaussians of rows in which numbers are missing."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from kernelfields.errors import InputError
from kernelfields.incomplete import JointGaussian, complete_rows, fit_gaussian

NAN = float("nan")
COVARIANCE = np.array([[2.0, 0.9, 0.3], [0.9, 1.0, -0.3], [0.3, -0.3, 0.7]])
MEAN = np.array([1.0, -2.0, 0.5])


def drawn(n: int, seed: int = 0, share: float = 0.3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = rng.multivariate_normal(MEAN, COVARIANCE, n)
    rows[rng.random(rows.shape) < share] = NAN
    return rows


def observed_log_density(rows: np.ndarray, gaussian: JointGaussian) -> float:
    """Σ log N(x_o), by SciPy, row by row."""
    total = 0.0
    for row in rows:
        seen = ~np.isnan(row)
        if seen.any():
            part = multivariate_normal(gaussian.mean[seen], gaussian.covariance[np.ix_(seen, seen)])
            total += float(part.logpdf(row[seen]))
    return total


class TestCompletion:
    def test_is_what_draws_near_the_observed_number_say(self) -> None:
        """Draws of all three, those kept whose second number is close to the one observed."""
        draws = np.random.default_rng(1).multivariate_normal(MEAN, COVARIANCE, 400_000)
        near = draws[np.abs(draws[:, 1] + 1.0) < 0.02]
        done = complete_rows([[NAN, -1.0, NAN]], JointGaussian(MEAN, COVARIANCE))
        assert len(near) > 3000
        np.testing.assert_allclose(done.means[0, [0, 2]], near[:, [0, 2]].mean(axis=0), atol=0.06)
        inner = done.covariances[done.patterns[0]][np.ix_([0, 2], [0, 2])]
        np.testing.assert_allclose(inner, np.cov(near[:, [0, 2]].T), atol=0.06)

    def test_what_was_observed_stays_and_has_no_variance(self) -> None:
        rows = drawn(30)
        for covariance in (COVARIANCE, np.array([1.0, 2.0, 3.0])):
            done = complete_rows(rows, JointGaussian(MEAN, covariance))
            seen = ~np.isnan(rows)
            np.testing.assert_array_equal(done.means[seen], rows[seen])
            spread = done.covariances[done.patterns]
            variances = spread if spread.ndim == 2 else np.diagonal(spread, axis1=1, axis2=2)
            assert (variances[seen] == 0).all()
            assert (variances[~seen] > 0).all()

    def test_nothing_observed_is_the_gaussian_itself(self) -> None:
        done = complete_rows([[NAN, NAN, NAN]], JointGaussian(MEAN, COVARIANCE))
        np.testing.assert_allclose(done.means[0], MEAN)
        np.testing.assert_allclose(done.covariances[0], COVARIANCE)


class TestFit:
    def test_without_nan_it_is_mean_and_covariance(self) -> None:
        rows = drawn(50, share=0.0)
        gaussian = fit_gaussian(rows, prior=0.0)
        np.testing.assert_allclose(gaussian.mean, rows.mean(axis=0))
        np.testing.assert_allclose(gaussian.covariance, np.cov(rows.T, bias=True), rtol=1e-7)

    def test_recovers_the_gaussian(self) -> None:
        gaussian = fit_gaussian(drawn(20_000), tol=1e-5)
        np.testing.assert_allclose(gaussian.mean, MEAN, atol=0.04)
        np.testing.assert_allclose(gaussian.covariance, COVARIANCE, atol=0.06)

    def test_steps_never_make_the_observed_less_probable(self) -> None:
        """The objective of the docstring: log-likelihood − ½(ν tr(V Σ⁻¹) + ν log|Σ|)."""
        rows = drawn(40, share=0.5)
        V = np.nanvar(rows, axis=0)
        values = []
        for steps in range(1, 12):
            with pytest.warns(UserWarning, match="still changed by"):
                gaussian = fit_gaussian(rows, prior=2.0, tol=0.0, max_iter=steps)
            penalty = np.trace(np.linalg.solve(gaussian.covariance, np.diag(V)))
            penalty += np.linalg.slogdet(gaussian.covariance)[1]
            values.append(observed_log_density(rows, gaussian) - 0.5 * 2.0 * penalty)
        assert (np.diff(values) > -1e-9).all()
        assert values[-1] > values[0] + 0.1

    def test_constant_and_repeated_columns(self) -> None:
        rows = drawn(60)
        wide = np.column_stack([rows, np.full(60, 3.0), rows[:, 0]])
        gaussian = fit_gaussian(wide, prior=0.0)
        done = complete_rows(wide, gaussian)
        assert np.isfinite(done.means).all()
        assert (np.linalg.eigvalsh(gaussian.covariance) > 0).all()

    def test_a_column_without_numbers_is_refused(self) -> None:
        with pytest.raises(InputError, match="Column 1 of X has no number in 2 rows"):
            fit_gaussian(np.array([[1.0, NAN], [2.0, NAN]]))
