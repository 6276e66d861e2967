"""Hidden units: sums over all units one by one, numerical derivatives, options, bad input."""

import pickle
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import kernelfields as kf
from kernelfields import CRF, FreeScores, HiddenUnitCRF, InputError, Parts
from kernelfields.losses import Log, VariationalEM
from kernelfields.models import hidden_units
from kernelfields.models.fit.steps import FitArguments
from kernelfields.models.hidden_units import unit_gradients, unit_scores
from kernelfields.solvers import NewtonCG
from tests.estimators.test_hidden_states import drawn, linked


@pytest.mark.parametrize("scale", [1.0, 200.0])
def test_sums_over_all_units(scale, rng):
    activations, labels = scale * rng.normal(size=(5, 4)), rng.normal(size=(4, 3))
    every = np.array(list(product([0, 1], repeat=4)))  # z
    wanted = [[np.logaddexp.reduce(every @ (a + labels[:, y])) for y in range(3)] for a in activations]
    np.testing.assert_allclose(unit_scores(activations, labels), wanted, rtol=1e-12)


@pytest.mark.parametrize("largest", [300.0, 0.0], ids=["simple", "safe"])
def test_derivatives_of_sums(largest, rng, monkeypatch):
    monkeypatch.setattr(hidden_units, "LARGEST", largest)
    monkeypatch.setattr(hidden_units, "BLOCK", 9)
    activations, labels, gradient = rng.normal(size=(7, 4)), rng.normal(size=(4, 3)), rng.normal(size=(7, 3))
    found = unit_gradients(activations, labels, gradient)
    for n, array in enumerate((activations, labels)):
        for place in [(0, 0), (3, 1), (2, 2)]:
            kept, values = array[place], []
            for step in (1e-5, -1e-5):
                array[place] = kept + step
                values.append(float((gradient * unit_scores(activations, labels)).sum()))
            array[place] = kept
            np.testing.assert_allclose(found[n][place], (values[0] - values[1]) / 2e-5, rtol=1e-6)


@pytest.mark.parametrize("structure", ["chain", "chain2", "tree", "graph"])
def test_gradient_of_the_objective(structure, rng):
    X, y = drawn(rng, 5)
    model = HiddenUnitCRF(0.3, n_units=3, structure=structure, parts=Parts(edges=FreeScores(penalty=0.7)))
    training = model._training(FitArguments(linked(X, structure), y, None, np.arange(5.0)))
    problem = model._problem(training)
    element = rng.normal(size=len(problem.start(np.random.RandomState(0))))
    direction = rng.normal(size=element.shape)
    up, down = (problem.at(element + step * direction).value for step in (1e-5, -1e-5))
    slope = problem.inner(problem.at(element).gradient, direction)
    np.testing.assert_allclose(slope, (up - down) / 2e-5, rtol=1e-6)


def test_the_objective_is_that_of_the_fitted_model(rng):
    X, y = drawn(rng)
    model = HiddenUnitCRF(
        0.1, n_units=6, parts=Parts(edges=FreeScores(penalty=0.4)), n_init=2, random_state=0
    ).fit(X, y)
    small = ("unit_coef_", "unit_intercept_", "unit_labels_", "intercept_", "start_", "end_")
    size = sum(0.1 * float((vars(model)[name] ** 2).sum()) for name in small)
    size += 0.4 * float((model.transitions_**2).sum())
    wanted = 0.5 * size - model.sequence_log_proba(X, y).sum()
    np.testing.assert_allclose(model.objective_, wanted, rtol=1e-8)
    assert model.objective_ == min(model.objectives_)
    assert len(set(model.objectives_)) == 2
    assert model.certificate_ is None
    plain = CRF(0.1).fit(X, y)
    assert plain.score(X, y) < 0.75 < 0.9 < model.score(X, y)


def test_units_that_say_nothing_about_labels_leave_a_plain_model(rng):
    """With a penalty that only transitions can pay, units are off and the CRF without features is left."""
    X, y = drawn(rng, 10)
    y = [sorted(one) for one in y]
    model = HiddenUnitCRF(
        1e6, n_units=2, parts=Parts(edges=FreeScores(penalty=0.1)), random_state=0, tol=1e-4
    ).fit(X, y)
    plain = CRF(1e6, parts=Parts(edges=FreeScores(penalty=0.1)), tol=1e-6).fit(X, y)
    for found, wanted in zip(model.predict_marginals(X), plain.predict_marginals(X), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-3)


