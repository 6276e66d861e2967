"""Which solver a structured SVM gets, and the dual that it climbs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ...data.seeds import random_state
from ...data.training import Training
from ...distributed import SHARING
from ...errors import InputError
from ...fitting.run import precision_of
from ...objective import BlockDual, DetourDual, Problem
from ...objective.chain_terms import ChainTerms
from ...solvers import (
    CuttingPlane,
    DualAscent,
    LinearProgramming,
    MarginSolver,
    Observer,
    Reason,
    Result,
    Stop,
)
from ...spaces import LinearFeatures
from ...tables import MARGIN_SOLVERS, choose
from .linear import SINGLE

WIDE = 1.0
"""Weights for each position from which on "auto" is dual ascent.

Fewer weights that many constraints compete for are what cutting planes are good at: 40 weights and 1,800
positions took 0.9 s by these and a minute by ascent, 3,300 and 4,600 (letters) half as long as by ascent,
and 10^5 and more took minutes by planes and seconds by ascent.
"""

DENSE = 0.25
"""Share of features that are not zero from which on "auto" looks at the penalty, too.

A step of ascent goes over the features of a position one by one, where planes need products of matrices:
with 3,000 dense positions of 380 features a round took as long as 100 planes.
"""

EASY = 30.0
"""Mean square of dense positions over λ up to which "auto" is cutting planes.

The smaller it is, the fewer planes are needed. Seconds by planes and by ascent to 10⁻²: 0.1 and 0.8 at 1, 0.6
and 5.6 at 6, 7.6 and 17 at 10, 2.7 and 6 at 12; 1.6 and 6.8 at 38, but 48 and 16 at 380, and with 32,000
weights more than 14 and 18 at 40.
"""

AnySolver = MarginSolver | CuttingPlane | DualAscent | LinearProgramming


def margin_solver(model: Any, problem: Problem) -> AnySolver:
    """Return the solver of a problem: "auto" is `DualAscent` where that suits and pays, else `CuttingPlane`.

    Cutting planes are what can be shared out among workers, and are taken where a fit is.
    """
    solver = choose(MARGIN_SOLVERS, model.solver, "solver")
    suits = DetourDual.suits(problem, model.run.memory_limit)
    automatic = isinstance(model.solver, str) and model.solver == "auto"
    if automatic and suits and _ascent_pays(problem) and SHARING.get() is None:
        solver = DualAscent()
    if isinstance(solver, DualAscent) and not suits:
        raise InputError(
            "solver='dual-ascent' is for chains and trees with margin rescaling and a cost of single labels, "
            "with features or one kernel whose Gram matrix fits into memory twice; 'auto' takes another else."
        )
    # what nobody asked to be random stays the same from fit to fit
    settled = isinstance(solver, DualAscent) and model.random_state is None
    if isinstance(model.solver, str) and hasattr(solver, "seed") and not settled:
        solver = replace(solver, seed=int(random_state(model.random_state).randint(2**31 - 1)))
    return solver


def handed_over(problem: Problem, reached: Result, stop: Stop, observer: Observer | None) -> Result:
    """Go on with cutting planes from where ascent has come to, and return the end with the smaller gap.

    Ascent moves one share after the other: where λ is small beside the squares of features they are all but
    parallel, and it creeps. Planes of the whole objective do not depend on that.
    """
    if reached.reason is Reason.INTERRUPTED:
        return reached
    found = CuttingPlane().minimize(problem, reached.point.element, stop, observer)
    result = min((found, reached), key=lambda one: one.progress.relative_gap)
    rounds = reached.progress.iteration + found.progress.iteration
    return result._replace(progress=result.progress._replace(iteration=rounds))


def _ascent_pays(problem: Problem) -> bool:
    """Whether there are many weights, and not so few planes that these are had sooner."""
    if problem.size < WIDE * problem.structure.cliques[problem.structure.answer].count:
        return False
    terms = ChainTerms.of(problem)
    if terms is None or not isinstance(terms.inputs.space, LinearFeatures):
        return True
    matrix = terms.inputs.space.features.matrix
    values = matrix.data if sparse.issparse(matrix) else np.asarray(matrix)
    if np.count_nonzero(values) < DENSE * np.prod(matrix.shape):
        return True
    square = float(np.vdot(values, values)) / max(matrix.shape[0], 1)
    return square > EASY * terms.inputs.penalty


def margin_dual(
    model: Any, solver: AnySolver, problem: Problem, training: Training
) -> BlockDual | DetourDual | None:
    """Return the dual of a problem as its solver sees it; None where there is none in blocks."""
    if isinstance(solver, DualAscent):
        double = precision_of(model.run) if model.kernel is not None else training.inputs.features.dtype
        single = model.tol >= SINGLE and np.dtype(double) != np.float64
        return DetourDual(problem, np.float32 if single else np.float64)
    return BlockDual(problem) if problem.loss.maximum and problem.smooth else None
