"""Temperature and vector scaling: optima by other solvers, limiting cases, what follows from scores."""

import copy
import pickle

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from sklearn.base import clone

from kernelfields import (
    AROW,
    CRF,
    HMM,
    MEMM,
    BoostedCRF,
    InputError,
    KernelCRF,
    KernelPerceptron,
    PassiveAggressive,
    SequenceAdaBoost,
    StochasticCRF,
    StructuredPerceptron,
    StructuredSVM,
    load,
)
from kernelfields.data.groups import fold_numbers
from kernelfields.metrics import expected_calibration_error
from kernelfields.models.scaling import Scaling
from kernelfields.report import evaluate
from kernelfields.structures import Dependency
from tests.estimators.test_calibration import drawn, flat
from tests.estimators.test_dependency import task


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    return {"train": drawn(rng, 40), "held": drawn(rng, 300), "test": drawn(rng, 200)}


def scaled(model, inverse, bias=0.0):
    """The same linear chain with other weights: what a scaling is, without any of its code."""
    result = copy.copy(model)
    for name in ("coef_", "transitions_", "start_", "end_"):
        setattr(result, name, inverse * getattr(model, name))
    result.intercept_ = inverse * model.intercept_ + bias
    return result


def test_temperature_is_the_optimum_of_another_solver(data):
    model = CRF(penalty=20.0).fit(*data["train"])
    best = minimize_scalar(
        lambda x: -scaled(model, x).sequence_log_proba(*data["held"]).sum(), bracket=(0.5, 2.0), tol=1e-8
    )
    after = clone(model).fit(*data["train"]).recalibrate(*data["held"])
    assert 1 / after.scaling_.temperature == pytest.approx(best.x, rel=1e-4)
    assert after.scaling_.after == pytest.approx(-best.fun / 300, rel=1e-6)
    assert after.scaling_.before == pytest.approx(model.sequence_log_proba(*data["held"]).mean(), rel=1e-5)
    same = scaled(model, best.x)
    X, y = data["test"]
    for a, b in zip(after.predict_marginals(X), same.predict_marginals(X), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-4)
    np.testing.assert_allclose(after.sequence_log_proba(X, y), same.sequence_log_proba(X, y), atol=1e-3)
    assert after.predict(X, abstain=0.8) == same.predict(X, abstain=0.8)
    assert after.predict(X) == model.predict(X)
    assert after.predict_kbest(X[:3], 2)[0][0][1] == pytest.approx(
        same.predict_kbest(X[:3], 2)[0][0][1], abs=1e-3
    )


def test_temperature_of_positions_is_the_optimum_of_another_solver(data):
    X, y = data["held"]
    model = StructuredSVM(tol=1e-4).fit(*data["train"])
    places = [np.searchsorted(model.classes_, labels) for labels in y]

    def loss(x):
        found = scaled(model, x).predict_marginals(X)
        return -sum(np.log(p[np.arange(len(k)), k]).sum() for p, k in zip(found, places, strict=True))

    best = minimize_scalar(loss, bracket=(0.5, 3.0), tol=1e-8)
    model.recalibrate(X, y)
    assert 1 / model.scaling_.temperature == pytest.approx(best.x, rel=1e-4)


def test_vector_scaling_is_the_optimum_of_another_solver(data):
    rng = np.random.default_rng(0)
    X, y = data["held"]
    # another share of labels
    y = [["b" if rng.uniform() < 0.3 else label for label in labels] for labels in y]
    model = CRF(penalty=20.0).fit(*data["train"])

    def loss(x):
        return -scaled(model, x[0], x[1:]).sequence_log_proba(X, y).sum() + 0.5 * x[1:] @ x[1:]

    best = minimize(loss, [1.0, 0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-4, "fatol": 1e-4})
    after = clone(model).fit(*data["train"]).recalibrate(X, y, method="vector")
    found = np.array([1 / after.scaling_.temperature, *after.scaling_.bias])
    assert loss(found) <= best.fun + 1e-3
    # Nelder and Mead hardly move along biases that all grow together
    np.testing.assert_allclose([found[0], found[2] - found[1]], [best.x[0], best.x[2] - best.x[1]], atol=2e-3)
    assert found[1:].sum() == pytest.approx(0.0, abs=1e-5)  # by their prior
    same = scaled(model, found[0], found[1:])
    np.testing.assert_allclose(after.sequence_log_proba(X, y), same.sequence_log_proba(X, y), atol=1e-3)
    only = clone(model).fit(*data["train"]).recalibrate(X, y)
    assert after.scaling_.after > only.scaling_.after
    assert flat(after.predict(X)).count("b") > flat(only.predict(X)).count("b")


