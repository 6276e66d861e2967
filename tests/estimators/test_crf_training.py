"""CRF: sparse weights, held-out data, starting from what is there."""

import numpy as np
import pytest
from scipy import sparse

from kernelfields import CRF, InputError, LinearScores, Parts, Run
from kernelfields.losses import LogLoss
from kernelfields.objective import L1Norm, Problem, Term
from kernelfields.solvers import OWLQN, Stop
from kernelfields.spaces import Free, LinearFeatures
from kernelfields.testing import labelled_sequences
from tests._problems import small_chain, small_labels


def words(rng, count=60, vocabulary=40):
    """Sentences as sparse indicators of words; a word's label depends on its number."""
    X, y = [], []
    for length in rng.integers(2, 9, size=count):
        tokens = rng.integers(vocabulary, size=length)
        X.append(sparse.csr_matrix(np.eye(vocabulary)[tokens]))
        y.append([("N", "V", "A")[t % 3] if rng.random() < 0.9 else "N" for t in tokens])
    return X, y


def l1_problem(rng, penalty):
    chain = small_chain()
    features = rng.normal(size=(chain.n_vertices, 4))
    terms = [
        Term("features", LinearFeatures(chain, "node", features), penalty, L1Norm(0.8)),
        Term("edges", Free(chain, "edge"), 1.0),
    ]
    return Problem.of(LogLoss(chain, small_labels(chain, rng)), terms)


@pytest.mark.parametrize("penalty", [0.0, 0.5])
def test_owlqn_reaches_the_optimality_conditions_of_the_l1_problem(penalty, rng):
    problem = l1_problem(rng, penalty)
    point = OWLQN().minimize(problem, problem.zero(), Stop(gap=1e-8, iterations=500)).point
    place = problem.slices["features"]
    w, slope = point.element[place], point.gradient[place] * problem.terms[0].metric
    assert (w == 0).any()
    assert (w != 0).any()
    np.testing.assert_allclose(slope[w != 0], -0.8 * np.sign(w[w != 0]), atol=1e-3)
    assert (np.abs(slope[w == 0]) <= 0.8 + 1e-3).all()
    assert point.certificate.relative_gap < 1e-5


@pytest.mark.parametrize("penalty", [0.0, 0.5])
def test_lower_bound_of_the_l1_problem_holds_everywhere(penalty, rng):
    problem = l1_problem(rng, penalty)
    optimum = OWLQN().minimize(problem, problem.zero(), Stop(gap=1e-9, iterations=500)).point.value
    for scale in (0.01, 0.3, 3.0):
        point = problem.at(scale * rng.normal(size=problem.size))
        assert point.certificate.lower_bound <= optimum + 1e-6


def test_l1_makes_weights_zero_and_says_how_well(rng):
    X, y = words(rng)
    dense, thin = CRF(penalty=0.1).fit(X, y), CRF(penalty=0.1, l1=1.0).fit(X, y)
    assert (thin.coef_ == 0).mean() > (dense.coef_ == 0).mean() + 0.2
    assert thin.certificate_.relative_gap <= 2e-3
    assert thin.score(X, y) > 0.7


def test_observed_pairs_only(rng):
    X, y = words(rng)
    model = CRF(observed_only=True).fit(X, y)
    full = CRF().fit(X, y)
    rows, labels = sparse.vstack(X), np.concatenate(y)
    for k, label in enumerate(model.classes_):
        seen = np.asarray(rows[labels == label].sum(axis=0)).ravel() > 0
        assert not model.coef_.toarray()[k, ~seen].any()
    assert model.certificate_.value >= full.certificate_.lower_bound
    assert model.certificate_.relative_gap <= 1e-3
    with pytest.raises(InputError, match="observed_only needs sparse features"):
        CRF(observed_only=True).fit([x.toarray() for x in X], y)


