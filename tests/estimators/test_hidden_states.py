"""Hidden states: objectives of EM, sums over states against enumeration, options, bad input."""

import pickle
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone

import kernelfields as kf
from kernelfields import (
    CRF,
    FixedScores,
    HiddenStates,
    InputError,
    KernelCRF,
    KernelScores,
    ModelFormatError,
    Parts,
    StructuredSVM,
)
from kernelfields.decoders import BayesRule, Viterbi
from kernelfields.losses import Log, OwnedStates
from kernelfields.testing import Enumerated

CENTRES = np.array([[[-2.0, 0], [2, 0]], [[0, -2], [0, 2]]])
"""Two ways to write every label: no linear function tells the labels apart."""


def drawn(rng, count=30, length=5):
    y = rng.integers(2, size=(count, length))
    X = CENTRES[y, rng.integers(2, size=y.shape)] + 0.6 * rng.normal(size=(*y.shape, 2))
    return list(X), [["ab"[k] for k in one] for one in y]


def linked(X, structure):
    if structure == "tree":
        return [(x, [-1, *range(len(x) - 1)]) for x in X]
    if structure == "graph":
        return [(x, [[t, t + 1] for t in range(len(x) - 1)]) for x in X]
    return X


@pytest.mark.parametrize("method", ["em", "gradient"])
@pytest.mark.parametrize("structure", ["chain", "tree", "graph"])
def test_states_tell_apart_what_labels_cannot(structure, method, rng):
    X, y = drawn(rng)
    X = linked(X, structure)
    plain = CRF(0.3, structure=structure).fit(X, y)
    model = HiddenStates(plain, method=method, random_state=0).fit(X, y)
    assert plain.score(X, y) < 0.75
    assert model.score(X, y) > 0.9
    assert model.objective_ == min(model.objectives_) < plain.objective_ - 10
    assert model.certificate_ is None
    assert len(model.objectives_) == 3


@pytest.mark.parametrize("start", ["kmeans", "random", "run"])
@pytest.mark.parametrize("estimator", [CRF(0.3), KernelCRF("rbf", penalty=0.3)], ids=["linear", "kernel"])
def test_no_step_of_em_raises_the_objective(estimator, start, rng):
    X, y = drawn(rng, 12)
    model = HiddenStates(estimator, method="em", start=start, n_init=1, random_state=0).fit(X, y)
    path = np.array(model.objective_path_)
    assert len(path) > 3
    assert (np.diff(path) <= 1e-9 * path[0]).all()
    np.testing.assert_allclose(path[-1], model.objective_)
    gradient = HiddenStates(estimator, start=start, n_init=1, random_state=0).fit(X, y)
    assert not hasattr(gradient, "objective_path_")


def test_one_state_is_the_plain_model(rng):
    X, y = drawn(rng, 10)
    plain = CRF(0.3, tol=1e-6).fit(X, y)
    model = HiddenStates(CRF(0.3, tol=1e-6), n_states=1, n_init=1).fit(X, y)
    np.testing.assert_allclose(model.objective_, plain.objective_, rtol=1e-6)
    for found, wanted in zip(model.predict_marginals(X), plain.predict_marginals(X), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-4)


def test_sums_over_states_against_enumeration(rng):
    X, y = drawn(rng, 8)
    model = HiddenStates(CRF(0.3), n_states={"a": 3, "b": 2}, n_init=1, random_state=0).fit(X, y)
    assert model.owners_.tolist() == [0, 0, 0, 1, 1]
    x = [X[0][:3]]
    scored = model.estimator_._batch(x, None, None)
    brute = Enumerated(scored.batch, scored.scores)
    labels = model.owners_[brute.outputs(0)]
    chances = {
        named: brute.probabilities(0)[(labels == named).all(axis=1)].sum()
        for named in product([0, 1], repeat=3)
    }
    for named, chance in chances.items():
        found = model.sequence_log_proba(x, [["ab"[k] for k in named]])
        np.testing.assert_allclose(np.exp(found), [chance], rtol=1e-8)
    unknown = sum(chance for named, chance in chances.items() if named[0] == 0)
    np.testing.assert_allclose(np.exp(model.sequence_log_proba(x, [["a", None, None]])), unknown, rtol=1e-8)
    marginals = [[sum(c for n, c in chances.items() if n[t] == k) for k in (0, 1)] for t in range(3)]
    np.testing.assert_allclose(model.predict_marginals(x)[0], marginals, rtol=1e-8)
    assert model.predict(x) == [["ab"[int(np.argmax(row))] for row in marginals]]
    best = brute.outputs(0)[np.argmax(brute.values(0))]
    assert model.predict(x, decoder=Viterbi()) == [["ab"[model.owners_[state]] for state in best]]
    first = {0: 0, 1: 3}
    owners = model.owners_[best]
    wanted = [("ab"[k], int(state - first[k])) for state, k in zip(best, owners, strict=True)]
    assert model.predict_states(x) == [wanted]
    assert model.predict_state_marginals(x)[0].shape == (3, 5)
    counted = np.mean([draw[0][0] == "a" for draw in model.sample(x, 4000)])
    assert abs(counted - marginals[0][0]) < 0.04


