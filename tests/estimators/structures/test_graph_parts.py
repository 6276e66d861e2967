"""Types of edges and vertices, factors, directions, features of edges: against models written out."""

import itertools
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone

from kernelfields import (
    CRF,
    InputError,
    KernelCRF,
    KernelPerceptron,
    LinearScores,
    Parts,
    Run,
    StructuredPerceptron,
    StructuredSVM,
    load,
)
from kernelfields.constraints import Constraints
from kernelfields.structures import Graph

from ..._parts import free
from ._solvers import hinge_bound, hinge_value, least_log_loss, log_objective

LABELS, L = ("blue", "green", "red"), 3
SIZES = (4, 1, 3, 4, 3)
SETS = {"word": ["blue", "green"], "topic": ["green", "red"]}
ROWS = {
    "edge types": Graph(edge_types=["near", "far"]),
    "directed": Graph(directed=True),
    "directed types": Graph(directed=True, edge_types=["near", "far"]),
    "factors": Graph(factors={"triangle": 3}),
    "label sets": Graph(label_sets=SETS),
    "all": Graph(edge_types=["near", "far"], factors={"triangle": 3}, label_sets=SETS),
}


def free_parts(graph, penalty):
    """What scores labels of several vertices."""
    edges = [f"factor {name}" for name in graph.edge_types] if graph.edge_types else ["edges"]
    return free(penalty, *edges, *(f"factor {name}" for name in graph.factors or {}))


def graphs(rng, graph, sizes=SIZES):
    """Items as dictionaries, and labels that their vertices can have."""
    items, labels = [], []
    for size in sizes:
        pairs = [p for p in itertools.combinations(range(size), 2) if rng.random() < 0.7]
        pairs = [p if rng.random() < 0.5 else p[::-1] for p in pairs]
        kinds = rng.choice(["word", "topic"], size=size).tolist()
        choice = [SETS[k] if graph.label_sets else LABELS for k in kinds]
        y = [str(rng.choice(one)) for one in choice]
        item = {"features": rng.normal(size=(size, 2)), "edges": pairs}
        if graph.edge_types:
            item["edges"] = {"near": pairs[::2], "far": pairs[1::2]}
        if graph.factors:
            item["factors"] = {"triangle": list(itertools.combinations(range(size), 3))[:2]}
        if graph.label_sets:
            item["types"] = kinds
        items.append(item)
        labels.append(y)
    return items, labels


def cliques_of(graph, item):
    """Clique types with rows of vertices, an edge without direction forth and back."""
    edges = item["edges"] if graph.edge_types else {"edge": item["edges"]}
    both = {k: [q for p in e for q in ((p,) if graph.directed else (p, p[::-1]))] for k, e in edges.items()}
    return both | item.get("factors", {})


def written_out(graph, items, labels, penalties, features=None):
    """Φ(x, y) of all labellings that vertices can have: features, bias, and a table for every clique type."""
    names = [*(graph.edge_types or ["edge"]), *(graph.factors or {})]
    shapes = {name: (L,) * (graph.factors or {}).get(name, 2) for name in names}
    phi, right, every = [], [], []
    for n, (item, y) in enumerate(zip(items, labels, strict=True)):
        x = item["features"] if features is None else features[n]
        sets = [
            [LABELS.index(k) for k in (SETS[t] if graph.label_sets else LABELS)]
            for t in item.get("types", ["word"] * len(x))
        ]
        rows = list(itertools.product(*sets))
        found = []
        for z in rows:
            parts = [np.zeros((L, x.shape[1])), np.zeros(L), *(np.zeros(shapes[name]) for name in names)]
            for v, k in enumerate(z):
                parts[0][k] += x[v]
                parts[1][k] += 1
            for table, name in zip(parts[2:], names, strict=True):
                for clique in cliques_of(graph, item).get(name, []):
                    table[tuple(z[v] for v in clique)] += 1
            found.append(np.concatenate([part.ravel() for part in parts]))
        phi.append(np.array(found))
        right.append(rows.index(tuple(LABELS.index(k) for k in y)))
        every.append(np.array(rows))
    sizes = [L * x.shape[1], L, *(int(np.prod(shapes[name])) for name in names)]
    weights = [penalties[0], penalties[0], *[penalties[1]] * len(names)]
    return SimpleNamespace(phi=phi, right=right, penalty=np.repeat(weights, sizes), labels=every, names=names)


