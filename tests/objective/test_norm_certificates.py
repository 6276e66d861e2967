"""Certificates with norms that are not squared, on random problems of all scales, against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from kernelfields import Parts
from kernelfields.arrays import offsets_of
from kernelfields.losses import LogLoss
from kernelfields.objective import GroupNorm, L1Norm, Problem, SpaceNorm, Term
from kernelfields.solvers import ProximalQuasiNewton, Reason, Stop
from kernelfields.spaces import Free, LinearFeatures
from kernelfields.structures import ChainBatch
from tests.objective._certificates import Case, enumerate_case, objective


def case_of(seed):
    """A problem with the norm of one kind, features and weights of one scale out of 10⁻³ to 10³ each."""
    r = np.random.default_rng(seed)
    n, D, L = r.integers(2, 5), r.integers(1, 4), r.integers(2, 4)
    scale = 10.0 ** r.uniform(-3, 3)
    X = [scale * r.normal(size=(r.integers(1, 4), D)) for _ in range(n)]
    y = [[list("abc")[r.integers(L)] for _ in x] for x in X]
    for label in "abc"[:L]:
        y[0] += [label]
    X[0] = scale * r.normal(size=(len(y[0]), D))
    settings = {"penalty": 1.0, "parts": Parts(bias=None, boundaries=None)}
    case = Case(seed, "double", None, settings, X, X, y, None, list("abc"[:L]))
    total = scale * sum(len(x) for x in X)
    kind = [L1Norm, GroupNorm, SpaceNorm][seed % 3]
    norm = kind(float(total * 10.0 ** r.uniform(-3, 0)))
    penalty = 0.0 if r.random() < 0.5 else float(scale**2 * 10.0 ** r.uniform(-3, 2))
    return case, norm, penalty, SpaceNorm(float(10.0 ** r.uniform(-2, 1)))


def problem_of(case, norm, penalty, edge_norm):
    chain = ChainBatch(offsets_of([len(x) for x in case.X]), len(case.labels))
    labels = np.array([case.labels.index(label) for one in case.y for label in one], dtype=np.int32)
    space = LinearFeatures(chain, "node", np.concatenate(case.X))
    terms = [Term("features", space, penalty, norm), Term("edges", Free(chain, "edge"), 0.0, edge_norm)]
    return Problem.of(LogLoss(chain, labels), terms)


def enumerated(case, norm, penalty, edge_norm):
    """R by enumeration, in the order of the element."""
    sequences, _ = enumerate_case(case)
    L, D = len(case.labels), case.X[0].shape[1]
    width = {L1Norm: 1, GroupNorm: L, SpaceNorm: L * D}[type(norm)]

    def value(w):
        node, edge = w[: L * D], w[L * D :]
        v = np.concatenate([node.reshape(D, L).T.ravel(), edge])  # by label there, by feature here
        lengths = np.linalg.norm(node.reshape(-1, width), axis=1)
        rough = norm.weight * lengths.sum() + edge_norm.weight * np.linalg.norm(edge)
        return objective(sequences, v)[0] + 0.5 * penalty * node @ node + rough

    return value


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_bounds_hold_everywhere_and_gaps_close(first):
    wrong = {}
    for seed in range(first, first + 20):
        given, rng = case_of(seed), np.random.default_rng(seed)
        problem, height = problem_of(*given), enumerated(*given)
        result = ProximalQuasiNewton().minimize(problem, problem.zero(), Stop(gap=1e-7, iterations=500))
        best = result.point.element
        lowest = height(best) * (1 + 1e-10)
        if result.reason is not Reason.GAP:
            wrong[seed] = result.reason.value
        size = float(np.abs(best).max(initial=0.0)) or 1.0
        for scale in (1e-6, 1e-3, 1e-1, 1.0):
            w = best + scale * size * rng.normal(size=problem.size)
            point = problem.at(w)
            if point.certificate.lower_bound > lowest:
                wrong[seed] = f"bound {point.certificate.lower_bound!r} above {lowest!r}"
            if point.value != pytest.approx(height(w), rel=1e-9):
                wrong[seed] = f"value {point.value!r} of weights with the value {height(w)!r}"
    assert not wrong
