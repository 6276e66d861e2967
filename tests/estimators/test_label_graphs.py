"""Label spreading and propagation as classifiers: beside scikit-learn's, and as users use them."""

from __future__ import annotations

import pickle
from itertools import chain, pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import semi_supervised
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.neighbors import kneighbors_graph

import kernelfields as kf
from kernelfields.errors import InputError
from kernelfields.graphs import NeighborGraph, PrecomputedGraph

from ..graphs._dense import dense_harmonic, dense_spread, random_graph

MODELS = [kf.LabelSpreading, kf.LabelPropagation]


def spirals(n: int = 120, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two arms, which one label each is enough for, if one follows them."""
    rng = np.random.default_rng(seed)
    arm, turn = np.arange(n) % 2, rng.uniform(0.5, 3.5, n)
    angle = turn * 2 + np.pi * arm
    X = turn[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]) + 0.02 * rng.normal(size=(n, 2))
    y = np.full(n, -1)
    for k in range(2):
        y[np.flatnonzero(arm == k)[:3]] = k
    return X, arm, y


@pytest.mark.parametrize("model", MODELS)
def test_labels_follow_the_data(model) -> None:
    X, truth, y = spirals()
    fitted = model(NeighborGraph(4)).fit(X, y)
    assert (fitted.transduction_ == truth).mean() > 0.95
    assert fitted.score(X, truth) > 0.95
    new, expected, _ = spirals(seed=1)
    assert (fitted.predict(new) == expected).mean() > 0.9
    np.testing.assert_allclose(fitted.predict_proba(new).sum(axis=1), 1)


def test_spreading_is_scikit_learns_on_its_own_graph() -> None:
    X, _, y = spirals()
    rival = semi_supervised.LabelSpreading(kernel="knn", n_neighbors=6, tol=1e-10, max_iter=1000).fit(X, y)
    graph = kneighbors_graph(X, 6, include_self=True)  # directed, every point its own neighbour: as there
    ours = kf.LabelSpreading("precomputed", tol=1e-8).fit(graph, y)
    np.testing.assert_allclose(ours.label_distributions_, rival.label_distributions_, atol=1e-8)
    np.testing.assert_array_equal(ours.transduction_, rival.transduction_)
    new = spirals(seed=2)[0]
    links = rival.nn_fit.kneighbors_graph(new, mode="connectivity")
    np.testing.assert_allclose(ours.predict_proba(links), rival.predict_proba(new), atol=1e-8)
    np.testing.assert_array_equal(ours.predict(links), rival.predict(new))


def test_the_graph_of_neighbours_is_the_one_that_is_solved() -> None:
    X, _, y = spirals(60)
    graph = NeighborGraph(5, weights="rbf")
    weights = graph.on(X).adjacency.toarray()
    spread = kf.LabelSpreading(graph, alpha=0.9, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(spread.label_distributions_, dense_spread(weights, y, 0.9), atol=1e-8)
    harmonic = kf.LabelPropagation(graph, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(harmonic.label_distributions_, dense_harmonic(weights, y), atol=1e-8)
    assert spread.graph_.gamma == graph.on(X).gamma
    assert graph.gamma is None


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("weights", ["unit", "rbf", "local"])
def test_new_observations_are_averages_of_their_neighbours(model, weights) -> None:
    X, _, y = spirals(60)
    graph = NeighborGraph(4, weights=weights)
    fitted = model(graph).fit(X, y)
    np.testing.assert_array_equal(fitted.predict_proba(X[::-1]), fitted.label_distributions_[::-1])
    new = X[:5] + 0.01
    links = fitted.graph_.links(new, X, graph.on(X).scales).toarray()
    expected = links @ fitted.label_distributions_ / links.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(fitted.predict_proba(new), expected)


@pytest.mark.parametrize("model", MODELS)
def test_what_no_label_reaches_abstains(model) -> None:
    X = np.array([[0.0], [1.0], [2.0], [50.0], [51.0], [100.0], [101.0]])
    for y, nothing in ([[0, 1, -1, -1, -1, 1, 0], -1], [["a", "b", None, None, None, "b", "a"], None]):
        fitted = model(NeighborGraph(1)).fit(X, y)
        assert np.isnan(fitted.label_distributions_[3:5]).all()
        assert fitted.transduction_[3:5].tolist() == [nothing] * 2
        assert fitted.transduction_[0] == y[0]
        assert fitted.predict([[50.6], [0.1]])[0] == nothing
        assert np.isnan(fitted.predict_proba([[50.6]])).all()
        assert fitted.score(X, y) == 1.0
        assert fitted.score(X[3:], ["a", "a", "b", "a"] if nothing is None else [0, 0, 1, 0]) == 0.5


@pytest.mark.parametrize("model", MODELS)
def test_sequences_with_some_or_no_labels(model) -> None:
    X, truth, y = spirals()
    flat = model(NeighborGraph(4)).fit(X, [None if k < 0 else "ab"[k] for k in y])
    cuts = [0, 30, 31, 90, 120]
    sequences = [X[a:b] for a, b in pairwise(cuts)]
    labels = [[None if k < 0 else "ab"[k] for k in y[a:b]] for a, b in pairwise(cuts)]
    fitted = model(NeighborGraph(4)).fit(sequences, [labels[0], *[None] * 3])
    np.testing.assert_array_equal(fitted.label_distributions_, flat.label_distributions_)
    assert [len(one) for one in fitted.transduction_] == [30, 1, 59, 30]
    assert list(chain(*fitted.transduction_)) == flat.transduction_.tolist()
    assert fitted.predict(sequences)[2] == flat.predict(X)[31:90].tolist()
    assert [one.shape for one in fitted.predict_proba(sequences)] == [(30, 2), (1, 2), (59, 2), (30, 2)]
    more = model(NeighborGraph(4)).fit(sequences[:1], labels[:1], X_unlabelled=sequences[1:])
    np.testing.assert_array_equal(more.label_distributions_, flat.label_distributions_)
    assert more.transduction_ == fitted.transduction_[:1]
    assert fitted.score(sequences, [["ab"[k] for k in truth[a:b]] for a, b in pairwise(cuts)]) > 0.9


@pytest.mark.parametrize("model", MODELS)
def test_kinds_of_input_make_the_same_model(model) -> None:
    X, _, y = spirals(50)
    X = X.round(2)
    expected = model(NeighborGraph(4)).fit(X, y)
    frame = pd.DataFrame(X, columns=["width", "height"])
    for given, labels in [
        (X.tolist(), y.tolist()),
        (sparse.csr_matrix(X), y),
        (frame, pd.Series(y)),
        (X, np.where(y < 0, np.nan, y)),
        (X, y.astype(float)),
    ]:
        fitted = model(NeighborGraph(4)).fit(given, labels)
        np.testing.assert_allclose(fitted.label_distributions_, expected.label_distributions_)
    fitted = model(NeighborGraph(4)).fit(frame, y)
    assert fitted.feature_names_in_.tolist() == ["width", "height"]
    assert model(NeighborGraph(4)).fit(X.astype(np.float32), y).predict_proba(X).shape == (50, 2)


@pytest.mark.parametrize("model", MODELS)
def test_equal_observations_are_one_vertex_with_shares_of_labels(model) -> None:
    X = [[0.0], [0.0], [0.0], [1.0], [2.0]]
    fitted = model(NeighborGraph(1), tol=1e-9).fit(X, ["a", "b", "b", None, None])
    np.testing.assert_allclose(fitted.label_distributions_, np.tile([1 / 3, 2 / 3], (5, 1)))


@pytest.mark.parametrize("model", MODELS)
def test_precomputed_graphs(model, tmp_path) -> None:
    weights = random_graph(30, 0)
    y = np.full(30, -1)
    y[[0, 10, 20]] = 0, 1, 2
    fitted = model("precomputed").fit(weights, y)
    dense = model("precomputed").fit(weights.toarray(), y)
    np.testing.assert_array_equal(fitted.label_distributions_, dense.label_distributions_)
    numbered = model(PrecomputedGraph(weights)).fit([[0], [10], [20]], [0, 1, 2])
    np.testing.assert_array_equal(numbered.predict_proba(np.arange(30)[:, None]), fitted.label_distributions_)
    fitted.save(tmp_path / "model")
    again = kf.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(weights), fitted.predict_proba(weights))
    with pytest.raises(InputError, match="must have weights to 30 vertices"):
        fitted.predict(np.ones((1, 3)))
    with pytest.raises(InputError, match="X_unlabelled cannot be had"):
        model("precomputed").fit(weights, y, X_unlabelled=weights)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("weights", ["unit", "rbf", "local"])
def test_copies_and_files_predict_the_same(model, weights, tmp_path) -> None:
    X, _, y = spirals(50)
    fitted = model(NeighborGraph(4, weights=weights), tol=1e-4).fit(
        X, [None if k < 0 else "ab"[k] for k in y]
    )
    new = X[:7] + 0.03
    fitted.save(tmp_path / "model")
    for other in (pickle.loads(pickle.dumps(fitted)), kf.load(tmp_path / "model")):
        np.testing.assert_array_equal(other.predict_proba(new), fitted.predict_proba(new))
        assert other.predict(new).tolist() == fitted.predict(new).tolist()
        assert other.transduction_.tolist() == fitted.transduction_.tolist()
        assert other.error_ == fitted.error_
    fresh = clone(fitted)
    assert fresh.get_params()["graph__n_neighbors"] == 4
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    assert not hasattr(fresh, "transduction_")
    np.testing.assert_array_equal(fresh.fit(X, y).label_distributions_, fitted.label_distributions_)


@pytest.mark.parametrize("model", MODELS)
def test_a_refused_fit_changes_nothing(model) -> None:
    X, _, y = spirals(50)
    fitted = model(NeighborGraph(4)).fit(X, y)
    before = fitted.label_distributions_
    for given, labels, message in [
        (X, y[:-1], "X has 50 rows, but y has 49 labels"),
        (X, np.where(y > 0, -1, y), "at least two labels, and −1 stands for one that is missing"),
        (X, [None, *y[1:].tolist()], "y has None and −1"),
        (X, [None] * 50, "at least two"),
        (np.full((50, 2), np.nan), y, "NaN"),
        (X[:0], y[:0], "0 sample"),
    ]:
        with pytest.raises(InputError, match=message):
            fitted.fit(given, labels)
    np.testing.assert_array_equal(fitted.label_distributions_, before)
    with pytest.raises(InputError, match="has no sample_weight: a label is at its vertex or is not"):
        fitted.fit(X, y, sample_weight=np.ones(50))
    with pytest.raises(ValueError, match="3 features"):
        fitted.predict(np.zeros((2, 3)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": 1.0}, "alpha is 1.0; it must be a number above 0 and below 1"),
        ({"alpha": "x"}, "alpha is 'x'"),
        ({"tol": 0.0}, "tol is 0.0"),
        ({"max_iter": -1}, "max_iter is -1"),
        ({"graph": "knn"}, "graph is 'knn'; it must be a NeighborGraph"),
        ({"graph": 7}, "graph is 7; it must be a NeighborGraph"),
        ({"run": 1}, "run is 1; it must be a Run"),
    ],
)
def test_bad_settings_are_refused(settings, message) -> None:
    X, _, y = spirals(20)
    with pytest.raises(InputError, match=message):
        kf.LabelSpreading(**settings).fit(X, y)


@pytest.mark.parametrize("model", MODELS)
def test_progress_and_a_limit_that_is_too_low(model, capsys) -> None:
    X, _, y = spirals()
    seen = []
    with pytest.warns(ConvergenceWarning, match="After 2 iterations probabilities may be off by"):
        model(NeighborGraph(4), max_iter=2, run=kf.Run(callback=seen.append), verbose=1).fit(X, y)
    assert seen[-1].iteration == 2
    assert "iteration 2" in capsys.readouterr().err
    fitted = model(NeighborGraph(4)).fit(X, y)
    assert 0 <= fitted.error_ <= 1e-3
    assert fitted.n_iter_ > 2


def test_scikit_learns_tools_know_them() -> None:
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, truth, _ = spirals()
    search = GridSearchCV(kf.LabelSpreading(), {"graph": [NeighborGraph(3), NeighborGraph(40)]}, cv=3)
    assert search.fit(X, truth).best_params_["graph"].n_neighbors == 3
    assert make_pipeline(StandardScaler(), kf.LabelPropagation()).fit(X, truth).score(X, truth) == 1


def test_what_no_label_reaches_is_kept_in_files(tmp_path) -> None:
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    model = kf.LabelSpreading(NeighborGraph(1)).fit(X, ["a", "b", None, None])
    model.save(tmp_path / "model.kf")
    again = kf.load(tmp_path / "model.kf")
    assert np.isnan(again.predict_proba(X)[2:]).all()
    assert again.predict(X).tolist() == model.predict(X).tolist() == ["a", "b", None, None]
