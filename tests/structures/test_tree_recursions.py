"""The recursions on trees compute the same; each is forced on the same inputs.

``only`` chooses: 1 scaled sums, 2 logarithms, both in double. What a recursion cannot hold it declines, and
the value stays NaN.
"""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from kernelfields import native
from kernelfields.structures import ChainBatch, TreeBatch

Array = np.ndarray[Any, Any]

LABELS = [1, 2, 3, 8, 9, 13, 17, 26, 40]
LENGTHS = [9, 1, 40, 0, 7, 13, 2, 60]
WEIGHTS = np.array([1.0, 0.5, 2.0, 1.0, 0.0, 3.0, -1.0, 1.5])


def forests(rng: np.random.Generator, lengths: list[int], roots: float = 0.1) -> tuple[Array, Array]:
    """Offsets and parents; vertices in any order, some with many children."""
    offsets = np.cumsum([0, *lengths])
    parents = np.full(offsets[-1], -1, dtype=np.int64)
    for start, length in zip(offsets, lengths, strict=False):
        order = start + rng.permutation(length)
        for k in range(1, length):
            if rng.random() > roots:
                parents[order[k]] = order[int(k * rng.random() ** 3)]
    return offsets, parents


def arrays(rng: np.random.Generator, L: int, *, shared: bool, scale: float, dtype: type = np.float64) -> Any:
    offsets, parents = forests(rng, LENGTHS)
    tree = TreeBatch(offsets, parents, L, shared)
    node, edge = (rng.uniform(-scale, scale, tree.shapes[name]).astype(dtype) for name in ("node", "edge"))
    return node, edge, native.TreeShape(offsets, parents)


def assert_agree(left: Any, right: Any, tolerance: float) -> None:
    for a, b in zip(left, right, strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-11), (np.float32, 1e-6)])
@pytest.mark.parametrize("shared", [True, False], ids=["shared", "per edge"])
@pytest.mark.parametrize("L", LABELS)
def test_marginals(rng, L, shared, dtype, tolerance):
    given = arrays(rng, L, shared=shared, scale=2.0, dtype=dtype)
    scaled = native.tree_marginals(*given, WEIGHTS, 1)
    logarithms = native.tree_marginals(*given, WEIGHTS, 2)
    assert np.isfinite(scaled[0]).all()
    np.testing.assert_allclose(scaled[0], logarithms[0], rtol=1e-12)
    assert_agree(scaled, logarithms, tolerance)
    assert L == 1 or (scaled[0] != logarithms[0]).any()  # or the same recursion ran twice
    np.testing.assert_array_equal(native.tree_log_partition(*given), scaled[0])


