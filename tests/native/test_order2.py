"""Scaled recursions of second-order chains beside those with logarithms."""

from __future__ import annotations

import numpy as np
import pytest

from kernelfields import native


def draw(rng, L: int, lengths: list[int], dtype: type, scale: float = 1.0):
    offsets = np.cumsum([0, *lengths])
    node, edge = rng.normal(size=(offsets[-1], L)), rng.normal(size=(L, L))
    arrays = (node, edge, rng.normal(size=(L, L, L)))
    return [(scale * array).astype(dtype) for array in arrays] + [offsets]


def assert_same_marginals(arrays, tolerance: float, weights=None) -> None:
    found = native.chain2_marginals(*arrays, weights)
    expected = native.chain2_marginals(*arrays, weights, scaled=False)
    for left, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(left, right, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("L", [1, 2, 3, 4, 7, 8, 9, 16, 17, 22, 33])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-11), (np.float32, 1e-5)])
def test_marginals(rng, L: int, dtype: type, tolerance: float) -> None:
    arrays = draw(rng, L, [5, 0, 1, 2, 3, 4, 9, 6, 7, 13], dtype)
    assert_same_marginals(arrays, tolerance, rng.uniform(0, 2, 10))


@pytest.mark.parametrize("scale", [30.0, 60.0, 300.0])
def test_wide_ranges(rng, scale: float) -> None:
    """What can be held, what can hardly, and what is left to logarithms."""
    assert_same_marginals(draw(rng, 5, [20, 3, 40], np.float64, scale), 1e-9)


@pytest.mark.parametrize("share", [0.05, 0.3])
def test_forbidden_labels_pairs_and_triples(rng, share: float) -> None:
    arrays = draw(rng, 6, [30, 2, 1, 17, 64], np.float64)
    for array in arrays[:3]:
        array[rng.random(array.shape) < share / (1 + array.ndim)] = -np.inf
    assert_same_marginals(arrays, 1e-10)


def test_messages_that_drift_apart(rng) -> None:
    """Two labels that never follow each other: one of them falls behind until nothing of it is left."""
    node, edge, triple, offsets = draw(rng, 2, [2000], np.float64, 0.1)
    edge[0, 1] = edge[1, 0] = -np.inf
    node[:, 0] -= 1.0
    assert_same_marginals([node, edge, triple, offsets], 1e-10)


def test_long_sequences(rng) -> None:
    assert_same_marginals(draw(rng, 9, [3000, 2999, 1], np.float64), 1e-9)


def test_scores_that_are_not_finite(rng) -> None:
    node, edge, triple, offsets = draw(rng, 3, [4, 5, 2], np.float64)
    node[6, 1] = np.nan
    value, marginals, _, _ = native.chain2_marginals(node, edge, triple, offsets)
    assert np.isnan(value).tolist() == [False, True, False]
    np.testing.assert_allclose(marginals[:4].sum(axis=1), 1)
    triple[0, 1, 2] = np.inf
    assert np.isnan(native.chain2_marginals(node, edge, triple, offsets)[0]).tolist() == [True, True, False]
