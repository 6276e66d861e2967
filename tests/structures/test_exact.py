"""Junction trees: against enumeration, chains and trees; refusals; odd scores and hostile arrays."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest

from kernelfields import native
from kernelfields.errors import InfeasibleError, InputError, ScoreError
from kernelfields.structures import (
    ChainBatch,
    Exact,
    ExactGraphBatch,
    Factors,
    TreeBatch,
)
from kernelfields.structures.graph_forest import GraphForest
from kernelfields.structures.junction_trees import JunctionTrees
from kernelfields.testing import Enumerated


def drawn(rng: np.random.Generator, structure, scale: float = 1.0) -> dict[str, np.ndarray]:
    return {name: scale * rng.normal(size=shape) for name, shape in structure.shapes.items()}


def random_graph(rng: np.random.Generator, vertices: int, labels: int, shared: bool) -> ExactGraphBatch:
    """Any pairs as edges, some in both directions; factors of three and four vertices; label sets."""
    pairs = np.array(list(itertools.permutations(range(vertices), 2)))
    edges = pairs[rng.random(len(pairs)) < 1.5 / vertices]
    factors = {
        f"of_{size}": Factors(
            np.array([rng.permutation(vertices)[:size] for _ in range(2)]), bool(rng.random() < 0.5)
        )
        for size in (3, 4)
    }
    sets = rng.random((vertices, labels)) < 0.8
    sets[np.arange(vertices), rng.integers(0, labels, vertices)] = True
    return ExactGraphBatch(
        [0, vertices], edges, labels, shared_edges=shared, factors=factors, label_sets=sets
    )


@pytest.mark.parametrize(("vertices", "labels"), [(12, 2), (11, 2), (8, 3), (7, 3), (6, 4), (4, 5)])
@pytest.mark.parametrize("scale", [1.0, 400.0])
def test_random_graphs_are_enumerated(vertices: int, labels: int, scale: float, rng) -> None:
    structure = random_graph(rng, vertices, labels, shared=vertices % 2 == 0)
    scores = drawn(rng, structure, scale)
    every = Enumerated(structure, scores)
    value, parts = structure.marginals(scores)
    np.testing.assert_allclose(value, every.log_partition(), rtol=1e-12)
    for name, wanted in every.marginals().parts.items():
        np.testing.assert_allclose(parts[name], wanted, atol=1e-12)
    np.testing.assert_allclose(structure.argmax(scores).value, every.best(), rtol=1e-12)
    np.testing.assert_allclose(structure.kbest(scores, 7).value, every.kbest(7), rtol=1e-12)
    np.testing.assert_allclose(structure.entropy(scores), every.entropy(), atol=1e-12)


def grid_edges(height: int, width: int) -> np.ndarray:
    place = np.arange(height * width).reshape(height, width)
    across = np.stack([place[:, :-1].ravel(), place[:, 1:].ravel()], 1)
    down = np.stack([place[:-1].ravel(), place[1:].ravel()], 1)
    return np.concatenate([across, down])


def transfer(node: np.ndarray, edge: np.ndarray, height: int, width: int) -> float:
    """log Z of a grid by multiplying matrices between the labellings of its rows: another algorithm."""
    L = node.shape[1]
    rows = np.array(list(itertools.product(range(L), repeat=width)))
    inside = [
        sum(node[y * width + x, rows[:, x]] for x in range(width))
        + sum(edge[y * (width - 1) + x, rows[:, x], rows[:, x + 1]] for x in range(width - 1))
        for y in range(height)
    ]
    log = inside[0]
    first = height * (width - 1)
    for y in range(1, height):
        between = sum(edge[first + (y - 1) * width + x][np.ix_(rows[:, x], rows[:, x])] for x in range(width))
        log = np.logaddexp.reduce(log[:, None] + between, axis=0) + inside[y]
    return float(np.logaddexp.reduce(log))


@pytest.mark.parametrize(("height", "width", "labels"), [(9, 4, 3), (4, 5, 4), (12, 7, 2)])
def test_grids(height: int, width: int, labels: int, rng) -> None:
    """Tables of several blocks, and log Z by matrices between rows."""
    structure = ExactGraphBatch([0, height * width], grid_edges(height, width), labels, shared_edges=False)
    assert min(height, width) <= structure.treewidths[0] <= min(height, width) + 2
    scores = drawn(rng, structure)
    value, parts = structure.marginals(scores)
    wanted = transfer(scores["node"], scores["edge"], height, width)
    np.testing.assert_allclose(value, wanted, rtol=1e-12)
    np.testing.assert_allclose(parts["edge"].sum(axis=(1, 2)), 1, rtol=1e-12)
    heads = structure.edge_heads
    np.testing.assert_allclose(parts["edge"].sum(axis=1), parts["node"][heads], atol=1e-13)
    vertex, step = 5, 1e-5
    up, down = scores["node"].copy(), scores["node"].copy()
    up[vertex, 1] += step
    down[vertex, 1] -= step
    slope = (transfer(up, scores["edge"], height, width) - transfer(down, scores["edge"], height, width)) / (
        2 * step
    )
    np.testing.assert_allclose(parts["node"][vertex, 1], slope, atol=1e-8)


@pytest.mark.parametrize("shared", [True, False])
def test_path_is_chain(shared: bool, rng) -> None:
    chain = ChainBatch([0, 4, 4, 5, 12], 3, shared_edges=shared)
    graph = ExactGraphBatch(
        chain.offsets, np.stack([chain.edge_tails, chain.edge_heads], 1), 3, shared_edges=shared
    )
    same_both_ways(graph, chain, drawn(rng, chain))


@pytest.mark.parametrize("shared", [True, False])
def test_tree_shaped_graph_is_tree(shared: bool, rng) -> None:
    tree = TreeBatch([0, 5, 5, 9], [1, -1, 1, 1, -1, -1, 5, 8, 5], 3, shared_edges=shared)
    graph = ExactGraphBatch(
        tree.offsets, np.stack([tree.edge_tails, tree.edge_heads], 1), 3, shared_edges=shared
    )
    same_both_ways(graph, tree, drawn(rng, tree))


def same_both_ways(graph: ExactGraphBatch, other, scores: dict[str, np.ndarray]) -> None:
    """With the recursions of trees, and by junction trees, which a factor without scores asks for."""
    assert isinstance(graph._engine, GraphForest)
    same(graph, other, scores)
    more = {"none": Factors(np.array([[0]]))}
    plain = ExactGraphBatch(
        graph.offsets, graph.edges, graph.n_labels, shared_edges=graph.shared_edges, factors=more
    )
    assert isinstance(plain._engine, JunctionTrees)
    same(plain, other, scores)


def same(graph: ExactGraphBatch, other, scores: dict[str, np.ndarray]) -> None:
    weights = 0.5 + np.arange(graph.n_instances)
    if "none" in graph.shapes:
        scores = {**scores, "none": np.zeros(graph.n_labels)}
    (value, parts), wanted = graph.marginals(scores, weights), other.marginals(scores, weights)
    np.testing.assert_allclose(value, wanted.log_partition, rtol=1e-12)
    direction = {name: array[::-1] for name, array in scores.items()}
    slopes, expected = (each.covariance(scores, direction, weights) for each in (graph, other))
    for name in wanted.parts:
        np.testing.assert_allclose(parts[name], wanted.parts[name], atol=1e-12)
        np.testing.assert_allclose(slopes[name], expected[name], atol=1e-11)
    np.testing.assert_array_equal(graph.argmax(scores).labels, other.argmax(scores).labels)
    np.testing.assert_allclose(graph.kbest(scores, 4).value, other.kbest(scores, 4).value, rtol=1e-12)
    np.testing.assert_allclose(graph.entropy(scores), other.entropy(scores), atol=1e-12)
    errors = np.arange(graph.n_vertices * graph.n_labels).reshape(-1, graph.n_labels) % 3
    found, wanted = (each.best_by_errors(scores, errors) for each in (graph, other))
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    counts = np.array([2, 0, 1, 3])[: graph.n_instances]
    found, wanted = (each.argmax_at_errors(scores, errors, counts) for each in (graph, other))
    np.testing.assert_array_equal(found.labels, wanted.labels)


@pytest.mark.parametrize("directions", ["both", "up", "mixed", "some_twice"])
@pytest.mark.parametrize("shared", [True, False])
def test_forests_in_any_direction_are_enumerated(directions: str, shared: bool, rng) -> None:
    down = np.array([[1, 0], [1, 2], [1, 3], [5, 6], [6, 7]])
    edges = {
        "both": np.concatenate([down[:3], down[:3, ::-1], down[3:], down[3:, ::-1]]),
        "up": down[:, ::-1],
        "mixed": np.where([[True], [False], [True], [True], [False]], down, down[:, ::-1]),
        "some_twice": np.concatenate([down, down[3:, ::-1]]),
    }[directions]
    structure = ExactGraphBatch([0, 5, 5, 8], edges, 3, shared_edges=shared)
    assert isinstance(structure._engine, GraphForest)
    scores = drawn(rng, structure)
    scores["edge"][..., 0, 1] = -np.inf
    every, weights = Enumerated(structure, scores), np.array([1.0, 2.0, 3.0])
    value, parts = structure.marginals(scores, weights)
    np.testing.assert_allclose(value, every.log_partition(), rtol=1e-12)
    direction = drawn(rng, structure)
    slopes, wanted = structure.covariance(scores, direction, weights), every.covariance(direction, weights)
    for name, part in every.marginals(weights).parts.items():
        np.testing.assert_allclose(parts[name], part, atol=1e-12)
        np.testing.assert_allclose(slopes[name], wanted[name], atol=1e-11)
    np.testing.assert_allclose(structure.kbest(scores, 4).value, every.kbest(4), rtol=1e-12)


@pytest.mark.parametrize(("vertices", "labels"), [(8, 2), (6, 3)])
def test_best_by_errors_is_enumerated(vertices: int, labels: int, rng) -> None:
    structure = random_graph(rng, vertices, labels, shared=True)
    scores, errors = drawn(rng, structure), rng.integers(0, 3, (vertices, labels))
    every = Enumerated(structure, scores)
    wrong = errors[np.arange(vertices), every.outputs(0)].sum(axis=1)
    found = structure.best_by_errors(scores, errors)
    for k, value in enumerate(found[0]):
        some = every.values(0)[wrong == k]
        np.testing.assert_allclose(value, some.max(initial=-np.inf), rtol=1e-12)
        best = structure.argmax_at_errors(scores, errors, [k])
        np.testing.assert_allclose(best.value, value, rtol=1e-12)
        if np.isfinite(value):
            np.testing.assert_allclose(structure.score(scores, best.labels), value, rtol=1e-12)
            assert errors[np.arange(vertices), best.labels].sum() == k
        else:
            assert (best.labels == -1).all()
    assert (structure.argmax_at_errors(scores, errors, [-1]).labels == -1).all()
    assert len(found[0]) > wrong.max()


def test_large_tables_of_errors_are_refused() -> None:
    structure = ExactGraphBatch([0, 64], grid_edges(8, 8), 3)
    scores = {"node": np.zeros((64, 3)), "edge": np.zeros((3, 3))}
    with pytest.raises(InputError, match="Graph 0 has a treewidth of 8: the tables of its best scores for"):
        structure.best_by_errors(scores, np.full((64, 3), 1000))


def test_scaled_sums_and_logarithms_agree(rng) -> None:
    structure = random_graph(rng, 9, 3, shared=True)
    tables, shape = structure._tables(drawn(rng, structure)), structure._engine.shape
    scaled, logs = (native.graph_marginals(tables, shape, None, only) for only in (1, 2))
    np.testing.assert_allclose(scaled[0], logs[0], rtol=1e-13)
    for left, right in zip(scaled[1], logs[1], strict=True):
        np.testing.assert_allclose(left, right, atol=1e-13)
    wide = structure._tables(drawn(rng, structure, 1000.0))
    assert np.isnan(native.graph_marginals(wide, shape, None, 1)[0]).all()
    assert np.isfinite(native.graph_marginals(wide, shape, None, 2)[0]).all()


def test_blocks_are_those_of_single_cliques(rng) -> None:
    structure = ExactGraphBatch([0, 3, 6], [[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3]], 2)
    scores = drawn(rng, structure)
    blocks = structure.blocks(scores, np.array([1.0, 2.0]))
    single = structure.untied(["edge"])
    wanted = single.marginals(single.spread(scores)).parts["edge"]
    np.testing.assert_array_equal(blocks["edge"].marginals, wanted)
    np.testing.assert_array_equal(blocks["edge"].weights, [1, 1, 1, 2, 2, 2])


def test_large_tables_are_refused_with_what_to_use() -> None:
    good, bad = grid_edges(2, 2), grid_edges(14, 14)
    with pytest.raises(InputError) as refusal:
        ExactGraphBatch([0, 4, 200], np.concatenate([good, bad + 4]), 4)
    text = str(refusal.value)
    assert text.startswith("Graph 1 has a treewidth of about ")
    assert "max_table=16777216" in text
    assert "belief propagation" in text
    assert "pseudo-likelihood" in text


def test_max_table_is_the_largest_that_is_allowed() -> None:
    triangle = [[0, 1], [1, 2], [2, 0]]
    ExactGraphBatch([0, 3], triangle, 3, exact=Exact(max_table=27))
    with pytest.raises(InputError, match="treewidth of about 2"):
        ExactGraphBatch([0, 3], triangle, 3, exact=Exact(max_table=26))


def test_one_label_makes_no_width() -> None:
    """A vertex whose label is known joins nothing: a full graph falls apart."""
    sets = np.ones((30, 2), dtype=bool)
    sets[1:, 1] = False
    edges = np.array(list(itertools.combinations(range(30), 2)))
    structure = ExactGraphBatch([0, 30], edges, 2, label_sets=sets)
    assert structure.treewidths.tolist() == [0]
    scores = {"node": np.zeros((30, 2)), "edge": np.array([[0.1, 5.0], [0.3, 7.0]])}
    sevens = np.logaddexp(29 * 0.1, 29 * 5.0 * 0 + 29 * 0.3) + 0.1 * 28 * 29 / 2
    np.testing.assert_allclose(structure.log_partition(scores), sevens, rtol=1e-13)


def test_settings_stay_when_instances_are_taken() -> None:
    structure = ExactGraphBatch([0, 2, 4], [[0, 1], [2, 3]], 2, exact=Exact(max_table=64))
    assert structure.take([1]).exact.max_table == 64
    assert structure.untied(["edge"]).exact.max_table == 64
    again = pickle.loads(pickle.dumps(structure))
    scores = {"node": np.arange(8.0).reshape(4, 2), "edge": np.eye(2)}
    np.testing.assert_array_equal(again.log_partition(scores), structure.log_partition(scores))


def test_ties_go_to_the_lower_label() -> None:
    structure = ExactGraphBatch([0, 3], [[0, 1], [1, 2], [2, 0]], 3)
    scores = {"node": np.zeros((3, 3)), "edge": np.zeros((3, 3))}
    assert structure.argmax(scores).labels.tolist() == [0, 0, 0]


def test_odd_scores_are_named() -> None:
    structure = ExactGraphBatch([0, 1, 4], [[1, 2], [2, 3], [3, 1]], 2)
    scores = {"node": np.zeros((4, 2)), "edge": np.zeros((2, 2))}
    for value, error in ((np.nan, ScoreError), (np.inf, ScoreError), (-np.inf, InfeasibleError)):
        bad = {**scores, "node": scores["node"].copy()}
        bad["node"][2] = value
        for ask in (structure.log_partition, structure.marginals, structure.argmax, structure.entropy):
            with pytest.raises(error, match="Graph 1 "):
                ask(bad)
        for ask, more in (
            (structure.sample, (2, 0)),
            (structure.kbest, (2,)),
            (structure.covariance, (scores,)),
        ):
            with pytest.raises(error, match="Graph 1 "):
                ask(bad, *more)


def test_forests_are_called_graphs() -> None:
    structure = ExactGraphBatch([0, 1, 3], [[1, 2]], 2)
    with pytest.raises(InfeasibleError, match="Graph 1 has no allowed labelling"):
        structure.marginals({"node": np.zeros((3, 2)), "edge": np.full((2, 2), -np.inf)})


def test_scores_outside_label_sets_are_not_looked_at() -> None:
    sets = np.array([[True, False], [True, True]])
    structure = ExactGraphBatch([0, 2], [[0, 1]], 2, label_sets=sets)
    scores = {"node": np.array([[0.0, np.nan], [0.0, 0.0]]), "edge": np.array([[0.0, 0.0], [np.nan, np.inf]])}
    np.testing.assert_allclose(structure.log_partition(scores), np.log(2))
    assert structure.marginals(scores).parts["node"].tolist() == [[1, 0], [0.5, 0.5]]


def test_no_instances_and_no_edges() -> None:
    nothing = ExactGraphBatch([0], np.empty((0, 2), dtype=int), 2)
    scores = {"node": np.empty((0, 2)), "edge": np.full((2, 2), np.nan)}
    value, parts = nothing.marginals(scores)
    assert value.shape == (0,)
    assert parts["edge"].tolist() == [[0, 0], [0, 0]]
    alone = ExactGraphBatch([0, 0, 2], np.empty((0, 2), dtype=int), 2)
    scores = {"node": np.zeros((2, 2)), "edge": np.full((2, 2), np.nan)}
    np.testing.assert_allclose(alone.log_partition(scores), [0, 2 * np.log(2)])


@pytest.mark.parametrize(
    ("offsets", "members", "labels", "sets"),
    [
        ([0, 3], [[0, 3]], 2, None),
        ([0, 3], [[-1, 2]], 2, None),
        ([0, 3], [[1, 1]], 2, None),
        ([0, 2, 4], [[1, 2]], 2, None),
        ([0, 2, 4], [[2, 3], [0, 1]], 2, None),
        ([0, 2], [[2**62, -(2**62)]], 2, None),
        ([1, 2], [[0, 1]], 2, None),
        ([0, -5], [[0, 1]], 2, None),
        ([], [[0, 1]], 2, None),
        ([0, 2], [[0, 1]], 0, None),
        ([0, 2], [[0, 1]], 2, [[True, False]]),
        ([0, 2], [[0, 1]], 2, [[True, False], [False, False]]),
        ([0, 40], [list(range(40))], 2, None),
    ],
)
def test_hostile_shapes_are_refused(offsets, members, labels, sets) -> None:
    arrays = [np.array(members, dtype=np.int64)]
    with pytest.raises((ValueError, MemoryError)):
        native.GraphShape(
            np.array(offsets, dtype=np.int64), arrays, labels, None if sets is None else np.array(sets), 1e6
        )


def test_hostile_scores_are_refused() -> None:
    shape = native.GraphShape(np.array([0, 2]), [np.array([[0, 1]])], 2, None, 1e6)
    node, edge = np.zeros((2, 2)), np.zeros((2, 2))
    for scores in ([node], [node, edge, edge], [node, np.zeros((2, 3))], [np.zeros((3, 2)), edge]):
        with pytest.raises(ValueError, match="cores of"):
            native.graph_marginals(scores, shape)
    with pytest.raises(TypeError):
        native.graph_marginals([node, edge.astype(np.float32)], shape)
    large = native.GraphShape(np.array([0, 2]), [np.array([[0, 1]])], 2, None, 3.0)
    with pytest.raises(MemoryError):
        native.graph_marginals([node, edge], large)
