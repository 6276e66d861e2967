"""StructuredSVM: its settings, its face, and the figures it must reach."""

import numpy as np
import pytest
from sklearn.svm import SVC, LinearSVC

from kernelfields import InputError, StructuredSVM
from kernelfields.kernels import RBF, Linear
from kernelfields.losses import ErrorFunction, LabellingCost
from kernelfields.solvers import WorkingSet
from kernelfields.testing import check_estimator


def small_data(rng, count=12, n_labels=3):
    X = [rng.normal(size=(length, 4)) for length in rng.integers(1, 6, size=count)]
    names = np.array(["a", "b", "c", "d"][:n_labels])
    y = [
        names[np.argmax(x[:, :n_labels] + 0.3 * rng.normal(size=(len(x), n_labels)), axis=1)].tolist()
        for x in X
    ]
    return X, y


def test_it_passes_what_every_estimator_passes(rng):
    check_estimator(StructuredSVM(penalty=0.5, tol=1e-4), rng)


def test_linear_kernel_and_weights_are_one_model(rng):
    X, y = small_data(rng)
    linear = StructuredSVM(penalty=0.5, tol=1e-6).fit(X, y)
    kernel = StructuredSVM(Linear(), penalty=0.5, tol=1e-6, dtype="float64").fit(X, y)
    np.testing.assert_allclose(linear.certificate_.value, kernel.certificate_.value, rtol=2e-6)
    np.testing.assert_allclose(linear.coef_, (kernel.basis_.T @ kernel.dual_coef_).T, atol=2e-2)


def test_sequences_of_one_position_and_two_labels_are_a_support_vector_machine(rng):
    X = [rng.normal(size=(1, 2)) for _ in range(40)]
    y = [["p" if x[0] @ [1, -1] + 0.5 * rng.normal() > 0 else "n"] for x in X]
    ours = StructuredSVM(penalty=0.5, bias=False, boundaries=False, tol=1e-6).fit(X, y)
    # w_p = −w_n = v/2: the hinge is [1 − ±⟨v, x⟩]₊, the penalty λ‖v‖²/4
    theirs = LinearSVC(C=1 / (0.5 / 2), loss="hinge", fit_intercept=False, max_iter=200_000, tol=1e-8)
    theirs.fit(np.concatenate(X), [label for (label,) in y])
    np.testing.assert_allclose(ours.coef_[1] - ours.coef_[0], theirs.coef_[0], rtol=2e-2)


def test_kernel_model_keeps_support_vectors_only(rng):
    X = [rng.normal(size=(1, 2)) for _ in range(60)]
    y = [["p" if np.linalg.norm(x) > 1.2 else "n"] for x in X]
    ours = StructuredSVM(
        RBF(1.0), penalty=0.2, bias=False, boundaries=False, solver="n-slack", tol=1e-6, dtype="float64"
    ).fit(X, y)
    flat = np.concatenate(X)
    theirs = SVC(C=1 / (0.2 / 2), gamma=1.0, tol=1e-8).fit(flat, [label for (label,) in y])
    assert 0 < len(ours.basis_) < 60
    # but for the intercept, which ours does not have, they are the same machine
    agree = np.mean([a == [b] for a, b in zip(ours.predict(X), theirs.predict(flat), strict=True)])
    assert agree > 0.95


@pytest.mark.parametrize("rescaling", ["margin", "slack", "zero-one"])
def test_solvers_agree_and_certify(rescaling, rng):
    X, y = small_data(rng, count=6)
    values = []
    for solver in ("one-slack", "bcfw", "n-slack"):
        svm = StructuredSVM(penalty=2.0, rescaling=rescaling, solver=solver, tol=3e-3, random_state=0)
        svm.fit(X, y)
        assert svm.certificate_.relative_gap <= 3e-3
        assert len(svm.history_) == svm.n_iter_ + 1
        values.append(svm.certificate_.value)
    np.testing.assert_allclose(values, values[0], rtol=6e-3)


def test_working_set_reports_constraints_against_epsilon(rng):
    X, y = small_data(rng)
    svm = StructuredSVM(penalty=1.0, solver=WorkingSet(epsilon=0.05)).fit(X, y)
    assert svm.history_[0].violation > svm.history_[-1].violation <= 0.05
    assert svm.history_[-1].constraints > svm.history_[0].constraints


