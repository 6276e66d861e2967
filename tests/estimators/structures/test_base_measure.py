"""A base measure on every clique type of every convex estimator: fixed scores, without weights."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kernelfields import (
    CRF,
    CliqueMeasures,
    FixedScores,
    GPSequenceClassifier,
    InputError,
    KernelCRF,
    KernelLogisticRegression,
    Parts,
    Run,
    StructuredSVM,
    load,
)
from kernelfields.kernels import RBF

from ._explicit import STRUCTURES, Explicit, further_parts, pair_parts, random_task, same
from ._solvers import hinge_bound, hinge_value, least_log_loss
from .test_log_loss import in_kernel_space

K = RBF(gamma=0.4)
TABLE = np.array([[0.5, -1.0, 0.0], [0.0, 0.3, 0.8], [-0.4, 0.0, 0.0]])


FORMS = {
    "labels": ({"red": 0.8}, lambda item, y: 0.8 * (y == 2).sum()),
    "table": (CliqueMeasures(edge=TABLE), lambda item, y: sum(TABLE[y[a], y[b]] for a, b in item.joined)),
    "both": (
        CliqueMeasures(node={"green": 0.5}, edge=TABLE),
        lambda item, y: 0.5 * (y == 1).sum() + sum(TABLE[y[a], y[b]] for a, b in item.joined),
    ),
}


def fixed_of(explicit, task, value):
    return [
        np.array([value(item, y) for y in labels], float)
        for item, labels in zip(task.items, explicit.labels, strict=True)
    ]


def parts(structure):
    triples = further_parts(structure, 1.3)
    return {"features": 0.7, "bias": 0.7, "boundaries": 0.7, "edges": 1.3} | triples


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("form", list(FORMS))
@pytest.mark.parametrize("kernel", [False, True], ids=["linear", "kernel"])
def test_log_loss(form, structure, kernel, rng, tmp_path):
    task = random_task(rng, structure)
    measure, value = FORMS[form]
    explicit = Explicit(in_kernel_space(task, K) if kernel else task, parts(structure))
    fixed = fixed_of(explicit, task, value)
    optimum = least_log_loss(explicit, rng, fixed=fixed)
    settings = {
        "penalty": 0.7,
        "parts": Parts(pair_parts(structure, 1.3), known=FixedScores(measure)),
        "structure": structure,
        "tol": 1e-9,
    }
    model = KernelCRF(K, run=Run(dtype="float64"), **settings) if kernel else CRF(**settings)
    model.fit(task.inputs, task.labels)
    assert model.certificate_.value == pytest.approx(optimum.value, rel=1e-6)
    found = model.predict_marginals(task.inputs)
    same(found, explicit.marginals(explicit.probabilities(optimum.w, fixed)), 2e-4)
    model.save(tmp_path / "model.kf")
    same(load(tmp_path / "model.kf").predict_marginals(task.inputs), found, 0.0)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("form", list(FORMS))
def test_hinge_loss(form, structure, rng):
    task = random_task(rng, structure)
    measure, value = FORMS[form]
    explicit = Explicit(task, parts(structure))
    fixed = fixed_of(explicit, task, value)
    model = StructuredSVM(
        penalty=0.7,
        parts=Parts(pair_parts(structure, 1.3), known=FixedScores(measure)),
        structure=structure,
        tol=1e-5,
    )
    model.fit(task.inputs, task.labels)
    ends = np.stack([model.start_, model.end_])
    named = {
        "features": model.coef_,
        "bias": model.intercept_,
        "boundaries": ends,
        "edges": model.transitions_,
    }
    w = explicit.weights(
        **named,
        second_order=getattr(model, "second_order_", None),
        durations=getattr(model, "durations_", None),
    )
    offsets = [n + f - f[r] for n, f, r in zip(explicit.wrong, fixed, explicit.right, strict=True)]
    found = hinge_value(explicit, w, lambda s, rise: offsets[s] + rise)
    assert model.certificate_.value == pytest.approx(found, rel=1e-6)
    bound = hinge_bound(explicit, offsets, [np.ones(len(n)) for n in offsets])
    assert bound - 1e-9 <= found <= bound * (1 + 2e-5)


def test_gaussian_process(rng):
    task = random_task(rng, "tree")
    explicit = Explicit(in_kernel_space(task, K), {"features": 2.0, "edges": 2.0})
    measure, value = FORMS["both"]
    optimum = least_log_loss(explicit, rng, fixed=fixed_of(explicit, task, value))
    model = GPSequenceClassifier(
        K, parts=Parts(known=FixedScores(measure)), structure="tree", tol=1e-9, run=Run(dtype="float64")
    )
    model.fit(task.inputs, task.labels)
    assert model.certificate_.value == pytest.approx(optimum.value, rel=1e-6)


def test_learning_goes_on_above_it(rng):
    """Further trees do not add the base measure a second time."""
    task, more = random_task(rng, "tree"), random_task(rng, "tree", (3, 4))
    settings = {"structure": "tree", "parts": Parts(known=FixedScores(FORMS["both"][0])), "tol": 1e-9}
    model = CRF(1e6, **settings).fit(task.inputs, task.labels)
    before = model.predict_marginals(task.inputs)
    model.partial_fit(more.inputs, more.labels)
    same(model.predict_marginals(task.inputs), before, 1e-4)


def test_checkpoints_know_it(rng, tmp_path):
    """A search is not gone on with for another base measure."""
    task = random_task(rng, "tree")
    run = Run(checkpoint=tmp_path / "search", checkpoint_seconds=0)
    settings = {"structure": "tree", "run": run, "tol": 1e-8}
    with pytest.warns(ConvergenceWarning):
        CRF(max_iter=3, parts=Parts(known=FixedScores({"red": 0.8})), **settings).fit(
            task.inputs, task.labels
        )
    with pytest.raises(InputError, match="other data"):
        CRF(parts=Parts(known=FixedScores({"red": 0.9})), **settings).fit(task.inputs, task.labels)


def test_rows_have_no_edges():
    with pytest.raises(InputError, match=r"^KernelLogisticRegression has no edges: [^.]*\.$"):
        KernelLogisticRegression(parts=Parts(known=FixedScores(CliqueMeasures(edge=np.eye(2))))).fit(
            [[0.0], [1.0]], ["a", "b"]
        )
