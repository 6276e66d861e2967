"""Models made of models, against the same written out: every optimum by scipy, every sum by enumeration."""

import numpy as np
import pytest

from kernelfields import CRF, Cascade, FreeScores, KernelCRF, Parts, Run, StructureLearner
from kernelfields.models.clique_types import Boundaries, Edges

from ._explicit import Explicit, random_task, same
from ._solvers import least_log_loss, log_objective
from .test_log_loss import FREE, KERNEL, in_kernel_space

PARTS = {"features": 0.7} | FREE
SIZES = (4, 3, 4, 1, 4, 3)
STRUCTURES = ("chain", "tree", "graph")


def linear_crf(structure):
    return CRF(0.7, parts=Parts(edges=FreeScores(penalty=1.3)), structure=structure, tol=1e-10)


def some(task, ids):
    return task._replace(items=[task.items[i] for i in ids])


def marginals_of(fitted_to, asked, rng):
    """Fit by scipy to some items, and sum over all labellings of others."""
    w = least_log_loss(Explicit(fitted_to, PARTS), rng).w
    explicit = Explicit(asked, PARTS)
    return explicit.marginals(explicit.probabilities(w))


def windows(task, marginals):
    """Every vertex with its parent's marginals before its own, and the mean of its children's behind them.

    Vertices of a graph, with the mean of their neighbours behind them.
    """
    rows = []
    for item, found in zip(task.items, marginals, strict=True):
        nothing = np.zeros(found.shape[1])
        if item.edges is not None:
            for v in range(len(found)):
                near = [found[b] for a, b in item.joined if a == v]
                rows.append(np.concatenate([found[v], np.mean(near, axis=0) if near else nothing]))
            continue
        for v, parent in enumerate(item.parents):
            children = [found[c] for c in range(len(found)) if item.parents[c] == v]
            above = nothing if parent < 0 else found[parent]
            rows.append(np.concatenate([above, found[v], np.mean(children, axis=0) if children else nothing]))
    return task.seen_as(rows)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_cascade(structure, rng):
    """Marginals of models fitted to the other folds, in windows, are what the second model learns from."""
    task = random_task(rng, structure, SIZES)
    task.items[1].y[:] = [0, 1, 2]  # every fold has every label
    model = Cascade(linear_crf(structure), linear_crf(structure), window=3, folds=None).fit(
        task.inputs, task.labels, groups=[0, 1, 0, 1, 0, 1]
    )
    handed_on = [None] * len(task.items)
    for group in (0, 1):
        inside = [i for i in range(len(task.items)) if i % 2 == group]
        outside = [i for i in range(len(task.items)) if i % 2 != group]
        found = marginals_of(some(task, outside), some(task, inside), rng)
        for i, one in zip(inside, found, strict=True):
            handed_on[i] = one
    same(model.out_of_fold_, handed_on, 1e-4)
    learnt_from, asked = windows(task, handed_on), windows(task, marginals_of(task, task, rng))
    same(model.predict_marginals(task.inputs), marginals_of(learnt_from, asked, rng), 1e-3)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_structure_learner(structure, rng):
    """Gains are differences of optima, bounds are squared gradients, and the model is the last optimum."""
    task = random_task(rng, structure, SIZES)
    base = KernelCRF(
        KERNEL,
        penalty=0.7,
        parts=Parts(edges=None, boundaries=None),
        structure=structure,
        tol=1e-10,
        run=Run(dtype="float64"),
    )
    edges = Edges(penalty=FREE["edges"])
    candidates = [edges] if structure == "graph" else [edges, Boundaries()]  # which graphs do not have
    learner = StructureLearner(base, candidates=candidates, worth=0.0)
    learner.fit(task.inputs, task.labels)
    seen, parts = in_kernel_space(task), {"features": 0.7, "bias": 0.7}
    now = Explicit(seen, parts)
    optimum = least_log_loss(now, rng)
    assert len(learner.kept_) == len(candidates)
    for trial in learner.trials_:
        larger = Explicit(seen, parts | {trial.name: FREE[trial.name]})
        start = larger.weights(**pieces(now, optimum.w), **{trial.name: 0.0})
        gradient = log_objective(larger, start)[1][len(optimum.w) :]
        assert trial.bound == pytest.approx(gradient @ gradient / (2 * FREE[trial.name]), rel=1e-3)
        best = least_log_loss(larger, rng)
        assert trial.gain == pytest.approx(optimum.value - best.value, rel=1e-4)
        parts, now, optimum = parts | {trial.name: FREE[trial.name]}, larger, best
    expected = now.marginals(now.probabilities(optimum.w))
    same(learner.predict_marginals(task.inputs), expected, 1e-4)


def pieces(model, w):
    """Cut w into the parts of a model."""
    sizes = [int(np.prod(model.shapes[name])) for name in model.names]
    cut = np.split(w, np.cumsum(sizes)[:-1])
    return {name: part.reshape(model.shapes[name]) for name, part in zip(model.names, cut, strict=True)}