def test_sparse_and_dense_features_have_one_optimum(rng):
    X, y = words(rng)
    thin, thick = CRF(tol=1e-9).fit(X, y), CRF(tol=1e-9).fit([x.toarray() for x in X], y)
    np.testing.assert_allclose(thin.coef_, thick.coef_, atol=1e-4)
    assert thin.predict(X) == thick.predict([x.toarray() for x in X])


def test_held_out_data_end_the_search_at_their_best(rng):
    X, y = words(rng, count=25)
    X_dev, y_dev = words(rng, count=25)
    loose = CRF(penalty=1e-4, run=Run(patience=3), tol=1e-9)
    stopped = loose.fit(X, y, X_dev=X_dev, y_dev=y_dev)
    assert stopped.stop_reason_.startswith("The observer")
    held_out = stopped.sequence_log_proba(X_dev, y_dev).sum()
    to_the_end = CRF(penalty=1e-4, tol=1e-6).fit(X, y).sequence_log_proba(X_dev, y_dev).sum()
    assert held_out > to_the_end
    with (
        pytest.raises(InputError, match="no position with a label that training has"),
        pytest.warns(UserWarning, match="labels of y_dev do not occur in y"),
    ):
        loose.fit(X, y, X_dev=X_dev, y_dev=[["?"] * len(labels) for labels in y_dev])


def test_warm_start_continues(rng):
    X, y = labelled_sequences(rng, count=40)
    model = CRF(warm_start=True, tol=1e-6).fit(X, y)
    iterations = model.n_iter_
    assert model.fit(X, y).n_iter_ == 0
    assert model.set_params(penalty=1.1).fit(X, y).n_iter_ < iterations
    assert model.fit([x[:, :2] for x in X], y).n_iter_ > 0  # other features: from the start


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"parts": Parts(edge_features=LinearScores())},
        {"structure": "chain2"},
        {"constraints": None, "parts": Parts(bias=None)},
    ],
)
def test_partial_fit_penalises_the_distance_from_what_was_learnt(options, rng):
    X, y = labelled_sequences(rng, count=40)
    model = CRF(tol=1e-9, **options).fit(X[:20], y[:20])
    before = model.coef_.copy()
    assert model.partial_fit(X[20:], y[20:]) is model
    assert model.certificate_.relative_gap <= 1e-8
    far = CRF(penalty=1e6, tol=1e-9, **options).fit(X[:20], y[:20])
    far.coef_, kept = before, before.copy()
    np.testing.assert_allclose(far.partial_fit(X[20:], y[20:]).coef_, kept, atol=1e-3)
    assert model.score(X, y) > 0.6


def test_partial_fit_from_nothing_is_fit(rng):
    X, y = labelled_sequences(rng, count=30)
    np.testing.assert_array_equal(CRF().partial_fit(X, y).coef_, CRF().fit(X, y).coef_)


def test_partial_fit_takes_new_labels(rng):
    X, y = labelled_sequences(rng, count=60)
    two = [[label if label != "blue" else "red" for label in labels] for labels in y]
    model = CRF(penalty=0.1).fit(X, two)
    assert model.classes_.tolist() == ["green", "red"]
    model.partial_fit(X, y)
    assert model.classes_.tolist() == ["green", "red", "blue"]
    assert model.score(X, y) > 0.7
    with pytest.raises(InputError, match="2 features per position, expected 3"):
        model.partial_fit([x[:, :2] for x in X], y)
    assert model.score(X, y) > 0.7


def test_partial_fit_keeps_the_vocabulary(rng):
    sentences = [[{"w": f"w{k}"} for k in rng.integers(20, size=6)] for _ in range(30)]
    labels = [["even" if int(t["w"][1:]) % 2 == 0 else "odd" for t in sentence] for sentence in sentences]
    model = CRF(penalty=0.1).fit(sentences[:15], labels[:15])
    width = model.n_features_in_
    model.partial_fit([*sentences[15:], [{"w": "unseen"}]], [*labels[15:], ["odd"]])
    assert model.n_features_in_ == width
    assert model.score(sentences, labels) > 0.9
