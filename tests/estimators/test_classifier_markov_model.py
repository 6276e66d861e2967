"""ClassifierMarkovModel: enumeration with scikit-learn's classifiers, and known models as cases."""

from __future__ import annotations

import pickle
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from kernelfields import HMM, ClassifierMarkovModel, InputError, KernelLogisticRegression, load
from kernelfields.constraints import Constraints
from kernelfields.emissions import DiagonalGaussian
from kernelfields.testing import check_estimator, labelled_sequences

C = 0.2
LOGISTIC = LogisticRegression(C=3.0)


@pytest.fixture
def data(rng):
    return labelled_sequences(rng, 30)


@pytest.mark.parametrize("kind", ["hmm", "pmm"])
def test_estimator_passes_all_checks(kind, rng):
    check_estimator(ClassifierMarkovModel(KernelLogisticRegression("linear"), kind=kind), rng)


@pytest.mark.parametrize("kind", ["hmm", "pmm"])
def test_classifiers_that_are_sure_of_themselves_and_pipelines(kind, data):
    X, y = data
    tree = make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0))
    assert ClassifierMarkovModel(tree, kind=kind).fit(X, y).score(X, y) > 0.9
    sure = ClassifierMarkovModel(tree, kind=kind, pseudocount=0).fit(X, y)  # probabilities of 0
    assert sure.score(X, y) > 0.9


def spread(classifier, rows, classes, n):
    """Give the probabilities of a classifier to all labels, with a little for each of them."""
    result, trust = np.zeros((len(rows), len(classes))), n / (n + C * len(classes))
    result[:, [classes.index(label) for label in classifier.classes_]] = classifier.predict_proba(rows)
    return trust * result + (1 - trust) / len(classes)


def shares(labels, classes):
    counts = np.array([labels.count(label) + C for label in classes])
    return counts / counts.sum()


def of_hmm(x, X, y, classes):
    """Log-scores of all labellings, by one classifier and counts."""
    flat = [label for one in y for label in one]
    rival = LOGISTIC.fit(np.concatenate(X), flat)
    node = np.log(spread(rival, x, classes, len(flat)) / shares(flat, classes))
    start = np.log(shares([one[0] for one in y], classes))
    after = [[b for one in y for a, b in pairwise(one) if a == label] for label in classes]
    steps = np.log([shares(labels, classes) for labels in after])
    every = product(range(len(classes)), repeat=len(x))
    return {
        z: start[z[0]] + sum(node[t, k] for t, k in enumerate(z)) + sum(steps[a, b] for a, b in pairwise(z))
        for z in every
    }


def of_pmm(x, X, y, classes):
    """Log-probabilities of all labellings, by a classifier after every label."""

    def step(chosen, rows):
        seen, labels = [a for a, _ in chosen], [b for _, b in chosen]
        if len(set(labels)) < 2:
            return np.log(np.tile(shares(labels, classes), (len(rows), 1)))
        return np.log(spread(LOGISTIC.fit(seen, labels), rows, classes, len(labels)))

    first = step([(one[0], labels[0]) for one, labels in zip(X, y, strict=True)], x[:1])[0]
    after = [
        step(
            [
                (one[t], labels[t])
                for one, labels in zip(X, y, strict=True)
                for t in range(1, len(labels))
                if labels[t - 1] == label
            ],
            x,
        )
        for label in classes
    ]
    every = product(range(len(classes)), repeat=len(x))
    return {z: first[z[0]] + sum(after[z[t - 1]][t, z[t]] for t in range(1, len(z))) for z in every}


@pytest.mark.parametrize(("kind", "oracle"), [("hmm", of_hmm), ("pmm", of_pmm)])
@pytest.mark.parametrize("rare", [False, True])
def test_marginals_and_labels_are_those_of_enumeration(kind, oracle, rare, data):
    X, y = data
    if rare:  # one label that is followed by one label only, and one that nothing follows
        y = [list(labels) for labels in y]
        y[0][1:3], y[1][-1] = ["rare", y[0][0]], "last"
    x = X[3][:4]
    model = ClassifierMarkovModel(LOGISTIC, kind=kind, pseudocount=C).fit(X, y)
    classes = model.classes_.tolist()
    if rare and kind == "pmm":
        constant = [classes[k] for k, one in enumerate(model.classifiers_[:-1]) if one is None]
        assert constant == ["last", "rare"]
    scores = oracle(x, X, y, classes)
    chances = np.exp(np.array(list(scores.values())))
    chances /= chances.sum()
    marginals = np.zeros((len(x), len(classes)))
    for z, p in zip(scores, chances, strict=True):
        marginals[np.arange(len(x)), z] += p
    np.testing.assert_allclose(model.predict_marginals([x])[0], marginals, atol=1e-9)
    best = max(scores, key=scores.__getitem__)
    assert model.predict([x]) == [[classes[k] for k in best]]
    if kind == "pmm":  # each step is normalised: so is the whole
        assert np.exp(list(scores.values())).sum() == pytest.approx(1)


