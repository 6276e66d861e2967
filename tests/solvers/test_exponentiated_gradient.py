"""Exponentiated gradient as a solver: starts, looks, limits, interruptions, and estimators that take it."""

import warnings

import numpy as np
import pytest

from kernelfields import FixedScores, KernelCRF, KernelLogisticRegression, KernelScores, Parts, Run
from kernelfields.errors import InputError
from kernelfields.kernels import RBF
from kernelfields.losses import Log
from kernelfields.solvers import LBFGS, ExponentiatedGradient, Reason, Stop
from tests.objective.test_entropy_dual import MANY, problem_of


@pytest.fixture
def problem(rng):
    return problem_of(rng, lengths=MANY, factor=0.1)


def watched(problem, start, stop, **settings):
    seen = []

    def observe(progress, point):
        seen.append((progress, point.value))

    return ExponentiatedGradient(**settings).minimize(problem, start, stop, observe), seen


def test_observers_see_every_pass_with_its_value(problem):
    result, seen = watched(problem, problem.zero(), Stop(1e-5))
    assert [progress.iteration for progress, _ in seen] == list(range(len(seen)))
    assert all(progress.value == value for progress, value in seen)
    bounds = [progress.lower_bound for progress, _ in seen]
    assert bounds == sorted(bounds)
    assert seen[-1][0] == result.progress
    assert result.reason is Reason.GAP
    alone = ExponentiatedGradient().minimize(problem, problem.zero(), Stop(1e-5))
    assert alone.progress.value == pytest.approx(result.progress.value, rel=1e-5)


def test_fewer_passes_than_iterations_of_lbfgs(problem):
    passes = ExponentiatedGradient().minimize(problem, problem.zero(), Stop(1e-3)).progress.iteration
    assert 2 * passes < LBFGS().minimize(problem, problem.zero(), Stop(1e-3)).progress.iteration


def test_one_look_is_enough_where_nobody_looks_on(problem, monkeypatch):
    looks = []
    at = type(problem).at
    monkeypatch.setattr(type(problem), "at", lambda self, element: looks.append(1) or at(self, element))
    result = ExponentiatedGradient().minimize(problem, problem.zero(), Stop(1e-4))
    assert result.progress.iteration > 4
    assert len(looks) <= 4


def test_the_optimum_is_no_place_to_leave(problem):
    optimum = LBFGS().minimize(problem, problem.zero(), Stop(1e-9)).point.element
    result = ExponentiatedGradient().minimize(problem, optimum, Stop(1e-4))
    assert (result.reason, result.progress.iteration) == (Reason.GAP, 0)
    np.testing.assert_array_equal(result.point.element, optimum)


def test_a_good_start_saves_passes_and_a_bad_one_costs_none(problem):
    stop, solver = Stop(1e-6), ExponentiatedGradient(passes=1000)
    cold = solver.minimize(problem, problem.zero(), stop).progress
    near = LBFGS().minimize(problem, problem.zero(), Stop(1e-4)).point.element
    warm = solver.minimize(problem, near, stop)
    assert warm.reason is Reason.GAP
    assert warm.progress.iteration < cold.iteration
    far = problem.zero() + 50.0 * (near - problem.zero())
    assert problem.at(far).certificate.lower_bound < 0
    bad = solver.minimize(problem, far, stop).progress
    assert bad.iteration == cold.iteration


def test_limits_and_observers_end_it(problem):
    result = ExponentiatedGradient().minimize(problem, problem.zero(), Stop(1e-9, iterations=2))
    assert (result.reason, result.progress.iteration) == (Reason.LIMIT, 2)
    assert result.progress.lower_bound < result.point.value <= problem.at(problem.zero()).value
    none = ExponentiatedGradient().minimize(problem, problem.zero(), Stop(1e-9, iterations=0))
    assert (none.reason, none.progress.iteration) == (Reason.LIMIT, 0)
    ended = ExponentiatedGradient().minimize(
        problem, problem.zero(), Stop(1e-9), lambda progress, _: progress.iteration == 3
    )
    assert (ended.reason, ended.progress.iteration) == (Reason.OBSERVER, 3)


