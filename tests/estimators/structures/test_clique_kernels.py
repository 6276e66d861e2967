"""Kernels that see both ends of an edge, on chains and on branching trees, against models written out."""

import numpy as np
import pytest

from kernelfields import CliqueKernel, KernelCRF
from kernelfields.kernels import RBF

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
        edge_penalty=1.3,
        structure=structure,
        clique_kernels=CliqueKernel("edge", BOTH, penalty=0.9, view="all"),
        fit_intercept=False,
        dtype="float64",
        tol=1e-9,
    ).fit(task.inputs, task.labels)
    assert model.certificate_.value == pytest.approx(optimum.value, rel=1e-6)
    same(model.predict_marginals(task.inputs), explicit.marginals(explicit.probabilities(optimum.w)), 2e-4)
