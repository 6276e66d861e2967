"""Trees against enumeration of all labellings, against chains, and against their own derivatives."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest

from kernelfields.structures import ChainBatch, TreeBatch

Array = np.ndarray[Any, Any]


def random_forest(rng: np.random.Generator, lengths: list[int]) -> tuple[Array, Array]:
    """Offsets and parents; vertices in any order, about a quarter of them roots."""
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    parents = np.full(offsets[-1], -1, dtype=np.int64)
    for start, length in zip(offsets, lengths, strict=False):
        order = rng.permutation(length)
        for k in range(1, length):
            if rng.random() > 0.25:
                parents[start + order[k]] = start + order[rng.integers(k)]
    return offsets, parents


def random_scores(
    rng: np.random.Generator, tree: TreeBatch, forbidden: float = 0.0, size: float = 2.0
) -> dict[str, Array]:
    scores = {name: size * rng.standard_normal(shape) for name, shape in tree.shapes.items()}
    for array in scores.values():
        array[rng.random(array.shape) < forbidden] = -np.inf
    scores["node"][:, 0] = np.maximum(scores["node"][:, 0], -3.0)  # label 0 everywhere is always allowed
    scores["edge"][..., 0, 0] = np.maximum(scores["edge"][..., 0, 0], -3.0)
    return scores


class Enumerated(NamedTuple):
    """All labellings of all instances, by the definition alone."""

    log_partition: Array
    best: list[tuple[int, ...]]
    value: Array
    entropy: Array
    node: Array
    edge: Array  # one per edge
    node_change: Array
    edge_change: Array  # one per edge


def enumerate_all(tree: TreeBatch, scores: dict[str, Array], direction: dict[str, Array]) -> Enumerated:
    L, S = tree.n_labels, tree.n_instances
    number, count = {}, 0
    for v, p in enumerate(tree.parents):
        if p >= 0:
            number[v], count = count, count + 1
    node, node_change = np.zeros((2, tree.n_vertices, L))
    edge, edge_change = np.zeros((2, count, L, L))
    log_partition, value, entropy, best = np.zeros(S), np.zeros(S), np.zeros(S), []
    for s in range(S):
        vertices = range(tree.offsets[s], tree.offsets[s + 1])
        ways = list(itertools.product(range(L), repeat=len(vertices)))

        def total(of: dict[str, Array], y: tuple[int, ...], vertices: range = vertices) -> float:
            result = 0.0
            for v in vertices:
                result += float(of["node"][v, y[v - vertices.start]])
                if v in number:
                    pairs = of["edge"] if tree.shared_edges else of["edge"][number[v]]
                    result += float(pairs[y[tree.parents[v] - vertices.start], y[v - vertices.start]])
            return result

        values = np.array([total(scores, y) for y in ways])
        along = np.array([total(direction, y) for y in ways])
        value[s] = values.max()
        best.append(ways[int(values.argmax())])
        p = np.exp(values - value[s])
        log_partition[s] = value[s] + np.log(p.sum())
        p /= p.sum()
        entropy[s] = -sum(x * np.log(x) for x in p if x > 0)
        change = p * (along - p @ along)
        for y, x, dx in zip(ways, p, change, strict=True):
            for v in vertices:
                here = y[v - vertices.start]
                node[v, here] += x
                node_change[v, here] += dx
                if v in number:
                    above = y[tree.parents[v] - vertices.start]
                    edge[number[v], above, here] += x
                    edge_change[number[v], above, here] += dx
    return Enumerated(log_partition, best, value, entropy, node, edge, node_change, edge_change)


LENGTHS = [4, 0, 1, 6, 2, 5]


@pytest.fixture(params=[(True, 0.0), (True, 0.3), (False, 0.0), (False, 0.3)], ids=str)
def case(request: pytest.FixtureRequest) -> tuple[TreeBatch, dict[str, Array], np.random.Generator]:
    shared, forbidden = request.param
    rng = np.random.default_rng(7)
    tree = TreeBatch(*random_forest(rng, LENGTHS), n_labels=3, shared_edges=shared)
    return tree, random_scores(rng, tree, forbidden), rng


def weigh(tree: TreeBatch, weights: Array, node: Array, edge: Array) -> dict[str, Array]:
    """Weighted instances, and edges summed where they share their scores."""
    node = node * np.repeat(weights, np.diff(tree.offsets))[:, None]
    edge = edge * np.repeat(weights, np.diff(tree.edge_offsets))[:, None, None]
    return {"node": node, "edge": edge.sum(axis=0) if tree.shared_edges else edge}


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-5)])
def test_all_oracles_equal_enumeration(case, dtype, tolerance):
    tree, scores, rng = case
    scores = {name: array.astype(dtype) for name, array in scores.items()}
    direction = {name: rng.standard_normal(shape).astype(dtype) for name, shape in tree.shapes.items()}
    weights = rng.uniform(-1, 2, tree.n_instances)
    wanted = enumerate_all(tree, scores, direction)

    log_partition = tree.log_partition(scores)
    assert log_partition.dtype == np.float64
    np.testing.assert_allclose(log_partition, wanted.log_partition, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(tree.entropy(scores), wanted.entropy, rtol=1e-12, atol=1e-12)

    labels, value = tree.argmax(scores)
    np.testing.assert_array_equal(labels, np.concatenate([np.array(y, dtype=int) for y in wanted.best]))
    np.testing.assert_allclose(value, wanted.value, rtol=1e-13, atol=1e-13)

    found, marginals = tree.marginals(scores, weights)
    np.testing.assert_array_equal(found, log_partition)
    change = tree.covariance(scores, direction, weights)
    for name, array in weigh(tree, weights, wanted.node, wanted.edge).items():
        assert marginals[name].dtype == dtype
        np.testing.assert_allclose(marginals[name], array, rtol=0, atol=tolerance)
    for name, array in weigh(tree, weights, wanted.node_change, wanted.edge_change).items():
        assert change[name].dtype == dtype
        np.testing.assert_allclose(change[name], array, rtol=0, atol=10 * tolerance)


def test_marginals_and_covariance_are_derivatives(case):
    tree, scores, rng = case
    direction = {name: rng.standard_normal(shape) for name, shape in tree.shapes.items()}
    step = 1e-5

    def moved(sign: float) -> dict[str, Array]:
        return {name: scores[name] + sign * step * direction[name] for name in scores}

    slope = (tree.log_partition(moved(1)).sum() - tree.log_partition(moved(-1)).sum()) / (2 * step)
    marginals = tree.marginals(scores).parts
    assert slope == pytest.approx(sum(np.vdot(marginals[name], direction[name]) for name in scores), abs=1e-8)
    up, down = tree.marginals(moved(1)).parts, tree.marginals(moved(-1)).parts
    product = tree.covariance(scores, direction)
    for name in scores:
        np.testing.assert_allclose(product[name], (up[name] - down[name]) / (2 * step), rtol=0, atol=1e-8)


def test_parts_and_score_agree(case):
    tree, scores, rng = case
    labels = rng.integers(3, size=tree.n_vertices)
    weights = rng.uniform(0.5, 2, tree.n_instances)
    finite = {name: np.where(np.isinf(array), -50.0, array) for name, array in scores.items()}
    parts = tree.parts(labels, weights)
    product = sum(np.vdot(parts[name], finite[name]) for name in parts)
    assert product == pytest.approx(weights @ tree.score(finite, labels))
    best, value = tree.argmax(scores)
    np.testing.assert_array_equal(tree.score(scores, best), value)
    assert {name: array.shape for name, array in tree.parts(labels).items()} == tree.shapes


def test_score_is_the_sum_over_vertices_and_edges():
    tree = TreeBatch([0, 3], [2, 2, -1], n_labels=2, shared_edges=False)
    scores = {"node": np.arange(6.0).reshape(3, 2), "edge": 100.0 * np.arange(1, 9).reshape(2, 2, 2)}
    # Nodes 1 + 2 + 5; edge 0 from root label 1 to label 1, edge 1 from root label 1 to label 0.
    assert tree.score(scores, np.array([1, 0, 1])) == [8 + 400 + 700]
    scores["edge"][1, 1, 0] = -np.inf
    assert tree.score(scores, np.array([1, 0, 1])) == [-np.inf]


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("backwards", [False, True])
def test_a_path_is_a_chain(shared, backwards):
    rng = np.random.default_rng(3)
    chain = ChainBatch([0, 5, 5, 6, 40], n_labels=4, shared_edges=shared)
    scores = {name: 3 * rng.standard_normal(shape) for name, shape in chain.shapes.items()}
    direction = {name: rng.standard_normal(shape) for name, shape in chain.shapes.items()}
    parents = np.full(40, -1)
    if backwards:  # every position is the parent of the one before, so edges swap their ends
        parents[chain.edge_tails] = chain.edge_heads
    else:
        parents[chain.edge_heads] = chain.edge_tails
    tree = TreeBatch(chain.offsets, parents, 4, shared)

    def turned(arrays: dict[str, Array]) -> dict[str, Array]:
        edge = np.swapaxes(arrays["edge"], -1, -2) if backwards else arrays["edge"]
        return {"node": arrays["node"], "edge": edge}

    mine = turned(scores)
    np.testing.assert_allclose(tree.log_partition(mine), chain.log_partition(scores), rtol=1e-13)
    np.testing.assert_allclose(tree.entropy(mine), chain.entropy(scores), rtol=1e-12)
    np.testing.assert_array_equal(tree.argmax(mine).labels, chain.argmax(scores).labels)
    pairs = [
        (tree.marginals(mine).parts, chain.marginals(scores).parts),
        (tree.covariance(mine, turned(direction)), chain.covariance(scores, direction)),
    ]
    for found, wanted in pairs:
        for name in wanted:
            np.testing.assert_allclose(found[name], turned(wanted)[name], rtol=0, atol=1e-12)


def test_numbering_of_vertices_does_not_matter():
    rng = np.random.default_rng(5)
    tree = TreeBatch(*random_forest(rng, [30]), n_labels=3)
    scores = random_scores(rng, tree, forbidden=0.1)
    to = rng.permutation(30)  # vertex v becomes to[v]
    parents = np.full(30, -1)
    parents[to] = np.where(tree.parents >= 0, to[tree.parents], -1)
    node = np.empty_like(scores["node"])
    node[to] = scores["node"]
    other = TreeBatch([0, 30], parents, 3)
    found = other.marginals({"node": node, "edge": scores["edge"]})
    wanted = tree.marginals(scores)
    np.testing.assert_allclose(found.log_partition, wanted.log_partition, rtol=1e-13)
    np.testing.assert_allclose(found.parts["node"][to], wanted.parts["node"], rtol=0, atol=1e-13)
    np.testing.assert_allclose(found.parts["edge"], wanted.parts["edge"], rtol=0, atol=1e-12)


def test_sources_are_roots_and_sinks_are_leaves():
    tree = TreeBatch([0, 4, 4, 5], [1, -1, 1, 0, -1], n_labels=2)
    np.testing.assert_array_equal(tree.sources, [1, 4])
    np.testing.assert_array_equal(tree.sinks, [2, 3, 4])


def test_take_and_cut_give_the_same_instances(case):
    tree, scores, _ = case
    ids = [3, 1, 5, 3]
    some, cut = tree.take(ids), tree.cut(scores, ids)
    assert some.n_instances == 4
    assert {name: array.shape for name, array in cut.items()} == some.shapes
    np.testing.assert_array_equal(some.log_partition(cut), tree.log_partition(scores)[ids])
    node = tree.marginals(scores).parts["node"]
    rows = np.concatenate([np.arange(tree.offsets[s], tree.offsets[s + 1]) for s in ids])
    np.testing.assert_array_equal(some.marginals(cut).parts["node"], node[rows])


def test_samples_follow_the_marginals(case):
    tree, scores, _ = case
    count = 20_000
    draws = tree.sample(scores, count, seed=11)
    assert draws.shape == (count, tree.n_vertices)
    own = TreeBatch(tree.offsets, tree.parents, 3, shared_edges=False)
    edge_scores = np.broadcast_to(scores["edge"], own.shapes["edge"])
    marginals = own.marginals({"node": scores["node"], "edge": edge_scores}).parts
    node = (draws[:, :, None] == np.arange(3)).mean(axis=0)
    tails, heads = draws[:, tree.edge_tails], draws[:, tree.edge_heads]
    edge = ((3 * tails + heads)[:, :, None] == np.arange(9)).mean(axis=0).reshape(-1, 3, 3)
    # Five standard deviations each: about 160 frequencies, so a false alarm in 10,000 seeds.
    for found, wanted in ((node, marginals["node"]), (edge, marginals["edge"])):
        assert (np.abs(found - wanted) <= 5 * np.sqrt(wanted * (1 - wanted) / count) + 1e-12).all()


def test_samples_depend_on_the_seed_alone(case):
    tree, scores, _ = case
    first = tree.sample(scores, 50, seed=1)
    np.testing.assert_array_equal(first, tree.sample(scores, 50, seed=1))
    np.testing.assert_array_equal(first[:20], tree.sample(scores, 20, seed=1))
    assert (first != tree.sample(scores, 50, seed=2)).any()


def test_large_scores_neither_overflow_nor_cancel():
    rng = np.random.default_rng(4)
    tree = TreeBatch(*random_forest(rng, [6]), n_labels=3)
    scores = random_scores(rng, tree, size=1000.0)
    wanted = enumerate_all(tree, scores, scores)
    np.testing.assert_allclose(tree.log_partition(scores), wanted.log_partition, rtol=1e-14)
    np.testing.assert_allclose(tree.marginals(scores).parts["node"], wanted.node, rtol=0, atol=1e-12)
