"""``verbose=1`` shows a line of progress in every estimator that searches, and changes nothing."""

from __future__ import annotations

from io import StringIO
from types import SimpleNamespace

import numpy as np
import pytest

import kernelfields as kf
from kernelfields import Parts
from kernelfields.fitting.observers import ProgressLine
from kernelfields.models.clique_types import Boundaries, Edges

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


MADE_OF_MODELS = [
    (kf.Cascade(kf.CRF(), kf.CRF(), folds=2, window=3, random_state=0), (X, Y), "second model"),
    (
        kf.ClassifierMarkovModel(kf.KernelLogisticRegression("linear"), kind="pmm"),
        (X, Y),
        "classifier 3 of 3",
    ),
    (kf.HiddenStates(kf.CRF(), n_init=2, random_state=0), (X, Y), "start 2 of 2, best so far"),
    (kf.SelfTraining(kf.CRF(), threshold=0.0, k_best=1), (X, [Y[0], None, None]), "round 2: 2 of 3"),
    (
        kf.StructureLearner(
            kf.KernelCRF(parts=Parts(edges=None, boundaries=None)), candidates=[Edges(), Boundaries()]
        ),
        (X, Y),
        "round 1: objective",
    ),
    (
        kf.TransductiveSVM("linear"),
        (np.concatenate(X), ["a", "b", *6 * [None]]),
        "machine of label 1: weight 1,",
    ),
]


class Terminal(StringIO):
    def isatty(self):
        return True


class Clock:
    """A time that goes on by some seconds whenever it is asked for."""

    def __init__(self, step):
        self.now, self.step = 0.0, step

    def __call__(self):
        self.now += self.step
        return self.now


@pytest.fixture
def terminal(monkeypatch):
    """A terminal, and time enough between any two iterations."""
    stream = Terminal()
    monkeypatch.setattr("kernelfields.fitting.observers.time.monotonic", Clock(1.0))
    # by name: while a test runs, the stream of this name is that of pytest
    monkeypatch.setattr("kernelfields.fitting.observers.sys", SimpleNamespace(stderr=stream))
    return stream


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_progress_is_shown_on_one_line_that_ends(model, terminal):
    given = (X,) if isinstance(model, kf.HMM) else (X, Y)
    seen = []
    model.set_params(run__callback=seen.append).fit(*given)
    assert terminal.getvalue() == ""
    quiet = model.predict_marginals(X)
    seen.clear()
    model.set_params(verbose=1).fit(*given)
    line = terminal.getvalue()
    assert line.count("\r") == len(seen) > 0
    assert f"iteration {seen[-1].iteration}: value {seen[-1].value:.6g}," in line
    assert line.endswith("\n")
    assert line.count("\n") == 1
    for a, b in zip(quiet, model.predict_marginals(X), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("model", "given", "said"),
    MADE_OF_MODELS,
    ids=lambda one: type(one).__name__ if hasattr(one, "fit") else "",
)
def test_models_of_models_show_their_stages(model, given, said, terminal):
    model.fit(*given)
    assert terminal.getvalue() == ""
    model.set_params(verbose=1).fit(*given)
    assert said in terminal.getvalue()
    assert terminal.getvalue().endswith("\n")


def test_every_estimator_has_it_or_belongs_to_one_that_has():
    kinds = [kind for name in kf.__all__ if hasattr(kind := getattr(kf, name), "fit")]
    lacking = {kind.__name__ for kind in kinds if "verbose" not in kind._parameter_names()}
    assert lacking == {"SequencePipeline"}


def test_the_line_ends_when_a_fit_fails(terminal):
    def fail(progress):
        if progress.iteration:
            raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        kf.CRF(verbose=1, run=kf.Run(callback=fail)).fit(X, Y)
    assert terminal.getvalue().count("\n") == 1
    assert terminal.getvalue().endswith("\n")


def test_a_shorter_line_leaves_nothing_of_a_longer_one(terminal):
    with ProgressLine() as line:
        line.say("a long line")
        line.say("short")
    assert terminal.getvalue() == "\ra long line\rshort      \n"


def test_lines_that_follow_at_once_wait_but_the_last_is_shown(monkeypatch):
    monkeypatch.setattr("kernelfields.fitting.observers.time.monotonic", Clock(0.001))
    stream = Terminal()
    with ProgressLine(stream) as line:
        for n in range(50):
            line.say(f"round {n}")
    assert stream.getvalue() == "\rround 0\rround 49\n"


def test_logs_get_lines_of_their_own_without_carriage_returns(monkeypatch):
    monkeypatch.setattr("kernelfields.fitting.observers.time.monotonic", Clock(1.0))
    stream = StringIO()
    with ProgressLine(stream) as line:
        for n in range(8):
            line.say(f"round {n}")
    assert stream.getvalue() == "round 0\nround 5\nround 7\n"


def test_notebooks_overwrite_the_line(monkeypatch):
    monkeypatch.setattr("kernelfields.fitting.observers.time.monotonic", Clock(1.0))
    kind = type("OutStream", (StringIO,), {"__module__": "ipykernel.iostream"})
    stream = kind()
    with ProgressLine(stream) as line:
        line.say("round 1")
        line.say("round 2")
    assert stream.getvalue() == "\rround 1\rround 2\n"
    assert "\x1b" not in stream.getvalue()


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
        combination == "averaged", parts=Parts(bias=None, boundaries=None), **settings, random_state=0
    )
    for model in (kernel, linear):
        model.fit(inputs, labels, sample_weight=weights)
    np.testing.assert_allclose(kernel.basis_.T @ kernel.dual_coef_, linear.coef_.T, atol=1e-9)
    np.testing.assert_allclose(kernel.transitions_, linear.transitions_, atol=1e-9)
