"""The tagger's way of its own for one sequence: the answers of the batch, and of models of every kind."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelfields import CRF, LinearScores, Parts
from kernelfields.compat import sklearn_crfsuite
from kernelfields.compat.pycrfsuite import ItemSequence, Tagger, Trainer
from kernelfields.constraints import Constraints
from kernelfields.errors import InfeasibleError, InputError, ModelFormatError, ScoreError
from kernelfields.features import DictFeatures
from kernelfields.native import AttributePool, AttributeTagger

from ._data import training_set

X, Y = training_set(60, seed=3)
NAME = st.sampled_from("abcde")
ITEM = st.one_of(
    st.lists(NAME, max_size=6),
    st.dictionaries(NAME, st.one_of(NAME, st.booleans(), st.floats(-2, 2), st.lists(NAME)), max_size=4),
)


@pytest.fixture(scope="module")
def tagger():
    trainer = Trainer(verbose=False, params={"max_iterations": 20})
    trainer.extend(X, Y)
    trainer.train("")
    return Tagger.of(trainer.model_)


@pytest.fixture(scope="module")
def letters():
    """A model in which every item matters, and ties are unlikely."""
    rng = np.random.default_rng(0)
    items = [
        [{name: float(rng.normal()) for name in "abcde"} | {"a": "b"} for _ in range(5)] for _ in range(30)
    ]
    labels = [[str(rng.integers(3)) for _ in range(5)] for _ in items]
    trainer = Trainer(verbose=False, params={"c2": 0.01})
    trainer.extend(items, labels)
    trainer.train("")
    return Tagger.of(trainer.model_)


@given(st.lists(ITEM, max_size=6))
def test_one_is_as_many(letters, items):
    tags = letters.tag(items)
    assert tags == letters.tag_all([items])[0] == letters.tag(ItemSequence(items)) == letters.tag(iter(items))
    marginals = letters.marginals_all([items])[0]
    assert [[letters.marginal(y, t) for y in letters.labels()] for t in range(len(items))] == [
        list(at.values()) for at in marginals
    ]
    if items:
        expected = np.exp(letters.model.sequence_log_proba([items], [tags])[0])
        assert letters.probability(tags) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("sequence", X[:10])
def test_what_was_set_stays(tagger, sequence):
    tagger.set(sequence)
    with pytest.raises(InputError, match="position 0: the token is one string"):
        tagger.tag(["abc"])
    assert tagger.tag() == tagger.tag_all([sequence])[0]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"parts": Parts(bias=None, boundaries=None)},
        {"observed_only": True},
        {"features": DictFeatures(dtype=np.float64)},
        {"constraints": "iob2"},
        {"l1": 0.1},
    ],
    ids=str,
)
def test_models_of_the_library(settings, tmp_path):
    """With bias, boundaries, rules, weights for all pairs or some, in either precision."""
    model = CRF(tol=0.1, **settings).fit(X, Y)
    model.save(tmp_path / "m")
    tagger = Tagger()
    tagger.open(tmp_path / "m")
    exact = model.features_.dtype == np.float64
    for sequence in X:
        assert tagger.tag(sequence) == model.predict([sequence])[0]
        expected = model.predict_marginals([sequence])[0]
        found = [[tagger.marginal(y, t) for y in tagger.labels()] for t in range(len(sequence))]
        np.testing.assert_allclose(found, expected, atol=1e-12 if exact else 1e-5)


def test_no_allowed_labelling(tmp_path):
    rule = Constraints(forbidden_starts=["b"], forbidden_ends=["a"])
    items, labels = [[["x"], ["x"], ["y"]], [["x"], ["y"], ["y"]]], [["a", "a", "b"], ["a", "b", "b"]]
    CRF(constraints=rule).fit(items, labels).save(tmp_path / "m")
    tagger = Tagger()
    tagger.open(tmp_path / "m")
    assert tagger.tag([["x"], ["y"]]) == ["a", "b"]
    tagger.set([["x"]])
    for question in (tagger.tag, lambda: tagger.marginal("a", 0), lambda: tagger.probability(["a"])):
        with pytest.raises(InfeasibleError, match="no allowed labelling"):
            question()


@pytest.mark.parametrize(
    "settings", [{"parts": Parts(edge_features=LinearScores())}, {"structure": "chain2"}]
)
def test_other_models_are_refused(settings, tmp_path):
    CRF(tol=1.0, **settings).fit(X[:20], Y[:20]).save(tmp_path / "m")
    with pytest.raises(ModelFormatError, match="scores more than labels and label pairs"):
        Tagger().open(tmp_path / "m")


def test_pickled_after_tagging():
    crf = sklearn_crfsuite.CRF(max_iterations=3).fit(X, Y)
    tags = crf.predict_single(X[0])
    again = pickle.loads(pickle.dumps(crf))
    assert again.predict_single(X[0]) == tags
    assert list(again.predict(X)[0]) == tags


def test_pickled_items(tagger):
    items = ItemSequence([["a", "a", "é"], {"b": {"c": 0.0}}, []])
    again = pickle.loads(pickle.dumps(items))
    assert again.items() == items.items() == [{"a": 1.0, "é": 1.0}, {"b:c": 0.0}, {}]
    assert AttributePool(["a"]).read([again.rows])[2].tolist() == [2.0]


def test_threads_share_a_tagger(tagger):
    expected = tagger.tag_all(X)
    with ThreadPoolExecutor(4) as threads:
        for _ in range(5):
            assert list(threads.map(tagger.tag, X)) == expected


def test_items_that_change_the_list(tagger):
    """Code of items runs while they are read; the list may then be shorter than it was."""
    items = [{"a": 1.0} for _ in range(4)]

    class Clearing:
        def __float__(self):
            items.clear()
            return 1.0

    items[0] = {"a": Clearing()}
    assert len(tagger.tag(items)) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"names": ()}, "no labels"),
        ({"first": np.array([0, 1], np.int32)}, r"first has shape \(2\), expected \(3\)"),
        ({"first": np.array([0, 2, 1], np.int32)}, "first must rise"),
        ({"first": np.array([0, 1, 3], np.int32)}, "first must rise"),
        ({"label": np.array([0, 2], np.int32)}, "label holds 2"),
        ({"label": np.array([0, -1], np.int32)}, "label holds -1"),
        ({"weight": np.ones(3)}, "weight has shape"),
        ({"ends": np.zeros((2, 2))}, "ends has shape"),
        ({"transitions": np.zeros((2, 3))}, "transitions has shape"),
    ],
)
def test_weights_that_do_not_fit(change, message):
    given = {
        "pool": AttributePool(["a", "b"]),
        "names": ("x", "y"),
        "first": np.array([0, 1, 2], np.int32),
        "label": np.array([0, 1], np.int32),
        "weight": np.ones(2),
        "ends": np.zeros((3, 2)),
        "transitions": np.zeros((2, 2)),
    }
    assert AttributeTagger(**given).tag([["b"], ["a"]]) == ["y", "x"]
    with pytest.raises(ValueError, match=message):
        AttributeTagger(**{**given, **change})


def test_questions_that_do_not_fit():
    core = AttributeTagger(
        AttributePool(["a"]),
        ("x", "y"),
        np.array([0, 1], np.int32),
        np.zeros(1, np.int32),
        np.ones(1),
        np.zeros((3, 2)),
        np.zeros((2, 2)),
    )
    core.set([["a"], []])
    assert core.score([0, 1]) == 1.0
    for labels in ([0], [0, 2], [-1, 0]):
        with pytest.raises(ValueError, match="label"):
            core.score(labels)
    for label, position in ((2, 0), (0, 2)):
        with pytest.raises(ValueError, match="no such position"):
            core.marginal(label, position)
    core.set([])
    assert core.tag() == []


def test_scores_that_are_too_large(tagger):
    huge = [dict.fromkeys(tagger.model.features_.names(), 1e308) for _ in range(2)]
    with pytest.raises(ScoreError, match="NaN or"):
        tagger.tag(huge)