def marginals(explicit, w):
    result = []
    for phi, rows in zip(explicit.phi, explicit.labels, strict=True):
        p = np.exp(phi @ w - (phi @ w).max())
        result.append(np.stack([(p / p.sum()) @ (rows == k) for k in range(L)], axis=-1))
    return result


def check(model, explicit, w, items, atol):
    for a, b in zip(model.predict_marginals(items), marginals(explicit, w), strict=True):
        np.testing.assert_allclose(a, b, atol=atol)


@pytest.mark.parametrize("name", list(ROWS))
def test_log_loss(name, rng, tmp_path):
    graph = ROWS[name]
    items, labels = graphs(rng, graph)
    explicit = written_out(graph, items, labels, (0.7, 1.3))
    optimum = least_log_loss(explicit, rng)
    model = CRF(
        0.7, parts=Parts(free_parts(graph, 1.3)), structure=graph, classes=list(LABELS), tol=1e-9
    ).fit(items, labels)
    assert model.certificate_.value == pytest.approx(optimum.value, rel=1e-6)
    check(model, explicit, optimum.w, items, 2e-4)
    assert list(model.factors_ or {}) == [n for n in explicit.names if n != "edge"]
    model.save(tmp_path / "graph.kf")
    for other in (load(tmp_path / "graph.kf"), pickle.loads(pickle.dumps(model))):
        for a, b in zip(other.predict_marginals(items), model.predict_marginals(items), strict=True):
            np.testing.assert_array_equal(a, b)
    again = clone(model).set_params(warm_start=True).fit(items, labels)
    assert again.fit(items, labels).n_iter_ <= 1
    more = model.partial_fit(*graphs(rng, graph, (3, 2)))
    assert [len(one) for one in more.predict(items)] == list(SIZES)


@pytest.mark.parametrize("name", ["edge types", "all"])
def test_kernel(name, rng):
    graph = ROWS[name]
    items, labels = graphs(rng, graph)
    model = KernelCRF(
        "rbf",
        penalty=0.7,
        parts=Parts(free_parts(graph, 1.3)),
        structure=graph,
        classes=list(LABELS),
        tol=1e-9,
        run=Run(dtype="float64"),
    ).fit(items, labels)
    x = np.concatenate([item["features"] for item in items])
    values, vectors = np.linalg.eigh(model.kernel_(x))
    ends = np.cumsum(SIZES)[:-1]
    seen = np.split(vectors * np.sqrt(np.maximum(values, 0)), ends)
    explicit = written_out(graph, items, labels, (0.7, 1.3), seen)
    optimum = least_log_loss(explicit, rng)
    assert model.certificate_.value == pytest.approx(optimum.value, rel=1e-6)
    check(model, explicit, optimum.w, items, 2e-4)


@pytest.mark.parametrize("name", ["edge types", "all"])
def test_hinge_and_online(name, rng):
    graph = ROWS[name]
    items, labels = graphs(rng, graph)
    explicit = written_out(graph, items, labels, (0.7, 1.3))
    machine = StructuredSVM(
        penalty=0.7,
        parts=Parts(free_parts(graph, 1.3)),
        structure=graph,
        classes=list(LABELS),
        tol=1e-5,
    ).fit(items, labels)
    w = _weights(machine)
    wrong = [(rows != rows[r]).sum(axis=1) for rows, r in zip(explicit.labels, explicit.right, strict=True)]
    value = hinge_value(explicit, w, lambda s, rise: wrong[s] + rise)
    bound = hinge_bound(explicit, wrong, [np.ones(len(n)) for n in wrong])
    assert bound - 1e-9 <= value <= bound * (1 + 2e-5)
    check(machine, explicit, w, items, 1e-9)
    online = StructuredPerceptron(structure=graph, classes=list(LABELS), max_iter=3, random_state=0)
    check(online.fit(items, labels), explicit, _weights(online), items, 1e-9)
    online.partial_fit(items, labels)
    check(online, explicit, _weights(online), items, 1e-9)
    with pytest.raises(InputError, match=r"^KernelPerceptron has no rules, and scores of labels and"):
        KernelPerceptron(structure=graph, classes=list(LABELS)).fit(items, labels)