def test_the_gradient_is_that_of_the_likelihood(rng):
    """What is kept is a stationary point: moving any weight by little changes the objective by less."""
    X, y = drawn(rng, 10)
    model = HiddenStates(CRF(0.3, tol=1e-5), n_init=1, random_state=0).fit(X, y)
    inner = model.estimator_

    def objective():
        names = ("coef_", "intercept_", "start_", "end_", "transitions_")
        size = sum(float((vars(inner)[name] ** 2).sum()) for name in names)
        return 0.15 * size - model.sequence_log_proba(X, y).sum()

    here = objective()
    np.testing.assert_allclose(here, model.objective_, rtol=1e-9)
    for array, place in ((inner.coef_, (1, 0)), (inner.transitions_, (0, 2)), (inner.start_, 3)):
        kept, values = array[place], []
        for step in (1e-4, -1e-4):
            array[place] = kept + step
            values.append(objective())
        array[place] = kept
        assert min(values) >= here - 1e-7
        assert abs(values[0] - values[1]) / 2e-4 < 1e-2


def test_states_that_share_most_are_nearly_one(rng):
    X, y = drawn(rng, 20)
    plain = KernelCRF("linear", penalty=0.3, tol=1e-5).fit(X, y)
    estimator = KernelCRF("linear", penalty=0.3, tol=1e-5)
    scores = {}
    for share in (0.0, 0.5, 1 - 1e-9):
        model = HiddenStates(estimator, share=share, n_init=1, random_state=0).fit(X, y)
        scores[share] = model.score(X, y)
    assert min(scores[0.0], scores[0.5]) > 0.9
    weights = model.estimator_.basis_.T @ model.estimator_.dual_coef_
    np.testing.assert_allclose(weights[:, 0], weights[:, 1], atol=1e-3)
    np.testing.assert_allclose(weights[:, 2], weights[:, 3], atol=1e-3)
    assert scores[1 - 1e-9] < 0.8
    assert plain.score(X, y) < 0.8


def test_rules_about_labels_hold(rng):
    X, _ = drawn(rng, 12)
    y = [["O", "B-x", "I-x", "O", "B-x"] for _ in X]
    model = HiddenStates(CRF(0.3, constraints="iob2"), n_init=1, random_state=0).fit(X, y)
    noise = [5 * rng.normal(size=(7, 2)) for _ in range(20)]
    for decoder in ("posterior", "viterbi"):
        for labels in model.predict(noise, decoder=decoder):
            pairs = zip(["O", *labels[:-1]], labels, strict=True)
            assert all(after != "I-x" or before != "O" for before, after in pairs)
    assert model.sequence_log_proba(X[:1], [["I-x", "O", "O", "O", "O"]])[0] == -np.inf
    with pytest.raises(InputError, match="forbidden"):
        model.fit(X, [["I-x", *one[1:]] for one in y])


def test_weights_missing_labels_and_further_options(rng):
    X, y = drawn(rng, 12)
    model = HiddenStates(CRF(0.3, tol=1e-6), start="run", n_init=1)
    twice = clone(model).fit([*X, X[0]], [*y, y[0]])
    weighted = clone(model).fit(X, y, sample_weight=[2.0, *np.ones(11)])
    np.testing.assert_allclose(weighted.objective_, twice.objective_, rtol=1e-4)
    some = [*y[:6], *([None, *one[1:]] for one in y[6:])]
    assert clone(model).fit(X, some).score(X, y) > 0.6
    without = clone(model).fit([*X, X[0]], [*y, None])
    np.testing.assert_allclose(without.objective_, clone(model).fit(X, y).objective_, rtol=1e-6)
    flat = clone(model).fit(np.concatenate(X), y, lengths=[5] * 12)
    np.testing.assert_allclose(flat.objective_, clone(model).fit(X, y).objective_, rtol=1e-6)
    assert flat.predict(X[:2], allowed=[["b"] * 5, None])[0] == ["b"] * 5
    assert flat.predict(X[:1], abstain=1.0) == [[None] * 5]
    assert 0 <= flat.score(X, y, sample_weight=np.arange(12)) <= 1
    single = clone(model).fit([x.astype(np.float32) for x in X], y)
    np.testing.assert_allclose(single.objective_, flat.objective_, rtol=1e-3)
    measured = HiddenStates(
        CRF(0.3, parts=Parts(known=FixedScores({"a": 5.0}))), n_init=1, random_state=0
    ).fit(X, y)
    assert measured.estimator_.parts["known"] == FixedScores({0: 5.0, 1: 5.0})


