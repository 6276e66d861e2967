"""Structured SVMs reach the optimum of the explicit objective: its value meets the dual of a QP."""

import numpy as np
import pytest

from kernelfields import Parts, Run, StructuredSVM

from ._explicit import STRUCTURES, Explicit, further_parts, pair_parts, random_task, same
from ._solvers import hinge_bound, hinge_value
from .test_log_loss import FREE, KERNEL, in_kernel_space

SOLVERS = {"one-slack": 1e-5, "n-slack": 1e-5, "bcfw": 1e-3}
"""With the gap that each reaches soon."""


def rescaled(explicit, rescaling):
    """Return offset and scale of every labelling: its violation is offset + scale · (score − right score)."""
    wrong = explicit.wrong
    if rescaling == "zero-one":
        some = [(n > 0).astype(float) for n in wrong]
        return some, some
    return wrong, wrong if rescaling == "slack" else [np.ones(len(n)) for n in wrong]


def check(model, explicit, w, rescaling, weights=None):
    """Value at the model's weights = value of the certificate, and within its tolerance of the dual."""
    offsets, scales = rescaled(explicit, rescaling)
    value = hinge_value(explicit, w, lambda s, rise: offsets[s] + scales[s] * rise, weights)
    assert model.certificate_.value == pytest.approx(value, rel=1e-6)
    bound = hinge_bound(explicit, offsets, scales, weights)
    assert bound <= value + 1e-9
    assert value <= bound * (1 + 2 * model.tol)


def parts(structure):
    return {"features": 0.7} | FREE | further_parts(structure, 1.3)


def weights_of(model, explicit, **features):
    found = dict(features, bias=model.intercept_, boundaries=np.stack([model.start_, model.end_]))
    found |= {"edges": model.transitions_, "second_order": getattr(model, "second_order_", None)}
    found |= {"durations": getattr(model, "durations_", None)}
    return explicit.weights(**found)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("rescaling", ["margin", "slack", "zero-one"])
def test_linear(structure, rescaling, rng):
    task = random_task(rng, structure)
    model = StructuredSVM(
        None,
        penalty=0.7,
        parts=Parts(pair_parts(structure, 1.3)),
        structure=structure,
        rescaling=rescaling,
        tol=1e-5,
    )
    if structure in ("chain2", "segments") and rescaling == "slack":
        with pytest.raises(TypeError, match=r"^Slack rescaling needs .*Batch does not give\.$"):
            model.fit(task.inputs, task.labels)
        return
    explicit = Explicit(task, parts(structure))
    model.fit(task.inputs, task.labels)
    w = weights_of(model, explicit, features=model.coef_)
    check(model, explicit, w, rescaling)
    same(model.predict_marginals(task.inputs), explicit.marginals(explicit.probabilities(w)), 1e-9)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_kernel(structure, solver, rng):
    task = random_task(rng, structure)
    seen = in_kernel_space(task)
    explicit = Explicit(seen, parts(structure))
    model = StructuredSVM(
        KERNEL,
        penalty=0.7,
        parts=Parts(pair_parts(structure, 1.3)),
        structure=structure,
        solver=solver,
        tol=SOLVERS[solver],
        random_state=0,
        run=Run(dtype="float64"),
    )
    model.fit(task.inputs, task.labels)
    F = np.concatenate([item.x for item in seen.items])
    scores = KERNEL(np.concatenate([i.x for i in task.items]), model.basis_) @ model.dual_coef_
    w = weights_of(model, explicit, features=(np.linalg.pinv(F) @ scores).T)
    check(model, explicit, w, "margin")
    same(model.predict_marginals(task.inputs), explicit.marginals(explicit.probabilities(w)), 1e-6)


@pytest.mark.parametrize("structure", ["chain", "tree", "graph"])
def test_weights_of_items(structure, rng):
    task = random_task(rng, structure)
    weights = rng.uniform(0.2, 2.0, size=len(task.items))
    explicit = Explicit(task, parts(structure))
    model = StructuredSVM(
        None, penalty=0.7, parts=Parts(pair_parts(structure, 1.3)), structure=structure, tol=1e-5
    )
    model.fit(task.inputs, task.labels, sample_weight=weights)
    check(model, explicit, weights_of(model, explicit, features=model.coef_), "margin", weights)