@pytest.mark.parametrize("L", LABELS)
def test_covariance(rng, L):
    given = arrays(rng, L, shared=True, scale=2.0)
    direction = [rng.standard_normal(array.shape) for array in given[:2]]
    scaled = native.tree_covariance(*given, *direction, WEIGHTS, 1)
    assert np.isfinite(scaled[0]).all()
    assert_agree(scaled, native.tree_covariance(*given, *direction, WEIGHTS, 2), 1e-10)


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "per edge"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_forbidden_labels_and_pairs(rng, shared, dtype):
    node, edge, shape = arrays(rng, 5, shared=shared, scale=3.0, dtype=dtype)
    for array in (node, edge):
        array[rng.random(array.shape) < 0.3] = -np.inf
    node[:, 2] = edge[..., 2, 2] = 0  # label 2 everywhere is allowed
    scaled = native.tree_marginals(node, edge, shape, None, 1)
    assert np.isfinite(scaled[0]).all()
    wanted = native.tree_marginals(node, edge, shape, None, 2)
    assert_agree(scaled, wanted, 1e-11 if dtype == np.float64 else 1e-5)
    assert (scaled[1][node == -np.inf] == 0).all()
    assert (scaled[2][edge == -np.inf] == 0).all()


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "per edge"])
def test_what_ranges_too_far_is_declined_and_comes_out_right(rng, shared):
    node, edge, shape = arrays(rng, 4, shared=shared, scale=1.0)
    node[30] *= 1000  # in the third instance
    value = native.tree_marginals(node, edge, shape, None, 1)[0]
    assert np.isnan(value).tolist() == [s == 2 for s in range(8)]
    assert_agree(
        native.tree_marginals(node, edge, shape), native.tree_marginals(node, edge, shape, None, 2), 1e-11
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("forbids", [False, True])
def test_messages_of_many_children_may_contradict_each_other(dtype, forbids):
    # All leaves that want label 0 come first, then as many that want label 1: products in between underflow.
    leaves = 2000
    tree = TreeBatch([0, 1, leaves + 2], np.r_[-1, -1, np.ones(leaves, dtype=int)], n_labels=3)
    node = np.zeros((leaves + 2, 3), dtype=dtype)
    node[2 : leaves // 2 + 2, 0] = node[leaves // 2 + 2 :, 1] = 4
    node[:, 2] = -np.inf if forbids else -8
    edge = (2 * np.eye(3)).astype(dtype)
    value, parts = tree.marginals({"node": node, "edge": edge})
    half = 0.5 if forbids else parts["node"][1, 0]
    np.testing.assert_allclose(parts["node"][1, :2], [half, half], rtol=0, atol=1e-6)
    assert parts["node"][1, :2].sum() > 0.999
    np.testing.assert_allclose(parts["edge"].sum(), leaves, rtol=1e-6)
    wanted = native.tree_marginals(node, edge, native.TreeShape(tree.offsets, tree.parents), None, 2)
    np.testing.assert_allclose(value, wanted[0], rtol=1e-9 if dtype == np.float64 else 1e-6)
    np.testing.assert_allclose(parts["node"], wanted[1], rtol=0, atol=1e-9 if dtype == np.float64 else 1e-5)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("upside_down", [False, True])
def test_long_paths(rng, dtype, upside_down):
    T = 10_000
    chain = ChainBatch([0, T], n_labels=4)
    scores = {name: 2 * rng.standard_normal(shape) for name, shape in chain.shapes.items()}
    parents = np.append(np.arange(1, T), -1) if upside_down else np.arange(-1, T - 1)
    edge = scores["edge"].T if upside_down else scores["edge"]
    tree = TreeBatch([0, T], parents, n_labels=4)
    found = tree.marginals({"node": scores["node"].astype(dtype), "edge": edge.astype(dtype)})
    wanted = chain.marginals(scores)
    tolerance = 1e-12 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(found.log_partition, wanted.log_partition, rtol=tolerance)
    np.testing.assert_allclose(found.parts["node"], wanted.parts["node"], rtol=0, atol=tolerance)
    np.testing.assert_allclose(found.parts["node"].sum(axis=1), 1, rtol=0, atol=tolerance)


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "per edge"])
def test_single_precision_is_near_double(rng, shared):
    offsets, parents = forests(rng, LENGTHS)
    tree = TreeBatch(offsets, parents, 9, shared)
    scores = {name: 2 * rng.standard_normal(shape) for name, shape in tree.shapes.items()}
    single = {name: array.astype(np.float32) for name, array in scores.items()}
    value, parts = tree.marginals(scores)
    near, near_parts = tree.marginals(single)
    np.testing.assert_allclose(near, value, rtol=1e-5)
    for name in parts:
        assert near_parts[name].dtype == np.float32
        np.testing.assert_allclose(near_parts[name], parts[name], rtol=1e-4, atol=2e-5)
    np.testing.assert_allclose(tree.entropy(single), tree.entropy(scores), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(tree.argmax(single).value, tree.argmax(scores).value, rtol=1e-5)
    for name, array in tree.covariance(scores, scores).items():
        np.testing.assert_allclose(tree.covariance(single, single)[name], array, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda tree: pickle.loads(pickle.dumps(tree))])
def test_copies_compute_the_same(rng, twin):
    tree = TreeBatch(*forests(rng, LENGTHS), n_labels=3)
    scores = {name: rng.standard_normal(shape) for name, shape in tree.shapes.items()}
    np.testing.assert_array_equal(twin(tree).log_partition(scores), tree.log_partition(scores))
