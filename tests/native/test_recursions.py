"""Three recursions compute the same marginals; each is forced on the same inputs.

``only`` chooses: 0 scaled in single precision (float32 scores only), 1 scaled in double, 2 logarithms.
What a recursion cannot hold it declines, and the value stays NaN.
"""

from __future__ import annotations

import numpy as np
import pytest

from kernelfields import native
from kernelfields.testing import chain_reference

SCALED_SINGLE, SCALED_DOUBLE, LOGARITHMS = 0, 1, 2
LABELS = [1, 2, 3, 4, 5, 8, 9, 12, 13, 16, 17, 26, 40]
WEIGHTS = np.array([1.0, 0.5, 2.0, 0.0, 3.0, 1.5])


def batch(rng, L: int, *, shared: bool, scale: float = 1.0, dtype: type = np.float64):
    lengths = [9, 1, 4, 0, 7, 30]
    edges = sum(max(T - 1, 0) for T in lengths)
    shape = (L, L) if shared else (edges, L, L)
    node = rng.uniform(-scale, scale, (sum(lengths), L)).astype(dtype)
    return node, rng.uniform(-scale, scale, shape).astype(dtype), np.cumsum([0, *lengths])


def assert_agree(left, right, tolerance: float) -> None:
    for a, b in zip(left, right, strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "per edge"])
@pytest.mark.parametrize("L", LABELS)
def test_double(rng, L: int, shared: bool) -> None:
    arrays = batch(rng, L, shared=shared)
    scaled = native.chain_marginals(*arrays, WEIGHTS, SCALED_DOUBLE)
    assert np.isfinite(scaled[0]).all()
    assert_agree(scaled, native.chain_marginals(*arrays, WEIGHTS, LOGARITHMS), 1e-11)


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "per edge"])
@pytest.mark.parametrize("L", LABELS)
def test_single(rng, L: int, shared: bool) -> None:
    arrays = batch(rng, L, shared=shared, scale=5.0, dtype=np.float32)
    results = [native.chain_marginals(*arrays, WEIGHTS, only) for only in (0, 1, 2)]
    assert all(np.isfinite(result[0]).all() for result in results)
    assert_agree(results[0], results[2], 2e-5)
    assert_agree(results[1], results[2], 1e-6)
    assert L == 1 or results[0][0][0] != results[2][0][0]  # or the same recursion ran twice


def test_single_precision_has_no_meaning_for_double(rng) -> None:
    value = native.chain_marginals(*batch(rng, 3, shared=True), None, SCALED_SINGLE)[0]
    assert np.isnan(value).tolist() == [True, True, True, False, True, True]  # the empty one needs nothing


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "per edge"])
@pytest.mark.parametrize(
    ("only", "dtype", "held"),
    [(SCALED_SINGLE, np.float32, 9.0), (SCALED_DOUBLE, np.float32, 80.0), (SCALED_DOUBLE, np.float64, 80.0)],
)
def test_scaled_recursions_decline_what_they_cannot_hold(
    rng, only: int, dtype: type, held: float, shared
) -> None:
    """Right up to their range, and NaN, not a wrong number, beyond it; sequence by sequence."""
    node, edge, offsets = batch(rng, 4, shared=shared, scale=held, dtype=dtype)
    wanted = native.chain_marginals(node, edge, offsets, None, LOGARITHMS)
    assert_agree(native.chain_marginals(node, edge, offsets, None, only), wanted, 1e-4 if only == 0 else 1e-6)
    node[offsets[2]] *= 12
    value, marginals, _ = native.chain_marginals(node, edge, offsets, None, only)
    wanted_value, wanted_marginals, _ = native.chain_marginals(node, edge, offsets, None, LOGARITHMS)
    assert np.isnan(value).tolist() == [False, False, True, False, False, False]
    np.testing.assert_allclose(np.delete(value, 2), np.delete(wanted_value, 2), rtol=1e-5)
    rest = np.r_[: offsets[2], offsets[3] : len(node)]
    np.testing.assert_allclose(marginals[rest], wanted_marginals[rest], atol=1e-4)


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "per edge"])
@pytest.mark.parametrize(("only", "limit"), [(SCALED_SINGLE, 38.0), (SCALED_DOUBLE, 340.0)])
def test_node_and_edge_scores_count_together(only: int, limit: float, shared: bool) -> None:
    """A neighbour's message can differ by the range of node plus that of edge scores, no more."""
    for each, declined in ((0.45 * limit, False), (0.55 * limit, True)):
        node = np.array([[0, -each], [0, 0], [0, 0]], dtype=np.float32)
        edge = np.array([[0, -each], [0, 0]], dtype=np.float32)
        arrays = node, edge if shared else np.tile(edge, (2, 1, 1)), np.array([0, 3])
        assert np.isnan(native.chain_marginals(*arrays, None, only)[0][0]) == declined
        exact = chain_reference(*arrays[:2])
        np.testing.assert_allclose(native.chain_marginals(*arrays)[1], exact.node.astype(float), atol=1e-6)


