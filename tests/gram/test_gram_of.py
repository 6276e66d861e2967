"""Choice by memory, products for prediction, and kernels that misbehave."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from kernelfields import memory
from kernelfields.errors import InputError
from kernelfields.gram import PackedGram, StoredGram, TiledGram, gram_of, kernel_times, packed
from kernelfields.kernels import RBF, Kernel, Linear, Polynomial

from ._data import KERNELS, KINDS, assert_close, observations, plain


class Overlap(Kernel):
    """Common letters of two strings: a kernel of things that are not rows of numbers."""

    def block(self, X, Y):
        return np.array([[len(set(x) & set(y)) for y in Y] for x in X], dtype=float)

    def diagonal(self, X):
        return np.array([len(set(x)) for x in X], dtype=float)


class Bad(Kernel):
    """Gives what it is told to."""

    def __init__(self, value=np.nan, extra=0):
        self.value = value
        self.extra = extra

    def block(self, X, Y):
        block = np.ones((len(X), len(Y) + self.extra))
        block[X[:, 0] == 290, 0] = self.value
        return block

    def diagonal(self, X):
        return np.ones(len(X) + self.extra)


def test_the_limit_decides(rng) -> None:
    X = rng.normal(size=(700, 4))
    needed = PackedGram.bytes_for(700, np.dtype(float))
    assert isinstance(gram_of(RBF(), X, memory_limit=needed), PackedGram)
    assert isinstance(gram_of(RBF(), X, memory_limit=needed - 1), TiledGram)
    assert isinstance(gram_of(RBF(), X, np.float32, memory_limit=needed - 1), PackedGram)
    assert gram_of(RBF(), X.astype(np.float32)).dtype == np.float32
    assert gram_of(RBF(), X.astype(np.float32), np.float64).dtype == np.float64
    with pytest.raises(InputError, match="is int64, but must be float32 or float64"):
        gram_of(RBF(), X, np.int64)


def test_the_default_is_half_of_what_is_available(monkeypatch) -> None:
    assert 2**20 < packed.available_memory() < 2**50
    monkeypatch.setattr(packed, "available_memory", lambda: 1000)
    assert packed.memory_budget(None) == 500
    assert packed.memory_budget(7) == 7


def test_limits_of_containers(tmp_path) -> None:
    assert memory._of_container(tmp_path) is None
    (tmp_path / "memory.current").write_text("300\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert memory._of_container(tmp_path) is None
    (tmp_path / "memory.max").write_text("1000\n")
    assert memory._of_container(tmp_path) == 700


@pytest.mark.parametrize("limit", [30 * 2**20, 100 * 2**20])
def test_peak_memory(rng, limit) -> None:
    """All of K takes 144 MB, half of it 75: neither is used within a limit of 30, nor all of it within 100.

    What the core allocates, the stored half, is not traced but known by its size.
    """
    X, A = rng.normal(size=(6000, 3)).astype(np.float32), np.ones((6000, 2))
    tracemalloc.start()
    try:
        gram = gram_of(Polynomial(2), X, memory_limit=limit)
        gram.times(A)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(gram, PackedGram) == (limit > 75 * 2**20)
    stored = gram._numbers.nbytes if isinstance(gram, PackedGram) else 0
    assert stored + peak < limit


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("memory_limit", [None, 0, 8 * 6000])
def test_kernel_times(kind, memory_limit, rng) -> None:
    new, basis = observations(kind, rng, 300), observations(kind, rng, 150)
    for name, kernel in KERNELS.items():
        A = rng.normal(size=(150, 4))
        wanted = plain(name, new, basis) @ A
        assert_close(kernel_times(kernel, new, basis, A, memory_limit), wanted, np.float64)
        assert_close(kernel_times(kernel, new, basis, A, dtype=np.float32), wanted, np.float32)
    assert kernel_times(RBF(), new[:0], basis, A).shape == (0, 4)
    with pytest.raises(InputError, match=r"shape \(3, 1\), but must be \(150, m\)"):
        kernel_times(RBF(), new, basis, np.ones((3, 1)))


def test_strings() -> None:
    words = ["banana", "ananas", "kiwi", "", "banana"]
    K = Overlap().block(words, words)
    A = np.arange(10.0).reshape(5, 2)
    for limit in (None, 0):
        gram = gram_of(Overlap(), words, memory_limit=limit)
        np.testing.assert_allclose(gram.times(A), K @ A)
        np.testing.assert_allclose(
            gram.take(np.array([4, 2])).times(A[:2]), K[np.ix_([4, 2], [4, 2])] @ A[:2]
        )
    np.testing.assert_allclose(kernel_times(Overlap(), ["an"], words, A), Overlap().block(["an"], words) @ A)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_blocks_that_are_not_finite(value) -> None:
    X = np.arange(300.0)[:, None]
    with pytest.raises(InputError, match=f"Bad returned {value} for observations 290 and 256"):
        gram_of(Bad(value), X)
    with pytest.raises(InputError, match=f"Bad returned {value} for observations 290 and 0"):
        kernel_times(Bad(value), X, X, np.ones((300, 1)))


def test_blocks_of_the_wrong_shape() -> None:
    X = np.arange(300.0)[:, None]
    with pytest.raises(InputError, match=r"Bad returned a block of shape \(256, 301\) where \(256, 300\)"):
        gram_of(Bad(1.0, extra=1), X)
    with pytest.raises(InputError, match="Bad returned a diagonal of shape"):
        gram_of(Bad(1.0, extra=1), X, memory_limit=0)


def test_overflow_in_a_formula_is_found(rng) -> None:
    X = np.ones((300, 1), dtype=np.float32) * np.arange(1, 301, dtype=np.float32)[:, None]
    X[299] = 1e13
    with pytest.raises(InputError, match="Polynomial returned inf for observations 299 and 299"):
        gram_of(Polynomial(2), X)
    large = np.diag(np.full(300, 1e18, dtype=np.float32))  # finite, though their sum is not
    assert np.isfinite(gram_of(Polynomial(2, 1e-36), large).diagonal).all()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
def test_observations_that_are_not_finite(form, value, rng) -> None:
    X = rng.normal(size=(5, 3))
    X[3, 1] = value
    for kernel in KERNELS.values():
        with pytest.raises(InputError, match="Observation 3 has numbers that are NaN, infinite or too large"):
            gram_of(kernel, form(X))


def test_observations_of_the_wrong_kind() -> None:
    with pytest.raises(InputError, match="Linear needs observations that are rows of a matrix"):
        gram_of(Linear(), ["a", "b"])
    with pytest.raises(InputError, match="2 and 3 features"):
        kernel_times(Linear(), np.ones((1, 2)), np.ones((1, 3)), np.ones((1, 1)))
    with pytest.raises(InputError, match="gamma of RBF is -1"):
        gram_of(RBF(-1.0), np.ones((2, 2)) * [[1], [2]])
    with pytest.raises(InputError, match="nan for observations 0 and 1"):
        StoredGram(np.array([[1.0, np.nan], [np.nan, 1.0]]))
