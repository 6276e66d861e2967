"""Several kernels in one, with weights that are learnt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy

from ..arrays import Array
from ..data.labels import UNOBSERVED
from ..data.training import Training
from ..errors import InputError, warn_user
from ..kernels import Scaled, alignments, shares_of
from ..kernels.weighted import ALIGNMENT, CERTIFICATE
from ..objective import Certificate, Geometry, Point, Problem, WeightCut, weight_cut
from ..solvers import Reason, Solver, Stop
from ..structures import LabelledBatch
from .kernel_settings import EDGE_KERNEL, KERNEL, KernelSettings
from .parts import BoundKernel, BoundParts, KernelScores, Part, PartData, fixed_measure, norms_of
from .views import FIRST


class WeighedKernels(NamedTuple):
    """Settings with one kernel made of several, and what is known of their weights."""

    settings: KernelSettings
    weights: Array
    """μ, (M,)."""
    bound: float | None
    """No weights and no functions have an objective below; None if it is not known."""


def weigh_kernels(
    model: Any, by: str, settings: KernelSettings, training: Training, data: PartData, solver: Solver
) -> WeighedKernels:
    """Return settings with the kernel Σ_m (μ_m/s_m) k_m, settled on the training set.

    s_m is the spread of k_m over labelled observations, its mean squared distance from the mean: kernels are
    brought to the same scale, and the penalty means the same whatever scale they had.
    """
    _require_weighable(settings, training, by)
    found = BoundParts.of(_apart(settings), data).bound
    bound: list[BoundKernel] = [one for one in found.values() if isinstance(one, BoundKernel)]
    kernels = [one.kernel for one in bound]
    labels = training.encoded.labels
    observed = np.flatnonzero(labels != UNOBSERVED)
    aligned = alignments(kernels, bound[0].observations[bound[0].rows[observed]], labels[observed])
    lowest = None
    if by == ALIGNMENT:
        weights = shares_of(aligned)
    else:
        _require_spread(aligned.spreads)
        weights, certificate = certified_weights(model, settings, training, data, aligned.spreads, solver)
        lowest = certificate.lower_bound
    kept = [m for m in range(len(kernels)) if weights[m] > 0]
    scaled = [Scaled(kernels[m], float(weights[m] / aligned.spreads[m])) for m in kept]
    return WeighedKernels(replace(settings, kernel=scaled), weights, lowest)


def _apart(settings: KernelSettings) -> dict[str, Part]:
    """Return a function of vertices for every kernel."""
    return {
        f"{KERNEL} {m}": KernelScores(kernel, view=FIRST, penalty=1.0)
        for m, kernel in enumerate(settings.several or [])
    }


def _require_weighable(settings: KernelSettings, training: Training, by: str) -> None:
    if isinstance(settings.penalty, list | tuple):
        raise InputError("Weighted kernels need one penalty: several are weights already.")
    if not isinstance(training.batch, LabelledBatch):
        raise InputError("Weighted kernels need a structure whose vertices have labels.")
    if by == CERTIFICATE:
        given: dict[str, object] = {
            "basis": settings.approximation,
            "norms of parts": norms_of(settings.parts) or None,
        }
        edge = settings.edge_part
        shares = edge is not None and edge.kernel is None
        given["an edge_kernel without a kernel of its own"] = True if shares else None
        for name, value in given.items():
            if value is not None:
                raise InputError(f"Weighted(by='certificate') does not go with {name}.")


def _require_spread(spreads: Array) -> None:
    for m, spread in enumerate(spreads):
        if not spread > 1e-12 * max(spreads.max(), np.finfo(float).tiny):
            raise InputError(f"kernel {m} has the same value for all observations; it can have no weight.")


ROUNDS = 200
"""Limit of fits with other weights."""


class CertifiedWeights(NamedTuple):
    """Weights, and how good they are."""

    weights: Array
    """μ, (M,)."""
    certificate: Certificate
    """Value at the weights, and what no weights and no functions come below."""


def certified_weights(
    model: Any,
    settings: KernelSettings,
    training: Training,
    data: PartData,
    spreads: Array,
    solver: Solver,
) -> CertifiedWeights:
    """Minimise, over functions f_m of all kernels and over weights μ ≥ 0 with Σ_m μ_m = 1,

        R(f, μ) = loss(Σ_m f_m) + (λ/2) Σ_m s_m ‖f_m‖²/μ_m + …,

    what a model with the kernel Σ_m (μ_m/s_m) k_m minimises for given μ; s_m are ``spreads``. R is
    convex in both. Every fit gives a value, and a bound that is linear in μ (`weight_cut`); the bounds of
    all fits so far are a model of min_f R(f, μ) from below, whose minimum over μ certifies the best value.
    The next weights are, in turn, those best for the functions of the best fit, μ_m ∝ √s_m ‖f_m‖, where the
    derivatives −(λ/2) s_m ‖f_m‖²/μ_m² are equal, and half way from the best to the minimum of the model.
    """
    problem, names, M = _problem(settings, training, data), list(_apart(settings)), len(spreads)
    penalties = dict(zip(names, settings.first_penalty * spreads, strict=True))
    tol, weights = model.tol, np.full(M, 1 / M)
    stop = Stop(gap=0.1 * tol, gradient=1e-3 * tol, iterations=model.max_iter)
    least = 1e-3 * tol / M
    element, cuts, bound = problem.zero(), [], -np.inf
    best = _Fit(np.inf, weights, weights)
    for turn in range(ROUNDS):
        here = _weighed(problem, penalties, weights)
        result = solver.minimize(here, element, stop)
        point, element = result.point, result.point.element
        if point.value < best.value:
            best = _Fit(point.value, weights, _updated(point, names, spreads))
        cuts.append(weight_cut(here, element, point.mismatch, point.evaluation.value, penalties))
        lowest = _lowest(cuts)
        bound = max(bound, lowest.bound)
        certificate = Certificate(best.value, min(bound, best.value), problem.loss.exact)
        if certificate.relative_gap <= tol or result.reason is Reason.INTERRUPTED:
            break
        weights = best.next if turn % 2 else 0.5 * (best.weights + lowest.weights)
        weights = np.maximum(weights, least)  # a kernel without weight could not come back
        weights /= weights.sum()
    else:
        _warn(certificate)
    kept = np.where(best.weights > 2 * least, best.weights, 0.0)
    return CertifiedWeights(kept / kept.sum(), certificate)


class _Fit(NamedTuple):
    value: float
    weights: Array
    next: Array
    """The best weights for its functions."""


class _Lowest(NamedTuple):
    weights: Array
    """Where the model is lowest."""
    bound: float
    """What it says there, by a mixture of cuts: a bound for all weights, however exact the solution is."""


def _lowest(cuts: Sequence[WeightCut]) -> _Lowest:
    """Minimise max_t (c_t − ½⟨q_t, μ⟩) over the simplex, a linear program."""
    constants, slopes = np.array([cut.constant for cut in cuts]), np.array([cut.slopes for cut in cuts])
    M = slopes.shape[1]
    scale = max(float(np.abs(constants).max()), 1e-300)
    found = scipy.optimize.linprog(
        np.append(np.zeros(M), 1.0),
        A_ub=np.column_stack([-0.5 * slopes / scale, -np.ones(len(cuts))]),
        b_ub=-constants / scale,
        A_eq=np.append(np.ones(M), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * M + [(None, None)],
    )
    if found.x is None:  # it is feasible and bounded: rounding only
        return _Lowest(np.full(M, 1 / M), -np.inf)
    mixture = np.maximum(-found.ineqlin.marginals, 0.0)
    mixture /= max(mixture.sum(), 1e-300)
    bound = mixture @ constants - 0.5 * float((mixture @ slopes).max())
    return _Lowest(np.maximum(found.x[:M], 0.0), float(bound))


def _problem(settings: KernelSettings, training: Training, data: PartData) -> Problem:
    """Return the objective with a term for each kernel in front, in double."""
    edge = settings.vertex_parts(training.encoded.classes).get(EDGE_KERNEL)
    edges = {} if edge is None else {EDGE_KERNEL: edge}
    parts = BoundParts.of({**_apart(settings), **edges, **settings.other_parts(training.batch)}, data)
    offset = training.fixed_scores(fixed_measure(settings.parts))
    problem = Problem.of(training.loss, parts.terms(), offset)
    if not problem.certifiable:
        raise InputError(
            "Weighted(by='certificate') needs a convex loss, all labels observed and all penalties above 0."
        )
    return problem


def _weighed(problem: Problem, penalties: dict[str, float], weights: Array) -> Problem:
    """Return the problem with λ_m/μ_m for the terms of kernels."""
    shares = dict(zip(penalties, weights.tolist(), strict=True))
    terms = [
        replace(term, penalty=penalties[term.name] / shares[term.name]) if term.name in shares else term
        for term in problem.terms
    ]
    return Problem(Geometry(terms, np.float64), problem.data)


def _updated(point: Point, names: Sequence[str], spreads: Array) -> Array:
    """Return the best weights for functions as they are."""
    squares = []
    for term in point.problem.terms[: len(names)]:
        part = point.element[point.problem.slices[term.name]]
        squares.append(max(term.space.inner(part, part), 0.0))
    sizes = np.sqrt(spreads * np.array(squares))
    total = sizes.sum()
    return np.asarray(sizes / total if total > 0 else np.full(len(names), 1 / len(names)))


def _warn(certificate: Certificate) -> None:
    from sklearn.exceptions import ConvergenceWarning

    gap = certificate.relative_gap
    warn_user(
        f"The weights of kernels have the certified relative gap {gap:.1e}. Raise tol.", ConvergenceWarning
    )