def test_an_interruption_keeps_what_was_reached(problem):
    def interrupt(progress, point):
        if progress.iteration == 3:
            raise KeyboardInterrupt

    result = ExponentiatedGradient().minimize(problem, problem.zero(), Stop(1e-9), interrupt)
    assert result.reason is Reason.INTERRUPTED
    assert result.progress.lower_bound > 0
    assert result.point.value == result.progress.value <= problem.at(problem.zero()).value


def test_lbfgs_goes_on_where_passes_are_too_many(problem):
    result, seen = watched(problem, problem.zero(), Stop(1e-6, iterations=500), passes=20)
    assert result.reason is Reason.GAP
    assert [progress.iteration for progress, _ in seen] == list(range(len(seen)))
    assert seen[-1][0].iteration == result.progress.iteration > 20
    assert seen[20][0].seconds <= seen[21][0].seconds
    assert seen[21][1] <= min(value for _, value in seen[:21])
    assert np.isnan(seen[20][0].gradient_norm)
    assert seen[21][0].gradient_norm > 0
    cold = LBFGS().minimize(problem, problem.zero(), Stop(1e-6)).progress
    assert result.progress.iteration < cold.iteration
    short = ExponentiatedGradient(passes=5).minimize(problem, problem.zero(), Stop(1e-9, iterations=7))
    assert (short.reason, short.progress.iteration) == (Reason.LIMIT, 7)


def test_the_limit_of_single_precision_is_said(rng):
    problem = problem_of(rng, lengths=MANY, factor=0.1, dtype=np.float32)
    solver = ExponentiatedGradient(passes=3000)
    result = solver.minimize(problem, problem.zero(), Stop(1e-12, iterations=3000))
    assert result.reason is Reason.STUCK
    assert result.progress.relative_gap < 1e-4


def data(rng, n=90):
    X = [rng.normal(size=(rng.integers(1, 9), 3)) for _ in range(n)]
    y = [["abc"[k] for k in (x[:, 0] > 0).astype(int) + (x[:, 1] * x[:, 2] > 0.3)] for x in X]
    return X, y


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_models_find_what_lbfgs_finds(dtype, rng):
    X, y = data(rng)
    settings = {"kernel": RBF(0.5), "penalty": 0.1, "run": Run(dtype=dtype), "tol": 2e-4}
    weights = rng.random(len(X)) + 0.5
    auto = KernelCRF(**settings).fit(X, y, sample_weight=weights)
    named = KernelCRF(**settings, solver="exponentiated-gradient").fit(X, y, sample_weight=weights)
    lbfgs = KernelCRF(**settings, solver="lbfgs").fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(auto.dual_coef_, named.dual_coef_)
    assert auto.n_iter_ < lbfgs.n_iter_
    for model in (auto, lbfgs):
        assert model.certificate_.relative_gap <= 2e-4
    assert auto.certificate_.lower_bound <= lbfgs.objective_
    assert lbfgs.certificate_.lower_bound <= auto.objective_
    for own, other in zip(auto.predict_marginals(X), lbfgs.predict_marginals(X), strict=True):
        np.testing.assert_allclose(own, other, atol=0.02)


def test_rows_of_a_classifier_are_sequences_of_one(rng):
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    auto = KernelLogisticRegression(RBF(1.0), penalty=0.1, tol=1e-5).fit(X, y)
    lbfgs = KernelLogisticRegression(RBF(1.0), penalty=0.1, tol=1e-5, solver="lbfgs").fit(X, y)
    assert auto.certificate_.relative_gap <= 1e-5
    np.testing.assert_allclose(auto.predict_proba(X), lbfgs.predict_proba(X), atol=5e-3)


def test_models_go_on_from_the_last_fit_and_from_files(rng, tmp_path):
    X, y = data(rng)
    settings = {"kernel": RBF(0.5), "penalty": 0.1, "tol": 1e-4}
    whole = KernelCRF(**settings).fit(X, y)
    path = tmp_path / "search.npz"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        KernelCRF(**settings, max_iter=3, run=Run(checkpoint=path)).fit(X, y)
    assert path.exists()
    resumed = KernelCRF(**settings, run=Run(checkpoint=path)).fit(X, y)
    assert not path.exists()
    assert resumed.certificate_.relative_gap <= 1e-4
    assert resumed.objective_ == pytest.approx(whole.objective_, rel=1e-4)
    warm = KernelCRF(**settings, warm_start=True).fit(X, y)
    warm.set_params(tol=1e-5).fit(X, y)
    assert warm.certificate_.relative_gap <= 1e-5


