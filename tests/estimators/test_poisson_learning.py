"""Poisson learning as a classifier."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import kernelfields as kf
from kernelfields.errors import InputError
from kernelfields.graphs import NeighborGraph, PrecomputedGraph, poisson

from ..graphs._dense import random_graph
from .test_label_graphs import spirals


def test_it_is_the_function_on_its_graph() -> None:
    X, truth, y = spirals()
    three = np.where(y == 1, np.where(np.cumsum(y == 1) == 1, 2, 1), y)
    model = kf.PoissonLearning(NeighborGraph(4)).fit(X, three)
    found = poisson(NeighborGraph(4).on(X).adjacency, three)
    assert np.unique(found.scores[np.isfinite(found.scores)]).size > 50
    np.testing.assert_array_equal(model.decision_function(X), found.scores)
    np.testing.assert_array_equal(model.transduction_, found.scores.argmax(axis=1))
    model = kf.PoissonLearning(NeighborGraph(4)).fit(X, y)
    assert (model.transduction_ == truth).mean() > 0.95
    assert model.error_ <= 1e-6
    two = poisson(NeighborGraph(4).on(X).adjacency, y).scores
    np.testing.assert_array_equal(model.decision_function(X), two[:, 1] - two[:, 0])
    new, expected, _ = spirals(seed=1)
    assert (model.predict(new) == expected).mean() > 0.9
    assert not hasattr(model, "predict_proba")


def test_new_observations_are_averages_of_neighbours_that_know_the_label() -> None:
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [30.0], [31.0]])
    y = ["a", "b", None, "c", "c", None, None, None]
    graph = NeighborGraph(2, symmetrise="mutual")
    model = kf.PoissonLearning(graph).fit(X, y)
    u = model.decision_function(X)
    assert model.transduction_.tolist()[3:] == ["c", "c", "c", None, None]
    assert np.isnan(u[6:]).all()
    assert np.isneginf(u[0, 2])
    between = model.decision_function([[6.1]])[0]  # its neighbours are 2.0 and 10.0, in two components
    np.testing.assert_allclose(between, [u[2, 0], u[2, 1], u[3, 2]])
    assert model.predict([[30.5], [0.1]]).tolist() == [None, "a"]
    assert model.score(X[6:], ["a", "a"]) == 0.0


def test_sequences_copies_and_files(tmp_path) -> None:
    X, _, y = spirals(60)
    labels = [None if k < 0 else "ab"[k] for k in y]
    cuts = [0, 20, 21, 60]
    sequences = [X[a:b] for a, b in pairwise(cuts)]
    model = kf.PoissonLearning(NeighborGraph(4, weights="rbf")).fit(sequences, [labels[:20], None, None])
    assert [len(one) for one in model.transduction_] == [20, 1, 39]
    assert [one.shape for one in model.decision_function(sequences)] == [(20,), (1,), (39,)]
    model.save(tmp_path / "model.kf")
    new = X[:7] + 0.03
    for other in (pickle.loads(pickle.dumps(model)), kf.load(tmp_path / "model.kf")):
        np.testing.assert_array_equal(other.decision_function(new), model.decision_function(new))
        assert other.transduction_ == model.transduction_
    fresh = clone(model).fit(X[:20], labels[:20], X_unlabelled=[X[20:]])
    np.testing.assert_array_equal(fresh.vertex_scores_, model.vertex_scores_)


def test_precomputed_graphs_are_undirected() -> None:
    weights = random_graph(30, 0)
    y = np.full(30, -1)
    y[[0, 10, 20]] = 0, 1, 2
    model = kf.PoissonLearning("precomputed").fit(weights, y)
    numbered = kf.PoissonLearning(PrecomputedGraph(weights)).fit([[0], [10], [20]], [0, 1, 2])
    np.testing.assert_array_equal(numbered.vertex_scores_, model.vertex_scores_)
    before = model.vertex_scores_
    with pytest.raises(InputError, match="needs an undirected graph"):
        model.fit(sparse.triu(weights), y)
    assert model.vertex_scores_ is before


def test_a_limit_that_is_too_low_is_said() -> None:
    y = np.arange(200) % 3
    y[20:] = -1
    with pytest.warns(ConvergenceWarning, match="After 2 iterations the relative residual is"):
        kf.PoissonLearning("precomputed", max_iter=2).fit(random_graph(200, 1), y)
