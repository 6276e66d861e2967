"""What users bring to the estimators beside CRFs: kinds of input, refits, interruptions, settings changed."""

import copy
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from kernelfields import (
    CRF,
    HMM,
    MEMM,
    BoostedCRF,
    Cascade,
    ClassifierMarkovModel,
    InputError,
    KernelCRF,
    KernelLogisticRegression,
    KernelPerceptron,
    Parts,
    PassiveAggressive,
    Run,
    SequenceAdaBoost,
    StructuredSVM,
    StructureLearner,
    load,
)
from kernelfields.constraints import Constraints
from kernelfields.emissions import Categorical
from kernelfields.kernels import RBF, Normalized, Spectrum
from kernelfields.models.clique_types import Edges
from kernelfields.testing import labelled_sequences

MODELS = {
    "HMM": HMM(),
    "HMM, full": HMM("gaussian-full"),
    "SVM": StructuredSVM(tol=0.05),
    "SVM, kernel": StructuredSVM(RBF(0.5), tol=0.05),
    "PA": PassiveAggressive(random_state=0),
    "boosted": BoostedCRF(3, min_samples_leaf=2, random_state=0),
    "kernel perceptron": KernelPerceptron(random_state=0),
    "votes": KernelPerceptron(combination="voted", max_iter=2, random_state=0),
    "MEMM": MEMM(),
    "AdaBoost": SequenceAdaBoost(20),
    "classifier": ClassifierMarkovModel(KernelLogisticRegression("linear")),
    "classifiers": ClassifierMarkovModel(KernelLogisticRegression("linear"), kind="pmm"),
    "cascade": Cascade(CRF(), CRF(), window=3, folds=2, random_state=0),
    "cascade, inputs": Cascade(
        CRF(), CRF(), window=3, folds=2, keep_inputs=True, refit=False, random_state=0
    ),
    "structure": StructureLearner(KernelCRF("rbf", parts=Parts(edges=None)), candidates=[Edges()]),
}


@pytest.fixture
def data(rng):
    return labelled_sequences(rng, 20)


@pytest.fixture(params=list(MODELS))
def model(request):
    return clone(MODELS[request.param])


def frames(X, columns):
    """Frames whose columns are in this order."""
    return [pd.DataFrame(x, columns=list("abc"))[list(columns)] for x in X]


def test_columns_of_frames_go_by_name(model, data):
    X, y = data
    plain = clone(model).fit(X, y).predict(X)
    model.fit([*frames(X[:5], "abc"), *frames(X[5:], "cab")], y)
    assert model.predict(frames(X, "bca")) == plain
    with pytest.raises(InputError, match="other columns"):
        model.predict([frame.rename(columns={"a": "z"}) for frame in frames(X, "abc")])


def test_names_of_columns_are_in_files(model, data, tmp_path):
    X, y = data
    model.fit(frames(X, "abc"), y).save(tmp_path / "model.kf")
    assert load(tmp_path / "model.kf").predict(frames(X, "cba")) == model.predict(frames(X, "abc"))


def test_an_empty_list_is_a_sequence_of_no_positions(model, data):
    X, y = data
    lists = [x.tolist() for x in X]
    plain = clone(model).fit([np.zeros((0, 3)), *X], [[], *y]).predict(X)
    assert model.fit([[], *lists], [[], *y]).predict([[], *lists]) == [[], *plain]
    assert model.predict([[], []]) == [[], []]


@pytest.mark.parametrize("name", ["SVM", "PA", "boosted"])
def test_weights_that_are_no_numbers_are_refused(name, data):
    X, y = data
    with pytest.raises(InputError, match="sample_weight is no array of numbers"):
        clone(MODELS[name]).fit(X, y, sample_weight=["much"] * len(X))