def test_held_out_sequences_end_it_and_callbacks_see_it(rng):
    X, y = data(rng, 130)
    seen = []
    model = KernelCRF(RBF(2.0), penalty=0.001, run=Run(patience=2, callback=seen.append), tol=1e-6)
    model.fit(X[:90], y[:90], X_dev=X[90:], y_dev=y[90:])
    assert "observer" in model.stop_reason_
    assert len(seen) == model.n_iter_ + 1
    assert all(np.isfinite(progress.value) for progress in seen)


LEFT = [
    {"structure": "chain2"},
    {"parts": Parts(edge_kernel=KernelScores())},
    {"run": Run(memory_limit=10**5)},
    {"posterior": "laplace", "tol": 1e-2},
    {"loss": Log(class_weight={"a": 2.0, "b": 1.0, "c": 1.0})},
    {"few": True},
    {"long": True},
]


@pytest.mark.parametrize("settings", LEFT, ids=str)
def test_auto_leaves_to_lbfgs_what_does_not_suit_or_pay(settings, rng):
    X, y = data(rng)
    settings = dict(settings)
    if settings.pop("few", False):
        X, y = X[:40], y[:40]
    if settings.pop("long", False):
        X, y = [np.concatenate(X)], [[label for labels in y for label in labels]]
    kernel = RBF(0.5)
    model = KernelCRF(kernel, random_state=0, **settings).fit(X, y)
    same = KernelCRF(kernel, random_state=0, **settings, solver="lbfgs").fit(X, y)
    np.testing.assert_array_equal(model.dual_coef_, same.dual_coef_)


def test_several_kernels_with_a_penalty_each_are_one(rng):
    X, y = data(rng)
    kernels, settings = [RBF(0.5), RBF(0.1)], {"penalty": [1.0, 2.0], "tol": 1e-4}
    auto = KernelCRF(kernels, **settings).fit(X, y)
    lbfgs = KernelCRF(kernels, **settings, solver="lbfgs").fit(X, y)
    assert auto.n_iter_ < lbfgs.n_iter_
    assert auto.objective_ == pytest.approx(lbfgs.objective_, rel=1e-4)


def test_who_asks_for_it_by_name_is_told_where_it_does_not_suit(rng):
    X, y = data(rng, 10)
    with pytest.raises(InputError, match="for chains with the log loss"):
        KernelCRF(RBF(0.5), structure="chain2", solver="exponentiated-gradient").fit(X, y)
    found = KernelCRF(RBF(0.5), solver="exponentiated-gradient").fit(X, y)
    assert found.certificate_.relative_gap <= 1e-3


def test_labels_that_were_not_observed_are_left_to_others(rng):
    X, y = data(rng)
    y[0] = [None, *y[0][1:]]
    auto = KernelCRF(RBF(0.5)).fit(X, y)
    assert auto.certificate_ is None
    assert auto.objective_ == KernelCRF(RBF(0.5), solver="lbfgs").fit(X, y).objective_


def test_constraints_and_base_measures_are_kept(rng):
    X = [rng.normal(size=(rng.integers(1, 9), 3)) for _ in range(90)]
    y = []
    for x in X:
        inside = x[:, 0] > 0
        begins = inside & ~np.concatenate([[False], inside[:-1]])
        y.append(np.where(begins, "B-x", np.where(inside, "I-x", "O")).tolist())
    settings = {
        "constraints": "iob2",
        "parts": Parts(known=FixedScores({"O": 1.0})),
        "penalty": 0.1,
        "tol": 1e-4,
    }
    auto = KernelCRF(RBF(0.5), **settings).fit(X, y)
    lbfgs = KernelCRF(RBF(0.5), **settings, solver="lbfgs").fit(X, y)
    assert auto.n_iter_ < lbfgs.n_iter_
    assert auto.objective_ == pytest.approx(lbfgs.objective_, rel=1e-4)
    assert auto.certificate_.lower_bound <= lbfgs.objective_
