"""python-crfsuite's own usage, with the original and with compat: equal results.

Tolerances: probabilities 1e-6, losses 2e-6 relative (that is what CRFsuite prints).
"""

import io
from contextlib import redirect_stdout

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ._both import BOTH, messages, ours, tagger, theirs
from ._data import training_set

PARAMS = {"c1": 0.3, "c2": 1e-3, "max_iterations": 25, "feature.possible_transitions": True}
TRAINING, TEST = training_set(100, seed=5), training_set(30, seed=6)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Trainer and tagger of both, as the tutorial makes them."""
    result = {}
    for module in (theirs, ours):
        trainer = module.Trainer(verbose=False)
        for xseq, yseq in zip(*TRAINING, strict=True):
            trainer.append(xseq, yseq)
        trainer.set_params(PARAMS)
        path = str(tmp_path_factory.mktemp("models") / "model")
        trainer.train(path)
        model = module.Tagger()
        model.open(path)
        result[module] = (trainer, model)
    return result


def test_settings(trained):
    (their_trainer, _), (our_trainer, _) = trained[theirs], trained[ours]
    assert our_trainer.params() == their_trainer.params()
    assert our_trainer.get_params() == their_trainer.get_params()


@pytest.mark.parametrize("algorithm", ["lbfgs", "l2sgd", "ap", "pa", "arow", "PA", "averaged-perceptron"])
def test_defaults(algorithm):
    their_trainer, our_trainer = (module.Trainer(algorithm) for module in (theirs, ours))
    assert our_trainer.get_params() == their_trainer.get_params()
    assert [type(v) for v in our_trainer.get_params().values() if not isinstance(v, int | float)] == [
        type(v) for v in their_trainer.get_params().values() if not isinstance(v, int | float)
    ]
    assert all(our_trainer.help(name) for name in our_trainer.params())


def test_log_records(trained):
    (their_trainer, _), (our_trainer, _) = trained[theirs], trained[ours]
    their_log, our_log = their_trainer.logparser, our_trainer.logparser
    assert our_log.featgen_num_features == their_log.featgen_num_features
    assert [event[0] for event in our_log.events] == [event[0] for event in their_log.events]
    assert len(our_log.iterations) == len(their_log.iterations) == 25
    for found, expected in zip(our_log.iterations, their_log.iterations, strict=True):
        assert found.keys() == expected.keys()
        for name in found.keys() - {"time", "scores", "active_features"}:
            assert found[name] == pytest.approx(expected[name], rel=2e-6, abs=2e-6)
    assert our_log.last_iteration is our_log.iterations[-1]


def test_tags_and_probabilities(trained):
    (_, their_tagger), (_, our_tagger) = trained[theirs], trained[ours]
    assert our_tagger.labels() == their_tagger.labels()
    for items, labels in zip(*TEST, strict=True):
        assert our_tagger.tag(items) == their_tagger.tag(items)
        assert our_tagger.tag() == their_tagger.tag()
        known = [label if label in our_tagger.labels() else "O" for label in labels]
        assert our_tagger.probability(known) == pytest.approx(their_tagger.probability(known), abs=1e-6)
        for position in range(len(items)):
            for label in our_tagger.labels():
                expected = their_tagger.marginal(label, position)
                assert our_tagger.marginal(label, position) == pytest.approx(expected, abs=1e-6)


def test_what_was_learnt(trained):
    (_, their_tagger), (_, our_tagger) = trained[theirs], trained[ours]
    expected, found = their_tagger.info(), our_tagger.info()
    assert found.labels == expected.labels
    for weights in ("transitions", "state_features"):
        theirs_, ours_ = getattr(expected, weights), getattr(found, weights)
        keys = theirs_.keys() | ours_.keys()
        assert max(abs(theirs_.get(key, 0) - ours_.get(key, 0)) for key in keys) < 2e-6
    assert found.header["num_labels"] == expected.header["num_labels"]
    assert found.header["num_attrs"] == expected.header["num_attrs"] == str(len(found.attributes))


def test_dump_is_the_same_text(trained, tmp_path, capfd):
    """Where the same model is dumped by both, but for the header."""
    messages(theirs, *TRAINING, tmp_path / "model", "lbfgs", {"max_iterations": 5, "c1": 0.05})
    for module in (theirs, ours):
        tagger(module, tmp_path / "model").dump(str(tmp_path / module.__name__))
    expected, found = (
        (tmp_path / module.__name__).read_text().split("LABELS", 1)[1] for module in (theirs, ours)
    )
    assert sorted(found.split("\n")) == sorted(expected.split("\n"))
    tagger(ours, tmp_path / "model").dump()
    assert found in capfd.readouterr().out


@BOTH
def test_trainers_can_be_overridden(module, tmp_path):
    seen = []

    class Recording(module.Trainer):
        def on_iteration(self, log, info):
            seen.append((info["num"], log.splitlines()[0]))

    trainer = Recording(algorithm="ap", params={"max_iterations": 3}, verbose=True)
    for xseq, yseq in zip(*TRAINING, strict=True):
        trainer.append(module.ItemSequence(xseq), yseq)
    with redirect_stdout(io.StringIO()):
        trainer.train(str(tmp_path / "m"))
    assert seen == [(k, f"***** Iteration #{k} *****") for k in (1, 2, 3)]


@BOTH
def test_opening_is_a_context(module, trained, tmp_path):
    messages(module, *TRAINING, tmp_path / "m", "ap", {"max_iterations": 1})
    model = module.Tagger()
    with model.open(str(tmp_path / "m")):
        tags = model.tag(TEST[0][0])
    with pytest.raises(ValueError, match="not opened"):
        model.tag(TEST[0][0])
    model.open_inmemory((tmp_path / "m").read_bytes())
    assert model.tag(TEST[0][0]) == tags


@BOTH
def test_exceptions(module, trained):
    trainer, model = trained[module]
    with pytest.raises(ValueError, match=r"differ: \|x\| = 1, \|y\| = 2"):
        trainer.append([{"a": 1}], ["x", "y"])
    with pytest.raises(TypeError, match="expected bytes, int found"):
        trainer.append([{"a": 1}], [1])
    with pytest.raises(TypeError):
        trainer.append([{"a": None}], ["x"])
    with pytest.raises(ValueError, match="Parameter not found: foo = 1"):
        trainer.set("foo", 1)
    with pytest.raises(ValueError, match="Parameter not found: foo"):
        trainer.get("foo")
    with pytest.raises(ValueError, match="Parameter not found: foo"):
        trainer.help("foo")
    with pytest.raises(ValueError, match="Bad arguments: algorithm='foo', type='crf1d'"):
        trainer.select("foo")
    with pytest.raises(FileNotFoundError):
        module.Tagger().open("/nowhere/at/all")
    with pytest.raises(RuntimeError, match="Tagger is closed"):
        module.Tagger().info()
    model.set([{"a": 1}])
    with pytest.raises(ValueError, match="numbers of items and labels differ"):
        model.probability(["O", "O"])
    with pytest.raises(RuntimeError, match="Failed to convert into label identifier: q"):
        model.marginal("q", 0)
    with pytest.raises(ValueError, match="out of range of 1"):
        model.marginal("O", 1)


@BOTH
def test_values_are_read_as_c_does(module):
    trainer = module.Trainer()
    for given_value, expected in (("1e-2x", 0.01), ("abc", 0.0), (3, 3.0), (True, 1.0)):
        trainer.set("c2", given_value)
        assert trainer.get("c2") == expected
    for given_value, expected in ((2.7, 2), ("7 apples", 7), ("-", 0)):
        trainer.set("max_iterations", given_value)
        assert trainer.get("max_iterations") == expected


@BOTH
def test_nothing_to_learn(module, tmp_path):
    trainer = module.Trainer(verbose=False)
    trainer.train(str(tmp_path / "m"))
    trainer.append([], [])
    trainer.train(str(tmp_path / "m"))


TEXT = st.text("abc:é ", min_size=1, max_size=4)
ITEM = st.recursive(
    st.dictionaries(
        TEXT,
        st.one_of(TEXT, st.booleans(), st.floats(-9, 9), st.integers(-3, 3), TEXT.map(str.encode)),
        max_size=4,
    ),
    lambda inner: st.dictionaries(
        TEXT, st.one_of(inner, st.lists(TEXT, max_size=3), st.sets(TEXT)), max_size=3
    ),
    max_leaves=5,
)


@given(st.lists(st.one_of(ITEM, st.lists(TEXT), st.sets(TEXT)), max_size=4))
def test_items_are_read_alike(items):
    found, expected = ours.ItemSequence(items), theirs.ItemSequence(items)
    assert found.items() == expected.items()
    assert len(found) == len(expected)
    assert repr(found) == repr(expected)
    assert ours.ItemSequence(found).items() == expected.items()


def test_attributes_given_twice_count_twice(tmp_path):
    X, y = [[["a", "a"], {"b": "c", "b:c": 2}], [["a"], ["b:c"]]], [["x", "y"], ["x", "x"]]
    for module in (theirs, ours):
        messages(module, X, y, tmp_path / module.__name__, "lbfgs", {})
    expected, found = (tagger(m, tmp_path / m.__name__).info().state_features for m in (theirs, ours))
    assert found == pytest.approx(expected, abs=2e-6)
    prepared = ours.Trainer(verbose=False)
    for xseq, yseq in zip(X, y, strict=True):
        prepared.append(ours.ItemSequence(xseq), yseq)
    prepared.train("")
    np.testing.assert_allclose(np.sort(prepared.model_.coef_.data), np.sort(list(found.values())))
