"""Products of tall matrices in pieces, against NumPy's of whole ones."""

import numpy as np
import pytest

from kernelfields.graphs.tall_products import ROWS, TallProducts
from kernelfields.workers import one_by_one, workers


@pytest.mark.parametrize("rows", [0, 1, ROWS, 2 * ROWS + 3])
def test_pieces_make_the_whole(rows):
    rng = np.random.default_rng(0)
    V, X = np.asfortranarray(rng.normal(size=(rows, 7))), rng.normal(size=(rows, 4))
    C = rng.normal(size=(7, 4))
    tall = TallProducts(rows, one_by_one)
    np.testing.assert_allclose(tall.inner(V, X), V.T @ X, atol=1e-10)
    expected = X - V @ C
    tall.subtract(X, V, C)
    np.testing.assert_allclose(X, expected, atol=1e-12)
    np.testing.assert_allclose(tall.times(V, C, np.empty((rows, 4))), V @ C, atol=1e-12)


def test_a_product_may_overwrite_its_factor():
    rng = np.random.default_rng(1)
    V, C = np.asfortranarray(rng.normal(size=(ROWS + 5, 6))), rng.normal(size=(6, 3))
    expected = V @ C
    TallProducts(len(V), one_by_one).times(V, C, V[:, :3])
    np.testing.assert_allclose(V[:, :3], expected, atol=1e-12)


def test_the_same_on_any_number_of_threads():
    rng = np.random.default_rng(2)
    V, X = rng.normal(size=(3 * ROWS, 5)), rng.normal(size=(3 * ROWS, 2))
    alone = TallProducts(len(V), one_by_one).inner(V, X)
    with workers() as run:
        np.testing.assert_allclose(TallProducts(len(V), run).inner(V, X), alone, rtol=1e-14)
