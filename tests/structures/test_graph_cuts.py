"""Minimum cuts: exact with two labels, moves that never lower a score with more."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import maximum_flow

from kernelfields.arrays import Array
from kernelfields.errors import InfeasibleError, InputError
from kernelfields.structures import (
    AlphaExpansion,
    Factors,
    LabelSwap,
    SearchedGraphBatch,
    TreeReweightedMax,
)
from kernelfields.structures.cut_moves import CutMoves
from kernelfields.structures.fusion import PairScores, fuse, minimum_cut
from tests._small_graphs import every_best, random_edges, random_scores

SIZES = (7, 0, 1, 6)
OFFSETS = [0, 7, 7, 8, 14]


def attractive(seed: int, n_labels: int, search: CutMoves) -> tuple[SearchedGraphBatch, dict[str, Array]]:
    """Potts models with a strength for each edge; with two labels any submodular tables."""
    rng = np.random.default_rng(seed)
    edges = random_edges(rng, SIZES, 2.0)
    sets = np.ones((14, n_labels), dtype=bool)
    sets[[1, 9], [0, n_labels - 1]] = False
    graph = SearchedGraphBatch(OFFSETS, edges, n_labels, shared_edges=False, label_sets=sets, search=search)
    scores = random_scores(graph, seed)
    if n_labels == 2:
        edge = scores["edge"]
        edge[:, 0, 0] += np.maximum(edge[:, 0, 1] + edge[:, 1, 0] - edge[:, 0, 0] - edge[:, 1, 1], 0.0)
    else:
        scores["edge"] = rng.exponential(size=(len(edges), 1, 1)) * np.eye(n_labels)
    return graph, scores


@pytest.mark.parametrize("search", [AlphaExpansion(), LabelSwap()], ids=repr)
@pytest.mark.parametrize("seed", range(10))
def test_two_labels_are_solved_by_one_cut(search: CutMoves, seed: int) -> None:
    graph, scores = attractive(seed, 2, search)
    found = graph.approximate_argmax(scores)
    np.testing.assert_allclose(found.value, every_best(graph, scores), rtol=1e-9)
    assert found.certified.all()


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_of_a_fusion_is_its_score(seed: int) -> None:
    graph, scores = attractive(seed, 2, AlphaExpansion())
    pairs = PairScores.of(graph._merged.tables(scores))
    allowed = pairs.node > -np.inf
    found = fuse(pairs, np.where(allowed[:, 0], 0, 1), np.where(allowed[:, 1], 1, 0), truncate=False)
    np.testing.assert_allclose(found.bound, every_best(graph, scores), rtol=1e-9)
    np.testing.assert_allclose(found.bound, graph.score(scores, found.labels), rtol=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_capacities_of_very_different_sizes_are_cut_exactly(seed: int) -> None:
    graph, scores = attractive(seed, 2, AlphaExpansion())
    scores = {name: np.sign(a) * 10.0 ** (4 * np.abs(a) - 8) for name, a in scores.items()}
    edge = scores["edge"]
    edge[:, 0, 0] += np.maximum(edge[:, 0, 1] + edge[:, 1, 0] - edge[:, 0, 0] - edge[:, 1, 1], 0.0)
    found = graph.approximate_argmax(scores)
    np.testing.assert_allclose(found.value, every_best(graph, scores), rtol=1e-12)
    assert found.certified.all()


@pytest.mark.parametrize("search", [AlphaExpansion(), LabelSwap()], ids=repr)
@pytest.mark.parametrize("seed", range(10))
def test_no_single_label_and_no_expansion_is_better(search: CutMoves, seed: int) -> None:
    graph, scores = attractive(seed, 4, search)
    found, best = graph.approximate_argmax(scores), every_best(graph, scores)
    assert found.converged.all()
    assert (found.value <= best + 1e-9).all()
    assert (best <= found.bound + 1e-9).all()
    for v in range(graph.n_vertices):
        for label in range(4):
            changed = found.labels.copy()
            changed[v] = label
            assert (graph.score(scores, changed) <= found.value + 1e-9).all()
    energy = _attraction(scores, graph, found.value)
    if isinstance(search, AlphaExpansion):  # at most twice the least energy, that of Potts above its ground
        assert (energy <= 2 * _attraction(scores, graph, best) + 1e-9).all()


def _attraction(scores: dict[str, Array], graph: SearchedGraphBatch, value: Array) -> Array:
    """How far a score is below the sum of all maxima: Potts energies that are never negative."""
    owner = np.repeat(np.arange(4), np.diff(graph.offsets))
    assert graph.label_sets is not None
    node = np.where(graph.label_sets, scores["node"], -np.inf).max(axis=1)
    most = np.bincount(owner, node, 4)
    most += np.bincount(owner[graph.edges[:, 0]], scores["edge"].max(axis=(1, 2)), 4)
    return np.asarray(most - value)


@pytest.mark.parametrize("search", [AlphaExpansion(truncate=True), LabelSwap(truncate=True)], ids=repr)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n_labels", [2, 3])
def test_truncated_moves_end_no_worse_than_they_began(search: CutMoves, seed: int, n_labels: int) -> None:
    rng = np.random.default_rng(seed)
    graph = SearchedGraphBatch(OFFSETS, random_edges(rng, SIZES, 2.0), n_labels, search=search)
    scores = random_scores(graph, seed)
    start = graph.score(scores, scores["node"].argmax(axis=1).astype(np.int32))
    found, best = graph.approximate_argmax(scores), every_best(graph, scores)
    assert (start - 1e-9 <= found.value).all()
    assert (found.value <= best + 1e-9).all()
    assert (best <= found.bound + 1e-9).all()


def test_the_bound_can_be_that_of_another_search() -> None:
    graph, scores = attractive(3, 4, AlphaExpansion(bounded_by=TreeReweightedMax()))
    loose = AlphaExpansion().find(graph._merged, scores)
    found, best = graph.approximate_argmax(scores), every_best(graph, scores)
    assert (found.bound <= loose.bound + 1e-9).all()
    assert (found.bound < loose.bound - 0.1).any()
    assert (best <= found.bound + 1e-9).all()


def test_what_cuts_cannot_do_is_refused() -> None:
    zero = np.zeros((3, 2))
    ring = SearchedGraphBatch([0, 3], [[0, 1], [1, 2], [2, 0]], 2, search=AlphaExpansion())
    with pytest.raises(InputError, match=r"\[0, 1\] are not submodular for labels \[0, 0\] and \[1, 1\]"):
        ring.approximate_argmax({"node": zero, "edge": 1.0 - np.eye(2)})
    with pytest.raises(InputError, match="finite scores of label pairs"):
        ring.approximate_argmax({"node": zero, "edge": np.array([[0.0, -np.inf], [0.0, 0.0]])})
    with pytest.raises(InfeasibleError, match="Graph 0"):
        ring.approximate_argmax({"node": np.full((3, 2), -np.inf), "edge": np.eye(2)})
    triple = SearchedGraphBatch(
        [0, 3], [], 2, factors={"t": Factors(np.array([[0, 1, 2]]))}, search=AlphaExpansion()
    )
    with pytest.raises(InputError, match=r"not \[0, 1, 2\]"):
        triple.approximate_argmax({"node": zero, "edge": np.eye(2), "t": np.zeros((2, 2, 2))})
    with pytest.raises(InputError, match="bounded_by is 3"):
        AlphaExpansion(bounded_by=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(5))
def test_a_minimum_cut_of_whole_numbers_is_that_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tails, heads = rng.integers(12, size=(2, 40))
    different = tails != heads
    tails, heads = tails[different], heads[different]
    capacity, to_sink = rng.integers(9, size=len(tails)), rng.integers(-20, 20, size=12)
    every = np.arange(12)
    out, into = to_sink > 0, to_sink < 0
    rows = np.concatenate([tails, every[out], np.full(into.sum(), 12)])
    columns = np.concatenate([heads, np.full(out.sum(), 13), every[into]])
    values = np.concatenate([capacity, to_sink[out], -to_sink[into]])
    whole = coo_matrix((values, (rows, columns)), shape=(14, 14), dtype=np.int32).tocsr()
    found = minimum_cut(tails, heads, capacity.astype(float), to_sink.astype(float))
    assert found.flow.sum() == pytest.approx(maximum_flow(whole, 12, 13).flow_value, rel=1e-12)
    crossing = capacity[found.inside[tails] & ~found.inside[heads]].sum()
    crossing += to_sink[found.inside & out].sum() - to_sink[~found.inside & into].sum()
    assert found.flow.sum() == pytest.approx(crossing, rel=1e-12)
