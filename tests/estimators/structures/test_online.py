"""Online estimators take the steps of the textbook's rules over the list of all labellings."""

import numpy as np
import pytest

from kernelfields import AROW, KernelPerceptron, Parts, PassiveAggressive, StochasticCRF, StructuredPerceptron
from kernelfields.testing.online import EnumeratedSequence, arow, descend, passive_aggressive, perceptron

from ._explicit import STRUCTURES, Explicit, further_parts, pair_parts, random_task, same
from .test_log_loss import KERNEL, in_kernel_space

EPOCHS = 3
PARTS = {"features": 0.7, "bias": 0.7, "boundaries": 0.7, "edges": 1.3}


def written_out(task, parts):
    explicit = Explicit(task, parts | further_parts(task.structure, 1.3))
    items = [
        EnumeratedSequence(labels, phi, np.zeros(len(phi)), right)
        for labels, phi, right in zip(explicit.labels, explicit.phi, explicit.right, strict=True)
    ]
    return explicit, items * EPOCHS


def check(model, task, explicit, w):
    """Weights are w, and marginals those of enumeration."""
    found = explicit.weights(
        features=model.coef_,
        bias=model.intercept_,
        boundaries=np.stack([model.start_, model.end_]),
        edges=model.transitions_,
        second_order=getattr(model, "second_order_", None),
        durations=getattr(model, "durations_", None),
    )
    np.testing.assert_allclose(found, w, atol=1e-9)
    marginals = explicit.marginals(explicit.probabilities(w))
    same(model.predict_marginals(task.inputs), marginals, 1e-9)


RULES = {
    "last": (StructuredPerceptron(False, random_state=0), perceptron),
    "averaged": (StructuredPerceptron(random_state=0), perceptron),
    "PA": (
        PassiveAggressive("PA", averaging=False, random_state=0),
        lambda *a: passive_aggressive(*a, 0, 1.0, True),
    ),
    "PA-I": (
        PassiveAggressive("PA-I", aggressiveness=0.3, random_state=0),
        lambda *a: passive_aggressive(*a, 1, 0.3, True),
    ),
    "PA-II": (
        PassiveAggressive("PA-II", aggressiveness=0.3, error_sensitive=False, random_state=0),
        lambda *a: passive_aggressive(*a, 2, 0.3, False),
    ),
    "AROW": (AROW(0.8, gamma=1.5, random_state=0), lambda *a: arow(*a, 0.8, 1.5)),
    "descent": (
        StochasticCRF(
            0.7,
            learning_rate=0.2,
            averaging=False,
            random_state=0,
        ),
        None,
    ),
}


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("name", list(RULES))
def test_rule(name, structure, rng):
    task = random_task(rng, structure)
    model, rule = RULES[name]
    explicit, items = written_out(task, PARTS)
    zero = np.zeros(len(explicit.penalty))
    if rule is None:
        steps = list(descend(items, zero, 0.2, explicit.penalty / len(task.items)))
    else:
        steps = list(rule(items, zero))
    w = np.mean([zero, *steps], axis=0) if model.get_params().get("averaging") else steps[-1]
    if name == "descent":
        model.set_params(parts=Parts(pair_parts(structure, 1.3)))
    model.set_params(structure=structure, max_iter=EPOCHS, shuffle=False).fit(task.inputs, task.labels)
    assert model.n_iter_ == EPOCHS
    check(model, task, explicit, w)


@pytest.mark.parametrize("structure", ["chain", "tree", "graph"])
@pytest.mark.parametrize("combination", ["last", "averaged"])
def test_kernel_perceptron(structure, combination, rng):
    task = random_task(rng, structure)
    seen = in_kernel_space(task)
    explicit, items = written_out(seen, {"features": 1.0, "edges": 1.0})
    zero = np.zeros(len(explicit.penalty))
    steps = list(perceptron(items, zero))
    w = steps[-1] if combination == "last" else np.mean([zero, *steps], axis=0)
    model = KernelPerceptron(
        KERNEL, combination=combination, max_iter=EPOCHS, structure=structure, shuffle=False
    )
    model.fit(task.inputs, task.labels)
    same(model.predict_marginals(task.inputs), explicit.marginals(explicit.probabilities(w)), 1e-6)
    np.testing.assert_allclose(model.transitions_.ravel(), w[-9:], atol=1e-9)
