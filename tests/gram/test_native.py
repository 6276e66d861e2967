"""The core's part: threads, instruction sets, and the Gaussian transform."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from kernelfields import native
from kernelfields.gram import KernelBlocks, PackedGram, StoredGram
from kernelfields.kernels import RBF, Linear, Polynomial

from ._data import observations

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_the_gaussian_equals_the_formula(dtype, rng) -> None:
    for rows, columns in ((1, 1), (3, 5), (40, 333)):
        X, Y = 3 * rng.normal(size=(rows, 2)), 3 * rng.normal(size=(columns, 2))
        products = np.full((rows, columns + 9), 7.0, dtype=dtype)
        window = products[:, 4 : 4 + columns]
        window[...] = X @ Y.T
        left, right = (np.square(Z).sum(axis=1).astype(dtype) for Z in (X, Y))
        wanted = np.array(window, dtype=float)
        RBF(0.7).apply(wanted, left.astype(float), right.astype(float))
        native.gaussian_transform(window, left, right, 0.7)
        np.testing.assert_allclose(window, wanted, rtol=2e-5 if dtype == F32 else 1e-12, atol=1e-30)
        assert (products[:, :4] == 7).all()
        assert (products[:, 4 + columns :] == 7).all()


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize(
    ("rows", "columns", "m"), [(1, 1, 1), (5, 33, 2), (259, 40, 3), (2500, 1030, 4), (90, 7, 13)]
)
def test_products_with_few_columns_are_those_of_numpy(rows, columns, m, dtype, rng) -> None:
    matrix = rng.normal(size=(rows, columns + 5)).astype(dtype)[:, 2 : 2 + columns]  # rows apart
    left, right = rng.normal(size=(rows, m)).astype(dtype), rng.normal(size=(columns, m)).astype(dtype)
    exact = matrix.astype(float)
    atol = 1e-4 if dtype == F32 else 1e-10
    np.testing.assert_allclose(native.matrix_times(matrix, right), exact @ right, rtol=0, atol=atol)
    found = native.matrix_transposed_times(matrix, left)
    assert found.dtype == F64
    np.testing.assert_allclose(found, exact.T @ left, rtol=0, atol=atol)


def test_products_do_not_depend_on_threads(rng) -> None:
    matrix, left = rng.normal(size=(5000, 300)).astype(F32), rng.normal(size=(5000, 3)).astype(F32)
    many = native.matrix_transposed_times(matrix, left)
    with threadpool_limits(1):
        np.testing.assert_array_equal(native.matrix_transposed_times(matrix, left), many)


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("degree", [1, 2, 3, 4, 7, 13])
def test_the_polynomial_equals_the_formula(degree, dtype, rng) -> None:
    products = rng.normal(size=(5, 50)).astype(dtype)
    window = products[:, 3:40]
    wanted = window.astype(float)
    Polynomial(degree, 0.3, 0.9).apply(wanted, np.ones(5), np.ones(37))
    before = products.copy()
    native.polynomial_transform(window, 0.3, 0.9, degree)
    np.testing.assert_allclose(window, wanted, rtol=2e-5 if dtype == F32 else 1e-12, atol=1e-7)
    assert (products[:, :3] == before[:, :3]).all()
    assert (products[:, 40:] == before[:, 40:]).all()


def test_distances_below_zero_are_zero() -> None:
    products = np.full((1, 9), 1 + 1e-9)
    native.gaussian_transform(products, np.ones(1), np.ones(9), 5.0)
    assert (products == 1).all()


def everything(rng: np.random.Generator, dtype: np.dtype) -> list[np.ndarray]:
    """Enough work for threads to be used (above a millisecond)."""
    n = 1600
    A = rng.normal(size=(n, 17))
    found = []
    for kind in ("binary", "real", "dense"):
        gram = PackedGram.of(RBF(0.05) if kind == "dense" else Linear(), observations(kind, rng, n), dtype)
        found += [
            gram.times(A),
            gram.block(np.arange(n)[::-1], np.arange(n)),
            gram.take(np.arange(900)).times(A[:900]),
        ]
    found.append(StoredGram(found[1]).times(A))
    native.gaussian_transform(found[1], np.ones(n, dtype=dtype), np.ones(n, dtype=dtype), 0.1)
    return found


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_the_same_bits_on_any_number_of_threads(dtype) -> None:
    if not any(pool["user_api"] == "openmp" for pool in threadpool_info()):
        pytest.skip("This build has no OpenMP.")
    results = []
    for threads in (1, 2, 3):
        with threadpool_limits(limits=threads, user_api="openmp"):
            results.append(everything(np.random.default_rng(1), dtype))
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


COMPUTE = """
import sys
import numpy as np
from kernelfields import native
from tests.gram.test_native import everything, F32, F64

assert native.isa() == sys.argv[2]
arrays = everything(np.random.default_rng(1), F32) + everything(np.random.default_rng(1), F64)
np.savez(sys.argv[1], *(array[:, ::13] for array in arrays))
"""


def compute(isa: str, folder) -> list[np.ndarray]:
    target = folder / f"{isa}.npz"
    command = [sys.executable, "-c", COMPUTE, str(target), isa]
    result = subprocess.run(
        command, env={**os.environ, "KERNELFIELDS_ISA": isa}, capture_output=True, text=True, timeout=120
    )
    assert result.returncode == 0, result.stderr
    with np.load(target) as file:
        return [file[name] for name in file]


def test_instruction_sets_agree(tmp_path) -> None:
    isas = native.supported_isas()
    if len(isas) == 1:
        pytest.skip("There is only one instruction set.")
    wanted = compute(isas[0], tmp_path)
    for isa in isas[1:]:
        for k, (a, b) in enumerate(zip(wanted, compute(isa, tmp_path), strict=True)):
            scale = np.abs(a).max()
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=0, atol=scale * (1e-5 if k < len(wanted) / 2 else 1e-12))


def test_blocks_leave_the_rest_of_an_array_alone(rng) -> None:
    for kind in ("dense", "binary", "real"):
        X = observations(kind, rng, 30)
        room = np.full((30, 50), 5.0)
        KernelBlocks(RBF(), X, X, F64).fill(room[2:20, 7:30], 0, 0)
        room[2:20, 7:30] = 5
        assert (room == 5).all()


def test_bad_arrays() -> None:
    rows = np.array([0, 1]), np.array([3], dtype=np.int32)
    with pytest.raises(ValueError, match="index holds 3 at entry 0, but there are 3"):
        native.SparseIndex64(*rows, None, 3)
    index = native.SparseIndex64(*rows, None, 4)
    with pytest.raises(ValueError, match="Both sides must have values, or neither"):
        index.products(*rows, np.ones(1), 0, np.ones((1, 1)))
    with pytest.raises(ValueError, match="out must have"):
        index.products(*rows, None, 1, np.ones((1, 1)))
    with pytest.raises(ValueError, match="contiguous rows"):
        native.matrix_times(np.ones((4, 4))[:, ::2], np.ones((2, 1)))
    with pytest.raises(ValueError, match="columns"):
        native.matrix_transposed_times(np.ones((4, 2)), np.ones((2, 1)))
    with pytest.raises(ValueError, match=r"right has shape \(2\), expected \(3\)"):
        native.gaussian_transform(np.ones((2, 3)), np.ones(2), np.ones(2), 1.0)