def test_a_model_that_is_right_about_probabilities_keeps_them(data):
    # labels drawn from the model itself: by the Fisher information the standard error of 1/T is about 0.04
    model = CRF(random_state=0).fit(*data["train"])
    X, _ = data["test"]
    y = model.sample(X)[0]
    model.recalibrate(X, y)
    assert abs(1 / model.scaling_.temperature - 1) < 0.2
    model.recalibrate(X, y, method="vector")
    assert abs(model.scaling_.bias).max() < 0.5


def test_a_temperature_that_was_applied_is_found_again(data):
    model = CRF(random_state=0).fit(*data["train"])
    X, _ = data["test"]
    y = scaled(model, 0.4).sample(X)[0]
    assert 1 / model.recalibrate(X, y).scaling_.temperature == pytest.approx(0.4, abs=0.12)


MODELS = [
    AROW(random_state=0),
    BoostedCRF(max_iter=5),
    HMM("gaussian"),
    KernelCRF("rbf"),
    KernelPerceptron("rbf", random_state=0),
    MEMM(),
    PassiveAggressive(random_state=0),
    SequenceAdaBoost(n_rounds=8),
    StochasticCRF(random_state=0),
    StructuredPerceptron(random_state=0),
    StructuredSVM(),
]


@pytest.mark.filterwarnings("ignore:.*(onverge|limit|gap|max_iter)")
@pytest.mark.parametrize("model", MODELS, ids=lambda one: type(one).__name__)
def test_every_labeller_is_better_or_as_good_afterwards_and_kept(model, data, tmp_path):
    X, y = data["test"]
    model = clone(model).fit(*data["train"])
    before = expected_calibration_error(y, model.predict_marginals(X), model.classes_)
    for method in ("vector", "temperature"):
        model.recalibrate(*data["held"], method=method)
        assert model.scaling_.after >= model.scaling_.before - 1e-9
    after = expected_calibration_error(y, model.predict_marginals(X), model.classes_)
    assert after <= before + 0.03
    model.save(tmp_path / "model.kf")
    for again in (load(tmp_path / "model.kf"), pickle.loads(pickle.dumps(model))):
        for a, b in zip(again.predict_marginals(X), model.predict_marginals(X), strict=True):
            np.testing.assert_array_equal(a, b)
    plain = clone(model).fit(*data["train"])
    assert not hasattr(plain, "scaling_")
    assert not hasattr(model.fit(*data["train"]), "scaling_")


def test_support_vector_machines_get_probabilities_that_come_true(data):
    X, y = data["test"]
    model = StructuredSVM(penalty=20.0, tol=1e-3).fit(*data["train"])
    before = evaluate(model, X, y)
    after = evaluate(model.recalibrate(*data["held"]), X, y)
    assert before.warning is not None
    assert after.warning is None
    assert after.ece < before.ece
    assert after.nll < before.nll


def test_further_training_does_not_see_the_scaling(data):
    X, y = data["held"]
    model = CRF().fit(*data["train"])
    expected = copy.deepcopy(model).partial_fit(X[:50], y[:50])
    found = model.recalibrate(X, y).partial_fit(X[:50], y[:50])
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-6)
    assert not hasattr(found, "scaling_")


def test_recalibrated_twice_is_recalibrated_once_and_not_calibrated(data):
    model = CRF().fit(*data["train"]).recalibrate(*data["held"])
    first = model.scaling_
    model.calibrate(*data["held"]).recalibrate(*data["held"])
    assert model.scaling_.temperature == pytest.approx(first.temperature, rel=1e-6)
    assert not hasattr(model, "calibration_")


@pytest.mark.parametrize("method", ["temperature", "vector"])
def test_labels_that_are_missing_unknown_or_forbidden(data, method):
    X, y = data["held"]
    model = CRF().fit(*data["train"])
    gaps = [[None if (s + t) % 3 == 0 else label for t, label in enumerate(one)] for s, one in enumerate(y)]
    model.recalibrate(X, gaps, method=method)
    assert 0.3 < model.scaling_.temperature < 3
    with pytest.warns(UserWarning, match="1 of 300 sequences have labels that the model cannot give"):
        model.recalibrate(X, [["new"] * len(X[0]), *y[1:]], method=method)
    with (
        pytest.raises(InputError, match="nothing to recalibrate with"),
        pytest.warns(UserWarning, match="1 of 1"),
    ):
        model.recalibrate(X[:1], [["new"] * len(X[0])], method=method)
    with pytest.raises(InputError, match="nothing to recalibrate with"):
        model.recalibrate([], [], method=method)