def test_costs_by_every_name_give_the_same_model(rng):
    X, y = small_data(rng, count=6)
    table = 1.0 - np.eye(3)
    costs = [
        "hamming",
        {"a": 1.0},
        table,
        ErrorFunction(lambda counts: counts),
        LabellingCost(lambda true, guess: np.sum(true != guess), bound=6),
    ]
    values = [StructuredSVM(penalty=2.0, cost=cost, tol=1e-4).fit(X, y).certificate_.value for cost in costs]
    np.testing.assert_allclose(values, values[0], rtol=2e-4)


def test_costs_make_labels_dear(rng):
    X, y = small_data(rng, count=20)
    flat = [label for labels in y for label in labels]
    plain = StructuredSVM(penalty=5.0).fit(X, y)
    dear = StructuredSVM(penalty=5.0, cost={"c": 20.0}).fit(X, y)

    def missed(svm):
        said = [label for labels in svm.predict(X) for label in labels]
        return sum(a == "c" != b for a, b in zip(flat, said, strict=True))

    assert missed(dear) <= missed(plain)
    assert dear.certificate_.value > plain.certificate_.value


def test_warm_start_over_penalties_begins_near_the_optimum(rng):
    X, y = small_data(rng, count=10)
    cold = StructuredSVM(penalty=1.8, solver="n-slack").fit(X, y)
    warm = StructuredSVM(penalty=2.0, solver="n-slack", warm_start=True).fit(X, y)
    warm.set_params(penalty=1.8).fit(X, y)
    assert warm.history_[0].relative_gap < 0.3 * cold.history_[0].relative_gap
    np.testing.assert_allclose(warm.certificate_.value, cold.certificate_.value, rtol=2e-3)


def test_warm_start_of_cutting_planes_reaches_the_same_value(rng):
    X, y = small_data(rng, count=10)
    cold = StructuredSVM(penalty=1.8).fit(X, y)
    warm = StructuredSVM(penalty=2.0, warm_start=True).fit(X, y).set_params(penalty=1.8).fit(X, y)
    np.testing.assert_allclose(warm.certificate_.value, cold.certificate_.value, rtol=2e-3)


def test_constraints_are_respected_in_training_and_prediction(rng):
    X = [rng.normal(size=(4, 3)) for _ in range(8)]
    y = [["O", "B-x", "I-x", "O"] if x[1, 0] > 0 else ["O", "O", "O", "O"] for x in X]
    svm = StructuredSVM(penalty=0.1, constraints="iob2").fit(X, y)
    assert svm.certificate_.relative_gap <= 1e-3
    for labels in svm.predict([10 * rng.normal(size=(5, 3)) for _ in range(20)]):
        assert not any(b == "I-x" and a == "O" for a, b in zip(["O", *labels], labels, strict=False))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rescaling": "soft"}, "rescaling='soft' is not known"),
        ({"cost": "f1"}, "cost='f1' is not known"),
        ({"cost": {"z": 1.0}}, "unknown label 'z'"),
        ({"solver": "smo"}, "solver='smo' is not known"),
        ({"rescaling": "slack", "cost": {"a": 0.5}}, "whole-number costs"),
        ({"rescaling": "slack", "cost": np.zeros((3, 3, 3, 3))}, "whole-number costs"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_sentence(settings, message, rng):
    X, y = small_data(rng)
    with pytest.raises(InputError, match=message):
        StructuredSVM(**settings).fit(X, y)


def test_unobserved_labels_are_refused(rng):
    X, y = small_data(rng)
    y[0][0] = None
    with pytest.raises(InputError, match="every label to be observed"):
        StructuredSVM().fit(X, y)


def test_slack_rescaling_refuses_order_two(rng):
    X, y = small_data(rng)
    with pytest.raises(TypeError, match="SecondOrderChain does not give"):
        StructuredSVM(rescaling="slack", order=2).fit(X, y)
    assert StructuredSVM(order=2).fit(X, y).certificate_.relative_gap <= 1e-3
