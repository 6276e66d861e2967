"""The semidefinite relaxation: bounds that hold, values that are known, labellings that are good."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from kernelfields import CRF, InfeasibleError, StructuredSVM, load
from kernelfields.arrays import Array
from kernelfields.decoders import SemidefiniteProgram, Viterbi
from kernelfields.errors import InputError
from kernelfields.structures import (
    ChainBatch,
    Exact,
    Factors,
    Graph,
    LinearProgramMax,
    SearchedGraphBatch,
    SecondOrderChainBatch,
    SemidefiniteMax,
    TreeBatch,
)
from kernelfields.structures.moment_matrix import MomentMatrix, Multipliers
from tests._problems import small_scores
from tests._small_graphs import SIZES, every_best, random_edges, random_scores

ANTI = np.array([[0.0, 1.0], [1.0, 0.0]])


def complete(n: int) -> Array:
    return np.array(list(combinations(range(n), 2)))


def ring(n: int) -> Array:
    return np.array([[v, (v + 1) % n] for v in range(n)])


def cut(n: int, edges: Array) -> tuple[SearchedGraphBatch, dict[str, Array]]:
    """The maximum cut: as many edges as possible between different labels."""
    graph = SearchedGraphBatch([0, n], edges, 2, search=SemidefiniteMax())
    return graph, {"node": np.zeros((n, 2)), "edge": ANTI}


def random_pairs(seed: int, n_labels: int = 3) -> SearchedGraphBatch:
    """Edges of two types, some in both directions, and labels that some vertices cannot have."""
    rng = np.random.default_rng(seed)
    N = sum(SIZES)
    sets = rng.random((N, n_labels)) < 0.85
    sets[np.arange(N), rng.integers(n_labels, size=N)] = True
    offsets = np.concatenate([[0], np.cumsum(SIZES)])
    edges = random_edges(rng, SIZES, 2.0)
    return SearchedGraphBatch(
        offsets,
        edges,
        n_labels,
        shared_edges=bool(seed % 2),
        label_sets=sets,
        search=SemidefiniteMax(max_iter=200),
    )


def relaxation(seed: int, n: int = 5, labels: int = 3) -> tuple[MomentMatrix, Array]:
    """A relaxation, and the scores of all labellings by sums over tables."""
    rng = np.random.default_rng(seed)
    pairs = complete(n)[rng.random(n * (n - 1) // 2) < 0.7]
    node, tables = rng.normal(size=(n, labels)), rng.normal(size=(len(pairs), labels, labels))
    node[0, 0] = tables[0, 1, 1] = -np.inf
    every = np.array(np.unravel_index(np.arange(labels**n), (labels,) * n)).T
    scores = node[np.arange(n), every].sum(axis=1)
    for (u, v), table in zip(pairs, tables, strict=True):
        scores = scores + table[every[:, u], every[:, v]]
    return MomentMatrix(node, pairs, tables), scores


@pytest.mark.parametrize("labels", [2, 3, 4])
def test_labellings_are_points_of_the_relaxation(labels: int) -> None:
    """Y of z zᵀ is z zᵀ again, and p the indicator."""
    rng = np.random.default_rng(0)
    pairs = complete(4)
    moments = MomentMatrix(np.zeros((4, labels)), pairs, np.zeros((6, labels, labels)))
    y = rng.integers(labels, size=4)
    z = np.concatenate([[1.0], *moments.corners[y]])
    w = labels - 1
    blocks = [np.outer(moments.corners[y[u]], moments.corners[y[v]]).ravel() for u, v in pairs]
    t = np.concatenate([z[1:], *blocks])
    np.testing.assert_allclose(
        moments.filled(t, np.zeros((1 + 4 * w, 1 + 4 * w))), np.outer(z, z), atol=1e-12
    )
    indicators = [
        np.eye(labels)[y].ravel(),
        *(np.outer(np.eye(labels)[y[u]], np.eye(labels)[y[v]]).ravel() for u, v in pairs),
    ]
    np.testing.assert_allclose(moments.probabilities(t), np.concatenate(indicators), atol=1e-12)
    np.testing.assert_allclose(np.trace(np.outer(z, z)), 5.0)


@pytest.mark.parametrize("seed", range(15))
def test_whatever_the_multipliers_the_bound_holds(seed: int) -> None:
    moments, scores = relaxation(seed)
    rng = np.random.default_rng(100 + seed)
    for size in (0.0, 0.1, 1.0, 10.0):
        dual = Multipliers(
            size * rng.normal(size=(moments.size, moments.size)), size * rng.normal(size=len(moments.theta))
        )
        assert moments.bound(dual) >= scores.max()


@pytest.mark.parametrize("labels", [2, 4])
def test_bounds_know_the_trace_and_the_sign(labels: int) -> None:
    """Adding c to all eigenvalues changes nothing; a multiplier of p ≥ 0 that is negative is none."""
    rng = np.random.default_rng(labels)
    moments = MomentMatrix(rng.normal(size=(4, labels)), complete(4), rng.normal(size=(6, labels, labels)))
    matrix, tables = rng.normal(size=(moments.size,) * 2), rng.normal(size=len(moments.theta))
    bound = moments.bound(Multipliers(matrix, tables))
    for shift in (-3.0, 7.0):
        moved = Multipliers(matrix + shift * np.eye(moments.size), tables)
        assert moments.bound(moved) == pytest.approx(bound, rel=1e-9)
    without = moments.bound(Multipliers(matrix, np.maximum(tables, 0.0)))
    assert bound == pytest.approx(without, rel=1e-12)
    assert abs(moments.bound(Multipliers(matrix, np.abs(tables))) - bound) > 1e-3


@pytest.mark.parametrize("n", [3, 5, 7, 9])
def test_odd_rings_have_the_value_that_is_known(n: int) -> None:
    """n (1 + cos(π/n))/2, between the best cut of n − 1 edges and the linear program's n."""
    graph, scores = cut(n, ring(n))
    found = graph.approximate_argmax(scores)
    assert found.value[0] == n - 1
    wanted = n * (1 + np.cos(np.pi / n)) / 2
    assert wanted - 1e-9 <= found.bound[0] < wanted + 1e-3
    tight = LinearProgramMax().find(graph._merged, scores).bound[0]
    assert tight == pytest.approx(n)
    assert found.bound[0] < tight - 0.2