def test_rules_stay_and_what_they_forbid_is_left_out(rng):
    y = [["B-A", "I-A", "O"], ["O", "O"], ["B-A", "O"]] * 10
    X = [rng.normal(size=(len(labels), 2)) for labels in y]
    model = CRF(constraints="iob2").fit(X, y)
    with pytest.warns(UserWarning, match="2 of 30"):
        model.recalibrate(X, [["O", "I-A", "O"], *y[1:-1], ["I-A", None]], method="vector")
    assert model.predict_marginals([X[0]])[0][0, list(model.classes_).index("I-A")] == 0


@pytest.mark.filterwarnings("ignore:The temperature reached")
def test_trees_have_a_temperature_and_no_biases():
    X, y = task(Dependency())
    for model in (CRF(structure=Dependency()), StructuredPerceptron(structure=Dependency(), random_state=0)):
        model.fit(X, y).recalibrate(X[:4], y[:4])
        assert np.isfinite(model.sequence_log_proba(X, y)).all()
        for settings in ({"method": "vector"}, {"likelihood": "positions"}):
            with pytest.raises(InputError, match="labels of vertices"):
                model.recalibrate(X, y, **settings)


def test_labels_that_are_all_right_reach_the_bound(data):
    model = CRF().fit(*data["train"])
    X, _ = data["held"]
    with pytest.warns(UserWarning, match="bound"):
        model.recalibrate(X[:5], model.predict(X[:5]))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"method": "platt"}, "method"),
        ({"likelihood": "words"}, "likelihood"),
        ({"method": "vector", "likelihood": "positions"}, "method='temperature' only"),
    ],
)
def test_odd_settings_are_refused_and_change_nothing(data, settings, said):
    model = CRF().fit(*data["train"]).recalibrate(*data["held"])
    before = model.scaling_
    with pytest.raises(InputError, match=said):
        model.recalibrate(*data["held"], **settings)
    with pytest.raises(InputError, match="sequences"):
        model.recalibrate(data["held"][0], data["held"][1][:-1])
    assert model.scaling_ is before


def test_averages_over_a_posterior_are_not_rescaled(data):
    model = CRF(posterior="laplace", random_state=0).fit(*data["train"])
    with pytest.raises(InputError, match="posterior"):
        model.recalibrate(*data["held"])


def test_folds_give_the_temperature_of_out_of_fold_scores(data):
    """The same as the pooled likelihood of copies that have not seen a fold, maximised by hand."""
    X, y = (part[:60] for part in data["train"])
    model = CRF(penalty=0.01).fit(X, y)
    found = clone(model).fit(X, y).recalibrate(X, y, folds=3, likelihood="positions").scaling_
    fold = fold_numbers(len(X), 3, None, 0)
    copies = []
    for f in range(3):
        train, test = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
        copies.append((clone(model).fit([X[i] for i in train], [y[i] for i in train]), test))

    def likelihood(temperature):
        total = 0.0
        for other, test in copies:
            other.scaling_ = Scaling(temperature, None, 0.0, 0.0, 1)
            place = {label: k for k, label in enumerate(other.classes_.tolist())}
            for i in test:
                p = other.predict_marginals([X[i]])[0]
                total += sum(np.log(p[t, place[label]]) for t, label in enumerate(y[i]))
        return total

    best = likelihood(found.temperature)
    assert best >= max(likelihood(found.temperature * factor) for factor in (0.9, 1.1))
    assert found.after * sum(map(len, y)) == pytest.approx(best, rel=1e-6)
    assert found.n_sequences == len(X)


def test_folds_are_refused_where_they_cannot_be(data):
    X, y = (part[:20] for part in data["train"])
    model = CRF().fit(X, y)
    for options, said in (
        ({"folds": 3, "method": "vector"}, "folds goes with method='temperature'"),
        ({"folds": 1}, "folds is 1"),
        ({"folds": 30}, "30 folds"),
        ({"groups": [0] * 20}, "groups are those of folds"),
    ):
        with pytest.raises(InputError, match=said):
            model.recalibrate(X, y, **options)
    assert not hasattr(model, "scaling_")