def other(name, value):
    """Another value of a setting."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 2
    return None


def test_settings_changed_after_fit_change_no_prediction(model, data):
    X, y = data
    model.fit(X, y)
    marginals = np.concatenate(model.predict_marginals(X))
    for name, value in model.get_params(deep=False).items():
        if name != "decoder":
            changed = copy.copy(model).set_params(**{name: other(name, value)})
            np.testing.assert_array_equal(np.concatenate(changed.predict_marginals(X)), marginals, name)


def test_old_files_of_cascades_say_what_the_second_model_sees(data, tmp_path):
    X, y = data
    model = clone(MODELS["cascade, inputs"]).fit(X, y)
    expected = model.predict(X)
    for name in ("window_", "weight_", "keep_inputs_"):  # as in files of version 0.1.0
        delattr(model, name)
    model.save(tmp_path / "model.kf")
    assert load(tmp_path / "model.kf").predict(X) == expected


def test_held_out_sequences_of_structure_learners_are_checked(data, rng):
    X, y = data
    learner = clone(MODELS["structure"])
    with pytest.raises(InputError, match="X_dev comes without y_dev"):
        learner.fit(X, y, X_dev=X)
    with pytest.raises(InputError, match="y_dev comes without X_dev"):
        learner.fit(X, y, y_dev=y)
    with pytest.raises(InputError, match="hold no position"):
        learner.fit(X, y, X_dev=[], y_dev=[])
    with pytest.warns(UserWarning, match="1 labels of y_dev do not occur in y"):
        learner.fit(X, y, X_dev=X, y_dev=[["new", *y[0][1:]], *y[1:]])
    assert all(np.isfinite(trial.held_out) for trial in learner.trials_ if trial.gain is not None)


def test_kernel_perceptrons_look_at_tokens(rng):
    words = [[str(word) for word in rng.choice(["aa", "ab", "xy", "xx"], size=5)] for _ in range(10)]
    y = [["A" if "a" in word else "X" for word in sentence] for sentence in words]
    for settings in ({"kernel": Normalized(Spectrum(1))}, {"kernel": "linear", "features": "pos"}):
        assert KernelPerceptron(**settings, random_state=0).fit(words, y).score(words, y) == 1
    with pytest.raises(InputError, match="say with features="):
        KernelPerceptron("rbf", random_state=0).fit(words, y)


def test_an_interrupted_kernel_perceptron_keeps_what_it_learnt(data, monkeypatch):
    X, y = data
    calls = []

    def mistake(self, *arguments, plain=KernelPerceptron._mistake):
        calls.append(1)
        if len(calls) == 31:
            raise KeyboardInterrupt
        return plain(self, *arguments)

    monkeypatch.setattr(KernelPerceptron, "_mistake", mistake)
    model = KernelPerceptron(shuffle=False)
    with pytest.warns(ConvergenceWarning, match="Interrupted after 1 epochs"):
        model.fit(X, y)
    assert "Interrupted" in model.stop_reason_
    assert model.n_iter_ == 1
    assert model.score(X, y) > 0.7


@pytest.mark.parametrize("after", [1, 5])
def test_interrupted_expectation_maximisation_keeps_its_model(after, data):
    X, _ = data

    def interrupt(progress):
        if progress.iteration == after:
            raise KeyboardInterrupt

    model = HMM(n_states=3, run=Run(callback=interrupt), tol=1e-12, random_state=0, n_init=3)
    with pytest.warns(ConvergenceWarning, match="Interrupted"):
        model.fit(X)
    assert model.n_iter_ == after
    assert "Interrupted" in model.stop_reason_
    whole = HMM(n_states=3, tol=0.0, max_iter=after, random_state=0).fit(X)
    np.testing.assert_array_equal(model.emissions_.means, whole.emissions_.means)


@pytest.mark.parametrize("decoder", ["viterbi", "posterior"])
def test_no_decoder_breaks_the_rules_of_hidden_states(decoder, rng):
    rule = Constraints(forbidden_pairs=[("A", "C"), ("B", "A")], forbidden_ends=["B"])
    y = [["A", "A", "B", "C"], ["C", "A", "B", "B", "C"], ["A"], ["C", "C", "A"]]
    X = [[[f"{label}?", "?"][int(rng.random() < 0.5)] for label in labels] for labels in y]
    model = HMM(Categorical(2.0), constraints=rule, decoder=decoder).fit(X, y)
    wild = [list(rng.choice(["A?", "B?", "C?", "?"], size=n)) for n in rng.integers(1, 9, size=60)]
    for path in model.predict(wild):
        assert path[-1] != "B"
        assert not {("A", "C"), ("B", "A")} & set(pairwise(path))


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([[{"w": 1}, {"w": 2}]], "Sequence 0 of X has a dict at position 0, which cannot be a symbol"),
        ([["a", "b"], [("c", ["d"])]], "Sequence 1 of X has a tuple at position 0"),
        ([sparse.eye(2, format="csr")], "is sparse, but symbols must be in a list"),
    ],
)
def test_what_is_no_symbol_is_refused(X, words):
    with pytest.raises(InputError, match=words):
        HMM("categorical").fit(X, [["A", "B"], ["A"]][: len(X)])


def test_numbers_that_cannot_be_are_named_by_place():
    y = [["A"], ["A", "B"]]
    with pytest.raises(InputError, match="Sequence 1 of X, position 1, has infinity in column 0"):
        HMM().fit([[[1.0]], [[2.0], [np.inf]]], y)
    with pytest.raises(InputError, match="Sequence 1 of X, position 0, has -2 in column 0"):
        HMM("poisson").fit([[[1.0]], [[-2.0], [3.0]]], y)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (HMM(start="even"), "start is 'even'; it must be an array of probabilities"),
        (BoostedCRF(categorical=[0.5], random_state=0), "categorical has the unknown column 0.5"),
        (Cascade(3, CRF()), "A cascade is made of two estimators; 3 is none"),
        (Cascade(CRF(), CRF), "is none"),
        (BoostedCRF(class_weight={"red": -5}, random_state=0), "class_weight of 'red' is -5"),
    ],
)
def test_settings_that_mean_nothing_are_refused(model, words, data):
    with pytest.raises(InputError, match=words):
        model.fit(*data)


@pytest.mark.parametrize("settings", [{"n_states": 10**9}, {"start": 5}, {"transitions": "x", "n_states": 2}])
def test_numbers_of_states_that_cannot_be_are_refused(settings, data):
    with pytest.raises(InputError, match=r"more than the \d+ positions|number of states|start has shape"):
        HMM(**settings).fit(data[0])
