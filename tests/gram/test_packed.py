"""Packed, plain and tiled Gram matrices against NumPy in float64."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from kernelfields.errors import InputError
from kernelfields.gram import PackedGram, StoredGram, TiledGram
from kernelfields.gram.blocks import block_times

from ._data import KERNELS, KINDS, assert_close, observations, plain

DTYPES = [np.dtype(np.float32), np.dtype(np.float64)]


def kept(way: str, name: str, X, dtype):
    """One Gram matrix, however it is kept."""
    if way == "packed":
        return PackedGram.of(KERNELS[name], X, dtype)
    if way == "tiled":
        return TiledGram(KERNELS[name], X, dtype)
    return StoredGram(plain(name, X).astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("way", ["packed", "tiled", "stored"])
def test_everything_equals_numpy(way, name, kind, dtype, rng) -> None:
    n = 600  # two panels and part of a third
    X = observations(kind, rng, n)
    K = plain(name, X)
    gram = kept(way, name, X, dtype)
    A = rng.normal(size=(n, 5))
    assert gram.size == n
    assert gram.dtype == dtype
    assert_close(gram.diagonal, K.diagonal(), dtype)
    assert_close(gram.times(A), K @ A, dtype)
    single = gram.times(A.astype(np.float32))
    assert single.dtype == np.float32
    assert_close(single, K @ A, np.float32)
    rows, columns = rng.integers(n, size=90), rng.permutation(n)[:300]
    assert_close(gram.block(rows, columns), K[np.ix_(rows, columns)], dtype)
    assert_close(gram.cross(rows, columns, A[:300]), K[np.ix_(rows, columns)] @ A[:300], dtype)
    part = gram.take(columns)
    assert part.size == 300
    assert_close(part.times(A[:300]), K[np.ix_(columns, columns)] @ A[:300], dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n", [0, 1, 2, 15, 16, 17, 255, 256, 257, 511, 1280, 1300, 2305])
def test_sizes(n, dtype, rng) -> None:
    """One panel, several, panels that end with or just beyond a stretch of columns."""
    X = rng.normal(size=(n, 3))
    K = X @ X.T
    packed = PackedGram.from_matrix(K.astype(dtype))
    for m in (1, 4):
        A = rng.normal(size=(n, m))
        assert_close(packed.times(A), K @ A, dtype)
    np.testing.assert_array_equal(packed.block(np.arange(n), np.arange(n)), K.astype(dtype))
    assert PackedGram.bytes_for(n, dtype) == packed._numbers.nbytes


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("m", range(41))
def test_numbers_of_columns(m, dtype, rng) -> None:
    K = rng.normal(size=(301, 301))
    K = (K + K.T).astype(dtype)
    A = rng.normal(size=(301, m))
    wanted = K.astype(float) @ A
    assert_close(PackedGram.from_matrix(K).times(A), wanted, dtype)
    assert_close(StoredGram(K).times(A), wanted, dtype)


def test_half_the_memory() -> None:
    for n in (4617, 25000):
        assert PackedGram.bytes_for(n, DTYPES[0]) < 0.54 * 4 * n * n


def test_single_precision_does_not_wear_out(rng) -> None:
    """Adding up 20,000 products in float32 one after the other would lose three digits."""
    row = np.full((1, 20_000), 0.1, dtype=np.float32)
    A = np.ones((20_000, 2))
    np.testing.assert_allclose(block_times(row, A), float(np.float32(0.1)) * 20_000, rtol=5e-6)


def test_what_is_stored_elsewhere(rng) -> None:
    X = rng.normal(size=(40, 3))
    K = X @ X.T
    A = rng.normal(size=(40, 3))
    views = [np.asfortranarray(K), np.pad(K, ((0, 0), (3, 4)))[:, 3:43], np.repeat(K, 2, axis=1)[:, ::2]]
    for view in views:
        np.testing.assert_allclose(StoredGram(view).times(np.asfortranarray(A)), K @ A, rtol=1e-10)
    assert StoredGram(np.eye(3, dtype=int)).dtype == np.float64


def test_pickle(rng) -> None:
    A = rng.normal(size=(300, 2))
    for kind in KINDS:
        X = observations(kind, rng, 300)
        for way in ("packed", "tiled", "stored"):
            gram = kept(way, "rbf", X, DTYPES[1])
            again = pickle.loads(pickle.dumps(gram))
            np.testing.assert_array_equal(again.times(A), gram.times(A))


def test_shapes_that_do_not_fit(rng) -> None:
    gram = PackedGram.from_matrix(np.eye(4))
    with pytest.raises(ValueError, match=r"columns has shape \(3, 2\), expected \(4, 2\)"):
        gram.times(np.ones((3, 2)))
    with pytest.raises(ValueError, match="rows holds 4, but the Gram matrix has 4 rows"):
        gram.block(np.array([4]), np.array([0]))
    with pytest.raises(InputError, match="square"):
        StoredGram(np.ones((2, 3)))
    with pytest.raises(InputError, match="square"):
        PackedGram.from_matrix(np.ones((2, 3)))
