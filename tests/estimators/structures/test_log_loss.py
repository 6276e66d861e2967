"""Estimators that minimise a log loss reach the optimum of the explicit objective, on every structure."""

import numpy as np
import pytest

from kernelfields import (
    CRF,
    GPSequenceClassifier,
    KernelCRF,
    KernelLogisticRegression,
    KernelScores,
    LinearScores,
    Parts,
    Run,
)
from kernelfields.kernels import RBF

from ._explicit import STRUCTURES, Explicit, further_parts, pair_parts, random_task, same
from ._solvers import least_log_loss

FREE = {"bias": 0.7, "boundaries": 0.7, "edges": 1.3}
KERNEL = RBF(gamma=0.4)


def penalties(structure, parts):
    return parts | further_parts(structure, 0.9, durations=1.3)


def in_kernel_space(task, kernel=KERNEL):
    """Return the task with features whose inner products are kernel values."""
    x = np.concatenate([item.x for item in task.items])
    values, vectors = np.linalg.eigh(kernel(x))
    return task.seen_as(vectors * np.sqrt(np.maximum(values, 0)))


def check(model, task, explicit, optimum):
    """The certificate has the value of the optimum, and marginals are those of enumeration."""
    assert model.certificate_.value == pytest.approx(optimum.value, rel=1e-6)
    assert model.certificate_.lower_bound <= optimum.value + 1e-9
    expected = explicit.marginals(explicit.probabilities(optimum.w))
    same(model.predict_marginals(task.inputs), expected, 2e-4)
    log_p = [np.log(p[r]) for p, r in zip(explicit.probabilities(optimum.w), explicit.right, strict=True)]
    np.testing.assert_allclose(model.sequence_log_proba(task.inputs, task.labels), log_p, atol=2e-3)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("solver", ["lbfgs", "newton-cg", "conjugate-gradients"])
def test_crf(structure, solver, rng):
    task = random_task(rng, structure)
    explicit = Explicit(task, penalties(structure, {"features": 0.7} | FREE))
    model = CRF(
        0.7,
        parts=Parts(pair_parts(structure, 1.3, 0.9)),
        structure=structure,
        solver=solver,
        tol=1e-9,
    )
    check(model.fit(task.inputs, task.labels), task, explicit, least_log_loss(explicit, rng))


@pytest.mark.parametrize("structure", STRUCTURES)
def test_crf_with_edge_features(structure, rng):
    task = random_task(rng, structure)
    parts = {"features": 0.7, "edge_features": 1.3} | FREE
    explicit = Explicit(task, penalties(structure, parts))
    model = CRF(
        0.7,
        parts=Parts(pair_parts(structure, 1.3, 0.9), edge_features=LinearScores(penalty=1.3)),
        structure=structure,
        tol=1e-9,
    )
    check(model.fit(task.inputs, task.labels), task, explicit, least_log_loss(explicit, rng))


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("edge_kernel", [False, True], ids=["vertices", "edges"])
def test_kernel_crf(structure, edge_kernel, rng):
    task = random_task(rng, structure)
    parts = {"features": 0.7, **({"edge_features": 1.3} if edge_kernel else {})} | FREE
    explicit = Explicit(in_kernel_space(task), penalties(structure, parts))
    more = {"edge_kernel": KernelScores(penalty=1.3)} if edge_kernel else {}
    model = KernelCRF(
        KERNEL,
        penalty=0.7,
        parts=Parts(pair_parts(structure, 1.3, 0.9), **more),
        structure=structure,
        tol=1e-9,
        run=Run(dtype="float64"),
    )
    check(model.fit(task.inputs, task.labels), task, explicit, least_log_loss(explicit, rng))


@pytest.mark.parametrize("structure", STRUCTURES)
def test_gaussian_process(structure, rng):
    task = random_task(rng, structure)
    parts = {"features": 2.0, "edges": 2 / 1.7}
    explicit = Explicit(in_kernel_space(task), parts | further_parts(structure, 2 / 1.7))
    model = GPSequenceClassifier(
        KERNEL, edge_variance=1.7, structure=structure, tol=1e-9, run=Run(dtype="float64")
    )
    check(model.fit(task.inputs, task.labels), task, explicit, least_log_loss(explicit, rng))


@pytest.mark.parametrize("structure", STRUCTURES)
def test_kernel_logistic_regression(structure, rng):
    """Labels do not depend on each other, whatever joins them."""
    task = random_task(rng, structure)
    explicit = Explicit(in_kernel_space(task), {"features": 0.7, "bias": 0.7})
    optimum = least_log_loss(explicit, rng)
    model = KernelLogisticRegression(KERNEL, penalty=0.7, structure=structure, tol=1e-9).fit(
        task.inputs, task.labels
    )
    assert model.certificate_.value == pytest.approx(optimum.value, rel=1e-6)
    same(model.predict_proba(task.inputs), explicit.marginals(explicit.probabilities(optimum.w)), 2e-4)
