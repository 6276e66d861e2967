"""What is refused, and in which words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.gaussian_process import kernels as gp

from kernelfields.errors import InputError
from kernelfields.kernels import (
    RBF,
    AdditiveChiSquare,
    Constant,
    ExponentialChiSquare,
    GaussianProcessKernel,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    MatrixFunction,
    PairFunction,
    Polynomial,
    Power,
    Precomputed,
    Spectrum,
    Subsequence,
    TreeFragments,
    WindowProduct,
    WindowSum,
    check_gram,
)

from ._tables import INDEFINITE

X = np.random.default_rng(5).normal(size=(10, 3))
TEXT = ["ab", "ba"]


def holes(x: Any, y: Any) -> float:
    """NaN for the observations 4 and 7 of X."""
    return float("nan") if {tuple(x), tuple(y)} == {tuple(X[4]), tuple(X[7])} else float(x @ y)


def standardised(A: Any, B: Any) -> Any:
    return (A - A.mean(axis=0)) @ (B - B.mean(axis=0)).T


class Broken(Kernel):
    """Gives what it is told."""

    def __init__(self, gram: Any = None, diagonal: Any = None) -> None:
        self.gram = gram
        self.values = diagonal

    def block(self, X: Any, Y: Any) -> Any:
        return self.gram

    def diagonal(self, X: Any) -> Any:
        return self.values

    def __repr__(self) -> str:
        return "Broken()"


REFUSED = [
    (PairFunction(holes), r"gives nan for observations 4 and 7\.$"),
    (PairFunction(lambda x, y: float("inf")), r"gives inf for observations 0 and 0\.$"),
    (
        MatrixFunction(lambda A, B: A @ np.triu(np.ones((3, 3))) @ B.T),
        r"is not symmetric: it gives \S+ for obs",
    ),
    (MatrixFunction(lambda A, B: -A @ B.T), r"is not positive semi-definite: its Gram matrix on 10 obs"),
    (
        MatrixFunction(standardised),
        r"is not a function of two observations: for 0 and \d it gives \S+ or 0, dep",
    ),
    (MatrixFunction(lambda A, B: A @ A.T), r"shape \(1, 1\) for 1 and 10 obs"),
    (MatrixFunction(lambda A, B: 1.0), r"shape \(\) for 10 and 10 obs.*wrap it in PairFunction\.$"),
    (
        Broken(np.ones((10, 9))),
        r"^The kernel Broken\(\) gives a block of shape \(10, 9\) where \(10, 10\) is ",
    ),
    (Broken(np.ones((10, 10), dtype=int)), r"gives a block of int64 where float32 or float64 is needed\.$"),
    (Broken(np.ones((10, 10)), np.ones((10, 1))), r"gives a diagonal of shape \(10, 1\) where \(10,\) is"),
    (Broken(np.ones((10, 10)), np.arange(10.0)), r"gives 9 on its diagonal, but 1 in its Gram matrix, for o"),
    (Broken(np.ones((10, 10)), np.full(10, np.nan)), r"gives nan on its diagonal, but 1 in its Gram"),
    (Broken(np.ones((10, 10)), np.ones(10)), r"gives a block of shape \(10, 10\) where \(1, 10\) is needed"),
    (INDEFINITE, r"is not positive semi-definite"),
    (GaussianProcessKernel(gp.RBF() + gp.WhiteKernel()), r"gives 2 on its diagonal, but 1 in its Gram"),
]


@pytest.mark.parametrize(("kernel", "message"), REFUSED)
def test_what_is_no_kernel_is_refused(kernel: Kernel, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        check_gram(kernel, X)
    assert "\n" not in str(caught.value)


def test_the_sample_is_spread_and_named_by_its_place_in_the_whole() -> None:
    many = np.arange(5000.0)[:, None]

    def late(x: Any, y: Any) -> float:
        return float("nan") if x[0] == y[0] == 4999 else float(x[0] == y[0])

    with pytest.raises(InputError, match=r"gives nan for observations 4999 and 4999\.$"):
        check_gram(PairFunction(late), many)


def test_few_observations_are_looked_at() -> None:
    sizes = []

    def watched(A: Any, B: Any) -> Any:
        sizes.append(max(A.shape[0], B.shape[0]))
        return A @ B.T

    check_gram(MatrixFunction(watched), np.random.default_rng(0).normal(size=(1000, 3)))
    assert max(sizes) == 200


def test_eigenvectors_name_the_observations() -> None:
    gram = np.eye(6)
    gram[2, 5] = gram[5, 2] = 3.0
    with pytest.raises(InputError, match=r"eigenvalue -2, with most weight on observations [25], [25] and 0"):
        check_gram(Precomputed(gram), np.arange(6))
    with pytest.raises(InputError, match=r"eigenvalue -1, with most weight on observation 0\.$"):
        check_gram(Precomputed([[-1.0]]), [0])


def test_rounding_is_no_reason_to_refuse(rng: np.random.Generator) -> None:
    """The linear kernel of three features has 197 eigenvalues that should be zero."""
    rows = 1000 + rng.normal(size=(300, 3))
    for dtype in (np.float32, np.float64):
        check_gram(Linear(), rows.astype(dtype))
        check_gram(Polynomial(3), rows.astype(dtype))
        check_gram(RBF(), sp.csr_matrix(rows[:, :1] - 1000, dtype=dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_tolerance_is_the_stated_one(dtype: type) -> None:
    """Eigenvalues 100, 1 and −√ε · 100, more or less, and no diagonal entry near 100."""
    root = float(np.sqrt(np.finfo(dtype).eps))
    vectors = np.linalg.qr([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [1.0, 0.0, 0.0]])[0]
    for factor, fits in [(0.5, True), (2.0, False)]:
        gram = (vectors * [100.0, 1.0, -factor * root * 100.0]) @ vectors.T
        kernel = Precomputed(((gram + gram.T) / 2).astype(dtype))
        if fits:
            check_gram(kernel, np.arange(3))
        else:
            with pytest.raises(InputError, match="is not positive semi-definite"):
                check_gram(kernel, np.arange(3))


def test_zero_is_a_kernel() -> None:
    check_gram(Constant(0.0), X)


def test_nothing_is_wrong_with_nothing() -> None:
    check_gram(RBF(), np.empty((0, 3)))
    check_gram(RBF(), np.ones((1, 3)))


BAD = [
    (RBF(-1.0), X, r"^gamma of RBF is -1\.0; it must be a finite number above 0\.$"),
    (RBF(0), X, "gamma"),
    (RBF(float("nan")), X, "gamma"),
    (RBF(float("inf")), X, "gamma"),
    (RBF("wide"), X, "has to look at observations first"),
    (RBF(True), X, "gamma of RBF is True"),
    (Laplacian(-1.0), X, "gamma of Laplacian is -1.0"),
    (ExponentialChiSquare(-1.0), abs(X), "gamma of ExponentialChiSquare is -1.0"),
    (Matern(length_scale=0.0), X, "length_scale of Matern is 0.0"),
    (Matern(nu=1.0), X, r"^Matern needs a nu of 0\.5, 1\.5 or 2\.5, not 1\.0\.$"),
    (Polynomial(degree=0), X, r"^degree of Polynomial is 0; it must be a whole number from 1 on\.$"),
    (Polynomial(degree=1.5), X, "degree"),
    (Polynomial(degree=True), X, "degree"),
    (Polynomial(offset=-1.0), X, "offset of Polynomial is -1.0; it must be a finite number, not negative"),
    (Polynomial(gamma=-1.0), X, "gamma of Polynomial is -1.0"),
    (Constant(-1.0), X, "value of Constant is -1.0"),
    (-1.0 * RBF(), X, "factor of Scaled is -1.0"),
    (RBF() ** 0.5, X, "exponent of Power is 0.5"),
    (Power(Laplacian(), 0), X, "exponent of Power is 0;"),
    (Spectrum(0), TEXT, "length of Spectrum is 0"),
    (Subsequence(0), TEXT, "length of Subsequence is 0"),
    (Subsequence(2, 1.5), TEXT, "decay of Subsequence is 1.5; it must be a number above 0 and at most 1"),
    (Subsequence(2, 0.0), TEXT, "decay"),
    (TreeFragments(0.0), ["(S u)"], "decay of TreeFragments is 0.0; it must be a number above 0"),
    (TreeFragments(complete=2), ["(S u)"], "complete of TreeFragments is 2"),
    (WindowSum(RBF(), 0), X, "width of WindowSum is 0"),
    (WindowSum(RBF(), 2), X, r"^A window of 2 positions needs a multiple of 2 columns, not 3\.$"),
    (WindowProduct(RBF(), 2), X, "multiple of 2"),
    (AdditiveChiSquare(), -abs(X), "need numbers ≥ 0, but observation 0 has a negative one"),
    (Linear(), X[0], r"rows of an \(n, D\) array, not an array of shape \(3,\)\.$"),
    (Linear(), np.array([["a"]]), "rows of numbers, not of <U1"),
    (Precomputed(np.ones((2, 3))), [0], r"square matrix of numbers, not float64 of shape \(2, 3\)"),
    (Precomputed(np.eye(2)), [0, 2], "Observation 1 is 2, not a row number from 0 to 1"),
    (Precomputed(np.eye(2)), [-1], "Observation 0 is -1, not a row number"),
    (Precomputed(np.eye(2)), [0.5], "Observation 0 is 0.5, not a row number"),
    (Precomputed(np.eye(2)), X, r"needs row numbers as observations, not float64 of shape \(10, 3\)"),
]


@pytest.mark.parametrize(("kernel", "observations", "message"), BAD)
def test_bad_settings_are_refused_at_use(kernel: Kernel, observations: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        kernel(observations)


@pytest.mark.parametrize("kernel", [Laplacian(), AdditiveChiSquare(), Laplacian() + RBF()])
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_observations_that_are_no_numbers_are_refused(kernel: Kernel, value: float, form: Any) -> None:
    bad = abs(X)
    bad[3, 1] = value
    with pytest.raises(InputError, match=rf"^Observation 3 has the entry {value}, not a finite number\.$"):
        kernel(form(bad))


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_others_give_what_the_check_refuses(value: float) -> None:
    bad = X.copy()
    bad[3, 1] = value
    for kernel in (Linear(), RBF(), Matern(), Polynomial()):
        with pytest.raises(InputError, match=r"gives (nan|inf|-inf) for observations \d and 3\.$"):
            check_gram(kernel, bad)


@pytest.mark.parametrize("kernel", [Linear(), RBF(), Laplacian(), AdditiveChiSquare()])
def test_rows_of_different_lengths_are_refused(kernel: Kernel) -> None:
    with pytest.raises(
        InputError, match=r"^Observations have 3 and 2 numbers, but must have equally many\.$"
    ):
        kernel(abs(X), abs(X[:, :2]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kernel", [RBF(1.0), RBF(1.0) + Constant()], ids=repr)
def test_vectors_so_long_that_distances_are_lost_are_named(dtype: str, kernel: Kernel) -> None:
    unit = 1e3 if dtype == "float32" else 1e6
    long = (unit * np.random.default_rng(0).normal(size=(40, 7))).astype(dtype)
    with pytest.raises(
        InputError, match=f"loses its digits on .* {dtype} gives .* instead of .* the columns"
    ):
        check_gram(kernel, long)
    check_gram(RBF("median").on(long), long)
