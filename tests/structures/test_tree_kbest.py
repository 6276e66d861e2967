"""The k best labellings of trees against all labellings, sorted."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from kernelfields.errors import InfeasibleError
from kernelfields.structures import ChainBatch, TreeBatch

Array = np.ndarray[Any, Any]

# Several roots, parents after their children, a star, a path, one vertex, nothing.
PARENTS = [[2, 2, -1, -1, 3, 0], [-1, 0, 0, 0, 0], [1, 2, 3, -1], [-1], []]


def forests(parents: list[list[int]]) -> tuple[Array, Array]:
    offsets = np.cumsum([0, *map(len, parents)])
    moved = [
        np.where(np.array(p) >= 0, np.array(p) + start, -1)
        for p, start in zip(parents, offsets, strict=False)
        if p
    ]
    return offsets, np.concatenate(moved)


def all_scores(tree: TreeBatch, scores: dict[str, Array], s: int) -> list[float]:
    """Scores of all labellings of an instance, from the definition, best first."""
    vertices = range(tree.offsets[s], tree.offsets[s + 1])
    number = np.cumsum(tree.parents >= 0) - 1
    result = []
    for y in itertools.product(range(tree.n_labels), repeat=len(vertices)):
        total = 0.0
        for v in vertices:
            total += float(scores["node"][v, y[v - vertices.start]])
            if tree.parents[v] >= 0:
                pairs = scores["edge"] if tree.shared_edges else scores["edge"][number[v]]
                total += float(pairs[y[tree.parents[v] - vertices.start], y[v - vertices.start]])
        result.append(float(total))
    return sorted((x for x in result if x > -np.inf), reverse=True)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("forbidden", [0.0, 0.3])
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("k", [1, 2, 7, 100])
def test_against_all_labellings(rng, k, shared, forbidden, dtype):
    tree = TreeBatch(*forests(PARENTS), n_labels=3, shared_edges=shared)
    scores = {name: rng.standard_normal(shape).astype(dtype) for name, shape in tree.shapes.items()}
    for array in scores.values():
        array[rng.random(array.shape) < forbidden] = -np.inf
    scores["node"][:, 0] = scores["edge"][..., 0, 0] = 0.5  # label 0 everywhere is allowed
    labels, value = tree.kbest(scores, k)
    assert labels.shape == (k, tree.n_vertices)
    assert value.shape == (tree.n_instances, k)
    for s in range(tree.n_instances):
        wanted = all_scores(tree, scores, s)[:k]
        np.testing.assert_allclose(value[s, : len(wanted)], wanted, rtol=1e-12, atol=1e-12)
        assert (value[s, len(wanted) :] == -np.inf).all()
        mine = labels[:, tree.offsets[s] : tree.offsets[s + 1]]
        assert (mine[len(wanted) :] == -1).all()
        assert len({tuple(row) for row in mine[: len(wanted)]}) == len(wanted)
    for rank in range(k):
        whole = value[:, rank] > -np.inf
        found = tree.score(scores, np.maximum(labels[rank], 0))
        np.testing.assert_allclose(found[whole], value[whole, rank], rtol=1e-12, atol=1e-12)


def test_the_best_is_the_argmax_also_in_ties(rng):
    tree = TreeBatch(*forests(PARENTS), n_labels=3)
    scores = {name: rng.integers(0, 2, shape).astype(float) for name, shape in tree.shapes.items()}
    best = tree.argmax(scores)
    labels, value = tree.kbest(scores, 3)
    np.testing.assert_array_equal(labels[0], best.labels)
    np.testing.assert_array_equal(value[:, 0], best.value)


def test_a_path_towards_its_end_is_a_chain_with_its_ties(rng):
    chain = ChainBatch([0, 6, 9], n_labels=3)
    parents = np.array([1, 2, 3, 4, 5, -1, 7, 8, -1])
    tree = TreeBatch(chain.offsets, parents, n_labels=3)
    scores = {name: rng.integers(0, 3, shape).astype(float) for name, shape in chain.shapes.items()}
    turned = {"node": scores["node"], "edge": scores["edge"].T.copy()}
    wanted, found = chain.kbest(scores, 40), tree.kbest(turned, 40)
    np.testing.assert_array_equal(found.value, wanted.value)
    np.testing.assert_array_equal(found.labels, wanted.labels)


def test_long_paths_need_no_stack(rng):
    T = 10_000
    chain = ChainBatch([0, T], n_labels=3)
    scores = {name: rng.standard_normal(shape) for name, shape in chain.shapes.items()}
    tree = TreeBatch([0, T], np.arange(-1, T - 1), n_labels=3)
    np.testing.assert_allclose(tree.kbest(scores, 3).value, chain.kbest(scores, 3).value, rtol=1e-13)


def test_no_labelling_at_all_is_refused():
    tree = TreeBatch([0, 1, 2], [-1, -1], n_labels=2)
    scores = {"node": np.array([[0.0, 0.0], [-np.inf, -np.inf]]), "edge": np.zeros((2, 2))}
    with pytest.raises(InfeasibleError, match="Tree 1 has no allowed labelling"):
        tree.kbest(scores, 2)