def test_kinds_of_input_agree(rng):
    X, y = drawn(rng, 12)
    model = HiddenUnitCRF(0.1, n_units=4, random_state=0)
    wanted = clone(model).fit(X, y).predict_marginals(X)
    for same in ([sparse.csr_matrix(x) for x in X], [x.astype(np.float32) for x in X]):
        for found, one in zip(clone(model).fit(same, y).predict_marginals(same), wanted, strict=True):
            np.testing.assert_allclose(found, one, atol=1e-3)
    flat = clone(model).fit(np.concatenate(X), y, lengths=[5] * 12).predict_marginals(X)
    np.testing.assert_allclose(flat[3], wanted[3], atol=1e-6)
    tokens = [["the", "dog", "runs"], ["a", "cat", "sat"]] * 3
    words = HiddenUnitCRF(0.01, n_units=4, features="pos", random_state=0).fit(tokens, [["D", "N", "V"]] * 6)
    assert words.predict(tokens[:1]) == [["D", "N", "V"]]


def test_options(rng, tmp_path):
    X, y = drawn(rng, 12)
    model = HiddenUnitCRF(0.1, n_units=4, random_state=0, tol=1e-3)
    twice = clone(model).fit([*X, X[0]], [*y, y[0]])
    weighted = clone(model).fit(X, y, sample_weight=[2.0, *np.ones(11)])
    np.testing.assert_allclose(weighted.objective_, twice.objective_, rtol=1e-3)
    without = clone(model).fit([*X, X[0]], [*y, None])
    np.testing.assert_allclose(without.objective_, clone(model).fit(X, y).objective_, rtol=1e-3)
    assert clone(model).fit(X, [[None, *one[1:]] for one in y]).classes_.tolist() == ["a", "b"]
    seen = []
    early = (
        clone(model)
        .set_params(run__patience=2, run__callback=seen.append)
        .fit(X[:8], y[:8], X_dev=X[8:], y_dev=y[8:])
    )
    assert len(seen) > 2
    assert early.objective_ >= clone(model).fit(X[:8], y[:8]).objective_ - 1e-6
    rules = clone(model).set_params(constraints=kf.constraints.Constraints([("a", "b")]))
    rules.fit(X, [sorted(one, reverse=True) for one in y])
    assert all("ab" not in "".join(one) for one in rules.predict(X))
    rules.save(tmp_path / "model.kf")
    for other in (kf.load(tmp_path / "model.kf"), pickle.loads(pickle.dumps(rules))):
        assert other.predict(X) == rules.predict(X)
        np.testing.assert_array_equal(other.predict_marginals(X)[0], rules.predict_marginals(X)[0])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "pseudo"}, "^loss='pseudo' is not known; choose one of 'log'.$"),
        ({"loss": VariationalEM()}, "^loss is VariationalEM.*; it must be one of 'log' or a Log.$"),
        ({"n_units": 0}, "n_units is 0"),
        ({"n_init": 0}, "n_init is 0"),
        ({"penalty": -1}, "penalty is -1"),
        ({"solver": NewtonCG()}, "needs curvatures"),
        ({"structure": kf.structures.Dependency()}, "n_units is about labels of vertices"),
    ],
)
def test_bad_settings_change_nothing(settings, message, rng):
    X, y = drawn(rng, 4)
    model = HiddenUnitCRF(n_units=2, random_state=0).fit(X, y)
    before = model.objective_
    with pytest.raises(InputError, match=message):
        model.set_params(**settings).fit(X, y)
    assert model.objective_ == before


def test_costs_inside_the_loss(rng):
    X, y = drawn(rng, 4)
    plain, costly = (
        HiddenUnitCRF(n_units=2, random_state=0, loss=loss).fit(X, y) for loss in ("log", Log("hamming"))
    )
    assert costly.objective_ > plain.objective_


def test_a_limit_is_a_warning(rng):
    X, y = drawn(rng, 4)
    with pytest.warns(UserWarning, match="limit of iterations"):
        HiddenUnitCRF(n_units=2, random_state=0, max_iter=1).fit(X, y)