@pytest.mark.parametrize("only", [SCALED_SINGLE, SCALED_DOUBLE])
@pytest.mark.parametrize("drift", [0.05, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("shared", [True, False], ids=["shared", "per edge"])
def test_scaled_recursions_decline_or_are_right_on_sticky_chains(
    only: int, drift: float, shared: bool
) -> None:
    """With forbidden transitions messages drift apart whatever the range of the scores."""
    for length in (5, 50, 200, 800):
        node = np.zeros((length, 3), dtype=np.float32)
        node[:, 1], node[:, 2] = drift, -drift
        node[-1, 1] = -np.inf
        edge = np.where(np.eye(3), 0, -np.inf).astype(np.float32)
        arrays = node, edge if shared else np.tile(edge, (length - 1, 1, 1)), np.array([0, length])
        value, marginals, _ = native.chain_marginals(*arrays, None, only)
        exact = chain_reference(*arrays[:2])
        if np.isfinite(value[0]):
            np.testing.assert_allclose(value[0], float(exact.log_partition), atol=2e-4, rtol=1e-5)
            np.testing.assert_allclose(marginals, exact.node.astype(float), atol=1e-4)
        declined = np.isnan(value[0])
        assert declined or drift * length < 400, "nothing in the type of computation can hold this"
        chosen = native.chain_marginals(*arrays)
        np.testing.assert_allclose(chosen[1], exact.node.astype(float), atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("L", LABELS)
def test_covariance(rng, L: int, dtype: type) -> None:
    arrays = batch(rng, L, shared=True, scale=2.0, dtype=dtype)
    direction = [rng.normal(size=array.shape).astype(dtype) for array in arrays[:2]]
    scaled = native.chain_covariance(*arrays, *direction, WEIGHTS, SCALED_DOUBLE)
    logarithms = native.chain_covariance(*arrays, *direction, WEIGHTS, LOGARITHMS)
    assert np.isfinite(scaled[0]).all()
    assert_agree(scaled, logarithms, 1e-10 if dtype == np.float64 else 1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_shared_edges_are_tiled_edges(rng, dtype: type) -> None:
    node, edge, offsets = batch(rng, 5, shared=True, scale=3.0, dtype=dtype)
    tiled = np.tile(edge, (sum(max(T - 1, 0) for T in np.diff(offsets)), 1, 1))
    direction = rng.normal(size=node.shape).astype(dtype), rng.normal(size=edge.shape).astype(dtype)
    long = direction[0], np.tile(direction[1], (len(tiled), 1, 1))
    tolerance = 1e-11 if dtype == np.float64 else 2e-5
    for left, right in (
        (native.chain_marginals(node, edge, offsets), native.chain_marginals(node, tiled, offsets)),
        (
            native.chain_covariance(node, edge, offsets, *direction),
            native.chain_covariance(node, tiled, offsets, *long),
        ),
    ):
        assert_agree(left, (right[0], right[1], right[2].sum(axis=0)), tolerance)
    np.testing.assert_array_equal(
        native.chain_argmax(node, edge, offsets)[0], native.chain_argmax(node, tiled, offsets)[0]
    )
