"""Clusters of positions and of sequences: objectives, limiting cases, options, bad input."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

import kernelfields as kf
from kernelfields import FieldClustering, InputError, SequenceClustering
from kernelfields.cli._loaded import load_labeller
from kernelfields.kernels import RBF, GraphKernel
from kernelfields.selection import SGPS

CENTRES = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])


def persistent(rng, count=24, length=12, noise=0.5):
    """Three clusters of about the same size, each of which tends to go on."""
    y = np.empty((count, length), dtype=int)
    y[:, 0] = np.arange(count) % 3
    for t in range(1, length):
        y[:, t] = np.where(rng.random(count) < 0.85, y[:, t - 1], rng.integers(3, size=count))
    return list(CENTRES[y] + noise * rng.normal(size=(*y.shape, 2))), list(y)


@pytest.mark.parametrize("start", ["kmeans", "random"])
def test_separate_clusters_are_found(start, rng):
    X, y = persistent(rng)
    model = FieldClustering(3, kernel=RBF(0.3), penalty=0.1, start=start, random_state=0, n_init=4).fit(X)
    found, truth = np.concatenate(model.labels_), np.concatenate(y)
    assert adjusted_rand_score(truth, found) > 0.95
    assert model.predict(X) == model.labels_
    assert model.objective_ == min(model.objectives_)
    assert len(model.objectives_) == 4
    np.testing.assert_allclose(
        model.shares_, np.concatenate(model.predict_marginals(X)).mean(axis=0), atol=1e-6
    )
    assert model.certificate_ is None


def test_neighbours_help_where_observations_are_mixed_up(rng):
    X, y = persistent(rng, 40, 20, noise=1.8)
    truth = np.concatenate(y)
    scores = []
    for stay in (1 / 3, 0.85):
        model = FieldClustering(3, kernel="linear", penalty=1.0, stay=stay, random_state=0).fit(X)
        scores.append(adjusted_rand_score(truth, np.concatenate(model.labels_)))
    assert scores[1] > scores[0] + 0.1


def test_the_objective_is_that_of_the_fitted_model(rng):
    """Entropies of all labellings, one by one, for sequences of two positions."""
    X, _ = persistent(rng, 8, 2)
    model = FieldClustering(2, kernel="linear", penalty=0.7, stay=0.8, balance=1.2, random_state=0, n_init=1)
    model.fit(X)
    inner, total = model.estimator_, 0.0
    pairs = [(a, b) for a in (0, 1) for b in (0, 1)]
    for x in X:
        chances = np.exp([inner.sequence_log_proba([x], [list(pair)])[0] for pair in pairs])
        total -= float(chances @ np.log(chances))
    shares = np.concatenate(inner.predict_marginals(X)).mean(axis=0)
    total += 1.2 * 16 * float(shares @ np.log(shares))
    weights = inner.basis_.T @ inner.dual_coef_
    total += 0.35 * float((weights**2).sum() + (inner.intercept_**2).sum())
    np.testing.assert_allclose(model.objective_, total, rtol=1e-5)


def test_without_neighbours_it_is_plain_information_maximisation(rng):
    """Sequences cut into positions are the same, if neighbours do not count."""
    X, _ = persistent(rng, 6, 5)
    model = FieldClustering(3, penalty=0.3, stay=1 / 3, random_state=0, n_init=1, tol=1e-4)
    whole, single = model.fit(X).objective_, clone(model).fit([x[None] for x in np.concatenate(X)]).objective_
    np.testing.assert_allclose(whole, single, rtol=1e-5)


def test_sequences_as_a_whole(rng):
    y = rng.permutation(np.arange(20) % 2)
    X = [CENTRES[k] + rng.normal(size=(rng.integers(1, 9), 2)) for k in y]
    model = SequenceClustering(2, kernel="rbf", random_state=0, n_init=3).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.8
    assert model.labels_.shape == (20,)
    chances = model.predict_marginals(X)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(model.shares_, chances.mean(axis=0), atol=1e-7)
    entropy = -(chances * np.log(np.maximum(chances, 1e-300))).sum()
    balance = 20 * float(model.shares_ @ np.log(model.shares_))
    size = model.objective_ - entropy - balance
    assert size > 0  # (λ/2)‖f‖²
    np.testing.assert_allclose(model.predict_marginals([X[0], np.zeros((0, 2))])[1], model.shares_)
    field = FieldClustering(2, kernel="rbf", stay=1.0, random_state=0, n_init=3).fit(X)
    np.testing.assert_allclose(field.objective_, model.objective_)
    assert all(len(set(one)) == 1 for one in field.labels_)


def test_words_are_sequences_of_tokens():
    X = [["aab", "aba"], ["aaa"], ["xyz", "zyx", "xxy"], ["baa", "aab"], ["zzy", "xyx"], ["yzx"]]
    model = SequenceClustering(2, kernel=kf.kernels.Spectrum(1), penalty=0.1, random_state=0).fit(X)
    assert adjusted_rand_score([0, 0, 1, 0, 1, 1], model.labels_) == 1.0


@pytest.mark.parametrize("kind", [FieldClustering, SequenceClustering])
def test_files_copies_and_options(kind, rng, tmp_path):
    X, _ = persistent(rng, 8, 6)
    model = kind(3, kernel="linear", random_state=1, n_init=2).fit(X)
    model.save(tmp_path / "model.kf")
    wanted = model.predict_marginals(X)
    for other in (kf.load(tmp_path / "model.kf"), pickle.loads(pickle.dumps(model)), clone(model).fit(X)):
        np.testing.assert_allclose(np.array(other.predict_marginals(X)), np.array(wanted), atol=1e-6)
        assert other.objectives_ == model.objectives_
    halved = clone(model).set_params(tol=1e-4, penalty=0.5).fit(X)
    weighted = clone(model).set_params(tol=1e-4).fit(X, sample_weight=np.full(8, 2.0))
    np.testing.assert_allclose(weighted.objective_, 2 * halved.objective_, rtol=1e-3)
    flat = clone(model).fit(np.concatenate(X), lengths=[6] * 8)
    np.testing.assert_allclose(flat.objective_, model.objective_, rtol=1e-6)
    if kind is SequenceClustering:
        with pytest.raises(InputError, match="SequenceClustering, which is no model of sequences"):
            load_labeller(tmp_path / "model.kf")
    else:
        assert load_labeller(tmp_path / "model.kf").predict(X) == model.labels_
    approximate = clone(model).set_params(basis="nystroem").fit(X)
    np.testing.assert_allclose(approximate.objective_, model.objective_, rtol=0.05)


def test_trees_and_kernels_of_the_data(rng):
    X, y = persistent(rng, 18, 6)
    trees = [(x, [-1, *range(5)]) for x in X]
    model = FieldClustering(3, kernel=RBF(0.3), penalty=0.3, structure="tree", random_state=0).fit(trees)
    assert adjusted_rand_score(np.concatenate(y), np.concatenate(model.labels_)) > 0.9
    graph = FieldClustering(
        3, kernel=GraphKernel(kf.graphs.NeighborGraph(5), n_eigenpairs=20), random_state=0
    )
    assert adjusted_rand_score(np.concatenate(y), np.concatenate(graph.fit(X).labels_)) > 0.5


@pytest.mark.parametrize("kind", [FieldClustering, SequenceClustering])
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_clusters": 1}, "n_clusters is 1"),
        ({"n_clusters": 500}, "fewer than n_clusters=500"),
        ({"penalty": -1.0}, "penalty is -1"),
        ({"balance": -1.0}, "balance is -1"),
        ({"start": "spectral"}, "start='spectral' is not known"),
        ({"n_init": 0}, "n_init is 0"),
    ],
)
def test_bad_settings_change_nothing(kind, settings, message, rng):
    X, _ = persistent(rng, 4, 4)
    model = kind(2, random_state=0, n_init=1).fit(X)
    before = model.objective_
    with pytest.raises(InputError, match=message):
        model.set_params(**settings).fit(X)
    assert model.objective_ == before


def test_labels_and_odd_probabilities_are_refused(rng):
    X, y = persistent(rng, 4, 4)
    with pytest.raises(InputError, match="FieldClustering learns without labels"):
        FieldClustering().fit(X, y)
    for stay in (0.0, 1.5, None):
        with pytest.raises(InputError, match=f"stay is {stay}"):
            FieldClustering(stay=stay).fit(X)
    with pytest.raises(InputError, match="SequenceClustering has no structure: a sequence has one cluster"):
        SequenceClustering(structure="tree")


@pytest.mark.parametrize("kind", [FieldClustering, SequenceClustering])
def test_clusters_take_no_selection(kind, rng):
    with pytest.raises(InputError, match=r"^basis is SGPS\(.*; it must be one of .* or an Approximation\.$"):
        kind(2, basis=SGPS()).fit([rng.normal(size=(4, 2))])
