"""Kernel values, block by block, are those of the whole."""

import numpy as np
import pytest
from scipy import sparse

from kernelfields.approximation import KernelMap, LeverageScores, RandomFourier
from kernelfields.approximation import columns as _columns
from kernelfields.approximation.columns import KernelColumns
from kernelfields.kernels import RBF, Laplacian


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(_columns, "BLOCK", 1)  # as small as they get: 64 rows


@pytest.mark.parametrize("kernel", [RBF(0.3), Laplacian(0.3)], ids=repr)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_columns_are_those_of_the_kernel(kernel, kind, rng):
    X = rng.normal(size=(200, 3))
    out = np.empty((200, 5))
    KernelColumns(kernel, kind(X)).fill(kind(X)[:5], out)
    expected = kernel(X, X[:5])
    np.testing.assert_allclose(out, expected, atol=1e-12)
    np.testing.assert_allclose(KernelColumns(kernel, kind(X)).column(4), expected[:, 4], atol=1e-12)
    coefficients = rng.normal(size=(5, 2))
    scores = KernelMap(kernel, X[:5]).times(X, coefficients)
    np.testing.assert_allclose(scores, expected @ coefficients, atol=1e-12)


def test_features_and_leverage_scores_do_not_depend_on_blocks(rng, monkeypatch):
    X = rng.normal(size=(200, 3))

    def both():
        features = RandomFourier(6).on(RBF(), X, np.random.RandomState(0)).factor.products.matrix
        return features, LeverageScores().scores(RBF(), X, 10, np.random.RandomState(0))

    small = both()
    monkeypatch.setattr(_columns, "BLOCK", 2**20)
    for one, other in zip(small, both(), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