def test_a_generative_classifier_turned_around_is_a_hidden_markov_model(data):
    X, y = data
    mine = ClassifierMarkovModel(GaussianNB(var_smoothing=0), pseudocount=1e-12).fit(X, y)
    rival = HMM(DiagonalGaussian(1e-12), pseudocount=1e-12).fit(X, y)
    np.testing.assert_allclose(mine.transitions_, rival.transitions_, atol=1e-9)
    for a, b in zip(mine.predict_marginals(X), rival.predict_marginals(X), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


@pytest.mark.parametrize("kind", ["hmm", "pmm"])
def test_a_classifier_that_sees_nothing_leaves_a_markov_chain(kind, data):
    X, y = data
    model = ClassifierMarkovModel(DummyClassifier(strategy="prior"), kind=kind, pseudocount=C).fit(X, y)
    second = model.start_ @ model.transitions_
    np.testing.assert_allclose(model.predict_marginals([X[0][:1]])[0][0], model.start_, atol=1e-12)
    if kind == "pmm":
        np.testing.assert_allclose(model.predict_marginals([X[0][:2]])[0], [model.start_, second], atol=1e-12)


@pytest.mark.parametrize("kind", ["hmm", "pmm"])
def test_sparse_input_and_weights(kind, data):
    X, y = data
    new = [sparse.csr_matrix(x) for x in X]
    model = ClassifierMarkovModel(LogisticRegression(tol=1e-9), kind=kind)
    dense = model.fit(X, y).predict_marginals(X)
    thin = model.fit(new, y).predict_marginals(new)
    np.testing.assert_allclose(np.concatenate(dense), np.concatenate(thin), atol=1e-5)
    weights = np.ones(len(X))
    weights[:2] = 2.0, 0.0
    weighed = model.fit(X, y, sample_weight=weights).predict_marginals(X)
    twice = model.fit([X[0], X[0], *X[2:]], [y[0], y[0], *y[2:]]).predict_marginals(X)
    np.testing.assert_allclose(np.concatenate(weighed), np.concatenate(twice), atol=1e-5)
    y = [*y[:1], ["never"] * len(y[1]), *y[2:]]
    without = model.fit(X, y, sample_weight=weights)
    assert "never" in without.classes_
    never = without.classes_.tolist().index("never")
    assert all(never not in one.classes_ for one in without.classifiers_ if one is not None)


def test_rules_are_kept(data):
    X, y = data
    y = [["a" if label == "green" else label for label in labels] for labels in y]
    first, second = sorted({label for labels in y for label in labels})[:2]
    seen = {pair for labels in y for pair in pairwise(labels)}
    assert (first, second) in seen
    y = [[second if t and labels[t - 1] == first else labels[t] for t in range(len(labels))] for labels in y]
    seen = {pair for labels in y for pair in pairwise(labels)}
    every = {(a, b) for a in {first, second} for b in {first, second}}
    unseen = sorted(every - seen)
    for kind in ("hmm", "pmm"):
        model = ClassifierMarkovModel(
            LOGISTIC, kind=kind, constraints=Constraints(forbidden_pairs=unseen)
        ).fit(X, y)
        for labels in model.predict(X):
            assert not {*pairwise(labels)} & {*unseen}


@pytest.mark.parametrize("kind", ["hmm", "pmm"])
def test_files_hold_classifiers_of_this_library_and_no_others(kind, data, tmp_path):
    X, y = data
    model = ClassifierMarkovModel(KernelLogisticRegression("linear"), kind=kind).fit(X, y)
    model.save(tmp_path / "model.kf")
    again = load(tmp_path / "model.kf")
    assert again.kind_ == kind
    for a, b in zip(model.predict_marginals(X), again.predict_marginals(X), strict=True):
        np.testing.assert_array_equal(a, b)
    other = ClassifierMarkovModel(LOGISTIC, kind=kind).fit(X, y)
    with pytest.raises(InputError, match=r"^classifier is of type LogisticRegression, which a model file"):
        other.save(tmp_path / "other.kf")
    assert not (tmp_path / "other.kf").exists()
    assert pickle.loads(pickle.dumps(other)).predict(X) == other.predict(X)


def test_refusals(data):
    X, y = data
    with pytest.raises(InputError, match=r"^classifier is LinearSVC\(\), which has no predict_proba\.$"):
        ClassifierMarkovModel(LinearSVC()).fit(X, y)
    with pytest.raises(InputError, match=r"^classifier is <class .*; it must be a classifier"):
        ClassifierMarkovModel(LogisticRegression).fit(X, y)
    with pytest.raises(InputError, match=r"^kind='crf' is not known; choose one of 'hmm', 'pmm'\.$"):
        ClassifierMarkovModel(LOGISTIC, kind="crf").fit(X, y)
    with pytest.raises(InputError, match=r"^sample_weight cannot be had: KNeighborsClassifier.fit does not"):
        ClassifierMarkovModel(KNeighborsClassifier(1)).fit(X, y, sample_weight=np.ones(len(X)))
    odd = ClassifierMarkovModel(_Odd()).fit(X, y)
    with pytest.raises(InputError, match=r"^_Odd.predict_proba gives no probabilities of \d labels"):
        odd.predict(X)


class _Odd(LogisticRegression):
    """Has scores where probabilities are expected."""

    def predict_proba(self, X):
        return 2 * super().predict_proba(X)
