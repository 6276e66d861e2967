"""The border between NumPy and C++: types, layout, ownership, bad shapes."""

from __future__ import annotations

import gc
import sys

import numpy as np
import pytest

from kernelfields import native

OFFSETS = np.array([0, 3, 5])


def arrays(dtype: type = np.float64, shared: bool = True) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    edge = rng.normal(size=(2, 2) if shared else (3, 2, 2))
    return [rng.normal(size=(5, 2)).astype(dtype), edge.astype(dtype), OFFSETS]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_results_have_the_type_of_the_scores(dtype: type) -> None:
    log_partition, node, edge = native.chain_marginals(*arrays(dtype))
    assert log_partition.dtype == np.float64  # objective values are always double
    assert node.dtype == edge.dtype == dtype
    labels, value = native.chain_argmax(*arrays(dtype))
    assert (labels.dtype, value.dtype) == (np.int32, np.float64)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda node, edge, offsets: (node.astype(np.float32), edge, offsets),
        lambda node, edge, offsets: (node.astype(np.int64), edge.astype(np.int64), offsets),
        lambda node, edge, offsets: (node, edge, offsets.astype(np.int32)),
        lambda node, edge, offsets: (np.asfortranarray(node), edge, offsets),
        lambda node, edge, offsets: (np.repeat(node, 2, axis=0)[::2], edge, offsets),
        lambda node, edge, offsets: (node.tolist(), edge, offsets),
    ],
    ids=["mixed types", "integers", "short offsets", "Fortran order", "strided", "lists"],
)
def test_nothing_is_converted_in_silence(spoil) -> None:
    for function in (
        native.chain_log_partition,
        native.chain_marginals,
        native.chain_argmax,
        native.chain_entropy,
    ):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            function(*spoil(*arrays()))


@pytest.mark.parametrize(
    ("node", "edge", "offsets", "message"),
    [
        ((5,), (2, 2), [0, 3, 5], r"node has shape \(5\), expected \(positions, labels\)"),
        ((5, 0), (0, 0), [0, 3, 5], r"node has shape \(5, 0\)"),
        ((5, 2), (3, 3), [0, 3, 5], r"edge has shape \(3, 3\), expected \(2, 2\)"),
        ((5, 2), (4, 2, 2), [0, 3, 5], r"edge has shape \(4, 2, 2\), expected \(3, 2, 2\)"),
        ((5, 2), (4,), [0, 3, 5], r"edge has shape \(4\)"),
        ((5, 2), (2, 2), [0, 3, 6], "offsets ends at 6, but there are 5 rows"),
        ((5, 2), (2, 2), [0, 4, 3, 5], "offsets falls after entry 1"),
        ((5, 2), (2, 2), [1, 5], "offsets must be a vector that starts with 0"),
        ((5, 2), (2, 2), [], "offsets must be a vector that starts with 0"),
        ((5, 2), (2, 2), [[0, 5]], "offsets must be a vector that starts with 0"),
    ],
)
def test_bad_shapes_are_named(node, edge, offsets, message: str) -> None:
    batch = np.zeros(node), np.zeros(edge), np.array(offsets, dtype=np.int64)
    for function in (native.chain_log_partition, native.chain_marginals, native.chain_argmax):
        with pytest.raises(ValueError, match=message):
            function(*batch)


def test_bad_weights_and_directions_are_named() -> None:
    with pytest.raises(ValueError, match=r"weights has shape \(3\), expected \(2\)"):
        native.chain_marginals(*arrays(), np.ones(3))
    node, edge, offsets = arrays()
    with pytest.raises(ValueError, match=r"node_direction has shape \(4, 2\), expected \(5, 2\)"):
        native.chain_covariance(node, edge, offsets, node[:4], edge)
    with pytest.raises(ValueError, match=r"edge_direction has shape \(3, 2, 2\), expected the shape of edge"):
        native.chain_covariance(node, edge, offsets, node, np.zeros((3, 2, 2)))


@pytest.mark.parametrize("bad", [-1, 2])
def test_bad_labels_are_named(bad: int) -> None:
    labels = np.zeros(5, dtype=np.int32)
    labels[3] = bad
    with pytest.raises(ValueError, match=f"labels holds {bad} at position 3, expected 0 to 1"):
        native.chain_score(*arrays(), labels)


def test_weights_of_any_number_type_are_taken() -> None:
    wanted = native.chain_marginals(*arrays(), np.array([2.0, 3.0]))
    for weights in (np.array([2, 3]), np.array([2, 3], dtype=np.float32), np.array([2.0, 0, 3.0])[::2]):
        for found, right in zip(native.chain_marginals(*arrays(), weights), wanted, strict=True):
            np.testing.assert_array_equal(found, right)


def test_results_own_their_memory() -> None:
    """Results neither share memory with arguments nor keep them alive, and are writable."""
    batch = arrays()
    before = [sys.getrefcount(array) for array in batch]
    results = native.chain_marginals(*batch)
    assert [sys.getrefcount(array) for array in batch] == before
    for result in results:
        assert result.flags.writeable
        assert result.flags.c_contiguous
        assert not any(np.shares_memory(result, array) for array in batch)
        result[...] = 7  # a store into memory that is not ours would crash or change the next result
    again = native.chain_marginals(*batch)
    assert not any((array == 7).all() for array in again)


def test_large_blocks_are_not_handed_out_twice() -> None:
    """Released memory is used again, but by one owner at a time."""
    node = np.random.default_rng(0).normal(size=(400_000, 4))
    rest = np.zeros((4, 4)), np.arange(0, 400_001, 10)
    wanted = native.chain_marginals(node, *rest)[1].copy()  # the result itself is released here
    gc.collect()
    first = native.chain_marginals(node, *rest)[1]
    others = [native.chain_marginals(shift + node[::-1].copy(), *rest)[1] for shift in (1.0, 2.0)]
    assert not any(np.shares_memory(first, other) for other in others)
    np.testing.assert_array_equal(first, wanted)


def test_arguments_are_left_alone() -> None:
    batch = arrays()
    copies = [array.copy() for array in batch]
    native.chain_marginals(*batch)
    native.chain_argmax(*batch)
    native.chain_covariance(*batch, *batch[:2])
    native.chain_sample(*batch, 3, 0)
    for array, copy in zip(batch, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_read_only_scores_are_taken() -> None:
    batch = arrays()
    for array in batch:
        array.flags.writeable = False
    assert np.isfinite(native.chain_log_partition(*batch)).all()


@pytest.mark.parametrize("L", [1, 2, 4, 8])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shared", [True, False])
def test_argmax_stays_within_labels_at_nan(L: int, dtype: type, shared: bool) -> None:
    """No label attains a maximum that is NaN; the way back must not run out of the edge scores."""
    node = np.zeros((6, L), dtype=dtype)
    node[1] = np.nan
    edge = np.zeros((L, L) if shared else (4, L, L), dtype=dtype)
    labels, value = native.chain_argmax(node, edge, np.array([0, 3, 6]))
    np.testing.assert_array_equal(value, [np.nan, 0])
    assert ((labels >= 0) & (labels < L)).all()
