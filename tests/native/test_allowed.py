"""Chains where few label pairs are allowed, beside recursions that look at all of them."""

from __future__ import annotations

import numpy as np
import pytest

from kernelfields import native

LOGARITHMS = 2


def forbidding(rng, L: int, share: float, dtype: type = np.float64, scale: float = 1.0) -> np.ndarray:
    """Scores of pairs, a share of them allowed at random, each label one that follows and one before it."""
    edge = scale * rng.normal(size=(L, L))
    allowed = rng.random((L, L)) < share
    allowed[np.arange(L), rng.permutation(L)] = True
    return np.where(allowed, edge, -np.inf).astype(dtype)


def ragged(rng, count: int, longest: int) -> np.ndarray:
    """Offsets of sequences, some of them of one position, some empty."""
    lengths = rng.integers(0, longest + 1, count)
    lengths[:2] = longest, 1
    return np.cumsum([0, *lengths])


def by_logarithms(node, edge, offsets, weights):
    """Return what the recursion that holds anything finds, in double."""
    return native.chain_marginals(
        node.astype(np.float64), edge.astype(np.float64), offsets, weights, LOGARITHMS
    )


@pytest.mark.parametrize(("dtype", "digits"), [(np.float64, 1e-11), (np.float32, 1e-4)])
@pytest.mark.parametrize("count", [1, 7, 40])
@pytest.mark.parametrize(
    ("L", "share"), [(2, 0.3), (3, 0.5), (9, 0.4), (10, 0.05), (11, 0.1), (40, 0.1), (70, 0.02)]
)
def test_marginals(rng, L: int, share: float, count: int, dtype: type, digits: float) -> None:
    offsets = ragged(rng, count, 21) if count > 1 else np.array([0, 17])
    node = rng.normal(size=(offsets[-1], L)).astype(dtype)
    edge, weights = forbidding(rng, L, share, dtype), rng.uniform(0, 2, count)
    found = native.chain_marginals(node, edge, offsets, weights, together=True)
    expected = by_logarithms(node, edge, offsets, weights)
    np.testing.assert_allclose(found[0], expected[0], rtol=digits)
    np.testing.assert_allclose(found[1], expected[1], atol=digits)
    np.testing.assert_allclose(found[2], expected[2], rtol=digits, atol=digits)
    assert not found[2][np.isneginf(edge)].any()


@pytest.mark.parametrize("L", [4, 24])
def test_forbidden_labels_and_sequences_without_a_labelling(rng, L: int) -> None:
    """Some labels are forbidden at some positions; where nothing is left, a sequence has no value."""
    offsets = np.arange(0, 33 * 9 + 1, 9)
    node, edge = rng.normal(size=(offsets[-1], L)), forbidding(rng, L, 0.15)
    node[rng.random(node.shape) < 0.1] = -np.inf
    node[9 * 5 + 3] = -np.inf
    node[9 * 11 + 2, 1] = np.nan
    value, marginals, _ = native.chain_marginals(node, edge, offsets, together=True)
    expected = native.chain_marginals(node, edge, offsets, None, LOGARITHMS)
    np.testing.assert_allclose(value, expected[0], rtol=1e-11)
    assert not np.isfinite(value[5])
    assert np.isnan(value[11])
    keep = np.repeat(np.isfinite(expected[0]), 9)
    np.testing.assert_allclose(marginals[keep], expected[1][keep], atol=1e-11)


@pytest.mark.parametrize("scale", [20.0, 60.0])
def test_scores_that_drift_apart(rng, scale: float) -> None:
    """Two halves of labels that never meet: one falls behind until its messages could not be held."""
    L, offsets = 24, np.arange(0, 9 * 60 + 1, 60)
    edge = forbidding(rng, L, 0.2)
    edge[:12, 12:] = edge[12:, :12] = -np.inf
    edge[np.arange(L), np.arange(L)] = 0
    node = rng.normal(size=(offsets[-1], L))
    node[:, :12] -= scale
    node[offsets[1:] - 1, 12:] -= scale * 61  # the end decides for the half that fell behind
    value, marginals, pairs = native.chain_marginals(node, edge, offsets, together=True)
    expected = native.chain_marginals(node, edge, offsets, None, LOGARITHMS)
    np.testing.assert_allclose(value, expected[0], rtol=1e-12)
    np.testing.assert_allclose(marginals, expected[1], atol=1e-10)
    np.testing.assert_allclose(pairs, expected[2], atol=1e-8)


def test_long_sequences_keep_their_precision(rng) -> None:
    offsets = np.arange(0, 17 * 1500 + 1, 1500)
    for dtype, digits in ((np.float64, 1e-10), (np.float32, 1e-4)):
        node, edge = rng.normal(size=(offsets[-1], 12)).astype(dtype), forbidding(rng, 12, 0.1, dtype)
        value, marginals, pairs = native.chain_marginals(node, edge, offsets, together=True)
        expected = by_logarithms(node, edge, offsets, None)
        np.testing.assert_allclose(value, expected[0], rtol=digits)
        np.testing.assert_allclose(marginals, expected[1], atol=digits)
        np.testing.assert_allclose(pairs, expected[2], rtol=10 * digits, atol=10 * digits)


def test_pairs_are_skipped_where_rounding_may_tell(rng) -> None:
    """Sums over allowed pairs are added up in another order than those over all of them."""
    node, edge = rng.normal(size=(800, 30)), forbidding(rng, 30, 0.1)
    offsets = np.arange(0, 801, 50)
    together = native.chain_marginals(node, edge, offsets, together=True)[1]
    alone = native.chain_marginals(node, edge, offsets)[1]
    assert (together != alone).any()
    np.testing.assert_allclose(together, alone, atol=1e-12)
