"""Graphs as users bring them, in every form; and what is wrong with some."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from kernelfields import CRF, InputError, KernelCRF
from kernelfields.structures import Graph

TRIANGLE = (np.eye(3), [[0, 1], [1, 2], [2, 0]])
GOOD = [TRIANGLE, (np.eye(3)[:1], [])], [["a", "b", "a"], ["b"]]


class Networkx:
    """What we know graphs of networkx by, and ask them for."""

    adj = None

    def __init__(self, vertices, edges, directed=False):
        self._vertices, self._edges, self._directed = vertices, edges, directed

    def nodes(self, data):
        assert data
        return self._vertices.items()

    def edges(self, data):
        assert data
        return self._edges

    def is_directed(self):
        return self._directed


def forms(x, edges):
    """The same undirected graph in every form."""
    n = len(x)
    both = np.concatenate([np.reshape(edges, (-1, 2)), np.reshape(edges, (-1, 2))[:, ::-1]])
    adjacency = sparse.csr_matrix((np.ones(len(both)), both.T), shape=(n, n))
    named = {f"v{v}": {"x": row} for v, row in enumerate(x.tolist())}
    return {
        "pair": (x, edges),
        "list": [x.tolist(), np.reshape(edges, (-1, 2)).tolist()],
        "both ways": (x, both),
        "small integers": (x, np.asarray(both, dtype=np.int16)),
        "backwards": (x, np.reshape(edges, (-1, 2))[::-1, ::-1]),
        "adjacency": (x, adjacency),
        "booleans": (x, sparse.coo_array(adjacency.astype(bool))),
        "sparse": (sparse.csr_matrix(x), edges),
        "frame": (pd.DataFrame(x, columns=["u", "v"]), edges),
        "dictionary": {"features": x, "edges": edges},
        "tokens": ([{"u": a, "v": b} for a, b in x.tolist()], edges),
        "edge_index": SimpleNamespace(x=x, edge_index=both.T),
        "edge_index once": SimpleNamespace(x=x, edge_index=np.reshape(edges, (-1, 2)).T, edge_attr=None),
        "networkx": Networkx(named, [(f"v{a}", f"v{b}", {}) for a, b in edges]),
    }


SHAPES = ([[0, 1], [1, 2], [2, 0], [3, 1]], [[0, 1]], [[2, 0], [3, 0], [0, 1]])


@pytest.mark.parametrize("form", list(forms(np.zeros((2, 2)), [[0, 1]])))
def test_forms_are_one(form, rng):
    """The same graphs in other forms give the same model."""
    graphs = [(rng.normal(size=(np.max(e) + 2, 2)).round(2), e) for e in SHAPES]
    y = [["a" if row[0] > 0 else "b" for row in x] for x, _ in graphs]
    expected = CRF(structure="graph", tol=1e-9).fit(graphs, y)
    X = [forms(x, e)[form] for x, e in graphs]
    model = CRF(structure=Graph(), tol=1e-9).fit(X, y)
    for a, b in zip(model.predict_marginals(X), expected.predict_marginals(graphs), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


BAD = {
    "range": ((np.eye(3), [[0, 1], [1, 3]]), "Graph 1 of X: edge 1 joins 1 and 3, expected vertices 0 to 2."),
    "negative": ((np.eye(3), [[-1, 1]]), "Graph 1 of X: edge 0 joins -1 and 1, expected vertices 0 to 2."),
    "loop": ((np.eye(3), [[0, 1], [2, 2]]), "Graph 1 of X: edge 1 joins vertex 2 to itself."),
    "twice": ((np.eye(3), [[0, 1], [1, 2], [0, 1]]), "Graph 1 of X: edges 0 and 2 both lead from 0 to 1."),
    "no vertices": (
        (np.empty((0, 3)), [[0, 1]]),
        "Graph 1 of X: edge 0 joins 0 and 1, but there are no vertices.",
    ),
    "turned": (
        (np.eye(3), np.zeros((2, 5), int)),
        "The edges of graph 1 of X have shape (2, 5), expected (E, 2).",
    ),
    "fractions": ((np.eye(3), [[0.5, 1]]), "The edges of graph 1 of X are no rows of two whole numbers."),
    "real numbers": (
        (np.eye(3), np.array([[0.0, 1.0]])),
        "The edges of graph 1 of X are float64, expected whole numbers.",
    ),
    "ragged": ((np.eye(3), [[0, 1], [2]]), "The edges of graph 1 of X are no rows of two whole numbers."),
    "none": ((np.eye(3), None), "The edges of graph 1 of X are no rows of two whole numbers."),
    "no pair": (
        np.eye(3),
        "Graph 1 of X is array(",
    ),
    "key": (
        {"features": np.eye(3), "edge": []},
        "Graph 1 of X has 'edge', expected some of features, edges, edge_features, types, factors.",
    ),
    "lacks": ({"features": np.eye(3)}, "Graph 1 of X is a dictionary without 'edges'."),
    "one way": (
        (np.eye(3), sparse.csr_matrix([[0, 1, 0], [1, 0, 1], [0, 0, 0]])),
        "Graph 1 of X has an adjacency that leads from 1 to 2 and not back, but directed is False.",
    ),
    "diagonal": ((np.eye(3), sparse.identity(3)), "Graph 1 of X: edge 0 joins vertex 0 to itself."),
    "weights": (
        (np.eye(3), sparse.csr_matrix(2.0 * np.ones((3, 3)))),
        "Graph 1 of X has an adjacency with other numbers than 0 and 1: give edge_features.",
    ),
    "size": (
        (np.eye(3), sparse.csr_matrix((2, 2))),
        "Graph 1 of X has 3 vertices and an adjacency of shape (2, 2).",
    ),
    "index": (
        SimpleNamespace(x=np.eye(3), edge_index=np.zeros((3, 2), int)),
        "Graph 1 of X has an edge_index of shape (3, 2), expected (2, E).",
    ),
    "attribute": (Networkx({"u": {}}, []), "Graph 1 of X: vertex 'u' has no attribute 'x'."),
    "directed": (
        Networkx({"u": {"x": [0, 0, 1]}}, [], True),
        "Graph 1 of X is directed, but the structure has directed=False.",
    ),
    "NaN": ((np.eye(3) * np.nan, []), "Graph 1 of X holds NaN or infinity at vertex 0."),
    "width": ((np.eye(2), []), "Graph 1 of X has 2 features per vertex, expected 3."),
    "edge features": (
        (np.eye(3), [[0, 1]], np.ones((2, 1))),
        "Graph 1 of X has 1 edges and edge_features of shape (2, 1).",
    ),
    "edge NaN": (
        (np.eye(3), [[0, 1]], [[np.nan]]),
        "Graph 1 of X: the features of edge 0 hold NaN or infinity.",
    ),
    "types": (
        {"features": np.eye(3), "edges": [], "types": [0, 0, 0]},
        "Graph 1 of X has types of vertices; types go with label_sets of the structure.",
    ),
    "typed edges": (
        {"features": np.eye(3), "edges": {"a": []}},
        "Graph 1 of X has edges by type, but the structure has edge_types=None.",
    ),
    "factor": (
        {"features": np.eye(3), "edges": [], "factors": {"t": [[0, 1, 2]]}},
        "Graph 1 of X has the factor 't', but the structure has none.",
    ),
}


@pytest.mark.parametrize("name", list(BAD))
def test_bad_graphs(name):
    """Graph and edge are named, in training and afterwards; a model stays as it was."""
    bad, message = BAD[name]
    X, y = [TRIANGLE, bad], [["a", "b", "a"]] * 2
    model = CRF(structure="graph").fit(*GOOD)
    before = model.coef_.copy()
    for ask in (
        lambda: model.fit(X, y),
        lambda: model.predict(X),
        lambda: KernelCRF(structure=Graph()).fit(X, y),
    ):
        with pytest.raises(InputError) as error:
            ask()
        assert str(error.value).startswith(message)
    np.testing.assert_array_equal(model.coef_, before)


SETTINGS = {
    "inference": ({"inference": "quick"}, "inference is 'quick'; it must be 'exact'"),
    "object": ({"inference": 3}, "inference is 3; it must be 'exact'"),
    "directed": ({"directed": 1}, "directed is 1; it must be True or False."),
    "names": ({"edge_types": "cites"}, "edge_types is 'cites'; it must hold names."),
    "taken": ({"edge_types": ["edge"]}, "edge_types has 'edge', which models have already."),
    "twice": ({"edge_types": ["a", "a"]}, "edge_types has 'a', twice."),
    "size": ({"factors": {"t": 0}}, "factors['t'] is 0; it must be a whole number from 1 to 8."),
    "sets": ({"label_sets": ["a"]}, "label_sets is ['a']; it must map types of vertices to lists of labels."),
    "set": ({"label_sets": {"word": "N"}}, "label_sets['word'] is 'N'; it must be a list of labels."),
}


@pytest.mark.parametrize("name", list(SETTINGS))
def test_bad_settings(name):
    given, message = SETTINGS[name]
    with pytest.raises(InputError) as error:
        Graph(**given)
    assert str(error.value).startswith(message)


def test_pairs_of_vertices(rng):
    """Edges that are listed both ways, each in a graph of its own, are no cycles."""
    X = [(rng.normal(size=(2, 2)), [[1, 0]]), (rng.normal(size=(4, 2)), [[0, 1], [3, 2]])]
    model = CRF(structure="graph").fit(X, [["a", "b"], ["a", "a", "b", "b"]])
    for (x, edges), p in zip(X, model.predict_marginals(X), strict=True):
        score = x @ model.coef_.T + model.intercept_
        for a, b in edges:
            joint = np.exp(score[a][:, None] + score[b] + model.transitions_ + model.transitions_.T)
            np.testing.assert_allclose(p[a], joint.sum(axis=1) / joint.sum(), atol=1e-9)


def test_nothing_at_all(rng):
    """Isolated vertices, graphs without edges, and graphs without vertices."""
    X = [(rng.normal(size=(2, 2)), []), (np.empty((0, 2)), []), (rng.normal(size=(3, 2)), [[0, 2]])]
    y = [["a", "b"], [], ["b", "a", "b"]]
    model = CRF(structure="graph").fit(X, y)
    assert [len(labels) for labels in model.predict(X)] == [2, 0, 3]
    assert model.predict([]) == []
    bare = [(np.eye(2), [])]
    assert CRF(structure="graph").fit(bare, [["a", "b"]]).predict(bare) == [["a", "b"]]
