"""Every algorithm against the original: the same messages and the same weights, step by step."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from ._both import BOTH, as_in_a_new_process, messages, ours, same_shuffle, tagger, theirs, without_seconds
from ._data import training_set

RUNS = {
    "lbfgs": ("lbfgs", {"max_iterations": 40}),
    "to the end": ("lbfgs", {"c2": 0.05}),
    "l1": ("lbfgs", {"c1": 0.3, "c2": 0.01, "max_iterations": 40}),
    "l1 alone": ("lbfgs", {"c1": 0.7, "c2": 0, "max_iterations": 60}),
    "l1 to the end": ("lbfgs", {"c1": 1.0, "c2": 1e-3}),
    "l1 alone to the end": ("lbfgs", {"c1": 2.0, "c2": 0}),
    "l1, all pairs": ("lbfgs", {"c1": 1.0, "c2": 0.1, "feature.possible_transitions": True}),
    "no penalty": ("lbfgs", {"c2": 0, "max_iterations": 15}),
    "gradient": ("lbfgs", {"c2": 2.0, "delta": 0, "epsilon": 1e-3}),
    "period": ("lbfgs", {"period": 3, "delta": 1e-3}),
    "memories": ("lbfgs", {"num_memories": 2, "max_iterations": 20}),
    "backtracking": ("lbfgs", {"linesearch": "Backtracking", "max_iterations": 20}),
    "strong": ("lbfgs", {"linesearch": "StrongBacktracking", "max_iterations": 20}),
    "few trials": ("lbfgs", {"max_linesearch": 1}),
    "two trials": ("lbfgs", {"c2": 0.1, "max_linesearch": 2}),
    "states": ("lbfgs", {"feature.possible_states": True, "max_iterations": 15}),
    "transitions": ("lbfgs", {"feature.possible_transitions": True, "max_iterations": 15}),
    "frequent": ("lbfgs", {"feature.minfreq": 3, "max_iterations": 15}),
    "frequent states": ("lbfgs", {"feature.minfreq": 2, "feature.possible_states": 1, "max_iterations": 9}),
    "sgd": ("l2sgd", {"max_iterations": 14}),
    "sgd, stopped": ("l2sgd", {"c2": 3.0, "period": 2, "delta": 1e-2}),
    "sgd, calibrated": (
        "l2sgd",
        {
            "max_iterations": 3,
            "calibration.eta": 0.5,
            "calibration.rate": 3,
            "calibration.samples": 20,
            "calibration.candidates": 3,
            "calibration.max_trials": 9,
        },
    ),
    "perceptron": ("ap", {"max_iterations": 8}),
    "perceptron, stopped": ("ap", {"epsilon": 0.05}),
    "pa": ("pa", {"max_iterations": 6}),
    "pa 0": ("pa", {"type": 0, "max_iterations": 4}),
    "pa 2": ("pa", {"type": 2, "c": 0.3, "error_sensitive": False, "max_iterations": 4}),
    "pa, last": ("pa", {"averaging": False, "epsilon": 0.5}),
    "arow": ("arow", {"max_iterations": 6}),
    "arow 2": ("arow", {"variance": 0.5, "gamma": 3.0, "max_iterations": 4}),
}
ONLINE = {"l2sgd", "ap", "pa", "arow"}

TRAINING = training_set(120, seed=1)
HELD_OUT = training_set(60, seed=2)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=same_shuffle) if RUNS[n][0] in ONLINE else n for n in RUNS]
)
def test_messages_and_weights_are_those_of_crfsuite(name, tmp_path):
    """Printed numbers within 2e-6 relative, weights (which CRFsuite prints with six digits) within 2e-6."""
    X, y = TRAINING
    algorithm, params = RUNS[name]
    said = {
        module: messages(module, X, y, tmp_path / module.__name__, algorithm, params, HELD_OUT)
        for module in (theirs, ours)
    }
    their_text, their_numbers = without_seconds(said[theirs])
    our_text, our_numbers = without_seconds(said[ours])
    assert our_text == their_text
    np.testing.assert_allclose(our_numbers, their_numbers, rtol=2e-6, atol=2e-6)

    taggers = {module: tagger(module, tmp_path / module.__name__) for module in (theirs, ours)}
    their_info, our_info = (taggers[module].info() for module in (theirs, ours))
    for weights in ("state_features", "transitions"):
        expected, found = getattr(their_info, weights), getattr(our_info, weights)
        keys = found.keys() | expected.keys() | {None}
        assert max(abs(found.get(key, 0) - expected.get(key, 0)) for key in keys) < 2e-6
        assert len(found) == pytest.approx(len(expected), rel=0.03)
    assert our_info.labels == their_info.labels
    for items in HELD_OUT[0]:
        assert taggers[ours].tag(items) == taggers[theirs].tag(items)


@same_shuffle
@pytest.mark.parametrize("kind", [0, 1, 2])
def test_ties_in_long_sequences_are_decided_alike(kind, tmp_path):
    """Sums of steps are equal but for rounding; which labelling wins decides what is learnt next."""
    X, y = training_set(40, seed=9, longest=60)
    losses = []
    for module in (theirs, ours):
        said = messages(module, X, y, tmp_path / "m", "pa", {"type": kind, "max_iterations": 3})
        losses.append([line for line in said if line.startswith("Loss")])
    assert losses[0] == losses[1]


@same_shuffle
def test_random_numbers_are_those_of_the_c_library():
    import ctypes

    from kernelfields.compat.crfsuite.shuffle import GnuRandom

    as_in_a_new_process()
    random = GnuRandom()
    assert random.draw(500) + random.draw(7) == [ctypes.CDLL(None).rand() for _ in range(507)]


def test_shuffles_are_permutations_and_differ():
    from kernelfields.compat.crfsuite.shuffle import Shuffle

    shuffle = Shuffle(50)
    first, second = shuffle.next(), shuffle.next()
    assert sorted(first) == sorted(second) == list(range(50))
    assert list(first) != list(second)


@BOTH
def test_zeros_make_weights(module, tmp_path):
    """An attribute of value 0 at a label has a weight there, as CRFsuite counts."""
    X = [[{"f": False, "g": 1}, {"f": True, "g": 1}], [{"f": False, "g": 1}, {"g": 1}]]
    said = messages(module, X, [["A", "B"], ["A", "C"]], tmp_path / "m", "lbfgs", {})
    assert "Number of features: 7\n" in said


@BOTH
def test_one_label(module, tmp_path):
    X = [[{"a": 1}, {"b": 1}]]
    for algorithm in ("lbfgs", "ap", "pa", "arow"):
        messages(module, X, [["x", "x"]], tmp_path / "m", algorithm, {})
        model = tagger(module, tmp_path / "m")
        assert model.tag(X[0]) == ["x", "x"]
        assert model.probability(["x", "x"]) == pytest.approx(1)
        assert model.info().state_features == {}


@BOTH
def test_labels_and_attributes_of_held_out_sequences_are_known(module, tmp_path):
    messages(module, [[{"a": 1}]], [["x"]], tmp_path / "m", "lbfgs", {}, ([[{"b": 1}]], [["y"]]))
    assert tagger(module, tmp_path / "m").labels() == ["x", "y"]


def test_sequences_are_copied(tmp_path):
    """What changes after append is not learnt."""
    item, trainer = {"a": 1.0}, ours.Trainer(verbose=False)
    trainer.append([item], ["x"])
    item["a"], item["b"] = 5.0, 1.0
    trainer.append([item], ["y"])
    trainer.train(str(tmp_path / "m"))
    fresh = ours.Trainer(verbose=False)
    fresh.append([{"a": 1.0}], ["x"])
    fresh.append([{"a": 5.0, "b": 1.0}], ["y"])
    fresh.train("")
    assert trainer.model_.coef_.toarray() == pytest.approx(fresh.model_.coef_.toarray())


@pytest.mark.parametrize("params", [{}, {"c1": 0.1, "c2": 0.1}], ids=["l2", "l1"])
def test_threads_change_no_bit(params):
    """Nor does BLAS take some for products of the weights: on busy cores they waited for each other."""
    rng = np.random.default_rng(0)
    X = [[[f"{name}" for name in rng.integers(9000, size=12)] for _ in range(8)] for _ in range(150)]
    y = [[str(label) for label in rng.integers(3, size=8)] for _ in X]
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            trainer = ours.Trainer(verbose=False, params={"max_iterations": 8, **params})
            trainer.extend(X, y)
            trainer.train("")
        found.append(trainer.model_.coef_)
    assert found[0].nnz > (0 if params else 10000)  # below that BLAS stays on one thread
    assert found[0].data.tolist() == found[1].data.tolist()
