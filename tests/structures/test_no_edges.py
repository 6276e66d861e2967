"""Batches without a single edge: whatever the scores of edges are, nothing comes of them."""

import numpy as np
import pytest

from kernelfields import native
from kernelfields.structures import ChainBatch, SecondOrderChainBatch, TreeBatch
from tests._problems import small_scores

BATCHES = [[0, 1], [0, 1, 1], [0, 1, 2, 3, 4, 5, 6], [0, 0]]
MAKERS = {
    "chain": ChainBatch,
    "second order": SecondOrderChainBatch,
    "tree": lambda offsets, L: TreeBatch(offsets, [-1] * offsets[-1], L),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("L", [1, 2, 9])
@pytest.mark.parametrize("value", [-np.inf, np.inf, np.nan])
def test_scores_of_edges_do_not_count(make, dtype, L, value, rng):
    for offsets in BATCHES:
        structure = make(offsets, L)
        scores = {name: array.astype(dtype) for name, array in small_scores(structure, rng, 1.0).items()}
        along = {name: array.astype(dtype) for name, array in small_scores(structure, rng, 1.0).items()}
        zeros = {name: array if name == "node" else 0 * array for name, array in scores.items()}
        odd = {
            name: array if name == "node" else np.full_like(array, value) for name, array in scores.items()
        }
        found, expected = structure.marginals(odd), structure.marginals(zeros)
        np.testing.assert_allclose(found.log_partition, expected.log_partition, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(structure.entropy(odd), structure.entropy(zeros), atol=1e-6)
        tilted, straight = structure.covariance(odd, along), structure.covariance(zeros, along)
        for name in structure.shapes:
            np.testing.assert_allclose(found.parts[name], expected.parts[name], atol=1e-6)
            np.testing.assert_allclose(tilted[name], straight[name], atol=1e-6)
            if name != "node":
                assert not found.parts[name].any()
                assert not tilted[name].any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("recursion", [0, 1, 2])
def test_every_recursion_leaves_forbidden_pairs_out(dtype, recursion, rng):
    node, edge = rng.normal(size=(5, 3)).astype(dtype), np.full((3, 3), -np.inf, dtype)
    _, _, sums = native.chain_marginals(node, edge, np.arange(6), None, recursion)
    assert (sums == 0).all()
    if recursion:
        along = (np.ones_like(node), np.ones_like(edge))
        _, _, sums = native.chain_covariance(node, edge, np.arange(6), *along, None, recursion)
        assert (sums == 0).all()