def _weights(model):
    return np.concatenate(
        [model.coef_.ravel(), model.intercept_, *(t.ravel() for t in model.factors_.values())]
    )


def test_features_of_edges(rng):
    """⟨w_{y,y′}, x_e⟩ beside the table of label pairs; directions share the features of an edge."""
    graph = Graph()
    items, labels = graphs(rng, graph)
    given = [(i["features"], i["edges"], rng.normal(size=(len(i["edges"]), 2))) for i in items]
    explicit = written_out(graph, items, labels, (0.7, 1.3))
    for s, (item, seen) in enumerate(zip(items, given, strict=True)):
        more = np.zeros((len(explicit.phi[s]), L, L, 2))
        for m, z in enumerate(explicit.labels[s]):
            for (a, b), x in zip(item["edges"], seen[2], strict=True):
                more[m, z[a], z[b]] += x
                more[m, z[b], z[a]] += x
        explicit.phi[s] = np.hstack([explicit.phi[s], more.reshape(len(more), -1)])
    explicit.penalty = np.append(explicit.penalty, np.full(2 * L * L, 1.3))
    optimum = least_log_loss(explicit, rng)
    parts = Parts(free(1.3, "edges"), edge_features=LinearScores(penalty=1.3))
    model = CRF(0.7, parts=parts, tol=1e-9, structure="graph", classes=list(LABELS)).fit(given, labels)
    assert model.certificate_.value == pytest.approx(optimum.value, rel=1e-6)
    check(model, explicit, optimum.w, given, 2e-4)
    both = [
        (x, [*e, *((b, a) for a, b in e)], np.concatenate([f, f])) for x, e, f in given
    ]  # as edge_index has them
    check(model, explicit, optimum.w, both, 2e-4)
    with pytest.raises(InputError, match=r"^Graph 0 of X has 0 features per edge, expected 2\.$"):
        model.predict(items)
    with pytest.raises(InputError, match="features of 'edge' cliques"):
        KernelCRF(structure="graph").fit(given, labels)
    x, e, f = given[0]
    odd = (x, [*e, e[0][::-1]], np.concatenate([f, f[:1] + 1]))
    with pytest.raises(InputError, match="has other features than the one back"):
        model.predict([odd])


def test_rules_hold_both_ways(rng):
    """A pair that is forbidden is so in both directions, in training and afterwards; ends are refused."""
    graph = Graph()
    items, labels = graphs(rng, graph)
    rule = Constraints(forbidden_pairs=[("blue", "red")])
    for item, y in zip(items, labels, strict=True):
        y[:] = ["green" if k == "red" else k for k in y]
        if not item["edges"]:
            y[0] = "red"
    explicit = written_out(graph, items, labels, (0.7, 1.3))
    barred = [
        np.array([-np.inf if any({z[a], z[b]} == {0, 2} for a, b in i["edges"]) else 0.0 for z in rows])
        for i, rows in zip(items, explicit.labels, strict=True)
    ]
    model = CRF(
        0.7,
        parts=Parts(free_parts(graph, 1.3)),
        structure=graph,
        constraints=rule,
        classes=list(LABELS),
        tol=1e-9,
    )
    model.fit(items, labels)
    optimum = least_log_loss(explicit, rng, fixed=barred)
    assert model.certificate_.value == pytest.approx(optimum.value, rel=1e-6)
    with pytest.raises(
        InputError, match=r"^Graph 0 has the forbidden label pair 'blue' → 'red' at vertex 0\.$"
    ):
        model.fit([(np.eye(2), [[1, 0]])], [["red", "blue"]])
    with pytest.raises(InputError, match="but no vertex of a graph is first or last"):
        CRF(structure=graph, constraints=Constraints(forbidden_starts=["blue"])).fit(items, labels)


