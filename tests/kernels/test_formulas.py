"""Kernels on rows against formulas written out, and against scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement
from math import comb, exp, factorial, prod, sqrt
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics import pairwise

from kernelfields.kernels import (
    RBF,
    AdditiveChiSquare,
    Columns,
    Constant,
    Cosine,
    ExponentialChiSquare,
    GaussianProcessKernel,
    Hamming,
    Jaccard,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    MatrixFunction,
    Normalized,
    PairFunction,
    Polynomial,
    Precomputed,
    Tanimoto,
    WindowProduct,
    WindowSum,
)

from ._tables import binary, digits, histograms, name, sparse_real


def dot(x: Any, y: Any) -> float:
    return sum(float(a) * float(b) for a, b in zip(x, y, strict=True))


def distance(x: Any, y: Any) -> float:
    return sqrt(sum((a - b) ** 2 for a, b in zip(x, y, strict=True)))


def chi_square(x: Any, y: Any) -> float:
    return sum((a - b) ** 2 / (a + b) for a, b in zip(x, y, strict=True) if a + b > 0)


def share(x: Any, y: Any) -> float:
    a, b = set(np.flatnonzero(x)), set(np.flatnonzero(y))
    return len(a & b) / len(a | b) if a | b else 1.0


def cosine(x: Any, y: Any) -> float:
    return dot(x, y) / sqrt(dot(x, x) * dot(y, y)) if dot(x, x) * dot(y, y) > 0 else 0.0


def matern52(x: Any, y: Any) -> float:
    r = sqrt(5) * distance(x, y) / 0.7
    return (1 + r + r * r / 3) * exp(-r)


def tanimoto(x: Any, y: Any) -> float:
    union = dot(x, x) + dot(y, y) - dot(x, y)
    return dot(x, y) / union if union else 1.0


def window(x: Any, y: Any) -> list[float]:
    return [exp(-0.3 * distance(x[k : k + 2], y[k : k + 2]) ** 2) for k in (0, 2, 4)]


FORMULAS: list[tuple[Kernel, Any, Callable[[Any, Any], float]]] = [
    (Linear(), sparse_real, dot),
    (Constant(3.5), sparse_real, lambda x, y: 3.5),
    (Polynomial(3, 0.5, 2.0), sparse_real, lambda x, y: (0.5 * dot(x, y) + 2) ** 3),
    (Polynomial(1, 2.0, 1.0), sparse_real, lambda x, y: 2 * dot(x, y) + 1),
    (Polynomial(11, 0.3, 0.0), sparse_real, lambda x, y: (0.3 * dot(x, y)) ** 11),
    (RBF(0.3), sparse_real, lambda x, y: exp(-0.3 * distance(x, y) ** 2)),
    (Matern(0.7, 0.5), sparse_real, lambda x, y: exp(-distance(x, y) / 0.7)),
    (Matern(0.7, 2.5), sparse_real, matern52),
    (Laplacian(0.4), sparse_real, lambda x, y: exp(-0.4 * sum(map(abs, x - y)))),
    (Cosine(), sparse_real, cosine),
    (Normalized(Linear()), sparse_real, cosine),
    (
        AdditiveChiSquare(),
        histograms,
        lambda x, y: sum(2 * a * b / (a + b) for a, b in zip(x, y, strict=True) if a + b > 0),
    ),
    (ExponentialChiSquare(0.6), histograms, lambda x, y: exp(-0.6 * chi_square(x, y))),
    (Tanimoto(), binary, share),
    (Tanimoto(), sparse_real, tanimoto),
    (Jaccard(), binary, share),
    (Jaccard(), sparse_real, share),
    (Hamming(), digits, lambda x, y: sum(a == b for a, b in zip(x, y, strict=True)) / 6),
    (Columns(Linear(), [5, 1]), sparse_real, lambda x, y: x[5] * y[5] + x[1] * y[1]),
    (Columns(Linear(), slice(4, None)), sparse_real, lambda x, y: dot(x[4:], y[4:])),
    (Columns(Linear(), np.arange(6) < 2), sparse_real, lambda x, y: dot(x[:2], y[:2])),
    (WindowSum(RBF(0.3), width=3), sparse_real, lambda x, y: sum(window(x, y))),
    (WindowProduct(RBF(0.3), width=3), sparse_real, lambda x, y: prod(window(x, y))),
    (PairFunction(chi_square), histograms, chi_square),
    (
        Normalized(Polynomial(2)),
        sparse_real,
        lambda x, y: (1 + dot(x, y)) ** 2 / ((1 + dot(x, x)) * (1 + dot(y, y))),
    ),
    (
        Normalized(Laplacian() + Constant(2.0) + Linear()),
        sparse_real,
        lambda x, y: (exp(-sum(map(abs, x - y))) + 2 + dot(x, y)) / sqrt((3 + dot(x, x)) * (3 + dot(y, y))),
    ),
]


@pytest.mark.parametrize(("kernel", "draw", "formula"), FORMULAS, ids=name)
def test_formula(
    kernel: Kernel, draw: Any, formula: Callable[[Any, Any], float], rng: np.random.Generator
) -> None:
    X, Y = draw(rng, 8), draw(rng, 6)
    expected = [[formula(x, y) for y in Y] for x in X]
    np.testing.assert_allclose(kernel(X, Y), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), [formula(x, x) for x in X], rtol=1e-10, atol=1e-12)


SCIKIT_LEARN = [
    (Linear(), lambda X, Y: pairwise.linear_kernel(X, Y)),
    (Polynomial(4, 0.5, 2.0), lambda X, Y: pairwise.polynomial_kernel(X, Y, 4, 0.5, 2.0)),
    (RBF(0.3), lambda X, Y: pairwise.rbf_kernel(X, Y, 0.3)),
    (Laplacian(0.3), lambda X, Y: pairwise.laplacian_kernel(X, Y, 0.3)),
    (Cosine(), lambda X, Y: pairwise.cosine_similarity(X, Y)),
    (ExponentialChiSquare(0.3), lambda X, Y: pairwise.chi2_kernel(X, Y, 0.3)),
    (RBF(0.125), gp.RBF(2.0)),
    (Matern(2.0, 0.5), gp.Matern(2.0, nu=0.5)),
    (Matern(2.0, 1.5), gp.Matern(2.0, nu=1.5)),
    (Matern(2.0, 2.5), gp.Matern(2.0, nu=2.5)),
    (Linear() + 4.0, gp.DotProduct(2.0)),
    (3.0 * RBF(0.5), gp.ConstantKernel(3.0) * gp.RBF()),
]


@pytest.mark.parametrize(("kernel", "rival"), SCIKIT_LEARN, ids=name)
def test_scikit_learn_agrees(kernel: Kernel, rival: Any, rng: np.random.Generator) -> None:
    X, Y = histograms(rng, 20), histograms(rng, 15)
    np.testing.assert_allclose(kernel(X, Y), rival(X, Y), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_polynomial_is_the_inner_product_of_its_features(degree: int, rng: np.random.Generator) -> None:
    """Of all monomials of degree ≤ d, each weighted by the root of its coefficient."""
    X = rng.normal(size=(6, 3))
    gamma, offset = 0.5, 2.0
    columns = []
    for q in range(degree + 1):
        for chosen in combinations_with_replacement(range(3), q):
            orders = factorial(q) / prod(factorial(chosen.count(k)) for k in range(3))
            weight = comb(degree, q) * offset ** (degree - q) * gamma**q * orders
            columns.append(sqrt(weight) * np.prod(X[:, list(chosen)], axis=1))
    features = np.array(columns).T
    np.testing.assert_allclose(Polynomial(degree, gamma, offset)(X), features @ features.T, rtol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_equal_observations_are_at_no_distance(nu: float, dtype: type, rng: np.random.Generator) -> None:
    """A root of rounding errors would show in the third digit of float32."""
    X = rng.normal(size=(50, 300)).astype(dtype)
    K = Matern(nu=nu)(X, X.copy())
    np.testing.assert_array_equal(K.diagonal(), 1)


def test_rbf_never_exceeds_one(rng: np.random.Generator) -> None:
    X = (100 + rng.normal(size=(50, 30))).astype(np.float32)
    assert RBF()(X).max() <= 1


def test_gaussian_process_kernels_are_called_as_they_are(rng: np.random.Generator) -> None:
    X, Y = rng.normal(size=(6, 3)), rng.normal(size=(4, 3))
    theirs = gp.RationalQuadratic(alpha=0.7) * gp.ExpSineSquared(periodicity=2.0)
    kernel = GaussianProcessKernel(theirs)
    np.testing.assert_array_equal(kernel(X, Y), theirs(X, Y))
    np.testing.assert_array_equal(kernel.diagonal(X), theirs.diag(X))
    kernel.set_params(kernel__k1__alpha=3.0)
    assert theirs.k1.alpha == 3.0


def test_matrix_functions_get_their_parameters(rng: np.random.Generator) -> None:
    X = rng.normal(size=(130, 3))
    kernel = MatrixFunction(pairwise.rbf_kernel, {"gamma": 0.2})
    np.testing.assert_allclose(kernel(X), RBF(0.2)(X), rtol=1e-10)
    np.testing.assert_allclose(kernel.diagonal(X), np.ones(130))


@pytest.mark.parametrize(
    "form", [list, np.array, lambda X: np.array(X)[:, None], lambda X: np.array(X) * 1.0]
)
def test_precomputed_looks_up(form: Any, rng: np.random.Generator) -> None:
    K = rng.normal(size=(5, 5))
    kernel = Precomputed(K)
    X, Y = [4, 0, 0], [1, 2]
    np.testing.assert_array_equal(kernel.block(form(X), form(Y)), [[K[i, j] for j in Y] for i in X])
    np.testing.assert_array_equal(kernel.diagonal(form(X)), [K[i, i] for i in X])
    assert Precomputed(K.astype(np.float32)).block(form(X), form(Y)).dtype == np.float32


def test_copies_of_precomputed_share_the_matrix() -> None:
    from sklearn.base import clone

    K = np.eye(3)
    assert clone(Precomputed(K)).matrix is K


def test_window_of_the_linear_kernel_is_the_linear_kernel(rng: np.random.Generator) -> None:
    X = rng.normal(size=(5, 12))
    for width in (1, 2, 3, 4, 6, 12):
        np.testing.assert_allclose(WindowSum(Linear(), width)(X), X @ X.T, rtol=1e-12)
        np.testing.assert_allclose(WindowProduct(RBF(0.1), width)(X), RBF(0.1)(X), rtol=1e-10)
