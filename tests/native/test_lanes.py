"""Recursions for few labels, one sequence in every lane, beside those that take one sequence at a time."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from kernelfields import native

SCALED_DOUBLE, LOGARITHMS = 1, 2
FEW = range(1, 12)
"""One label and eleven are left to the other recursions."""


def ragged(rng, count: int, longest: int) -> np.ndarray:
    """Offsets of so many sequences, some of them of one position, some empty."""
    lengths = rng.integers(0, longest + 1, count)
    lengths[:2] = longest, 1
    return np.cumsum([0, *lengths])


def scores(rng, L: int, offsets: np.ndarray, dtype: type, scale: float = 2.0):
    node = (scale * rng.normal(size=(offsets[-1], L))).astype(dtype)
    return node, (scale * rng.normal(size=(L, L))).astype(dtype), offsets


def one_by_one(node, edge, offsets, weights, only: int):
    """Marginals of each sequence in a batch of its own: too few for lanes."""
    parts = [
        native.chain_marginals(
            np.ascontiguousarray(node[a:b]), edge, np.array([0, b - a]), weights[s : s + 1], only
        )
        for s, (a, b) in enumerate(itertools.pairwise(offsets.tolist()))
    ]
    return (
        np.concatenate([part[0] for part in parts]),
        np.concatenate([part[1] for part in parts]),
        sum(part[2] for part in parts),
    )


@pytest.mark.parametrize("count", [1, 5, 8, 16, 37, 100])
@pytest.mark.parametrize("L", FEW)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-11), (np.float32, 2e-5)])
def test_marginals(rng, L: int, count: int, dtype: type, tolerance: float) -> None:
    arrays = scores(rng, L, ragged(rng, count, 11) if count > 1 else np.array([0, 6]), dtype)
    weights = rng.uniform(0, 2, count)
    found = native.chain_marginals(*arrays, weights, together=True)
    for left, right in zip(found, one_by_one(*arrays, weights, LOGARITHMS), strict=True):
        np.testing.assert_allclose(left, right, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("count", [8, 37])
@pytest.mark.parametrize("L", FEW)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_best_labellings(rng, L: int, count: int, dtype: type) -> None:
    node, edge, offsets = scores(rng, L, ragged(rng, count, 13), dtype)
    labels, value = native.chain_argmax(node, edge, offsets)
    for s, (a, b) in enumerate(itertools.pairwise(offsets.tolist())):
        alone, its_value = native.chain_argmax(np.ascontiguousarray(node[a:b]), edge, np.array([0, b - a]))
        np.testing.assert_array_equal(labels[a:b], alone)
        assert value[s] == its_value[0]


@pytest.mark.parametrize("length", [13, 20_000])
@pytest.mark.parametrize("L", FEW)
@pytest.mark.parametrize(("dtype", "digits"), [(np.float64, 1e-12), (np.float32, 1e-6)])
def test_best_scores_are_those_of_their_labellings(
    rng, L: int, length: int, dtype: type, digits: float
) -> None:
    arrays = scores(rng, L, np.array([0, length]) if length > 100 else ragged(rng, 37, length), dtype)
    labels, value = native.chain_argmax(*arrays)
    np.testing.assert_allclose(value, native.chain_score(*arrays, labels), rtol=digits)


@pytest.mark.parametrize("L", FEW)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_ties_are_those_of_sequences_alone(rng, L: int, dtype: type) -> None:
    """Scores are small integers: many labellings are equally good."""
    offsets = ragged(rng, 37, 30)
    node = rng.integers(0, 2, (offsets[-1], L)).astype(dtype)
    edge = rng.integers(0, 2, (L, L)).astype(dtype)
    labels, _ = native.chain_argmax(node, edge, offsets)
    for a, b in itertools.pairwise(offsets.tolist()):
        alone, _ = native.chain_argmax(np.ascontiguousarray(node[a:b]), edge, np.array([0, b - a]))
        np.testing.assert_array_equal(labels[a:b], alone)


@pytest.mark.parametrize("L", [2, 3, 4, 9])
def test_best_labellings_of_odd_scores(rng, L: int) -> None:
    """Sums that overflow are no reason to refuse; a score that is NaN or infinite is."""
    node, edge, offsets = scores(rng, L, np.arange(0, 25 * 6 + 1, 6), np.float64)
    node[3 * 6 : 4 * 6] = -1e308
    node[4 * 6 : 5 * 6, 1:] = 1e307
    node[7 * 6 + 1, 1] = -np.inf
    node[11 * 6 + 4, 0] = np.nan
    node[13 * 6 + 5, 1] = np.inf
    node[14 * 6 + 5, 1], node[14 * 6, 0] = np.inf, -np.inf
    labels, value = native.chain_argmax(node, edge, offsets)
    bad = np.isnan(value)
    np.testing.assert_array_equal(np.flatnonzero(bad), [11, 13, 14])
    assert not labels.reshape(25, 6)[bad].any()
    for s in np.flatnonzero(~bad).tolist():
        alone = native.chain_argmax(np.ascontiguousarray(node[6 * s : 6 * s + 6]), edge, np.array([0, 6]))
        np.testing.assert_array_equal(labels[6 * s : 6 * s + 6], alone[0])
        assert value[s] == alone[1][0]


@pytest.mark.parametrize("L", [2, 5, 9])
def test_ties_go_to_the_lowest_label(L: int) -> None:
    offsets = np.arange(0, 81, 5)
    labels, _ = native.chain_argmax(np.zeros((80, L)), np.zeros((L, L)), offsets)
    assert not labels.any()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("L", [2, 3, 9])
def test_long_sequences_keep_their_precision(rng, L: int, dtype: type) -> None:
    arrays = scores(rng, L, np.arange(0, 16 * 3000 + 1, 3000), dtype)
    value, node, edge = native.chain_marginals(*arrays, together=True)
    other = native.chain_marginals(*(a.astype(np.float64) for a in arrays[:2]), arrays[2], None, LOGARITHMS)
    digits = 1e-10 if dtype is np.float64 else 3e-5
    np.testing.assert_allclose(value, other[0], rtol=digits)
    np.testing.assert_allclose(node, other[1], atol=digits)
    np.testing.assert_allclose(edge, other[2], rtol=10 * digits)


@pytest.mark.parametrize("first", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize("reach", [0.2, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("L", [2, 5, 10])
@pytest.mark.parametrize(("dtype", "digits"), [(np.float64, 1e-10), (np.float32, 1e-4)])
def test_ranges_of_scores(rng, L: int, reach: float, first: float, dtype: type, digits: float) -> None:
    """Factors are relative to the first label, which is always the best here, or the worst, or neither."""
    reach = reach * (8 if dtype is np.float64 else 1)
    node, edge, offsets = scores(rng, L, np.arange(0, 37 * 40 + 1, 40), dtype, reach)
    node[:, 0] = node[:, 0] + 3 * first * reach
    found = native.chain_marginals(node, edge, offsets, together=True)
    expected = native.chain_marginals(
        node.astype(np.float64), edge.astype(np.float64), offsets, None, LOGARITHMS
    )
    np.testing.assert_allclose(found[0], expected[0], rtol=digits)
    np.testing.assert_allclose(found[1], expected[1], atol=digits)
    np.testing.assert_allclose(found[2], expected[2], rtol=digits, atol=40 * digits)


@pytest.mark.parametrize("L", [2, 4, 9])
def test_what_lanes_cannot_hold_is_left_to_others(rng, L: int) -> None:
    """A sequence with a wide range, one with a forbidden label, one that is not finite, beside good ones."""
    node, edge, offsets = scores(rng, L, np.arange(0, 25 * 6 + 1, 6), np.float64)
    node[3 * 6 + 2, 0] = -900.0
    node[7 * 6 + 1, 1] = -np.inf
    node[11 * 6] = np.nan
    value, marginals, _ = native.chain_marginals(node, edge, offsets, together=True)
    assert np.isnan(value).tolist() == [s == 11 for s in range(25)]
    keep = np.ones(len(node), dtype=bool)
    keep[66:72] = False
    expected = native.chain_marginals(node, edge, offsets, None, LOGARITHMS)
    np.testing.assert_allclose(marginals[keep], expected[1][keep], atol=1e-11)
    assert marginals[7 * 6 + 1, 1] == 0
    labels, best = native.chain_argmax(node, edge, offsets)
    assert np.isnan(best).tolist() == [s == 11 for s in range(25)]
    assert labels[7 * 6 + 1] != 1
    assert not labels[66:72].any()


@pytest.mark.parametrize("L", [2, 9])
def test_forbidden_pairs(rng, L: int) -> None:
    node, edge, offsets = scores(rng, L, np.arange(0, 161, 8), np.float64)
    edge[0, 1] = -np.inf
    value, marginals, pairs = native.chain_marginals(node, edge, offsets, together=True)
    expected = native.chain_marginals(node, edge, offsets, None, LOGARITHMS)
    np.testing.assert_allclose(value, expected[0], rtol=1e-11)
    np.testing.assert_allclose(marginals, expected[1], atol=1e-11)
    assert pairs[0, 1] == 0
    labels, _ = native.chain_argmax(node, edge, offsets)
    before, after = labels.reshape(-1, 8)[:, :-1], labels.reshape(-1, 8)[:, 1:]
    assert not ((before == 0) & (after == 1)).any()


def test_lanes_are_used_where_rounding_may_tell(rng) -> None:
    """A sequence beside many is not added up as it is alone, unless it is asked to be."""
    node, edge, offsets = scores(rng, 3, np.arange(0, 16 * 50 + 1, 50), np.float64)
    together = native.chain_marginals(node, edge, offsets, together=True)[1]
    beside = native.chain_marginals(node, edge, offsets)[1]
    alone = native.chain_marginals(node, edge, offsets, None, SCALED_DOUBLE)[1]
    assert (together != alone).any()
    np.testing.assert_array_equal(beside, alone)


def in_one_piece(node, edge):
    """Return marginals of one long sequence by the recursion that takes a sequence at a time."""
    return native.chain_marginals(node, edge, np.array([0, len(node)]), None, LOGARITHMS)


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("length", [8192, 9001, 40_000])
@pytest.mark.parametrize("L", [2, 3, 5, 9, 10])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_long_sequence_in_pieces(rng, L: int, length: int, together: bool, dtype: type) -> None:
    node, edge, offsets = scores(rng, L, np.array([0, length]), dtype, scale=1.0)
    weights = np.array([1.5])
    value, marginals, pairs = native.chain_marginals(node, edge, offsets, weights, together=together)
    expected = in_one_piece(node.astype(np.float64), edge.astype(np.float64))
    digits = 1e-11 if dtype is np.float64 else 1e-4
    np.testing.assert_allclose(value, expected[0], rtol=digits / 10)
    np.testing.assert_allclose(marginals, 1.5 * expected[1], atol=digits)
    np.testing.assert_allclose(pairs, 1.5 * expected[2], rtol=10 * digits)


def sticky(rng, L: int, length: int, stay: float):
    """Scores of a sequence whose labels depend on labels far away."""
    return 0.05 * rng.normal(size=(length, L)), stay * np.eye(L), np.array([0, length])


@pytest.mark.parametrize("stay", [4.0, 7.0, 12.0])
@pytest.mark.parametrize("L", [2, 5])
def test_pieces_that_do_not_forget(rng, L: int, stay: float) -> None:
    """The first, the second, and no overlap is long enough; far from the truth if nobody looked."""
    node, edge, offsets = sticky(rng, L, 30_000, stay)
    value, marginals, pairs = native.chain_marginals(node, edge, offsets, together=True)
    expected = in_one_piece(node, edge)
    np.testing.assert_allclose(value, expected[0], rtol=1e-12)
    np.testing.assert_allclose(marginals, expected[1], atol=1e-9)
    np.testing.assert_allclose(pairs, expected[2], rtol=1e-9)


def viterbi(node: np.ndarray, edge: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the best labelling of one sequence, step by step."""
    best, before = node[0], []
    for row in node[1:]:
        table = best[:, None] + edge
        before.append(table.argmax(axis=0))
        best = table.max(axis=0) + row
    labels = [int(best.argmax())]
    for pointers in reversed(before):
        labels.append(int(pointers[labels[-1]]))
    return np.array(labels[::-1]), float(best.max())


