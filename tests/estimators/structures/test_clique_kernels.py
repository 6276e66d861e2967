"""Kernels that see both ends of an edge, on chains and on branching trees, against models written out."""

from dataclasses import replace

import numpy as np
import pytest

from kernelfields import FreeScores, KernelCRF, KernelScores, ModelFormatError, Parts, Run, load
from kernelfields.kernels import RBF
from kernelfields.structures import Graph, Segments

from ..._parts import free
from ._explicit import Explicit, random_task, same
from ._solvers import least_log_loss
from .test_log_loss import in_kernel_space

K, BOTH = RBF(gamma=0.4), RBF(gamma=0.2)


def with_edges_seen(explicit, task, penalty):
    """Add to Φ, for every label pair, the kernel's features of both ends."""
    ends = [np.concatenate([item.x[p], item.x[v]]) for item in task.items for p, v in item.joined]
    values, vectors = np.linalg.eigh(BOTH(np.array(ends)))
    seen = iter(vectors * np.sqrt(np.maximum(values, 0)))
    for s, (item, labels) in enumerate(zip(task.items, explicit.labels, strict=True)):
        more = np.zeros((len(labels), 3, 3, len(ends)))
        for p, v in item.joined:
            more[np.arange(len(labels)), labels[:, p], labels[:, v]] += next(seen)
        explicit.phi[s] = np.hstack([explicit.phi[s], more.reshape(len(labels), -1)])
    explicit.penalty = np.concatenate([explicit.penalty, np.full(9 * len(ends), penalty)])
    return explicit


@pytest.mark.parametrize("structure", ["chain", "tree", "graph"])
def test_both_ends(structure, rng):
    task = random_task(rng, structure)
    parts = {"features": 0.7, "boundaries": 0.7, "edges": 1.3}
    explicit = with_edges_seen(Explicit(in_kernel_space(task, K), parts), task, 0.9)
    optimum = least_log_loss(explicit, rng)
    model = KernelCRF(
        K,
        penalty=0.7,
        parts=Parts(
            edges=FreeScores(penalty=1.3),
            both_ends=KernelScores(BOTH, on="edge", view="all", penalty=0.9),
            bias=None,
        ),
        structure=structure,
        run=Run(dtype="float64"),
        tol=1e-9,
    ).fit(task.inputs, task.labels)
    assert model.certificate_.value == pytest.approx(optimum.value, rel=1e-6)
    same(model.predict_marginals(task.inputs), explicit.marginals(explicit.probabilities(optimum.w)), 2e-4)


def with_triples_seen(explicit, task, triples, penalty, free):
    """Add to Φ, for all labels of three vertices, how often they occur and the kernel's features of all."""
    seen = [item.x[list(t)].ravel() for item, ts in zip(task.items, triples, strict=True) for t in ts]
    values, vectors = np.linalg.eigh(BOTH(np.array(seen)))
    found = iter(vectors * np.sqrt(np.maximum(values, 0)))
    for s, (labels, mine) in enumerate(zip(explicit.labels, triples, strict=True)):
        more = np.zeros((len(labels), 3, 3, 3, 1 + len(seen)))
        for t in mine:
            more[np.arange(len(labels)), *labels[:, list(t)].T] += np.concatenate([[1.0], next(found)])
        explicit.phi[s] = np.hstack([explicit.phi[s], more.reshape(len(labels), -1)])
    lambdas = np.tile([free, *np.full(len(seen), penalty)], 27)
    explicit.penalty = np.concatenate([explicit.penalty, lambdas])
    return explicit


def test_all_members_of_a_factor(rng, tmp_path):
    """Tables over three labels that depend on three observations; files keep them."""
    task = random_task(rng, "graph", (3, 0, 1, 4, 3))
    triples = [[(0, 1, 2)], [], [], [(0, 2, 1), (3, 1, 0)], [(2, 0, 1)]]
    explicit = Explicit(in_kernel_space(task, K), {"features": 0.7, "edges": 1.3})
    explicit = with_triples_seen(explicit, task, triples, 0.9, 1.3)
    optimum = least_log_loss(explicit, rng)
    X = [
        {"features": i.x, "edges": i.edges, "factors": {"three": t}}
        for i, t in zip(task.items, triples, strict=True)
    ]
    model = KernelCRF(
        K,
        penalty=0.7,
        parts=Parts(
            free(1.3, "edges", "factor three"),
            of_three=KernelScores(BOTH, on="three", view="all", penalty=0.9),
            bias=None,
        ),
        structure=Graph(factors={"three": 3}),
        run=Run(dtype="float64"),
        tol=1e-9,
    ).fit(X, task.labels)
    assert model.certificate_.value == pytest.approx(optimum.value, rel=1e-6)
    expected = explicit.marginals(explicit.probabilities(optimum.w))
    same(model.predict_marginals(X), expected, 2e-4)
    model.save(tmp_path / "model.kf")
    same(load(tmp_path / "model.kf").predict_marginals(X), expected, 2e-4)


def test_files_keep_kernels_on_segments(rng, tmp_path):
    X = [rng.normal(size=(n, 2)) for n in (4, 3, 5)]
    y = [["a", "a", "b", "b"], ["b", "a", "a"], ["a", "b", "b", "b", "a"]]
    parts = Parts(runs=KernelScores(BOTH, on="segment", view="run", penalty=1.0))
    model = KernelCRF(K, structure=Segments(means=2), parts=parts).fit(X, y)
    model.save(tmp_path / "model.kf")
    same(load(tmp_path / "model.kf").predict_marginals(X), model.predict_marginals(X), 0)


@pytest.mark.parametrize(("clique", "reason"), [("edge", "2 coefficients, expected 4"), ("arc", "'arc'")])
def test_files_with_coefficients_of_other_cliques_are_refused(clique, reason, rng, tmp_path):
    X, y = [rng.normal(size=(4, 2))], [["a", "b", "b", "a"]]
    model = KernelCRF(K, parts=Parts(of_node=KernelScores(BOTH, on="node", view="all", penalty=1.0))).fit(
        X, y
    )
    model.parts_ = {name: replace(one, on=clique) for name, one in model.parts_.items()}
    model.save(tmp_path / "model.kf")
    with pytest.raises(ModelFormatError, match=reason):
        load(tmp_path / "model.kf").predict(X)
