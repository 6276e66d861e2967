"""The search for a minimum as estimators run it: with a warning where it fell short."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..linear_chain import LinearChainProblem
from ..objective import Certificate, Dual, Point, Problem
from ..solvers import Progress, Reason, Result, Solver, Stop
from ..structures._base import Array
from ._observers import Observer
from ._training import warn_of

ROUNDS = 5
"""How often at most a search goes on because its images had drifted."""


class Found(NamedTuple):
    """Where a search ended."""

    point: Point
    iterations: int
    reason: Reason
    certificate: Certificate | None


def search(
    problem: Problem | LinearChainProblem,
    start: Array,
    solver: Solver,
    stop: Stop,
    observer: Observer | None,
) -> Result:
    """Minimise; stopping too early is a `ConvergenceWarning`."""
    result = solver.minimize(problem, start, stop, observer)
    if not result.reason.converged:
        warn_of(result.reason, result.progress)
    return result


def search_afresh(
    problem: Problem,
    start: Array,
    solver: Solver,
    stop: Stop,
    observer: Observer | None,
) -> Found:
    """Minimise, and believe a certificate only with images computed anew and in double.

    Images are sums of products in single precision, and drift: where the gap at the end, in double, turns
    out larger than was asked for, the search goes on from there.
    """
    done, exact = 0, problem.exact()

    def count_on(progress: Progress, point: Point) -> bool | None:
        return observer(progress._replace(iteration=done + progress.iteration), point) if observer else None

    for _ in range(ROUNDS):
        left = Stop(stop.gap, stop.gradient, max(stop.iterations - done, 0))
        result = search(problem, start, solver, left, count_on)
        done += result.progress.iteration
        point = exact.at(exact.refreshed(result.point.element.astype(np.float64)))
        start = point.element.astype(problem.element_dtype)
        certificate = exact_certificate(point, result)
        if result.reason is not Reason.GAP or certificate is None or certificate.relative_gap <= stop.gap:
            break
    return Found(point, done, result.reason, certificate)


def exact_certificate(point: Any, result: Result) -> Certificate | None:
    """Give the value at a point in double with the best bound that a search to it has seen.

    That of the point itself; that of the mixture of dual points, its image computed anew; or, where
    none was kept, that of the best iteration, less what rounding may have added.
    """
    certificate: Certificate | None = point.certificate
    if certificate is None:
        return None
    if result.dual is None:
        slack = result.point.problem.rounding * abs(certificate.value)
        bound = result.progress.lower_bound - slack
    else:
        mismatch = point.problem.refreshed(result.dual.mismatch.astype(np.float64))
        bound = Dual(result.dual.level, mismatch).bound(point.problem)
    return Certificate(certificate.value, max(certificate.lower_bound, bound))


def mismatches(problem: Problem | LinearChainProblem, mismatch: Array) -> dict[str, float]:
    """‖E[Φ] − observed Φ‖ for every part of a model: the ε that its penalty stands for."""
    return {
        term.name: float(np.sqrt(max(term.space.inner(r, r), 0.0))) * term.metric
        for term in problem.terms
        for r in [mismatch[problem.slices[term.name]]]
    }
