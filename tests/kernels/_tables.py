"""Kernels with observations they take, for tests that hold for all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import sigmoid_kernel

from kernelfields.kernels import (
    RBF,
    AdditiveChiSquare,
    Columns,
    Constant,
    Cosine,
    ExponentialChiSquare,
    GaussianExpectation,
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
    Spectrum,
    Subsequence,
    Tanimoto,
    TreeFragments,
    WindowProduct,
    WindowSum,
)
from tests._names import shown

Draw = Callable[[np.random.Generator, int], Any]


class Case(NamedTuple):
    """A kernel and how to draw n observations for it."""

    kernel: Kernel
    draw: Draw


def real(rng: np.random.Generator, n: int) -> Any:
    return rng.normal(size=(n, 6))


def sparse_real(rng: np.random.Generator, n: int) -> Any:
    """Many zeros, one row of nothing else, one row twice."""
    X = rng.normal(size=(n, 6)) * (rng.random((n, 6)) < 0.5)
    X[0] = 0
    X[n - 1] = X[1]
    return X


def histograms(rng: np.random.Generator, n: int) -> Any:
    return np.abs(sparse_real(rng, n))


def binary(rng: np.random.Generator, n: int) -> Any:
    return (sparse_real(rng, n) != 0).astype(float)


def digits(rng: np.random.Generator, n: int) -> Any:
    return rng.integers(0, 3, (n, 6)).astype(float)


def incomplete(rng: np.random.Generator, n: int) -> Any:
    """A third missing, one row of nothing else, one row of all."""
    X = rng.normal(size=(n, 3))
    X[rng.random(X.shape) < 0.3] = np.nan
    X[:1] = np.nan
    X[1:2] = 0.5
    return X


def strings(rng: np.random.Generator, n: int) -> Any:
    return ["".join(rng.choice(list("abc"), size=rng.integers(0, 9))) for _ in range(n)]


def trees(rng: np.random.Generator, n: int) -> Any:
    parts = ["(A u)", "(A v)", "(B u)", "(B (A u) (A v))", "(B (A u) (A u))"]
    return [f"({rng.choice(['S', 'T'])} {rng.choice(parts)} {rng.choice(parts)})" for _ in range(n)]


def words(rng: np.random.Generator, n: int) -> Any:
    return ["".join(rng.choice(list("abc"), size=5)) for _ in range(n)]


def sets(rng: np.random.Generator, n: int) -> Any:
    return [set(text) for text in strings(rng, n)]


def indices(rng: np.random.Generator, n: int) -> Any:
    return rng.integers(0, 30, n)


def given_gram() -> np.ndarray:
    factor = np.random.default_rng(1).normal(size=(30, 4))
    return factor @ factor.T


def minimum(x: Any, y: Any) -> float:
    """The histogram intersection kernel."""
    return float(np.minimum(x, y).sum())


PRODUCTS = [
    Linear(),
    Constant(2.0),
    Polynomial(),
    Polynomial(degree=5, gamma=0.3, offset=0.0),
    RBF(gamma=0.2),
    Matern(nu=0.5),
    Matern(length_scale=2.0, nu=1.5),
    Matern(nu=2.5),
    Cosine(),
    Tanimoto(),
    RBF(gamma=0.1) + Linear(),
    RBF(gamma=0.1) * Linear() * 0.5 + 1.0,
    (Linear() + Cosine()) ** 3,
    Normalized(Polynomial(degree=3)),
    Normalized(Normalized(Linear()) + Linear() ** 2),
]
"""Functions of inner products."""

ROWS = [
    *(Case(kernel, sparse_real) for kernel in PRODUCTS),
    Case(Laplacian(0.3), sparse_real),
    Case(AdditiveChiSquare(), histograms),
    Case(ExponentialChiSquare(0.7), histograms),
    Case(Jaccard(), binary),
    Case(Hamming(), digits),
    Case(Columns(RBF(), [0, 3]), sparse_real),
    Case(Columns(RBF(), slice(0, 2)) * Columns(Linear(), slice(2, None)), sparse_real),
    Case(WindowSum(RBF(), width=3), sparse_real),
    Case(WindowProduct(Polynomial(), width=2), sparse_real),
    Case(Laplacian() + RBF(), sparse_real),
    Case(2.0 * Laplacian() * Linear(), sparse_real),
    Case(Normalized(Laplacian() + Linear()), sparse_real),
    Case((Laplacian() + 0.5) ** 3, sparse_real),
]
"""Kernels on rows of numbers, dense or sparse."""

COVARIANCE = np.array([[2.0, 0.9, 0.0], [0.9, 1.0, -0.3], [0.0, -0.3, 0.7]])

DENSE = [
    Case(GaussianExpectation(RBF(0.4), [0.0, 1.0, -0.5], COVARIANCE), incomplete),
    Case(GaussianExpectation(RBF(0.4) + 2.0 * Linear(), [0.0, 1.0, -0.5], [1.0, 2.0, 0.5]), incomplete),
    Case(GaussianExpectation(Polynomial(), [0.0, 1.0, -0.5], COVARIANCE), incomplete),
    Case(GaussianProcessKernel(gp.RationalQuadratic() + 0.5 * gp.DotProduct()), real),
    Case(MatrixFunction(lambda X, Y: X @ Y.T), real),
    Case(PairFunction(minimum), histograms),
]
"""Kernels on dense rows only."""

OBJECTS = [
    Case(Jaccard(), sets),
    Case(Hamming(), words),
    Case(Spectrum(length=2), strings),
    Case(Spectrum(length=3, blended=True), strings),
    Case(Subsequence(length=3, decay=0.6), strings),
    Case(Normalized(Subsequence()) + 0.5 * Normalized(Spectrum(1)), strings),
    Case(TreeFragments(decay=0.6), trees),
    Case(Normalized(TreeFragments(complete=True)), trees),
    Case(Precomputed(given_gram()), indices),
]
"""Kernels on other things."""

CASES = [*ROWS, *DENSE, *OBJECTS]

INDEFINITE = MatrixFunction(sigmoid_kernel, {"gamma": 1.0, "coef0": -1.0})


def name(value: Any) -> str:
    """What pytest calls a case."""
    kernel = value.kernel if isinstance(value, Case) else value
    return " ".join(shown(kernel).split())[:70]
