"""Kernel values that are kept, against those computed anew."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse

from kernelfields import KernelCRF
from kernelfields.kernels import RBF, Polynomial
from kernelfields.selection import SGPS, SGSA, AtRandom, GreedyCliques, InTurn, LargestGradient, pool
from kernelfields.selection.pool import KernelTable


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_kept_values_are_those_computed(dtype: type, kind: str) -> None:
    rng = np.random.default_rng(0)
    X = (rng.random((90, 6)) * (rng.random((90, 6)) < 0.5)).astype(dtype)
    given = sparse.csr_matrix(X) if kind == "sparse" else X
    kernel = Polynomial(degree=2) if kind == "sparse" else RBF(0.5)
    whole = kernel.block(X.astype(np.float64), X.astype(np.float64))
    table = KernelTable(kernel, given)
    digits = 1e-5 if dtype == np.float32 else 1e-12
    coefficients = rng.normal(size=(90, 3))
    for _ in range(6):  # from the second or third on, all are kept
        some = rng.integers(0, 90, 11)
        np.testing.assert_allclose(table.rows(some), whole[some], rtol=digits, atol=digits)
        found = table.times(some, coefficients)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, whole[some] @ coefficients, atol=100 * digits)
    assert table._gram is not None
    assert pickle.loads(pickle.dumps(table))._gram is None


def test_few_rows_are_computed_though_all_are_kept() -> None:
    X = np.random.default_rng(0).random((400, 2))
    table = KernelTable(RBF(1.0), X)
    assert not table._many(2, 1)
    assert table._many(20, 1)
    assert not table._many(20, 26), "products with many columns take longer than kernel values"
    table.times(np.arange(300), np.ones((400, 1)))
    assert table._gram is not None
    whole = RBF(1.0).block(X, X)
    np.testing.assert_allclose(table.times(np.arange(2), np.ones((400, 1))), whole[:2].sum(axis=1)[:, None])


def test_large_sets_keep_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "MOST", 1000)
    X = np.random.default_rng(0).random((50, 2))
    table = KernelTable(RBF(1.0), X)
    for _ in range(5):
        table.times(np.arange(50), np.ones((50, 1)))
    assert table._gram is None


@pytest.mark.parametrize(
    "selection",
    [
        SGPS(30, step=2, order=AtRandom(2)),
        SGSA(30, step=2, order=InTurn()),
        SGSA(30, step=2, order=LargestGradient(3)),
        GreedyCliques(30, step=2, sample=5),
    ],
)
def test_growing_steps_end_at_the_same_size_with_fewer_refits(selection: SGPS) -> None:
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(6, 2)) for _ in range(12)]
    y = [["a" if row[0] > 0 else "b" for row in x] for x in X]
    paths = {}
    for growth in (0.0, 0.5):
        chosen = type(selection)(**{**vars(selection), "growth": growth})
        model = KernelCRF(RBF(1.0), basis=chosen, random_state=0).fit(X, y)
        paths[growth] = model.path_
        assert model.path_[-1].functions == 30
        assert model.certificate_.relative_gap <= 1e-3
    assert len(paths[0.5]) < 0.8 * len(paths[0.0])
