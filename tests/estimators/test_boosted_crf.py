"""Boosted conditional random fields: one round by hand, scikit-learn's public trees, exact derivatives."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingRegressor

from kernelfields import CRF, BoostedCRF, InputError, Parts, Run, TreeScores, load
from kernelfields.boosting.boosting import Boosting
from kernelfields.boosting.trees import Bins, Forest, TreeSettings
from kernelfields.constraints import Constraints
from kernelfields.losses import LogLoss
from kernelfields.objective import Term
from kernelfields.spaces import Free
from kernelfields.structures import ChainBatch
from kernelfields.testing import check_estimator, labelled_sequences

SMALL = {"max_iter": 4, "min_samples_leaf": 2, "max_leaf_nodes": 4}
MODELS = {
    "default": BoostedCRF(**SMALL, random_state=0),
    "nothing but trees": BoostedCRF(
        parts=Parts(bias=None, boundaries=None, edges=None), **SMALL, random_state=0
    ),
    "trees on edges": BoostedCRF(parts=Parts(edge_trees=TreeScores()), **SMALL, random_state=0),
    "order 2": BoostedCRF(structure="chain2", **SMALL, random_state=0),
    "drawn": BoostedCRF(subsample=0.7, max_features=0.7, **SMALL, random_state=0),
    "full steps": BoostedCRF(learning_rate=1.0, penalty=0.0, **SMALL, random_state=0),
}


def crossed(rng, count):
    """Sticky labels, each the sign of a product that no linear function of x tells."""
    X, y = [], []
    for _ in range(count):
        labels = np.cumsum(rng.random(8) < 0.25) % 2
        x = rng.uniform(0.1, 1, size=(8, 2)) * rng.choice([-1, 1], size=(8, 1))
        x[:, 1] *= np.where(labels == 1, 1, -1)
        x += 0.2 * rng.normal(size=x.shape)
        X.append(x)
        y.append(labels.tolist())
    return X, y


@pytest.mark.parametrize("name", list(MODELS))
def test_estimator_passes_all_checks(name, rng):
    check_estimator(MODELS[name], rng, ties=name == "drawn", missing=True)


@pytest.mark.parametrize("name", list(MODELS))
def test_the_objective_falls_in_every_round(name, rng):
    X, y = labelled_sequences(rng, 40)
    model = MODELS[name].fit(X, y, sample_weight=rng.random(41) + 0.5)
    assert len(model.losses_) == model.n_iter_ + 1 == 5
    assert (np.diff(model.losses_) < 0).all()


def test_one_round_without_edges_is_a_newton_step_by_hand(rng):
    X, y = labelled_sequences(rng, 10)
    model = BoostedCRF(
        1,
        learning_rate=0.5,
        max_leaf_nodes=2,
        min_samples_leaf=1,
        penalty=0.3,
        parts=Parts(bias=None, boundaries=None, edges=None),
        random_state=0,
    ).fit(X, y)
    flat, labels = np.concatenate(X), np.concatenate(y)
    expected = np.empty((len(flat), 3))
    for k, name in enumerate(model.classes_):
        g, h = (labels == name) - 1 / 3, 2 / 9
        best = -np.inf
        for d in range(3):
            for threshold in np.unique(flat[:, d])[:-1]:
                left = flat[:, d] <= threshold
                gain = sum(g[s].sum() ** 2 / (h * s.sum() + 0.3) for s in (left, ~left))
                if gain > best:
                    best = gain
                    values = [0.5 * g[s].sum() / (h * s.sum() + 0.3) for s in (left, ~left)]
                    expected[:, k] = np.where(left, *values)
    p = np.exp(expected) / np.exp(expected).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.concatenate(model.predict_marginals(X)), p, rtol=1e-5)


def test_trees_are_those_of_the_public_class(rng):
    X = rng.normal(size=(300, 3))
    X[:, 2] = rng.integers(6, size=300)
    X[rng.random(X.shape) < 0.1] = np.nan
    h = rng.random(300) + 0.1
    g = np.nan_to_num(X[:, 0]) * np.isin(X[:, 2], [1, 4]) + np.isnan(X[:, 1]) + 0.1 * rng.normal(size=300)
    public = HistGradientBoostingRegressor(
        max_iter=1, learning_rate=1, max_leaf_nodes=8, categorical_features=[2], early_stopping=False
    ).fit(X, g, sample_weight=h)
    bins = Bins(X, np.array([False, False, True]))
    tree, said = bins.grow(-g * h, h, TreeSettings(8, penalty=0), np.random.default_rng(0), None)
    np.testing.assert_array_equal(said, bins.values(tree))
    expected = public.predict(X)
    np.testing.assert_allclose(bins.values(tree), expected, atol=1e-5)
    forest = Forest.on(bins, 1)
    forest.add([tree], 0.5)
    new = np.vstack([X, [[0.3, np.nan, 77.0], [np.nan] * 3]])  # 77 is a name never seen
    np.testing.assert_allclose(forest.scores(new)[:, 0], 0.5 * public.predict(new), atol=1e-5)


def small_boosting(rng, weights=None):
    chain = ChainBatch([0, 6, 7, 12], 3, shared_edges=False)
    x = rng.normal(size=(12, 2))
    bins = {"node": Bins(x, np.zeros(2, bool)), "edge": Bins(x[chain.edge_tails], np.zeros(2, bool))}
    loss = LogLoss(chain, rng.integers(3, size=12), weights)
    return Boosting(
        loss, [Term("edges", Free(chain, "edge"), 1.0)], None, bins, TreeSettings(4, min_samples_leaf=1), 0.7
    )


def test_derivatives_are_those_of_the_loss_in_the_scores_of_trees(rng):
    boosting = small_boosting(rng, np.array([2.0, 0.5, 1.0]))
    boosting.boost(np.random.default_rng(0))
    gradient, theta = (
        boosting.point.loss.gradient,
        dict(boosting.point.problem.arrays.with_offset(boosting.point.theta)),
    )
    along = {clique: rng.normal(size=values.shape) for clique, values in boosting.scores.items()}
    values = []
    for step in (1e-5, -1e-5):
        boosting.scores = {clique: theta[clique] + step * along[clique] for clique in along}
        values.append(boosting.loss.at(boosting.scores).value)
    slope = sum(np.vdot(gradient[clique], along[clique]) for clique in along)
    np.testing.assert_allclose((values[0] - values[1]) / 2e-5, slope, rtol=1e-6)


def test_curvatures_are_variances_of_parts(rng):
    boosting = small_boosting(rng, np.array([2.0, 0.5, 1.0]))
    boosting.boost(np.random.default_rng(0))
    theta, h = boosting.point.problem.arrays.with_offset(boosting.point.theta), boosting._curvatures()
    for clique, place in (("node", (7, 1)), ("edge", (2, 0, 2))):
        unit = {name: np.zeros_like(values) for name, values in theta.items()}
        unit[clique][place] = 1
        exact = boosting.loss.curvature(theta, unit)[clique][place]
        np.testing.assert_allclose(h[clique][place], exact)


def test_it_tells_what_no_linear_function_can(rng):
    (X, y), (X_test, y_test) = crossed(rng, 80), crossed(rng, 80)
    linear = CRF().fit(X, y).score(X_test, y_test)
    boosted = BoostedCRF(30, random_state=0).fit(X, y).score(X_test, y_test)
    alone = (
        BoostedCRF(30, parts=Parts(edges=None, boundaries=None), random_state=0)
        .fit(X, y)
        .score(X_test, y_test)
    )
    assert boosted > max(linear, alone)
    assert boosted > 0.8 > 0.75 > linear


def test_held_out_data_end_boosting(rng):
    (X, y), (X_dev, y_dev) = crossed(rng, 25), crossed(rng, 40)
    model = BoostedCRF(60, learning_rate=1.0, min_samples_leaf=1, run=Run(patience=3), random_state=0).fit(
        X, y, X_dev=X_dev, y_dev=y_dev
    )
    assert model.stop_reason_ == "The loss of held-out data had stopped falling."
    losses = model.held_out_losses_
    assert model.n_iter_ == int(np.argmin(losses)) == len(losses) - 4
    np.testing.assert_allclose(-model.sequence_log_proba(X_dev, y_dev).sum(), losses[model.n_iter_])


def test_weights_of_sequences_are_their_number(rng):
    X, y = labelled_sequences(rng, 12)
    weights = rng.integers(1, 4, size=len(X))
    order = np.repeat(np.arange(len(X)), weights)
    model = BoostedCRF(3, min_samples_leaf=1, max_leaf_nodes=5, random_state=0)
    weighted = model.fit(X, y, sample_weight=weights).predict_marginals(X)
    repeated = model.fit([X[s] for s in order], [y[s] for s in order]).predict_marginals(X)
    np.testing.assert_allclose(np.concatenate(weighted), np.concatenate(repeated), atol=1e-5)


def test_columns_of_names_and_missing_values(rng):
    names = rng.integers(0, 40, size=(60, 6))
    odd = rng.permutation(40) % 2  # no order of the names tells
    X = [np.stack([row, np.where(odd[row] == 0, np.nan, 0.0)], axis=1).astype(float) for row in names]
    y = [odd[row].tolist() for row in names]
    bare = [x[:, :1] for x in X]
    settings = {"max_iter": 8, "max_leaf_nodes": 3, "min_samples_leaf": 1, "parts": Parts(edges=None)}
    assert BoostedCRF(categorical=[0], **settings, random_state=0).fit(bare, y).score(bare, y) > 0.97
    assert BoostedCRF(**settings, random_state=0).fit(bare, y).score(bare, y) < 0.97
    assert BoostedCRF(**settings, random_state=0).fit(X, y).score(X, y) == 1  # by what is missing


def test_the_seed_decides_what_is_drawn(rng):
    X, y = labelled_sequences(rng, 30)
    one, same, other = (
        BoostedCRF(3, subsample=0.5, min_samples_leaf=2, random_state=seed).fit(X, y) for seed in (1, 1, 2)
    )
    assert one.losses_ == same.losses_ != other.losses_


def test_unobserved_labels_and_constraints(rng):
    X, y = labelled_sequences(rng, 40)
    some = [[None if rng.random() < 0.3 else label for label in labels] for labels in y]
    model = BoostedCRF(5, min_samples_leaf=3, random_state=0).fit(X, some)
    assert (np.diff(model.losses_) < 0).all()
    assert model.score(X, y) > 0.9
    rule = Constraints(forbidden_pairs=[("red", "blue")])
    ruled = BoostedCRF(3, min_samples_leaf=3, constraints=rule, random_state=0).fit(
        X, y
    )  # labels go round the other way
    best = ruled.predict_kbest(X[-1:], 27)[0]
    assert len(best) == 27 - 2 * 3  # two places for the pair, three labels beside it
    assert all(("red", "blue") not in pairwise(labels) for labels, _ in best)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"categorical": [3]}, "unknown column 3"),
        ({"categorical": [0]}, "Column 0 is categorical, but has values other than"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0"),
        ({"subsample": 1.5}, "subsample is 1.5"),
        ({"max_iter": 0}, "max_iter is 0"),
    ],
)
def test_bad_settings_are_refused(settings, words, rng):
    with pytest.raises(InputError, match=words):
        BoostedCRF(**settings, random_state=0).fit(*labelled_sequences(rng))


def test_sparse_features_are_refused(rng):
    X, y = labelled_sequences(rng)
    with pytest.raises(InputError, match="dense features"):
        BoostedCRF(random_state=0).fit([sparse.csr_matrix(x) for x in X], y)


@pytest.mark.parametrize("structure", ["chain", "chain2"])
def test_sequences_of_one_position_have_no_trees_of_edges(structure, rng, tmp_path):
    X = [rng.normal(size=(1, 3)) for _ in range(40)]
    y = [["a" if x[0, 0] > 0 else "b"] for x in X]
    longer = [rng.normal(size=(4, 3)) for _ in range(5)]
    settings = {"max_iter": 5, "min_samples_leaf": 2, "structure": structure}
    held_out = {"X_dev": longer, "y_dev": [["a", "b", "a", "b"]] * 5}
    model = BoostedCRF(**settings, parts=Parts(edge_trees=TreeScores()), random_state=0).fit(X, y, **held_out)
    plain = BoostedCRF(**settings, random_state=0).fit(X, y, **held_out)
    # Edges with scores of their own, and edges that share them, have recursions that round differently.
    assert model.held_out_losses_ == pytest.approx(plain.held_out_losses_, rel=1e-12)
    model.save(tmp_path / "model.kf")
    for one in (model, load(tmp_path / "model.kf")):
        for found, expected in zip(
            one.predict_marginals(longer), plain.predict_marginals(longer), strict=True
        ):
            np.testing.assert_array_equal(found, expected)
