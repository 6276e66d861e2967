"""Settings of settings, through scikit-learn's tools: frozen ones are replaced, never left as they were."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import kernelfields
from kernelfields import (
    CRF,
    FixedScores,
    FreeScores,
    HiddenStates,
    InputError,
    KernelCRF,
    KernelScores,
    LinearScores,
    Parts,
    Run,
    approximation,
    kernels,
    load,
)
from kernelfields.approximation import Nystroem
from kernelfields.kernels import RBF, Laplacian
from kernelfields.losses import EntropyRegularised, Log
from kernelfields.solvers import LBFGS
from kernelfields.structures import Chain, Exact, Graph


def second_order_data():
    """Sequences in which a label is that of two positions ago: order 1 cannot know."""
    rng = np.random.default_rng(0)
    y = [[int(k) for k in np.tile(rng.permutation([0, 0, 1, 1]), 3)] for _ in range(12)]
    return [np.ones((len(labels), 1)) for labels in y], y


def test_grid_search_over_a_setting_of_a_structure(tmp_path):
    """A search over the order of chains finds the order that a plain loop over structures finds."""
    X, y = second_order_data()
    common = {"penalty": 0.01, "decoder": "viterbi"}
    search = GridSearchCV(CRF(structure=Chain(), **common), {"structure__order": [1, 2]}, cv=3).fit(X, y)
    by_hand = GridSearchCV(CRF(**common), {"structure": [Chain(), Chain(order=2)]}, cv=3).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    np.testing.assert_array_equal(scores, by_hand.cv_results_["mean_test_score"])
    assert scores[0] != scores[1]
    best = search.best_estimator_
    assert best.structure == Chain(order=int(np.argmax(scores)) + 1)
    best.save(tmp_path / "model.kf")
    assert load(tmp_path / "model.kf").structure == best.structure
    assert load(tmp_path / "model.kf").predict(X) == best.predict(X)


def test_frozen_settings_are_replaced_and_others_stay():
    structure = Chain()
    model = CRF(structure=structure, loss=EntropyRegularised(0.5), solver=LBFGS(memory=3))
    copy = clone(model).set_params(structure__order=2, loss__weight=2.0, solver__memory=5, penalty=3.0)
    assert (structure, model.structure) == (Chain(), Chain())
    assert (copy.structure, copy.loss, copy.solver) == (Chain(2), EntropyRegularised(2.0), LBFGS(memory=5))
    assert "structure=Chain(order=2)" in repr(copy)
    assert clone(copy).get_params()["loss__weight"] == copy.get_params()["loss__weight"] == 2.0


def test_settings_within_settings_within_settings():
    model = CRF(structure=Graph(inference=Exact(64)))
    names = model.get_params()
    assert names["structure__inference__max_table"] == 64
    assert "structure__n_edge_features" not in names
    assert "structure__inference__max_table" not in model.get_params(deep=False)
    model.set_params(structure__directed=True, structure__inference__max_table=128)
    assert model.structure == Graph(inference=Exact(128), directed=True)
    model = KernelCRF(parts=Parts(both_ends=KernelScores(RBF(1.0), on="edge", view="all", penalty=1.0)))
    model.set_params(parts__both_ends__kernel__gamma=4.0, parts__both_ends__penalty=0.5)
    assert (model.parts["both_ends"].kernel.gamma, model.parts["both_ends"].penalty) == (4.0, 0.5)


def test_all_that_is_listed_can_be_set():
    model = KernelCRF(
        RBF(1.0),
        structure=Graph(),
        parts=Parts(both_ends=KernelScores("rbf", on="edge", view="all", penalty=1.0)),
    )
    before = model.get_params()
    assert model.set_params(**before).get_params() == before


def test_settings_of_losses_are_searched_like_others():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(4, 2)) for _ in range(12)]
    y = [["a" if row[0] > 0.8 else "b" for row in x] for x in X]
    model = CRF(loss=Log())
    assert {"loss__cost": None, "loss__class_weight": None}.items() <= model.get_params().items()
    search = GridSearchCV(model, {"loss__class_weight": [{"a": 2.0}, {"a": 5.0}]}, cv=2).fit(X, y)
    best = search.best_params_["loss__class_weight"]
    assert clone(search.best_estimator_).loss == Log(class_weight=best)
    assert repr(search.best_estimator_) == f"CRF(loss=Log(class_weight={best!r}, cost=None))"
    assert model.loss == Log()


def test_a_setting_and_its_own_settings_at_once():
    assert CRF().set_params(structure__order=2, structure=Chain()).structure == Chain(order=2)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"pnalty_": 1.0}, "^CRF has no parameter 'pnalty_'; it has penalty, "),
        ({"structure__ordr": 2}, "^Chain has no parameter 'ordr'; it has order.$"),
        ({"structure__": 2}, "^CRF has no parameter 'structure__'; it has penalty, "),
        ({"structure__order__more": 2}, "^CRF.structure.order is 1, which has no parameters; more cannot be"),
        (
            {"loss__weight": 2},
            "^CRF.loss is 'log', which has no parameters; weight cannot be set: give an object",
        ),
        ({"structure__order": 3}, "order is 3"),
    ],
)
def test_refusals(settings, words):
    model = CRF(structure=Chain())
    with pytest.raises(InputError, match=words):
        model.set_params(penalty=7.0, **settings)
    assert (model.structure, model.penalty) == (Chain(), 1.0)


def test_settings_that_several_share_are_changed_in_one():
    """Kernels are no frozen objects, unlike parts, structures and losses."""
    kernel = RBF(1.0) + RBF(2.0)
    parts = Parts(both=KernelScores(kernel, on="edge", view="all"))
    models = [KernelCRF(kernel, parts=parts), CRF(parts=parts)]
    models[0].set_params(parts__both__kernel__left__gamma=9.0, kernel__right__gamma=5.0)
    assert models[0].parts["both"].kernel.left.gamma == 9.0
    assert models[0].kernel.right.gamma == 5.0
    assert models[1].parts == parts
    assert (kernel.left.gamma, kernel.right.gamma) == (1.0, 2.0)


def test_estimators_in_estimators_are_changed_themselves():
    inner = CRF()
    HiddenStates(inner).set_params(estimator__penalty=3.0)
    assert inner.penalty == 3.0


@pytest.mark.parametrize(
    "make",
    [
        lambda: RBF(1.0) + 2.0 * RBF(3.0),
        lambda: FreeScores(penalty=1),
        lambda: KernelScores(RBF(2.0), on="edge", labels=np.eye(4), basis=Nystroem(5)),
        lambda: Parts(kernel=KernelScores(RBF(2.0), labels=np.eye(2)), known=FixedScores({"a": 1.0})),
    ],
)
def test_equal_settings_are_equal(make):
    assert make() == make()
    assert hash(make()) == hash(make())
    named = {
        name: getattr(one, name) for one in (kernelfields, kernels, approximation) for name in one.__all__
    }
    assert eval(repr(make()), {**named, "array": np.array}) == make()


def test_other_settings_are_not_equal():
    part = KernelScores(RBF(2.0), on="edge", labels=np.eye(4))
    for changed in ({"labels": np.eye(4) + 1}, {"kernel": RBF(3.0)}, {"kernel": "rbf"}, {"penalty": 2.0}):
        assert replace(part, **changed) != part
    assert Parts(a=part) != Parts(b=part)
    assert RBF(1.0) != RBF(2.0)
    assert RBF(1.0) != Laplacian(1.0)
    assert FreeScores() != LinearScores()
    assert FreeScores().set_params(penalty=3.0) == FreeScores(penalty=3.0)


def test_precisions_are_written_by_name():
    assert repr(Run(dtype=np.float64)) == "Run(dtype='float64')"
    assert eval(repr(Run(dtype=np.dtype("float32"), patience=3))) == Run(dtype="float32", patience=3)
