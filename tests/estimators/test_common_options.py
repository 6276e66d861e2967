"""Options that most estimators have: each estimator has them, or says in one sentence why not."""

import inspect

import numpy as np
import pytest

import kernelfields
from kernelfields import CRF, InputError, KernelCRF, KernelLogisticRegression
from kernelfields.fitting.run import Routed

SETTINGS = ("verbose", "warm_start", "checkpoint")
ARGUMENTS = ("sample_weight", "X_dev", "y_dev")
CLASSES = [
    value
    for name in kernelfields.__all__
    if isinstance(value := getattr(kernelfields, name), type) and issubclass(value, Routed)
]
REQUIRED = {
    "Cascade": (CRF(), CRF()),
    "ClassifierMarkovModel": (KernelLogisticRegression("linear"),),
    "HiddenStates": (CRF(),),
    "SelfTraining": (CRF(),),
    "SequencePipeline": ([], CRF()),
    "StructureLearner": (KernelCRF(),),
}
X, Y = [np.eye(2)], [["a", "b"]]


def made(kind, **settings):
    more = {"candidates": []} if kind.__name__ == "StructureLearner" else {}
    return kind(*REQUIRED.get(kind.__name__, ()), **more, **settings)


def test_all_estimators_are_here():
    assert len(CLASSES) >= 13


@pytest.mark.parametrize("option", SETTINGS)
@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_settings(kind, option):
    if option in inspect.signature(kind).parameters or option in kind._heeds:
        assert option not in kind._lacks
        return
    with pytest.raises(InputError, match=rf"^{kind.__name__} has no {option}: [^.].*\.$"):
        made(kind, **{option: True})


@pytest.mark.parametrize("option", ARGUMENTS)
@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_arguments_of_fit(kind, option):
    if option in inspect.signature(kind.fit).parameters:
        assert option not in kind._lacks
        return
    model = made(kind)
    with pytest.raises(InputError, match=rf"^{kind.__name__} has no {option}: [^.].*\.$"):
        model.fit(X, Y, **{option: [1.0]})
    assert not hasattr(model, "classes_")


def test_nonsense_is_refused_by_python():
    with pytest.raises(TypeError):
        CRF(nonsense=1)
