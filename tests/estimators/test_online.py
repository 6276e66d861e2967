"""Estimators that learn from one sequence after the other."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from kernelfields import (
    AROW,
    CRF,
    FreeScores,
    InputError,
    Parts,
    PassiveAggressive,
    Run,
    StochasticCRF,
    StructuredPerceptron,
    load,
)
from kernelfields.constraints import Constraints
from kernelfields.online import Sweep
from kernelfields.testing import check_estimator, labelled_sequences

MODELS = {
    "perceptron": StructuredPerceptron(random_state=0),
    "last weights": StructuredPerceptron(averaging=False, shuffle=False),
    "bare": StructuredPerceptron(parts=Parts(bias=None, boundaries=None), max_iter=3, random_state=0),
    "PA": PassiveAggressive("PA", random_state=0),
    "PA-I": PassiveAggressive("PA-I", aggressiveness=0.1, random_state=0),
    "PA-II": PassiveAggressive("PA-II", aggressiveness=0.1, error_sensitive=False, random_state=0),
    "AROW": AROW(gamma=0.5, random_state=0),
    "SGD": StochasticCRF(0.3, max_iter=5, random_state=0),
}


@pytest.fixture
def data(rng):
    return labelled_sequences(rng, 60)


@pytest.mark.parametrize("name", list(MODELS))
def test_estimator_passes_all_checks(name, rng):
    check_estimator(MODELS[name], rng, ties=True)


@pytest.mark.parametrize("name", list(MODELS))
def test_it_learns(name, data, rng):
    X, y = data
    model = MODELS[name].fit(X, y)
    assert model.score(*labelled_sequences(rng, 60)) > 0.85
    assert model.n_iter_ == len(model.losses_) <= model.max_iter
    assert model.losses_[-1] <= model.losses_[0]


def textbook_perceptron(X, y, classes, epochs):
    """The averaged perceptron as a loop, all weights in one vector, the best labelling by Viterbi."""
    L, D = len(classes), X[0].shape[1]
    node, edge, start, end = np.zeros((L, D + 1)), np.zeros((L, L)), np.zeros(L), np.zeros(L)
    sums, count = [np.zeros_like(w) for w in (node, edge, start, end)], 1
    for _ in range(epochs):
        for x, labels in zip(X, y, strict=True):
            x = np.hstack([x, np.ones((len(x), 1))])
            scores = x @ node.T
            scores[0] += start
            scores[-1] += end
            best, back = scores[0], []
            for t in range(1, len(x)):
                ways = best[:, None] + edge
                back.append(ways.argmax(axis=0))
                best = ways.max(axis=0) + scores[t]
            path = [int(best.argmax())]
            for pointers in back[::-1]:
                path.insert(0, int(pointers[path[0]]))
            right = [classes.index(label) for label in labels]
            for sign, chosen in ((1, right), (-1, path)):
                for t, label in enumerate(chosen):
                    node[label] += sign * x[t]
                    if t > 0:
                        edge[chosen[t - 1], label] += sign
                start[chosen[0]] += sign
                end[chosen[-1]] += sign
            for total, w in zip(sums, (node, edge, start, end), strict=True):
                total += w
            count += 1
    return [total / count for total in sums]


def test_averaged_perceptron_is_the_textbooks(data):
    X, y = data
    model = StructuredPerceptron(max_iter=4, shuffle=False).fit(X, y)
    node, edge, start, end = textbook_perceptron(X, y, model.classes_.tolist(), 4)
    np.testing.assert_allclose(model.coef_, node[:, :-1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, node[:, -1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.transitions_, edge, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.start_, start, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.end_, end, rtol=0, atol=1e-9)


def test_seeds_decide_the_order(data):
    X, y = data
    first, again, other = (
        StructuredPerceptron(max_iter=2, random_state=seed).fit(X, y).coef_ for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0


def test_sparse_and_dense_features_give_the_same(data):
    X, y = data
    dense = PassiveAggressive(random_state=0).fit(X, y)
    thin = PassiveAggressive(random_state=0).fit([sparse.csr_matrix(x) for x in X], y)
    np.testing.assert_allclose(thin.coef_, dense.coef_, rtol=0, atol=1e-12)


def test_only_observed_pairs_get_weights(rng):
    words, labels = "abcdefgh", "ABC"
    tokens = [[[words[k], words[k // 2]] for k in rng.integers(8, size=4)] for _ in range(12)]
    y = [[labels[(len(token[0]) + ord(token[0]) * (t + 1)) % 3] for t, token in enumerate(s)] for s in tokens]
    few, all_of_them = (
        StructuredPerceptron(observed_only=only, max_iter=3, random_state=0).fit(tokens, y)
        for only in (True, False)
    )
    names = list(few.features_.names())
    seen, pairs = np.zeros(few.coef_.shape, bool), np.zeros((3, 3), bool)
    for sentence, right in zip(tokens, y, strict=True):
        for t, (token, label) in enumerate(zip(sentence, right, strict=True)):
            seen[labels.index(label), [names.index(word) for word in token]] = True
            if t > 0:
                pairs[labels.index(right[t - 1]), labels.index(label)] = True
    assert 0 < seen.mean() < 1
    np.testing.assert_array_equal(few.coef_[~seen], 0)
    np.testing.assert_array_equal(few.transitions_[~pairs], 0)
    assert all_of_them.coef_[~seen].any()


def test_rules_hold_in_training_and_in_prediction(data):
    X, y = data
    rule = Constraints(forbidden_pairs=[("red", "blue"), ("blue", "green"), ("green", "red")])
    for model in (
        StructuredPerceptron(constraints=rule, random_state=0),
        AROW(constraints=rule, random_state=0),
    ):
        model.fit(X, y)
        np.testing.assert_array_equal(model.transitions_[model.forbidden_.pairs], 0)
        wild = [np.random.default_rng(0).normal(size=(30, 3)) for _ in range(5)]
        for path in model.predict(wild):
            assert not {("red", "blue"), ("blue", "green"), ("green", "red")} & set(pairwise(path))
    with pytest.raises(InputError, match="forbidden"):
        StructuredPerceptron(constraints=Constraints(forbidden_pairs=[("red", "green")]), random_state=0).fit(
            X, y
        )


def test_held_out_data_end_the_learning(data, rng):
    X, y = data
    X_dev, y_dev = labelled_sequences(rng, 30)
    model = StructuredPerceptron(max_iter=60, run=Run(patience=2), random_state=0).fit(
        X, y, X_dev=X_dev, y_dev=y_dev
    )
    assert "held-out" in model.stop_reason_
    scores = [
        StructuredPerceptron(max_iter=n, random_state=0).fit(X, y).score(X_dev, y_dev)
        for n in range(1, model.n_iter_ + 1)
    ]
    assert model.score(X_dev, y_dev) == max(scores)
    assert model.n_iter_ == int(np.argmax(scores)) + 1 + 2


def test_warm_start_goes_on(data):
    X, y = data
    model = StructuredPerceptron(max_iter=1, averaging=False, shuffle=False, warm_start=True)
    model.fit(X, y).fit(X, y).fit(X, y)
    whole = StructuredPerceptron(max_iter=3, averaging=False, shuffle=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=0, atol=1e-12)
    cold = StructuredPerceptron(max_iter=1, averaging=False, shuffle=False).fit(X, y)
    assert np.abs(cold.coef_ - whole.coef_).max() > 0


def test_learning_ends_when_nothing_is_wrong():
    X = [np.eye(2)[[0, 1, 1, 0]]] * 3
    y = [["A", "B", "B", "A"]] * 3
    model = StructuredPerceptron(max_iter=50, random_state=0).fit(X, y)
    assert model.n_iter_ < 50
    assert model.losses_[-1] == 0
    assert "right" in model.stop_reason_


def test_weights_of_sequences_multiply_their_steps(data):
    X, y = data
    counts = np.ones(len(X))
    counts[5] = 0
    without = PassiveAggressive(shuffle=False, max_iter=1, averaging=False)
    left_out = without.fit([*X[:5], *X[6:]], [*y[:5], *y[6:]]).coef_.copy()
    np.testing.assert_allclose(without.fit(X, y, sample_weight=counts).coef_, left_out, rtol=0, atol=1e-12)


def test_callback_sees_every_epoch(data):
    seen = []
    model = AROW(max_iter=4, run=Run(callback=seen.append), random_state=0).fit(*data)
    assert [progress.iteration for progress in seen] == list(range(1, model.n_iter_ + 1))
    assert [progress.value for progress in seen] == model.losses_


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (StructuredPerceptron(max_iter=0, random_state=0), "max_iter"),
        (PassiveAggressive(aggressiveness=0.0, random_state=0), "aggressiveness"),
        (PassiveAggressive(variant="PA-III", random_state=0), "variant='PA-III'"),
        (AROW(gamma=-1.0, random_state=0), "gamma"),
        (AROW(variance=np.inf, random_state=0), "variance"),
    ],
)
def test_bad_settings_are_refused(model, message, data):
    with pytest.raises(InputError, match=message):
        model.fit(*data)


def test_unobserved_labels_are_refused(data):
    X, y = data
    with pytest.raises(InputError, match="Sequence 1 of y has no label at position 0"):
        StructuredPerceptron(random_state=0).fit(X, [y[0], [None, *y[1][1:]], *y[2:]])


@pytest.mark.parametrize("name", ["perceptron", "last weights", "PA", "PA-I", "PA-II", "AROW"])
def test_learning_piece_by_piece_is_one_pass(name, data):
    X, y = data
    model = clone(MODELS[name]).set_params(shuffle=False, max_iter=1)
    whole = clone(model).fit(X, y)
    for part in (slice(0, 7), slice(7, 30), slice(30, None)):
        model.partial_fit(X[part], y[part], classes=["blue", "green", "red"])
    np.testing.assert_allclose(model.coef_, whole.coef_, atol=1e-9)
    np.testing.assert_allclose(model.transitions_, whole.transitions_, atol=1e-9)
    np.testing.assert_allclose(sum(model.losses_), whole.losses_[0])
    assert model.n_iter_ == 3


def test_partial_fit_refuses_what_it_cannot_go_on_with(data):
    X, y = data
    with pytest.raises(InputError, match="observed_only"):
        StructuredPerceptron(observed_only=True, random_state=0).partial_fit(X, y)
    model = StructuredPerceptron(random_state=0).partial_fit(X, y)
    with pytest.raises(InputError, match="labels or a number of features that the first call had not"):
        model.partial_fit([x[:, :2] for x in X], y)
    with pytest.raises(InputError, match="labels or a number of features that the first call had not"):
        model.partial_fit(X, [["white"] * len(labels) for labels in y])
    assert model.fit(X, y).n_iter_ <= model.max_iter  # fit forgets what was before


@pytest.mark.parametrize("loaded", [False, True])
@pytest.mark.parametrize("name", list(MODELS))
def test_partial_fit_goes_on_from_fit_and_from_files(name, loaded, data, rng, tmp_path):
    X, y = data
    held_out = labelled_sequences(rng, 200)
    model = clone(MODELS[name]).fit(X, y)
    fitted, passes, weights = model.score(*held_out), model.n_iter_, model.coef_.copy()
    if loaded:
        model.save(tmp_path / "model.kf")
        model = load(tmp_path / "model.kf")
    model.partial_fit(X[:2], y[:2])
    assert model.score(*held_out) > fitted - 0.1
    assert np.abs(model.coef_ - weights).max() < 0.5 * np.abs(weights).max()
    assert model.n_iter_ == len(model.losses_) == passes + 1


@pytest.mark.parametrize("name", list(MODELS))
def test_files_hold_all_that_learning_goes_on_with(name, data, tmp_path):
    X, y = data
    model = clone(MODELS[name]).partial_fit(X[:20], y[:20]).partial_fit(X[20:40], y[20:40])
    model.save(tmp_path / "model.kf")
    again = load(tmp_path / "model.kf").partial_fit(X[40:], y[40:])
    model.partial_fit(X[40:], y[40:])
    np.testing.assert_array_equal(again.coef_, model.coef_)
    np.testing.assert_array_equal(again.transitions_, model.transitions_)
    assert again.losses_ == model.losses_


@pytest.mark.parametrize("name", ["last weights", "AROW", "SGD"])
def test_partial_fit_after_fit_is_one_more_epoch(name, data):
    X, y = data
    settings = {"shuffle": False, "max_iter": 1}
    settings |= {"averaging": False, "learning_rate": 0.1} if name == "SGD" else {}
    model = clone(MODELS[name]).set_params(**settings).fit(X, y).partial_fit(X, y)
    whole = clone(MODELS[name]).set_params(**{**settings, "max_iter": 2}).fit(X, y)
    if name == "SGD":  # which knows of twice as many sequences by now
        assert model.losses_[1] < 0.6 * model.losses_[0]
    else:
        np.testing.assert_allclose(model.coef_, whole.coef_, rtol=0, atol=1e-12)
        np.testing.assert_allclose(model.losses_, whole.losses_)


def test_steps_of_descent_stay_short(data):
    X, y = data
    model = StochasticCRF(0.3, max_iter=5, random_state=0).fit(X, y)
    before = model.coef_.copy()
    model.partial_fit(X[:1], y[:1])
    assert 0 < np.abs(model.coef_ - before).max() < 0.02 * np.abs(before).max()


def test_old_files_go_on_too(data):
    X, y = data
    model = StructuredPerceptron(random_state=0).fit(X, y)
    weights = model.coef_.copy()
    del model._trail  # as in files of version 0.1.0
    model.partial_fit(X[:1], y[:1])
    np.testing.assert_allclose(model.coef_, weights, atol=0.02 * np.abs(weights).max())


def test_what_was_learnt_is_not_dropped(data):
    X, y = data
    for part in ("bias", "boundaries"):
        model = AROW(random_state=0).fit(X, y).set_params(**{f"parts__{part}": None})
        with pytest.raises(InputError, match=f"takes '{part}' away, but the fitted model has such weights"):
            model.partial_fit(X, y)
    others = [["red" if label == "blue" else "blue" for label in labels] for labels in y]
    model = (
        AROW(parts=Parts(bias=None), random_state=0)
        .fit(X, y)
        .set_params(parts=Parts())
        .partial_fit(X, others)
    )
    assert model.intercept_.any()


@pytest.mark.parametrize("name", list(MODELS))
def test_warm_start_begins_with_what_was_learnt(name, data):
    X, y = data
    model = clone(MODELS[name]).set_params(warm_start=True, max_iter=1)
    cold = model.fit(X, y).losses_[0]
    assert abs(model.fit(X, y).losses_[0] - cold) > 1e-3 * cold
    assert np.abs(model.coef_ - clone(model).fit(X, y).coef_).max() > 1e-3


@pytest.mark.parametrize("name", list(MODELS))
@pytest.mark.parametrize("epochs", [1, 3])
def test_an_interruption_keeps_what_was_learnt(name, epochs, data, rng):
    X, y = data

    def interrupt(progress):
        if progress.iteration == epochs:
            raise KeyboardInterrupt

    model = clone(MODELS[name]).set_params(max_iter=10, run__callback=interrupt)
    with pytest.warns(ConvergenceWarning, match=f"Interrupted after {epochs} epochs"):
        model.fit(X, y)
    assert "Interrupted" in model.stop_reason_
    assert model.n_iter_ == len(model.losses_) == epochs
    whole = clone(model).set_params(run__callback=None, max_iter=epochs).fit(X, y)
    np.testing.assert_array_equal(model.coef_, whole.coef_)
    model.set_params(run__callback=None).partial_fit(X, y)


def test_an_interrupted_epoch_counts_as_far_as_it_went(data, monkeypatch):
    X, y = data
    monkeypatch.setattr("kernelfields.incremental._base.PIECE", 20)
    seen = []

    def learn(self, rule, order, plain=Sweep.learn):
        seen.append(len(order))
        if len(seen) == 3:
            raise KeyboardInterrupt
        return plain(self, rule, order)

    monkeypatch.setattr(Sweep, "learn", learn)
    model = StructuredPerceptron(shuffle=False)
    with pytest.warns(ConvergenceWarning, match="Interrupted after 0 epochs"):
        model.fit(X, y)
    monkeypatch.undo()
    part = StructuredPerceptron(shuffle=False, max_iter=1).fit(X[:40], y[:40])
    np.testing.assert_allclose(model.coef_, part.coef_, rtol=0, atol=1e-12)


def test_stochastic_descent_comes_near_the_optimum(data):
    X, y = data
    best = CRF(0.5, parts=Parts(edges=FreeScores(penalty=2.0)), tol=1e-6).fit(X, y)
    model = StochasticCRF(0.5, parts=Parts(edges=FreeScores(penalty=2.0)), max_iter=60, random_state=0).fit(
        X, y
    )
    value = -model.sequence_log_proba(X, y).sum() + 0.25 * sum(
        np.square(w).sum() for w in (model.coef_, model.intercept_, model.start_, model.end_)
    )
    value += np.square(model.transitions_).sum()
    assert best.certificate_.lower_bound <= value <= 1.02 * best.certificate_.value
    last = StochasticCRF(
        0.5, parts=Parts(edges=FreeScores(penalty=2.0)), max_iter=60, averaging=False, random_state=0
    ).fit(X, y)
    assert not np.allclose(last.coef_, model.coef_)


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"penalty": 0}, "needs one above 0"), ({"learning_rate": -1.0}, "learning_rate is")],
)
def test_bad_settings_of_descent_are_refused(settings, words, data):
    with pytest.raises(InputError, match=words):
        StochasticCRF(**settings, random_state=0).fit(*data)
