"""Searches for the best labelling of graphs: values, bounds and certificates against all labellings."""

from __future__ import annotations

from inspect import isabstract

import numpy as np
import pytest

from kernelfields import structures
from kernelfields.arrays import Array
from kernelfields.errors import InfeasibleError, InputError, ScoreError
from kernelfields.structures import (
    AlphaExpansion,
    ChainBatch,
    DualDecomposition,
    LabelSwap,
    LinearProgramMax,
    MaxSearch,
    SearchedGraphBatch,
    SemidefiniteMax,
    TreeBatch,
    TreeReweightedMax,
)
from tests._small_graphs import every_best, random_edges, random_graph, random_scores

SEARCHES = [TreeReweightedMax(), TreeReweightedMax(max_iter=1), LinearProgramMax()]


@pytest.mark.parametrize("search", SEARCHES, ids=repr)
@pytest.mark.parametrize("seed", range(12))
def test_the_best_score_lies_between_value_and_bound(search: MaxSearch, seed: int) -> None:
    graph = random_graph(seed, search=search)
    scores = random_scores(graph, seed)
    found, best = graph.approximate_argmax(scores), every_best(graph, scores)
    np.testing.assert_allclose(found.value, graph.score(scores, found.labels), rtol=1e-12)
    assert (found.value <= best + 1e-9).all()
    assert (best <= found.bound + 1e-9).all()
    np.testing.assert_allclose(found.value[found.certified], best[found.certified], atol=1e-7)


@pytest.mark.parametrize("seed", range(12))
def test_forbidden_pairs_stay_forbidden(seed: int) -> None:
    graph = random_graph(seed, label_sets=None)
    scores = random_scores(graph, seed, forbidden=0.1)
    best = every_best(graph, scores)
    if np.isneginf(best).any():
        graph, scores = (
            graph.take(np.flatnonzero(best > -np.inf)),
            graph.cut(scores, np.flatnonzero(best > -np.inf)),
        )
        best = best[best > -np.inf]
    for search in SEARCHES:
        found = search.find(_merged(graph), scores)
        assert (found.value <= best + 1e-9).all()
        assert (best <= found.bound + 1e-9).all()


def _merged(graph: SearchedGraphBatch):  # type: ignore[no-untyped-def]
    return graph._merged


def tree_edges(rng: np.random.Generator, n: int) -> Array:
    """Each vertex but the first joined to one before it, in either direction, in any numbering."""
    names = rng.permutation(n)
    edges = [[names[rng.integers(v)], names[v]] for v in range(1, n)]
    return np.array([edge[:: rng.choice([-1, 1])] for edge in edges])


@pytest.mark.parametrize("search", [TreeReweightedMax(), LinearProgramMax()], ids=repr)
@pytest.mark.parametrize("seed", range(6))
def test_trees_are_solved(search: MaxSearch, seed: int) -> None:
    rng = np.random.default_rng(seed)
    edges = tree_edges(rng, 12)
    graph = SearchedGraphBatch([0, 12], edges, 4, shared_edges=False, search=search)
    scores = random_scores(graph, seed, forbidden=0.15)
    parents, tables = rooted(12, edges, scores["edge"])
    tree = TreeBatch([0, 12], parents, 4, shared_edges=False)
    best = tree.argmax({"node": scores["node"], "edge": tables})
    found = graph.approximate_argmax(scores)
    assert found.certified.all()
    np.testing.assert_allclose(found.value, best.value, rtol=1e-9)
    np.testing.assert_array_equal(found.labels, best.labels)


def rooted(n: int, edges: Array, tables: Array) -> tuple[Array, Array]:
    """Parents from vertex 0 down, and tables in the order of lower ends, rows for the parent."""
    parents, below, order = np.full(n, -1), {}, [0]
    for v in order:
        for e, (a, b) in enumerate(edges):
            if v in (a, b):
                other = int(a + b - v)
                if other != parents[v]:
                    parents[other], below[other] = v, tables[e] if v == a else tables[e].T
                    order.append(other)
    return parents, np.array([below[v] for v in sorted(below)])


@pytest.mark.parametrize("seed", range(8))
def test_the_bound_of_message_passing_never_rises(seed: int) -> None:
    graph = random_graph(seed)
    scores = random_scores(graph, seed)
    bounds = [TreeReweightedMax(max_iter=k, tol=0.0).find(_merged(graph), scores).bound for k in range(1, 15)]
    assert (np.diff(bounds, axis=0) <= 1e-9).all()
    assert (bounds[0] > bounds[-1] + 1e-6).any()  # it does move


@pytest.mark.parametrize("seed", range(8))
def test_the_bound_of_message_passing_is_that_of_the_linear_program_with_two_labels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = SearchedGraphBatch([0, 8, 15], random_edges(rng, (8, 7), 2.0), 2, shared_edges=False)
    scores = random_scores(graph, seed)
    tight = LinearProgramMax().find(_merged(graph), scores)
    found = TreeReweightedMax(max_iter=3000, tol=0.0).find(_merged(graph), scores)
    assert (found.bound >= tight.bound - 1e-7).all()
    np.testing.assert_allclose(found.bound, tight.bound, rtol=2e-4)