@pytest.mark.parametrize("n", [4, 5, 8, 11])
def test_complete_graphs_have_the_value_that_is_known(n: int) -> None:
    graph, scores = cut(n, complete(n))
    found = graph.approximate_argmax(scores)
    assert found.value[0] == (n // 2) * (n - n // 2)
    assert n**2 / 4 - 1e-9 <= found.bound[0] < n**2 / 4 + 1e-3


@pytest.mark.parametrize("seed", range(5))
def test_the_best_score_lies_between_value_and_bound(seed: int) -> None:
    graph = random_pairs(seed)
    scores = random_scores(graph, seed)
    found, best = graph.approximate_argmax(scores), every_best(graph, scores)
    np.testing.assert_allclose(found.value, graph.score(scores, found.labels), rtol=1e-12)
    assert (found.value <= best + 1e-9).all()
    assert (best <= found.bound + 1e-9).all()
    assert (found.value >= best - 1e-9).mean() > 0.7


@pytest.mark.parametrize("seed", range(4))
def test_forbidden_pairs_stay_forbidden(seed: int) -> None:
    graph = SearchedGraphBatch([0, 6], complete(6), 3, shared_edges=False)
    scores = random_scores(graph, seed, forbidden=0.15)
    best = every_best(graph, scores)
    found = SemidefiniteMax(max_iter=200).find(graph._merged, scores)
    assert (found.value <= best + 1e-9).all()
    assert (best <= found.bound + 1e-9).all()
    assert np.isfinite(found.value).all() == np.isfinite(best).all()


@pytest.mark.parametrize("seed", range(3))
def test_it_is_at_least_as_tight_as_the_linear_program(seed: int) -> None:
    """Ising models on six vertices that are all joined, of either sign: mostly frustrated."""
    rng = np.random.default_rng(seed)
    graph = SearchedGraphBatch([0, 7], complete(7), 2, shared_edges=False)
    signs = rng.choice([-1.0, 1.0], size=(21, 1, 1)) * rng.random((21, 1, 1))
    scores = {"node": 0.3 * rng.normal(size=(7, 2)), "edge": signs * np.array([[1.0, -1.0], [-1.0, 1.0]])}
    found = SemidefiniteMax().find(graph._merged, scores)
    tight, best = LinearProgramMax().find(graph._merged, scores).bound, every_best(graph, scores)
    assert (best <= found.bound + 1e-9).all()
    assert (found.bound <= tight + 1e-3).all()
    assert found.bound[0] - best[0] < 0.5 * (tight[0] - best[0])
    np.testing.assert_allclose(found.value, best)


def test_trees_are_solved(rng: np.random.Generator) -> None:
    tree = TreeBatch([0, 4, 9], [1, -1, 1, 2, -1, 4, 4, 6, -1], 3, shared_edges=False)
    scores = small_scores(tree, rng, 2.0)
    found, best = SemidefiniteProgram().relax(tree, scores), tree.argmax(scores)
    np.testing.assert_allclose(found.value, best.value)
    np.testing.assert_allclose(found.bound, best.value, rtol=1e-3)


def test_vertices_without_edges_and_single_labels() -> None:
    alone = SearchedGraphBatch([0, 0, 3], np.empty((0, 2), int), 3, search=SemidefiniteMax())
    node = np.array([[0.0, 2.0, 1.0], [3.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    found = alone.approximate_argmax({"node": node, "edge": np.zeros((3, 3))})
    assert found.labels.tolist() == [1, 0, 2]
    np.testing.assert_allclose(found.bound, [0.0, 6.0], atol=1e-3)
    single = SearchedGraphBatch([0, 2], [[0, 1]], 1, search=SemidefiniteMax())
    found = single.approximate_argmax({"node": np.ones((2, 1)), "edge": np.ones((1, 1))})
    assert found.value.tolist() == found.bound.tolist() == [3.0]


def test_the_same_scores_have_the_same_labels(rng: np.random.Generator) -> None:
    graph, scores = cut(7, complete(7))
    first, second = (graph.approximate_argmax(scores) for _ in range(2))
    np.testing.assert_array_equal(first.labels, second.labels)
    assert first.bound == second.bound


class TestDecoder:
    def test_on_chains_and_graphs(self, rng: np.random.Generator) -> None:
        for batch in (ChainBatch([0, 4, 4, 9], 3), Exact().on([0, 5], ring(5), 3)):
            scores = small_scores(batch, rng, 2.0)
            labels = SemidefiniteProgram().decode(batch, scores)
            np.testing.assert_array_equal(labels, Viterbi().decode(batch, scores))

    def test_in_estimators(self, rng: np.random.Generator, tmp_path: Any) -> None:
        X = [(rng.normal(size=(5, 2)), ring(5)) for _ in range(4)]
        y = [["a" if row[0] > 0 else "b" for row in x] for x, _ in X]
        crf = CRF(structure="graph", decoder=SemidefiniteProgram(SemidefiniteMax(max_iter=100))).fit(X, y)
        assert crf.predict(X) == crf.predict(X, decoder="viterbi")
        crf.save(tmp_path / "crf.kf")
        assert load(tmp_path / "crf.kf").predict(X) == crf.predict(X)
        svm = StructuredSVM(structure=Graph(inference=SemidefiniteMax(max_iter=20, draws=2)), tol=0.3).fit(
            X, y
        )
        svm.save(tmp_path / "svm.kf")
        assert load(tmp_path / "svm.kf").predict(X) == svm.predict(X)
        assert svm.score(X, y) > 0.8

    def test_refusals(self, rng: np.random.Generator) -> None:
        large = SearchedGraphBatch([0, 401], ring(401), 2, search=SemidefiniteMax())
        with pytest.raises(
            InputError, match=r"401 vertices of 2 labels, a moment matrix of 402 rows; .* up to 400"
        ):
            large.approximate_argmax({"node": np.zeros((401, 2)), "edge": ANTI})
        second = SecondOrderChainBatch([0, 3], 2)
        with pytest.raises(TypeError, match="needs vertices and edges, which SecondOrderChainBatch has not"):
            SemidefiniteProgram().decode(second, small_scores(second, rng))
        triple = Exact().on([0, 3], ring(3), 2, factors={"all": Factors(np.array([[0, 1, 2]]))})
        with pytest.raises(InputError, match="is for vertices and pairs; 'all' joins 3 vertices"):
            SemidefiniteProgram().decode(triple, small_scores(triple, rng))
        barred = {"node": np.full((2, 2), -np.inf), "edge": ANTI}
        with pytest.raises(InfeasibleError):
            SemidefiniteProgram().decode(ChainBatch([0, 2], 2), barred)
        barred = {"node": np.zeros((2, 2)), "edge": np.full((2, 2), -np.inf)}
        with pytest.raises(InfeasibleError):
            SemidefiniteProgram(SemidefiniteMax(max_iter=50)).decode(ChainBatch([0, 2], 2), barred)
        with pytest.raises(InputError, match="tol is 0"):
            SemidefiniteMax(tol=0)
