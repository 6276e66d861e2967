"""Settings within settings reach the fit, in every estimator that has such; unknown ones are refused."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from kernelfields import (
    AROW,
    CRF,
    BoostedCRF,
    FieldClustering,
    FixedScores,
    FreeScores,
    GPSequenceClassifier,
    HiddenStates,
    HiddenUnitCRF,
    InputError,
    KernelCRF,
    KernelLogisticRegression,
    KernelPerceptron,
    KernelScores,
    LinearScores,
    MarkovField,
    Parts,
    PassiveAggressive,
    SelfTraining,
    SequenceClustering,
    StochasticCRF,
    StructuredPerceptron,
    StructuredSVM,
    TransductiveSVM,
    TreeScores,
)
from kernelfields.approximation import Nystroem
from kernelfields.kernels import RBF, Linear, Weighted
from kernelfields.losses import Log, MarginalLog
from kernelfields.objective import L1Norm
from kernelfields.posterior import Laplace
from kernelfields.selection import SGPS
from kernelfields.solvers import LBFGS
from kernelfields.structures import Chain, Segments

RNG = np.random.default_rng(0)
X = [RNG.normal(size=(n, 2)) for n in (4, 1, 3, 6, 2, 5, 3, 4)]
Y = [["ab"[int(v)] for v in x[:, 0] + 0.7 * RNG.normal(size=len(x)) > 0] for x in X]
FREE = Parts(edges=FreeScores(penalty=1), bias=FreeScores(penalty=1), boundaries=FreeScores(penalty=1))
HEAVY = {f"parts__{name}__penalty": 9.0 for name in FREE}
AWAY = {f"parts__{name}": None for name in FREE}
WEIGHTS = {"a": 3.0, "b": 1.0}
ON_PAIRS = KernelScores(RBF(1.0), on="edge", view="all", basis=Nystroem(4))

CASES: list[tuple[Any, dict[str, Any]]] = [
    (CRF(parts=FREE), {**HEAVY, **AWAY, "parts__features__penalty": 9.0, "parts__edges__norm": L1Norm(1.0)}),
    (CRF(), {"parts__edge_features__penalty": 1.0, "parts__new": LinearScores(on="edge", view="all")}),
    (CRF(parts=Parts(edges=FreeScores(norm=L1Norm(0.1)))), {"parts__edges__norm__weight": 3.0}),
    (CRF(parts=Parts(known=FixedScores({"a": 0.1}))), {"parts__known__measure": {"a": 2.0}}),
    (
        CRF(parts=Parts(pairs=ON_PAIRS), random_state=0),
        {
            "parts__pairs__kernel__gamma": 9.0,
            "parts__pairs__basis__rank": 2,
            "parts__pairs__penalty": 9.0,
            "parts__pairs__view": "mean",
            "parts__pairs__labels": np.eye(4) + np.kron(np.eye(2), np.ones((2, 2))),
        },
    ),
    (CRF(loss=Log()), {"loss__class_weight": WEIGHTS, "loss__cost": np.array([[0.0, 3.0], [1.0, 0.0]])}),
    (CRF(loss=MarginalLog()), {"loss__class_weight": WEIGHTS}),
    (CRF(structure=Chain()), {"structure__order": 2}),
    (CRF(structure=Segments(3)), {"structure__max_length": 2}),
    (CRF(solver=LBFGS(), max_iter=3), {"solver__memory": 1}),
    (CRF(posterior=Laplace(), random_state=0), {"posterior__n_samples": 3}),
    (
        KernelCRF(RBF(1.0), parts=FREE),
        {**HEAVY, **AWAY, "kernel__gamma": 9.0, "parts__edge_kernel__penalty": 1.0},
    ),
    (KernelCRF(RBF(1.0), basis=Nystroem(6), random_state=0), {"basis__rank": 2, "basis__tol": 0.5}),
    (KernelCRF(RBF(1.0), basis=SGPS(6), random_state=0), {"basis__size": 2}),
    (KernelCRF(Weighted([RBF(1.0), Linear()])), {"kernel__kernels": [RBF(5.0), Linear()]}),
    (KernelCRF(RBF(1.0), loss=Log()), {"loss__class_weight": WEIGHTS}),
    (
        KernelLogisticRegression(RBF(1.0), basis=Nystroem(6), random_state=0),
        {"kernel__gamma": 9.0, "basis__rank": 2, "parts__bias__penalty": 50.0, "parts__bias": None},
    ),
    (
        GPSequenceClassifier(
            RBF(1.0), sparse=SGPS(6), parts=Parts(known=FixedScores({"a": 0.1})), random_state=0
        ),
        {"kernel__gamma": 9.0, "sparse__size": 2, "parts__known__measure": {"a": 2.0}},
    ),
    (
        StructuredSVM(penalty=0.3, parts=FREE),
        {**HEAVY, **AWAY, "parts__pairs": KernelScores("rbf", on="edge")},
    ),
    (StructuredSVM(RBF(1.0), penalty=0.3), {"kernel__gamma": 9.0, "parts__edge_kernel__penalty": 1.0}),
    (
        HiddenUnitCRF(3, parts=FREE, loss=Log(), random_state=0),
        {**HEAVY, **AWAY, "loss__class_weight": WEIGHTS},
    ),
    (
        BoostedCRF(3, min_samples_leaf=1, parts=FREE, random_state=0),
        {**HEAVY, **AWAY, "parts__trees": TreeScores()},
    ),
    (StochasticCRF(random_state=0, max_iter=3, parts=FREE), {**HEAVY, **AWAY}),
    (StructuredPerceptron(random_state=0, max_iter=3), AWAY),
    (AROW(random_state=0, max_iter=3), AWAY),
    (PassiveAggressive(random_state=0, max_iter=3), AWAY),
    (KernelPerceptron(RBF(1.0), random_state=0), {"kernel__gamma": 9.0}),
    (MarkovField(parts=Parts(edges=FreeScores())), {"parts__edges__penalty": 9.0, "parts__boundaries": None}),
    (FieldClustering(2, kernel=RBF(1.0), basis=Nystroem(6), n_init=1, random_state=0), {"basis__rank": 1}),
    (SequenceClustering(2, kernel=RBF(1.0), n_init=1, random_state=0), {"kernel__gamma": 9.0}),
    (HiddenStates(CRF(parts=FREE), random_state=0), {f"estimator__{name}": 9.0 for name in HEAVY}),
    (SelfTraining(CRF(parts=FREE)), {f"estimator__{name}": 9.0 for name in HEAVY}),
    (TransductiveSVM(RBF(1.0)), {"kernel__gamma": 9.0}),
]


def answers(model: Any) -> Any:
    """Fit a model, and ask it as precisely as it answers."""
    if isinstance(model, MarkovField):
        return model.fit(Y).score_samples(Y)
    if isinstance(model, KernelLogisticRegression):
        return model.fit(np.concatenate(X), np.concatenate(Y)).predict_proba(np.concatenate(X))
    model.fit(X) if isinstance(model, FieldClustering | SequenceClustering) else model.fit(X, Y)
    if isinstance(model, TransductiveSVM):
        return np.concatenate([np.ravel(one) for one in model.decision_function(X)])
    return np.concatenate([np.ravel(one) for one in model.predict_marginals(X)])


@pytest.mark.filterwarnings("ignore")  # of fits that end early
@pytest.mark.parametrize(("model", "changes"), CASES, ids=lambda one: repr(one)[:50])
def test_they_change_the_fit(model: Any, changes: dict[str, Any]) -> None:
    written, before = repr(model), answers(clone(model))
    for name, value in changes.items():
        after = answers(clone(model).set_params(**{name: value}))
        assert np.abs(after - before).max() > 1e-6, name
    assert repr(model) == repr(clone(model)) == repr(pickle.loads(pickle.dumps(model))) == written


@pytest.mark.parametrize("model", [one for one, _ in CASES], ids=lambda one: repr(one)[:50])
def test_unknown_ones_are_refused(model: Any) -> None:
    settings = model.get_params()
    for name in {name.rpartition("__")[0] for name in settings} - {""}:
        if not isinstance(settings[name], Parts):
            with pytest.raises(InputError, match=r"has no parameter 'nonsense'; it has \w+"):
                model.set_params(**{f"{name}__nonsense": 1})
    for name in [name for name, value in settings.items() if isinstance(value, Parts)]:
        with pytest.raises(InputError, match="Parts has no 'nonsense' to change; known by name are 'bias'"):
            model.set_params(**{f"{name}__nonsense__penalty": 1})
    assert str(model.get_params()) == str(settings)