def test_tokens(rng):
    X = [["the", "dog", "runs"], ["a", "cat", "sat"], ["the", "cat", "runs"]] * 2
    y = [["D", "N", "V"]] * 6
    model = HiddenStates(CRF(0.1, features="pos"), random_state=0, n_init=1).fit(X, y)
    assert model.predict([["a", "dog", "sat"]]) == [["D", "N", "V"]]
    rows = [[{"word": word} for word in one] for one in X]
    model = HiddenStates(CRF(0.1), random_state=0, n_init=1, method="em").fit(rows, y)
    assert model.predict(rows[:1]) == [["D", "N", "V"]]


def test_files_copies_and_seeds(rng, tmp_path):
    X, y = drawn(rng, 10)
    model = HiddenStates(KernelCRF("rbf", constraints=None), n_states={"a": 2}, random_state=3, n_init=2)
    model.fit(X, y)
    model.save(tmp_path / "model.kf")
    for other in (kf.load(tmp_path / "model.kf"), pickle.loads(pickle.dumps(model)), clone(model).fit(X, y)):
        np.testing.assert_allclose(other.sequence_log_proba(X, y), model.sequence_log_proba(X, y), rtol=1e-6)
        assert other.objectives_ == model.objectives_
        assert isinstance(other.estimator_.loss, OwnedStates)
    rules = HiddenStates(CRF(constraints=kf.constraints.Constraints([("a", "b")])), n_init=1)
    rules.fit(X, [["b"] * 4 + ["a"]] * 10).save(tmp_path / "rules.kf")
    assert kf.load(tmp_path / "rules.kf").predict(X) == rules.predict(X)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"estimator": StructuredSVM()}, "estimator is StructuredSVM.*must be a CRF or a KernelCRF"),
        ({"estimator": CRF}, "estimator is <class.*must be a CRF"),
        ({"n_states": 0}, "n_states is 0"),
        ({"n_states": {"z": 2}}, "n_states has the unknown label 'z'"),
        ({"method": "cccp"}, "method='cccp' is not known"),
        ({"share": 0.5}, "share is 0.5, which needs a KernelCRF"),
        ({"share": 1.0, "estimator": KernelCRF()}, "share is 1.0; states that have all in common are one"),
        (
            {"estimator": KernelCRF(parts=Parts(kernel=KernelScores(labels=np.eye(2))))},
            "takes no kernel on labels",
        ),
        ({"start": "zero"}, "start='zero' is not known"),
        ({"n_init": 0}, "n_init is 0"),
        ({"decoder": BayesRule()}, "decoder is BayesRule.*for hidden states"),
        ({"estimator": CRF(loss="pseudo")}, "does not go with loss='pseudo'"),
        ({"estimator": CRF(loss=Log(class_weight="balanced"))}, "does not go with loss=Log"),
        ({"estimator": CRF(warm_start=True)}, "does not go with warm_start=True"),
        ({"estimator": CRF(structure="segments")}, "takes sequences, trees and graphs"),
        ({"estimator": KernelCRF({"a": "rbf", "b": "linear"})}, "one kernel for all labels"),
        (
            {"estimator": CRF(parts=Parts(known=FixedScores(len)))},
            "takes FixedScores of a mapping",
        ),
    ],
)
def test_bad_settings_change_nothing(settings, message, rng):
    X, y = drawn(rng, 4)
    model = HiddenStates(CRF(), n_init=1, random_state=0).fit(X, y)
    before = model.objective_
    model.set_params(**settings)
    with pytest.raises(InputError, match=message):
        model.fit(X, y)
    assert model.objective_ == before


def test_kernels_of_objects_have_no_means():
    X, y = [["aba", "bb"], ["ab", "bbb"]], [["a", "b"], ["a", "b"]]
    model = HiddenStates(KernelCRF(kf.kernels.Spectrum(2)), n_init=1, random_state=0)
    with pytest.raises(InputError, match="start='kmeans' needs observations that are rows of numbers"):
        model.fit(X, y)
    assert model.set_params(start="random").fit(X, y).predict(X) == y


@pytest.mark.parametrize("owners", [[0, 2], [-1, 0], [0, 0], [1, 0], [0.0, 1.0], [[0, 1]]])
def test_files_with_states_of_no_label_are_refused(owners, rng, tmp_path):
    X, y = drawn(rng, 4)
    model = HiddenStates(CRF(), n_states=1, n_init=1, random_state=0).fit(X, y)
    model.owners_ = np.array(owners)
    model.save(tmp_path / "model.kf")
    with pytest.raises(ModelFormatError, match="owners_"):
        kf.load(tmp_path / "model.kf")


def test_files_with_fewer_states_than_their_model_are_refused(rng, tmp_path):
    X, y = drawn(rng, 4)
    model = HiddenStates(CRF(), n_init=1, random_state=0).fit(X, y)
    model.owners_ = np.array([0, 1])
    model.save(tmp_path / "model.kf")
    with pytest.raises(ModelFormatError, match="other states than the model of states"):
        kf.load(tmp_path / "model.kf")