@pytest.mark.parametrize("seed", range(6))
def test_message_passing_never_beats_the_linear_program(seed: int) -> None:
    graph = random_graph(seed)
    scores = random_scores(graph, seed)
    tight = LinearProgramMax().find(_merged(graph), scores).bound
    found = TreeReweightedMax(max_iter=1000, tol=0.0).find(_merged(graph), scores).bound
    assert (found >= tight - 1e-6).all()
    assert np.median(found - tight) < 1e-3 * np.abs(tight).max()


def test_both_directions_of_an_edge_count() -> None:
    edge = np.array([[0.0, 3.0], [1.0, 0.0]])
    graph = SearchedGraphBatch([0, 2], [[0, 1], [1, 0]], 2)
    found = graph.approximate_argmax({"node": np.array([[0.0, 0.5], [0.0, 0.0]]), "edge": edge})
    assert found.labels.tolist() == [1, 0]  # 0.5 + 1 + 3
    assert found.value.tolist() == [4.5]
    assert found.certified.tolist() == [True]


def test_a_path_is_a_chain() -> None:
    graph = SearchedGraphBatch([0, 6], [[v, v + 1] for v in range(5)], 5)
    scores = random_scores(graph, 3)
    best = ChainBatch([0, 6], 5).argmax(scores)
    found = graph.approximate_argmax({name: a.astype(np.float32) for name, a in scores.items()})
    np.testing.assert_array_equal(found.labels, best.labels)
    np.testing.assert_allclose(found.value, best.value, rtol=1e-6)


def test_settings_survive_taking_and_untying() -> None:
    graph = random_graph(0, search=TreeReweightedMax(max_iter=3))
    for other in (graph.take([0, 3]), graph.untied(["edge"])):
        assert isinstance(other, SearchedGraphBatch)
        assert other.search == graph.search
    assert "TreeReweightedMax(max_iter=3" in repr(graph)


EVERY_SEARCH: list[MaxSearch] = [
    AlphaExpansion(),
    AlphaExpansion(truncate=True),
    DualDecomposition(max_iter=100),
    LabelSwap(),
    LinearProgramMax(),
    SemidefiniteMax(max_iter=60),
    TreeReweightedMax(),
]


def test_every_search_is_asked_for_what_cannot_be_labelled() -> None:
    public = {name for name, one in vars(structures).items() if _is_search(one)}
    assert {type(search).__name__ for search in EVERY_SEARCH} == public


def _is_search(one: object) -> bool:
    return isinstance(one, type) and issubclass(one, MaxSearch) and not isabstract(one)


@pytest.mark.parametrize("labels", [1, 2, 3])
@pytest.mark.parametrize("barred", ["node", "edge", "path"])
@pytest.mark.parametrize("search", EVERY_SEARCH, ids=repr)
def test_what_cannot_be_labelled_is_an_error(search: MaxSearch, barred: str, labels: int) -> None:
    graph = SearchedGraphBatch([0, 1, 4], [[1, 2], [2, 3]], labels, search=search)
    scores = {"node": np.zeros((4, labels)), "edge": np.zeros((labels, labels))}
    if barred == "path":  # each edge alone could be had: every vertex must be 0, and the last must not
        scores["edge"][:, 1:] = scores["edge"][1:] = scores["node"][3, 0] = -np.inf
    elif barred == "node":
        scores["node"][2] = -np.inf
    else:
        scores["edge"][:] = -np.inf
    cuts = isinstance(search, AlphaExpansion | LabelSwap) and np.isneginf(scores["edge"]).any()
    refused = pytest.raises(InputError, match="finite scores of label pairs") if cuts else None
    with refused or pytest.raises(InfeasibleError, match=r"Graph 1 has no allowed labelling"):
        graph.approximate_argmax(scores)


def test_graphs_whose_every_labelling_was_missed_are_no_error() -> None:
    # Two labels around a triangle whose neighbours must differ: half of everything is in the polytope.
    triangle = SearchedGraphBatch([0, 3], [[0, 1], [1, 2], [2, 0]], 2, search=DualDecomposition(max_iter=50))
    scores = {"node": np.zeros((3, 2)), "edge": np.where(np.eye(2) > 0, -np.inf, 0.0)}
    found = triangle.approximate_argmax(scores)
    assert found.value[0] == -np.inf
    assert not found.certified[0]


def test_odd_scores_are_refused() -> None:
    graph = random_graph(1, label_sets=None)
    scores = random_scores(graph, 1)
    with pytest.raises(ScoreError, match="Graph 3"):
        graph.approximate_argmax(
            {**scores, "node": np.where(np.arange(16)[:, None] == 7, np.nan, scores["node"])}
        )
    with pytest.raises(ScoreError, match="cliques"):
        graph.approximate_argmax({**scores, "triple": scores["triple"] + np.inf})
    with pytest.raises(InputError, match="search is 'trws'"):
        SearchedGraphBatch([0, 1], [], 2, search="trws")  # type: ignore[arg-type]
