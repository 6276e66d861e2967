"""``verbose=1`` shows a line of progress in every estimator that searches, and changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

import kernelfields as kf

X = [np.eye(2)[[0, 1, 1]], np.eye(2)[[1, 0]], np.eye(2)[[0, 0, 1]]]
Y = [["a", "b", "b"], ["b", "a"], ["a", "b", "b"]]
MODELS = [
    kf.AROW(random_state=0),
    kf.CRF(),
    kf.HMM("gaussian", n_states=2, random_state=0, tol=0.1),
    kf.MEMM(),
    kf.BoostedCRF(3, min_samples_leaf=1, random_state=0),
    kf.GPSequenceClassifier(),
    kf.KernelCRF(),
    kf.KernelPerceptron(random_state=0),
    kf.PassiveAggressive(random_state=0),
    kf.SequenceAdaBoost(5),
    kf.StochasticCRF(random_state=0),
    kf.StructuredPerceptron(random_state=0),
    kf.StructuredSVM(),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_progress_is_shown_on_one_line_that_ends(model, capsys):
    given = (X,) if isinstance(model, kf.HMM) else (X, Y)
    seen = []
    model.set_params(callback=seen.append).fit(*given)
    assert capsys.readouterr().err == ""
    quiet = model.predict_marginals(X)
    seen.clear()
    model.set_params(verbose=1).fit(*given)
    line = capsys.readouterr().err
    assert line.count("\r") == len(seen) > 0
    assert f"iteration {seen[-1].iteration}: value {seen[-1].value:.6g}," in line
    assert line.endswith("\n")
    assert line.count("\n") == 1
    for a, b in zip(quiet, model.predict_marginals(X), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_line_ends_when_a_fit_fails(capsys):
    def fail(_):
        raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        kf.CRF(verbose=1, callback=fail).fit(X, Y)
    assert capsys.readouterr().err == "\n"


@pytest.mark.parametrize("model", [kf.MEMM(tol=1e-9), kf.MEMM(structure="tree", tol=1e-9)], ids=repr)
def test_a_weight_of_two_is_a_sequence_twice(model):
    rng = np.random.default_rng(0)
    inputs, labels = [rng.normal(size=(len(y), 2)) for y in Y], Y
    if model.structure == "tree":
        inputs = [(x, [-1, *([0] * (len(x) - 1))]) for x in inputs]
    weighted = model.fit(inputs, labels, sample_weight=[2.0, 1.0, 0.0]).coef_
    twice = model.fit([inputs[0], *inputs[:2]], [labels[0], *labels[:2]]).coef_
    np.testing.assert_allclose(weighted, twice, atol=1e-5)
    with pytest.raises(kf.errors.InputError, match=r"sample_weight has shape \(1,\)"):
        model.fit(inputs, labels, sample_weight=[1.0])


@pytest.mark.parametrize("combination", ["averaged", "last"])
def test_weights_of_the_linear_kernel_perceptron_are_those_of_the_linear_one(combination):
    rng = np.random.default_rng(0)
    inputs = [rng.normal(size=(5, 3)) for _ in range(12)]
    labels = [rng.integers(0, 3, size=5).tolist() for _ in inputs]
    weights = rng.uniform(0.5, 3.0, size=12)
    weights[::4] = 0.0
    settings = {"max_iter": 3, "shuffle": False}
    kernel = kf.KernelPerceptron("linear", combination=combination, **settings, random_state=0)
    linear = kf.StructuredPerceptron(
        combination == "averaged", fit_intercept=False, boundaries=False, **settings, random_state=0
    )
    for model in (kernel, linear):
        model.fit(inputs, labels, sample_weight=weights)
    np.testing.assert_allclose(kernel.basis_.T @ kernel.dual_coef_, linear.coef_.T, atol=1e-9)
    np.testing.assert_allclose(kernel.transitions_, linear.transitions_, atol=1e-9)