@pytest.mark.parametrize("length", [8192, 20_011])
@pytest.mark.parametrize("L", [2, 3, 4, 5, 8, 9, 10])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_best_labelling_of_a_long_sequence(rng, L: int, length: int, dtype: type) -> None:
    node, edge, offsets = scores(rng, L, np.array([0, length]), dtype)
    labels, value = native.chain_argmax(node, edge, offsets)
    expected, best = viterbi(node.astype(np.float64), edge.astype(np.float64))
    np.testing.assert_allclose(value, best, rtol=1e-12 if dtype is np.float64 else 1e-6)
    np.testing.assert_array_equal(labels, expected)


@pytest.mark.parametrize("stay", [0.1, 1.0, 50.0])
def test_the_best_labelling_where_labels_stay(rng, stay: float) -> None:
    node, edge, offsets = sticky(rng, 3, 30_000, stay)
    edge[0, 2] = -np.inf
    labels, value = native.chain_argmax(node, edge, offsets)
    np.testing.assert_array_equal(labels, viterbi(node, edge)[0])
    np.testing.assert_allclose(value, native.chain_score(node, edge, offsets, labels), rtol=1e-12)


def test_a_long_sequence_that_is_not_finite(rng) -> None:
    node, edge, offsets = scores(rng, 3, np.array([0, 20_000, 40_000]), np.float64)
    node[12_345, 1] = np.nan
    value, _, _ = native.chain_marginals(node, edge, offsets, together=True)
    assert np.isnan(value).tolist() == [True, False]
    labels, best = native.chain_argmax(node, edge, offsets)
    assert np.isnan(best).tolist() == [True, False]
    assert not labels[:20_000].any()
