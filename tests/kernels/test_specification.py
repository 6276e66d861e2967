"""Names, functions and kernels of others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics import pairwise

from kernelfields.errors import InputError
from kernelfields.kernels import (
    RBF,
    ExponentialChiSquare,
    GaussianProcessKernel,
    Kernel,
    Linear,
    Matern,
    MatrixFunction,
    Polynomial,
    as_kernel,
)
from kernelfields.kernels.specification import NAMES

X = np.abs(np.random.default_rng(5).normal(size=(10, 3)))


@pytest.mark.parametrize(
    ("name", "kind"),
    [("rbf", RBF), ("linear", Linear), ("poly", Polynomial), ("polynomial", Polynomial), ("matern", Matern)],
)
def test_names(name: str, kind: type) -> None:
    assert type(as_kernel(name)) is kind


def test_every_name_makes_a_kernel_of_its_own() -> None:
    for name in NAMES:
        first, second = as_kernel(name), as_kernel(name)
        assert isinstance(first, Kernel)
        assert first is not second


@pytest.mark.parametrize("name", sorted(pairwise.PAIRWISE_KERNEL_FUNCTIONS))
def test_every_name_of_scikit_learn_is_known(name: str) -> None:
    kernel = as_kernel(name).on(X)
    assert kernel(X).shape == (10, 10)
    if name not in NAMES:
        np.testing.assert_allclose(kernel(X), pairwise.pairwise_kernels(X, metric=name))


def test_kernels_of_sklearn_of_the_same_name() -> None:
    apart = pairwise.euclidean_distances(X)[np.triu_indices(len(X), 1)]
    width = 1 / np.median(apart) ** 2
    np.testing.assert_allclose(as_kernel("rbf").on(X)(X), pairwise.rbf_kernel(X, gamma=width))
    np.testing.assert_allclose(ExponentialChiSquare()(X), pairwise.chi2_kernel(X, gamma=1.0))


def test_kernels_stay_what_they_are() -> None:
    kernel = RBF() + Linear()
    assert as_kernel(kernel) is kernel


def test_functions_take_matrices() -> None:
    kernel = as_kernel(lambda A, B: A @ B.T)
    assert isinstance(kernel, MatrixFunction)
    np.testing.assert_allclose(kernel(X), X @ X.T)


def test_kernels_of_gaussian_processes() -> None:
    kernel = as_kernel(gp.RBF(2.0) + 1.0)
    assert isinstance(kernel, GaussianProcessKernel)
    np.testing.assert_allclose(kernel(X), RBF(0.125)(X) + 1)


@pytest.mark.parametrize(
    ("specification", "message"),
    [
        ("tree", r"^kernel='tree' is not known; choose one of 'additive_chi2', .*'rbf', .*, 'sigmoid'\.$"),
        (RBF, r"^kernel=RBF is a class, but must be an object: write RBF\(\)\.$"),
        (3, r"^kernel=3 must be a Kernel, a name or a function\.$"),
        (None, "kernel=None must be"),
    ],
)
def test_what_is_refused(specification: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        as_kernel(specification)