def test_known_and_unobserved_labels(rng):
    graph = ROWS["all"]
    items, labels = graphs(rng, graph)
    hidden = [[None if rng.random() < 0.4 else k for k in y] for y in labels]
    explicit = written_out(graph, items, labels, (0.7, 1.3))
    possible = [
        np.array([all(k is None or LABELS[z] == k for z, k in zip(row, y, strict=True)) for row in rows])
        for rows, y in zip(explicit.labels, hidden, strict=True)
    ]
    model = CRF(
        0.7, parts=Parts(free_parts(graph, 1.3)), structure=graph, classes=list(LABELS), tol=1e-7
    ).fit(items, hidden)
    w = np.concatenate([_weights(model)])
    value, slope = log_objective(explicit, w, possible=possible)
    assert np.abs(slope).max() < 1e-3 * max(value, 1.0)
    allowed = [[k, *[None] * (len(y) - 1)] for k, y in zip([y[0] for y in labels], labels, strict=True)]
    found = model.predict_marginals(items, allowed=allowed)
    for s, (phi, rows) in enumerate(zip(explicit.phi, explicit.labels, strict=True)):
        kept = rows[:, 0] == LABELS.index(labels[s][0])
        p = np.where(kept, np.exp(phi @ w - (phi @ w).max()), 0)
        expected = np.stack([(p / p.sum()) @ (rows == k) for k in range(L)], axis=-1)
        np.testing.assert_allclose(found[s], expected, atol=1e-9)
    best = model.predict_kbest(items, 3)
    for s, (phi, rows) in enumerate(zip(explicit.phi, explicit.labels, strict=True)):
        order = np.argsort(-(phi @ w), kind="stable")[:3]
        assert [[LABELS.index(k) for k in y] for y, _ in best[s]] == rows[order].tolist()
    other = "red" if items[1]["types"] == ["word"] else "blue"
    with pytest.raises(
        InputError, match=r"^Graph 1 of y has the label '\w+', which its type has not, at vertex 0"
    ):
        model.fit(items, [labels[0], [other], *labels[2:]])


def test_unknown_types(rng):
    items, labels = graphs(rng, ROWS["all"])
    model = CRF(structure=ROWS["all"], classes=list(LABELS)).fit(items, labels)
    for change, message in (
        (
            {"types": ["word", "verb", "word", "word"]},
            "Graph 0 of X: vertex 1 has the type 'verb', expected 'word', 'topic'.",
        ),
        ({"types": ["word"]}, "Graph 0 of X has 4 vertices and 1 types."),
        (
            {"edges": {"over": []}},
            "Graph 0 of X has the edge type 'over', but the structure has 'near', 'far'.",
        ),
        (
            {"factors": {"square": []}},
            "Graph 0 of X has the factor 'square', but the structure has 'triangle'.",
        ),
        ({"factors": {"triangle": [[0, 1]]}}, "Graph 0 of X: 'triangle' must be rows of 3 vertices."),
        ({"factors": {"triangle": [[0, 1, 1]]}}, "Graph 0 of X: triangle 0 joins vertex 1 to itself."),
        (
            {"factors": {"triangle": [[0, 1, 9]]}},
            "Graph 0 of X: triangle 0 joins 0 and 1 and 9, expected vertices 0 to 3.",
        ),
        ({"edges": {"near": [[0, 0]]}}, "Graph 0 of X: edge 0 joins vertex 0 to itself."),
    ):
        with pytest.raises(InputError) as error:
            model.predict([items[0] | change])
        assert str(error.value) == message
