"""The shape of labelled graphs: cliques, parts, instances; what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from kernelfields import InputError
from kernelfields.structures import Factors, GraphBatch
from kernelfields.testing.identities import parts_pair_with_scores


def some_graphs(**settings: object) -> GraphBatch:
    """A triangle with a pair of vertices at one end, nothing, an isolated vertex, and an edge."""
    edges = [[0, 1], [2, 1], [0, 2], [2, 0], [3, 2], [6, 5]]
    factors = {"triangle": Factors(np.array([[2, 1, 0]]), shared=False), "skip": Factors(np.array([[0, 3]]))}
    return GraphBatch([0, 4, 4, 5, 7], edges, 3, factors=factors, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("shared", [True, False])
def test_parts_pair_with_scores_of_every_instance(shared: bool) -> None:
    graph = some_graphs(shared_edges=shared)
    rng = np.random.default_rng(0)
    scores = {name: rng.standard_normal(shape) for name, shape in graph.shapes.items()}
    parts_pair_with_scores(graph, scores)


def test_the_score_is_the_sum_of_its_tables() -> None:
    graph = some_graphs()
    rng = np.random.default_rng(1)
    theta = {name: rng.standard_normal(shape) for name, shape in graph.shapes.items()}
    y = rng.integers(3, size=7)
    node, edge = theta["node"], theta["edge"]
    first = sum(node[v, y[v]] for v in range(4)) + sum(edge[y[a], y[b]] for a, b in graph.edges[:5])
    first += theta["triangle"][0, y[2], y[1], y[0]] + theta["skip"][y[0], y[3]]
    last = node[5, y[5]] + node[6, y[6]] + edge[y[6], y[5]]
    np.testing.assert_allclose(graph.score(theta, y), [first, 0.0, node[4, y[4]], last], rtol=1e-13)


def test_taken_instances_keep_cliques_and_label_sets() -> None:
    sets = np.ones((7, 3), dtype=bool)
    sets[6, 0] = False
    taken = some_graphs(label_sets=sets).take([3, 0])
    assert taken.edges.tolist() == [[1, 0], [2, 3], [4, 3], [2, 4], [4, 2], [5, 4]]
    assert taken.factors["triangle"].members.tolist() == [[4, 3, 2]]
    assert taken.label_sets is not None
    assert taken.label_sets.tolist()[1] == [False, True, True]
    zero = {name: np.zeros(shape) for name, shape in taken.shapes.items()}
    assert taken.score(zero, np.zeros(6, dtype=int)).tolist() == [-np.inf, 0.0]


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([[0, 4]], "different instances"),
        ([[0, 9]], "below 7"),
        ([[1, 1]], "itself"),
        ([[0, 1, 2]], "rows of vertices"),
        ([[0.5, 1]], "rows of vertices"),
        ([[5, 6], [0, 1]], "earlier instance"),
    ],
)
def test_edges_that_are_none_are_refused(edges: list[list[int]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        GraphBatch([0, 4, 4, 5, 7], edges, 3)


def test_a_vertex_without_labels_is_refused() -> None:
    with pytest.raises(InputError, match="Vertex 1 can have no label"):
        GraphBatch([0, 2], [], 2, label_sets=[[True, True], [False, False]])
