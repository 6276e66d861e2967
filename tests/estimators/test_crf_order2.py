"""CRF of order two: certificate, attributes, prediction, data that need it."""

from itertools import pairwise

import numpy as np
import pytest

from kernelfields import CRF, FreeScores, InputError, LinearScores, Parts
from kernelfields.constraints import Constraints
from kernelfields.structures import Chain, SecondOrderChainBatch
from kernelfields.testing import Enumerated, check_estimator, labelled_sequences


@pytest.fixture
def data(rng):
    return labelled_sequences(rng, count=30)


@pytest.mark.parametrize(
    "model",
    [
        CRF(structure="chain2", parts=Parts(second_order=FreeScores(penalty=3.0)), decoder="posterior"),
        CRF(structure="chain2", parts=Parts(edge_features=LinearScores()), solver="newton-cg"),
    ],
    ids=["posterior", "edge features"],
)
def test_estimator_passes_all_checks(model, rng):
    check_estimator(model, rng)


def test_certificate_bounds_the_optimum(data):
    rough, fine = CRF(structure="chain2", tol=1e-2).fit(*data), CRF(structure="chain2", tol=1e-8).fit(*data)
    assert rough.certificate_.relative_gap <= 1e-2
    assert rough.certificate_.lower_bound <= fine.certificate_.value <= rough.certificate_.value
    newton = CRF(structure="chain2", tol=1e-8, solver="newton-cg").fit(*data)
    np.testing.assert_allclose(newton.second_order_, fine.second_order_, atol=1e-3)


def test_second_order_has_a_penalty_of_its_own(data):
    model = CRF(
        0.7,
        parts=Parts(edges=FreeScores(penalty=1.9), second_order=FreeScores(penalty=0.4)),
        structure="chain2",
        tol=1e-10,
    ).fit(*data)
    assert model.mismatch_["second_order"] == pytest.approx(
        0.4 * np.linalg.norm(model.second_order_), rel=1e-3
    )
    same = CRF(
        0.7,
        parts=Parts(edges=FreeScores(penalty=1.9), second_order=FreeScores(penalty=1.9)),
        structure="chain2",
        tol=1e-10,
    ).fit(*data)
    assert same.mismatch_["second_order"] == pytest.approx(1.9 * np.linalg.norm(same.second_order_), rel=1e-3)
    with pytest.raises(InputError, match="penalty is -1"):
        CRF(structure="chain2", parts=Parts(second_order=FreeScores(penalty=-1))).fit(*data)


def test_a_heavy_penalty_leaves_order_one(data):
    X, y = data
    heavy = CRF(structure="chain2", parts=Parts(second_order=FreeScores(penalty=1e9)), tol=1e-9).fit(X, y)
    for a, b in zip(heavy.predict_marginals(X), CRF(tol=1e-9).fit(X, y).predict_marginals(X), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-4)


def test_attributes_are_the_scores(data, rng):
    X, y = data
    model = CRF(structure="chain2", random_state=0).fit(X, y)
    x = rng.normal(size=(4, 3))
    node = x @ model.coef_.T + model.intercept_
    node[0] += model.start_
    node[-1] += model.end_
    scores = {"node": node, "edge": model.transitions_, "triple": model.second_order_}
    every = Enumerated(SecondOrderChainBatch([0, 4], 3), scores)
    np.testing.assert_allclose(model.predict_marginals([x])[0], every.marginals().parts["node"], atol=1e-12)
    ways = [model.classes_[way].tolist() for way in every.outputs(0)]
    log_p = model.sequence_log_proba([x] * len(ways), ways)
    np.testing.assert_allclose(log_p, np.log(every.probabilities(0)), atol=1e-9)
    best = model.predict_kbest([x], k=5)[0]
    np.testing.assert_allclose([p for _, p in best], np.sort(log_p)[::-1][:5], atol=1e-9)
    assert model.predict([x])[0] == best[0][0] == ways[int(np.argmax(log_p))]
    assert all(way[0] in ways for way in model.sample([x], n=5))


def test_it_learns_what_order_one_cannot(rng):
    """Labels a a b b a a b b ...: whether a label changes depends on the one before the last."""
    X, y = [], []
    for length in rng.integers(8, 16, size=30):
        labels = [("a", "b")[(t + shift) // 2 % 2] for shift in [rng.integers(4)] for t in range(length)]
        x = np.zeros((length, 1))
        x[:2, 0] = [1.0 if label == "a" else -1.0 for label in labels[:2]]
        X.append(x)
        y.append(labels)
    first, second = CRF(0.01).fit(X, y), CRF(0.01, structure="chain2").fit(X, y)
    assert second.score(X, y) == 1.0
    assert first.score(X, y) < 0.9


def test_constraints_hold(data):
    X, y = data
    rule = Constraints(forbidden_pairs=[("red", "blue"), ("green", "red"), ("blue", "green")])
    model = CRF(structure="chain2", constraints=rule, tol=1e-6).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-6
    noise = [np.flip(x, axis=0) for x in X]
    for decoder in ("viterbi", "posterior"):
        for way in model.predict(noise, decoder=decoder):
            assert not {*pairwise(way)} & {*rule.forbidden_pairs}


def test_unobserved_labels_are_summed_over(data):
    X, y = data
    partly = [[None if t % 3 == 1 else label for t, label in enumerate(labels)] for labels in y]
    assert CRF(structure="chain2").fit(X, partly).score(X, y) > 0.7


def test_other_orders_are_refused(data):
    with pytest.raises(InputError, match="order is 3; it must be a whole number from 1 to 2"):
        CRF(structure=Chain(order=3)).fit(*data)
    with pytest.raises(InputError, match="structure='chain3' is not known; did you mean 'chain'"):
        CRF(structure="chain3").fit(*data)
